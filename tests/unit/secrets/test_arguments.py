"""Secrets among the words of a command line, given away by the program and option that take them."""

from __future__ import annotations

import pytest

from haltline.secrets import redact, scan

WORD = "hunter" + "2pw"  # weak on purpose: nothing but its place tells that it is a secret

TAKES_A_SECRET = [
    "redis-cli -a {} flushall",
    'redis-cli -h host -a "{}"',
    "docker login -u me -p {}",
    "docker login -p '{}'",
    "helm registry login -u a -p {} r",
    "az login -u a -p {}",
    "any-program --token {}",
    "any-program --api-key={}",
    "any-program --client-secret {}",
    "any-program --password {}",
    "mysql -p{} -u root",
    "sshpass -p {} ssh h",
    "curl -u user:{} http://h",
    "aws configure set aws_secret_access_key {}",
    "mongodump -u a -p {}",
    "echo {} | docker login -u a --password-stdin",
    "gh auth login --with-token <<< {}",
    'echo "{}" | gh auth login --with-token',
    "echo {} | sudo -S ls",
    "echo 'root:{}' | chpasswd",
    "vault login {}",
    "vault kv put secret/x password={}",
    "kubectl create secret generic a --from-literal=k={}",
    "kubectl config set-credentials a --token={}",
    "npm config set //registry/:_authToken {}",
    "heroku config:set API_KEY={}",
    "fly secrets set A={}",
    "openssl rsa -passin pass:{}",
    "zip -P {} a b",
    "7z x -p{} a",
    "htpasswd -bc f user {}",
    "ldapsearch -x -w {}",
    "smbclient -U user%{} //h",
    "sqlcmd -S h -P {}",
    "rabbitmqctl add_user u {}",
    "net user bob {} /add",
    "gpg --batch --passphrase {} -d f",
    "keytool -list -storepass {}",
    "plink -pw {} h",
    "lftp -u a,{} h",
    "twine upload -p {} d/*",
    "cargo login {}",
    "ngrok config add-authtoken {}",
    "cd x && docker login -p {}",
    "bash -c 'docker login -p {}'",
]
TAKES_NONE = [
    "docker run -p 8080:80 nginx",
    "docker login --password-stdin < f",
    "docker compose -p project1 up",
    "docker login r; mkdir -p build1",
    "mkdir -p x1",
    "ssh -p 2222 host",
    "cp -a source1 target",
    "git log -p file1",
    "ps -p 1234",
    "python -m pytest -p no:cacheprovider",
    "any-program --token-file path/file1",
    "any-program --secret-name abc123def",
    "grep --token foo",
    "use --token to authenticate",
    "the --password option is required",
    "any-program --api-key $KEY",
    'any-program --password "$PW"',
    "any-program --token <token>",
    "any-program --token=${{ secrets.X }}",
    "redis-cli -a $PASS ping",
    "redis-cli -h host get key1",
    "mysql -p -u root",
    "mongo -p",
    "unzip -P $PW f",
    "zip -r archive1.zip dir",
    "vault kv get secret/x1",
    "vault kv put secret/x1 @file1",
    "kubectl get secret x1 -o yaml",
    "net user",
    "net user bob1 /delete",
    "npm set progress=false",
    "npm config get registry",
    "aws configure set region us-east-1",
    "echo hello1 | docker build -",
    "cargo login",
]


@pytest.mark.parametrize("command", TAKES_A_SECRET)
def test_the_argument_is_masked(command: str) -> None:
    text = command.format(WORD)

    assert WORD not in redact(text)
    assert not any(finding.blocks for finding in scan(text)), "context only flags"


@pytest.mark.parametrize("command", TAKES_A_SECRET)
def test_the_argument_is_masked_inside_an_object(command: str) -> None:
    assert WORD not in str(redact({"arguments": {"command": command.format(WORD)}}))


@pytest.mark.parametrize("command", TAKES_A_SECRET)
def test_masking_twice_is_masking_once(command: str) -> None:
    once = redact(command.format(WORD))

    assert redact(once) == once


@pytest.mark.parametrize("command", TAKES_NONE)
def test_other_arguments_stay(command: str) -> None:
    assert redact(command) == command
