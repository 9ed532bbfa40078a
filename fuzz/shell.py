"""Search for a text that breaks the shell analysis, with coverage as the guide. Run by `make fuzz`.

    python -m fuzz.shell SECONDS [libFuzzer's options]

Starts from the rules' own examples and from generated Bash; keeps what reaches new code in `.fuzz/corpus`,
and a text that breaks a law (`fuzz/laws.py`) in `.fuzz/crash-…`, after it was printed with the traceback.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
import sys
import time
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["haltline.shell"]):
    import haltline.shell

    for _module in pkgutil.walk_packages(haltline.shell.__path__, "haltline.shell."):
        import_module(_module.name)

from fuzz.grammar import Generator
from fuzz.laws import affordable, hold

from haltline.shell.book import built_in

HOME = Path(".fuzz")
GENERATED = 500
LONGEST_SEED = 256  # characters; mutation makes them longer
SLOW = 0.5  # seconds
MAX_LENGTH = 2048  # growth with the length is shown by tests; here more texts are worth more than longer ones
_SEPARATOR = "\x1e"  # what follows it is the script that the command can read
_WORDS = re.compile(r"[A-Za-z_][\w.-]{1,20}|--?[\w-]{1,20}|[^\s\w]{1,3}")


def try_one(data: bytes) -> None:
    """Try the laws on one input; bytes that are no UTF-8 become lone surrogates."""
    command, separator, script = data.decode("utf-8", "surrogateescape").partition(_SEPARATOR)
    given = script if separator else None
    started = time.process_time()
    try:
        hold(command, given)
        if time.process_time() - started > SLOW:  # time only chooses what to look at; work is what is judged
            affordable(command, given)
    except BaseException:
        print(f"\ncommand: {command!r}\nscript: {given!r}", flush=True)
        raise


def seeds() -> list[str]:
    """Return the texts to start from."""
    rules = built_in().rules.values()
    examples = [command for rule in rules for group in rule.examples.values() for command in group]
    generated = [Generator(seed).text() for seed in range(GENERATED)]
    scripts = [f"sh x{_SEPARATOR}{text}" for text in generated] + [
        f"./x a{_SEPARATOR}./x $@;{text}" for text in generated[::10]
    ]
    return examples + [text for text in generated + scripts if len(text) <= LONGEST_SEED]


def prepare() -> tuple[Path, Path]:
    """Write the texts to start from and the words that they are made of; return corpus and dictionary."""
    corpus = HOME / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    words: set[str] = set()
    for text in seeds():
        data = text.encode("utf-8", "surrogateescape")
        (corpus / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
        words.update(_WORDS.findall(text))
    dictionary = HOME / "words"
    lines = ('"' + "".join(f"\\x{byte:02x}" for byte in word.encode()) + '"' for word in sorted(words))
    dictionary.write_text("\n".join(lines) + "\n", encoding="ascii")
    return corpus, dictionary


def main() -> None:
    """Fuzz for as long as the first argument says."""
    seconds, *options = sys.argv[1:]
    corpus, dictionary = prepare()
    arguments = [
        sys.argv[0],
        f"-max_total_time={seconds}",
        f"-max_len={MAX_LENGTH}",
        f"-dict={dictionary}",
        f"-artifact_prefix={HOME}/",
        "-print_final_stats=1",
        "-timeout=60",
        *options,
        str(corpus),
    ]
    atheris.Setup(arguments, try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
