"""Crontabs by what they do, not by how they are written."""

from __future__ import annotations

import datetime as dt

import pytest

from construction.grading.state_kinds import _job, _jobs_of


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("*/15 * * * *", "0,15,30,45 * * * *"),
        ("*/15 * * * *", "0-59/15 * * * *"),
        ("30 6 * * 1-5", "30 6 * * mon-fri"),
        ("0 3 * * 7", "0 3 * * SUN"),
        ("@daily", "0 0 * * *"),
        ("0 0 1 1 *", "@yearly"),
        ("5 4 * jan,mar *", "5 4 * 1,3 *"),
        ("0 22/1 * * *", "0 22,23 * * *"),
    ],
)
def test_the_same_times_in_other_words_are_the_same(first: str, second: str) -> None:
    assert _job(first).times == _job(second).times


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("30 6 * * 1-5", "30 6 * * 0-4"),
        ("0 6 1-7 * 1", "0 6 1-7 * *"),  # either day suffices where both are restricted
        ("0 6 * * *", "6 0 * * *"),
        ("0 6 31 * *", "0 6 30 * *"),
    ],
)
def test_other_times_are_others(first: str, second: str) -> None:
    assert _job(first).times != _job(second).times


def test_either_day_suffices_where_both_are_restricted() -> None:
    days = _job("0 6 13 * 5").days
    assert dt.date(2024, 9, 13) in days  # both
    assert dt.date(2024, 9, 20) in days  # a Friday
    assert dt.date(2024, 8, 13) in days  # a thirteenth
    assert dt.date(2024, 8, 14) not in days


def test_settings_and_comments_are_no_jobs() -> None:
    text = "# batch\nMAILTO=x@site.example\n\n@hourly /opt/a.sh\n5 4 * * *  /opt/b.sh  --all\n"
    assert [each.command for each in _jobs_of(text)] == ["/opt/a.sh", "/opt/b.sh --all"]


@pytest.mark.parametrize(
    "line", ["61 * * * * x", "* * * * *", "a b c d e f", "@sometimes x", "*/0 * * * * x"]
)
def test_what_cron_refuses_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"range|command|macro|invalid literal"):
        _jobs_of(line)
