"""What each reason and label says in words, and in which unit a gate's values and limits are.

The reasons of gates have their sentences in the code of the gate; those of readers, filters and
selections stand in `reasons.toml`. Commands, pages and docs all take them from here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from data.contracts import Bound, Gate, Limit
from data.contracts.attempt import AttemptStatus, Termination
from data.figures import number

_TABLE = Path(__file__).with_name("reasons.toml")
_BOUNDS = {Bound.MIN: "at least", Bound.MAX: "at most"}
_SINGLE = {"criteria": "criterion", "people": "person"}
_TRUTHS = {"true": "yes", "false": "no"}


@cache
def stage_sentences() -> Mapping[str, str]:
    """A sentence for each reason that is not a gate's, in the order of the table."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    sentences: dict[str, str] = {}
    for name, entry in table.items():
        if isinstance(entry, str):
            sentences[name] = entry
        else:
            sentences |= {f"{name}.{key}": text for key, text in entry.items()}
    return MappingProxyType(sentences)


def sentences(gates: Iterable[Gate[Any, Any]]) -> Mapping[str, str]:
    """A sentence for every reason: those of `gates`, then the others."""
    own = {str(reason): reason.meaning for gate in gates for reason in gate.reasons}
    return MappingProxyType({**own, **stage_sentences()})


@dataclass(frozen=True, slots=True)
class ReasonWords:
    """The words of a set of gates: sentences of reasons, and limits as a person reads them."""

    gates: Mapping[str, Gate[Any, Any]]
    sentences: Mapping[str, str]

    @classmethod
    def of(cls, gates: Sequence[Gate[Any, Any]]) -> ReasonWords:
        """The words of all reasons, and of the limits of `gates`."""
        return cls({gate.name: gate for gate in gates}, sentences(gates))

    def questions(self) -> Mapping[str, str]:
        """What each gate asks."""
        return {name: gate.meaning for name, gate in self.gates.items()}

    def allowed(self, gate: str | None, reason: str | None, limit: object) -> object:
        """A limit with direction and unit: `at most 0 files`. Texts stay as they are.

        `reason` None is a verdict that passed: it shows the headline of the gate, else the last
        limit. Where several limits of a reason have this value, it may be of any of their units;
        the number alone is shown where they differ in direction.
        """
        around = self.around(gate, reason, limit)
        text = self.measured(gate, limit)
        return text if around is None else f"{around[0]} {text} {around[1]}"

    def measured(self, gate: str | None, value: object) -> object:
        """What a gate recorded, as a person reads it: yes and no, and numbers as figures.

        What stands in the ledger without a gate stays as it is: 2024 may be a year.
        """
        if gate is None or value is None:
            return value
        truth = _TRUTHS.get(value.lower()) if isinstance(value, str) else None
        return truth or number(value)

    def around(self, gate: str | None, reason: str | None, limit: object) -> tuple[str, str] | None:
        """What stands before and after the number of a limit: `at most`, `files`.

        None for a limit that is no number.
        """
        value = _number(limit)
        if value is None:
            return None
        limits = self._limits(gate, reason)
        kinds = {(item.bound, item.unit) for item in limits}
        if len(kinds) > 1:  # of a reason with limits in several units, the one with this value
            config = self.gates[gate or ""].config()
            same = (item for item in limits if item.allowed(config) == value)
            kinds = {(item.bound, item.unit) for item in same}
        bounds = {bound for bound, _ in kinds}
        if len(bounds) != 1:
            return None
        units = sorted({_unit(unit, value) for _, unit in kinds})
        return _BOUNDS[bounds.pop()], " or ".join(units)

    def undecided(self, gates: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
        """By stage, what its gates let through without a verdict: `146 unverified by sandbox`.

        `gates` have how many items are of each status, and how many each other gate, or a command
        to run, keeps from being measured. What an earlier gate rejected was not let through.
        """
        notes: dict[str, list[str]] = {}
        for row in gates:
            gate = self.gates.get(row["gate"])
            waiting = sum(n for by, n in row["blocked_by"].items() if by not in self.gates)
            counts = {"unverified": row["statuses"]["unverified"], "not measured": waiting}
            if gate is not None:
                texts = [f"{n:,} {status} by {gate.name}" for status, n in counts.items() if n]
                notes.setdefault(gate.stage, []).extend(texts)
        return {stage: texts for stage, texts in notes.items() if texts}

    def _limits(self, name: str | None, reason: str | None) -> list[Limit]:
        gate = self.gates.get(name or "")
        if gate is None:
            return []
        if reason is None:
            headline = [limit for limit in gate.limits if limit.name == gate.headline]
            return headline or list(gate.limits[-1:])
        return [limit for limit in gate.limits if limit.reason in (reason, None)]


def _unit(unit: str, n: float) -> str:
    """The unit of a limit of `n`: `1 file`, `0 files`, `0.2 of companies`."""
    first, gap, rest = unit.removeprefix("share ").partition(" ")
    single = _SINGLE.get(first, first.removesuffix("s")) if n == 1 else first
    return f"{single}{gap}{rest}"


def _number(limit: object) -> float | None:
    try:
        return float(str(limit))
    except ValueError:
        return None


_BY_STATUS = {
    AttemptStatus.TIMEOUT: "timeout",
    AttemptStatus.BUDGET: "budget_spent",
    AttemptStatus.AGENT_ERROR: "error",
}
_NO_FILE = "rules.missing_file"
_NO_ANSWER = ("answer.missing", "answer.no_value")


_LABELS_TABLE = Path(__file__).with_name("labels.toml")


class Words(NamedTuple):
    """A label as it is shown: a short name, a sentence (empty if there is none), and its code."""

    name: str
    meaning: str
    code: str


Labels = Mapping[str, Mapping[str, Words]]  # by kind, as `surface`, and value


@cache
def own_labels() -> Labels:
    """The labels of `labels.toml`, in its order."""
    table = tomllib.loads(_LABELS_TABLE.read_text(encoding="utf-8"))
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
