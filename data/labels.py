"""What labels of tasks, agents and failures say to somebody who does not know them.

Pages show the words of a label, and its code beside them. `labels.toml` has the words of labels
that this package defines; flows add those of other packages. `ending` says how a failed attempt
ended, by its record and by the checks that failed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from data.contracts.attempt import AttemptStatus, Termination

_BY_STATUS = {
    AttemptStatus.TIMEOUT: "timeout",
    AttemptStatus.BUDGET: "budget_spent",
    AttemptStatus.AGENT_ERROR: "error",
}
_NO_FILE = "rules.missing_file"
_NO_ANSWER = ("answer.missing", "answer.no_value")


_TABLE = Path(__file__).with_name("labels.toml")


class Words(NamedTuple):
    """A label as it is shown: a short name, a sentence (empty if there is none), and its code."""

    name: str
    meaning: str
    code: str


Labels = Mapping[str, Mapping[str, Words]]  # by kind, as `surface`, and value


@cache
def own_labels() -> Labels:
    """The labels of `labels.toml`, in its order."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            kind: {
                code: Words(text[0], "", code) if isinstance(text, list) else named(code, text)
                for code, text in own.items()
            }
            for kind, own in table.items()
        }
    )


def named(code: str, meaning: str, name: str = "") -> Words:
    """A label with its sentence; without a name of its own it is called by its code in words."""
    return Words(name or code.replace("_", " "), meaning, code)


def words_of(labels: Labels, kind: str, code: str) -> Words:
    """A label in words; one that no table knows, as of a user's own taxonomy, by its code."""
    return labels.get(kind, {}).get(code) or named(code, "")


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
