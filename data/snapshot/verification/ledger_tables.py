"""Checks the ledger of a snapshot: every item has one outcome, public counts match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import orjson

from data.contracts import Outcome, StageKind
from data.ledger import OUTCOMES
from data.snapshot import layout
from data.snapshot.ledger_counts import LedgerCounts, table_problem
from data.snapshot.manifest import Manifest
from data.snapshot.verification.files import BROKEN, LARGEST_DOCUMENT, read_object
from data.snapshot.verification.findings import Check, Findings, Half

Document = Mapping[str, Any]


def check_funnel(half: Half, findings: Findings) -> list[Document]:
    """The consistent stages of `audit/funnel.json`: their outcomes add up to what came in."""
    document = read_object(half, layout.FUNNEL, Check.LEDGER_ARITHMETIC, findings)
    stages = (document or {}).get("stages")
    where = f"{half.name}/{layout.FUNNEL}"
    if not isinstance(stages, list):
        findings.add(Check.LEDGER_ARITHMETIC, where, "has no list of stages")
        return []
    closed: list[Document] = []
    for number, stage in enumerate(stages, start=1):
        problem = _stage_problem(stage)
        if problem is None:
            closed.append(stage)
        else:
            findings.add(Check.LEDGER_ARITHMETIC, where, f"stage {number}: {problem}")
    return closed


def check_summary(half: Half, stages: Sequence[Document], findings: Findings) -> Document:
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


def sound_tables(
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


def check_recount(
    counts: LedgerCounts,
    stages: Sequence[Document],
    summary: Document,
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


def _recount_funnel(counts: LedgerCounts, stages: Sequence[Document], findings: Findings) -> None:
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
