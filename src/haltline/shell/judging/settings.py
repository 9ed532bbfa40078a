"""Variables that change what other commands do: Haltline's own, those that are run, loaded or expanded."""

from __future__ import annotations

from haltline.shell import expand
from haltline.shell.environment import RUN_BY_NAME, Environment
from haltline.shell.marks import display
from haltline.shell.vocabulary import word_set

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_LOADED_BY_NAME = word_set(
    "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV PERL5OPT RUBYOPT PYTHONSTARTUP"
)
_EXPANDED_BY_NAME = word_set("PS0 PS1 PS2 PS4 BASH_ENV ENV PROMPT_COMMAND")


def judge_setting(engine: Engine, call: Call, name: str, value: str) -> None:
    """Judge a variable that is set for one command or from here on, however it is set."""
    if name == "PATH":
        engine.unproved = True
    if name.startswith("HALTLINE_"):
        from haltline.shell.detectors.selfprotect import own_setting  # noqa: PLC0415  loaded only where it is needed

        own_setting(engine, call, name, value)
    if not value:
        return
    if name in _EXPANDED_BY_NAME and ("$(" in value or "`" in value):
        expand.prompt(engine, value, call.environment)
    if name in RUN_BY_NAME:
        engine.run_text(value, call.inner([], name), Environment())
    elif name in _LOADED_BY_NAME or (name == "ENV" and "/" in value):  # `ENV=production` is no file
        engine.report("interpreters.preload", call, f"{name}={display(value)}")
