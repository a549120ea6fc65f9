"""The demo environment as a bench for candidates, and a good candidate to spoil."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from construction.analytics.answers import guidelines_of
from construction.analytics.candidates import Bench, Draft
from construction.analytics.contracts import Category, Part
from construction.analytics.environment.declaration import (
    IGNORABLE,
    Declaration,
    read_declaration,
)
from construction.analytics.environment.variants import clean_tables, read_files
from construction.analytics.execute_duckdb import Engine
from construction.analytics.steps import program_of
from data.demo.generate import copy_environment, copy_frozen

YEAR = {"column": "fiscal_year", "value": 2021}
STEPS: tuple[dict[str, Any], ...] = (
    {"op": "rank", "source": "regions", "column": "gdp", "label": "region", "take": 2},
    {
        "op": "lookup",
        "source": "$1",
        "where": [{"column": "rank", "value": 2}],
        "column": "region",
    },
    {
        "op": "statistic",
        "source": "accounts",
        "function": "sum",
        "column": "revenue",
        "where": [YEAR, {"column": "region", "value": "$2"}],
    },
)
QUESTION = (
    "What was the combined revenue in fiscal 2021 of the companies based in the province with the "
    "second-largest gross provincial product of 2022?"
)


_FOLDER = tempfile.TemporaryDirectory(prefix="benchmint-analytics-")  # until the tests end


@lru_cache(maxsize=1)
def demo_folder() -> Path:
    folder = Path(_FOLDER.name)
    copy_environment(folder)
    copy_frozen(Path(__file__).parent / "environment", folder)  # figures that the tests know
    return folder


@lru_cache(maxsize=1)
def declaration() -> Declaration:
    return read_declaration(demo_folder() / "environment.toml")


@lru_cache(maxsize=1)
def bench() -> Bench:
    """The demo's tables as published: nothing is perturbed, and no gate compares with that."""
    declared = declaration()
    files = read_files(demo_folder(), declared)
    tables = clean_tables(declared, files)
    paths = {name: demo_folder() / f"{name}.parquet" for name in tables}
    for name, frame in tables.items():
        frame.write_parquet(paths[name])
    return Bench(
        declaration=declared,
        tables=tables,
        engine=Engine(paths),
        readings={"first_record": clean_tables(declared, files, keep="first")},
        careless={noise: clean_tables(declared, files, [noise]) for noise in IGNORABLE},
    )


def draft(
    *steps: dict[str, Any],
    question: str = QUESTION,
    parts: tuple[Part, ...] = (),
    guidelines: str | None = None,
    words: dict[str, str] | None = None,
    category: Category = Category.ENTERPRISE_INDUSTRY,
) -> Draft:
    """The good candidate, or one with other steps, words or parts."""
    program = program_of(list(steps or STEPS))
    shown = parts or (Part(part="value", step=len(program), kind="money", decimals=0),)
    metrics = tuple(m for m in declaration().metrics if m.name in ("gdp", "revenue"))
    return Draft(
        template="test",
        category=category,
        language="en",
        question=question,
        guidelines=guidelines_of(declaration(), shown, program, "en")
        if guidelines is None
        else guidelines,
        program=program,
        parts=shown,
        words={"year": "2021", "am": "revenue"} if words is None else words,
        metrics=metrics,
    )
