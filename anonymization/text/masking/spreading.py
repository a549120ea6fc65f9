"""Which values that were found in one file are replaced in the other files of a call.

The rule, for all files that are masked together: a value is replaced in a file if the file shows
it there (detection finds it, or it is a short form of a value of that file), or if it can be
nothing else wherever it stands: a name of several words, an e-mail address, a number or code that
is structured, a host, a login that is no word. A single word (an everyday word, a product, a role,
a given name) that one file made private stays in the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from anonymization.text.contracts import EntityType, Finding, Value, kinds
from anonymization.text.detect.wording import GIVEN_NAMES, is_known, is_program_word, words
from anonymization.text.known_values import bare_firm, short_forms
from anonymization.text.masking.known_search import (
    Occurrence,
    is_distinctive,
    is_masked_everywhere,
)
from anonymization.text.masking.one_clock import OneClock
from anonymization.text.masking.pieces import Piece
from data.text.scripts import HAN

_LOGINS = kinds("ACCOUNT USER_PATH")
_ONE_FILE = -1  # of all texts that nothing keeps apart
CHINESE, JAPANESE, GERMAN = "zh", "ja", "de"
_SMALL_WORD = re.compile(r"(?<![\w.@-])[a-zäöüß]{2,6}(?![\w@-])")
_KANA, _OF_HAN = re.compile("[ぁ-ゖァ-ヺ]"), re.compile(rf"[{HAN}]")
_OF_GERMAN, _OF_ENGLISH = (words("languages.toml", language) for language in ("de", "en"))
_FEWEST_GERMAN = 4
_LEAST_KANA = 20  # Han characters to one of kana, at most, in a Japanese file
_BEFORE_BIRTH = 24  # characters before a date that may say so
_BIRTH = re.compile(r"(?i:(?<![a-z])(?:geb(?:oren)?|born|birth|birthday|dob))|生年月日|出生|誕生")
_SHORTEST_LOGIN = 6  # letters; a shorter one may be a name in the code


def is_unmistakable(kind: EntityType, value: str, dictionary: frozenset[str]) -> bool:
    """Can a value be nothing else, in whichever file it stands?"""
    if is_distinctive(kind, value):
        return True
    if not is_masked_everywhere(kind, value):
        return False
    if any(map(str.isdigit, value)) or (kind in _LOGINS and "." in value):
        return True
    is_login = kind in _LOGINS and value.isalpha() and len(value) >= _SHORTEST_LOGIN
    is_word = is_known(value, dictionary) or is_program_word(value)
    return is_login and not is_word and value.title() not in GIVEN_NAMES


def _language(text: str) -> str:
    kana, han = len(_KANA.findall(text)), len(_OF_HAN.findall(text))
    if kana * _LEAST_KANA > han:
        return JAPANESE if kana > 1 else ""
    if han > _LEAST_KANA:
        return CHINESE
    times = Counter(_SMALL_WORD.findall(text.casefold()))
    german, english = (sum(times[word] for word in of) for of in (_OF_GERMAN, _OF_ENGLISH))
    return GERMAN if german >= _FEWEST_GERMAN and german > english else ""


def _is_birth(piece: Piece, finding: Finding) -> bool:
    """Does a label or a word before a date say that it is one of birth?"""
    start = piece.lead + finding.start
    before = piece.text[max(0, start - _BEFORE_BIRTH) : start]
    return _BIRTH.search(before if "\n" not in before else before.rpartition("\n")[2]) is not None


class Spreading:
    """The files of a call, and the values that each of them shows; without files all spread."""

    def __init__(self, dictionary: frozenset[str]) -> None:
        self._dictionary = dictionary
        self._files: dict[Piece, set[int]] = {}
        self._pieces: list[dict[Piece, None]] = []
        self._shown: dict[int, set[str]] = {}
        # Words before the sign of e-mail addresses, each with its file.
        self._addressed: set[tuple[int, str]] = set()
        self._clock = OneClock()
        self._languages: dict[int, str] = {}

    def add_file(self, file: int, pieces: Iterable[Piece]) -> None:
        """The pieces stand in the file of this number; the next new file has the next one."""
        if file == len(self._pieces):
            self._pieces.append({})
        for piece in pieces:
            self._pieces[file].setdefault(piece)
            self._files.setdefault(piece, set()).add(file)
        self._shown.clear()
        self._languages.pop(file, None)

    def languages_of(self, piece: Piece) -> Iterator[str]:
        """Chinese, Japanese or German, for each file of a piece that is in one of them."""
        for file in self._files.get(piece, ()):
            if file not in self._languages:
                self._languages[file] = _language(
                    "\n".join(each.text for each in self._pieces[file])
                )
            if self._languages[file]:
                yield self._languages[file]

    def clear(self) -> None:
        """There are new values: what files show is no longer known."""
        self._shown.clear()

    def _files_of(self, piece: Piece) -> Iterable[int]:
        """The files in which a piece stands; none where nothing keeps them apart."""
        return self._files.get(piece, ()) if len(self._pieces) > 1 else ()

    def files_of(self, piece: Piece) -> Iterable[int]:
        """The numbers of the files in which a piece stands; one for all where none is known."""
        return self._files.get(piece) or (_ONE_FILE,)

    def address(self, piece: Piece, words: Iterable[str]) -> None:
        """An e-mail address in the piece has these words before its sign."""
        words = [word.casefold() for word in words]
        for file in self._files_of(piece) or (_ONE_FILE,):
            self._addressed.update((file, word) for word in words)

    def is_addressed(self, piece: Piece, word: str) -> bool:
        """Does an address in the same file have the word, in small letters?"""
        files = self._files_of(piece) or (_ONE_FILE,)
        return any((file, word) in self._addressed for file in files)

    def watch(self, piece: Piece, findings: Iterable[Finding]) -> None:
        """Learn the dates of the file in which a piece stands, and what joins it to others."""
        self._clock.watch(piece, findings, self._files.get(piece, ()))

    def moving(self, piece: Piece, findings: Iterable[Finding]) -> list[Finding]:
        """The findings without the dates that would contradict others that stay."""
        files = self._files.get(piece, ())
        return [
            finding
            for finding in findings
            if finding.type is not EntityType.DATE
            or _is_birth(piece, finding)
            or self._clock.moves(finding, piece.value[finding.start : finding.end], files)
        ]

    def year_of(self, piece: Piece, date: str) -> int | None:
        """The usual year of the file, for a date that has none itself."""
        return self._clock.year_of(self._files.get(piece, ()), date)

    def years(self) -> frozenset[str]:
        """The years that dates of the files name."""
        return self._clock.years()

    def has_still_dates(self, piece: Piece) -> bool:
        """Do dates of the files in which a piece stands stay?"""
        return self._clock.is_stopped(self.files_of(piece))

    def still_values(
        self, pieces: Iterable[Piece], findings: Mapping[Piece, Iterable[Finding]]
    ) -> Iterator[str]:
        """The values in files whose dates stay."""
        for piece in filter(self.has_still_dates, pieces):
            for each in findings[piece]:
                yield piece.value[each.start : each.end]

    def values_of_files(
        self, pieces: Iterable[Piece], findings: Mapping[Piece, Iterable[Finding]]
    ) -> Iterable[set[Value]]:
        """The values of each file."""
        by_file: dict[int, set[Value]] = {}
        for piece in pieces:
            values = {(each.type, piece.value[each.start : each.end]) for each in findings[piece]}
            for file in self.files_of(piece):
                by_file.setdefault(file, set()).update(values)
        return by_file.values()

    def pieces_of(self, file: int) -> Iterable[Piece]:
        """The pieces of the file of this number; none where nothing keeps them apart."""
        return self._pieces[file] if 0 <= file < len(self._pieces) else ()

    def keeps_dates(self, file: int) -> bool:
        """Do the dates of the file of this number stay on purpose, but for those of birth?"""
        return self._clock.is_stopped([file])

    def unmistakable(self, hits: Iterable[Occurrence]) -> Iterator[Value]:
        """The values of hits that can be nothing else."""
        for hit in hits:
            if is_unmistakable(hit.type, hit.value, self._dictionary):
                yield hit.type, hit.value

    def reaches(
        self, piece: Piece, hit: Occurrence, values_in: Callable[[Piece], Iterable[Value]]
    ) -> bool:
        """Is a known value replaced in a piece? `values_in` gives those that a piece shows."""
        files = self._files_of(piece)
        if not files or is_unmistakable(hit.type, hit.value, self._dictionary):
            return True
        return any(hit.value in self._shown_in(file, values_in) for file in files)

    def _shown_in(self, file: int, values_in: Callable[[Piece], Iterable[Value]]) -> set[str]:
        if file not in self._shown:
            values = {pair for piece in self._pieces[file] for pair in values_in(piece)}
            shown = {value for _, value in values}
            for kind, value in values:
                shown.update(self._short(kind, value))
            self._shown[file] = shown
        return self._shown[file]

    def _short(self, kind: EntityType, value: str) -> Sequence[str]:
        """The short forms of a person, and a firm's name without its legal form."""
        if kind is EntityType.PERSON:
            return [form for _, form in short_forms(value, self._dictionary)]
        bare = bare_firm(value, self._dictionary) if kind is EntityType.ORGANIZATION else ""
        return [bare] if bare else []
