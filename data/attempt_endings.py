"""How a failed attempt ended, as pages tell it: by the record and by the checks that failed."""

from __future__ import annotations

from collections.abc import Iterable

from data.contracts.attempt import AttemptStatus, Termination

_BY_STATUS = {
    AttemptStatus.TIMEOUT: "timeout",
    AttemptStatus.BUDGET: "budget_spent",
    AttemptStatus.AGENT_ERROR: "error",
}
_NO_FILE = "rules.missing_file"
_NO_ANSWER = ("answer.missing", "answer.no_value")


def ending(
    status: str,
    termination: str | None,
    parts: Iterable[tuple[str, str | None, float | None]],
    *,
    lacks_files: bool = False,
) -> str | None:
    """The first label of `termination` that fits; None for what did not fail by its own doing.

    `parts` are the graded parts: name, reason, value. `lacks_files`: files were asked for, and none
    is there. A last message is an answer to whoever
    recorded the attempt, also where the task asked for files or for something else.
    """
    if termination is None or status == AttemptStatus.INFRA_ERROR:
        return None
    if (own := _BY_STATUS.get(AttemptStatus(status))) is not None:
        return own
    if termination == Termination.GAVE_UP:
        return "gave_up"
    known = list(parts)
    if lacks_files or delivered_nothing(known):
        return "delivered_nothing"
    answers = [(reason, value) for name, reason, value in known if name.startswith("answer.")]
    if termination == Termination.SILENT_STOP or (
        answers and all(reason in _NO_ANSWER for reason, _ in answers)
    ):
        return "no_answer"
    is_wrong = any(value is not None and value < 1 for _, value in answers)
    return "wrong_answer" if is_wrong else "checks_not_met"


def delivered_nothing(parts: Iterable[tuple[str, str | None, float | None]]) -> bool:
    """Does every rule about files say that there is none?"""
    rules = [reason for name, reason, _ in parts if name.startswith("rule.")]
    return bool(rules) and all(reason == _NO_FILE for reason in rules)
