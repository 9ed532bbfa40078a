"""Facts: how paths are compared, what an action's digest binds, which files a command modifies."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.conditions.judging import changes, facts, judge

import haltline.shell
from haltline.conditions.catalogue import CATALOGUE
from haltline.conditions.facts import Action, Facts, ProposedChanges, normalise_path

TEMPORARY = "/tmp"  # noqa: S108 - a name in commands that nobody runs


@pytest.mark.parametrize(
    ("path", "workspace", "normal"),
    [
        ("src/auth.js", None, "src/auth.js"),
        ("./src//auth.js", None, "src/auth.js"),
        ("src/./auth.js/", None, "src/auth.js"),
        ("src/old/../auth.js", None, "src/auth.js"),
        ("src\\auth.js", None, "src/auth.js"),
        ("../auth.js", None, "../auth.js"),
        ("src/auth.js", "/project", "/project/src/auth.js"),
        ("/project/src/auth.js", "/project", "/project/src/auth.js"),
        ("/project/../project/src/auth.js", "/project", "/project/src/auth.js"),
        ("../other/auth.js", "/project", "/other/auth.js"),
        ("../../../../etc/passwd", "/project", "/etc/passwd"),
        ("//etc/passwd", "/project", "/etc/passwd"),
        ("///etc/passwd", None, "/etc/passwd"),
        (".", "/project", "/project"),
        ("SRC/Auth.js", "/project", "/project/SRC/Auth.js"),
    ],
)
def test_one_file_has_one_spelling(path: str, workspace: str | None, normal: str) -> None:
    assert normalise_path(path, workspace) == normal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/auth.js", "src/Auth.js"),
        ("src/auth.js", "src/auth.jsx"),
        ("src/auth.js", "lib/src/auth.js"),
        ("src/auth.js", "../src/auth.js"),
        ("a/b", "a\u2215b"),
        ("auth.js", "auth.js "),
    ],
)
@pytest.mark.parametrize("workspace", [None, "/project"])
def test_two_files_have_two_spellings(one: str, other: str, workspace: str | None) -> None:
    assert normalise_path(one, workspace) != normalise_path(other, workspace)


@given(
    st.text(alphabet="ab./\\ é", min_size=1, max_size=20), st.sampled_from([None, "/", "/project", "/a/b"])
)
def test_a_normal_path_is_normal_already(path: str, workspace: str | None) -> None:
    normal = normalise_path(path, workspace)
    assert normalise_path(normal, workspace) == normal
    assert workspace is None or normal.startswith("/")
    assert "//" not in normal


def test_an_action_names_each_path_once_in_order() -> None:
    action = Action("edit", target_files=("b", "a", "b"), changes=changes("a", "c"))
    assert action.paths == ("b", "a", "c")


ACTION: dict[str, Any] = {
    "operation": "deploy",
    "target_files": ("a.py",),
    "commands": ("make deploy",),
    "environment": "staging",
    "changes": changes("a.py", contents={"a.py": "x = 1"}),
    "tool_arguments": {"n": 1},
}

OTHER: dict[str, Any] = {
    "another operation": {"operation": "deploy now"},
    "another file": {"target_files": ("c.py",)},
    "files in another order": {"target_files": ("b.py", "a.py")},
    "a file to modify": {"changes": changes("a.py", "b.py", contents={"a.py": "x = 1"})},
    "another command": {"commands": ("make  deploy",)},
    "commands in another order": {"commands": ("make deploy", "make")},
    "one more command": {"commands": ("make", "make deploy")},
    "another environment": {"environment": "production"},
    "no environment": {"environment": None},
    "other content": {"changes": changes("a.py", contents={"a.py": "x = 2"})},
    "content of another file": {"changes": changes("a.py", contents={"b.py": "x = 1"})},
    "no content": {"changes": changes("a.py")},
    "other arguments": {"tool_arguments": {"n": 2}},
    "an argument of another type": {"tool_arguments": {"n": "1"}},
    "no arguments": {"tool_arguments": None},
    "empty arguments": {"tool_arguments": {}},
}


def test_different_actions_have_different_digests() -> None:
    digests = {name: Action(**{**ACTION, **other}).digest for name, other in OTHER.items()}
    digests["the action itself"] = Action(**ACTION).digest
    assert len(set(digests.values())) == len(digests)


@pytest.mark.parametrize(
    "same",
    [
        {"target_files": ("a.py", "a.py")},
        {"target_files": ()},
        {"changes": changes(contents={"a.py": "x = 1"}), "target_files": ("a.py",)},
        {"changes": changes("a.py", contents={"a.py": "x = 1"}, has_tests=False, has_rollback_plan=False)},
    ],
)
def test_what_is_said_around_an_action_does_not_change_its_digest(same: dict[str, Any]) -> None:
    assert Action(**{**ACTION, **same}).digest == Action(**ACTION).digest


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    one = Action("x", tool_arguments={"a": 1, "b": {"c": 2, "d": 3}})
    other = Action("x", tool_arguments={"b": {"d": 3, "c": 2}, "a": 1})
    assert one.digest == other.digest


def test_the_digest_is_the_same_in_every_process() -> None:
    expected = "bbb1ab899fa635d74e0d"
    assert Action("deploy", commands=("make deploy",)).digest[: len(expected)] == expected


def test_an_action_is_shown_whole_and_its_contents_by_digest() -> None:
    summary = Action(**ACTION).summary
    assert {name: value for name, value in summary.items() if name != "contents"} == {
        "operation": "deploy",
        "file_paths": ["a.py"],
        "commands": ["make deploy"],
        "environment": "staging",
        "tool_arguments": {"n": 1},
    }
    assert list(summary["contents"]) == ["a.py"]
    assert len(summary["contents"]["a.py"]) == 64


def test_an_action_shows_a_copy_of_its_arguments() -> None:
    arguments = {"list": [1]}
    action = Action("x", tool_arguments=arguments)
    before = action.digest
    arguments["list"].append(2)
    assert action.summary["tool_arguments"] == {"list": [1]}
    assert action.digest == before


@pytest.mark.parametrize(
    ("declared", "recorded", "attempts"),
    [(None, 0, 0), (3, 0, 3), (None, 2, 2), (1, 5, 5), (5, 1, 5), (0, 2, 2)],
)
def test_the_greater_count_of_attempts_counts(declared: int | None, recorded: int, attempts: int) -> None:
    assert facts(declared_attempts=declared, recorded_attempts=recorded).attempts == attempts


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("sed -i s/a/b/ src/auth.js", ("src/auth.js",)),
        ("echo x > src/auth.js", ("src/auth.js",)),
        ("echo x >> src/auth.js", ("src/auth.js",)),
        ("cat a | tee src/auth.js", ("src/auth.js",)),
        ("cp a src/auth.js", ("src/auth.js",)),
        ("mv a src/auth.js", ("a", "src/auth.js")),
        ("git checkout -- src/auth.js", ("src/auth.js",)),
        ("bash -c 'echo x > src/auth.js'", ("src/auth.js",)),
        ("cd src && echo x > auth.js", ("src/auth.js",)),
        ("cd src/old && cd .. && sed -i s/a/b/ auth.js", ("src/old/../auth.js",)),
        ("(cd src; echo x > a.js); echo x > b.js", ("src/a.js", "b.js")),
        ("cd /etc && echo x > hosts", ("/etc/hosts",)),
        ("cd src && echo x > /etc/hosts", ("/etc/hosts",)),
        ("cd ~ && echo x > .bashrc", ("~/.bashrc",)),
        ('cd "$FOLDER" && echo x > auth.js', ()),
        ("cd /tmp && echo x > scratch", ()),
        ("echo x > /tmp/../etc/hosts", (f"{TEMPORARY}/../etc/hosts",)),
        ("echo x > /dev/null", ()),
        ("echo x > /tmp/scratch", ()),
        ("cat src/auth.js", ()),
        ("ls > /dev/null 2>&1", ()),
    ],
)
def test_files_that_a_command_writes_are_modified(command: str, written: tuple[str, ...]) -> None:
    assert facts(command).modified_files == written


def test_files_of_a_workspace_among_temporary_files_count() -> None:
    of = facts("echo x > /tmp/project/a.py; echo x > b.py; echo x > /tmp/c", workspace=f"{TEMPORARY}/project")
    assert of.modified_files == (f"{TEMPORARY}/project/a.py", "b.py")


def test_what_a_command_leaves_open_is_not_named() -> None:
    assert facts('echo x > "$TARGET"').modified_files == ()


def test_a_command_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[str] = []
    analyze = haltline.shell.analyze

    def noted(text: str, **given: Any) -> Any:
        analysed.append(text)
        return analyze(text, **given)

    monkeypatch.setattr(haltline.shell, "analyze", noted)
    of = facts("ls", "pwd")
    before = of.is_analysed
    assert [analysis.text for analysis in of.analyses] == ["ls", "pwd", "ls\npwd"]
    assert (before, of.is_analysed) == (False, True)
    known = of.knowing(absent_files=frozenset({"a"}), real_paths={})
    assert known.analyses is of.analyses
    for name in CATALOGUE:
        judge(name, known)
    assert analysed == ["ls", "pwd", "ls\npwd"]


def test_facts_without_commands_need_no_analysis() -> None:
    assert facts().is_analysed
    assert facts().analyses == ()


def test_an_analysis_that_hangs_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, released = threading.Event(), threading.Event()
    analyze = haltline.shell.analyze

    def sometimes_hanging(text: str, **given: Any) -> Any:
        if text == "hang":
            entered.set()
            released.wait(30)
        return analyze(text, **given)

    monkeypatch.setattr(haltline.shell, "analyze", sometimes_hanging)
    stuck = threading.Thread(target=lambda: facts("hang").analyses, daemon=True)
    other = threading.Thread(target=lambda: facts("ls").analyses, daemon=True)
    stuck.start()
    try:
        assert entered.wait(30)
        other.start()
        other.join(30)
        assert not other.is_alive()
    finally:
        released.set()
        stuck.join(30)


def test_what_was_looked_up_leaves_the_first_facts_as_they_were() -> None:
    first = Facts(Action("edit", target_files=("new.py",)))
    known = first.knowing(absent_files=frozenset({"new.py"}), real_paths={"a/../b": "/b"})
    assert (first.absent_files, first.real_paths) == (frozenset(), {})
    assert (known.absent_files, known.path_key("a/../b")) == (frozenset({"new.py"}), "/b")


def test_proposed_changes_have_tests_and_a_rollback_plan_unless_they_say_otherwise() -> None:
    assert (ProposedChanges().has_tests, ProposedChanges().has_rollback_plan) == (True, True)


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git -C elsewhere log",
        "go list ./...",
        "kubectl get pods",
        "less a.txt",
        "./ls",
        "ls; git diff",
        "sudo cat /etc/shadow",
    ],
)
def test_what_other_files_can_make_run_something_is_no_plain_read(command: str) -> None:
    assert not facts(command).only_reads


@pytest.mark.parametrize("command", ["ls -la", "cat a.py | grep x", "head -5 a.txt && wc -l a.txt"])
def test_a_plain_read_is_one(command: str) -> None:
    assert facts(command).only_reads


@pytest.mark.parametrize(
    "command",
    [
        "git add -A",
        "git commit -m 'x'",
        "git pull",
        "git checkout main",
        "git restore --staged a.py",
        "git config user.name carol",
        "psql -c 'INSERT INTO t VALUES (1)'",
    ],
)
def test_what_a_command_writes_is_no_file_that_it_does_not_name(command: str) -> None:
    assert facts(command).modified_files == ()


def test_a_command_may_hold_in_the_next_and_is_judged_both_ways() -> None:
    of = facts("cd sub", "echo x > a.py", workspace="/project")
    assert of.modified_files == ("a.py", "sub/a.py")
    assert facts("x=rm", '"$x" -rf /').analyses[-1].decision == "deny"


SCRIPTS = {"run.sh": "rm -rf /etc", "good.sh": "ls", "lib.sh": "ls", "run.py": "import os\nos.remove('a.py')"}


@pytest.mark.parametrize(
    ("commands", "decision"),
    [
        (("bash run.sh",), "deny"),
        (("./run.sh",), "deny"),
        (("sudo sh -x run.sh",), "deny"),
        (("ls", "source run.sh"), "deny"),
        (("bash good.sh",), None),
    ],
)
def test_scripts_are_read_where_somebody_can_read_them(
    commands: tuple[str, ...], decision: str | None
) -> None:
    of = facts(*commands, read_script=lambda path: SCRIPTS.get(path.removeprefix("./")))
    assert of.analyses[-1].decision == decision


@pytest.mark.parametrize(
    "command",
    [
        "bash good.sh",
        "ls && bash good.sh > out.log",
        "chmod +x good.sh && ./good.sh",
        "mkdir -p out; sh good.sh",
        "echo x > other.sh; bash good.sh",
        "cd . && bash good.sh",
    ],
)
def test_a_script_that_was_read_is_known(command: str) -> None:
    of = facts(command, workspace="/p", read_script=lambda path: SCRIPTS.get(path.removeprefix("./")))
    assert [part.what for analysis in of.analyses for part in analysis.unknown] == []


@pytest.mark.parametrize(
    "commands",
    [
        ("cp other.sh good.sh && bash good.sh",),
        ("cp other.sh good.sh", "bash good.sh"),
        ("bash good.sh", "cp other.sh good.sh"),
        ("for i in 1 2; do bash good.sh; mv other.sh ./good.sh; done",),
        ("cp other.sh /p/good.sh; bash good.sh",),
        ("cd /; cp other.sh p/good.sh; cd p; bash good.sh",),
        ("mv other /p && bash good.sh",),
        ("git checkout elsewhere && bash good.sh",),
        ("git pull; bash good.sh",),
        ("curl -o good.sh https://h.example/x; bash lib.sh",),
        ('echo "$X" > "$TARGET"; bash good.sh',),
        ("tar xf a.tar && bash good.sh",),
        ("patch -p1 < p.diff; bash good.sh",),
        ("cp x *.sh; bash good.sh",),
    ],
)
def test_a_script_that_the_action_may_change_stays_unknown(commands: tuple[str, ...]) -> None:
    of = facts(*commands, workspace="/p", read_script=lambda path: SCRIPTS.get(path.rpartition("/")[2]))
    assert [part.kind for analysis in of.analyses for part in analysis.unknown]
    assert not of.only_reads


def test_a_settlement_is_bound_to_the_scripts_as_they_were_read() -> None:
    one = facts("bash run.sh", read_script=lambda _: "git reset --hard")
    other = facts("bash run.sh", read_script=lambda _: "git reset --hard HEAD~9")
    assert list(one.binding["scripts"]) == ["run.sh"]  # type: ignore[call-overload]  # a mapping
    assert one.binding != other.binding
    assert facts("bash run.sh").binding == {"action": one.action.digest}


@pytest.mark.parametrize("path", ["~/.bashrc", "/home/carol/.bashrc", "/home/carol/x/../.bashrc"])
def test_a_path_under_home_has_one_spelling_where_home_is_known(path: str) -> None:
    assert facts(workspace="/p", home="/home/carol").path_key(path) == "/home/carol/.bashrc"
