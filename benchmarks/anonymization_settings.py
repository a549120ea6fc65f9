"""Every setting that ships, on every bar: one table, with Presidio's default engine beside them.

    python -m benchmarks.anonymization_settings [--material DIR]

writes the part `settings` of results/anonymization.json and the first section of anonymization.md.
All engines read the same texts in one process, a slice of them in turn, so that the speeds are of
one run. A span counts as covered if every letter and digit of it is, whatever kind was found.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.anonymization_engines import PEER, all_engines, in_turns
from benchmarks.anonymization_settings_bars import (
    GERMAN_ONE_IN,
    PER_RULE,
    Bar,
    bars_of,
    parts,
)
from benchmarks.anonymization_text import SESSIONS_ONE_IN
from benchmarks.anonymization_text_report import write_section
from benchmarks.report import machine, table

_REPO = Path(__file__).resolve().parent.parent
_SHIPPED = ("strict", "strict, build", "full", "full, build")


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("BENCHMINT_MATERIAL", str(_REPO.parent / "shared" / "material"))
    parser.add_argument("--material", type=Path, default=Path(default))
    material = parser.parse_args().material
    engines = all_engines()
    bars: list[Bar] = []
    sizes: dict[str, tuple[int, int]] = {}
    begin = time.process_time()
    for part in parts(material):
        run = in_turns(engines, part.texts)
        added = list(bars_of(part, run))
        bars += added
        sizes[added[0].name.partition(":")[0]] = len(run.texts), run.characters
        print(*(f"{bar.name}: {bar.figures}" for bar in added), sep="\n", flush=True)
    spent = time.process_time() - begin
    figures = {
        "bars": [asdict(bar) for bar in bars],
        "sizes": sizes,
        "processor_seconds": round(spent),
    }
    write_section("settings", figures, _section(bars, sizes, spent))


def missed(bar: Bar) -> list[str]:
    """The settings that miss what is asked for; of levels without names only what they look for."""
    sign, _, limit = bar.wanted.partition(" ")
    if not limit:
        return []
    by_form = not any(word in bar.name for word in ("secrets", "speed", "clean"))
    names = [name for name in bar.figures if name != PEER and (name in _SHIPPED or not by_form)]
    demanded = bar.figures[PEER] if limit == "Presidio" else float(limit)
    return [
        name
        for name in names
        if (bar.figures[name] < demanded if sign == "≥" else bar.figures[name] > demanded)
    ]


def _row(bar: Bar) -> list[str]:
    shown = [f"{bar.figures[name]:.3f}" for name in (*bar.figures,)]
    misses = missed(bar)
    verdict = "" if not bar.wanted else f"missed by {'; '.join(misses)}" if misses else "met"
    return [bar.name, bar.read, bar.wanted, *shown, verdict]


def _section(bars: Sequence[Bar], sizes: dict[str, tuple[int, int]], spent: float) -> str:
    on = machine()
    names = list(bars[0].figures)
    ordered = sorted(bars, key=lambda bar: (not missed(bar), bar.wanted == ""))
    head = ["bar", "texts read", "asked", *names, "result"]
    drawn = table(
        ["texts", "number", "characters"],
        [[name, f"{count:,}", f"{size:,}"] for name, (count, size) in sizes.items()],
    )
    return f"""## Every setting that ships, on every bar

    python -m benchmarks.anonymization_settings

`strict` and `full` are `privacy mask` at these levels (`strict` is its default), records of any
kind; `…, build` is what a build masks sessions with (`strict` for sources that are not public);
`contacts_and_secrets` is a build's level for public sources, and looks, like `secrets`, for no
names: such bars do not apply to these two, but their figures are given. Misses stand first. Recall
is of spans covered in full, by findings of any kind.

{table(head, [_row(bar) for bar in ordered])}
- **Texts read.** "read": the rules were developed on them. "totals only": of these no author of
  rules has read a text; only figures like those above were printed. "no": nobody developed on that
  family. Families that rules were developed on: seven of eight templates of the English sentences,
  three of four court decisions, the first halves of both sets of tweets and of the Japanese
  articles, the Chinese sentences (whose twelve templates are in both halves), the strings of the
  sessions, and the cases of secrets, of which both halves have been read. Not developed on: the
  rest of the sentences and decisions, the second halves, and all German texts. **The set that no
  author of rules reads, and that stays so, is the second half of the tweets (BTC h, WNUT17).**
  German is not supported: such a text is refused (`masking.language_unsupported`), and the row
  shows why. Further halves of all sets are kept back as acceptance data. The titles of TAB, the
  templates of the sentences and the halves of the Chinese set are as in the section below.
- **What `strict` costs** is the precision by character, the clean sentences flagged and the share
  of session strings that is masked: it masks what nothing explains, and is not meant to be precise.
- **Chinese clean sentences.** Those that `strict` still flags are one template, with an order
  number. It stays masked, and the bar missed: an order is somebody's, and planters who had not seen
  the rules planted such numbers as private values. Before, digests, versions, codes of industries
  and counts were flagged, too; half of the set was read when these were mended.
- **English sentences, other.** Addresses without a town and ages after contractions are found since
  the last measurement, and exact F2 of `strict` rose from .829 to .900. No text of this set was
  read, but for these two kinds its counts chose between hypotheses (for ages, which group of
  patterns changed them): for them it is no longer a set that nobody went by. The other settings
  leave dates, ages or places in sentences as they are, which count as missed.
- **Titles.** A title before a name (Mr, Dr, Judge) stays in all settings: it names nobody, and a
  task may ask for it. So it is no part of what has to be covered; "titles counted" is with it.
- **Dates.** `privacy mask` shifts all dates, a build only dates of birth; well-known places, ages
  and nationalities stay in a build, too. Hence its lower figures for QUASI characters.
- **Persons:** precision is the share of letters in findings of persons and accounts (or Presidio's
  persons) that is in a labelled person. The bar is Presidio's recall at no lower precision.
- **Drawn by digest:** one session file in {SESSIONS_ONE_IN} with all its strings, one German text
  in {GERMAN_ONE_IN}, {PER_RULE} cases at most of each rule about secrets (all of them:
  [secrets](anonymization_secrets.md)). Everything else is whole:

{drawn}
Planted values: [blind plants](blind_plants.md). Restoring, tables and attacks on them, and all
cases of secrets: the section below.

{on["cpus"]} CPUs ({on["architecture"]}), {on["system"]}, Python {on["python"]}; {spent:.0f} s of
the processor, one process.
"""


if __name__ == "__main__":
    main()
