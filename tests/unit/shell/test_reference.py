"""Decisions that the specification and the reference state, and what this project holds to."""

from __future__ import annotations

import pytest

from haltline.shell import classify
from haltline.shell.book import built_in
from haltline.shell.engine import MAX_STEPS, MAX_TEXT, Engine

DENY = [
    "ls\nrm -rf /",
    "(rm -rf /)",
    "{ rm -rf /; }",
    "if true; then rm -rf /; fi",
    'echo "$(rm -rf /)"',
    "ls && bash -c 'rm -rf /'",
    "env -i rm -rf /",
    "exec rm -rf /",
    "time rm -rf /",
    "sudo -u root rm -rf /",
    "rm -rf /tmp/../etc",
    "rm -rf //",
    "rm -rf ${HOME}",
    "rm -rf /*",
    "rm -rf ~",
    "rm -rf ~root",
    "rm -rf /./",
    "rm -rf C:/Users",
    "cd / && rm -rf *",
    'rm -rf "$NOBODY_SET_THIS/"',
    "rm -rf ${NOBODY_SET_THIS}/*",
    "rm -rf / 'open",
    "aws ssm send-command --document-name AWS-RunShellScript --parameters commands='rm -rf /'",
    "kubectl delete pvc --all --all-namespaces",
    'a=(x / y); rm -rf "${a[@]:1}"',
    'a=(echo rm); "${a[-1]}" -rf /',
    "psql <<< '\\set x `rm -rf /`'",
    "psql -c '\\echo a `rm -rf /` b'",
    "sqlite3 x '.sh rm -rf /'",
    "sqlite3 x '.o |rm -rf /' 'select 1'",
    "sqlplus x <<< '! rm -rf /'",
    "sqlplus x <<< 'host rm -rf /'",
    "mysql --pager='rm -rf /' -e 'select 1'",
    "PSQL_PAGER='rm -rf /' psql -c 'select 1'",
    "borg with-lock repo rm -rf /",
    "printf -v PAGER 'rm -rf /'; export PAGER; git log",
    "x='a[$(rm -rf /)]'; a[x]=1",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/rm -rf /",
    'PAGER="rm -rf / $X" git log',
    "for PAGER in less 'rm -rf /'; do export PAGER; git log; done",
    "b=1; x='a[$(rm -rf /)]'; echo ${b:x}",
    "b=1; x='a[$(rm -rf /)]'; echo ${b:0:x}",
    "a=(1 2); x='a[$(rm -rf /)]'; echo ${a[x]}",
    "x='a[$(rm -rf /)]'; declare -i y=x",
    "sqlite3 -readonly x '.shell rm -rf /'",
    "sqlite3 -readonly x <<E\nselect 1;\n.shell rm -rf /\nE",
    "wsl -e rm -rf /",
    "wsl rm -rf /",
    "sudo -s 'rm -rf /'",
    "sudo -i 'rm -rf /'",
    "salt '*' cmd.run 'rm -rf /'",
    "salt-call --local cmd.run 'rm -rf /'",
    "ansible all -m shell -a 'rm -rf /'",
    "gcloud compute ssh x --command 'rm -rf /'",
    "kubectl exec pod -- rm -rf /",
    "dotenv run rm -rf /",
    "dotenv -f .env run rm -rf /",
    "dotenv rm -rf /",
    "aws ssm send-command --parameters 'commands=[\"rm -rf /\"]'",
    'aws ssm send-command --parameters \'{"commands":["ls","rm -rf /"]}\'',
    'aws ssm send-command --parameters commands="rm -rf /"',
    "docker run -v /:/h alpine rm -rf /h",
    "docker run -v /:/h alpine rm -rf /h/etc",
    'docker run --rm -v "$HOME:/w" alpine rm -rf /w',
    "docker run --rm --mount type=bind,source=/,target=/h alpine sh -c 'rm -rf /h/*'",
    "x=(a rm); ${x[1]} -rf /",
    "read -ra x <<< 'a rm'; ${x[1]} -rf /",
    "mapfile -t x <<< $'a\\nrm'; ${x[1]} -rf /",
    "declare -A m=([go]=rm); ${m[go]} -rf /",
    "declare -a x=(a rm); ${x[1]} -rf /",
    "readonly x=(a rm); ${x[1]} -rf /",
    "x=(a b); x[1]=rm; ${x[1]} -rf /",
    "x=(-rf '/'); rm \"${x[@]}\"",
    'x=(rm); x+=(-rf /); "${x[@]}"',
    "i=1; x=(a rm); ${x[$i]} -rf /",
    "x=(a rm); ${x[-1]} -rf /",
    "x=(a rm); ${x[n]} -rf /",
    "x=(rm a); $x -rf /",
    'x=(ls rm -rf /); "${x[@]:1}"',
    "x='rm -rf /'; ${x@P}",
    "x='$(rm -rf /)'; echo \"${x@P}\"",
    "x='RM -RF /'; ${x@L}",
    "a='x[$(rm -rf /)]'; echo $((a))",
    "a='x[$(rm -rf /)]'; b=a; echo $((b + 1))",
    "a='x[$(rm -rf /)]'; (( a ))",
    "a='x[$(rm -rf /)]'; echo $(($a))",
    "[[ -v 'x[$(rm -rf /)]' ]]",
    "[[ 'x[$(rm -rf /)]' -eq 1 ]]",
    "a='x[$(rm -rf /)]'; [[ a -gt 1 ]]",
    "test -v 'x[$(rm -rf /)]'",
    "printf -v 'x[$(rm -rf /)]' y",
    "read 'x[$(rm -rf /)]' < f",
    "declare 'x[$(rm -rf /)]=1'",
    "unset 'x[$(rm -rf /)]'",
    "let 'x[$(rm -rf /)]=1'",
]
ASK = [
    'rm -rf "$(pwd)"/*',
    "git push -fu origin main",
    "git -C /repo reset --hard",
    "cat x |& bash",
    "bash <(curl x)",
    "rm -rf ~/Documents",
    "rm -rf .git",
    "rm -rf .",
    "rm -rf *",
    "rm -rf ..",
    "cd ~/x && rm -rf *",
    'git commit -m "$(git push --force)"',
    "echo 'open",
    "if [ -n x ]; then d=/etc; else d=build; fi; chmod -R 777 $d",
    "for f in a /etc; do chown -R x $f; done",
    "x=ls; while :; do $x -rf ~/a; x=rm; done",
    "cleanup() { rm -rf /; }",
]
NOTHING = [
    "false || python3 x.py",
    "kubectl -n delete get pods",
    "find . -exec grep y {} +",
    "rm -rf /dev/shm/x",
    "rm -rf build",
    "rm -rf /tmp/x",
    "rm -rf /var/tmp/x",
    "rm -rf /var/folders/ab/x",
    'rm -rf "$TMPDIR/x"',
    'd=$(mktemp -d); rm -rf "$d"',
    'rm -rf "${X:-build}"',
    'x=build; rm -rf "$x"',
    "cd build && rm -rf *",
    "git commit -m 'rm -rf /'",
    "git commit -F - <<E\nrm -rf /\nE",
    "gh pr create --body 'git push --force'",
    "echo 'rm -rf /'",
    "cat > f <<'E'\nrm -rf /\nE",
    "grep 'rm -rf /' f",
    "psql -c \"select 'DROP TABLE x'\"",
    "cleanup() { rm -rf ../x; }; cleanup() { rm -rf build; }; cleanup",
    "rm -rf build # /",
    'x=(build dist); rm -rf "${x[@]}"',
    "x=(/ build); rm -rf ${x[1]}",
    'x=(ls -la); "${x[@]}"',
    "i=1; echo $((i + 1))",
    "x='rm -rf /'; echo \"${x@Q}\"",
    "[[ -v x ]] && echo y",
    "echo '$((x[$(rm -rf /)]))'",
    "[[ \"a\" == '$(rm -rf /)' ]]",
    'docker run --rm -v "$PWD":/w alpine rm -rf /w/build',
    "wsl ls",
    "dotenv run npm start",
]


@pytest.mark.parametrize("command", DENY)
def test_catastrophes_are_denied(command: str) -> None:
    verdict = classify(command)

    assert verdict is not None
    assert verdict[0] == "deny"


@pytest.mark.parametrize("command", ASK)
def test_risks_need_a_question(command: str) -> None:
    verdict = classify(command)

    assert verdict is not None
    assert verdict[0] == "ask"


@pytest.mark.parametrize("command", NOTHING)
def test_data_and_everyday_work_are_left_alone(command: str) -> None:
    assert classify(command) is None


def test_a_command_that_cannot_be_parsed_says_so_in_the_specified_words() -> None:
    assert classify("echo 'open") == ("ask", "command could not be parsed")


@pytest.mark.parametrize(
    "command", ["a" * 70_000, "( " * 500 + "ls" + " )" * 500, "a;" * 5_000, "x=$x$x$x;" * 60 + "$x"]
)
def test_what_is_over_a_limit_needs_a_question(command: str) -> None:
    verdict = classify(command)

    assert verdict is None or verdict[0] == "ask"
    if len(command) > 60_000 or command[0] in "(a":
        assert verdict is not None


@pytest.mark.parametrize("start", ["cmd /c 'del ", "pwsh -c 'ri "])
def test_windows_words_are_limited_as_others_are(start: str) -> None:
    engine = Engine(built_in(), collecting=True)
    engine.judge(start + "a " * 3_000 + "'")

    assert "limits.reached" in [verdict[1].rule_id for verdict in engine.verdicts]
    assert len(engine.effects) < 10


def test_a_denied_command_before_a_limit_is_denied() -> None:
    verdict = classify("rm -rf /; " + "a;" * 5_000)

    assert verdict is not None
    assert verdict[0] == "deny"


HOSTILE = [
    "node -e '" + "x.exec(a.b.c).d(e)." * 2000 + "'",
    "python3 -c '" + "a(b);" * 9000 + "'",
    "sed '" + "s/a/b/" * 5000 + "'",
    "awk '" + 'print system("x") | ' * 2000 + "'",
    "*a" * 20_000,
    "eval " * 10_000,
    "sudo " * 10_000,
    "rm -rf " + "a " * 20_000,
    "((" * 20_000,
    "`" * 40_000,
    "$" * 40_000,
    "".join(f"f{i}(){{ f{i + 1}; f{i + 1}; }};" for i in range(300)) + "f0",
    "{a,b}" * 10_000,
    "x=$x$x;" * 3_000 + "$x",
    "find . " + "-exec a {} ; " * 3_000,
    "psql -c '" + "select 1;" * 5_000 + "'",
    'powershell -c "' + "a | b;" * 8_000 + '"',
    "pwsh -c '" + "iex " * 16_000 + "'",
]


@pytest.mark.parametrize("command", HOSTILE, ids=lambda command: command[:12])
def test_hostile_text_spends_no_more_than_its_budget(command: str) -> None:
    engine = Engine(built_in())
    engine.judge(command)

    assert engine.steps <= MAX_STEPS + len(command)
    assert engine.read <= MAX_TEXT + len(command)


# Where a published label for a command differs from the specification or the reference, those win. Each entry
# is a command of that shape, what it gets here, and why.
EXCEPTIONS = [
    ('echo "open', "ask", "what cannot be parsed is asked about (specification)"),
    ("find . -exec rm -f {} +", "ask", "deleting what a search finds is asked about (reference, family 4)"),
    ("find . -exec rm -r {} ';'", "ask", "likewise: without -f as well, the whole directory is found first"),
    ("rm -rf /tmp/example", None, "things in temporary roots are nothing (reference, Paths)"),
    ("/usr/bin/rm -fr /tmp/sample", None, "likewise, however rm is named"),
    ("rm /tmp/sample --force", None, "likewise, wherever the option stands"),
    ("sudo rm -rf /tmp/sample", None, "likewise: what runs decides, and not what runs it (specification)"),
    ("true | rm -rf /tmp/sample", None, "likewise, in a pipeline"),
    ("if [ -d /tmp/s ]; then rm -f /tmp/s/x; fi", None, "likewise, in a branch"),
    ('for d in /tmp/one /tmp/two; do rm -rf "$d"; done', None, "likewise, for each value of the loop"),
    ('echo "$(rm -rf /tmp/sample)"', None, "likewise, in a substitution"),
    ("r=rm; $r -rf /tmp/sample", None, "likewise, through a variable"),
    ("rm -rf 7", None, "a named relative directory is nothing (reference, Paths)"),
    (
        "find /tmp/project/../other -delete",
        None,
        "normalised, this lies in a temporary root (reference, Paths)",
    ),
    ("find /tmp/project-* -delete", None, "likewise"),
    ("echo / | xargs -i{} rm -rf", None, "nothing replaces the mark: rm gets no argument"),
    (
        "printf 'rm -rf /' | xargs sh -c 'eval \"$1\"' _",
        None,
        "xargs splits at blanks: only `rm` is evaluated",
    ),
    ("A-B=2 git status", None, "no assignment: a program of that name, which is unknown and not asked about"),
    ("ruby -e 'rm -rf /'", None, "no Ruby program: it fails before it does anything"),
    ("npm install left-pad", None, "packages from the configured registry are everyday work (DESIGN 2.7)"),
    ("git config --get credential.helper", None, "it prints the name of a helper, no credential"),
    ("az keyvault secret show --name s --vault-name v", "ask", "it prints a secret (reference, family 6)"),
    (
        "command -pv git reset --hard",
        None,
        "`command -v` prints where the program is and runs nothing (POSIX)",
    ),
    ("frobnicate", None, "a program that is not known is reported as unknown and not asked about (DESIGN 9)"),
    ("del notes.txt", None, "a named relative file is nothing (reference, Paths)"),
    ("del.exe notes.txt", None, "likewise, with the suffix of an executable"),
    ("powershell -Command Write-Output x", None, "what runs decides, and not what runs it (specification)"),
    ("POWERSHELL.EXE -Command Write-Output x", None, "likewise, in any case of letters"),
    ("rg pattern notes.txt", None, "it reads, and asking costs a prompt (DESIGN 2.7)"),
    ("rg -z pattern", None, "it reads compressed files with the machine's own decompressors"),
    (
        "./tools/rg pattern",
        None,
        "somebody's own program does not only read, and is not asked about either",
    ),
    ("cmd /c dir", None, "what runs decides, and not what runs it (specification)"),
    ("base64 -o out.bin", None, "writing a named file is nothing, as `> out.txt`"),
]


@pytest.mark.parametrize(("command", "decision", "reason"), EXCEPTIONS)
def test_exceptions_from_published_labels(command: str, decision: str | None, reason: str) -> None:
    verdict = classify(command)

    assert (verdict[0] if verdict is not None else None) == decision, reason
