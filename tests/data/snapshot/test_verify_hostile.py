"""Verification of documents that were made to crash it: findings, never exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.snapshot.verification import Check, verify
from tests.data.snapshot.damage import (
    failed_checks,
    first_task,
    reseal,
)

HOSTILE_JSON = [
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'"\\ud800"',
    b"\xff\xfe",
    b"",
    b"null",
    b"1e999",
    b'{"stages":[{"stage":[],"kind":{},"unit":1}],"rejections":[[],{"stage":[]}],"gates":[{}]}',
    b'{"snapshot":1,"released":"never","revision":-1,"counts":[]}',
    b'{"distribution":[null,7,{"contentUrl":[]}],"creator":[]}',
]
DOCUMENTS = [
    "public/manifest.json",
    "public/croissant.json",
    "public/tasks.jsonl",
    "public/audit/funnel.json",
    "public/audit/ledger.json",
    "public/audit/statistics.json",
    "private/snapshot.json",
]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_hostile_documents_are_findings(snapshot: Path, path: str) -> None:
    for content in HOSTILE_JSON:
        (snapshot / path).write_bytes(content)
        assert not verify(snapshot).ok, content[:20]


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 50_000,
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nprompt: *c\n",
        b"!!python/object/apply:os.system ['true']",
        b"\x00",
        b"- 1\n",
        b"prompt: 7\ntask_id: [1]\n? [a]\n: 1\n",
    ],
)
def test_hostile_yaml_is_a_finding(snapshot: Path, content: bytes) -> None:
    (first_task(snapshot) / "task.yaml").write_bytes(content)
    reseal(snapshot)
    assert Check.TASK_TEXT in failed_checks(verify(snapshot))


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_damage_never_crashes_and_is_always_found(
    snapshot: Path, data: st.DataObject
) -> None:
    files = sorted(path for path in snapshot.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from([file for file in files if file.name != "run.json"]))
    before = path.read_bytes()
    at = data.draw(st.integers(0, max(len(before) - 1, 0)))
    new = data.draw(st.binary(max_size=40))
    damaged = before[:at] + new + before[at + data.draw(st.integers(0, 40)) :]
    try:
        path.write_bytes(damaged)
        assert verify(snapshot).ok is (damaged == before)
    finally:
        path.write_bytes(before)


def test_a_ledger_that_inflates_past_the_limit_is_not_read(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data.snapshot.verification.LARGEST_DOCUMENT", 100)
    problems = {finding.problem for finding in verify(snapshot).findings}
    assert problems == {"inflates to more than 100 bytes"}
