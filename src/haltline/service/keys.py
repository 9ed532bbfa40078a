"""Credentials: random keys that are shown once and stored as hashes."""

from __future__ import annotations

import hashlib
import secrets as randomness
from dataclasses import replace
from datetime import datetime

from haltline.domain import Principal, PrincipalKind
from haltline.errors import InvalidInput, NotFound, NotPermitted
from haltline.records import ApiKey, AuditEvent, Changes
from haltline.secrets import redact
from haltline.service.context import ServiceContext

KEY_PREFIX = "hlk_"
_PREFIX_LENGTH = 12
_NAME_LENGTH = 128


def hash_of(key: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


async def create(
    context: ServiceContext, principal: Principal, kind: PrincipalKind, name: str
) -> tuple[str, ApiKey]:
    """Make a key of 256 random bits for a principal; the key is returned here and never again.

    Raises:
        InvalidInput: the name is empty, too long or not printable.
        StoreError: the database failed.
    """
    if not 0 < len(name) <= _NAME_LENGTH or not name.isprintable():
        raise InvalidInput(f"name: expected 1 to {_NAME_LENGTH} printable characters")
    key = KEY_PREFIX + randomness.token_urlsafe(32)

    def transition(_: ApiKey | None, now: datetime) -> Changes:
        made = ApiKey(
            id=context.new_id(),
            kind=kind,
            name=redact(name),
            prefix=key[:_PREFIX_LENGTH],
            key_hash=hash_of(key),
            created_at=now,
            created_by=str(principal),
        )
        event = AuditEvent(str(principal), "key.created", made.id, None, {"kind": kind, "name": made.name})
        return Changes(new_key=made, audit=(event,))

    with context.operation_deadline():
        await context.start()
        changes = await context.store.change_key(None, transition)
    if changes.new_key is None:
        raise NotFound("the key was not stored")
    return key, changes.new_key


async def revoke(context: ServiceContext, principal: Principal, key_id: str) -> None:
    """Make a key worthless; harmless when repeated.

    Raises:
        NotFound: there is no such key.
        StoreError: the database failed.
    """

    def transition(key: ApiKey | None, now: datetime) -> Changes:
        if key is None:
            raise NotFound(f"key_id: there is no key {key_id}; list them with `haltline keys list`")
        if key.revoked_at is not None:
            return Changes()
        event = AuditEvent(str(principal), "key.revoked", key.id, None, {"kind": key.kind, "name": key.name})
        return Changes(revoked_key=replace(key, revoked_at=now).id, audit=(event,))

    with context.operation_deadline():
        await context.start()
        await context.store.change_key(key_id, transition)


async def authenticate(context: ServiceContext, key: str) -> Principal:
    """Return the principal of a key.

    Raises:
        NotPermitted: the key is unknown or revoked.
        StoreError: the database failed; nobody is let in then.
    """
    with context.operation_deadline():
        await context.start()
        known = await context.store.find_key(hash_of(key))
    if known is None or known.revoked_at is not None:
        raise NotPermitted(
            "the key is unknown or revoked; a person makes a new one with `haltline keys create`"
        )
    return Principal(known.kind, known.name)
