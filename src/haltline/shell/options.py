"""Command line words told apart into options and arguments, by a grammar that is data."""

from __future__ import annotations

_SHORTEST_ABBREVIATION = 5  # "--" and three letters: shorter ones are ambiguous in every tool looked at


class Grammar:
    """How a program reads its command line.

    Attributes:
        values: options that take the next word as their value.
        greedy: every option takes the next word as its value unless it is in `flags` or the word is an
        option. flags: options that take no value: they matter where `greedy`, and where one is how another
        begins. joined: `-name` is one option and not
        several letters. verbs: words that only read; what follows one of them is a name and no verb.
    """

    __slots__ = ("flags", "greedy", "joined", "values", "verbs")

    def __init__(
        self,
        values: str = "",
        flags: str = "",
        *,
        greedy: bool = False,
        joined: bool = False,
        verbs: str = "",
    ) -> None:
        self.verbs = frozenset(verbs.split())
        self.values = frozenset(values.split())
        self.flags = frozenset(flags.split())
        self.greedy = greedy
        self.joined = joined


PLAIN = Grammar()


class Options:
    """What a command line holds.

    Attributes:
        words: the arguments that are not options, in order.
        given: each option with its value, or None.
        grammar: how they were read; an option that it knows is no abbreviation of another one.
        separator: how many of `words` stand before `--`, or None when there is none.
        index: offset in argv where reading stopped.
    """

    __slots__ = ("given", "grammar", "index", "separator", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.given: list[tuple[str, str | None]] = []
        self.grammar = PLAIN
        self.separator: int | None = None
        self.index = 0

    def has(self, *names: str) -> bool:
        """Return whether one of the options is given; a long one may be abbreviated as getopt allows."""
        for given, _ in self.given:
            if given in names or (given[:2] == "--" != given[1:3] and given[1:] in names):
                return True
            if (
                len(given) >= _SHORTEST_ABBREVIATION
                and given.startswith("--")
                and given not in self.grammar.flags
                and given not in self.grammar.values
            ):
                for name in names:
                    if name.startswith(given) and given != "--force":
                        return True
        return False

    def value(self, *names: str) -> str | None:
        """Return the value of the last of these options that has one."""
        for given, value in reversed(self.given):
            if value is not None and given in names:
                return value
        return None

    def all_values(self, *names: str) -> list[str]:
        """Return the values of all these options, in order."""
        return [value for given, value in self.given if value is not None and given in names]

    def last(self, *names: str) -> str | None:
        """Return which of these options is given last: it wins where they contradict one another."""
        for given, _ in reversed(self.given):
            for name in names:
                if given == name or (
                    len(given) >= _SHORTEST_ABBREVIATION and given[:2] == "--" and name.startswith(given)
                ):
                    return name
        return None


def parse(
    argv: list[str], grammar: Grammar = PLAIN, start: int = 1, *, first_word_ends: bool = False
) -> Options:
    """Tell options and arguments apart.

    Args:
        argv: the whole command.
        grammar: how the program reads it.
        start: offset of the first word to read.
        first_word_ends: stop before the first argument (a wrapper's options end where its command begins).
    """
    options = Options()
    options.grammar = grammar
    given, words, values = options.given, options.words, grammar.values
    i, count = start, len(argv)
    while i < count:
        word = argv[i]
        if len(word) < 2 or word[0] != "-":  # noqa: PLR2004  "-" alone is a word
            if first_word_ends:
                break
            words.append(word)
            i += 1
            continue
        i += 1
        if word == "--":
            options.separator = len(words)
            if not first_word_ends:
                words.extend(argv[i:])
                i = count
            break
        if word[1] == "-" or grammar.joined or grammar.greedy:
            name, equals, value = word.partition("=")
            if equals:
                given.append((name, value))
            elif i < count and (
                name in values
                or (grammar.joined and name[1:] in values)
                or (grammar.greedy and name not in grammar.flags and argv[i][:1] != "-")
            ):
                given.append((name, argv[i]))
                i += 1
            else:
                given.append((name, None))
            continue
        i = _letters(word, argv, i, options, values)
    options.index = i
    return options


def _letters(word: str, argv: list[str], i: int, options: Options, values: frozenset[str]) -> int:
    for position in range(1, len(word)):
        name = "-" + word[position]
        if name not in values:
            options.given.append((name, None))
            continue
        rest = word[position + 1 :]
        if not rest and i < len(argv):
            rest = argv[i]
            i += 1
        options.given.append((name, rest))
        break
    return i
