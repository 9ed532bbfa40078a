from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from haltline.shell import Analysis, EffectKind, analyze, classify

FRAGMENTS = [
    "rm", "-rf", "/", "ls", "$x", "${x:-y}", "$(", ")", "`", "'", '"', "\\", "|", "||", "&&", ";", "&",
    "\n", "<<E", "E", "<", ">", ">>", "if", "then", "fi", "for", "in", "do", "done", "case", "esac",
    ";;", "{", "}", "(", "((", "))", "[[", "]]", "x=", "f()", "eval", "sh", "-c", "xargs", "-I{}", "{}",
    "sudo", "env", "-S", "find", ".", "-exec", "+", "git", "push", "-f", "python3", "import os",
    "base64", "-d", "{a,b}", "{1..9}", "~", "*", "?", "$@", "$'\\x41'", "\u0000", "\u0002", "\u0003",
    "\u00e9", "\u200b", "\u202e", "psql", "DROP TABLE x", "awk", "printf", "%s", "cd", "kubectl", "-n",
    "prod", "delete", "perl", "-e", "powershell", "-EncodedCommand", "AAAA", "docker", "run", "trap",
    "EXIT", "alias",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(" ".join) | st.text(max_size=80))
@settings(max_examples=800, deadline=None)
@example("")
@example("$((" * 30)
@example("x=$x$x;" * 40)
@example("f() { f | f; }; f")
@example("a() { b; b; }; b() { c; c; }; c() { a; a; }; a")
@example("echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}")
@example("alias a=b b=a; a")
@example("eval eval eval eval eval")
@example("python3 -c '" + "(" * 300 + "'")
def test_analysis_never_raises_and_agrees_with_itself(command: str) -> None:
    analysis = analyze(command)
    verdict = classify(command)

    assert (verdict[0] if verdict is not None else None) == analysis.decision
    assert not (analysis.only_reads and analysis.verdicts)


READS = [
    "ls -la", "cat a | grep b", "git status && git diff", "echo hi", "find . -name x", "cd x && ls",
    "wc -l < f", "head -5 a 2>/dev/null", "git log --oneline | head", "test -f x && echo y", "pwd",
    "/usr/bin/ls", "/bin/cat a",
]  # fmt: skip
ACTS = [
    "touch x", "make", "rm x", "echo hi > f", "foo", "$x", "python3 a.py", "git push", "curl http://x",
    "sed -i s/a/b/ f", "kubectl apply -f x", "ls; foo", "cat x | sh", "git commit -m x",
    "find . -exec foo {} +", "npm test", "echo $(foo)", "base64 -o a b", "xxd -r a b",
    "sort -o a b", "uniq a b", "shuf -o a b", "git diff --output=a",
    "awk '{print > \"a\"}' b", "sed -n 'w a' b", "yq -i .a b", "date -s now",
    "env foo", "fd -x foo", "'unclosed", "./ls", "bin/cat a", "~/ls", "PATH=.:$PATH ls",
    "export PATH=.; ls", "env PATH=. ls", "cat < /dev/tcp/h/80", "git grep -O./x foo",
]  # fmt: skip


@pytest.mark.parametrize("command", READS)
def test_what_only_reads_is_known_to_only_read(command: str) -> None:
    analysis = analyze(command)

    assert analysis.only_reads, (analysis.effects, analysis.unknown)


@pytest.mark.parametrize("command", ACTS)
def test_what_may_do_more_is_not_taken_for_a_read(command: str) -> None:
    assert not analyze(command).only_reads


def effects(analysis: Analysis) -> set[tuple[str, str | None]]:
    return {(effect.kind.value, effect.target) for effect in analysis.effects}


@pytest.mark.parametrize(
    ("command", "kind", "target"),
    [
        ("rm -rf build", "delete", "build"),
        ("echo a > out.txt", "overwrite", "out.txt"),
        ("echo a >> out.txt", "write", "out.txt"),
        ("sed -i s/a/b/ f.py", "overwrite", "f.py"),
        ("tee log.txt", "overwrite", "log.txt"),
        ("patch f.py x.diff", "write", "f.py"),
        ("git checkout -- f.py", "overwrite", "f.py"),
        ("cp a b", "overwrite", "b"),
        ("mv a b", "delete", "a"),
        ("dd if=a of=b", "overwrite", "b"),
        ("curl https://example.com/x", "network_in", "https://example.com/x"),
        ("sudo ls", "privilege", "sudo"),
        ("git push -f origin main", "history_rewrite", "origin main"),
        ("touch new.txt", "write", "new.txt"),
        ("mkdir -p a/b", "write", "a/b"),
        ("python3 -c \"open('o.txt','w').write('x')\"", "overwrite", "o.txt"),
        ("cat a.txt", "read", "a.txt"),
    ],
)
def test_effects_name_what_happens_to_what(command: str, kind: str, target: str) -> None:
    assert (kind, target) in effects(analyze(command))


@pytest.mark.parametrize(
    ("command", "environment"),
    [
        ("kubectl --context prod-eu delete pod x", "production"),
        ("kubectl -n staging delete pod x", "staging"),
        ("psql postgres://u@db.prod.example.com/x -c 'DROP TABLE t'", "production"),
        ("psql -h localhost -c 'DROP TABLE t'", "development"),
        ("aws --profile production s3 rb s3://b", "production"),
        ("AWS_PROFILE=prod aws s3 rb s3://b", "production"),
        ("RAILS_ENV=production rails db:drop", "production"),
        ("export RAILS_ENV=staging; rails db:drop", "staging"),
        ("ssh deploy@prod-1 reboot", "production"),
        ("rm -rf build", None),
        ("kubectl -n qa --context prod delete ns shop", "production"),
        ("ENV=test kubectl --context prod delete ns shop", "production"),
        ("ssh prod-web 'psql -h test-db -c \"drop table a\"'", "production"),
        ("export KUBECONFIG=prod; kubectl delete ns a; KUBECONFIG=test", "production"),
    ],
)
def test_effects_carry_the_environment_that_the_command_names(command: str, environment: str | None) -> None:
    found = {effect.environment for effect in analyze(command).effects}

    assert environment in found
    assert found <= {environment, None}


def test_one_command_does_not_hide_the_environment_of_another_beside_it() -> None:
    analysis = analyze("bash -c 'kubectl --context prod delete ns a; kubectl --context test get pods'")

    assert [effect.environment for effect in analysis.effects] == ["production", "test"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sudo setcap cap_net_admin+ep x", ("setcap", "cap_net_admin+ep", "x")),
        ("bash -c 'ls; git push -f; pwd'", ("git-push", "-f")),
        ("rm -rf /", ("rm", "-rf", "/")),
    ],
)
def test_a_verdict_and_its_effect_name_the_command_that_they_are_about(
    command: str, words: tuple[str, ...]
) -> None:
    analysis = analyze(command)

    assert words in {verdict.command for verdict in analysis.verdicts}
    assert words in {effect.command for effect in analysis.effects if effect.rule_id}


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("ln -s a b", {"b"}),
        ("ln a b", {"b"}),
        ("ln -s ../x/a", {"a"}),
        ("ln -s -t lib a", {"lib"}),
        ("ln -sf a b", {"b"}),
    ],
)
def test_a_link_changes_where_it_goes_and_not_what_it_points_to(command: str, written: set[str]) -> None:
    found = analyze(command).effects
    assert {effect.target for effect in found if effect.kind in ("write", "overwrite")} == written


@pytest.mark.parametrize(
    ("command", "path", "effect"),
    [
        ("bash x.sh", "x.sh", "a"),
        ("cd sub && bash x.sh", "sub/x.sh", "sub/a"),
        ("cd sub && bash ./x.sh", "sub/./x.sh", "sub/a"),
        ("bash ~/x.sh", "~/x.sh", "a"),
        ("cd /srv && . x.sh", "/srv/x.sh", "/srv/a"),
        ("cd sub && echo 'rm a' | sh", None, "sub/a"),
    ],
)
def test_a_script_is_read_and_run_where_cd_has_led(command: str, path: str | None, effect: str) -> None:
    asked: list[str] = []

    def reader(path: str) -> str:
        asked.append(path)
        return "rm a"

    analysis = analyze(command, read_file=reader)
    assert asked == ([] if path is None else [path])
    assert effect in {e.path for e in analysis.effects if e.kind == "delete"}


def test_a_script_is_not_read_where_nobody_knows_where_cd_has_led() -> None:
    asked: list[str] = []
    analysis = analyze('cd "$X" && bash x.sh', read_file=asked.append)
    assert (asked, [unknown.kind for unknown in analysis.unknown]) == ([], ["script"])


def test_a_script_cannot_pretend_to_hold_marks() -> None:
    analysis = analyze("bash x.sh", read_file=lambda _: "rm -rf \x05\x02x")
    assert "…" not in str([effect.target for effect in analysis.effects])


@pytest.mark.parametrize(
    ("command", "via"),
    [
        ("sudo timeout 5 rm -rf /", ("sudo", "timeout")),
        ("bash -c 'env rm -rf /'", ("bash", "env")),
        ("find / -exec sh -c 'rm -rf /' \\;", ("find", "sh")),
        ("python3 -c \"import os; os.system('rm -rf /')\"", ("python",)),
    ],
)
def test_a_verdict_names_the_way_through_the_wrappers(command: str, via: tuple[str, ...]) -> None:
    assert via in {verdict.via for verdict in analyze(command).verdicts}


def test_spans_point_into_the_text_that_was_given() -> None:
    text = "ls && sudo rm -rf /etc && bash -c 'rm -rf /usr'"
    spans = [text[slice(*verdict.span)] for verdict in analyze(text).verdicts]

    assert spans == ["sudo rm -rf /etc", "bash -c 'rm -rf /usr'"]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("foo --bar", "program"),
        ("$x a", "command"),
        ("bash a.sh", "script"),
        ("eval $x", "code"),
        ("git frobnicate", "subcommand"),
        ("echo 'x", "syntax"),
    ],
)
def test_what_cannot_be_determined_is_said(command: str, kind: str) -> None:
    assert kind in {unknown.kind for unknown in analyze(command).unknown}


def test_scripts_are_read_when_the_caller_lets_us() -> None:
    files = {
        "deploy.sh": "cd x\nterraform destroy\n",
        "p.py": "import shutil\nshutil.rmtree('/home')\n",
        "x.sql": "DROP TABLE t;",
    }

    for command in (
        "bash deploy.sh",
        "source deploy.sh",
        "sh < deploy.sh",
        "python3 p.py",
        "psql -f x.sql",
        "psql < x.sql",
        "./deploy.sh",
    ):
        assert classify(command) is None, command
        assert (
            analyze(command, read_file=lambda path: files.get(path.removeprefix("./"))).decision is not None
        ), command


def test_a_failing_reader_leaves_the_script_unknown() -> None:
    def broken(path: str) -> str:
        raise PermissionError(path)

    analysis = analyze("bash x.sh", read_file=broken)

    assert [unknown.kind for unknown in analysis.unknown] == ["script"]


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("rm -rf /project/app/build", None),
        ("rm -rf /project/app", "ask"),
        ("rm -rf /home/carol/app", "ask"),
        ("rm -rf /data/carol/x", "ask"),
        ("rm -rf /data/carol", "deny"),
    ],
)
def test_directories_of_the_caller_are_known(command: str, decision: str | None) -> None:
    assert analyze(command, cwd="/project/app", home="/data/carol").decision == decision


def test_effect_kinds_are_the_documented_ones() -> None:
    documented = (
        "delete overwrite write read execute network_in network_out privilege history_rewrite remote_change"
    )

    assert [kind.value for kind in EffectKind] == documented.split()


@pytest.mark.parametrize(
    "command", ["PYTHONSTARTUP=~/.pythonrc python", "haltline halts | xargs haltline ack"]
)
def test_a_reason_can_be_printed(command: str) -> None:
    reasons = [verdict.reason for verdict in analyze(command).verdicts]

    assert reasons
    assert all(reason.isprintable() for reason in reasons)


@pytest.mark.parametrize(
    "command", ["PAGER=$X git log", "export EDITOR=$X", "sqlite3 -readonly x < unread.sql"]
)
def test_what_runs_by_a_value_that_is_not_known_is_unknown(command: str) -> None:
    analysis = analyze(command)

    assert analysis.unknown
    assert not analysis.only_reads
