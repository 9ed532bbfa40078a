"""`haltline rules`: which shell rules there are, and whether each decides its own examples as it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from haltline.errors import ConfigurationError, NotFound
from haltline.faces.cli.default_group import ListingGroup
from haltline.faces.cli.failing import EXIT_CODES, FAILED, OK
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output
from haltline.faces.cli.settings_file import rule_paths, rules_of
from haltline.secrets import redact
from haltline.shell.rulefile import Tried, read_rules, try_examples

if TYPE_CHECKING:
    from haltline.shell.book import Book
    from haltline.shell.rule import Rule

_HELP = f"""\
List the shell rules, show one, and try them against their own examples.

The rules are the built-in ones, those of the files that the settings name (shell_rules), and those of the
files that the command names. A folder stands for the rule files in it.

\b
Examples:
  haltline rules list --family git
  haltline rules show git.push-force
  haltline rules test our-rules.toml

{EXIT_CODES}"""

_BUILT_IN = "built-in"

_rules_option = click.option(
    "--rules", "paths", multiple=True, metavar="FILE", help="Rules of your own. Repeatable."
)


@click.group("rules", cls=ListingGroup, help=_HELP)
def command() -> None:
    """List and try the shell rules."""


@command.command("list")
@click.option("--family", metavar="NAME", help="Only those whose id begins with it.")
@_rules_option
@common
@click.pass_obj
def list_command(options: Options, family: str | None, paths: tuple[str, ...]) -> None:
    """List the rules: what each decides, the effect that it speaks of, and why."""
    book = rules_of(options, paths)
    families = sorted({_family(rule) for rule in book.rules.values()})
    if family is not None and family not in families:
        raise NotFound(f"there is no family {family}; known are {', '.join(families)}")
    rules = [rule for rule in book.rules.values() if family in (None, _family(rule))]
    output = Output(options)
    if output.is_json:
        output.json([_as_json(book, rule) for rule in rules])
        return
    rows = [(rule.rule_id, rule.decision, rule.effect, _family(rule), rule.reason) for rule in rules]
    output.table(("RULE", "DECISION", "EFFECT", "FAMILY", "REASON"), rows, styled=1)
    output.next("haltline rules show RULE")


@command.command("show")
@click.argument("rule_id", metavar="RULE")
@_rules_option
@common
@click.pass_obj
def show_command(options: Options, rule_id: str, paths: tuple[str, ...]) -> None:
    """Show one rule whole, with its conditions and examples."""
    book = rules_of(options, paths)
    rule = book.rules.get(rule_id)
    if rule is None:
        raise NotFound(f"there is no rule {rule_id}; list them with `haltline rules list`")
    output = Output(options)
    if output.is_json:
        output.json(
            {**_as_json(book, rule), "when": list(rule.when), "examples": redact(dict(rule.examples))}
        )
        return
    output.line(rule.rule_id, "heading")
    output.fields(
        [
            ("decision", rule.decision),
            ("effect", f"{rule.effect}{'' if rule.reversible else ', not reversible'}"),
            ("reason", rule.reason),
            ("instead", rule.advice),
            ("from", _source(book, rule)),
        ]
    )
    output.line("Holds when", "heading")
    for condition in rule.when:
        output.line(f"  {json.dumps(condition, ensure_ascii=False)}")
    if not rule.when:
        output.line("  a detector finds it: its words alone do not tell")
    for expected, commands in rule.examples.items():
        output.line(f"Examples: {expected}", expected)
        for example in commands:
            output.block(redact(example))


@command.command("test")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@common
@click.pass_obj
def test_command(options: Options, files: tuple[str, ...]) -> int:
    """Try every rule against its own examples; exit with 1 when one does not hold."""
    output = Output(options)
    paths = rule_paths(options, files)
    try:
        book = read_rules(*paths)
    except ConfigurationError as error:
        return _malformed(output, error.problems)
    tried: dict[str, list[Tried]] = {}
    for rule in book.rules.values():
        tried.setdefault(_place(book, rule), []).extend(try_examples(book, rule))
    failed = [(place, item) for place, items in tried.items() for item in items if item.problem]
    if output.is_json:
        problems = [f"{place}: rule {item.rule_id}: {item.problem}" for place, item in failed]
        output.json({"holds": not failed, "tried": sum(map(len, tried.values())), "problems": problems})
        return FAILED if failed else OK
    rows = [
        ("weak" if any(item.problem for item in items) else "ok", *_counted(items), place)
        for place, items in tried.items()
    ]
    output.table(("", "RULES", "EXAMPLES", "FAILED", "FROM"), rows, styled=0)
    output.line()
    for place, item in failed:
        output.line(f"{place}: rule {item.rule_id}: {item.problem}", "weak")
    if not failed:
        output.line(f"All {sum(map(len, tried.values()))} examples get the decision that they show.", "ok")
    return FAILED if failed else OK


def _counted(items: list[Tried]) -> tuple[str, str, str]:
    rules = len({item.rule_id for item in items})
    return str(rules), str(len(items)), str(sum(item.problem is not None for item in items))


def _malformed(output: Output, problems: tuple[str, ...]) -> int:
    if output.is_json:
        output.json({"holds": False, "tried": 0, "problems": list(problems)})
        return FAILED
    for problem in problems:
        output.line(problem, "weak")
    output.line("No example was tried.")
    return FAILED


def _family(rule: Rule) -> str:
    return rule.rule_id.partition(".")[0]


def _source(book: Book, rule: Rule) -> str:
    return _BUILT_IN if book.own is None else book.own.sources.get(rule.rule_id, _BUILT_IN)


def _place(book: Book, rule: Rule) -> str:
    """Return where a rule comes from: its file, or the family of built-in rules."""
    source = _source(book, rule)
    return f"{_family(rule)} ({_BUILT_IN})" if source == _BUILT_IN else source


def _as_json(book: Book, rule: Rule) -> dict[str, Any]:
    return {
        "rule_id": rule.rule_id,
        "decision": rule.decision,
        "effect": rule.effect,
        "family": _family(rule),
        "reversible": rule.reversible,
        "reason": rule.reason,
        "advice": rule.advice,
        "source": _source(book, rule),
    }
