"""Everyday programs with an option that names a helper to run: only then do they run something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haltline.shell.unwrap_texts import option_texts, settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haltline.shell.call import Call, Flow
    from haltline.shell.engine import Engine

_APT = {
    "values": "-o -c -t --option --config-file --target-release",
    "setting": "-o --option",
    "runs": r"(?i)::(?:Pre|Post)-\w+[^=]*=(.+)",
}
_HELPERS: Mapping[str, Mapping[str, str]] = {
    "fzf": {
        "values": "-q -f -d -n -m --preview --bind --query --filter --delimiter --with-shell --tiebreak "
        "--height --preview-window",
        "text": "--preview",
        "setting": "--bind",
        "runs": r"(?:execute(?:-silent|-multi)?|become|reload(?:-sync)?|transform(?:-\w+)*|preview)"
        r"[(:\[{](.+?)(?:[)\]}]|\Z)",
    },
    "rg": {
        "values": "-e -f -g -t -T -A -B -C -m --pre --regexp --file --glob --type --hostname-bin",
        "text": "--pre --hostname-bin",
    },
    "split": {
        "values": "-a -b -C -l -n -t --filter --bytes --lines --number --suffix-length --additional-suffix "
        "--separator",
        "text": "--filter",
    },
    "dpkg": {
        "values": "--pre-invoke --post-invoke --root --admindir",
        "text": "--pre-invoke --post-invoke",
    },
    "apt": _APT,
    "apt-get": _APT,
}


def helper(engine: Engine, call: Call) -> Flow | None:
    """`fzf --preview command`, `rg --pre command`, `apt-get -o DPkg::Pre-Invoke::=command`."""
    name = call.program
    spec = _HELPERS[name]
    judge = settings if "setting" in spec else option_texts
    return judge(engine, call, name, spec)
