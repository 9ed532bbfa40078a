"""Shell analysis: what a command would do, found by its structure and never by its text alone.

`classify` answers with a decision; `analyze` returns everything that was found. The rest are helpers on
command text, with the meaning that the guardrails specification gives them. Names are imported when first
used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; importing `typing` would cost more than the rest
if TYPE_CHECKING:
    from haltline.shell.analysis import Analysis as Analysis
    from haltline.shell.analysis import Command as Command
    from haltline.shell.analysis import Effect as Effect
    from haltline.shell.analysis import EffectKind as EffectKind
    from haltline.shell.analysis import RuleVerdict as RuleVerdict
    from haltline.shell.analysis import Unknown as Unknown
    from haltline.shell.analysis import analyze as analyze
    from haltline.shell.classification import classify as classify
    from haltline.shell.rulefile import load_rules as load_rules
    from haltline.shell.text import command_prefix as command_prefix
    from haltline.shell.text import has_command_substitution as has_command_substitution
    from haltline.shell.text import has_redirection as has_redirection
    from haltline.shell.text import lex as lex
    from haltline.shell.text import segments as segments
    from haltline.shell.text import split_segments as split_segments
    from haltline.shell.text import strip_wrapper as strip_wrapper

_MODULES = {
    "Analysis": "analysis",
    "Command": "analysis",
    "Effect": "analysis",
    "EffectKind": "analysis",
    "RuleVerdict": "analysis",
    "Unknown": "analysis",
    "analyze": "analysis",
    "classify": "classification",
    "command_prefix": "text",
    "has_command_substitution": "text",
    "has_redirection": "text",
    "lex": "text",
    "load_rules": "rulefile",
    "segments": "text",
    "split_segments": "text",
    "strip_wrapper": "text",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  loaded only where it is needed

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
