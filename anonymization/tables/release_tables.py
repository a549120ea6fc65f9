"""Tables anonymized, attacked and measured into the output of a stage; and the gates on their
release: fidelity, then re-identification, table by table.

`anonymize_tables` is pure: tables to anonymized tables and the reports about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import TypeAdapter

from anonymization.leaks.leak_patterns import MIN_PATTERN, Matcher
from anonymization.tables import privacy_report
from anonymization.tables.attacks import report as attacks
from anonymization.tables.attacks.linked import AttackResult, Knowledge
from anonymization.tables.attacks.measures import seed_key
from anonymization.tables.config import (
    ColumnRole,
    FidelityConfig,
    IdentifierKind,
    RiskLimits,
    TableConfig,
    TablesConfig,
    TablesRecipe,
    UtilityLimits,
)
from anonymization.tables.fidelity import ALL, Fidelity, assess, publishable
from anonymization.tables.files import TableFile, in_order, read_tables
from anonymization.tables.gates import FIDELITY as FIDELITY
from anonymization.tables.gates import RE_IDENTIFICATION as RE_IDENTIFICATION
from anonymization.tables.perturb_table import Perturbed, check_table, perturb_table
from anonymization.tables.privacy_report import CONFIGURED, TablePrivacy, Tried, grid, measure
from anonymization.tables.pseudonym_mapping import Pseudonyms, make_pseudonyms, pseudonymize
from anonymization.tables.relations import align, find_undeclared, native_noise
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import LedgerRow, Outcome, StageKind, Status, Verdict
from data.errors import InputError
from data.ledger import close
from data.progress import track
from data.randomness import keyed_hash
from data.sharding import map_shards
from data.stage_tables import StageRecords, write_records
from data.tables import write_frame
from data.text.folding import alphanumeric


@dataclass(frozen=True, slots=True)
class _MeasuredTable:
    """Everything that the gates and the report need about a released table.

    `tried`: the setting as configured first, then the others; empty without measures.
    """

    name: str
    tried: tuple[Tried, ...]
    pseudonyms: tuple[AttackResult, ...]


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """A table after its gates; `privacy` is None without measures."""

    name: str
    verdicts: tuple[Verdict, ...]
    privacy: TablePrivacy | None

    @property
    def refused(self) -> tuple[Verdict, ...]:
        """The verdicts that stop the release.

        Re-identification that could not be measured stops it too; fidelity that cannot be assessed
        for lack of rows does not.
        """
        return tuple(
            verdict
            for verdict in self.verdicts
            if verdict.status is Status.FAILED
            or (verdict.status is Status.UNVERIFIED and verdict.gate == RE_IDENTIFICATION.name)
        )


def judge_table(measured: _MeasuredTable, limits: RiskLimits, worth: UtilityLimits) -> JudgedTable:
    """Both gates on one table; a table without measures has no verdicts."""
    if not measured.tried:
        return JudgedTable(measured.name, (), None)
    own = measured.tried[0]
    points = [tried.point(limits.columns) for tried in measured.tried]
    risk = privacy_report.judge(own.attacks, limits, worth, points)
    privacy = TablePrivacy(
        measured.name,
        own.attacks,
        measured.pseudonyms,
        own.utility,
        points,
        limits,
        worth,
        risk,
    )
    return JudgedTable(measured.name, (own.fidelity, risk), privacy)


def refusal(table: JudgedTable) -> str:
    """Why a table is refused, in one line, and which of the settings tried would pass."""
    assert table.privacy is not None
    causes = " and ".join(_cause(verdict) for verdict in table.refused)
    points, limits, worth = table.privacy.frontier, table.privacy.limits, table.privacy.worth
    alternatives = privacy_report.would_pass(points, limits, worth)
    return (
        f"{table.name}: {causes}; would pass (of {alternatives['settings_tried']} tried): "
        f"{alternatives['would_pass']}; would also keep the declared utility: "
        f"{alternatives['would_pass_and_keep_utility']}"
    )


def _cause(verdict: Verdict) -> str:
    seen, limit = verdict.observed, verdict.limit
    if verdict.status is Status.UNVERIFIED:
        return (
            "whole industries were not attacked: switch [tables.attacks] assignment on, or accept "
            "the risk with [tables.risk] whole_industry = 1"
        )
    if verdict.gate == FIDELITY.name:
        return f"{verdict.gate}: {seen:.3f} of columns and industries drifted, limit {limit}"
    worst, by = verdict.measures["worst"], verdict.measures["attack"]
    return f"{verdict.gate}: {seen:.3f} found, limit {limit} ({worst}, by {by})"


def _pseudonym_attacks(
    original: pl.DataFrame,
    released: pl.DataFrame,
    config: TableConfig,
    made: Pseudonyms,
    key: bytes,
    seed: int,
) -> Iterator[AttackResult]:
    """Attacks on the codes of one table, `original` and `released`."""
    for name in config.of_role(ColumnRole.IDENTIFIER):
        column = config.columns[name]
        if column.kind is not IdentifierKind.CODE:
            continue
        codes, published = (_codes(frame[name]) for frame in (original, released))
        space = column.space or name
        mapping = {code: made.codes[space][code] for code in codes}
        if not mapping:
            continue
        everyone = sorted(mapping)
        keys = {Knowledge.KEY: key, Knowledge.PUBLISHED: seed_key(seed)}
        for knows, tried in keys.items():
            yield attacks.dictionary_attack(mapping, everyone, tried, space, column.prefix, knows)
        yield attacks.order_attack(mapping, space)
        yield attacks.likeness_attack(mapping, space)
        if name == config.entity:
            yield attacks.row_order_attack(codes, published, mapping)


_KEPT = (ColumnRole.QUASI_IDENTIFIER, ColumnRole.CONSTANT, ColumnRole.UNIT)


def _codes(column: pl.Series) -> list[str]:
    return [code for code in column.cast(pl.String).drop_nulls() if code.strip()]


def _original_identifiers(
    frames: Mapping[str, pl.DataFrame], configs: Mapping[str, TableConfig], made: Pseudonyms
) -> list[str]:
    """Every code and name that the pseudonyms replace, as values of a leak scan.

    A code that is also someone's pseudonym, because the code space is full, is left out, and so is
    a name that a kept column gives to all rows, such as a prefecture that files reports itself, and
    one that is only a part of a pseudonym: a search finds “Elecom Ltd” in “Starreach Telecom Ltd”.
    """
    identifiers = set(_values(frames, configs, ColumnRole.IDENTIFIER))
    images = {image for codes in made.codes.values() for image in codes.values()}
    known = identifiers - images - set(_values(frames, configs, *_KEPT))
    return sorted(known - _parts_of(known, made.names.values()))


def _parts_of(names: Iterable[str], pseudonyms: Iterable[str]) -> set[str]:
    """The names that stand inside a longer pseudonym, whatever their case, width and punctuation.

    A name that is a whole pseudonym is none of them: it stays sought, and stops a release.
    """
    plain = {name: alphanumeric(name).encode() for name in names}
    sought = [(name, form) for name, form in plain.items() if len(form) >= MIN_PATTERN]
    made = sorted({alphanumeric(pseudonym).encode() for pseudonym in pseudonyms})
    whole = set(made)
    matcher = Matcher([form for _, form in sought])
    numbers = {number for _, number in matcher.find(b"\n".join(made))}
    return {sought[number][0] for number in numbers if sought[number][1] not in whole}


def _values(
    frames: Mapping[str, pl.DataFrame], configs: Mapping[str, TableConfig], *roles: ColumnRole
) -> Iterator[str]:
    """The values of all columns with these roles."""
    for name, config in configs.items():
        for column in config.of_role(*roles):
            yield from _codes(frames[name][column].unique())


@dataclass(frozen=True, slots=True)
class AnonymizedTables:
    """`frames`: all tables, aggregates too, under their names. `report`: what may be published;
    `fidelity`: the figures per column and group; `pseudonyms`: private until it is sealed."""

    frames: Mapping[str, pl.DataFrame]
    report: Mapping[str, Any]
    fidelity: Mapping[str, Fidelity]
    pseudonyms: Pseudonyms


def anonymize_tables(
    tables: Mapping[str, pl.DataFrame], config: TablesConfig, key: bytes
) -> AnonymizedTables:
    """Perturb and pseudonymize all tables with one mapping, and report on each.

    Errors: `InputError` if the tables are not those of the configuration, and those of
    `perturb_table`.
    """
    _require_configured(tables, config)
    pairs = {name: (tables[name], own) for name, own in sorted(config.tables.items())}
    pseudonyms = make_pseudonyms(list(pairs.values()), key)
    frames: dict[str, pl.DataFrame] = {}
    fidelity: dict[str, Fidelity] = {}
    report: dict[str, Any] = {"code_clashes": pseudonyms.clashes, "tables": {}, "aggregates": {}}
    moved: dict[str, pl.DataFrame] = {}
    for name, (frame, own) in pairs.items():
        perturbed = _perturbed(name, frame, own, key)
        moved[name] = perturbed.frame
        named = pseudonymize(perturbed.frame, own, pseudonyms)
        frames[name] = named.frame
        table_report = {"perturbation": asdict(perturbed.report), "replaced_in_text": named.in_text}
        if own.measures:
            fidelity[name] = assess(frame, perturbed.frame, own, config.fidelity)
            table_report |= _fidelity_report(fidelity[name])
            table_report["undeclared_derived"] = [
                asdict(s) | {"formula": s.formula.model_dump(mode="json")}
                for s in find_undeclared(frame, own)
            ]
        table_report["native_noise"] = [
            asdict(noise) for noise in native_noise(frame, named.frame, own)
        ]
        report["tables"][name] = table_report
    for name, given in sorted(config.aggregates.items()):
        own = config.tables[given.of]
        aligned, figures = align(tables[name], tables[given.of], moved[given.of], own, given)
        frames[name] = aligned
        report["aggregates"][name] = [asdict(figure) for figure in figures]
    return AnonymizedTables(frames, report, fidelity, pseudonyms)


def _perturbed(name: str, frame: pl.DataFrame, config: TableConfig, key: bytes) -> Perturbed:
    """`perturb_table`; errors name the table beside its column."""
    try:
        return perturb_table(frame, config, key)
    except InputError as error:
        source = f"{name}, column {error.path}" if error.path in frame.columns else name
        raise InputError(source, error.actual, error.expected, error.todo) from None


def _fidelity_report(fidelity: Fidelity) -> dict[str, Any]:
    verdict = fidelity.verdict
    return {
        "fidelity": {
            "status": verdict.status.value,
            "beyond": verdict.observed,
            "limit": verdict.limit,
            **verdict.measures,
            "ks_p_below_5_percent": fidelity.below_p,
            "ks_p": "descriptive, uncorrected: original and perturbed samples are paired",
        }
    }


def _require_configured(tables: Mapping[str, pl.DataFrame], config: TablesConfig) -> None:
    expected = {*config.tables, *config.aggregates}
    if set(tables) != expected:
        actual = f"tables {', '.join(sorted(tables)) or 'none'}"
        wanted = ", ".join(sorted(expected))
        raise InputError(
            "tables", actual, wanted, "Name each table after its file, without ending."
        )
    strange = [n for n, given in config.aggregates.items() if given.of not in config.tables]
    if strange:
        actual = f"aggregates {', '.join(sorted(strange))} of an unknown table"
        raise InputError("tables", actual, "the name of a configured table", "Correct `of`.")


ANONYMIZE = "anonymize-tables"
RELEASED, MEASURED, REPORT = "released", "measured.json", "report.json"
IDENTIFIERS = "originals.json"
MEASUREMENTS = TypeAdapter(tuple[_MeasuredTable, ...])
_LARGE = 5_000  # rows from which settings are tried in several processes
_LABELLED = (ColumnRole.QUASI_IDENTIFIER, ColumnRole.CONSTANT, ColumnRole.UNIT)
_Frames = Mapping[str, pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Anonymizing:
    """How tables are anonymized: recipe, release key, public seed; workers for trying settings."""

    recipe: TablesRecipe
    key: bytes = field(repr=False)
    seed: int
    workers: int = 1
    quiet: bool = True


def write_anonymized(files: Sequence[TableFile], how: Anonymizing, out: Path) -> Pseudonyms:
    """Write the tables under pseudonyms, perturbed, and everything measured about them.

    Rows are sorted by pseudonym before they are written, so that their order links no pseudonym
    to its original. The result is the mapping, which is private.
    """
    recipe = how.recipe
    frames = read_tables(files)
    _require_declared(frames, recipe)
    made = anonymize_tables(frames, recipe, how.key)
    (out / RELEASED).mkdir()
    leaving = {name: _leaving(frame, recipe, name) for name, frame in made.frames.items()}
    for name, frame in leaving.items():
        write_frame(out / RELEASED / released_file(name), frame)
    measured = [_measured(how, name, frames, made, leaving) for name in sorted(recipe.tables)]
    write_bytes(out / MEASURED, MEASUREMENTS.dump_json(tuple(measured)))
    write_bytes(out / REPORT, canonical_json(_report(made, recipe)))
    known = _original_identifiers(frames, recipe.tables, made.pseudonyms)
    write_bytes(out / IDENTIFIERS, canonical_json(known))
    _write_ledger(out, frames, recipe)
    return made.pseudonyms


def released_file(name: str) -> str:
    """A file name that cannot clash with the staging database's own tables."""
    return f"table-{name}.parquet"


def _leaving(frame: pl.DataFrame, recipe: TablesRecipe, name: str) -> pl.DataFrame:
    """Sorted by pseudonym and period: the order of the source would reveal who is who."""
    own = recipe.tables.get(name)
    return in_order(frame, (own.entity, own.period) if own else ())


def _measured(
    how: Anonymizing, name: str, frames: _Frames, made: AnonymizedTables, leaving: _Frames
) -> _MeasuredTable:
    recipe, seed = how.recipe, how.seed
    config, frame = recipe.tables[name], frames[name]
    codes = _pseudonym_attacks(frame, leaving[name], config, made.pseudonyms, how.key, seed)
    tried: list[Tried] = []
    if config.measures:
        attacks = recipe.attacks_on(config, seed)
        own = (frame, made.frames[name], config, attacks, recipe.fidelity)
        tried.append(measure(CONFIGURED, *own))
        others = grid(config, recipe.frontier)
        del others[CONFIGURED]
        jobs = [(s, frame, c, how.key, attacks, recipe.fidelity) for s, c in others.items()]
        workers = how.workers if frame.height >= _LARGE else 1
        done = map_shards(_try, jobs, workers)
        tried += track(done, name, len(jobs), "setting", quiet=how.quiet)
    return _MeasuredTable(name, tuple(tried), tuple(codes))


def _try(job: tuple[str, pl.DataFrame, TableConfig, bytes, Any, FidelityConfig]) -> Tried:
    """One other setting, with noise unrelated to the release's."""
    setting, frame, config, key, attacks, limits = job
    noise = keyed_hash(key, "frontier", setting)
    released = perturb_table(frame, config, noise).frame
    return measure(setting, frame, released, config, attacks, limits)


def _require_declared(frames: _Frames, recipe: TablesRecipe) -> None:
    """Every column is declared. Errors: `InputError` naming table and columns."""
    for name, config in sorted(recipe.tables.items()):
        try:
            check_table(frames[name], config)
        except InputError as error:
            raise InputError(name, error.actual, error.expected, error.todo) from None
    for name, given in sorted(recipe.aggregates.items()):
        declared = {*given.by, *given.values}
        if strange := [column for column in frames[name].columns if column not in declared]:
            actual, todo = f"undeclared columns {', '.join(strange)}", "Take them out of the table."
            raise InputError(name, actual, "columns of `by` and `values` alone", todo)


def _report(made: AnonymizedTables, recipe: TablesRecipe) -> dict[str, Any]:
    """The report of the pure stage, and the fidelity of each column."""
    tables = {}
    for name, report in made.report["tables"].items():
        config = recipe.tables[name]
        columns = _columns(made.frames[name], config)
        tables[name] = {"rows": made.frames[name].height, "columns": columns} | report
        if name in made.fidelity:
            cells = _cells(made.fidelity[name], config)
            tables[name]["fidelity"] |= cells | {"limits": recipe.fidelity}
    return {**made.report, "tables": tables}


def _columns(frame: pl.DataFrame, config: TableConfig) -> list[dict[str, Any]]:
    """Role and treatment of each column: those released in their order, then those dropped."""
    columns = []
    for name in (*frame.columns, *config.of_role(ColumnRole.DROPPED)):
        role = config.columns[name].role
        steps = config.steps_of(name) if role is ColumnRole.MEASURE else ()
        made = [f"{step.method} {step.strength:g}" for step in steps]
        columns.append({"column": name, "role": role, "steps": made})
    return columns


def _cells(fidelity: Fidelity, config: TableConfig) -> dict[str, Any]:
    """Figures per column and industry; industries whose names are not released are numbered."""
    kept = config.group is None or config.columns[config.group].role in _LABELLED
    labels = sorted(set(fidelity.cells["group"]) - {ALL})
    named = {label: label if kept else f"group {at}" for at, label in enumerate(labels, 1)}
    rows = [publishable(row) for row in fidelity.cells.iter_rows(named=True)]
    return {
        "by_column": [row for row in rows if row["group"] == ALL],
        "by_group": [row | {"group": named[row["group"]]} for row in rows if row["group"] != ALL],
    }


def _write_ledger(out: Path, frames: _Frames, recipe: TablesRecipe) -> None:
    """Write a ledger row for every column and counts for rows; dropped columns are rejected."""
    columns = []
    for name, config in sorted(recipe.tables.items()):
        for column, declared in config.columns.items():
            is_dropped = declared.role is ColumnRole.DROPPED
            outcome = Outcome.REJECTED if is_dropped else Outcome.KEPT
            reason = "column.dropped" if is_dropped else None
            evidence = {"role": str(declared.role)}
            item = f"tables/{name}/{column}"
            row = LedgerRow(ANONYMIZE, "column", item, outcome, reason=reason, evidence=evidence)
            columns.append(row)
    for name in sorted(recipe.aggregates):
        kept = [f"tables/{name}/{column}" for column in frames[name].columns]
        columns += [LedgerRow(ANONYMIZE, "column", item, Outcome.KEPT) for item in kept]
    rows = [
        LedgerRow(ANONYMIZE, "row", f"(tables/{name})", Outcome.KEPT, n=frame.height)
        for name, frame in sorted(frames.items())
    ]
    dropped = sum(row.outcome is Outcome.REJECTED for row in columns)
    n_columns, n_rows = len(columns), sum(frame.height for frame in frames.values())
    counts = {Outcome.KEPT: n_columns - dropped, Outcome.REJECTED: dropped}
    tallies = [
        close(ANONYMIZE, StageKind.FILTER, "column", n_columns, counts),
        close(ANONYMIZE, StageKind.FILTER, "row", n_rows, {Outcome.KEPT: n_rows}),
    ]
    write_records(out, StageRecords([*columns, *rows], tallies))
