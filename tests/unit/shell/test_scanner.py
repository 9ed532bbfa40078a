from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from haltline.shell.scanner import MAX_LENGTH, ansi_c, scan
from haltline.shell.syntax import Arithmetic, Compound, Literal, Parameter, Script, Simple, Substitution, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

Part = Literal | Parameter | Substitution | Arithmetic
Argv = list[str | None]


def commands(script: Script) -> Iterator[Argv]:
    """Every simple command at any depth; a word that is expanded when it runs is None."""
    for _, node in script.items:
        words = list(node.words)
        if isinstance(node, Simple):
            if node.words:
                yield [None if word.dynamic else word.text for word in node.words]
            for assignment in node.assignments:
                words += [assignment.value, *(assignment.items or ())]
        else:
            for body in node.scripts:
                yield from commands(body)
        for redirection in node.redirections:
            words += [redirection.target] + ([redirection.body] if redirection.body is not None else [])
        for word in words:
            yield from in_parts(word.parts or [])


def in_parts(parts: list[Part]) -> Iterator[Argv]:
    for part in parts:
        if isinstance(part, Substitution):
            yield from commands(part.script)
        elif isinstance(part, Arithmetic):
            yield from in_parts(part.parts)
        elif isinstance(part, Parameter) and part.argument is not None:
            yield from in_parts(part.argument.parts or [])


def argvs(text: str) -> list[Argv]:
    return list(commands(scan(text).script))


# The first oracle is shfmt.

SHFMT = shutil.which("shfmt", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "shfmt"


def shfmt(text: str) -> list[Argv] | None:
    done = subprocess.run([SHFMT, "--to-json"], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        return None
    found: list[Argv] = []
    walk(json.loads(done.stdout), found)
    return found


def walk(tree: Any, found: list[Argv]) -> None:
    if isinstance(tree, dict):
        if tree.get("Type") == "CallExpr" and tree.get("Args"):
            found.append([literal(word.get("Parts", [])) for word in tree["Args"]])
        for value in tree.values():
            walk(value, found)
    elif isinstance(tree, list):
        for value in tree:
            walk(value, found)


def literal(parts: list[dict[str, Any]]) -> str | None:
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
        else:
            return None
    return "".join(text)


class Generator:
    """Valid Bash, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  reproducible text, no secret

    def word(self, depth: int) -> str:
        plain = [
            "a",
            "b1",
            "x/y",
            "-f",
            "--opt=v",
            "'q u'",
            '"d $v q"',
            "a\\ b",
            "$v",
            "${v:-d}",
            "$'\\x41'",
            "''",
            "e\\'f",
        ]
        if depth > 0 and self.random.random() < 0.25:
            inner = self.line(depth - 1)
            return self.random.choice(
                [
                    f"$( {inner} )",
                    f'"x$( {inner} )y"',
                    f"<({inner})",
                    f"$(( 1 + $( {inner} ) ))",
                    f"${{v:-$( {inner} )}}",
                ]
            )
        return self.random.choice(plain)

    def simple(self, depth: int) -> str:
        words = [self.word(depth) for _ in range(self.random.randint(1, 4))]
        before = self.random.choice(["", "", "", "A=1 ", "B='x y' "])
        after = self.random.choice(["", "", "", " > out", " 2>&1", " < in", " <<< here"])
        return f"{before}c{self.random.randint(0, 9)} {' '.join(words)}{after}"

    def command(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.5:
            return self.simple(depth)
        line = self.line(depth - 1)
        other = self.line(depth - 1)
        return self.random.choice(
            [
                f"( {line} )",
                f"{{ {line}; }}",
                f"if {line}; then {other}; else {line}; fi",
                f"while {line}; do {other}; done",
                f"for i in a b; do {line}; done",
                f"case x in a|b) {line};; *) {other};; esac",
                f"f() {{ {line}; }}",
            ]
        )

    def line(self, depth: int) -> str:
        parts = [self.random.choice(["", "", "", "! ", "time "]) + self.command(depth)]
        parts.extend(
            self.random.choice([" | ", " && ", " || ", "; ", " & ", "\n"]) + self.command(depth)
            for _ in range(self.random.randint(0, 2))
        )
        return "".join(parts)


def same(text: str) -> None:
    expected = shfmt(text)
    found = scan(text)
    if expected is None:
        refused = subprocess.run(
            ["bash", "-n"], input=text.encode(), capture_output=True, check=False
        ).returncode
        assert refused == 0 or found.error is not None, text
        return
    assert found.error is None, (text, found.error)
    assert sorted(map(repr, argvs(text))) == sorted(map(repr, expected)), text


@pytest.mark.parametrize("seed", range(250))
def test_argv_is_what_shfmt_sees(seed: int) -> None:
    same(Generator(seed).line(3))


@pytest.mark.parametrize(
    "text",
    [
        "r\\\nm -rf /",
        "a `b \\`c\\` d` e",
        "coproc rm -rf /",
        "coproc N { a; b; }",
        "cat <<A <<B\n1\nA\n2\nB\nc",
        "cat <<-E\n\tx $(y)\n\tE\nz",
        "cat <<'E'\n$(y)\nE",
        "X=1 time cleanup",
        "echo $((1 + $(a b)))",
        "echo $( (a b) )",
        "((i++)); a",
        "[[ $(a b) =~ ^(x|y)$ ]] && c",
        "for ((i=0;i<3;i++)); do a; done",
        "function f { a; }; f",
        "a=(1 $(b) 3); c",
        "select x in 1 2; do a; done",
        "until a; do b; done",
        "echo ${x:-'}'} ${y:-\"$(z)\"}",
        "if a; then b; elif c; then d; else e; fi > out",
        "case $x in (a) b ;; c|d) e ;& *) f ;;& esac",
        "a |& b",
        "a &> b",
        "a 2>&1 >&- {fd}>x",
        "echo a#b #c",
        "! a | b",
        'echo "it\'s" \'say "x"\'',
        "echo $'a\\'b' x",
        "ls !(a|b) @(c)",
        "echo {a,b}{1..3}",
        "a;b&c\nd",
        "$(a)b`c`",
        "bash <(curl x) > >(tee y)",
    ],
)
def test_difficult_text_is_read_as_shfmt_reads_it(text: str) -> None:
    if "!(" in text or "@(" in text:
        assert argvs(text) == [["ls", "!(a|b)", "@(c)"]]
        return
    same(text)


# The second oracle is Bash itself.


@pytest.mark.parametrize("seed", range(60))
def test_bash_accepts_what_the_scanner_accepts(seed: int) -> None:
    text = Generator(seed + 10_000).line(2)
    cut = text[: len(text) * 2 // 3]
    valid = subprocess.run(["bash", "-n"], input=cut.encode(), capture_output=True, check=False)

    if valid.returncode == 0 and not valid.stderr:
        assert scan(cut).error is None, cut


@pytest.mark.parametrize(
    "text",
    [
        "'a",
        '"a',
        "$(a",
        "`a",
        "${a",
        "$((1",
        "(a",
        "{ a",
        "if a; then b",
        "while a; do b",
        "case a in b) c",
        "a )",
        "fi",
        "| a",
        "& a",
        "a; ;; b",
        "for",
        "[[ a",
        "a=(b",
        "cat >",
        "x (y",
        "a | ! b",
    ],
)
def test_broken_text_is_reported_as_bash_reports_it(text: str) -> None:
    refused = subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False)

    assert refused.returncode != 0
    assert scan(text).error is not None


# Spans


def test_spans_point_at_the_source() -> None:
    text = "ls -la; cat 'a b' | grep x"
    nodes = [node for _, node in scan(text).script.items]

    assert [text[node.start : node.end] for node in nodes] == ["ls -la", "cat 'a b'", "grep x"]
    assert isinstance(nodes[1], Simple)
    assert [text[word.start : word.end] for word in nodes[1].words] == ["cat", "'a b'"]


def test_spans_of_compound_commands_reach_to_their_end() -> None:
    text = "x; ( a; b ) > out; y"
    node = scan(text).script.items[1][1]

    assert isinstance(node, Compound)
    assert text[node.start : node.end] == "( a; b ) > out"


def test_here_documents_keep_their_body_and_quoting() -> None:
    found = scan("cat <<'A' <<B\n$x\nA\n$y\nB\n").script.items[0][1]

    assert [
        (r.literal, r.body.text if isinstance(r.body, Word) and r.literal else None)
        for r in found.redirections
    ] == [
        (True, "$x\n"),
        (False, None),
    ]


# Limits and growth

HOSTILE = {
    "arithmetic": "$((",
    "arithmetic and word": "$((a) ",
    "substitutions": "$(",
    "double quotes": '"$(',
    "backquotes": "`",
    "escaped backquotes": "\\`",
    "parentheses": "((",
    "braces": "${a:-",
    "escapes": "\\a",
    "quotes": "''a",
    "empty quotes": '""',
    "here-documents": "<<A ",
    "here-document lines": "<<A\n",
    "patterns": "a@(b)",
    "open patterns": "a@(",
    "arrays": "a=(b ",
    "cases": "case a in b) ",
    "commands": "a;",
    "pipes": "a|",
    "functions": "f(){ ",
    "tests": "[[ a ",
    "redirections": "2>&1 ",
    "assignments": "a=b ",
    "comments": "#a\n",
    "brackets": "$[",
    "dollars": "$",
    "single": "'",
    "newlines": "\n",
    "time": "time ",
    "negations": "! ",
}


class Counting(str):
    """A text that counts how many characters are looked at."""

    __slots__ = ()
    looked = 0

    def startswith(self, *arguments: Any) -> bool:
        Counting.looked += 1
        return super().startswith(*arguments)

    def __getitem__(self, index: Any) -> str:
        Counting.looked += 1 if isinstance(index, int) else len(range(*index.indices(len(self))))
        return super().__getitem__(index)


def steps(text: str) -> int:
    Counting.looked = 0
    scan(Counting(text))
    return Counting.looked


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_work_grows_with_the_length_of_the_text(piece: str) -> None:
    small, large = 400, 3200
    short = steps(piece * (small // len(piece)))
    long = steps(piece * (large // len(piece)))

    assert long <= 3 * (large // small) * max(short, small // 4)


def test_a_long_text_is_not_read() -> None:
    found = scan("a" * (MAX_LENGTH + 1))

    assert found.limit is not None
    assert not found.script.items


@pytest.mark.parametrize(
    "text", ["(" * 200, "$(" * 200, "{ " * 200, '"$(' * 200, "if " * 200, "`" * 3001, "f() " * 3000]
)
def test_deep_text_is_given_up_and_says_so(text: str) -> None:
    found = scan(text)

    assert found.limit is not None or found.error is not None


def test_what_was_read_before_an_error_is_kept() -> None:
    found = scan("rm -rf / 'open")

    assert found.error is not None
    assert argvs("rm -rf / 'open") == [["rm", "-rf", "/"]]


def test_a_cut_word_keeps_the_commands_inside() -> None:
    found = scan('echo "$(rm -rf / ')

    assert found.error is not None
    assert [list(in_parts(word.parts or [])) for word in found.salvaged] == [[["rm", "-rf", "/"]]]
