"""Which words of a command line are secrets, as data: for each program, from its vendor's documentation.

The same letter means different things to different programs: `-p` is a password to `sshpass` and a port to
`ssh`. So short options and positions count only for the programs named here.
"""

from __future__ import annotations

from typing import NamedTuple


class SecretWord(NamedTuple):
    """Where one program, or several that agree, takes a secret on its command line.

    Several of a kind are separated by blanks.

    Attributes:
        programs: their names, without directory and `.exe`.
        source: the vendor's page that says so.
        within: words that must follow the program in this order, options aside, such as `config set`.
        needs: a flag that must be given, alone or among others (`-b` is given in `-cb`).
        unless: a flag that must not be given.
        options: options whose next word, or what follows their `=`, is the secret.
        attached: options with the secret directly behind them. A short option in both also ends a group of
            flags (`-su`).
        positions: which words after `within` are the secret, options aside, counted from one.
        valued: options that take the next word, which is therefore not counted.
        separator: what stands between a name and the secret in the value (`user:secret`), if there is a name.
        until: what ends the secret in the value, if there is more behind it.
        assigned: what holds secrets after `within`: `any` for every `NAME=VALUE`, `named` for those whose
            name says so, `keyed` for these and the word after such a name.
    """

    programs: str
    source: str
    within: str = ""
    needs: str = ""
    unless: str = ""
    options: str = ""
    attached: str = ""
    positions: tuple[int, ...] = ()
    valued: str = ""
    separator: str = ""
    until: str = ""
    assigned: str = ""


_MYSQL = (
    "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlslap mysqlpump mysqlbinlog mysqlsh "
    "mysql_upgrade mariadb mariadb-dump mariadb-admin mariadb-import mariadb-show mariadb-check "
    "mariadb-binlog mariabackup xtrabackup"
)
_MONGO = "mongosh mongo mongodump mongorestore mongoexport mongoimport mongostat mongotop mongofiles"
_LDAP = "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn ldapexop ldappasswd"
_SAMBA = "smbclient rpcclient smbget smbcacls smbcquotas smbtree net"
_REDIS = "redis-cli valkey-cli keydb-cli"

DATABASES = (
    SecretWord(_REDIS, "https://redis.io/docs/latest/develop/tools/cli/", options="-a --pass"),
    SecretWord(
        "redis-benchmark memtier_benchmark", "https://redis.io/docs/latest/", options="-a --authenticate"
    ),
    SecretWord(_REDIS, "https://redis.io/docs/latest/commands/auth/", within="auth", positions=(1, 2)),
    SecretWord(
        _REDIS,
        "https://redis.io/docs/latest/operate/oss_and_stack/management/security/",
        within="requirepass",
        positions=(1,),
    ),
    SecretWord(
        _REDIS,
        "https://redis.io/docs/latest/operate/oss_and_stack/management/replication/",
        within="masterauth",
        positions=(1,),
    ),
    SecretWord(
        _MYSQL,
        "https://dev.mysql.com/doc/refman/8.4/en/connection-options.html",
        attached="-p --password= --password1= --password2= --password3=",
    ),
    SecretWord(
        "mysqladmin mariadb-admin",
        "https://dev.mysql.com/doc/refman/8.4/en/mysqladmin.html",
        within="password",
        positions=(1,),
    ),
    SecretWord("mycli", "https://www.mycli.net/commands", options="-p --password --pass", attached="-p"),
    SecretWord(
        _MONGO,
        "https://www.mongodb.com/docs/mongodb-shell/reference/options/",
        options="-p --password",
        attached="-p",
    ),
    SecretWord(
        "sqlcmd osql bcp",
        "https://learn.microsoft.com/sql/tools/sqlcmd/sqlcmd-utility",
        options="-P",
        attached="-P",
    ),
    SecretWord(
        "sqlcmd",
        "https://learn.microsoft.com/sql/tools/sqlcmd/sqlcmd-utility",
        options="-z -Z",
        attached="-z -Z",
    ),
    SecretWord(
        "sqlplus sqlldr expdp impdp rman",
        "https://docs.oracle.com/en/database/oracle/oracle-database/23/sqpug/starting-SQL-Plus.html",
        positions=(1,),
        valued="-R -C -M",
        separator="/",
        until="@",
    ),
    SecretWord(
        "cqlsh cypher-shell",
        "https://cassandra.apache.org/doc/latest/cassandra/managing/tools/cqlsh.html",
        options="-p --password",
        attached="-p",
    ),
    SecretWord(
        "neo4j-admin",
        "https://neo4j.com/docs/operations-manual/current/configuration/set-initial-password/",
        within="set-initial-password",
        positions=(1,),
    ),
    SecretWord(
        "influx",
        "https://docs.influxdata.com/influxdb/v2/reference/cli/influx/",
        options="-t --token -p --password -password",
        attached="-t",
    ),
    SecretWord(
        "clickhouse-client clickhouse snowsql snow databricks cockroach arangosh",
        "https://clickhouse.com/docs/interfaces/cli",
        options="--password --token --server.password",
    ),
    SecretWord(
        "etcdctl",
        "https://etcd.io/docs/latest/op-guide/authentication/rbac/",
        options="--user",
        separator=":",
    ),
    SecretWord("etcdctl", "https://etcd.io/docs/latest/op-guide/authentication/rbac/", options="--password"),
    SecretWord(
        "rabbitmqctl",
        "https://www.rabbitmq.com/docs/man/rabbitmqctl.8",
        within="add_user",
        positions=(2,),
    ),
    SecretWord(
        "rabbitmqctl",
        "https://www.rabbitmq.com/docs/man/rabbitmqctl.8",
        within="change_password",
        positions=(2,),
    ),
    SecretWord(
        "rabbitmqctl",
        "https://www.rabbitmq.com/docs/man/rabbitmqctl.8",
        within="authenticate_user",
        positions=(2,),
    ),
    SecretWord(
        "rabbitmqadmin",
        "https://www.rabbitmq.com/docs/management-cli",
        options="-p --password",
        attached="-p",
    ),
    SecretWord(
        "mosquitto_pub mosquitto_sub mosquitto_rr",
        "https://mosquitto.org/man/mosquitto_pub-1.html",
        options="-P --pw",
        attached="-P",
    ),
)

REGISTRIES = (
    SecretWord(
        "docker podman nerdctl buildah skopeo oras helm crane regctl oc rancher",
        "https://docs.docker.com/reference/cli/docker/login/",
        within="login",
        options="-p --password --pass",
        attached="-p",
    ),
    SecretWord(
        "oc rancher",
        "https://docs.openshift.com/container-platform/latest/cli_reference/openshift_cli/",
        within="login",
        options="--token -t",
    ),
    SecretWord(
        "podman buildah skopeo",
        "https://docs.podman.io/en/latest/markdown/podman-pull.1.html",
        options="--creds --src-creds --dest-creds",
        separator=":",
    ),
    SecretWord(
        "skopeo",
        "https://github.com/containers/skopeo/blob/main/docs/skopeo-copy.1.md",
        options="--password --src-registry-token --dest-registry-token --registry-token",
    ),
    SecretWord("helm", "https://helm.sh/docs/helm/helm_repo_add/", options="--password"),
    SecretWord(
        "npm pnpm yarn",
        "https://docs.npmjs.com/cli/commands/npm-config",
        within="set",
        assigned="keyed",
    ),
    SecretWord("poetry", "https://python-poetry.org/docs/repositories/", within="config", assigned="keyed"),
    SecretWord(
        "poetry uv twine",
        "https://python-poetry.org/docs/cli/",
        within="publish",
        options="-p",
        attached="-p",
    ),
    SecretWord(
        "uv",
        "https://docs.astral.sh/uv/reference/cli/",
        within="publish",
        options="-t --token",
        attached="-t",
    ),
    SecretWord(
        "twine",
        "https://twine.readthedocs.io/en/stable/",
        within="upload",
        options="-p --password",
        attached="-p",
    ),
    SecretWord(
        "vsce ovsx",
        "https://code.visualstudio.com/api/working-with-extensions/publishing-extension",
        options="-p --pat",
        attached="-p",
    ),
    SecretWord(
        "cargo",
        "https://doc.rust-lang.org/cargo/commands/cargo-login.html",
        within="login",
        positions=(1,),
        valued="--registry",
    ),
    SecretWord(
        "nuget",
        "https://learn.microsoft.com/nuget/reference/cli-reference/cli-ref-setapikey",
        within="setapikey",
        positions=(1,),
    ),
    SecretWord(
        "nuget",
        "https://learn.microsoft.com/nuget/reference/cli-reference/cli-ref-sources",
        options="-Password -ApiKey",
    ),
    SecretWord(
        "dotnet",
        "https://learn.microsoft.com/dotnet/core/tools/dotnet-nuget-push",
        within="nuget push",
        options="-k --api-key -sk --symbol-api-key",
    ),
    SecretWord(
        "dotnet",
        "https://learn.microsoft.com/dotnet/core/tools/dotnet-nuget-add-source",
        within="nuget add source",
        options="-p --password",
    ),
    SecretWord(
        "dotnet",
        "https://learn.microsoft.com/aspnet/core/security/app-secrets",
        within="user-secrets set",
        positions=(2,),
        valued="-p --project --id",
    ),
)

CLOUD = (
    SecretWord(
        "aws",
        "https://docs.aws.amazon.com/cli/latest/reference/configure/set.html",
        within="configure set",
        assigned="keyed",
    ),
    SecretWord(
        "aws",
        "https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/create-secret.html",
        within="secretsmanager",
        options="--secret-string",
    ),
    SecretWord(
        "aws",
        "https://docs.aws.amazon.com/cli/latest/reference/ssm/put-parameter.html",
        within="ssm put-parameter",
        needs="SecureString",
        options="--value",
    ),
    SecretWord(
        "aws",
        "https://docs.aws.amazon.com/cli/latest/reference/",
        options="--master-user-password --password --temporary-password --new-password --old-password "
        "--auth-token",
    ),
    SecretWord(
        "az",
        "https://learn.microsoft.com/cli/azure/reference-index#az-login",
        within="login",
        options="-p",
        attached="-p",
    ),
    SecretWord(
        "az",
        "https://learn.microsoft.com/cli/azure/",
        options="--password --admin-password --account-key --sas-token --client-secret "
        "--docker-registry-server-password",
    ),
    SecretWord(
        "az",
        "https://learn.microsoft.com/cli/azure/keyvault/secret#az-keyvault-secret-set",
        within="keyvault secret set",
        options="--value",
    ),
    SecretWord(
        "gcloud",
        "https://cloud.google.com/sdk/gcloud/reference/sql/users/set-password",
        options="--password --root-password",
    ),
    SecretWord(
        "gh",
        "https://cli.github.com/manual/gh_secret_set",
        within="secret set",
        options="-b --body",
        attached="-b",
    ),
    SecretWord(
        "glab", "https://docs.gitlab.com/cli/auth/login/", within="login", options="-t --token", attached="-t"
    ),
    SecretWord(
        "kubectl oc microk8s.kubectl",
        "https://kubernetes.io/docs/reference/kubectl/generated/kubectl_create/kubectl_create_secret_generic/",
        within="create secret",
        options="--from-literal",
        separator="=",
    ),
    SecretWord(
        "kubectl oc microk8s.kubectl",
        "https://kubernetes.io/docs/reference/kubectl/generated/kubectl_create/kubectl_create_secret_docker-registry/",
        options="--docker-password --token --password",
    ),
    SecretWord(
        "argocd",
        "https://argo-cd.readthedocs.io/en/stable/user-guide/commands/argocd_login/",
        options="--password --auth-token --current-password --new-password",
    ),
    SecretWord(
        "heroku dokku",
        "https://devcenter.heroku.com/articles/config-vars",
        within="config:set",
        assigned="named",
    ),
    SecretWord(
        "heroku", "https://devcenter.heroku.com/articles/config-vars", within="config:add", assigned="named"
    ),
    SecretWord("fly flyctl", "https://fly.io/docs/flyctl/secrets-set/", within="secrets set", assigned="any"),
    SecretWord("fly flyctl", "https://fly.io/docs/flyctl/", options="-t --access-token"),
    SecretWord(
        "supabase doppler infisical",
        "https://supabase.com/docs/reference/cli/supabase-secrets-set",
        within="secrets set",
        assigned="any",
    ),
    SecretWord("doppler", "https://docs.doppler.com/docs/cli", within="configure set", assigned="keyed"),
    SecretWord("doppler", "https://docs.doppler.com/docs/cli", options="-t --token"),
    SecretWord("vercel", "https://vercel.com/docs/cli/global-options", options="-t --token"),
    SecretWord("railway", "https://docs.railway.com/reference/cli-api", within="variables", assigned="named"),
    SecretWord("netlify", "https://cli.netlify.com/commands/env/", within="env:set", assigned="keyed"),
    SecretWord("convex", "https://docs.convex.dev/cli", within="env set", assigned="keyed"),
    SecretWord(
        "firebase",
        "https://firebase.google.com/docs/functions/config-env",
        within="functions:config:set",
        assigned="named",
    ),
    SecretWord(
        "eas", "https://docs.expo.dev/eas/environment-variables/", within="secret:create", options="--value"
    ),
    SecretWord(
        "pulumi",
        "https://www.pulumi.com/docs/iac/cli/commands/pulumi_config_set/",
        within="config set",
        needs="--secret",
        positions=(2,),
        valued="-s --stack -C --cwd --config-file",
    ),
    SecretWord(
        "terraform tofu terragrunt",
        "https://developer.hashicorp.com/terraform/language/values/variables",
        options="-var --var -backend-config --backend-config",
        separator="=",
        assigned="named",
    ),
    SecretWord(
        "doctl", "https://docs.digitalocean.com/reference/doctl/reference/", options="-t --access-token"
    ),
    SecretWord(
        "ngrok",
        "https://ngrok.com/docs/agent/cli/",
        within="add-authtoken",
        positions=(1,),
        valued="--config",
    ),
    SecretWord(
        "ngrok", "https://ngrok.com/docs/agent/cli/", within="authtoken", positions=(1,), valued="--config"
    ),
    SecretWord(
        "cloudflared",
        "https://developers.cloudflare.com/cloudflare-one/networks/connectors/cloudflare-tunnel/",
        within="service install",
        positions=(1,),
    ),
    SecretWord("tailscale", "https://tailscale.com/kb/1080/cli", options="--authkey --auth-key"),
    SecretWord(
        "wandb",
        "https://docs.wandb.ai/ref/cli/wandb-login/",
        within="login",
        positions=(1,),
        valued="--host --cloud",
    ),
    SecretWord(
        "snyk", "https://docs.snyk.io/developer-tools/snyk-cli/commands/auth", within="auth", positions=(1,)
    ),
)

VAULTS = (
    SecretWord(
        "vault bao",
        "https://developer.hashicorp.com/vault/docs/commands/login",
        within="login",
        unless="-method",
        positions=(1,),
        valued="-path -namespace -address -token-type",
    ),
    SecretWord(
        "vault bao",
        "https://developer.hashicorp.com/vault/docs/commands/login",
        within="login",
        assigned="named",
    ),
    SecretWord(
        "vault bao",
        "https://developer.hashicorp.com/vault/docs/commands/kv/put",
        within="kv put",
        assigned="any",
    ),
    SecretWord(
        "vault bao",
        "https://developer.hashicorp.com/vault/docs/commands/kv/patch",
        within="kv patch",
        assigned="any",
    ),
    SecretWord(
        "vault bao",
        "https://developer.hashicorp.com/vault/docs/commands/write",
        within="write",
        assigned="named",
    ),
    SecretWord(
        "vault bao",
        "https://developer.hashicorp.com/vault/docs/commands/operator/unseal",
        within="operator unseal",
        positions=(1,),
        valued="-address",
    ),
    *(
        SecretWord(
            "vault bao",
            "https://developer.hashicorp.com/vault/docs/commands/token",
            within=f"token {verb}",
            positions=(1,),
            valued="-address -namespace",
        )
        for verb in ("lookup", "renew", "revoke")
    ),
    SecretWord(
        "vault bao",
        "https://developer.hashicorp.com/vault/docs/commands/unwrap",
        within="unwrap",
        positions=(1,),
    ),
    SecretWord(
        "bw", "https://bitwarden.com/help/cli/", within="login", positions=(2,), valued="--method --code"
    ),
    SecretWord("bw", "https://bitwarden.com/help/cli/", within="unlock", positions=(1,)),
    SecretWord(
        "openssl",
        "https://docs.openssl.org/master/man1/openssl-passphrase-options/",
        options="-pass -passin -passout",
        separator="pass:",
    ),
    SecretWord("openssl", "https://docs.openssl.org/master/man1/openssl-enc/", within="enc", options="-k -K"),
    SecretWord(
        "openssl",
        "https://docs.openssl.org/master/man1/openssl-passwd/",
        within="passwd",
        positions=(1,),
        valued="-salt -in -rand -writerand -provider",
    ),
    SecretWord(
        "gpg gpg2",
        "https://www.gnupg.org/documentation/manuals/gnupg/GPG-Esoteric-Options.html",
        options="--passphrase",
    ),
    SecretWord("ssh-keygen", "https://man.openbsd.org/ssh-keygen", options="-N -P", attached="-N -P"),
    SecretWord(
        "keytool jarsigner apksigner",
        "https://docs.oracle.com/en/java/javase/21/docs/specs/man/keytool.html",
        options="-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass -new",
    ),
    SecretWord(
        "ansible-vault",
        "https://docs.ansible.com/ansible/latest/cli/ansible-vault.html",
        within="encrypt_string",
        positions=(1,),
        valued="-n --name --vault-id --vault-password-file --encrypt-vault-id",
    ),
)

NETWORK = (
    SecretWord(
        "curl",
        "https://curl.se/docs/manpage.html",
        options="-u --user -U --proxy-user",
        attached="-u -U",
        separator=":",
    ),
    SecretWord("curl", "https://curl.se/docs/manpage.html", options="-E --cert --proxy-cert", separator=":"),
    SecretWord(
        "curl",
        "https://curl.se/docs/manpage.html",
        options="--pass --proxy-pass --tlspassword --proxy-tlspassword --oauth2-bearer",
    ),
    SecretWord(
        "http https httpie xh",
        "https://httpie.io/docs/cli/authentication",
        options="-a --auth",
        attached="-a",
        separator=":",
    ),
    SecretWord(
        "wget wget2",
        "https://www.gnu.org/software/wget/manual/wget.html",
        options="--password --http-password --ftp-password --proxy-password --http-passwd --proxy-passwd",
    ),
    SecretWord(
        "aria2c",
        "https://aria2.github.io/manual/en/html/aria2c.html",
        options="--http-passwd --ftp-passwd --all-proxy-passwd --http-proxy-passwd --https-proxy-passwd "
        "--rpc-secret --rpc-passwd",
    ),
    SecretWord(
        "lftp", "https://lftp.yar.ru/lftp-man.html", options="-u --user", attached="-u", separator=","
    ),
    SecretWord("svn", "https://svnbook.red-bean.com/en/1.8/svn.ref.svn.html", options="--password"),
    SecretWord("sshpass", "https://linux.die.net/man/1/sshpass", options="-p", attached="-p"),
    SecretWord(
        "plink pscp psftp putty kitty",
        "https://the.earth.li/~sgtatham/putty/latest/htmldoc/Chapter3.html",
        options="-pw",
    ),
    SecretWord("rclone", "https://rclone.org/commands/rclone_obscure/", within="obscure", positions=(1,)),
    SecretWord(
        "rclone", "https://rclone.org/commands/rclone_config_create/", within="config", assigned="keyed"
    ),
    SecretWord(
        _LDAP, "https://www.openldap.org/software/man.cgi?query=ldapsearch", options="-w", attached="-w"
    ),
    SecretWord(
        "ldappasswd",
        "https://www.openldap.org/software/man.cgi?query=ldappasswd",
        options="-s -a",
        attached="-s -a",
    ),
    SecretWord(
        _SAMBA,
        "https://www.samba.org/samba/docs/current/man-html/smbclient.1.html",
        options="-U --user",
        attached="-U",
        separator="%",
    ),
    SecretWord(
        "smbmap nxc netexec crackmapexec evil-winrm rdesktop",
        "https://www.netexec.wiki/getting-started/using-credentials",
        options="-p",
        attached="-p",
    ),
    SecretWord(
        "xfreerdp xfreerdp3 wlfreerdp wfreerdp",
        "https://github.com/FreeRDP/FreeRDP/wiki/CommandLineInterface",
        attached="/p: /gp:",
    ),
    SecretWord(
        "ipmitool",
        "https://github.com/ipmitool/ipmitool/blob/master/doc/ipmitool.1.in",
        options="-P",
        attached="-P",
    ),
    SecretWord(
        "snmpget snmpset snmpwalk snmpbulkwalk snmpbulkget snmpgetnext snmptrap",
        "https://www.net-snmp.org/docs/man/snmpcmd.html",
        options="-A -X",
        attached="-A -X",
    ),
    SecretWord(
        "nmcli",
        "https://networkmanager.dev/docs/api/latest/nmcli.html",
        within="wifi connect password",
        positions=(1,),
    ),
    SecretWord(
        "wpa_passphrase", "https://w1.fi/cgit/hostap/plain/wpa_supplicant/doc/docbook/", positions=(2,)
    ),
)

MACHINE = (
    SecretWord(
        "zip zipcloak unzip zipnote", "https://infozip.sourceforge.net/Zip.html", options="-P", attached="-P"
    ),
    SecretWord(
        "7z 7za 7zr 7zz", "https://7-zip.opensource.jp/chm/cmdline/switches/password.htm", attached="-p"
    ),
    SecretWord("rar unrar", "https://www.rarlab.com/rar_file.htm", attached="-p -hp"),
    SecretWord(
        "htpasswd",
        "https://httpd.apache.org/docs/2.4/programs/htpasswd.html",
        needs="-b",
        unless="-n",
        positions=(3,),
        valued="-C -r",
    ),
    SecretWord(
        "htpasswd",
        "https://httpd.apache.org/docs/2.4/programs/htpasswd.html",
        needs="-n",
        positions=(2,),
        valued="-C -r",
    ),
    SecretWord(
        "mosquitto_passwd", "https://mosquitto.org/man/mosquitto_passwd-1.html", needs="-b", positions=(3,)
    ),
    SecretWord(
        "mkpasswd",
        "https://manpages.debian.org/stable/whois/mkpasswd.1.en.html",
        positions=(1,),
        valued="-m --method -S --salt -R --rounds",
    ),
    SecretWord(
        "useradd usermod groupadd groupmod adduser",
        "https://man7.org/linux/man-pages/man8/useradd.8.html",
        options="-p --password",
    ),
    SecretWord(
        "doveadm",
        "https://doc.dovecot.org/latest/core/man/doveadm-pw.1.html",
        within="pw",
        options="-p",
        attached="-p",
    ),
    *(
        SecretWord("security", "https://ss64.com/mac/security.html", within=verb, options=options)
        for verb, options in (
            ("add-generic-password", "-w"),
            ("add-internet-password", "-w"),
            ("unlock-keychain", "-p"),
            ("create-keychain", "-p"),
            ("set-key-partition-list", "-k"),
            ("import", "-P"),
        )
    ),
    SecretWord(
        "sysadminctl",
        "https://ss64.com/mac/sysadminctl.html",
        options="-password -newPassword -oldPassword -adminPassword",
    ),
    SecretWord(
        "net net1",
        "https://learn.microsoft.com/previous-versions/windows/it-pro/windows-server-2012-r2-and-2012/cc771865(v=ws.11)",
        within="user",
        positions=(2,),
    ),
    SecretWord(
        "PsExec psExec psexec64 PsExec64",
        "https://learn.microsoft.com/sysinternals/downloads/psexec",
        options="-p",
    ),
    SecretWord(
        "cmdkey",
        "https://learn.microsoft.com/windows-server/administration/windows-commands/cmdkey",
        attached="/pass: /p:",
    ),
    SecretWord(
        "schtasks",
        "https://learn.microsoft.com/windows-server/administration/windows-commands/schtasks-create",
        options="/p /rp",
    ),
    SecretWord("wmic", "https://learn.microsoft.com/windows/win32/wmisdk/wmic", attached="/password:"),
    SecretWord(
        "ConvertTo-SecureString",
        "https://learn.microsoft.com/powershell/module/microsoft.powershell.security/convertto-securestring",
        needs="-AsPlainText",
        positions=(1,),
        valued="-Key -SecureKey",
    ),
)

SECRET_WORDS = (*DATABASES, *REGISTRIES, *CLOUD, *VAULTS, *NETWORK, *MACHINE)

# Programs that print their words, which a program behind the pipe may read as a secret.
PRINTERS = ("echo", "printf")


class SecretReader(NamedTuple):
    """What reads a secret from standard input: `echo … |` before it, or `<<<` behind it.

    Attributes:
        programs: their names; empty for any program.
        words: words that must follow the program in this order.
        separator: what stands between a name and the secret in the line that is read, if there is a name.
    """

    programs: str
    words: str
    separator: str = ""


SECRET_READERS = (
    SecretReader("docker podman nerdctl buildah skopeo helm oras crane", "--password-stdin"),
    SecretReader("", "--password-stdin"),
    SecretReader("", "--token-stdin"),
    SecretReader("", "--secret-stdin"),
    SecretReader("", "--passphrase-stdin"),
    SecretReader("fly flyctl", "secrets import", "="),
    SecretReader("docker podman", "secret create -"),
    SecretReader("gh", "--with-token"),
    SecretReader("gh", "secret set"),
    SecretReader("glab", "--stdin"),
    SecretReader("wrangler", "secret put"),
    SecretReader("vercel", "env add"),
    SecretReader("gcloud", "secrets --data-file=-"),
    SecretReader("vault bao", "login -"),
    SecretReader("sudo", "-S"),
    SecretReader("passwd", "--stdin"),
    SecretReader("chpasswd", "", ":"),
    SecretReader("kinit", ""),
    SecretReader("smbpasswd", "-s"),
    SecretReader("saslpasswd2", "-p"),
    SecretReader("htpasswd", "-i"),
    SecretReader("cryptsetup", "-"),
    SecretReader("openssl", "stdin"),
    SecretReader("gpg gpg2", "--passphrase-fd"),
    SecretReader("kubeseal", "--raw"),
)
