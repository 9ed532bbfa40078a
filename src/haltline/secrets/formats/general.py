"""Formats that belong to standards rather than to one vendor."""

from haltline.secrets.model import Format, Tier

FORMATS = (
    Format(
        kind="jwt",
        literals=("eyJ",),
        body=r"[A-Za-z0-9_-]{8,1500}+(?:\.[A-Za-z0-9_-]{0,8000}+){2,4}",
        validator="jwt",
        source="https://www.rfc-editor.org/rfc/rfc7519",
    ),
    Format(
        kind="private-key",
        literals=("-----BEGIN ",),
        body=r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]{20,12000}(?:-----END [A-Z0-9 ]{0,40}-----)?",
        validator="pem",
        right="",
        source="https://www.rfc-editor.org/rfc/rfc7468",
    ),
    Format(
        kind="age-key",
        literals=("AGE-SECRET-KEY-1",),
        body=r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
        source="https://age-encryption.org/v1",
    ),
    Format(
        "putty-key",
        ("PuTTY-User-Key-File-",),
        r"[23]: [^\0]{20,400}?Private-Lines: [0-9]{1,3}\s[A-Za-z0-9+/=\s]{40,4000}",
        "https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html",
        right="",
    ),
    Format(
        "password-hash",
        (
            "$1$",
            "$2a$",
            "$2b$",
            "$2y$",
            "$5$",
            "$6$",
            "$7$",
            "$8$",
            "$y$",
            "$argon2id$",
            "$argon2i$",
            "$scrypt$",
        ),
        r"(?:[A-Za-z0-9./=,+-]{1,48}\$){0,3}[A-Za-z0-9./+]{16,120}",
        "https://manpages.debian.org/bookworm/libcrypt-dev/crypt.5.en.html",
        tier=Tier.CONTEXT,
    ),
    Format(
        "kerberos-hash",
        ("$krb5asrep$", "$krb5tgs$", "$krb5pa$"),
        r"[0-9]{2}\$[^\s\"']{32,4000}",
        "https://www.rfc-editor.org/rfc/rfc4757",
        tier=Tier.CONTEXT,
    ),
)
