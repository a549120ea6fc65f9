"""One part of an answer compared with its gold value, by type.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

from collections.abc import Callable

from construction.grading.answer_booleans import compare_boolean
from construction.grading.answer_lists import compare_list
from construction.grading.answer_numbers import compare_number
from construction.grading.answer_reasons import Verdict
from construction.grading.answer_words import compare_date, compare_text
from construction.grading.spec import AnswerSpec


def compare(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """The verdict on the text given for one part.

    Never raises for any text; raises ValueError for a specification of an unknown type or with a
    gold value that is not of its type.
    """
    if spec.type not in _BY_TYPE:
        raise ValueError(f"unknown answer type {spec.type}; known: {', '.join(_BY_TYPE)}")
    return _BY_TYPE[spec.type](spec, text, question)


_BY_TYPE: dict[str, Callable[[AnswerSpec, str, str], Verdict]] = {
    "number": compare_number,
    "text": compare_text,
    "boolean": compare_boolean,
    "date": compare_date,
    "list": compare_list,
}
