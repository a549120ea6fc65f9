"""What a registry says of its skills: owners on pages of their own, and items that mean harm."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from construction.signals.collect import (
    CollectConfig,
    RegistryConfig,
    RegistryError,
    collect_file,
    collect_registry,
)
from construction.signals.collect.fields import _source_shapes
from construction.signals.collect.registry_client import detail_url
from construction.signals.config import SourceKind
from data.contracts import Outcome
from tests.construction.signals.collect.fake_registry import FakeRegistry, skill, status

DAY = dt.date(2026, 5, 1)
ALL = CollectConfig(top=None)


def test_owners_are_asked_for_where_the_listing_names_none(tmp_path: Path) -> None:
    listed = [skill(0), skill(1, ownerHandle="bea"), skill(2), skill(3, slug="天气.v2")]
    with FakeRegistry(listed) as registry:
        registry.owners = {"skill-000": "ann", "天气.v2": "dan"}
        registry.trouble = {2: status(404)}  # skill-002 went away between page and detail
        config = registry.config(details=True, source="hub")
        capture = collect_registry(config, ALL, DAY, tmp_path)
    assert registry.requests[1:] == [
        "/api/v1/skills/skill-000",
        "/api/v1/skills/skill-002",
        "/api/v1/skills/%E5%A4%A9%E6%B0%94.v2",
    ]
    assert (capture.counts["details"], capture.counts["details_failed"]) == (3, 0)
    signals = collect_file(capture.path, capture.source, DAY, ALL).snapshot.signals
    assert [(s.slug, s.owner) for s in signals] == [
        ("skill-000", "ann"),
        ("skill-001", "bea"),
        ("skill-002", None),
        ("天气.v2", "dan"),
    ]
    assert {s.provenance.source for s in signals} == {"hub"}


def test_one_broken_detail_is_counted_and_three_in_a_row_end_the_run(tmp_path: Path) -> None:
    out = tmp_path
    with FakeRegistry([skill(n) for n in range(6)]) as registry:
        registry.trouble = {n: status(500) for n in (1, 2, 3)}
        config = registry.config(details=True, attempts=1)
        with pytest.raises(RegistryError, match="status 500"):
            collect_registry(config, ALL, DAY, out)
        registry.trouble = {5: status(403)}  # the second detail of the next run
        capture = collect_registry(config, ALL, DAY, out)
    assert registry.requests[4:6] == ["/api/v1/skills/skill-000", "/api/v1/skills/skill-001"]
    assert (capture.counts["details"], capture.counts["details_failed"]) == (5, 1)


def test_failures_apart_from_each_other_do_not_add_up(tmp_path: Path) -> None:
    with FakeRegistry([skill(n) for n in range(9)]) as registry:
        registry.trouble = {n: status(500) for n in (1, 2, 4, 5, 7, 8)}
        config = registry.config(details=True, attempts=1)
        capture = collect_registry(config, ALL, DAY, tmp_path)
    assert (capture.counts["details"], capture.counts["details_failed"]) == (3, 6)


def test_any_depth_of_nesting_is_stored_or_refused(tmp_path: Path) -> None:
    """The writer of JSON stops at some depth: what passes must also fit into file and journal."""
    skills = []
    for depth in range(230, 270):
        deep: object = []
        for _ in range(depth):
            deep = [deep]
        skills.append(skill(depth, metadata=deep))
    with FakeRegistry(skills) as registry:
        capture = collect_registry(registry.config(), ALL, DAY, tmp_path)
    collected = collect_file(capture.path, "registry", DAY, ALL)
    assert 0 < capture.counts["unusable"] < 40
    assert capture.counts["unusable"] == len(collected.issues)
    assert capture.counts["distinct"] == 40 - len(collected.issues)


def test_a_slug_stays_one_segment_of_a_path() -> None:
    config = RegistryConfig(base_url="http://registry.example/hub")
    quoted = detail_url(config, _source_shapes()[SourceKind.CLAWHUB], "a/../b?x=1#y%2f")
    assert quoted == "http://registry.example/hub/api/v1/skills/a%2F..%2Fb%3Fx%3D1%23y%252f"


def test_hostile_items_are_issues_and_the_rest_is_read(tmp_path: Path) -> None:
    deep: object = "bottom"
    for _ in range(300):
        deep = [deep]
    hostile = [
        skill(1, slug="../../etc/passwd"),
        skill(2, slug=".."),
        skill(3, slug="a/../b?x=1#y"),
        skill(4, slug=["list"]),
        skill(5, stats={"downloads": "many"}),
        skill(6, tags=deep),
        skill(7, summary="x" * 70_000),
        skill(8, url="javascript:alert(1)"),
        "text",
        None,
    ]
    with FakeRegistry([skill(0), *hostile, skill(20)]) as registry:
        config = registry.config(page_size=50, details=True)
        capture = collect_registry(config, ALL, DAY, tmp_path)
    requested = [path for path in registry.requests if "?" not in path]
    assert requested == [f"/api/v1/skills/skill-{n}" for n in ("000", "005", "008", "020")]
    assert capture.counts["unusable"] == 8
    collected = collect_file(capture.path, "registry", DAY, ALL)
    assert [s.slug for s in collected.snapshot.signals] == ["skill-000", "skill-020"]
    assert collected.tallies[0].counts[Outcome.ERRORED] == 10
    assert [(issue.line, issue.reason, issue.actual) for issue in collected.issues] == [
        (4, "signal.bad_field", "slug: text of length 16"),
        (5, "signal.bad_field", "slug: text of length 2"),
        (6, "signal.bad_field", "slug: text of length 12"),
        (7, "signal.bad_field", "slug: a list of length 1"),
        (8, "signal.bad_field", "downloads: text of length 4"),
        (9, "signal.not_a_record", "nothing"),
        (10, "signal.not_a_record", "nothing"),
        (11, "signal.bad_field", "url: text of length 19"),
        (12, "signal.not_a_record", "text of length 4"),
        (13, "signal.not_a_record", "nothing"),
    ]
