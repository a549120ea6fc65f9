"""A run's tables of any size, made by arithmetic alone: the same rows for the same size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from construction.sessions.config import LOCAL_GATES, NETWORK_GATES
from data.staging.database import RUN_ID, STAGED
from data.tables import write_frame

_TURNS = 10  # per session; five of a person, five of the agent
_GATES = tuple(gate.name for gate in (*LOCAL_GATES, *NETWORK_GATES))  # those of instances
_FAMILIES = ("finance_accounting", "data_reporting", "correspondence", "document_work", "assurance")
_TYPES = ("csv", "xlsx", "docx", "pdf", "md")
_MODELS = tuple(f"model-{number:02d}" for number in range(13))
_CATEGORIES = ("income_statement", "balance_sheet", "cash_flow")


def write_run(out: Path, turns: int) -> dict[str, int]:
    """Write the Parquet files of a run with about `turns` turns; returns rows by table."""
    out.mkdir(parents=True, exist_ok=True)
    sessions = max(1, turns // _TURNS)
    written = {}
    for table in (table for table in STAGED if table.name in _MAKERS):
        schema = {name: kind for name, kind in table.schema.items() if name != RUN_ID}
        frame = _fitted(_MAKERS[table.name](sessions), schema)
        written[table.name] = write_frame(out / f"{table.name}.parquet", frame)
    return written


def _fitted(frame: pl.DataFrame, schema: dict[str, Any]) -> pl.DataFrame:
    """The frame with exactly the columns of a contract; null where it has none."""
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in schema.items()
    )


def _numbered(n: int, **columns: pl.Expr) -> pl.DataFrame:
    """`n` rows from the row number `i`."""
    return pl.DataFrame({"i": pl.int_range(n, eager=True)}).with_columns(**columns)


def _of(names: tuple[str, ...], number: pl.Expr) -> pl.Expr:
    return (number % len(names)).replace_strict(dict(enumerate(names)), return_dtype=pl.String)


_I = pl.col("i")


def _session_of(number: pl.Expr) -> pl.Expr:
    return pl.format("s{}.{}", number, (number * 7919) % 999_983)


def _instance_of(number: pl.Expr) -> pl.Expr:
    return pl.format("{}_i1", _session_of(number))


def _sessions(n: int) -> pl.DataFrame:
    return _numbered(
        n,
        session_uid=_session_of(_I),
        path=pl.format("logs/{}.jsonl", _I),
        format=pl.lit("openclaw"),
        n_turns=pl.when(_I.is_in([n // 2])).then(_TURNS + 1).otherwise(_TURNS),
        n_human_turns=pl.lit(_TURNS // 2),
        n_instances=pl.lit(1),
    )


def _turns(n: int) -> pl.DataFrame:
    session, index = _I // _TURNS, _I % _TURNS
    human = index % 2 == 0
    left_out = human & (_I % 50 == 0)
    return _numbered(
        n * _TURNS,
        session_uid=_session_of(session),
        turn_index=index,
        line=index + 2,
        role=pl.when(human).then(pl.lit("user")).otherwise(pl.lit("assistant")),
        origin=pl.when(human).then(pl.lit("human")).otherwise(pl.lit("agent")),
        chars=40 + (_I * 37) % 900,
        said_chars=30 + (_I * 31) % 800,
        n_tool_calls=(_I * 3) % 4,
        instance_id=pl.when(~left_out).then(_instance_of(session)),
        left_out=pl.when(left_out).then(pl.lit("thanks")),
    )


def _instances(n: int) -> pl.DataFrame:
    return _numbered(
        n,
        instance_id=_instance_of(_I),
        session_uid=_session_of(_I),
        started_by=pl.lit("session_start"),
        first_line=pl.lit(2),
        n_turns=pl.lit(_TURNS),
        said_chars=(_I * 13) % 700,
        language=_of(("en", "zh"), _I),
    )


def _fixtures(n: int) -> pl.DataFrame:
    gone = _I % 4 == 0
    return _numbered(
        n,
        instance_id=_instance_of(_I),
        role=pl.lit("declared"),
        extension=_of(_TYPES, _I),
        status=pl.when(gone).then(pl.lit("fixture.unresolved")).otherwise(pl.lit("resolved")),
        bytes=(_I * 101) % 90_000,
    )


def _failed() -> pl.Expr:
    """Gate g fails every item whose number is a multiple of 5 + 2g."""
    gate = _I % len(_GATES)
    return (_I // len(_GATES)) % (5 + 2 * gate) == 0


def _verdicts(n: int) -> pl.DataFrame:
    item = _I // len(_GATES)
    return _numbered(
        n * len(_GATES),
        item_id=_instance_of(item),
        gate=_of(_GATES, _I),
        status=pl.when(_failed()).then(pl.lit("failed")).otherwise(pl.lit("passed")),
        observed=pl.when(_failed()).then(item % 10).otherwise(10 + item % 500),
        limit=pl.lit(10),
        measures=pl.lit("{}"),
    )


def _ledger_rows(frame: pl.DataFrame, stage: str, unit: str) -> pl.DataFrame:
    n = pl.lit(1, dtype=pl.Int64)
    return frame.with_columns(stage=pl.lit(stage), unit=pl.lit(unit), evidence=pl.lit("{}"), n=n)


def _ledger(n: int) -> pl.DataFrame:
    failed = _verdicts(n).filter(pl.col("status") == "failed")
    judged = failed.unique("item_id", keep="first", maintain_order=True)
    kept = _numbered(n, item_id=_instance_of(_I)).join(judged, on="item_id", how="anti")
    rejected = _ledger_rows(judged, "gates", "instance").with_columns(
        outcome=pl.lit("rejected"),
        reason=pl.format("{}.failed", "gate"),
        observed=pl.col("observed").cast(pl.String),
        limit=pl.lit("10"),
        evidence=pl.lit('{"line":2,"path":"logs/x.jsonl"}'),
    )
    passed = _ledger_rows(kept, "gates", "instance").with_columns(outcome=pl.lit("kept"))
    candidates = _candidates(n).rename({"task_id": "item_id"})
    chosen = _ledger_rows(candidates, "select", "candidate").with_columns(
        reason=pl.when(pl.col("outcome") == "not_chosen").then(pl.lit("select.not_in_subset")),
        stratum=pl.format("sessions/{}", "task_family"),
    )
    return pl.concat([rejected, passed, chosen], how="diagonal")


def _tallies(n: int) -> pl.DataFrame:
    """As two shards would write them."""
    counted = _ledger(n).group_by("stage", "unit", "outcome").agg(n=pl.col("n").sum())
    rows = counted.sort("stage", "outcome").with_columns(
        kind=pl.when(pl.col("stage") == "gates").then(pl.lit("filter")).otherwise(pl.lit("choose"))
    )
    shards = [rows.with_columns(n=pl.col("n") // 2), rows.with_columns(n=(pl.col("n") + 1) // 2)]
    return pl.concat(
        shard.with_columns(n_in=pl.col("n").sum().over("stage", "unit")) for shard in shards
    )


def _lineage(n: int) -> pl.DataFrame:
    made = _numbered(
        n,
        stage=pl.lit("recover"),
        parent_unit=pl.lit("session"),
        parent=_session_of(_I),
        child_unit=pl.lit("instance"),
        child=_instance_of(_I),
        why=pl.lit("session_start"),
    )
    packed = _candidates(n).select(
        stage=pl.lit("package"),
        parent_unit=pl.lit("instance"),
        parent="instance_id",
        child_unit=pl.lit("candidate"),
        child="task_id",
        why=pl.lit("packaged"),
    )
    return pl.concat([made.drop("i"), packed])


def _candidates(n: int) -> pl.DataFrame:
    kept = _numbered(n).filter(
        pl.all_horizontal([_I % (5 + 2 * gate) != 0 for gate in range(len(_GATES))])
    )
    return kept.with_columns(
        task_id=pl.format("s-{}", _I),
        instance_id=_instance_of(_I),
        lane=pl.lit("sessions"),
        task_family=_of(_FAMILIES, _I),
        language=_of(("en", "zh"), _I),
        difficulty=_of(("easy", "medium", "hard"), _I),
        prompt_chars=100 + _I % 400,
        outcome=pl.when(_I % 3 == 0).then(pl.lit("chosen")).otherwise(pl.lit("not_chosen")),
    )


def _scores(n: int) -> pl.DataFrame:
    models = pl.DataFrame({"model": _MODELS, "rank": range(len(_MODELS))})
    tasks = _candidates(n).select("task_id", "i").head(20_000)
    return tasks.join(models, how="cross").with_columns(
        score=((_I * 17 + pl.col("rank") * 29) % 100) / 100
    )


def _signals(n: int) -> pl.DataFrame:
    return _numbered(
        min(n, 500),
        source=pl.lit("registry"),
        slug=pl.format("skill-{}", _I),
        mass=1000.0 / (_I + 1),
        pattern=pl.format("pattern-{}", _I % 20),
        family=_of(("finance", "data", "mail"), _I),
        task_family=_of(_FAMILIES, _I),
    )


def _patterns(n: int) -> pl.DataFrame:
    return _numbered(
        min(n, 20),
        source=pl.lit("registry"),
        pattern=pl.format("pattern-{}", _I),
        family=_of(("finance", "data", "mail"), _I),
    )


def _weights(_: int) -> pl.DataFrame:
    return _numbered(
        len(_FAMILIES),
        source=pl.lit("registry"),
        layer=pl.lit("task"),
        family=_of(_FAMILIES, _I),
        weight=(_I + 1) / 15,
    )


def _series(n: int) -> pl.DataFrame:
    return _numbered(
        max(1, n // 5),
        series_id=pl.format("c{}/x{}", _I % 400, _I),
        company_id=pl.format("c{}", _I % 400),
        category=_of(_CATEGORIES, _I),
    )


def _points(n: int) -> pl.DataFrame:
    series = _I // 10
    return _numbered(
        max(1, n // 5) * 10,
        point_id=pl.format("p{}", _I),
        series_id=pl.format("c{}/x{}", series % 400, series),
        company_id=pl.format("c{}", series % 400),
        value=pl.format("{}", _I * 1000),
    )


def _questions(n: int) -> pl.DataFrame:
    return _numbered(
        min(n, 500),
        index=_I,
        question=pl.format("What was line {} of company {}?", _I, _I % 400),
        category=_of(_CATEGORIES, _I),
        company_id=pl.format("c{}", _I % 400),
        pi_design=pl.lit(0.01),
    )


_MAKERS: dict[str, Callable[[int], pl.DataFrame]] = {
    "sessions": _sessions,
    "turns": _turns,
    "task_instances": _instances,
    "fixtures": _fixtures,
    "verdicts": _verdicts,
    "ledger": _ledger,
    "tallies": _tallies,
    "lineage_rows": _lineage,
    "candidates": _candidates,
    "scores": _scores,
    "signals": _signals,
    "patterns": _patterns,
    "weights": _weights,
    "series": _series,
    "points": _points,
    "questions": _questions,
}
