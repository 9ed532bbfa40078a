"""`kill`: which processes a signal reaches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import PIPED, Flow
from haltline.shell.detectors.selfprotect import OWN_PROCESS

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_SIGNAL = re.compile(r"-(?:[0-9]+|(?:SIG)?[A-Z0-9+]+)\Z")


def kill(engine: Engine, call: Call) -> Flow:
    """`kill -9 -1` reaches every process, `kill 1` the first one (kill(2))."""
    words = call.argv[1:]
    if words[:1] in (["-s"], ["-n"]):
        words = words[2:]
    elif words and _SIGNAL.match(words[0]):
        if words[0] in ("-0", "-L"):
            return Flow("", 0)
        words = words[1:]
    engine.effect("execute", " ".join(words) or None, call)
    if OWN_PROCESS in words:
        engine.report("haltline.process", call)
    elif EVERY_PROCESS in words or (any(word in ("-1", "1", "0") for word in words) and words != ["-l"]):
        engine.report("machine.kill-all", call, " ".join(words))
    return Flow("", 0)


EVERY_PROCESS = "every-process"  # stands for the numbers of all processes
_NARROWS = re.compile(r"-[a-zA-Z]*[pCuUGgts]|--(?:pid|ppid|user|group|tty|quick-pid)|-?[0-9]")


def listed(_engine: Engine, call: Call) -> Flow | None:
    """`pgrep haltline`, `ps | grep haltline | awk …`: the numbers of Haltline's, or of all, processes."""
    name = call.program
    words = [re.sub(r"\[(\w)\]", r"\1", word) for word in call.argv[1:]]
    own = any("haltline" in word for word in words)
    stdin = call.stdin
    if name == "ps":
        every = (
            bool(words)
            and ("e" in words[0] or "a" in words[0].lower())
            and not any(map(_NARROWS.match, words))
        )
        return Flow(EVERY_PROCESS + "\n" if every else None, PIPED, "ps")
    if name in ("pgrep", "pidof"):
        return Flow(OWN_PROCESS + "\n", PIPED) if own else None
    if stdin is None or (stdin.source != "ps" and stdin.text != OWN_PROCESS + "\n"):
        return None
    if "grep" in name and stdin.source == "ps":
        searched = own and "-v" not in words
        return Flow(OWN_PROCESS + "\n", PIPED) if searched else Flow(None, PIPED, "ps")
    if stdin.source == "ps" and words[:1] and words[0][:1] != "{":
        return Flow(OWN_PROCESS + "\n" if own else None, PIPED)
    return stdin
