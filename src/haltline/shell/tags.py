"""Which environment a command speaks to, where its hosts, contexts, profiles or branches say so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from haltline.shell.call import Call

_WORDS = {
    "production": "production",
    "prod": "production",
    "prd": "production",
    "live": "production",
    "staging": "staging",
    "stage": "staging",
    "stg": "staging",
    "preprod": "staging",
    "preproduction": "staging",
    "uat": "staging",
    "development": "development",
    "dev": "development",
    "localhost": "development",
    "sandbox": "development",
    "test": "test",
    "testing": "test",
    "qa": "test",
    "ci": "test",
}
_NEGATIONS = frozenset({"non", "not", "no", "sub", "semi"})
_LOCAL = re.compile(
    r"(?:^|[/@=])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host\.docker\.internal)(?:[:/]|\Z)"
)
_OPTION = re.compile(
    r"-{1,2}(?:profile|context|kube-context|env|environment|stage|namespace|n|cluster|project|p|host"
    r"|h|hostname|url|dsn|"
    r"database|database-url|dbname|d|server|s|stack|workspace|subscription|account|app|a|e|target"
    r"|remote|resource-group|g|"
    r"db-instance-identifier|bucket|region|branch|instance|connection|name|var-file)(?:=(.*))?\Z"
)
_SETTING = re.compile(
    r"(?:AWS_PROFILE|.*_ENV|ENV|ENVIRONMENT|STAGE|KUBECONFIG|.*DATABASE_URL|.*_DSN|.*_HOST|PGHOST"
    r"|PGDATABASE|TF_WORKSPACE|.*PROJECT)\Z"
)
_ADDRESS = re.compile(r"\w://|^[\w.-]+@[\w.-]+|^[\w-]+(?:\.[\w-]+)+(?::\d+)?\Z")
_SPLIT = re.compile(r"[^a-z0-9]+")
_HOST_FIRST = frozenset({"ssh", "scp", "mosh", "sftp", "autossh", "rsync"})


def environment_of(text: str) -> str | None:
    """Return the environment that a name, host or connection text speaks of, or None."""
    if _LOCAL.search(text):
        return "development"
    words = _SPLIT.split(text.lower())
    for index, word in enumerate(words):
        found = _WORDS.get(word.rstrip("0123456789"))
        if found == "production":
            before = words[index - 1] if index else ""
            if before == "pre":
                return "staging"
            if before in _NEGATIONS or words[index + 1 : index + 2] == ["like"]:
                continue
        if found is not None:
            return found
    return None


def decisive(tags: Iterable[str | None]) -> str | None:
    """Return the environment that counts among several: production before any other, else the first."""
    named = [name for name in tags if name is not None]
    return "production" if "production" in named else named[0] if named else None


def tag(call: Call) -> str | None:
    """Return the environment that a command names in its settings, options or addresses, or None."""
    texts = [value for name, value in call.settings if _SETTING.match(name)]
    for name, values in call.environment.variables.items():
        if _SETTING.match(name):
            texts.extend(values)
    texts.extend(_naming_words(call.argv))
    return decisive(environment_of(text) for text in texts)


def _naming_words(argv: list[str]) -> Iterator[str]:
    """Yield the words of a command that may name an environment: values of options, addresses, resources."""
    name = argv[0].rpartition("/")[2]
    takes = False
    for index, word in enumerate(argv[1:], 1):
        match = _OPTION.match(word) if word[:1] == "-" else None
        if takes and word[:1] != "-":
            yield word
        elif match is not None and match[1] is not None:
            yield match[1]
        elif _SETTING.match(word.partition("=")[0]) and "=" in word:
            yield word.partition("=")[2]
        elif (
            _ADDRESS.search(word)
            or name in _HOST_FIRST
            or (
                name == "git"
                and index == len(argv) - 1
                and index > 1
                and argv[1] in ("push", "merge", "reset", "branch")
            )
            or (name in _RESOURCE_TOOLS and index > 1 and word[:1] != "-")
        ):
            yield word
        takes = match is not None and match[1] is None


_RESOURCE_TOOLS = word_set(
    "kubectl helm pulumi heroku fly flyctl railway vercel netlify dropdb createdb terraform gcloud "
    "az doctl argocd "
    "aws psql mysql mongosh mongo pscale neonctl supabase"
)
