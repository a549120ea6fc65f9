"""The refresh from a registry: pages, capture, history, drift page, weights, ideas; and again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from construction.signals.mixture import captured_files
from tests.construction.signals.collect.fake_registry import FakeRegistry, Record, skill
from tests.flows.command import inline

MARCH, APRIL = "2026-03-01", "2026-04-01"
LIMITS = "[runtime.registry]\nrequests_per_second = 100\npage_size = 4\n"
SUMMARIES = {
    "post-rider": "Send and sort emails from the inbox",
    "form-filler": "Fill in PDF forms and merge PDF files",
    "sum-keeper": "Read invoices and list amounts in a spreadsheet",
    "help-line": "Answer support tickets of customers and route them",
    "till-watcher": "Watch servers and alert on downtime",
    "word-smith": "Write and edit blog posts and articles",
}


def listed(**downloads: int) -> list[Record]:
    """Skills as a registry lists them, most downloaded first; names have `_` for `-`."""
    rows = [
        skill(0, slug=f"own/shelf/{slug}", displayName=slug, ownerHandle="own",
              summary=SUMMARIES[slug], stats={"downloads": count})
        for slug, count in ((name.replace("_", "-"), n) for name, n in downloads.items())
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row["stats"]["downloads"])


OLD = listed(post_rider=900, form_filler=800, sum_keeper=700, help_line=300, word_smith=200)
NEW = listed(post_rider=910, form_filler=820, sum_keeper=690, help_line=2500, till_watcher=400)


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    with FakeRegistry(OLD) as served:
        yield served


def refresh(registry: FakeRegistry, out: Path, date: str) -> dict[str, Any]:
    config = out.with_suffix(".toml")
    config.write_text(LIMITS)
    given = ("--registry", registry.url, "--date", date, "--config", config, "--out", out)
    done = inline("lane", "signals", *given)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = orjson.loads((out / "signals.json").read_bytes())
    return report


def test_two_days_of_a_registry_become_a_history_with_its_drift(
    registry: FakeRegistry, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = refresh(registry, out, MARCH)
    assert (first["date"], first["signals"], first["change"], first["drift"]) == (
        MARCH, 5, None, None,
    )  # fmt: skip
    assert "nothing to compare it with yet" in (out / "drift.html").read_text()
    registry.skills = NEW
    second = refresh(registry, out, APRIL)
    assert [day["date"] for day in second["history"]] == [MARCH, APRIL]
    assert [day["signals"] for day in second["history"]] == [5, 5]
    moved = second["drift"]
    assert [row["slug"] for row in moved["new"]] == ["own/shelf/till-watcher"]
    assert [row["slug"] for row in moved["gone"]] == ["own/shelf/word-smith"]
    assert moved["rises"][0] == {
        "slug": "own/shelf/help-line", "before": 300.0, "after": 2500.0, "gained": 2200.0,
    }  # fmt: skip
    assert [row["slug"] for row in moved["falls"]] == ["own/shelf/sum-keeper"]
    change = {row["name"]: row for row in second["change"]["families"]}
    assert all(row["low"] <= row["points"] <= row["high"] for row in change.values())
    assert max(change.values(), key=lambda row: row["points"])["low"] > 0
    page = (out / "drift.html").read_text()
    assert "own/shelf/till-watcher, 400" in page
    assert "What has changed since 2026-03-01" in page
    assert (out / "ideas" / "ideas.jsonl").stat().st_size > 0


def test_a_second_run_on_a_day_asks_again_and_counts(
    registry: FakeRegistry, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    refresh(registry, out, MARCH)
    registry.skills = NEW
    again = refresh(registry, out, MARCH)
    assert [day["date"] for day in again["history"]] == [MARCH]
    assert again["drift"] is None  # one day
    assert "own/shelf/till-watcher" in {
        slug for row in again["patterns"] for slug in row["heaviest"]
    }
    assert len(list((out / "captures").glob("*.json"))) == 2  # nothing is overwritten


def test_a_file_is_kept_beside_the_captures_and_counts_as_a_day(
    registry: FakeRegistry, tmp_path: Path
) -> None:
    out, table = tmp_path / "out", tmp_path / "skills-2026-02-01.csv"
    table.write_text("slug,downloads,summary\npost-rider,10,Send emails\n")
    refresh(registry, out, MARCH)
    done = inline("lane", "signals", table, "--out", out)
    assert done.returncode == 0, done.stderr
    table.unlink()
    dates = [str(date) for date, _ in captured_files(out / "captures", "registry")]
    assert dates == ["2026-02-01", MARCH]
    report = orjson.loads((out / "signals.json").read_bytes())
    assert (report["date"], report["change"]["before"]) == (MARCH, "2026-02-01")


def test_two_files_of_one_day_are_refused_and_one_given_twice_is_not(tmp_path: Path) -> None:
    for name in ("a", "b"):
        text = f"slug,downloads,summary\n{name},10,Send emails\n"
        (tmp_path / f"{name}-{MARCH}.csv").write_text(text)
    both = [tmp_path / f"{name}-{MARCH}.csv" for name in ("a", "b")]
    done = inline("lane", "signals", *both, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert f"a second snapshot of {MARCH}" in done.stderr
    twice = inline("lane", "signals", both[0], both[0], "--out", tmp_path / "out")
    assert twice.returncode == 0, twice.stderr


def test_an_address_that_is_none_is_told(tmp_path: Path) -> None:
    done = inline("lane", "signals", "--registry", "ftp://hub.example", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "--registry: expected http://host or https://host" in done.stderr


SOURCES = {
    "skills_sh": ("", 2),
    "claude_code_insights": (
        'measure = "stars"\n[signals.collect.fields]\nslug = "repo"\nname = "name"\n'
        'stars = "stars"\nsummary = "description"\n', 6,
    ),
    "claude_code_insights_history": (
        'measure = "stars"\n[signals.collect.fields]\nslug = "repo"\nstars = "stars"\n'
        'summary = "description"\n', 4,
    ),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("source", sorted(SOURCES))
def test_dated_snapshots_of_real_sources(material: Path, tmp_path: Path, source: str) -> None:
    """All dates are read, no row is refused, and every change has an interval around it."""
    fields, days = SOURCES[source]
    folder = material / "signals" / "dated" / source
    if not folder.is_dir():
        pytest.skip(f"no dated snapshots in {folder}")
    measure = 'measure = "stars"\n' if "stars" in fields else ""
    config = tmp_path / "config.toml"
    config.write_text(f"[signals.analysis]\n{measure}[signals.collect]\n{fields}")
    files = sorted(folder.glob("*.csv"))
    done = inline("lane", "signals", *files, "--config", config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    report = orjson.loads((tmp_path / "out" / "signals.json").read_bytes())
    assert [day["date"] for day in report["history"]] == [path.stem for path in files]
    assert len(files) == days
    assert all(
        row["low"] - 1e-6 <= row["points"] <= row["high"] + 1e-6 or row["before"] == row["after"]
        for row in report["change"]["families"]
    )
    assert dt.date.fromisoformat(report["date"]) == dt.date.fromisoformat(files[-1].stem)
