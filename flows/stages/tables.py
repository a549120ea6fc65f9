"""The stages of the lane of anonymized tables: private tables to a released data environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from anonymization.tables.config import TablesRecipe
from anonymization.tables.files import (
    FIND,
    TableFile,
    declared_files,
    digests,
    write_found,
)
from anonymization.tables.judged_tables import (
    JUDGE,
    judge_or_refuse,
    released_tables,
    write_judged,
)
from anonymization.tables.release_tables import ANONYMIZE, Anonymizing, write_anonymized
from anonymization.tables.seal import keep, kept_tables, require_unchanged, sealed_output
from data.canonical import file_digest
from data.contracts import StageKind
from data.stages import Observed, Stage, Unit
from flows.run import Run, Work

REPORT = "tables-report.json"
_LIMITS = frozenset({"risk", "utility"})  # they decide about a release, not about its tables


def is_given(run: Run) -> bool:
    """Are there tables, or sealed ones to start at?"""
    return bool(run.runtime.tables) or sealed(run) is not None


def sealed(run: Run) -> Path | None:
    """The pseudonymized tables that a sealed output directory starts at."""
    if not run.recipe.tables.tables:
        return None
    return sealed_output(run.out, kept_tables(run.recipe.tables), run.key_id)


def _given_files(run: Run) -> list[TableFile]:
    """The files given, declared or not."""
    recipe = run.recipe.tables
    return declared_files(run.runtime.tables, recipe.tables, recipe.aggregates)


def _find(work: Work) -> Observed:
    files = _given_files(work.run)
    return Observed([(file.item, file.reason) for file in files], files)


def _write_files(work: Work, out: Path) -> None:
    write_found(work.observed, out)


FIND_TABLES = Stage(
    name=FIND,
    meaning="Which of the input files are declared tables?",
    units=(Unit("file", StageKind.FILTER),),
    observe=_find,
    compute=_write_files,
    is_cheap=True,
)


def _table_inputs(work: Work) -> Mapping[str, str]:
    inputs = digests(_given_files(work.run))
    return {f"table-{name}": sha256 for name, sha256 in inputs.items()}


def _anonymize(work: Work, out: Path) -> None:
    run = work.run
    seed, runtime = run.recipe.release.seed, run.runtime
    how = Anonymizing(run.recipe.tables, run.key, seed, runtime.workers, runtime.quiet)
    write_anonymized(_given_files(run), how, out)


def _sealed_output(run: Run) -> Path | None:
    folder = sealed(run)
    if folder is not None and run.runtime.tables:
        require_unchanged(run.out, kept_tables(run.recipe.tables), digests(_given_files(run)))
    return folder


ANONYMIZE_TABLES = Stage(
    name=ANONYMIZE,
    meaning="What do the pseudonymized and perturbed tables contain, and what do attacks find?",
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
    """Judge; the whole report lies in the private folder, also where tables are refused."""
    run, folder = work.run, work.folder(ANONYMIZE)
    is_sealed = sealed(run) is not None
    report = run.private / REPORT
    judged = judge_or_refuse(folder, run.recipe.tables, report, is_sealed=is_sealed)
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
        kept = kept_tables(run.recipe.tables)
        keep(run.private, folder, kept, run.key_id, digests(_given_files(run)))


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
