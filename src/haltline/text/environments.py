"""Which environment a name or a text speaks of: production, staging, test or development.

Decided by whole words of names, never by substrings: `product`, `reproduce` and `prodigy` are not production.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

PRODUCTION, STAGING, TEST, DEVELOPMENT = "production", "staging", "test", "development"

_WORDS: dict[str, tuple[str, ...]] = {
    PRODUCTION: ("production", "prod", "prd", "live", "produktion", "prod1", "prod2"),
    STAGING: ("staging", "stage", "stg", "preprod", "preproduction", "uat", "preview", "sit"),
    TEST: ("test", "testing", "tests", "tst", "qa", "ci", "e2e", "sandbox", "integration"),
    DEVELOPMENT: ("development", "dev", "develop", "local", "localhost", "devel", "debug"),
}
_ENVIRONMENT_OF_WORD = {word: environment for environment, words in _WORDS.items() for word in words}

# Words that say so wherever they stand as a part of a name, and those that do so only in a place for it:
# "live", "test" and "local" are ordinary words.
_STRONG = frozenset(
    {"production", "prod", "prd", "staging", "stg", "preprod", "preproduction", "uat", "qa", "dev"}
)

_CREDENTIAL_PREFIX = r"\b(?:sk|pk|rk)_(live|test)_"
_ASSIGNMENT = (
    r"(?i)\b(?:[A-Za-z0-9]{1,30}_){0,4}(?:ENV|ENVIRONMENT|PROFILE|STAGE|WORKSPACE|CONTEXT|CLUSTER"
    r"|NAMESPACE|TIER)"
    r"[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?([\w.\-]{1,80})"
)
_OPTION = (
    r"(?:--(?:env|environment|profile|stage|workspace|context|kube-context|cluster|namespace"
    r"|project|target|app)"
    r"[ =]|(?<!\S)-[ne][ ])[\"']?([\w.\-]{1,120})"
)
_FILE = (
    r"\.env\.([a-z]{2,20})\b"
    r"|\b(?:settings|config|values|appsettings|application|docker-compose|compose)[.\-_/]([A-Za-z]{2,20})\b"
)
_HOST = r"(?:://(?:[^\s/@\"']{1,200}@)?|@)([A-Za-z0-9_.\-]{2,250})"
_NAME = r"(?<![A-Za-z0-9])/?[A-Za-z0-9]+(?:[_\-./:@][A-Za-z0-9]+)+"
_SEPARATORS = r"[^A-Za-z0-9]+"


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


@lru_cache(maxsize=256)  # a check asks several times for the same declared name
def environment_of(name: str) -> str | None:
    """Return the environment that a declared name stands for, or None when it stands for none.

    A declared name is the value of a setting, such as `prod`, `QA`, `eu-production` or `local`. When several
    of its words name environments, pre-production wins over production and production over the others.
    """
    words = _words(name)
    for first, second in pairwise(words):
        if first in {"pre", "non"} and _ENVIRONMENT_OF_WORD.get(second) == PRODUCTION:
            return STAGING
    found = {_ENVIRONMENT_OF_WORD[word] for word in words if word in _ENVIRONMENT_OF_WORD}
    return next(
        (environment for environment in (PRODUCTION, STAGING, TEST, DEVELOPMENT) if environment in found),
        None,
    )


def environments_in(text: str, branches: dict[str, str] | None = None) -> frozenset[str]:
    """Return the environments that a text speaks of by the names in it.

    Looked at are credential prefixes (`sk_live_`), settings and options (`AWS_PROFILE=prod`, `--context qa`),
    file names (`.env.production`), hosts and DSNs (`prod-db.internal`), and names of several words
    (`PROD_DATABASE_URL`). Prose is not: "production code" names no environment.

    Args:
        text: a command, a setting, an address, a file name.
        branches: names of branches with the environment each one deploys to; without it no branch counts.
    """
    found: set[str | None] = set()
    for match in _compiled(_CREDENTIAL_PREFIX).finditer(text):
        found.add(PRODUCTION if match[1] == "live" else TEST)
    for expression in (_ASSIGNMENT, _OPTION, _FILE):
        for match in _compiled(expression).finditer(text):
            found.add(environment_of(next(group for group in match.groups() if group)))
    for match in _compiled(_HOST).finditer(text):
        found.add(environment_of(_without_last_label(match[1])))
    for match in _compiled(_NAME).finditer(text):
        found.add(_environment_of_compound(match[0]))
    stripped = text.strip().strip("\"'")
    if _words(stripped) == [stripped.lower()]:
        found.add(environment_of(stripped))
    if branches:
        tokens = set(re.split(r"[\s:\"']+", text))
        found.update(environment for branch, environment in branches.items() if branch in tokens)
    return frozenset(environment for environment in found if environment)


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case: `prodDbUrl`, `PROD_DB_URL` and `prod-db.url` alike."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [word for word in _compiled(_SEPARATORS).split(spaced.lower()) if word]


def _without_last_label(name: str) -> str:
    """Return a name without its top-level domain or file extension: `.dev` and `.test` are such, too."""
    return name.rpartition(".")[0] or name


def _environment_of_compound(name: str) -> str | None:
    """Return the environment of a name of several words, by the words that are unmistakable in any place."""
    parts = name.removeprefix("/dev/").split("/")
    words = [word for part in parts for word in _words(_without_last_label(part))]
    if not _STRONG.intersection(words):
        return None
    return environment_of(" ".join(word for word in words if word in _STRONG or word in {"pre", "non"}))
