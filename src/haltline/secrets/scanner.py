"""Scans texts and nested objects for secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from haltline.secrets.commands import find_in_commands, may_be_command, may_hold_commands, secret_items
from haltline.secrets.context import find_in_context, is_secret_value, kind_of_name, lower, rule_of_kind
from haltline.secrets.decoding import MAXIMUM_LAYERS, Budget, find_layers, is_spaced_out
from haltline.secrets.fingerprints import fingerprint, sentinel, sentinel_spans
from haltline.secrets.joining import Piece, covered, joined_pieces, neighbouring_leaves
from haltline.secrets.matcher import find_tokens, is_literal, literal_starts
from haltline.secrets.model import TIER_RANK, UNSCANNED, Hit, PathPart, SecretFinding, Tier
from haltline.secrets.patterns import compiled
from haltline.secrets.phrases import find_phrases
from haltline.secrets.words import LongWords

if TYPE_CHECKING:
    from collections.abc import Iterator

    from haltline.secrets.known import KnownValues

MAXIMUM_DEPTH = 64
_OTHER_KINDS = (
    "known-value",
    "password",
    "secret-value",
    "uri-password",
    "bearer-token",
    "basic-credentials",
    "basic-password",
    "aws-secret-access-key",
    UNSCANNED,
)
_FORTY_CHARACTERS = r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
_AWS_NAME = r"(?i)aws.{0,20}?(?:key|id|token|secret)|access[_-]?key"
_NEAR = 250
_BEFORE_SPLIT, _AFTER_SPLIT = 200, 2_000
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


@cache
def kinds() -> frozenset[str]:
    """Return every kind that a sentinel can name."""
    from haltline.secrets.formats import FORMATS  # noqa: PLC0415 - the tables load with the first scan

    return frozenset({*(form.kind for form in FORMATS), *_OTHER_KINDS})


def scan_text(text: str, known: KnownValues | None = None) -> list[Hit]:
    """Return the secrets of one text, in order and without overlaps; sentinels are passed over."""
    spans = sentinel_spans(text, kinds()) if "«" in text else ()
    if not spans:
        return _scan_segment(text, known)
    hits: list[Hit] = []
    begin = 0
    for start, end in [*spans, (len(text), len(text))]:
        hits.extend(
            hit._replace(start=hit.start + begin, end=hit.end + begin)
            for hit in _scan_segment(text[begin:start], known)
        )
        begin = end
    return hits


def _scan_segment(text: str, known: KnownValues | None) -> list[Hit]:
    words = LongWords(text)
    hits, begun = find_tokens(words)
    if begun:
        hits.extend(_split_hits(text, begun))
    lowered = lower(text)
    hits.extend(find_in_context(text, lowered))
    hits.extend(find_phrases(text, lowered))
    if may_hold_commands(text, words.words):
        hits.extend(find_in_commands(text, lowered))
    if known is not None:
        hits.extend(known.find(text))
    hits.extend(_decoded_hits(words, known, Budget(len(text)), MAXIMUM_LAYERS))
    if not hits:
        return hits
    hits = _with_aws_pairs(text, hits)
    return _merged(text, hits)


def _decoded_hits(words: LongWords, known: KnownValues | None, budget: Budget, layers: int) -> Iterator[Hit]:
    """Yield what stands in the encoded parts of a text, in the place of the whole encoded part.

    Only vendor formats and known values count there: in what came out of a decoder, context proves nothing.
    """
    for layer in find_layers(words):
        if not budget.take(len(layer.text)):
            return
        inner = LongWords(layer.text)
        hits = find_tokens(inner).hits
        if known is not None:
            hits.extend(known.find(layer.text))
        if layers > 1:
            hits.extend(_decoded_hits(inner, known, budget, layers - 1))
        for hit in hits:
            yield hit._replace(start=layer.start, end=layer.end, decoded=(layer.encoding, *hit.decoded))


def _split_hits(text: str, begun: list[int]) -> Iterator[Hit]:
    """Yield tokens that were split over several literals or variables, once for each of their pieces.

    Args:
        text: the whole text.
        begun: where tokens begin that do not go on; looked at is what stands near by.
    """
    end = 0
    for position in begun:
        if position < end:
            continue
        begin, end = max(end, position - _BEFORE_SPLIT), position + _AFTER_SPLIT
        for pieces in joined_pieces(text[begin:end]):
            yield from _hits_in_pieces(pieces, begin)


def _hits_in_pieces(pieces: Sequence[Piece], offset: int) -> Iterator[Hit]:
    if len(pieces) < 2:  # noqa: PLR2004 - one piece is not split
        return
    for hit in find_tokens(LongWords("".join(piece.text for piece in pieces))).hits:
        touched = covered(pieces, hit.start, hit.end)
        # A list of prefixes is not a token, however well it reads when put together.
        if len(touched) > 1 and not any(is_literal(piece.text) for piece in touched[1:]):
            for piece in touched:
                yield hit._replace(start=piece.start + offset, end=piece.end + offset, decoded=("split",))


def _with_aws_pairs(text: str, hits: list[Hit]) -> list[Hit]:
    """Raise AWS key ids that stand beside their secret or under their name, and report the secret.

    An id alone is not a secret; forty characters alone could be anything.
    """
    result = []
    for hit in hits:
        if hit.rule != "aws-access-key-id":
            result.append(hit)
            continue
        begin, end = max(0, hit.start - _NEAR), hit.end + _NEAR
        secrets = [
            match
            for match in compiled(_FORTY_CHARACTERS).finditer(text, begin, end)
            if not _HEX_DIGITS.issuperset(match[0])
        ]
        named = compiled(_AWS_NAME).search(text, max(0, hit.start - 40), hit.start)
        result.append(hit._replace(tier=Tier.FORMAT) if secrets or named else hit)
        result.extend(
            Hit("aws-secret-access-key", Tier.FORMAT, match.start(), match.end(), match[0])
            for match in secrets
            if "EXAMPLE" not in match[0]
        )
    return result


def _merged(text: str, hits: list[Hit]) -> list[Hit]:
    """Return hits without overlaps: those that overlap become one, of the surest rule, over all they cover.

    Covering less would leave a part of the weaker secret standing.
    """
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not merged or hit.start >= merged[-1].end:
            merged.append(hit)
            continue
        last = merged[-1]
        surer = hit if _strength(hit) < _strength(last) else last
        if last.tier is not Tier.CONTEXT and hit.end <= last.end:
            # A token that carries another one (a GitHub App's carries a JWT) keeps its name.
            surer = last._replace(tier=surer.tier)
        whole = surer.start == last.start and surer.end == max(last.end, hit.end)
        value = surer.value if whole else ""
        merged[-1] = Hit(surer.rule, surer.tier, last.start, max(last.end, hit.end), value, surer.decoded)
    return [hit if hit.value else hit._replace(value=text[hit.start : hit.end]) for hit in merged]


def _strength(hit: Hit) -> tuple[int, bool]:
    """Order hits, surest first; of equally sure ones the vendor's name says more than the place."""
    return TIER_RANK[hit.tier], hit.rule in _OTHER_KINDS


def as_text(value: bytes | bytearray) -> str:
    """Return bytes as text that `as_bytes` turns back into the same bytes."""
    return bytes(value).decode("utf-8", "surrogateescape")


def leaf_hits(text: str, name: str, known: KnownValues | None = None, more: Sequence[Hit] = ()) -> list[Hit]:
    """Return the secrets of a text that stands under a name: the name may be what makes it one.

    Args:
        text: the text.
        name: what it is called, or empty.
        known: secrets that this process holds.
        more: what its neighbours show to be secrets.
    """
    hits = scan_text(text, known)
    if more:
        hits = _merged(text, [*hits, *more])
    kind = kind_of_name(name) if name else ""
    if not kind or (hits and hits[0].start == 0 and hits[-1].end == len(text)):
        return hits
    if sentinel_spans(text, kinds()) or not is_secret_value(name, text, kind, quoted=True):
        return hits
    return _merged(text, [*hits, Hit(rule_of_kind(kind), Tier.CONTEXT, 0, len(text), text)])


def command_hits(value: Any) -> dict[int, list[Hit]]:
    """Return the secrets among the items of a sequence that are the words of a command, by their index.

    What stands in a sentinel already is left out.
    """
    found: dict[int, list[Hit]] = {}
    if not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        return found
    if not may_be_command(value):
        return found
    for index, hit in secret_items(value):
        end = min(
            (begin for begin, after in sentinel_spans(value[index], kinds()) if after > hit.start),
            default=hit.end,
        )
        if hit.start < end:
            cut = min(end, hit.end)
            found.setdefault(index, []).append(hit._replace(end=cut, value=value[index][hit.start : cut]))
    return found


def foreign_text(value: Any) -> str | None:
    """Return the text of an object that JSON does not know, or None when it has none."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - any object may come; one without a text counts as unscanned, never as clean
        return None


def is_plain(value: Any) -> bool:
    """True for values that cannot hold a secret: null, booleans and numbers."""
    return value is None or isinstance(value, bool | int | float)


class _Leaf(NamedTuple):
    """A text inside an object: a value, or a mapping's key.

    Attributes:
        path: keys and indices that lead to it; for a key, including the key.
        name: the nearest key above it; what it is called.
        text: the text.
        in_key: true for a key.
    """

    path: tuple[PathPart, ...]
    name: str
    text: str
    in_key: bool


class _ObjectScan:
    """One walk through an object; containers are visited once, so shared parts and cycles cost nothing."""

    __slots__ = ("_commands", "_known", "_seen", "leaves", "unscanned")

    def __init__(self, known: KnownValues | None) -> None:
        self._known = known
        self._seen: set[int] = set()
        self._commands: list[tuple[_Leaf, Hit]] = []
        self.leaves: list[_Leaf] = []
        self.unscanned: list[tuple[PathPart, ...]] = []

    def visit(self, value: Any, path: tuple[PathPart, ...], name: str) -> None:
        """Collect the texts of a value."""
        if isinstance(value, str):
            self.leaves.append(_Leaf(path, name, value, in_key=False))
        elif isinstance(value, bytes | bytearray):
            self.leaves.append(_Leaf(path, name, as_text(value), in_key=False))
        elif is_plain(value):
            return
        elif isinstance(value, Mapping | Sequence | AbstractSet):
            self._container(value, path, name)
        else:
            text = foreign_text(value)
            if text is None:
                self.unscanned.append(path)
            else:
                self.leaves.append(_Leaf(path, name, text, in_key=False))

    def _container(self, value: Any, path: tuple[PathPart, ...], name: str) -> None:
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if len(path) >= MAXIMUM_DEPTH:
            self.unscanned.append(path)
        elif isinstance(value, Mapping):
            for key, child in value.items():
                text = key_text(key)
                below = (*path, text)
                self.leaves.append(_Leaf(below, "", text, in_key=True))
                self.visit(child, below, text)
        else:
            for index, child in enumerate(value):
                self.visit(child, (*path, index), name)
            for index, hits in command_hits(value).items():
                leaf = _Leaf((*path, index), name, value[index], in_key=False)
                self._commands.extend((leaf, hit) for hit in hits)

    def hits(self) -> Iterator[tuple[_Leaf, Hit]]:
        """Yield the secrets of each text, with those that are split over neighbouring texts at the end."""
        found = set()
        for leaf in self._suspicious():
            for hit in leaf_hits(leaf.text, leaf.name, self._known):
                found.add(leaf.path)
                yield leaf, hit
        for leaf, hit in (*self.split_hits(), *self._commands):
            if leaf.path not in found:
                yield leaf, hit

    def _suspicious(self) -> Sequence[_Leaf]:
        """Return the texts to look at one by one: all, unless a scan of all together finds nothing.

        Joined by line ends, the texts show everything that they show alone, except that few are spaced out
        among many, and that their names may be what makes them secrets.
        """
        together = "\n".join([leaf.text for leaf in self.leaves])
        if scan_text(together, self._known) or any(is_spaced_out(leaf.text) for leaf in self.leaves):
            return self.leaves
        return [leaf for leaf in self.leaves if leaf.name and kind_of_name(leaf.name)]

    def split_hits(self) -> Iterator[tuple[_Leaf, Hit]]:
        """Yield the parts of tokens that were split over neighbouring values."""
        values = [leaf for leaf in self.leaves if not leaf.in_key]
        texts = [leaf.text for leaf in values]
        for index, pieces in neighbouring_leaves(texts, literal_starts()):
            for hit in find_tokens(LongWords("".join(piece.text for piece in pieces))).hits:
                last = index + len(covered(pieces, hit.start, hit.end))
                if hit.start or last == index + 1 or any(map(is_literal, texts[index + 1 : last])):
                    continue
                for leaf in values[index:last]:
                    yield leaf, hit._replace(start=0, end=len(leaf.text), decoded=("split",))


def key_text(key: Any) -> str:
    """Return a mapping's key as text; a key that has none is shown as `?`."""
    if isinstance(key, bytes | bytearray):
        return as_text(key)
    return key if isinstance(key, str) else foreign_text(key) or "?"


def masked(text: str, hits: list[Hit]) -> str:
    """Return a text with a sentinel in the place of each hit."""
    parts = []
    begin = 0
    for hit in hits:
        parts.append(text[begin : hit.start])
        parts.append(sentinel(hit.rule, hit.value))
        begin = hit.end
    parts.append(text[begin:])
    return "".join(parts)


def _finding(hit: Hit, path: tuple[PathPart, ...], *, in_key: bool) -> SecretFinding:
    return SecretFinding(
        hit.rule, hit.tier, hit.start, hit.end, path, in_key, hit.decoded, fingerprint(hit.value)
    )


def _unscanned(path: tuple[PathPart, ...]) -> SecretFinding:
    """What was not looked at is reported as if it held a secret."""
    return SecretFinding(UNSCANNED, Tier.FORMAT, 0, 0, path)


def scan(value: Any, *, known: KnownValues | None = None) -> tuple[SecretFinding, ...]:
    """Return the secrets in a text, bytes, or nested mappings and sequences, keys included; never raises.

    Positions count characters of the text that the path leads to (of its UTF-8 decoding, for bytes). What
    lies deeper than 64 levels is not looked at and reported as `unscanned`, which blocks.

    Args:
        value: any JSON-like value; other objects are looked at as their text.
        known: secrets that this process holds, to be recognised in any form.
    """
    if isinstance(value, str):
        hits = scan_text(value, known)
        return tuple([_finding(hit, (), in_key=False) for hit in hits]) if hits else ()
    walk = _ObjectScan(known)
    walk.visit(value, (), "")
    findings = [_unscanned(_shown(path, known)) for path in walk.unscanned]
    findings += [_finding(hit, _shown(leaf.path, known), in_key=leaf.in_key) for leaf, hit in walk.hits()]
    return tuple(findings)


def _shown(path: tuple[PathPart, ...], known: KnownValues | None) -> tuple[PathPart, ...]:
    """Return a path with the keys that hold secrets masked."""
    return tuple(masked(part, scan_text(part, known)) if isinstance(part, str) else part for part in path)


def split_parts(value: Any) -> dict[str, str]:
    """Return the texts of an object that are parts of a split token, each with the token's kind."""
    if isinstance(value, str | bytes | bytearray) or is_plain(value):
        return {}
    walk = _ObjectScan(None)
    walk.visit(value, (), "")
    return {leaf.text: hit.rule for leaf, hit in walk.split_hits()}
