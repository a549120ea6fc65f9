"""Words that only look like names: keywords and declared identifiers of code, property names of
calendars and contact cards, names of URL parameters, type faces, contractions such as `I'm`,
methods that are called after people, well-known products, time zones, standards, laws with their
year, and functions of spreadsheets.

Replacing them would break the file. What remains of a finding beside them stays a finding.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.methods import find_methods
from anonymization.text.detect.wording import words
from data.text.lexicon import trie_pattern

_NAMES = frozenset(
    {
        EntityType.PERSON,
        EntityType.ORGANIZATION,
        EntityType.LOCATION,
        EntityType.URL,
        EntityType.ACCOUNT,
        EntityType.TITLE,
    }
)
_KEYED = _NAMES | {EntityType.ADDRESS, EntityType.UNEXPLAINED}
_CODE = re.compile(
    r"(?m)^[ \t]*(?:package[ \t]+[\w.]+[ \t]*;?[ \t]*\r?$"
    r"|(?:(?:public|private|protected|static|final|abstract|export|default|async|sealed|internal)"
    r"[ \t]+){0,4}(?:class|interface|enum|struct|record|trait|namespace|func|function|def|fn)"
    r"[ \t]+\w+(?=[ \t]*(?:[({:<;]|extends\b|implements\b)))"
)
_PROPERTY = re.compile(r"(?m)^[A-Z][A-Z-]{0,30}(?=[;:])")
_PARAMETER = re.compile(r"(?<=[?&;])[A-Za-z_][\w.\[\]-]{0,40}=")
_CONTRACTION = re.compile(
    r"(?i)(?<![a-z'’])(?:I['’](?:m|ve|d|ll)|(?:you|we|they)['’](?:re|ve|d|ll)"
    r"|(?:he|she|it|that|there|who|what)['’](?:s|d|ll)|(?:do|does|did|ca|wo|is|are|was)n['’]t)"
    r"(?![a-z])"
)
# A label is no name, though unknown words and Han characters may look like one.
_LABEL = re.compile(
    r"マイナンバー|個人番号|フリガナ|(?<![a-zA-Z])(?:WLAN-|Wifi-|Login-|E-Mail-)?(?:Passwort|Kennwort"
    r"|Zugangscode|Zugangsdaten|Zugang|Benutzername|Mot de passe)(?![a-z])"
)
# Type faces, which office programs write into every file; they have words of names in them.
TYPE_FACE = re.compile(
    r"(?<![A-Za-z0-9_])(?:Times New Roman|Courier New|Comic Sans MS|Trebuchet MS"
    r"|Book Antiqua|Bookman Old Style"
    r"|Palatino Linotype|Century (?:Gothic|Schoolbook)|Franklin Gothic(?: Medium| Book)?"
    r"|Gill Sans(?: MT)?|Lucida (?:Console|Sans Unicode|Sans|Grande)|Segoe UI(?: Symbol)?"
    r"|Arial (?:Black|Narrow|Unicode MS)|Calibri Light|Cambria Math|Helvetica Neue"
    r"|Microsoft (?:YaHei(?: UI)?|JhengHei|Sans Serif|Himalaya|Uighur|Yi Baiti)"
    r"|Yu (?:Gothic|Mincho)"
    r"|MS (?:Gothic|Mincho|PGothic|PMincho)|Malgun Gothic|Noto (?:Sans|Serif)(?: CJK)?"
    r"|Open Sans|Liberation (?:Sans|Serif|Mono)|DejaVu Sans(?: Mono)?)"
    r"(?![A-Za-z0-9_]| (?!Bold|Italic|Regular|Light)[A-Z][a-z])"
)
# Sayings, and products with their number or model: `Raspberry Pi 4 Model B`.
PHRASE = re.compile(
    rf"(?<![\w-])(?:{trie_pattern(words('known_words.toml', 'phrases'))})"
    r"(?: \d{1,4}(?:\.\d{1,3}){0,2}(?!\w))?(?: (?:Model|Pro|Max|Plus|Mini|LTS)(?: [A-Z](?!\w))?)?"
    r"(?![\w-])"
)
_PUBLIC = re.compile(
    r"(?<![\w/])(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][A-Za-z_]+"
    r"(?:/[A-Z][A-Za-z_]+)?(?![\w/])"
    r"|(?<![A-Za-z-])(?:RFC|ISO|IEC|IEEE|DIN|EN|GB/T|JIS|RAL|NF|PEP|WCAG|Pantone)"
    r"(?: (?:EN|ISO|IEC|[A-Z]))? \d[\d.:/-]{0,12}(?: [CU](?!\w))?(?!\w)"
    r"|(?<!\w)(?:Articles?|Art\.|Sections?|§§?) ?(?:[A-Z]\. ?)?\d[\d./-]{0,8}"
    r"(?: §§? ?\d{1,3})?(?!\w)"
    r"|(?<![\w.])(?:[VHX]?LOOKUP|SUM(?:IFS?|PRODUCT)|(?:COUNT|AVERAGE|MAX|MIN)IFS?|IF(?:ERROR|NA|S)"
    r"|INDEX|MATCH|INDIRECT|OFFSET|TEXTJOIN|CONCAT(?:ENATE)?|ARRAYFORMULA|QUERY|IMPORTRANGE"
    r"|DATEDIF|NETWORKDAYS|EOMONTH|XNPV|XIRR|SUBTOTAL|AGGREGATE|UNIQUE|FILTER|SORTBY)(?=\()"
)
# A law with its year, whose words are nobody's names.
_ACT = re.compile(
    r"(?<![\w-])[A-Z][a-z]+(?:(?: and| of(?: the)?| at)? [A-Z][a-z]+){0,5} Act,?"
    r" (?:18|19|20)\d\d(?!\d)"
)
_LATIN = re.compile("[A-Za-zÀ-ɏ]")
_GIVEN = words("names.toml", "given")


def _fixed(text: str) -> Iterator[tuple[int, int]]:
    patterns = [_CODE, _LABEL, TYPE_FACE, PHRASE, _PUBLIC]
    patterns += [_PROPERTY] if "BEGIN:V" in text else []
    patterns += [_PARAMETER] if "=" in text else []
    patterns += [_CONTRACTION] if "'" in text or "’" in text else []
    for pattern in patterns:
        yield from (match.span() for match in pattern.finditer(text))
    yield from find_methods(text)
    for match in _ACT.finditer(text) if " Act" in text else ():
        if _GIVEN.isdisjoint(match.group().split()):
            yield match.span()


# What stands directly before a mark of assignment is a key: `buyer=Ann Lee phone=…`.
_ASSIGNED = re.compile(r"[ \t]{0,2}(?:=(?![=>])|[:：](?![:/\\]))")
_LAST_WORD = re.compile(r"[ \t\u3000]+(?P<key>[^\s=:：\"']{1,40})\Z")
_VALUE = re.compile(r"[=:：][ \t]{0,2}[\"'「]?\Z")
_PAIRS = re.compile(r"[^\s=]=[^=\s]")
_READ_KEYS = frozenset({"spacy", "lac", "sudachi"})  # what a model calls a name
_LINE = 400  # characters of a line that are looked at on either side


def without_keys(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings without the key of the next pair: it was taken for the end of a name."""
    for finding in findings:
        mark = _ASSIGNED.match(text, finding.end) if finding.type in _KEYED else None
        if mark is None:
            yield finding
            continue
        key = _LAST_WORD.search(text, finding.start, finding.end)
        is_assigned = mark.group().strip() == "="
        is_value = _VALUE.search(text, max(0, finding.start - 4), finding.start) is not None
        if key is not None and (is_assigned or is_value):
            yield replace(finding, end=key.start())
        elif not (is_assigned and finding.recognizer in _READ_KEYS and _is_in_pairs(text, finding)):
            yield finding


def _is_in_pairs(text: str, finding: Finding) -> bool:
    """Does its line hold other pairs of key and value?"""
    start = max(text.rfind("\n", 0, finding.start) + 1, finding.start - _LINE)
    end = text.find("\n", finding.end)
    end = min(end if end >= 0 else len(text), finding.end + _LINE)
    return len(_PAIRS.findall(text[start:end])) > 1


def without_fixed_words(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, names among them cut to what is beside fixed words."""
    listed = list(findings)
    if not any(finding.type in _NAMES for finding in listed):
        return listed
    spans = sorted(_fixed(text))
    starts = [start for start, _ in spans]
    kept: list[Finding] = []
    for finding in listed:
        if finding.type not in _NAMES:
            kept.append(finding)
            continue
        first = max(0, bisect_left(starts, finding.start) - 1)
        kept += _cut(text, finding, spans[first : bisect_left(starts, finding.end)])
    return kept


def _cut(text: str, finding: Finding, spans: Iterable[tuple[int, int]]) -> Iterator[Finding]:
    start, is_cut = finding.start, False
    for fixed_start, fixed_end in spans:
        if fixed_end <= start or fixed_start >= finding.end:
            continue
        is_cut = True
        yield from _trimmed(text, finding, start, fixed_start)
        start = max(start, fixed_end)
    if is_cut:
        yield from _trimmed(text, finding, start, finding.end)
    else:
        yield finding


def _trimmed(text: str, finding: Finding, start: int, end: int) -> Iterator[Finding]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    rest = text[start:end]
    if finding.recognizer == "spacy" and not _LATIN.search(rest):
        return
    if len(rest) >= 2 and not (rest.isascii() and rest.islower() and rest.isalpha()):
        yield replace(finding, start=start, end=end)
