"""Real MCP servers in real processes, and the protocol package's own client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, Implementation

from haltline import Guardrail, Principal, PrincipalKind

if TYPE_CHECKING:
    from anyio.abc import Process

SECONDS = 60.0
"""How long a test waits for anything, at most."""

UNHURRIED = {"deadline_seconds": 30}
"""A busy machine is no failure here; what a check does when its time is up is tested elsewhere."""

PROGRAM = """
import json, sys
from haltline import Settings
from haltline.faces.mcp import main
main(sys.argv[1], Settings.from_mapping(json.loads(sys.argv[2])))
"""


def command(url: str, settings: dict[str, Any] | None = None) -> list[str]:
    return [sys.executable, "-W", "error", "-c", PROGRAM, url, json.dumps({**UNHURRIED, **(settings or {})})]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('mcp') / 'haltline.db'}"


@pytest.fixture
def session() -> str:
    return f"sess_{uuid4().hex}"


@asynccontextmanager
async def _connected(
    url: str,
    *,
    mode: str = "auto",
    name: str = "tester",
    settings: dict[str, Any] | None = None,
    log: Path | None = None,
) -> AsyncIterator[Client]:
    first, *rest = command(url, settings)
    parameters = StdioServerParameters(command=first, args=rest, env=dict(os.environ))
    with Path(log or os.devnull).open("a") as errors:
        transport = stdio_client(parameters, errors)
        information = Implementation(name=name, version="1")
        async with Client(
            transport, mode=mode, client_info=information, read_timeout_seconds=SECONDS
        ) as client:
            yield client


@pytest.fixture
def connect() -> Callable[..., AbstractAsyncContextManager[Client]]:
    """Start a server for a database, and connect to it."""
    return _connected


@pytest.fixture(scope="module", params=["auto", "legacy"])
async def client(request: pytest.FixtureRequest, url: str, anyio_backend: str) -> AsyncIterator[Client]:
    """A client of a server that the tests of a module share, in each era of the protocol."""
    async with _connected(url, mode=request.param) as connected:
        yield connected


@pytest.fixture
def call(client: Client) -> Callable[..., Any]:
    """Call a tool of the shared server and return its whole result."""

    async def call(tool: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
        with anyio.fail_after(SECONDS):
            return await client.call_tool(tool, arguments)

    return call


@pytest.fixture
async def person(url: str, anyio_backend: str) -> AsyncIterator[Guardrail]:
    """A person at the same database, in another process than the server."""
    async with Guardrail.open(url, principal=Principal(PrincipalKind.HUMAN, "maria")) as guardrail:
        yield guardrail


class RawClient:
    """A client that sends what bytes it likes, and reads what lines come back."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._received = b""

    async def send(self, *lines: bytes | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        for line in lines:
            data = line if isinstance(line, bytes) else json.dumps(line).encode()
            await self.process.stdin.send(data + b"\n")

    async def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while b"\n" not in self._received:
            self._received += await self.process.stdout.receive()
        line, _, self._received = self._received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    async def hang_up(self) -> list[dict[str, Any]]:
        """Close the input, and return what still came until the server ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        await self.process.stdin.aclose()
        async for chunk in self.process.stdout:
            self._received += chunk
        assert await self.process.wait() == 0
        return [json.loads(line) for line in self._received.splitlines()]

    async def shake_hands(self) -> None:
        await self.send(initialize(0))
        assert (await self.receive())["id"] == 0
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


def initialize(request_id: int) -> dict[str, Any]:
    parameters = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": "initialize", "params": parameters}


@pytest.fixture
def start() -> Callable[..., AbstractAsyncContextManager[RawClient]]:
    """Start a server for a database, as a process whose pipes the test holds."""

    @asynccontextmanager
    async def start(url: str, settings: dict[str, Any] | None = None) -> AsyncIterator[RawClient]:
        with anyio.fail_after(SECONDS):
            async with _raw_client(url, settings) as raw:
                yield raw

    return start


@asynccontextmanager
async def _raw_client(url: str, settings: dict[str, Any] | None = None) -> AsyncIterator[RawClient]:
    async with await anyio.open_process(command(url, settings), stderr=None) as process:
        try:
            yield RawClient(process)
        finally:
            if process.returncode is None:
                process.kill()


@pytest.fixture(scope="module")
async def raw(url: str, anyio_backend: str) -> AsyncIterator[RawClient]:
    """A client of a server that the tests of a module share; the handshake is done."""
    async with _raw_client(url) as client:
        await client.shake_hands()
        yield client


@pytest.fixture
def exchange(raw: RawClient) -> Callable[..., Any]:
    """Send one line to the shared server and return the one that comes back."""

    async def exchange(line: bytes | dict[str, Any]) -> dict[str, Any]:
        with anyio.fail_after(SECONDS):
            await raw.send(line)
            return await raw.receive()

    return exchange
