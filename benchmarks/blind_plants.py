"""Blind plants: which of somebody else's planted values survive masking, by value and by place.

    python -m benchmarks.blind_plants FOLDER [--release RELEASE] [--record FILE]
        [--private-values LIST] [--reviewed WORDS] [--out DIR]

FOLDER holds `truth.csv` and `files/`. `truth.csv` has the columns `value`, `place` (what kind of
place the value stands in), `language` and `file` (a path below `files/`). The files are masked as
`privacy mask` does it, up to three times: by the rules alone, with the owner's list of private
values, and after the owner's review (with the list too, if there is one). DIR keeps the three runs:
`DIR/rules/private/words.csv` is what the owner reviews. With `--release`, the values are looked for
in that folder instead (what a build released of the planted sessions). A value survives if the leak
search finds it in any file, in any spelling or encoding that it knows. The report names places,
never values.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymization.documents.scopes import FILES, MaskingConfig, mask_paths
from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.leaks.scan import scan_release
from anonymization.text.normal_form import PLANTED
from anonymization.words_review import owners_words
from benchmarks.report import table
from data.atomic import write_bytes
from data.canonical import digest
from data.errors import InputError

_KEY = bytes(32)  # nothing that this program writes is released
RULES = "rules"
_COLUMNS = ("value", "place", "language", "file")


@dataclass(frozen=True, slots=True)
class Plant:
    """A planted value, the kind of place that it stands in, and its file below `files/`."""

    value: str
    place_kind: str
    language: str
    file: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a plant: `survivors` are files and encodings in which it still stands."""

    plant: Plant
    survivors: tuple[tuple[str, str], ...]
    refusal: str
    is_searched: bool


def main() -> None:
    """Mask, search and report; exit 1 if a value survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--release", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--private-values", type=Path)
    parser.add_argument("--reviewed", type=Path)
    parser.add_argument("--out", type=Path)
    said = parser.parse_args()
    plants = read_plants(said.folder / "truth.csv")
    with tempfile.TemporaryDirectory() as scratch:
        if said.release:
            runs = {"release": searched(plants, said.release, {})}
        else:
            given = runs_of(said.private_values, said.reviewed)
            runs = measured(plants, said.folder / "files", said.out or Path(scratch), given)
    *_, outcomes = runs.values()
    page = f"{compared(runs)}\n{report(outcomes)}"
    print(page)
    if said.record:
        write_bytes(said.record, page.encode())
    raise SystemExit(1 if any(outcome.survivors for outcome in outcomes) else 0)


def read_plants(path: Path) -> list[Plant]:
    """The plants of a list. Raises InputError with the number of the first line of another form."""
    fix = "Fix the line; quote values that contain commas or line breaks."
    with path.open(encoding="utf-8-sig", newline="") as handle:
        rows = csv.DictReader(handle)
        if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
            expected = f"the columns {', '.join(_COLUMNS)}"
            raise InputError(str(path), f"no {missing[0]}", expected, "Add it.", 1)
        plants = []
        for row in rows:
            if None in row or not all(row[name] for name in _COLUMNS):
                expected = f"a value in each of {len(_COLUMNS)} columns"
                raise InputError(str(path), "more or fewer", expected, fix, rows.line_num)
            plants.append(Plant(*(row[name] for name in _COLUMNS)))
    return plants


@dataclass(frozen=True, slots=True)
class Owner:
    """What the owner gave: a list of private values, and the words of an earlier run, decided."""

    listed: Path | None = None
    reviewed: Path | None = None


def runs_of(listed: Path | None, reviewed: Path | None) -> dict[str, Owner]:
    """The runs to be measured, by their names: without the owner, with the list, reviewed."""
    runs = {RULES: Owner()}
    if listed is not None:
        runs["with the owner's list"] = Owner(listed)
    if reviewed is not None:
        runs["after the owner's review"] = Owner(listed, reviewed)
    return runs


def measured(
    plants: Sequence[Plant], files: Path, out: Path, runs: Mapping[str, Owner]
) -> dict[str, list[Outcome]]:
    """Every plant after each run; the folder of a run is named by the last word of its name."""
    outcomes = {}
    for name, owner in runs.items():
        folder = out / name.split()[-1]
        refused = masked(files, folder, owner)
        outcomes[name] = searched(plants, folder / FILES, refused)
    return outcomes


def masked(files: Path, out: Path, owner: Owner) -> dict[str, str]:
    """Mask a folder as `benchmint privacy mask` does; the refused files with their reasons."""
    if out.exists():
        raise InputError(str(out), "the run of another time", "no folder", "Name another --out.")
    listed, review = owners_words(owner.listed, owner.reviewed)
    reports = mask_paths([files], out, _KEY, MaskingConfig(), 1, listed, review)
    reasons = {r.original_sha256: str(r.refusal) for r in reports if r.refusal is not None}
    paths = [path for path in files.rglob("*") if path.is_file()]
    sums = {path.relative_to(files).as_posix(): digest(path.read_bytes()) for path in paths}
    return {name: reasons[sha256] for name, sha256 in sums.items() if sha256 in reasons}


def searched(plants: Sequence[Plant], release: Path, refused: Mapping[str, str]) -> list[Outcome]:
    """Every plant with the files of the release in which it still stands."""
    config = LeakConfig()
    patterns = LeakPatterns([PrivateValue(plant.value, PLANTED) for plant in plants], _KEY, config)
    leaks = scan_release(release, patterns, config) if release.is_dir() else []
    digests = {private.value: patterns.digest(n) for n, private in enumerate(patterns.values)}
    return [
        Outcome(
            plant,
            tuple((leak.file, leak.encoding) for leak in leaks if leak.digest == sha256),
            refused.get(plant.file, ""),
            sha256 is not None,
        )
        for plant in plants
        for sha256 in [digests.get(plant.value.strip())]
    ]


def compared(runs: Mapping[str, Sequence[Outcome]]) -> str:
    """A row for each run: values, those in refused files, survivors in the accepted ones."""
    rows = []
    for name, outcomes in runs.items():
        refused = sum(bool(outcome.refusal) for outcome in outcomes)
        survived = sum(bool(outcome.survivors) for outcome in outcomes)
        accepted = len(outcomes) - refused
        rows.append([name, *map(str, (len(outcomes), refused, accepted, survived))])
        rows[-1].append(f"{100 * survived / accepted:.1f} %" if accepted else "")
    columns = ["run", "values", "in refused files", "in accepted files", "survived there", "share"]
    return table(columns, rows)


def report(outcomes: Sequence[Outcome]) -> str:
    """The counts by language and by place, the refusals, and where each survivor stands."""
    survivors = [
        [outcome.plant.place_kind, outcome.plant.language, outcome.plant.file, file, encoding]
        for outcome in outcomes
        for file, encoding in outcome.survivors
    ]
    refused = [outcome for outcome in outcomes if outcome.refusal]
    total = sum(bool(outcome.survivors) for outcome in outcomes)
    short = sum(not outcome.is_searched for outcome in outcomes)
    columns = ["values", "survived", "in refused files"]
    places = [(outcome.plant.place_kind, outcome) for outcome in outcomes]
    languages = [(outcome.plant.language, outcome) for outcome in outcomes]
    standing = ["kind of place", "language", "planted in", "stands in", "as"]
    return f"""# Blind plants

{total} of {len(outcomes) - len(refused)} values in accepted files survived; {len(refused)} more are
in refused files; {short} are too short to be searched for.

{table(["language", *columns], _counts(languages))}

{table(["kind of place", *columns], _counts(places))}
{table(standing, survivors) if survivors else ""}"""


def _counts(outcomes: Sequence[tuple[str, Outcome]]) -> list[list[str]]:
    """A row for each kind: values, survivors, and the reasons of refusals with their numbers."""
    rows = []
    for kind in sorted({name for name, _ in outcomes}):
        of = [outcome for name, outcome in outcomes if name == kind]
        reasons = Counter(outcome.refusal for outcome in of if outcome.refusal)
        rows.append([
            kind,
            str(len(of)),
            str(sum(bool(outcome.survivors) for outcome in of)),
            ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items())),
        ])  # fmt: skip
    return rows


if __name__ == "__main__":
    main()
