"""Verification of a snapshot, the public half alone or both halves: its content, and in
`verification_files` its files.

Every problem is a finding, never an exception, for any content of the directory. Rows fit the
contract and directories match them; every item has one outcome, and public counts match the private
tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson
import yaml
from pydantic import ValidationError

from data.canonical import digest
from data.contracts import PRIVATE_FIELDS, Candidate, Outcome, StageKind
from data.ledger import OUTCOMES
from data.snapshot import card, layout
from data.snapshot.ledger import LedgerCounts, connect, table_problem
from data.snapshot.manifest import Manifest, fields_of
from data.snapshot.tasks import candidate_of, instruction, statistics, stored_fixtures, verified
from data.snapshot.verification_files import (
    BROKEN,
    LARGEST_DOCUMENT,
    NO_WRITING,
    OWNER_ONLY,
    Check,
    Finding,
    Findings,
    Half,
    VerifyReport,
    check_canary,
    check_content,
    check_link,
    check_modes,
    check_name,
    check_report,
    check_root,
    check_run,
    check_tables,
    load_half,
    read,
    read_object,
    report_lines,
)

_Row = dict[str, Any]
# Scalars stay texts: untrusted YAML is not turned into numbers, dates or objects.
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_LARGEST_YAML = 16 * 1024 * 1024
_DEEPEST_YAML = 100
_OF_TASKS = (f"{layout.TASKS}/", f"{layout.ENVIRONMENTS}/")


def _load_rows(half: Half, findings: Findings) -> dict[str, _Row]:
    """The rows of `tasks.jsonl` that fit the contract, by task id."""
    content = read(half.files, layout.TASK_LIST, half.name, findings) or b""
    rows: dict[str, _Row] = {}
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        where = f"{half.name}/{layout.TASK_LIST}:{number}"
        row = _row(line, where, findings)
        if row is None:
            continue
        if row["task_id"] in rows:
            findings.add(Check.TASK_TWICE, where, "a task ID that was already listed")
        rows[row["task_id"]] = row
    if content and not content.endswith(b"\n"):
        where = f"{half.name}/{layout.TASK_LIST}"
        findings.add(Check.TASK_ROW, where, "the last line is incomplete")
    return rows


def _row(line: bytes, where: str, findings: Findings) -> _Row | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        findings.add(Check.TASK_ROW, where, f"{len(line)} bytes that are not JSON")
        return None
    if not isinstance(row, dict):
        findings.add(Check.TASK_ROW, where, f"found {type(row).__name__}, expected an object")
        return None
    private_fields = sorted(PRIVATE_FIELDS & row.keys())
    if private_fields:
        findings.add(Check.PRIVATE_FIELD, where, f"has {', '.join(private_fields)}")
    try:
        task = candidate_of(row)
    except ValidationError as error:
        findings.add(Check.TASK_ROW, where, fields_of(error))
        return None
    if task.provenance.detail:
        findings.add(Check.PRIVATE_FIELD, where, "has provenance.detail")
    if not isinstance(row.get("canary"), str):
        findings.add(Check.CANARY_MISSING, where, "lacks the canary")
        return None
    if not layout.is_id(task.task_id):
        findings.add(Check.UNSAFE_PATH, where, "a task id that is not a valid directory name")
        return None
    return row


def _check_tasks(
    half: Half, rows: Mapping[str, _Row], manifest: Manifest | None, findings: Findings
) -> None:
    """Each task has exactly its files, with the recorded sizes, digests and texts."""
    expected: set[str] = set()
    for task_id, row in rows.items():
        task = candidate_of(row)
        folder = f"{layout.TASKS}/{task_id}"
        texts = {f"{folder}/{layout.INSTRUCTION}", f"{folder}/{layout.TASK_YAML}"}
        inputs = {layout.input_path(task_id, item) for item in task.fixtures}
        for path in sorted((texts | inputs) - half.files.keys()):
            findings.add(Check.TASK_FILES, f"{half.name}/{path}", "the task is missing this file")
        expected |= texts | inputs
        _check_fixtures(half, task, findings)
        if manifest is not None and row["canary"] != manifest.canary:
            where = f"{half.name}/{layout.TASK_LIST}"
            findings.add(Check.CANARY_MISSING, where, f"{task_id} has another canary")
        if manifest is not None:
            text = instruction(task, manifest.snapshot, row["canary"])
            _check_instruction(half, folder, text, findings)
        _check_yaml(half, folder, task, findings)
    for path in half.files:
        if path.startswith(_OF_TASKS) and path not in expected:
            findings.add(Check.TASK_FILES, f"{half.name}/{path}", "belongs to no task")


def _check_counts(
    half: Half, rows: Mapping[str, _Row], manifest: Manifest, findings: Findings
) -> None:
    """The manifest's counts and the statistics match the rows."""
    tasks = [candidate_of(row) for row in rows.values()]
    fixtures = stored_fixtures(tasks)
    counted = {
        "tasks": len(tasks),
        "fixtures": len(fixtures),
        "fixture_bytes": sum(fixture.bytes for fixture in fixtures),
    }
    for name, n in counted.items():
        declared = getattr(manifest.counts, name)
        if declared != n:
            problem = f"counts {declared} {name}, the tasks have {n}"
            findings.add(Check.MANIFEST_COUNT, f"{half.name}/{layout.MANIFEST}", problem)
    if manifest.grading is not None and manifest.grading.verified != verified(tasks):
        problem = f"counts {manifest.grading.verified} tasks as tried, the tasks say otherwise"
        findings.add(Check.MANIFEST_COUNT, f"{half.name}/{layout.MANIFEST}", problem)
    declared_statistics = read_object(half, layout.STATISTICS, Check.STATISTICS, findings)
    if declared_statistics is not None:
        declared_statistics.pop("canary", None)
        ours = orjson.loads(orjson.dumps(statistics(tasks)))
        for name in sorted(ours.keys() | declared_statistics.keys()):
            if ours.get(name) != declared_statistics.get(name):
                path = f"{half.name}/{layout.STATISTICS}"
                findings.add(Check.STATISTICS, path, f"{name} does not match the tasks")


def _check_metadata(half: Half, findings: Findings) -> None:
    """`croissant.json` is complete and pins the task list and the tables."""
    document = read_object(half, "croissant.json", Check.METADATA, findings)
    if document is None:
        return
    where = f"{half.name}/croissant.json"
    missing = card.problems(document)
    if missing:
        findings.add(Check.METADATA, where, f"lacks {', '.join(missing)}")
    for path in card.unpinned(document, half.digests):
        findings.add(Check.METADATA, where, f"does not pin {path} by its digest")


def _check_fixtures(half: Half, task: Candidate, findings: Findings) -> None:
    for fixture in task.fixtures:
        path = layout.input_path(task.task_id, fixture)
        if not layout.is_safe_input(fixture):
            where = f"{half.name}/{layout.TASKS}/{task.task_id}"
            findings.add(Check.UNSAFE_PATH, where, "a fixture leaves its folder")
        elif path in half.files and half.digests.get(path) != fixture.sha256:
            findings.add(Check.FIXTURE, f"{half.name}/{path}", "not the recorded digest")
        elif path in half.files and _size_of(half.files[path]) != fixture.bytes:
            findings.add(Check.FIXTURE, f"{half.name}/{path}", "not the recorded size")


def _size_of(file: Path) -> int | None:
    """Bytes of a file, None if it is gone."""
    try:
        return file.stat().st_size
    except OSError:
        return None


def _check_instruction(half: Half, folder: str, text: str, findings: Findings) -> None:
    path = f"{folder}/{layout.INSTRUCTION}"
    if path not in half.files:
        return
    content = read(half.files, path, half.name, findings)
    if content is not None and content != text.encode():
        findings.add(Check.TASK_TEXT, f"{half.name}/{path}", "not the prompt of tasks.jsonl")


def _check_yaml(half: Half, folder: str, task: Candidate, findings: Findings) -> None:
    path = f"{folder}/{layout.TASK_YAML}"
    content = read(half.files, path, half.name, findings) if path in half.files else None
    if content is None:
        return
    where = f"{half.name}/{path}"
    document = _load_yaml(content)
    if isinstance(document, str):
        findings.add(Check.TASK_TEXT, where, document)
        return
    prompt = document.get("prompt")
    text = prompt.get("text") if isinstance(prompt, dict) else None
    if text != task.prompt or document.get("task_id") != task.task_id:
        findings.add(Check.TASK_TEXT, where, "not the task of tasks.jsonl")
    private_fields = sorted(PRIVATE_FIELDS & document.keys())
    if private_fields:
        findings.add(Check.PRIVATE_FIELD, where, f"has {', '.join(private_fields)}")


def _load_yaml(content: bytes) -> _Row | str:
    """A YAML mapping with texts as scalars, or what is wrong with `content`."""
    if len(content) > _LARGEST_YAML:
        return "larger than 16 MiB"
    try:
        # The composer recurses in C without a limit: check the depth before using it.
        if _is_deep(content):
            return f"nested deeper than {_DEEPEST_YAML} levels"
        document = yaml.load(content, Loader=_Loader)  # noqa: S506 (makes texts, lists, dicts)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return f"not YAML ({type(error).__name__})"
    return document if isinstance(document, dict) else "not a YAML mapping"


def _is_deep(content: bytes) -> bool:
    depth = 0
    for event in yaml.parse(content, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST_YAML:
            return True
    return False


# The ledger --------------------------------------------------------------------------------------

_Document = Mapping[str, Any]


def _check_funnel(half: Half, findings: Findings) -> list[_Document]:
    """The consistent stages of `audit/funnel.json`: their outcomes add up to what came in."""
    document = read_object(half, layout.FUNNEL, Check.LEDGER_ARITHMETIC, findings)
    stages = (document or {}).get("stages")
    where = f"{half.name}/{layout.FUNNEL}"
    if not isinstance(stages, list):
        findings.add(Check.LEDGER_ARITHMETIC, where, "has no list of stages")
        return []
    closed: list[_Document] = []
    for number, stage in enumerate(stages, start=1):
        problem = _stage_problem(stage)
        if problem is None:
            closed.append(stage)
        else:
            findings.add(Check.LEDGER_ARITHMETIC, where, f"stage {number}: {problem}")
    return closed


def _check_summary(half: Half, stages: Sequence[_Document], findings: Findings) -> _Document:
    """`audit/ledger.json` against the funnel: rejected and errored units, stage by stage."""
    summary = read_object(half, layout.LEDGER, Check.LEDGER_ARITHMETIC, findings) or {}
    where = f"{half.name}/{layout.LEDGER}"
    summarised: dict[tuple[Any, Any, Any], int] = {}
    for row in _rows(summary.get("rejections")):
        key = (row.get("stage"), row.get("unit"), row.get("outcome"))
        n = row.get("n")
        if isinstance(n, int) and all(isinstance(part, str) for part in key):
            summarised[key] = summarised.get(key, 0) + n
    for stage in stages:
        for outcome in (Outcome.REJECTED, Outcome.ERRORED):
            key = (stage["stage"], stage["unit"], str(outcome))
            n = stage["outcomes"].get(str(outcome), 0)
            if summarised.get(key, 0) != n:
                problem = (
                    f"{summarised.get(key, 0)} {key[1]}s {key[2]} in {key[0]}, the funnel has {n}"
                )
                findings.add(Check.LEDGER_ARITHMETIC, where, problem)
    return summary


def _sound_tables(
    half: Half, connection: duckdb.DuckDBPyConnection, findings: Findings
) -> dict[str, Path] | None:
    """The private tables by name, None if one cannot be read or has another schema."""
    files: dict[str, Path] = {}
    for name in layout.PRIVATE_TABLES:
        file = half.files.get(name)
        problem = "is missing" if file is None else _problem(file, name, connection)
        if problem is not None:
            findings.add(Check.LEDGER_RECOUNT, f"{half.name}/{name}", problem)
        elif file is not None:
            files[name] = file
    return files if len(files) == len(layout.PRIVATE_TABLES) else None


def _check_recount(
    counts: LedgerCounts,
    stages: Sequence[_Document],
    summary: _Document,
    manifest: Manifest | None,
    findings: Findings,
) -> None:
    """The public counts match the private tables."""
    for name, declared, counted in _row_counts(counts, manifest):
        if declared != counted:
            problem = f"the manifest counts {declared} rows, the table has {counted}"
            findings.add(Check.LEDGER_RECOUNT, f"private/{name}", problem)
    _recount_funnel(counts, stages, findings)
    gates = [row["gate"] for row in _rows(summary.get("gates")) if isinstance(row.get("gate"), str)]
    ours = orjson.loads(orjson.dumps(counts.summary(gates)))
    for name, rows in ours.items():
        if summary.get(name) != rows:
            where = f"public/{layout.LEDGER}"
            findings.add(Check.LEDGER_RECOUNT, where, f"{name} does not match the tables")


def _stage_problem(stage: object) -> str | None:
    """Why a stage of the funnel is inconsistent, None if it is consistent."""
    if not isinstance(stage, dict):
        return "not an object"
    if not all(isinstance(stage.get(key), str) for key in ("stage", "kind", "unit")):
        return "stage, kind and unit must be texts"
    outcomes, n_in, made = stage.get("outcomes"), stage.get("n_in"), stage.get("made")
    if not isinstance(outcomes, dict) or not isinstance(made, dict):
        return "outcomes and made must be objects"
    counts = [n_in, *outcomes.values(), *made.values()]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts):
        return "counts must be whole numbers"
    if stage["kind"] not in set(StageKind):
        return "an unknown kind"
    strange = outcomes.keys() - {str(outcome) for outcome in OUTCOMES[StageKind(stage["kind"])]}
    if strange:
        return f"a {stage['kind']} stage has {len(strange)} outcomes that are not its own"
    if sum(outcomes.values()) != n_in:
        return f"{n_in} came in, {sum(outcomes.values())} have an outcome"
    return None


def _recount_funnel(counts: LedgerCounts, stages: Sequence[_Document], findings: Findings) -> None:
    counted = counts.outcomes()
    declared = {
        (stage["stage"], stage["unit"], outcome): n
        for stage in stages
        for outcome, n in stage["outcomes"].items()
        if n
    }
    for key in sorted(counted.keys() | declared.keys()):
        if counted.get(key, 0) != declared.get(key, 0):
            stage, unit, outcome = key
            problem = (
                f"{stage}: the funnel has {declared.get(key, 0)} {unit}s {outcome}, "
                f"the ledger has {counted.get(key, 0)}"
            )
            findings.add(Check.LEDGER_RECOUNT, f"public/{layout.FUNNEL}", problem)
    made = counts.children()
    for stage_document in stages:
        ours = made.get((stage_document["stage"], stage_document["unit"]), {})
        if stage_document["made"] != ours:
            problem = f"{stage_document['stage']}: what was made differs from the lineage"
            findings.add(Check.LEDGER_RECOUNT, f"public/{layout.FUNNEL}", problem)


def _row_counts(counts: LedgerCounts, manifest: Manifest | None) -> list[tuple[str, int, int]]:
    if manifest is None:
        return []
    declared = {
        layout.LEDGER_TABLE: manifest.counts.ledger_rows,
        layout.VERDICTS_TABLE: manifest.counts.verdicts,
        layout.LINEAGE_TABLE: manifest.counts.lineage_rows,
    }
    return [(name, declared[name], rows) for name, rows in counts.heights().items()]


def _problem(file: Path, name: str, connection: duckdb.DuckDBPyConnection) -> str | None:
    try:
        return table_problem(connection, file, name, LARGEST_DOCUMENT)
    except BROKEN as error:
        return f"is not a Parquet table ({type(error).__name__})"


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


__all__ = ["Check", "Finding", "VerifyReport", "report_lines", "verify"]


def verify(snapshot: Path) -> VerifyReport:
    """Check a snapshot directory, or a public half on its own.

    Sums, paths, manifest, tasks with their fixtures, tables, canary, ledger, statistics, report
    policy; with both halves also that they belong together, that `run.json` has their digest,
    that the private tables add up to the public counts, and that the public half holds nothing
    private.
    """
    findings = Findings()
    folder = snapshot.resolve()
    public_root, private_root = layout.halves(folder)
    for root in (public_root, private_root):
        if root is not None and root.is_symlink():
            findings.add(Check.SYMLINK, root.name, "a symbolic link is never followed")
            return _report(findings, None, None, None)
    if not public_root.is_dir():
        problem = "found no public/ and no manifest.json; expected a snapshot directory"
        findings.add(Check.NOT_A_SNAPSHOT, snapshot.resolve().name, problem)
        return _report(findings, None, None, None)
    with connect() as connection:
        public = _verify_public(public_root, connection, findings)
        private = (
            None
            if private_root is None
            else _verify_private(private_root, public, connection, findings)
        )
    whole = _digest(public.half, private)
    check_name(folder.name, public.manifest, findings)
    if public_root != folder:
        check_root(folder, findings, with_private=private is not None)
        check_run(folder, public.manifest, whole, findings)
    return _report(findings, public, private, whole)


@dataclass(frozen=True, slots=True)
class _Public:
    """What the checks of the private half need from the public one."""

    half: Half
    manifest: Manifest | None
    task_ids: frozenset[str]
    stages: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]


def _verify_public(
    root: Path, connection: duckdb.DuckDBPyConnection, findings: Findings
) -> _Public:
    half = load_half(root, layout.PUBLIC, findings)
    manifest = _manifest(half, findings)
    rows = _load_rows(half, findings)
    check_modes(half, NO_WRITING, findings)
    _check_tasks(half, rows, manifest, findings)
    _check_metadata(half, findings)
    check_tables(half, connection, findings)
    stages = _check_funnel(half, findings)
    summary = _check_summary(half, stages, findings)
    check_report(half, findings)
    if manifest is not None:
        _check_counts(half, rows, manifest, findings)
        check_canary(half, manifest.canary, findings)
    return _Public(half, manifest, frozenset(rows), stages, summary)


def _verify_private(
    root: Path, public: _Public, connection: duckdb.DuckDBPyConnection, findings: Findings
) -> Half:
    half = load_half(root, layout.PRIVATE, findings)
    check_modes(half, OWNER_ONLY, findings)
    check_link(half, public.half, public.manifest, findings)
    _check_task_folders(half, public.task_ids, findings)
    check_tables(half, connection, findings)
    files = _sound_tables(half, connection, findings)
    counts = None if files is None else LedgerCounts(connection, files)
    if counts is not None:
        _check_recount(counts, public.stages, public.summary, public.manifest, findings)
    check_content(half, public.half, counts, public.task_ids, findings)
    if public.manifest is not None:
        check_canary(half, public.manifest.canary, findings)
    return half


def _check_task_folders(private: Half, task_ids: Iterable[str], findings: Findings) -> None:
    """Each task has a private directory, and each private directory belongs to a task."""
    folders = {path.partition("/")[0] for path in private.files if "/" in path}
    known = set(task_ids)
    for task_id in sorted(known - folders):
        findings.add(Check.TASK_FILES, f"{private.name}/{task_id}", "the task has no private part")
    for folder in sorted(folders - known - {layout.AUDIT, layout.ENVIRONMENTS, "views"}):
        findings.add(Check.TASK_FILES, f"{private.name}/{folder}", "belongs to no task")


def _manifest(public: Half, findings: Findings) -> Manifest | None:
    """The manifest, with its derived fields checked; None if it is invalid."""
    document = read_object(public, layout.MANIFEST, Check.MANIFEST, findings)
    if document is None:
        return None
    where = f"{public.name}/{layout.MANIFEST}"
    try:
        manifest = Manifest.model_validate(document)
    except ValidationError as error:
        findings.add(Check.MANIFEST, where, fields_of(error))
        return None
    if manifest.snapshot != layout.snapshot_id(manifest.name, manifest.released, manifest.revision):
        findings.add(Check.MANIFEST, where, "the snapshot id is not name, date and revision")
    if manifest.recipe_digest != digest(manifest.recipe):
        findings.add(Check.MANIFEST_DIGEST, where, "recipe_digest is not the digest of the recipe")
    if manifest.canary != layout.canary(manifest.snapshot, manifest.recipe_digest):
        findings.add(Check.MANIFEST_DIGEST, where, "the canary does not follow from the recipe")
    return manifest


def _digest(public: Half, private: Half | None) -> str | None:
    """The digest of the snapshot, None unless both halves and their sums are there."""
    if private is None or public.sums is None or private.sums is None:
        return None
    return layout.snapshot_digest(public.sums, private.sums)


def _report(
    findings: Findings, public: _Public | None, private: Half | None, whole: str | None
) -> VerifyReport:
    halves = [half for half in (public.half if public else None, private) if half is not None]
    return VerifyReport(
        snapshot=public.manifest.snapshot if public and public.manifest else None,
        digest=whole,
        public_digest=digest(public.half.sums) if public and public.half.sums else None,
        with_private=private is not None,
        files=sum(len(half.files) for half in halves),
        tasks=len(public.task_ids) if public else 0,
        findings=tuple(findings.items),
    )
