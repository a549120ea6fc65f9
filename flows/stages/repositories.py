"""The stages of the repositories lane: tasks of sessions, proofs of their tests, candidates."""

from __future__ import annotations

from pathlib import Path

from anonymization.leaks.candidate_leaks import leaks_of
from anonymization.leaks.contracts import GATE, measure
from anonymization.masking_recipe import for_source
from anonymization.session_masking import MaskJob, mask_tree
from anonymization.words_review import listed_digest, owners_words
from construction.grading.programs_box import ENVIRONMENTS
from construction.judging.model.prompt import load_prompt
from construction.judging.settings import ModelStage
from construction.mentions.files import file_name_spans
from construction.repositories.candidates import Origin
from construction.repositories.contracts import RepositoryReason, dump
from construction.repositories.requests import PROMPT
from construction.repositories.stages import (
    PROVE,
    RECOVER,
    REQUEST,
    TASK,
    Outside,
    Releasing,
    prove_all,
    with_written_tests,
    write_candidates,
    write_graded,
    write_proofs,
    write_tasks,
)
from construction.repositories.tasks import (
    MODEL_STAGE,
    STAGE,
    UNPROVABLE,
    Mask,
    find_repositories,
    source_digest,
)
from construction.repositories.tasks import VERSION as _RUBRICS
from construction.repositories.written_tests import PROMPT as TESTS_PROMPT
from construction.sandbox.presence import Presence
from construction.sessions.scan import read_scan
from data.canonical import digest
from data.contracts import Candidate, Disclosure, StageKind
from data.stages import Observed, Stage, Unit
from flows.run import PLANNED, Run, Work, asking
from flows.stages.sessions import SCAN, SOURCES, release_targets

FILTER, _DERIVE = StageKind.FILTER, StageKind.DERIVE


def is_given(run: Run) -> bool:
    """Are there repositories, and sessions over them?"""
    return bool(run.runtime.repos and run.runtime.sessions)


_writes_tests = asking(ModelStage.REPOSITORY_TESTS)


def _grades_by_rubric(run: Run) -> bool:
    """Does the recipe have a model write a rubric where no tests are proven?"""
    does = run.recipe.judging.model.does(MODEL_STAGE)
    return run.recipe.repositories.rubric_without_tests and does


def _takes_untested(run: Run) -> bool:
    return _writes_tests(run) or _grades_by_rubric(run)


def _rubrics(run: Run) -> frozenset[RepositoryReason]:
    """The reasons of tasks without a proof that are graded by a rubric."""
    return UNPROVABLE if _grades_by_rubric(run) else frozenset()


def _look(work: Work) -> Observed:
    sources = find_repositories(work.run.runtime.repos)
    digests = {name: source_digest(path) for name, path in sources}
    return Observed([digests, _takes_untested(work.run)], sources)


def _repositories(work: Work) -> dict[str, str]:
    named = {f"repository{n}": source_digest(path) for n, (_, path) in enumerate(work.observed, 1)}
    if work.run.recipe.source.disclosure is Disclosure.PUBLIC:
        return named
    return named | {"private values": listed_digest(_job(work.run).listed, work.run.key)}


def _job(run: Run) -> MaskJob:
    listed, _ = owners_words(run.runtime.private_values, run.runtime.reviewed)
    masking = for_source(run.recipe.masking, run.recipe.source.disclosure)
    return MaskJob((), {}, masking, run.key, file_name_spans, listed)


def _recover(work: Work, out: Path) -> None:
    """Recover tasks; those of a source that is not public are masked, words and trees together."""
    run, recipe, job = work.run, work.run.recipe, _job(work.run)
    mask: Mask = lambda task, texts, files: mask_tree(texts, files, job, task, out)  # noqa: E731
    files = read_scan(work.folder(SCAN.name), run.private / SOURCES)
    write_tasks(
        work.observed, files, recipe.repositories, out, recipe.source.licence,
        None if recipe.source.disclosure is Disclosure.PUBLIC else mask,
        untested=_takes_untested(run),
    )  # fmt: skip


TASKS = Stage(
    name=RECOVER,
    meaning="At which commit did each change in a session begin, and what did it change?",
    units=(Unit("repository", FILTER), Unit("session", _DERIVE), Unit(TASK, FILTER)),
    settings=("repositories", "masking", "source"),
    reads=(SCAN.name,),
    observe=_look,
    inputs=_repositories,
    compute=_recover,
    uses_key=True,
)


def _prove(work: Work) -> Observed:
    """Build environments and run tests, replaying what was captured before."""
    run, is_planned = work.run, PLANNED.get() is not None
    outside = Outside(
        run.recipe.repositories,
        run.private / "captures",
        run.private / ENVIRONMENTS,
        run.sandbox() is Presence.PRESENT,
        replays=is_planned,
    )
    proofs = prove_all(work.folder(TASKS.name), outside)
    prompt = [load_prompt(TESTS_PROMPT).digest, run.judges.of(ModelStage.REPOSITORY_TESTS)]
    written = [*prompt, outside.has_sandbox] if _writes_tests(run) else []
    written += [_RUBRICS] if _grades_by_rubric(run) else []
    return Observed([digest(b"".join(map(dump, proofs))), written], (proofs, outside))


def _captured(work: Work) -> dict[str, str]:
    proofs, _ = work.observed
    return {"repository-tests": digest(b"".join(map(dump, proofs)))}


def _write_proofs(work: Work, out: Path) -> None:
    """Write the proofs, with those of tests that a model writes where a session brought none."""
    proofs, outside = work.observed
    folder, judges = work.folder(TASKS.name), work.run.judges
    proofs = with_written_tests(folder, proofs, outside, judges, out)
    write_proofs(proofs, out, _rubrics(work.run))


TESTS = Stage(
    name=PROVE,
    meaning="Do its hidden tests fail on the base, pass on the reference, and reject attacks?",
    units=(Unit(TASK, FILTER),),
    settings=("repositories",),
    reads=(TASKS.name,),
    observe=_prove,
    inputs=_captured,
    asks=_writes_tests,
    compute=_write_proofs,
)


def _prompt(work: Work) -> Observed:
    judges = work.run.judges.of(ModelStage.REPOSITORY_REQUESTS)
    rubrics = [_RUBRICS] if _grades_by_rubric(work.run) else []
    return Observed([load_prompt(PROMPT).digest, judges, *rubrics], None)


def _candidates(work: Work, out: Path) -> None:
    run, source = work.run, work.run.recipe.source
    masked = work.folders(TASKS.name)
    targets = release_targets(run, masked)

    def leaks(candidate: Candidate, archive: Path) -> str | None:
        if source.disclosure is Disclosure.PUBLIC:
            return None
        leaked = leaks_of(candidate, {candidate.fixtures[0].sha256: archive}, targets)
        reason = GATE.judge(measure(leaked), targets.config).reason
        return None if reason is None else str(reason)

    def origin(item: str) -> Origin:
        return Origin(run.opaque("r", item), source.name, source.disclosure)

    captures = run.private / "captures"
    config, rubrics = run.recipe.repositories, _rubrics(run)
    releasing = Releasing(config, run.judges, leaks, origin, captures, rubrics)
    write_candidates(work.folder(TASKS.name), work.folder(TESTS.name), releasing, out)


REQUESTS = Stage(
    name=REQUEST,
    meaning="What did the user ask for, in words that do not give away the change?",
    units=(Unit(TASK, FILTER),),
    settings=("repositories", "masking", "source"),
    reads=(TASKS.name, TESTS.name),
    observe=_prompt,
    asks=asking(ModelStage.REPOSITORY_REQUESTS),
    compute=_candidates,
    uses_key=True,
)


def _rubric_prompt(work: Work) -> Observed:
    prompt = load_prompt(str(MODEL_STAGE)).digest
    return Observed([prompt, _RUBRICS, work.run.judges.of(MODEL_STAGE)], None)


def _grade(work: Work, out: Path) -> None:
    write_graded(work.folder(REQUESTS.name), work.run.judges, out)


RUBRICS = Stage(
    name=STAGE,
    meaning="Which rubric judges it, if no tests could be proven?",
    units=(Unit(TASK, FILTER),),
    settings=("judging.model_stages",),
    reads=(REQUESTS.name,),
    observe=_rubric_prompt,
    asks=asking(MODEL_STAGE),
    compute=_grade,
    applies=_grades_by_rubric,
)
