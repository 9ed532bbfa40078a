"""JavaScript, Perl, Ruby, PHP and others: the calls that run or delete, found conservatively by their names.

Text inside string literals that is no argument of such a call is not looked at; a call whose argument is
computed is reported, because nobody can say what it does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.environment import Environment
from haltline.shell.marks import HOME, UNKNOWN
from haltline.shell.scanner import ansi_c

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_LENGTH = 64 * 1024

_STRING = r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)"""
_ARRAY = re.compile(_STRING)
_NEXT = re.compile(r"\s*,\s*" + _STRING, re.DOTALL)
_CONNECTS = re.compile(
    r"\bsocket\b|TCPSocket|fsockopen|net\.(?:Socket|connect|createConnection)|IO::Socket", re.IGNORECASE
)
_SHELL_PATH = re.compile(r"/bin/(?:ba|z|da|k)?sh\b|cmd\.exe")
MAX_ARGUMENTS = 64


class _Language:
    __slots__ = ("delete", "name", "run", "run_list", "text")

    def __init__(self, name: str, run: str, delete: str, run_list: str = "", text: str = "") -> None:
        self.name = name
        self.run = re.compile(rf"(?<![\w$>])(?:{run})\s*\(?\s*{_STRING}", re.DOTALL)
        self.delete = re.compile(
            rf"(?<![\w$>])(?:{delete})\s*\(?\s*(?:{_STRING}|([\w$*./~<-]{{1,200}}(?:\s*\([^)]{{0,200}}\)|\s+q?[qw]?\([^)]{{0,200}}\))?))",
            re.DOTALL,
        )
        self.run_list = (
            re.compile(rf"(?<![\w$])(?:{run_list})\s*\(\s*{_STRING}\s*,\s*\[([^\]]*)\]", re.DOTALL)
            if run_list
            else None
        )
        self.text = re.compile(text, re.DOTALL) if text else None


_JAVASCRIPT = _Language(
    "node",
    r"execSync|exec|execPromise|\$",
    r"(?:rmSync|rmdirSync|unlinkSync|rm|rmdir|unlink|removeSync"
    r"|emptyDirSync|rimraf(?:\.sync)?|Deno\.remove(?:Sync)?)",
    r"spawnSync|spawn|execFileSync|execFile",
)
_PERL = _Language(
    "perl",
    r"system|exec|qx",
    r"unlink|rmtree|remove_tree|rmdir",
    text=r"`([^`]*)`|qx\s*[({/|!]([^)}/|!]*)[)}/|!]",
)
_RUBY = _Language(
    "ruby",
    r"(?:Kernel\.)?(?:system|exec|spawn)|IO\.popen|Open3\.\w+",
    r"(?:FileUtils\.)?(?:rm_rf|rm_r|rm_f|remove_dir|remove_entry|rmtree)|FileUtils\.rm"
    r"|File\.(?:delete|unlink)|Dir\.(?:rmdir|delete)",
    text=r"`([^`]*)`|%x\s*[({\[]([^)}\]]*)[)}\]]",
)
_PHP = _Language(
    "php", r"system|exec|shell_exec|passthru|popen|proc_open", r"unlink|rmdir", text=r"`([^`]*)`"
)
_OTHER = _Language(
    "script",
    r"os\.execute|io\.popen|system|do shell script|exec",
    r"os\.remove|unlink|file\s+delete(?:\s+-force)?",
)


def javascript(engine: Engine, call: Call, code: str) -> None:
    """Report what a JavaScript text would do."""
    _judge(engine, call, code, _JAVASCRIPT)


def perl(engine: Engine, call: Call, code: str) -> None:
    """Report what a Perl text would do."""
    _judge(engine, call, code, _PERL)


def ruby(engine: Engine, call: Call, code: str) -> None:
    """Report what a Ruby text would do."""
    _judge(engine, call, code, _RUBY)


def php(engine: Engine, call: Call, code: str) -> None:
    """Report what a PHP text would do."""
    _judge(engine, call, code, _PHP)


def other(engine: Engine, call: Call, code: str) -> None:
    """Report what a text in a language without its own reader would do."""
    _judge(engine, call, code, _OTHER)


def _judge(engine: Engine, call: Call, code: str, language: _Language) -> None:
    engine.effect("execute", language.name, call)
    if len(code) > MAX_LENGTH:
        engine.report("limits.reached", call, "inline code is too long")
        return
    inner = call.inner([], language.name)
    if _CONNECTS.search(code) and _SHELL_PATH.search(code):
        engine.report("machine.reverse-shell", call)
    for match in language.run.finditer(code):
        words = [_text(match), *_following(code, match.end())]
        if len(words) > 1:
            engine.dispatch(call.inner(words, language.name))
        else:
            engine.run_text(words[0], inner, Environment())
    if language.run_list is not None:
        for match in language.run_list.finditer(code):
            program = next(group for group in match.groups()[:3] if group is not None)
            arguments = [_text(item) for item in _ARRAY.finditer(match.groups()[3])]
            engine.dispatch(call.inner([program, *arguments], language.name))
    if language.text is not None:
        for match in language.text.finditer(code):
            engine.run_text(
                next(group for group in match.groups() if group is not None), inner, Environment()
            )
    for match in language.delete.finditer(code):
        _delete(engine, call, match, code)


def _following(code: str, position: int) -> list[str]:
    """Return the further string arguments of a call: with them, no shell comes between."""
    words: list[str] = []
    match = _NEXT.match(code, position)
    while match is not None and len(words) < MAX_ARGUMENTS:
        words.append(_text(match))
        match = _NEXT.match(code, match.end())
    return words


def _text(match: re.Match[str]) -> str:
    return ansi_c(next((group for group in match.groups()[:3] if group is not None), ""))


def _delete(engine: Engine, call: Call, match: re.Match[str], code: str) -> None:
    from haltline.shell.detectors.filesystem import deleted  # noqa: PLC0415  loaded only where it is needed

    computed = match.groups()[3]
    if computed is not None:
        target = "*" if "glob" in computed or "*" in computed else UNKNOWN
    else:
        target = _text(match)
    target = HOME + target[1:] if target == "~" or target.startswith("~/") else target
    rest = code[match.end() : match.end() + 80]
    recursive = "recursive" in rest or any(
        word in match[0] for word in ("rm_r", "tree", "rimraf", "empty", "rmdir", "remove_")
    )
    if computed is not None and target == "*":
        recursive = True
    engine.effect("delete", target, call, recursive=recursive, reversible=False)
    deleted(engine, call, target, recursive=recursive, force=True)
