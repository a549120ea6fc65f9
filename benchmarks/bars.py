"""The counts that releases are held to, in one table, from the pages and tests that make them.

    python -m benchmarks.bars [--again]

Kills, forgeries and odd environments are counted in the tables of their own pages, whose date is
that of the last change of the page. Full disks and archive bombs are tests: `--again` runs them and
keeps what each of them did in bars.json.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson

from benchmarks.report import RESULTS, table, write_result
from tests.conftest import REPO

_TESTS = {
    "kinds of full disk": "tests/flows/test_full_disk.py",
    "archive bombs": "tests/construction/sessions/fixtures/test_archives.py -k test_bombs_explode",
}
_WANTED = {"kinds of full disk": 9, "archive bombs": 16}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: how many are wanted, were tried and went as they should, by which command, when."""

    name: str
    wanted: int
    tried: int
    held: int
    command: str
    date: str


def main() -> None:
    """Count, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="run the tests of disks and bombs")
    again = parser.parse_args().again
    kept: dict[str, Any] = (
        {} if again else orjson.loads((RESULTS / "bars.json").read_bytes())["tests"]
    )
    tests = {name: _tested(name) if again else kept[name] for name in _TESTS}
    bars = [*counted(), *(_of_tests(name, tests[name]) for name in _TESTS)]
    about = __doc__.partition("\n\n    python")[0] if __doc__ else ""
    rows = [
        (
            bar.name,
            f"{bar.wanted}",
            f"{bar.tried}",
            f"{bar.held}",
            "kept" if bar.tried >= bar.wanted and bar.held == bar.tried else "MISSED",
            f"`{bar.command}`",
            bar.date,
        )
        for bar in bars
    ]
    heads = ("what", "bar", "tried", "as it should be", "", "command", "date")
    write_result("bars", about, table(heads, rows), {"tests": tests})


def table_rows(page: str) -> list[dict[str, str]]:
    """The rows of the first table of a page of results, by its heads."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]
    heads = cells[0]
    return [dict(zip(heads, row, strict=True)) for row in cells[2:] if len(row) == len(heads)]


def counted() -> list[Bar]:
    """The bars that have pages: kills, forgeries, odd environments."""
    kinds = (
        ("forgeries", 12, "forgeries", "seen"),
        ("odd environments", 40, "oddities", "as it should be"),
    )
    bars = [_kills()]
    for name, wanted, page, column in kinds:
        rows = table_rows(_page(page))
        held = sum(row[column] == "yes" for row in rows)
        command = f"python -m benchmarks.{page}"
        bars.append(Bar(name, wanted, len(rows), held, command, _changed(page)))
    return bars


def _kills() -> Bar:
    rows = table_rows(_page("kill_seams"))
    tried = sum(int(row["kills"]) for row in rows)
    lost = sum(int(row["half done"]) + int(row["other end"]) for row in rows)
    command = "python -m benchmarks.kill_seams"
    return Bar("kills at seams", 100, tried, tried - lost, command, _changed("kill_seams"))


def _page(name: str) -> str:
    return (RESULTS / f"{name}.md").read_text(encoding="utf-8")


def _changed(name: str) -> str:
    """The day of the last commit that changed a page; today if the page was changed since."""
    path = f"benchmarks/results/{name}.md"
    if _git("status", "--porcelain", "--", path):
        return time.strftime("%F")
    return _git("log", "-1", "--format=%as", "--", path)


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=REPO, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _tested(name: str) -> dict[str, object]:
    """Run the tests of a bar: how each ended, and the day."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        arguments = [*_TESTS[name].split(), f"--junitxml={report}"]
        subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments], cwd=REPO, check=False)
        cases = ElementTree.parse(report).getroot().iter("testcase")
        ends = {
            str(case.get("name")): "passed" if len(case) == 0 else case[0].tag for case in cases
        }
    return {"date": time.strftime("%F"), "ends": ends}


def _of_tests(name: str, tested: dict[str, object]) -> Bar:
    ends = tested["ends"]
    assert isinstance(ends, dict)
    passed = sum(end == "passed" for end in ends.values())
    command = f"pytest {_TESTS[name]}"
    return Bar(name, _WANTED[name], len(ends), passed, command, str(tested["date"]))


if __name__ == "__main__":
    main()
