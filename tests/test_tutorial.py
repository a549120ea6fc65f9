"""The tutorial, carried out as it is written: it ends at a leaderboard."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.conftest import REPO
from tests.flows.command import environment
from tests.needs import skip_without_box

PAGE = (REPO / "docs" / "tutorial.md").read_text("utf-8")
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def expected_lines() -> list[re.Pattern[str]]:
    """The lines that the page shows, each as a pattern: `…` is anything, in a word anything but
    blanks; blanks are any number.

    Numbers are any numbers: what a lane lets through is the matter of its own tests.
    """
    lines = (line for block in _SHOWN.findall(PAGE) for line in block.splitlines())
    return [
        re.compile(r"^\s*" + r"\s+".join(map(_pattern, line.split())) + r"\s*$", re.MULTILINE)
        for line in lines
        if line.strip("… ")
    ]


def _pattern(word: str) -> str:
    if word == "…":
        return ".*"
    return re.sub(r"\d[\d,]*", r"[\\d,]+(?:–\\d+)?", re.escape(word)).replace("…", r"\S*")


def anchors(page: Path) -> set[str]:
    """The addresses of the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9]+", "-", head.lower()).strip("-") for head in heads}


def test_what_the_tutorial_names_is_there() -> None:
    for target, anchor in re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", PAGE):
        page = REPO / "docs" / target
        assert page.is_file(), target
        assert not anchor or anchor in anchors(page), (target, anchor)
    assert "tests/test_tutorial.py" in PAGE


def test_every_page_links_only_to_words_that_the_glossary_has() -> None:
    known = anchors(REPO / "docs" / "glossary.md")
    pages = [*(REPO / "docs").glob("*.md"), REPO / "README.md"]
    linked = [re.findall(r"glossary\.md#([\w-]+)", page.read_text("utf-8")) for page in pages]
    used = {anchor for anchors_of in linked for anchor in anchors_of}
    used |= set(re.findall(r"\]\(#([\w-]+)\)", (REPO / "docs/glossary.md").read_text("utf-8")))
    assert used
    assert used <= known


@pytest.mark.slow(seconds=60)
def test_the_tutorial_ends_at_a_leaderboard(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="needs the extra `evaluate`")
    skip_without_box()
    (tmp_path / ".venv").symlink_to(sys.prefix)
    commands = "set -e\n" + "\n".join(_BLOCK.findall(PAGE))
    done = subprocess.run(
        ["sh", "-c", commands],
        cwd=tmp_path,
        env=environment() | {"COLUMNS": "200"},  # as wide as the page shows its tables
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    released = re.search(r"(\d+) tasks in release/\S+ \(written, verified\)", done.stdout)
    assert released is not None
    assert int(released[1]) >= 20
    assert [line for line in expected_lines() if not line.search(done.stdout)] == []
    board = pl.read_parquet(tmp_path / "leaderboard/leaderboard.parquet")
    rates: dict[str, float] = dict(board.select("configuration", "passed").iter_rows())
    assert rates["oracle"] == 1
    assert rates["null"] == 0
    assert 0 < rates["skill-55"] < 1
    groups: dict[str, int] = dict(board.select("configuration", "tie_group").iter_rows())
    assert groups["oracle"] != groups["null"]
    assert (tmp_path / "leaderboard/leaderboard.html").stat().st_size > 10_000
