"""Finds secrets before they leave, and masks them before they are stored.

    from haltline.secrets import redact, scan

    scan(arguments)      what was found: rule, tier, place; never the value
    redact(arguments)    the same shape, with sentinels such as «secret:github-app:3f9a1c»

Usable alone: no database, no third-party import, linear time on any input. The names are imported when they
are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` alone takes milliseconds
if TYPE_CHECKING:
    from haltline.secrets.credential_files import is_credential_file as is_credential_file
    from haltline.secrets.credential_files import is_environment_dump as is_environment_dump
    from haltline.secrets.diffs import DiffFinding as DiffFinding
    from haltline.secrets.diffs import scan_diff as scan_diff
    from haltline.secrets.fingerprints import configure_fingerprint_key as configure_fingerprint_key
    from haltline.secrets.known import KnownValues as KnownValues
    from haltline.secrets.model import SecretFinding as SecretFinding
    from haltline.secrets.model import Tier as Tier
    from haltline.secrets.redaction import redact as redact
    from haltline.secrets.scanner import scan as scan

_HOMES = {
    "DiffFinding": "diffs",
    "KnownValues": "known",
    "SecretFinding": "model",
    "Tier": "model",
    "configure_fingerprint_key": "fingerprints",
    "is_credential_file": "credential_files",
    "is_environment_dump": "credential_files",
    "redact": "redaction",
    "scan": "scanner",
    "scan_diff": "diffs",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module.

    Raises:
        AttributeError: there is no such name.
    """
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'haltline.secrets' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - needed only here

    value = getattr(import_module(f"haltline.secrets.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
