"""Names under which secrets are kept, and names that only sound like it.

All in lower case, without `_`, `-` and `.`.
"""

# Looked for in the text first; whatever follows needs one of them.
FRAGMENTS = ("pass", "pwd", "_pw", "secret", "token", "key", "cred", "auth", "_pat")

PASSWORD_NAMES = ("password", "passwd", "passphrase", "pwd", "passwort")

# Looked for at the end of the name, with its hyphens and underscores.
PASSWORD_ENDINGS = ("_pass", "-pass", "_pw", "-pw", "dbpass", "userpass", "authpass")

# Only long random values under these are secrets.
WEAK_ENDINGS = ("_key", "-key", "_pat", "-pat", "_auth", "-auth")

SECRET_NAMES = (
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authkey",
    "accountkey",
    "masterkey",
    "encryptionkey",
    "signingkey",
    "servicekey",
    "sharedkey",
    "sharedaccesskey",
    "subscriptionkey",
    "integrationkey",
    "writekey",
    "storagekey",
    "appkey",
    "applicationkey",
    "consumerkey",
    "clientkey",
    "hmackey",
    "licensekey",
    "deploykey",
    "adminkey",
    "apisecret",
    "credential",
    "authorization",
)

# "key" alone is too common a word: only after one of these it is looked at.
_KEY_KINDS = (
    "api access private auth account master encryption signing service shared sharedaccess subscription "
    "integration write storage app application consumer client hmac license deploy admin secret"
)
KEY_WORDS = (
    "_",
    "-",
    *(kind + joint for kind in _KEY_KINDS.split() for joint in ("", "_", "-", ".", " ")),
)

# A name that ends so says something about a secret, and does not hold it.
NOT_SECRET_SUFFIXES = (
    "name",
    "id",
    "ids",
    "url",
    "uri",
    "endpoint",
    "type",
    "count",
    "path",
    "file",
    "filename",
    "dir",
    "field",
    "length",
    "len",
    "size",
    "limit",
    "prefix",
    "suffix",
    "ref",
    "arn",
    "version",
    "policy",
    "expiry",
    "expires",
    "ttl",
    "label",
    "hint",
    "regex",
    "pattern",
    "format",
    "index",
    "position",
    "env",
    "var",
    "hash",
    "digest",
    "checksum",
    "fingerprint",
    "header",
    "class",
    "test",
    "error",
    "help",
    "title",
    "description",
    "placeholder",
    "input",
    "output",
    "algorithm",
    "method",
    "mode",
    "status",
    "usage",
    "budget",
)

NOT_SECRET_NAMES = (
    "publickey",
    "cachekey",
    "sortkey",
    "partitionkey",
    "idempotencykey",
    "objectkey",
    "groupkey",
    "hostkey",
    "lookupkey",
    "bypass",
    "compass",
    "pubkey",
    "publishable",
    "tokeniz",
    "tokenis",
    "maxtoken",
    "mintoken",
    "numtoken",
    "ntoken",
    "nexttoken",
    "pagetoken",
    "tokensper",
    "continuationtoken",
    "keyboard",
    "keyword",
    "keydown",
    "keypress",
    "keycode",
    "primarykey",
    "foreignkey",
    "csrf",
    "secretary",
    "passwordless",
    "eostoken",
    "bostoken",
    "padtoken",
    "unktoken",
    "specialtoken",
    "stoptoken",
)
