"""Files that hold credentials, and commands that print the environment, as data.

Who judges flows (a credential file read and then sent away) combines these with the effects of a command.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

# Compared with the last components of a path, in lower case.
CREDENTIAL_FILES = (
    ".env",
    ".env.*",
    "*.env",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".dockercfg",
    ".docker/config.json",
    ".aws/credentials",
    ".aws/config",
    ".aws/sso/cache/*",
    ".azure/accesstokens.json",
    ".azure/msal_token_cache.json",
    ".config/gcloud/credentials.db",
    ".config/gcloud/access_tokens.db",
    ".config/gcloud/application_default_credentials.json",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".kube/config",
    "kubeconfig",
    ".ssh/id_*",
    ".ssh/*_key",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    ".gnupg/private-keys-v1.d/*",
    ".vault-token",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    "terraform.tfstate",
    "terraform.tfvars",
    "*.tfvars",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    "auth.json",
    "credentials.json",
    "service-account*.json",
    "client_secret*.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "master.key",
    "wp-config.php",
    ".htpasswd",
    "/etc/shadow",
    "/etc/gshadow",
    "/proc/*/environ",
)

# Made to be shared: they show which variables exist.
EXAMPLE_FILES = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults", "*.schema", "*.pub")

# Programs that print the environment when they are called without operands, or with these.
ENVIRONMENT_DUMPS = (
    ("env",),
    ("printenv",),
    ("set",),
    ("export", "-p"),
    ("declare", "-x"),
    ("declare", "-p"),
)

# Where a machine's cloud credentials are handed out.
METADATA_HOSTS = frozenset(
    {
        "169.254.169.254",
        "fd00:ec2::254",
        "metadata.google.internal",
        "metadata",
        "100.100.100.200",
        "169.254.170.2",
    }
)


def is_credential_file(path: str) -> bool:
    """True when a path names a file that holds credentials; examples and public keys do not.

    Only the name is looked at, in lower case and with either kind of slash.
    """
    parts = [part for part in path.lower().replace("\\", "/").split("/") if part not in {"", "."}]
    if not parts or any(fnmatchcase(parts[-1], pattern) for pattern in EXAMPLE_FILES):
        return False
    return any(_matches(parts, pattern, absolute=path.startswith("/")) for pattern in CREDENTIAL_FILES)


def _matches(parts: list[str], pattern: str, *, absolute: bool) -> bool:
    wanted = pattern.strip("/").split("/")
    if pattern.startswith("/") and (not absolute or len(parts) != len(wanted)):
        return False
    last = parts[-len(wanted) :]
    return len(last) == len(wanted) and all(map(fnmatchcase, last, wanted))


def is_environment_dump(argv: tuple[str, ...]) -> bool:
    """True when a command prints all variables of the environment.

    Args:
        argv: program and arguments, already unwrapped.
    """
    name = argv[0].rsplit("/", 1)[-1] if argv else ""
    return (name, *argv[1:]) in ENVIRONMENT_DUMPS or (name == "env" and argv[1:] in {("-0",), ("--null",)})
