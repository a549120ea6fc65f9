"""What anonymized tables hand to the release: the gates passed, the report, the pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from anonymization.tables.attacks.plots import STYLE
from anonymization.tables.privacy_report import (
    frontier_picture,
    privacy_json,
    rates_picture,
)
from anonymization.tables.release_gate import JudgedTable, judge_table, refusal
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import file_digest, pretty_json
from data.contracts import StageKind
from data.errors import ReleaseError
from data.ledger import gated_row
from data.run_store import StageOutput
from data.snapshot import Picture
from data.snapshot.release import ReleasedTable
from data.stage_tables import write_stage_tables
from flows.lanes import LanePool
from flows.run import Run
from flows.table_stages import (
    IDENTIFIERS,
    MEASURED,
    MEASUREMENTS,
    RELEASED,
    read_told,
    released_file,
)
from flows.tables_recipe import TablesRecipe

JUDGE = "judge-tables"
REPORT = "tables-report.json"


@dataclass(frozen=True, slots=True)
class AnonymizedTables:
    """Tables that may be released, and what the auditor is told about them.

    `report` becomes `privacy.json`'s part `tables`; `identifiers`, private, are the original codes
    and names, for which the release is scanned. `sealed`: the release began at these tables.
    """

    folders: Sequence[Path]
    tables: Mapping[str, ReleasedTable]
    report: Mapping[str, Any]
    pictures: Mapping[str, Picture]
    inputs: Mapping[str, str]
    identifiers: Sequence[str] = field(repr=False)
    sealed: bool = False

    @property
    def lane(self) -> LanePool:
        """The tables as a lane without candidates, to be joined with the others."""
        return LanePool((), self.folders, {}, self.inputs, self.tables)


def judge(run: Run, made: Path, sealed: bool) -> tuple[StageOutput, list[JudgedTable]]:
    """The gates on all tables, and their books.

    Errors: `ReleaseError` naming the tables above a limit and what would pass; the whole report
    then lies in the private folder.
    """
    recipe = run.recipe.tables
    measured = MEASUREMENTS.validate_json((made / MEASURED).read_bytes())
    judged = [judge_table(table, recipe.risk, recipe.utility) for table in measured]
    report = run.private / REPORT
    write_bytes(report, pretty_json(_report(made, judged, sealed)), mode=PRIVATE_FILE)
    if refused := [refusal(table) for table in judged if table.refused]:
        raise ReleaseError(f"tables refused: {'; '.join(refused)}. The report is in {report}")
    rows, verdicts = [], []
    for table in judged:
        item = f"tables/{table.name}"
        rows.append(gated_row(JUDGE, "table", item, None, {}))
        verdicts += [(item, verdict) for verdict in table.verdicts]
    rows += [gated_row(JUDGE, "table", f"tables/{name}", None, {}) for name in recipe.aggregates]

    def write(out: Path) -> None:
        ids = [row.item_id for row in rows]
        kind = StageKind.FILTER
        write_stage_tables(out, kind, ids, rows, verdicts=verdicts, stage=JUDGE, unit="table")

    key = run.store.key(JUDGE, made.name, recipe.risk, recipe.utility, recipe.aggregates)
    return run.store.run(JUDGE, key, write), judged


def released(
    run: Run,
    folders: Sequence[Path],
    made: Path,
    judged: Sequence[JudgedTable],
    inputs: Mapping[str, str],
    sealed: bool,
) -> AnonymizedTables:
    """The value that the release is made with."""
    names = sorted({*run.recipe.tables.tables, *run.recipe.tables.aggregates})
    tables = {
        name: ReleasedTable(made / RELEASED / released_file(name), _row(run.recipe.tables, name))
        for name in names
    }
    if sealed:
        inputs = {name: file_digest(table.path) for name, table in tables.items()}
    start = "pseudonymized" if sealed else "table"
    return AnonymizedTables(
        folders=folders,
        tables=tables,
        report=_report(made, judged, sealed),
        pictures=_pictures(judged),
        inputs={f"{start}-{name}": sha256 for name, sha256 in inputs.items()},
        identifiers=tuple(orjson.loads((made / IDENTIFIERS).read_bytes())),
        sealed=sealed,
    )


def _report(made: Path, judged: Sequence[JudgedTable], sealed: bool) -> dict[str, Any]:
    """As JSON holds it: texts for keys, lists for tuples."""
    told = read_told(made)
    for table in judged:
        if table.privacy is not None:
            told["tables"][table.name] |= privacy_json(table.privacy)
    told["starts_at"] = "pseudonymized tables" if sealed else "originals"
    plain: dict[str, Any] = orjson.loads(pretty_json(told))
    return plain


def _row(recipe: TablesRecipe, name: str) -> str:
    if name in recipe.aggregates:
        return f"a sum over {recipe.aggregates[name].of}, moved as the sums of its rows moved"
    table = recipe.tables[name]
    numbers = ", its figures perturbed" if table.measures else ""
    return f"a row of {name} under pseudonyms{numbers}"


def _pictures(judged: Sequence[JudgedTable]) -> dict[str, Picture]:
    drawn = {"attacks": rates_picture, "frontier": frontier_picture}
    titles = {"attacks": "Attacks", "frontier": "Risk and utility"}
    return {
        f"privacy-{table.name}-{kind}": Picture(
            f"{titles[kind]}: {table.name}",
            draw(table.privacy),
            draw(table.privacy, standalone=True),
            STYLE,
        )
        for table in judged
        if table.privacy is not None
        for kind, draw in drawn.items()
    }
