"""Two monthly popularity snapshots of an invented skill registry, as CSV tables."""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

from data.contracts import StageConfig
from data.randomness import keyed_generator, keyed_order

FOLDER = "signals"
OLD_MONTH, NEW_MONTH = "2025-12-01", "2026-01-01"
NOWHERE = "nowhere"  # the family of skills that fit no other
_WORDS = Path(__file__).with_name("skills.toml")
# Downloads are log-normal, with a tail as heavy as a real registry's: of 120 skills the first has
# about fifty times the median.
_MEDIAN, _SIGMA, _LEAST = 1800, 1.6, 12
_N_NEW, _N_DROPPED, _N_MOVED = 6, 4, 5
# The part of the new month's counts that was added within the month.
_GROWTH, _GROWTH_MOVED = (0.02, 0.10), (0.70, 0.85)


class Skills(StageConfig):
    """The texts of the registry; `families` maps a family to (slug, name, summary)."""

    owners: tuple[str, ...]
    families: Mapping[str, tuple[tuple[str, str, str], ...]]


@dataclass(frozen=True, slots=True)
class _Skill:
    """A skill as a registry lists it. Counts are totals since it was published."""

    slug: str
    name: str
    downloads: int
    stars: int
    installs_current: int
    installs_all_time: int
    comments: int
    versions: int
    owner: str
    summary: str


_COLUMNS = ("rank", *(field.name for field in fields(_Skill)))


@cache
def load_skills() -> Skills:
    """The invented skills and their owners."""
    return Skills.model_validate(tomllib.loads(_WORDS.read_text(encoding="utf-8")))


def write_signals(target: Path, seed: int) -> int:
    """Write `signals/2025-12-01.csv` and `signals/2026-01-01.csv` below `target`.

    Both rank by downloads, ties by slug. No count of a skill decreases from the first month to the
    second; some skills occur in one month only, and some rise far. Skills without a family occur
    in both. Returns the number of rows in both files.
    """
    known = load_skills()
    placed = [
        row[0] for family, rows in known.families.items() if family != NOWHERE for row in rows
    ]
    order = [placed[index] for index in keyed_order(seed, "demo.signals.changes", placed)]
    new, rest = set(order[:_N_NEW]), order[_N_NEW:]
    dropped, moved = set(rest[:_N_DROPPED]), set(rest[_N_DROPPED:][:_N_MOVED])
    old_month, new_month = [], []
    for row in (row for rows in known.families.values() for row in rows):
        slug = row[0]
        before, after = _months(seed, row, known.owners, slug in moved)
        if slug not in new:
            old_month.append(before)
        if slug not in dropped:
            new_month.append(after)
    folder = target / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    _write_table(folder / f"{OLD_MONTH}.csv", old_month)
    _write_table(folder / f"{NEW_MONTH}.csv", new_month)
    return len(old_month) + len(new_month)


def _months(
    seed: int, row: tuple[str, str, str], owners: tuple[str, ...], moved: bool
) -> tuple[_Skill, _Skill]:
    """The skill in the old and in the new month, drawn from seed and slug alone."""
    slug, name, summary = row
    rng = keyed_generator(seed, "demo.signals", slug)
    downloads = _LEAST + _MEDIAN * math.exp(_SIGMA * rng.standard_normal())
    growth = rng.uniform(*(_GROWTH_MOVED if moved else _GROWTH))
    stars, installs, still, comments = rng.uniform(
        (0.0002, 0.002, 0.85, 0.0), (0.004, 0.02, 1.0, 0.0002)
    )
    versions = 1 + int(rng.exponential(1.5))
    owner = owners[int(rng.integers(len(owners)))]

    def at(part: float) -> _Skill:
        total = int(part * downloads)
        installed = int(total * installs)
        return _Skill(
            slug=slug,
            name=name,
            downloads=total,
            stars=int(total * stars),
            installs_current=int(installed * still),
            installs_all_time=installed,
            comments=int(total * comments),
            versions=versions,
            owner=owner,
            summary=summary,
        )

    return at(1 - growth), at(1.0)


def _write_table(path: Path, skills: Iterable[_Skill]) -> None:
    ranked = sorted(skills, key=lambda skill: (-skill.downloads, skill.slug))
    with path.open("w", encoding="utf-8", newline="") as handle:
        table = csv.writer(handle)  # ends its lines with CR LF
        table.writerow(_COLUMNS)
        table.writerows((rank, *astuple(skill)) for rank, skill in enumerate(ranked, start=1))
