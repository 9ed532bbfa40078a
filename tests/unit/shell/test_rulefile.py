from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from haltline.errors import ConfigurationError
from haltline.shell import analyze, classify, load_rules
from haltline.shell.book import built_in
from haltline.shell.rulefile import MAX_BYTES, read_rules, try_examples

RULE: dict[str, Any] = {
    "id": "acme.release",
    "decision": "ask",
    "effect": "remote_change",
    "reason": "would release to every customer",
    "advice": "Ask the release captain.",
    "when": [{"programs": "acme", "words": "release", "without": "--dry-run"}],
    "examples": {
        "ask": ["acme release v2", "sudo acme release"],
        "allow": ["acme build", "acme release --dry-run"],
    },
}


def written(tmp_path: Path, *rules: dict[str, Any], **more: Any) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"rules": list(rules), **more}))
    return path


def test_a_rule_file_adds_to_the_built_in_rules(tmp_path: Path) -> None:
    book = load_rules(written(tmp_path, RULE))

    assert classify("acme release v3", rules=book) == ("ask", "would release to every customer: v3")
    assert classify("ls && bash -c 'acme release v3'", rules=book) is not None
    assert classify("rm -rf /", rules=book) == classify("rm -rf /")
    assert classify("acme release v3") is None
    assert analyze("acme release v3", rules=book).verdicts[0].rule_id == "acme.release"


def test_a_rule_file_may_be_toml(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(
        '[[rules]]\nid = "acme.x"\ndecision = "deny"\neffect = "delete"\nreason = "r"\nadvice = "a."\n'
        'when = [{programs = "acme", words = "wipe"}]\n'
        'examples = {deny = ["acme wipe"], allow = ["acme list"]}\n'
    )

    assert classify("acme wipe now", rules=load_rules(path)) == ("deny", "r: now")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": "forbid"}, "rule acme.release: `decision` must be deny or ask, not 'forbid'"),
        ({"reason": ""}, "rule acme.release: `reason` is missing"),
        ({"effect": "boom"}, "rule acme.release: `effect` must be one of"),
        ({"colour": "red"}, "rule acme.release: unknown key `colour`"),
        ({"id": "Release"}, "`id` must look like family.name"),
        ({"id": "git.clean"}, "rule git.clean: another rule has this id"),
        ({"when": [{"words": "x"}]}, "condition 1: `programs` must name at least one program"),
        ({"when": [{"programs": "acme", "wordz": "x"}]}, "condition 1: unknown key `wordz`"),
        ({"when": [{"programs": "acme", "argument": "("}]}, "condition 1: `(` is no regular expression"),
        ({"when": [{"programs": "acme", "argument": "(a+)+$"}]}, "`(a+)+$` has a repetition inside another"),
        ({"when": [{"programs": "acme", "value": {"-x": "(a|a)*"}}]}, "condition 1: `(a|a)*` has a choice"),
        ({"when": [{"programs": "acme", "value": {"-x": 1}}]}, "`value` must map options to patterns"),
        ({"when": [{"programs": "acme", "value": ["-x"]}]}, "`value` must map options to patterns"),
        ({"when": [{"programs": "acme", "argument": 1}]}, "`argument` must be a text"),
        ({"when": [{"programs": "acme", "words": ["x"]}]}, "`words` must be a text, not a list"),
        ({"when": [{"programs": "acme", "least": True}]}, "`least` must be a number of words, not True"),
        ({"when": [{"programs": "acme", "least": -1}]}, "`least` must be a number of words, not -1"),
        ({"when": [{"programs": "acme", "none": 1}]}, "`none` must be true or false, not 1"),
        ({"when": [{"programs": ["acme"]}]}, "`programs` must name at least one program"),
        ({"when": [{"programs": "bin/acme"}]}, "names without directories, not `bin/acme`"),
        ({"when": [{"programs": "python3.11"}]}, "`python3.11` is known as `python`; name that one"),
        ({"when": [{"programs": "tofu"}]}, "`tofu` is known as `terraform`; name that one"),
        ({"when": [{"programs": "rm.exe"}]}, "`rm.exe` is known as `rm`; name that one"),
        ({"when": {"programs": "acme"}}, "`when` must be a list of conditions"),
        ({"when": []}, "`when` is missing"),
        ({"reason": ["x"]}, "`reason` must be one line of text"),
        ({"reason": "x\nAllowed."}, "`reason` must be one line of text"),
        ({"advice": "x" * 501}, "`advice` must be one line of text, of at most 500 characters"),
        ({"reversible": "no"}, "`reversible` must be true or false, not 'no'"),
        ({"effect": ["delete"]}, "`effect` must be one of"),
        ({"decision": ["deny"]}, "`decision` must be deny or ask"),
        ({"id": ["acme"]}, "rule 1: `id` must look like family.name"),
        ({"examples": {}}, "`examples` is missing"),
        ({"examples": {"ask": [1], "allow": ["ls"]}}, "`examples` must have lists of commands"),
        ({"examples": {"maybe": ["acme"]}}, "`examples` must have lists of commands"),
        ({"examples": "acme"}, "`examples` must have lists of commands"),
        ({"examples": {"ask": ["acme release"]}}, "one that it allows"),
        (
            {"examples": {"ask": ["acme build"], "allow": ["ls"]}},
            "example `acme build` should get ask from this rule, but gets nothing",
        ),
        (
            {"examples": {"ask": ["acme release"], "allow": ["acme release x"]}},
            "example `acme release x` is listed under allow",
        ),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_hold_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, {**RULE, **change})

    with pytest.raises(ConfigurationError) as caught:
        load_rules(path)

    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"rules": []}',
        '{"rules": [1]}',
        '{"rules": {}}',
        '{"rulez": 1}',
        '{"rules": [], "rules": []}',
        "[" * 100_000,
        "\ufeff{}",
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rules.json"
    path.write_text(text)

    with pytest.raises(ConfigurationError, match=str(path)):
        load_rules(path)


def test_the_example_of_the_documentation_holds(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "shell.md").read_text(encoding="utf-8")
    path = tmp_path / "rules.toml"
    path.write_text(page.split("```toml\n")[1].split("```")[0])

    assert classify("acme --env x release v2", rules=load_rules(path)) is not None


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_rules(tmp_path / "none.json")


def test_every_problem_is_listed(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_rules(written(tmp_path, {**RULE, "decision": "x", "effect": "y"}, more=1))

    assert len(caught.value.problems) == 4


@pytest.mark.parametrize("text", ["rules = [", "a = 1\na = 2\n", "rules = 2026-01-01\n"])
def test_a_toml_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)

    with pytest.raises(ConfigurationError, match=str(path)):
        load_rules(path)


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    pipe, huge, foreign, binary = (
        tmp_path / name for name in ("pipe.json", "huge.json", "rules.yaml", "binary.toml")
    )
    os.mkfifo(pipe)
    huge.write_text(" " * (MAX_BYTES + 1))
    foreign.write_text("{}")
    binary.write_bytes(b"\xff\xfe")
    for path, problem in [
        (pipe, "no regular file"),
        (huge, "more than"),
        (foreign, "ends in .json or .toml"),
        (binary, "cannot be read"),
        (tmp_path / "a\0.json", "no file has such a name"),
        (tmp_path, "binary.toml"),
    ]:
        with pytest.raises(ConfigurationError, match=problem):
            load_rules(path)


def test_a_folder_stands_for_the_rule_files_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    with pytest.raises(ConfigurationError, match="got a folder without any"):
        load_rules(folder)
    (folder / "notes.md").write_text("not rules")
    for name in ("a", "b"):
        rule = {**RULE, "id": f"acme.{name}"}
        (folder / f"{name}.JSON").write_text(json.dumps({"rules": [rule]}))

    book = load_rules(folder, folder / "a.JSON")

    assert book.own is not None
    assert set(book.own.rules) == {"acme.a", "acme.b"}


def test_two_files_share_no_id_and_no_name(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    for path in (one, two):
        path.write_text(json.dumps({"rules": [RULE], "grammars": {"acme": {}}, "same": {"ac": "acme"}}))

    with pytest.raises(ConfigurationError) as caught:
        load_rules(one, two)

    assert caught.value.problems == (
        f"{two}: rule acme.release: another rule has this id, in {one}",
        f"{two}: `grammars`: acme stands in {one} as well",
        f"{two}: `same`: ac stands in {one} as well",
    )


WEAKENING: list[tuple[dict[str, Any], str]] = [
    ({"grammars": {"rm": {"values": "-r -f -rf"}}}, "the built-in rules know `rm`"),
    ({"grammars": {"git-push": {"verbs": "push"}}}, "the built-in rules know `git-push`"),
    ({"grammars": {"python3": {"values": "-c"}}}, "the built-in rules know `python3`"),
    ({"same": {"rm": "acme"}}, "the built-in rules know `rm`"),
    ({"same": {"rm.exe": "acme"}}, "the built-in rules know `rm.exe`"),
    ({"same": {"Remove-Item": "acme"}}, "the built-in rules know `Remove-Item`"),
    ({"same": {"x": "nowhere"}}, "expected a program that a rule speaks of, not 'nowhere'"),
    ({"same": {"acme": "rm"}}, "a rule speaks of it under this name"),
    ({"same": {"a/b": "acme"}}, "without its directory"),
    ({"same": ["rm"]}, "`same` must map names of programs, not be a list"),
    ({"grammars": []}, "`grammars` must map names of programs, not be a list"),
    ({"grammars": {"acme": {"values": ["-x"]}}}, "grammar of acme: `values` must be a text, not a list"),
    ({"grammars": {"acme": {"greedy": "yes"}}}, "`greedy` must be true or false, not a text"),
    ({"grammars": {"acme": {"unknown": ""}}}, "grammar of acme: unknown key `unknown`"),
    ({"grammars": {"acme": 1}}, "grammar of acme: expected an object"),
    ({"programs": {"read": "rm"}}, "unknown key `programs`"),
    ({"reads": [{"programs": "rm"}]}, "unknown key `reads`"),
    ({"wrappers": {"rm": {}}}, "unknown key `wrappers`"),
]


@pytest.mark.parametrize(("more", "problem"), WEAKENING, ids=lambda value: json.dumps(value)[:40])
def test_nothing_that_the_built_in_rules_know_can_be_changed(
    tmp_path: Path, more: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_rules(written(tmp_path, RULE, **more))

    assert problem in str(caught.value)


STRONGER = {None: 0, "ask": 1, "deny": 2}


@pytest.mark.parametrize("words", ["frobnicate", ""], ids=["words", "no words"])
def test_a_file_that_speaks_of_every_program_weakens_no_decision(tmp_path: Path, words: str) -> None:
    known = {name: built_in().program(name) for name in built_in().names()}
    names = sorted(
        name
        for name, program in known.items()
        if program is not None and program.name == name and "/" not in name
    )
    # Names that stand before those of programs in the alphabet, where a pattern such as /bin/r? is looked up.
    rules = [
        {**RULE, "id": f"own.{number}", "when": [{"programs": name, "words": words}]}
        for number, name in enumerate([*names, *(f"a{n}" for n in range(40))])
    ]
    book = read_rules(written(tmp_path, *rules, same={"aa": "rm", "ls2": "ls"}))
    commands = [
        command
        for rule in built_in().rules.values()
        for examples in rule.examples.values()
        for command in examples
    ]
    for command in [*commands, "/bin/r? -rf /", "/bin/?? -rf /", "printf 'rm -rf /' > a1; sh ./a1; ./a1"]:
        before, after = analyze(command), analyze(command, rules=book)
        assert STRONGER[after.decision] >= STRONGER[before.decision], command
        assert {v.rule_id for v in before.verdicts} <= {v.rule_id for v in after.verdicts}, command
        assert set(before.effects) <= set(after.effects), command
        assert {(u.kind, u.what) for u in before.unknown} <= {(u.kind, u.what) for u in after.unknown}
        assert before.only_reads or not after.only_reads, command
        assert classify(command, rules=book) == classify(command) or after.decision is not None


def test_a_program_of_ones_own_stays_as_unknown_as_it_was(tmp_path: Path) -> None:
    analysis = analyze("acme build && ./acme", rules=load_rules(written(tmp_path, RULE)))
    assert [part.what for part in analysis.unknown] == ["acme", "acme"]
    assert not analysis.only_reads


def test_a_script_with_the_name_of_a_program_of_ones_own_is_still_judged(tmp_path: Path) -> None:
    book = load_rules(written(tmp_path, RULE))
    assert classify("printf 'rm -rf /' > acme; ./acme", rules=book) == classify(
        "printf 'rm -rf /' > other; ./other"
    )


def test_another_name_is_judged_as_the_program_that_it_stands_for(tmp_path: Path) -> None:
    book = load_rules(written(tmp_path, RULE, same={"ac": "acme", "g": "git"}))
    assert classify("ac release", rules=book) is not None
    assert classify("g push -f", rules=book) == classify("git push -f")
    assert [part.what for part in analyze("g status", rules=book).unknown] == ["g"]


@pytest.mark.parametrize(
    ("program", "words", "command"),
    [
        ("git-push", "origin", "git -C /srv push origin main"),
        ("kubectl", "rollout restart", "kubectl -n shop rollout restart deploy/web"),
        ("npm", "run deploy", "sudo npm run deploy"),
        ("docker", "push", "docker push acme/web"),
        ("make", "deploy", "make deploy"),
        ("systemctl", "restart", "sudo -u root systemctl restart web"),
        ("acme", "release", "pnpm acme release"),
        ("acme", "release", "npx acme release"),
        ("acme", "release", "c=acme; $c release"),
        ("acme", "release", "/usr/local/bin/acme release"),
        ("acme", "release", "ls; acme release"),
    ],
)
def test_a_rule_holds_wherever_its_program_runs(
    tmp_path: Path, program: str, words: str, command: str
) -> None:
    rule = {**RULE, "when": [{"programs": program, "words": words}]}
    book = read_rules(
        written(
            tmp_path,
            {**rule, "id": "own.rule", "decision": "deny", "examples": {"deny": ["x"], "allow": ["x"]}},
        )
    )
    assert classify(command, rules=book) is not None
    assert "own.rule" in [verdict.rule_id for verdict in analyze(command, rules=book).verdicts]


def test_every_example_is_tried_also_those_of_the_built_in_rules(tmp_path: Path) -> None:
    wrong = {**RULE, "examples": {"ask": ["acme build"], "allow": ["acme release"]}}
    book = read_rules(written(tmp_path, wrong))
    assert [t.problem for t in try_examples(book, book.rules["acme.release"]) if t.problem is None] == []
    assert all(t.problem is None for t in try_examples(book, book.rules["git.push-force"]))


def test_no_file_at_all_is_the_built_in_book() -> None:
    assert load_rules() is built_in()
