"""The scanner reads what `shfmt` reads, word for word, and finds valid what `bash -n` finds valid."""

from __future__ import annotations

import random
import re
import subprocess

import pytest
from fuzz.grammar import Generator
from fuzz.oracle import argvs, bash_accepts, differences, shfmt

from haltline.shell.scanner import scan

SEEDS = range(250)


def agree(text: str) -> None:
    """Fail unless the oracles accept a text and the scanner sees the same words."""
    assert bash_accepts(text), text
    assert scan(text).error is None, (text, scan(text).error)
    assert differences(text) == ([], []), text


@pytest.mark.parametrize("seed", SEEDS)
def test_generated_bash_is_read_as_the_oracles_read_it(seed: int) -> None:
    text = Generator(seed).text()
    found = differences(text)

    if bash_accepts(text):
        assert scan(text).error is None, text
    if found is not None:
        assert found == ([], []), text


def test_the_generator_writes_bash() -> None:
    texts = [Generator(seed).text() for seed in SEEDS[:100]]

    assert sum(bash_accepts(text) and shfmt(text) is not None for text in texts) >= 90


@pytest.mark.parametrize("seed", range(100))
def test_carriage_returns_before_newlines_change_nothing(seed: int) -> None:
    text = Generator(seed).text()
    if "\\\n" in text or re.search(r"[\"'][^\"']*\n", text) or "<<" in text:
        return  # the carriage return is then a character of a word

    assert argvs(text.replace("\n", "\r\n")) == argvs(text)


# Where Bash looks less closely than the scanner, or the scanner less closely than Bash
UNSEEN_BY_BASH = re.compile(
    r"`|<<"
)  # backquoted text and the bodies of here-documents are read when they run
UNSEEN_BY_US = re.compile(
    r"\[\[|<<"  # the operators of a test; a here-document that ends with the text
    r"|\(\("  # whether arithmetic makes sense
    r"|[^\s\w]=?\([^)]*\)"  # a pattern list, or an array of a name that is none
    r"|case|select|\$\[|\{|&"  # empty patterns, old arithmetic, names of parameters, `!` before `&`
)


@pytest.mark.parametrize("seed", range(400))
def test_broken_bash_is_found_broken(seed: int) -> None:
    text = broken(seed)
    accepted, error = bash_accepts(text), scan(text).error

    if accepted and not UNSEEN_BY_BASH.search(text):
        assert error is None, text
    if not accepted and not UNSEEN_BY_US.search(text):
        assert error is not None, text


def broken(seed: int) -> str:
    """Return valid Bash with one character too few or too many, or an end too early."""
    chance = random.Random(seed)  # noqa: S311  reproducible text, no secret
    text = Generator(seed).text()
    at = chance.randrange(len(text))
    extra = chance.choice("'\"`$(){}[];&|<>\\\n #!")
    return chance.choice((text[:at], text[:at] + text[at + 1 :], text[:at] + extra + text[at:]))


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
        "cat <<'E'\nx\\\nE\nz",
        "cat <<E\nx\\\nE\ny\nE\nz",
        "cat <<E | b\nx\nE\nc",
        "X=1 time cleanup",
        "X=1 if then fi",
        "time -p a | b",
        "echo $((1 + $(a b)))",
        "echo $( (a b) )",
        "((i++)); a",
        "[[ $(a b) =~ ^(x|y)$ ]] && c",
        "for ((i=0;i<3;i++)); do a; done",
        "function f { a; }; f",
        "a=(1 $(b) 3); c",
        'a["$(b)"]+=2',
        "a[b[1]]=$(c)",
        "a=([$(b)]=c)",
        "select x in 1 2; do a; done",
        "until a; do b; done",
        "echo ${x:-'}'} ${y:-\"$(z)\"}",
        "if a; then b; elif c; then d; else e; fi > out",
        "case $x in (a) b ;; c|d) e ;& *) f ;;& esac",
        "case x in(a) b;; esac",
        "case <(a) in x) b;; esac",
        "a |& b",
        "a &> b",
        "time &> b c",
        "a 2>&1 >&- {fd}>x",
        "echo a#b #c",
        "! a | b",
        "a |\nb",
        "a | # why\nb",
        "a &&\n\n# why\nb",
        'echo "it\'s" \'say "x"\'',
        "echo $'a\\'b' x",
        "echo {a,b}{1..3}",
        "a;b&c\nd",
        "$(a)b`c`",
        "a<(b)c 12<(d) 'e'>(f)",
        "bash <(curl x) > >(tee y)",
        "export A=1 B='x y' C; declare -a d=($(e) 2)",
        "echo é\u200b 日本",
    ],
)
def test_difficult_text_is_read_as_the_oracles_read_it(text: str) -> None:
    agree(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b \\`c \\\\\\`d\\\\\\`\\``", [["a", None], ["b", None], ["c", None], ["d"]]),
        ("coproc a $v b", [["a", None, "b"]]),
        ("a 'b'# c", [["a", "b#", "c"]]),
        ("cat <<-E\n\tx \\\n\tE\n\tE\nz", [["cat"], ["z"]]),
        ("a[$(b c)]=1 d", [["d"], ["b", "c"]]),
        ("a[x y]=1 d", [["d"]]),
        ("a['x]']=1 d", [["d"]]),
        ("ls !(a|b) @(c) +($(d e)|'f)')", [["ls", "!(a|b)", "@(c)", None], ["d", "e"]]),
    ],
)
def test_where_shfmt_errs_the_scanner_reads_as_bash_does(text: str, expected: list[list[str | None]]) -> None:
    assert bash_accepts(text)
    assert argvs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
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
        ),
        *("a )", "fi", "| a", "& a", "a; ;; b", "for", "[[ a", "a=(b", "cat >", "x (y", "a | ! b", "a[b"),
        *("a |", "a &&", "a ||\n", "a | # b", "(a |)", "{ a && }", "a && || b", "a; ; b", "a & ; b", "\n; a"),
        *(
            "( )",
            "{ }",
            "if ; then a; fi",
            "if a; then fi",
            "while a; do done",
            "f() { }",
            "(a) b",
            "{ a; } b",
        ),
        *("if a; then b; fi c", "((1)) a", "case in a) esac", "case x in a) b |;; esac"),
    ],
)
def test_broken_text_is_reported_as_bash_reports_it(text: str) -> None:
    refused = subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False)

    assert refused.returncode != 0
    assert scan(text).error is not None
