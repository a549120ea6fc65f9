"""What grades a task, in words: what each graded part is about, and what it expects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from data.attempt_values import answer_text, plain, settings

DELIVERABLES = "deliverables"
_ANCHORS = ("met", "partly", "not_met")
_STEP = re.compile(r'"\$([0-9]+)')  # in arguments as JSON: the result of an earlier step
_LISTED = ("names", "extensions", "columns")  # the settings of a rule that say what it looks for


class PartWords(NamedTuple):
    """A graded part by its name, as a page tells of it."""

    name: str
    about: str
    expected: str = ""


def graded_parts(grading: Mapping[str, Any]) -> Iterator[PartWords]:
    """The parts of a task's score; `grading` are its private fields."""
    answers = grading.get("answers") or ()
    for row in answers:
        which = f", {row['part'].replace('_', ' ')}" if len(answers) > 1 else ""
        value = answer_text(row["value"], row.get("unit") or "", row.get("scale") or 1)
        yield PartWords(f"answer.{row['part']}", f"The answer{which}", value)
    for row in grading.get("checks") or ():
        params = row.get("params", {})  # the findings of a program are what the text lists
        expected = "" if "findings" in params else settings(params)
        yield PartWords(f"check.{row['check_id']}", row["text"], expected)
    for row in grading.get("rules") or ():
        wanted = next(filter(None, (row["params"].get(name) for name in _LISTED)), ())
        yield PartWords(f"rule.{row['rule_id']}", row["text"], plain(wanted))
    seen: dict[str, int] = {}
    for row in (grading.get("rubric") or {}).get("criteria", ()):
        number_of = seen[row["dimension"]] = seen.get(row["dimension"], 0) + 1
        suffix = f".{number_of}" if number_of > 1 else ""
        anchors: Mapping[str, str] = row.get("anchors") or {}
        shown = {key: anchors[key].rstrip(".") for key in _ANCHORS if anchors.get(key)}
        yield PartWords(f"rubric.{row['dimension']}{suffix}", row["text"], plain(shown))


def part_words(name: str, parts: Mapping[str, PartWords]) -> PartWords:
    """The words of a part of a score, also of one that its task does not name."""
    if name in parts:
        return parts[name]
    if name == DELIVERABLES:
        return PartWords(name, "The files that were asked for")
    for check in parts:  # one that computes several things: check.ID.FINDING
        if name.startswith(f"{check}."):
            return PartWords(name, f"Recomputed from the inputs: {name.removeprefix(f'{check}.')}")
    return PartWords(name, name.partition(".")[2].replace("_", " ") or name)


def missed_step(name: str, grading: Mapping[str, Any]) -> str:
    """The reference step that yields an intermediate result, in words; empty if none is known."""
    rows = {row["name"]: row for row in grading.get("milestones") or ()}
    wanted = rows.get(name, {}).get("step")
    texts = {row["index"]: step_words(row) for row in grading.get("steps") or ()}
    return texts.get(wanted, "")


def step_words(step: Mapping[str, Any]) -> str:
    """A reference step in words; where it names the result of another (`$1`), that is said.

    A dollar sign that none of its arguments has is an amount of money.
    """
    text = " ".join(str(step["text"]).split())
    for named in set(_STEP.findall(orjson.dumps(step.get("arguments")).decode())):
        text = re.sub(rf"\${named}(?!\w)(\.[a-z]\w*)?", f"the result of step {named}", text)
    return text
