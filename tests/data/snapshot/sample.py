"""A small release with everything in it, for the tests of this package."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

from data.canonical import keyed_digest
from data.contracts import (
    Answer,
    Candidate,
    Deliverable,
    Disclosure,
    Evidence,
    Fixture,
    Lane,
    LedgerRow,
    LineageRow,
    NetworkPolicy,
    Outcome,
    Provenance,
    Rule,
    Scalar,
    StageKind,
    StageTally,
    Verdict,
)
from data.reasons import ReasonWords
from data.snapshot.release import Authorization, BuildFacts, LedgerTables, PrivacyStamp, Release
from flows.gates import GATES as REGISTERED

KEY = b"k" * 32
RELEASED = date(2026, 7, 1)
SNAPSHOT = "demo-2026.07.01"
GATES = ("length", "fixture", "restoration", "network")
WORDS = ReasonWords.of(REGISTERED)


class Reason(StrEnum):
    TOO_SHORT = "length.too_short"
    UNRESOLVED = "fixture.unresolved_declared"
    UNRECOVERABLE = "restoration.unrecoverable"


def opaque(item_id: str) -> str:
    return keyed_digest(KEY, item_id)[:20]


@dataclass(frozen=True)
class Store:
    """Fixture contents by digest, in files below `root`."""

    root: Path

    def add(self, path: str, content: bytes, role: str = "declared") -> Fixture:
        sha256 = hashlib.sha256(content).hexdigest()
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / sha256).write_bytes(content)
        return Fixture.model_validate(
            {
                "path": path,
                "sha256": sha256,
                "bytes": len(content),
                "media_type": "text/plain",
                "role": role,
            }
        )

    def find(self, sha256: str) -> Path:
        return self.root / sha256


def instance_id(number: int) -> str:
    return f"weekly-review-{number // 3:04d}.a1b2c3_i{number % 3 + 1}"


def task_id(number: int) -> str:
    return f"t-{opaque('task' + instance_id(number))[:10]}"


def candidate(number: int, store: Store) -> Candidate:
    """Task `number`: odd ones are Chinese and have two inputs and rules."""
    odd = number % 2 == 1
    fixtures = [store.add("orders.csv", f"id,total\n1,{number}\n".encode())]
    if odd:
        fixtures.append(store.add("说明/背景.md", "背景资料\n".encode(), "observed"))
    return Candidate(
        task_id=task_id(number),
        lane=Lane.SESSIONS,
        prompt=f"请根据附件整理第 {number} 周的订单汇总表。"
        if odd
        else f"Sum up the orders of week {number} in a workbook.\n\nName it summary.xlsx.",
        language="zh" if odd else "en",
        fixtures=tuple(fixtures),
        tools=("read", "write"),
        network=NetworkPolicy(mode="none"),
        deliverables=(Deliverable(file_type="xlsx", name_hints=("summary.xlsx",)),),
        answers=(Answer(part="total", type="number", value=str(number)),),
        rules=(Rule(rule_id="r1", kind="file_type", text="One workbook."),) if odd else (),
        evidence=Evidence(accuracy=True),
        provenance=Provenance(
            source="demo",
            source_format="openclaw",
            item_id=instance_id(number),
            disclosure=Disclosure.PRIVATE,
            detail={"source_path": "secret-folder/session.jsonl"},
        ),
    )


def verdicts(number: int) -> list[Verdict]:
    """Every tenth instance is too short, every seventh lacks a file, every 35th lacks both."""
    chars, missing = 5 + 3 * number, 1
    length = (
        Verdict.failing("length", Reason.TOO_SHORT, number % 9, 10)
        if number % 10 == 0
        else Verdict.passing("length", chars, 10, {"turns": 2})
    )
    fixture = (
        Verdict.failing("fixture", Reason.UNRESOLVED, missing, 0, {"declared": 2, "resolved": 1})
        if number % 7 == 0
        else Verdict.passing("fixture", 0, 0)
    )
    restoration = Verdict.passing("restoration", 0, 0)
    failed = next((v.gate for v in (length, fixture) if v.reason), None)
    network = Verdict.blocked("network", failed) if failed else Verdict.passing("network", 0, 0)
    return [length, fixture, restoration, network]


def gate_row(number: int) -> LedgerRow:
    decided = next((verdict for verdict in verdicts(number) if verdict.reason), None)
    evidence: dict[str, Scalar] = {"path": "secret-folder/session.jsonl", "line": 10 * number + 1}
    if decided is None:
        return LedgerRow("gates", "instance", instance_id(number), Outcome.KEPT, evidence=evidence)
    return LedgerRow(
        "gates",
        "instance",
        instance_id(number),
        Outcome.REJECTED,
        decided.gate,
        decided.reason,
        decided.observed,
        decided.limit,
        evidence=evidence,
    )


def ledger_tables(instances: int) -> LedgerTables:
    """Files, sessions, instances and candidates of a run over `instances` task instances."""
    n_sessions = -(-instances // 3)
    sessions = [f"weekly-review-{index:04d}.a1b2c3" for index in range(n_sessions)]
    ledger = [
        LedgerRow("read", "file", f"secret-folder/{uid}.jsonl", Outcome.CONSUMED)
        for uid in sessions
    ]
    ledger += [
        LedgerRow(
            "read",
            "file",
            "secret-folder/notes.cursor",
            Outcome.REJECTED,
            reason="file.unsupported_format",
            evidence={"path": "secret-folder/notes.cursor", "found": "text, 12 bytes"},
        ),
        LedgerRow(
            "read", "file", "secret-folder/broken.jsonl", Outcome.ERRORED, reason="file.not_json"
        ),
    ]
    ledger += [LedgerRow("recover", "session", uid, Outcome.CONSUMED) for uid in sessions]
    gated = [gate_row(number) for number in range(instances)]
    kept = [number for number, row in enumerate(gated) if row.outcome is Outcome.KEPT]
    ledger += gated
    ledger += [
        LedgerRow("package", "instance", instance_id(number), Outcome.CONSUMED) for number in kept
    ]
    ledger += [
        LedgerRow("select", "candidate", task_id(number), Outcome.CHOSEN, stratum="zh")
        for number in kept
    ]
    lineage = [
        LineageRow("read", "file", f"secret-folder/{uid}.jsonl", "session", uid, "session_start")
        for uid in sessions
    ]
    lineage += [
        LineageRow(
            "recover", "session", sessions[number // 3], "instance", instance_id(number), "reset"
        )
        for number in range(instances)
    ]
    lineage += [
        LineageRow("package", "instance", instance_id(number), "candidate", task_id(number), "kept")
        for number in kept
    ]
    judged = [(instance_id(n), verdict) for n in range(instances) for verdict in verdicts(n)]
    return LedgerTables(ledger, judged, lineage, tallies(ledger), GATES, WORDS)


def tallies(ledger: list[LedgerRow]) -> list[StageTally]:
    kinds = {
        ("read", "file"): StageKind.DERIVE,
        ("recover", "session"): StageKind.DERIVE,
        ("gates", "instance"): StageKind.FILTER,
        ("package", "instance"): StageKind.DERIVE,
        ("select", "candidate"): StageKind.CHOOSE,
    }
    actual = []
    for (stage, unit), kind in kinds.items():
        counts = Counter(row.outcome for row in ledger if (row.stage, row.unit) == (stage, unit))
        actual.append(StageTally(stage, kind, unit, counts.total(), dict(counts)))
    return actual


def release(root: Path, instances: int = 24) -> Release:
    """A release whose kept instances all became tasks; fixtures are stored below `root`."""
    store = Store(root / "store")
    its_tables = ledger_tables(instances)
    kept = [n for n in range(instances) if gate_row(n).outcome is Outcome.KEPT]
    return Release(
        name="demo",
        released=RELEASED,
        candidates=[candidate(number, store) for number in kept],
        fixture_file=store.find,
        opaque=opaque,
        build=BuildFacts(
            recipe={"length": {"min_user_chars": 10}, "network": "offline"},
            inputs={"demo": "a" * 64},
            code_version="c0de",
            lock_digest="b" * 64,
            architecture="x86_64",
            release_key_digest="c" * 64,
            seed=7,
        ),
        ledger_tables=its_tables,
        privacy=PrivacyStamp.GENERATED,
        authorization=Authorization(
            source="generated demo sessions",
            authorization="none needed",
            reviewer="the demo generator",
            reviewed="2026-07-01",
            retention="until the demo folder is deleted",
        ),
        run_info={"started": "2026-07-01T00:00:00Z"},
    )


def with_candidates(given: Release, change: Callable[[Candidate], Candidate]) -> Release:
    first, *rest = given.candidates
    return replace(given, candidates=[change(first), *rest])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
