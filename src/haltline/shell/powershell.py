"""PowerShell and cmd.exe words: what they delete, fetch and run, whether in their own shell or in Bash's.

PowerShell text is cut into commands at `;`, `|`, newlines, braces and parentheses outside quotes
(about_Parsing, about_Quoting_Rules); each command is then judged by its cmdlet or alias, or as a program.
"""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from haltline.shell.call import NETWORK, PIPED, Flow
from haltline.shell.detectors.selfprotect import own_file
from haltline.shell.environment import Environment
from haltline.shell.marks import HOME, UNKNOWN, display, without_marks
from haltline.shell.paths import Zone, zone
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_COMMANDS = 500
CHARACTERS_IN_A_STEP = 16

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"`]|`.|\"\")*\"|[;|\n{}()&,]|#[^\n]*|(?:[^\s'\"`;|{}()&,]|`.)+|`\s", re.DOTALL
)
_REMOVES = word_set("remove-item ri rm del erase rd rmdir")
_FETCHES = re.compile(
    r"\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|wget|curl|downloadstring|downloadfile|downloaddata|"
    r"start-bitstransfer|net\.webclient)\b",
    re.IGNORECASE,
)
_EVALUATES = frozenset({"iex", "invoke-expression"})
_WINDOWS_HOME = re.compile(
    r"\$(?:env:(?:userprofile|homepath|home)|home)\b|%userprofile%|%homepath%", re.IGNORECASE
)
_WINDOWS_ROOT = re.compile(
    r"\$env:(?:systemroot|windir|systemdrive|programfiles|programdata)\b|%(?:systemroot|windir"
    r"|systemdrive|programfiles|programdata)%",
    re.IGNORECASE,
)
_REGISTRY = re.compile(r"(?:registry::)?(?:HKLM|HKCU|HKCR|HKU|HKEY_[A-Z_]+)[:\\/]", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:if\s+(?:/i\s+)?(?:not\s+)?(?:exist\s+(?:\"[^\"]*\"|\S+)|defined\s+\S+|errorlevel\s+\d+"
    r"|(?:\"[^\"]*\"|\S+)\s*==\s*(?:\"[^\"]*\"|\S+))"
    r"|for\s+.*?\bdo|call|start(?:\s+/\w+|\s+\"[^\"]*\")*|else)\s+|[@(]",
    re.IGNORECASE | re.DOTALL,
)
_WINDOWS_TEMPORARY = re.compile(r"\$env:te?mp\b|%te?mp%", re.IGNORECASE)


def powershell(engine: Engine, call: Call) -> Flow:
    """`powershell -Command text`, `-EncodedCommand`, `-File`, or text that flows in."""
    argv = call.argv
    i = 1
    while i < len(argv):
        word = argv[i].lower()
        i += 1
        if word in ("-", "/?") or not word.startswith(("-", "/")):
            return _text(engine, call, " ".join(argv[i - 1 :])) if word != "-" else _input(engine, call)
        name = "-" + word[1:]
        if name in ("-e", "-ec") or (name[:3] == "-en" and "-encodedcommand".startswith(name)):
            return _encoded(engine, call, argv[i] if i < len(argv) else "")
        if "-command".startswith(name) and name != "-":
            return _text(engine, call, " ".join(argv[i:]))
        if "-file".startswith(name) and len(name) > 1:
            if re.match(r"\\\\|//|https?:", argv[i] if i < len(argv) else ""):
                engine.report("interpreters.network-code", call, argv[i])
            engine.unknown("script", argv[i] if i < len(argv) else "", call)
            return Flow(None, PIPED)
        if name in (
            "-executionpolicy",
            "-ep",
            "-ex",
            "-exec",
            "-windowstyle",
            "-w",
            "-version",
            "-inputformat",
            "-outputformat",
            "-psconsolefile",
            "-configurationname",
        ):
            i += 1
    return _input(engine, call)


def _input(engine: Engine, call: Call) -> Flow:
    if call.stdin is None:
        engine.effect("execute", call.argv[0], call)
        return Flow(None, PIPED)
    engine.report(
        "interpreters.network-code" if call.stdin.taints & NETWORK else "interpreters.pipe-to-shell",
        call,
        call.argv[0],
    )
    if call.stdin.text is not None:
        judge_commands(engine, call, call.stdin.text)
    return Flow(None, PIPED)


def _encoded(engine: Engine, call: Call, text: str) -> Flow:
    engine.report("windows.encoded", call)
    try:
        decoded = base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le", "replace")
    except ValueError:
        return Flow(None, PIPED)
    judge_commands(engine, call, without_marks(decoded))
    return Flow(None, PIPED)


def _text(engine: Engine, call: Call, text: str) -> Flow:
    judge_commands(engine, call, text)
    return Flow(None, PIPED)


def judge_commands(engine: Engine, call: Call, text: str) -> None:
    """Report what a PowerShell text would do."""
    engine.charge(1 + len(text) // CHARACTERS_IN_A_STEP)
    engine.effect("execute", "powershell", call)
    source = ""
    for number, (words, piped) in enumerate(_commands(text)):
        if number >= MAX_COMMANDS:
            engine.report("limits.reached", call, "too many PowerShell commands")
            return
        inner = call.inner(words, "powershell")
        name = words[0].lower()
        if name in _EVALUATES:
            _evaluates(engine, inner, words, text)
        elif name in _REMOVES:
            if piped and not any(word[:1] not in "-/" for word in words[1:]):
                inner.argv = [*words, source or "."]
                inner.appended = True
            remove_item(engine, inner)
        elif name in ("start-process", "saps", "start") and len(words) > 1:
            engine.dispatch(inner.inner(_started(words[1:]), words[0]))
        else:
            if piped and name in ("stop-process", "spps", "kill") and "haltline" in source.lower():
                engine.report("haltline.process", inner, source)
            engine.dispatch(inner)
        source = next((word for word in words[1:] if word[:1] != "-"), "")


_STARTS = frozenset({"-filepath", "-argumentlist", "-args", "-path"})
_START_SWITCHES = word_set("-wait -nonewwindow -passthru -usenewenvironment -loaduserprofile")


def _started(words: list[str]) -> list[str]:
    """Return what `Start-Process program -ArgumentList "…"` runs; one text may hold all arguments."""
    kept: list[str] = []
    skip = False
    for word in words:
        lowered = word.lower()
        if skip or lowered in _STARTS or lowered in _START_SWITCHES:
            skip = False
        elif lowered in ("-verb", "-windowstyle", "-workingdirectory", "-credential"):
            skip = True
        else:
            kept.append(word)
    return [*kept[:1], *(part for word in kept[1:] for part in word.split())]


def _evaluates(engine: Engine, call: Call, words: list[str], text: str) -> None:
    if _FETCHES.search(text):
        engine.report("interpreters.network-code", call)
    elif len(words) > 1 and not words[1].startswith("$"):
        judge_commands(engine, call, " ".join(words[1:]))
    else:
        engine.unknown("code", "PowerShell text that is computed", call)


def _commands(text: str) -> list[tuple[list[str], bool]]:
    """Return each command's words, and whether another command's output flows into it."""
    result: list[tuple[list[str], bool]] = []
    current: list[str] = []
    piped = False
    for match in _TOKEN.finditer(text):
        lexeme = match[0]
        if lexeme in ";|\n{}()&":
            if current:
                result.append((current, piped))
                piped = lexeme == "|"
            current = []
        elif lexeme[0] not in "#," and lexeme != "`":
            current.append(_unquoted(lexeme))
    if current:
        result.append((current, piped))
    return result


def _unquoted(lexeme: str) -> str:
    if lexeme[0] == "'":
        return lexeme[1:-1].replace("''", "'")
    if lexeme[0] == '"':
        return re.sub(r"`(.)", r"\1", lexeme[1:-1], flags=re.DOTALL).replace('""', '"')
    return re.sub(r"`(.)", r"\1", lexeme, flags=re.DOTALL)


def remove_item(engine: Engine, call: Call) -> Flow | None:
    """`Remove-Item -Recurse`, `rd /s`, `del /s`: deletion in Windows words."""
    argv = call.argv
    engine.bounded(argv)
    name = argv[0].lower().removesuffix(".exe")
    flags = [
        word.lower() for word in argv[1:] if word[:1] == "-" or re.fullmatch(r"/[a-z](?::\S*)?", word.lower())
    ]
    targets = [word for word in argv[1:] if word.lower() not in flags]
    cmdlet = not any(flag.startswith("/") for flag in flags)
    if name == "rmdir" and cmdlet and call.via[-1:] != ("powershell",):
        return None
    if "-whatif" in flags:
        return Flow("", 0)
    for target in targets:
        own_file(engine, call, target, removed=True)
        if _REGISTRY.match(target):
            engine.report("machine.windows-registry", call, display(target))
    recursive = (
        "/s" in flags
        or any(len(flag) > 1 and "-recurse".startswith(flag) for flag in flags)
        or "-rf" in flags
    )
    for target in targets:
        where = windows_zone(target, call)
        engine.effect("delete", display(target), call, recursive=recursive, force=True, reversible=False)
        if where in (Zone.ROOT, Zone.HOMES, Zone.SYSTEM) and recursive:
            engine.report("windows.delete", call, display(target), decision="deny")
        elif (
            call.appended
            or (
                recursive
                and (where not in (Zone.NAMED, Zone.TEMPORARY, Zone.NOWHERE) or name in ("del", "erase"))
            )
        ) or where in (Zone.ROOT, Zone.HOMES, Zone.SYSTEM, Zone.HERE):
            engine.report("windows.delete", call, display(target))
    return Flow("", 0)


def write_item(engine: Engine, call: Call) -> Flow:
    """`Set-Content path`, `Out-File path`: a file is written over."""
    named = [
        value
        for option, value in pairwise(call.argv[1:])
        if option.lower() in ("-path", "-filepath", "-literalpath")
    ]
    plain = [word for word in call.argv[1:2] if word[:1] != "-"]
    for target in named or plain:
        own_file(engine, call, target)
        where = windows_zone(target, call)
        engine.effect("overwrite", display(target), call, reversible=False)
        if where in (Zone.ROOT, Zone.HOMES, Zone.SYSTEM):
            engine.report("windows.clear", call, display(target))
    return Flow("", 0)


def block(engine: Engine, call: Call) -> Flow:
    """`Invoke-Command … { commands }`, written where Bash reads it."""
    text = " ".join(call.argv[1:])
    judge_commands(engine, call, text[text.find("{") + 1 :] if "{" in text else text)
    return Flow(None, PIPED)


def windows_zone(target: str, call: Call) -> Zone:
    """Return the zone of a path in Windows spelling."""
    if _WINDOWS_ROOT.search(target):
        return Zone.SYSTEM
    if _WINDOWS_TEMPORARY.search(target):
        return Zone.TEMPORARY
    path = _WINDOWS_HOME.sub(HOME, target).replace("\\", "/")
    if path.startswith("~"):
        path = HOME + path[1:]
    if path.startswith(("$", "%")):
        path = UNKNOWN
    return zone(path, call.environment.directory)


def command_prompt(engine: Engine, call: Call) -> Flow:
    """`cmd /c text`: the rest of the words is a command line of cmd.exe."""
    argv = call.argv
    lowered = [word.lower() for word in argv]
    at = next((i for i, word in enumerate(lowered) if word in ("/c", "/k", "/r")), None)
    if at is None:
        engine.effect("execute", "cmd", call)
        return Flow(None, PIPED)
    words = argv[at + 1 :]
    text = " ".join(words)
    for segment in re.split(r"\s*(?:&&|\|\||[&|\n])\s*", text):
        plain = segment.replace("^", "").strip()
        while (match := _CONDITION.match(plain)) is not None:
            plain = plain[match.end() :].strip().rstrip(")")
        parts = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', plain)]
        if not parts:
            continue
        inner = call.inner(parts, "cmd")
        if parts[0].lower() in _REMOVES:
            remove_item(engine, inner)
        else:
            inner.environment = Environment()
            engine.dispatch(inner)
    return Flow(None, PIPED)


def evaluate(engine: Engine, call: Call) -> Flow:
    """`iex` written where Bash reads it."""
    if call.taints & NETWORK or _FETCHES.search(" ".join(call.argv)):
        engine.report("interpreters.network-code", call)
    else:
        engine.unknown("code", "PowerShell text", call)
    return Flow(None, PIPED)
