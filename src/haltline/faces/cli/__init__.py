"""`haltline`, the command line: where every call begins, and where every failure ends.

Only the standard library is imported here, so that a broken installation still answers a check with a halt.
`haltline check` exits with 0 or 3 when a check was made and said so, and with 2 in every other case.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence

from haltline.faces.cli import failing

__all__ = ["main"]

_VERDICTS = {"proceed": failing.OK, "caution": failing.OK, "ask": failing.ASK, "halt": failing.HALT}
_WITH_VALUE = ("--database", "--config")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Never raises."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if _is_check(given):
        return _check(given)
    return _command(given)


def _check(given: list[str]) -> int:
    """Run `haltline check`: whatever is no verdict is a halt."""
    try:
        return _verdict_of(given)
    except BaseException as error:  # noqa: BLE001 - nothing, not even an interrupt, may let an action pass
        with contextlib.suppress(BaseException):  # a second interrupt among them: the exit code stands
            _print_refusal(error, as_json="--json" in given)
        return failing.HALT


def _verdict_of(given: list[str]) -> int:
    _print_anything()
    from haltline.faces.cli.group import run  # noqa: PLC0415 - so that a failing import is a halt too

    outcome = run(given)
    _flush()
    if isinstance(outcome, str) and outcome in _VERDICTS:
        return _VERDICTS[outcome]
    # Help is no verdict: it passes only where nothing else was asked.
    return failing.OK if given == ["check", "--help"] else failing.HALT


def _print_refusal(error: BaseException, *, as_json: bool) -> None:
    import json  # noqa: PLC0415 - 10 ms that the other calls do not need

    answer = failing.refusal(
        "bad_request" if isinstance(error, failing.UsageFault) else "check_failed", _sentence(error)
    )
    reason = answer["halt_reasons"][0]["description"]
    text = json.dumps(answer) if as_json else f"HALT  {reason}\nNext: {answer['recommended_action']}"
    try:
        print(text)  # noqa: T201 - the answer
        _flush()
    except Exception:  # noqa: BLE001 - the exit code says it where nothing can be printed
        _abandon_output()


def _command(given: list[str]) -> int:
    """Run any other command, and map its errors to exit codes."""
    try:
        _print_anything()
        from haltline.faces.cli.group import run  # noqa: PLC0415 - likewise: a failing import gets a clear line

        outcome = run(given)
        _flush()
    except BrokenPipeError:
        _abandon_output()
        return failing.FAILED
    except BaseException as error:  # noqa: BLE001 - every end of a command has a code and a sentence
        code, sentence = _failure(error)
        with contextlib.suppress(Exception):
            print(f"haltline: {sentence}", file=sys.stderr)  # noqa: T201 - errors belong on standard error
        return code
    return outcome if isinstance(outcome, int) else failing.OK


def _failure(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an error and what to say of it."""
    from haltline.errors import InvalidInput, NotPermitted  # noqa: PLC0415 - see `main`

    if isinstance(error, failing.UsageFault | InvalidInput):
        return failing.USAGE, _sentence(error)
    if isinstance(error, NotPermitted):
        return failing.NOT_PERMITTED, _sentence(error)
    return failing.FAILED, _sentence(error)


def _sentence(error: BaseException) -> str:
    """Return what to say of an error, redacted, without anything that could steer a terminal."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    try:
        from haltline.errors import HaltlineError  # noqa: PLC0415 - only when something failed
        from haltline.faces.cli.output import visible  # noqa: PLC0415 - likewise
        from haltline.secrets import redact  # noqa: PLC0415 - likewise

        expected = isinstance(error, failing.UsageFault | failing.CommandFailed | HaltlineError)
        text = str(error) if expected else f"internal error: {type(error).__name__}: {error}"
        return visible(str(redact(text)), lines=True)
    except BaseException:  # noqa: BLE001 - what cannot be redacted is not printed
        return f"internal error: {type(error).__name__}"


def _is_check(given: list[str]) -> bool:
    """Whether `check` is the command, or may be meant where no command can be told."""
    from haltline.faces.cli.table import COMMANDS  # noqa: PLC0415 - see `main`

    words = iter(given)
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word == "check" or (word not in COMMANDS and "check" in given)
    return "check" in given


def _print_anything() -> None:
    """Let no character that a terminal's encoding lacks make an answer fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Raise here, not at the interpreter's end, when the answer could not be written."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    sys.stdout.flush()


def _abandon_output() -> None:
    """Keep the interpreter from writing what nobody can take when it ends: that changes the exit code."""
    with contextlib.suppress(Exception):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
