"""The walk over a syntax tree: expands each command, passes it through its wrappers, and asks the rule book.

One engine judges one text. What it finds it keeps as plain tuples; `haltline.shell.analysis` turns them into
the public values, and `haltline.shell.classification` needs only the verdicts. How each kind of command is
judged stands in `haltline.shell.judging`.
"""

from __future__ import annotations

import re

from haltline.shell import expand
from haltline.shell.call import COMPUTED, NETWORK, NOTHING, PIPED, SECRET, SYSTEM_DATA, Call, Flow
from haltline.shell.environment import Environment
from haltline.shell.judging.compound import run_compound
from haltline.shell.judging.program import apply_rules, default_effects, quote, unlisted
from haltline.shell.judging.simple import run_simple
from haltline.shell.marks import HOME, UNKNOWN, display, known, without_marks
from haltline.shell.scanner import MAX_LENGTH, LimitReached, Scan, scan
from haltline.shell.syntax import Compound, Simple

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Callable

    from haltline.shell.book import Book, Program
    from haltline.shell.own import OwnRules
    from haltline.shell.rule import Rule
    from haltline.shell.syntax import Script, Substitution

MAX_WRAPPERS = 24
MAX_STEPS = 8_000
MAX_RECURSION = 3  # turns of a function or script that runs itself with other words each time
SCANNED_IN_A_STEP = 32  # characters
MAX_WORDS = 2048
MAX_TEXT = 4 * MAX_LENGTH

Verdict = tuple[str, "Rule", int, int, tuple[str, ...], str, Call]
Effect = tuple[str, str | None, bool, bool, bool, str | None, str | None, Call]

_INIT_SCRIPT = re.compile(r"/+(?:usr/local/)?etc/(?:init\.d|rc\.d(?:/init\.d)?)/+[^/]+\Z")
_BIDIRECTIONAL = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Engine:
    """Judges one text."""

    __slots__ = (
        "active",
        "book",
        "called",
        "calls",
        "choices",
        "collecting",
        "cwd",
        "defined",
        "depth",
        "effects",
        "error",
        "files",
        "home",
        "open_choices",
        "read",
        "read_file",
        "span",
        "steps",
        "taints",
        "unknowns",
        "unproved",
        "verdicts",
    )

    def __init__(self, book: Book, *, collecting: bool = False) -> None:
        self.book = book
        self.collecting = collecting
        self.read_file: Callable[[str], str | None] | None = None
        self.cwd: str | None = None
        self.home: str | None = None
        self.verdicts: list[Verdict] = []
        self.effects: list[Effect] = []
        self.unknowns: list[tuple[str, str, Call]] = []
        self.calls: list[Call] = []
        self.files: dict[str, Flow] = {}
        self.choices: dict[str, int] = {}
        self.open_choices: dict[str, int] = {}
        self.active: list[tuple[str, ...]] = []
        self.defined: list[tuple[str, Script, Call]] = []
        self.called: set[str] = set()
        self.span: tuple[int, int] | None = None
        self.unproved = False  # more may happen than the effects tell
        self.error: str | None = None
        self.steps = 0
        self.read = 0
        self.taints = 0
        self.depth = 0

    # What is found

    def report(self, rule_id: str, call: Call, target: str = "", *, decision: str | None = None) -> None:
        """Record that a rule holds for a command; `decision` where the rule leaves it to the caller."""
        rule = self.book.rules[rule_id]
        self.verdicts.append((decision or rule.decision, rule, call.start, call.end, call.via, target, call))
        self.effect(rule.effect, target or None, call, reversible=rule.reversible, rule_id=rule_id)

    def effect(
        self,
        kind: str,
        target: str | None,
        call: Call,
        *,
        recursive: bool = False,
        force: bool = False,
        reversible: bool = True,
        rule_id: str | None = None,
    ) -> None:
        """Record an effect of a command."""
        if self.collecting:
            self.effects.append(
                (kind, target, recursive, force, reversible, rule_id, call.environment.directory, call)
            )

    def collect(self, call: Call) -> None:
        """Keep a command that would run, with the environment that its words and variables now name."""
        from haltline.shell.tags import tag  # noqa: PLC0415  loaded only where it is needed

        call.tag = tag(call)
        self.calls.append(call)

    def unknown(self, kind: str, what: str, call: Call) -> None:
        """Record what could not be determined about a command."""
        self.unknowns.append((kind, what, call))

    def charge(self, steps: int) -> None:
        """Count work; over the limit the text is too involved to judge."""
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise LimitReached(f"more than {MAX_STEPS} steps to judge")

    def descend(self, limit: int) -> None:
        """Raise `LimitReached` when texts stand deeper inside one another than is looked at."""
        if self.depth > limit:
            raise LimitReached(f"more than {limit} texts inside one another")

    # Texts and scripts

    def judge(self, text: str) -> None:
        """Judge a whole text, as it came from outside."""
        text = without_marks(text)
        whole = Call([text], Environment(), 0, len(text))
        turned = None if text.isascii() else _BIDIRECTIONAL.search(text)
        if turned is not None:
            self.report("disguise.bidirectional", Call([text], Environment(), turned.start(), turned.end()))
        self.run_text(text, whole)
        for name, body, call in self.defined:
            if name not in self.called:
                self.judge_later(name, body, call)

    def judge_words(self, words: list[str], length: int) -> None:
        """Judge one plain command, given as its words."""
        call = Call(words, Environment(), 0, length)
        try:
            self.start(call)
        except (LimitReached, RecursionError) as problem:
            self.report("limits.reached", call, str(problem))

    def judge_later(self, name: str, body: Script, call: Call) -> None:
        """Judge a function that nothing calls yet: what would be denied needs a question now."""
        self.called.add(name)
        before, effects = len(self.verdicts), len(self.effects)
        unknowns, calls = len(self.unknowns), len(self.calls)
        try:
            self.run_script(body, Environment(), call.inner([], name))
        except (LimitReached, RecursionError):
            self.report("limits.reached", call, name)
        self.verdicts[before:] = [("ask", *v[1:]) for v in self.verdicts[before:] if v[0] == "deny"]
        del self.effects[effects:], self.unknowns[unknowns:], self.calls[calls:]

    def run_text(self, text: str, call: Call, environment: Environment | None = None) -> Flow:
        """Judge shell text that a command runs, in a new shell or in the given state."""
        self.read += len(text)
        environment = environment or Environment()
        found = scan(text if self.read <= MAX_TEXT else "")
        outer_span, self.depth = self.span, self.depth + 1
        if self.depth > 1:
            self.span = (call.start, call.end)
        flow = NOTHING
        try:
            if self.depth > 1:
                self.descend(MAX_WRAPPERS)
                self.charge(1 + len(text) // SCANNED_IN_A_STEP)
            if self.read > MAX_TEXT:
                found.limit = f"more than {MAX_TEXT} characters to read"
            flow = self.run_script(found.script, environment, call)
            for word in found.salvaged:
                expand.text(self, word, environment)
        except (LimitReached, RecursionError) as problem:
            found.limit = str(problem) or "too deep"
        finally:
            self.span, self.depth = outer_span, self.depth - 1
        if found.limit is not None or found.error is not None:
            self.incomplete(found, call)
        return flow

    def incomplete(self, found: Scan, call: Call) -> None:
        """Report what kept the text from being read or judged to its end."""
        if found.limit is not None:
            self.report("limits.reached", call, found.limit)
            self.error = self.error or found.limit
        elif found.error is not None:
            self.report("limits.not-parsed", call)
            self.error = self.error or found.error

    def run_script(self, script: Script, environment: Environment, outer: Call) -> Flow:
        """Judge a list of commands; return what it writes to its output."""
        items = script.items
        if len(items) == 1 and items[0][0] == ";":
            return self.run_node(items[0][1], environment, outer.stdin, outer)
        flow = NOTHING
        texts: list[str] | None = []
        taints = 0
        uncertain = environment.uncertain
        last = len(items) - 1
        for index, (connector, node) in enumerate(items):
            environment.uncertain = uncertain + (connector == "||")
            piped = connector in ("|", "|&")
            stdin = Flow(flow.text, flow.taints | PIPED, flow.source) if piped else outer.stdin
            flow = self.run_node(node, environment, stdin, outer)
            following = items[index + 1][0] if index < last else ";"
            if following not in ("|", "|&"):
                taints |= flow.taints
                if texts is not None:
                    if flow.text is None:
                        texts = None
                    else:
                        texts.append(flow.text)
        environment.uncertain = uncertain
        if all(connector in ("|", "|&") for connector, _ in items[1:]):  # one pipeline: its last command's
            return flow
        return Flow("".join(texts) if texts is not None else None, taints)

    def run_node(
        self, node: Simple | Compound, environment: Environment, stdin: Flow | None, outer: Call
    ) -> Flow:
        """Judge one command of a list, simple or compound."""
        if isinstance(node, Simple):
            return run_simple(self, node, environment, stdin, outer)
        return run_compound(self, node, environment, stdin, outer)

    def place(
        self, node: Simple | Compound, environment: Environment, stdin: Flow | None, outer: Call
    ) -> Call:
        """Return a call without words for a command of the tree."""
        start, end = self.span or (node.start, node.end)
        call = Call([], environment, start, end)
        call.via = outer.via
        call.stdin = stdin
        call.depth = outer.depth
        call.outer = outer
        return call

    # One command

    def start(self, call: Call) -> Flow:
        """Run a command as the shell does: functions and aliases come before programs."""
        environment = call.environment
        if not environment.functions and not environment.aliases:
            return self.dispatch(call)
        name = call.argv[0]
        body = environment.functions.get(name)
        if body is not None:
            return self.run_function(name, body, call)
        alias = environment.aliases.get(name)
        if alias is not None and ("alias", name, alias) not in self.active:
            self.active.append(("alias", name, alias))
            try:
                return self.run_text(alias + " " + quote(call.argv[1:]), call, environment)
            finally:
                self.active.pop()
        return self.dispatch(call)

    def turns(self, turn: tuple[str, ...]) -> bool:
        """Return whether a function or script runs within itself: with the same words, or often enough."""
        return turn in self.active or sum(a[:2] == turn[:2] for a in self.active) >= MAX_RECURSION

    def run_function(self, name: str, body: Script, call: Call) -> Flow:
        """Run a function that the text has defined; it may run itself while its words change."""
        turn = ("function", *call.argv)
        if self.turns(turn):
            return NOTHING
        self.charge(1)
        self.descend(MAX_WRAPPERS)
        self.called.add(name)
        self.active.append(turn)
        environment = call.environment
        outer, environment.positional = environment.positional, call.argv[1:]
        self.depth += 1
        try:
            inner = call.inner([], name)
            return self.run_script(body, environment, inner)
        finally:
            self.depth -= 1
            environment.positional = outer
            self.active.pop()

    @staticmethod
    def bounded(argv: list[str]) -> None:
        """Raise LimitReached when a command has too many words."""
        if len(argv) > MAX_WORDS:
            raise LimitReached(f"more than {MAX_WORDS} words in a command")

    def dispatch(self, call: Call) -> Flow:
        """Judge one command by what the rule book knows of its program."""
        argv = call.argv
        self.charge(1)
        if call.depth > MAX_WRAPPERS:
            raise LimitReached(f"more than {MAX_WRAPPERS} wrappers")
        self.bounded(argv)
        if not argv:
            return NOTHING
        name = argv[0]
        if self.collecting:
            self.collect(call)
        slash = name.rfind("/")
        base = name[slash + 1 :] if slash >= 0 else name
        if slash > 0 and "/etc/" in name and _INIT_SCRIPT.match(name):
            return self.dispatch(call.inner(["service", base, *argv[1:]], name))
        program = self.book.program(base)
        if program is None:
            if self.book.own is not None:
                self.apply_own(self.book.own, base, call)
            return unlisted(self, call, name, base)
        return self.run_program(program, call)

    def apply_own(self, own: OwnRules, name: str, call: Call) -> None:
        """Report what users' rules say of a command; the built-in rules are asked as well, whatever it is."""
        name = own.spoken_of(name) or name
        other = own.same.get(name)
        if other is not None:
            self.dispatch(call.inner([other, *call.argv[1:]], name))
        program = own.programs.get(name)
        if program is not None:
            apply_rules(self, program, call)

    def own_script(self, path: str, arguments: list[str], call: Call) -> None:
        """Report what users' rules say of a script or module that an interpreter runs, by its base name."""
        own = self.book.own
        name = own.spoken_of(path.rpartition("/")[2]) if own is not None else None
        if own is not None and name is not None:
            self.apply_own(own, name, call.inner([name, *arguments], call.argv[0]))

    def run_program(self, program: Program, call: Call) -> Flow:
        """Judge a command of a known program by its detectors and rules."""
        if self.book.own is not None:
            self.apply_own(self.book.own, program.name, call)
        effects = len(self.effects)
        flow: Flow | None = None
        call.program = program.name
        for detector in program.detectors:
            result = detector(self, call)
            if result is not None:
                flow = result
        if program.by_word or program.wildcard or (self.collecting and program.readers):
            apply_rules(self, program, call)
        if self.collecting:
            default_effects(self, program, call, found=len(self.effects) > effects)
        if flow is not None:
            return flow
        taints = PIPED | call.taints
        if call.stdin is not None:
            taints |= call.stdin.taints
        return Flow(None, taints)

    # Variables, substitutions and files

    def choose(self, name: str, values: list[str]) -> str:
        """Return one of a variable's possible values: the one whose turn it is."""
        if len(values) == 1:
            return values[0]
        self.open_choices[name] = len(values)
        index = self.choices.get(name, 0)
        return values[index] if index < len(values) else values[-1]

    def substitute(self, part: Substitution, environment: Environment) -> str:
        """Run a substitution; return what it is replaced by."""
        self.charge(1)
        taints, outer_choices = self.taints, self.open_choices
        self.open_choices = {}
        call = Call([], environment, *(self.span or (0, 0)))
        self.depth += 1
        try:
            self.descend(MAX_WRAPPERS * 2)
            flow = self.run_script(part.script, environment.copy(), call)
        finally:
            self.depth -= 1
            self.open_choices = outer_choices
        if part.direction:
            self.taints = taints
            path = f"/dev/fd/{63 + len(self.files)}"
            self.files[path] = Flow(flow.text, flow.taints, flow.source) if part.direction == "<" else Flow()
            return path
        self.taints = taints | (flow.taints & (NETWORK | SECRET | SYSTEM_DATA))
        if flow.text is not None:
            return flow.text.rstrip("\n")
        self.taints |= COMPUTED
        return UNKNOWN

    def file_flow(self, path: str, call: Call) -> Flow:
        """Return what reading a file yields: what this text wrote there, or what the caller lets us read."""
        from haltline.shell.detectors.credentials import is_credential  # noqa: PLC0415  loaded only where it is needed

        flow = self.files.get(self.located(path, call.environment))
        if flow is not None:
            return flow
        if path.startswith(("/dev/tcp/", "/dev/udp/")):  # the shell itself opens a connection
            self.effect("network_out", display(path), call)
        taints = SECRET if is_credential(path) else 0
        if path == "/dev/null":
            return Flow("", 0)
        return Flow(self.read_from_disk(path, call.environment), taints, path)

    def read_from_disk(self, path: str, environment: Environment) -> str | None:
        """Return the text of a file that the caller lets us read, from where `cd` has led."""
        if self.read_file is None:
            return None
        located = self.located(path, environment)
        if not known(located):
            return None
        return self.read_file(display(located.replace(HOME, self.home or "~", 1)))

    def run_file(self, text: str, path: str, inner: Call, environment: Environment) -> Flow:
        """Judge a script's text; a script may run itself while its words change."""
        turn = ("script", self.located(path, inner.environment), *(environment.positional or ()))
        if self.turns(turn):
            return Flow(None, PIPED)
        self.active.append(turn)
        try:
            return self.run_text(text, inner, environment)
        finally:
            self.active.pop()

    @staticmethod
    def located(path: str, environment: Environment) -> str:
        """Return a path under which files of this text are remembered."""
        directory = environment.directory
        if directory is not None and path[:1] not in ("/", "\x03"):
            path = directory + "/" + path
        return path.removeprefix("./")
