"""What looks like a secret and stands for one: placeholders, templates, documentation examples."""

from __future__ import annotations

from haltline.secrets.patterns import compiled

# Words that no generator puts into a token, in the upper case that the text is compared in.
_WORDS = (
    "EXAMPLE",
    "PLACEHOLDER",
    "REDACTED",
    "CHANGEME",
    "CHANGE_ME",
    "CHANGE-ME",
    "REPLACE_ME",
    "REPLACE-ME",
    "REPLACEME",
    "YOUR_",
    "YOUR-",
    "YOURTOKEN",
    "YOURAPIKEY",
    "YOURPASS",
    "INSERT_",
    "INSERT-",
    "DUMMY",
    "....",
    "____",
    "----",
    "TODO",
    "FIXME",
    "NOT_A_REAL",
    "NOT-A-REAL",
    "NOTAREAL",
    "MY_SECRET",
    "MY-SECRET",
    "SOME_SECRET",
    "A_SECRET",
    "MASKED",
    "SANITIZED",
)
_MINIMUM_DISTINCT = 5
_FILLERS = frozenset("xX*.#0-_ …•")
_MINIMUM_LONGEST_PERIOD = 5
_STEPS = (
    "0123456789|1234567890|abcdefghij|ABCDEFGHIJ|abcdef0123456|ABCDEF0123456|qwertyuiop|9876543210"
    "|0123456789abcdef|deadbeefdeadbeef"
)
_TEMPLATE = (
    r"\$\{|\$\(|\{\{|\}\}|<[A-Za-z]|%\(|%[sd]\b|^%[A-Za-z_]+%|^\$[A-Za-z_]|\$[A-Z][A-Z_0-9]+|#\{|\[[A-Z_]+\]"
)


def is_template(value: str) -> bool:
    """True when a value is filled in elsewhere: `$VAR`, `${VAR}`, `{{ var }}`, `<token>`, `%(name)s`."""
    return compiled(_TEMPLATE).search(value) is not None


def is_filler(value: str) -> bool:
    """True when a value is nothing but stars, dots and the like, or is crossed out."""
    return _FILLERS.issuperset(value) or "xxxx" in value or "XXXX" in value or "****" in value


def is_placeholder(value: str) -> bool:
    """True when a value only stands for a secret: words of documentation, or nothing but fillers.

    Decided by the value's own form; what surrounds it does not count, since an attacker chooses that too.
    """
    if is_filler(value):
        return True
    upper = value.upper()
    return any(word in upper for word in _WORDS)


def is_sequence(value: str) -> bool:
    """True when a value is few characters, counting or keyboard rows, or one short period repeated.

    Such values are made up more often than not, but people do use them: they are flagged and do not block.
    """
    if len(set(value)) < min(_MINIMUM_DISTINCT, len(value)):
        return True
    covered = sum(len(match[0]) for match in compiled(_STEPS).finditer(value))
    if covered * 3 >= len(value) * 2:
        return True
    body = value[-24:]
    return any(
        len(body) >= 4 * period and body == (body[:period] * (len(body) // period + 1))[: len(body)]
        for period in range(1, _MINIMUM_LONGEST_PERIOD)
    )
