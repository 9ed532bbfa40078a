"""Haltline in the Google Agent Development Kit.

    from google.adk import Agent
    from haltline.adapters.adk import exfil_guard

    agent = Agent(name="root", model=..., tools=[...], before_tool_callback=[exfil_guard])

Importing this module does not import the kit.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from haltline.guards.exfil import WARNING_STATE_KEY, check_arguments, is_strict

if TYPE_CHECKING:
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext

GUARD_NAME = "exfil_guard"


def exfil_guard(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
    """Keep secrets out of a tool's arguments; a `before_tool_callback`.

    Strict, as by default, a call with a secret does not run and the model gets the error that is returned.
    With `EXFIL_GUARD_STRICT` set to `0`, `false` or `no` it runs, and so does a call whose arguments only
    look like secrets by their surroundings (`password=…`); both leave what was found in the state under
    `exfil_warning`.

    Args:
        tool: the tool that is about to run.
        args: its arguments.
        tool_context: the call's context; its state takes the warning.

    Returns:
        An error in the place of the tool's result, or None to let it run.
    """
    found = check_arguments(tool.name, args, os.environ)
    if found is None:
        return None
    if found.blocks and is_strict(os.environ):
        return {"error": f"Blocked by {GUARD_NAME}: {found.message}"}
    tool_context.state[WARNING_STATE_KEY] = found.message
    return None
