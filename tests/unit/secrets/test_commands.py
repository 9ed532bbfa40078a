"""Passwords that are words of a command line, and words that only stand where passwords could."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltline.secrets import redact, scan
from haltline.secrets.programs import SECRET_READERS, SECRET_WORDS

if TYPE_CHECKING:
    from types import FrameType

SECRET = "hunter" + "2pw"

# `%` stands for the secret.
COMMANDS = [
    "redis-cli -a % flushall",
    "redis-cli -h db --pass % ping",
    "redis-cli auth %",
    "redis-cli AUTH default %",
    "redis-cli config set requirepass %",
    "mysql -p% -u root",
    "mysql -u root -p'%' shop",
    'mysql -u root -p"%" shop',
    "mysqldump --password=% shop",
    "mysqladmin password %",
    "mongosh --password %",
    "mongodump -u me -p %",
    "sqlcmd -S h -U sa -P %",
    "sqlcmd -S h -U sa -P%",
    "bcp t out f -P %",
    "sqlplus -S scott/%@db",
    "cqlsh -u u -p %",
    "influx -password %",
    "etcdctl --user root:% get k",
    "rabbitmqctl add_user u %",
    "rabbitmqctl -n node change_password u %",
    "mosquitto_pub -u u -P % -t x",
    "snowsql --password %",
    "PGPASSWORD=% psql",
    "MYSQL_PWD=% mysql",
    "SSHPASS=% sshpass -e ssh h",
    "REDISCLI_AUTH=%x7Kq09ZbVt3mLw81HdYc5RnU redis-cli",
    "docker login -u me -p %",
    "docker login -u me -p% registry.internal",
    "podman login --password=%",
    "helm registry login -u me -p % h",
    "skopeo copy --src-creds me:% docker://a docker://b",
    "npm config set //registry/:_authToken %",
    "npm config set //registry/:_authToken=%",
    "poetry config pypi-token.pypi %",
    "twine upload -u me -p % dist/x",
    "cargo login %",
    "nuget setapikey %",
    "dotnet nuget push x.nupkg -k %",
    "dotnet user-secrets set Db:Key %",
    "aws configure set aws_secret_access_key %",
    "aws configure set aws_session_token % --profile p",
    "aws secretsmanager create-secret --name n --secret-string %",
    "aws ssm put-parameter --name n --type SecureString --value %",
    "az login -u me -p %",
    "az ad sp create-for-rbac --password %",
    "az keyvault secret set --name n --value %",
    "gh secret set NAME --body %",
    "gh secret set NAME -b%",
    "gh auth login --with-token <<< %",
    "gh auth login --with-token <<< '%'",
    "glab auth login -t %",
    "kubectl create secret generic a --from-literal=k=%",
    "kubectl create secret generic a --from-literal k=%",
    "kubectl config set-credentials u --token=%",
    "oc login -u me -p %",
    "heroku config:set API_KEY=% -a app",
    "fly secrets set A=%",
    "flyctl secrets set A=1 B=%",
    "doppler secrets set A=%",
    "netlify env:set API_KEY %",
    "pulumi config set --secret name %",
    "terraform apply -var db_password=%",
    "terraform apply -var 'db_password=%'",
    "ngrok config add-authtoken %",
    "vault login %",
    "vault login -no-print %",
    "vault login -method=userpass username=u password=%",
    "vault kv put secret/x password=%",
    "vault kv put secret/x anything=%",
    "vault operator unseal %",
    "bw login me@example.com %",
    "openssl enc -aes-256-cbc -passin pass:%",
    "openssl passwd -6 -salt abc %",
    "gpg --batch --passphrase % -d f",
    "ssh-keygen -t ed25519 -N % -f k",
    "keytool -list -storepass %",
    "ansible-vault encrypt_string %",
    "curl -u user:% http://h",
    "curl -sSu user:% http://h",
    "curl --user 'user:%' http://h",
    "curl -o zip -u user:% http://h",
    "curl --proxy-user=user:% http://h",
    "http -a user:% :8000",
    "wget --password=% http://h",
    "lftp -u user,% h",
    "git clone https://u:%@host/x",
    "sshpass -p % ssh h",
    "sshpass -p% ssh h",
    "plink -pw % h",
    "rclone obscure %",
    "ldapsearch -D cn=x -w % -b dc=x",
    "ldapsearch -xw % -b dc=x",
    "ldappasswd -s % -D x",
    "smbclient -U user%% //h/s",
    "xfreerdp /u:me /p:% /v:h",
    "ipmitool -H h -P % power status",
    "nmcli dev wifi connect SSID password %",
    "wpa_passphrase net %",
    "zip -rP % x.zip d",
    "zip -P % x.zip d",
    "7z a -p% f.7z",
    "unrar x -p% f.rar",
    "htpasswd -b file user %",
    "htpasswd -cb file user %",
    "htpasswd -nb user %",
    "useradd -p % u",
    "security add-generic-password -a a -s s -w %",
    "net user u %",
    "net user u % /add",
    "PSEXEC.EXE \\\\h -u u -p % cmd",
    "cmdkey /add:h /user:u /pass:%",
    'ConvertTo-SecureString "%" -AsPlainText -Force',
    'ConvertTo-SecureString -String "%" -AsPlainText -Force',
    "foo --token %",
    "foo --api-key=%",
    "foo --password %",
    "foo --client-secret '%'",
    "echo % | docker login -u me --password-stdin",
    "echo -n % | gh auth login --with-token",
    "printf '%%s' % | helm registry login h --password-stdin",
    "echo 'u:%' | chpasswd",
    "echo % | sudo -S rm x",
    "echo % | sudo -kS rm x",
    "docker login --password-stdin <<<%",
    'redis-cli -h host -a "%"',
    "docker login -p '%'",
    "helm registry login -u a -p % r",
    "az login -u a -p %",
    "any-program --token %",
    "any-program --api-key=%",
    "any-program --client-secret %",
    "any-program --password %",
    "mongodump -u a -p %",
    "echo % | docker login -u a --password-stdin",
    'echo "%" | gh auth login --with-token',
    "echo % | sudo -S ls",
    "echo 'root:%' | chpasswd",
    "kubectl config set-credentials a --token=%",
    "heroku config:set API_KEY=%",
    "openssl rsa -passin pass:%",
    "zip -P % a b",
    "7z x -p% a",
    "htpasswd -bc f user %",
    "ldapsearch -x -w %",
    "sqlcmd -S h -P %",
    "net user bob % /add",
    "lftp -u a,% h",
    "twine upload -p % d/*",
    "cd x && docker login -p %",
    "bash -c 'docker login -p %'",
    "echo % | foo login --token-stdin",
    "echo A=% | fly secrets import",
    "vsce publish -p %",
]
# How a command stands in a text; `%` stands for the command.
SURROUNDINGS = [
    "%",
    "cd /srv && %",
    "ls; %; ls",
    "true | % | cat",
    "sudo -E %",
    "timeout 5 /usr/bin/%",
    "$(%)",
    "x=`%`",
    "x=$(%)",
    "true;%",
    "first line\n%\nlast line",
    "I ran `%` there",
]
QUOTED = ['sh -c "%"', "sh -c 'cd / && %'", 'docker exec c sh -c "cd / && %" "name"', '{"cmd":"%"}', '"%"']


def filled(command: str) -> str:
    return (
        command.replace("%%", "\0")
        .replace("%", SECRET)
        .replace("\0", "%" + SECRET)
        .replace(f"%{SECRET}s", "%s")
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_secret_word_is_masked(command: str) -> None:
    assert SECRET not in redact(filled(command))


@pytest.mark.parametrize("command", COMMANDS)
def test_only_the_secret_word_is_masked(command: str) -> None:
    text = filled(command)
    masked = [text[found.start : found.end] for found in scan(text)]
    assert masked
    assert all(value.startswith(SECRET) for value in masked)


@pytest.mark.parametrize("command", COMMANDS)
def test_masking_a_command_twice_is_masking_it_once(command: str) -> None:
    once = redact(filled(command))
    assert redact(once) == once


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_a_command_is_read_wherever_it_stands(surroundings: str) -> None:
    for command in ("redis-cli -a % ping", "vault login %", "mysql -u $(whoami) -p%", "zip -rP % x.zip d"):
        text = surroundings.replace("%", filled(command))
        assert SECRET not in redact(text), text


@pytest.mark.parametrize("surroundings", QUOTED)
def test_a_command_is_read_inside_quotes(surroundings: str) -> None:
    for command in ("redis-cli -a %", "redis-cli -a % ping", "mysql -u root -p%"):
        text = surroundings.replace("%", filled(command))
        [found] = scan(text)
        assert text[found.start : found.end] == SECRET, text


@pytest.mark.parametrize(
    "text",
    [
        "Command '['mysql', '-p%']' returned non-zero exit status 1.",
        '["redis-cli", "-a", "%"]',
        '["redis-cli","-a","%"]',
        '[\n  "curl",\n  "-u",\n  "user:%"\n]',
        'subprocess.run("mysql -p% shop", shell=True)',
        "redis-cli \\\n  -h db \\\n  -a %",
        '{"text": "mysql -p\\"%\\" shop"}',
    ],
)
def test_the_words_of_a_command_are_read_in_other_forms(text: str) -> None:
    text = text.replace("%", SECRET)
    [found] = scan(text)
    assert text[found.start : found.end] == SECRET


CLEAN = [
    "docker run -p 8080:80 image",
    "docker compose -p project1 up",
    "mkdir -p x/y1",
    "ssh -p 2222 host1",
    "cp -a x1 y1",
    "git log -p file1",
    "git log -p zip1",
    "tar -P x1",
    "psql -p 5432 -U u1",
    "unzip -p x.zip file1",
    "rg -p pattern1",
    "foo --token-file x1token",
    "foo --max-tokens 4096k1",
    "foo --ask-pass host1a",
    "foo --private-key keys1",
    "openvpn --auth-user-pass creds1.txt",
    "docker login --password-stdin registry1.example.com",
    "docker login -u me --password-stdin < file1",
    "docker build --secret id=npmrc1,src=x .",
    "grep --token foo",
    "use --token to authenticate",
    "the --password option is required",
    "pass the --password flag",
    "The docker login -p flag is insecure.",
    "zip -P is insecure",
    "foo --api-key $KEY",
    'foo --api-key "$KEY"',
    "foo --token GITHUB_TOKEN",
    "foo --password PASSWORD",
    "redis-cli -a $PASS ping",
    'redis-cli -a "$REDIS_PASSWORD" ping',
    "redis-cli -a $(cat file1) ping",
    "redis-cli -a <password> ping",
    "redis-cli -a '${REDIS_PASSWORD}' ping",
    "redis-cli -a xxx ping",
    "redis-cli -a *** ping",
    "redis-cli -a your-password ping",
    "redis-cli -h localhost -p 6379 ping",
    "git push && redis-cli ping -r 100",
    "redis-cli ping; cp -a file1 file2",
    "redis-cli ping | foo -a file1",
    "redis-cli ping\ncp -a file1 file2",
    "docker login -p ${{ secrets.DOCKER_TOKEN }}",
    "docker login -p {{ token1 }}",
    "mysql -p shop1",
    "mysql -u root -p -h db1",
    "curl -u $USER:$PASS http://h",
    "curl -u user1 http://h",
    "curl --key id_rsa1 http://h",
    "vault login -method=userpass username=me1",
    "vault login -method ldap username=me1",
    "vault login -",
    "vault login $VAULT_TOKEN",
    "vault kv get secret/x1",
    "vault kv put secret/x1 @data.json",
    "vault kv put secret/x1 k=@file1",
    "kubectl create secret generic a --from-literal=k=$X1",
    "kubectl create secret generic a --from-file=k=./x1y2z3file",
    "npm config set registry https://registry.example.com",
    "aws configure set region eu-central-1",
    "aws ssm put-parameter --name n --type String --value value1",
    "heroku config:set NODE_ENV=production1",
    "pulumi config set name value1",
    "openssl enc -passin env:MYPASS1",
    "openssl rsa -passin file:/x/y1 -keyform pem1",
    "7z x -p- f.7z",
    "htpasswd -c file1 user1",
    "ldapsearch -W -x -b dc=x1",
    "smbclient -U user1 //h/s",
    "net user u1",
    "net user u1 /delete",
    "net user u1 *",
    "echo hello1 | grep x1",
    "echo hello1 | docker build -",
    "echo y | docker system prune",
    "gh auth login --with-token < token1.txt",
    "gh pr create --body text1",
    "az vm create -p value1",
    "sudo -S ls file1",
    "docker run -p 8080:80 nginx",
    "docker login --password-stdin < f",
    "docker login r; mkdir -p build1",
    "mkdir -p x1",
    "ssh -p 2222 host",
    "cp -a source1 target",
    "ps -p 1234",
    "python -m pytest -p no:cacheprovider",
    "any-program --token-file path/file1",
    "any-program --secret-name abc123def",
    "any-program --api-key $KEY",
    'any-program --password "$PW"',
    "any-program --token <token>",
    "any-program --token=${{ secrets.X }}",
    "redis-cli -h host get key1",
    "mysql -p -u root",
    "mongo -p",
    "unzip -P $PW f",
    "zip -r archive1.zip dir",
    "vault kv put secret/x1 @file1",
    "kubectl get secret x1 -o yaml",
    "net user",
    "net user bob1 /delete",
    "npm set progress=false",
    "npm config get registry",
    "aws configure set region us-east-1",
    "cargo login",
]


@pytest.mark.parametrize("command", CLEAN)
def test_a_word_that_is_no_secret_is_left(command: str) -> None:
    assert scan(command) == ()


@pytest.mark.parametrize("password", ["correcthorse", "pa$SWord", "with blank", "12345678", "!§$%&"])
def test_what_stands_in_a_password_s_place_need_not_look_random(password: str) -> None:
    assert password not in redact(f"redis-cli -a '{password}' ping")
    assert password not in repr(redact(["redis-cli", "-a", password, "ping"]))


def test_a_plain_word_behind_an_option_is_a_password_at_the_end_of_a_command() -> None:
    assert "correcthorse" not in redact("foo --password correcthorse")
    assert "correcthorse" not in redact("foo --password correcthorse --verbose")
    assert scan("pass --password wherever it asks") == ()


@pytest.mark.parametrize(
    ("argv", "clean"),
    [
        (["redis-cli", "-a", SECRET, "flushall"], [0, 1, 3]),
        (["sudo", "/usr/bin/mysql", "-p" + SECRET], [0, 1]),
        (["curl", "-u", "user:" + SECRET, "http://h"], [0, 1, 3]),
        (["/opt/bin/vault", "login", SECRET], [0, 1]),
        (["bash", "-lc", f"redis-cli -a {SECRET}"], [0, 1]),
        (["mysql", "-pab1"], [0]),
    ],
)
def test_the_words_of_a_command_in_a_list_are_masked(argv: list[str], clean: list[int]) -> None:
    value: Any = {"run": argv}
    masked = redact(value)["run"]
    assert [index for index, word in enumerate(masked) if word == argv[index]] == clean
    assert SECRET not in repr(masked)
    assert redact({"run": masked}) == {"run": masked}
    assert scan(value)
    assert scan({"run": masked}) == ()


def test_a_mask_does_not_hide_what_stands_before_it() -> None:
    argv = ["curl", "-u", f"user:{SECRET}«secret:password:3f9a1c»"]
    assert SECRET not in repr(redact(argv))


def test_findings_in_commands_do_not_block() -> None:
    assert [(found.rule, found.blocks) for found in scan(f"redis-cli -a {SECRET}")] == [("password", False)]
    assert [found.rule for found in scan(f"curl -u u:{SECRET} h")] == ["basic-password"]


@pytest.mark.parametrize("row", [*SECRET_WORDS, *SECRET_READERS], ids=lambda row: row.programs or "any")
def test_every_row_names_its_programs_once(row: Any) -> None:
    names = row.programs.split()
    assert names or row.words
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", SECRET_WORDS, ids=lambda row: row.programs.split()[0])
def test_every_row_says_what_the_secret_is_and_where_that_is_documented(row: Any) -> None:
    assert row.source.startswith("https://")
    assert row.options or row.attached or row.positions or row.assigned


HOSTILE = [
    "-p -p -p ",
    "mysql ",
    "mysql -p ",
    "mysql -pab1 ",
    "vault ",
    'mysql "',
    "mysql '",
    "\"mysql '",
    'mysql \\"',
    "mysql $(",
    "mysql `",
    "mysql <a",
    "mysql {{",
    "mysql \\\n",
    "'mysql', ",
    "echo a|",
    "echo a | sudo ",
    "sudo ",
    "--password ",
    "--token a1",
    "npm set a_token ",
]


def steps(text: str) -> int:
    """Return how many lines of this package's code a scan runs."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if "/secrets/" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        scan(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_work_grows_with_the_text_and_no_faster(piece: str) -> None:
    steps(piece)
    once, twice = (steps(piece * (size // len(piece))) for size in (4_000, 8_000))
    assert twice <= 2.2 * once + 200


WORDS = st.sampled_from(
    [
        "redis-cli",
        "mysql",
        "docker",
        "login",
        "vault",
        "echo",
        "curl",
        "htpasswd",
        "-a",
        "-p",
        "-b",
        "-u",
        f"-p{SECRET}",
        f"u:{SECRET}",
        SECRET,
        "correcthorse",
        "a=b1c",
        "--password",
        "--password-stdin",
        "|",
        "<<<",
        ";",
        "'",
        '"',
        "\n",
        "$X",
        "«secret:password:3f9a1c»",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=12), st.sampled_from([" ", "", ","]))
def test_masking_commands_is_idempotent(words: list[str], joint: str) -> None:
    for value in (joint.join(words), words, {"argv": words}):
        once = redact(value)
        assert redact(once) == once
        assert scan(once) == ()
