"""Programs that write files by an option, by what they unpack, or in place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import Flow
from haltline.shell.detectors.filesystem import (
    CATASTROPHIC,
    HARMLESS,
    deleted,
    place,
    truncated,
    written,
)
from haltline.shell.detectors.selfprotect import own_file
from haltline.shell.marks import UNKNOWN, display
from haltline.shell.options import Grammar, Options, parse
from haltline.shell.paths import Zone
from haltline.shell.unwrap_texts import fresh, moved

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_TAR = Grammar(
    "-f -C -T -X -b -g -H -I -K -L -N -V --file --directory --exclude --exclude-from --files-from "
    "--strip-components --transform --use-compress-program --to-command --rsh-command --rmt-command "
    "--info-script --new-volume-script --listed-incremental --owner --group --mode --mtime --one-top-level"
)
_TAR_RUNS = (
    *(
        "--checkpoint-action",
        "-I",
        "--use-compress-program",
        "--to-command",
        "--rsh-command",
        "--rmt-command",
    ),
    *("-F", "--info-script", "--new-volume-script"),
)


_UNZIP = Grammar("-d -x -P")


_TAR_OPTIONS = Grammar("-D -E -F -H -I -O -R --directory --file --format --rsh-command")


def extract(engine: Engine, call: Call) -> Flow | None:
    """Archives unpacked over a system directory or a home, and archives that eat what they pack."""
    name = call.program
    target: str | None
    anywhere = False
    if name == "unzip":
        options = parse(call.argv, _UNZIP)
        target, extracts = options.value("-d"), not options.has("-l", "-t", "-Z", "-p", "-z", "-v")
    elif name in ("7z", "7za", "7zz", "7zr"):
        target = next((word[2:] for word in call.argv if word.startswith("-o") and len(word) > 2), None)  # noqa: PLR2004  a path is attached
        extracts = call.argv[1:2] in (["x"], ["e"])
    elif name == "cpio":
        options = parse(call.argv, _TAR_OPTIONS)
        target, extracts = options.value("-D", "--directory"), options.has("-i", "--extract")
    else:
        options = parse(call.argv, _TAR)
        mode = call.argv[1] if len(call.argv) > 1 and call.argv[1][:1] != "-" else ""
        extracts = options.has("-x", "--extract", "--get") or "x" in mode
        anywhere = options.has("-P", "--absolute-names") or "P" in mode
        target = options.value("-C", "--directory")
        _tar_helpers(engine, call, options)
        if options.has("--remove-files"):
            for word in options.words[1:] if mode else options.words:
                deleted(engine, moved(call, target), word, recursive=True, force=True)
    if not extracts:
        return None
    for word in call.argv[2:]:
        own_file(engine, call, (target or ".") + "/" + word)
    where = place(engine, call, target or ".")
    engine.effect("overwrite", display(target or "."), call)
    if where in (Zone.ROOT, Zone.SYSTEM, Zone.HOMES) or anywhere:
        engine.report("filesystem.extract", call, display(target or "."))
    return Flow("", 0)


def _tar_helpers(engine: Engine, call: Call, options: Options) -> None:
    """Run what `tar` is told to run for checkpoints, members, compression and volumes."""
    for action in options.all_values(*_TAR_RUNS):
        text = action.removeprefix("exec=")
        if text != action or not action.startswith(
            ("dot", "echo", "sleep", "ttyout", "bell", "wait", "totals")
        ):
            engine.run_text(text, call.inner([], "tar"), fresh(call))


_OUTPUT_OPTION = {
    "sort": "-o --output",
    "shuf": "-o --output",
    "tree": "-o",
    "yq": "-s --split-exp",
    "openssl": "-out -keyout -writerand",
    "gpg": "-o --output",
    "gpg2": "-o --output",
    "age": "-o --output",
    "pandoc": "-o --output",
    "tcpdump": "-w",
    "git-log": "--output",
    "git-show": "--output",
    "git-diff": "--output",
    "git-diff-tree": "--output",
    "git-diff-index": "--output",
    "git-diff-files": "--output",
    "git-archive": "-o --output",
    "git-format-patch": "-o --output-directory",
    "git-bundle": "",
}
_OUTPUT_VALUES = "-k -t -S -T -n -s --key --buffer-size"
_OUTPUT = {
    name: Grammar(f"{names} {_OUTPUT_VALUES}", joined=name == "openssl")
    for name, names in _OUTPUT_OPTION.items()
}


def output_file(engine: Engine, call: Call) -> Flow | None:
    """`sort -o file`: a program that reads, unless an option names a file to write."""
    name = call.program
    names = _OUTPUT_OPTION[name]
    options = parse(call.argv, _OUTPUT[name])
    targets = options.all_values(*names.split())
    if name == "yq" and options.has("-i", "--inplace", "--in-place"):
        targets += options.words[-1:]
    if options.words[:1] == ["create"] and name == "git-bundle":
        targets += options.words[1:2]
    for target in targets:
        written(engine, call, target, overwrites=True)
    return None


_PACK = Grammar("-b -t -n -x -i -P -TT")


def pack(engine: Engine, call: Call) -> Flow | None:
    """`zip -m archive files`: the files go away once they are packed."""
    options = parse(call.argv, _PACK)
    if options.has("-m", "--move"):
        for target in options.words[1:]:
            deleted(engine, call, target, recursive=True, force=True)
    return None


_TARGET = {
    "patch": Grammar(
        "-d -i -o -p -r -B -D -F -g -V -Y -z --directory --input --output --strip --reject-file --fuzz"
    ),
    "sponge": Grammar(""),
    "ed": Grammar("-p --prompt"),
    "red": Grammar("-p"),
    "split": Grammar(
        "-a -b -C -l -n -t --filter --bytes --lines --number --suffix-length --additional-suffix"
    ),
    "csplit": Grammar("-b -f -n --prefix --digits"),
    "fallocate": Grammar("-o -l -n --offset --length"),
    "mkfifo": Grammar("-m --mode"),
}


def target_files(engine: Engine, call: Call) -> Flow | None:
    """`patch file`, `sponge file`, `ed file`: programs that write the files that they name."""
    name = call.program
    options = parse(call.argv, _TARGET[name])
    words = options.words
    if name == "patch":
        if options.has("--dry-run", "-C", "--check"):
            engine.effect("read", None, call)
            return None
        call = moved(call, options.value("-d", "--directory"))
        words = words[:1] + options.all_values("-o", "--output", "-r", "--reject-file")
        if not words and place(engine, call, ".") in CATASTROPHIC:
            words = ["."]
    elif name in ("split", "csplit"):
        words = words[1:2]
    elif name == "fallocate" and not options.has(
        "-p", "-z", "-c", "--punch-hole", "--zero-range", "--collapse-range"
    ):
        return None
    for target in words:
        written(engine, call, target, overwrites=name != "patch")
        if name == "fallocate":
            truncated(engine, call, target)
    return None


_AWK = Grammar("-F -f -v -i -e -l --include --source --file --assign")


_SCRIPT = Grammar("-e -E -I -M -m -r -C -0")


def in_place(engine: Engine, call: Call) -> Flow | None:
    """`perl -pi -e code file`, `ruby -i`, `gawk -i inplace`: programs that edit the files that they name."""
    name = call.program
    if "awk" in name:
        options = parse(call.argv, _AWK)
        program = " ".join(options.all_values("-e", "--source") or options.words[:1])
        for match in _AWK_TARGET.finditer(program):
            written(engine, call, match[2], overwrites=match[1] == ">")
        if options.has("-d", "-o", "-p", "--dump-variables", "--pretty-print", "--profile"):
            engine.effect("write", None, call)
        if "inplace" not in options.all_values("-i", "--include"):
            return None
        targets = options.words if options.has("-e", "-f", "--source", "--file") else options.words[1:]
    else:
        options = parse(call.argv, _SCRIPT)
        if not any(option == "-i" for option, _ in options.given):
            return None
        targets = options.words if options.has("-e", "-E") else options.words[1:]
    for target in targets:
        written(engine, call, target, overwrites=True)
    return None


_AWK_TARGET = re.compile(r"[^<>=](>>?)\s*\"([^\"]+)\"")


_SYNCHRONISE = Grammar(
    "-e -f -T -B -M --rsh --rsync-path --exclude --include --filter --files-from --bwlimit --chmod"
)


def synchronise(engine: Engine, call: Call) -> Flow | None:
    """`rsync --delete` removes from the target what the source lacks."""
    options = parse(call.argv, _SYNCHRONISE)
    for text in options.all_values("-e", "--rsh", "--rsync-path"):
        engine.run_text(text, call.inner([], "rsync"))
    if options.has("-n", "--dry-run") or not options.words:
        return None
    target = options.words[-1]
    if _remote(target):
        engine.effect("network_out", display(target), call)
    if options.has("--remove-source-files"):
        for source in options.words[:-1]:
            deleted(engine, call, source, recursive=True, force=True)
    if any(option.startswith("--del") for option, _ in options.given) or options.has("--remove-source-files"):
        where = place(engine, call, target)
        own_file(engine, call, target.rstrip("/"), removed=True)
        if where in (Zone.ROOT, Zone.SYSTEM, Zone.HOMES):
            engine.report("filesystem.synchronise", call, display(target), decision="deny")
        elif where not in HARMLESS:
            engine.report("filesystem.synchronise", call, display(target))
    if not _remote(target):
        written(engine, call, target, overwrites=True)
    return Flow("", 0)


def _remote(target: str) -> bool:
    return ":" in target.split("/", 1)[0] or UNKNOWN in target
