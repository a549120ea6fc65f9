"""Which words of a masked text are worth a look: all that are not explained beyond doubt.

Masking at level `strict` asks what a word most likely is. Here the question is what it could be:
`pebble` is a word of the dictionary, and may be a nickname. Words of the dictionary are written in
small letters, whatever letters they stand in, so that each is looked at once. Codes of everyday
words and digits are passphrases; words that nobody and nothing is called are listed for nobody.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from anonymization.text.contracts import Edit
from anonymization.text.detect.explained import is_amount, is_known_lead, is_measured, is_plain
from anonymization.text.detect.wording import COMMON, is_chosen, is_known, is_program_word, words
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.words_review import Why
from data.text.dates import YEAR
from data.text.lexicon import load_table, pattern_of
from data.text.scripts import HAN_KANA

_TABLE = {
    key: frozenset(text.split()) for key, text in load_table(__package__, "everyday.toml").items()
}
_EVERYDAY, _OFFICE = _TABLE["nouns"] | _TABLE["others"], _TABLE["office"]
_SMALL = words("words.toml", "function_words")
_NAMES = (
    words("known_words.toml", "names_too")
    | frozenset(name.lower() for name in words("names.toml", "given"))
    | _TABLE["doubtful"]
)
_WORDS_TOO = words("words.toml", "small_words_too")
_COMMON = frozenset(word.lower() for word in COMMON)
# How words of a sentence end that name an act, a quality or a manner.
_ENDINGS = (
    "tion", "tions", "sion", "sions", "ness", "ment", "ments", "ity", "ities", "ance", "ence",
    "ency", "ancy", "able", "ible", "ive", "ous", "ical", "ism",
)  # fmt: skip
_INFLECTED = ("ed", "ing", "ly")
_SHORT_WORD, _STEM = 2, 5  # letters


@dataclass(frozen=True, slots=True)
class English:
    """Words of the English dictionary in small letters; those that name things, the others, and
    those that every reader of texts has seen."""

    dictionary: frozenset[str]
    nouns: frozenset[str]
    doing: frozenset[str]
    usual: frozenset[str] = frozenset()


@lru_cache(maxsize=1 << 17)
def _is_beyond_doubt(word: str, english: English, stands_out: bool) -> bool:
    """Can the word, or part of an identifier, only mean what the dictionary says?

    `stands_out` says that it stands in a cell, a key or a name of several words, or has a capital
    inside a sentence: there names count that are everyday words (`will`, `mark`).
    """
    small = word.lower()
    if small in _SMALL:
        return True
    if len(word) <= _SHORT_WORD:
        return not (word.istitle() and stands_out)
    if is_chosen(word):
        return False
    if small in _WORDS_TOO:
        return not stands_out and word.islower()
    if small in _NAMES:
        return False
    if small in _EVERYDAY or small in _COMMON or is_program_word(word):
        return True
    if not is_known(word, english.dictionary):
        return False
    if small.endswith(_INFLECTED) and small not in english.nouns:  # `fetched`, no `pudding`
        return True
    if not stands_out and small.endswith("ing") and _is_doing(small, english.doing):
        return True
    if not small.endswith("y") and not _is_noun(small, english.nouns):  # `consider`, `highest`
        return not stands_out
    return not stands_out and len(word) > _STEM and small.endswith(_ENDINGS)


def _is_doing(small: str, doing: frozenset[str]) -> bool:
    """Is it the form of a verb that ends in -ing?"""
    stem = small.removesuffix("ing")
    return stem in doing or f"{stem}e" in doing or (stem[-1:] == stem[-2:-1] and stem[:-1] in doing)


def _is_noun(small: str, nouns: frozenset[str]) -> bool:
    singulars = (small.removesuffix("s"), small.removesuffix("es"))
    return small in nouns or any(singular in nouns for singular in singulars)


def _is_common(word: str) -> bool:
    """Is it a small word, a word of headings and forms, or a word of programs?"""
    small = word.lower()
    if small in _NAMES or small in _WORDS_TOO or is_chosen(word):
        return False
    return small in _SMALL or small in _COMMON or len(word) <= _SHORT_WORD or is_program_word(word)


def _is_office_word(word: str) -> bool:
    """Is it a word of the names that office programs give to fonts, styles and languages?"""
    return word.lower() in _OFFICE


_CELL = re.compile(r"\$?[A-Z]{1,3}\$?\d{1,7}")
_NO_SIGNS = str.maketrans("", "", "-#/")
_ATOM = re.compile(r"[A-Za-z0-9]+")
_DIGITS, PART_DIGITS, _FEW_DIGITS = 7, 5, 3  # of a number in parts, one of them, a code

_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|px|pt|em|rem|ms|s|m|h|d|k|kb|mb|gb|tb|kg|g|mg|km|cm|mm|x|v|w|hz|ghz|mhz"
    r"|fps|bn|y|f)|[a-z]{1,12}\d{1,2}",
    re.IGNORECASE,
)
_TIME_OR_SIZE = re.compile(
    r"\d\d?T\d\d|\b\d\dZ\b|\b\d+x\d+\b|(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d{5}"
)
_RANGE = re.compile(rf"{_CELL.pattern}:{_CELL.pattern}")
_ZEROS = frozenset("0-fFdD")  # of a UUID that says nothing
_CAPITALS = re.compile(r"[A-Z]{1,6}")
_GROUPS = re.compile(r"\d{1,4}(?:-\d{1,4}){2,}")  # `70-61-2`, an alarm code
_LETTERED = re.compile(r"[A-Z](?:-\d{2,6}){2,}")  # `Q-26-0118`, an order number and no quarter
_PASSPHRASE = re.compile(
    r"[A-Za-z]{3,20}(?:[-_.+][A-Za-z]{3,20}){1,4}[-_.+]?(?P<number>\d{2,4})"
    r"|(?P<first>\d{2,4})[-_.+][A-Za-z]{3,20}(?:[-_.+][A-Za-z]{3,20}){1,4}"
)
_DEFAULTS = frozenset({"sheet", "theme", "slide", "image", "table", "chart", "drawing", "item"})
_FEW = 3  # programs count on from 1: what has no others beside it and a larger number is chosen
_WORDED = re.compile(r"(?P<stem>[A-Za-z]{3,20})[-_]?(?P<number>\d{1,4})")
_LONG = re.compile(r"[A-Za-z]+\d{3,}|[A-Z]+[-_]\d{3,}")
_BETWEEN = re.compile(r"[A-Za-z]{3,20}\d{1,4}[A-Za-z]{3,20}")


def _says_nothing(chain: str) -> bool:
    """Is it a range of cells, a time, a size or a row of zeros?"""
    is_range = _RANGE.fullmatch(chain) or _TIME_OR_SIZE.search(chain)
    return is_range is not None or set(chain) <= _ZEROS


def _is_code_like(chain: str) -> bool:
    """May a chain of letters and digits be a number of somebody or something?"""
    if not chain.isdigit() and chain.translate(_NO_SIGNS).isdigit():
        is_grouped = _GROUPS.fullmatch(chain) is not None and not is_plain(chain)
        return sum(map(str.isdigit, chain)) >= (PART_DIGITS if is_grouped else _DIGITS)
    if _is_passphrase(chain) or _is_worded_code(chain) or _LETTERED.fullmatch(chain):
        return True
    atoms = _ATOM.findall(chain)
    odd = [atom for atom in atoms if not atom.isalpha() and not is_plain(atom)]
    if any(
        len(atom) >= PART_DIGITS if atom.isdigit() else not _MEASURE.fullmatch(atom) for atom in odd
    ):
        return True
    heads = [atom for atom in atoms if _CAPITALS.fullmatch(atom) and not is_known_lead(atom)]
    return bool(heads) and sum(map(str.isdigit, chain)) >= _FEW_DIGITS


def _is_passphrase(chain: str) -> bool:
    """Is it several words and a number that is no year: `word-Word-4711`?"""
    match = _PASSPHRASE.fullmatch(chain)
    return match is not None and not YEAR.fullmatch(match["number"] or match["first"])


def _is_worded_code(chain: str) -> bool:
    """Is it a word with a number behind or inside it, and no year or known series (`utf8`)?"""
    if _BETWEEN.fullmatch(chain):
        return True
    match = _WORDED.fullmatch(chain)
    if match is None or is_plain(chain) or is_known_lead(match["stem"]):
        return False
    is_default = _is_office_word(match["stem"]) or match["stem"].lower() in _DEFAULTS
    if is_default and int(match["number"]) <= _FEW:
        return False
    return not YEAR.fullmatch(match["number"])


_NUMBERED = re.compile(r"(?P<stem>[A-Za-z]{2,8}[-_/]?(?:(?:19|20)\d\d[-_/]?)?)(?P<number>\d{2,6})")
_MANY = 10  # codes of one stem, of which most count on: the numbers of papers in a table


def counted_on(chains: Iterable[str]) -> Iterator[str]:
    """The codes of a long series in which most are followed by the next number."""
    series: dict[tuple[str, int], dict[int, str]] = {}
    for chain in chains:
        match = _NUMBERED.fullmatch(chain)
        if match:
            of_width = series.setdefault((match["stem"], len(match["number"])), {})
            of_width[int(match["number"])] = chain
    for numbers in series.values():
        followed = sum(number + 1 in numbers for number in numbers)
        if len(numbers) >= _MANY and 2 * followed > len(numbers):
            yield from numbers.values()


def series_members(chains: Iterable[str]) -> Iterator[str]:
    """Those of the words with a number that only count on: `col1`, `col2`; no long numbers."""
    series: dict[str, dict[int, str]] = {}
    for chain in chains:
        match = _WORDED.fullmatch(chain)
        if match and not _LONG.fullmatch(chain):
            stem = chain[: match.start("number")]
            series.setdefault(stem, {})[int(match["number"])] = chain
    for numbers in series.values():
        yield from (chain for n, chain in numbers.items() if n - 1 in numbers or n + 1 in numbers)


GONE = "\0"  # stands for each character that masking has replaced


@dataclass(frozen=True, slots=True)
class Sighting:
    """A word or run of words, where it stands in a text, and why it is worth a look."""

    word: str
    start: int
    end: int
    why: Why


def whole_sighting(text: str, why: Why) -> Sighting:
    """A text as a whole, without the blanks around it."""
    word = text.strip()
    start = text.index(word)
    return Sighting(word, start, start + len(word), why)


def without(value: str, edits: Sequence[Edit]) -> str:
    """A text in which each character that masking replaces is GONE; offsets stay."""
    parts, at = [], 0
    for edit in edits:
        parts += [value[at : edit.start], GONE * (edit.end - edit.start)]
        at = edit.end
    return "".join([*parts, value[at:]])


# Names of a few everyday words that stand joined (`open-door`, `openDoor`), or name a file.

_JOINED = re.compile(r"(?<![\w-])[A-Za-z]{3,20}(?:[_-][A-Za-z]{3,20}){1,2}(?![\w-])")
_NAME = r"[A-Za-z]{3,20}(?:[_-][A-Za-z]{3,20}){1,3}"
_BRANCH = re.compile(
    r"(?:\b(?:features?|releases?|bugfix|hotfix|fix|chore|topic|origin|heads)/"
    r"|\b(?:branch|checkout|switch|merge|rebase)\b[\"']?(?: -[bcB])? ?[:=]? ?[\"']?)"
    rf"({_NAME})(?![\w-])"
)
_CAMEL = r"[A-Za-z][a-z]{2,19}[A-Z][a-z]{2,19}"
_KEY_NAME = rf"(?:{_CAMEL}|[a-z]{{3,20}}(?:[_-][a-z]{{3,20}}){{1,2}})"
_ONLY = re.compile(_KEY_NAME)
_KEY = re.compile(
    rf"(?m:^|(?<=[{{,;\[(<\"'])) *(?<!\w)({_KEY_NAME})[\"']?(?:: |:$|=(?=[\w\"'/]))"
    rf"|</?({_KEY_NAME})[ />]"
)
_TITLE = re.compile(r"(?<![^\W_])[^\W\d_]{2,20}(?:[ _-][^\W\d_]{2,20}){1,4}(?![^\W_])")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|(?![A-Za-z])[^\W\d_]+")
_SHORT_NAME = 2  # letters

Span = tuple[int, int]


def _joined_words(text: str) -> Iterator[Span]:
    """The words of a text that hyphens or underscores join."""
    yield from (match.span() for match in _JOINED.finditer(text))


def _branches(text: str) -> Iterator[Span]:
    """The joined words of a text that name a branch."""
    yield from (match.span(1) for match in _BRANCH.finditer(text))


def _keys(text: str) -> Iterator[Span]:
    """The joined words of a text that stand alone, or where keys and elements stand."""
    if _ONLY.fullmatch(text):
        yield 0, len(text)
    for match in _KEY.finditer(text):
        yield match.span(match.lastindex or 0)


def _titles(text: str) -> Iterator[Span]:
    """The runs of words in the name of a file."""
    yield from (match.span() for match in _TITLE.finditer(text))


def _is_titled(words: Sequence[str]) -> bool:
    """Do words of some length with a capital begin and end a run, as in `Open Door`?"""
    return all(word.istitle() and len(word) > _SHORT_NAME for word in (words[0], words[-1]))


def _parts_of(name: str) -> list[str]:
    """The words of such a name."""
    return _PART.findall(name)


_SHORT_PIECE, _LONG_CELL, _LONGEST_CODE, _SHORTEST = 40, 60, 40, 2  # characters
_L = rf"(?:(?![{HAN_KANA}])[^\W\d_])"
_CAPITALISED = rf"[A-Z](?:{_L}|['’&]){{0,30}}"
_QUOTED_WORD = rf"(?:{_L}|\d)(?:{_L}|[\d'’&.-]){{0,23}}"
_LINK = "(?:of|and|the|de|la|le|du|van|von|der|di|&) "
_RUN = pattern_of(
    rf"[\"“'‘](?P<quoted>{_QUOTED_WORD}(?: {_QUOTED_WORD}){{1,3}})[\"”'’]"
    rf"|(?<!{_L})(?P<names>{_CAPITALISED}(?: (?:{_LINK})?{_CAPITALISED}){{1,3}})"
    rf"|(?P<groups>(?<![\w.,+-])\+?\d{{2,5}}(?: \d{{2,5}}){{1,5}}(?![\w.,]))"
    rf"|(?P<code>(?<![A-Za-z0-9])(?=[A-Za-z._:/#-]{{0,30}}\d)[A-Za-z0-9]+(?:[-_.:/#][A-Za-z0-9]+)*)"
    rf"|(?P<word>{_L}+(?:['’]{_L}+)?)"
)
WORD = pattern_of(rf"{_L}+")
_TAIL = pattern_of(r"['’](?:s|t|re|ve|ll|d|m)\Z", re.IGNORECASE)
_HUMP = pattern_of(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MID_SENTENCE = pattern_of(r"[a-z0-9,;:)\"'] \Z")
_LINE_START = pattern_of(r"(?:^|[\r\n|>])[ \t]*(?:[-*#+•>]{1,6}|\d{1,2}[.)])?[ \t*_\"“'‘(\[]*\Z")
_MARKS = 16  # characters before the first word of a line: of a list, a heading, a quote
_COLOUR = pattern_of(r"(?=.*[a-fA-F])(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_VALUE = pattern_of(rf"{_L}+(?:[ _.-]{_L}+){{0,2}}")
_MONEY = pattern_of(
    r"(?<![A-Za-z\d_])(?<!\d[.,])(?:[$€£¥￥] ?\d[\d,.]{2,14}\d(?![\d%])"
    r"|\d[\d,.]{2,14}\d ?(?:元|円|€|EUR|USD|CNY|JPY|GBP))"
)
_CALLED = pattern_of(
    r"\b(?i:called|named|code ?names?|codenamed|nicknames?d?|alias|dubbed|known as|goes by|aka):? "
    r"[\"'“‘]?([A-Za-z]{2,20})"
)
_GOES_ON = pattern_of(r"(?:['’]s)?[,;]? [a-z(]")
_IDENTIFIER = pattern_of(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{8}")
_POINTER = pattern_of(r"components/schemas/\w+")
_ZERO_LED = pattern_of(r"0\d{1,4}-\d{3,5}")


def is_field(piece: Piece, rest: str) -> bool:
    """Does a text stand under a label, or is it as short as a cell or a heading?"""
    return len(rest) <= (_LONG_CELL if piece.lead else _SHORT_PIECE)


def sightings(
    piece: Piece,
    rest: str,
    english: English,
    private: frozenset[str] = frozenset(),
    is_title: bool = False,
) -> Iterator[Sighting]:
    """What is worth a look in Latin letters and digits in `rest`, what masking left of a piece.

    An identifier is shown by its parts, and as a whole if one of them is `private`, or if it is a
    name of a few everyday words. `is_title` says that the piece is the name of a file.
    """
    reader = _Reader(piece, rest, english, private, is_title)
    yield from reader.whole()
    for match in _RUN.finditer(rest):
        if reader.is_in_phrase(*match.span()):
            continue
        if match["code"]:
            yield from reader.code(match)
        elif match["groups"]:
            yield from reader.groups(match)
        elif match["word"]:
            yield from reader.word(*match.span("word"), reader.in_field)
        else:
            yield from reader.run(match, "quoted" if match["quoted"] else "names")


class _Reader:
    """Reads one text; programs name fonts and styles in those that are `of_format`."""

    def __init__(
        self, piece: Piece, rest: str, english: English, private: frozenset[str], is_title: bool
    ) -> None:
        self._text, self._english, self._private = rest, english, private
        self._label = piece.label
        self._is_inner = piece.accepts is not FindingFilter.ALL  # names of the format's own
        self._of_format = piece.accepts is FindingFilter.PROVEN
        self._is_value = bool(piece.lead) and piece.accepts is FindingFilter.ALL
        self._is_title = is_title
        self.in_field = is_field(piece, rest)
        self._phrases = [] if self._of_format else sorted(set(self._joined()))

    def is_in_phrase(self, start: int, end: int) -> bool:
        """Does a span lie in a name of a few words that is shown as a whole?"""
        at = bisect_right(self._phrases, (start, len(self._text))) - 1
        return at >= 0 and end <= self._phrases[at][1]

    def whole(self) -> Iterator[Sighting]:
        """What everyday words make together: a value of a few words under a label, a name such as
        `claims_batch` or `openDoor`, an amount of money, and what a sentence names."""
        if self._of_format:
            return
        value = self._text.strip()
        is_value = self._is_value and len(value) <= _SHORT_PIECE and _VALUE.fullmatch(value)
        if (
            is_value
            and self._is_uncommon(value)
            and not any(self._in_doubt(word, True) for word in WORD.findall(value))
        ):
            yield whole_sighting(self._text, Why.FIELD)
        for start, end in self._phrases:
            yield Sighting(self._text[start:end], start, end, Why.FIELD)
        for match in _MONEY.finditer(self._text):
            yield Sighting(match.group(), *match.span(), Why.CODE)
        for match in _CALLED.finditer(self._text):
            if not _is_common(match[1]):
                yield Sighting(match[1], *match.span(1), Why.NAME)

    def _joined(self) -> Iterator[tuple[int, int]]:
        """The spans of names of a few words: of files and branches, in keys, and logins."""
        yield from _branches(self._text)
        named = [*_keys(self._text), *(_titles(self._text) if self._is_title else ())]
        for start, end in named:
            parts = _parts_of(self._text[start:end])
            is_odd = not all(map(self._is_explained, parts))  # then its parts are shown
            if not is_odd and not all(map(_is_common, parts)):
                yield start, end
        for start, end in _joined_words(self._text):
            parts = _parts_of(self._text[start:end])
            is_odd = any(self._in_doubt(part, True) for part in parts)
            is_header = self._text[start:end].istitle() and self._text.startswith(":", end)
            if not (is_odd or is_header) and not any(map(_is_common, parts)):
                yield start, end

    def _is_uncommon(self, words: str) -> bool:
        return not all(map(_is_common, WORD.findall(words)))

    def run(self, match: re.Match[str], group: str) -> Iterator[Sighting]:
        """A run of words: as a whole if a sentence has it or a word is unknown, else its words."""
        start = match.start(group)
        run = _TAIL.sub("", match[group])
        end = start + len(run)
        parts = list(WORD.finditer(self._text, start, end))
        if not parts:  # figures in quotes
            return
        doubts = [part.group() for part in parts if self._in_doubt(part.group(), True)]
        is_unknown = not all(map(self._is_explained, doubts))
        is_name = self._is_mid(match.start()) or (group == "names" and self._is_apart(start))
        is_run = (
            is_name
            and not self._of_format
            and (self._is_uncommon(run) or _is_titled([part.group() for part in parts]))
        )
        if is_unknown or (is_run and (doubts or len(parts) > 1)):
            yield Sighting(run, start, end, self._why_run(run, group, is_unknown))
            return
        is_heading = group == "names" and not _GOES_ON.match(self._text, end)
        for part in parts:
            yield from self.word(*part.span(), True, is_heading)

    def word(
        self, start: int, end: int, stands_out: bool, is_heading: bool = False
    ) -> Iterator[Sighting]:
        """A word; one of the dictionary in small letters, but for capitals inside a sentence."""
        word = _TAIL.sub("", self._text[start:end])
        end = start + len(word)
        is_name = word[:1].isupper() and self._is_mid(start) and not is_heading
        is_titled = is_name and word.istitle() and not (self._of_format or _is_common(word))
        if len(word) < _SHORTEST or not (is_titled or self._in_doubt(word, is_name or stands_out)):
            return
        if not self._is_explained(word):
            yield Sighting(word, start, end, Why.UNKNOWN)
            return
        if self._of_format:
            return
        is_usual = word.lower() in self._english.usual
        if is_usual and self._text[max(0, start - 2) : start] == ": ":
            is_name = False  # a sentence begins behind a label
        why = Why.NAME if is_name else Why.FIELD if stands_out else Why.WORD
        humps = _HUMP.findall(word) if word.isascii() else []
        if len(humps) == 1:
            yield Sighting(word if is_name else word.lower(), start, end, why)
        elif not self._private.isdisjoint(hump.lower() for hump in humps):
            yield Sighting(word, start, end, why)
        else:
            doubts = (hump for hump in humps if not _is_beyond_doubt(hump, self._english, True))
            for hump in doubts:
                yield Sighting(hump.lower(), start, end, Why.FIELD)

    def code(self, match: re.Match[str]) -> Iterator[Sighting]:
        """The words in a chain of letters and digits, and the chain if it may be a number of
        somebody or something."""
        chain = match.group()
        is_long = chain.isdigit() and len(chain) >= PART_DIGITS  # such are plain only as amounts
        if _POINTER.fullmatch(chain):
            return
        if self._is_inner and (chain.isdigit() or _IDENTIFIER.fullmatch(chain)):
            return
        if self._of_format or (is_plain(chain) and not (is_long or _ZERO_LED.fullmatch(chain))):
            return
        for word in WORD.finditer(self._text, *match.span()):
            yield from self.word(*word.span(), self.in_field)
        if len(chain) > _LONGEST_CODE:
            atoms = (atom for atom in _ATOM.finditer(self._text, *match.span()))
            yield from (Sighting(a.group(), *a.span(), Why.CODE) for a in atoms if self._is_code(a))
        elif self._is_code(match):
            yield Sighting(chain, *match.span(), Why.CODE)

    def groups(self, match: re.Match[str]) -> Iterator[Sighting]:
        """A number in groups, unless it is a row of years, a date and time, or an amount."""
        parts = match.group().split(" ")
        are_years = all(YEAR.fullmatch(part) or len(part) == _SHORTEST for part in parts)
        is_long = sum(map(str.isdigit, match.group())) >= _DIGITS
        if is_long and not are_years and not self._is_amount(match):
            yield Sighting(match.group(), *match.span(), Why.CODE)

    def _is_amount(self, match: re.Match[str]) -> bool:
        return is_amount(self._label) or is_measured(self._text, *match.span())

    def _is_code(self, match: re.Match[str]) -> bool:
        chain = match.group()
        before = self._text[max(0, match.start() - 1) : match.start()]
        is_colour = _COLOUR.fullmatch(chain) and (self.in_field or before == "#")
        is_cell = self._is_inner and _CELL.fullmatch(chain)
        if is_colour or is_cell or _says_nothing(chain):
            return False
        if chain.replace(".", "").isdigit():
            is_number = "." not in chain and len(chain) >= PART_DIGITS
            return is_number and not chain.endswith("000") and not self._is_amount(match)
        return _is_code_like(chain)

    def _why_run(self, run: str, group: str, is_unknown: bool) -> Why:
        if is_unknown:
            return Why.UNKNOWN
        if group != "names":
            return Why.QUOTED
        return Why.NAME if self._is_uncommon(run) else Why.PHRASE

    def _is_apart(self, start: int) -> bool:
        """Does a name stand in a field, or at the start of a line?"""
        before = max(0, start - _MARKS)
        return self.in_field or _LINE_START.search(self._text, before, start) is not None

    def _is_mid(self, start: int) -> bool:
        return _MID_SENTENCE.search(self._text, max(0, start - 3), start) is not None

    def _in_doubt(self, word: str, stands_out: bool) -> bool:
        """Could the word be what somebody or something is called?"""
        if self._of_format and _is_office_word(word):
            return False
        humps = _HUMP.findall(word) if word.isascii() else [word]
        if self._of_format:
            humps = [hump for hump in humps if not _is_office_word(hump)]
        return not all(_is_beyond_doubt(hump, self._english, stands_out) for hump in humps)

    def _is_explained(self, word: str) -> bool:
        if is_chosen(word):
            return False
        humps = _HUMP.findall(word) if word.isascii() else [word]
        return all(is_known(hump, self._english.dictionary) for hump in humps)
