"""The tools: a name, what the agent is told about it, the wire models of both sides, and the operation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp import types

from haltline.service import Guardrail
from haltline.wire import (
    AcknowledgeHaltInput,
    AcknowledgeHaltOutput,
    CheckHaltConditionsInput,
    CheckHaltConditionsOutput,
    CloseSessionInput,
    CloseSessionOutput,
    GetSessionHaltsInput,
    GetSessionHaltsOutput,
    Input,
    OpenSessionInput,
    OpenSessionOutput,
    Output,
    RecordAttemptInput,
    RecordAttemptOutput,
    RecordHaltInput,
    RecordHaltOutput,
    UpdateHaltConfigInput,
    UpdateHaltConfigOutput,
    parse,
)

CHECK = "guardrail_check_halt_conditions"
ACKNOWLEDGE = "guardrail_acknowledge_halt"
UPDATE_CONFIGURATION = "guardrail_update_halt_config"

INSTRUCTIONS = """\
Haltline stops you before you do harm, and keeps you stopped until a person has decided.

1. Open a session once with guardrail_open_session, and pass its session_token to every other tool.
2. Before every command, edit, deployment or other action with an effect, call
   guardrail_check_halt_conditions. Say truly what you are about to do: operation, target_files,
   files_read, commands, environment, and proposed_changes when files change. Act only when should_halt is
   false. When its verdict is ask, ask the user first, and act only when they say yes.
3. When should_halt is true, stop. Do not do the action, do not rephrase it, do not reach the same outcome
   another way, do not open another session. Tell the user why (halt_reasons) and which halt_id to settle,
   and wait.
4. A person settles a halt in a terminal with `haltline ack HALT_ID --resolution resolved`. You cannot.
   When they say that they have, call guardrail_check_halt_conditions again: guidance brings what they
   wrote. Follow it.
5. After every failed attempt call guardrail_record_attempt: it says retry, then try_alternative, then it
   halts.
6. An answer that is an error, that is missing, or that you do not understand is a halt."""

_Call = Callable[[Guardrail, Mapping[str, Any]], Awaitable[Output]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: `call` takes the arguments as they came, and parses them with `accepts`."""

    name: str
    title: str
    description: str
    accepts: type[Input]
    returns: type[Output]
    call: _Call
    only_reads: bool = False

    def listed(self) -> types.Tool:
        """Return the tool as it is published: the schemas are those of the wire models."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.accepts.model_json_schema(mode="validation"),
            output_schema=self.returns.model_json_schema(mode="serialization"),
            annotations=types.ToolAnnotations(
                read_only_hint=self.only_reads, destructive_hint=False, open_world_hint=False
            ),
        )


async def _open_session(guardrail: Guardrail, arguments: Mapping[str, Any]) -> OpenSessionOutput:
    request = parse(OpenSessionInput, arguments, {})
    return await guardrail.open_session(request.agent_name or guardrail.principal.name)


async def _close_session(guardrail: Guardrail, arguments: Mapping[str, Any]) -> CloseSessionOutput:
    await guardrail.close_session(parse(CloseSessionInput, arguments, {}).session_token)
    return CloseSessionOutput(closed=True)


_TOOLS = (
    Tool(
        name=CHECK,
        title="Check before acting",
        description=(
            "Call this BEFORE every action with an effect: running a command, changing or deleting files, "
            "calling an API, deploying; and again after every failure. Describe the action truly in "
            "current_context: operation (one sentence), target_files and files_read, commands (each exactly "
            "as it will run), environment, attempt_number and previous_errors, uncertainty_score (0 sure to "
            "10 guessing), scope_boundary and user_instructions (in the user's own words); give "
            "proposed_changes when files change. should_halt false: go on as recommended_action says. "
            "should_halt true: STOP. Do not act, do not try another way to the same outcome. Tell the user "
            "the halt_reasons and the halt_id, and wait until a person has settled it; then check again. "
            "guidance is what a person wrote for you when settling; follow it. A verdict of ask means: ask "
            "the user first. A reason_code means that nothing could be checked, which is a halt as well."
        ),
        accepts=CheckHaltConditionsInput,
        returns=CheckHaltConditionsOutput,
        call=lambda guardrail, arguments: guardrail.check_halt_conditions(arguments),
    ),
    Tool(
        name="guardrail_record_halt",
        title="Stop this session",
        description=(
            "Call this when you see a reason to stop that no check has reported: you are unsure, the "
            "request contradicts itself, you found a secret, you did something wrong. It records a halt and "
            "stops the session until a person settles it. Then stop, tell the user why and the halt_id, and "
            "wait. Severity low is only a note; medium, high and critical stop the session; critical also "
            "alerts people at once."
        ),
        accepts=RecordHaltInput,
        returns=RecordHaltOutput,
        call=lambda guardrail, arguments: guardrail.record_halt(arguments),
    ),
    Tool(
        name=ACKNOWLEDGE,
        title="Settle a halt (people only)",
        description=(
            "Settles a halt. That is a person's decision: for an agent the answer is confirmed false, and "
            "warnings say what the person has to do. Give that to the user and wait. Never claim that a "
            "person has settled it: guardrail_check_halt_conditions tells you when they have."
        ),
        accepts=AcknowledgeHaltInput,
        returns=AcknowledgeHaltOutput,
        call=lambda guardrail, arguments: guardrail.acknowledge_halt(arguments),
    ),
    Tool(
        name="guardrail_get_session_halts",
        title="List this session's halts",
        description=(
            "Lists the session's halts, the newest first: those that nobody has settled, or all of them "
            "with include_acknowledged. Use it to tell the user what is open. It allows nothing: only a "
            "check does."
        ),
        accepts=GetSessionHaltsInput,
        returns=GetSessionHaltsOutput,
        call=lambda guardrail, arguments: guardrail.get_session_halts(arguments),
        only_reads=True,
    ),
    Tool(
        name=UPDATE_CONFIGURATION,
        title="Configure a condition (people only)",
        description=(
            "Changes what a condition does. That is a person's decision: for an agent the answer is updated "
            "false, and warnings say why. Never ask for a condition to be weakened so that you can go on."
        ),
        accepts=UpdateHaltConfigInput,
        returns=UpdateHaltConfigOutput,
        call=lambda guardrail, arguments: guardrail.update_halt_config(arguments),
    ),
    Tool(
        name="guardrail_open_session",
        title="Open a session",
        description=(
            "Call this once, at the beginning of your work, and pass the session_token of the answer to "
            "every other tool. Never open a second session because the first is halted: that is trying "
            "another way."
        ),
        accepts=OpenSessionInput,
        returns=OpenSessionOutput,
        call=_open_session,
    ),
    Tool(
        name="guardrail_close_session",
        title="Close the session",
        description=(
            "Call this when your work is done. It is final. An agent cannot close a session with open "
            "halts: a person settles them first."
        ),
        accepts=CloseSessionInput,
        returns=CloseSessionOutput,
        call=_close_session,
    ),
    Tool(
        name="guardrail_record_attempt",
        title="Count a failed attempt",
        description=(
            "Call this after every failed attempt at a task, with the same task_id each time and the error "
            "as it was. recommended_action is retry after the first failure and try_alternative after the "
            "second; at the third should_halt is true: stop, tell the user, and wait. A reworded error or a "
            "new name for the same task is not a new task."
        ),
        accepts=RecordAttemptInput,
        returns=RecordAttemptOutput,
        call=lambda guardrail, arguments: guardrail.record_attempt(arguments),
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TOOLS}
"""Every tool by its name."""
