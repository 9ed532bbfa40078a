"""Secrets that only their name gives away: `password=`, `"api_key":`, `--token`.

Such findings never block; they are redacted wherever Haltline stores or prints, and flagged in calls.
"""

from __future__ import annotations

from functools import lru_cache
from math import log2
from typing import TYPE_CHECKING

from haltline.secrets.keynames import (
    FRAGMENTS,
    KEY_WORDS,
    NOT_SECRET_NAMES,
    NOT_SECRET_OPTIONS,
    NOT_SECRET_SUFFIXES,
    PASSWORD_ENDINGS,
    PASSWORD_NAMES,
    PATH_OPTIONS,
    PROSE_WORDS,
    SECRET_NAMES,
    WEAK_ENDINGS,
)
from haltline.secrets.model import Hit, Tier
from haltline.secrets.patterns import compiled
from haltline.secrets.placeholders import is_placeholder, is_template

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_NAME_LIMIT = 48
_VALUE_LIMIT = 256
_QUOTES = "\"'`"
_MINIMUM_PASSWORD = 6
_MINIMUM_SECRET = 8
_MINIMUM_UNQUOTED = 10
_MINIMUM_ENTROPY = 2.8

# After a name: its rest, a closing quote or bracket, perhaps a type, an operator. One run for each part.
_ASSIGNMENT = (
    r"[\w.\-]{0,40}(?:\\?[\"'`])?\]?[ \t]{0,8}"
    r"(?::[ \t]{0,2}(?:str|String|string|&str|char)(?:[ \t]*\|[ \t]*None)?[ \t]{0,8}(?==))?"
    r"(?:=>|:=|={1,3}|:|,|\(|>)[ \t]{0,8}(?:[rbuf]{1,2}(?=[\"']))?"
)
_OPTION = r"[\w\-]{0,40}[ \t=]{1,8}"
_UNQUOTED = r"[^\s\"'`<>,;|&(){}\[\]\\]{6,256}"
_IDENTIFIER = r"[A-Za-z_$@][A-Za-z_]*(?:(?:\.|::|->|_|-|/)[A-Za-z_$]+[0-9]{0,2})*"
_REFERENCE = (
    r"(?:self|this|request|req|config|settings|os|process|args|options|params|data|env)\b.*"
    r"|(?:[a-z]+_)*pass(?:word|wd)?(?:_[a-z]+)*|.*\(.*|None|null|nil|true|false|True|False"
)
_HASH = r"(?:sha(?:1|256|384|512)[-:=])[A-Za-z0-9+/=]+|\$2[aby]\$.*"
_NUMBER = r"[-+0-9.,:eExX_ %/T]+|0[xX][0-9a-fA-F]+"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_PLAIN_WORD = r"[A-Za-z][A-Za-z0-9 _!@#$%^&*+=?~.\-]{3,63}"
_USER_NAME = r"(?i)(?:user(?:name)?|uid|user id|login|account)[\"']?\]?[ \t]{0,20}(?:=>|=|:|[ \t])"
_CONSTANT = r"[A-Z][A-Z0-9_]*"
_LETTER_AND_DIGIT = r"(?=[^A-Za-z]{0,255}[A-Za-z])(?=[^0-9]{0,255}[0-9])"
_ENVIRONMENT_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
_NOT_OPTION_VALUES = ("-", "/", "./", "../", "~", "$", "%", "@", "#", "id=", "type=", "src=", "env:", "file:")
_NEAR_USER = 200
_LONG_KEY = 32
DUMMY_PASSWORDS = frozenset(
    {"pass", "password", "passwd", "pwd", "secret", "token", "user", "username", "pw"}
)


def find_in_context(text: str, lowered: str) -> list[Hit]:
    """Return the values of a text that are assigned to a secret's name and look like a secret.

    Args:
        text: what to search.
        lowered: the same in lower case, of the same length.
    """
    hits: list[Hit] = []
    for fragment in FRAGMENTS:
        if fragment in lowered:
            hits.extend(_assigned(text, lowered, fragment))
    return hits


def lower(text: str) -> str:
    """Return a text in lower case, with every character where it was.

    A few characters become several when lowered; they stay as they are.
    """
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def positions(text: str, literal: str) -> Iterator[int]:
    """Yield where a literal stands in a text."""
    position = text.find(literal)
    while position >= 0:
        yield position
        position = text.find(literal, position + len(literal))


def stands_for_a_secret(value: str) -> bool:
    """True when a value is a template or a placeholder."""
    return is_template(value) or is_placeholder(value)


def _assigned(text: str, lowered: str, fragment: str) -> Iterator[Hit]:
    """Yield the values assigned to names that hold a fragment, or given to options of such a name."""
    assignment, option = compiled(_ASSIGNMENT), compiled(_OPTION)
    for position in positions(lowered, fragment):
        if fragment == "key" and not lowered.endswith(KEY_WORDS, 0, position):
            continue
        after = position + len(fragment)
        found = assignment.match(text, after)
        name = ""
        if found is None:
            found = option.match(text, after)
            name = _name(lowered, position) if found else ""
            if not found or not name.startswith("-"):
                continue
        span = _value_span(text, found.end())
        if span is None:
            continue
        name = name or _name(lowered, position)
        kind = kind_of_name(name)
        if not kind or (found[0].endswith("(") and not name.startswith("set")) or _is_switch(name):
            continue
        start, end, quoted = span
        value = text[start:end]
        if (
            is_secret_value(name, value, kind, quoted=quoted)
            or (kind == "password" and _is_plain_password(text, position, value, name, quoted=quoted))
            or (name.startswith("-") and _is_option_value(text, found, (start, end), name, kind))
        ):
            yield Hit(rule_of_kind(kind), Tier.CONTEXT, start, end, value)


def _is_plain_password(text: str, position: int, value: str, name: str, *, quoted: bool) -> bool:
    """True when a word is assigned as a password beside a user's name, or to a variable of the environment.

    `password = open_sesame` alone could be a reference; after `user = Aladdin` it is a password.
    """
    if not compiled(_PLAIN_WORD).fullmatch(value) or stands_for_a_secret(value):
        return False
    if value.lower() in DUMMY_PASSWORDS or value.lower() in name:
        return False
    start = _name_start(text, position)
    if compiled(_USER_NAME).search(text, max(0, start - _NEAR_USER), start):
        return quoted or compiled(_REFERENCE).fullmatch(value) is None
    written = text[start : position + len(name)]
    constant = compiled(_CONSTANT).match(written)
    return constant is not None and text.startswith("=", constant.end() + start) and value.isalnum()


def _is_option_value(text: str, found: re.Match[str], span: tuple[int, int], name: str, kind: str) -> bool:
    """True when the word given to an option of a secret's name is the secret: `--token h7xq2mwz`.

    Shorter and plainer than what is believed of an assignment, for an option that takes a secret takes no
    reference to one. A plain word counts only at the end of a command or before the next option, and not
    when it is one that goes on a sentence about the option.
    """
    value = text[span[0] : span[1]]
    if value.startswith(_NOT_OPTION_VALUES) or "://" in value or is_name_of_a_secret(value):
        return False
    if stands_for_a_secret(value) or value.lower() in name:
        return False
    if kind != "password":
        return (
            len(value) >= _MINIMUM_SECRET
            and compiled(_LETTER_AND_DIGIT).match(value) is not None
            and not any(compiled(form).fullmatch(value) for form in (_IDENTIFIER, _NUMBER, _HASH))
            and entropy(value) >= _MINIMUM_ENTROPY
        )
    if compiled(r"[^()=*]+").fullmatch(value) is None:
        return False
    if not compiled(r"[A-Za-z]+").fullmatch(value):
        return True
    ends = compiled(r"[\"']?[ \t]*(?:\Z|[\n\r;|&)]|-)").match(text, span[1]) is not None
    return (found[0].endswith("=") or ends) and value.lower() not in PROSE_WORDS


def _is_switch(name: str) -> bool:
    """True for an option that only sounds as if it took a secret: it takes nothing, or a path."""
    option = name.lstrip("-")
    return option != name and (option.startswith(NOT_SECRET_OPTIONS) or option.endswith(PATH_OPTIONS))


def is_name_of_a_secret(value: str) -> bool:
    """True when a value in a secret's place only names one: `PASSWORD`, `token`, `GITHUB_TOKEN`."""
    if value.lower() in DUMMY_PASSWORDS or compiled(_ENVIRONMENT_NAME).fullmatch(value):
        return True
    return value.isupper() and value.isalpha() and kind_of_name(value) != ""


def _name(lowered: str, position: int) -> str:
    return lowered[_name_start(lowered, position) : position] + _name_rest(lowered, position)


def _name_start(text: str, position: int) -> int:
    begin = position
    lowest = max(0, position - _NAME_LIMIT)
    while begin > lowest and (text[begin - 1].isalnum() or text[begin - 1] in "_-."):
        begin -= 1
    return begin


def _name_rest(lowered: str, position: int) -> str:
    end = position
    highest = min(len(lowered), position + _NAME_LIMIT)
    while end < highest and (lowered[end].isalnum() or lowered[end] in "_-"):
        end += 1
    return lowered[position:end]


def _value_span(text: str, start: int) -> tuple[int, int, bool] | None:
    """Return where a value begins and ends, and whether it is quoted."""
    escaped = text.startswith("\\", start)
    at = start + escaped
    if at < len(text) and text[at] in _QUOTES:
        closing = ("\\" if escaped else "") + text[at]
        end = text.find(closing, at + 1, at + 1 + _VALUE_LIMIT)
        newline = text.find("\n", at + 1, end) if end >= 0 else 0
        return None if end < 0 or newline >= 0 else (at + 1, end, True)
    match = compiled(_UNQUOTED).match(text, start)
    if match is None:
        return None
    value = match[0].rstrip(".:")
    return start, start + len(value), False


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str:
    """Return "password" or "secret-value" for a name that secrets are kept under, else an empty text.

    "long-secret-value" is for names such as `vendor_key`, of which only long random values are secrets.

    The last word decides: `token_url` names a URL, `max_tokens` a number, `publicKey` a public key.
    """
    plain = name.lower().strip("-._")
    squeezed = plain.replace("_", "").replace("-", "").replace(".", "")
    if squeezed.endswith(NOT_SECRET_SUFFIXES) or any(word in squeezed for word in NOT_SECRET_NAMES):
        return ""
    if (
        any(word in squeezed for word in PASSWORD_NAMES)
        or plain.endswith(PASSWORD_ENDINGS)
        or plain in {"pass", "pw"}
    ):
        return "password"
    if any(word in squeezed for word in SECRET_NAMES):
        return "secret-value"
    if plain.endswith(WEAK_ENDINGS):
        return "long-secret-value"
    return ""


def rule_of_kind(kind: str) -> str:
    """Return the rule under which a value of a kind of name is reported."""
    return "password" if kind == "password" else "secret-value"


def is_secret_value(name: str, value: str, kind: str, *, quoted: bool) -> bool:
    """True when a value under such a name looks like a secret rather than a reference, a name or a number."""
    least = _MINIMUM_PASSWORD if kind == "password" else _MINIMUM_SECRET
    if kind == "long-secret-value":
        least = _LONG_KEY
    if len(value) < (least if quoted or kind == "password" else max(least, _MINIMUM_UNQUOTED)):
        return False
    has_digit = compiled(r"[0-9]").search(value) is not None
    has_letter = compiled(r"[^\W0-9_]").search(value) is not None
    has_symbol = quoted and kind == "password" and compiled(r"[!@#$%^&*+=?~]").search(value) is not None
    if not has_letter or not (has_digit or has_symbol):
        return False
    if any(compiled(form).fullmatch(value) for form in (_IDENTIFIER, _NUMBER, _HASH)):
        return False
    if " " in value or "://" in value or value.startswith(("/", "./", "../", "~/", "$", "%", "@", "#")):
        return False
    if value.lower() in DUMMY_PASSWORDS or value.lower() in name or stands_for_a_secret(value):
        return False
    if compiled(_UUID).fullmatch(value) and not _may_be_uuid(name):
        return False
    return kind == "password" or entropy(value) >= _MINIMUM_ENTROPY


def _may_be_uuid(name: str) -> bool:
    """True for names under which vendors keep secrets in the form of a UUID; other UUIDs are public."""
    squeezed = name.replace("_", "").replace("-", "").replace(".", "")
    return any(
        word in squeezed for word in ("apikey", "apitoken", "authtoken", "accesstoken", "clientsecret")
    )


def entropy(value: str) -> float:
    """Return the Shannon entropy of a text in bits for each character."""
    size = len(value)
    return -sum((share := value.count(character) / size) * log2(share) for character in set(value))
