"""Private text: recall, precision and speed beside Presidio's default engine, in one run.

    python -m benchmarks.anonymization_text [--material DIR] [--every N]

writes the part `text` of results/anonymization.json and the text section of anonymization.md.
`--every N` takes each N-th text of the speed measurement, for a quick look; it writes nothing.

Part of each set was for development: templates (synth_v2) by number, documents by hash, Chinese
sentences by place. Figures are given for both parts, and only counts of what was found.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from anonymization.text.contracts import DetectionConfig, EntityType
from anonymization.text.detect.engine import TextDetector
from benchmarks.anonymization_text_cases import (
    Case,
    read_chinese,
    read_synth,
    read_tab,
    session_strings,
)
from benchmarks.anonymization_text_peer import default_engine
from benchmarks.anonymization_text_report import write_text_part

_REPO = Path(__file__).resolve().parent.parent
_CHECKSUM = ("ID_CARD", "BANK_CARD", "USCC")
_PLANT_EVERY = 40  # session strings
_TURNS = 12

Span = tuple[int, int]
Find = Callable[[Sequence[str]], list[list[Span]]]


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("BENCHMINT_MATERIAL", str(_REPO.parent / "shared" / "material"))
    parser.add_argument("--material", type=Path, default=Path(default))
    parser.add_argument("--every", type=int, default=1)
    said = parser.parse_args()
    synth, tab, chinese = (
        read(said.material / "pii") for read in (read_synth, read_tab, read_chinese)
    )
    every = tuple(EntityType)
    ours, wide = _ours(DetectionConfig()), _ours(DetectionConfig(entities=every))
    peer = default_engine()
    figures: dict[str, Any] = {
        "synth_v2": _by_half(synth, lambda cases: _spans(cases, ours, peer)),
        "tab": _by_half(tab, lambda cases: _court(cases, ours, wide, peer)),
        "chinese": _by_half(chinese, lambda cases: _typed(cases, ours)),
    }
    both = [*synth, *tab]
    texts = [case.text for case in both]
    figures["prose"] = {"ours": _chars(both, ours(texts)), "presidio": _chars(both, peer(texts))}
    prose = [case.text for case in [*synth, *tab]][:: said.every]
    session = list(session_strings(said.material / "sessions"))[:: said.every]
    figures["speed"] = {
        "prose": _race(prose, peer),
        "sessions": _race(session, peer),
    }
    figures["planted"] = _planted(session, ours, peer)
    print(json.dumps(figures, indent=1))
    if said.every == 1:
        write_text_part(figures)


def _ours(config: DetectionConfig) -> Find:
    detector = TextDetector(config)

    def find(texts: Sequence[str]) -> list[list[Span]]:
        return [[(f.start, f.end) for f in actual] for actual in detector.find(texts)]

    return find


def _by_half(
    cases: Sequence[Case], measure: Callable[[Sequence[Case]], dict[str, Any]]
) -> dict[str, Any]:
    return {
        "development": measure([case for case in cases if case.dev]),
        "held_out": measure([case for case in cases if not case.dev]),
        "all": measure(cases),
    }


def _spans(cases: Sequence[Case], ours: Find, peer: Find) -> dict[str, Any]:
    """Exact spans of any type, F2 (recall counts four times), and the same per template."""
    figures: dict[str, Any] = {"texts": len(cases)}
    for name, find in (("ours", ours), ("presidio", peer)):
        actual = find([case.text for case in cases])
        figures[name] = _exact(cases, actual) | _chars(cases, actual)
        if name == "ours":
            groups: dict[str, list[int]] = defaultdict(list)
            for position, case in enumerate(cases):
                groups[case.key].append(position)
            each = [
                _exact([cases[p] for p in places], [actual[p] for p in places])["f2"]
                for places in groups.values()
            ]
            figures["templates"] = len(each)
            figures["templates_f2_at_least_.85"] = sum(value >= 0.85 for value in each)
            figures["templates_mean_f2"] = round(sum(each) / len(each), 3)
    return figures


def _exact(cases: Sequence[Case], actual: Sequence[Sequence[Span]]) -> dict[str, float]:
    hits = gold = given = 0
    for case, spans in zip(cases, actual, strict=True):
        labels = {label[:2] for label in case.labels}
        hits += len(labels & set(spans))
        gold, given = gold + len(labels), given + len(set(spans))
    if not gold and not given:
        return {"precision": 1.0, "recall": 1.0, "f2": 1.0}
    precision, recall = hits / max(given, 1), hits / max(gold, 1)
    f2 = 5 * precision * recall / (4 * precision + recall) if hits else 0.0
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f2": round(f2, 4)}


def _chars(cases: Sequence[Case], actual: Sequence[Sequence[Span]]) -> dict[str, float]:
    hits = gold = given = 0
    for case, spans in zip(cases, actual, strict=True):
        label = _covered([span[:2] for span in case.labels if span[3] != "NO_MASK"])
        mine = _covered(spans)
        hits, gold, given = hits + len(label & mine), gold + len(label), given + len(mine)
    return {
        "char_precision": round(hits / max(given, 1), 4),
        "char_recall": round(hits / max(gold, 1), 4),
    }


def _covered(spans: Sequence[Span]) -> set[int]:
    return {position for start, end in spans for position in range(start, end)}


def _court(cases: Sequence[Case], ours: Find, wide: Find, peer: Find) -> dict[str, Any]:
    """TAB: a DIRECT entity counts if every letter and digit of all its mentions is covered."""
    figures: dict[str, Any] = {"texts": len(cases)}
    for name, find in (("ours", ours), ("ours_with_quantities", wide), ("presidio", peer)):
        actual = find([case.text for case in cases])
        entities: dict[tuple[str, str], bool] = {}
        for case, spans in zip(cases, actual, strict=True):
            mine = _covered(spans)
            for start, end, _, grade, entity in case.labels:
                if grade == "DIRECT":
                    key = (case.key, entity)
                    full = all(p in mine or not case.text[p].isalnum() for p in range(start, end))
                    entities[key] = entities.get(key, True) and full
        direct = sum(entities.values()) / len(entities)
        figures[name] = _chars(cases, actual) | {"direct_entity_recall": round(direct, 4)}
        figures["direct_entities"] = len(entities)
    return figures


def _typed(cases: Sequence[Case], ours: Find) -> dict[str, Any]:
    """The Chinese set: exact and fully covered spans per type, clean sentences flagged."""
    total, exact, full = Counter[str](), Counter[str](), Counter[str]()
    clean = flagged = 0
    actual = ours([case.text for case in cases])
    for case, spans in zip(cases, actual, strict=True):
        mine = _covered(spans)
        if not case.labels:
            clean, flagged = clean + 1, flagged + bool(spans)
        for start, end, kind, _, _ in case.labels:
            total[kind] += 1
            exact[kind] += (start, end) in spans
            full[kind] += mine.issuperset(range(start, end))
    return {
        "texts": len(cases),
        "types": {
            kind: {
                "labels": total[kind],
                "exact": round(exact[kind] / total[kind], 4),
                "covered": round(full[kind] / total[kind], 4),
                "checksum": kind in _CHECKSUM,
            }
            for kind in sorted(total)
        },
        "clean_sentences": clean,
        "clean_flagged": flagged,
    } | _exact(cases, actual)


def _race(texts: Sequence[str], peer: Find) -> dict[str, float]:
    """Both on the same texts, one process each, models warm, a slice in turn.

    Turns, and seconds of the processor beside those of the clock, because others use the machine.
    """
    detector = TextDetector(DetectionConfig())
    detector.find(["Please ask John Smith in Paris.", "请联系王强。"])
    spent: dict[str, list[float]] = {"ours": [0.0, 0.0], "presidio": [0.0, 0.0]}
    runs: tuple[tuple[str, Callable[[Sequence[str]], object]], ...] = (
        ("ours", detector.find),
        ("presidio", peer),
    )
    for turn in range(_TURNS):
        for name, run in runs:
            clock, processor = time.perf_counter(), time.process_time()
            run(texts[turn * len(texts) // _TURNS : (turn + 1) * len(texts) // _TURNS])
            spent[name][0] += time.perf_counter() - clock
            spent[name][1] += time.process_time() - processor
    size = sum(map(len, texts))
    figures: dict[str, float] = {"texts": len(texts), "distinct": len(set(texts))}
    figures["characters"] = size
    for position, kind in enumerate(("clock", "processor")):
        for name in spent:
            figures[f"{name}_chars_per_{kind}_s"] = round(size / spent[name][position])
        figures[f"times_faster_by_{kind}"] = round(
            spent["presidio"][position] / spent["ours"][position], 2
        )
    return figures


PLANTS = (
    ("My colleague {} will review it.", "Margaret Ellsworth"),
    ("Please forward the log to {} today.", "r.hollander@brightwater-legal.com"),
    ("Call me at {} after lunch.", "+44 20 7946 0958"),
    ("The card number is {} and it expired.", "4556 7375 8689 9855"),
    ("Her social security number is {}.", "536-22-8714"),
    ("The refund goes to {} as usual.", "GB29 NWBK 6016 1331 9268 19"),
    ("Traffic came from {} all night.", "81.187.45.201"),
    ("He moved here from {} last year.", "Trondheim"),
    ("She was born on {} in the clinic.", "14 March 1987"),
    ("Ship it to {} please.", "48 Harrowgate Lane, Sheffield"),
    ("The folder is /home/{}/notes now.", "mellsworth"),
    ("请联系{}确认。", "欧阳文静"),
    ("手机号{}已登记。", "13812345678"),
    ("身份证号{}有误。", "11010519491231002X"),
)


def _planted(texts: Sequence[str], ours: Find, peer: Find) -> dict[str, Any]:
    """Character recall on sentences added to every so many session strings, on a line of theirs."""
    planted, spans = [], []
    for position, text in enumerate(texts[::_PLANT_EVERY]):
        frame, value = PLANTS[position % len(PLANTS)]
        before = text[:4000] + "\n"
        start = len(before) + frame.index("{}")
        planted.append(before + frame.format(value) + "\n" + text[4000:8000])
        spans.append((start, start + len(value)))
    figures: dict[str, Any] = {"plants": len(planted)}
    for name, find in (("ours", ours), ("presidio", peer)):
        hits = total = 0
        for span, actual in zip(spans, find(planted), strict=True):
            total += span[1] - span[0]
            hits += len(_covered([span]) & _covered(actual))
        figures[f"{name}_char_recall"] = round(hits / total, 4)
    return figures


if __name__ == "__main__":
    main()
