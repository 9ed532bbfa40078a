"""Classes of error and the phrases of real messages that belong to them, as data.

Phrases are compared in lower case, as substrings. The first class with a phrase in the message wins, so the
specific ones stand before the general ones.
"""

from __future__ import annotations

from enum import StrEnum


class ErrorClass(StrEnum):
    """What kind of thing went wrong."""

    OUT_OF_MEMORY = "out_of_memory"
    DISK_FULL = "disk_full"
    RATE_LIMITED = "rate_limited"
    QUOTA_EXCEEDED = "quota_exceeded"
    GIT_CONFLICT = "git_conflict"
    GIT_REJECTED = "git_rejected"
    GIT_STATE = "git_state"
    DATABASE_LOCKED = "database_locked"
    DATABASE_CONSTRAINT = "database_constraint"
    DATABASE_SCHEMA = "database_schema"
    PORT_IN_USE = "port_in_use"
    NAME_RESOLUTION = "name_resolution"
    TLS = "tls"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    SERVER_ERROR = "server_error"
    CONTAINER = "container"
    KILLED = "killed"
    COMMAND_NOT_FOUND = "command_not_found"
    DEPENDENCY = "dependency"
    MISSING_MODULE = "missing_module"
    TYPE_CHECK = "type_check"
    BORROW_CHECK = "borrow_check"
    NULL_REFERENCE = "null_reference"
    UNDEFINED_NAME = "undefined_name"
    ATTRIBUTE = "attribute"
    LOOKUP = "lookup"
    SYNTAX = "syntax"
    INDENTATION = "indentation"
    ARITHMETIC = "arithmetic"
    ENCODING = "encoding"
    SERIALIZATION = "serialization"
    RECURSION = "recursion"
    TEST_FAILURE = "test_failure"
    FILE_NOT_FOUND = "file_not_found"
    FILE_EXISTS = "file_exists"
    IS_DIRECTORY = "is_directory"
    PERMISSION = "permission"
    NOT_FOUND_REMOTE = "not_found_remote"
    CONFIGURATION = "configuration"
    USAGE = "usage"
    TYPE = "type"
    VALUE = "value"
    LINK = "link"
    COMPILE = "compile"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"

    @property
    def infrastructure(self) -> bool:
        """True when the cause lies outside the agent's work: network, quota, machine, another's server."""
        return self in INFRASTRUCTURE


INFRASTRUCTURE = frozenset(
    {
        ErrorClass.OUT_OF_MEMORY,
        ErrorClass.DISK_FULL,
        ErrorClass.RATE_LIMITED,
        ErrorClass.QUOTA_EXCEEDED,
        ErrorClass.DATABASE_LOCKED,
        ErrorClass.NAME_RESOLUTION,
        ErrorClass.TLS,
        ErrorClass.CONNECTION,
        ErrorClass.TIMEOUT,
        ErrorClass.SERVER_ERROR,
        ErrorClass.CONTAINER,
        ErrorClass.KILLED,
    }
)

PHRASES: tuple[tuple[ErrorClass, tuple[str, ...]], ...] = (
    (
        ErrorClass.OUT_OF_MEMORY,
        (
            "memoryerror",
            "outofmemoryerror",
            "out of memory",
            "heap out of memory",
            "cannot allocate memory",
            "oomkilled",
            "std::bad_alloc",
            "enomem",
        ),
    ),
    (ErrorClass.DISK_FULL, ("no space left on device", "enospc", "disk quota exceeded", "disk is full")),
    (
        ErrorClass.RATE_LIMITED,
        (
            "too many requests",
            "rate limit",
            "ratelimit",
            "http 429",
            "status 429",
            "status code 429",
            "error 429",
            "throttlingexception",
            "throttled",
            "overloaded_error",
            "toomanyrequests",
        ),
    ),
    (
        ErrorClass.QUOTA_EXCEEDED,
        ("quota exceeded", "quotaexceeded", "resource_exhausted", "limitexceeded", "insufficient_quota"),
    ),
    (
        ErrorClass.GIT_CONFLICT,
        (
            "merge conflict",
            "automatic merge failed",
            "conflict (content)",
            "could not apply",
            "patch does not apply",
            "patch failed",
            "resolve your current index first",
        ),
    ),
    (
        ErrorClass.GIT_REJECTED,
        (
            "failed to push some refs",
            "non-fast-forward",
            "[rejected]",
            "[remote rejected]",
            "protected branch hook declined",
            "pre-receive hook declined",
            "updates were rejected",
        ),
    ),
    (
        ErrorClass.GIT_STATE,
        (
            "not a git repository",
            "would be overwritten by",
            "you have unstaged changes",
            "detached head",
            "pathspec",
            "unknown revision",
            "not something we can merge",
            "refusing to merge unrelated histories",
            "nothing to commit",
            "index.lock",
            "has no upstream branch",
            "not a valid object name",
            "dubious ownership",
            "remote origin already exists",
            "couldn't find remote ref",
            "no such ref",
        ),
    ),
    (
        ErrorClass.DATABASE_LOCKED,
        (
            "database is locked",
            "deadlock detected",
            "deadlock found",
            "lock wait timeout",
            "could not serialize access",
            "database table is locked",
            "too many connections",
            "too many clients",
        ),
    ),
    (
        ErrorClass.DATABASE_CONSTRAINT,
        (
            "violates unique constraint",
            "violates foreign key constraint",
            "violates not-null constraint",
            "violates check constraint",
            "unique constraint failed",
            "foreign key constraint",
            "not null constraint failed",
            "check constraint failed",
            "duplicate key",
            "duplicate entry",
            "integrityerror",
            "e11000",
        ),
    ),
    (
        ErrorClass.DATABASE_SCHEMA,
        (
            "no such table",
            "no such column",
            "undefinedtable",
            "undefinedcolumn",
            "unknown column",
            "unknown database",
            "has no column named",
            "table already exists",
            "error in your sql syntax",
            "psycopg2.errors.syntaxerror",
            "can't locate revision",
        ),
    ),
    (
        ErrorClass.PORT_IN_USE,
        ("eaddrinuse", "address already in use", "port is already allocated", "port already in use"),
    ),
    (
        ErrorClass.NAME_RESOLUTION,
        (
            " enotfound",
            "'enotfound'",
            "eai_again",
            "getaddrinfo",
            "name or service not known",
            "temporary failure in name resolution",
            "could not resolve host",
            "no such host",
            "nameresolutionerror",
            "unknownhostexception",
            "nodename nor servname",
            "server misbehaving",
        ),
    ),
    (
        ErrorClass.TLS,
        (
            "certificate verify failed",
            "certificate_verify_failed",
            "x509:",
            "ssl handshake",
            "sslhandshakeexception",
            "tls handshake",
            "self signed certificate",
            "self-signed certificate",
            "unable to get local issuer certificate",
            "pkix path building failed",
            "certificate has expired",
            "ssl_error_",
            "sslerror",
            "ssl: wrong_version",
        ),
    ),
    (
        ErrorClass.TIMEOUT,
        (
            "timed out",
            "timeouterror",
            "timeout exceeded",
            "deadline exceeded",
            "deadline_exceeded",
            "etimedout",
            "context deadline",
            "read timeout",
            "gateway timeout",
            "connecttimeout",
            "sockettimeoutexception",
            "esockettimedout",
            "operation timeout",
        ),
    ),
    (
        ErrorClass.CONNECTION,
        (
            "econnrefused",
            "econnreset",
            "connection refused",
            "connection reset",
            "connection aborted",
            "connectionerror",
            "connection closed",
            "server closed the connection",
            "could not connect to",
            "can't connect to",
            "failed to connect",
            "connectexception",
            "network is unreachable",
            "no route to host",
            "enetunreach",
            "ehostunreach",
            "epipe",
            "broken pipe",
            "socket hang up",
            "fetch failed",
            "remote end hung up",
            "connection to server at",
            "unable to access 'http",
            "early eof",
            "cannot connect to the docker daemon",
            "network error",
            "connection lost",
            "lost connection to",
        ),
    ),
    (
        ErrorClass.AUTHENTICATION,
        (
            "authentication failed",
            "401 unauthorized",
            "http 401",
            "status code 401",
            "invalid credentials",
            "password authentication failed",
            "access denied for user",
            "permission denied (publickey",
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "bad credentials",
            "expiredtoken",
            "token has expired",
            "invalidclienttokenid",
            "signaturedoesnotmatch",
            "unable to locate credentials",
            "could not read username",
            "unauthenticated",
            "authenticationerror",
            "eneedauth",
            "login required",
            "not logged in",
            "invalid_grant",
            "nocredentialproviders",
        ),
    ),
    (
        ErrorClass.AUTHORIZATION,
        (
            "403 forbidden",
            "http 403",
            "status code 403",
            "accessdenied",
            "access denied",
            "unauthorizedoperation",
            "is not authorized to perform",
            "permission_denied",
            "insufficient permissions",
            "insufficient privilege",
            "insufficientprivilege",
            "authorization_requestdenied",
            "authorizationfailed",
            "resource not accessible by",
            "must be owner of",
            "permission denied for",
        ),
    ),
    (
        ErrorClass.SERVER_ERROR,
        (
            "500 internal server error",
            "internal server error",
            "502 bad gateway",
            "bad gateway",
            "503 service unavailable",
            "service unavailable",
            "serviceunavailable",
            "http 500",
            "http 502",
            "http 503",
            "status code 500",
            "status code 502",
            "status code 503",
            "internalfailure",
            "the system is starting up",
            "backend error",
        ),
    ),
    (
        ErrorClass.CONTAINER,
        (
            "imagepullbackoff",
            "errimagepull",
            "crashloopbackoff",
            "pull access denied",
            "manifest unknown",
            "no such container",
            "oci runtime",
            "is the docker daemon running",
            "failedscheduling",
            "insufficient cpu",
            "node(s) had",
            "createcontainerconfigerror",
        ),
    ),
    (
        ErrorClass.KILLED,
        (
            "segmentation fault",
            "sigsegv",
            "sigkill",
            "signal: killed",
            "core dumped",
            "exit code 137",
            "exit status 137",
            "exit code 139",
            "bus error",
            "sigabrt",
            "illegal instruction",
        ),
    ),
    (
        ErrorClass.COMMAND_NOT_FOUND,
        (
            "command not found",
            "is not recognized as an internal or external command",
            "executable file not found in $path",
            "not found in path",
            "npm error missing script",
            "missing script:",
            "no rule to make target",
            "is not a git command",
            "unknown command",
            "spawn enoent",
            ": not found",
        ),
    ),
    (
        ErrorClass.DEPENDENCY,
        (
            "eresolve",
            "could not resolve dependencies",
            "no matching distribution found",
            "could not find a version that satisfies",
            "resolutionimpossible",
            "conflicting dependencies",
            "peer dep",
            "failed to select a version",
            "no matching package",
            "could not resolve all",
            "could not find artifact",
            "unmet dependency",
            "missing go.sum entry",
            "unable to locate package",
            "versionconflict",
            "etarget",
            "e404",
            "incompatible python version",
            "requires a different python",
            "lockfile",
            "checksum mismatch",
        ),
    ),
    (
        ErrorClass.MISSING_MODULE,
        (
            "modulenotfounderror",
            "no module named",
            "cannot find module",
            "cannot find package",
            "err_module_not_found",
            "module not found",
            "importerror",
            "cannot import name",
            "unresolved import",
            "is not in std",
            "no required module provides package",
            "classnotfoundexception",
            "noclassdeffounderror",
            "package does not exist",
            "can't find crate",
            "cannot open shared object file",
            'could not resolve "',
            "failed to resolve import",
            "no such file to load",
            "loaderror",
        ),
    ),
    (
        ErrorClass.BORROW_CHECK,
        (
            "borrow of moved value",
            "cannot borrow",
            "does not live long enough",
            "use of moved value",
            "cannot move out of",
            "error[e0382]",
            "error[e0499]",
            "error[e0502]",
            "error[e0505]",
            "error[e0597]",
            "lifetime may not live",
        ),
    ),
    (
        ErrorClass.TYPE_CHECK,
        (
            "is not assignable to",
            "error ts",
            "mismatched types",
            "incompatible types",
            "incompatible type",
            "cannot use ",
            "error[e0308]",
            "error[e0277]",
            "trait bound",
            "[arg-type]",
            "[assignment]",
            "[attr-defined]",
            "[return-value]",
            "does not implement",
        ),
    ),
    (
        ErrorClass.NULL_REFERENCE,
        (
            "nullpointerexception",
            "nil pointer dereference",
            "of null",
            "of undefined",
            "'nonetype' object",
            "null reference",
            "undefined is not",
            "null is not an object",
            "called `option::unwrap()` on a `none`",
            "undefined method `",
            "for nil:nilclass",
            "null pointer",
        ),
    ),
    (
        ErrorClass.UNDEFINED_NAME,
        (
            "nameerror",
            "is not defined",
            "referenceerror",
            "undefined:",
            "cannot find symbol",
            "cannot find value",
            "cannot find function",
            "cannot find type",
            "error[e0425]",
            "error[e0433]",
            "error[e0412]",
            "unboundlocalerror",
            "unbound variable",
            "undeclared identifier",
            "was not declared in this scope",
            "undefined variable",
            "before initialization",
        ),
    ),
    (
        ErrorClass.ATTRIBUTE,
        (
            "attributeerror",
            "has no attribute",
            "is not a function",
            "has no member",
            "has no method",
            "no method named",
            "no field `",
            "does not exist on type",
            "nosuchmethoderror",
            "nosuchfield",
            "nomethoderror",
            "error[e0599]",
        ),
    ),
    (
        ErrorClass.INDENTATION,
        ("indentationerror", "taberror", "unexpected indent", "unindent does not match"),
    ),
    (
        ErrorClass.SYNTAX,
        (
            "syntaxerror",
            "syntax error",
            "unexpected token",
            "parse error",
            "unexpected end of",
            "unexpected eof",
            "unterminated string",
            "missing semicolon",
            "expected `;`",
            "expected one of",
            "expected ';'",
            "';' expected",
            "unclosed delimiter",
            "unmatched",
            "parsing error",
        ),
    ),
    (
        ErrorClass.LOOKUP,
        (
            "keyerror",
            "indexerror",
            "index out of range",
            "index out of bounds",
            "indexoutofbounds",
            "out of range",
            "nosuchelementexception",
            "stopiteration",
        ),
    ),
    (
        ErrorClass.ARITHMETIC,
        (
            "zerodivisionerror",
            "division by zero",
            "divide by zero",
            "overflowerror",
            "arithmeticexception",
            "attempt to subtract with overflow",
            "attempt to add with overflow",
            "floating point exception",
        ),
    ),
    (
        ErrorClass.ENCODING,
        (
            "unicodedecodeerror",
            "unicodeencodeerror",
            "codec can't decode",
            "codec can't encode",
            "invalid utf-8",
            "invalid byte sequence",
            "malformedinputexception",
            "illegal byte sequence",
        ),
    ),
    (
        ErrorClass.SERIALIZATION,
        (
            "jsondecodeerror",
            "json parse error",
            "in json at position",
            "is not valid json",
            "json serializable",
            "invalid character",
            "cannot unmarshal",
            "yaml.scanner",
            "yaml.parser",
            "yamlexception",
            "mapping values are not allowed",
            "tomldecodeerror",
            "validationerror",
            "schema validation",
            "unmarshalling",
            "jsonparseexception",
            "missing field `",
            "picklingerror",
            "converting circular structure",
            "xml parse",
        ),
    ),
    (
        ErrorClass.RECURSION,
        (
            "recursionerror",
            "maximum recursion depth",
            "maximum call stack",
            "stackoverflowerror",
            "stack overflow",
            "circular import",
            "import cycle not allowed",
            "circular dependency",
        ),
    ),
    (
        ErrorClass.TEST_FAILURE,
        (
            "assertionerror",
            "assertion failed",
            "assertion `left",
            "test failed",
            "tests failed",
            "test result: failed",
            "--- fail:",
            " failed, ",
            "expected:",
            "expect(received)",
            "junit",
            "failures:",
            "err_assertion",
            "test suites:",
        ),
    ),
    (
        ErrorClass.FILE_NOT_FOUND,
        (
            "no such file or directory",
            "filenotfounderror",
            "filenotfoundexception",
            "nosuchfileexception",
            "enoent",
            "cannot find the file",
            "cannot find the path",
            "file not found",
            "does not exist",
        ),
    ),
    (ErrorClass.FILE_EXISTS, ("file exists", "fileexistserror", "eexist", "already exists")),
    (
        ErrorClass.IS_DIRECTORY,
        ("is a directory", "not a directory", "eisdir", "enotdir", "directory not empty", "enotempty"),
    ),
    (
        ErrorClass.PERMISSION,
        (
            "permission denied",
            "permissionerror",
            "eacces",
            "eperm",
            "operation not permitted",
            "read-only file system",
            "erofs",
        ),
    ),
    (
        ErrorClass.NOT_FOUND_REMOTE,
        (
            "404 not found",
            "http 404",
            "status code 404",
            "resourcenotfound",
            "nosuchbucket",
            "nosuchkey",
            "repository not found",
            "not found (404)",
            "(notfound)",
        ),
    ),
    (
        ErrorClass.CONFIGURATION,
        (
            "improperlyconfigured",
            "missing environment variable",
            "environment variable not set",
            "invalid configuration",
            "config error",
            "configuration error",
            "must be set",
            "unsupported engine",
            "ebadengine",
        ),
    ),
    (
        ErrorClass.USAGE,
        (
            "unrecognized arguments",
            "unrecognized option",
            "invalid option",
            "unknown option",
            "unknown flag",
            "illegal option",
            "missing operand",
            "missing required",
            "required argument",
            "no such option",
            "usage:",
            "unexpected argument",
            "got an unexpected keyword",
            "positional argument",
            "invalid argument",
            "illegalargumentexception",
            "einval",
        ),
    ),
    (ErrorClass.LINK, ("undefined reference to", "linker command failed", "linking with", "ld returned")),
    (ErrorClass.TYPE, ("typeerror", "classcastexception", "unsupported operand", "wrong type")),
    (
        ErrorClass.VALUE,
        (
            "valueerror",
            "invalid literal",
            "rangeerror",
            "numberformatexception",
            "invalid value",
            "invalid date",
        ),
    ),
    (
        ErrorClass.COMPILE,
        (
            "compilation failed",
            "compilation error",
            "could not compile",
            "build failed",
            "compile error",
            "fatal error:",
            "declared and not used",
            "imported and not used",
            "cannot be resolved",
        ),
    ),
    (
        ErrorClass.CANCELLED,
        ("keyboardinterrupt", "cancelled", "canceled", "sigint", "aborterror", "operation was aborted"),
    ),
)
