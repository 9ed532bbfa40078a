from __future__ import annotations

import pytest

from haltline.text.errors import ErrorClass, classify_error, headline, mask_volatile, names_in, similarity


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("pid 4711 exited after 3.5 s", "pid <n> exited after <n> s"),
        ("at 0x7f3a9c00", "at <hex>"),
        ("2026-02-11T09:30:00.123Z boom", "<time> boom"),
        ("request 123e4567-e89b-42d3-a456-426614174000 failed", "request <uuid> failed"),
        ("cannot open /home/a/x.py now", "cannot open <path> now"),
        ("in src/auth/login.py here", "in <path> here"),
        ("commit 3f786850e387550f lost", "commit <hex> lost"),
        ("connect 10.0.0.1:5432 refused", "connect <address> refused"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_what_changes_from_run_to_run_is_masked(text: str, masked: str) -> None:
    assert mask_volatile(text) == masked


def test_the_specification_s_pair_is_similar() -> None:
    first = "TypeError: Cannot read property 'x' of null"
    assert similarity(first, "TypeError: Cannot read property 'x' of undefined") >= 0.8


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("FAILED after 12 s: port 8080 in use", "FAILED after 7 s: port 8081 in use"),
        ("Error: ENOENT: no such file '/tmp/a1/x'", "Error: ENOENT: no such file '/tmp/b2/y'"),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'name'",
            "Traceback (most recent call last):\n  File \"b.py\", line 90\n    x()\nKeyError: 'name'",
        ),
    ],
)
def test_the_same_failure_is_similar_whatever_its_numbers(first: str, second: str) -> None:
    assert similarity(first, second) >= 0.9


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("TypeError: Cannot read property 'x' of null", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
        ("fatal: not a git repository", "error[E0382]: borrow of moved value: `s`"),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'name'",
            'Traceback (most recent call last):\n  File "a.py", line 3\nZeroDivisionError: division by zero',
        ),
    ],
)
def test_different_failures_are_not_similar(first: str, second: str) -> None:
    assert similarity(first, second) < 0.8


def test_similarity_is_symmetric_and_one_for_equals() -> None:
    first, second = "alpha failed in beta", "gamma failed in delta"
    assert similarity(first, second) == similarity(second, first)
    assert similarity(first, first) == 1.0


MESSAGES = [
    ("TypeError: Cannot read property 'x' of null", ErrorClass.NULL_REFERENCE),
    ("TypeError: Cannot read properties of undefined (reading 'map')", ErrorClass.NULL_REFERENCE),
    ("AttributeError: 'NoneType' object has no attribute 'get'", ErrorClass.NULL_REFERENCE),
    ("panic: runtime error: invalid memory address or nil pointer dereference", ErrorClass.NULL_REFERENCE),
    ("ModuleNotFoundError: No module named 'requests'", ErrorClass.MISSING_MODULE),
    ("Error: Cannot find module './util'", ErrorClass.MISSING_MODULE),
    ("NameError: name 'foo' is not defined", ErrorClass.UNDEFINED_NAME),
    ("./main.go:7:2: undefined: foo", ErrorClass.UNDEFINED_NAME),
    ("error: cannot find symbol", ErrorClass.UNDEFINED_NAME),
    ("AttributeError: module 'os' has no attribute 'getcwdd'", ErrorClass.ATTRIBUTE),
    ("TypeError: foo.bar is not a function", ErrorClass.ATTRIBUTE),
    ("KeyError: 'name'", ErrorClass.LOOKUP),
    ("IndexError: list index out of range", ErrorClass.LOOKUP),
    ("SyntaxError: invalid syntax", ErrorClass.SYNTAX),
    ("IndentationError: unexpected indent", ErrorClass.INDENTATION),
    ("bash: syntax error near unexpected token `('", ErrorClass.SYNTAX),
    ("ZeroDivisionError: division by zero", ErrorClass.ARITHMETIC),
    ("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0", ErrorClass.ENCODING),
    ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", ErrorClass.SERIALIZATION),
    ("RecursionError: maximum recursion depth exceeded", ErrorClass.RECURSION),
    ("AssertionError: assert 1 == 2", ErrorClass.TEST_FAILURE),
    ("--- FAIL: TestLogin (0.00s)", ErrorClass.TEST_FAILURE),
    ("error[E0382]: borrow of moved value: `s`", ErrorClass.BORROW_CHECK),
    ("error[E0308]: mismatched types", ErrorClass.TYPE_CHECK),
    ("error TS2322: Type 'string' is not assignable to type 'number'.", ErrorClass.TYPE_CHECK),
    ("cat: x.txt: No such file or directory", ErrorClass.FILE_NOT_FOUND),
    ("Error: EACCES: permission denied, open '/etc/hosts'", ErrorClass.PERMISSION),
    ("bash: foo: command not found", ErrorClass.COMMAND_NOT_FOUND),
    ("fatal: not a git repository (or any of the parent directories): .git", ErrorClass.GIT_STATE),
    ("CONFLICT (content): Merge conflict in a.py", ErrorClass.GIT_CONFLICT),
    ("error: failed to push some refs to 'origin'", ErrorClass.GIT_REJECTED),
    ("sqlite3.OperationalError: database is locked", ErrorClass.DATABASE_LOCKED),
    ('ERROR: duplicate key value violates unique constraint "users_pkey"', ErrorClass.DATABASE_CONSTRAINT),
    ("sqlite3.OperationalError: no such table: users", ErrorClass.DATABASE_SCHEMA),
    ("Error: listen EADDRINUSE: address already in use :::3000", ErrorClass.PORT_IN_USE),
    ("curl: (6) Could not resolve host: api.example.com", ErrorClass.NAME_RESOLUTION),
    ("ssl.SSLCertVerificationError: certificate verify failed", ErrorClass.TLS),
    ("Error: connect ECONNREFUSED 127.0.0.1:5432", ErrorClass.CONNECTION),
    ("requests.exceptions.ReadTimeout: Read timed out. (read timeout=10)", ErrorClass.TIMEOUT),
    ("HTTP 429 Too Many Requests", ErrorClass.RATE_LIMITED),
    ("401 Unauthorized", ErrorClass.AUTHENTICATION),
    ("An error occurred (AccessDenied) when calling the PutObject operation", ErrorClass.AUTHORIZATION),
    ("503 Service Unavailable", ErrorClass.SERVER_ERROR),
    (
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        ErrorClass.OUT_OF_MEMORY,
    ),
    ("OSError: [Errno 28] No space left on device", ErrorClass.DISK_FULL),
    ("Segmentation fault (core dumped)", ErrorClass.KILLED),
    ("Back-off pulling image: ImagePullBackOff", ErrorClass.CONTAINER),
    ("npm ERR! ERESOLVE unable to resolve dependency tree", ErrorClass.DEPENDENCY),
    ("error: unrecognized arguments: --foo", ErrorClass.USAGE),
    ("ValueError: invalid literal for int() with base 10: 'x'", ErrorClass.VALUE),
    ("TypeError: unsupported operand type(s) for +: 'int' and 'str'", ErrorClass.TYPE),
    ("/usr/bin/ld: main.o: undefined reference to `foo'", ErrorClass.LINK),
    ("it went sideways somehow", ErrorClass.UNKNOWN),
    ("", ErrorClass.UNKNOWN),
]


@pytest.mark.parametrize(("message", "error_class"), MESSAGES)
def test_a_real_message_has_its_class(message: str, error_class: ErrorClass) -> None:
    assert classify_error(message) is error_class


def test_infrastructure_is_told_apart_from_the_agent_s_own_faults() -> None:
    assert classify_error("HTTP 429 Too Many Requests").infrastructure
    assert not classify_error("NameError: name 'foo' is not defined").infrastructure
    assert not ErrorClass.UNKNOWN.infrastructure


def test_the_last_line_of_a_traceback_decides() -> None:
    trace = (
        "Traceback (most recent call last):\n  File \"t.py\", line 1\n    x()  # timed out\nKeyError: 'name'"
    )
    assert headline(trace) == "KeyError: 'name'"
    assert classify_error(trace) is ErrorClass.LOOKUP


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", {"yaml"}),
        ("Error: Cannot find module './lib/util'", {"util"}),
        ("ENOENT: no such file or directory, open 'config/app.json'", {"app.json"}),
        ("NameError: name 'user_count' is not defined", {"user_count"}),
        ("TypeError: Cannot read property 'x' of null", set()),
        ("undefined method parse_date() called", {"parse_date"}),
    ],
)
def test_an_error_names_what_it_is_about(message: str, names: set[str]) -> None:
    assert names_in(message) == names


@pytest.mark.parametrize("piece", ["a/", "1", "a.", "0x", "'a", "Error: ", "((", "/a", "aaaa-"])
def test_a_hostile_message_is_masked_and_compared(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert len(mask_volatile(text)) <= 4 * len(text)
    assert similarity(text, text + "x") > 0.5
    assert len(names_in(text)) < 1000
