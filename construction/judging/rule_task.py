"""A task as the makers of computed rules see it, and the rules as they write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from construction.grading.file_types import FileType
from construction.judging.contracts import InputFile
from data.contracts import Deliverable, Rule

WITH_TABLES = frozenset({"xlsx", "csv", "tsv", "json", "jsonl"})
TERMS = 300  # of an input or a task, for one rule


@dataclass(frozen=True, slots=True)
class Task:
    """A case with what several rules need to know of it."""

    request: str
    deliverables: Sequence[Deliverable]
    inputs: Mapping[str, InputFile]
    given: tuple[str, ...]  # the input files that the request speaks of
    edited: tuple[str, ...]  # those that it wants changed
    moved: tuple[str, ...]  # those that get another name or place and stay as they are


def rule(rule_id: str, extensions: Sequence[str], text: str, **params: object) -> Rule:
    kind = rule_id.partition(".")[0]
    return Rule(
        rule_id=rule_id, kind=kind, params={"extensions": list(extensions), **params}, text=text
    )


def has_text(kind: FileType) -> bool:
    return kind.opener not in (None, "image", "zip")
