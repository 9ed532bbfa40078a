"""Redirections: what flows into a command, and which files it writes."""

from __future__ import annotations

import re

from haltline.shell import expand
from haltline.shell.call import NETWORK, SECRET, Call, Flow

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Sequence

    from haltline.shell.engine import Engine
    from haltline.shell.environment import Environment
    from haltline.shell.syntax import Redirection

_NUMBER = re.compile(r"\d+-?\Z|-\Z")


def redirect(
    engine: Engine, redirections: Sequence[Redirection], environment: Environment, call: Call
) -> list[Flow]:
    """Apply redirections: set the command's input, and return the flows of the files it writes."""
    outputs: list[Flow] = []
    engine.charge(len(redirections))
    for redirection in redirections:
        operator = redirection.operator
        if operator in ("<<", "<<-"):
            body = redirection.body
            call.stdin = Flow(expand.text(engine, body, environment) if body is not None else "")
            continue
        target = expand.text(engine, redirection.target, environment)
        if operator == "<<<":
            call.stdin = Flow(target + "\n", engine.taints & (NETWORK | SECRET))
        elif operator == "<":
            call.stdin = engine.file_flow(target, call)
        elif operator in (">&", "<&") and _NUMBER.match(target):
            continue
        elif operator != "<&":
            outputs.extend(output_to(engine, target, operator, call))
    return outputs


def output_to(engine: Engine, target: str, operator: str, call: Call) -> list[Flow]:
    """Judge one output redirection; return the flow of the file, if it is one."""
    from haltline.shell.detectors.filesystem import written  # noqa: PLC0415  loaded only where it is needed

    if target in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
        return []
    written(engine, call, target, overwrites=">>" not in operator)
    flow = Flow()
    engine.files[engine.located(target, call.environment)] = flow
    return [flow]
