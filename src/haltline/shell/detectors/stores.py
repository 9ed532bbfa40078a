"""Clients of document stores and of Redis: the JavaScript and Lua that they are given, and their commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import PIPED, Flow
from haltline.shell.inline.clients import NAMED_LOSS
from haltline.shell.inline.scripts import members
from haltline.shell.marks import known
from haltline.shell.options import Grammar, parse

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_LOST = (
    r"dropDatabase|drop|dropIndexes?|dropUser|dropAllUsersFromDatabase|dropRole|dropAllRolesFromDatabase"
    r"|shutdownServer|removeShard|revokeRolesFromUser|_drop(?:Database)?|_truncate"
)
_LATER = r"\s*(?:\?\.)?\s*(?:\.\s*(?:call|apply|bind)\s*)?\("
_DOCUMENT_LOSS = re.compile(
    rf"\.\s*(?:{_LOST}){_LATER}"
    r"|\.(?:deleteMany|remove|updateMany|findAndModify)\s*\(\s*(?:\{\s*\}|\))|\.update\s*\(\s*\{\s*\}\s*,|\.truncate\s*\(\s*\)"
    r"|(?:runCommand|adminCommand)\s*\(\s*\{\s*[\"']?(?:drop\w*|shutdown)\b|\bdropDatabase\s*:"
)
_SERVER = re.compile(r"\brs\.(?:remove|stepDown|reconfig|freeze)\s*\(|\.(?:killOp|fsyncLock)\s*\(")
_CHOSEN = re.compile(r"(?<=[\w)\]])\[\s*(?![\d'\"`\s])([^\]\n]{1,200})\]\s*\(")
_DOCUMENT = Grammar(
    "--eval -u -p --host --port --username --password --authenticationDatabase -f --file "
    "--javascript.execute-string --server.endpoint --server.username --server.password --server.database"
)


def document(engine: Engine, call: Call) -> Flow | None:
    """Judge the JavaScript that a shell of a document store is given."""
    options = parse(call.argv, _DOCUMENT)
    texts = options.all_values("--eval", "--javascript.execute-string")
    if not texts and call.stdin is not None and call.stdin.text is not None:
        texts = [call.stdin.text]
    for text in texts:
        engine.charge(1 + len(text) // 64)
        code = members(text)
        if _DOCUMENT_LOSS.search(code) or _CHOSEN.search(code):
            engine.report("databases.document-loss", call, text[:120])
        elif _SERVER.search(code):
            engine.report("databases.server", call, text[:120])
    for path in (*options.words, *options.all_values("-f", "--file", "--javascript.execute")):
        if NAMED_LOSS.search(path):
            engine.report("databases.script", call, path)
    engine.effect("execute", "mongosh", call)
    return Flow(None, PIPED)


_REDIS = Grammar(
    "-h -p -a -n -u -r -i -d -s --user --pass --pattern --count --rdb -x --cacert --cert --key --sni --eval"
)
_REDIS_LOSS = frozenset({"flushall", "flushdb", "shutdown", "swapdb", "replicaof", "slaveof", "failover"})
_REDIS_PAIRS = frozenset(
    {
        ("config", "set"),
        ("script", "flush"),
        ("script", "kill"),
        ("function", "delete"),
        ("function", "restore"),
        ("client", "kill"),
        ("cluster", "failover"),
        ("cluster", "delslots"),
        ("function", "flush"),
        ("cluster", "reset"),
        ("cluster", "flushslots"),
        ("cluster", "forget"),
        ("module", "load"),
        ("module", "unload"),
        ("acl", "deluser"),
        ("acl", "setuser"),
    }
)
_REDIS_SCRIPT = re.compile(
    r"flush\W*(?:all|db)|\bkeys\b(?!\[).*\b(?:del|unlink)\b|['\"](?:shutdown|swapdb|replicaof|slaveof|config)\b"
    r"|p?call\s*\(\s*(?:[^\s'\"]|(?:'[^']*'|\"[^\"]*\")\s*\.\.)",
    re.DOTALL | re.IGNORECASE,
)


def redis(engine: Engine, call: Call) -> Flow | None:
    """Judge the command that a Redis client is given."""
    options = parse(call.argv, _REDIS, first_word_ends=True)
    words = [word.lower() for word in call.argv[options.index :]]
    for path in options.all_values("--eval"):
        _script(engine, call, engine.file_flow(path, call), path)
        return Flow(None, PIPED)
    if not words and call.stdin is not None and call.stdin.text is not None:
        for line in call.stdin.text.splitlines()[:500]:
            first = line.split()[:1]
            if first and first[0].lower() in _REDIS_LOSS:
                engine.report("databases.drop", call, line)
    engine.effect("execute" if words else "read", " ".join(words[:1]) or None, call)
    if not words:
        return Flow(None, PIPED)
    if words[0] in _REDIS_LOSS or tuple(words[:2]) in _REDIS_PAIRS:
        engine.report("databases.drop", call, " ".join(words[:2]))
    elif words[0] == "debug" and words[1:2] not in (["object"], ["help"]):
        engine.report("databases.server", call, " ".join(words[:2]))
    elif words[0] == "eval":
        _script(engine, call, Flow(" ".join(words[1:2])), "eval")
    elif words[0] in ("del", "unlink") and (call.appended or any("*" in word for word in words)):
        engine.report("databases.delete-all", call, " ".join(words))
    return Flow(None, PIPED)


def _script(engine: Engine, call: Call, script: Flow, name: str) -> None:
    """Judge a Lua script that the server runs: it may call every command."""
    engine.effect("execute", name, call)
    text = script.text
    if text is None or not known(text):
        engine.unknown("script", name, call)
        engine.report("databases.dynamic", call, name)
        return
    engine.charge(1 + len(text) // 64)
    if _REDIS_SCRIPT.search(text):
        engine.report("databases.drop", call, name)
