"""The detector: rules first, then the name models on prose; each string is analysed once."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from anonymization.text.contracts import DetectionConfig, EntityType, Finding
from anonymization.text.detect import chinese, english, japanese
from anonymization.text.detect.address import find_addresses
from anonymization.text.detect.capitals import with_capitals
from anonymization.text.detect.composed import composed
from anonymization.text.detect.declared import find_declared
from anonymization.text.detect.declared_rows import find_rows
from anonymization.text.detect.file_names import with_spaced_file_names
from anonymization.text.detect.fixed_words import without_fixed_words, without_keys
from anonymization.text.detect.japanese_forms import find_japanese_forms
from anonymization.text.detect.listed_names import find_listed_names, whole_names
from anonymization.text.detect.neighbours import find_blocks, spread
from anonymization.text.detect.prose import (
    MachineLines,
    Unit,
    chinese_units,
    english_units,
    japanese_units,
)
from anonymization.text.detect.reserved_places import find_reserved
from anonymization.text.detect.resolve import keeper, resolve
from anonymization.text.detect.rules import load_rules, own_rules, scan
from anonymization.text.detect.said import find_said
from anonymization.text.detect.strict import doubting, find_strict
from anonymization.text.detect.unexplained import beside_codes
from anonymization.text.detect.unknown_words import find_unknown
from anonymization.text.detect.weight import Weight, weights
from anonymization.text.secrets.find_secrets import find_secrets
from data.text.folding import fold_characters


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
            list(english_units(with_spaced_file_names(plain), taken))
            for plain, taken in taken_by_text
        ]
        in_chinese = [list(chinese_units(plain, taken)) for plain, taken in taken_by_text]
        in_japanese = [list(japanese_units(plain)) for plain in folded]
        names = self._english_names(unit for units in in_english for unit in units)
        han = self._chinese_names(unit for units in in_chinese for unit in units)
        kana = self._japanese_names(unit for units in in_japanese for unit in units)
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
        findings += find_japanese_forms(folded)
        findings += find_reserved(folded, self.dictionary)
        spaced = with_spaced_file_names(folded)
        spaced_lines = lines if spaced == folded else MachineLines(spaced)
        findings += find_listed_names(spaced, spaced_lines)
        findings += find_unknown(spaced, spaced_lines, self.dictionary)
        findings += find_blocks(folded, findings)
        if self._config.secrets:
            findings += find_secrets(text)
        whole = without_keys(folded, _without_doubles(findings))
        return [finding for finding in whole if self._wanted(finding)]

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

    def _english_names(self, units: Iterable[Unit]) -> dict[str, tuple[Finding, ...]]:
        model = self._config.english_model
        if not model:
            return {}
        known, fresh = _recall(self._english, units)
        for words, findings in zip(
            fresh, english.find_names(fresh, model, self._config.batch), strict=True
        ):
            known[words] = tuple(findings)
            self._english.put(words, known[words])
        return known

    def _chinese_names(self, units: Iterable[Unit]) -> dict[str, tuple[Finding, ...]]:
        model = self._config.chinese_model
        if not model:
            return {}
        known, fresh = _recall(self._chinese, units)
        for words, findings in zip(fresh, chinese.find_names(fresh, model), strict=True):
            known[words] = tuple(findings)
            self._chinese.put(words, known[words])
        return known

    def _japanese_names(self, units: Iterable[Unit]) -> dict[str, tuple[Finding, ...]]:
        model = self._config.japanese_model
        if not model:
            return {}
        known, fresh = _recall(self._japanese, units)
        for words, findings in zip(fresh, japanese.find_names(fresh, model), strict=True):
            known[words] = tuple(findings)
            self._japanese.put(words, known[words])
        return known

    def _settle(self, text: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
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
        weighed = list(weights(text, masked, self.dictionary))
        if EntityType.UNEXPLAINED not in self._entities:
            return tuple(finding for finding, weight in weighed if weight is not Weight.NONE)
        doubted = {finding for finding, weight in weighed if weight is not Weight.SURE}
        strict = find_strict(
            text, beside_codes(text, masked), self.dictionary, self.usual_words, self._entities
        )
        strict = list(without_keys(text, strict))
        return tuple(doubting(text, strict, doubted, self.dictionary))

    def _wanted(self, finding: Finding) -> bool:
        return finding.type in self._entities and finding.score >= self._config.min_score


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
    for words in dict.fromkeys(words for _, words in units):
        findings = memo.get(words)
        if findings is None:
            fresh.append(words)
        else:
            known[words] = findings
    return known, sorted(fresh, key=lambda words: (-len(words), words))


def _placed(units: Iterable[Unit], findings: dict[str, tuple[Finding, ...]]) -> Iterable[Finding]:
    for offset, words in units:
        for finding in findings.get(words, ()):
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
