"""The walk over a syntax tree: expands each command, passes it through its wrappers, and asks the rule book.

One engine judges one text. What it finds it keeps as plain tuples; `haltline.shell.analysis` turns them into
the public values, and `haltline.shell.classify` needs only the verdicts.
"""

from __future__ import annotations

import re
import unicodedata
from fnmatch import fnmatchcase
from itertools import product
from typing import TYPE_CHECKING

from haltline.shell import expand
from haltline.shell.call import COMPUTED, NETWORK, NOTHING, PIPED, SECRET, SYSTEM_DATA, Call, Flow
from haltline.shell.environment import RUN_BY_NAME, Environment
from haltline.shell.marks import UNKNOWN, display, known, without_marks
from haltline.shell.options import parse
from haltline.shell.scanner import MAX_LENGTH, LimitReached, Scan, scan
from haltline.shell.syntax import Compound, Simple
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from haltline.shell.book import Book, Program, Rule
    from haltline.shell.own import OwnRules
    from haltline.shell.syntax import Assignment, Redirection, Script, Substitution, Word

MAX_WRAPPERS = 24
MAX_STEPS = 12_000
MAX_COMBINATIONS = 16
MAX_PATTERN = 32
MAX_WORDS = 2048
MAX_TEXT = 4 * MAX_LENGTH

Verdict = tuple[str, "Rule", int, int, tuple[str, ...], str]
Effect = tuple[str, str | None, bool, bool, bool, str | None, int, int, str | None]

_GLOB_NAME = re.compile(r"[*?\[]")
_PATTERN_DIRECTORIES = frozenset({"", "/", "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/"})
_INVISIBLE = frozenset({"Cf", "Cc", "Co", "Cn"})
_BIDIRECTIONAL = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TRUNCATES = frozenset({":", "true"})
_SHEBANG = re.compile(r"#![^\n]*?([\w.+-]+)[ \t]*(?:\n|\Z)")
_NUMBER = re.compile(r"\d+-?\Z|-\Z")


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
        "elsewhere",
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
        self.unknowns: list[tuple[str, str, int, int]] = []
        self.calls: list[Call] = []
        self.files: dict[str, Flow] = {}
        self.choices: dict[str, int] = {}
        self.open_choices: dict[str, int] = {}
        self.active: list[str] = []
        self.defined: list[tuple[str, Script, Call]] = []
        self.called: set[str] = set()
        self.span: tuple[int, int] | None = None
        self.elsewhere = False
        self.error: str | None = None
        self.steps = 0
        self.read = 0
        self.taints = 0
        self.depth = 0

    # What is found

    def report(self, rule_id: str, call: Call, target: str = "", *, decision: str | None = None) -> None:
        """Record that a rule holds for a command; `decision` where the rule leaves it to the caller."""
        rule = self.book.rules[rule_id]
        self.verdicts.append((decision or rule.decision, rule, call.start, call.end, call.via, target))
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
                (
                    *(kind, target, recursive, force, reversible, rule_id, call.start, call.end),
                    call.environment.directory,
                )
            )

    def unknown(self, kind: str, what: str, call: Call) -> None:
        """Record what could not be determined about a command."""
        self.unknowns.append((kind, what, call.start, call.end))

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
        if not text.isascii() and _BIDIRECTIONAL.search(text):
            self.report("disguise.bidirectional", whole)
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
            self.descend(MAX_WRAPPERS)
            if self.read > MAX_TEXT:
                found.limit = f"more than {MAX_TEXT} characters to read"
            flow = self.run_script(found.script, environment, call)
            for word in found.salvaged:
                expand.text(self, word, environment)
        except (LimitReached, RecursionError) as problem:
            found.limit = str(problem) or "too deep"
        finally:
            self.span, self.depth = outer_span, self.depth - 1
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
        flow = NOTHING
        texts: list[str] | None = []
        taints = 0
        uncertain = environment.uncertain
        items = script.items
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
        if last == 0:
            return flow
        return Flow("".join(texts) if texts is not None else None, taints)

    def run_node(
        self, node: Simple | Compound, environment: Environment, stdin: Flow | None, outer: Call
    ) -> Flow:
        """Judge one command of a list, simple or compound."""
        if isinstance(node, Simple):
            return self.run_simple(node, environment, stdin, outer)
        return self.run_compound(node, environment, stdin, outer)

    def run_compound(self, node: Compound, environment: Environment, stdin: Flow | None, outer: Call) -> Flow:
        """Judge a compound command; a function is only remembered."""
        call = self.place(node, environment, stdin, outer)
        kind = node.kind
        if kind == "function":
            environment.functions[node.name] = node.scripts[0]
            self.defined.append((node.name, node.scripts[0], call))
            if _bomb(node):
                self.report("machine.fork-bomb", call)
            return NOTHING
        outputs: list[Flow] = []
        if node.redirections:
            outputs = self.redirect(node.redirections, environment, call)
        values = [value for word in node.words for value in expand.fields(self, word, environment)]
        if kind == "for" and node.name:
            environment.assign(node.name, values or environment.positional or [UNKNOWN])
        inner = environment.copy() if kind in ("subshell", "coproc") else environment
        branching = kind not in ("subshell", "group", "coproc")
        inner.uncertain += branching
        flow = self.run_bodies(node, inner, call)
        if kind in ("for", "while") and self.changes(node, inner):
            flow = self.run_bodies(node, inner, call)
        inner.uncertain -= branching
        for output in outputs:
            output.text, output.taints = flow.text, flow.taints
        return flow

    def run_bodies(self, node: Compound, environment: Environment, call: Call) -> Flow:
        """Judge the bodies of a compound command, one after another."""
        flow = NOTHING
        for script in node.scripts:
            flow = self.run_script(script, environment, call)
        return flow if len(node.scripts) == 1 else Flow(None, flow.taints)

    def changes(self, node: Compound, environment: Environment) -> bool:
        """Return whether a loop's body sets a variable: its next turn may then run something else."""
        self.charge(1)
        return bool(environment.variables) and any(
            isinstance(item, Simple) and item.assignments
            for script in node.scripts
            for _, item in script.items
        )

    def place(
        self, node: Simple | Compound, environment: Environment, stdin: Flow | None, outer: Call
    ) -> Call:
        """Return a call without words for a command of the tree."""
        start, end = self.span or (node.start, node.end)
        call = Call([], environment, start, end)
        call.via = outer.via
        call.stdin = stdin
        call.depth = outer.depth
        return call

    # Simple commands

    def run_simple(self, node: Simple, environment: Environment, stdin: Flow | None, outer: Call) -> Flow:
        """Judge a simple command, for every value that its variables may have."""
        call = self.place(node, environment, stdin, outer)
        before, self.taints, self.open_choices = self.open_choices, 0, {}
        try:
            argv = self.expanded(node.words, environment)
            flow = self.run_argv(node, argv, call)
            if self.open_choices:
                flow = self.run_alternatives(node, call, flow)
        finally:
            self.open_choices = before
        return flow

    def expanded(self, words: Sequence[Word], environment: Environment) -> list[str]:
        """Return the words of a command after expansion."""
        argv: list[str] = []
        for word in words:
            text = word.text
            if word.parts is None and (word.quoted or (text[:1] != "~" and "{" not in text)):
                argv.append(text)
            else:
                argv.extend(expand.fields(self, word, environment))
        return argv

    def run_alternatives(self, node: Simple, call: Call, flow: Flow) -> Flow:
        """Run the command again for every combination of what its variables may be."""
        names = list(self.open_choices)
        ranges = [range(self.open_choices[name]) for name in names]
        outer_choices, self.choices = self.choices, dict(self.choices)
        taints = flow.taints
        try:
            for number, combination in enumerate(product(*ranges)):
                if number == 0:
                    continue
                if number >= MAX_COMBINATIONS:
                    self.unknown("variable", "too many combinations of values", call)
                    break
                self.choices.update(zip(names, combination, strict=True))
                other = call.inner([], "")
                other.via, other.depth, other.settings = call.via, call.depth, []
                taints |= self.run_argv(node, self.expanded(node.words, call.environment), other).taints
        finally:
            self.choices = outer_choices
        return Flow(None, taints)

    def run_argv(self, node: Simple, argv: list[str], call: Call) -> Flow:
        """Judge a simple command whose words are expanded."""
        call.argv = argv
        call.taints = self.taints
        environment = call.environment
        for assignment in node.assignments:
            self.assign(assignment, call, keep=not argv)
        outputs = self.redirect(node.redirections, environment, call) if node.redirections else []
        flow = self.start(call) if argv else self.nothing_to_run(node, call)
        if outputs:
            truncates = not argv or (argv[0] in _TRUNCATES and len(argv) == 1)
            for output in outputs:
                output.text, output.taints = flow.text, flow.taints
            if truncates or flow.text == "" or (argv[0] in ("cat", "cp") and "/dev/null" in argv):
                self.truncations(node, call)
            return Flow(None, 0)
        return flow

    def truncations(self, node: Simple, call: Call) -> None:
        """Judge the files that a command without output empties."""
        from haltline.shell.detectors.filesystem import truncated  # noqa: PLC0415  loaded only where it is needed

        for redirection in node.redirections:
            if redirection.operator in (">", ">|", "&>"):
                truncated(self, call, expand.text(self, redirection.target, call.environment))

    def nothing_to_run(self, node: Simple, call: Call) -> Flow:
        """Judge a command without words: assignments and redirections alone."""
        if node.words and call.taints & NETWORK:
            self.report("interpreters.network-code", call)
        return Flow("", 0) if not node.words else Flow(None, call.taints)

    def start(self, call: Call) -> Flow:
        """Run a command as the shell does: functions and aliases come before programs."""
        environment = call.environment
        name = call.argv[0]
        body = environment.functions.get(name) if environment.functions else None
        if body is not None:
            return self.run_function(name, body, call)
        alias = environment.aliases.get(name) if environment.aliases else None
        if alias is not None and name not in self.active:
            self.active.append(name)
            try:
                return self.run_text(alias + " " + quote(call.argv[1:]), call, environment)
            finally:
                self.active.pop()
        return self.dispatch(call)

    def run_function(self, name: str, body: Script, call: Call) -> Flow:
        """Run a function that the text has defined."""
        if name in self.active or self.depth >= MAX_WRAPPERS:
            return NOTHING
        self.charge(1)
        self.called.add(name)
        self.active.append(name)
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

    def dispatch(self, call: Call) -> Flow:
        """Judge one command by what the rule book knows of its program."""
        self.charge(1)
        if call.depth > MAX_WRAPPERS:
            raise LimitReached(f"more than {MAX_WRAPPERS} wrappers")
        if len(call.argv) > MAX_WORDS:
            raise LimitReached(f"more than {MAX_WORDS} words in a command")
        if not call.argv:
            return NOTHING
        name = call.argv[0]
        if self.collecting:
            self.calls.append(call)
        slash = name.rfind("/")
        base = name[slash + 1 :] if slash >= 0 else name
        program = self.book.program(base)
        if program is None:
            if self.book.own is not None:
                self.apply_own(self.book.own, base, call)
            return self.unlisted(call, name, base)
        return self.run_program(program, call)

    def apply_own(self, own: OwnRules, name: str, call: Call) -> None:
        """Report what users' rules say of a command; the built-in rules are asked as well, whatever it is."""
        other = own.same.get(name)
        if other is not None:
            self.dispatch(call.inner([other, *call.argv[1:]], name))
        program = own.programs.get(name)
        if program is not None:
            self.apply_rules(program, call)

    def run_program(self, program: Program, call: Call) -> Flow:
        """Judge a command of a known program by its detectors and rules."""
        if self.book.own is not None:
            self.apply_own(self.book.own, program.name, call)
        effects = len(self.effects)
        flow: Flow | None = None
        for detector in program.detectors:
            result = detector(self, call)
            if result is not None:
                flow = result
        if program.by_word or program.wildcard or program.readers:
            self.apply_rules(program, call)
        if self.collecting:
            self.default_effects(program, call, found=len(self.effects) > effects)
        if flow is not None:
            return flow
        taints = PIPED | call.taints
        if call.stdin is not None:
            taints |= call.stdin.taints
        return Flow(None, taints)

    def default_effects(self, program: Program, call: Call, *, found: bool) -> None:
        """Record what a program does by its nature, where nothing more exact was found."""
        kind = program.effect
        if kind == "privilege":
            self.effect(kind, program.name, call)
        elif found:
            return
        elif kind == "write" and not program.name.startswith("git-"):
            targets: list[str | None] = [*parse(call.argv, program.grammar).words]
            for target in targets or [None]:
                self.effect("write", target, call)
        else:  # a program's name is no file that it writes
            self.effect(kind or "execute", None if kind == "write" else program.name, call)

    def apply_rules(self, program: Program, call: Call) -> None:
        """Report the declared rules that hold for a command."""
        spec = self.book.wrappers.get(program.name)
        wrapper = spec is not None and "after" not in spec and "mode" not in spec
        options = parse(call.argv, program.grammar, first_word_ends=wrapper)
        if wrapper:
            options.words = call.argv[options.index :]
        elif asks_for_help(call.argv, options.words):
            self.effect("read", program.name, call)
            return
        for rule, used in program.matches(options):
            self.report(rule.rule_id, call, " ".join(options.words[used:]))
        if self.collecting and any(reader.holds(options, frozenset()) >= 0 for reader in program.readers):
            self.effect("read", program.name, call)

    def unlisted(self, call: Call, name: str, base: str) -> Flow:
        """Judge a command whose name the book does not have."""
        if not known(name):
            if call.taints & NETWORK:
                self.report("interpreters.network-code", call)
            self.unknown("command", "the name of the command is not decided by the text", call)
            return Flow(None, call.taints)
        if not base.isascii():
            plain = visible(base)
            if plain != base:
                self.report("disguise.invisible", call)
                return self.run_text(plain + " " + quote(call.argv[1:]), call, call.environment)
        if _GLOB_NAME.search(base) and base not in ("[", "[["):
            return self.by_pattern(call, name, base)
        if "/" in name:
            script = self.file_flow(name, call)
            if script.text is not None or script.taints:
                return self.run_script_file(script, call)
        self.unknown("program", base, call)
        return Flow(None, PIPED | call.taints | (call.stdin.taints if call.stdin is not None else 0))

    def run_script_file(self, script: Flow, call: Call) -> Flow:
        """Judge a file that the same text has written and now runs."""
        if script.taints & NETWORK:
            self.report("interpreters.network-code", call)
        if script.text is None:
            self.unknown("script", call.argv[0], call)
            return Flow(None, script.taints)
        match = _SHEBANG.match(script.text)
        interpreter = match[1] if match is not None else "sh"
        inner = call.inner([interpreter, call.argv[0], *call.argv[1:]], call.argv[0])
        return self.dispatch(inner)

    def by_pattern(self, call: Call, name: str, base: str) -> Flow:
        """Judge a command that is named by a file pattern: every program it may be."""
        directory = name[: len(name) - len(base)]
        if directory in _PATTERN_DIRECTORIES:
            self.report("disguise.pattern", call)
            names = self.book.names() if len(base) <= MAX_PATTERN else set()
            candidates = sorted(names)
            if self.book.own is not None:  # after the others: no file may push them over the limit
                candidates += sorted(self.book.own.programs.keys() - names)
            matching = [candidate for candidate in candidates if fnmatchcase(candidate, base)]
            for candidate in matching[:MAX_COMBINATIONS]:
                self.dispatch(call.inner([candidate, *call.argv[1:]], name))
        else:
            self.unknown("program", name, call)
        return Flow(None, PIPED)

    # Variables and redirections

    def choose(self, name: str, values: list[str]) -> str:
        """Return one of a variable's possible values: the one whose turn it is."""
        if len(values) == 1:
            return values[0]
        self.open_choices[name] = len(values)
        index = self.choices.get(name, 0)
        return values[index] if index < len(values) else values[-1]

    def assign(self, assignment: Assignment, call: Call, *, keep: bool) -> None:
        """Keep an assignment, or note it as a setting of the command that it stands before."""
        environment = call.environment
        if assignment.items is not None:
            values = [value for item in assignment.items for value in expand.fields(self, item, environment)]
            environment.assign(assignment.name, [" ".join(values)], append=assignment.append)
            return
        value = expand.text(self, assignment.value, environment)
        if keep:
            environment.assign(assignment.name, [value], append=assignment.append)
        else:
            call.settings.append((assignment.name, value))
        if assignment.name == "PATH":
            self.elsewhere = True
        if value and assignment.name in RUN_BY_NAME:
            self.run_text(value, call.inner([], assignment.name), Environment())
        elif value and assignment.name in _LOADED_BY_NAME:
            self.report("interpreters.preload", call, f"{assignment.name}={value}")

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
            self.files[path] = Flow(flow.text, flow.taints) if part.direction == "<" else Flow()
            return path
        self.taints = taints | (flow.taints & (NETWORK | SECRET | SYSTEM_DATA))
        if flow.text is not None:
            return flow.text.rstrip("\n")
        self.taints |= COMPUTED
        return UNKNOWN

    def redirect(
        self, redirections: Sequence[Redirection], environment: Environment, call: Call
    ) -> list[Flow]:
        """Apply redirections: set the command's input, and return the flows of the files it writes."""
        outputs: list[Flow] = []
        for redirection in redirections:
            operator = redirection.operator
            if operator in ("<<", "<<-"):
                body = redirection.body
                call.stdin = Flow(expand.text(self, body, environment) if body is not None else "")
                continue
            target = expand.text(self, redirection.target, environment)
            if operator == "<<<":
                call.stdin = Flow(target + "\n", self.taints & (NETWORK | SECRET))
            elif operator == "<":
                call.stdin = self.file_flow(target, call)
            elif operator in (">&", "<&") and _NUMBER.match(target):
                continue
            elif operator != "<&":
                outputs.extend(self.output_to(target, operator, call))
        return outputs

    def output_to(self, target: str, operator: str, call: Call) -> list[Flow]:
        """Judge one output redirection; return the flow of the file, if it is one."""
        from haltline.shell.detectors.filesystem import written  # noqa: PLC0415  loaded only where it is needed

        if target in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            return []
        written(self, call, target, overwrites=">>" not in operator)
        flow = Flow()
        self.files[self.located(target, call.environment)] = flow
        return [flow]

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
        text = self.read_file(path) if self.read_file is not None and known(path) else None
        return Flow(text, taints, path)

    @staticmethod
    def located(path: str, environment: Environment) -> str:
        """Return a path under which files of this text are remembered."""
        directory = environment.directory
        if directory is not None and path[:1] not in ("/", "\x03"):
            path = directory + "/" + path
        return path.removeprefix("./")


_LOADED_BY_NAME = word_set(
    "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV PERL5OPT RUBYOPT PYTHONSTARTUP"
)


def asks_for_help(argv: list[str], words: list[str]) -> bool:
    """Return whether a command only prints its help or version."""
    last = argv[-1]
    if last in ("--help", "--version") or "--help" in argv:
        return True
    return (last == "-h" and len(argv) <= 3 and argv[0] != "shutdown") or words[:1] == ["help"]  # noqa: PLR2004  `git restore -h`


def quote(argv: Sequence[str]) -> str:
    """Return words as shell text that is read back as the same words."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in argv)


def visible(text: str) -> str:
    """Return a text without characters that cannot be seen, and with look-alikes of ASCII made ASCII."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(c for c in plain if unicodedata.category(c) not in _INVISIBLE)


def _bomb(node: Compound) -> bool:
    """Return whether a function starts itself in a pipeline or in the background."""
    waiting = list(node.scripts)
    while waiting:
        script = waiting.pop()
        for index, (connector, item) in enumerate(script.items):
            if isinstance(item, Compound):
                waiting.extend(item.scripts)
                continue
            if item.words and item.words[0].text == node.name:
                following = script.items[index + 1][0] if index + 1 < len(script.items) else ";"
                if connector == "|" or following in ("|", "&"):
                    return True
    return False
