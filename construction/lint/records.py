"""Faults in task files of the published record form: what a reader can see without the data.

A record is `id, question, guidelines, answer, metadata{db, level, category}, steps[text],
steps_num, milestone{name: value}`. Records are hostile input: nothing in them is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from construction.analytics.contracts import RATED_BY_STEPS, difficulty_of
from construction.lint.findings import Finding, Report, Row, holds_number, repeated, words_of
from data.text.folding import fold_case, fold_width
from data.text.scripts import HAN


class _RecordFault(StrEnum):
    NO_FIELD = "record.no_field"
    FIELD_TYPE = "record.field_type"
    TOO_DEEP = "record.too_deep"
    REPEATED_ID = "record.repeated_id"
    EMPTY_ANSWER = "answer.empty"
    ANSWER_TYPE = "answer.type"
    ANSWER_DECIMALS = "answer.decimals"
    ANSWER_IN_QUESTION = "answer.in_prompt"
    UNIT_MISSING = "answer.unit_missing"
    MILESTONE = "milestone.not_in_steps"
    MILESTONE_EMPTY = "milestone.empty"
    STEPS_NUM = "steps.number"
    LEVEL = "difficulty.level"


_FIELDS = ("id", "question", "guidelines", "answer", "steps", "milestone")
_TYPES: Mapping[str, tuple[type, str]] = {
    "question": (str, "text"),
    "guidelines": (str, "text"),
    "steps": (list, "list"),
    "milestone": (Mapping, "object"),
}
_DEEPEST = 32  # lists and objects in each other; checks walk them by recursion
_YES_NO_ASKED = re.compile(
    r"\byes\b[\"'” ]*(?:/|or|,)[\"'“ ]*\bno\b|\btrue or false\b"
    r"|是[”\"'」]?\s*(?:或|/|、)\s*[“\"'「]?(?:否|不是)",
    re.I,
)
_YES_NO = frozenset(["yes", "no", "true", "false", "是", "否", "不是"])
_NUMBER_ASKED = re.compile(
    r"\b(?:a|one|single) (?:\w+ ){0,2}(?:number|integer|percentage|figure|value)\b"
    r"|\bas a percentage\b|\bround|\bdecimal|\binteger\b|数值|整数|小数|百分比|四舍五入",
    re.I,
)
# One number and nothing else: where several things are asked for, a list may hold them.
_ONE_NUMBER = re.compile(
    r"\b(?:a|one|single) (?:single |numerical |numeric |whole |decimal |positive )*"
    r"(?:number|integer|percentage|value)\b|\ban integer\b|一个(?:数值|整数|数字)",
    re.I,
)
_SEVERAL = re.compile(
    r"\b(?:and|then|each|both|names?|comma|separated|pairs?|two|three|first|second|followed|order|"
    r"tuple|values|numbers|integers)\b|[、,，;；]\s*然后|分别|依次|名称|逗号|顺序|两个|三个|各",
    re.I,
)
_LIST_ASKED = re.compile(r"\b(?:list|array)\b|列表|数组", re.I)
_OBJECT_ASKED = re.compile(r"\bJSON object\b|\bkeys?:|JSON对象|键为", re.I)
_DECIMALS = re.compile(
    r"(?P<n>\d{1,3}|one|two|three|four|一|两|二|三|四)\s*(?:decimal|digits? after|位小数)"
    r"|(?P<none>\binteger\b|without decimals|no decimals|whole number|取整|整数)",
    re.I,
)
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4}
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?")
_AMOUNT_ASKED = re.compile(
    r"\b(?:revenue|income|profit|assets|cash|investment|expenditure|cost|gdp|output|value added|"
    r"sales|area|emissions?|funding|amount)\b"
    r"|收入|利润|资产|投资|支出|成本|产值|增加值|销售额|面积|排放|资金|金额",
    re.I,
)
_NOT_AN_AMOUNT = re.compile(
    r"\bhow many (?:companies|firms|policies|regions|measures|provinces)|\bcorrelation\b|\bratio\b|"
    r"\bnumber of\b|多少(?:家|个|项|条)|相关系数|比值|之比|排名",
    re.I,
)
_NO_UNIT = re.compile(
    r"\b(?:without|no|not|omit\w*|exclud\w*)\s+(?:\w+[, ]+){0,5}?(?:units?|symbols?|signs?)\b"
    r"|(?:不|无需)[^，。；]{0,6}单位",
    re.I,
)
_UNIT = re.compile(
    r"\b(?:yen|yuan|rmb|cny|jpy|usd|eur|dollars?|euros?|percent(?:age)?s?|per cent|million|billion|"
    r"thousand|trillion|tonnes?|tons?|km2|hectares?|points?|persons?|people|units?)\b|[%％$€¥£]"
    r"|[亿万千百]?元|亿|万|百分|吨|公顷|平方|单位[:：为]",
    re.I,
)
_WORD = re.compile(rf"[a-z]{{3,}}|\d+(?:\.\d+)?|(?=([{HAN}]{{2}}))")


def recognises(row: Row) -> bool:
    """Has it a question, and at least two more of the form's other fields?"""
    return "question" in row and len(row.keys() & {*_FIELDS, "steps_num", "metadata"}) > 2


def lint(rows: Sequence[Any], _path: Path) -> Report:
    """The faults of records; their data is not here."""
    report = Report("DataClawBench records", len(rows))
    report.defects += _lint_records(rows)
    wanted = [
        (str(row.get("id")), words_of(f"{row.get('question')} {row.get('guidelines')}"))
        for row in rows
        if isinstance(row, Mapping) and row.get("question")
    ]
    report.defects += repeated(wanted, "task.duplicate", "the question")
    what = "the data is not available, so no gold was recomputed"
    report.unchecked.append(Finding("", "oracle", what))
    return report


def _lint_records(records: Sequence[Any]) -> list[Finding]:
    """The faults of all records, in their order."""
    findings, seen = [], set[str]()
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            findings.append(Finding(f"#{number}", _RecordFault.NO_FIELD, "not a JSON object"))
            continue
        name = str(record.get("id", f"#{number}"))
        if name in seen:
            findings.append(
                Finding(name, _RecordFault.REPEATED_ID, "the same ID as an earlier record")
            )
        seen.add(name)
        if _is_deep(record):
            detail = f"more than {_DEEPEST} nested lists and objects"
            findings.append(Finding(name, _RecordFault.TOO_DEEP, detail))
            continue
        for check in _CHECKS:
            findings += [Finding(name, fault, detail) for fault, detail in check(record)]
    return findings


def _is_deep(record: Mapping[str, Any]) -> bool:
    level: list[Any] = [record]
    for _ in range(_DEEPEST):
        held = (item for item in level if isinstance(item, list | Mapping))
        level = [
            inner
            for item in held
            for inner in (item.values() if isinstance(item, Mapping) else item)
        ]
    return bool(level)


_Faults = Iterator[tuple[_RecordFault, str]]


def _fields(record: Mapping[str, Any]) -> _Faults:
    for name in _FIELDS:
        if name not in record:
            yield _RecordFault.NO_FIELD, name
        elif name in _TYPES and not isinstance(record[name], _TYPES[name][0]):
            yield _RecordFault.FIELD_TYPE, f"{name} is not {_TYPES[name][1]}"


def _guidelines(record: Mapping[str, Any]) -> str:
    return fold_width(str(record.get("guidelines") or ""))


def _is_empty(answer: Any) -> bool:
    if isinstance(answer, list | Mapping):
        return not answer or any(_is_empty(item) for item in answer)
    return answer is None or str(answer).strip().casefold() in ("", "nan", "null", "none")


def _empty(record: Mapping[str, Any]) -> _Faults:
    if "answer" in record and _is_empty(record["answer"]):
        yield _RecordFault.EMPTY_ANSWER, "no value"


def _type(record: Mapping[str, Any]) -> _Faults:
    """Does the answer have the type that the guidelines demand?"""
    answer, wanted = record.get("answer"), _guidelines(record)
    if _is_empty(answer) or _OBJECT_ASKED.search(wanted):
        return
    is_list = isinstance(answer, list)
    text = str(answer).strip().casefold()
    if _LIST_ASKED.search(wanted):
        if not is_list and not text.startswith("["):
            yield _RecordFault.ANSWER_TYPE, "a list is asked for"
        return
    if is_list:
        given = [str(item).casefold() for item in answer or ()]
        if _YES_NO_ASKED.search(wanted) and not _YES_NO.intersection(given):
            yield _RecordFault.ANSWER_TYPE, "expected yes or no"
        elif _ONE_NUMBER.search(wanted) and not _SEVERAL.search(wanted):
            yield _RecordFault.ANSWER_TYPE, "expected a number"
        return
    if _YES_NO_ASKED.search(wanted) and not _NUMBER_ASKED.search(wanted):
        if text not in _YES_NO:
            yield _RecordFault.ANSWER_TYPE, "expected yes or no"
    elif _NUMBER_ASKED.search(wanted) and not _NUMBER.fullmatch(text.rstrip("%％ ")):
        yield _RecordFault.ANSWER_TYPE, "expected a number"


def _decimals(record: Mapping[str, Any]) -> _Faults:
    """Does a number have at most the decimals asked for?"""
    answer, match = record.get("answer"), _DECIMALS.search(_guidelines(record))
    text = str(answer).strip().rstrip("%％ ")
    if match is None or isinstance(answer, list | Mapping) or not _NUMBER.fullmatch(text):
        return
    wanted = 0 if match["none"] else int(_COUNTS.get(match["n"].casefold(), 0) or match["n"])
    given = len(text.partition(".")[2].rstrip("0"))
    if given > wanted:
        yield _RecordFault.ANSWER_DECIMALS, f"{given} decimals, {wanted} requested"


def _in_question(record: Mapping[str, Any]) -> _Faults:
    """Does the question hold the number? A name may well be one of those asked about."""
    text, question = str(record.get("answer")).strip(), str(record.get("question", ""))
    if len(text) > 3 and _NUMBER.fullmatch(text) and holds_number(question, text):
        yield _RecordFault.ANSWER_IN_QUESTION, f"{len(text)} characters"


def _unit(record: Mapping[str, Any]) -> _Faults:
    """An amount without a unit in question, guidelines or answer."""
    answer, question = record.get("answer"), fold_width(str(record.get("question", "")))
    text = str(answer).strip()
    if isinstance(answer, list | Mapping) or not _NUMBER.fullmatch(text):
        return
    said = _NO_UNIT.sub(" ", f"{question} {_guidelines(record)}")
    is_amount = _AMOUNT_ASKED.search(question) and not _NOT_AN_AMOUNT.search(question)
    if is_amount and not _UNIT.search(said):
        yield _RecordFault.UNIT_MISSING, "no unit in the question or guidelines"


def _milestones(record: Mapping[str, Any]) -> _Faults:
    """Does some step speak of each milestone, by name or value?"""
    steps, milestones = record.get("steps"), record.get("milestone")
    if not isinstance(steps, list) or not isinstance(milestones, Mapping):
        return
    in_steps = set(_words(" ".join(map(str, steps))))
    for number, (name, value) in enumerate(milestones.items(), 1):
        if _is_empty(value):
            yield _RecordFault.MILESTONE_EMPTY, f"milestone {number}"
        words = _words(str(name).replace("_", " "))
        known = sum(word in in_steps for word in words)
        shown = in_steps.intersection(_words(str(value)))
        if words and known * 2 < len(words) and not shown:
            yield _RecordFault.MILESTONE, f"milestone {number}"


def _words(text: str) -> list[str]:
    """Words, numbers, and each pair of neighbouring Chinese characters."""
    matches = _WORD.finditer(fold_case(fold_width(text)))
    return [match[1] or match[0] for match in matches]


def _number_of_steps(record: Mapping[str, Any]) -> _Faults:
    steps, number = record.get("steps"), record.get("steps_num")
    if isinstance(steps, list) and number is not None and str(number) != str(len(steps)):
        yield _RecordFault.STEPS_NUM, f"{len(steps)} steps"


def _level(record: Mapping[str, Any]) -> _Faults:
    """The level of the first four categories follows from the number of steps."""
    metadata, steps = record.get("metadata"), record.get("steps")
    if not isinstance(metadata, Mapping) or not isinstance(steps, list):
        return
    named = re.sub(r"[^a-z]+", "_", str(metadata.get("category", "")).casefold()).strip("_")
    category = next((c for c in RATED_BY_STEPS if c.value == named), None)
    level = str(metadata.get("level", "")).casefold()
    if category is not None and level and level != difficulty_of(category, len(steps), None):
        yield _RecordFault.LEVEL, f"{len(steps)} steps are not {level[:10]}"


_CHECKS: tuple[Callable[[Mapping[str, Any]], _Faults], ...] = (
    _fields,
    _empty,
    _type,
    _decimals,
    _in_question,
    _unit,
    _milestones,
    _number_of_steps,
    _level,
)
