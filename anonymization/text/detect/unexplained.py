"""What of a text is not explained: words of no list, codes, long numbers (level `strict`).

Masking finds what it knows. Here it is the other way round: what remains of a text has to be
something known, and the rest is masked. Words in Latin letters and numbers are looked at; Han
characters and kana are words of `unexplained_han`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from anonymization.text.contracts import UNEXPLAINED, EntityType, Finding
from anonymization.text.detect.explained import (
    is_amount,
    is_code,
    is_known_lead,
    is_measured,
    is_opaque,
    is_plain,
)
from anonymization.text.detect.wording import honoured, is_chosen, is_known, is_meant, words
from data.text.screened import Screened
from data.text.scripts import CJK, HAN, KANA, has_kana

_NAMES = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION})
_SCORE = 0.55
_ATOM = rf"[^\W{CJK}]+"
_CHAIN = re.compile(rf"{_ATOM}(?:(?:[-./#:@+]|,(?=\d{{3}}(?!\d))){_ATOM})*")
_ATOMS = re.compile(_ATOM)
_SEGMENT = re.compile(r"[^/#:@+]+")
_PART = re.compile(
    r"[A-ZÀ-ÖØ-Þ]{2,}(?=[A-ZÀ-ÖØ-Þ][a-zß-ÿ])|[A-ZÀ-ÖØ-Þ]+(?![a-zß-öø-ÿ])"
    r"|[A-ZÀ-ÖØ-Þ]?[^\W\d_A-ZÀ-ÖØ-Þ]+|\d+"
)
_SITES = frozenset(
    label
    for host in words("words.toml", "public_hosts")
    for label in host.split(".")
    if len(label) > len("com")
) | {"example", "localhost"}
_COLOUR = re.compile(r"[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?")
_NOBODY = words("known_words.toml", "japanese_nobody")
_PIECE = re.compile(r"[^_]+")
# Numbers and codes in groups: at least eight digits, or capitals and digits in turn.
_GROUPS = Screened(
    r"(?<![A-Za-z0-9_.,:/+-])(?:[+(]{0,2}\d{1,6}\)?(?:[ -]\d{2,6}){1,5}|\d(?:[ -]\d){7,18})"
    r"(?![A-Za-z0-9_/]|:\d|[.,]\d)"
)
_DOTS = Screened(r"(?<![\w.])\d{2,5}(?:[・·‧.]\d{3,5}){2,3}(?![\w.])")
_TURNS = Screened(
    r"(?<![\w.-])[A-Z]{1,4}\d{0,4}(?: [A-Z]{0,4}\d{1,6}[A-Z]{0,4}){0,5}(?: [A-Z]{1,4}\d{0,4})?"
    r"(?![\w-])"
)
# A host of a domain that is not widely known, without the end of its name.
_HOST = Screened(
    r"(?<![\w@./-])(?:(?:[a-z0-9-]+\.)+[a-z0-9-]+(?=\.(?:com|net|org|cn|jp|de|fr|uk)(?![\w(.-]))"
    r"|(?:[a-z0-9-]+\.)+[a-z0-9-]{3,}(?=\.(?:io|ai|dev|app|co|local|lan|corp|internal)(?![\w(.-]))"
    r"|[a-z0-9-]{4,}(?=\.(?:com|net|org|cn)(?![\w(.-])))"
)
_SPELLED = Screened(r"(?<![\w-])[A-Za-z](?:-[A-Za-z]){3,}(?![\w-])")
_PASSWORD = Screened(
    r"(?<![^\s\"'`:=(])(?=[^\s\d]{0,30}\d)(?=[A-Za-z0-9_-]{0,30}[!$^&*~#?])[A-Za-z0-9][A-Za-z0-9_!$^&*~#?-]{6,30}"
    r"(?![^\s\"'`,;.)])"
)
_STREET = Screened(
    r"(?<![\w.])\d{1,5}[a-zA-Z]? (?:[A-Z][A-Za-z]+ ){1,3}(?i:Street|St|Road|Rd|Lane|Ln|Avenue|Ave"
    r"|Drive|Dr|Close|Court|Ct|Place|Pl|Parade|Terrace|Row|Way|Walk|Mews|Gardens|Crescent"
    r"|Boulevard|Blvd|Square|Hill|Rise|Grove|Green|Quay|Wharf|Yard|Circle|Trail|Park|View|Vale"
    r"|Gate|Passage|Alley|Fold|Steps|Croft|Meadow|Meadows|Bank|Drove|Brow|End|Chase)(?!\w)"
)
_YEARS = re.compile(r"(?:19|20)\d\d-(?:(?:19|20)\d\d|\d\d(?:-\d\d)?)")
_BIRTH = re.compile(
    r"(?<![\d.-])(?:19[2-9]\d|200\d)(?:([-/.])\d{1,2}\1\d{1,2}|年\d{1,2}月\d{1,2}日"
    r"|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?![\d-])"
)
_ESCAPED = re.compile(r"\\[nrtbfv](?=[A-Za-z])")
_NUMBERS = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PLATE = re.compile(r"[A-Z]{2}\d{2} [A-Z]{3}")
# A handle that is the whole value of a cell or key, and a name that is written in hiragana.
_WHOLE = re.compile(
    r"(?:\A|(?<=: ))(?P<v>[a-z]{2,}(?:_[a-z]{2,})+_?\d{2,4}|[ぁ-ゖー]{2,6}[ 　][ぁ-ゖー]{2,6}"
    rf"|[{HAN}]{{1,4}}[ 　](?![様殿君氏宛])[{HAN}](?=\Z| [様殿氏]))(?: [様殿氏])?\Z"
)
# In Japanese text: a family and a given name with a blank between them, and who is addressed.
_PAIRED = Screened(
    rf"(?<![{HAN}{KANA}])(?<![{HAN}][ 　])[{HAN}]{{1,4}}[ 　](?![様殿君氏宛])[{HAN}]"
    rf"(?![{HAN}{KANA}])(?![ 　][{HAN}])"
)
_ADDRESSED = Screened(
    rf"(?<![{HAN}{KANA}])(?:[{HAN}]{{1,4}}|[ぁ-ゖー]{{2,4}})(?=ちゃん|くん|さん|ママ|パパ)"
)
_FEWEST, _FEWEST_GROUPS = 8, 3  # digits of a number in groups, and groups
_PAIR, _FEW, _MANY = 2, 3, 6  # groups of a code, and digits in it
_LONG = 7  # digits from which a bare number needs an explanation


def find_unexplained(
    text: str, settled: Sequence[Finding], dictionary: frozenset[str]
) -> list[Finding]:
    """Findings of kind UNEXPLAINED beside `settled` (sorted); none without a dictionary."""
    if not dictionary:
        return []
    label, free = _label(text), _Free(settled)
    spans = [(*match.span(), EntityType.DATE) for match in _BIRTH.finditer(text)]
    for pattern, accepts in _GROUPED:
        spans += [
            (*match.span(), EntityType.UNEXPLAINED)
            for match in pattern.finditer(text)
            if accepts(match.group())
        ]
    if (whole := _WHOLE.search(text)) and not is_known_lead(whole["v"].partition("_")[0]):
        spans.append((*whole.span("v"), EntityType.UNEXPLAINED))
    if has_kana(text):
        spans += [(*match.span(), EntityType.UNEXPLAINED) for match in _PAIRED.finditer(text)]
        spans += [
            (*match.span(), EntityType.UNEXPLAINED)
            for match in _ADDRESSED.finditer(text)
            if honoured(match.group()) and match.group() not in _NOBODY
        ]
    plain = _ESCAPED.sub("  ", text)
    for chain in _CHAIN.finditer(plain):
        word = chain.group()
        if word.isalpha() and not _in_word(word, dictionary):
            continue  # most of a text, for which the steps below only cost time
        spans += (
            (start, end, EntityType.UNEXPLAINED)
            for start, end in _in_chain(chain, label, dictionary)
        )
    taken = 0
    beside: list[Finding] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= taken and free.at(start, end) and not _is_thing(text, start, end):
            beside.append(Finding(start, end, kind, UNEXPLAINED, _SCORE))
            taken = end
    return _joined(text, beside)


def _is_thing(text: str, start: int, end: int) -> bool:
    return is_chosen(text[start:end]) and is_meant(text, start, end)


def beside_codes(text: str, settled: Iterable[Finding]) -> list[Finding]:
    """The findings, with names cut to what is before and behind the codes in them."""
    kept: list[Finding] = []
    for finding in settled:
        start = finding.start
        chains = _CHAIN.finditer(text, start, finding.end) if finding.type in _NAMES else ()
        for code in (chain for chain in chains if is_code(chain.group())):
            kept += _trimmed(text, finding, start, code.start())
            start = code.end()
        kept += [finding] if start == finding.start else _trimmed(text, finding, start, finding.end)
    return kept


def _trimmed(text: str, finding: Finding, start: int, end: int) -> list[Finding]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return [replace(finding, start=start, end=end)] if end - start >= _PAIR else []


class _Free:
    def __init__(self, settled: Sequence[Finding]) -> None:
        self._settled = settled
        self._ends = [finding.end for finding in settled]

    def at(self, start: int, end: int) -> bool:
        """Does no finding overlap the span?"""
        index = bisect_left(self._ends, start + 1)
        return index == len(self._settled) or self._settled[index].start >= end


def _label(text: str) -> str:
    label, colon, _ = text.partition(": ")
    return label if colon and len(label) <= 40 else ""


def _in_chain(
    chain: re.Match[str], label: str, dictionary: frozenset[str]
) -> Iterator[tuple[int, int]]:
    whole = chain.group()
    is_colour = chain.string[max(0, chain.start() - 1) : chain.start()] == "#"
    if whole.isalpha() and not is_colour:
        offset = chain.start()
        yield from ((offset + start, offset + end) for start, end in _in_word(whole, dictionary))
        return
    if is_plain(whole) or (is_colour and _COLOUR.fullmatch(whole)):
        return
    if is_code(whole):
        yield chain.span()
        return
    segments = [part for part in _SEGMENT.finditer(whole) if is_code(part.group())]
    if segments and len(segments[0].group()) < len(whole):  # `hotfix/FB-3371`
        yield from ((chain.start() + p.start(), chain.start() + p.end()) for p in segments)
        return
    for atom in _ATOMS.finditer(whole):
        start = chain.start() + atom.start()
        word = atom.group()
        end = start + len(word)
        if word.isdigit():
            is_shown = is_plain(word) or is_amount(label) or is_measured(chain.string, start, end)
            if len(word) >= _LONG and not is_shown:
                yield start, end
        elif len(word) <= 256 and not is_plain(word):
            yield from ((start + first, start + last) for first, last in _in_atom(word, dictionary))


@lru_cache(maxsize=1 << 16)
def _in_word(word: str, dictionary: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """What nothing explains in a word of letters: most of a text, and of few different ones."""
    if len(word) > 256 or is_plain(word):
        return ()
    return tuple(_in_atom(word, dictionary))


def _in_atom(word: str, dictionary: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The parts of an identifier that nothing explains."""
    if is_known(word, dictionary) and not is_chosen(word):  # PostgreSQL
        return
    for piece in _PIECE.finditer(word):
        if is_opaque(piece.group()):
            yield piece.span()
            continue
        for part in _PART.finditer(word, *piece.span()):
            listed = part.group()
            if not listed[0].isdigit() and (not is_known(listed, dictionary) or is_chosen(listed)):
                yield part.span()


def _is_number(value: str) -> bool:
    """Is it a long number in groups, and no date, list of years or thousands?"""
    groups = _NUMBERS.findall(value)
    if sum(map(len, groups)) < _FEWEST or any(map(is_plain, (value, value.strip("(+)")))):
        return False
    if all(_YEAR.fullmatch(group) or len(group) == _PAIR for group in groups):
        return False  # years, or a year, a month and a day
    return "-" in value or value[0] in "+(0" or len(groups) >= _FEWEST_GROUPS


def _takes_turns(value: str) -> bool:
    """Do capitals and digits take turns in it, as in number plates and account numbers?"""
    groups = value.split(" ")
    digits = sum(map(str.isdigit, value))
    if len(groups) == _PAIR:  # WX19 KDO
        return _PLATE.fullmatch(value) is not None
    ends = (groups[0].isalpha() and groups[-1].isalpha()) or digits >= _MANY
    return len(groups) > _PAIR and digits >= _FEW and ends and not is_known_lead(groups[0])


def _is_own_host(name: str) -> bool:
    """Is none of its last labels a widely known site?"""
    return not any(label in _SITES for label in name.split(".")) and not name.isdigit()


_GROUPED: tuple[tuple[Screened, Callable[[str], bool]], ...] = (
    (_GROUPS, _is_number),
    (_DOTS, lambda value: not is_plain(value)),
    (_TURNS, _takes_turns),
    (_HOST, _is_own_host),
    (_SPELLED, lambda _: True),
    (_STREET, lambda _: True),
    (_PASSWORD, lambda value: sum(map(str.isalpha, value)) > 1),
)


def _joined(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """Words side by side as one finding: a name of several words."""
    joined: list[Finding] = []
    for finding in findings:
        last = joined[-1] if joined else None
        between = text[last.end : finding.start] if last else ""
        if (
            last
            and between in (" ", "-", "'", "’")
            and _named(text, last)
            and _named(text, finding)
        ):
            joined[-1] = Finding(last.start, finding.end, last.type, UNEXPLAINED, _SCORE)
        else:
            joined.append(finding)
    return joined


def _named(text: str, finding: Finding) -> bool:
    value = text[finding.start : finding.end]
    return value[0].isupper() and not any(map(str.isdigit, value))
