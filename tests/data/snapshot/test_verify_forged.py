"""Verification of damage by a forger who wrote sums that fit it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from data.snapshot.verification import Check, verify
from tests.data.snapshot.damage import (
    Damage,
    append,
    canary,
    cut_table,
    edit_json,
    edit_rows,
    edit_table,
    edit_text,
    failed_checks,
    first_input,
    first_task,
    invent_task,
    publish_answers,
    publish_table,
    put,
    reseal,
)
from tests.data.snapshot.test_signature import FORGERIES
from tests.data.snapshot.test_verify import PLAIN


def swap_prompt(rows: list[Any]) -> None:
    rows[0]["prompt"] = "Do something else."


def _set(**values: object) -> Any:
    return lambda document: document.update(values)


FORGED: dict[str, tuple[Damage, Check]] = {
    "a prompt changed in one place": (lambda s: edit_rows(s, swap_prompt), Check.TASK_TEXT),
    "an instruction changed": (
        lambda s: append(first_task(s) / "instruction.md", b"Also delete everything.\n"),
        Check.TASK_TEXT,
    ),
    "a prompt changed in task.yaml": (
        lambda s: edit_text(first_task(s) / "task.yaml", "订单", "账单"),
        Check.TASK_TEXT,
    ),
    "a fixture replaced": (
        lambda s: put(first_input(s), b"id,total\n9,9\n"),
        Check.FIXTURE,
    ),
    "a fixture removed": (lambda s: first_input(s).unlink(), Check.TASK_FILES),
    "a fixture's size changed": (
        lambda s: edit_rows(s, lambda rows: rows[0]["fixtures"][0].update(bytes=1)),
        Check.FIXTURE,
    ),
    "a file in a task that no row knows": (
        lambda s: put(first_task(s) / "answers.json", canary(s)),
        Check.TASK_FILES,
    ),
    "a fixture path that leaves": (
        lambda s: edit_rows(s, lambda rows: rows[0]["fixtures"][0].update(path="../../x")),
        Check.UNSAFE_PATH,
    ),
    "a task id that leaves": (
        lambda s: edit_rows(s, lambda rows: rows[0].update(task_id="../../private")),
        Check.UNSAFE_PATH,
    ),
    "a row that is no task": (
        lambda s: edit_rows(s, lambda rows: rows[0].pop("lane")),
        Check.TASK_ROW,
    ),
    "a row that is no object": (
        lambda s: edit_rows(s, lambda rows: rows.append(7)),
        Check.TASK_ROW,
    ),
    "a line that is no JSON": (
        lambda s: append(s / "public/tasks.jsonl", b"{\n"),
        Check.TASK_ROW,
    ),
    "a row twice": (
        lambda s: edit_rows(s, lambda rows: rows.append(rows[0])),
        Check.TASK_TWICE,
    ),
    "a task removed": (lambda s: edit_rows(s, lambda rows: rows.pop()), Check.MANIFEST_COUNT),
    "answers in a row": (
        lambda s: edit_rows(s, lambda rows: rows[0].update(answers=[])),
        Check.PRIVATE_FIELD,
    ),
    "a rubric in task.yaml": (
        lambda s: append(first_task(s) / "task.yaml", b"rubric: {}\n"),
        Check.PRIVATE_FIELD,
    ),
    "provenance with detail": (
        lambda s: edit_rows(s, lambda rows: rows[0]["provenance"].update(detail={"line": 3})),
        Check.PRIVATE_FIELD,
    ),
    "a private file in public": (publish_answers, Check.PRIVATE_CONTENT),
    "a private id in public": (
        lambda s: append(s / "public/README.md", b"\nsee weekly-review-0000.a1b2c3_i1.\n"),
        Check.PRIVATE_CONTENT,
    ),
    "the canary gone from a text": (
        lambda s: edit_text(s / "public/LICENSE", canary(s), "none"),
        Check.CANARY_MISSING,
    ),
    "the canary gone from a private text": (
        lambda s: edit_json(
            s / "private" / first_task(s).name / "answers.json", _set(canary="none")
        ),
        Check.CANARY_MISSING,
    ),
    "another canary in a row": (
        lambda s: edit_rows(s, lambda rows: rows[0].update(canary="1234")),
        Check.CANARY_MISSING,
    ),
    "no canary in a row": (
        lambda s: edit_rows(s, lambda rows: rows[0].pop("canary")),
        Check.CANARY_MISSING,
    ),
    "the canary in an input": (
        lambda s: put(first_input(s), canary(s)),
        Check.CANARY_IN_INPUTS,
    ),
    "a manifest with a field more": (
        lambda s: edit_json(s / "public/manifest.json", _set(extra=1)),
        Check.MANIFEST,
    ),
    "a manifest that is a list": (
        lambda s: put(s / "public/manifest.json", "[]"),
        Check.MANIFEST,
    ),
    "a manifest of another snapshot": (
        lambda s: edit_json(s / "public/manifest.json", _set(revision=2)),
        Check.MANIFEST,
    ),
    "another recipe": (
        lambda s: edit_json(s / "public/manifest.json", _set(recipe={})),
        Check.MANIFEST_DIGEST,
    ),
    "another recipe digest": (
        lambda s: edit_json(s / "public/manifest.json", _set(recipe_digest="0" * 64)),
        Check.MANIFEST_DIGEST,
    ),
    "a funnel that loses units": (
        lambda s: edit_json(
            s / "public/audit/funnel.json", lambda d: d["stages"][2]["outcomes"].update(kept=17)
        ),
        Check.LEDGER_ARITHMETIC,
    ),
    "a funnel with an outcome of another kind": (
        lambda s: edit_json(
            s / "public/audit/funnel.json", lambda d: d["stages"][2]["outcomes"].update(chosen=0)
        ),
        Check.LEDGER_ARITHMETIC,
    ),
    "a funnel without stages": (
        lambda s: edit_json(s / "public/audit/funnel.json", lambda d: d.pop("stages")),
        Check.LEDGER_ARITHMETIC,
    ),
    "a rejection less in the aggregates": (
        lambda s: edit_json(s / "public/audit/ledger.json", lambda d: d["rejections"].pop()),
        Check.LEDGER_ARITHMETIC,
    ),
    "other overlaps": (
        lambda s: edit_json(s / "public/audit/ledger.json", lambda d: d["overlaps"].pop()),
        Check.LEDGER_RECOUNT,
    ),
    "a funnel that closes on other counts": (
        lambda s: edit_json(
            s / "public/audit/funnel.json",
            lambda d: d["stages"][2]["outcomes"].update(kept=17, errored=1),
        ),
        Check.LEDGER_RECOUNT,
    ),
    "other children in the funnel": (
        lambda s: edit_json(
            s / "public/audit/funnel.json", lambda d: d["stages"][1].update(made={"instance": 9})
        ),
        Check.LEDGER_RECOUNT,
    ),
    "a ledger row less": (
        lambda s: edit_table(s / "private/ledger.parquet", lambda t: t.slice(1)),
        Check.LEDGER_RECOUNT,
    ),
    "a ledger with other columns": (
        lambda s: edit_table(s / "private/ledger.parquet", lambda t: t.drop("gate")),
        Check.LEDGER_RECOUNT,
    ),
    "a ledger with empty ids": (
        lambda s: edit_table(
            s / "private/ledger.parquet",
            lambda t: t.with_columns(pl.lit(None, pl.String).alias("stage")),
        ),
        Check.LEDGER_RECOUNT,
    ),
    "a ledger that is no table": (
        lambda s: put(s / "private/ledger.parquet", b"PAR1" * 9),
        Check.LEDGER_RECOUNT,
    ),
    "no ledger": (lambda s: (s / "private/ledger.parquet").unlink(), Check.LEDGER_RECOUNT),
    "other statistics": (
        lambda s: edit_json(s / "public/audit/statistics.json", _set(total_input_bytes=1)),
        Check.STATISTICS,
    ),
    "croissant without a creator": (
        lambda s: edit_json(s / "public/croissant.json", lambda d: d.pop("creator")),
        Check.METADATA,
    ),
    "croissant of another task list": (
        lambda s: edit_json(
            s / "public/croissant.json", lambda d: d["distribution"][0].update(sha256="0" * 64)
        ),
        Check.METADATA,
    ),
    "croissant that does not know a table": (
        lambda s: publish_table(s / "public/tables/firms.parquet"),
        Check.METADATA,
    ),
    "croissant that names a file that is not there": (
        lambda s: edit_json(
            s / "public/croissant.json",
            lambda d: d["distribution"].append({"contentUrl": "tables/a.parquet", "sha256": "0"}),
        ),
        Check.METADATA,
    ),
    "a released table cut off": (
        lambda s: cut_table(s / "public/tables/firms.parquet", 200),
        Check.TABLE,
    ),
    "answers cut off": (lambda s: cut_table(s / "private/answers.parquet", 200), Check.TABLE),
    "a table that is none": (
        lambda s: cut_table(s / "public/tables/a.csv", 4),
        Check.TABLE,
    ),
    "a report without its policy": (
        lambda s: edit_text(
            s / "public/audit/report.html", "Content-Security-Policy", "X-Something-Else"
        ),
        Check.REPORT_POLICY,
    ),
    "a report with a looser policy": (
        lambda s: edit_text(
            s / "public/audit/report.html", "default-src &#39;none&#39;", "default-src *"
        ),
        Check.REPORT_POLICY,
    ),
    "a report that loads pictures": (
        lambda s: edit_text(s / "public/audit/report.html", "; base-uri", "; img-src *; base-uri"),
        Check.REPORT_POLICY,
    ),
    "a report with another script": (
        lambda s: edit_text(s / "public/audit/report.html", '"use strict"', '"use sloppy"'),
        Check.REPORT_POLICY,
    ),
    "a report that sends its reader away": (
        lambda s: edit_text(
            s / "public/audit/report.html",
            "</head>",
            '<meta HTTP-EQUIV=refresh content="0;url=http://192.0.2.1"></head>',
        ),
        Check.REPORT_POLICY,
    ),
    "the private half of another snapshot": (
        lambda s: edit_json(s / "private/snapshot.json", _set(snapshot="other-2026.07.01")),
        Check.PRIVATE_LINK,
    ),
    "a private directory of no task": (invent_task, Check.TASK_FILES),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_damage_is_found(snapshot: Path, name: str) -> None:
    damage, check = FORGED[name]
    damage(snapshot)
    reseal(snapshot)
    report = verify(snapshot)
    assert check in failed_checks(report), report.findings
    assert not failed_checks(report) & {Check.SUMS_CHANGED, Check.SUMS_EXTRA, Check.SUMS_MALFORMED}


def test_every_check_has_a_case() -> None:
    cases = {check for _, check, _ in PLAIN.values()}
    cases |= {check for _, check in FORGED.values()} | {check for _, check in FORGERIES.values()}
    assert set(Check) - cases == {
        Check.NOT_A_SNAPSHOT,
        Check.RENAMED,
        Check.UNREADABLE,
        Check.ERRATA,  # beside the snapshot: test_errata.py
    }
