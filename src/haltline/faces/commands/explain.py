"""`haltline explain`: what a command would do, for a person who has to understand it at a glance."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from haltline.errors import InvalidInput
from haltline.faces.cli.excerpt import print_marked
from haltline.faces.cli.failing import ASK, EXIT_CODES, HALT, OK
from haltline.faces.cli.masking import Masked
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output
from haltline.faces.cli.request import read_stdin
from haltline.faces.cli.settings_file import rules_of
from haltline.shell import analyze
from haltline.shell.analysis import MAX_SCRIPT

if TYPE_CHECKING:
    from haltline.shell import Analysis, Command, RuleVerdict

_HELP = f"""\
Show what a command would do, and what the rules say of it. Nothing is run, and no database is opened.

The command is one argument, quoted; `-` reads it from standard input. The rules of the settings file are
asked as well.

\b
Examples:
  haltline explain 'sudo env sh -c "rm -rf /"'
  haltline explain --read-files --cwd /srv/shop 'bash deploy.sh'
  haltline explain - < deploy.sh
  haltline explain --rules our-rules.toml --exit-code 'acme release v2'

\b
With --exit-code: 0 when no rule objects, 3 ask (also: not clear what it does), 2 deny.
{EXIT_CODES}"""

_MAX_FILES = 64
"""How many scripts are read for one command."""

_NOT_READ = ("/dev", "/proc", "/sys")
_CODE_OPTION = re.compile(r"-[a-zA-Z]*c\Z")


@click.command("explain", help=_HELP)
@click.argument("text", metavar="COMMAND")
@click.option("--cwd", metavar="DIR", help="Where it would run; nothing is assumed without.")
@click.option("--home", metavar="DIR", help="The home directory of whoever would run it; likewise.")
@click.option("--read-files", is_flag=True, help="Read the scripts that it runs, up to 64 KiB each.")
@click.option("--rules", "paths", multiple=True, metavar="FILE", help="Rules of your own. Repeatable.")
@click.option("--exit-code", is_flag=True, help="Exit with 2 for deny and 3 for ask.")
@common
@click.pass_obj
def command(options: Options, /, text: str, paths: tuple[str, ...], exit_code: bool, **given: Any) -> int:
    """Analyse a command and show what was found."""
    book = rules_of(options, paths)
    original = _text() if text == "-" else text
    cwd, home = given["cwd"], given["home"]
    read_file = _reader(cwd or os.getcwd(), home) if given["read_files"] else None  # noqa: PTH109 - as it is, for joining
    analysis = analyze(original, cwd=cwd, home=home, read_file=read_file, rules=book)
    masked = Masked(original)
    found = _found(analysis, masked)
    output = Output(options)
    if output.is_json:
        output.json({"text": masked.text, **found})
    else:
        _print(output, masked.text, found)
    return _EXITS.get(found["summary"], OK) if exit_code else OK


_EXITS = {"deny": HALT, "ask": ASK, "unknown": ASK}


def _text() -> str:
    try:
        return read_stdin(expected="a command").decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input: expected UTF-8, byte {error.start} is not") from None


def _reader(cwd: str, home: str | None) -> Callable[[str], str | None]:
    """Return what reads scripts: regular files, not too large and not too many."""
    left = _MAX_FILES

    def read(path: str) -> str | None:
        nonlocal left
        if path.startswith("~/") and home is not None:
            path = home + path[1:]
        whole = Path(cwd, Path(path).expanduser()).resolve()
        if left <= 0 or str(whole).startswith(_NOT_READ) or not stat.S_ISREG(whole.stat().st_mode):
            return None
        left -= 1
        with whole.open("rb") as file:
            raw = file.read(MAX_SCRIPT + 1)
        return None if len(raw) > MAX_SCRIPT else raw.decode("utf-8", "replace")

    return read


def _found(analysis: Analysis, masked: Masked) -> dict[str, Any]:
    """Return everything that was found as JSON values that may be printed."""
    verdicts = sorted(analysis.verdicts, key=lambda verdict: verdict.decision != "deny")
    found: dict[str, Any] = masked.values(
        {
            "decision": analysis.decision,
            "summary": _summary(analysis),
            "verdicts": [
                {
                    "decision": verdict.decision,
                    "rule_id": verdict.rule_id,
                    "reason": verdict.reason,
                    "advice": verdict.advice,
                    "way": _way(analysis, verdict),
                    "span": masked.span(verdict.span),
                }
                for verdict in verdicts
            ],
            "commands": [
                {
                    "argv": item.argv,
                    "via": item.via,
                    "wrapper": _is_wrapper(analysis, item),
                    "resolved": item.resolved,
                    "span": masked.span(item.span),
                }
                for item in analysis.commands
            ],
            "effects": [
                {
                    "kind": str(effect.kind),
                    "target": effect.path,
                    "recursive": effect.recursive,
                    "force": effect.force,
                    "reversible": effect.reversible,
                    "environment": effect.environment,
                    "rule_id": effect.rule_id,
                    "span": masked.span(effect.span),
                }
                for effect in analysis.effects
            ],
            "unknown": [
                {"kind": item.kind, "what": item.what, "span": masked.span(item.span)}
                for item in analysis.unknown
            ],
            "only_reads": analysis.only_reads,
            "complete": analysis.complete,
        }
    )
    return found


def _summary(analysis: Analysis) -> str:
    if analysis.decision is not None:
        return analysis.decision
    if analysis.unknown:
        return "unknown"
    return "reads" if analysis.only_reads else "nothing"


def _way(analysis: Analysis, verdict: RuleVerdict) -> list[str]:
    """Return the wrappers from the outermost to the program that a rule holds for."""
    inside = [item for item in analysis.commands if item.span == verdict.span]
    steps = [
        next((_step(item) for item in inside if item.via == verdict.via[:at] and _base(item) == name), name)
        for at, name in enumerate(verdict.via)
    ]
    last = [item for item in inside if item.via == verdict.via and item.argv]
    return [*steps, *(_base(item) for item in last[-1:])]


def _step(item: Command) -> str:
    """Return how a wrapper is shown: with `-c`, where that is what makes it run a text."""
    runs_text = len(item.argv) > 1 and _CODE_OPTION.match(item.argv[1])
    return f"{_base(item)} -c" if runs_text else _base(item)


def _base(item: Command) -> str:
    return item.argv[0].rpartition("/")[2] if item.argv else ""


def _is_wrapper(analysis: Analysis, item: Command) -> bool:
    """Whether a command is only a way to another one, which is listed as well."""
    inner = (*item.via, _base(item))
    return any(c.span == item.span and c.via[: len(inner)] == inner for c in analysis.commands)


_HEADLINES = {
    "unknown": ("UNKNOWN", "No rule objects, but it is not clear what it does."),
    "reads": ("READS", "It provably only reads."),
    "nothing": ("NO OBJECTION", "No rule objects."),
}
_STYLES = {"reads": "proceed", "nothing": "proceed"}


def _print(output: Output, text: str, found: Mapping[str, Any]) -> None:
    verdicts = found["verdicts"]
    summary = found["summary"]
    word, sentence = (summary.upper(), _told(verdicts[0]["reason"])) if verdicts else _HEADLINES[summary]
    output.headline(word, sentence, _STYLES.get(summary, summary))
    if verdicts:
        output.line(f"Instead: {verdicts[0]['advice']}")
    output.line()
    print_marked(output, text, [(tuple(v["span"]), v["decision"]) for v in verdicts])
    output.line()
    if verdicts:
        _verdicts(output, text, verdicts)
    _commands(output, found["commands"])
    _effects(output, found["effects"])
    if found["unknown"]:
        output.line("What is not known", "heading")
        unknown = dict.fromkeys((item["kind"], item["what"]) for item in found["unknown"])
        output.table((), [("", *item) for item in unknown])
    if not found["complete"]:
        output.line("It was not read to its end.", "weak")
    output.line(f"Only reads: {'yes' if found['only_reads'] else 'not proved'}.")


def _verdicts(output: Output, text: str, verdicts: list[Mapping[str, Any]]) -> None:
    first, *others = verdicts
    output.fields([("rule", first["rule_id"]), *_place(text, first)])
    output.line()
    if not others:
        return
    output.line("Rules that hold as well", "heading")
    rows = dict.fromkeys(
        (other["decision"], other["rule_id"], *_placed(text, other), _sentence(other)) for other in others
    )
    output.table((), [row[:-1] for row in rows], styled=0, details=[row[-1:] for row in rows])
    output.line()


def _placed(text: str, verdict: Mapping[str, Any]) -> tuple[str, str]:
    place = dict(_place(text, verdict))
    return (f"line {place['line']}" if "line" in place else "-", place.get("way", "-"))


def _told(reason: str) -> str:
    """Return a rule's reason as the beginning of a sentence: most say what the command would do."""
    return reason[0].upper() + reason[1:] if reason.startswith(("the ", "command ")) else f"It {reason}"


def _sentence(verdict: Mapping[str, Any]) -> str:
    return f"{_told(verdict['reason'])}. Instead: {verdict['advice']}"


def _place(text: str, verdict: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the way to the command that a rule holds for, and its line when there are several."""
    place = [("way", " > ".join(verdict["way"]))] if verdict["way"] else []
    if "\n" in text:
        place.append(("line", str(text.count("\n", 0, verdict["span"][0]) + 1)))
    return place


def _commands(output: Output, commands: list[Mapping[str, Any]]) -> None:
    rows = dict.fromkeys(
        (" > ".join(item["via"]) or "-", _words(item["argv"])) for item in commands if not item["wrapper"]
    )
    if rows:
        output.line("What would run", "heading")
        output.table(("THROUGH", "COMMAND"), list(rows))
        output.line()


def _words(argv: list[str]) -> str:
    return " ".join(word if "…" in word and " " not in word else _quoted(word) for word in argv)


def _quoted(word: str) -> str:
    return word if word.startswith(("~", "«secret:")) and " " not in word else shlex.quote(word)


def _effects(output: Output, effects: list[Mapping[str, Any]]) -> None:
    how: dict[tuple[str, str, str], set[str]] = {}
    for effect in effects:
        what = (effect["kind"], effect["target"] or "-", effect["environment"] or "-")
        how.setdefault(what, set()).update(name for name, holds in _how(effect) if holds)
    if how:
        output.line("What it would do", "heading")
        rows = [
            (kind, ", ".join(sorted(words)) or "-", environment, target)
            for (kind, target, environment), words in how.items()
        ]
        output.table(("EFFECT", "HOW", "ENVIRONMENT", "TARGET"), rows)
        output.line()


def _how(effect: Mapping[str, Any]) -> list[tuple[str, bool]]:
    return [
        ("recursive", effect["recursive"]),
        ("force", effect["force"]),
        ("not reversible", not effect["reversible"]),
    ]
