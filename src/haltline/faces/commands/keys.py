"""`haltline keys`: credentials of principals."""

from __future__ import annotations

from typing import Any

import click

from haltline.domain import PrincipalKind, utc_text
from haltline.faces.caller import KEY_VARIABLE, Need
from haltline.faces.cli.failing import EXIT_CODES
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, moment, note
from haltline.records import ApiKey
from haltline.service import Guardrail

_HELP = f"""\
Make, list and revoke credentials. Only people do.

A key says who calls where there is no terminal: put it into {KEY_VARIABLE}. It is 256 random bits; only a
hash is stored. Keep the keys of people where agents cannot read them.

\b
Examples:
  haltline keys create --kind service --name nightly
  haltline keys list
  haltline keys revoke 0197a3c2-5f10-7cc2-8d55-0f6a7b1c2d3e

{EXIT_CODES}"""


@click.group("keys", help=_HELP)
def command() -> None:
    """Make, list and revoke credentials."""


@command.command("create")
@click.option(
    "--kind", required=True, type=click.Choice([str(kind) for kind in PrincipalKind]), help="What it may do."
)
@click.option("--name", required=True, help="Whose it is.")
@common
@click.pass_obj
def create_command(options: Options, kind: str, name: str) -> None:
    """Make a key and print it, once. Standard output has the key and nothing else."""

    async def create(guardrail: Guardrail) -> tuple[str, ApiKey]:
        return await guardrail.create_key(PrincipalKind(kind), name)

    key, stored = run(options, Need.PERSON, create)
    output = Output(options)
    if output.is_json:
        output.json({"key": key, **_as_json(stored)})
        return
    output.line(key)
    note(f"Made key {stored.id} of {stored.kind}:{stored.name}. It is not shown again.")


@command.command("list")
@common
@click.pass_obj
def list_command(options: Options) -> None:
    """List the keys, the oldest first. Their secrets are not stored."""

    async def look(guardrail: Guardrail) -> tuple[ApiKey, ...]:
        return await guardrail.list_keys()

    keys = run(options, Need.PERSON, look)
    output = Output(options)
    if output.is_json:
        output.json([_as_json(key) for key in keys])
        return
    if not keys:
        output.line("No keys.")
        return
    output.table(
        ("KEY", "BEGINS", "KIND", "NAME", "CREATED", "REVOKED"),
        [
            (key.id, key.prefix, str(key.kind), key.name, moment(key.created_at), moment(key.revoked_at))
            for key in keys
        ],
    )
    output.next("haltline keys revoke KEY")


@command.command("revoke")
@click.argument("key_id", metavar="KEY")
@common
@click.pass_obj
def revoke_command(options: Options, key_id: str) -> None:
    """Make a key worthless, at once and for good. KEY is its id."""

    async def revoke(guardrail: Guardrail) -> None:
        await guardrail.revoke_key(key_id)

    run(options, Need.PERSON, revoke)
    output = Output(options)
    if output.is_json:
        output.json({"revoked": True, "key_id": key_id})
        return
    output.line(f"Key {key_id} is revoked.")


def _as_json(key: ApiKey) -> dict[str, Any]:
    return {
        "key_id": key.id,
        "kind": key.kind,
        "name": key.name,
        "prefix": key.prefix,
        "created_at": utc_text(key.created_at),
        "created_by": key.created_by,
        "revoked_at": utc_text(key.revoked_at) if key.revoked_at else None,
    }
