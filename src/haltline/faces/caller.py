"""Who calls on the command line (docs/decisions/0006-who-settles.md).

An agent with a shell can run every command that a person can. So a person has to show something that an
agent's shell does not have: a key, or a terminal. Agents' tools run commands with captured pipes; a person
sits at a terminal. Standard input must be one (else an agent could pipe the answers) and standard error
must be one (standard output may be piped into a pager). Without either the caller gets no more than it
needs to read, or to sweep, which approves nothing.

A key wins over the terminal, and a bad key is refused: falling back would turn a revoked credential into
rights. An agent that opens a pseudo-terminal gets through. One operating-system account cannot prevent
that; the name in the audit log then is the account's, and a key for people, kept where the agent cannot
read it, is the remedy.
"""

from __future__ import annotations

import os
import sys
from enum import Enum, auto
from typing import TextIO

from haltline.domain import Principal, PrincipalKind
from haltline.errors import NotPermitted
from haltline.service import Guardrail
from haltline.service.guardrail import AGENT

KEY_VARIABLE = "HALTLINE_KEY"

WITHOUT_TERMINAL = Principal(PrincipalKind.SERVICE, "cli")
"""Who reads, sweeps and archives where there is neither a key nor a terminal, such as a timer."""


class Need(Enum):
    """What a command needs of its caller."""

    AGENT = auto()
    """It is what agents do: always as an agent, whoever types it."""
    ANYBODY = auto()
    """Agents may do it and people may do more of it: an agent unless somebody shows who they are."""
    READER = auto()
    """It reads, or sweeps what is overdue; it decides nothing."""
    PERSON = auto()
    """It settles, configures or hands out rights."""


async def as_caller(guardrail: Guardrail, need: Need) -> Guardrail:
    """Return the guardrail for whoever calls.

    Raises:
        NotPermitted: a person is needed and nothing shows one, or the key is not known.
        StoreError: the database failed while the key was looked up.
    """
    if need is Need.AGENT:
        return guardrail.acting_as(AGENT)
    key = os.environ.get(KEY_VARIABLE)
    if key:
        return await guardrail.authenticate(key)
    if at_terminal():
        return guardrail.acting_as(Principal(PrincipalKind.HUMAN, user_name()))
    if need is Need.PERSON:
        raise NotPermitted(
            "only a person may do this, and nothing here shows one: standard input and standard error are "
            f"not both a terminal, and {KEY_VARIABLE} is not set. A person runs this command in a terminal "
            f"of their own, or sets {KEY_VARIABLE} to a key that `haltline keys create` made. Agents: wait "
            "for them, and do not try another way."
        )
    return guardrail.acting_as(AGENT if need is Need.ANYBODY else WITHOUT_TERMINAL)


def at_terminal() -> bool:
    """Whether somebody sits in front of this process, as far as it can tell."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)


def user_name() -> str:
    """Return the operating system's name of the user; anybody can set the environment, so it is not asked."""
    if sys.platform == "win32":
        return os.getlogin()
    import pwd  # noqa: PLC0415 - not there on Windows

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
