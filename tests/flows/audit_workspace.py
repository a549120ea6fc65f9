"""A workspace for the audit page: staging, sources, a release key; hostile text throughout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from construction.sessions.gates.fixture import GATE as FIXTURE
from construction.sessions.gates.fixture import FixtureConfig, FixtureObservation, FixtureReason
from construction.sessions.gates.length import GATE as LENGTH
from construction.sessions.gates.length import Length, LengthConfig
from data.contracts import LedgerRow, Outcome, StageKind, Status, Verdict
from data.ledger import close
from data.schemas import SESSIONS, TURNS
from data.staging.database import RunTables, build_database, table_paths
from data.tables import (
    LEDGER,
    TALLIES,
    VERDICTS,
    ledger_record,
    tally_records,
    verdict_record,
    write_table,
)
from tests.flows.command import KEY

HOSTILE = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "<svg/onload=window.pwned=1>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<a href='javascript:window.pwned=1'>go</a>",
    "javascript:window.pwned=1",
    "<!--<script>window.pwned=1",
    "]]><script>window.pwned=1</script>",
    "\"><script>window.pwned=1</script>",
    "' autofocus onfocus=window.pwned=1 '",
    "<style>*{display:none}</style>",
    "<base href='http://203.0.113.9/'>",
    "<meta http-equiv=refresh content='0;url=http://203.0.113.9/'>",
    "<form action='http://203.0.113.9/'><button>x",
    "<link rel=stylesheet href='http://203.0.113.9/x.css'>",
    "{{7*7}}${7*7}<%=7*7%>#{7*7}",
    "{% include '/etc/passwd' %}",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "\\u003cscript\\u003ewindow.pwned=1\\u003c/script\\u003e",
    "=HYPERLINK(\"http://203.0.113.9/\")",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\x1b]0;owned\x07\x1b[31mred",
    "\u202egnp.exe\u202c",
    "\u2028window.pwned=1\u2029",
    "null\x00byte",
    "\U000e0041\U000e0042 tags",
    "<math><mtext><style><img src onerror=window.pwned=1>",
    "<noscript><p title='</noscript><img src=x onerror=window.pwned=1>'>",
    "__proto__",
)  # fmt: skip
Told = tuple[str, Sequence[Verdict]]


def verdicts(chars: int, missing: int) -> list[Verdict]:
    """What length and fixture say of an instance with that many characters and missing files."""
    reason = FixtureReason.UNRESOLVED if missing else None
    files = FixtureObservation("i", 3, 3 - missing, 0, missing, 0, 0, reason, ())
    return [
        LENGTH.judge(Length(chars, chars), LengthConfig()),
        FIXTURE.judge(files, FixtureConfig()),
    ]


def write_workspace(out: Path, result: Sequence[Told], texts: Sequence[str] = ()) -> Path:
    """Staging with these verdicts; the first instances have a turn that says one of `texts`."""
    stage = out / "stage"
    stage.mkdir(parents=True)
    rows = [_row(item, seen) for item, seen in result]
    lost = sum(row.outcome is Outcome.REJECTED for row in rows)
    counts = {Outcome.KEPT: len(rows) - lost, Outcome.REJECTED: lost}
    tally = close("gates", StageKind.FILTER, "instance", len(rows), counts)
    write_table(stage / "ledger.parquet", map(ledger_record, rows), LEDGER)
    records = [verdict_record(item, verdict) for item, seen in result for verdict in seen]
    write_table(stage / "verdicts.parquet", records, VERDICTS)
    write_table(stage / "tallies.parquet", tally_records(tally), TALLIES)
    session = {"session_uid": "s", "path": "log.jsonl"}
    write_table(stage / "sessions.parquet", [_full(session, SESSIONS.schema)], SESSIONS.schema)
    turns = [
        _full(
            {"session_uid": "s", "turn_index": n, "line": n + 1, "role": "user",
             "instance_id": result[n][0]}, TURNS.schema)
        for n in range(len(texts))
    ]  # fmt: skip
    write_table(stage / "turns.parquet", turns, TURNS.schema)
    build_database(out / "staging.duckdb", [RunTables({"run_id": "unnamed"}, table_paths([stage]))])
    private = out / "private"
    private.mkdir(mode=0o700)
    log = private / "log.jsonl"
    log.write_bytes(b"".join(orjson.dumps(text) + b"\n" for text in texts))
    (private / "sources.json").write_bytes(orjson.dumps({"log.jsonl": str(log)}))
    (private / "release.key").write_text(KEY)
    (private / "release.key").chmod(0o600)
    return out


def hostile_workspace(out: Path) -> Path:
    """Thirty rejected instances, whose ids, sources and turns are hostile strings; three kept.

    One of eight characters was rejected for its length, and its files were not looked for.
    """
    result: list[Told] = [(text, verdicts(n % 10, n % 3)) for n, text in enumerate(HOSTILE)]
    result[8] = (HOSTILE[8], verdicts(8, 0)[:1])
    result += [(f"kept-{n}", verdicts(50 + n, 0)) for n in range(3)]
    return write_workspace(out, result, HOSTILE)


def _row(item: str, seen: Sequence[Verdict]) -> LedgerRow:
    failed = next((verdict for verdict in seen if verdict.status is Status.FAILED), None)
    if failed is None:
        return LedgerRow("gates", "instance", item, Outcome.KEPT)
    return LedgerRow(
        "gates", "instance", item, Outcome.REJECTED, failed.gate, failed.reason, failed.observed,
        failed.limit, evidence={"path": item, "line": 1},
    )  # fmt: skip


def _full(row: Mapping[str, object], schema: Mapping[str, object]) -> dict[str, object]:
    return {name: row.get(name) for name in schema}
