"""The two settings that ship, each on every set: what `benchmint mask` and what a build uses.

    python -m benchmarks.anonymization_settings [--material DIR]

writes the part `settings` of results/anonymization.json and the first section of anonymization.md.
The peer is Presidio's default engine with the small English model. A span counts as covered if
every letter and digit of it is; a title before a name (Mr, Dr) is no part of it, see the page.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anonymization.text.contracts import DetectionConfig, EntityType
from anonymization.text.detect.engine import TextDetector
from benchmarks.anonymization_text import PLANTS
from benchmarks.anonymization_text_cases import (
    Case,
    read_chinese,
    read_synth,
    read_tab,
    session_strings,
)
from benchmarks.anonymization_text_peer import default_engine
from benchmarks.anonymization_text_report import write_section
from benchmarks.report import machine, table

_REPO = Path(__file__).resolve().parent.parent
_TITLE = re.compile(r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Madam|Lord|Lady|Judge)\b\.? )+")
_NAMES = {EntityType.PERSON, EntityType.ACCOUNT}
_PLANT_EVERY = 40  # session strings

Spans = list[list[tuple[int, int]]]
Find = Callable[[Sequence[str]], Spans]
Label = tuple[int, int, str]


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("BENCHMINT_MATERIAL", str(_REPO.parent / "shared" / "material"))
    parser.add_argument("--material", type=Path, default=Path(default))
    said = parser.parse_args()
    engines = {
        "mask": _ours(DetectionConfig()),
        "build": _ours(DetectionConfig.for_tasks()),
        "presidio": (default_engine(), default_engine(["PERSON"])),
    }
    figures = {name: _measured(*engine, said.material) for name, engine in engines.items()}
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    write_section("settings", figures, _section(figures))


def _ours(config: DetectionConfig) -> tuple[Find, Find]:
    """All findings, and those of persons and accounts."""
    detector = TextDetector(config)

    def find(texts: Sequence[str]) -> Spans:
        return [[(f.start, f.end) for f in actual] for actual in detector.find(texts)]

    def find_people(texts: Sequence[str]) -> Spans:
        return [
            [(f.start, f.end) for f in actual if f.type in _NAMES]
            for actual in detector.find(texts)
        ]

    return find, find_people


def _measured(find: Find, find_people: Find, material: Path) -> dict[str, float]:
    """Every bar for one engine, as shares."""
    pii = material / "pii"
    figures: dict[str, float] = {}
    synth, tab, chinese = read_synth(pii), read_tab(pii), read_chinese(pii)
    for half, is_dev in (("developed on", True), ("other", False)):
        figures[f"English sentences, characters, {half}"] = _characters(
            [case for case in synth if case.dev is is_dev], find
        )
        direct, whole = _direct([case for case in tab if case.dev is is_dev], find)
        figures[f"court decisions, DIRECT entities, {half}"] = direct
        figures[f"the same, titles counted, {half}"] = whole
        figures[f"court decisions, DIRECT and QUASI characters, {half}"] = _characters(
            [case for case in tab if case.dev is is_dev], find
        )
    for kind in ("NAME", "COMPANY", "ADDRESS", "PHONE", "ID_CARD", "BANK_CARD", "USCC"):
        figures[f"Chinese sentences, {kind}"] = _kind(chinese, kind, find)
    figures["Chinese clean sentences flagged"] = _flagged(chinese, find)
    for name, people in _NER.items():
        cases = _ner(pii / "ner" / f"{name}.jsonl.gz")
        for half, part in _halves(cases).items():
            recall, precision = _people(part, people, find, find_people)
            figures[f"{_TITLES[name]}, persons, recall, {half}"] = recall
            figures[f"{_TITLES[name]}, persons, precision, {half}"] = precision
    figures["planted in sessions, characters"] = _planted(material, find)
    return figures


_NER = {"en_wnut17": {"person"}, "en_tweets_btc_h": {"PER"}, "ja_wikipedia": {"人名"},
        "de_legal": {"PER"}}  # fmt: skip
_TITLES = {"en_wnut17": "chat (WNUT17)", "en_tweets_btc_h": "chat (BTC h)",
           "ja_wikipedia": "Japanese Wikipedia", "de_legal": "German court decisions"}  # fmt: skip


def _halves(cases: Sequence[Any]) -> dict[str, Sequence[Any]]:
    middle = len(cases) // 2
    return {"developed on": cases[:middle], "other": cases[middle:]}


def _ner(path: Path) -> list[tuple[str, list[Label]]]:
    with gzip.open(path) as file:
        rows = [json.loads(line) for line in file]
    return [
        (row["text"], [(start, end, kind) for start, end, kind in row["spans"]]) for row in rows
    ]


def _solid(text: str, start: int, end: int) -> set[int]:
    """The offsets of letters and digits in a span."""
    return {offset for offset in range(start, end) if text[offset].isalnum()}


def _covered(spans: Sequence[tuple[int, int]]) -> set[int]:
    return {offset for start, end in spans for offset in range(start, end)}


def _people(
    cases: Sequence[tuple[str, list[Label]]], kinds: set[str], find: Find, find_people: Find
) -> tuple[float, float]:
    """Persons covered by findings of any kind; the share of letters in found persons that is in
    labelled ones."""
    hits = total = right = given = 0
    texts = [text for text, _ in cases]
    for (text, labels), spans, people in zip(cases, find(texts), find_people(texts), strict=True):
        mine = _covered(spans)
        gold: set[int] = set()
        for start, end, kind in labels:
            solid = _solid(text, start, end)
            if kind in kinds and solid:
                total, hits = total + 1, hits + (solid <= mine)
                gold |= solid
        for start, end in people:
            solid = _solid(text, start, end)
            right, given = right + len(solid & gold), given + len(solid)
    return _share(hits, total), _share(right, given)


def _characters(cases: Sequence[Case], find: Find) -> float:
    hits = total = 0
    for case, spans in zip(cases, find([case.text for case in cases]), strict=True):
        gold = {
            offset
            for start, end, _, grade, _ in case.labels
            if grade != "NO_MASK"
            for offset in range(start, end)
        }
        hits, total = hits + len(gold & _covered(spans)), total + len(gold)
    return _share(hits, total)


def _direct(cases: Sequence[Case], find: Find) -> tuple[float, float]:
    """DIRECT entities of which all mentions are covered: without and with their titles."""
    plain: dict[tuple[str, str], bool] = {}
    titled: dict[tuple[str, str], bool] = {}
    for case, spans in zip(cases, find([case.text for case in cases]), strict=True):
        mine = _covered(spans)
        for start, end, _, grade, entity in case.labels:
            if grade != "DIRECT":
                continue
            key = (case.key, entity)
            title = _TITLE.match(case.text, start, end)
            name = _solid(case.text, title.end() if title else start, end)
            plain[key] = plain.get(key, True) and name <= mine
            titled[key] = titled.get(key, True) and _solid(case.text, start, end) <= mine
    return _share(sum(plain.values()), len(plain)), _share(sum(titled.values()), len(titled))


def _kind(cases: Sequence[Case], kind: str, find: Find) -> float:
    hits = total = 0
    for case, spans in zip(cases, find([case.text for case in cases]), strict=True):
        for start, end, of, _, _ in case.labels:
            if of == kind:
                total, hits = total + 1, hits + (_solid(case.text, start, end) <= _covered(spans))
    return _share(hits, total)


def _flagged(cases: Sequence[Case], find: Find) -> float:
    clean = [case.text for case in cases if not case.labels]
    return _share(sum(map(bool, find(clean))), len(clean))


def _planted(material: Path, find: Find) -> float:
    """Characters of values in sentences that were added to every so many session strings."""
    texts, labels = [], []
    for position, text in enumerate(list(session_strings(material / "sessions"))[::_PLANT_EVERY]):
        frame, value = PLANTS[position % len(PLANTS)]
        start = len(text[:4000]) + 1 + frame.index("{}")
        texts.append(text[:4000] + "\n" + frame.format(value) + "\n" + text[4000:8000])
        labels.append(set(range(start, start + len(value))))
    hits = [len(gold & _covered(spans)) for gold, spans in zip(labels, find(texts), strict=True)]
    return _share(sum(hits), sum(map(len, labels)))


def _share(hits: int, total: int) -> float:
    return round(hits / total, 3) if total else 0.0


def _section(figures: Mapping[str, Mapping[str, float]]) -> str:
    on = machine()
    names = ("mask", "build", "presidio")
    rows = [
        [bar, *(f"{figures[name][bar]:.3f}" for name in names)] for bar in sorted(figures[names[0]])
    ]
    return f"""## The settings that ship, on every set

    python -m benchmarks.anonymization_settings

`mask` is what `benchmint mask` and `benchmint scan` use (`DetectionConfig()`, for records of any
kind), `build` what sessions are masked with (`DetectionConfig.for_tasks()`). Shares of spans
covered in full, by findings of any kind, unless a row says otherwise.

- **Families the rules were developed on:** the English sentences, the court decisions and the
  Chinese sentences ("developed on" and "other" as in the section below); of the tweets and of the
  Japanese articles the first half was read, of the other half only totals.
- **Families nobody developed on:** German court decisions. German is not supported: such a text is
  rejected (`masking.language_unsupported`), and the row shows why.
- **Read by no author of rules:** the halves of these sets that are kept back as acceptance data.
- **Titles.** A title before a name (Mr, Dr, Judge) stays in both settings: it names nobody, and a
  task may ask for it. So it is no part of what has to be covered; the row "titles counted" shows
  the figure with it.
- **Dates.** `mask` shifts all dates, `build` only dates of birth; well-known places, ages and
  nationalities stay in a build, too. Hence its lower figures for QUASI characters and sentences.
- **Persons:** recall by findings of any kind; precision is the share of letters in findings of
  persons and accounts (`mask`, `build`) or of persons (Presidio) that is in a labelled person.

{table(["bar", *names], rows)}
{on["cpus"]} CPUs ({on["architecture"]}), {on["system"]}, Python {on["python"]}.
"""


if __name__ == "__main__":
    main()
