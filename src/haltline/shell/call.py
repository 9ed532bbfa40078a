"""One command about to be judged, and what flows out of it."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from haltline.shell.environment import Environment

NETWORK = 1  # the content came from the network
SECRET = 2  # the content holds credentials
PIPED = 4  # the content was produced by another command, not written here as text
SYSTEM_DATA = 8  # the content was read from a file of this machine

COMPUTED = 16  # a part of it is what another command printed
SCHEDULE = "crontab"  # stands for what `crontab -l` prints
REST_OF_SCHEDULE = "crontab without haltline"  # the same with Haltline's lines filtered out
BUILD_PRODUCTS = "build/*"  # stands for a list, and each of its entries, that names only products of a build


class Flow:
    """Data on its way from one command to another.

    Attributes:
        text: the data itself, when the command line decides it.
        taints: what is to be remembered of where it comes from.
        source: the file that it comes from, if it is one, or one of the constants that stand for a source.
    """

    __slots__ = ("source", "taints", "text")

    def __init__(self, text: str | None = None, taints: int = 0, source: str = "") -> None:
        self.text = text
        self.taints = taints
        self.source = source


NOTHING = Flow()


class Call:
    """A simple command after expansion and unwrapping.

    Attributes:
        argv: its words.
        environment: the state of the shell that runs it.
        via: names of the wrappers passed through, outermost first.
        start: offset of the command in the analysed text.
        end: offset after it.
        stdin: what flows into it, or None when it inherits the terminal.
        settings: `NAME=value` given for this command only.
        taints: taints of its arguments.
        appended: unknown words follow `argv` (`xargs`, `parallel`, `find -exec … {}`).
        depth: how many wrappers and texts deep it stands.
        outer: the command that runs it, if another one does.
        program: the name that the rule book has for its program; empty before it is looked up.
        tag: the environment that it names itself, where everything is collected.
    """

    __slots__ = (
        "appended",
        "argv",
        "depth",
        "end",
        "environment",
        "outer",
        "program",
        "settings",
        "start",
        "stdin",
        "tag",
        "taints",
        "via",
    )

    def __init__(self, argv: list[str], environment: Environment, start: int, end: int) -> None:
        self.argv = argv
        self.environment = environment
        self.start = start
        self.end = end
        self.via: tuple[str, ...] = ()
        self.stdin: Flow | None = None
        self.settings: list[tuple[str, str]] = []
        self.taints = 0
        self.appended = False
        self.depth = 0
        self.outer: Call | None = None
        self.program = ""
        self.tag: str | None = None

    def inner(self, argv: list[str], wrapper: str) -> Call:
        """Return the command that a wrapper runs."""
        other = Call(argv, self.environment, self.start, self.end)
        other.via = (*self.via, wrapper)
        other.stdin = self.stdin
        other.settings = self.settings
        other.taints = self.taints
        other.appended = self.appended
        other.depth = self.depth + 1
        other.outer = self
        return other
