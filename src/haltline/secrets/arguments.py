"""Passwords and tokens among the words of a command line, by the program and option that take them.

Each row follows the program's own manual: the option or subcommand after which the secret stands. Long
options whose name says what they hold (`--password`, `--token`) need no row; their name gives the value away.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SAME_COMMAND = r"[^\n|;&]{0,200}?"
_VALUE = r"[\"']?([^\s\"'$<({`/\-][^\s\"'`;|&)]{2,256})"


class Argument(NamedTuple):
    """How a program is given a secret.

    Attributes:
        programs: names of programs, divided by blanks.
        before: what stands directly before the secret, as an expression; a blank stands before that.
        rule: the rule to report.
    """

    programs: str
    before: str
    rule: str = "password"


ARGUMENTS = (
    Argument("redis-cli valkey-cli keydb-cli", r"(?:-a|--pass)[ \t=]"),
    Argument(
        "docker podman nerdctl helm oras crane buildah skopeo",
        r"login[ \t](?:[^\n|;&]{0,160}?[ \t])?-p[ \t=]?",
    ),
    Argument("skopeo buildah podman", r"--(?:src-|dest-)?creds[ \t=][^\s:]{1,100}:"),
    Argument("az oc", r"login[ \t](?:[^\n|;&]{0,160}?[ \t])?-p[ \t]"),
    Argument(
        "mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh cassandra-stress",
        r"-p[ \t]",
    ),
    Argument("sqlcmd bcp mosquitto_pub mosquitto_sub ipmitool zip unzip", r"-P[ \t]?"),
    Argument("ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldappasswd", r"-w[ \t]"),
    Argument("7z 7za 7zz rar unrar", r"-h?p"),
    Argument("smbclient rpcclient smbmap", r"-U[ \t=]?[\"']?[^\s%\"']{1,100}%"),
    Argument("htpasswd", r"-\w{0,6}b\w{0,6}[ \t]+\S{1,200}[ \t]+\S{1,100}[ \t]"),
    Argument("rabbitmqctl", r"(?:add_user|change_password|authenticate_user)[ \t]+\S{1,100}[ \t]"),
    Argument("net", r"user[ \t]+\S{1,100}[ \t]"),
    Argument("openssl", r"-(?:passin|passout|pass)[ \t]+[\"']?pass:"),
    Argument("openssl", r"enc[ \t][^\n|;&]{0,160}?-k[ \t]"),
    Argument("keytool jarsigner", r"-(?:storepass|keypass|srcstorepass|deststorepass|new)[ \t]"),
    Argument("plink pscp psftp", r"-pw[ \t]"),
    Argument("xfreerdp xfreerdp3 wfreerdp", r"/p:"),
    Argument("rdesktop twine vsce ovsx nxc crackmapexec evil-winrm wmic", r"-p[ \t]"),
    Argument("lftp", r"-u[ \t]*[\"']?[^\s,\"']{1,100},"),
    Argument("snmpwalk snmpget snmpset snmpbulkwalk", r"-[AX][ \t]"),
    Argument("influx", r"-(?:password|p|t)[ \t]"),
    Argument("vault bao", r"login[ \t]+", "secret-value"),
    Argument("vault bao", r"kv[ \t]+(?:put|patch)[ \t]+[^\n|;&]{0,160}?[\w.-]{1,64}=", "secret-value"),
    Argument("kubectl oc", r"--from-literal[ \t=][\"']?[\w.-]{1,100}=", "secret-value"),
    Argument(
        "npm pnpm yarn",
        r"set[ \t]+[\"']?\S{0,200}?(?:_authToken|_password|_auth)[\"']?[ \t=]+",
        "secret-value",
    ),
    Argument(
        "aws",
        r"configure[ \t]+set[ \t]+(?:[\w.-]{1,60}\.)?aws_(?:secret_access_key|session_token)[ \t]+",
        "secret-value",
    ),
    Argument("poetry", r"config[ \t]+(?:--\w+[ \t]+)?pypi-token\.\S{1,60}[ \t]+", "secret-value"),
    Argument("poetry", r"config[ \t]+(?:--\w+[ \t]+)?http-basic\.\S{1,60}[ \t]+\S{1,100}[ \t]+"),
    Argument("nuget", r"(?:-k|-ApiKey|setapikey)[ \t]+", "secret-value"),
    Argument("cargo", r"login[ \t]+", "secret-value"),
    Argument("ngrok", r"(?:authtoken|add-authtoken)[ \t]+", "secret-value"),
    Argument("doctl", r"(?:-t|--access-token)[ \t=]+", "secret-value"),
    Argument("cloudflared", r"service[ \t]+install[ \t]+", "secret-value"),
    Argument(
        "heroku",
        r"config:set[ \t][^\n|;&]{0,160}?\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASS)=",
        "secret-value",
    ),
    Argument("fly flyctl", r"secrets[ \t]+set[ \t][^\n|;&]{0,160}?\w+=", "secret-value"),
    Argument(
        "wrangler gh",
        r"secret[ \t]+(?:put|set)[ \t][^\n|;&]{0,160}?(?:-b|--body)[ \t=]",
        "secret-value",
    ),
)

_INTO = r"(?:echo|printf)[ \t]+(?:-n[ \t]+|[\"']?%s(?:\\n)?[\"']?[ \t]+)?" + _VALUE + r"[\"']?[ \t]*\|[ \t]*"
# What is written into a program that reads a secret from its input, and the word that says so.
FED = (
    ("-stdin", _INTO + r"[\w./-]+[ \t][^\n|;&]{0,160}?--(?:password|token|secret|passphrase)-stdin"),
    ("-stdin", r"--(?:password|token|secret|passphrase)-stdin[ \t]*<<<[ \t]*" + _VALUE),
    ("--with-token", _INTO + r"gh[ \t][^\n|;&]{0,160}?--with-token"),
    ("--with-token", r"--with-token[ \t]*<<<[ \t]*" + _VALUE),
    ("passphrase-fd", _INTO + r"gpg2?[ \t][^\n|;&]{0,160}?--passphrase-fd"),
    ("sudo -S", _INTO + r"sudo[ \t]+-S"),
    (" secret", _INTO + r"(?:wrangler[ \t]+secret|gh[ \t]+secret[ \t]+set|fly(?:ctl)?[ \t]+secrets)"),
    (
        "chpasswd",
        (
            r"(?:echo|printf)[ \t]+[\"']?[^\s:\"']{1,64}:([^\s\"'$]{3,256})[\"']?"
            r"[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"
        ),
    ),
)


# How a program's name may begin a word: as it is, in quotes or brackets, or by its path.
_BEGINNINGS = ("", '"', "'", "`", "(", "$(", "/usr/bin/", "/usr/local/bin/")


@cache
def _rows() -> dict[str, list[tuple[str, str]]]:
    """Return the expressions and rules of each word that may be the name of a program."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for row in ARGUMENTS:
        for program in row.programs.split():
            expression = (
                rf"(?<![\w.-]){program}(?:\.exe)?[ \t]{_SAME_COMMAND}"
                rf"(?<!\S){row.before}[ \t]{{0,4}}{_VALUE}"
            )
            for beginning in _BEGINNINGS:
                rows.setdefault(beginning + program, []).append((expression, row.rule))
    return rows


def argument_phrases(text: str, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the expressions that a text is worth searching for, with their rules; group 1 is the secret.

    Args:
        text: what to search.
        words: its words, as blanks divide them.
    """
    rows = _rows()
    if not rows.keys().isdisjoint(words):
        for word in rows.keys() & set(words):
            yield from rows[word]
    if "|" in text or "<<<" in text:
        for sign, expression in FED:
            if sign in text:
                yield expression, "password"
