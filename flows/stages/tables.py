"""The stages of the lane of anonymized tables: private tables to a released data environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from anonymization.tables.files import FIND, TableFile, digests, find_tables
from anonymization.tables.judged_tables import (
    JUDGE,
    judged_tables,
    released_tables,
    tables_report,
    write_judged,
)
from anonymization.tables.release_gate import refusal
from anonymization.tables.release_tables import ANONYMIZE, Anonymizing, write_anonymized
from anonymization.tables.seal import keep, require_unchanged, sealed_tables
from anonymization.tables.settings import TablesRecipe
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import file_digest, pretty_json
from data.contracts import StageKind
from data.errors import ConfigError, ReleaseError
from data.stage_tables import write_stage_tables
from data.stages import Observed, Stage, Unit
from flows.run import Run, Work

REPORT = "tables-report.json"
_LIMITS = frozenset({"risk", "utility"})  # they decide about a release, not about its tables


def is_given(run: Run) -> bool:
    """Are there tables, or sealed ones to start at?"""
    return bool(run.runtime.tables) or sealed(run) is not None


def sealed(run: Run) -> Path | None:
    """The pseudonymized tables that a sealed output directory starts at."""
    return sealed_tables(run.out, run.recipe.tables, run.key_id)


def declared_files(run: Run) -> list[TableFile]:
    """The files given. Errors: `ConfigError` if there are some, but [tables] declares none."""
    recipe, given = run.recipe.tables, run.runtime.tables
    if given and not recipe.tables:
        raise ConfigError(
            "[tables]: found no table declared; expected a role for every column of those given. "
            "`benchmint profile TABLE --toml` proposes them."
        )
    return find_tables(given, {*recipe.tables, *recipe.aggregates}) if given else []


def _find(work: Work) -> Observed:
    files = declared_files(work.run)
    return Observed([(file.item, file.reason) for file in files], files)


def _write_files(work: Work, out: Path) -> None:
    files: list[TableFile] = work.observed
    rows = [file.row() for file in files]
    ids = [file.item for file in files]
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=FIND, unit="file")


FIND_TABLES = Stage(
    name=FIND,
    meaning="Which of the given files are declared tables?",
    units=(Unit("file", StageKind.FILTER),),
    observe=_find,
    compute=_write_files,
    is_cheap=True,
)


def _table_inputs(work: Work) -> Mapping[str, str]:
    inputs = digests(declared_files(work.run))
    return {f"table-{name}": sha256 for name, sha256 in inputs.items()}


def _anonymize(work: Work, out: Path) -> None:
    run = work.run
    seed, runtime = run.recipe.release.seed, run.runtime
    how = Anonymizing(run.recipe.tables, run.key, seed, runtime.workers, runtime.quiet)
    write_anonymized(declared_files(run), how, out)


def _sealed_output(run: Run) -> Path | None:
    folder = sealed(run)
    if folder is not None and run.runtime.tables:
        require_unchanged(run.out, digests(declared_files(run)))
    return folder


ANONYMIZE_TABLES = Stage(
    name=ANONYMIZE,
    meaning="What do the tables hold under pseudonyms, perturbed, and what do attacks find?",
    units=(Unit("column", StageKind.FILTER), Unit("row", StageKind.FILTER)),
    settings=(
        *(f"tables.{name}" for name in TablesRecipe.model_fields if name not in _LIMITS),
        "release.seed",
    ),
    inputs=_table_inputs,
    compute=_anonymize,
    stand_in=_sealed_output,
    uses_key=True,
)


def _judge(work: Work) -> Observed:
    """Judge, and raise ReleaseError naming the tables above a limit and what would pass.

    The whole report then lies in the private folder.
    """
    run, folder = work.run, work.folder(ANONYMIZE)
    judged = judged_tables(folder, run.recipe.tables)
    path = run.private / REPORT
    report = tables_report(folder, judged, is_sealed=sealed(run) is not None)
    write_bytes(path, pretty_json(report), mode=PRIVATE_FILE)
    if refused := [refusal(table) for table in judged if table.refused]:
        raise ReleaseError(f"tables refused: {'; '.join(refused)}. The report is in {path}")
    return Observed(None, judged)


def _write_judged(work: Work, out: Path) -> None:
    write_judged(work.observed, work.run.recipe.tables, out)


def _sealed_inputs(work: Work) -> Mapping[str, str]:
    """After sealing, the pseudonymized tables are what the release is made from."""
    if sealed(work.run) is None:
        return {}
    tables = released_tables(work.folder(ANONYMIZE), work.run.recipe.tables)
    return {f"pseudonymized-{name}": file_digest(table.path) for name, table in tables.items()}


def keep_pseudonymized(run: Run, folder: Path) -> None:
    """Keep the released tables outside the run store, for a rebuild after sealing."""
    if sealed(run) is None:
        keep(run.private, folder, run.recipe.tables, run.key_id, digests(declared_files(run)))


JUDGE_TABLES = Stage(
    name=JUDGE,
    meaning="Are fidelity and re-identification within the declared limits?",
    units=(Unit("table", StageKind.FILTER),),
    settings=("tables.risk", "tables.utility", "tables.aggregates"),
    reads=(ANONYMIZE,),
    inputs=_sealed_inputs,
    observe=_judge,
    compute=_write_judged,
    is_cheap=True,
)
