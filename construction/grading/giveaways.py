"""Does a text that everybody can read give away what grades a task?

Looked for are answers, milestones and what checks expect, unless the task itself states them:
numbers in any notation and scale, also rounded to three digits or more, and whole words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from construction.grading.answers.parts import compare, question_of
from construction.grading.spec import AnswerSpec, TaskSpec
from data.text.folding import alphanumeric, fold_width, fold_words

_FEWEST_DIGITS = 3  # significant ones: a number with fewer stands in any text
_SHORTEST = 3  # characters of a text
_NUMBER = re.compile(r"(?<![A-Za-z\d])\d+(?:[.,'’_ ]\d{3}(?!\d))*(?:[.,]\d+)?(?![A-Za-z\d])")
_EXPECTED = frozenset({"where", "record", "records", "is", "contains", "matches"})  # of checks
_PATTERN = "matches"  # its value is a regular expression, no text


class _Giveaway(StrEnum):
    """What a text gives away."""

    ANSWER = "an answer"
    MILESTONE = "a value on the way to the answer"
    CHECK = "a value that a check expects"


def given_away(task: TaskSpec, text: str) -> _Giveaway | None:
    """What of the task the text states, or None.

    An answer counts whatever its length, the others from three characters or significant digits
    on. Words of a pattern are not looked for.
    """
    question = question_of(task.prompt)
    if any(_reads_as(part, text, question) for part in task.answers):
        return _Giveaway.ANSWER
    kinds: dict[_Giveaway, Sequence[str]] = {
        _Giveaway.ANSWER: [value for part in task.answers for value in _stated(part)],
        _Giveaway.MILESTONE: [milestone.value for milestone in task.milestones],
        _Giveaway.CHECK: [value for check in task.checks for value in _expected(check.params)],
    }
    for kind, values in kinds.items():
        is_answer = kind is _Giveaway.ANSWER
        if any(_states(text, value, task.prompt, is_answer=is_answer) for value in values):
            return kind
    return None


def _reads_as(part: AnswerSpec, text: str, question: str) -> bool:
    """Would the text pass as this part of the answer? Then it says it in some other words."""
    try:
        return compare(part, text, question).reason is None
    except ValueError:  # a gold value that no grader reads
        return False


def _stated(part: AnswerSpec) -> Iterator[str]:
    yield from part.aliases
    if part.type != "list":
        yield part.value
        return
    try:
        items = json.loads(part.value)
    except ValueError:
        items = part.value
    yield from map(str, items if isinstance(items, list) else [items])


def _expected(params: Any, *, is_value: bool = False) -> Iterator[str]:
    """The texts and numbers that a check compares with; not the names of fields and services."""
    if isinstance(params, dict):
        for name, value in params.items():
            if name != _PATTERN:
                yield from _expected(value, is_value=is_value or name in _EXPECTED)
    elif isinstance(params, list | tuple):
        for value in params:
            yield from _expected(value, is_value=is_value)
    elif is_value and isinstance(params, str | int | float) and not isinstance(params, bool):
        yield str(params)


def _states(text: str, value: str, prompt: str, *, is_answer: bool) -> bool:
    """Is the value in the text, and not in the prompt?"""
    if _NUMBER.fullmatch(value.lstrip("+-−")):
        wanted = _digits(value)
        if len(wanted) < _FEWEST_DIGITS:
            plain = value.lstrip("+-−")
            return is_answer and plain in _numbers(text) and plain not in _numbers(prompt)
        return _has_digits(text, wanted) and not _has_digits(prompt, wanted)
    if len(value) < _SHORTEST:
        return False
    return _has_words(text, value) and not _has_words(prompt, value)


def _has_words(text: str, value: str) -> bool:
    if value.isascii():
        return f" {fold_words(value)} " in f" {fold_words(text)} "
    return bool(alphanumeric(value)) and alphanumeric(value) in alphanumeric(text)


def _numbers(text: str) -> list[str]:
    """The numbers in a text, and the parts of those that several separators may join."""
    numbers = _NUMBER.findall(fold_width(text))
    return numbers + [part for number in numbers for part in re.split(r"[^\d.]", number)]


def _digits(number: str) -> str:
    """The significant digits: sign, separators, scale and zeros at both ends do not count."""
    return "".join(filter(str.isdecimal, number)).strip("0")


def _has_digits(text: str, wanted: str) -> bool:
    """Is a number in the text that has these digits, or these rounded to fewer?"""
    return any(
        shown == wanted or shown == _rounded(wanted, len(shown))
        for shown in map(_digits, _numbers(text))
        if len(shown) >= _FEWEST_DIGITS
    )


def _rounded(digits: str, length: int) -> str:
    if length >= len(digits):
        return digits
    cut = len(digits) - length
    return str((int(digits) + 5 * 10 ** (cut - 1)) // 10**cut).strip("0")
