"""Wrappers: commands whose words are, or hold, another command; their options are data."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from haltline.shell import unwrap_texts
from haltline.shell.call import BUILD_PRODUCTS, PIPED, SECRET, Flow
from haltline.shell.detectors.builtins import which
from haltline.shell.detectors.selfprotect import own_setting
from haltline.shell.environment import Environment
from haltline.shell.judging.settings import judge_setting
from haltline.shell.marks import HOME, UNKNOWN, known
from haltline.shell.options import Grammar, Options, parse
from haltline.shell.scanner import ansi_c
from haltline.shell.unwrap_texts import fresh, grammar, keys, moved, settings
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_ITEMS = 64
_RENAMED_IN_A_STEP = 16  # characters
_SETTING = re.compile(r"[^=\s-][^=\s]*=")
_NUMBERED = re.compile(r"-\d+\Z")


def prefix(engine: Engine, call: Call) -> Flow | None:
    """Judge what a wrapper runs: the rest of its words, an option's text, or both."""
    engine.charge(1)
    spec = engine.book.wrappers[call.program]
    mode = spec.get("mode", "words")
    return _MODES[mode](engine, call, call.program, spec)


def _words(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:  # noqa: C901  a step for each thing before the command
    """`sudo -u x command …`: options, settings and a number of own words come before the command."""
    argv = _without_pairs(call.argv, spec.get("pairs", "").split())
    index = 1
    subcommands = spec.get("after", "").split()
    if subcommands:
        found = _after(argv, subcommands, spec)
        if found is None:
            return _direct(engine, call, name, spec) if spec.get("direct") else None
        index = found
    own = grammar(name, spec)
    options = parse(argv, own, index, first_word_ends=True)
    call = moved(call, options.value(*spec.get("directory", "").split()))
    if options.has(*spec.get("prints", "").split()):
        return which(engine, call)
    for unset in options.all_values(*spec.get("unsets", "").split()):
        own_setting(engine, call, unset, "")
    flow = None
    given = parse(argv, own, index) if spec.get("everywhere") else options
    for text in given.all_values(*spec.get("text", "").split()):
        flow = engine.run_text(text, call.inner([], name), fresh(call))
    start = _start(engine, call, argv, options, spec)
    if start is None:
        return flow
    rest = (options.value(*spec.get("entry", "").split()) or "").split() + argv[start:]
    if not rest:
        return Flow(None, PIPED | SECRET) if name == "env" and flow is None else flow
    if rest[0] in spec.get("text", "").split():
        return engine.run_text(" ".join(rest[1:2]), call.inner([], name), fresh(call))
    if spec.get("shell"):
        rest = ["bash", *rest]
    one_text = spec.get("join_one") or options.has(*spec.get("shell_options", "").split())
    if spec.get("join") or (one_text and len(rest) == 1):
        return engine.run_text(" ".join(rest), call.inner([], name), fresh(call))
    return engine.dispatch(call.inner(rest, name))


def _start(
    engine: Engine, call: Call, argv: list[str], options: Options, spec: Mapping[str, Any]
) -> int | None:
    """Return the offset of the wrapped command after settings, own words and `--`; None without one."""
    index = options.index
    if "only" in spec and not options.has(*spec["only"].split()):
        return None
    if spec.get("settings"):
        while index < len(argv) and (_SETTING.match(argv[index]) or argv[index] == "-"):
            setting, _, value = argv[index].partition("=")
            call.settings.append((setting, value))
            judge_setting(engine, call, setting, value)
            index += 1
    if "keyword" in spec and argv[index : index + 1] == [spec["keyword"]]:
        index += 1
    skip = spec.get("skip", 0)
    if skip and argv[index : index + 1] == ["--"]:
        index += 1
    index += skip
    if spec.get("more"):
        index = parse(argv, Grammar(spec.get("values", "")), index, first_word_ends=True).index
    if spec.get("separator") and "--" in argv[index:]:
        return argv.index("--", index) + 1
    if spec.get("separator") == "required":
        return None
    return index + 1 if argv[index : index + 1] == ["--"] else index


def _without_pairs(argv: list[str], pairs: list[str]) -> list[str]:
    """Return the words without options that take two values (`bwrap --bind from to`)."""
    if not pairs:
        return argv
    kept, index = [], 0
    while index < len(argv):
        if argv[index] in pairs:
            index += 3
            continue
        kept.append(argv[index])
        index += 1
    return kept


def _variants(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """Judge a program that wraps commands in several ways: each subcommand has its own."""
    flow = None
    for variant in spec["variants"]:
        flow = _words(engine, call, name, variant) or flow
    if "keys" in spec and not {"send-keys", "send"}.isdisjoint(call.argv):
        keys(engine, call, name, spec["keys"])
    return flow


def _ssh(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`ssh host command …`, or a shell there that reads its input; its options may run commands here."""
    settings(engine, call, name, spec)
    options = parse(call.argv, grammar(name, spec), first_word_ends=True)
    stdin = call.stdin
    waits = len(call.argv) - options.index == 1 and not options.has("-N", "-W", "-f")
    if waits and stdin is not None and stdin.text is not None:
        inner = call.inner([], name)
        inner.stdin = None
        return engine.run_text(stdin.text, inner, Environment())
    return _words(engine, call, name, spec)


_OWN_COMMANDS = word_set(
    "rm ln link unlink env list ls exec create set test start why patch install add remove up update pack"
)


def _direct(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`pnpm tool …`, `yarn tool …`: a word that is none of their own commands names a program."""
    options = parse(call.argv, Grammar(spec.get("global", "")), first_word_ends=True)
    rest = call.argv[options.index :]
    program = engine.book.program(rest[0]) if rest and rest[0] not in _OWN_COMMANDS else None
    own = engine.book.own is not None and bool(rest) and engine.book.own.speak_of(rest[0])
    if not own and (program is None or not (program.has_rules or program.detectors)):
        return None
    if program is None:  # known to a user's rules alone: what the program does by itself stays an effect
        engine.effect("execute", name, call)
    return engine.dispatch(call.inner(rest, name))


def _after(argv: list[str], subcommands: list[str], spec: Mapping[str, Any]) -> int | None:
    """Return the offset after `docker … exec` or the like, or None when the command is not that one."""
    options = parse(argv, Grammar(spec.get("global", "")), 1, first_word_ends=True)
    index = options.index
    for subcommand in subcommands:
        choices = subcommand.split("/")
        if len(choices) > 1:
            words = choices
        else:
            words = subcommand.split("+")
            if argv[index : index + len(words)] == words:
                return index + len(words)
            continue
        if argv[index : index + 1] and argv[index] in words:
            return index + 1
    return None


def _xargs(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`xargs command …`: the words of its input follow the command's own, or replace a mark in them."""
    argv = call.argv
    options = parse(argv, grammar(name, spec), first_word_ends=True)
    rest = argv[options.index :] or ["echo"]
    replace: str | None = options.value("-I", "-J", "--replace") or (
        "{}" if options.has("-i", "--replace") else None
    )
    for word in argv[1 : options.index]:
        if word.startswith("-i") and len(word) > 2:  # noqa: PLR2004  a mark is attached
            replace = word[2:]
    from_file = options.has("-a", "--arg-file")
    text = call.stdin.text if call.stdin is not None and not from_file else None
    inner = call.inner(rest, name)
    inner.stdin = Flow("", 0)
    if call.stdin is not None:
        inner.taints |= call.stdin.taints
    if replace is not None and _is_code(rest, replace):
        engine.report("interpreters.pipe-to-shell", call, name)
    if text is None or not known(text):
        products = call.stdin is not None and call.stdin.source == BUILD_PRODUCTS
        inner.appended = not products
        inner.environment = Environment() if products else inner.environment
        item = BUILD_PRODUCTS if products else UNKNOWN
        inner.argv = [word.replace(replace, item) for word in rest] if replace else [*rest, item]
        return engine.dispatch(inner)
    if replace is None:
        inner.argv = rest + _items(text, options)
        return engine.dispatch(inner)
    for line in text.splitlines()[:MAX_ITEMS]:
        one = call.inner([word.replace(replace, line) for word in rest], name)
        one.stdin = Flow("", 0)
        engine.dispatch(one)
    return Flow()


def _items(text: str, options: Options) -> list[str]:
    """Return the words that `xargs` reads: separated by blanks, or by the delimiter that it was given."""
    delimiter = options.value("-d", "--delimiter")
    if options.has("-0", "--null"):
        delimiter = "\0"
    if delimiter is None:
        return text.split()[:MAX_ITEMS]
    return [item for item in text.split(ansi_c(delimiter) or "\n") if item][:MAX_ITEMS]


def _is_code(words: list[str], mark: str) -> bool:
    """Return whether a shell would take the replaced mark for its whole code."""
    return any(
        word == mark and before.startswith("-") and before.endswith("c")
        for before, word in pairwise(words[1:])
    )


def _parallel(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`parallel command ::: arguments`, with arguments or whole commands from its input as well."""
    argv = call.argv
    options = parse(argv, grammar(name, spec), first_word_ends=True)
    rest = argv[options.index :]
    arguments: list[str] | None = None
    for mark in (":::", ":::+", "::::"):
        if mark in rest:
            at = rest.index(mark)
            arguments = rest[at + 1 :] if mark != "::::" else None
            rest = rest[:at]
            break
    else:
        text = call.stdin.text if call.stdin is not None else None
        if text is not None and known(text):
            arguments = text.splitlines()
        if not rest:
            engine.report("interpreters.pipe-to-shell", call, name)
    inner = call.inner([], name)
    if call.stdin is not None and _is_code(rest, "{}"):
        engine.report("interpreters.pipe-to-shell", call, name)
    if arguments is None:
        inner.appended = True
        arguments = [UNKNOWN]
    for argument in arguments[:MAX_ITEMS]:
        words = (
            [w.replace("{}", argument) for w in rest] if any("{}" in w for w in rest) else [*rest, argument]
        )
        if len(words) == 1 or (len(rest) == 1 and " " in rest[0]):
            engine.run_text(" ".join(words), inner, Environment())
            continue
        one = inner.inner(words, name)
        one.via = inner.via
        engine.dispatch(one)
    return Flow()


_REACHES_OUT = ("-v", "--volume", "--mount", "--volumes-from", "--privileged", "--device")


def _renamed(host: str, match: re.Match[str]) -> str:
    return host + "/" if match[1] or not host else host


def _on_the_host(engine: Engine, call: Call, given: Options) -> Call:
    """Return the command with paths below a mounted directory named as the host names them."""
    mounts = [volume.split(":")[:2] for volume in given.all_values("-v", "--volume")]
    for mount in given.all_values("--mount"):
        fields = dict(field.partition("=")[::2] for field in mount.split(","))
        source = fields.get("source", fields.get("src", ""))
        mounts.append([source, fields.get("target", fields.get("destination", fields.get("dst", "")))])
    other = call
    for mounted in mounts:
        source, target = (place.rstrip("/") for place in (*mounted, "", "")[:2])
        if not target or mounted[0][:1] not in ("/", ".", "~", HOME) or " " in source:
            continue  # a volume that the engine keeps
        below = re.compile(r"(?<![\w./:=-])" + re.escape(target) + r"(?:(/)|(?=[\s'\";&|)*]|\Z))")
        engine.charge(1 + sum(map(len, other.argv)) // _RENAMED_IN_A_STEP)
        words = [below.sub(partial(_renamed, source), word) for word in other.argv]
        other = call.inner(words, "")
        other.via, other.depth = call.via, call.depth
    return other


def _container(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`docker exec` and `docker run`: in a new container without mounts, its own files are no loss."""
    before = len(engine.verdicts)
    options = parse(call.argv, Grammar(spec["global"]), first_word_ends=True)
    if call.argv[options.index : options.index + 1] == ["compose"]:
        compose = call.inner(["docker-compose", *call.argv[options.index + 1 :]], name)
        return engine.dispatch(compose)
    given = parse(call.argv, grammar(name, spec))
    flow = _words(engine, _on_the_host(engine, call, given), name, spec)
    if "run" in call.argv[1:4] and not given.has(*_REACHES_OUT):
        engine.verdicts[before:] = [
            verdict
            for verdict in engine.verdicts[before:]
            if not verdict[1].rule_id.startswith("filesystem.")
        ]
    return flow


_MODES = {
    "words": _words,
    "variants": _variants,
    "ssh": _ssh,
    "xargs": _xargs,
    "parallel": _parallel,
    "container": _container,
    "options": unwrap_texts.option_texts,
    "settings": unwrap_texts.settings,
    "texts": unwrap_texts.texts,
    "debugger": unwrap_texts.debugger,
    "editor": unwrap_texts.editor,
    "emacs": unwrap_texts.emacs,
    "escapes": unwrap_texts.escapes,
    "screen": unwrap_texts.screen,
    "expect": unwrap_texts.expect,
    "pager": unwrap_texts.pager,
    "scheduled": unwrap_texts.scheduled,
    "make": unwrap_texts.make,
    "ansible": unwrap_texts.ansible,
    "salt": unwrap_texts.salt,
    "ssm": unwrap_texts.systems_manager,
}
