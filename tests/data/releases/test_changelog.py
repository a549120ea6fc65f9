"""What a release's CHANGELOG says of the release before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.releases.diff import _changes_between
from data.releases.facts import facts_of_release
from data.releases.listing import previous_release
from tests.data.releases import train

NAME = "demo"


def released(root: Path, weeks: int, **other: Any) -> str:
    """Write a release as a build does, against the one before it; its CHANGELOG."""
    made = train.given(root, weeks, **other)
    last = previous_release(root / "snapshots", NAME, made.released)
    changes: Sequence[str] = _changes_between(last, facts_of_release(made)) if last else ()
    ref = train.written(root, weeks, **other, changes=tuple(changes))
    return (ref.path / "public" / "CHANGELOG.md").read_text(encoding="utf-8")


def result(changelog: str) -> list[str]:
    return [line.removeprefix("- ") for line in changelog.splitlines() if line.startswith("- ")]


@pytest.fixture
def first(tmp_path: Path) -> str:
    return released(tmp_path, 0)


def test_the_first_release_says_so(first: str) -> None:
    assert result(first) == ["First release in this snapshot series."]
    assert first.splitlines()[0] == "# Changes"
    assert "`demo-2026.07.01`" in first


def test_the_next_one_tells_tasks_and_mixture(first: str, tmp_path: Path) -> None:
    candidates = train.given(tmp_path).candidates
    changelog = released(
        tmp_path,
        1,
        candidates=[
            *candidates[2:],
            candidates[1].model_copy(update={"prompt": "Something else altogether."}),
        ],
        selection=train.mixture({"correspondence": 0.6, "data_reporting": 0.4}),
    )
    lines = result(changelog)
    n = len(candidates)
    counted = f"0 tasks added, 1 removed, 1 changed; {n} tasks before, {n - 1} now."
    assert lines[0].startswith(f"Since demo-2026.07.01: {counted}")
    assert "What changed in tasks: prompt in 1" in lines[1]
    assert any(candidates[1].task_id in line for line in lines if "a different prompt" in line)
    mixture = next(line for line in lines if line.startswith("Mixture"))
    assert "0.200 (total variation)" in mixture
    assert "assurance -20.0 points" in mixture
    assert "`demo-2026.07.08`" in changelog


def test_it_compares_with_the_release_before_not_the_newest(first: str, tmp_path: Path) -> None:
    released(tmp_path, 2)
    assert result(released(tmp_path, 1))[0].startswith("Since demo-2026.07.01: ")
    assert result(released(tmp_path, 3))[0].startswith("Since demo-2026.07.15: ")


def test_hostile_text_is_no_markup(first: str, tmp_path: Path) -> None:
    made = train.given(tmp_path)
    recipe = {"release": {"name": "<script>alert(1)</script>\n# [x](javascript:y)\x1b[31m"}}
    changelog = released(tmp_path, 1, build=replace(made.build, recipe=recipe))
    shown = r"\<script\>alert(1)\</script\> \# \[x\](javascript:y)⟨U+001B⟩\[31m"
    assert shown in changelog
    assert [line for line in changelog.splitlines() if line.startswith("# ")] == ["# Changes"]
