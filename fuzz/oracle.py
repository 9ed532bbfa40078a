"""Compare the scanner with `shfmt`, word for word, and with `bash -n`, which decides what is Bash.

    python -m fuzz.oracle FILE.jsonl

FILE holds one object with a `command` on each line. Prints each disagreement and the share of exact
agreement.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from haltline.shell.scanner import scan
from haltline.shell.scanner.ansi import ansi_c
from haltline.shell.syntax import Arithmetic, Literal, Parameter, Script, Simple, Substitution

Part = Literal | Parameter | Substitution | Arithmetic
Argv = list[str | None]

SHFMT = shutil.which("shfmt", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "shfmt"
_BEFORE = re.compile(r"^(?P<line>.*?: line \d+: )", re.MULTILINE)


# What the scanner sees


def argvs(text: str) -> list[Argv]:
    """Return every simple command of a text at any depth; a word that is expanded when it runs is None."""
    return list(_commands(scan(text).script))


def _commands(script: Script) -> Iterator[Argv]:
    for _, node in script.items:
        words = list(node.words)
        if isinstance(node, Simple):
            if node.words:
                yield [None if word.dynamic else word.text for word in node.words]
            for assignment in node.assignments:
                words += [assignment.value, *(assignment.items or ())]
                words += [assignment.subscript] if assignment.subscript is not None else []
        else:
            for body in node.scripts:
                yield from _commands(body)
        for redirection in node.redirections:
            words += [redirection.target] + ([redirection.body] if redirection.body is not None else [])
        for word in words:
            yield from in_parts(word.parts or [])


def in_parts(parts: list[Part]) -> Iterator[Argv]:
    """Yield the commands inside a word."""
    for part in parts:
        if isinstance(part, Substitution):
            yield from _commands(part.script)
        elif isinstance(part, Arithmetic):
            yield from in_parts(part.parts)
        elif isinstance(part, Parameter) and part.argument is not None:
            yield from in_parts(part.argument.parts or [])


# What shfmt sees


def shfmt(text: str) -> list[Argv] | None:
    """Return the same by `shfmt`, or None when it does not accept the text."""
    done = subprocess.run([SHFMT, "--to-json"], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        return None
    found: list[Argv] = []
    _walk(json.loads(done.stdout), found)
    return found


def _walk(tree: Any, found: list[Argv]) -> None:
    if isinstance(tree, dict):
        kind = tree.get("Type")
        if kind == "CallExpr" and tree.get("Args"):
            found.append([_literal(word.get("Parts", [])) for word in tree["Args"]])
        elif kind == "DeclClause":
            found.append([tree["Variant"]["Value"], *map(_declared, tree.get("Args", []))])
        for value in tree.values():
            _walk(value, found)
    elif isinstance(tree, list):
        for value in tree:
            _walk(value, found)


def _declared(assign: dict[str, Any]) -> str | None:
    """Return a word of `export`, `declare` and the like, which shfmt takes for an assignment."""
    value = _literal(assign.get("Value", {}).get("Parts", []))
    if assign.get("Array") or assign.get("Index") or value is None:
        return None
    name = assign.get("Name", {}).get("Value", "")
    if not name or assign.get("Naked"):
        return f"{name}{value}"
    return f"{name}{'+' if assign.get('Append') else ''}={value}"


def _literal(parts: list[dict[str, Any]]) -> str | None:
    text = []
    for part in parts:
        kind, value = part["Type"], part.get("Value", "")
        if kind == "Lit":
            text.append(re.sub(r"\\(\n|.)", lambda m: m[1].strip("\n"), value, flags=re.DOTALL))
        elif kind == "SglQuoted":
            text.append(ansi_c(value) if part.get("Dollar") else value)
        elif kind == "DblQuoted" and all(inner["Type"] == "Lit" for inner in part.get("Parts", [])):
            inner_text = "".join(inner.get("Value", "") for inner in part.get("Parts", []))
            text.append(re.sub(r'\\([\n"\\$`])', lambda m: m[1].strip("\n"), inner_text))
        elif kind == "ExtGlob":
            text.append(f"{part['Op']}{part['Pattern']['Value']})")
        else:
            return None
    return "".join(text)


# What Bash accepts


def bash_accepts(text: str) -> bool:
    """Return whether `bash -n` has nothing to say against a text; a here-document cut short is said."""
    done = subprocess.run(
        ["bash", "-O", "extglob", "-n"],
        input=text.encode("utf-8", "surrogateescape"),
        capture_output=True,
        check=False,
    )
    return done.returncode == 0 and not done.stderr


def differences(text: str) -> tuple[list[Argv], list[Argv]] | None:
    """Return what only the scanner and what only shfmt sees; None when shfmt does not accept the text."""
    expected = shfmt(text)
    if expected is None:
        return None
    ours, theirs = argvs(text), expected
    return _without(ours, theirs), _without(theirs, ours)


def _without(left: list[Argv], right: list[Argv]) -> list[Argv]:
    rest = list(right)
    only = []
    for argv in left:
        if argv in rest:
            rest.remove(argv)
        else:
            only.append(argv)
    return only


def main() -> None:
    """Print the disagreements over a file, and the figures."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    commands = list(dict.fromkeys(json.loads(line)["command"] for line in lines))
    compared = exact = rejected = 0
    for text in commands:
        found = differences(text)
        error = scan(text).error
        if found is not None:
            compared += 1
            exact += found == ([], []) and error is None
            if found != ([], []) or error is not None:
                print(f"shfmt: {text!r}\n  ours {found[0]}\n  shfmt {found[1]}\n  error {error}")
        accepted = bash_accepts(text)
        if accepted != (error is None):
            rejected += 1
            print(f"bash {'accepts' if accepted else 'refuses'}: {text!r}\n  error {error}")
    print(f"{exact} of {compared} that shfmt accepts have the same words ({100 * exact / compared:.2f}%)")
    print(f"{rejected} of {len(commands)} are valid for one of the scanner and Bash alone")


if __name__ == "__main__":
    main()
