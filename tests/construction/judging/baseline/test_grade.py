"""Hard rules from plain names, and the rubric that needs a model."""

from __future__ import annotations

from math import fsum

import pytest

from construction.judging.baseline.grade import grade
from construction.judging.evidence.views import Column, FileView, Part, Sheet
from tests.construction.judging.cases import case


def rules_of(*texts: str, files: tuple[str, ...] = ("tides.csv",)) -> dict[str, dict[str, object]]:
    return {rule.rule_id: rule.params for rule in grade(case(*texts, files=files)).rules}


def test_the_rubric_has_all_dimensions_and_needs_a_model() -> None:
    rubric = grade(
        case("Put the highest tides of tides.csv into high.md", files=["tides.csv"])
    ).rubric
    assert rubric.needs_model
    assert [criterion.dimension for criterion in rubric.criteria] == [
        "grounded_accuracy",
        "task_relevance",
        "substantive_depth",
        "practical_utility",
        "communication_quality",
    ]
    assert fsum(criterion.weight for criterion in rubric.criteria) == 1
    chinese = grade(case("把tides.csv的最高潮位写到high.md", files=["tides.csv"])).rubric
    assert chinese.criteria[0].text == "所有数字、名称和日期都与输入文件和任务一致。"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Write high.csv with the columns `month`, `height` and `time`",
            ["month", "height", "time"],
        ),
        ("输出high.csv，列名为“月份”、“高度”", ["月份", "高度"]),
        # A row, a sheet, two lists, a column without quotes: any of them may be something else.
        ("Write high.csv with a row `Total`", None),
        ("Write high.csv and a sheet with columns `a` for boats, and columns `b` for tides", None),
        ("Write high.csv with columns month and height", None),
        ("Write high.md with the columns `month`, `height`", None),
    ],
)
def test_columns_are_only_those_listed_in_quotes(text: str, names: list[str] | None) -> None:
    rules = rules_of(text)
    assert (rules["columns.csv"]["names"] if "columns.csv" in rules else None) == names


def test_named_files_and_words_of_task_and_inputs() -> None:
    view = FileView(
        path="tides.csv",
        bytes=9,
        media_type="text/csv",
        kind="text",
        parts=(Part(where="lines 1–2", text="harbour Lydmarsh springtide"),),
    )
    named_case = case("Put the highest values of tides.csv into high.md", files=["tides.csv"])
    shown = named_case.evidence.model_copy(update={"files": (view,)})
    rules = {
        r.rule_id: r.params for r in grade(named_case.model_copy(update={"evidence": shown})).rules
    }
    assert rules["named.md"]["names"] == ["high.md"]
    assert {"harbour", "lydmarsh", "springtide", "highest"} <= set(rules["mentions.md"]["terms"])


def test_without_words_no_word_is_asked_for() -> None:
    """Short answers are answers: neither a length nor a word is."""
    rules = rules_of("Do it as a b c d", files=())
    assert not {"length.md", "mentions.md"} & rules.keys()


@pytest.mark.parametrize("kind", ["picture", "pdf", "binary", "unreadable"])
def test_what_only_a_picture_says_is_known_to_no_rule(kind: str) -> None:
    """Who reads the sign on a photo writes words that stand in no file and no request."""
    seen = FileView(path="sign.png", bytes=9, media_type="image/png", kind=kind, note="PNG, 9×9")
    text = seen.model_copy(update={"kind": "text", "parts": (Part(where="line 1", text="Exit"),)})
    item = case("Write what the panel beside the gate says into words.md", files=["sign.png"])
    for view, is_ruled in ((seen, False), (text, True)):
        own = item.evidence.model_copy(update={"files": (view,)})
        rules = {rule.kind for rule in grade(item.model_copy(update={"evidence": own})).rules}
        assert ("mentions" in rules) is is_ruled


def test_columns_that_an_input_has_may_be_the_ones_that_go() -> None:
    column = Column(name="Height", type="number")
    table = Sheet(name="", columns=(column,), head=(("Height",), ("3.1",)), rows=1, last_row=2)
    view = FileView(path="tides.csv", bytes=9, media_type="text/csv", kind="table", sheets=(table,))
    for text, is_ruled in (
        ("Write high.csv without the columns `height`, `time`", False),
        ("Write high.csv with the columns `month`, `depth`", True),
    ):
        item = case(text, files=["tides.csv"])
        own = item.evidence.model_copy(update={"files": (view,)})
        rules = {rule.kind for rule in grade(item.model_copy(update={"evidence": own})).rules}
        assert ("columns" in rules) is is_ruled
