"""The stages that keep private text in: masking, and the search for what it left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from anonymization.instruction_gate import read_changes
from anonymization.leaks.candidate_leaks import STAGE as LEAK_CHECK_STAGE
from anonymization.leaks.candidate_leaks import (
    LeakTargets,
    MaskedRequests,
    leak_targets,
    read_tripwires,
    read_vaults,
    shared_values,
    write_leak_check,
)
from anonymization.masking_recipe import Undecided, for_source, with_approvals
from anonymization.session_masking import STAGE as MASKING_STAGE
from anonymization.session_masking import (
    MaskJob,
    find_shard,
    mask_shard,
    payloads,
    session_groups,
    write_list,
)
from anonymization.text.masking.known_search import Listed
from anonymization.words_review import WORDS, kept_digest, listed_digest, owners_words
from construction.judging.calls.contracts import Mode
from construction.judging.settings import ModelStage
from construction.judging.stages import read_graded
from construction.mentions.files import file_name_spans
from construction.sessions.network.probe import frozen_path
from construction.sessions.stages import read_probes, with_frozen_pages
from data.canonical import digest
from data.contracts import Disclosure, StageKind
from data.errors import ConfigError
from data.pool import read_pool
from data.stages import Folders, Observed, Shard, Stage, Unit
from data.survivors import Survivor
from flows.run import Run, Work
from flows.stages.sessions import DISTINCT, NETWORK, RECOVER, survivors_of

FILTER = StageKind.FILTER


def _find_shards(work: Work) -> list[Shard]:
    return _shards(work, find_shard, ())


def _mask_shards(work: Work) -> list[Shard]:
    is_public = work.run.recipe.source.disclosure is Disclosure.PUBLIC
    vaults = read_vaults(work.folders(FIND_PRIVATE.name), work.run.key)
    return _shards(work, mask_shard, shared_values(vaults, is_public=is_public))


def _shards(work: Work, compute: Callable[[MaskJob, Path], None], elsewhere: Listed) -> list[Shard]:
    """Whole sessions, some to a shard, in the order of their ids; one vault per session."""
    run = work.run
    recipe = for_source(run.recipe.masking, run.recipe.source.disclosure)
    config = with_approvals(recipe, run.runtime.approvals)
    listed, review = owners_words(run.runtime.private_values, run.runtime.reviewed)
    masks_undecided = review is None and _masks_undecided(run)
    named = [listed_digest(values, run.key) for values in (listed, elsewhere)]
    decided = None if review is None else kept_digest(review, run.key)
    results = read_probes(work.folder(NETWORK.name))
    pages = {
        result.sha256: frozen_path(result.sha256, run.frozen)
        for result in results.values()
        if result.sha256 is not None
    }
    survivors = [
        with_frozen_pages(s, results) for s in survivors_of(work, DISTINCT.name, NETWORK.name)
    ]
    chosen = [sorted(config.documents.approvals), [*named, decided, masks_undecided]]
    return [
        Shard(
            [*chosen, *map(payloads, sessions)],
            partial(
                compute,
                MaskJob(
                    sessions,
                    _used(pages, sessions),
                    config,
                    run.key,
                    file_name_spans,
                    listed,
                    review,
                    masks_undecided,
                    elsewhere,
                ),
            ),
        )
        for sessions in session_groups(survivors)
    ]


def _masks_undecided(run: Run) -> bool:
    """Is what nothing explains masked until it is decided? Always for a remote model (law 9).

    Raises ConfigError where the recipe would show it to one.
    """
    chosen, model = run.recipe.masking.undecided, run.recipe.judging.model
    is_asked = any(map(model.does, ModelStage))
    if chosen is None or not is_asked:
        return chosen is Undecided.MASKED or (chosen is None and is_asked)
    calls = run.runtime.model_calls.mode is not Mode.REPLAY
    if chosen is Undecided.LISTED and calls and not run.runtime.llm.is_loopback:
        raise ConfigError(
            '[masking] undecided: found "listed" with a model at a non-loopback address; expected '
            '"masked" (the default with a model), or a list with all decisions made (--reviewed).'
        )
    return chosen is Undecided.MASKED


def _used(pages: Mapping[str, Path], sessions: Sequence[Sequence[Survivor]]) -> dict[str, Path]:
    """The frozen pages among the fixtures of some sessions: a worker fetches what its job names."""
    fixtures = (item for of in sessions for survivor in of for item in survivor.fixtures)
    return {item.sha256: pages[item.sha256] for item in fixtures if item.sha256 in pages}


FIND_PRIVATE = Stage(
    name="find-private",
    meaning="Which values in each session are private, wherever they appear in the source?",
    units=(),
    settings=("masking", "source.disclosure"),
    reads=(RECOVER.name, DISTINCT.name, NETWORK.name),
    shards=_find_shards,
    uses_key=True,
)
MASKING = Stage(
    name=MASKING_STAGE,
    meaning="Can every file be masked, or has a person approved it?",
    units=(Unit("instance", FILTER),),
    settings=("masking", "source.disclosure"),
    reads=(RECOVER.name, DISTINCT.name, NETWORK.name, FIND_PRIVATE.name),
    shards=_mask_shards,
    uses_key=True,
)


def write_words_left(run: Run, masked: Folders) -> int:
    """Write the list of words that masking left where people find what they have to decide.

    Returns how many must be decided before anything is published.
    """
    _, review = owners_words(run.runtime.private_values, run.runtime.reviewed)
    return write_list(masked, run.review / WORDS, review)


def release_targets(run: Run, masked: Folders, identifiers: Sequence[str] = ()) -> LeakTargets:
    """The private values that must not surface in a release."""
    config, tripwires = run.recipe.masking.leaks, run.runtime.tripwires
    is_public = run.recipe.source.disclosure is Disclosure.PUBLIC
    return leak_targets(masked, run.key, config, tripwires, identifiers, is_public=is_public)


def _tripwires(work: Work) -> Observed:
    run = work.run
    planted = read_tripwires(run.runtime.tripwires, run.recipe.masking.leaks)
    return Observed(digest(planted), None)


def _check_leaks(work: Work, out: Path) -> None:
    folders = work.folders(MASKING.name)
    targets = release_targets(work.run, folders)
    fixtures = read_pool([work.folder("package")]).fixtures
    masked = MaskedRequests(read_changes(folders), work.run.recipe.masking.instruction)
    graded = "checks" if work.folders("checks") else "grade"
    write_leak_check(read_graded(work.folder(graded)), fixtures, targets, masked, out)


LEAK_CHECK = Stage(
    name=LEAK_CHECK_STAGE,
    meaning="Is its request intact, and is it free of private values from any session?",
    units=(Unit("candidate", FILTER),),
    settings=("masking.instruction", "masking.leaks", "source.disclosure"),
    reads=(MASKING.name, "package", "grade", "checks"),
    observe=_tripwires,
    compute=_check_leaks,
    uses_key=True,
)
