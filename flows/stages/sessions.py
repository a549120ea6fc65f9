"""The stages of the sessions lane, from raw logs to packaged, masked and searched candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

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
from anonymization.masking_gates import read_changes
from anonymization.masking_recipe import MaskingRecipe, Undecided, for_source, with_approvals
from anonymization.recogniser.contracts import Recognised, summed
from anonymization.recogniser.passages import prompt_digest
from anonymization.session_masking import (
    CALL,
    RECOGNISE,
    MaskJob,
    find_shard,
    mask_messages,
    mask_shard,
    payloads,
    read_recognised,
    session_groups,
    write_list,
    write_recognised,
)
from anonymization.session_masking import STAGE as MASKING_STAGE
from anonymization.text.masking.known_search import Listed
from anonymization.words_review import WORDS, kept_digest, listed_digest, owners_words
from construction.judging.calls.contracts import Mode
from construction.judging.model.asking import write_model_use
from construction.judging.model.prompt import prompts_digest
from construction.judging.settings import ModelStage
from construction.judging.stages import read_graded
from construction.mentions.files import file_name_spans
from construction.sessions.config import NETWORK_GATES, LocalGatesConfig
from construction.sessions.network.probe import Captures, frozen_path, probe_urls
from construction.sessions.package import STAGE as PACKAGE_STAGE
from construction.sessions.package import Identity
from construction.sessions.recovery.by_model import STAGE as DIVIDE_STAGE
from construction.sessions.recovery.by_model import conversations, read_tasks, write_tasks
from construction.sessions.scan import STAGE as SCAN_STAGE
from construction.sessions.scan import (
    ScannedFile,
    read_scan,
    scanned_digests,
    shards,
    state_of,
    write_scan,
    write_sources,
)
from construction.sessions.shard import ShardJob, process_shard
from construction.sessions.stages import NETWORK as NETWORK_STAGE
from construction.sessions.stages import (
    read_probes,
    scan_given,
    urls_of,
    with_frozen_pages,
    write_distinct,
    write_packaged,
    write_reach,
)
from data.atomic import private_dir
from data.canonical import canonical_json, digest, file_digest
from data.contracts import Disclosure, Gate, StageKind
from data.errors import ConfigError, InputError
from data.pool import Survivor, read_pool, read_survivors
from data.stage_tables import kept_ids
from data.stages import Folders, Observed, Shard, Stage, Unit
from flows.run import Run, Work

FILTER, _DERIVE = StageKind.FILTER, StageKind.DERIVE
SOURCES = "sources.json"


def _settings_of(gates: Sequence[Gate[Any, Any]]) -> tuple[str, ...]:
    return tuple(f"sessions.{gate.name}" for gate in gates)


# Files of these types may be logs that nothing reads: each has its line in the ledger.
_LOGS = frozenset({".json", ".jsonl", ".ndjson", ".log", ".db", ".sqlite", ".eval", ".zst"})


def is_given(run: Run) -> bool:
    """Are there session logs?"""
    return bool(run.runtime.sessions)


def _scan(work: Work) -> Observed:
    runtime = work.run.runtime
    files = scan_given(runtime.sessions, work.run.recipe.source.format)
    if runtime.files and len(runtime.sessions) > 1:
        _require_logs(runtime.sessions, files)
    return Observed([(f.relative, f.sha256, f.label, f.outcome) for f in files], files)


def _require_logs(sources: Sequence[Path], files: Sequence[ScannedFile]) -> None:
    """Raise InputError for a folder of input files that was given as one of session logs.

    `--files` takes one folder, so that of `--files */inputs` all but the first are sources.
    """
    for source in (path.absolute() for path in sources):
        own = [file for file in files if file.path.is_relative_to(source)]
        if own and not any(file.format or file.path.suffix in _LOGS for file in own):
            raise InputError(
                str(source),
                f"{len(own)} files without a session log among them",
                "session logs",
                "If the folder holds input files, put --files before it, once per folder.",
            )


def _write_scan(work: Work, out: Path) -> None:
    write_scan(work.observed, out)


def _remember_sources(work: Work, _folders: Folders) -> None:
    write_sources(work.observed, work.run.private / SOURCES)


def _session_inputs(work: Work) -> Mapping[str, str]:
    return scanned_digests(work.observed)


SCAN = Stage(
    name=SCAN_STAGE,
    meaning="Is each file a session log that can be read?",
    units=(Unit("file", FILTER),),
    settings=("source.format",),
    observe=_scan,
    inputs=_session_inputs,
    compute=_write_scan,
    deliver=_remember_sources,
    is_cheap=True,
)


def _model_recovers(run: Run) -> bool:
    return run.recipe.judging.model.does(ModelStage.RECOVERY)


def _who_recovers(work: Work) -> Observed:
    return Observed([prompts_digest(), work.run.judges.of(ModelStage.RECOVERY)], None)


def _divide(work: Work, out: Path) -> None:
    """Ask about every session with several messages; what is shown of it is masked."""
    run = work.run
    files = read_scan(work.folder(SCAN.name), run.private / SOURCES)
    listed, _ = owners_words(run.runtime.private_values, run.runtime.reviewed)
    config = for_source(run.recipe.masking, run.recipe.source.disclosure)
    job = MaskJob((), {}, config, run.key, file_name_spans, listed)
    with run.judges.client(masked=True) as client:
        judged = write_tasks(
            conversations(files),
            run.recipe.sessions.recovery,
            lambda texts, scope: mask_messages(texts, job, scope),
            client,
            out,
        )
        replies = {"model-replies-recovery": client.replies_digest()}
    write_model_use(out, run.judges.costs({DIVIDE_STAGE: judged}), replies)


DIVIDE = Stage(
    name=DIVIDE_STAGE,
    meaning="Which messages in a session belong to the same task? A model reads them after "
    "masking.",
    units=(Unit("session", FILTER),),
    settings=("sessions.recovery", "masking", "source.disclosure"),
    reads=(SCAN.name,),
    observe=_who_recovers,
    compute=_divide,
    applies=_model_recovers,
    uses_key=True,
)


def _recover_shards(work: Work) -> list[Shard]:
    """Shard by shard: read, recover, and measure the gates that need no network."""
    run, config = work.run, work.run.recipe.sessions.local_gates
    roots = tuple(sorted(path.resolve() for path in run.runtime.files))
    state = state_of(roots)
    scanned = read_scan(work.folder(SCAN.name), run.private / SOURCES)
    tasks_by_file = read_tasks(work.folder(DIVIDE.name)) if work.folders(DIVIDE.name) else {}
    made = []
    for files in shards(scanned, run.runtime.shard_bytes):
        given = [(file.relative, file.contents, file.format) for file in files]
        tasks = {
            uid: tasks
            for file in files
            for uid, tasks in tasks_by_file.get(file.relative, {}).items()
        }
        job = ShardJob(files, roots, config, run.key, tasks)
        answers = [canonical_json(tasks).decode()] if tasks else []
        made.append(Shard([state, given, *answers], partial(process_shard, job)))
    return made


RECOVER = Stage(
    name="recover",
    meaning="Which turns belong to one task, and does it pass the gates that need no network "
    "access?",
    units=(
        Unit("file", _DERIVE, "read"),
        Unit("line", FILTER, "read"),
        Unit("session", _DERIVE),
        Unit("turn", _DERIVE),
        Unit("instance", FILTER, "gates"),
    ),
    settings=tuple(f"sessions.{name}" for name in LocalGatesConfig.model_fields),
    reads=(SCAN.name, DIVIDE.name),
    shards=_recover_shards,
    uses_key=True,
)


def _distinct(work: Work, out: Path) -> None:
    write_distinct(read_survivors(work.folders(RECOVER.name)), DISTINCT.name, out)


DISTINCT = Stage(
    name="distinct",
    meaning="Is the instance a copy of another one?",
    units=(Unit("instance", FILTER),),
    reads=(RECOVER.name,),
    compute=_distinct,
    is_cheap=True,
)


def _survivors_of(work: Work, *filters: str) -> list[Survivor]:
    """The recovered instances that all of the named stages kept."""
    kept = [kept_ids(work.folder(stage)) for stage in filters]
    survivors = read_survivors(work.folders(RECOVER.name))
    return [s for s in survivors if all(s.instance.instance_id in ids for ids in kept)]


def _probe(work: Work) -> Observed:
    """Probe the URLs of the survivors, replaying what was captured before."""
    run = work.run
    captures = Captures.load(run.private / "captures" / "network.jsonl")
    urls = urls_of(_survivors_of(work, DISTINCT.name))
    config = run.recipe.sessions.network
    results = probe_urls(urls, config, run.runtime.network, captures, run.frozen, run.wire)
    if len(captures):
        captures.save()
    return Observed([asdict(result) for result in results.values()], results)


def _reach(work: Work, out: Path) -> None:
    survivors = _survivors_of(work, DISTINCT.name)
    write_reach(survivors, work.observed, work.run.recipe.sessions, out)


NETWORK = Stage(
    name=NETWORK_STAGE,
    meaning="Does every URL respond?",
    units=(Unit("instance", FILTER),),
    settings=_settings_of(NETWORK_GATES),
    reads=(RECOVER.name, DISTINCT.name),
    observe=_probe,
    compute=_reach,
    is_cheap=True,
)


def _package(work: Work, out: Path) -> None:
    run, source = work.run, work.run.recipe.source

    def identify(item: str) -> Identity:
        return Identity(run.opaque("s", item), source.name, source.disclosure, source.licence)

    survivors = read_survivors(work.folders(MASKING_STAGE))
    write_packaged(survivors, identify, run.recipe.sessions, out)


PACKAGE = Stage(
    name=PACKAGE_STAGE,
    meaning="What are the request, the inputs and the deliverables of each instance?",
    units=(Unit("instance", FILTER),),
    settings=("source", *_settings_of(NETWORK_GATES)),
    reads=(MASKING_STAGE,),
    compute=_package,
    uses_key=True,
)


def _find_shards(work: Work) -> list[Shard]:
    return _shards(work, find_shard, ())


def _mask_shards(work: Work) -> list[Shard]:
    is_public = work.run.recipe.source.disclosure is Disclosure.PUBLIC
    vaults = read_vaults(work.folders(FIND_PRIVATE.name), work.run.key)
    return _shards(work, mask_shard, shared_values(vaults, is_public=is_public))


def _masking(run: Run) -> MaskingRecipe:
    recipe = for_source(run.recipe.masking, run.recipe.source.disclosure)
    return with_approvals(recipe, run.runtime.approvals)


def _shards(work: Work, compute: Callable[[MaskJob, Path], None], elsewhere: Listed) -> list[Shard]:
    """Whole sessions, some to a shard, in the order of their ids; one vault per session."""
    return [Shard(made_from, partial(compute, job)) for made_from, job in _jobs(work, elsewhere)]


def _jobs(work: Work, elsewhere: Listed) -> list[tuple[Any, MaskJob]]:
    """The jobs of masking, each with what it is made from."""
    run = work.run
    config = _masking(run)
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
        with_frozen_pages(s, results) for s in _survivors_of(work, DISTINCT.name, NETWORK.name)
    ]
    chosen = [sorted(config.documents.approvals), [*named, decided, masks_undecided]]
    read = _recognised(work)
    jobs: list[tuple[Any, MaskJob]] = []
    for sessions in session_groups(survivors):
        uids = {survivor.instance.session_uid for of in sessions for survivor in of}
        known = {uid: read[uid] for uid in sorted(uids & read.keys())}
        job = MaskJob(
            sessions,
            _used(pages, sessions),
            config,
            run.key,
            file_name_spans,
            listed,
            review,
            masks_undecided,
            elsewhere,
            known,
        )
        named_there = [digest(known[uid].as_json()) for uid in known]
        jobs.append(([*chosen, *named_there, *map(payloads, sessions)], job))
    return jobs


def _recognised(work: Work) -> Mapping[str, Recognised]:
    """What a model has read in each session; nothing without one."""
    folders = work.folders(RECOGNISE)
    return read_recognised(folders[0]) if folders else {}


def _who_recognises(work: Work) -> Observed:
    """What decides about the calls beside settings and sessions: the prompt, the owner's words."""
    run = work.run
    listed, review = owners_words(run.runtime.private_values, run.runtime.reviewed)
    recorded = run.runtime.model_calls.recorded
    return Observed(
        [
            prompt_digest(),
            listed_digest(listed, run.key),
            None if review is None else kept_digest(review, run.key),
            sorted(_masking(run).documents.approvals),
            file_digest(recorded) if recorded else None,
        ],
        None,
    )


def _has_recogniser(run: Run) -> bool:
    return bool(run.recipe.masking.recogniser.model)


def _recognise(work: Work, out: Path) -> None:
    """Mask by evidence, show the model what rules cannot decide, and keep what it answers."""
    from flows.recogniser import recogniser

    run = work.run
    config, runtime = _masking(run), run.runtime
    store = private_dir(private_dir(run.private / "captures") / "llm")
    is_public = run.recipe.source.disclosure is Disclosure.PUBLIC
    reached = config.recogniser, runtime.model_calls, runtime.recogniser, store
    with recogniser(*reached, is_public=is_public) as reader:
        write_recognised([job for _, job in _jobs(work, ())], reader.ask, config, out)
        replies = {"model-replies-recogniser": reader.replies_digest()}
    write_model_use(out, reader.costs(config.recogniser.model), replies)


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


READ_PRIVATE = Stage(
    name=RECOGNISE,
    meaning="Which values in each session does a model on this machine call private?",
    units=(Unit(CALL, FILTER),),
    settings=("masking", "source.disclosure"),
    reads=(RECOVER.name, DISTINCT.name, NETWORK.name),
    observe=_who_recognises,
    compute=_recognise,
    applies=_has_recogniser,
    uses_key=True,
)
FIND_PRIVATE = Stage(
    name="find-private",
    meaning="Which values in each session are private, wherever they appear in the source?",
    units=(),
    settings=("masking", "source.disclosure"),
    reads=(RECOVER.name, DISTINCT.name, NETWORK.name, READ_PRIVATE.name),
    shards=_find_shards,
    uses_key=True,
)
MASKING = Stage(
    name=MASKING_STAGE,
    meaning="Can every file be masked, or has a person approved it?",
    units=(Unit("instance", FILTER),),
    settings=("masking", "source.disclosure"),
    reads=(RECOVER.name, DISTINCT.name, NETWORK.name, READ_PRIVATE.name, FIND_PRIVATE.name),
    shards=_mask_shards,
    uses_key=True,
)


def write_words_left(run: Run, masked: Folders) -> int:
    """Write the list of words that masking left where people find what they have to decide.

    Returns how many must be decided before anything is published.
    """
    _, review = owners_words(run.runtime.private_values, run.runtime.reviewed)
    accepts = run.recipe.masking.recogniser.accepts_proposals
    return write_list(masked, run.review / WORDS, review, accepts_proposals=accepts)


def recogniser_report(run: Run, read: Folders) -> dict[str, Any]:
    """Which model has read the sessions, and what came of it; empty without one."""
    config = run.recipe.masking.recogniser
    if not read:
        return {}
    known = [of.counts for folder in read for of in read_recognised(folder).values()]
    said = {"model": config.model, "accepts_proposals": config.accepts_proposals}
    return {"recogniser": {**said, "counts": summed(known)}}


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
