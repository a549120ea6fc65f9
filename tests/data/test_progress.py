"""What is shown while work goes on, with and without a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from data import progress
from data.progress import duration, rate, track


class Clock:
    """Ten seconds go by between two looks."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        self.at += 10
        return self.at


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=stream, width=100))
    yield stream


def test_without_a_terminal_there_is_a_line_now_and_then(
    shown: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data.progress.time.monotonic", Clock())
    assert list(track(range(5), "mask", 5, "file")) == [0, 1, 2, 3, 4]
    assert shown.getvalue().splitlines() == [
        "mask: 2 of 5 files, 6.0/min, about 30 s left",
        "mask: 4 of 5 files, 6.0/min, about 10 s left",
        "mask: 5 files in 60 s",
    ]
    assert list(track(range(1), "preflight", 1)) == [0]
    assert shown.getvalue().splitlines()[-1] == "preflight: 1 part in 20 s"


def test_a_terminal_sees_a_bar_with_rate_and_time(
    shown: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(file=shown, width=100, force_terminal=True, _environ={})
    monkeypatch.setattr(progress, "console", console)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert list(track(range(3), "mask", 3)) == [0, 1, 2]
    last = shown.getvalue()
    assert "mask" in last
    assert "3/3" in last
    assert "left" in last


def test_quiet_shows_nothing(shown: io.StringIO) -> None:
    assert list(track(range(3), "mask", 3, quiet=True)) == [0, 1, 2]
    assert shown.getvalue() == ""


@pytest.mark.parametrize(
    ("done", "seconds", "result"),
    [(0, 5, ""), (5, 0, ""), (30, 10, "3.0/s"), (1, 10, "6.0/min"), (50_000, 2, "25,000.0/s")],
)
def test_rates(done: int, seconds: float, result: str) -> None:
    assert rate(done, seconds) == result


@pytest.mark.parametrize(
    ("seconds", "result"),
    [(0.4, "under 1 s"), (8.2, "8 s"), (99, "99 s"), (180, "3 min"), (7500, "2 h 5 min")],
)
def test_durations(seconds: float, result: str) -> None:
    assert duration(seconds) == result
