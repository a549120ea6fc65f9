"""Private text in detail: exact spans, templates, types, and speed beside Presidio's engine.

    python -m benchmarks.anonymization_text [--material DIR]

writes the part `text` of results/anonymization.json and the text section of anonymization.md.

Part of each set was for development: templates (synth_v2) by number, documents by hash, Chinese
sentences by place. Figures are given for both parts, and only counts of what was detected.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType
from benchmarks.anonymization_engines import PEER, Engine, Run, engine, in_turns
from benchmarks.anonymization_measures import Spans, characters, covered, direct, exact
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
SESSIONS_ONE_IN = 3  # session files whose strings are timed, by digest
WIDE = "full, with quantities"

Find = Mapping[str, Spans]  # per engine the findings in each case


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("BENCHMINT_MATERIAL", str(_REPO.parent / "shared" / "material"))
    parser.add_argument("--material", type=Path, default=Path(default))
    material = parser.parse_args().material
    pii = material / "pii"
    synth, tab, chinese = read_synth(pii), read_tab(pii), read_chinese(pii)
    strings = list(session_strings(material / "sessions"))
    engines = _engines()
    both = [*synth, *tab]
    prose = in_turns(engines, [case.text for case in both])
    timed = list(session_strings(material / "sessions", SESSIONS_ONE_IN))
    session = in_turns(engines, timed)
    planted = plants(strings)
    hits = in_turns(engines, [case.text for case in planted])
    ours = {name: find for name, find in engines.items() if name != PEER}
    cut = len(synth)
    of_synth = {name: spans[:cut] for name, spans in prose.spans.items()}
    of_tab = {name: spans[cut:] for name, spans in prose.spans.items()}
    figures: dict[str, Any] = {
        "synth_v2": _by_half(synth, of_synth, _sentences),
        "tab": _by_half(tab, of_tab, _court),
        "chinese": _by_half(chinese, in_turns(ours, [c.text for c in chinese]).spans, _typed),
        "prose": {name: characters(both, spans)[0] for name, spans in prose.spans.items()},
        "speed": {"prose": _pace(prose), "sessions": _pace(session)},
        "planted": {name: characters(planted, spans)[0] for name, spans in hits.spans.items()},
        "plants": len(planted),
    }
    print(json.dumps(figures, indent=1))
    write_text_part(figures)


def _engines() -> dict[str, Engine]:
    """The two levels that look for names, `full` with amounts too, and the peer last."""
    levels = (MaskingLevel.STRICT, MaskingLevel.FULL)
    settings = {f"{level}": at_level(DetectionConfig(), level) for level in levels}
    every = DetectionConfig(entities=tuple(EntityType))
    settings[WIDE] = at_level(every, MaskingLevel.FULL)
    return {name: engine(config) for name, config in settings.items()} | {PEER: default_engine()}


def _by_half(
    cases: Sequence[Case],
    spans: Find,
    measure: Callable[[Sequence[Case], Find], dict[str, Any]],
) -> dict[str, Any]:
    halves = {"development": (True,), "held_out": (False,), "all": (True, False)}
    figures = {}
    for half, kept in halves.items():
        positions = [position for position, case in enumerate(cases) if case.dev in kept]
        part = {name: [each[p] for p in positions] for name, each in spans.items()}
        figures[half] = measure([cases[p] for p in positions], part)
    return figures


def _sentences(cases: Sequence[Case], spans: Find) -> dict[str, Any]:
    """Exact spans of any type, and the same per template at level `full`."""
    groups: dict[str, list[int]] = defaultdict(list)
    for position, case in enumerate(cases):
        groups[case.key].append(position)
    full = spans[MaskingLevel.FULL]
    each = [
        exact([cases[p] for p in places], [full[p] for p in places])["f2"]
        for places in groups.values()
    ]
    return {
        "texts": len(cases),
        "templates": len(each),
        "templates_f2_at_least_.85": sum(value >= 0.85 for value in each),
        "templates_mean_f2": round(sum(each) / len(each), 3),
    } | {name: exact(cases, actual) | _chars(cases, actual) for name, actual in spans.items()}


def _chars(cases: Sequence[Case], spans: Spans) -> dict[str, float]:
    recall, precision = characters(cases, spans)
    return {"char_precision": precision, "char_recall": recall}


def _court(cases: Sequence[Case], spans: Find) -> dict[str, Any]:
    """TAB: a DIRECT entity counts if every letter and digit of all its mentions is covered."""
    figures: dict[str, Any] = {"texts": len(cases)}
    for name, actual in spans.items():
        entities, titled = direct(cases, actual)
        figures[name] = _chars(cases, actual) | {
            "direct_entity_recall": entities,
            "direct_entity_recall_with_titles": titled,
        }
    return figures


def _typed(cases: Sequence[Case], spans: Find) -> dict[str, Any]:
    """The Chinese set per type: exact spans at `full`, and covered ones at both levels."""
    full, strict = spans[MaskingLevel.FULL], spans[MaskingLevel.STRICT]
    total, alike = Counter[str](), Counter[str]()
    whole = {name: Counter[str]() for name in (MaskingLevel.FULL, MaskingLevel.STRICT)}
    for case, mine, more in zip(cases, full, strict, strict=True):
        given = {(start, end) for start, end, _ in mine}
        inside = {MaskingLevel.FULL: covered(mine), MaskingLevel.STRICT: covered(more)}
        for start, end, kind, _, _ in case.labels:
            total[kind] += 1
            alike[kind] += (start, end) in given
            for name, offsets in inside.items():
                whole[name][kind] += offsets.issuperset(range(start, end))
    clean = [position for position, case in enumerate(cases) if not case.labels]
    return {
        "texts": len(cases),
        "types": {
            kind: {
                "labels": count,
                "exact": round(alike[kind] / count, 4),
                "covered": round(whole[MaskingLevel.FULL][kind] / count, 4),
                "covered_strict": round(whole[MaskingLevel.STRICT][kind] / count, 4),
                "checksum": kind in _CHECKSUM,
            }
            for kind, count in sorted(total.items())
        },
        "clean_sentences": len(clean),
        "clean_flagged": sum(bool(full[position]) for position in clean),
        "clean_flagged_strict": sum(bool(strict[position]) for position in clean),
    } | exact(cases, full)


def _pace(run: Run) -> dict[str, Any]:
    """Characters a second, and how many times the peer's, by clock and processor."""
    figures: dict[str, Any] = {
        "texts": len(run.texts),
        "distinct": len(set(run.texts)),
        "characters": run.characters,
    }
    for kind, seconds in (("clock", run.clock), ("processor", run.processor)):
        for name in run.spans:
            figures[f"{name}_chars_per_{kind}_s"] = round(run.characters / seconds[name])
            figures[f"{name}_times_faster_by_{kind}"] = run.times_faster(name, seconds)
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


def plants(texts: Sequence[str]) -> list[Case]:
    """Every so many session strings, each with a sentence added on a line of its own."""
    cases = []
    for position, text in enumerate(texts[::_PLANT_EVERY]):
        frame, value = PLANTS[position % len(PLANTS)]
        before = text[:4000] + "\n"
        start = len(before) + frame.index("{}")
        label = (start, start + len(value), "", "", "")
        planted = before + frame.format(value) + "\n" + text[4000:8000]
        cases.append(Case(str(position), planted, (label,), True))
    return cases


if __name__ == "__main__":
    main()
