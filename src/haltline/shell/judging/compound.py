"""Compound commands: loops, branches, groups and functions."""

from __future__ import annotations

from haltline.shell import expand
from haltline.shell.call import NOTHING, Call, Flow
from haltline.shell.judging.redirection import redirect
from haltline.shell.judging.settings import judge_setting
from haltline.shell.marks import UNKNOWN
from haltline.shell.syntax import Compound, Simple

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from haltline.shell.engine import Engine
    from haltline.shell.environment import Environment


def run_compound(
    engine: Engine, node: Compound, environment: Environment, stdin: Flow | None, outer: Call
) -> Flow:
    """Judge a compound command; a function is only remembered."""
    call = engine.place(node, environment, stdin, outer)
    kind = node.kind
    if kind == "function":
        if not node.scripts:  # its text ends before its body
            return NOTHING
        environment.functions[node.name] = node.scripts[0]
        engine.defined.append((node.name, node.scripts[0], call))
        if node.name.rpartition("/")[2] == "haltline":  # later calls would reach the function instead
            engine.report("haltline.change", call, node.name)
        if _bomb(node):
            engine.report("machine.fork-bomb", call)
        return NOTHING
    outputs: list[Flow] = []
    if node.redirections:
        outputs = redirect(engine, node.redirections, environment, call)
    values = operands(engine, node, environment)
    if kind == "for" and node.name:
        environment.assign(node.name, values or environment.positional or [UNKNOWN])
        for value in values or [UNKNOWN]:
            judge_setting(engine, call, node.name, value)
    inner = environment.copy() if kind in ("subshell", "coproc") else environment
    branching = kind not in ("subshell", "group", "coproc")
    inner.uncertain += branching
    flow = run_bodies(engine, node, inner, call)
    if kind in ("for", "while") and changes(engine, node, inner):
        flow = run_bodies(engine, node, inner, call)
    inner.uncertain -= branching
    for output in outputs:
        output.text, output.taints = flow.text, flow.taints
    return flow


def operands(engine: Engine, node: Compound, environment: Environment) -> list[str]:
    """Return what a compound command runs over or looks at, and judge what Bash evaluates in it."""
    for word in node.words:
        if word.text.startswith("((") and not word.quoted:
            expand.evaluated(engine, word.text, environment)
    values = [value for word in node.words for value in expand.fields(engine, word, environment)]
    if node.kind == "test":
        expand.operands(engine, values, environment)
    return values


def run_bodies(engine: Engine, node: Compound, environment: Environment, call: Call) -> Flow:
    """Judge the bodies of a compound command, one after another."""
    flow = NOTHING
    for script in node.scripts:
        flow = engine.run_script(script, environment, call)
    return flow if len(node.scripts) == 1 else Flow(None, flow.taints)


def changes(engine: Engine, node: Compound, environment: Environment) -> bool:
    """Return whether a loop's body sets a variable: its next turn may then run something else."""
    engine.charge(1)
    return bool(environment.variables) and any(
        isinstance(item, Simple) and item.assignments for script in node.scripts for _, item in script.items
    )


def _bomb(node: Compound) -> bool:
    """Return whether a function starts itself in a pipeline or in the background."""
    waiting = list(node.scripts)
    while waiting:
        script = waiting.pop()
        for index, (connector, item) in enumerate(script.items):
            if isinstance(item, Compound):
                waiting.extend(item.scripts)
                continue
            if item.words and item.words[0].text == node.name:
                following = script.items[index + 1][0] if index + 1 < len(script.items) else ";"
                if connector == "|" or following in ("|", "&"):
                    return True
    return False
