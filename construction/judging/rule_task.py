"""A task as the makers of computed rules see it, and the rules as they write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from construction.grading.content_rules import uses
from construction.grading.file_look import RuleLimits, look
from construction.grading.file_types import FileType
from construction.grading.null_files import LOREM, holding, shell, stub
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


def is_in_nothing(term: str, kind: FileType) -> bool:
    """Does a file of this type use the term that has no work in it: a shell, a stub, or filler?

    Mails have addresses, and calendars words for a beginning and an end, whatever they say.
    """
    return any(uses(text, term) for text in _texts_of_nothing(kind))


@cache
def _texts_of_nothing(kind: FileType) -> tuple[str, ...]:
    extension = kind.extensions[0]
    files = (shell(extension), stub(extension), holding(extension, LOREM))
    limits = RuleLimits()
    return tuple(look(data, kind, limits).text for data in files if data is not None)


def is_own(rule: Rule) -> bool:
    """Does a rule follow from the request or the inputs, beyond what any file of the type has?"""
    kind, _, rest = rule.rule_id.partition(".")
    asked_length = kind == "length" and "." in rest
    of_a_text = rest.startswith(("kept.", "carried.", "choice."))
    return kind in ("columns", "sheets", "holds", "same") or of_a_text or asked_length
