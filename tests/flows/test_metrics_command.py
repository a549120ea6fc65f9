"""`benchmint metrics`: the newest run, a named one, all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from data.metrics import write_timing
from data.staging.runs import stage_run
from flows import cli
from tests.data.staging.test_runs import FACTS, LATER, stage

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["benchmint", "metrics", *map(str, arguments)])
        monkeypatch.setattr(
            "data.errors.program", lambda: "benchmint"
        )  # as in an active environment
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        result = capsys.readouterr()
        return int(stopped.value.code or 0), result.out, result.err

    return run


def test_the_newest_run_is_told_unless_another_is_named(tmp_path: Path, metrics: Run) -> None:
    ids = []
    for name, facts in (("a", FACTS), ("b", LATER), ("c", replace(LATER, code_version="x"))):
        (folder,) = stage(tmp_path / name, name)
        write_timing(folder, "recover", 1.5, 1.0)
        ids.append(stage_run(tmp_path, facts, [folder]))
    for arguments, result in (((), ids[2:]), (("--run", ids[0]), ids[:1]), (("--run", "all"), ids)):
        code, out, error = metrics("--out", tmp_path, *arguments)
        assert (code, error) == (0, "")
        assert {run_id for run_id in ids if run_id in out} == set(result)
        assert out.endswith("# EOF\n")
    assert metrics("--out", tmp_path)[1] == (tmp_path / "metrics.prom").read_text()


def test_no_run_and_no_such_run_are_told(tmp_path: Path, metrics: Run) -> None:
    code, out, error = metrics("--out", tmp_path)
    assert (code, out, "run `benchmint build` first" in error) == (2, "", True)
    stage_run(tmp_path, FACTS, stage(tmp_path / "a", "x"))
    code, out, error = metrics("--out", tmp_path, "--run", "none")
    assert (code, out, "no such run" in error) == (2, "", True)
