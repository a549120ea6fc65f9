"""What masking left in a file and is worth a look, for the owner's review.

Rules do not know that `pebble` is a nickname. The owner does, and says so in the list.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from anonymization.documents.short_values import Around, around, short_sightings
from anonymization.documents.visitor import AS_SPACES
from anonymization.documents.worth_a_look import (
    GONE,
    WORD,
    English,
    Sighting,
    counted_on,
    is_field,
    series_members,
    sightings,
    whole_sighting,
    without,
)
from anonymization.recogniser.informed import is_for_model
from anonymization.text.contracts import DetectionConfig, Edit, Finding
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.words_review import RANK, Why, WordLeft
from data.neutralise import one_line
from data.text.lexicon import load_table
from data.text.scripts import (
    HAN_KANA,
    JAPANESE_KANA,
    UNIFIED_HAN,
    count_cjk,
    count_han,
    has_kana,
    is_han,
)

if TYPE_CHECKING:
    from sudachipy import Tokenizer
import binascii
from base64 import b64decode, urlsafe_b64decode
from urllib.parse import unquote_to_bytes

# Words inside base64, hexadecimal digits and percent escapes: what a run decodes to, if a text.
#
# Masking opens long base64 and escapes by itself. What it does not open is shown decoded, so that
# the owner sees it; a word decided to be private that still stands there keeps its file out.

_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}){4,2000})(?![0-9A-Za-z])")
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/=_-])(?=[A-Za-z0-9+/_=-]{8})(?:[A-Za-z0-9+/_-]{6,10}={1,2}|[A-Za-z0-9+/_-]{11,4000}={0,2})"
    r"(?![A-Za-z0-9+/=_-])"
)
_BREAKS = re.compile(r"[\r\n\t]+")
_EASTERN_PACKED_WORDS = re.compile(f"(?=.*[{HAN_KANA}]{{2}})[{HAN_KANA}\\w ,.:;!?，。、：]{{3,}}")
_WORDS = re.compile(r"[^\W_]{3}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}|[+_.-](?=%)){4,2000}")
_LEFT_OVER = 4  # characters of a group of base64
_FEWEST = 6  # characters of a decoded text; shorter ones are texts by chance


def _packed_texts(text: str) -> Iterator[str]:
    """The texts that runs of digits, of base64 and of percent escapes in a text decode to."""
    for match in _PERCENT.finditer(text):
        yield from _as_text(unquote_to_bytes(match.group()))
    for match in _HEX.finditer(text):
        yield from _as_text(bytes.fromhex(match[1]))
    for match in _BASE64.finditer(text):
        run = match.group().rstrip("=")
        decode = urlsafe_b64decode if {"-", "_"} & set(run) else b64decode
        try:
            yield from _as_text(decode(run + "=" * (-len(run) % _LEFT_OVER)))
        except binascii.Error:
            continue


def _as_text(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    plain = _BREAKS.sub(" ", text).strip()
    if text.isascii():
        is_text = len(plain) >= _FEWEST and _WORDS.search(plain) is not None
    else:
        is_text = _EASTERN_PACKED_WORDS.fullmatch(plain) is not None
    if is_text and plain.isprintable():
        yield plain


# Chinese and Japanese words of a text that may be what somebody or something is called.
#
# The segmenters of name detection cut the words; without them runs of characters are cut by length.

_CLAUSE = re.compile(rf"[{HAN_KANA}][{HAN_KANA}A-Za-z0-9]{{0,120}}")
_BY_LENGTH = re.compile(rf"[{HAN_KANA}]{{2,6}}")
_EASTERN = re.compile(rf"[{HAN_KANA}]+")
# What the Chinese model calls nouns and names of all kinds; what it does not know is a noun.
_NAMES = frozenset({"nz", "nw", "nr", "ns", "nt", "PER", "LOC", "ORG"})
# Names of everyday characters are often taken for verbs and adjectives.
_NAMING = _NAMES | {"n", "s", "an", "vn", "TIME", "v", "vd", "a", "ad"}
_CALLING = _NAMES | {"n", "s"}  # in a sentence: its verbs and adjectives are those of the sentence
_FAMILIAR = re.compile(rf"[小老阿][{UNIFIED_HAN}](?![ぁ-ゖァ-ヺ])")
_HONOURED = re.compile("[ぁ-ゖァ-ヺー]{2,6}?(?=ちゃん|さん|くん|さま)")
_NOUNS = frozenset({"名詞", "形状詞"})
_NO_NOUNS = frozenset({"数詞", "助動詞語幹", "代名詞"})

Span = tuple[int, int]
_Marked = tuple[int, int, bool]  # a span, and whether it can be a name in a sentence, too


@cache
def _everyday(key: str = "eastern") -> frozenset[str]:
    return frozenset(load_table(__package__, "everyday.toml")[key].split())


def _eastern_words(
    texts: Sequence[str], config: DetectionConfig, *, is_japanese: bool
) -> Mapping[str, tuple[_Marked, ...]]:
    """Each distinct clause of the texts with the spans of its words that are no everyday words.

    A clause is a run of Han and kana characters. One with kana is Japanese, one without is if the
    file `_is_japanese`.
    """
    found_in = dict.fromkeys(clause for text in texts for clause in _CLAUSE.findall(text))
    by_sudachi = [clause for clause in found_in if is_japanese or has_kana(clause)]
    by_lac = [clause for clause in found_in if not (is_japanese or has_kana(clause))]
    spans = dict(zip(by_sudachi, _japanese(by_sudachi, config.japanese_model), strict=True))
    return spans | dict(zip(by_lac, _chinese(by_lac, config.chinese_model), strict=True))


def _is_japanese(texts: Iterable[str]) -> bool:
    """Is enough of the Han and kana characters of a file's texts kana?"""
    kana = han = 0
    for text in texts:
        eastern = count_cjk(text)
        han += count_han(text)
        kana += eastern - count_han(text)
    return kana > JAPANESE_KANA * (kana + han)


def _clauses(text: str) -> Iterator[re.Match[str]]:
    """The runs of Han and kana characters of a text."""
    return _CLAUSE.finditer(text)


def _short_names(text: str) -> Iterator[Span]:
    """Chinese names of one character: alone in a cell, or behind 小, 老 or 阿."""
    value = text.strip()
    if len(value) == 1 and is_han(value) and not _calls_nobody(value, "eastern_characters"):
        start = text.index(value)
        yield start, start + 1
    for match in _FAMILIAR.finditer(text):
        if not _calls_nobody(match.group(), "eastern_prefixed"):
            yield match.span()


def _calls_nobody(word: str, short: str) -> bool:
    return word in _everyday() or word in _everyday(short)


def _by_length(clause: str) -> tuple[_Marked, ...]:
    return tuple((*match.span(), True) for match in _BY_LENGTH.finditer(clause))


def _chinese(units: Sequence[str], model: str) -> list[tuple[_Marked, ...]]:
    if not model or not units:
        return [_by_length(unit) for unit in units]
    from anonymization.text.detect import chinese  # of the extra `masking`

    return [tuple(_chinese_spans(tagged)) for tagged in chinese.load(model).run(units)]


def _chinese_spans(tagged: Sequence[tuple[str, str]]) -> Iterator[_Marked]:
    """Nouns and names; single characters side by side are taken together."""
    offset, single = 0, 0  # where the word begins, and how many single characters are before it
    for word, tag in [*tagged, ("", "")]:
        is_single = len(word) == 1 and _is_worth_it(word)
        if single > 1 and not is_single:
            yield offset - single, offset, True
        single = single + 1 if is_single else 0
        if len(word) > 1 and tag in _NAMING and _is_worth_it(word):
            yield offset, offset + len(word), tag in _CALLING
        offset += len(word)


def _japanese(units: Sequence[str], model: str) -> list[tuple[_Marked, ...]]:
    if not model or not units:
        return [_by_length(unit) for unit in units]
    from anonymization.text.detect import japanese  # of the extra `masking`

    tokenizer = japanese.load(model)
    return [tuple(_japanese_spans(tokenizer, unit)) for unit in units]


def _japanese_spans(tokenizer: Tokenizer, unit: str) -> Iterator[_Marked]:
    """Nouns, words of no dictionary, and kana before a form of address; single characters side by
    side are taken together."""
    single = 0
    for token in tokenizer.tokenize(unit):
        word = token.surface()
        is_single = len(word) == 1 and is_han(word) and word not in _everyday()
        if single > 1 and not is_single:
            yield token.begin() - single, token.begin(), True
        single = single + 1 if is_single else 0
        speech = token.part_of_speech()
        is_name = token.is_oov() or speech[1] == "固有名詞" or speech[2] == "一般"
        is_naming = _is_naming(speech) or is_name
        if len(word) > 1 and is_naming and _is_worth_it(word):
            yield token.begin(), token.end(), is_name
    if single > 1:
        yield len(unit) - single, len(unit), True
    for match in _HONOURED.finditer(unit):
        yield *match.span(), True


def _is_naming(speech: Sequence[str]) -> bool:
    return speech[0] in _NOUNS and speech[1] not in _NO_NOUNS


def _is_worth_it(word: str) -> bool:
    return _EASTERN.fullmatch(word) is not None and word not in _everyday()


EditsOf = Callable[[Piece], Sequence[Edit]]
UndecidedOf = Callable[[Piece], Sequence[Finding]]
# Ways to write a character in a text; what follows them is a word of its own.
_ESCAPES = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)|&#?\w{2,8};|[=%][0-9A-F]{2}|[A-Za-z0-9+/=]{60,}"
)
_CONTEXT, _LEAST = 110, 20  # characters of an example, and on each side of its word
_LONGEST = 200  # characters of a word; what is longer is packed
_LONGEST_PACKED = 60  # characters of a packed text that is a phrase
_GONE_RUN = re.compile(f"{GONE}+")
_SHOWN_GONE = "…"


def _english_words(detection: DetectionConfig) -> English:
    """The English words of the model that detection uses; none without a model."""
    # The model's library takes seconds to import: commands without detection do not wait for it.
    from anonymization.text.detect import english

    model = detection.english_model
    if not model:
        return English(frozenset(), frozenset(), frozenset())
    return English(
        english.dictionary(model),
        english.nouns(model),
        english.doing_words(model),
        english.usual_words(model),
    )


def words_left(
    pieces: Sequence[Piece],
    edits_of: EditsOf,
    detection: DetectionConfig,
    private: frozenset[str] = frozenset(),
    whole: str = "",
    undecided_of: UndecidedOf = lambda _: (),
) -> dict[str, WordLeft]:
    """The words of a file's texts that masking leaves and that are worth a look.

    `edits_of` says what masking changes in a text; `private` are words, in small letters, that
    the owner decided to be private. `whole` is the masked text with gaps, if the file is a text:
    names of elements and classes stand in it that no piece holds. `undecided_of` gives what
    detection left to the owner.
    """
    looked = [(piece, edits_of(piece)) for piece in pieces]
    finder = _Finder(pieces, around(looked, detection), detection, private)
    words: dict[str, WordLeft] = {}
    for piece, edits in looked:
        rest = without(piece.value, edits)
        open_spans = list(_undecided(rest, undecided_of(piece)))
        inner = (s for s in finder.in_piece(piece, rest) if not _is_within(s, open_spans))
        if piece.fixed:  # names and keys of a program; what no word explains is still shown
            inner = (s for s in inner if s.why is Why.UNKNOWN or not _is_fixed(s, piece))
        for sighting in [*open_spans, *inner]:
            if len(sighting.word) <= _LONGEST:
                _note(words, sighting, piece, rest)
        if not whole:  # of a text file the masked text itself says what stays packed
            _note_packed(words, finder, rest)
    plain = _ESCAPES.sub(lambda match: GONE * len(match.group()), whole)
    for sighting in finder.in_whole(plain):
        _note(words, sighting, Piece(plain), plain)
    _note_packed(words, finder, whole)
    for word in list(series_members(word for word in words if words[word].why is Why.CODE)):
        del words[word]
    for word in list(counted_on(words)):
        del words[word]
    return words


def _undecided(rest: str, findings: Sequence[Finding]) -> Iterator[Sighting]:
    """What detection left to the owner, where nothing else has masked it."""
    for finding in findings:
        word = rest[finding.start : finding.end].strip()
        if word and GONE not in word and one_line(word) == word:
            yield Sighting(word, finding.start, finding.end, Why.UNDECIDED)


def _is_fixed(sighting: Sighting, piece: Piece) -> bool:
    start, end = sighting.start + piece.lead, sighting.end + piece.lead
    index = bisect_right(piece.fixed, start, key=lambda span: span[0]) - 1
    return index >= 0 and end <= piece.fixed[index][1]


def _is_within(sighting: Sighting, spans: Sequence[Sighting]) -> bool:
    return any(span.start <= sighting.start and sighting.end <= span.end for span in spans)


class _Finder:
    """Finds what is worth a look in pieces of a file, in its whole text, and in packed texts."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        context: Around,
        detection: DetectionConfig,
        private: frozenset[str],
    ) -> None:
        self._context, self._private, self._detection = context, private, detection
        self._english = _english_words(detection)
        self._is_code = any(piece.fixed for piece in pieces)
        said = (piece.value for piece in pieces if piece.accepts is FindingFilter.ALL)
        texts = [piece.value for piece in pieces]
        self._eastern = _eastern_words(texts, detection, is_japanese=_is_japanese(said))
        self._titles = {piece.value for piece in pieces if piece.text == f"Title: {piece.value}"}
        self._known = {word.casefold() for text in texts for word in WORD.findall(text)}
        self._packed = {packed for text in texts for packed in _packed_texts(text)}
        self.values = {text.strip() for text in texts}

    def in_piece(self, piece: Piece, rest: str) -> Iterator[Sighting]:
        """What stands in a piece; the name of a file is shown without its separators."""
        is_title = piece.value in self._titles
        is_stem = piece.value.translate(AS_SPACES) in self._titles
        if is_stem and piece.accepts is FindingFilter.PROVEN:
            return
        yield from sightings(piece, rest, self._english, self._private, is_title)
        yield from short_sightings(piece, rest, self._context)
        yield from _eastern(piece, rest, self._eastern)
        if piece.value.strip() in self._packed:
            yield from _as_a_whole(rest)

    def in_whole(self, plain: str) -> Iterator[Sighting]:
        """What stands in the whole text only."""
        piece = Piece(plain)
        seen = [
            *sightings(piece, plain, self._english, self._private),
            *short_sightings(piece, plain, self._context),
        ]
        for sighting in seen:
            if self._is_code and sighting.why is not Why.UNKNOWN:
                continue
            words = {word.casefold() for word in WORD.findall(sighting.word)}
            if self._known.isdisjoint(words) and sighting.word not in self.values:
                yield sighting

    def in_packed(self, text: str) -> Iterator[Sighting]:
        """What stands in a text that was packed."""
        piece = Piece(text)
        yield from sightings(piece, text, self._english, self._private)
        yield from short_sightings(piece, text, self._context)
        words = _eastern_words([text], self._detection, is_japanese=_is_japanese([text]))
        yield from _eastern(piece, text, words)
        yield from _as_a_whole(text)


def _as_a_whole(text: str) -> Iterator[Sighting]:
    """A short text that was packed, if nothing of it is masked."""
    value = text.strip()
    if len(value) <= _LONGEST_PACKED and GONE not in value:
        yield whole_sighting(text, Why.QUOTED)


def _note_packed(words: dict[str, WordLeft], finder: _Finder, text: str) -> None:
    """Note the words of what stays packed in a text and was not opened as a piece of its own."""
    for packed in _packed_texts(text):
        if packed in finder.values:
            continue
        for sighting in finder.in_packed(packed):
            if len(sighting.word) <= _LONGEST:
                _note(words, sighting, Piece(packed), packed)


def rows_for_model(
    documents: Mapping[str, Sequence[Piece]], masker: Masker, detection: DetectionConfig
) -> dict[str, str]:
    """What only an owner could decide, and names that rules have found, each with an example.

    `masker` has learnt the documents by evidence alone. The most telling words come first.
    """
    words: dict[str, WordLeft] = {}
    for pieces in documents.values():
        here = words_left(pieces, masker.edits, detection, undecided_of=masker.undecided)
        for piece in pieces:
            for edit in masker.edits(piece):
                word = piece.value[edit.start : edit.end].strip()
                if is_for_model(edit.type, edit.recognizer, word) and one_line(word) == word:
                    named = Sighting(word, edit.start, edit.end, Why.UNDECIDED)
                    _note(here, named, piece, piece.value)
        join(words, here)
    ranked = sorted(words, key=lambda word: (RANK[words[word].why], word))
    return {word: words[word].example for word in ranked}


def propose(words: Mapping[str, WordLeft], proposals: Collection[str]) -> None:
    """Mark the words that a model would keep."""
    for word, seen in words.items():
        seen.is_proposed = word in proposals


def merged(parts: Iterable[tuple[str, Mapping[str, WordLeft]]]) -> dict[str, WordLeft]:
    """The words of several files, each given with its path."""
    words: dict[str, WordLeft] = {}
    for path, of_file in parts:
        join(words, {word: replace(part, files={path}) for word, part in of_file.items()})
    return words


def join(words: dict[str, WordLeft], more: Mapping[str, WordLeft]) -> None:
    """Add words of other files; of two examples the more telling stays."""
    for word, part in more.items():
        known = words.setdefault(word, WordLeft(is_proposed=True))
        known.is_proposed &= part.is_proposed
        known.times += part.times
        known.files |= part.files
        if not known.example or RANK[part.why] < RANK[known.why]:
            known.why, known.example = part.why, part.example


def _eastern(piece: Piece, rest: str, words: Mapping[str, Sequence[_Marked]]) -> Iterator[Sighting]:
    why = Why.FIELD if is_field(piece, rest) else Why.WORD
    for clause in _clauses(piece.value):
        for start, end, is_name in words[clause.group()]:
            if why is Why.WORD and not is_name:
                continue
            start, end = start + clause.start(), end + clause.start()
            if GONE not in rest[start:end]:
                yield Sighting(rest[start:end], start, end, why)
    for start, end in _short_names(rest):
        yield Sighting(rest[start:end], start, end, Why.NAME)


def _note(words: dict[str, WordLeft], sighting: Sighting, piece: Piece, rest: str) -> None:
    known = words.setdefault(sighting.word, WordLeft())
    known.times += 1
    if known.example and RANK[known.why] <= RANK[sighting.why]:
        return
    known.why, known.example = sighting.why, _example(sighting, piece, rest)


def _example(sighting: Sighting, piece: Piece, rest: str) -> str:
    """An excerpt of whole words on one line, with its label, and a mark for what was masked."""
    room = max(_LEAST, (_CONTEXT - len(sighting.word)) // 2)
    start, end = max(0, sighting.start - room), sighting.end + room
    start = start if start == 0 else _cut(rest, start, sighting.start)
    end = end if end >= len(rest) else rest.rfind(" ", sighting.end, end)
    end = end if end > 0 else sighting.end + room
    label = piece.text[: piece.lead] if start == 0 else ""
    return one_line(_GONE_RUN.sub(_SHOWN_GONE, label + rest[start:end])).strip()


def _cut(rest: str, start: int, end: int) -> int:
    """Where the first whole word behind `start` begins; `start` if there is none before `end`."""
    blank = rest.find(" ", start, end)
    return start if blank < 0 else blank + 1
