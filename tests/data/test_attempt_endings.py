"""How failed attempts ended: what was not delivered or not answered is no wrong answer."""

from __future__ import annotations

import pytest

from data.reasons import ending, own_labels

NO_FILE = ("rule.count.md", "rules.missing_file", 0.0)
NO_VALUE = ("answer.value", "answer.no_value", 0.0)
WRONG = ("answer.rest", "answer.wrong_value", 0.0)


@pytest.mark.parametrize(
    ("status", "termination", "parts", "expected"),
    [
        ("timeout", "timeout", [NO_FILE], "timeout"),
        ("budget", "other", [NO_FILE], "budget_spent"),
        ("agent_error", "other", [], "error"),
        ("completed", "gave_up", [NO_VALUE], "gave_up"),
        ("completed", "wrong_answer", [NO_FILE, WRONG], "delivered_nothing"),
        ("completed", "wrong_answer", [NO_FILE, ("rule.opens.md", None, 1.0)], "checks_not_met"),
        ("completed", "silent_stop", [], "no_answer"),
        ("completed", "wrong_answer", [NO_VALUE], "no_answer"),
        ("completed", "wrong_answer", [NO_VALUE, WRONG], "wrong_answer"),
        ("completed", "wrong_answer", [("answer.a", None, 1.0)], "checks_not_met"),
        ("completed", None, [], None),
        ("infra_error", None, [NO_FILE], None),
    ],
)
def test_the_first_that_fits(
    status: str,
    termination: str | None,
    parts: list[tuple[str, str | None, float | None]],
    expected: str | None,
) -> None:
    assert ending(status, termination, parts) == expected
    assert expected is None or expected in own_labels()["termination"]


def test_without_any_file_that_was_asked_for_nothing_was_delivered() -> None:
    parts = [("check.made.days", "finding.missing", 0.0)]
    assert ending("completed", "silent_stop", parts, lacks_files=True) == "delivered_nothing"
    assert ending("timeout", "timeout", parts, lacks_files=True) == "timeout"
