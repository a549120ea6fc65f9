"""Level `strict`: Chinese and Japanese names by what stands beside them."""

from __future__ import annotations

import pytest

from anonymization.text.detect.eastern_names import find_eastern_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("黄鹂计划交接", ["黄鹂"]),
        ("年度工作计划的进展", []),
        ("案件-朧月の件", ["朧月の件"]),
        ("位于松风里创意园", ["松风里"]),
        ("女将 千づ\n", ["千づ"]),
        ("お連れ様まっくん", ["まっ"]),
        ("たくさんの資料", []),
        ("稽古は雲雀座で", ["雲雀"]),
        ("口座の残高", []),
        ("M.K. agreed, the U.S. did not", ["M.K."]),
    ],
)
def test_names_by_what_stands_beside_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in find_eastern_names(text)] == expected


def test_who_speaks_in_a_talk_without_times() -> None:
    text = "鹏：到了吗\n3单元-502何：还没\n鹏：好\n时间：三点\n3单元-502何：行\n"
    spoken = [text[start:end] for start, end, _ in find_eastern_names(text)]
    assert spoken == ["鹏", "3单元-502何", "鹏", "3单元-502何"]


def test_a_form_is_no_talk() -> None:
    text = "日期：三月\n地点：大厅\n内容：布置\n日期：四月\n"
    assert list(find_eastern_names(text)) == []
