"""`exfil_guard` in a real run of the Agent Development Kit, with a model that says what it is told to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any

import pytest
from google.adk import Agent
from google.adk.apps import App
from google.adk.models import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import Field
from tests.unit.secrets.fake_tokens import github

from haltline.adapters.adk import exfil_guard

if TYPE_CHECKING:
    from google.adk.models.llm_request import LlmRequest

pytestmark = pytest.mark.anyio
TOKEN = github()


class ScriptedModel(BaseLlm):
    """A model that gives one answer after another."""

    answers: list[LlmResponse] = Field(default_factory=list)
    asked: int = 0

    async def generate_content_async(
        self,
        llm_request: LlmRequest,  # noqa: ARG002 - the kit passes it by name
        stream: bool = False,  # noqa: ARG002 - likewise
    ) -> AsyncGenerator[LlmResponse, None]:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        yield answer.model_copy(deep=True)


def answer(part: types.Part) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=[part]))


class Run:
    """One turn of an agent with a tool that sends a text.

    Attributes:
        sent: what the tool was called with.
        results: what the model got back from it.
        state: the session's state afterwards.
    """

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.results: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {}

    async def turn(self, text: str) -> None:
        def send(text: str) -> dict[str, str]:
            """Send a text to somebody."""
            self.sent.append(text)
            return {"status": "sent"}

        call = types.Part(function_call=types.FunctionCall(name="send", args={"text": text}))
        model = ScriptedModel(model="scripted", answers=[answer(call), answer(types.Part(text="done"))])
        agent = Agent(name="root", model=model, tools=[send], before_tool_callback=[exfil_guard])
        runner = InMemoryRunner(app=App(name="demo", root_agent=agent))
        session = await runner.session_service.create_session(app_name="demo", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="go")])
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            for part in event.content.parts if event.content and event.content.parts else []:
                if part.function_response is not None:
                    self.results.append(dict(part.function_response.response or {}))
        after = await runner.session_service.get_session(app_name="demo", user_id="u", session_id=session.id)
        assert after is not None
        self.state = dict(after.state)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    monkeypatch.delenv("EXFIL_GUARD_STRICT", raising=False)
    return Run


async def test_by_default_a_call_with_a_secret_does_not_run(run: Callable[..., Run]) -> None:
    one = run()
    await one.turn(f"the token is {TOKEN}")

    assert one.sent == []
    assert one.results[0]["error"].startswith("Blocked by exfil_guard: send was given")
    assert TOKEN not in str(one.results)
    assert "exfil_warning" not in one.state


@pytest.mark.parametrize("value", ["0", "false", "no"])
async def test_lax_it_runs_and_leaves_a_warning(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("EXFIL_GUARD_STRICT", value)
    one = run()
    await one.turn(f"the token is {TOKEN}")

    assert one.sent == [f"the token is {TOKEN}"]
    assert one.results == [{"status": "sent"}]
    assert "send was given" in one.state["exfil_warning"]
    assert TOKEN not in one.state["exfil_warning"]


async def test_a_secret_of_this_process_does_not_leave(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = github(seed=3)[10:30]
    monkeypatch.setenv("SERVICE_TOKEN", own)
    one = run()
    await one.turn(f"see {own}")

    assert one.sent == []


async def test_what_only_may_be_a_secret_runs_with_a_warning(run: Callable[..., Run]) -> None:
    one = run()
    await one.turn("--password " + "hunter" + "2pw")

    assert len(one.sent) == 1
    assert "password" in one.state["exfil_warning"]


async def test_a_clean_call_runs(run: Callable[..., Run]) -> None:
    one = run()
    await one.turn("hello")

    assert one.sent == ["hello"]
    assert "exfil_warning" not in one.state


def test_the_adapter_does_not_import_the_kit() -> None:
    code = "import sys, haltline.adapters.adk; sys.exit('google.adk' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
