"""Read a request: JSON on standard input, or flags. An error says what cannot be read, and why."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import Any

import click

from haltline.errors import InvalidInput

SESSION_VARIABLE = "HALTLINE_SESSION"
"""Where an agent's commands find their session, so that the token stands in no list of processes."""

MAX_STDIN_BYTES = 8 * 1024 * 1024
STDIN_SECONDS = 10.0
"""How long a request on standard input may take to arrive."""

_CHUNK = 65_536


def read_stdin(
    descriptor: int = 0, seconds: float = STDIN_SECONDS, *, expected: str = "a JSON object"
) -> bytes:
    """Return everything that stands on standard input, which may be neither endless nor silent for ever.

    The descriptor is read, not `sys.stdin`: a thread that hangs in that one would keep the interpreter from
    ending.

    Raises:
        InvalidInput: it is too much, does not end in time, or cannot be read.
    """
    if os.isatty(descriptor):
        raise InvalidInput(
            f"standard input: expected {expected}, got a terminal; or name it on the command line"
        )
    chunks: list[bytes] = []
    failures: list[str] = []

    def collect() -> None:
        size = 0
        try:
            while chunk := os.read(descriptor, _CHUNK):
                size += len(chunk)
                if size > MAX_STDIN_BYTES:
                    failures.append(f"more than {MAX_STDIN_BYTES} bytes")
                    return
                chunks.append(chunk)
        except OSError as error:
            failures.append(f"it cannot be read ({error.strerror})")

    reader = threading.Thread(target=collect, name="haltline-stdin", daemon=True)
    reader.start()
    reader.join(seconds)
    if reader.is_alive():
        failures.append(f"its end did not come within {seconds:g} s")
    if failures:
        raise InvalidInput(f"standard input: expected {expected}, got no whole one: {failures[0]}")
    return b"".join(chunks)


def parse_object(raw: bytes, place: str = "standard input") -> dict[str, Any]:
    """Return the JSON object that bytes hold.

    Raises:
        InvalidInput: they are not UTF-8, not JSON, nested too deep, no object, or name something twice.
    """
    expected = f"{place}: expected a JSON object"
    try:
        value = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{expected} in UTF-8, byte {error.start} is not") from None
    except json.JSONDecodeError as error:
        what = "nothing" if not raw.strip() else f"{error.msg} in line {error.lineno} column {error.colno}"
        raise InvalidInput(f"{expected}, got {what}") from None
    except RecursionError:
        raise InvalidInput(f"{expected}, got one that is nested too deep") from None
    except ValueError as error:
        raise InvalidInput(f"{expected}, got {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"{expected}, got {type(value).__name__}")
    return value


def merged(request: dict[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with what flags add to it, at any depth.

    Raises:
        InvalidInput: both say something about one field, or a field that is to be added to is no object.
    """
    result = dict(request)
    for name, value in flags.items():
        known = result.get(name)
        if known is None:
            result[name] = value
        elif isinstance(known, dict) and isinstance(value, Mapping):
            result[name] = merged(known, value)
        elif known != value:
            raise InvalidInput(f"{name}: stands in the request and in a flag; give it once")
    return result


def with_session(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request with the session of the environment, when it names none itself."""
    session = os.environ.get(SESSION_VARIABLE)
    return {"session_token": session, **request} if session else request


def session_named(session: str | None) -> str:
    """Return the session that a flag or the environment names.

    Raises:
        InvalidInput: neither does.
    """
    named = session or os.environ.get(SESSION_VARIABLE)
    if not named:
        raise InvalidInput(f"--session: expected a session, got none; {SESSION_VARIABLE} may name it as well")
    return named


session_option = click.option(
    "--session", metavar="SESSION", help=f"Token or name of the session; else {SESSION_VARIABLE}."
)


def given(**values: Any) -> dict[str, Any]:
    """Return the flags that were given: not None, not empty."""
    return {
        name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if v not in (None, (), {})
    }


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:200]!r} twice in one object")
    return result
