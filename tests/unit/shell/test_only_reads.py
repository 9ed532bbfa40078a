"""What provably only reads, and what looks like it: a session that is halted lets some of the first pass."""

from __future__ import annotations

import pytest

from haltline.shell import analyze

READS = [
    "git --exec-path",
    "git log -p",
    "go list -m all",
    "ss -tlnp",
    "docker ps",
    "kubectl get pods",
    "time ls",
    "timeout 5 ls -l",
    "env ls",
    "xargs -a f ls",
    "sh -c 'cat x'",
    "find . -exec cat {} +",
    "python3 -c \"open('x', 'r')\"",
    "psql -c 'explain delete from t'",
    "psql -c 'select count(*) from users'",
    "sqlite3 x 'pragma table_info(a)'",
    "sqlite3 x .tables",
    "sqlite3 -readonly x 'select 1'",
    "ls > /dev/null",
]
MORE_THAN_READS = [
    "git --exec-path=x status",
    "git log -p --textconv",
    "git diff --output=x",
    "go list -mod=mod ./...",
    "go list -toolexec=./x ./...",
    "ss -K dst x",
    "strace -o x ls",
    "perf record ls",
    "valgrind --log-file=x ls",
    "hyperfine --export-json x ls",
    "script -c ls x",
    "flock x ls",
    "ssh h cat x",
    "docker exec x ls",
    "kubectl exec p -- ls",
    "npx ls",
    "uv run ls",
    "nix-shell --run ls",
    "direnv exec . ls",
    "chroot /x ls",
    "python3 -c \"open('x', mode=m)\"",
    "psql -c 'explain analyze delete from t where id=1'",
    "psql -c 'select 1 into x'",
    "psql -c 'select 1' -o out",
    "psql -L out -c 'select 1'",
    'psql -c "select anything(1)"',
    "sqlite3 x \"select writefile('a','b')\"",
    "sqlite3 x 'pragma user_version=3'",
    "sqlite3 -readonly x 'drop table a'",
    "mysql --tee=f -e 'select 1'",
    "mysql -e \"select 1 into outfile '/tmp/x'\"",
]


@pytest.mark.parametrize("command", READS)
def test_a_command_that_only_reads(command: str) -> None:
    analysis = analyze(command)

    assert analysis.only_reads, (analysis.effects, analysis.unknown)


@pytest.mark.parametrize("command", MORE_THAN_READS)
def test_a_command_that_may_do_more_than_read(command: str) -> None:
    assert not analyze(command).only_reads
