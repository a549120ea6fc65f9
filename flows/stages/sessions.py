"""The stages of the sessions lane, from raw logs to packaged, searched candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from anonymization.masking_recipe import for_source
from anonymization.session_masking import STAGE as MASKING_STAGE
from anonymization.session_masking import MaskJob, mask_messages
from anonymization.words_review import owners_words
from construction.judging.model.asking import write_model_use
from construction.judging.model.prompt import prompts_digest
from construction.judging.settings import ModelStage
from construction.mentions.files import file_name_spans
from construction.sessions.config import NETWORK_GATES, LocalGatesConfig
from construction.sessions.network.probe import Captures, probe_urls
from construction.sessions.packaging.package import STAGE as PACKAGE_STAGE
from construction.sessions.packaging.package import Identity
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
    scan_given,
    urls_of,
    write_distinct,
    write_packaged,
    write_reach,
)
from data.canonical import canonical_json
from data.contracts import Gate, StageKind
from data.errors import InputError
from data.stage_tables import kept_ids
from data.stages import Folders, Observed, Shard, Stage, Unit
from data.survivors import Survivor, read_survivors
from flows.run import Run, Work

FILTER, DERIVE = StageKind.FILTER, StageKind.DERIVE
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
        Unit("file", DERIVE, "read"),
        Unit("line", FILTER, "read"),
        Unit("session", DERIVE),
        Unit("turn", DERIVE),
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


def survivors_of(work: Work, *filters: str) -> list[Survivor]:
    """The recovered instances that all of the named stages kept."""
    kept = [kept_ids(work.folder(stage)) for stage in filters]
    survivors = read_survivors(work.folders(RECOVER.name))
    return [s for s in survivors if all(s.instance.instance_id in ids for ids in kept)]


def _probe(work: Work) -> Observed:
    """Probe the URLs of the survivors, replaying what was captured before."""
    run = work.run
    captures = Captures.load(run.private / "captures" / "network.jsonl")
    urls = urls_of(survivors_of(work, DISTINCT.name))
    config = run.recipe.sessions.network
    results = probe_urls(urls, config, run.runtime.network, captures, run.frozen, run.wire)
    if len(captures):
        captures.save()
    return Observed([asdict(result) for result in results.values()], results)


def _reach(work: Work, out: Path) -> None:
    survivors = survivors_of(work, DISTINCT.name)
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
