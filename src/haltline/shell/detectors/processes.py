"""`kill`: which processes a signal reaches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import Flow

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
    if any(word in ("-1", "1", "0") for word in words) and words != ["-l"]:
        engine.report("machine.kill-all", call, " ".join(words))
    return Flow("", 0)
