"""What is shown while work goes on, with and without a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from data import progress
from data.progress import _duration, _rate, track, underway


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("data.progress.time.monotonic", clock)
    monkeypatch.setattr(progress, "_said_at", 0.0)
    return clock


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=stream, width=100))
    yield stream


def test_without_a_terminal_there_is_a_line_at_the_start_now_and_then_and_at_the_end(
    shown: io.StringIO, clock: Clock
) -> None:
    for _ in track(range(5), "mask", 5, "file"):
        clock.at += 10
    assert shown.getvalue().splitlines() == [
        "mask: 5 files …",
        "mask: 2 of 5 files, 6.0/min, about 30 s left",
        "mask: 4 of 5 files, 6.0/min, about 10 s left",
        "mask: 5 files in 50 s",
    ]
    assert list(track(range(1), "preflight", 1)) == [0]
    assert shown.getvalue().splitlines()[-1] == "preflight: 1 part in under 1 s"


def test_what_takes_long_is_told_every_15_s(shown: io.StringIO, clock: Clock) -> None:
    """A stage without parts, and a part of one that has them."""
    seconds = iter(range(10_000))

    def wait(least: int) -> None:
        for _ in range(least):
            next(seconds)
            clock.at += 1
            progress._tell_if_due()

    with underway("build"):
        wait(14)
        assert shown.getvalue() == ""
        with underway("select"):
            wait(17)
        for _ in track(range(2), "mask", 2):
            wait(16)
        wait(20)
    wait(100)
    assert shown.getvalue().splitlines() == [
        "select: 1 s so far",
        "select: 16 s so far",
        "mask: 2 parts …",
        "mask: 0 of 2 parts, 15 s so far",
        "mask: 1 of 2 parts, 2.0/min, about 30 s left",
        "mask: 2 parts in 32 s",
        "build: 78 s so far",
    ]


def test_a_bar_needs_no_lines_besides(
    shown: io.StringIO, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for _ in track(range(2), "mask", 2):
        clock.at += 100
        progress._tell_if_due()
    assert "so far" not in shown.getvalue()


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
    assert _rate(done, seconds) == result


@pytest.mark.parametrize(
    ("seconds", "result"),
    [(0.4, "under 1 s"), (8.2, "8 s"), (99, "99 s"), (180, "3 min"), (7500, "2 h 5 min")],
)
def test_durations(seconds: float, result: str) -> None:
    assert _duration(seconds) == result
