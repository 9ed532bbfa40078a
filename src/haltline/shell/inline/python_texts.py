"""What Python's functions on texts and paths make of values that are known."""

from __future__ import annotations

import base64
import binascii

from haltline.shell.environment import TEMPORARY
from haltline.shell.marks import HOME, UNKNOWN, known

Value = str | int | list["Value"] | dict[str, "Value"] | None
MAX_LENGTH = 32 * 1024
MAX_ITEMS = 512  # of a list; a longer one is a value that nobody knows


def path_of(value: Value) -> str | None:
    """Return a value as a path, with a leading `~` made the home mark."""
    if not isinstance(value, str):
        return None
    return HOME + value[1:] if value == "~" or value.startswith("~/") else value


def joined(left: str, right: str) -> str:
    """Join two paths as `os.path.join` does."""
    return right if right.startswith(("/", HOME)) else left.rstrip("/") + "/" + right


def joined_all(values: list[Value]) -> str | None:
    """Return paths joined; what is not known is marked."""
    result = ""
    for value in values:
        part = value if isinstance(value, str) else UNKNOWN
        result = joined(result, part) if result else part
    return result or None


def spoken(value: Value) -> str:
    """Return a value as Python writes it into a text."""
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else UNKNOWN


def variable(name: str | None) -> str | None:
    """Return the value of an environment variable that is known."""
    if name == "HOME":
        return HOME
    return TEMPORARY if name in ("TMPDIR", "TEMP", "TMP") else None


def few(items: list[str]) -> list[Value] | None:
    """Return items as a list; None where there are more than are looked at."""
    return list(items) if len(items) <= MAX_ITEMS else None


def words(text: str) -> list[Value] | None:
    """Return a text as the words of a command."""
    import shlex  # noqa: PLC0415  loaded only where it is needed

    try:
        return few(shlex.split(text))
    except ValueError:
        return few(text.split())


def percent(template: str, values: list[Value]) -> str:
    """Return what `template % values` gives."""
    pieces = template.replace("%d", "%s").replace("%r", "%s").split("%s")
    filled = [spoken(value) for value in values] + [UNKNOWN] * len(pieces)
    return "".join(piece + (filled[i] if i < len(pieces) - 1 else "") for i, piece in enumerate(pieces))


def formatted(template: str, values: list[Value], keywords: dict[str, Value]) -> str:
    """Return what `str.format` gives."""
    import re  # noqa: PLC0415  loaded only where it is needed

    waiting = iter(values)

    def fill(match: re.Match[str]) -> str:
        key = match[1]
        if key == "":
            return spoken(next(waiting, None))
        if key.isdigit():
            return spoken(values[int(key)]) if len(key) < 3 and int(key) < len(values) else UNKNOWN  # noqa: PLR2004  nobody writes a thousand arguments
        return spoken(keywords.get(key))

    return re.sub(r"\{(\w*)(?:[!:.\[][^{}]*)?\}", fill, template)[: MAX_LENGTH + 1]


def decoded(value: Value, coding: Value) -> str | None:
    """Return a decoded text, or None."""
    if not isinstance(value, str) or not known(value) or not isinstance(coding, str):
        return None
    import codecs  # noqa: PLC0415  loaded only where it is needed

    try:
        if coding in ("base64", "base_64"):
            compact = "".join(value.split())
            return base64.b64decode(compact + "=" * (-len(compact) % 4)).decode("utf-8", "replace")
        if coding in ("hex", "hex_codec"):
            return bytes.fromhex(value).decode("utf-8", "replace")
        if coding in ("rot13", "rot_13"):
            return codecs.decode(value, "rot13")
    except (ValueError, binascii.Error):
        return None
    return value if coding in ("utf-8", "utf8", "ascii", "latin-1") else None
