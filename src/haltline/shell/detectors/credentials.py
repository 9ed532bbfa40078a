"""Credentials: the files that hold them, the commands that print them, and content that carries them out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import SECRET, SYSTEM_DATA, Flow
from haltline.shell.detectors import TRIGGERS
from haltline.shell.marks import HOME, UNKNOWN, display
from haltline.shell.options import Grammar, parse
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_FILE = re.compile(
    r"(?:^|[/@=<])(?:"
    r"\.ssh(?:/?\Z|/(?!known_hosts|config\Z|authorized_keys|[^/]*\.pub\Z)[^/]+\Z)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?\Z"
    r"|\.aws(?:/?\Z|/credentials\Z)|\.azure/[^/]*(?:token|profile)[^/]*\Z"
    r"|\.(?:netrc|pgpass|my\.cnf|git-credentials|pypirc|npmrc|htpasswd|vault-token|dockercfg|s3cfg"
    r"|boto)\Z|_netrc\Z"
    r"|\.env\*?(?:\.(?!example\Z|sample\Z|template\Z|dist\Z|schema\Z|defaults?\Z|test\Z"
    r"|ci\Z)[\w*-]+)*\Z|\.envrc\Z"
    r"|\.kube/config\Z|\.docker/config\.json\Z|\.gnupg(?:/.*)?\Z|\.config/gh/hosts\.yml\Z"
    r"|\.config/gcloud/.+\Z"
    r"|\.cargo/credentials(?:\.toml)?\Z|\.terraform\.d/credentials\.tfrc\.json\Z|\.gem/credentials\Z"
    r"|(?:etc/)?(?:shadow|gshadow|master\.passwd)\Z|(?:kubeconfig|credentials\.json"
    r"|service[-_]account[\w-]*\.json)\Z"
    r"|proc/(?:\d+|self|\*|\x00|\x02)/environ\Z"
    r"|Login Data\Z|logins\.json\Z|key4\.db\Z|cookies\.sqlite\Z|Cookies\Z|login\.keychain(?:-db)?\Z"
    r"|wallet\.dat\Z"
    r"|\.(?:bash|zsh|sh|python|psql|mysql|node_repl|rediscli)_history\Z"
    r"|[^/]*\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk)\Z|[^/]*_?private[-_]?key[^/]*\Z"
    r")"
)
_HINT = re.compile(TRIGGERS["detectors.credentials:reads"])
_PATTERN_FIRST = word_set("grep egrep fgrep rg ag sed awk gawk jq yq")
_SENDS = word_set("curl wget nc ncat netcat socat scp sftp rsync")
_NAMES_HOSTS = word_set("dig nslookup host ping drill kdig getent")
_COPIES = frozenset({"cp", "tee", "dd"})
_ACCOUNTS = re.compile(r"(?:^|[@=<])/etc/(?:passwd|group|hosts|sudoers)\Z")
_PUBLIC = re.compile(r"(?:cert|ca|chain|public|bundle|root)[^/]*\.pem\Z", re.IGNORECASE)
_ASKS = re.compile(r"token|secret|passw|credential|api.?key|private|auth", re.IGNORECASE)
_GREP = Grammar("-e -f -A -B -C -m --include --exclude --exclude-dir -g -t -T --regexp --file --glob --type")
_KEY_OPTIONS = word_set("-i --key --cert --cacert -E --identity --private-key -inkey -CAfile -CAkey")


def is_credential(path: str) -> bool:
    """Return whether a path names a file that holds credentials by convention."""
    return _FILE.search(path.replace(HOME, "~")) is not None and not _PUBLIC.search(path)


def reads(engine: Engine, call: Call) -> Flow | None:
    """Judge a command that shows, copies or sends what it reads."""
    argv = call.argv
    name = argv[0].rpartition("/")[2]
    if call.stdin is not None and call.stdin.taints & SECRET and name in _SENDS:
        engine.report("credentials.send", call, name)
        return None
    if (
        call.stdin is not None
        and call.stdin.taints & SECRET
        and name in _PATTERN_FIRST
        and _ASKS.search(" ".join(argv[1:]))
    ):
        engine.report("credentials.environment", call)
        return Flow(None, SECRET)
    if call.taints & SECRET and name in _SENDS:
        engine.report("credentials.send", call, name)
        return None
    if call.taints & SYSTEM_DATA and _carries(name, argv):
        engine.report("credentials.send", call, name)
        return None
    if _HINT.search(" ".join(argv)) is None:
        return None
    paths = _paths(name, argv)
    found = [path for path in paths if is_credential(path) or (name in _SENDS and _ACCOUNTS.search(path))]
    if not found:
        return None
    target = " ".join(display(path) for path in found)
    if name in _SENDS:
        engine.report("credentials.send", call, target)
    elif name in _COPIES and argv[-1] in found and len(found) == 1:
        return None
    else:
        engine.report("credentials.read", call, target)
    return Flow(None, SECRET)


def _carries(name: str, argv: list[str]) -> bool:
    """Return whether an address holds a part that was read from a file."""
    if name in _NAMES_HOSTS:
        return any(UNKNOWN in word and "." in word for word in argv[1:])
    return name in _SENDS and any(UNKNOWN in word and "://" in word for word in argv[1:])


def _paths(name: str, argv: list[str]) -> list[str]:
    """Return the words that name what a command reads."""
    if name in _PATTERN_FIRST:
        options = parse(argv, _GREP)
        given = options.has("-e", "-f", "--regexp", "--file")
        return options.words if given else options.words[1:]
    words = []
    skip = False
    for word in argv[1:]:
        if skip:
            skip = False
        elif word in _KEY_OPTIONS and name in ("ssh", "scp", "sftp", "rsync", "curl", "wget", "openssl"):
            skip = True
        else:
            words.append(word)
    if (
        name in ("scp", "sftp", "rsync", "curl", "wget")
        and len(words) > 1
        and ":" not in words[-1]
        and name not in ("curl", "wget")
    ):
        return words[:-1]
    return words
