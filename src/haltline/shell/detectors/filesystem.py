"""Files lost by deleting, overwriting, moving or changing who may use them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import COMPUTED, Flow
from haltline.shell.detectors.selfprotect import own_file
from haltline.shell.marks import HOME, PRESENT, UNKNOWN, display
from haltline.shell.options import Grammar, Options, parse
from haltline.shell.paths import Zone, zone

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

CATASTROPHIC = frozenset({Zone.ROOT, Zone.SYSTEM, Zone.HOMES, Zone.DEVICE})
HARMLESS = frozenset({Zone.TEMPORARY, Zone.SINK, Zone.NOWHERE})
_CRITICAL_FILE = re.compile(
    r"/etc/(?:passwd|shadow|group|gshadow|sudoers|fstab)\Z|/boot/|/(?:usr/)?s?bin/[^/]+\Z"
)
_SOURCES = frozenset({"src", "source", "sources", "migrations"})
_GENERATED = re.compile(
    r"\*\.(?:egg-info|dist-info|pyc|pyo|o|obj|a|so|class|log|tmp|temp|bak|orig|rej|swp|whl"
    r"|tsbuildinfo|gcda|gcno|profraw)/?\Z"
)
_IMAGE = re.compile(r"\.(?:img|bin|raw|iso|dat|swap|qcow2|vmdk|vdi)\Z")
_STARTUP = re.compile(
    r"(?:^|/)(?:\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zshenv|zprofile|zlogin|bash_logout"
    r"|gitconfig|npmrc)"
    r"|authorized_keys|crontab|config\.fish)\Z|/\.ssh/|/LaunchAgents/|/LaunchDaemons/"
    r"|/\.config/systemd/|/autostart/"
)
_SEARCHES = frozenset({"find", "gfind", "fd", "fdfind"})
_LOGS = re.compile(r"/var/log/")
_DISPOSABLE = (".log", ".out", ".tmp", ".lock", ".pid")
_REMOVE_VALUES = Grammar("-n -s --size --iterations --random-source --preserve-root=")


_HOOKS = re.compile(r"(?:^|/)\.git/(?:[^.].*/)?hooks(?:/|\Z)(?!.*\.sample\Z)")
# What Git keeps a repository in; its locks are left behind by what was broken off, and are removed by hand.
_REPOSITORY_DATA = re.compile(
    r"(?:^|/)\.git/(?:index|HEAD|config|packed-refs|shallow|modules|(?:refs|objects|logs|worktrees)(?:/.*)?)/?\Z"
)


def _taken_from_repository(engine: Engine, call: Call, target: str) -> None:
    """Judge a path in `.git` that goes away: hooks, or what the repository consists of."""
    directory = call.environment.directory
    path = target if directory is None or target[:1] in ("/", HOME) else directory + "/" + target
    if ".git/" not in path or target.endswith(".lock") or place(engine, call, target) in HARMLESS:
        return
    if _HOOKS.search(path):
        engine.report("git.hooks-off", call, display(target))
    elif _REPOSITORY_DATA.search(path):
        engine.report("filesystem.delete-repository", call, display(target))


def place(engine: Engine, call: Call, path: str) -> Zone:
    """Return the zone of a path that a command names."""
    return zone(path, call.environment.directory, engine.home, engine.cwd)


def remove(engine: Engine, call: Call) -> Flow | None:
    """`rm` and its like: what is lost depends on where the targets lie."""
    argv = call.argv
    name = call.program
    if any(word in ("--help", "--version") for word in argv):
        return Flow("", 0)
    options = parse(argv, _REMOVE_VALUES)
    targets = options.words
    if name == "rmdir" and any(word.lower() in ("/s", "/q") for word in targets):
        return None
    recursive = options.has("-r", "-R", "--recursive")
    force = options.has("-f", "--force")
    if name == "shred":
        _shred(engine, call, options)
        return Flow("", 0)
    if name in ("trash", "rimraf", "del-cli", "trash-cli"):
        recursive = force = True
    for target in targets:
        engine.effect(
            "delete", display(target), call, recursive=recursive, force=force, reversible=name == "trash"
        )
        deleted(engine, call, target, recursive=recursive, force=force)
    return Flow("", 0)


def deleted(engine: Engine, call: Call, target: str, *, recursive: bool, force: bool) -> None:  # noqa: C901, PLR0912  one decision for each zone
    """Judge the deletion of one target."""
    if own_file(engine, call, target, removed=True):
        return
    _taken_from_repository(engine, call, target)
    where = place(engine, call, target)
    shown = display(target)
    if where in (Zone.ROOT, Zone.HOMES) or (where in CATASTROPHIC and recursive):
        engine.report("filesystem.delete-root", call, shown)
    elif where is Zone.DEVICE:
        engine.report("filesystem.delete-root", call, shown, decision="ask")
    elif where is Zone.SYSTEM:
        decision = "deny" if _CRITICAL_FILE.match(target) else "ask"
        engine.report("filesystem.delete-system-file", call, shown, decision=decision)
    elif where is Zone.HOME:
        engine.report("filesystem.delete-in-home", call, shown)
    elif where in (Zone.HERE, Zone.TEMPORARY_ROOT):
        engine.report("filesystem.delete-here", call, shown)
    elif where is Zone.REPOSITORY and recursive:
        engine.report("filesystem.delete-repository", call, shown)
    elif where is Zone.PATTERN and recursive and not _GENERATED.search(target):
        engine.report("filesystem.delete-here", call, shown)
    elif where not in HARMLESS and (
        _listed(call, target) or (call.taints & COMPUTED and where is Zone.UNKNOWN)
    ):
        engine.report("filesystem.delete-listed", call)
    elif not recursive or where in HARMLESS:
        return
    elif where is Zone.UNKNOWN:
        engine.report("filesystem.delete-unknown", call, shown)
    elif where is Zone.OUTSIDE and force:
        engine.report("filesystem.delete-outside", call, shown)
    elif where is Zone.NAMED and force and target.rstrip("/").removeprefix("./") in _SOURCES:
        engine.report("filesystem.delete-sources", call, shown)


def _listed(call: Call, target: str) -> bool:
    """Return whether a search or a list decides the target, here or for the shell text that it runs."""
    return call.appended or (PRESENT in target and not _SEARCHES.isdisjoint(call.via))


def _shred(engine: Engine, call: Call, options: Options) -> None:
    for target in options.words:
        if own_file(engine, call, target, removed=True):
            continue
        where = place(engine, call, target)
        if where in CATASTROPHIC:
            engine.report("filesystem.overwrite-device", call, display(target))
        elif where not in HARMLESS:
            engine.report("filesystem.shred", call, display(target))


def written(engine: Engine, call: Call, target: str, *, overwrites: bool) -> None:
    """Judge a write to one path."""
    if own_file(engine, call, target):
        return
    where = place(engine, call, target)
    shown = display(target)
    engine.effect("overwrite" if overwrites else "write", shown, call, reversible=not overwrites)
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        _connected(engine, call, target)
    elif where is Zone.DEVICE:
        engine.report("filesystem.overwrite-device", call, shown)
    elif where in (Zone.ROOT, Zone.SYSTEM):
        if re.match(r"/proc/sysrq-trigger|/proc/sys/|/sys/", target):
            engine.report("machine.kernel", call, shown)
        else:
            decision = "deny" if overwrites and _CRITICAL_FILE.match(target) else "ask"
            engine.report("filesystem.write-system", call, shown, decision=decision)
    elif where is Zone.HOMES:
        engine.report("filesystem.write-system", call, shown)
    elif _STARTUP.search(target.replace(HOME, "~")):
        engine.report("filesystem.write-startup", call, shown)
    elif re.search(r"(?:^|/)\.git/(?:hooks/|config\Z)", target):
        engine.report("git.hooks", call, shown)


_OWN_HOST = re.compile(r"/dev/(?:tcp|udp)/(?:localhost|127\.[0-9.]+|::1|0\.0\.0\.0)/")
_PROBES = (["echo"], [":"], ["true"])


def _connected(engine: Engine, call: Call, target: str) -> None:
    """Judge a connection that the shell opens: to this machine, or with nothing to send, it is a probe."""
    if _OWN_HOST.match(target) or call.argv in _PROBES:
        engine.effect("network_out", display(target), call)
    else:
        engine.report("machine.reverse-shell", call, display(target))


def truncated(engine: Engine, call: Call, target: str) -> None:
    """Judge the emptying of a file."""
    where = place(engine, call, target)
    if where in HARMLESS or where is Zone.UNKNOWN:
        return
    if where in (Zone.NAMED, Zone.HOME, Zone.OUTSIDE, Zone.PATTERN) and (
        _LOGS.match(target) or not target.endswith(_DISPOSABLE)
    ):
        engine.report("filesystem.truncate", call, display(target))


_MOVE = Grammar("-t -S --target-directory --suffix")


def move(engine: Engine, call: Call) -> Flow:
    """`mv`: the source is gone, and what stood at the target is overwritten."""
    options = parse(call.argv, _MOVE)
    into = options.value("-t", "--target-directory")
    sources = options.words if into is not None else options.words[:-1]
    target = into if into is not None else (options.words[-1] if options.words else "")
    for source in sources:
        where = place(engine, call, source)
        engine.effect("delete", display(source), call)
        if own_file(engine, call, source, removed=True):
            continue
        _taken_from_repository(engine, call, source)
        if target == "/dev/null":
            engine.report("filesystem.move-away", call, display(source))
        elif where in (Zone.ROOT, Zone.SYSTEM, Zone.HOMES, Zone.REPOSITORY):
            engine.report("filesystem.move-system", call, display(source))
    if target and target != "/dev/null":
        written(engine, call, target, overwrites=True)
        _into(engine, call, sources, target, into)
        if "/dev/null" in sources:
            truncated(engine, call, target)
    return Flow("", 0)


def _into(engine: Engine, call: Call, sources: list[str], target: str, into: str | None) -> None:
    """Judge the files that are put into a directory under their own names."""
    if into is not None or target.endswith("/") or "." in target.rpartition("/")[2][:1]:
        for source in sources:
            own_file(engine, call, target.rstrip("/") + "/" + source.rstrip("/").rpartition("/")[2])


_COPY = Grammar("-t -S -m -o -g --target-directory --suffix --mode --owner --group")


def copy(engine: Engine, call: Call) -> Flow:
    """`cp` and `install`: what stood at the target is overwritten."""
    options = parse(call.argv, _COPY)
    into = options.value("-t", "--target-directory")
    words = options.words
    target = into if into is not None else (words[-1] if len(words) > 1 else "")
    if not target:
        return Flow("", 0)
    written(engine, call, target, overwrites=True)
    _into(engine, call, words if into is not None else words[:-1], target, into)
    if words[0] == "/dev/null":
        truncated(engine, call, target)
    mode = options.value("-m", "--mode") or ""
    if re.fullmatch(r"[0-7]?[4-7][0-7]{3}|.*[ug]\+s.*", mode):
        engine.report("privilege.setuid", call, display(target))
    return Flow("", 0)


def overwrite(engine: Engine, call: Call) -> Flow | None:
    """`dd`, `truncate`, `tee`, `ln`, `sed`: programs that write over a file in place."""
    name = call.program
    return _OVERWRITERS[name](engine, call) if name in _OVERWRITERS else None


def _dd(engine: Engine, call: Call) -> Flow | None:
    operands = dict(word.split("=", 1) for word in call.argv[1:] if "=" in word)
    target = operands.get("of")
    if target is None:
        return None
    written(engine, call, target, overwrites=True)
    if target[:1] == UNKNOWN:
        engine.report("filesystem.write-unknown", call, display(target))
    empties = operands.get("if", "").startswith(("/dev/zero", "/dev/null", "/dev/random", "/dev/urandom"))
    if empties and not _IMAGE.search(target):
        truncated(engine, call, target)
    return Flow("", 0)


_TRUNCATE = Grammar("-s -r --size --reference")


def _truncate(engine: Engine, call: Call) -> Flow | None:
    options = parse(call.argv, _TRUNCATE)
    size = options.value("-s", "--size") or ""
    for target in options.words:
        written(engine, call, target, overwrites=True)
        if re.fullmatch(r"[<-]?0?[0-9]*", size) and size.strip("<-0") == "":
            truncated(engine, call, target)
    return Flow("", 0)


def _tee(engine: Engine, call: Call) -> Flow | None:
    options = parse(call.argv)
    appends = options.has("-a", "--append")
    flow = call.stdin or Flow()
    for target in options.words:
        written(engine, call, target, overwrites=not appends)
        engine.files[engine.located(target, call.environment)] = Flow(flow.text, flow.taints)
        if not appends and flow.text == "":
            truncated(engine, call, target)
    return None


_LN = Grammar("-t -S --target-directory --suffix")


def _ln(engine: Engine, call: Call) -> Flow | None:
    """What a link points to stays as it is; where the link goes something may be replaced."""
    options = parse(call.argv, _LN)
    words = options.words
    into = options.value("-t", "--target-directory")
    for target in words[-1:]:
        own_file(engine, call, target)
    if options.has("-f", "--force") and len(words) > 1:
        written(engine, call, words[-1], overwrites=True)
        if words[0] == "/dev/null":
            truncated(engine, call, words[-1])
    elif into is not None or len(words) > 1:
        engine.effect("write", display(words[-1] if into is None else into), call)
    elif words:  # a link of the same name, here
        engine.effect("write", display(words[0].rstrip("/").rpartition("/")[2]), call)
    return Flow("", 0)


_SED_RUNS = re.compile(r"(?:^|[;{}\n]|^\d+|^\$|/)[ \t\r]*e\s+(.+)", re.DOTALL)
_SED_WRITES = re.compile(r"(?:^|[;{}/|,!\dgpI$])[wW]\s*[^\s;}]")
_SED_TARGET = re.compile(r"(?:^|[;{}/|,!\dgpI$])[wW]\s+((?:\.{0,2}/|~)[^\n;}]+)")
_SED_SUBSTITUTION = re.compile(r"(?:^|[;{}\s/0-9$])s([^\w\s\\])")
_SED_FLAGS = re.compile(r"[gpiImMew0-9]*")


def _sed_executes(script: str) -> bool:
    """Return whether a substitution has the flag that runs its result as a command."""
    match = _SED_SUBSTITUTION.search(script)
    while match is not None:
        end = _after_delimiter(script, _after_delimiter(script, match.end(), match[1]), match[1])
        flags = _SED_FLAGS.match(script, end)
        if flags is not None and "e" in flags[0]:
            return True
        match = _SED_SUBSTITUTION.search(script, end)
    return False


def _after_delimiter(script: str, i: int, delimiter: str) -> int:
    while i < len(script):
        if script[i] == "\\":
            i += 1
        elif script[i] == delimiter:
            return i + 1
        i += 1
    return len(script)


_SED = Grammar("-e -f -l --expression --file --line-length")


def _sed(engine: Engine, call: Call) -> Flow | None:
    options = parse(call.argv, _SED)
    scripts = options.all_values("-e", "--expression")
    words = options.words
    if not scripts and not options.has("-f", "--file"):
        scripts, words = words[:1], words[1:]
    for path in options.all_values("-f", "--file"):
        text = engine.file_flow(path, call).text
        if text is None:
            engine.unknown("script", path, call)
        else:
            scripts.append(text)
    for script in scripts:
        _sed_script(engine, call, script)
    if any(option in ("-i", "-I", "--in-place") for option, _ in options.given):
        for target in words:
            written(engine, call, target, overwrites=True)
        return Flow("", 0)
    writes = any(_SED_WRITES.search(script) for script in scripts)
    engine.effect("write" if writes else "read", " ".join(words) or None, call)
    return None


def _sed_script(engine: Engine, call: Call, script: str) -> None:
    """Judge what a script runs (`e`) and writes (`w`)."""
    match = _SED_RUNS.search(script)
    if match is not None:
        engine.run_text(match[1], call.inner([], "sed"))
    elif _sed_executes(script):
        engine.report("interpreters.pipe-to-shell", call, "sed")
    for target in _SED_TARGET.finditer(script):
        written(engine, call, target[1].strip(), overwrites=True)


_OVERWRITERS = {"dd": _dd, "truncate": _truncate, "tee": _tee, "ln": _ln, "sed": _sed}


_OPENED = re.compile(r"[0-7]*(?:[2367][0-7]|[0-7][2367])|[ugo]*[goa][ugo]*\+[rxX]*w[rwxX]*")
_CLOSED = re.compile(r"(?:[ugoa]*[-=](?!.*x).*|[ugoa]*-[rwx]*x[rwx]*|[0-7]?[0246][0-7]{2})")
_CHMOD_OPTION = re.compile(r"[^-]|--|-[Rvcf]+\Z")


_PERMISSIONS = Grammar("-m -x -M -X --reference --from --set-file --restore")


def permissions(engine: Engine, call: Call) -> Flow | None:
    """`chmod`, `chown` and their like on roots, homes and system files."""
    name = call.program
    argv = call.argv
    if name == "chmod":  # `-x` is a mode, not an option
        argv = [word if _CHMOD_OPTION.match(word) else word.replace("-", "a-", 1) for word in argv]
    options = parse(argv, _PERMISSIONS)
    recursive = options.has("-R", "--recursive")
    words = options.words if name == "setfacl" else options.words[1:]
    mode = options.words[0] if options.words else ""
    if name == "chattr":
        mode = next((word for word in call.argv[1:] if word[:1] in "+-=" and word != "-R"), "")
        words = [word for word in options.words if word != mode]
    for target in words:
        engine.effect("write", display(target), call, recursive=recursive)
        own_file(engine, call, target)
        if name == "chmod" and _CLOSED.fullmatch(mode) and _HOOKS.search(target):
            engine.report("git.hooks-off", call, display(target))
        where = place(engine, call, target)
        opened = _OPENED.fullmatch(mode) is not None and (
            where is Zone.DEVICE
            or (where is Zone.HOME and recursive)
            or _STARTUP.search(target.replace(HOME, "~"))
        )
        if (
            opened
            or where in (Zone.ROOT, Zone.SYSTEM, Zone.HOMES)
            or (
                recursive
                and where in (Zone.HERE, Zone.HOME, Zone.PATTERN, Zone.REPOSITORY)
                and re.fullmatch(r"[0-7]*777|[0-7]*000|(?:a|ugo)?\+rwx|o\+w|(?:a|ugo|u)?-r?wx?", mode)
            )
        ):
            engine.report("filesystem.permissions", call, display(target))
    if name == "chmod" and re.fullmatch(r"[2-7][0-7]{3}|0[2-7][0-7]{3}|(?:[ug]|ug|a)?\+[rwx]*s[rwx]*", mode):
        engine.report("privilege.setuid", call, " ".join(display(word) for word in words))
    return Flow("", 0)
