"""The validity report: what is shown, what is not, and where it stands in a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from data.snapshot.contents import NOT_SHOWN, _counts, _Item, report
from data.snapshot.manifest import Manifest
from data.snapshot.release import AuditedKind, GradingFacts
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import release

AUDIT = (
    AuditedKind(kind="null", expected="rejected", tasks=2, held=2),
    AuditedKind(kind="talk", expected="rejected", tasks=2, held=1),
    AuditedKind(kind="computed answer", expected="accepted", tasks=1, held=1),
    AuditedKind(kind="right among others", expected="rejected", tasks=1, held=1),
)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("validity")
    return write_snapshot(release(folder), folder / "out").path / "public"


def items(public: Path, audit: tuple[AuditedKind, ...]) -> dict[str, _Item]:
    manifest = Manifest.model_validate_json((public / "manifest.json").read_bytes())
    grading = GradingFacts(
        formula="weighted_mean",
        pass_threshold=0.8,
        null_limit=0.2,
        deterministic_share=0.5,
        judge_only=1,
        audit=audit,
    )
    statistics = orjson.loads((public / "audit/statistics.json").read_bytes())
    statistics["evidence"] = [{"value": "accuracy", "n": 1}, {"value": "semantic", "n": 1}]
    shown = report(manifest.model_copy(update={"grading": grading}), statistics, [])
    return {item.item: item for item in shown}


def test_what_was_tried_is_evidence_and_nothing_else_is(public: Path) -> None:
    shown = items(public, AUDIT)
    assert {item: shown[item].state for item in ("T.7", "T.10", "R.13", "O.b.2", "O.a.1")} == {
        "T.7": "in part",  # of one task of eighteen
        "T.10": "in part",
        "R.13": "in part",  # a grader accepted talk
        "O.b.2": "shown",
        "O.a.1": NOT_SHOWN,
    }
    assert shown["R.13"].evidence == "3 of 4 gave the expected result (null, talk)"
    assert shown["O.c.1"].evidence.startswith("1 of 18 tasks are partly judged; no judge ran")
    assert shown["O.d.1"].state == "not applicable"
    untried = items(public, ())
    for item in ("T.7", "T.8", "T.9", "T.10", "O.b.2", "R.13"):
        assert untried[item].state == NOT_SHOWN, item


def test_every_item_of_the_checklist_is_there_once(public: Path) -> None:
    named = list(items(public, AUDIT))
    assert [name for name in named if name[0] == "T"] == [f"T.{n}" for n in range(1, 11)]
    assert [name for name in named if name[0] == "R"] == [f"R.{n}" for n in range(1, 14)]
    assert {name[:3] for name in named if name[0] == "O"} == {f"O.{c}" for c in "abcdefghi"}


def test_page_and_data_say_the_same_and_are_linked(public: Path, tmp_path: Path) -> None:
    document = orjson.loads((public / "audit/validity.json").read_bytes())
    page = (public / "audit/validity.html").read_text()
    for item in document["items"]:
        assert f'<th scope="row" data-label="Item">{item["item"]}</th>' in page
        assert item["evidence"]
    rows = [_Item(**item) for item in document["items"]]
    assert document["totals"] == _counts(rows)
    assert f"{document['totals']['not shown']} not shown" in page
    assert 'href="validity.html"' in (public / "audit/report.html").read_text()
    assert "(audit/validity.html)" in (public / "README.md").read_text()
    again = write_snapshot(replace(release(tmp_path)), tmp_path / "out").path / "public"
    assert (again / "audit/validity.json").read_bytes() == (
        public / "audit/validity.json"
    ).read_bytes()
