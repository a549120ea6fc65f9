"""The detector: rules first, then the name models on prose; each string is analysed once.

Decomposed letters are read composed (`e` with U+0301 is one letter of a word; Unicode Standard
Annex 15, form C), and what is found is mapped back to whole letters of the original. Overlaps are
resolved by a total order, so that the findings do not depend on batches.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice

from anonymization.text.contracts import (
    DOUBTED,
    DetectionConfig,
    EntityType,
    Finding,
    NameReading,
    kinds,
    trimmed,
    uncovered,
)
from anonymization.text.detect import chinese, english, japanese
from anonymization.text.detect.address import find_addresses
from anonymization.text.detect.capitals import with_capitals
from anonymization.text.detect.declared import NAME as DECLARED
from anonymization.text.detect.declared import find_declared, find_rows
from anonymization.text.detect.explained import without_fixed_words, without_keys
from anonymization.text.detect.listed_names import find_listed_names, find_unknown, whole_names
from anonymization.text.detect.neighbours import find_blocks, spread
from anonymization.text.detect.positions import find_reserved, find_romanised
from anonymization.text.detect.prose import (
    MachineLines,
    Unit,
    chinese_units,
    english_units,
    japanese_units,
)
from anonymization.text.detect.public_values import is_public_place, region_end
from anonymization.text.detect.rules import load_rules, own_rules, scan
from anonymization.text.detect.said import find_said
from anonymization.text.detect.strict import NAME as POSITION
from anonymization.text.detect.strict import beside_codes, doubting, find_strict
from anonymization.text.detect.strict_fields import is_of_firm
from anonymization.text.detect.weight import Weight, names_again, weights
from anonymization.text.detect.wording import GIVEN_NAMES, is_office_in_han
from anonymization.text.secrets.find_secrets import find_secrets
from anonymization.text.surrogates.networks import is_nobodys
from data.text.folding import fold_characters
from data.text.scripts import CAPITALS, LETTER, has_han, has_kana

_MARK = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u3099\u309a"
# What a reader does not see inside a word or number: joiners, soft hyphens, marks of direction.
_HIDDEN = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
# A letter with marks behind it, a Hangul syllable in its parts, and hidden characters in a word.
_LETTER = re.compile(
    rf"[^\s{_MARK}{_HIDDEN}][{_MARK}]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
    rf"|(?<=[^\s])[{_HIDDEN}]+(?=\S)"
)


_UNSEEN = "".join(map(chr, [0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
                            *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF]))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Composed:
    """A composed text, with the offset in the original at which each of its characters begins and
    ends; without offsets it is the original."""

    text: str
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    def original(self, finding: Finding) -> Finding:
        """The finding at its offsets in the original, over whole letters."""
        if not self.starts:
            return finding
        return replace(finding, start=self.starts[finding.start], end=self.ends[finding.end - 1])


def composed(text: str) -> Composed:
    """The text with its decomposed letters composed, where there are any."""
    if text.isascii() or _LETTER.search(text) is None:
        return Composed(text)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in [*_LETTER.finditer(text), None]:
        begin = match.start() if match else len(text)
        parts.append(text[done:begin])
        starts += range(done, begin)
        ends += range(done + 1, begin + 1)
        if match:
            letter = unicodedata.normalize("NFC", match.group())
            is_hidden = letter.strip(_UNSEEN) == ""
            if not is_hidden:
                parts.append(letter[0])  # marks that no letter has go
                starts.append(begin)
                ends.append(match.end())
            done = match.end()
    return Composed("".join(parts), starts, ends)


# Endings of files that people name; those of source code are left out.
_FILE = re.compile(
    r"(?<![\w-])[^\W_][\w-]{3,120}\.(?:pdf|docx?|xlsx?|pptx?|csv|tsv|txt|md|rtf|odt|ods|zip|rar|7z"
    r"|png|jpe?g|heic|gif|tiff?|eml|msg|ics|vcf|mp3|mp4|wav|m4a)(?!\w)"
)
_TWO_CAPITALS = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]+[_-][^\W\d_a-z][^\W\d_A-Z]+")
_AS_BLANKS = str.maketrans("_-.", "   ")


def _with_spaced_file_names(text: str) -> str:
    """The text, of the same length, with blanks for the separators in such file names."""
    if "_" not in text and "-" not in text:
        return text
    return _FILE.sub(_spaced, text)


def _spaced(name: re.Match[str]) -> str:
    return (
        name.group().translate(_AS_BLANKS) if _TWO_CAPITALS.search(name.group()) else name.group()
    )


# Kinds whose shape proves them take precedence, whatever the length; then longer findings.
_RANK = {
    EntityType.EMAIL: 1,
    EntityType.NATIONAL_ID: 1,
    EntityType.COMPANY_CODE: 1,
    EntityType.SECRET: 2,
    EntityType.BANK_CARD: 2,
    EntityType.BANK_ACCOUNT: 2,
    EntityType.CASE_NUMBER: 2,
    EntityType.PERSON_NUMBER: 2,
    EntityType.ACCOUNT: 2,
    EntityType.PASSPORT: 2,
    EntityType.PLATE: 2,
    EntityType.PHONE: 3,
    EntityType.IP_ADDRESS: 3,
    EntityType.USER_PATH: 3,
    EntityType.URL: 4,
    EntityType.ADDRESS: 5,
    EntityType.DATE: 6,
}
_LAST = 7
_NUMBERS = kinds("PERSON_NUMBER CASE_NUMBER NATIONAL_ID BANK_CARD BANK_ACCOUNT PHONE")
_LAST_OF_ALL = 8  # what a finding of any other kind explains is not unexplained
_SHORTEST_REST = 2  # characters


def resolve(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """Findings without overlap, sorted by offset.

    The stronger kind, then the longer span, takes precedence. The parts of a weaker finding beside
    it stay, if they have two characters or more, so that nothing leaks at the seam.
    """
    taken: list[Finding] = []
    for finding in sorted(set(findings), key=_order):
        first = max(0, bisect_left(taken, finding.start, key=lambda other: other.start) - 1)
        others = ((other.start, other.end) for other in islice(taken, first, None))
        for start, end in list(uncovered(finding.start, finding.end, others)):
            if (start, end) != (finding.start, finding.end):
                start, end = trimmed(text, start, end)
                if finding.type in _NUMBERS and not any(map(str.isdigit, text[start:end])):
                    continue  # the label of the number beside it
                if end - start < _SHORTEST_REST:
                    continue
            rest = replace(finding, start=start, end=end)
            taken.insert(bisect_left(taken, rest), rest)
    return taken


def _order(finding: Finding) -> tuple[int, int, float, int, str, str]:
    return (
        _LAST_OF_ALL if finding.type is EntityType.UNEXPLAINED else _RANK.get(finding.type, _LAST),
        finding.start - finding.end,
        -finding.score,
        finding.start,
        finding.type.value,
        finding.recognizer,
    )


_BORN = re.compile(
    r"(?:(?<![a-z])born(?![a-z])|birth|(?<![a-z])d\.?o\.?b(?![a-z])|出生|生日|生于)[^.!?。！？，；\d\n]{0,40}$"
)
_BORN_AFTER = re.compile(r"[ ,)）]{0,2}(?:出生|生(?![产效成])|is (?:my|his|her|their) birthday)")
_REACH = 60  # characters
_ADDRESSED = frozenset({EntityType.UNEXPLAINED, EntityType.ADDRESS})
_WITH_REGION = _ADDRESSED | {EntityType.LOCATION}


def keeper(config: DetectionConfig) -> Callable[[str, Finding], bool]:
    """A test of text and finding: is the finding masked under this configuration?"""

    def wanted(text: str, finding: Finding) -> bool:
        if config.births_only and finding.type is EntityType.DATE:
            return _of_birth(text, finding)
        if config.public_places and finding.type is EntityType.NATIONALITY:
            return False  # it would contradict the countries, which stay
        value = text[finding.start : finding.end]
        if config.public_places and finding.type in _ADDRESSED:
            is_known = has_han(value) and is_public_place(value)
            return not (is_known or _is_region(text, finding))
        if config.public_places and finding.type is EntityType.LOCATION:
            return not is_public_place(value)
        if config.public_places and finding.type is EntityType.PERSON:
            is_said = finding.recognizer == DECLARED or value in GIVEN_NAMES
            return is_said or not is_public_place(value)  # a town in a column of towns
        return True

    return wanted


def _within_region(text: str, finding: Finding) -> Finding:
    """The finding without a region that everybody knows, which it begins with: 四川省成都市…"""
    end = (
        region_end(text, finding.start, finding.end)
        if finding.type in _WITH_REGION
        else finding.end
    )
    return replace(finding, start=end) if finding.start < end < finding.end else finding


def _is_region(text: str, finding: Finding) -> bool:
    """Is it a region alone, which a label of addresses shows to be private?"""
    return region_end(text, finding.start, finding.end) == finding.end


def _of_birth(text: str, finding: Finding) -> bool:
    before = text[max(0, finding.start - _REACH) : finding.start].lower()
    return _BORN.search(before) is not None or _BORN_AFTER.match(text, finding.end) is not None


class TextDetector:
    """Finds private spans; the findings do not depend on the batches or their order.

    Every rule reads every text of any language; scripts alone decide which pieces each model
    gets. Leaving recognisers out where `data.text.language` names another language was measured
    and found less (names in German court decisions: recall by character 0.47 instead of 0.51).

    Nothing here reaches a network. Models load at first use and are shared in a process.
    """

    def __init__(self, config: DetectionConfig | None = None) -> None:
        self._config = config or DetectionConfig()
        self._entities = frozenset(self._config.entities)
        self._rules = tuple(
            rule
            for rule in load_rules() + own_rules(self._config.person_number_patterns)
            if rule.type in self._entities
        )
        self._masked = keeper(self._config)
        self._texts = Memo(self._config.memo_chars)
        self._english = Memo(self._config.memo_chars)
        self._chinese = Memo(self._config.memo_chars)
        self._japanese = Memo(self._config.memo_chars)

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Per text its findings, sorted, without overlap; offsets in code points."""
        read = [composed(text) for text in texts]
        known: dict[str, tuple[Finding, ...]] = {}
        fresh: list[str] = []
        for text in dict.fromkeys(part.text for part in read):
            findings = self._texts.get(text)
            if findings is None:
                fresh.append(text)
            else:
                known[text] = findings
        known.update(zip(fresh, self._analyse(fresh), strict=True))
        for text in fresh:
            self._texts.put(text, known[text])
        return [[part.original(finding) for finding in known[part.text]] for part in read]

    def _analyse(self, texts: Sequence[str]) -> list[tuple[Finding, ...]]:
        broken = [_BREAK.sub(" \n", fold_characters(text)) for text in texts]
        folded = [with_capitals(text, self.dictionary) for text in broken]
        ruled = [self._by_rule(text, plain) for text, plain in zip(texts, folded, strict=True)]
        settled = [resolve(plain, findings) for plain, findings in zip(folded, ruled, strict=True)]
        taken_by_text = list(zip(folded, settled, strict=True))
        in_english = [
            list(english_units(_with_spaced_file_names(plain), taken))
            for plain, taken in taken_by_text
        ]
        in_chinese = [list(chinese_units(plain, taken)) for plain, taken in taken_by_text]
        in_japanese = [list(japanese_units(plain)) for plain in folded]
        config = self._config
        in_batches = partial(english.find_names, batch=config.batch)
        names = self._names(self._english, chain(*in_english), config.english_model, in_batches)
        han = self._names(
            self._chinese, chain(*in_chinese), config.chinese_model, chinese.find_names
        )
        kana = self._names(
            self._japanese, chain(*in_japanese), config.japanese_model, japanese.find_names
        )
        placed = [
            [*_placed(latin, names), *_placed(clauses, han), *_placed(sentences, kana)]
            for latin, clauses, sentences in zip(in_english, in_chinese, in_japanese, strict=True)
        ]
        return [
            self._settle(plain, [*findings, *named])
            for plain, findings, named in zip(folded, ruled, placed, strict=True)
        ]

    def _by_rule(self, text: str, folded: str) -> list[Finding]:
        lines = MachineLines(folded)
        findings = [*scan(self._rules, folded, lines), *find_addresses(folded, lines)]
        findings += find_declared(folded)
        findings += find_rows(folded)
        findings += find_said(folded, lines, self.dictionary)
        findings += find_reserved(folded, self.dictionary)
        findings += find_romanised(folded)
        spaced = _with_spaced_file_names(folded)
        spaced_lines = lines if spaced == folded else MachineLines(spaced)
        findings += find_listed_names(spaced, spaced_lines)
        findings += find_unknown(spaced, spaced_lines, self.dictionary)
        findings += find_blocks(folded, findings)
        if self._config.secrets:
            findings += find_secrets(text)
        whole = without_keys(folded, _without_doubles(findings))
        return [finding for finding in whole if self._wanted(finding)]

    @property
    def entities(self) -> frozenset[EntityType]:
        """The kinds of private text that it looks for."""
        return self._entities

    @property
    def dictionary(self) -> frozenset[str]:
        """English words in small letters, none without a model."""
        model = self._config.english_model
        return english.dictionary(model) if model else frozenset()

    @property
    def usual_words(self) -> frozenset[str]:
        """English words that explain themselves, none without a model."""
        model = self._config.english_model
        return english.usual_words(model) if model else frozenset()

    def readings(self, names: Iterable[str]) -> Mapping[str, NameReading]:
        """How Japanese names are read; none without a model."""
        model = self._config.japanese_model
        return japanese.readings(names, model) if model else {}

    def _names(
        self,
        memo: Memo,
        units: Iterable[Unit],
        model: str,
        read: Callable[[list[str], str], Iterable[Sequence[Finding]]],
    ) -> dict[str, tuple[Finding, ...]]:
        """The names of each unit by its words; those read before are remembered."""
        if not model:
            return {}
        known, fresh = _recall(memo, units)
        for unit, findings in zip(fresh, read(fresh, model), strict=True):
            known[unit] = tuple(findings)
            memo.put(unit, known[unit])
        return known

    def _settle(self, text: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Those that stay; until then an address of nobody's keeps others from reading it."""
        read = (_with_prefix(text, finding) for finding in self._read(text, findings))
        return tuple(
            _as_person(text, finding)
            for finding in read
            if finding.type is not EntityType.IP_ADDRESS
            or not is_nobodys(text[finding.start : finding.end])
        )

    def _read(self, text: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        wanted = (finding for finding in without_keys(text, findings) if self._wanted(finding))
        settled = resolve(
            text, (whole for each in wanted for whole in whole_names(text, each, self.dictionary))
        )
        more = spread(text, settled, MachineLines(text), self.dictionary)
        if more:
            settled = resolve(
                text, [*settled, *(finding for finding in more if self._wanted(finding))]
            )
        settled = without_fixed_words(text, settled)
        masked = [finding for finding in settled if self._masked(text, finding)]
        if self._config.public_places:
            masked = [_within_region(text, finding) for finding in masked]
        weighed = names_again(text, list(weights(text, masked, self.dictionary)), self.dictionary)
        masked = [finding for finding, _ in weighed]
        if EntityType.UNEXPLAINED not in self._entities:
            return tuple(finding for finding, weight in weighed if weight is not Weight.NONE)
        doubted = {finding for finding, weight in weighed if weight is not Weight.SURE}
        strict = find_strict(
            text, beside_codes(text, masked), self.dictionary, self.usual_words, self._entities
        )
        strict = [
            each
            for each in without_keys(text, strict)
            if each.type is not EntityType.UNEXPLAINED or self._masked(text, each)
        ]
        decided = doubting(text, strict, doubted, self.dictionary)
        return tuple(self._by_owner(text, finding) for finding in decided)

    def _by_owner(self, text: str, finding: Finding) -> Finding:
        """The finding; its owner has to decide of words that say an office, a post or a trade
        where a name would stand (栄養士, 客服部), and of everyday words in a column of makers."""
        value = text[finding.start : finding.end]
        if finding.type not in _NAMING or not (has_han(value) or has_kana(value)):
            return finding
        is_called = finding.recognizer not in _BY_PLACE or _CALLED.match(text, finding.end)
        is_called = is_called or _HONOURED.fullmatch(value)
        if is_called or _FORM_OF_FIRM.search(value):
            return finding
        model = self._config.japanese_model
        is_clear = finding.type is EntityType.PERSON or not (has_kana(value) and is_of_firm(text))
        is_word = is_office_in_han(value)
        if model and len(value) >= _SHORTEST_WORD and not (is_clear and not _in_japan(text)):
            is_word = is_word or japanese.is_everyday(value, model)
        return replace(finding, recognizer=DOUBTED) if is_word else finding

    def _wanted(self, finding: Finding) -> bool:
        return finding.type in self._entities and finding.score >= self._config.min_score


_FORM_OF_FIRM = re.compile("会社|㈱|㈲|[(（][株有][)）]")
_NAMING = frozenset({EntityType.UNEXPLAINED, EntityType.ORGANIZATION, EntityType.PERSON})
_BY_PLACE = frozenset({POSITION, DECLARED, "said", "keyed_name"})  # whatever the word there is
_CALLED = re.compile("[ \u3000]?(?:さん|様|さま|氏|くん|君|ちゃん|殿)")
_SHORTEST_WORD = 3  # characters; a shorter one is also a family name
_HONOURED = re.compile("(?!お?客|皆|各)[^ \u3000]{1,6}(?:さん|様|さま|氏)")  # as a cell has it
_OF_JAPAN = re.compile("[ぁ-ゖァ-ヺ]|氏名|担当|責任者|様")


def _in_japan(text: str) -> bool:
    """Is a text in Japanese, by its kana or a label?"""
    return _OF_JAPAN.search(text) is not None


# A person with the family name first, whatever a label says: the legal name of firms and people.
_TURNED = re.compile(
    rf"[{CAPITALS}]{LETTER}+(?:[ '-][{CAPITALS}]{LETTER}+)?, "
    rf"(?!(?:Inc|Ltd|Limited|Corp|Corporation|Company|Incorporated|Gmbh|Esq|The)\b)"
    rf"[{CAPITALS}]{LETTER}{{2,20}}(?: [{CAPITALS}]\.?)?"
)


_PREFIX = re.compile(r"/\d{1,3}(?![\w.])")


def _with_prefix(text: str, finding: Finding) -> Finding:
    """An address of nobody's with the prefix that makes it somebody's network: `10.0.0.0/24`."""
    prefix = _PREFIX.match(text, finding.end) if finding.type is EntityType.IP_ADDRESS else None
    is_whole = prefix is None or not is_nobodys(text[finding.start : finding.end])
    return finding if is_whole or prefix is None else replace(finding, end=prefix.end())


def _as_person(text: str, finding: Finding) -> Finding:
    is_firm = finding.type is EntityType.ORGANIZATION and finding.recognizer == DECLARED
    if is_firm and _TURNED.fullmatch(text, finding.start, finding.end):
        return replace(finding, type=EntityType.PERSON)
    return finding


# A line break that is written as an escape, before a word that begins anew: in calendars and code.
_BREAK = re.compile(r"(?<![:\\])\\[nr](?=(?:https?|ftp|mailto):|[A-Z(*•-]|[^\x00-\x7f]|\\n|\s)")


def _without_doubles(findings: Sequence[Finding]) -> list[Finding]:
    """Without telephone numbers that only nearby words suggest, where an address was found."""
    streets = {
        offset
        for finding in findings
        if finding.type is EntityType.ADDRESS
        for offset in range(finding.start, finding.end)
    }
    return [
        finding
        for finding in findings
        if finding.recognizer != "phone_said"
        or finding.start not in streets
        or finding.end not in streets
    ]


def _recall(memo: Memo, units: Iterable[Unit]) -> tuple[dict[str, tuple[Finding, ...]], list[str]]:
    """The remembered findings of units, and the other units, longest first for even batches."""
    known: dict[str, tuple[Finding, ...]] = {}
    fresh = []
    for unit in dict.fromkeys(unit for _, unit in units):
        findings = memo.get(unit)
        if findings is None:
            fresh.append(unit)
        else:
            known[unit] = findings
    return known, sorted(fresh, key=lambda unit: (-len(unit), unit))


def _placed(units: Iterable[Unit], findings: dict[str, tuple[Finding, ...]]) -> Iterable[Finding]:
    for offset, unit in units:
        for finding in findings.get(unit, ()):
            yield Finding(
                offset + finding.start,
                offset + finding.end,
                finding.type,
                finding.recognizer,
                finding.score,
            )


_OVERHEAD = 64  # characters that an entry counts besides its text


class Memo:
    """Findings by text; the least recently used are dropped beyond `max_chars` characters."""

    def __init__(self, max_chars: int) -> None:
        self._remaining = max_chars
        self._findings: OrderedDict[str, tuple[Finding, ...]] = OrderedDict()

    def get(self, text: str) -> tuple[Finding, ...] | None:
        if text in self._findings:
            self._findings.move_to_end(text)
        return self._findings.get(text)

    def put(self, text: str, findings: tuple[Finding, ...]) -> None:
        if text in self._findings:
            return
        self._findings[text] = findings
        self._remaining -= len(text) + _OVERHEAD
        while self._remaining < 0 and self._findings:
            old, _ = self._findings.popitem(last=False)
            self._remaining += len(old) + _OVERHEAD
