"""Labels by words, with a threshold."""

from __future__ import annotations

import pytest

from construction.judging.baseline.label import _business_task, label, skill_table
from construction.judging.contracts import UNASSIGNED, RoleClass
from tests.construction.judging.cases import case


@pytest.mark.parametrize(
    ("text", "role", "skill"),
    [
        ("Write a Python script that renames the scans", "engineering_it", "write_script"),
        ("Write the release notes from the changelog", "product_project_delivery", "release_notes"),
        ("把会议记录整理成会议纪要，列出行动项", "product_project_delivery", "meeting_record"),
    ],
)
def test_words_of_a_role_and_of_a_skill(text: str, role: str, skill: str) -> None:
    taxonomy = label(case(text))
    assert (taxonomy.role.value, taxonomy.skill_subclass.value) == (role, f"{role}.{skill}")
    assert taxonomy.role.confidence >= 0.5
    assert taxonomy.skill_route.value == skill_table()[f"{role}.{skill}"]["route"]


@pytest.mark.parametrize("text", ["Do what the file says", "照文件里说的做"])
def test_a_guess_is_not_assigned(text: str) -> None:
    taxonomy = label(case(text, files=["x.txt"]))
    assert (taxonomy.role.value, taxonomy.skill_subclass.value) == (UNASSIGNED, UNASSIGNED)


def test_a_word_says_less_of_a_longer_request() -> None:
    short = label(case("Plan the sprint")).role
    long = label(case("Plan the sprint " + "of the boats in the harbour " * 60)).role
    assert short.confidence > long.confidence
    assert long.value == UNASSIGNED


@pytest.mark.parametrize(
    ("request_text", "phrase"),
    [
        ("Sort inputs/boats.csv by length. Keep the header.", "Sort … by length"),
        ("按长度给船排序。保留表头。", "按长度给船排序"),
        ("a.csv", ""),
    ],
)
def test_the_business_task_is_the_beginning_of_the_request(request_text: str, phrase: str) -> None:
    assert _business_task(request_text) == phrase


def test_every_role_of_the_contract_has_words() -> None:
    assert {name.partition(".")[0] for name in skill_table()} == set(RoleClass)
