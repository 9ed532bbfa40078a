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
    "builtins:working_directory": "pwd",
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
    "builtins:bound": "complete compgen bind",
    "builtins:load": "enable",
    "builtins:unset": "unset",
    "builtins:arithmetic": "let test [",
    "builtins:make_temporary": "mktemp",
    "builtins:download": "curl wget",
    "interpreters:shell": "sh bash zsh dash ksh mksh ash fish rbash csh tcsh elvish nu xonsh yash posh oksh",
    "interpreters:language": (
        "python node nodejs deno bun perl ruby php lua luajit pypy Rscript R osascript tclsh tsx groovy "
        "elixir erl julia"
    ),
    "interpreters:project": "make gmake npm yarn pnpm bun just",
    "interpreters:awk": "awk gawk mawk nawk",
    "find:find": "find gfind",
    "find:fd": "fd fdfind",
    "filesystem:remove": "rm unlink srm grm wipe trash shred rimraf del-cli trash-cli rmdir",
    "filesystem:move": "mv",
    "filesystem:copy": "cp install",
    "filesystem:overwrite": "dd truncate tee ln sed",
    "filesystem:permissions": "chmod chown chgrp setfacl chattr xattr",
    "writers:extract": "tar bsdtar gtar unzip 7z 7za 7zz 7zr cpio",
    "writers:output_file": (
        "sort shuf tree yq openssl gpg gpg2 age pandoc tcpdump git-log git-show git-diff git-diff-tree "
        "git-diff-index git-diff-files git-archive git-format-patch git-bundle"
    ),
    "writers:pack": "zip",
    "writers:target_files": "patch sponge ed red split csplit fallocate mkfifo",
    "writers:in_place": "perl ruby awk gawk mawk nawk",
    "writers:synchronise": "rsync",
    "git:git": "git",
    "git:push": "git-push",
    "git:checkout": "git-checkout",
    "git:restore": "git-restore",
    "git:configure": "git-config",
    "git:runs": (
        "git-rebase git-submodule git-bisect git-filter-branch git-clone git-fetch git-pull git-push "
        "git-ls-remote git-archive git-difftool git-fetch-pack git-send-pack"
    ),
    "git:remove": "git-rm",
    "git:move": "git-mv",
    "databases:client": (
        "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse cqlsh snowsql sqlcmd "
        "usql pgcli "
        "influx mycli litecli cockroach wrangler bq d1 libsql turso impala-shell beeline hive trino presto "
        "snow mysqlsh vsql dolt isql fbsql cypher-shell surreal pscale sqlplus"
    ),
    "databases:console": (
        "heroku wp drush manage.py django-admin rails artisan fly neonctl railway gcloud supabase"
    ),
    "stores:document": "mongosh mongo arangosh",
    "stores:redis": "redis-cli valkey-cli keydb-cli",
    "credentials:reads": (
        "cat less more head tail bat batcat base64 xxd od hexdump strings grep egrep fgrep rg ag awk "
        "gawk sed cut sort "
        "jq yq nl tac rev cp scp sftp rsync tar zip gzip curl wget nc ncat netcat socat openssl diff vim vi "
        "nano emacs view tee dd dig nslookup host ping drill "
        "telnet ftp lftp http https xh mail mutt sendmail croc wormhole "
        "sqlite3 7z xz bzip2 zstd column paste fold pbcopy "
        "xclip xsel"
    ),
    "credentials:uploads": "aws gsutil gcloud az azcopy rclone s3cmd s5cmd mc b2 gh glab kubectl oc ossutil",
    "powershell:powershell": "powershell pwsh",
    "powershell:command_prompt": "cmd",
    "powershell:remove_item": "remove-item ri del erase rd rmdir",
    "powershell:write_item": "set-content out-file add-content",
    "powershell:block": "invoke-command icm start-job start-threadjob",
    "powershell:evaluate": "iex invoke-expression",
    "processes:kill": "kill",
    "helpers:helper": "fzf rg split dpkg apt apt-get",
    "processes:listed": "pgrep pidof ps grep egrep awk gawk",
    "builtins:which": "which type",
    "selfprotect:haltline": "haltline",
    "selfprotect:library": "python pypy coverage ipython ipython3 bpython ptpython",
    "selfprotect:code": "node nodejs deno bun perl ruby php",
    "selfprotect:records": "psql sqlite3 sqlite pgcli litecli usql duckdb mysql mariadb mycli mysqlsh",
    "selfprotect:edited": (
        "vim vi nvim ex view gvim nano pico emacs emacsclient micro code codium subl gedit kate hx helix kak "
        "mg jed joe ne mcedit sudoedit sudo notepad"
    ),
    "selfprotect:attached": (
        "gdb lldb strace ltrace py-spy pyrasite dlv gcore gdbserver frida memray perf renice prlimit reptyr "
        "nsenter"
    ),
    "selfprotect:key": "echo printf cat tee base64 xxd curl wget nc ncat netcat http https xh ssh mail",
    "selfprotect:schedule": "crontab grep egrep fgrep rg sed awk gawk perl python ruby sort uniq tac tee",
    "selfprotect:container": "docker podman nerdctl docker-compose podman-compose",
}

DETECTORS = _table()

# What must occur in a plain command of its own for a detector to report anything. A detector that is not
# listed may always report. Most of these only hand data on, which matters to a program that is listed with
# more.
TRIGGERS = {
    "detectors.builtins:echo": "(?!)",
    "detectors.builtins:working_directory": "(?!)",
    "detectors.builtins:printf": r"\$\(|`|-v",
    "detectors.builtins:cat": "(?!)",
    "detectors.builtins:decode": "(?!)",
    "detectors.builtins:passing": "(?!)",
    "detectors.builtins:change_directory": "(?!)",
    "detectors.builtins:declare": r"=|\$\(|`",
    "detectors.builtins:alias": "=",
    "detectors.builtins:read": r"-C|\$\(|`|[A-Z]{3}",  # a variable that somebody reads is in capitals
    "detectors.builtins:which": "(?!)",
    "detectors.builtins:bound": r" -[a-zA-Z]*[Cx]",
    "detectors.helpers:helper": r"--preview|--bind|--pre|--host|--filt|--post|::",
    "detectors.writers:in_place": r"inplace|>|--dump|--pretty|--prof| -[a-zA-Z0-9.]*[idop]",
    "detectors.processes:listed": "(?!)",
    "detectors.selfprotect:container": "haltline",
    "detectors.selfprotect:library": "haltline|HALTLINE_",
    "detectors.selfprotect:records": "halt|waivers|strikes|principals|audit_log|file_reads|conditions",
    "detectors.selfprotect:edited": r"haltline|\.[a-z]+/|managed-settings",
    "detectors.selfprotect:attached": "haltline",
    "detectors.selfprotect:key": "(?!)",
    "detectors.selfprotect:schedule": "(?!)",
    "detectors.builtins:unset": r"HALTLINE_|\$\(|`",
    "detectors.builtins:arithmetic": r"\$\(|`",
    "detectors.builtins:make_temporary": "(?!)",
    "detectors.databases:console": r"psql|\bdb|sql|\bcs\b|connect|pg\b",
    "detectors.builtins:download": r" -o| -O|--output|--remote-name",
    "detectors.writers:output_file": r" -[a-zA-Z]*[oisw]|--out|--in|--split|-keyout|bundle",
    "detectors.interpreters:project": "(?!)",
    "detectors.interpreters:awk": r"system|[|]",
    "detectors.find:find": r"-delete|-exec|-ok|-fprint|-fls",
    "detectors.find:fd": r" -x| -X|--exec",
    "detectors.credentials:uploads": r" (?:cp|copy|mv|move|sync|put|upload|create|mirror|rsync)",
    "detectors.credentials:reads": (
        r"\.ssh|id_(?:rsa|dsa|ecdsa|ed25)|\.aws|\.azure|netrc|\.pgpass|\.my\.cnf|git-cred|\.pypirc"
        r"|\.npmrc|htpass|vault-"
        r"|docker|\.env|\.kube/|kubeconfig|gnupg|\.config/g|redential|shadow|passwd|environ|Login|logins|key4"
        r"|ookies|keychain|wallet"
        r"|_history|\.(?:pem|p12|pfx|jks|key|kdbx|ppk)|rivate|service|s3cfg|boto"
        r"|\.config/|\.oci|\.fly/|auth\.json|\.m2/|kaggle|huggingf|snowsql|gradle\.p|secrets?[./]|\.pulumi"
        r"|client_secret|adminsdk|admin\.conf|k3s\.yaml|wireguard|terraformrc|databricks|dev\.vars"
        r"|haltline/|tfstate|password-store|\.env|\.railway|mylogin"
    ),
}
