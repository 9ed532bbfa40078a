"""However a command is written, it is judged by what it runs."""

from __future__ import annotations

import base64
import shlex
from typing import TYPE_CHECKING

import pytest

from haltline.shell import analyze, classify

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = {
    "root": ["rm", "-rf", "/"],
    "home": ["rm", "-rf", "/home/carol"],
    "disk": ["dd", "if=/dev/zero", "of=/dev/nvme0n1"],
    "format": ["mkfs.xfs", "/dev/sdb1"],
    "history": ["git", "push", "--force", "origin", "trunk"],
    "changes": ["git", "reset", "--hard", "HEAD~2"],
    "cluster": ["kubectl", "delete", "namespace", "shop"],
    "infrastructure": ["terraform", "destroy", "-auto-approve"],
    "database": ["psql", "-c", "DROP DATABASE shop"],
    "permissions": ["chmod", "-R", "777", "/usr"],
    "volumes": ["docker", "volume", "prune", "-f"],
    "power": ["shutdown", "-h", "now"],
}


def plain(argv: list[str]) -> str:
    return shlex.join(argv)


def wrapped(before: str, after: str = "") -> Callable[[list[str]], str]:
    return lambda argv: f"{before}{plain(argv)}{after}"


def quoted(before: str, after: str = "") -> Callable[[list[str]], str]:
    return lambda argv: f"{before}{shlex.quote(plain(argv))}{after}"


def renamed(change: Callable[[str], str]) -> Callable[[list[str]], str]:
    return lambda argv: " ".join([change(argv[0]), *map(shlex.quote, argv[1:])])


def encoded(argv: list[str]) -> str:
    return f"echo {base64.b64encode(plain(argv).encode()).decode()} | base64 -d | sh"


def hexadecimal(argv: list[str]) -> str:
    return f"echo {plain(argv).encode().hex()} | xxd -r -p | bash"


def ansi(argv: list[str]) -> str:
    return " ".join("$'" + "".join(f"\\x{ord(c):02x}" for c in word) + "'" for word in argv)


def octal(argv: list[str]) -> str:
    return " ".join("$'" + "".join(f"\\{ord(c):03o}" for c in word) + "'" for word in argv)


def separated(argv: list[str]) -> str:
    return "${IFS}".join(shlex.quote(word) for word in argv)


def awk(argv: list[str]) -> str:
    inner = plain(argv).replace('"', '\\"').replace("'", "'\\''")
    return f"awk 'BEGIN{{system(\"{inner}\")}}'"


def _double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


DISGUISES: dict[str, Callable[[list[str]], str]] = {
    "as written": plain,
    "after true": wrapped("true; "),
    "after a newline": wrapped("ls\n"),
    "in the background": wrapped("", " &"),
    "backslash-newline inside the word": renamed(lambda word: word[0] + "\\\n" + word[1:]),
    "empty quotes inside the word": renamed(lambda word: word[0] + "''" + word[1:]),
    "double quotes": renamed(lambda word: f'"{word}"'),
    "a backslash": renamed(lambda word: word[0] + "\\" + word[1:]),
    "a leading backslash": renamed(lambda word: "\\" + word),
    "ANSI-C quotes": ansi,
    "octal escapes": octal,
    "separators from IFS": separated,
    "a variable": lambda argv: f'c={argv[0]}; "$c" ' + plain(argv[1:]),
    "two variables": lambda argv: f"a={argv[0][0]} b={argv[0][1:]}; $a$b " + plain(argv[1:]),
    "a variable with the whole": quoted("x=", '; eval "$x"'),
    "an array": lambda argv: f'a=({plain(argv)}); "${{a[@]}}"',
    "an array that grows": lambda argv: f'a=({argv[0]}); a+=({plain(argv[1:])}); "${{a[@]}}"',
    "an element of an array": lambda argv: f'a=(true {argv[0]}); "${{a[1]}}" ' + plain(argv[1:]),
    "elements one by one": lambda argv: f'a[0]={argv[0]}; a[1]=$0; "${{a[0]}}" ' + plain(argv[1:]),
    "an array that is read": lambda argv: f'read -ra a <<< {argv[0]}; "${{a[@]}}" ' + plain(argv[1:]),
    "a declared array": lambda argv: f'declare -a a=({argv[0]}); "${{a[@]}}" ' + plain(argv[1:]),
    "the name of a shell's text": lambda argv: 'bash -c \'"$0" "$@"\' ' + plain(argv),
    "a default value": lambda argv: f"${{nothing:-{argv[0]}}} " + plain(argv[1:]),
    "printf": lambda argv: f"$(printf %s {argv[0]}) " + plain(argv[1:]),
    "backticks": lambda argv: f"`echo {argv[0]}` " + plain(argv[1:]),
    "reversed": lambda argv: f"$(echo {argv[0][::-1]} | rev) " + plain(argv[1:]),
    "by path": renamed(lambda word: "/usr/bin/" + word),
    "command": wrapped("command "),
    "builtin command": wrapped("builtin command "),
    "exec": wrapped("exec "),
    "eval": quoted("eval "),
    "sh -c": quoted("sh -c "),
    "bash -lc": quoted("bash -lc "),
    "sh -c in sh -c": lambda argv: "sh -c " + shlex.quote("bash -c " + shlex.quote(plain(argv))),
    "sh -c after &&": quoted("ls && sh -c "),
    "awk": awk,
    "base64": encoded,
    "hexadecimal": hexadecimal,
    "xargs": lambda argv: f"printf '%s' {shlex.quote(argv[-1])} | xargs -d '\\n' " + plain(argv[:-1]),
    "xargs sh -c": lambda argv: "echo x | xargs sh -c " + shlex.quote(plain(argv)),
    "braces": lambda argv: "{" + ",".join(shlex.quote(word) for word in argv) + "}",
    "subshell": wrapped("(", ")"),
    "group": wrapped("{ ", "; }"),
    "if": wrapped("if true; then ", "; fi"),
    "condition": wrapped("if ", "; then :; fi"),
    "else": wrapped("if x; then y; else ", "; fi"),
    "for": wrapped("for i in 1; do ", "; done"),
    "while": wrapped("while :; do ", "; done"),
    "case": wrapped("case x in x) ", ";; esac"),
    "function": wrapped("f() { ", "; }; f"),
    "function with arguments": lambda argv: 'f() { "$@"; }; f ' + plain(argv),
    "alias": quoted("alias g=", "\ng"),
    "process substitution": wrapped("cat <(", ")"),
    "substitution in quotes": wrapped('echo "$(', ')"'),
    "substitution in a message": wrapped('git commit -m "x $(', ')"'),
    "backticks in an argument": wrapped("echo `", "`"),
    "arithmetic": wrapped("echo $(( $(", ") + 1 ))"),
    "parameter default": wrapped("echo ${x:-$(", ")}"),
    "test": wrapped("[[ -n $(", ") ]]"),
    "here-document into a shell": wrapped("bash <<'E'\n", "\nE\n"),
    "here-document through cat": wrapped("cat <<'E' | sh\n", "\nE\n"),
    "here-string": quoted("bash <<< "),
    "substitution in a here-document": wrapped("cat <<E\n$(", ")\nE\n"),
    "time": wrapped("time "),
    "coproc": wrapped("coproc "),
    "negated": wrapped("! "),
    "sudo": wrapped("sudo "),
    "sudo -u": wrapped("sudo -u root -E "),
    "env": wrapped("env "),
    "env -i": wrapped("env -i PATH=/bin "),
    "env -S": quoted("env -S "),
    "an assignment": wrapped("LANG=C "),
    "nice": wrapped("nice -n 5 "),
    "timeout": wrapped("timeout -k 1 --signal=KILL 5 "),
    "nohup": wrapped("nohup ", " &"),
    "setsid": wrapped("setsid -w "),
    "stdbuf": wrapped("stdbuf -oL "),
    "parallel": lambda argv: f"parallel {plain(argv[:-1])} ::: {shlex.quote(argv[-1])}",
    "find -exec": lambda argv: f"find . -maxdepth 0 -exec {plain(argv)} \\;",
    "watch": quoted("watch -n 1 "),
    "ssh": lambda argv: f"ssh -p 22 host {shlex.quote(plain(argv))}",
    "docker exec": wrapped("docker exec -it web "),
    "docker run": wrapped("docker run --rm -v /srv:/srv image "),
    "kubectl exec": wrapped("kubectl exec pod -- "),
    "su -c": quoted("su -c "),
    "script -c": quoted("script -qc "),
    "busybox": quoted("busybox sh -c "),
    "python os.system": lambda argv: "python3 -c " + shlex.quote(f"import os; os.system({plain(argv)!r})"),
    "python subprocess": lambda argv: "python3 -c " + shlex.quote(f"import subprocess as s; s.run({argv!r})"),
    "node": lambda argv: "node -e " + shlex.quote(f"require('child_process').execSync({plain(argv)!r})"),
    "perl": lambda argv: "perl -e " + shlex.quote(f"system({plain(argv)!r})"),
    "ruby": lambda argv: "ruby -e " + shlex.quote(f"system({plain(argv)!r})"),
    "php": lambda argv: "php -r " + shlex.quote(f"system({plain(argv)!r});"),
    "written, then run": lambda argv: f"echo {shlex.quote(plain(argv))} > run.sh; bash run.sh",
    "trap": quoted("trap ", " EXIT"),
    "unclosed": wrapped("", "; echo 'open"),
    "a file pattern": renamed(lambda word: "/usr/bin/" + word[:-1] + "?"),
    "looked up": lambda argv: f"$(which {argv[0]}) " + plain(argv[1:]),
    "looked up by the shell": lambda argv: f'"$(command -v {argv[0]})" ' + plain(argv[1:]),
    "a script from a substitution": quoted("bash <(echo ", ")"),
    "sourced from the input": quoted("source /dev/stdin <<< "),
    "until": wrapped("until x; do ", "; done"),
    "a here-document over ssh": wrapped("ssh host <<'E'\n", "\nE\n"),
    "su user -c": quoted("su postgres -c "),
    "runuser": quoted("runuser -l app -c "),
    "doas": wrapped("doas -u root "),
    "ionice": wrapped("ionice -c3 -n 7 "),
    "taskset": wrapped("taskset -c 0 "),
    "setarch": wrapped("setarch x86_64 -R "),
    "flock": wrapped("flock -n /tmp/l "),
    "flock -c": quoted("flock /tmp/l -c "),
    "chroot": wrapped("chroot --userspec=x /srv/root "),
    "nsenter": wrapped("nsenter -t 1 -m -u -- "),
    "unshare": wrapped("unshare -r -m "),
    "systemd-run": wrapped("systemd-run --user --scope -p X=y "),
    "start-stop-daemon": lambda argv: f"start-stop-daemon --start --exec {argv[0]} -- " + plain(argv[1:]),
    "strace": wrapped("strace -f -o log "),
    "ltrace": wrapped("ltrace -e x "),
    "GNU time": wrapped("/usr/bin/time -v "),
    "entr": wrapped("ls | entr -r "),
    "tmux": quoted("tmux new-session -d "),
    "tmux send-keys": quoted("tmux send-keys -t 0 ", " Enter"),
    "screen stuff": quoted("screen -S x -X stuff "),
    "at": wrapped("at now <<'E'\n", "\nE\n"),
    "batch": lambda argv: f"echo {shlex.quote(plain(argv))} | batch",
    "crontab": lambda argv: f"echo {shlex.quote('@daily ' + plain(argv))} | crontab -",
    "expect": lambda argv: "expect -c " + shlex.quote("spawn " + plain(argv)),
    "make": lambda argv: "make -f - <<< " + shlex.quote("all:\n\t" + plain(argv)),
    "vim": lambda argv: "vim -c " + shlex.quote("!" + plain(argv)) + " -c q",
    "emacs": lambda argv: "emacs --batch --eval " + shlex.quote(f"(shell-command {_double(plain(argv))})"),
    "ed": lambda argv: "ed <<< " + shlex.quote("!" + plain(argv)),
    "less": lambda argv: "less " + shlex.quote("+!" + plain(argv)) + " f",
    "man -P": quoted("man -P ", " ls"),
    "a pager's variable": quoted("PAGER=", " git log"),
    "git alias": lambda argv: "git -c " + shlex.quote("alias.x=!" + plain(argv)) + " x",
    "git pager": lambda argv: "git -c " + shlex.quote("core.pager=" + plain(argv)) + " log",
    "git rebase --exec": quoted("git rebase -x ", " trunk"),
    "git submodule foreach": quoted("git submodule foreach "),
    "git bisect run": wrapped("git bisect run "),
    "tar --checkpoint-action": lambda argv: (
        "tar cf /dev/null x --checkpoint=1 --checkpoint-action=" + shlex.quote("exec=" + plain(argv))
    ),
    "tar --to-command": quoted("tar xf a.tar --to-command="),
    "rsync -e": quoted("rsync -e ", " a h:b"),
    "ssh ProxyCommand": lambda argv: "ssh -o " + shlex.quote("ProxyCommand=" + plain(argv)) + " h",
    "find sh -c": quoted("find . -exec sh -c ", " _ {} \\;"),
    "fd -x": wrapped("fd -x "),
    "docker compose exec": wrapped("docker compose -f c.yml exec -T db "),
    "podman exec": wrapped("podman exec -it c "),
    "oc rsh": wrapped("oc rsh pod "),
    "sqlite .shell": lambda argv: "sqlite3 x.db " + shlex.quote(".shell " + plain(argv)),
    "psql \\!": lambda argv: "psql -c " + shlex.quote("\\! " + plain(argv)),
    "mapfile": quoted("mapfile -C ", " -c 1 x < f"),
}

CASES = [(name, way) for name in COMMANDS for way in DISGUISES]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_a_disguise_does_not_matter(name: str, way: str) -> None:
    text = DISGUISES[way](COMMANDS[name])

    assert classify(text) is not None, text


@pytest.mark.parametrize("way", DISGUISES)
def test_the_whole_analysis_agrees(way: str) -> None:
    text = DISGUISES[way](COMMANDS["root"])
    analysis = analyze(text)
    verdict = classify(text)

    assert verdict is not None
    assert analysis.decision == verdict[0]
    assert not analysis.only_reads


@pytest.mark.parametrize(
    "command",
    [
        'x=(rm -rf /); "${x[@]}"',
        'a=(-rf /); rm "${a[@]}"',
        'a=(-rf /); set -- "${a[@]}"; rm "$@"',
        "sh -c '$0 -rf /' rm",
        'bash -c \'"$0" "$@"\' rm -rf /',
    ],
)
def test_array_elements_and_the_shells_own_name_are_resolved(command: str) -> None:
    verdict = classify(command)

    assert verdict is not None
    assert verdict[0] == "deny"
