"""The audit report and the instance pages: self-contained, escaped, and true to the ledger."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
import pytest

from data.contracts import MISSING, MISSING_NAMES, LedgerRow, Outcome
from data.reasons import ReasonWords
from data.snapshot.card import PER_INDEX, _index_name
from data.snapshot.release import Release
from data.snapshot.report_page import NARROW, WIDE, _Step, draw, steps
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from flows.gates import GATES
from tests.data.snapshot.sample import instance_id, opaque, release, tallies
from tests.needs import CHROMIUM, needs_chromium

EVIL = '</script><img src=x onerror="alert(1)">\u202e=cmd()'
MANY = 40
LENGTH = next(gate for gate in GATES if gate.name == "length")


def evil(tmp_path: Path) -> Release:
    """A release whose books hold hostile texts in every place that may hold text."""
    given = release(tmp_path)
    rows = list(given.ledger_tables.ledger)
    at = next(index for index, row in enumerate(rows) if row.outcome is Outcome.REJECTED)
    rows[at] = replace(rows[at], item_id=EVIL, observed=EVIL, limit=EVIL, evidence={EVIL: EVIL})
    instance = next(index for index, row in enumerate(rows) if row.unit == "instance")
    rows[instance] = replace(rows[instance], evidence={EVIL: EVIL}, observed=EVIL)
    return replace(given, ledger_tables=replace(given.ledger_tables, ledger=rows))


def island(html: str) -> dict[str, list[object]]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert match is not None
    data = json.loads(match.group(1))
    assert isinstance(data, dict)
    return data


def test_the_policy_allows_exactly_what_the_page_holds(pristine: Path) -> None:
    html = (pristine / "public/audit/report.html").read_text()
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert len(policy) == 1
    rules = policy[0].replace("&#39;", "'").split("; ")
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        blocks = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert len(blocks) == 1
        digest = base64.b64encode(hashlib.sha256(blocks[0].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in rules
    assert "default-src 'none'" in rules
    assert "require-trusted-types-for 'script'" in rules


def test_nothing_is_loaded_and_nothing_is_inline(pristine: Path) -> None:
    for path in (pristine / "private/audit").glob("*.html"):
        assert "Content-Security-Policy" in path.read_text()
    for path in [
        pristine / "public/audit/report.html",
        *(pristine / "private/audit").glob("*.html"),
    ]:
        html = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", path.read_text(), flags=re.DOTALL)
        assert not re.search(r"\s(src|srcset|style|on\w+|action)\s*=", html), path
        links = re.findall(r'href="([^"]*)"', html)
        own = re.compile(r"#[a-z]+|((tasks/)?index(-\d+)?|validity|[0-9a-f]{20})\.html")
        assert all(own.fullmatch(link) for link in links)
        assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")


def test_the_table_describes_what_is_missing_and_never_names_it(tmp_path: Path) -> None:
    given = release(tmp_path)
    rows = list(given.ledger_tables.ledger)
    at = next(n for n, row in enumerate(rows) if row.outcome is Outcome.REJECTED and row.gate)
    missing = "a file .xlsx, named in turn 2"
    evidence = {MISSING: missing, MISSING_NAMES: "figures_march.xlsx"}
    rows[at] = replace(rows[at], evidence=evidence)
    tables = replace(given.ledger_tables, ledger=rows)
    ref = write_snapshot(replace(given, ledger_tables=tables), tmp_path / "out")
    data = island((ref.path / "public/audit/report.html").read_text())
    assert missing in data["words"]
    public = [path for path in (ref.path / "public").rglob("*") if path.is_file()]
    assert not [path for path in public if b"figures_march" in path.read_bytes()]
    pages = (ref.path / "private/audit").glob("*.html")
    assert any("figures_march.xlsx" in page.read_text() for page in pages)


def test_the_table_holds_every_rejection(tmp_path: Path) -> None:
    given = release(tmp_path)
    ref = write_snapshot(given, tmp_path / "out")
    page = (ref.path / "public/audit/report.html").read_text()
    data = island(page)
    turned_away = [
        row
        for row in given.ledger_tables.ledger
        if row.outcome in (Outcome.REJECTED, Outcome.ERRORED)
    ]
    words = data["words"]
    result = {
        (row[0], words[row[4]], words[row[5]], words[row[7]], words[row[8]])  # type: ignore[index]
        for row in data["rows"]
    }
    units = {"length": "at least {} characters", "fixture": "at most {} files"}
    assert result == {
        (
            opaque(row.item_id),
            row.gate or "",
            row.reason or "",
            "" if row.observed is None else str(row.observed),
            "" if row.limit is None else units.get(str(row.gate), "{}").format(row.limit),
        )
        for row in turned_away
    }


def test_hostile_books_become_text(tmp_path: Path) -> None:
    ref = write_snapshot(evil(tmp_path), tmp_path / "out")
    report = (ref.path / "public/audit/report.html").read_text()
    assert EVIL not in report
    assert "onerror" not in report
    assert f"text, {len(EVIL)} characters" in island(report)["words"]
    assert len(re.findall("</script>", report)) == 2  # its data and its own script
    pages = [path.read_text() for path in (ref.path / "private/audit").glob("*.html")]
    assert not any("<img" in page or "\u202e" in page for page in pages)
    assert any("&lt;img src=x" in page for page in pages)
    assert verify(ref.path).findings == ()


def test_reasons_gates_overlaps_and_statistics_are_shown(pristine: Path) -> None:
    html = (pristine / "public/audit/report.html").read_text()
    reasons = html[html.index('id="reasons"') : html.index('id="gates"')]
    gates = html[html.index('id="gates"') : html.index('id="overlaps"')]
    assert reasons.index("length.too_short") < reasons.index("file.not_json")  # gates first
    code = "<code>file.<wbr>not_<wbr>json</code>"
    assert f">The file is not a JSON document.</button> {code}" in reasons
    assert "0 to 2, median 1" in reasons
    assert "21 passed, 3 failed. Allowed: at least 10 characters." in gates
    assert "6 not measured (3 were rejected by fixture, 3 were rejected by length)" in gates
    assert "20–49" in gates
    assert "Deliverable types, by task" in html
    assert '<td class="num">24</td>' in html


def test_an_instance_page_tells_gates_evidence_and_lineage(pristine: Path) -> None:
    page = (pristine / "private/audit" / f"{opaque(instance_id(0))}.html").read_text()
    assert instance_id(0) in page
    assert (
        "<strong>rejected</strong> by length: <span>A person typed too little to describe a task. "
        "<code>length.<wbr>too_<wbr>short</code></span> Measured: 0. "
        "Allowed: at least 10 characters" in page
    )
    assert "line: 1; path: secret-folder/session.jsonl" in page
    assert "declared: 2; resolved: 1" in page  # what the fixture gate saw, though length decided
    assert "not measured: length had already decided" in page
    assert "weekly-review-0000.a1b2c3" in page


def test_the_index_lists_instances_in_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data.snapshot.card.PER_INDEX", 10)
    monkeypatch.setattr("data.snapshot.card.LIMIT", 25)
    ref = write_snapshot(release(tmp_path, MANY), tmp_path / "out")
    folder = ref.path / "private/audit"
    indexes = [folder / _index_name(number) for number in (1, 2, 3)]
    listed = [re.findall(r'href="([0-9a-f]{20}\.html)"', path.read_text()) for path in indexes]
    assert [len(names) for names in listed] == [10, 10, 5]
    assert {*chain(*listed), *(path.name for path in indexes)} == {
        path.name for path in folder.glob("*.html")
    }
    assert f"25 of {MANY} instances have a page" in indexes[0].read_text()
    # Those that were turned away come first: 4 too short, 6 without a file, one of them both.
    assert indexes[0].read_text().count(">rejected<") == 9
    assert PER_INDEX == 500


def test_the_funnel_narrows_gate_by_gate() -> None:
    stage: dict[str, Any] = {
        "stage": "gates",
        "unit": "instance",
        "n_in": 100,
        "outcomes": {"kept": 60, "rejected": 38, "errored": 2},
        "made": {},
    }
    base: dict[str, Any] = {"stage": "gates", "unit": "instance"}
    rejections = [
        base | {"outcome": "errored", "gate": None, "reason": "crash", "n": 2},
        base | {"outcome": "rejected", "gate": "length", "reason": "length.too_short", "n": 8},
        base | {"outcome": "rejected", "gate": "fixture", "reason": "fixture.a", "n": 10},
        base | {"outcome": "rejected", "gate": "fixture", "reason": "fixture.b", "n": 20},
    ]
    actual = steps([stage], rejections, ["length", "fixture", "network"], {})
    assert [(step.name, step.n_in, step.n_out) for step in actual] == [
        ("gates", 100, 98),
        ("gates: length", 98, 90),
        ("gates: fixture", 90, 60),
    ]
    assert actual[2].losses == (("fixture.b", 20), ("fixture.a", 10))


def test_stages_that_saw_nothing_are_left_out_of_the_picture() -> None:
    stage: dict[str, Any] = {"stage": "read", "unit": "line", "n_in": 0, "outcomes": {}, "made": {}}
    assert steps([stage], [], [], {}) == []


@pytest.mark.parametrize(
    ("statuses", "blocked_by", "said"),
    [
        ({"unverified": 3}, {}, "3 unverified by length"),
        ({"unverified": 0}, {"benchmint agents pilot": 3}, "3 not measured by length"),
    ],
)
def test_what_passes_without_a_verdict_is_not_said_to_pass(
    statuses: dict[str, int], blocked_by: dict[str, int], said: str
) -> None:
    stage = {"stage": LENGTH.stage, "unit": "instance", "n_in": 3, "outcomes": {"kept": 3}}
    gate = {"gate": LENGTH.name, "statuses": statuses, "blocked_by": blocked_by}
    words = ReasonWords.of([LENGTH])
    passed = words.undecided([gate])
    svg = draw(steps([stage | {"made": {}}], [], [LENGTH.name], passed), WIDE, "Funnel")
    assert f"{LENGTH.stage}: none rejected" in svg
    assert said in svg
    assert "all pass" not in svg
    rejected = {**gate, "statuses": {"unverified": 0}, "blocked_by": {LENGTH.name: 3}}
    assert words.undecided([rejected]) == {}


def test_the_picture_is_well_formed_svg_for_any_counts() -> None:
    actual = [
        _Step("read", "file", 0, 0, ()),
        _Step("a & <b>", "session", 10**9, 1, (("x\u202e<y>", 7), ("z", 3), ("w", 1), ("v", 1))),
        _Step("recover", "session", 1, 1, (), (("instance", 5),)),
    ]
    for shape in (WIDE, NARROW):
        for standalone in (True, False):
            root = ElementTree.fromstring(draw(actual, shape, 'say "hi"', standalone=standalone))
            texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
            assert "a & <b> −999,999,999" in texts
            assert "5 for 3 more reasons" in texts
            assert "→ 5 instances" in texts
            assert root.get("aria-label") == 'say "hi"'
    ElementTree.fromstring(draw([], WIDE, "nothing"))


def test_the_picture_is_a_file_of_its_own(pristine: Path) -> None:
    root = ElementTree.fromstring((pristine / "public/audit/funnel.svg").read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_ten_thousand_rejections_stay_small(tmp_path: Path) -> None:
    given = release(tmp_path)
    rows = list(given.ledger_tables.ledger) + [
        LedgerRow("read", "file", f"f{n}", Outcome.REJECTED, reason="file.empty")
        for n in range(10_000)
    ]
    many = replace(
        given, ledger_tables=replace(given.ledger_tables, ledger=rows, tallies=tallies(rows))
    )
    ref = write_snapshot(many, tmp_path / "out")
    report = ref.path / "public/audit/report.html"
    assert len(island(report.read_text())["rows"]) == 10_008
    assert report.stat().st_size < 70 * 10_008


@needs_chromium
def test_a_browser_draws_the_table_under_the_policy(tmp_path: Path) -> None:
    ref = write_snapshot(evil(tmp_path), tmp_path / "out")
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            "--dump-dom",
            (ref.path / "public/audit/report.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    manifest = orjson.loads((ref.path / "public/manifest.json").read_bytes())
    assert manifest["canary"] in done.stdout
    assert "8 units in 8 entries" in done.stdout
    reason = '<td data-label="Reason" class="">fixture.<wbr>unresolved_<wbr>declared</td>'
    assert done.stdout.count(reason) == 3
    assert "CONSOLE" not in done.stderr  # no violation of the policy, no error
