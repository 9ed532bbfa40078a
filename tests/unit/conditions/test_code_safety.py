"""Code safety: unread files, broken users, no way back, unseen dependencies."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from tests.unit.conditions.judging import CRITICAL, HIGH, MEDIUM, changes, facts, found, judge, said

from haltline.conditions.facts import Facts


def unread(**given: Any) -> str:
    return found("modifying_unread_code", facts(**given)).description


class TestModifyingUnreadCode:
    NAME = "modifying_unread_code"

    def test_says_literally_what_the_specification_says(self) -> None:
        of = facts(
            operation="modify authentication logic",
            target_files=("src/auth.js",),
            files_read=("src/app.js",),
            declared_attempts=1,
            changes=changes("src/auth.js", has_tests=False, has_rollback_plan=False),
        )
        assert said(self.NAME, of) == (
            CRITICAL,
            "Attempting to modify src/auth.js which has not been read",
        )

    def test_speaks_of_several_files_in_the_plural(self) -> None:
        assert unread(target_files=("a.py", "b.py")) == (
            "Attempting to modify a.py, b.py which have not been read"
        )

    def test_names_five_files_and_counts_the_rest(self) -> None:
        files = tuple(f"{number}.py" for number in range(7))
        finding = found(self.NAME, facts(target_files=files))
        assert finding.description == (
            "Attempting to modify 0.py, 1.py, 2.py, 3.py, 4.py and 2 more which have not been read"
        )
        assert tuple(finding.annotations["files_not_read"]) == files

    @pytest.mark.parametrize(
        "of",
        [
            pytest.param(facts(target_files=("a.py",)), id="target, nothing read"),
            pytest.param(facts(target_files=("a.py",), files_read=("b.py",)), id="another file read"),
            pytest.param(facts(changes=changes("a.py")), id="file to modify"),
            pytest.param(
                facts(target_files=("a.py",), changes=changes("b.py"), files_read=("a.py",)),
                id="one of two read",
            ),
            pytest.param(facts("sed -i s/x/y/ a.py"), id="changed by a command"),
            pytest.param(facts("echo x > a.py", files_read=("b.py",)), id="overwritten by a command"),
            pytest.param(facts("echo x > /tmp/../root/.bashrc"), id="through a temporary folder"),
            pytest.param(facts("cd src && echo x > a.py", files_read=("a.py",)), id="in another folder"),
            pytest.param(facts(target_files=("A.py",), files_read=("a.py",)), id="another case"),
            pytest.param(facts(target_files=("../a.py",), files_read=("a.py",)), id="outside"),
            pytest.param(
                facts(target_files=("/a.py",), files_read=("a.py",), workspace="/project"), id="absolute"
            ),
            pytest.param(
                facts(
                    target_files=("link/../a.py",),
                    files_read=("a.py",),
                    real_paths={"link/../a.py": "/other/a.py"},
                ),
                id="leads elsewhere",
            ),
            pytest.param(
                facts(target_files=("a.py",), absent_files=frozenset({"b.py"})), id="another is new"
            ),
            pytest.param(facts(target_files=("a.py",), files_read=("*",)), id="a pattern is no file"),
            pytest.param(facts(target_files=("src/a.py",), files_read=("src",)), id="a folder is no file"),
        ],
    )
    def test_triggers(self, of: Facts) -> None:
        found(self.NAME, of)

    @pytest.mark.parametrize(
        "of",
        [
            pytest.param(facts(), id="no files"),
            pytest.param(facts("cat a.py"), id="a command that reads"),
            pytest.param(facts("echo x > /dev/null"), id="a device"),
            pytest.param(facts(target_files=("a.py",), files_read=("a.py",)), id="read"),
            pytest.param(facts(target_files=("./a.py",), files_read=("a.py",)), id="read, with a dot"),
            pytest.param(
                facts(target_files=("src/x/../a.py",), files_read=("src/a.py",)), id="read, with dots"
            ),
            pytest.param(
                facts(target_files=("src\\a.py",), files_read=("src/a.py",)), id="read, with backslashes"
            ),
            pytest.param(
                facts(target_files=("a.py",), files_read=("/project/a.py",), workspace="/project"),
                id="read by its absolute path",
            ),
            pytest.param(facts("sed -i s/x/y/ a.py", files_read=("a.py",)), id="command on a read file"),
            pytest.param(facts(changes=changes("a.py"), files_read=("a.py",)), id="changes of a read file"),
            pytest.param(facts(target_files=("a.py",), absent_files=frozenset({"a.py"})), id="new"),
        ],
    )
    def test_does_not_trigger(self, of: Facts) -> None:
        assert judge(self.NAME, of) is None

    @pytest.mark.parametrize(
        ("command", "file"),
        [
            ("sed -i s/x/y/ a.py", "a.py"),
            ("echo x >> a.py", "a.py"),
            ("cat b | tee -a a.py", "a.py"),
            ("git checkout -- a.py", "a.py"),
            ("git restore a.py", "a.py"),
            ("patch a.py p.diff", "a.py"),
            ("truncate -s 0 a.py", "a.py"),
            ("dd if=b of=a.py", "a.py"),
            ("cp b.py a.py", "a.py"),
            ("cp b/a.py src/", "src/a.py"),
            ("ln -sf b a.py", "a.py"),
            ("curl -o a.py https://h.example/a.py", "a.py"),
            ("rm a.py", "a.py"),
            ("git rm a.py", "a.py"),
            ("git mv a.py b.py", "a.py"),
            ("gzip a.py", "a.py"),
            ("shred a.py", "a.py"),
            ("python3 -c \"open('a.py', 'w').write('')\"", "a.py"),
            ("cd src && sudo sh -c 'echo x > a.py'", "src/a.py"),
            ("cd src && cd .. && rm a.py", "src/../a.py"),
        ],
    )
    def test_a_command_that_changes_an_unread_file_triggers(self, command: str, file: str) -> None:
        finding = found(self.NAME, facts(command))
        assert finding.severity is CRITICAL
        assert file in finding.annotations["files_not_read"]

    @pytest.mark.parametrize(
        "command",
        [
            "mkdir new",
            "touch new",
            "ln -s a.py b.py",
            "tar xf a.tar",
            "unzip a.zip",
            "chmod +x a.py",
            "chown me a.py",
            "rm -rf build",
            "find . -name '*.pyc' -delete",
            "zip /tmp/out.zip a.py",
            "rsync -a dist/ web:/srv",
            "psql -c 'DELETE FROM users'",
            "git add a.py",
            "npm install",
            "docker rm a",
            "sed s/x/y/ a.py",
        ],
    )
    def test_a_command_that_changes_no_file_that_could_be_read_does_not(self, command: str) -> None:
        assert judge(self.NAME, facts(command)) is None

    def test_a_directory_is_not_read_but_what_is_put_into_it_may_take_the_place_of_a_file(self) -> None:
        of = facts("cp lib/a.py src", directories=frozenset({"src"}), workspace="/project")
        assert of.modified_files == ("src/a.py",)
        assert judge(self.NAME, facts("rm -r src", directories=of.directories, workspace="/project")) is None
        assert found(self.NAME, facts("rm -r a.py", workspace="/project")).severity is CRITICAL

    def test_can_be_told_not_to_require_reading(self) -> None:
        assert judge(self.NAME, facts(target_files=("a.py",)), requires_read=False) is None

    def test_another_spelling_of_the_same_files_is_the_same_evidence_for_the_same_action(self) -> None:
        one = found(self.NAME, facts(target_files=("b", "a")))
        assert one.evidence["files_not_read"] == ["a", "b"]

    @pytest.mark.parametrize(
        "other",
        [
            facts(target_files=("a.py", "b.py")),
            facts(target_files=("b.py",)),
            facts(target_files=("a.py",), operation="another"),
            facts("echo x > a.py"),
        ],
    )
    def test_other_actions_have_other_evidence(self, other: Facts) -> None:
        one = found(self.NAME, facts(target_files=("a.py",)))
        assert found(self.NAME, other).evidence_digest != one.evidence_digest


class TestBreakingChanges:
    NAME = "breaking_changes"
    USED: ClassVar[dict[str, Any]] = {"dependents": {"a.py": ("b.py",)}}

    def test_failing_tests_trigger_whatever_else_is_said(self) -> None:
        of = facts(changes=changes("a.py", tests_pass=False))
        assert said(self.NAME, of) == (HIGH, "Tests fail with the proposed changes")

    def test_a_used_file_without_tests_triggers(self) -> None:
        of = facts(changes=changes("a.py", has_tests=False, **self.USED))
        assert said(self.NAME, of) == (HIGH, "No tests cover a.py, which other files depend on")

    @pytest.mark.parametrize(
        "spelling", ["./a.py", "src/../a.py", "/project/a.py", "a.py/"], ids=lambda spelling: spelling
    )
    def test_a_file_is_used_however_it_is_spelled(self, spelling: str) -> None:
        for path, used in ((spelling, "a.py"), ("a.py", spelling)):
            of = facts(
                changes=changes(path, has_tests=False, dependents={used: ("b.py",)}), workspace="/project"
            )
            found(self.NAME, of)

    @pytest.mark.parametrize(
        "of",
        [
            pytest.param(facts(target_files=("a.py",)), id="no changes proposed"),
            pytest.param(facts(changes=changes("a.py")), id="tests"),
            pytest.param(facts(changes=changes("a.py", tests_pass=True)), id="tests pass"),
            pytest.param(facts(changes=changes("a.py", has_tests=False)), id="no tests, no users"),
            pytest.param(facts(changes=changes("a.py", **USED)), id="users, with tests"),
            pytest.param(
                facts(changes=changes("a.py", has_tests=False, dependents={"a.py": ()})), id="nobody"
            ),
            pytest.param(
                facts(changes=changes("a.py", has_tests=False, dependents={"c.py": ("b.py",)})),
                id="users of another file",
            ),
        ],
    )
    def test_does_not_trigger(self, of: Facts) -> None:
        assert judge(self.NAME, of) is None

    def test_can_be_told_not_to_require_tests(self) -> None:
        of = facts(changes=changes("a.py", tests_pass=False))
        assert judge(self.NAME, of, requires_tests_pass=False) is None

    def test_failing_tests_and_missing_tests_are_different_evidence(self) -> None:
        failing = found(self.NAME, facts(changes=changes("a.py", tests_pass=False)))
        missing = found(self.NAME, facts(changes=changes("a.py", has_tests=False, **self.USED)))
        assert failing.evidence_digest != missing.evidence_digest


class TestNoRollbackPlan:
    NAME = "no_rollback_plan"

    def test_says_literally_what_the_specification_says(self) -> None:
        of = facts(changes=changes("a.py", has_rollback_plan=False))
        assert said(self.NAME, of) == (HIGH, "No rollback plan provided for changes")

    @pytest.mark.parametrize("of", [facts(), facts(target_files=("a.py",)), facts(changes=changes("a.py"))])
    def test_does_not_trigger(self, of: Facts) -> None:
        assert judge(self.NAME, of) is None

    def test_the_settlement_of_one_change_is_not_that_of_another(self) -> None:
        one = found(self.NAME, facts(changes=changes("a.py", has_rollback_plan=False)))
        other = found(self.NAME, facts(changes=changes("b.py", has_rollback_plan=False)))
        assert one.evidence_digest != other.evidence_digest


class TestUnknownDependencies:
    NAME = "unknown_dependencies"

    @pytest.mark.parametrize(
        ("given", "listed"),
        [
            pytest.param({}, "b.py, c.py", id="nothing looked at"),
            pytest.param({"files_read": ("b.py",)}, "c.py", id="one read"),
            pytest.param({"target_files": ("c.py",)}, "b.py", id="one named"),
        ],
    )
    def test_triggers(self, given: dict[str, Any], listed: str) -> None:
        of = facts(changes=changes("a.py", dependents={"a.py": ("b.py", "c.py", "b.py")}), **given)
        assert said(self.NAME, of) == (
            MEDIUM,
            f"Files that depend on the change were not looked at: {listed}",
        )

    @pytest.mark.parametrize(
        "of",
        [
            pytest.param(facts(target_files=("a.py",)), id="no changes proposed"),
            pytest.param(facts(changes=changes("a.py")), id="nobody uses it"),
            pytest.param(
                facts(changes=changes("a.py", dependents={"a.py": ("b.py",)}), files_read=("./b.py",)),
                id="read",
            ),
            pytest.param(
                facts(changes=changes("a.py", "b.py", dependents={"a.py": ("b.py",)})), id="modified, too"
            ),
            pytest.param(
                facts(changes=changes("a.py", dependents={"z.py": ("b.py",)})), id="of another file"
            ),
        ],
    )
    def test_does_not_trigger(self, of: Facts) -> None:
        assert judge(self.NAME, of) is None

    def test_a_thousand_files_with_a_thousand_users_are_looked_up_in_one_pass(self) -> None:
        files = tuple(f"{number}.py" for number in range(1000))
        seen: list[str] = []

        class Counting(Facts):
            def path_key(self, path: str) -> str:
                seen.append(path)
                return super().path_key(path)

        of = facts(changes=changes(*files, dependents=dict.fromkeys(files, ("user.py",))))
        found(self.NAME, Counting(of.action))
        assert len(seen) < 10 * len(files)
