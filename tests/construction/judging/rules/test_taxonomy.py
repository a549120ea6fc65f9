"""Roles, skills and business tasks by words; and the tables that hold the words."""

from __future__ import annotations

import pytest

from construction.judging.contracts import UNASSIGNED, RoleClass
from construction.judging.lexicon import table
from construction.judging.rules.labels import (
    TaxonomyConfig,
    guess_role,
    role_of,
    skill_definition,
    skill_name,
    skill_of,
)
from construction.judging.rules.taxonomy import business_task, judge_taxonomies
from construction.signals.config import SignalsConfig
from data.contracts import Label, TaskClass
from tests.construction.judging.rules.cases import case

CONFIG = TaxonomyConfig()


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Turn the backlog into user stories with acceptance criteria", "product_project_delivery"),
        ("把访谈整理成需求说明，列出里程碑", "product_project_delivery"),
        ("Find the bug in the login function and add unit tests", "engineering_it"),
        ("排查服务器日志里的报错，写出根因", "engineering_it"),
        ("Write a job advert for two nurses and an onboarding plan", "hr_admin"),
        ("给新员工写一份入职培训通知", "hr_admin"),
        ("Draft the CEO's speech for the board meeting", "executive"),
        ("给总经理写一份战略汇报，供董事会决策", "executive"),
        ("Answer this customer complaint about a late refund", "sales_customer"),
        ("给客户做一份报价单", "sales_customer"),
        ("Plan a social media campaign for our new brand", "marketing"),
        ("写一篇公众号推文，推广新品牌", "marketing"),
        ("Reconcile supplier invoices with the bank statement", "finance_operations"),
        ("核对发票和付款，列出逾期的应收", "finance_operations"),
    ],
)
def test_the_role_is_whose_work_is_asked_for(text: str, role: str) -> None:
    actual = role_of(case(text), CONFIG)
    assert actual.value == role
    assert actual.judge == "rules"
    assert actual.confidence >= 0.5
    assert actual.reason


@pytest.mark.parametrize(
    "text",
    [
        "Zzz qqq",
        "Swap the columns of Alice and Bob in the score excel file",
        "Play one move on this board: it is Black's turn",
        "Set the margin-left of the second box to 4px",
        "Find the mails of Rose and save them as a pdf file",
    ],
)
def test_a_role_that_would_be_a_guess_is_unassigned(text: str) -> None:
    actual = role_of(case(text), CONFIG)
    assert actual.value == UNASSIGNED
    assert actual.confidence < CONFIG.least_confidence
    skill, route = skill_of(case(text), actual.value, CONFIG)
    assert (skill.value, skill.confidence) == (UNASSIGNED, 0.0)
    assert "→" in route.value


def test_a_guess_is_made_where_no_role_is_assigned() -> None:
    few = case("Save the students of Rose as a pdf file")
    assert role_of(few, CONFIG).value == UNASSIGNED
    assert role_of(few, CONFIG).reason == "too few words for hr_admin: students"
    assert guess_role(few, CONFIG).value == "hr_admin"


def test_a_role_is_guessed_from_what_else_was_said_and_is_never_assigned_by_it() -> None:
    """A request without a word of any role: the reply tells it, and without one the fallback."""
    silent = case("Zzz qqq")
    replied = silent.model_copy(update={"reply": "The invoices are reconciled with the bank."})
    assert guess_role(replied, CONFIG).value == "finance_operations"
    assert guess_role(silent, CONFIG).value == "engineering_it"
    for said in (silent, replied):
        assert guess_role(said, CONFIG).confidence == 0
        assert role_of(said, TaxonomyConfig(least_confidence=0.0)).value == UNASSIGNED


def test_a_word_says_less_of_a_longer_request() -> None:
    short, long = (
        role_of(case(f"Check the budget.{more}"), CONFIG) for more in ("", " Go on." * 600)
    )
    assert short.value == "finance_operations"
    assert long.value == UNASSIGNED
    assert "finance_operations" in long.reason


def test_types_and_folders_of_files_say_nothing_unless_they_are_code() -> None:
    assert role_of(case("Look into budget/board-1.json"), CONFIG).value == UNASSIGNED
    assert role_of(case("Look into shapes/area.py"), CONFIG).value == "engineering_it"


@pytest.mark.parametrize(
    "text",
    [
        "Audit this smart contract, a Solidity script, for bugs and refactor the code",
        "Fix the bug in the css: padding and margin of the code blocks",
    ],
)
def test_a_skill_is_one_of_the_role(text: str) -> None:
    role = role_of(case(text), CONFIG)
    skill, _ = skill_of(case(text), role.value, CONFIG)
    assert role.value == "engineering_it"
    assert skill.value.startswith("engineering_it.") or skill.value == UNASSIGNED


@pytest.mark.parametrize(
    ("text", "skill"),
    [
        ("Prepare a quotation from the price list", "sales_customer.quotation"),
        ("Write release notes from the changes", "product_project_delivery.release_notes"),
        ("按岗位职责写一份招聘启事", "hr_admin.job_advert"),
        ("做一张固定资产折旧表", "finance_operations.accounting_schedule"),
        ("Zzz qqq", UNASSIGNED),
    ],
)
def test_skill_and_route(text: str, skill: str) -> None:
    (actual,) = judge_taxonomies([case(text)], CONFIG, {})
    assert actual.skill_subclass.value == skill
    assert "→" in actual.skill_route.value
    assert actual.skill_route.confidence == actual.skill_subclass.confidence


def test_class_and_family_are_taken_over() -> None:
    given = TaskClass(
        big_class="marketing", subclass_id="m", name="n", definition="d", confidence=1, reason="r"
    )
    family = Label(value="translation", confidence=1.0, reason="given by the lane")
    item = case("Translate the flyer into English", task_id="task")
    candidate = item.candidate.model_copy(update={"task_family": family})
    known = item.model_copy(update={"candidate": candidate})
    (actual,) = judge_taxonomies([known], CONFIG, {"task": given}, SignalsConfig())
    assert (actual.task_class, actual.task_family) == (given, family)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Write a memo on parking: who, when, where.", "Memo on parking"),
        ("Can you total our travel costs by department?", "Total our travel costs by department"),
        ("Condense the memo in inputs/a.pdf into one page.", "Condense the memo into one page"),
        ("您好，请把“inputs/差旅.csv”里的差旅费按部门汇总。", "差旅费按部门汇总"),
        ("按“inputs/要点.md”里的要点写一份招聘启事。", "按要点写一份招聘启事"),
        ("给`inputs/a.json`里的返回值写接口文档：字段、类型。", "给返回值写接口文档"),
        ("把附件里的第一个文件里的访谈笔记整理成需求说明。", "访谈笔记整理成需求说明"),
        ("看「inputs/反馈.csv」里慧仓的反馈，按客户数给问题排序。", "按客户数给问题排序"),
        ("三家报价不同币种，帮我折成人民币比一下单价。汇率按7.2算。", "折成人民币比一下单价"),
        ("Thanks!", ""),
    ],
)
def test_the_business_task_is_a_short_phrase(text: str, phrase: str) -> None:
    assert business_task(text) == phrase


def test_the_tables_are_complete() -> None:
    roles, skills = table("roles"), table("skills")
    assert set(roles) == set(skills) == set(RoleClass)
    count = 0
    for role in RoleClass:
        entry = roles[role]
        assert {"name", "definition", "strong", "usual", "weak"} == set(entry)
        for skill, result in skills[role].items():
            count += 1
            assert set(result) == {"name", "definition", "route", "words"}
            assert skill_name(f"{role}.{skill}") == result["name"]
            assert skill_definition(f"{role}.{skill}") == result["definition"]
    assert 40 <= count <= 60
    words = [word for role in roles.values() for key in ("strong", "usual") for word in role[key]]
    assert all(word == word.lower() and "'" not in word for word in words)
