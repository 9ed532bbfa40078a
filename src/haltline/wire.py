"""The operations' inputs and outputs, field for field as in the specification (API Design).

Inputs refuse fields that they do not know: a misspelt `comands` must not silently skip a check. Outputs may
carry more than the specification names; what it names is not renamed. Limits are those of DESIGN §12.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from haltline.conditions.configuration import MAX_ESCALATION_MINUTES
from haltline.domain import Decision, ReasonCode, SessionState
from haltline.errors import InvalidInput
from haltline.plain import NotPlain, plain
from haltline.records import MAX_CONTEXT_BYTES
from haltline.secrets import redact

MAX_DESCRIPTION = 4_000
MAX_COMMAND = 64 * 1024
MAX_NAME = 500
"""Longest name, in characters: whatever they are, the databases' indexes hold it."""

MAX_PATHS = 1_000
MAX_CONTENT_BYTES = 1024 * 1024
"""Most text that a change may propose, in bytes of UTF-8 over all its files."""


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DESCRIPTION)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
Command = Annotated[str, StringConstraints(max_length=MAX_COMMAND)]
Paths = Annotated[list[Path], Field(max_length=MAX_PATHS)]
Names = Annotated[list[Name], Field(max_length=MAX_PATHS)]
Commands = Annotated[list[Command], Field(max_length=MAX_PATHS)]
Texts = Annotated[
    list[Annotated[str, StringConstraints(max_length=MAX_CONTEXT_BYTES)]], Field(max_length=MAX_PATHS)
]

SeverityName = Literal["low", "medium", "high", "critical"]
HaltTypeName = Literal["code_safety", "scope", "environment", "execution", "security", "uncertainty"]


def _within_content_limit(contents: dict[str, str]) -> dict[str, str]:
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in contents.values())
    if size > MAX_CONTENT_BYTES:
        raise ValueError(f"has {size} bytes in all, at most {MAX_CONTENT_BYTES}")
    return contents


Contents = Annotated[dict[Path, str], Field(max_length=MAX_PATHS), AfterValidator(_within_content_limit)]


class Input(BaseModel):
    """Base of the inputs: strict types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, revalidate_instances="always")


class Output(BaseModel):
    """Base of the outputs."""

    model_config = ConfigDict(frozen=True)


class ToolCallFact(Input):
    """One of the agent's latest tool calls."""

    tool: Name
    arguments: Any = None
    failed: bool


class CurrentContext(Input):
    """What the agent is about to do, and what it knows. Fields after `user_instructions` are additions."""

    operation: Text
    target_files: Paths | None = None
    files_read: Paths | None = None
    attempt_number: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    previous_errors: Texts | None = None
    uncertainty_score: Annotated[float, Field(ge=0, le=10)] | None = None
    environment: Name | None = None
    commands: Commands | None = None
    scope_boundary: Annotated[str, StringConstraints(max_length=MAX_CONTEXT_BYTES)] | None = None
    user_instructions: Texts | None = None
    tool_arguments: Any = None
    outputs: Texts | None = None
    credentials: Names | None = None
    services: Annotated[dict[Name, Names], Field(max_length=MAX_PATHS)] | None = None
    recent_responses: Texts | None = None
    recent_calls: Annotated[list[ToolCallFact], Field(max_length=MAX_PATHS)] | None = None


class ProposedChangesInput(Input):
    """What the action would change. Fields after `has_rollback_plan` are additions."""

    files_to_modify: Paths
    has_tests: bool
    has_rollback_plan: bool
    tests_pass: bool | None = None
    contents: Contents | None = None
    dependents: Annotated[dict[Path, Paths], Field(max_length=MAX_PATHS)] | None = None


class CheckHaltConditionsInput(Input):
    """Input of `guardrail_check_halt_conditions`."""

    session_token: Name
    task_id: Name | None = None
    current_context: CurrentContext
    proposed_changes: ProposedChangesInput | None = None


class HaltReason(Output):
    """A condition that triggered."""

    halt_type: str
    condition_name: str
    severity: str
    description: str
    auto_recorded: bool
    halt_id: str | None = None


class ContextAnnotations(Output):
    """More context for the user."""

    files_not_read: list[str] | None = None
    conflicting_instructions: list[str] | None = None
    similar_previous_errors: list[str] | None = None


class Guidance(Output):
    """What a person wrote when settling a halt; the agent gets it once."""

    halt_id: str
    condition_name: str | None
    resolution: str
    text: str
    by: str | None


class CheckHaltConditionsOutput(Output):
    """Output of `guardrail_check_halt_conditions`. Fields after `context_annotations` are additions."""

    should_halt: bool
    halt_reasons: list[HaltReason]
    highest_severity: SeverityName
    recommended_action: str
    context_annotations: ContextAnnotations | None = None
    verdict: Decision
    reason_code: ReasonCode | None = None
    guidance: list[Guidance] = Field(default_factory=list)
    session_state: SessionState | None = None
    waived: list[str] = Field(default_factory=list)
    event_stored: Literal["database", "spool", "nowhere"] | None = None


class RecordHaltContext(Input):
    """Context of a halt that is recorded by hand."""

    file_paths: Paths | None = None
    commands: Commands | None = None
    error_messages: Texts | None = None
    uncertainty_score: Annotated[float, Field(ge=0, le=10)] | None = None
    attempt_number: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class RecordHaltInput(Input):
    """Input of `guardrail_record_halt`."""

    session_token: Name
    task_id: Name | None = None
    halt_type: HaltTypeName
    condition_name: Name | None = None
    description: Text
    severity: SeverityName
    context: RecordHaltContext | None = None
    attempt_count: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    previous_error: Annotated[str, StringConstraints(max_length=MAX_CONTEXT_BYTES)] | None = None
    auto_escalate: bool | None = None


class RecordHaltOutput(Output):
    """Output of `guardrail_record_halt`. `event_stored` is an addition."""

    halt_id: str
    recorded_at: str
    requires_acknowledgment: bool
    escalation_triggered: bool | None = None
    event_stored: Literal["database", "spool"] = "database"


class AcknowledgeHaltInput(Input):
    """Input of `guardrail_acknowledge_halt`."""

    session_token: Name
    halt_id: Name
    resolution: Literal["resolved", "escalated", "dismissed"]
    resolution_notes: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION)] | None = None
    acknowledged_by: Name | None = None
    continue_with_caution: bool | None = None


class AcknowledgeHaltOutput(Output):
    """Output of `guardrail_acknowledge_halt`. `session_state` is an addition."""

    confirmed: bool
    halt_id: str
    acknowledged_at: str
    session_can_resume: bool
    warnings: list[str] | None = None
    session_state: SessionState | None = None


class GetSessionHaltsInput(Input):
    """Input of `guardrail_get_session_halts`."""

    session_token: Name
    include_acknowledged: bool = False
    halt_type: HaltTypeName | None = None
    severity: SeverityName | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 50
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0


class HaltEvent(Output):
    """A halt as `guardrail_get_session_halts` lists it. Fields after `resolution` are additions."""

    halt_id: str
    halt_type: str
    severity: str
    description: str
    triggered_at: str
    acknowledged: bool
    acknowledged_at: str | None = None
    resolution: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    condition_name: str | None = None
    acknowledged_by: str | None = None
    resolution_notes: str | None = None
    attempt_count: int | None = None
    previous_error: str | None = None
    context: dict[str, Any] | None = None
    escalate_at: str | None = None


class GetSessionHaltsOutput(Output):
    """Output of `guardrail_get_session_halts`."""

    total_count: int
    halts: list[HaltEvent]
    unacknowledged_count: int


class UpdateHaltConfigInput(Input):
    """Input of `guardrail_update_halt_config`."""

    condition_name: Name
    enabled: bool | None = None
    severity: SeverityName | None = None
    threshold: dict[str, Any] | None = None
    auto_escalate: bool | None = None
    escalate_after_minutes: Annotated[int, Field(ge=1, le=MAX_ESCALATION_MINUTES)] | None = None


class UpdateHaltConfigOutput(Output):
    """Output of `guardrail_update_halt_config`. `warnings` is an addition."""

    updated: bool
    previous_values: dict[str, Any]
    current_values: dict[str, Any]
    warnings: list[str] | None = None


class OpenSessionInput(Input):
    """Who the session is for."""

    agent_name: Name | None = None


class OpenSessionOutput(Output):
    """A new session. The token is shown here and never again."""

    session_token: str
    session_id: str
    agent_name: str


class CloseSessionInput(Input):
    """The session to close for good."""

    session_token: Name


class CloseSessionOutput(Output):
    """The session is closed and takes nothing more."""

    closed: bool


class RecordAttemptInput(Input):
    """A failed attempt at a task."""

    session_token: Name
    task_id: Name | None = None
    error: Annotated[str, StringConstraints(max_length=MAX_CONTEXT_BYTES)] | None = None
    attempt_number: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class RecordAttemptOutput(Output):
    """What the agent does after a failed attempt."""

    attempt_count: int
    should_halt: bool
    severity: SeverityName
    recommended_action: str
    halt_id: str | None = None


Model = TypeVar("Model", bound=Input)

_SHOWN_PROBLEMS = 5
_TOLD_PROBLEMS = 1_000
_SHOWN_PLACE = 200


def parse(model: type[Model], request: Model | Mapping[str, Any] | None, fields: Mapping[str, Any]) -> Model:
    """Return the request as its model, from a model, a mapping, or nothing, completed by keyword fields.

    A model is judged like a mapping: whoever made it may have made it without validation.

    Raises:
        InvalidInput: a field is missing, unknown, of the wrong type or over its limit; nothing was stored.
    """
    kind = type(request)
    if not (request is None or issubclass(kind, Mapping | model)):
        raise InvalidInput(f"{model.__name__}: expected an object, got {kind.__name__}")
    try:
        raw = {**(plain(request) or {}), **plain(fields)}
    except NotPlain as error:
        raise InvalidInput(redact(f"{_place(error.place) or model.__name__}: {error.problem}")) from None
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)[:_TOLD_PROBLEMS]
        problems = tuple(redact(f"{_place(item['loc']) or 'request'}: {item['msg']}") for item in details)
        raise InvalidInput(f"{model.__name__}: {'; '.join(problems[:_SHOWN_PROBLEMS])}", problems) from None


def _place(parts: Iterable[int | str]) -> str:
    return ".".join(str(part) for part in parts)[:_SHOWN_PLACE]
