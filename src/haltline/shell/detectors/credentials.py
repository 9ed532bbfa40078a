"""Credentials: the files that hold them, the commands that print them, and content that carries them out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import SECRET, SYSTEM_DATA, Flow
from haltline.shell.detectors import TRIGGERS
from haltline.shell.marks import HOME, SECRET_VALUE, UNKNOWN, display
from haltline.shell.options import Grammar, parse
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_FILE = re.compile(
    r"(?:^|[/@=<:])(?:"
    r"\.ssh(?:/?\Z|/(?!known_hosts|config\Z|authorized_keys|[^/]*\.pub\Z)[^/]+\Z)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?\Z"
    r"|\.aws(?:/?\Z|/credentials\Z|/(?:sso|cli)/cache/.+\Z)"
    r"|\.azure/[^/]*(?:[Tt]oken|[Pp]rofile|principal)[^/]*\Z"
    r"|\.(?:netrc|pgpass|my\.cnf|mylogin\.cnf|git-credentials|pypirc|npmrc|htpasswd|vault-token|vault_pass"
    r"|dockercfg|s3cfg|boto|databrickscfg|terraformrc|dev\.vars)\Z|_netrc\Z|vault_pass(?:word)?(?:\.txt)?\Z"
    r"|\.env\*?(?:\.(?!example\Z|sample\Z|template\Z|tmpl\Z|tpl\Z|dist\Z|schema\Z|defaults?\Z|test\Z"
    r"|ci\Z|vault\Z)[\w*-]+)*\Z|\.envrc\Z|(?:prod|production|staging|secrets?)\.env\Z"
    r"|\.kube/config\Z|\.docker/config\.json\Z|\.gnupg(?:/.*)?\Z|\.password-store(?:/.*)?\Z"
    r"|\.config/(?:gh/hosts\.yml|gcloud/.+|hub|rclone/rclone\.conf|doctl/config\.yaml|hcloud/cli\.toml"
    r"|containers/auth\.json|github-copilot/(?:hosts|apps)\.json|sops/age/keys\.txt|op/.+"
    r"|glab-cli/config\.yml"
    r"|composer/auth\.json|ngrok/ngrok\.yml|stripe/config\.toml|railway/config\.json)\Z"
    r"|(?:\.config/|etc/|\.)haltline/(?:api[-_]?)?(?:keys?|credentials|secrets?)(?:\.\w+|/.*)?\Z"
    r"|\.oci/config\Z|\.fly/config\.yml\Z|\.composer/auth\.json\Z|\.m2/settings(?:-security)?\.xml\Z"
    r"|\.kaggle/kaggle\.json\Z|(?:\.cache/)?\.?huggingface/token\Z|\.snowsql/config\Z"
    r"|\.railway/config\.json\Z"
    r"|\.gradle/gradle\.properties\Z|\.streamlit/secrets\.toml\Z|\.pulumi/credentials\.json\Z"
    r"|[\w.-]*\.tfstate(?:\.backup)?\Z"
    r"|\.cargo/credentials(?:\.toml)?\Z|\.terraform\.d/credentials\.tfrc\.json\Z|\.gem/credentials\Z"
    r"|(?:etc/)?(?:shadow|gshadow|master\.passwd)\Z|(?:kubeconfig|credentials\.json"
    r"|service[-_]?[aA]ccount[\w-]*\.json|client_secret[\w.-]*\.json|[\w-]*firebase-adminsdk[\w-]*\.json)\Z"
    r"|etc/kubernetes/admin\.conf\Z|etc/rancher/k3s/k3s\.yaml\Z|etc/ssl/private/.+\Z|etc/wireguard(?:/.*)?\Z"
    r"|run/secrets/.+\Z|[^/]*\.keytab\Z"
    r"|proc/(?:\d+|self|\*|\x00|\x02)/environ\Z"
    r"|Login Data\Z|logins\.json\Z|key4\.db\Z|cookies\.sqlite\Z|Cookies\Z|login\.keychain(?:-db)?\Z"
    r"|wallet\.dat\Z|Library/Keychains(?:/.*)?\Z"
    r"|\.(?:bash|zsh|sh|python|psql|mysql|node_repl|rediscli)_history\Z"
    r"|[^/]+\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|key)\Z|[^/]*_?private[-_]?key[^/]*\Z"
    r")"
)
_HINT = re.compile(TRIGGERS["detectors.credentials:reads"])
_PATTERN_FIRST = word_set("grep egrep fgrep rg ag sed awk gawk jq yq")
_SENDS = word_set(
    "curl wget nc ncat netcat socat scp sftp rsync telnet ftp lftp http https xh mail mutt sendmail croc "
    "wormhole"
)
_STORE_VERBS = word_set(
    "cp copy mv move sync put upload upload-batch put-object upload-file create mirror rsync copyto moveto"
)
_SHARED = {
    "gh": ("gist", "release"),
    "glab": ("snippet", "release"),
    "kubectl": ("cp",),
    "oc": ("cp", "rsync"),
}
_REMOTE = re.compile(r"[\w-]+://|[\w.@-]{2,}:")
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]*@)?(\[[0-9a-f:]+\]|[^:/?#\s]+)", re.IGNORECASE)
_NAMES_HOSTS = word_set("dig nslookup host ping drill kdig getent")
_COPIES = frozenset({"cp", "tee", "dd"})
_LOGIN_OPTIONS = word_set(
    "-u --user --oauth2-bearer --proxy-user -b --cookie --password --http-password -a --auth"
)
_LOGIN = re.compile(
    r"(?:-H|--header=)?(?:authorization|proxy-authorization|cookie|[\w-]*(?:key|token|auth|secret)[\w-]*)\s*:"
    r"|--(?:user|oauth2-bearer|proxy-user|cookie|password|http-password|auth)=|-u",
    re.IGNORECASE,
)
_HERE = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/]|\Z)")
_ACCOUNTS = re.compile(r"(?:^|[@=<])/etc/(?:passwd|group|hosts|sudoers)\Z")
_PUBLIC = re.compile(r"(?:cert|ca|chain|public|bundle|root|pub)[^/]*\.(?:pem|key)\Z", re.IGNORECASE)
_ASKS = re.compile(r"token|secret|passw|credential|api.?key|haltline|private|auth", re.IGNORECASE)
_GREP = Grammar("-e -f -A -B -C -m --include --exclude --exclude-dir -g -t -T --regexp --file --glob --type")
_KEY_OPTIONS = word_set("-i --key --cert --cacert -E --identity --private-key -inkey -CAfile -CAkey")


def is_credential(path: str) -> bool:
    """Return whether a path names a file that holds credentials by convention."""
    return _FILE.search(path.replace(HOME, "~")) is not None and not _PUBLIC.search(path)


def reads(engine: Engine, call: Call) -> Flow | None:
    """Judge a command that shows, copies or sends what it reads."""
    argv = call.argv
    name = call.program
    if call.stdin is not None and call.stdin.taints & SECRET:
        if name in _SENDS:
            return _sent(engine, call, name, call.stdin.source)
        flow = _taken_in(engine, call, call.stdin, name)
        if flow is not None:
            return flow
    if (call.taints & SECRET and name in _SENDS) or (call.taints & SYSTEM_DATA and _carries(name, argv)):
        return _sent(engine, call, name, "")
    if name in _SENDS and _sends_variable(call):
        return _sent(engine, call, name, "")
    if _HINT.search(" ".join(argv)) is None:
        return None
    paths = _paths(name, argv)
    found = [path for path in paths if is_credential(path) or (name in _SENDS and _ACCOUNTS.search(path))]
    if not found:
        return None
    target = " ".join(display(path) for path in found)
    if name in _SENDS:
        return _sent(engine, call, name, target)
    if name in _COPIES and argv[-1] in found and len(found) == 1:
        return None
    engine.report("credentials.read", call, target)
    return Flow(None, SECRET)


def _taken_in(engine: Engine, call: Call, stdin: Flow, name: str) -> Flow | None:
    """Judge a command that shows or picks from credentials that flow into it."""
    if name in _PATTERN_FIRST and _ASKS.search(" ".join(call.argv[1:])):
        engine.report("credentials.environment", call)
    elif stdin.source and is_credential(stdin.source):
        engine.report("credentials.read", call, display(stdin.source))
    else:
        return None
    return Flow(None, SECRET)


def _sent(engine: Engine, call: Call, name: str, source: str) -> Flow | None:
    """Report that a command sends credentials, with the host that gets them as the target."""
    if source:
        engine.effect("read", source, call)
    engine.report("credentials.send", call, _receiver(name, call.argv) or name)
    return None  # what comes back is the receiver's answer


def uploads(engine: Engine, call: Call) -> Flow | None:
    """Judge an upload to a storage service or a code host: the last argument says where it goes."""
    argv = call.argv
    name = call.program
    words = [word for word in argv[1:] if word[:1] != "-"]
    if not _STORE_VERBS.intersection(words[:4]):
        return None
    shared = _SHARED.get(name)
    if shared is not None and (not words or words[0] not in shared):
        return None
    found = [word for word in argv[1:] if is_credential(word)]
    remote = [word for word in words[1:] if _REMOTE.match(word)]
    if not found or (remote and remote[-1] != words[-1]):
        return None
    if remote and found == remote:
        return None
    engine.effect("read", " ".join(display(path) for path in found), call)
    engine.report("credentials.send", call, display(remote[-1]) if remote else name)
    return None


def _receiver(name: str, argv: list[str]) -> str | None:
    """Return the host that a command speaks to, or None when its words do not say."""
    words = [word for word in argv[1:] if word[:1] != "-" and word[:1] != "@"]
    addresses = [word for word in words if "://" in word]
    if name in ("scp", "sftp", "rsync"):
        addresses = [word for word in words if ":" in word or name == "sftp"][-1:]
    elif not addresses and name in _NAMES_HOSTS:
        addresses = words[-1:]
    elif not addresses:
        named = [word for word in words if ("." in word or word == "localhost") and not is_credential(word)]
        addresses = (named or words)[:1] if name in ("nc", "ncat", "netcat", "telnet", "ftp") else named[:1]
    match = _HOST.match(addresses[0]) if addresses else None
    return display(match[1]) if match is not None else None


def _carries(name: str, argv: list[str]) -> bool:
    """Return whether an address holds a part that was read from a file."""
    if name in _NAMES_HOSTS:
        return any(UNKNOWN in word and "." in word for word in argv[1:])
    return name in _SENDS and any(UNKNOWN in word and "://" in word for word in argv[1:])


def _sends_variable(call: Call) -> bool:
    """Return whether a variable of a file of credentials goes out as data, other than to log in with."""
    if call.stdin is not None and call.stdin.text is not None and SECRET_VALUE in call.stdin.text:
        return True
    words = call.argv[1:]
    sent = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if SECRET_VALUE in word and before not in _LOGIN_OPTIONS and not _LOGIN.match(word)
    ]
    return bool(sent) and not any(_HERE.match(word) for word in words)


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
