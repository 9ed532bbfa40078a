"""The whole analysis of a command as public values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from haltline.shell.book import built_in
from haltline.shell.engine import Engine
from haltline.shell.environment import HARMLESS_VARIABLES
from haltline.shell.marks import display, known, without_marks
from haltline.shell.tags import decisive

if TYPE_CHECKING:
    from collections.abc import Callable

    from haltline.shell.book import Book
    from haltline.shell.call import Call

Span = tuple[int, int]


class EffectKind(StrEnum):
    """What a command does to the world."""

    DELETE = "delete"
    OVERWRITE = "overwrite"
    WRITE = "write"
    READ = "read"
    EXECUTE = "execute"
    NETWORK_IN = "network_in"
    NETWORK_OUT = "network_out"
    PRIVILEGE = "privilege"
    HISTORY_REWRITE = "history_rewrite"
    REMOTE_CHANGE = "remote_change"


@dataclass(frozen=True, slots=True)
class Command:
    """One command that would run, after expansion and unwrapping.

    Attributes:
        argv: its words; `…` stands for what the text does not decide, `~` for the home directory.
        via: the wrappers passed through, outermost first.
        resolved: whether every word is decided by the text.
        span: where in the text it comes from, as offsets.
    """

    argv: tuple[str, ...]
    via: tuple[str, ...]
    resolved: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a command would do.

    Attributes:
        kind: what it does.
        target: a path, host or resource, when the text names one.
        recursive: it reaches everything below the target.
        force: it asks no questions.
        reversible: it can be undone without a backup.
        environment: `production`, `staging`, `development` or `test` when the command says which.
        rule_id: the rule that found it, if one did.
        span: where in the text it comes from, as offsets.
        directory: where `cd` has led in this text by then; None while it leads nowhere else.
        command: the words of the command that does it.
        via: the wrappers passed through, outermost first.
    """

    kind: EffectKind
    target: str | None
    recursive: bool
    force: bool
    reversible: bool
    environment: str | None
    rule_id: str | None
    span: Span
    directory: str | None = None
    command: tuple[str, ...] = ()
    via: tuple[str, ...] = ()

    @property
    def path(self) -> str | None:
        """The target as a path from where the text starts; for targets that are paths."""
        if self.target is None or self.directory is None or self.target[:1] in {"/", "~"}:
            return self.target
        return f"{self.directory.rstrip('/')}/{self.target}"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """A rule that holds.

    Attributes:
        decision: `deny` or `ask`.
        rule_id: the rule's stable name.
        reason: what would happen, with what it would happen to.
        advice: what to do instead.
        span: where in the text the command stands, as offsets.
        via: the wrappers passed through, outermost first.
        command: the words of the command that it holds for.
    """

    decision: Literal["deny", "ask"]
    rule_id: str
    reason: str
    advice: str
    span: Span
    via: tuple[str, ...]
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that could not be determined.

    Attributes:
        kind: `command`, `program`, `subcommand`, `script`, `code`, `variable` or `syntax`.
        what: the thing, in words for a person.
        span: where in the text it stands, as offsets.
        command: the words of the command that it belongs to, if it is one.
        via: the wrappers passed through, outermost first.
    """

    kind: str
    what: str
    span: Span
    command: tuple[str, ...] = ()
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that is known of a command before it runs.

    Attributes:
        text: the command as given.
        commands: every command that would run, at any depth, after expansion and unwrapping.
        effects: what they would do.
        verdicts: the rules that hold, in source order.
        unknown: what could not be determined.
        only_reads: every effect is provably a read, nothing is unknown, and no program is somebody's own.
        complete: the text was read to its end.
    """

    text: str
    commands: tuple[Command, ...]
    effects: tuple[Effect, ...]
    verdicts: tuple[RuleVerdict, ...]
    unknown: tuple[Unknown, ...]
    only_reads: bool
    complete: bool

    @property
    def decision(self) -> Literal["deny", "ask"] | None:
        """The strictest verdict, or None when no rule has an opinion."""
        decisions = {verdict.decision for verdict in self.verdicts}
        return "deny" if "deny" in decisions else "ask" if decisions else None


def analyze(
    command: str,
    *,
    cwd: str | None = None,
    home: str | None = None,
    read_file: Callable[[str], str | None] | None = None,
    rules: Book | None = None,
) -> Analysis:
    """Return everything that can be told about a command line without running it. Never raises.

    Args:
        command: the text, as a shell would get it.
        cwd: the directory that it would run in, if known.
        home: the home directory of whoever would run it, if known.
        read_file: returns the text of a script that the command runs, or None; it is called with the path as
            the command writes it, from where `cd` has led by then, `~` for the home directory; what it raises
            counts as None.
        rules: a book from `load_rules`, in place of the built-in one.
    """
    engine = Engine(rules or built_in(), collecting=True)
    engine.cwd, engine.home = cwd, home
    if read_file is not None:
        engine.read_file = _guarded(read_file)
    engine.judge(command)
    words = _Words()
    unknown = tuple(
        Unknown(kind, display(what), (call.start, call.end), words[call], call.via)
        for kind, what, call in engine.unknowns
    )
    if engine.error is not None:
        unknown += (Unknown("syntax", engine.error, (0, len(command))),)
    effects = _effects(engine, words)
    verdicts = _verdicts(engine, words)
    reads = all(effect.kind is EffectKind.READ for effect in effects)
    return Analysis(
        text=command,
        commands=tuple(_command(call, words) for call in engine.calls),
        effects=effects,
        verdicts=verdicts,
        unknown=unknown,
        only_reads=reads
        and not unknown
        and not verdicts
        and bool(engine.calls or not command.strip())
        and not _runs_others(engine)
        and _proved(engine, command),
        complete=engine.error is None,
    )


MAX_SCRIPT = 64 * 1024
_INSTALLED = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")


# Variables that change how a program's output looks, not what it runs or writes; what a pager's or editor's
# variable holds is judged as the command that it is.
_HARMLESS_SETTING = re.compile(rf"(?:{HARMLESS_VARIABLES}|(?:GIT_|MAN)?PAGER|GIT_[a-z].*)\Z")


def _runs_others(engine: Engine) -> bool:
    """Whether programs may be others than their names say: `./ls` is whatever somebody put there."""
    if engine.unproved:
        return True
    if any(not _HARMLESS_SETTING.match(name) for call in engine.calls for name, _ in call.settings):
        return True
    names = (call.argv[0] for call in engine.calls if call.argv)
    return any("/" in name and name[: name.rfind("/") + 1] not in _INSTALLED for name in names)


def _proved(engine: Engine, text: str) -> bool:
    from haltline.shell.reading import proved  # noqa: PLC0415  loaded only where it is needed

    return proved(engine, text)


def _guarded(read_file: Callable[[str], str | None]) -> Callable[[str], str | None]:
    texts: dict[str, str | None] = {}  # a command may run one script many times, and each time it is the same

    def read(path: str) -> str | None:
        if path not in texts:
            try:
                text = read_file(path)
            except Exception:  # noqa: BLE001  whatever the reason, the script is unknown
                text = None
            texts[path] = None if text is None or len(text) > MAX_SCRIPT else without_marks(text)
        return texts[path]

    return read


def _command(call: Call, words: _Words) -> Command:
    return Command(
        argv=words[call],
        via=call.via,
        resolved=all(known(word) for word in call.argv),
        span=(call.start, call.end),
    )


class _Words(dict["Call", "tuple[str, ...]"]):
    """The words of commands as people read them, each worked out once: a command may have many effects."""

    def __missing__(self, call: Call) -> tuple[str, ...]:
        self[call] = words = tuple(display(word) for word in call.argv)
        return words


def _environment(call: Call) -> str | None:
    """Return the environment that a command speaks to: its own, or that of what runs it.

    Production is not outweighed by another name: `ssh prod-db psql -h test` runs in production.
    """
    tags = []
    at: Call | None = call
    while at is not None:
        tags.append(at.tag)
        at = at.outer
    return decisive(tags)


def _effects(engine: Engine, words: _Words) -> tuple[Effect, ...]:
    found = (
        Effect(
            kind=EffectKind(kind),
            target=None if target is None else display(target),
            recursive=recursive,
            force=force,
            reversible=reversible,
            environment=_environment(call),
            rule_id=rule_id,
            span=(call.start, call.end),
            directory=None if directory is None else display(directory),
            command=words[call],
            via=call.via,
        )
        for kind, target, recursive, force, reversible, rule_id, directory, call in engine.effects
    )
    return tuple(dict.fromkeys(found))


def _verdicts(engine: Engine, words: _Words) -> tuple[RuleVerdict, ...]:
    from haltline.shell.classification import sentence  # noqa: PLC0415  loaded only where it is needed

    found = (
        RuleVerdict(
            decision="deny" if verdict[0] == "deny" else "ask",
            rule_id=verdict[1].rule_id,
            reason=sentence(verdict),
            advice=verdict[1].advice,
            span=(verdict[2], verdict[3]),
            via=verdict[4],
            command=words[verdict[6]],
        )
        for verdict in engine.verdicts
    )
    return tuple(dict.fromkeys(found))
