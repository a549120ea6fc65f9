"""The parts of an answer, read from the designated answer field alone and compared by type.

Imports nothing but the standard library, text utilities and the reader of
`construction.grading.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from construction.grading.answers import lexicon
from construction.grading.answers.check import ANSWER_KEYS, MARKER, json_pieces
from construction.grading.answers.lexicon import AnswerReason, Verdict
from construction.grading.answers.lists import compare_list, with_plain_marks
from construction.grading.answers.markup import clean, visible
from construction.grading.answers.numbers import compare_number, is_blank
from construction.grading.answers.words import compare_boolean, compare_date, compare_text
from construction.grading.spec import AnswerSpec, TaskSpec
from data.contracts.attempt import ScorePart
from data.text.folding import fold_case, fold_width, fold_words

_MAX_CHARS = 100_000  # of the answer field; of a longer one the end is read
_SHOWN = 200  # characters of a reading in the detail of a part
_MAX_DEPTH = 20  # of nested JSON
_SIBLINGS = ("unit", "currency", "scale")
_NAME_KEYS = ("part", "name", "key", "field", "label", "item", "metric")
_SAYS_NO = re.compile(r"no\W*\Z", re.I)  # takes back, and is the answer
_YEAR_ASKED = re.compile(r"\b(?:which|what) (?:\w+ )?year\b|[何哪]一?年", re.I)
_SPACES = re.compile(r"[\s_-]+")
_QUESTION_ENDS = ("?", "？", "か。")
_BEFORE_VALUE = r"[\"'*_`]*\s*(?P<unit>\([^()\n]{1,40}\))?\s*[\"'*_`]*\s*(?:[:=|：]|は|是|为)\s*"
_BEFORE_NAME = " \t*_`\"'>#-•"
_AFTER_VALUE = " \t\r\n,;|*_`\"'、；"
_WITH_WORDS = re.compile(r"[*_`\s]*(\S*\d)[*_`]*\s*[(\[]?\s*([^\W\d_][^\d()\[\]]*?)\s*[)\]]?[.\s]*")
_FIRST_CLAUSE = re.compile(r"[,;(，；（]")
_SHORT = {"hr": "hour", "h": "hour", "min": "minute", "pc": "piece"}


@dataclass(frozen=True, slots=True)
class Field:
    """The text given for one part; `repeated` if it was given twice, with different texts."""

    text: str | None
    repeated: bool = False


def grade_answers(spec: TaskSpec, answer: str | None) -> tuple[ScorePart, ...]:
    """One part per part of the gold answer, its weight the share among them; none without any.

    A part is 1 or 0. Only `answer`, the content of the designated answer field, is read: several
    parts are a JSON object with their names as keys, or lines `name: value`. Never raises for any
    answer; raises ValueError for a gold value that is not of its type.
    """
    if not spec.answers:
        return ()
    question = question_of(spec.prompt)
    fields = _fields([part.part for part in spec.answers], (answer or "")[-_MAX_CHARS:])
    given = {part.part: _designated(part, fields[part.part]) for part in spec.answers}
    verdicts = {part.part: _verdict(part, given[part.part], question) for part in spec.answers}
    for part in spec.answers:
        bare = _without_own_unit(part, given[part.part], spec.guidelines)
        if verdicts[part.part].reason is not None and bare is not None:
            verdicts[part.part] = _verdict(part, bare, question)
    swapped = _swapped(spec.answers, given, verdicts, question)
    total = sum(part.weight for part in spec.answers)
    return tuple(
        _score_part(part, part.weight / total, verdicts[part.part], part.part in swapped)
        for part in spec.answers
    )


def question_of(prompt: str) -> str:
    """The first paragraph of the prompt that asks something, else the whole prompt."""
    paragraphs = prompt.split("\n\n")
    return next((p for p in paragraphs if any(end in p for end in _QUESTION_ENDS)), prompt)


def _score_part(part: AnswerSpec, weight: float, verdict: Verdict, swapped: bool) -> ScorePart:
    reason = AnswerReason.SWAPPED_PARTS if swapped else verdict.reason
    return ScorePart(
        name=f"answer.{part.part}",
        evidence="accuracy",
        weight=weight,
        value=0.0 if reason else 1.0,
        required=True,
        reason=reason,
        detail={} if verdict.reading is None else {"reading": verdict.reading[:_SHOWN]},
    )


def _verdict(part: AnswerSpec, field: Field, question: str) -> Verdict:
    if field.repeated:
        return Verdict(AnswerReason.AMBIGUOUS)
    if field.text is None or is_blank(field.text):
        return Verdict(AnswerReason.MISSING)
    return compare(part, field.text, question)


def _without_own_unit(part: AnswerSpec, field: Field, guidelines: str) -> Field | None:
    """The number alone, where behind it stand only words of the form that the task itself gives.

    The form is the line `part: <how many items, …>` of the guidelines, up to its first comma, and
    the name of the part: whoever is asked for items may write "6 items".
    """
    text = field.text or ""
    is_short = part.type == "number" and len(text) <= _SHOWN
    match = _WITH_WORDS.fullmatch(text) if is_short else None
    if match is None:
        return None
    form = re.search(rf"^\W*{re.escape(part.part)}\W+(.+)$", guidelines, re.M | re.I)
    own = [part.part, _FIRST_CLAUSE.split(form[1], maxsplit=1)[0] if form else ""]
    words = f" {_singular(match[2])} "
    is_own = any(words in f" {_singular(text)} " for text in own)
    return Field(match[1], field.repeated) if is_own else None


def _singular(text: str) -> str:
    """The words of a text in one number, short forms of units in full."""
    words = (word.removesuffix("s") for word in fold_words(text.replace("_", " ")).split())
    return " ".join(_SHORT.get(word, word) for word in words)


def _swapped(
    parts: Sequence[AnswerSpec],
    given: Mapping[str, Field],
    verdicts: Mapping[str, Verdict],
    question: str,
) -> set[str]:
    """The wrong parts whose text is right for another wrong part."""
    wrong = [part for part in parts if verdicts[part.part].reason is not None]
    return {
        part.part
        for part in wrong
        for other in wrong
        if other is not part and _verdict(other, given[part.part], question).reason is None
    }


def _designated(part: AnswerSpec, field: Field) -> Field:
    """The text behind the last answer mark, if any; numbers are read by a reader of their own."""
    if part.type == "number" or field.text is None:
        return field
    raw = with_plain_marks(field.text) if part.type == "list" else field.text
    shown, tables = visible(raw)
    cleaned = clean(shown)
    if cleaned.boxes:
        start, end = cleaned.boxes[-1]
        return Field(cleaned.text[start:end], field.repeated)
    text = cleaned.text
    retraction = lexicon.taken_back(text)
    if retraction is not None and (part.type != "list" or _starts_anew(text, retraction.start())):
        is_no = part.type == "boolean" and _SAYS_NO.search(retraction[0])
        text = text[retraction.start() if is_no else retraction.end() :]
        text = text.lstrip(" ,:;.!—–-、：(（")
        if not text.strip(" .!"):
            return Field(cleaned.text, repeated=True)
    matches = list(MARKER.finditer(text))
    if matches:
        text = text[matches[-1].end() :].strip(" *:\"'\n")
        text = text if part.type == "list" else text.split("\n", 1)[0]
    if part.type == "list" and (raw.lstrip().startswith("[") or (tables and not matches)):
        text = raw
    return Field(text, field.repeated)


def _starts_anew(text: str, position: int) -> bool:
    """Does a sentence or line begin there? Commas part the items of a list."""
    return text[:position].rstrip(" *_").endswith((".", "\n", "。", "!", ";"))


def _fields(names: Sequence[str], answer: str) -> dict[str, Field]:
    """The text of each part: from a JSON object, from lines, or the whole text of a sole part."""
    loaded = _json_object(answer)
    retraction = lexicon.taken_back(answer)
    if loaded is not None and retraction is not None:  # what is said behind the object counts
        if len(names) == 1:
            return {names[0]: Field(answer)}
        corrected = _from_lines(names, answer[retraction.end() :])
        if any(field.text is not None for field in corrected.values()):
            return corrected
    if loaded is not None:
        fields = _from_object(names, loaded)
        if any(field.text is not None for field in fields.values()):
            return fields
    if len(names) == 1:
        return {names[0]: Field(answer if loaded is None else _sole(loaded, answer))}
    return _from_lines(names, answer)


def _sole(loaded: Mapping[str, Any], answer: str) -> str:
    """The value under an answer key of a JSON object; the text itself if it has none."""
    lower = {fold_case(str(key)): value for key, value in loaded.items()}
    key = next((key for key in ANSWER_KEYS if key in lower), None)
    if key is None and len(lower) == 1 and isinstance(next(iter(lower.values())), list):
        key = next(iter(lower))  # {"subsidiaries": […]}
    return answer if key is None else _as_text(lower[key], lower)


class _Repeated(list[Any]):
    """The different values of a key that a JSON object has more than once."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    loaded: dict[str, Any] = {}
    for key, value in pairs:
        same = key not in loaded or loaded[key] == value
        loaded[key] = value if same else _Repeated([loaded[key], value])
    return loaded


def _json_object(answer: str) -> dict[str, Any] | None:
    if "{" not in answer or _is_deep(answer):
        return None
    for piece in json_pieces(answer):
        try:
            loaded = json.loads(
                piece, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_pairs
            )
        except (ValueError, RecursionError):
            continue
        if isinstance(loaded, list):
            loaded = _by_part(loaded)
        if isinstance(loaded, dict):
            return loaded
    return None


def _by_part(rows: list[Any]) -> dict[str, Any] | None:
    """`[{"part": "revenue", "value": 120}, …]` as `{"revenue": {"part": …, "value": 120}, …}`."""
    pairs = []
    for row in rows:
        names = [row[key] for key in _NAME_KEYS if key in row] if isinstance(row, dict) else []
        if not names or not isinstance(names[0], str):
            return None
        pairs.append((names[0], row))
    return _pairs(pairs) if pairs else None


def _is_deep(text: str) -> bool:
    """Do brackets nest deeper than any answer needs?"""
    depth = 0
    for sign in text:
        depth += (sign in "[{") - (sign in "]}")
        if depth > _MAX_DEPTH:
            return True
    return False


def _from_object(names: Sequence[str], loaded: Mapping[str, Any]) -> dict[str, Field]:
    """The values under the names of the parts, at the top or under an answer key."""
    lower = {_key(str(key)): value for key, value in loaded.items()}
    inner = next((lower[key] for key in (*ANSWER_KEYS, "answers") if key in lower), None)
    if isinstance(inner, Mapping) and not any(_key(name) in lower for name in names):
        return _from_object(names, inner)
    fields = {}
    for name in names:
        value = lower.get(_key(name))
        repeated = isinstance(value, _Repeated)
        is_given = _key(name) in lower
        fields[name] = Field(_as_text(value, lower) if is_given else None, repeated)
    return fields


def _key(name: str) -> str:
    return _SPACES.sub(" ", fold_case(name)).strip()


def _as_text(value: Any, siblings: Mapping[str, Any]) -> str:
    """A JSON value as the text of a part; a number takes the unit given beside it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, Mapping):
        inner = {_key(str(key)): item for key, item in value.items()}
        key = next((key for key in ANSWER_KEYS if key in inner), None)
        return json.dumps(value) if key is None else _as_text(inner[key], {**siblings, **inner})
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if str(siblings.get("unit")).casefold() == "ratio":
        return f"{value} (ratio)"
    units = {key: siblings[key] for key in _SIBLINGS if isinstance(siblings.get(key), str)}
    return json.dumps({"answer": value, **units}, ensure_ascii=False) if units else str(value)


def _from_lines(names: Sequence[str], answer: str) -> dict[str, Field]:
    """The texts behind the names of the parts, up to the end of the line or the next name.

    Where the last lines are one for each part, they are the answer, and what a report says of the
    same words before them (`**Orders:** three were moved`) is no second one.
    """
    text = fold_width(answer)
    labels = {name: r"[\s_-]+".join(map(re.escape, _key(name).split())) for name in names}
    ordered = sorted(names, key=lambda name: -len(labels[name]))
    groups = "|".join(f"(?P<p{names.index(name)}>{labels[name]})" for name in ordered)
    pattern = re.compile(rf"(?<!\w)(?:{groups}){_BEFORE_VALUE}", re.I)
    text = _last_lines(text, pattern, len(names)) or text
    matches = list(pattern.finditer(text))
    texts: dict[str, list[str]] = {name: [] for name in names}
    for number, match in enumerate(matches):
        limit = matches[number + 1].start() if number + 1 < len(matches) else len(text)
        line_end = text.find("\n", match.end(), limit)
        value = text[match.end() : limit if line_end < 0 else line_end].strip(_AFTER_VALUE)
        name = next(name for name in names if match[f"p{names.index(name)}"] is not None)
        texts[name].append(f"{value} {match['unit']}" if match["unit"] else value)
    return {
        name: Field(given[-1] if given else None, len(set(given)) > 1)
        for name, given in texts.items()
    }


def _last_lines(text: str, pattern: re.Pattern[str], number: int) -> str:
    """The last lines that are not empty, if each begins with the name of another part.

    A further such line directly above them is a second value, not a report.
    """
    rows = [line if line.strip("`* \t\r") else "" for line in text.split("\n")]
    filled = [row for row, line in enumerate(rows) if line][-number:]
    starts = [pattern.match(rows[row].lstrip(_BEFORE_NAME)) for row in filled]
    named = {
        next(name for name, label in match.groupdict().items() if name != "unit" and label)
        for match in starts
        if match
    }
    if not len(filled) == number == len(named):
        return ""
    above = rows[filled[0] - 1] if filled[0] else ""
    is_alone = not pattern.match(above.lstrip(_BEFORE_NAME))
    return "\n".join(rows[row] for row in filled) if is_alone else ""


def compare(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """The verdict on the text given for one part.

    Never raises for any text; raises ValueError for a specification of an unknown type or with a
    gold value that is not of its type.
    """
    if spec.type == "number" and spec.unit is None and _asks_year(spec.value, question):
        return compare_date(spec, text, question)
    if spec.type not in _BY_TYPE:
        raise ValueError(f"unknown answer type {spec.type}; known: {', '.join(_BY_TYPE)}")
    return _BY_TYPE[spec.type](spec, text, question)


def _asks_year(value: str, question: str) -> bool:
    """Is the number a year that the question asks for? Then it is read as a date."""
    return len(value) == 4 and value.isdecimal() and _YEAR_ASKED.search(question) is not None


_BY_TYPE: dict[str, Callable[[AnswerSpec, str, str], Verdict]] = {
    "number": compare_number,
    "text": compare_text,
    "boolean": compare_boolean,
    "date": compare_date,
    "list": compare_list,
}
