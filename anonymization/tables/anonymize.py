"""One pure stage: tables to anonymized tables and the reports about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from anonymization.tables.config import TableConfig
from anonymization.tables.consistency import align, native_noise
from anonymization.tables.derived import find_undeclared
from anonymization.tables.fidelity import Fidelity, assess
from anonymization.tables.perturb.perturb_table import Perturbed, perturb_table
from anonymization.tables.pseudonyms.mapping import Pseudonyms, make_pseudonyms, pseudonymize
from anonymization.tables.settings import TablesConfig
from data.errors import InputError


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
    _check(tables, config)
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


def _check(tables: Mapping[str, pl.DataFrame], config: TablesConfig) -> None:
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
