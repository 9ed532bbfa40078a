"""What the arguments of a script's calls are worth, as far as literals and bound names decide it."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from haltline.shell.environment import TEMPORARY
from haltline.shell.inline.lexer import Text, filled
from haltline.shell.marks import HOME, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from haltline.shell.inline.lexer import Source

Value = str | list["Value"] | None

MAX_ALTERNATIVES = 64  # values of a name; what uses a name that has more is asked about
MAX_LENGTH = 32 * 1024
MAX_DEPTH = 12
_CHARACTERS_PER_STEP = 16
_FILLED_PER_STEP = 64

_CONCATENATION = {
    "javascript": re.compile(r"\s*\+\s*"),
    "perl": re.compile(r"\s*\.\s*(?![\d.])"),
    "ruby": re.compile(r"[ \t]*(?:\+|<<)\s*|[ \t]+(?=\")"),
    "php": re.compile(r"\s*\.\s*(?!\d)"),
    "lua": re.compile(r"\s*\.\.\s*"),
    "r": re.compile(r"(?!)"),
    "applescript": re.compile(r"\s*&\s*"),
    "groovy": re.compile(r"\s*\+\s*"),
    "elixir": re.compile(r"\s*<>\s*"),
    "julia": re.compile(r"\s*\*\s*"),
    "tcl": re.compile(r"(?!)"),
}
_NAME = re.compile(r"[$@%&]?[A-Za-z_][\w$]*(?:(?:::|\?\.|->|\.)[A-Za-z_]\w*!?\??)*")
_SPACE = re.compile(r"\s*")
_PAIR = {"(": ")", "[": "]", "{": "}"}
_HOME = re.compile(
    r"(?:process\.env|ENV|\$ENV|\$_ENV|\$_SERVER|Deno\.env)\s*(?:\.HOME\b|[\[{]\s*['\"]?HOME['\"]?\s*[\]}])"
    r"|(?:require\(['\"](?:node:)?os['\"]\)|os)\.homedir\(\)|Dir\.home\b|(?:System\.)?user_home!?(?:\(\))?"
    r"|(?:os\.|Sys\.)?getenv\(['\"]HOME['\"]\)|Deno\.env\.get\(['\"]HOME['\"]\)|homedir\(\)|\$HOME\b"
)
_TEMPORARY = re.compile(
    r"(?:require\(['\"](?:node:)?os['\"]\)\.|os\.|fs\.)?(?:tmpdir\(\)|mkdtempSync\([^()]{0,200}(?:\([^()]{0,80}\))?[^()]{0,80}\))"
    r"|Dir\.(?:tmpdir|mktmpdir)\b|sys_get_temp_dir\(\)|tempdir\(\)|tempfile\(\)|os\.tmpname\(\)|System\.tmp_dir!?(?:\(\))?"
)
_HERE = re.compile(
    r"process\.cwd\(\)|Dir\.pwd\b|getcwd\(\)|getwd\(\)|__dirname\b|__DIR__\b|import\.meta\.dirname\b"
)
_FOUND = re.compile(
    r"(?:Dir(?:\.glob)?|glob(?:Sync|\.sync)?|File::Glob::bsd_glob|bsd_glob|Path\.wildcard|list\.files)\s*[(\[]?"
)
_JOINS = re.compile(
    r"(?:path\.(?:posix\.)?(?:join|resolve|normalize)|join|File\.(?:join|expand_path)|Path\.(?:join|expand)|file\.path|joinpath|path\.expand|normalizePath)\Z"
)
_SAME = re.compile(
    r"(?:String|new|File|Pathname\.new|Path|URI|fileURLToPath|realpath|escapeshellcmd|trim|Regexp\.escape|to_charlist)\Z"
)
_DECODES = re.compile(
    r"(?:atob|base64_decode|Base64\.(?:strict_|urlsafe_)?decode64|Base\.decode64!|decode_base64|Buffer\.from)\Z"
)
_LISTS = re.compile(r"(?:c|array|list|List\.of|Arrays\.asList)\Z")
_TAIL = re.compile(
    r"\s*(?:\?\.|\.|->)\s*(?:toString|trim|toLowerCase|strip|chomp|to_s|freeze|decode|unpack1?|flat|slice|each|forEach|map|split|join|execute|reverse|repeat)\b"
)


class Expressions:
    """The names of a script and what they may be."""

    __slots__ = ("charge", "cut", "join", "names", "source")

    def __init__(self, source: Source, charge: Callable[[int], None]) -> None:
        self.source = source
        self.charge = charge
        self.cut: set[str] = set()
        self.names: dict[str, list[Value]] = {}
        self.join = _CONCATENATION[source.language]

    def last_text(self, name: str) -> str | None:
        """Return what a name last was, if that is a text; strings write names without their sigil."""
        values = self.names.get(name) or self.names.get("$" + name) or self.names.get("@" + name)
        return values[-1] if values and isinstance(values[-1], str) else None

    def bind(self, name: str, value: Value) -> None:
        """Remember one more value of a name."""
        values = self.names.setdefault(name, [])
        if value in values:
            return
        if len(values) < MAX_ALTERNATIVES:
            values.append(value)
        else:
            self.cut.add(name)

    def arguments(self, position: int) -> tuple[list[Value], int]:
        """Return the values of a call's arguments from behind its name, and where they end."""
        code = self.source.code
        position = self.skip(position)
        closing = ""
        if code[position : position + 1] == "(":
            closing, position = ")", position + 1
        values: list[Value] = []
        while position < len(code):
            position = self.skip(position)
            if code[position : position + 1] in (")", "]", "}", ";", ""):
                break
            value, position = self.expression(position, 0)
            if value is _NOTHING_THERE:
                value = None
            position, more = self.until_comma(position, newline_ends=not closing)
            values.append(value if position >= 0 else None)
            if not more:
                break
        return values, position

    def skip(self, position: int) -> int:
        """Return where the next lexeme begins."""
        match = _SPACE.match(self.source.code, position)
        return position if match is None else match.end()

    def until_comma(self, position: int, *, newline_ends: bool) -> tuple[int, bool]:
        """Pass what is left of an argument; return where the next one begins, and whether there is one."""
        code, depth = self.source.code, 0
        passed = 0
        while position < len(code):
            c = code[position]
            passed += 1
            if passed == _CHARACTERS_PER_STEP:
                self.charge(1)
                passed = 0
            if c == '"' and position in self.source.texts:
                position = self.source.texts[position].end
                continue
            if c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= 1
                if depth < 0:
                    return position, False
            elif depth == 0 and (c == "," or code.startswith("=>", position)):
                return position + (2 if c == "=" else 1), True
            elif depth == 0 and (c == ";" or (newline_ends and c == "\n")):
                return position, False
            position += 1
        return position, False

    def expression(self, position: int, depth: int) -> tuple[Value, int]:
        """Return the value of an expression, and where it ends."""
        value, position = self.term(position, depth)
        while value is not _NOTHING_THERE:
            match = self.join.match(self.source.code, position)
            if match is None or depth > MAX_DEPTH:
                break
            following, end = self.term(match.end(), depth)
            if following is _NOTHING_THERE:
                break
            position = end
            if isinstance(value, list) or isinstance(following, list):
                value = None
                continue
            value = (UNKNOWN if value is None else value) + (UNKNOWN if following is None else following)
            if len(value) > MAX_LENGTH:
                value = None
        return value, position

    def term(self, position: int, depth: int) -> tuple[Value, int]:  # noqa: C901  one case for each form
        """Return the value of a string, name, list or call that is understood, and where it ends."""
        code = self.source.code
        self.charge(1)
        position = self.skip(position)
        text = self.source.texts.get(position)
        if text is not None:
            return self.tail(self.literal(text), text.end, depth)
        if depth > MAX_DEPTH or position >= len(code):
            return _NOTHING_THERE, position
        for pattern, value in ((_HOME, HOME), (_TEMPORARY, TEMPORARY + "/made-here"), (_HERE, ".")):
            match = pattern.match(self.original(position), 0)
            if match is not None:
                return value, position + match.end()
        c = code[position]
        if c in "[(":
            values, end = self.bracket(position, depth)
            return self.tail(values if c == "[" else values[0] if len(values) == 1 else values, end, depth)
        if c == "<" and self.source.language == "perl":
            match = re.compile(r"<([^<>\n]{1,80})>").match(code, position)
            if match is not None:
                return [match[1]], match.end()
        if c == "~" and code[position + 1 : position + 2] in "cCsS":  # an Elixir sigil
            return None, position + 1
        match = _FOUND.match(code, position)
        if match is not None:
            inner, end = self.expression(match.end(), depth + 1)
            found: Value = [inner] if isinstance(inner, str) else inner if isinstance(inner, list) else ["*"]
            close = self.skip(end)
            return found, close + 1 if code[close : close + 1] in (")", "]") else close
        match = _NAME.match(code, position)
        if match is None:
            return _NOTHING_THERE, position
        return self.named(match[0], match.end(), depth)

    def original(self, position: int) -> str:
        """Return a short piece of the script with its strings as they are."""
        code = self.source.code[position : position + 80]
        if '"' not in code:
            return code
        for start in range(position, position + len(code)):
            text = self.source.texts.get(start)
            if text is not None and len(text.value) < 40:  # noqa: PLR2004  names are short
                begin, size = start - position, text.end - start
                code = code[:begin] + "'" + text.value.ljust(size - 2) + "'" + code[begin + size :]
        return code

    def named(self, name: str, position: int, depth: int) -> tuple[Value, int]:
        """Return the value of a name or of a call of it."""
        code = self.source.code
        if name in ("new", "await", "my", "return") or (name == "scalar" and code.startswith("(", position)):
            return self.expression(position, depth + 1)
        if code[position : position + 1] == "(" or (code[position : position + 1] == "[" and name == "%w"):
            values, end = self.bracket(position, depth)
            return self.tail(_called(name, values), end, depth)
        base = re.split(r"\.|->", name, maxsplit=1)[0] if name not in self.names else name
        bound = self.names.get(base)
        return self.tail(bound[-1] if bound else None, position, depth)

    def bracket(self, position: int, depth: int) -> tuple[list[Value], int]:
        """Return the values between brackets, and where they end."""
        code = self.source.code
        closing = _PAIR[code[position]]
        position += 1
        values: list[Value] = []
        while position < len(code):
            position = self.skip(position)
            if code[position : position + 1] == closing:
                break
            value, position = self.expression(position, depth + 1)
            values.append(None if value is _NOTHING_THERE else value)
            position, more = self.until_comma(position, newline_ends=False)
            if not more:
                break
        return values, min(position + 1, len(code))

    def tail(self, value: Value, position: int, depth: int) -> tuple[Value, int]:
        """Pass methods that leave a value what it is for us, and apply those that do not."""
        code = self.source.code
        for _ in range(8):
            match = _TAIL.match(code, position)
            if match is None:
                return value, position
            method = match[0].rpartition(".")[2].rpartition(">")[2].strip()
            position = match.end()
            values: list[Value] = []
            if code[position : position + 1] == "(":
                values, position = self.bracket(position, depth + 1)
            value = _applied(method, value, values)
        return value, position

    def literal(self, text: Text) -> Value:
        """Return a string's value."""
        self.charge(len(text.value) // _FILLED_PER_STEP)
        value = (
            filled(text, self.source.language, self.last_text, UNKNOWN) if text.quote in '"`' else text.value
        )
        if text.kind == "words":
            return list(value.split())
        return value


class _Nothing(str):
    __slots__ = ()


_NOTHING_THERE = _Nothing()


def _called(name: str, values: list[Value]) -> Value:
    last = name.rpartition("::")[2]
    first = values[0] if values else None
    if _DECODES.search(last):
        if last == "Buffer.from" and len(values) > 1 and values[1] not in ("base64", "hex", "base64url"):
            return first
        if last == "Buffer.from" and len(values) < 2:  # noqa: PLR2004  the text and its coding
            return first
        return _decoded(first, "hex" if values[1:] == ["hex"] else "base64")
    if _JOINS.search(last):
        parts = [value if isinstance(value, str) else UNKNOWN for value in values]
        return (
            "/".join(
                part.rstrip("/") if index < len(parts) - 1 and part != "/" else part
                for index, part in enumerate(parts)
            ).replace("//", "/")
            or None
        )
    if _LISTS.search(last):
        return values
    return first if _SAME.search(last) else None


def _applied(method: str, value: Value, values: list[Value]) -> Value:
    first = values[0] if values else None
    if method == "split":
        return (
            list(value.split(first or None))
            if isinstance(value, str) and isinstance(first, str | None)
            else None
        )
    if method == "join":
        glue = first if isinstance(first, str) else ","
        return (
            glue.join(v if isinstance(v, str) else UNKNOWN for v in value)
            if isinstance(value, list)
            else value
        )
    if method == "reverse":
        return value[::-1] if value is not None else None
    return value


def _decoded(value: Value, coding: str) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        raw = (
            bytes.fromhex(value)
            if coding == "hex"
            else base64.b64decode("".join(value.split()) + "=" * (-len(value) % 4))
        )
    except (ValueError, binascii.Error):
        return None
    return raw.decode("utf-8", "replace")
