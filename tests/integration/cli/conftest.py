"""The command line: as a process of its own, inside this one, and at a real terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from haltline.blocking import Guardrail
from haltline.domain import Principal, PrincipalKind
from haltline.faces.cli import main

SECONDS = 120
"""How long a process may take before its test fails."""

PERSON = Principal(PrincipalKind.HUMAN, "maria")


@dataclass(frozen=True)
class Ended:
    """What a process left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Place:
    """A database of its own, and an environment in which nothing else is set."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / "haltline.db"

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    def process(
        self,
        *arguments: str,
        stdin: bytes | None = b"",
        environment: Mapping[str, str] | None = None,
        **more: Any,
    ) -> Ended:
        """Run the command line as a process; standard input is a pipe."""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "haltline", *arguments],
            input=stdin,
            env={**self.environment, **(environment or {})},
            cwd=self.folder,
            timeout=SECONDS,
            check=False,
            **{"capture_output": True, **more},
        )
        return Ended(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())

    def process_into_closed_pipe(self, *arguments: str) -> Ended:
        """Run it with a standard output that nobody reads any more."""
        reading, writing = os.pipe()
        os.close(reading)
        try:
            return self.process(*arguments, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
        finally:
            os.close(writing)

    def terminal(
        self, *arguments: str, type_in: str = "", environment: Mapping[str, str] | None = None
    ) -> Ended:
        """Run the command line at a pseudo-terminal: all three streams are one."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "haltline", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**self.environment, "TERM": "xterm", **(environment or {})},
            cwd=self.folder,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            os.write(ours, type_in.encode())
            shown = _read_all(ours, time.monotonic() + SECONDS)
            return Ended(process.wait(SECONDS), shown.replace("\r\n", "\n"), "")
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def half_terminal(self, *arguments: str, captured: str) -> int:
        """Run it at a pseudo-terminal, but for one stream that is captured; return the exit code."""
        ours, theirs = pty.openpty()
        streams: dict[str, int] = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        streams[captured] = subprocess.DEVNULL
        try:
            done = subprocess.run(
                [sys.executable, "-m", "haltline", *arguments],
                env=self.environment,
                cwd=self.folder,
                timeout=SECONDS,
                check=False,
                **streams,  # type: ignore[call-overload]  # the names are those of the streams
            )
            return int(done.returncode)
        finally:
            os.close(ours)
            os.close(theirs)

    def guardrail(self, principal: Principal = PERSON) -> Guardrail:
        return Guardrail.open(self.url, principal=principal)

    def halt(self, session: str = "s", severity: str = "high", **more: Any) -> str:
        """Record a halt and return its id."""
        with self.guardrail() as guardrail:
            fields = {"halt_type": "security", "description": "Something looks wrong", **more}
            return guardrail.record_halt(session_token=session, severity=severity, **fields).halt_id

    def key(self, kind: PrincipalKind = PrincipalKind.HUMAN, name: str = "maria") -> str:
        with self.guardrail() as guardrail:
            return guardrail.create_key(kind, name)[0]


def _read_all(descriptor: int, until: float) -> str:
    shown = b""
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise AssertionError(f"the process did not end; it has shown {shown!r}")
        try:
            part = os.read(descriptor, 65_536)
        except OSError:  # Linux says so when the other side is closed
            return shown.decode()
        if not part:
            return shown.decode()
        shown += part


@pytest.fixture
def place(tmp_path: Path) -> Place:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    place = Place(tmp_path)
    # A busy machine is no failure here: what a deadline does is tested elsewhere.
    settings = tmp_path / "patient.yaml"
    settings.write_text("deadline_seconds: 60\noperation_deadline_seconds: 60\n", encoding="utf-8")
    place.environment = {
        **kept,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "HALTLINE_DATABASE": place.url,
        "HALTLINE_CONFIG": str(settings),
    }
    return place


Call = Callable[..., Ended]


@pytest.fixture
def call(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command line inside this process, where standard input is no terminal."""
    for name in list(os.environ):
        if name.startswith("HALTLINE_") or name == "NO_COLOR":
            monkeypatch.delenv(name)
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.folder)

    def called(*arguments: str, stdin: bytes = b"", key: str | None = None) -> Ended:
        with pytest.MonkeyPatch.context() as patch, _standard_input(stdin):
            if key is not None:
                patch.setenv("HALTLINE_KEY", key)
            code = main(arguments)
        shown = capsys.readouterr()
        return Ended(code, shown.out, shown.err)

    return called


@contextmanager
def _standard_input(content: bytes) -> Iterator[None]:
    """Let the descriptor of standard input be that of a file with this content."""
    kept = os.dup(0)
    with TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        os.dup2(file.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(kept, 0)
            os.close(kept)
