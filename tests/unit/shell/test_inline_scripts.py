"""Scripts and project files that a command runs are read where the caller lets them be read."""

from __future__ import annotations

import pytest

from haltline.shell import analyze

FILES = {
    "bad.sh": "#!/bin/bash\nset -e\nrm -rf /\n",
    "good.sh": "#!/bin/sh\necho 'rm -rf /'\nmake build\n",
    "args.sh": 'rm -rf "$1"\n',
    "again.sh": "if [ -z $X ]; then X=1 ./again.sh; fi\necho done\n",
    "bad.py": "import shutil\nshutil.rmtree('/')\n",
    "good.py": "print('rm -rf /')\n",
    "run": "#!/usr/bin/env python3\nimport os\nos.system('rm -rf /')\n",
    "bad.js": "require('child_process').execSync('rm -rf /')",
    "bad.rb": "system 'rm -rf /'",
    "bad.sql": "SELECT 1;\nDROP TABLE users;\n",
    "good.sql": "SELECT 'DROP TABLE users';\n",
    "outer.sql": "\\i bad.sql\n",
    "sub/x.sh": "rm -rf ~\n",
    "sub/Makefile": "all:\n\trm -rf /\n",
    "Makefile": (
        "DIR := build\nROOT = /\n.PHONY: all\nall: lib\n\techo $(DIR)\nlib:\n\t@rm -rf $(DIR)\n"
        "wipe: lib\n\t-rm -rf $(ROOT)\ndeploy: check wipe\n\techo ok\ninner:\n\t$(MAKE) -C sub\n"
        "self:\n\t$(MAKE) self\ncheck:\n\techo 'rm -rf /'\ndollar:\n\trm -rf $$HOME\n%.o: %.c\n\trm -rf /usr\n"  # noqa: E501  the row is one case
    ),
    "package.json": (
        '{"scripts": {"build": "tsc", "wipe": "rm -rf /", "prestart": "git push --force", "start": "node x",'
        ' "test": "jest", "both": "npm run build && npm run wipe", "loop": "npm run loop", "db": "prisma"}}'
    ),
    "justfile": "build:\n    cargo build\n\nwipe: build\n    @rm -rf /\n\nall: wipe\n    echo ok\n",
}


def decision(command: str) -> str | None:
    return analyze(command, read_file=FILES.get).decision


@pytest.mark.parametrize(
    "command",
    [
        "sh bad.sh",
        "bash -x bad.sh",
        "./bad.sh",
        "sudo ./bad.sh",
        "source bad.sh",
        ". ./bad.sh",
        "sh args.sh /",
        "cd sub && sh x.sh",
        "python3 bad.py",
        "./run",
        "node bad.js",
        "ruby bad.rb",
        "bash < bad.sh",
        "make wipe",
        "make deploy",
        "make inner",
        "make -C sub",
        "cd sub && make",
        "make all ROOT=/ wipe",
        "make lib DIR=/etc",
        "make dollar",
        "make main.o",
        "npm run wipe",
        "npm run both",
        "yarn wipe",
        "pnpm run wipe",
        "bun run wipe",
        "just wipe",
        "just all",
    ],
)
def test_a_script_that_destroys_is_denied(command: str) -> None:
    assert decision(command) == "deny"


@pytest.mark.parametrize(
    "command",
    ["npm start", "psql -f bad.sql", "psql < bad.sql", "psql -f outer.sql", "npm run db -- migrate reset"],
)
def test_a_script_that_needs_a_question_is_asked_about(command: str) -> None:
    assert decision(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "sh good.sh",
        "./good.sh",
        "sh args.sh build",
        "./again.sh",
        "python3 good.py",
        "psql -f good.sql",
        "make",
        "make all",
        "make -n wipe",
        "make self",
        "npm run build",
        "npm test",
        "npm run loop",
        "yarn build",
        "just",
        "just build",
        "just --list",
    ],
)
def test_a_script_that_does_everyday_work_is_not(command: str) -> None:
    assert decision(command) is None


@pytest.mark.parametrize("command", ["sh missing.sh", "make -f missing.mk x", "npm run --prefix other build"])
def test_a_script_that_cannot_be_read_is_unknown(command: str) -> None:
    analysis = analyze(command, read_file=FILES.get)
    assert [unknown.kind for unknown in analysis.unknown] == ["script"]


def test_a_file_that_the_command_writes_is_judged_by_what_it_writes() -> None:
    assert decision("echo 'rm -rf /' > good.sh && sh good.sh") == "deny"


def test_a_file_that_the_command_writes_with_unknown_text_is_unknown() -> None:
    analysis = analyze("generate > good.sh; sh good.sh", read_file=FILES.get)
    assert "script" in {unknown.kind for unknown in analysis.unknown}


def test_a_long_script_is_unknown() -> None:
    analysis = analyze("python3 a.py", read_file=lambda _path: "print(1)\n" * 5000)
    assert (analysis.decision, [unknown.kind for unknown in analysis.unknown]) == (None, ["script"])


def test_a_path_is_read_where_cd_has_led() -> None:
    asked: list[str] = []
    analyze("cd sub && sh x.sh; cd ..", read_file=asked.append)
    assert asked == ["sub/x.sh"]


def test_a_path_at_home_is_asked_for_by_its_name() -> None:
    asked: list[str] = []
    analyze("sh ~/x.sh", home="/home/carol", read_file=asked.append)
    assert asked == ["/home/carol/x.sh"]
