"""The key that masks of secrets are fingerprinted with: one for each user, made when it is first needed.

Two masks of one secret look the same, before and after a restart, and nobody without the key can tell which
of two guesses a mask stands for.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

KEY_BYTES = 32


def fingerprint_key() -> bytes:
    """Return this user's key, from the user data directory; the first process to ask makes it.

    Raises:
        OSError: the file can neither be read nor made, or is not a key.
    """
    from platformdirs import user_data_path  # noqa: PLC0415 - only a durable database needs the key

    path = user_data_path("haltline", appauthor=False) / "fingerprint.key"
    try:
        return _read(path)
    except FileNotFoundError:
        _make(path)
        return _read(path)


def _read(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise OSError(f"{path} has {len(key)} bytes, expected {KEY_BYTES}; delete it to have a new one made")
    return key


def _make(path: Path) -> None:
    """Write a key beside its place and link it there: nobody reads half of one, and the first one stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink()
