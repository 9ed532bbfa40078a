"""Finds secrets before they leave, and masks them before they are stored.

    from haltline.secrets import redact, scan

    scan(arguments)      what was found: rule, tier, place; never the value
    redact(arguments)    the same shape, with sentinels such as «secret:github-app:3f9a1c»

Usable alone: no database, no third-party import, linear time on any input.
"""

from haltline.secrets.credential_files import is_credential_file, is_environment_dump
from haltline.secrets.diffs import DiffFinding, scan_diff
from haltline.secrets.fingerprints import configure_fingerprint_key
from haltline.secrets.known import KnownValues
from haltline.secrets.model import SecretFinding, Tier
from haltline.secrets.redaction import redact
from haltline.secrets.scanner import scan

__all__ = [
    "DiffFinding",
    "KnownValues",
    "SecretFinding",
    "Tier",
    "configure_fingerprint_key",
    "is_credential_file",
    "is_environment_dump",
    "redact",
    "scan",
    "scan_diff",
]
