"""The commands by name: where each lives, and what the overview says of it, without loading any."""

from __future__ import annotations

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """A command that is imported when it is called; its module has a click command named `command`."""

    module: str
    summary: str
    attribute: str = "command"


_HERE = "haltline.faces.commands"

COMMANDS: Final[dict[str, Entry]] = {
    "check": Entry(f"{_HERE}.check", "Ask before an action: proceed, ask, or halt."),
    "explain": Entry(f"{_HERE}.explain", "Show what a command would do, and what the rules say of it."),
    "rules": Entry(f"{_HERE}.rules", "List the shell rules and try them against their own examples."),
    "record": Entry(f"{_HERE}.record", "Stop a session now, by hand."),
    "halts": Entry(f"{_HERE}.halts", "List the halts that wait for a person."),
    "show": Entry(
        f"{_HERE}.show", "Show one halt whole: action, evidence, history, and what you can decide."
    ),
    "ack": Entry(f"{_HERE}.ack", "Settle a halt, as a person."),
    "sessions": Entry(f"{_HERE}.sessions", "List, open and close sessions."),
    "strikes": Entry(f"{_HERE}.strikes", "List, record and reset failed attempts."),
    "config": Entry(f"{_HERE}.config", "Read and change what the conditions do."),
    "keys": Entry(f"{_HERE}.keys", "Make, list and revoke credentials."),
    "audit": Entry(f"{_HERE}.audit", "Verify and export the audit log."),
    "escalate": Entry(
        f"{_HERE}.upkeep", "Time out halts that nobody answered (run it from a timer).", "escalate"
    ),
    "archive": Entry(f"{_HERE}.upkeep", "Move old settled halts to the archive.", "archive"),
    "doctor": Entry(f"{_HERE}.doctor", "Say where everything is, and what is weak."),
    "mcp": Entry(f"{_HERE}.mcp", "Serve the operations over MCP on standard input and output."),
    "demo": Entry(f"{_HERE}.demo", "Show the main job on a temporary database."),
}
