from __future__ import annotations

import pytest

from haltline.shell import (
    command_prefix,
    has_command_substitution,
    has_redirection,
    lex,
    segments,
    split_segments,
    strip_wrapper,
)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls", ["ls"]),
        ("a | b || c && d; e & f", ["a", "b", "c", "d", "e", "f"]),
        ("a\nb", ["a", "b"]),
        ("echo 'a ; b' \"c | d\"", ["echo 'a ; b' \"c | d\""]),
        ("echo $(a; b) | c", ["echo $(a; b)", "c"]),
        ("a |& b", ["a", "b"]),
        ("a 2>&1 | b &", ["a 2>&1", "b"]),
        ("", []),
    ],
)
def test_split_segments_cuts_at_control_operators_outside_quotes(command: str, expected: list[str]) -> None:
    assert split_segments(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("bash -c 'rm -rf /'", "rm -rf /"),
        ('/bin/sh -lc "a && b"', "a && b"),
        ("bash -c -- 'a'", "a"),
        ("bash script.sh", "bash script.sh"),
        ("ls", "ls"),
        ("a; bash -c 'b'", "a; bash -c 'b'"),
        ("bash -c 'a", "bash -c 'a"),
    ],
)
def test_strip_wrapper_takes_one_shell_off(command: str, expected: str) -> None:
    assert strip_wrapper(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("bash -c 'ls; rm -rf /'", ["ls", "rm -rf /"]),
        ("ls && bash -c \"sh -c 'a; b'\" | c", ["ls", "a", "b", "c"]),
    ],
)
def test_segments_see_through_shell_wrappers(command: str, expected: list[str]) -> None:
    assert segments(command) == expected


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ("r'm' -rf  /", ["rm", "-rf", "/"]),
        ("a \"b c\" d\\ e $'\\x41'", ["a", "b c", "d e", "A"]),
        ("A=1 b $c > out", ["A=1", "b", "$c"]),
        ("a 'b", None),
        ("(a)", None),
        ("", []),
    ],
)
def test_lex_returns_words_or_none(segment: str, expected: list[str] | None) -> None:
    assert lex(segment) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git push origin main", "git push"),
        ("git -v status", "git status"),
        ("ls -la", "ls"),
        ("FOO=1 /usr/bin/npm run build", "npm run"),
        ("bash -c 'docker ps -a'", "docker ps"),
        ("", ""),
        ("'open", ""),
    ],
)
def test_command_prefix_is_the_scope_of_an_approval(command: str, expected: str) -> None:
    assert command_prefix(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a > b", True),
        ("a 2>&1", True),
        ("a <<E\nx\nE", True),
        ("(a) < b", True),
        ("if x; then y > z; fi", True),
        ("echo '>'", False),
        ("a", False),
    ],
)
def test_redirections_are_found(command: str, expected: bool) -> None:
    assert has_redirection(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a $(b)", True),
        ('a "`b`"', True),
        ("a <(b)", True),
        ("a ${x:-$(b)}", True),
        ("a $((1+$(b)))", True),
        ("x=$(b)", True),
        ("a > $(b)", True),
        ("cat <<E\n$(b)\nE", True),
        ("a '$(b)'", False),
        ("cat <<'E'\n$(b)\nE", False),
        ("a $b $((1))", False),
    ],
)
def test_substitutions_are_found(command: str, expected: bool) -> None:
    assert has_command_substitution(command) == expected
