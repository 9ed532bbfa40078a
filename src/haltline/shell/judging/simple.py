"""Simple commands: every value that their variables may have, their assignments and redirections."""

from __future__ import annotations

from itertools import product

from haltline.shell import expand
from haltline.shell.call import NETWORK, REST_OF_SCHEDULE, SCHEDULE, Call, Flow
from haltline.shell.judging.redirection import redirect
from haltline.shell.judging.settings import judge_setting

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from haltline.shell.engine import Engine
    from haltline.shell.environment import Environment
    from haltline.shell.syntax import Assignment, Simple

MAX_COMBINATIONS = 16

_TRUNCATES = frozenset({":", "true"})


def run_simple(
    engine: Engine, node: Simple, environment: Environment, stdin: Flow | None, outer: Call
) -> Flow:
    """Judge a simple command, for every value that its variables may have."""
    call = engine.place(node, environment, stdin, outer)
    before, engine.taints, engine.open_choices = engine.open_choices, 0, {}
    try:
        argv = expanded(engine, node, environment)
        if argv and not node.redirections and not node.assignments:
            call.argv, call.taints = argv, engine.taints
            flow = engine.start(call)
        else:
            flow = run_argv(engine, node, argv, call)
        if engine.open_choices:
            flow = run_alternatives(engine, node, call, flow)
    finally:
        engine.open_choices = before
    return flow


def expanded(engine: Engine, node: Simple, environment: Environment) -> list[str]:
    """Return the words of a command after expansion."""
    plain = node.plain
    argv = plain.split()
    if "~" in plain or "{" in plain:
        argv = [field for text in argv for field in expand.plain_fields(engine, text)]
    for word in node.further:
        if word.parts is None and word.quoted:
            argv.append(word.text)
        else:
            argv.extend(expand.fields(engine, word, environment))
    return argv


def run_alternatives(engine: Engine, node: Simple, call: Call, flow: Flow) -> Flow:
    """Run the command again for every combination of what its variables may be."""
    names = list(engine.open_choices)
    ranges = [range(engine.open_choices[name]) for name in names]
    outer_choices, engine.choices = engine.choices, dict(engine.choices)
    taints = flow.taints
    try:
        for number, combination in enumerate(product(*ranges)):
            if number == 0:
                continue
            if number >= MAX_COMBINATIONS:
                engine.unknown("variable", "too many combinations of values", call)
                break
            engine.choices.update(zip(names, combination, strict=True))
            other = call.inner([], "")
            other.via, other.depth, other.settings = call.via, call.depth, []
            taints |= run_argv(engine, node, expanded(engine, node, call.environment), other).taints
    finally:
        engine.choices = outer_choices
    return Flow(None, taints)


def run_argv(engine: Engine, node: Simple, argv: list[str], call: Call) -> Flow:
    """Judge a simple command whose words are expanded."""
    call.argv = argv
    call.taints = engine.taints
    environment = call.environment
    for assignment in node.assignments:
        assign(engine, assignment, call, keep=not argv)
    outputs = redirect(engine, node.redirections, environment, call) if node.redirections else []
    flow = engine.start(call) if argv else nothing_to_run(engine, node, call)
    if outputs:
        truncates = not argv or (argv[0] in _TRUNCATES and len(argv) == 1)
        for output in outputs:
            output.text, output.taints = flow.text, flow.taints
            if flow.source in (SCHEDULE, REST_OF_SCHEDULE):
                output.source = flow.source
        if truncates or flow.text == "" or (argv[0] in ("cat", "cp") and "/dev/null" in argv):
            truncations(engine, node, call)
        return Flow(None, 0)
    return flow


def truncations(engine: Engine, node: Simple, call: Call) -> None:
    """Judge the files that a command without output empties."""
    from haltline.shell.detectors.filesystem import truncated  # noqa: PLC0415  loaded only where it is needed

    for redirection in node.redirections:
        if redirection.operator in (">", ">|", "&>"):
            truncated(engine, call, expand.text(engine, redirection.target, call.environment))


def nothing_to_run(engine: Engine, node: Simple, call: Call) -> Flow:
    """Judge a command without words: assignments and redirections alone."""
    words = node.further  # plain words would have stayed
    if words and call.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    return Flow("", 0) if not words else Flow(None, call.taints)


def assign(engine: Engine, assignment: Assignment, call: Call, *, keep: bool) -> None:
    """Keep an assignment, or note it as a setting of the command that it stands before."""
    environment = call.environment
    subscript: str | None = None
    if assignment.subscript is not None:
        subscript = expand.text(engine, assignment.subscript, environment).removesuffix("]")
        expand.evaluated(engine, subscript, environment)
        expand.subscripts(engine, subscript, environment)
    if assignment.items is not None:
        values = [value for item in assignment.items for value in expand.fields(engine, item, environment)]
        environment.assign_elements(assignment.name, expand.elements(values), append=assignment.append)
        return
    value = expand.text(engine, assignment.value, environment)
    if subscript is not None and keep and not assignment.append:
        environment.assign_element(assignment.name, subscript, value)
        return
    if keep:
        environment.assign(assignment.name, [value], append=assignment.append)
    else:
        call.settings.append((assignment.name, value))
    judge_setting(engine, call, assignment.name, value)
