"""`find` and `fd`: searches that delete, run and write."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from haltline.shell.call import BUILD_PRODUCTS, PIPED, Flow
from haltline.shell.detectors.filesystem import place, written
from haltline.shell.detectors.selfprotect import own_file
from haltline.shell.environment import Environment
from haltline.shell.marks import HOME, PRESENT, display
from haltline.shell.options import Grammar, parse
from haltline.shell.paths import Zone
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_GLOBAL = frozenset({"-H", "-L", "-P"})
_ONE_VALUE = word_set(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype "
    "-size -mtime -atime "
    "-ctime -mmin -amin -cmin -newer -anewer -cnewer -user -group -uid -gid -perm -links -inum "
    "-samefile -maxdepth "
    "-mindepth -printf -fstype -used -context -regextype -newermt -newerct -newerat -D -files0-from "
    "-fls -fprint "
    "-fprint0 -flags -Bmin -Btime -since -xattrname"
)
_WRITES = frozenset({"-fls", "-fprint", "-fprint0", "-fprintf"})
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_NARROWS = word_set(
    "-name -iname -path -ipath -regex -iregex -wholename -newer -mtime -mmin -size -user -inum "
    "-samefile -lname -empty"
)


def find(engine: Engine, call: Call) -> Flow:
    """`find` start points, then an expression whose actions may delete, run or write."""
    argv = call.argv
    i = 1
    while i < len(argv) and (argv[i] in _GLOBAL or argv[i].startswith(("-O", "-D"))):
        i += 2 if argv[i] == "-D" else 1
    starts: list[str] = []
    while i < len(argv) and argv[i][:1] not in ("-", "(", "!"):
        starts.append(argv[i])
        i += 1
    starts = starts or ["."]
    narrowed = any(word in _NARROWS for word in argv[i:])
    either = any(word in ("-o", "-or", "!", "-not", ",") for word in argv[i:])
    names = [] if either else [after for word, after in pairwise(argv[i:]) if word in ("-name", "-iname")]
    paths = [after for word, after in pairwise(argv[i:]) if word in ("-path", "-wholename", "-ipath")]
    acted = False
    while i < len(argv):
        word = argv[i]
        i += 1
        if word == "-delete":
            acted = True
            _deletes(engine, call, starts, names, paths, narrowed=narrowed)
        elif word in _RUNS:
            acted = True
            i = _runs(engine, call, starts, names, i)
        elif word in _WRITES:
            acted = True
            _writes(engine, call, argv[i] if i < len(argv) else "")
            i += 2 if word == "-fprintf" else 1
        elif word in _ONE_VALUE or word.startswith("-newer"):
            i += 1
    if not acted:
        engine.effect("read", " ".join(display(start) for start in starts), call)
    return _found(engine, call, starts, names)


def _found(engine: Engine, call: Call, starts: list[str], names: list[str]) -> Flow:
    """Return the list that a search writes, marked where nothing but products of a build is found."""
    products = all(_disposable(engine, call, start, names) for start in starts)
    return Flow(None, PIPED, BUILD_PRODUCTS if products else "")


def _writes(engine: Engine, call: Call, target: str) -> None:
    written(engine, call, target, overwrites=True)
    where = place(engine, call, target)
    if where not in (Zone.NAMED, Zone.TEMPORARY, Zone.SINK, Zone.SYSTEM):
        engine.report("filesystem.write-system", call, display(target))


def _deletes(
    engine: Engine,
    call: Call,
    starts: list[str],
    names: list[str],
    paths: list[str],
    *,
    narrowed: bool,
) -> None:
    for start in starts:
        if any(
            own_file(engine, call, path, removed=True)
            for path in (start, *(f"{start}/{name}" for name in [*names, *paths]))
        ):
            continue
        where = place(engine, call, start)
        engine.effect("delete", display(start), call, recursive=True, reversible=False)
        if where in (Zone.TEMPORARY, Zone.SINK) and not call.appended:
            continue
        if where in (Zone.ROOT, Zone.SYSTEM, Zone.HOMES):
            decision = "ask" if narrowed else "deny"
            engine.report("filesystem.delete-root", call, display(start), decision=decision)
        elif not _product(start, names):
            engine.report("filesystem.delete-found", call, display(start))


_PRODUCTS = word_set(
    "build dist out target node_modules coverage .cache __pycache__ .pytest_cache .mypy_cache .ruff_cache "
    ".next .nuxt .turbo .tox .nox .gradle .parcel-cache .DS_Store Thumbs.db"
)
_PRODUCT_NAME = re.compile(r"\*\.(?:py[cod]|o|obj|class|gcda|gcno|tsbuildinfo|swp|orig|rej)\Z")


def _product(start: str, names: list[str]) -> bool:
    """Return whether only products of a build are found: by their directory, or by their name."""
    parts = start.removeprefix("./").rstrip("/").split("/")
    if ".." not in parts and start[:1] not in ("/", HOME) and not _PRODUCTS.isdisjoint(parts):
        return True
    return bool(names) and all(name in _PRODUCTS or _PRODUCT_NAME.match(name) for name in names)


def _disposable(engine: Engine, call: Call, start: str, names: list[str]) -> bool:
    """Return whether what a search finds below a place may be deleted without a question."""
    where = place(engine, call, start)
    return where not in (Zone.ROOT, Zone.SYSTEM, Zone.HOMES) and _product(start, names)


def _runs(engine: Engine, call: Call, starts: list[str], names: list[str], i: int) -> int:
    argv = call.argv
    end = i
    while end < len(argv) and argv[end] != ";" and not (argv[end] == "+" and argv[end - 1] == "{}"):
        end += 1
    command = argv[i:end]
    if not command:
        return end + 1
    removes = command[0].rpartition("/")[2] in _REMOVES
    temporary = all(place(engine, call, start) is Zone.TEMPORARY for start in starts)
    for start in starts if any("{}" in word for word in command) else starts[:1]:
        whole = place(engine, call, start) in (Zone.ROOT, Zone.TEMPORARY_ROOT)
        found = start if whole else start.rstrip("/") + "/" + PRESENT
        if not whole and len(names) == 1 and "haltline" in names[0]:
            found += "/" + names[0]
        inner = call.inner([word.replace("{}", found) for word in command], "find")
        inner.stdin = None
        inner.appended = not temporary
        if removes and _disposable(engine, call, start, names):
            inner.argv = [word.replace("{}", BUILD_PRODUCTS) for word in command]
            inner.appended, inner.environment = False, Environment()
        if command[0].rpartition("/")[2] in _INTERPRETERS and command[1:2] == ["{}"]:
            engine.report("interpreters.found-files", call, command[0])
        engine.dispatch(inner)
    return end + 1


_REMOVES = word_set("rm unlink rmdir")
_INTERPRETERS = word_set("sh bash zsh dash ksh python python2 python3 node perl ruby php")


_FD = Grammar("-e -E -t -d -S -o --extension --exclude --type --max-depth --size --owner --base-directory")
_FOUND = frozenset({"{}", "{/}", "{//}", "{.}"})


def fd(engine: Engine, call: Call) -> Flow:
    """`fd … -x command` runs a command on what it finds."""
    argv = call.argv
    at = next((i for i, word in enumerate(argv) if word in ("-x", "-X", "--exec", "--exec-batch")), None)
    options = parse(argv[:at], _FD)
    starts = options.words[1:] or ["."]
    names = ["*." + suffix for suffix in options.all_values("-e", "--extension")] or [
        pattern.strip("^$") for pattern in options.words[:1]
    ]
    if at is None:
        engine.effect("read", None, call)
        return _found(engine, call, starts, names)
    command = argv[at + 1 :]
    if ";" in command:
        command = command[: command.index(";")]
    if command and not any("{" in word for word in command):
        command = [*command, "{}"]
    for start in starts if command else ():
        found = start.rstrip("/") + "/" + PRESENT
        inner = call.inner([found if word in _FOUND else word for word in command], "fd")
        inner.appended = place(engine, call, start) is not Zone.TEMPORARY
        if command[0].rpartition("/")[2] in _REMOVES and _disposable(engine, call, start, names):
            inner.argv = [BUILD_PRODUCTS if word in _FOUND else word for word in command]
            inner.appended, inner.environment = False, Environment()
        engine.dispatch(inner)
    return Flow(None, PIPED)
