"""A detector that was told what a model has read: on questions of names the model decides.

What it named is found where it stands. A name that rules find in a text that it has read, and that
it did not name, is for the owner to decide. Forms, secrets and what a label declares stay as they
are found, and so does everything that it has not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from anonymization.recogniser.contracts import ReadText, Recognised, text_key
from anonymization.text.contracts import (
    NAMED_HERE,
    SECOND_LOOK,
    UNDECIDED,
    UNNAMED,
    Detector,
    EntityType,
    Finding,
    Lexical,
    NameReading,
    Reading,
    kinds,
    trimmed,
    uncovered,
)

# The recognizers of what a model named: wherever it stands, and in one place only.
RECOGNISER = "recogniser"
_SCORE = 0.9
_NAMES = kinds("PERSON ORGANIZATION LOCATION TITLE NATIONALITY")
_DECLARED = frozenset({"declared", "field", "listed"})
_SHORTEST = 2  # characters


def informed(detector: Detector, read: Recognised | None) -> Detector:
    """The detector, told what a model has read; without a model as it is."""
    return detector if read is None or not read.texts else _InformedDetector(detector, read)


def is_for_model(kind: EntityType, recognizer: str, value: str) -> bool:
    """Is it a question of names, or of what nothing explains, whether this is private: no form,
    plain number or declared value?"""
    if recognizer in _DECLARED or recognizer in UNDECIDED:
        return False
    is_word = kind is EntityType.UNEXPLAINED and any(map(str.isalpha, value))
    return kind in _NAMES or is_word


class _InformedDetector:
    """Finds what a detector and a model find; the texts are those of one scope."""

    def __init__(self, detector: Detector, read: Recognised) -> None:
        self._detector, self._read = detector, read

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Per text its findings, sorted, without overlap."""
        read = [self._read.texts.get(text_key(text)) for text in texts]
        by_rule = self._detector.find(texts)
        return [
            findings if known is None else _decided(text, findings, known)
            for text, findings, known in zip(texts, by_rule, read, strict=True)
        ]

    @property
    def entities(self) -> frozenset[EntityType]:
        """The kinds of private text that are looked for."""
        every = frozenset(EntityType)
        return self._detector.entities if isinstance(self._detector, Lexical) else every

    @property
    def dictionary(self) -> frozenset[str]:
        """Words in small letters; none without a model of language."""
        return self._detector.dictionary if isinstance(self._detector, Lexical) else frozenset()

    @property
    def usual_words(self) -> frozenset[str]:
        """Words in small letters that explain themselves."""
        return self._detector.usual_words if isinstance(self._detector, Lexical) else frozenset()

    def readings(self, names: Iterable[str]) -> Mapping[str, NameReading]:
        """The readings of those Japanese names that have one."""
        return self._detector.readings(names) if isinstance(self._detector, Reading) else {}


def _decided(text: str, findings: Sequence[Finding], read: ReadText) -> list[Finding]:
    # The detector's libraries take seconds to import: commands without a model wait for none.
    from anonymization.text.detect.engine import composed, resolve

    whole = composed(text)
    named = [
        whole.original(Finding(start, end, kind, NAMED_HERE if is_here else recognizer, _SCORE))
        for recognizer, values in ((RECOGNISER, read.named), (SECOND_LOOK, read.missed))
        for start, end, kind, is_here in values
    ]
    shown = [
        (part.start, part.end)
        for start, end in read.shown
        if start < end
        for part in [whole.original(Finding(start, end, EntityType.UNEXPLAINED, "", 0.0))]
    ]
    names = [each for each in findings if _is_asked(text, each, shown)]
    sure = [each for each in findings if each not in names and not _is_doubt_of(each, named)]
    settled = resolve(text, [*named, *sure])
    return sorted([*settled, *_unnamed(text, names, settled)])


def _is_doubt_of(finding: Finding, named: Iterable[Finding]) -> bool:
    """Is it only for the owner to decide, and about words of which the model has named some?"""
    return finding.recognizer in UNDECIDED and any(
        each.start < finding.end and finding.start < each.end for each in named
    )


def _is_asked(text: str, finding: Finding, shown: Iterable[tuple[int, int]]) -> bool:
    if not any(start <= finding.start and finding.end <= end for start, end in shown):
        return False
    return is_for_model(finding.type, finding.recognizer, text[finding.start : finding.end])


def _unnamed(text: str, names: Sequence[Finding], settled: Sequence[Finding]) -> Iterator[Finding]:
    """What the model has read without naming it, for the owner."""
    spans = [(finding.start, finding.end) for finding in settled]
    for finding in names:
        for rest in uncovered(finding.start, finding.end, spans):
            start, end = trimmed(text, *rest)
            if end - start >= _SHORTEST:
                yield replace(finding, start=start, end=end, recognizer=UNNAMED)
