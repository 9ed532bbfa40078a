from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline.errors import InvalidInput
from haltline.text.globs import match_component, matches, parse_pattern
from haltline.text.scope import normalise_path, outside, scope_patterns


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "src/a.py", True),
        ("*.py", "src/a.pyc", False),
        ("src/**", "src/a/b.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/test_*.py", "src/a/b/test_x.py", True),
        ("src/**/test_*.py", "src/test_x.py", True),
        ("docs/", "docs/a.md", True),
        ("docs/", "x/docs/a.md", True),
        ("/docs", "x/docs/a.md", False),
        ("**/docs/a.md", "x/y/docs/a.md", True),
        ("a?c", "abc", True),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("a[", "a[", True),
        ("src/auth", "src/authentication/x.py", False),
        ("**", "a/b", True),
    ],
)
def test_patterns_match_as_in_gitignore(pattern: str, path: str, expected: bool) -> None:
    assert matches(parse_pattern(pattern), tuple(path.split("/"))) is expected


@given(st.text("ab*?", max_size=12), st.text("ab", max_size=12))
def test_a_component_matches_as_the_definition_says(pattern: str, name: str) -> None:
    def reference(pattern: str, name: str) -> bool:
        if not pattern:
            return not name
        if pattern[0] == "*":
            return reference(pattern[1:], name) or (bool(name) and reference(pattern, name[1:]))
        return bool(name) and pattern[0] in {"?", name[0]} and reference(pattern[1:], name[1:])

    assert match_component(pattern, name) == reference(pattern, name)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("src/./a.py", ("src", "a.py")),
        ("src/../a.py", ("a.py",)),
        ("../a.py", None),
        ("src/../../a.py", None),
        ("/repo/src/a.py", ("src", "a.py")),
        ("/repo/../etc/passwd", None),
        ("/repository/a.py", None),
        ("src\\a.py", ("src", "a.py")),
    ],
)
def test_paths_are_normalised_against_the_root(path: str, parts: tuple[str, ...] | None) -> None:
    assert normalise_path(path, "/repo") == parts


FREE_TEXT = "Only modify files under src/auth and tests/auth"


@pytest.mark.parametrize(
    ("boundary", "path", "is_outside"),
    [
        (FREE_TEXT, "src/auth/login.py", False),
        (FREE_TEXT, "tests/auth/test_login.py", False),
        (FREE_TEXT, "src/db.py", True),
        (FREE_TEXT, "src/auth/../db.py", True),
        (FREE_TEXT, "../elsewhere", True),
        (FREE_TEXT, "/repo/src/auth/x.py", False),
        (FREE_TEXT, "/etc/passwd", True),
        (FREE_TEXT, "src/authentication/x.py", True),
        ("Work in src/ but not in src/legacy.", "src/legacy/x.py", True),
        ("Work in src/ but not in src/legacy.", "src/a.py", False),
        ("Work in src/", "vendor/src/a.py", True),
        ("Do not touch migrations/.", "migrations/1.sql", True),
        ("Do not touch migrations/.", "src/a.py", False),
        ("src/**\n!src/legacy/", "src/legacy/a.py", True),
        ("src/**\n!src/legacy/", "src/a.py", False),
        ("*.md, docs/", "a/b.md", False),
        ("*.md, docs/", "a/b.py", True),
        ("/repo/src/**", "src/a.py", False),
    ],
)
def test_a_path_is_compared_with_the_boundary(boundary: str, path: str, is_outside: bool) -> None:
    result = outside(boundary, [path], root="/repo")
    assert (result.paths == (path,)) is is_outside
    assert result.comparable


@pytest.mark.parametrize("boundary", ["Fix the login bug", "", "the auth module only"])
def test_a_boundary_without_paths_cannot_be_compared(boundary: str) -> None:
    result = outside(boundary, ["src/a.py"])
    assert (result.comparable, result.anything) == (False, False)


def test_hosts_are_compared() -> None:
    boundary = "host:*.internal\nhost:api.example.com\n!host:db.internal"
    result = outside(boundary, hosts=["a.internal", "db.internal", "API.example.com", "evil.example.com"])
    assert result.hosts == ("db.internal", "evil.example.com")


def test_verbs_are_compared() -> None:
    assert outside("verb:read", verbs=["read", "delete"]).verbs == ("delete",)
    assert outside("!verb:delete", verbs=["read", "delete"]).verbs == ("delete",)


def test_an_unknown_verb_makes_the_boundary_prose() -> None:
    assert scope_patterns("verb:frobnicate").verbs == frozenset()


@pytest.mark.parametrize("piece", ["*", "**/", "a/", "not ", "[", "!", "a.b "])
def test_hostile_boundaries_and_paths_are_compared(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    result = outside(text, ["a/" * 2_000 + "x"])
    assert len(result.paths) <= 1


def test_a_path_that_nothing_can_open_is_outside() -> None:
    path = "src/" + "a" * 5_000
    assert outside("src/", [path]).paths == (path,)


def test_a_boundary_over_the_limit_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="at most 20,000"):
        outside("a/" * 20_000, ["x"])
