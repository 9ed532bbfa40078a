"""Where understanding a command takes more than its words: one module for each family.

`DETECTORS` names, for each program, the functions that judge it, as `module:function`, several separated by a
space. A detector returns what flows out of the command, or None when it has nothing to say about that.
"""

from __future__ import annotations


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for reference, names in _BY_FUNCTION.items():
        place = reference if reference.startswith("powershell:") else "detectors." + reference
        for name in names.split():
            table[name] = table[name] + " " + place if name in table else place
    return table


_BY_FUNCTION = {
    "builtins:echo": "echo",
    "builtins:printf": "printf",
    "builtins:cat": "cat",
    "builtins:decode": "base64 base32 xxd gbase64",
    "builtins:passing": "tee tr rev head tail sort uniq cut nl tac column pv",
    "builtins:change_directory": "cd pushd popd",
    "builtins:evaluate": "eval",
    "builtins:source": "source .",
    "builtins:trap": "trap",
    "builtins:declare": "export declare local readonly typeset",
    "builtins:alias": "alias",
    "builtins:read": "read mapfile readarray",
    "builtins:set_positional": "set",
    "builtins:unset": "unset",
    "builtins:make_temporary": "mktemp",
    "builtins:download": "curl wget",
    "interpreters:shell": "sh bash zsh dash ksh mksh ash fish rbash",
    "interpreters:language": "python node nodejs deno bun perl ruby php lua pypy Rscript osascript tclsh",
    "interpreters:awk": "awk gawk mawk nawk",
    "find:find": "find gfind",
    "find:fd": "fd fdfind",
    "filesystem:remove": "rm unlink srm grm trash shred rimraf del-cli trash-cli",
    "filesystem:move": "mv",
    "filesystem:copy": "cp install",
    "filesystem:overwrite": "dd truncate tee ln sed",
    "filesystem:permissions": "chmod chown chgrp setfacl chattr xattr",
    "filesystem:extract": "tar bsdtar unzip",
    "filesystem:synchronise": "rsync",
    "git:git": "git",
    "git:push": "git-push",
    "git:checkout": "git-checkout",
    "git:restore": "git-restore",
    "git:configure": "git-config",
    "git:runs": "git-rebase git-submodule git-bisect git-filter-branch",
    "git:remove": "git-rm",
    "git:move": "git-mv",
    "databases:client": (
        "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse cqlsh snowsql sqlcmd "
        "usql pgcli "
        "influx mycli litecli cockroach wrangler bq d1 libsql turso impala-shell beeline hive trino presto"
    ),
    "databases:document": "mongosh mongo",
    "databases:redis": "redis-cli valkey-cli keydb-cli",
    "credentials:reads": (
        "cat less more head tail bat batcat base64 xxd od hexdump strings grep egrep fgrep rg ag awk "
        "gawk sed cut sort "
        "jq yq nl tac rev cp scp sftp rsync tar zip gzip curl wget nc ncat netcat socat openssl diff vim vi "
        "nano emacs view tee dd dig nslookup host ping drill"
    ),
    "powershell:powershell": "powershell pwsh",
    "powershell:command_prompt": "cmd",
    "powershell:remove_item": "remove-item ri del erase rd rmdir",
    "powershell:evaluate": "iex invoke-expression",
    "processes:kill": "kill",
    "selfprotect:haltline": "haltline",
}

DETECTORS = _table()

# What must occur in a plain command of its own for a detector to report anything. A detector that is not
# listed may always report. Most of these only hand data on, which matters to a program that is listed with
# more.
TRIGGERS = {
    "detectors.builtins:echo": "(?!)",
    "detectors.builtins:printf": "(?!)",
    "detectors.builtins:cat": "(?!)",
    "detectors.builtins:decode": "(?!)",
    "detectors.builtins:passing": "(?!)",
    "detectors.builtins:change_directory": "(?!)",
    "detectors.builtins:declare": "=",
    "detectors.builtins:alias": "=",
    "detectors.builtins:read": "(?!)",
    "detectors.builtins:unset": "(?!)",
    "detectors.builtins:make_temporary": "(?!)",
    "detectors.builtins:download": "(?!)",
    "detectors.interpreters:awk": r"system|[|]",
    "detectors.find:find": r"-delete|-exec|-ok|-fprint|-fls",
    "detectors.find:fd": r" -x| -X|--exec",
    "detectors.credentials:reads": (
        r"\.ssh|id_(?:rsa|dsa|ecdsa|ed25)|\.aws|\.azure|netrc|\.pgpass|\.my\.cnf|git-cred|\.pypirc"
        r"|\.npmrc|htpass|vault-"
        r"|docker|\.env|kube|gnupg|\.config/g|redential|shadow|passwd|environ|Login|logins|key4"
        r"|ookies|keychain|wallet"
        r"|_history|\.(?:pem|p12|pfx|jks|key|kdbx|ppk)|rivate|service|s3cfg|boto"
    ),
}
