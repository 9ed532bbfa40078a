"""What a project's files make a build tool run: Makefile and justfile recipes, scripts of package.json.

Only files that the caller lets us read are looked at. What a recipe computes stays unknown.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from haltline.shell.environment import Environment
from haltline.shell.options import Grammar, parse
from haltline.shell.scanner import LimitReached

if TYPE_CHECKING:
    from collections.abc import Callable

    from haltline.shell.call import Call, Flow
    from haltline.shell.engine import Engine

MAX_TARGETS = 512  # a run that needs more is asked about
_LINES_PER_STEP = 8
_NAMES_PER_STEP = 16
_CHARACTERS_PER_STEP = 64
MAX_EXPANDED = 8192

_MAKE = Grammar(
    "-f -C -j -l -I -o -W -E --file --makefile --directory --eval --jobs --include-dir --load-average"
)
_NPM = Grammar("--prefix -C --dir -w --workspace --filter -F --cwd")
_JUST = Grammar("-f -d --justfile --working-directory --set --shell --shell-arg")
_RULE = re.compile(r"^([^\s#:=][^#:=\n]{0,400}?)\s*::?(?!=)([^#;=\n]*)(?:;(.*))?$")
_VARIABLE = re.compile(r"^\s*(?:export\s+|override\s+)?([\w.-]+)\s*(?:::|[:?+])?=\s*(.*)$")
_REFERENCE = re.compile(r"\$\$|\$\(([^()]*)\)|\$\{([^{}]*)\}|\$([@<^+?*%])")
_UNKNOWN = "$HALTLINE_UNKNOWN"
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)((?:[ \t]+[^:=\n]*)?):(?!=)([^\n]*)$")
_BRACES = re.compile(r"\{\{[^{}]*\}\}")
_OWN = frozenset({"test", "start", "stop", "restart", "t", "tst"})
_RUN = frozenset({"run", "run-script", "rum", "urn"})


def make(engine: Engine, call: Call) -> Flow | None:
    """`make target` runs the recipes of the target and of what it depends on."""
    if engine.read_file is None and not engine.files:
        return None
    options = parse(call.argv, _MAKE)
    if options.has("-n", "--just-print", "--dry-run", "--recon", "-q", "--question", "-v", "--version"):
        return None
    name = options.value("-f", "--file", "--makefile")
    names = ("GNUmakefile", "makefile", "Makefile") if name is None else (name,)
    place = _inside(call, options.value("-C", "--directory"))
    text = _first(engine, place, names)
    if text is None:
        engine.unknown("script", names[-1], call)
        return None
    makefile = _Makefile(text, [word for word in options.words if "=" in word], engine.charge)
    targets = [word for word in options.words if "=" not in word] or makefile.first
    _each(engine, place, f"make {names[-1]} {place.environment.directory}", targets, makefile)
    return None


def _each(engine: Engine, place: Call, key: str, targets: list[str], makefile: _Makefile) -> None:
    waiting: list[str] = list(targets)
    seen: set[str] = set()
    while waiting:
        target = waiting.pop(0)
        mark = ("make", key, target)
        if target in seen or mark in engine.active:
            continue
        seen.add(target)
        _within(seen)
        prerequisites, lines = makefile.rules.get(target) or makefile.pattern(target)
        engine.charge(1 + len(waiting) // _NAMES_PER_STEP)
        waiting.extend(prerequisites)
        engine.active.append(mark)
        try:
            for line in lines:
                engine.charge(1)
                text = makefile.expanded(line, target, prerequisites).lstrip("@-+ \t")
                engine.run_text(text, place.inner([], "make"), _fresh(place))
        finally:
            engine.active.pop()


def _within(seen: set[str]) -> None:
    if len(seen) > MAX_TARGETS:
        raise LimitReached(f"more than {MAX_TARGETS} targets")


class _Makefile:
    """The rules of a makefile, as far as they are written out."""

    __slots__ = ("charge", "first", "rules", "variables")

    def __init__(self, text: str, settings: list[str], charge: Callable[[int], None]) -> None:
        self.charge = charge
        self.rules: dict[str, tuple[list[str], list[str]]] = {}
        self.variables: dict[str, str] = {"MAKE": "make", "RM": "rm -f", "CURDIR": ".", "SHELL": "/bin/sh"}
        self.first: list[str] = []
        current: list[str] = []
        lines = text.replace("\\\n", " ").split("\n")
        charge(len(lines) // _LINES_PER_STEP)
        for line in lines:
            if line.startswith("\t"):
                charge(len(current) // _NAMES_PER_STEP)
                for target in current:
                    self.rules[target][1].append(line[1:])
                continue
            variable = _VARIABLE.match(line)
            if variable is not None:
                self.variables[variable[1]] = variable[2].partition(" #")[0].strip()
                continue
            rule = _RULE.match(line)
            if rule is not None:
                current = self.add(rule)
            elif line.strip() and not line.startswith(("#", " ")):
                current = []
        for setting in settings:
            name, _, value = setting.partition("=")
            self.variables[name.rstrip(":?+")] = value

    def add(self, rule: re.Match[str]) -> list[str]:
        """Add a rule's targets; return them."""
        targets = self.expanded(rule[1], "", []).split()
        prerequisites = self.expanded(rule[2], "", []).replace("|", " ").split()
        self.charge(1 + len(targets) * (1 + len(prerequisites)) // _NAMES_PER_STEP)
        for target in targets:
            known = self.rules.setdefault(target, ([], []))
            known[0].extend(prerequisites)
            if rule[3]:
                known[1].append(rule[3])
        if not self.first and targets and not targets[0].startswith(".") and "%" not in targets[0]:
            self.first = targets[:1]
        return targets

    def pattern(self, target: str) -> tuple[list[str], list[str]]:
        """Return the rule whose pattern a target matches."""
        for name, rule in self.rules.items():
            before, percent, after = name.partition("%")
            if percent and target.startswith(before) and target.endswith(after):
                return [], rule[1]
        return [], []

    def expanded(self, text: str, target: str, prerequisites: list[str], depth: int = 0) -> str:
        """Return a text with its references replaced."""

        def fill(match: re.Match[str]) -> str:
            if match[0] == "$$":
                return "$"
            if match[3] is not None:
                return {"@": target, "<": " ".join(prerequisites[:1])}.get(match[3], " ".join(prerequisites))
            name = (match[1] or match[2] or "").strip()
            if name.startswith(("wildcard ", "strip ", "sort ")):
                return name.partition(" ")[2]
            value = self.variables.get(name)
            if value is None:
                return _UNKNOWN
            return self.expanded(value, target, prerequisites, depth + 1) if depth < 4 else _UNKNOWN  # noqa: PLR2004  variables inside one another

        self.charge(len(text) // _CHARACTERS_PER_STEP)
        found = _REFERENCE.sub(fill, text)
        if len(found) > MAX_EXPANDED:
            raise LimitReached(f"more than {MAX_EXPANDED} characters in a line of a makefile")
        return found


def package_script(engine: Engine, call: Call) -> Flow | None:  # noqa: C901  one case for each form
    """`npm run x`, `yarn x`, `pnpm x`, `bun run x`: the script of package.json with what runs around it."""
    if engine.read_file is None and not engine.files:
        return None
    tool = call.program
    options = parse(call.argv, _NPM, first_word_ends=True)
    rest = call.argv[options.index :]
    if not rest:
        return None
    if rest[0] in _RUN:
        inner = parse(rest, _NPM, first_word_ends=True)
        options.given += inner.given
        rest = rest[inner.index :]
    elif rest[0] in _OWN:
        rest = ["test" if rest[0] in ("t", "tst") else rest[0], *rest[1:]]
    elif tool in ("npm", "bun"):
        return None
    if not rest:
        return None
    place = _inside(call, options.value("--prefix", "-C", "--dir", "--cwd"))
    text = _first(engine, place, ("package.json",))
    scripts = _scripts(text)
    if scripts is None:
        if rest[0] not in ("install", "add", "remove", "why", "list"):
            engine.unknown("script", "package.json", call)
        return None
    name = rest[0]
    arguments = [word for word in rest[1:] if word != "--"]
    mark = ("package.json", str(place.environment.directory), name)
    if mark in engine.active:
        return None
    engine.active.append(mark)
    try:
        for key in ("pre" + name, name, "post" + name):
            script = scripts.get(key)
            if isinstance(script, str):
                from haltline.shell.judging.program import quote  # noqa: PLC0415  the engine imports this by name

                whole = script if key != name or not arguments else script + " " + quote(arguments)
                engine.run_text(whole, place.inner([], tool), _fresh(place))
    finally:
        engine.active.pop()
    return None


def _scripts(text: str | None) -> dict[str, object] | None:
    if text is None:
        return None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    scripts = content.get("scripts", {}) if isinstance(content, dict) else None
    return scripts if isinstance(scripts, dict) else None


def just(engine: Engine, call: Call) -> Flow | None:  # noqa: C901  one case for each form
    """`just recipe` runs the recipe and what it depends on."""
    if engine.read_file is None and not engine.files:
        return None
    options = parse(call.argv, _JUST, first_word_ends=True)
    if options.has("-n", "--dry-run", "-l", "--list", "--show", "-s", "--summary", "--dump"):
        return None
    name = options.value("-f", "--justfile")
    place = _inside(call, options.value("-d", "--working-directory"))
    text = _first(engine, place, (name,) if name is not None else ("justfile", "Justfile", ".justfile"))
    if text is None:
        engine.unknown("script", name or "justfile", call)
        return None
    recipes: dict[str, tuple[list[str], list[str]]] = {}
    current: list[str] | None = None
    rows = text.split("\n")
    engine.charge(len(rows) // _LINES_PER_STEP)
    for line in rows:
        match = _RECIPE.match(line)
        if match is not None:
            current = []
            recipes[match[1]] = (re.findall(r"[A-Za-z_][\w-]*", match[3].partition("#")[0]), current)
        elif current is not None and line[:1] in (" ", "\t"):
            current.append(_BRACES.sub(_UNKNOWN, line.strip()).lstrip("@-"))
        elif line.strip():
            current = None
    waiting = [word for word in call.argv[options.index :] if word in recipes] or list(recipes)[:1]
    seen: set[str] = set()
    while waiting:
        recipe = waiting.pop(0)
        mark = ("just", str(place.environment.directory), recipe)
        if recipe in seen or recipe not in recipes or mark in engine.active:
            continue
        seen.add(recipe)
        _within(seen)
        engine.charge(1 + len(waiting) // _NAMES_PER_STEP)
        waiting.extend(recipes[recipe][0])
        engine.active.append(mark)
        try:
            for line in recipes[recipe][1]:
                engine.run_text(line, place.inner([], "just"), _fresh(place))
        finally:
            engine.active.pop()
    return None


def _inside(call: Call, directory: str | None) -> Call:
    """Return the command as run in another directory."""
    place = call.inner(call.argv, "")
    place.via, place.depth = call.via, call.depth
    place.stdin = None
    if directory is not None:
        place.environment = call.environment.copy()
        base = call.environment.directory
        place.environment.directory = (
            directory if base is None or directory.startswith("/") else f"{base.rstrip('/')}/{directory}"
        )
    return place


def _fresh(place: Call) -> Environment:
    environment = Environment()
    environment.directory = place.environment.directory
    return environment


def _first(engine: Engine, place: Call, names: tuple[str, ...]) -> str | None:
    for name in names:
        text = engine.file_flow(name, place).text
        if text is not None:
            return text
    return None


TOOLS: dict[str, Callable[[Engine, Call], Flow | None]] = {
    "make": make,
    "gmake": make,
    "just": just,
    "npm": package_script,
    "yarn": package_script,
    "pnpm": package_script,
    "bun": package_script,
}
