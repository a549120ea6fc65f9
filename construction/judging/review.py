"""Review: people decide what judges disagree on, and their decisions override the judges.

Items to decide are written by a build (`items.jsonl`), exported as a sheet, filled in by people
and imported again (`review_sheet`). Decisions are kept in an append-only, hash-chained log; the
last one for an item and topic applies from the next build on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from construction.judging.contracts import (
    UNASSIGNED,
    ContainmentReason,
    CriterionVerdict,
    RoleClass,
    Screened,
)
from data import hash_chain
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json
from data.contracts import Candidate, Label
from data.errors import InputError
from data.figures import amount
from data.neutralise import storable

ITEMS, DECISIONS = "items.jsonl", "decisions.log"
ENCODINGS = ("utf-8", "utf-16", "gb18030", "cp1252")  # of a sheet that comes back as CSV
_SHOWN = 2_000  # characters of a task that a sheet shows
LONGEST_ITEM = 25_000  # characters of an item; a workbook's cell holds 32,767
_Text = Annotated[str, Field(max_length=4_000)]


class Topic(StrEnum):
    """What is to be decided about an item."""

    CONTAINMENT = "self_containment"
    ROLE = "role"
    ANSWER = "answer"  # consensus: any text; `rejected` rejects the item
    CRITERION = "criterion"  # of an attempt: how far it is met


OPTIONS: Mapping[Topic, tuple[str, ...]] = {
    Topic.CONTAINMENT: tuple(
        r for r in ContainmentReason if r is not ContainmentReason.NEEDS_MODEL
    ),
    Topic.ROLE: tuple(RoleClass),
    Topic.ANSWER: (),
    Topic.CRITERION: tuple(CriterionVerdict),
}
REJECTED = "rejected"


class _About(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    item_id: Annotated[str, Field(min_length=1, max_length=300)]
    topic: Topic

    @property
    def key(self) -> tuple[str, Topic]:
        return self.item_id, self.topic


class ReviewItem(_About):
    """An item and topic on which judges disagree; `text` is masked, `answers` are by judge."""

    text: Annotated[str, Field(max_length=LONGEST_ITEM)]
    answers: dict[str, _Text]


class Decision(_About):
    """What a person decided, and when."""

    decision: Annotated[str, Field(min_length=1, max_length=4_000)]
    reviewer: Annotated[str, Field(min_length=1, max_length=200)]
    note: _Text = ""
    date: date


@dataclass(frozen=True, slots=True)
class Recorded:
    """A decision and the hash of its entry in the log."""

    decision: Decision
    entry: str


Decisions = Mapping[tuple[str, Topic], Recorded]


def disputes(
    topic: Topic, texts: Mapping[str, str], by_judge: Mapping[str, Mapping[str, str]]
) -> list[ReviewItem]:
    """The items of `texts` on which judges differ or a judge has no answer, sorted by id.

    `by_judge` holds answers by judge and item id; a judge that errored has none for the item.
    """
    items = []
    for item_id in sorted(texts):
        answers = {judge: told.get(item_id, "") for judge, told in sorted(by_judge.items())}
        if len(set(answers.values())) > 1 or not all(answers.values()):
            shown = str(storable(texts[item_id]))[:_SHOWN]
            items.append(ReviewItem(item_id=item_id, topic=topic, text=shown, answers=answers))
    return items


def write_items(folder: Path, items: Sequence[ReviewItem]) -> None:
    """Write the items of a build, sorted, readable by the owner only."""
    ordered = sorted(items, key=lambda item: item.key)
    lines = b"".join(canonical_json(item) + b"\n" for item in ordered)
    write_bytes(folder / ITEMS, lines, mode=PRIVATE_FILE)


def queued(folder: Path) -> list[ReviewItem]:
    """The items that wait for people; none before a first build. Raises InputError."""
    return read_items(folder) if (folder / ITEMS).is_file() else []


def read_items(folder: Path) -> list[ReviewItem]:
    """The items that the last build left for people to decide. Raises InputError without a file."""
    path = folder / ITEMS
    if not path.is_file():
        expected, todo = "a build's items", "Build with judging first."
        raise InputError(str(path), "nothing", expected, todo)
    items = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            items.append(ReviewItem.model_validate_json(line))
        except ValidationError as error:
            problem, todo = amount(error.error_count(), "error"), "Build again."
            raise InputError(str(path), problem, "a review item", todo, number) from None
    return items


def items_to_decide(folder: Path, topic: Topic | None, *, decided: bool) -> list[ReviewItem]:
    """The items of a topic (None: any), those that are decided already only with `decided`."""
    known = recorded(folder)
    return [
        item
        for item in read_items(folder)
        if topic in (None, item.topic) and (decided or item.key not in known)
    ]


def record(folder: Path, decisions: Sequence[Decision]) -> int:
    """Append new or changed decisions; returns how many. Raises BrokenChain for an altered log."""
    path = folder / DECISIONS

    def changed(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        known = {key: own.decision for key, own in _decisions(entries, path).items()}
        new = []
        for decision in decisions:
            old = known.get(decision.key)
            # A sheet without dates may be imported twice: then only the date is new.
            if old is None or old.model_copy(update={"date": decision.date}) != decision:
                new.append(decision.model_dump(mode="json"))
                known[decision.key] = decision
        return new

    return len(hash_chain.extend(path, changed))


def recorded(folder: Path) -> Decisions:
    """The last decision for each item and topic, which is the valid one. Raises BrokenChain."""
    return _decisions(hash_chain.entries(folder / DECISIONS), folder / DECISIONS)


def _decisions(entries: Sequence[Mapping[str, Any]], path: Path) -> Decisions:
    known = {}
    for number, entry in enumerate(entries, start=1):
        fields = {name: value for name, value in entry.items() if name not in ("previous", "hash")}
        try:
            decision = Decision.model_validate(fields)
        except ValidationError:
            wrong = f"{path}:{number}: this entry is not a decision."
            raise hash_chain.BrokenChain(wrong) from None
        known[decision.key] = Recorded(decision, entry["hash"])
    return known


def overridden(screened: Screened | None, recorded_decision: Recorded | None) -> Screened | None:
    """The verdict that the review decided on; without a decision the given one."""
    if recorded_decision is None:
        return screened
    reason = ContainmentReason(recorded_decision.decision.decision)
    known = screened or Screened(reason_code=reason)
    is_whole = reason is ContainmentReason.SELF_CONTAINED
    return known.model_copy(
        update={
            "reason_code": reason,
            "brief_reason": "decided in review",
            "confidence": 1.0,
            "missing": () if is_whole else known.missing,
        }
    )


def with_decisions(candidate: Candidate, decisions: Decisions) -> Candidate:
    """The candidate with the review's decisions, which its private provenance records."""
    own = {topic: decisions.get((candidate.task_id, topic)) for topic in Topic}
    review = {
        str(topic): {
            "decision": one.decision.decision,
            "reviewer": one.decision.reviewer,
            "date": one.decision.date.isoformat(),
            "entry": one.entry,
        }
        for topic, one in own.items()
        if one is not None
    }
    if not review:
        return candidate
    source = candidate.provenance
    provenance = source.model_copy(update={"detail": {**source.detail, "review": review}})
    update: dict[str, Any] = {"provenance": provenance}
    role = own[Topic.ROLE]
    if role is not None:
        value = RoleClass(role.decision.decision).value
        update["role"] = Label(
            value=value, confidence=1.0, reason="decided in review", judge="person"
        )
        skill = candidate.skill_subclass
        if skill is not None and not skill.value.startswith(f"{value}."):
            changes = {"value": UNASSIGNED, "reason": f"{skill.value} is not a skill of this role"}
            update["skill_subclass"] = skill.model_copy(update=changes)
    return candidate.model_copy(update=update)


def answers_decided(decisions: Decisions, topic: Topic) -> dict[str, str | None]:
    """The review's answers for `consensus.route`, by item id; None where it rejected the item."""
    return {
        item_id: None if told.decision.decision == REJECTED else told.decision.decision
        for (item_id, about), told in decisions.items()
        if about is topic
    }
