"""Security: destruction, secrets and personal data on their way out, more rights, unclear commands."""

from __future__ import annotations

import pytest
from tests.unit.conditions.judging import CRITICAL, HIGH, LOW, MEDIUM, changes, facts, found, judge, said
from tests.unit.secrets.fake_tokens import github

from haltline.conditions.facts import Facts
from haltline.domain import Severity
from haltline.secrets import scan

CARD = "4111 1111 1111 1111"
OTHER_CARD = "5500 0000 0000 0004"
IBAN = "DE89 3704 0044 0532 0130 00"
TOKEN = github()


class TestDestructiveCommand:
    NAME = "destructive_command"

    @pytest.mark.parametrize(
        ("commands", "severity"),
        [
            (("rm -rf /",), CRITICAL),
            (("sudo rm -rf /",), CRITICAL),
            (("bash -c 'rm -rf /'",), CRITICAL),
            (("ls", "rm -rf /"), CRITICAL),
            (("git push --force", "rm -rf /"), CRITICAL),
            (("git push --force",), MEDIUM),
            (("ls", "git reset --hard"), MEDIUM),
        ],
    )
    def test_a_denied_command_is_as_severe_as_its_row_and_another_medium(
        self, commands: tuple[str, ...], severity: Severity
    ) -> None:
        assert found(self.NAME, facts(*commands)).severity is severity

    @pytest.mark.parametrize("command", ["", "ls", 'echo "rm -rf /"', "git push", "grep -r 'rm -rf' ."])
    def test_does_not_trigger(self, command: str) -> None:
        assert judge(self.NAME, facts(command)) is None

    def test_says_what_would_happen_and_what_to_do_instead(self) -> None:
        reason, _, advice = found(self.NAME, facts("rm -rf /")).description.partition(". ")
        assert "delete a file system root" in reason
        assert advice.startswith("Name the one directory")

    @pytest.mark.parametrize(
        ("configured", "denied", "asked"),
        [(CRITICAL, CRITICAL, MEDIUM), (HIGH, HIGH, MEDIUM), (MEDIUM, MEDIUM, MEDIUM), (LOW, LOW, LOW)],
    )
    def test_the_row_is_never_exceeded(self, configured: Severity, denied: Severity, asked: Severity) -> None:
        assert found(self.NAME, facts("rm -rf /"), severity=configured).severity is denied
        assert found(self.NAME, facts("git reset --hard"), severity=configured).severity is asked

    def test_speaks_of_what_is_denied_before_what_is_asked_about(self) -> None:
        finding = found(self.NAME, facts("git reset --hard", "rm -rf /"))
        assert "delete a file system root" in finding.description
        assert len(finding.evidence["rules"]) == 2

    def test_the_settlement_binds_the_command(self) -> None:
        one = found(self.NAME, facts("git reset --hard")).evidence_digest
        assert found(self.NAME, facts("git reset --hard HEAD~1")).evidence_digest != one


EVERYWHERE = ("commands", "tool arguments", "proposed content", "output", "operation")


def placed(place: str, value: str) -> Facts:
    """Return facts with a value in one of the places that are looked at."""
    if place == "commands":
        return facts(f"echo {value}")
    if place == "tool arguments":
        return facts(tool_arguments={"nested": [{"value": f"it is {value}"}]})
    if place == "proposed content":
        return facts(changes=changes("a.env", contents={"a.env": f"x = {value}"}), files_read=("a.env",))
    if place == "output":
        return facts(outputs=(f"it is {value}",))
    return facts(operation=f"use {value}")


PLACES = pytest.mark.parametrize("place", EVERYWHERE)


class TestSecretsExposure:
    NAME = "secrets_exposure"

    @PLACES
    def test_triggers_wherever_a_secret_stands_and_never_repeats_it(self, place: str) -> None:
        finding = found(self.NAME, placed(place, TOKEN))
        assert finding.severity is CRITICAL
        assert finding.description.startswith(f"A secret would be exposed in {place} (github-")
        assert TOKEN not in str(finding)
        assert TOKEN[8:20] not in str(finding)

    def test_a_key_of_an_argument_is_looked_at_too(self) -> None:
        found(self.NAME, facts(tool_arguments={TOKEN: 1}))

    def test_names_every_place(self) -> None:
        finding = found(self.NAME, facts(f"echo {TOKEN}", outputs=(TOKEN,)))
        assert "commands (github-" in finding.description
        assert "output (github-" in finding.description

    @PLACES
    @pytest.mark.parametrize(
        "harmless", ["hello", "$GITHUB_TOKEN", "ghp_xxxxxxxxxxxxxxxxxxxx", "e3b0c44298fc1c149afbf4c8996fb924"]
    )
    def test_does_not_trigger(self, place: str, harmless: str) -> None:
        assert judge(self.NAME, placed(place, harmless)) is None

    @pytest.mark.parametrize("weak", ["password = 'Tr0ub4dor-and-3'", "API_KEY=8fj3kd92hf7s6a5d4f3g2h1j"])
    def test_what_only_stands_where_secrets_stand_does_not_halt(self, weak: str) -> None:
        assert scan(weak)
        assert judge(self.NAME, placed("output", weak)) is None

    def test_the_settlement_binds_the_secret_and_the_action(self) -> None:
        one = found(self.NAME, placed("output", TOKEN)).evidence_digest
        assert found(self.NAME, placed("output", TOKEN)).evidence_digest == one
        assert found(self.NAME, placed("output", github(seed=8))).evidence_digest != one
        assert found(self.NAME, facts(outputs=(f"it is {TOKEN}",), operation="x")).evidence_digest != one


class TestDataExposure:
    NAME = "data_exposure"

    @PLACES
    @pytest.mark.parametrize(
        ("data", "kind"), [(CARD, "payment_card"), (CARD.replace(" ", ""), "payment_card"), (IBAN, "iban")]
    )
    def test_triggers_wherever_personal_data_stands_and_never_repeats_it(
        self, place: str, data: str, kind: str
    ) -> None:
        finding = found(self.NAME, placed(place, data))
        assert finding.description == f"Personal data ({kind}) in {place}"
        assert data not in str(finding)
        assert data[:9] not in str(finding)

    def test_a_key_of_an_argument_is_looked_at_too(self) -> None:
        found(self.NAME, facts(tool_arguments={CARD: 1}))

    def test_a_whole_number_is_looked_at(self) -> None:
        found(self.NAME, facts(tool_arguments={"card": int(CARD.replace(" ", ""))}))

    @pytest.mark.parametrize("kind_of_place", EVERYWHERE)
    def test_is_low_where_it_only_goes_into_a_local_file(self, kind_of_place: str) -> None:
        expected = LOW if kind_of_place == "proposed content" else HIGH
        assert found(self.NAME, placed(kind_of_place, CARD)).severity is expected

    def test_is_high_when_it_goes_elsewhere_as_well(self) -> None:
        of = facts(changes=changes("a", contents={"a": CARD}), outputs=(CARD,))
        assert said(self.NAME, of) == (HIGH, "Personal data (payment_card) in proposed content, output")

    @PLACES
    @pytest.mark.parametrize(
        "harmless", ["hello", "4111 1111 1111 1112", "DE00 3704 0044 0532 0130 00", "12"]
    )
    def test_does_not_trigger(self, place: str, harmless: str) -> None:
        assert judge(self.NAME, placed(place, harmless)) is None

    @PLACES
    def test_the_settlement_binds_the_data(self, place: str) -> None:
        one = found(self.NAME, placed(place, CARD)).evidence_digest
        assert found(self.NAME, placed(place, CARD)).evidence_digest == one
        assert found(self.NAME, placed(place, OTHER_CARD)).evidence_digest != one

    def test_no_digest_lets_anybody_try_all_numbers(self) -> None:
        finding = found(self.NAME, facts(outputs=(CARD,)))
        (mark,) = finding.evidence["data"]["output"]
        assert mark.startswith("payment_card:")
        assert len(mark.removeprefix("payment_card:")) == 6


class TestPrivilegeEscalation:
    NAME = "privilege_escalation"

    @pytest.mark.parametrize(
        "command",
        [
            "sudo ls",
            "timeout 5 sudo ls",
            "sh -c 'sudo ls'",
            "doas ls",
            "pkexec ls",
            "su -c ls",
            "chmod u+s a",
            "setcap cap_net_raw+ep a",
            "docker run --privileged x",
            "nsenter -t 1 -m",
            "aws iam attach-user-policy --user-name a --policy-arn b",
        ],
    )
    def test_triggers(self, command: str) -> None:
        severity, description = said(self.NAME, facts(command))
        assert severity is CRITICAL
        assert description.startswith("Needs elevated permissions: ")

    @pytest.mark.parametrize("command", ["", "ls", "echo sudo", "chmod u+x a", "docker run x", "man sudo"])
    def test_does_not_trigger(self, command: str) -> None:
        assert judge(self.NAME, facts(command)) is None


class TestUnknownCommands:
    NAME = "unknown_commands"

    @pytest.mark.parametrize(
        "command",
        [
            'cd "$FOLDER" && echo x > a',
            "mystery --now",
            "$COMMAND",
            'eval "$TEXT"',
            "./script.sh",
            "ls $(",
            'echo x > "$TARGET"',
            "tee $A",
        ],
    )
    def test_triggers(self, command: str) -> None:
        severity, description = said(self.NAME, facts(command))
        assert severity is MEDIUM
        assert description.startswith("It is not clear what the command does: ")

    @pytest.mark.parametrize(
        "command", ["", "ls", "git status", "echo x > a", 'echo "$TEXT"', 'rm -rf "$DIRECTORY"', "cat $A"]
    )
    def test_does_not_trigger(self, command: str) -> None:
        assert judge(self.NAME, facts(command)) is None

    def test_a_command_that_a_rule_has_judged_is_not_asked_about_twice(self) -> None:
        of = facts('git checkout -- "$FILE"')
        assert [effect.kind for effect in of.analyses[0].effects if effect.kind == "overwrite"]
        found("destructive_command", of)
        assert judge(self.NAME, of) is None

    def test_says_which_change_is_not_decided(self) -> None:
        finding = found(self.NAME, facts('echo x > logs/"$DAY".txt'))
        assert finding.description == "It is not clear what the command does: overwrite of logs/….txt"
