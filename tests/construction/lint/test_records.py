"""Made-up records of the published form, each with the faults that it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.lint.findings import rows_of
from construction.lint.records import _lint_records
from data.errors import InputError

GOOD: dict[str, Any] = {
    "id": "r1",
    "question": "What was the total revenue of steel firms in Corlund in 2020, in million yuan?",
    "guidelines": "Answer with a number in million yuan, rounded to 2 decimal places.",
    "answer": "1520.25",
    "metadata": {"db": "demo", "level": "easy", "category": "Enterprise–Industry"},
    "steps": [
        "Find the steel firms in Corlund: company list.",
        "Add up their revenue of 2020 to the total revenue.",
    ],
    "steps_num": 2,
    "milestone": {"company_list": 14, "total_revenue": 1520.25},
}
GOOD_ZH: dict[str, Any] = {
    "id": "r2",
    "question": "2020年科伦德省钢铁企业的营业收入总额是多少亿元？",
    "guidelines": "请回答一个数值，保留两位小数。",
    "answer": 15.2,
    "metadata": {"level": "easy", "category": "enterprise_industry"},
    "steps": ["找出科伦德省的钢铁企业数量", "汇总2020年营业收入总额"],
    "steps_num": 2,
    "milestone": {"企业数量": 14, "营业收入总额": 15.2},
}


def other(**changes: Any) -> dict[str, Any]:
    return {**GOOD, **changes}


YES_NO = "Answer yes or no."
CASES: list[tuple[dict[str, Any], set[str]]] = [
    (GOOD, set()),
    (GOOD_ZH, set()),
    (other(answer="yes", guidelines=YES_NO), set()),
    (other(answer="否", guidelines="请回答“是”或“否”。"), set()),
    (other(answer=["Corlund", "Isdal"], guidelines="Give a list of names."), set()),
    (other(answer=["yes", 3], guidelines="Give yes or no, then a number."), set()),
    (
        other(
            answer=0.42,
            question="What is the correlation of income and output?",
            guidelines="Round to two decimals.",
        ),
        set(),
    ),
    (other(question="How many companies in Corlund had a higher revenue?", answer=12), set()),
    (other(answer="Isdal Province", guidelines=YES_NO), {"answer.type"}),
    (other(answer="广东省", guidelines="请回答“是”或“否”。"), {"answer.type"}),
    (other(answer="1", guidelines="Respond with 'Yes' or 'No' only."), {"answer.type"}),
    (other(answer="Corlund"), {"answer.type"}),
    (other(answer="Corlund", guidelines="Answer with an integer."), {"answer.type"}),
    (other(answer="北京市", guidelines="请回答一个数值，保留两位小数。"), {"answer.type"}),
    (other(answer="Corlund", guidelines="Give a list of names."), {"answer.type"}),
    (other(answer=["Corlund"], guidelines=YES_NO), {"answer.type"}),
    (
        other(answer=["Corlund", 12.5], guidelines="Give a value in %, with one decimal."),
        {"answer.type"},
    ),
    (other(answer=[3, 4], guidelines="Give two integers, the larger one first."), set()),
    (other(answer=["Corlund", 1.5], guidelines="Give the name, then a number in %."), set()),
    (
        other(
            question="What was the total revenue of steel firms in Corlund in 2020?",
            guidelines="A number with 2 decimals; do not write any unit or sign.",
        ),
        {"answer.unit_missing"},
    ),
    (
        {
            **GOOD_ZH,
            "question": "2020年科伦德省钢铁企业的营业收入总额是多少？",
            "guidelines": "请回答一个数值，保留两位小数，不带单位。",
        },
        {"answer.unit_missing"},
    ),
    (other(milestone={"export_quota": 77}), {"milestone.not_in_steps"}),
    (other(milestone={"total_revenue": 1, "carbon price": 9}), {"milestone.not_in_steps"}),
    ({**GOOD_ZH, "milestone": {"专利授权": 9}}, {"milestone.not_in_steps"}),
    (other(milestone={"total_revenue": ""}), {"milestone.empty"}),
    (other(answer=""), {"answer.empty"}),
    (other(answer=None), {"answer.empty"}),
    (other(answer="nan"), {"answer.empty"}),
    (other(answer=[]), {"answer.empty"}),
    (other(answer=["Corlund", ""], guidelines="Give a list."), {"answer.empty"}),
    (
        other(
            question="What was the total revenue of steel companies in Corlund in 2020?",
            guidelines="Answer with a number, rounded to 2 decimal places.",
        ),
        {"answer.unit_missing"},
    ),
    (
        other(
            question="What were the total assets of Arvik Works in 2020?",
            guidelines="Round to 2 decimals.",
        ),
        {"answer.unit_missing"},
    ),
    (
        {**GOOD_ZH, "question": "2020年科伦德省钢铁企业的营业收入总额是多少？"},
        {"answer.unit_missing"},
    ),
    (other(answer="1520.253"), {"answer.decimals"}),
    (other(steps_num=3), {"steps.number"}),
    (other(metadata={"level": "hard", "category": "enterprise_industry"}), {"difficulty.level"}),
    (
        other(
            question="Was the revenue 1520.25 million yuan?",
        ),
        {"answer.in_prompt"},
    ),
    ({"id": "r9", "question": "What?", "guidelines": "", "answer": "x"}, {"record.no_field"}),
    (other(question=5, milestone=[1]), {"record.field_type"}),
    (other(steps="x", milestone={}), {"record.field_type"}),
    (other(guidelines="A number with " + "9" * 5000 + " decimals."), set()),
]


@pytest.mark.parametrize(("record", "faults"), CASES)
def test_exactly_the_faults_of_a_record_are_listed(
    record: dict[str, Any], faults: set[str]
) -> None:
    assert {str(finding.code) for finding in _lint_records([record])} == faults


def test_repeated_ids_and_what_is_no_record_are_listed() -> None:
    findings = _lint_records([GOOD, GOOD, 7])
    assert [(item.task, str(item.code)) for item in findings] == [
        ("r1", "record.repeated_id"),
        ("#3", "record.no_field"),
    ]


def test_files_are_arrays_or_lines(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text('[{"id": 1}, {"id": 2}]')
    assert len(rows_of(path)) == 2
    path.write_text('{"id": 1}\n\n{"id": 2}\n')
    assert len(rows_of(path)) == 2
    path.write_text('{"tasks": [{"id": 1}, {"id": 2}]}')
    assert len(rows_of(path)) == 2
    path.write_text('{"a": {"question": "?"}, "b": {"question": "!"}}')
    assert [row["id"] for row in rows_of(path)] == ["a", "b"]
    path.write_text('{"id": 1}\nno\n')
    with pytest.raises(InputError, match=r"records.json:2: found invalid JSON"):
        rows_of(path)


@pytest.mark.parametrize("field", ["answer", "milestone"])
def test_records_that_are_nested_deep_are_named(tmp_path: Path, field: str) -> None:
    path = tmp_path / "records.json"
    deep = '{"a":' * 1000 + "1" + "}" * 1000
    path.write_text(f'[{{"id": "x", "{field}": {deep}}}]')
    assert [str(item.code) for item in _lint_records(rows_of(path))] == ["record.too_deep"]


def test_a_wrong_line_of_an_array_is_named(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_bytes(b'\xef\xbb\xbf[\n {"id": 1},\n {"id": NaN}\n]')
    with pytest.raises(InputError, match=r"records.json:3: found invalid JSON at character \d+"):
        rows_of(path)
    path.write_bytes(b'\xef\xbb\xbf[\n {"id": 1}]')
    assert len(rows_of(path)) == 1
    path.write_bytes(b" \n")
    with pytest.raises(InputError, match="found an empty file"):
        rows_of(path)
