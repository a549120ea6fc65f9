"""The lane of anonymized tables: private tables to a released data environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anonymization.tables.release_gate import JudgedTable
from data.errors import ConfigError
from data.run_store import StageOutput
from flows import table_stages
from flows.prefect_adapter import lane, stage
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run
from flows.sealed_tables import keep, kept, require_unchanged
from flows.table_files import TableFile, digests, find_tables
from flows.table_release import AnonymizedTables, judge, released


@lane("anonymize-tables")
def anonymize_tables(recipe: FlowRecipe, runtime: FlowRuntime) -> AnonymizedTables | None:
    """Find, anonymize and attack, judge; None where no tables were given.

    A folder that was sealed starts at the pseudonymized tables, whether the originals are there
    or not.
    """
    run = open_run(recipe, runtime)
    files = declared_files(run)
    inputs, sealed = digests(files), kept(run)
    if not files and sealed is None:
        return None
    found = find_files(run, files)
    if sealed is not None and files:
        require_unchanged(run, inputs)
    made = sealed or perturb_and_attack(run, files, inputs)
    outcome, judged = judge_tables(run, made, sealed is not None)
    if sealed is None:
        keep(run, inputs, made)
    folders = [found.path, made.path, outcome.path]
    return released(run, folders, made.path, judged, inputs, sealed is not None)


def declared_files(run: Run) -> list[TableFile]:
    """The files given. Errors: `ConfigError` if there are some, but [tables] declares none."""
    recipe, given = run.recipe.tables, run.runtime.tables
    if given and not recipe.tables:
        raise ConfigError(
            "[tables]: found no table declared; expected a role for every column of those given. "
            "`benchmint profile TABLE --toml` proposes them."
        )
    return find_tables(given, {*recipe.tables, *recipe.aggregates}) if given else []


@stage("find-tables")
def find_files(run: Run, files: Sequence[TableFile]) -> StageOutput:
    """The books of the files that were given."""
    return table_stages.find(run, files)


@stage("anonymize-tables")
def perturb_and_attack(
    run: Run, files: Sequence[TableFile], inputs: Mapping[str, str]
) -> StageOutput:
    """Pseudonyms, perturbation, fidelity, consistency, attacks and the frontier."""
    return table_stages.anonymize(run, files, inputs)


@stage("judge-tables")
def judge_tables(
    run: Run, made: StageOutput, sealed: bool
) -> tuple[StageOutput, list[JudgedTable]]:
    """Fidelity and re-identification against the declared limits."""
    return judge(run, made.path, sealed)
