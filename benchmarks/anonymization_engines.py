"""The settings that ship and Presidio's default engine, run in turns over the same texts."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anonymization.masking_recipe import MaskingLevel, MaskingRecipe, at_level, for_source
from anonymization.text.contracts import DetectionConfig
from anonymization.text.detect.engine import TextDetector
from benchmarks.anonymization_text_peer import default_engine
from data.contracts import Disclosure

Span = tuple[int, int, str]  # start, end, kind
Engine = Callable[[Sequence[str]], list[list[Span]]]

PEER = "presidio"
TURNS = 12
_WARM = ("Please ask John Smith in Paris.", "请联系王强。", "渋谷の田中さんに聞く。")


def shipped() -> dict[str, DetectionConfig]:
    """The settings by name: of `privacy mask` at each level, and of a build at each level.

    The two levels that look for no names are the same in both, but for the models: only those of
    a build are listed.
    """
    levels = (MaskingLevel.STRICT, MaskingLevel.FULL)
    mask = {f"{level}": at_level(DetectionConfig(), level) for level in levels}
    build = {f"{level}, build": _of_build(level) for level in levels}
    forms = (MaskingLevel.CONTACTS_AND_SECRETS, MaskingLevel.SECRETS)
    return mask | build | {f"{level}": _of_build(level) for level in forms}


def _of_build(level: MaskingLevel) -> DetectionConfig:
    return for_source(MaskingRecipe(level=level), Disclosure.PRIVATE).detection


def engine(config: DetectionConfig) -> Engine:
    """A detector of ours, its models loaded."""
    detector = TextDetector(config)
    detector.find(_WARM)

    def find(texts: Sequence[str]) -> list[list[Span]]:
        return [[(f.start, f.end, f.type.value) for f in actual] for actual in detector.find(texts)]

    return find


def all_engines() -> dict[str, Engine]:
    """One engine per shipped setting, and the peer last."""
    return {name: engine(config) for name, config in shipped().items()} | {PEER: default_engine()}


@dataclass(frozen=True, slots=True)
class Run:
    """What each engine found in `texts`, and the seconds it took: of the clock and processor."""

    texts: Sequence[str]
    spans: Mapping[str, list[list[Span]]]
    clock: Mapping[str, float]
    processor: Mapping[str, float]

    @property
    def characters(self) -> int:
        """Of all texts."""
        return sum(map(len, self.texts))

    def times_faster(self, name: str, by: Mapping[str, float]) -> float:
        """How many times as fast as the peer an engine is, by one of the two measures."""
        return round(by[PEER] / by[name], 2)


def in_turns(engines: Mapping[str, Engine], texts: Sequence[str]) -> Run:
    """Every engine over every text, a slice in turn, in one process.

    In turns, and with seconds of the processor, because others use the machine.
    """
    spans: dict[str, list[list[Span]]] = {name: [] for name in engines}
    clock, processor = dict.fromkeys(engines, 0.0), dict.fromkeys(engines, 0.0)
    for turn in range(TURNS):
        part = texts[turn * len(texts) // TURNS : (turn + 1) * len(texts) // TURNS]
        for name, find in engines.items():
            started, cpu = time.perf_counter(), time.process_time()
            spans[name] += find(part)
            clock[name] += time.perf_counter() - started
            processor[name] += time.process_time() - cpu
    return Run(texts, spans, clock, processor)


def drawn(text: str, one_in: int) -> bool:
    """Is a text in the sample of one in so many, by its digest? All its repetitions are, too."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % one_in == 0
