"""What grades a task, in words: what each graded part is about, and what it expects.

Values read alike for what was expected and what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import orjson

from data.neutralise import one_line

DELIVERABLES = "deliverables"
_ANCHORS = ("met", "partly", "not_met")
_STEP = re.compile(r'"\$([0-9]+)')  # in arguments as JSON: the result of an earlier step
_LISTED = ("names", "extensions", "columns")  # the settings of a rule that say what it looks for


_SHORT = 200
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)(?: (\S.*))?")
_UNITS = {"count": "", "ratio": "", "percent": "%"}
_SCALES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_PLAIN = 10_000  # below it a number without a unit may be a year


def quantity(text: str, scale: int = 1) -> str:
    """A number of units, told in multiples of `scale`, as `11,314 million JPY`; else the text."""
    match = _NUMBER.fullmatch(text.strip())
    return (
        text if match is None else _number_words(Decimal(match[1]) / scale, match[2] or "", scale)
    )


def _number_words(value: Decimal, unit: str, scale: int) -> str:
    """So many multiples of a scale; zeros behind the point and units that say nothing are left out.

    A scale without a word of its own is multiplied out.
    """
    if scale not in _SCALES:
        value *= scale
    digits = f"{value:f}" if not unit and abs(value) < _PLAIN else f"{value:,f}"
    whole = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return " ".join(filter(None, (whole, _SCALES.get(scale), _UNITS.get(unit, unit))))


def answer_text(value: object, unit: str = "", scale: int = 1) -> str:
    """The value of an answer, in the unit asked for: a list as items, a number with its unit."""
    text = str(value)
    if text.startswith("["):
        try:
            items = orjson.loads(text)
        except ValueError:
            return text
        if isinstance(items, list):
            return plain(items)
    match = _NUMBER.fullmatch(f"{text} {unit}".strip())
    return (
        f"{text} {unit}".strip() if match is None else _number_words(Decimal(match[1]), unit, scale)
    )


def reading_text(reading: str, unit: str = "", scale: int = 1) -> str:
    """What an answer was read as, told in the unit asked for if it is in that unit."""
    is_alike = reading.partition(" ")[2] == unit
    return (
        answer_text(reading)
        if reading.startswith("[")
        else quantity(reading, scale if is_alike else 1)
    )


def plain(value: object) -> str:
    """A value in words: items behind commas, fields behind their names; no brackets of JSON."""
    if isinstance(value, Mapping):
        return "; ".join(
            f"{str(key).replace('_', ' ')}: {plain(item)}"
            for key, item in value.items()
            if item not in (None, "", [], {})
        )
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "nothing"}[value]
    return str(value)


def settings(params: Mapping[str, object]) -> str:
    """The settings of a check that people can read at once; programs and files are left out."""
    shown = {key: value for key, value in params.items() if len(plain(value)) <= _SHORT}
    return plain(shown)


def brief(text: str, most: int = _SHORT) -> str:
    """The beginning of a text on one line, which ends between words."""
    line = one_line(text)
    if len(line) <= most:
        return line
    return f"{line[:most].rpartition(' ')[0] or line[:most]} …".replace(", …", " …")


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
