"""The log file of a run: lines that parse, nothing private, nothing left behind."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.console import Console

from data import progress
from data.builds import building
from data.errors import InputError
from data.progress import LOGGER, _logging_to, tell_all, tell_stages, track

log = logging.getLogger(f"{LOGGER}.flows.test")


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_a_line_bears_time_level_run_and_fields(tmp_path: Path) -> None:
    with _logging_to(tmp_path, "demo-2026.01.15-ab") as path:
        log.info("stage %s done", "scan", extra={"seconds": 1.5, "items": 2**60, "where": tmp_path})
        log.debug("too fine")
    (result,) = lines(path)
    assert result.pop("at").endswith("+00:00")
    assert result == {
        "level": "info",
        "run_id": "demo-2026.01.15-ab",
        "logger": "benchmint.flows.test",
        "message": "stage scan done",
        "seconds": 1.5,
        "items": str(2**60),
        "where": f"({type(tmp_path).__name__})",
    }
    assert path == tmp_path / "private" / "logs" / "demo-2026.01.15-ab.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_an_error_is_told_by_class_and_place_alone(tmp_path: Path) -> None:
    with _logging_to(tmp_path, "r") as path:
        try:
            raise ValueError("Ms Example's salary")
        except ValueError:
            log.exception("stage failed")
    (result,) = lines(path)
    assert (result["level"], result["error"]) == ("error", "ValueError")
    assert result["error_at"].startswith("test_logs.py:")
    assert "salary" not in path.read_text()


def test_hostile_text_stays_one_line_and_takes_no_name_of_the_log(tmp_path: Path) -> None:
    with _logging_to(tmp_path, "r") as path:
        log.info("a\n\x1b[31m\ud800", extra={"run_id": "other", "level": "x", "name2": "\u202e"})
    (result,) = lines(path)
    assert (result["run_id"], result["level"]) == ("r", "info")
    assert result["message"] == "a\n\x1b[31m\\ud800"
    assert b"\x1b" not in path.read_bytes()


def test_a_second_run_appends_and_other_runs_have_files_of_their_own(tmp_path: Path) -> None:
    for run, message in (("r", "one"), ("r", "two"), ("s", "three")):
        with _logging_to(tmp_path, run) as path:
            log.warning(message)
    log.warning("afterwards")
    assert [result["message"] for result in lines(path)] == ["three"]
    assert [result["message"] for result in lines(path.with_name("r.jsonl"))] == ["one", "two"]


def test_nothing_stays_set_and_nothing_reaches_other_loggers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger(LOGGER)
    before = (logger.level, logger.propagate, list(logger.handlers))
    with pytest.raises(KeyError), _logging_to(tmp_path, "r", logging.DEBUG):
        log.debug("inside")
        raise KeyError
    assert (logger.level, logger.propagate, logger.handlers) == before
    assert caplog.records == []


@pytest.mark.parametrize("run_id", ["", "../r", "a/b", ".r", "r\n", "x" * 129])
def test_an_id_that_is_no_file_name_is_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(InputError, match="a run id of"), _logging_to(tmp_path, run_id):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "private" / "logs").mkdir(parents=True)
    (tmp_path / "private" / "logs" / "r.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"), _logging_to(tmp_path, "r"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_work_on_an_output_is_logged_from_its_beginning_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", "f-1")
    with building(tmp_path):
        log.info("inside")
    with pytest.raises(ValueError, match="salary"), building(tmp_path):
        raise ValueError("Ms Example's salary")
    result = [lines(path) for path in sorted((tmp_path / "private" / "logs").iterdir())]
    rows = [row for file in result for row in file]
    messages = [row["message"] for row in rows]
    assert messages == ["began", "inside", "ended well", "began", "ended early"]
    assert rows[0]["flow_run"] == "f-1"
    assert (rows[-1]["error"], "salary" in str(rows)) == ("ValueError", False)


def test_the_oldest_logs_go(tmp_path: Path) -> None:
    folder = tmp_path / "private" / "logs"
    folder.mkdir(parents=True)
    for number in range(130):
        (folder / f"2020{number:04d}.jsonl").touch()
    with building(tmp_path):
        pass
    kept = sorted(path.name for path in folder.iterdir())
    assert len(kept) == 100
    assert kept[0] == "20200031.jsonl"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What handlers for people print, which are removed afterwards."""
    stream = io.StringIO()
    for module in (progress, progress):
        monkeypatch.setattr(module, "console", Console(file=stream, width=40))
    logger = logging.getLogger(LOGGER)
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    yield stream
    logger.handlers, logger.propagate = handlers, propagate
    logger.setLevel(level)


def test_verbose_shows_the_lines_once_and_hush_nothing(
    tmp_path: Path, shown: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_all()
    tell_stages()
    with _logging_to(tmp_path, "r"):
        log.info("computed", extra={"stage": "scan\x1b[2J", "seconds": 1.5, "none": None})
    monkeypatch.setattr("data.progress.console.quiet", True)
    log.info("unseen")
    (line,) = shown.getvalue().splitlines()
    assert line.endswith("computed stage=scan⟨U+001B⟩[2J seconds=1.5")


def test_stages_are_named_as_they_begin_but_for_those_with_a_bar(
    tmp_path: Path, shown: io.StringIO
) -> None:
    def shards() -> Iterator[int]:
        log.info("computing", extra={"stage": "recover"})
        yield 1

    tell_stages()
    with _logging_to(tmp_path, "r"):
        log.info("computing", extra={"stage": "scan"})
        assert list(track(shards(), "read", 1, quiet=True)) == [1]
        log.info("computing", extra={"stage": "package"})
        log.info("computed", extra={"stage": "package"})
        log.info("staged", extra={"run_id": "demo"})
    assert shown.getvalue().splitlines() == [
        "scan …",
        "package …",
        "writing and verifying the release …",
    ]
