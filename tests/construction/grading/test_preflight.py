"""The gate over candidates: computed answers, input files, and what is written of each."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from construction.grading.content_rules import text_key
from construction.grading.file_look import word_form
from construction.grading.gate import GraderReason, GradingRecipe
from construction.grading.preflight import PreflightJob, preflight_shard
from construction.judging.baseline.grade import grade as grade_by_facts
from data.canonical import canonical_json
from data.contracts import (
    Answer,
    Candidate,
    Disclosure,
    Fixture,
    Lane,
    Provenance,
    Rule,
    Step,
)
from data.pool import read_pool
from data.stage_tables import read_records
from tests.construction.judging.cases import case
from tests.construction.statements.tools.tiny import QUANDELL, REVENUE, tiny_statements

TOOLS = ("discover_companies", "discover_company_series", "get_company_fundamentals")
DAYS = {"period_start": "2024-01-01", "period_end": "2024-03-31", "months": 3}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("database")
    tables = tiny_statements()
    for name in ("companies", "series", "points"):
        getattr(tables, name).write_parquet(folder / f"{name}.parquet")
    return folder


def candidate(name: str, **parts: Any) -> Candidate:
    source = Provenance(
        source="made", source_format="made", item_id=name, disclosure=Disclosure.PUBLIC
    )
    prompt = "What was the revenue of Quandell Software, Inc. in the first quarter of 2024?"
    return Candidate(
        task_id=name,
        lane=Lane.QUESTIONS,
        prompt=prompt,
        language="en",
        provenance=source,
        **parts,
    )


def question(name: str, value: str, series: str = REVENUE) -> Candidate:
    company = {"company_id": QUANDELL}
    steps = (
        ("Find the company.", TOOLS[0], {"query": "Quandell Software, Inc."}),
        ("Find its series.", TOOLS[1], {**company, "query": "Total revenues"}),
        ("Read its value.", TOOLS[2], {**company, "series_id": series, "period": "2024-Q1"}),
        (
            "Give it in millions.",
            "present",
            {"values": "$3.values", **DAYS, "unit": "USD", "scale": 1_000_000, "decimals": 0},
        ),
    )
    return candidate(
        name,
        tools=TOOLS,
        answers=(
            Answer(
                part="value",
                type="number",
                value=value,
                unit="USD",
                scale=1_000_000,
                decimals=0,
                tolerance=0.0,
            ),
        ),
        steps=tuple(
            Step(index=number, text=text, operation=operation, arguments=arguments)
            for number, (text, operation, arguments) in enumerate(steps, 1)
        ),
    )


NOT_THE_INPUT = Rule(
    rule_id="changed.csv",
    kind="changed",
    params={
        "extensions": ["csv"],
        "keys": [text_key(word_form("region revenue north 125 south 90"))],
    },
    text="The file does not say just what the input says.",
)


def judged(
    out: Path, database: Path | None, *tasks: Candidate, files: dict[str, Path] | None = None
) -> dict[str, Any]:
    """The verdict of each task."""
    out.mkdir(exist_ok=True)
    rows = tuple(canonical_json(task).decode() for task in tasks)
    preflight_shard(PreflightJob(rows, files or {}, database, GradingRecipe()), out)
    return dict(read_records([out]).verdicts)


def test_the_answer_computed_on_the_data_tools_decides(database: Path, tmp_path: Path) -> None:
    tasks = (question("right", "125"), question("wrong-gold", "126"))
    missing = question("wrong-series", "125", series=f"{QUANDELL}/Nothing/USD")
    verdicts = judged(tmp_path / "out", database, *tasks, missing)
    reasons = {name: verdict.reason for name, verdict in verdicts.items()}
    assert reasons == {
        "right": None,
        "wrong-gold": GraderReason.ORACLE,
        "wrong-series": GraderReason.ORACLE,
    }
    assert verdicts["right"].measures["oracle"] == 1
    assert [task.task_id for task in read_pool([tmp_path / "out"]).candidates] == ["right"]


def test_without_tables_no_answer_is_computed(tmp_path: Path) -> None:
    verdict = judged(tmp_path / "out", None, question("right", "125"))["right"]
    assert (verdict.reason, verdict.measures["oracle"]) == (None, None)


def test_a_copy_of_the_input_earns_nothing(tmp_path: Path) -> None:
    content = b"region,revenue\nnorth,125\nsouth,90\n"
    digest = hashlib.sha256(content).hexdigest()
    path = tmp_path / digest
    path.write_bytes(content)
    fixture = Fixture(path="revenue.csv", sha256=digest, bytes=len(content), media_type="text/csv")
    words = grade_by_facts(case("Sum the revenue of all regions as result.csv")).rules
    rules = (*words, NOT_THE_INPUT)
    task = candidate("copy", fixtures=(fixture,), rules=rules)
    verdict = judged(tmp_path / "out", None, task, files={digest: path})["copy"]
    assert (verdict.measures["null"], verdict.reason) == (0, GraderReason.JUDGE_ONLY)
