"""Haltline stops AI agents before they do harm, keeps them stopped until a person decides, and proves it.

The names here are imported when they are first used, so that `import haltline` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` alone takes 5 ms
if TYPE_CHECKING:
    from haltline.domain import Principal as Principal
    from haltline.domain import PrincipalKind as PrincipalKind
    from haltline.domain import Severity as Severity
    from haltline.errors import Halted as Halted
    from haltline.errors import HaltlineError as HaltlineError
    from haltline.service import Guardrail as Guardrail
    from haltline.settings import Settings as Settings

__version__ = "0.1.0"

_HOMES = {
    "Guardrail": "haltline.service",
    "Halted": "haltline.errors",
    "HaltlineError": "haltline.errors",
    "Principal": "haltline.domain",
    "PrincipalKind": "haltline.domain",
    "Settings": "haltline.settings",
    "Severity": "haltline.domain",
}

__all__ = [
    "Guardrail",
    "Halted",
    "HaltlineError",
    "Principal",
    "PrincipalKind",
    "Settings",
    "Severity",
    "__version__",
]


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - see above

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
