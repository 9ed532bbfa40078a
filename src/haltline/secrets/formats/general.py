"""Formats that belong to standards rather than to one vendor."""

from haltline.secrets.model import Format

FORMATS = (
    Format(
        kind="jwt",
        literals=("eyJ",),
        body=r"[A-Za-z0-9_-]{8,1500}(?:\.[A-Za-z0-9_-]{0,8000}){2,4}",
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
)
