from __future__ import annotations

import pytest
from tests.unit.secrets import fake_tokens as tokens

from haltline.secrets import is_credential_file, is_environment_dump, scan_diff

TOKEN = tokens.github()
DIFF = f"""\
--- a/app.py
+++ b/app.py
@@ -1,3 +10,4 @@
 import os
-token = "{tokens.github(seed=8)}"
+import sys
+token = "{TOKEN}"
 print("{tokens.github(seed=9)}")
"""


def test_added_lines_block_and_removed_lines_inform() -> None:
    shown = [
        (found.finding.rule, found.file, found.line, found.added, found.blocks) for found in scan_diff(DIFF)
    ]
    assert shown == [
        ("github-pat", "app.py", 0, False, False),
        ("github-pat", "app.py", 12, True, True),
    ]


def test_a_key_of_several_added_lines_is_found() -> None:
    added = "\n".join(f"+{line}" for line in tokens.pem().split("\n"))
    [found] = scan_diff(f"+++ b/key.pem\n@@ -0,0 +1,9 @@\n{added}\n")
    assert (found.finding.rule, found.line) == ("private-key", 1)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".env", True),
        ("app/.env.production", True),
        ("~/.aws/credentials", True),
        ("/home/someone/.ssh/id_ed25519", True),
        ("C:\\Users\\x\\.kube\\config", True),
        ("/proc/1/environ", True),
        ("deploy/server.pem", True),
        (".env.example", False),
        (".env.sample", False),
        ("id_ed25519.pub", False),
        ("src/config", False),
        ("README.md", False),
        ("proc/1/environ", False),
        ("", False),
    ],
)
def test_credential_files_are_known_by_name(path: str, expected: bool) -> None:
    assert is_credential_file(path) is expected


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("env",), True),
        (("/usr/bin/printenv",), True),
        (("export", "-p"), True),
        (("env", "-0"), True),
        (("env", "A=1", "make"), False),
        (("printenv", "HOME"), False),
        (("set", "-e"), False),
        ((), False),
    ],
)
def test_commands_that_print_the_environment_are_known(argv: tuple[str, ...], expected: bool) -> None:
    assert is_environment_dump(argv) is expected
