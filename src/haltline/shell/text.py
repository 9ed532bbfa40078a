"""Helpers on command text, with the names and meanings of the guardrails specification."""

from __future__ import annotations

from haltline.shell.scanner import scan
from haltline.shell.syntax import Compound, Script, Simple, Substitution, Word
from haltline.shell.vocabulary import word_set

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Iterator

_SHELLS = word_set("sh bash zsh dash ksh mksh ash")
_SUBCOMMANDS = word_set(
    "git npm pnpm yarn bun docker podman kubectl helm terraform tofu pulumi aws gcloud az gh glab "
    "cargo go pip pip3 uv "
    "poetry conda brew apt apt-get dnf yum systemctl service rails rake bundle make mvn gradle "
    "dotnet flutter dart "
    "alembic prisma heroku fly vercel netlify railway supabase firebase doctl"
)
MAX_UNWRAP = 8


def lex(segment: str) -> list[str] | None:
    """Return the words of one segment after quote removal, or None when it could not be parsed.

    Expansions stay as written. Redirections are left out, as they are no words of the command.
    """
    found = scan(segment)
    if found.error is not None or found.limit is not None:
        return None
    words: list[str] = []
    for _, node in found.script.items:
        if isinstance(node, Compound):
            return None
        words.extend(_words(node))
    return words


def _words(node: Simple) -> list[str]:
    words = [
        f"{assignment.name}{'+' if assignment.append else ''}={assignment.value.text}"
        for assignment in node.assignments
    ]
    return words + [word.text for word in node.words]


def split_segments(command: str) -> list[str]:
    """Split a command line on `|`, `||`, `&&`, `;`, `&` and newline, never inside quotes or substitutions."""
    return [text for text, _ in _parts(command)]


def _parts(command: str) -> list[tuple[str, Simple | Compound | None]]:
    """Return each segment with its command in the tree; without it where the text could not be parsed."""
    found = scan(command)
    items = found.script.items
    whole = found.error is None and found.limit is None
    starts = [node.start for _, node in items]
    result: list[tuple[str, Simple | Compound | None]] = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(command)
        text = command[start:end].strip()
        if index + 1 < len(starts):
            text = _without_connector(text, items[index + 1][0])
        else:
            text = text.rstrip("; \t\r\n").rstrip("&").rstrip()
        if text:
            result.append((text, items[index][1] if whole else None))
    return result


def _without_connector(text: str, connector: str) -> str:
    text = text.rstrip()
    if connector != ";" and text.endswith(connector):
        text = text[: -len(connector)]
    return text.rstrip("; \t\r\n")


def strip_wrapper(command: str) -> str:
    """Return the text inside one `bash -c '…'` wrapper, or the command as it is."""
    found = scan(command)
    if found.error is not None or found.limit is not None or len(found.script.items) != 1:
        return command
    return _inside(found.script.items[0][1], command)


def _inside(node: Simple | Compound, command: str) -> str:
    """Return the text inside a command that is one `bash -c '…'` wrapper, or the command as it is."""
    if not isinstance(node, Simple) or len(node.words) < 3:  # noqa: PLR2004  shell, -c and text
        return command
    words = node.words
    if words[0].text.rpartition("/")[2] not in _SHELLS:
        return command
    for index, word in enumerate(words[1:], 1):
        if not word.text.startswith("-"):
            return command
        if not word.text.startswith("--") and "c" in word.text:
            rest = words[index + 1 :]
            if rest and rest[0].text == "--":
                rest = rest[1:]
            return rest[0].text if rest else command
    return command


def segments(command: str) -> list[str]:
    """Return a command line's segments; a `bash -c '…'` wrapper is replaced by the segments inside it."""
    return [text for text, _ in _segments(command, 0)]


def _segments(command: str, depth: int) -> Iterator[tuple[str, Simple | Compound | None]]:
    for segment, node in _parts(command):
        inner = strip_wrapper(segment) if node is None else _inside(node, segment)
        if inner != segment and depth < MAX_UNWRAP:
            yield from _segments(inner, depth + 1)
        else:
            yield segment, node


def command_prefix(command: str) -> str:
    """Return the program and, where it has them, its subcommand: the scope of an approval."""
    segment, node = next(_segments(command, 0), ("", None))
    words = (lex(segment) or []) if node is None else _words(node) if isinstance(node, Simple) else []
    start = 0
    while start < len(words) and "=" in words[start] and words[start].partition("=")[0].isidentifier():
        start += 1
    words = words[start:]
    if not words:
        return ""
    program = words[0].rpartition("/")[2]
    if program in _SUBCOMMANDS:
        for word in words[1:]:
            if not word.startswith("-"):
                return f"{program} {word}"
    return program


def has_redirection(command: str) -> bool:
    """Return whether anything is redirected to or from a file, a descriptor or a here-document."""
    return any(node.redirections for node in _nodes(scan(command).script))


def has_command_substitution(command: str) -> bool:
    """Return whether the command holds `$(…)`, backticks or a process substitution that would run."""
    found = scan(command)
    words = [*found.salvaged]
    for node in _nodes(found.script):
        words.extend(node.words)
        words.extend(redirection.target for redirection in node.redirections)
        words.extend(redirection.body for redirection in node.redirections if redirection.body is not None)
        if isinstance(node, Simple):
            for assignment in node.assignments:
                words.extend([assignment.value, *(assignment.items or ())])
                words.extend([assignment.subscript] if assignment.subscript is not None else ())
    return any(_substitutes(word) for word in words)


def _nodes(script: Script) -> list[Simple | Compound]:
    result: list[Simple | Compound] = []
    waiting = [script]
    while waiting:
        for _, node in waiting.pop().items:
            result.append(node)
            if isinstance(node, Compound):
                waiting.extend(node.scripts)
    return result


def _substitutes(word: Word) -> bool:
    waiting = list(word.parts or ())
    while waiting:
        part = waiting.pop()
        if isinstance(part, Substitution):
            return True
        argument = getattr(part, "argument", None)
        waiting.extend(getattr(part, "parts", ()))
        if argument is not None and argument.parts:
            waiting.extend(argument.parts)
    return False
