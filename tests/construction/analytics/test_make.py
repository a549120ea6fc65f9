"""The lane as a whole: quotas, the ledger, determinism, and golds that the common graders take."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import lru_cache

import pytest

from construction.analytics.ablation import outcome
from construction.analytics.answers import (
    _rounded,
    guideline_faults,
    program_of_steps,
    reference_steps,
)
from construction.analytics.config import AnalyticsRecipe
from construction.analytics.contracts import Category
from construction.analytics.environment.declaration import Noise
from construction.analytics.make import Minted, mint
from construction.analytics.steps import Operation, operation_of
from construction.analytics.task_files import answer_text, candidate_of, prompt_of
from construction.analytics.templates import read_templates
from construction.grading.answers.parts import grade_answers
from construction.grading.grade import _inferred
from construction.grading.spec import spec_of
from data.contracts import Outcome
from data.errors import ConfigError
from tests.construction.analytics.world import bench, declaration


@lru_cache(maxsize=1)
def minted() -> Minted:
    return mint(bench(), read_templates(), 0)


def test_quotas_are_kept_and_every_candidate_has_one_outcome() -> None:
    made = minted()
    quotas = {
        f"{category}/{level}": n
        for category, levels in declaration().quotas.items()
        for level, n in levels.items()
    }
    counts = Counter(f"{task.category}/{task.difficulty}" for task in made.tasks)
    assert all(counts[stratum] <= n for stratum, n in quotas.items())
    assert len(made.tasks) >= 20
    assert len({row.item_id for row in made.ledger}) == len(made.ledger) == made.tally.n_in
    assert made.tally.counts[Outcome.KEPT] == len(made.tasks)
    assert {row.reason is None for row in made.ledger if row.outcome is Outcome.KEPT} == {True}


def test_the_quota_of_noise_turns_tasks_away_and_says_whether_it_was_reached() -> None:
    plain, recipe = minted(), AnalyticsRecipe(noise={Noise.MISSING: 0.4})
    few = declaration().limits.model_copy(update={"tries": 1})  # what is refused is drawn anew
    quotas = {Category.ENTERPRISE_INDUSTRY: {"easy": 5, "medium": 5}}
    declared = declaration().model_copy(update={"limits": few, "quotas": quotas})
    templates = [t for t in read_templates() if t.category in quotas][:5]
    limited = mint(replace(bench(), declaration=declared), templates, 0, recipe=recipe)
    had, has = (sum("missing" in task.noise for task in made.tasks) for made in (plain, limited))
    assert had < 0.4 * len(plain.tasks)
    assert any(row.reason == "noise.too_little" for row in limited.ledger)
    # Tasks without it never take more than the rest of the set would leave.
    assert len(limited.tasks) - has == int(0.6 * 10)
    assert limited.quota.is_reached == (has >= 0.4 * len(limited.tasks))
    assert limited.quota.report()["missing"]["wanted"] == 0.4


def test_no_template_makes_more_than_its_share() -> None:
    made = Counter(task.template for task in minted().tasks)
    several = {name for name, n in made.items() if n > 1}
    assert several
    templates = [template for template in read_templates() if template.name in several][:3]
    limited = mint(bench(), templates, 0, recipe=AnalyticsRecipe(per_template=1))
    assert Counter(task.template for task in limited.tasks) == {t.name: 1 for t in templates}


def test_the_same_seed_gives_the_same_tasks_and_another_gives_others() -> None:
    few = read_templates()[:3]
    made, again, other = (mint(bench(), few, seed) for seed in (0, 0, 1))
    assert made.tasks
    assert again.tasks == made.tasks
    assert {task.task_id for task in other.tasks} != {task.task_id for task in made.tasks}


def test_every_gold_is_right_for_the_common_grader_and_wrong_if_changed() -> None:
    for task in minted().tasks:
        candidate = candidate_of(task, declaration(), (), str)
        spec = spec_of(candidate.model_dump(mode="json"))
        gold = {answer.part: answer.value for answer in task.answers}
        sole = next(iter(gold.values()))
        answer = sole if len(gold) == 1 else json.dumps(gold, ensure_ascii=False)
        parts = grade_answers(spec, answer)
        assert [part.value for part in parts] == [1.0] * len(gold), (prompt_of(task), answer, parts)
        changed = dict.fromkeys(gold, "12345.678")
        wrong = changed["value"] if list(gold) == ["value"] else json.dumps(changed)
        assert not any(part.value for part in grade_answers(spec, wrong))


def test_guidelines_fit_the_answers() -> None:
    for task in minted().tasks:
        faults = guideline_faults(
            declaration(), task.guidelines, task.parts, task.answers, task.program, task.language
        )
        assert faults == []


def test_steps_and_milestones_hang_together() -> None:
    for task in minted().tasks:
        steps = reference_steps(task.program, task.parts)
        assert program_of_steps(steps)[1] == task.parts
        assert outcome(program_of_steps(steps)[0], task.parts, bench().tables) == tuple(
            answer.value for answer in task.answers
        )
        names = {milestone.name for milestone in task.milestones}
        assert task.milestones
        assert {m.step for m in task.milestones} <= {step.index for step in steps}
        assert all(set(milestone.implies) <= names for milestone in task.milestones)
        assert {operation_of(step) for step in task.program} <= set(Operation)
        spec = spec_of(candidate_of(task, declaration(), (), str).model_dump(mode="json"))
        last = task.milestones[-1]
        assert set(_inferred(spec, {last.name: 3})) == {last.name, *last.implies}


def test_a_prompt_holds_no_placeholder_and_no_gold_number() -> None:
    for task in minted().tasks:
        prompt = prompt_of(task)
        assert "{" not in prompt
        for answer in task.answers:
            if answer.type == "number":
                assert f" {answer.value} " not in prompt


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (2.5, 0, "3"),
        (-2.5, 0, "-3"),
        (1.005, 2, "1.01"),
        (-0.001, 2, "0.00"),
        (0.1 + 0.2, 1, "0.3"),
        (1234567.5, 0, "1234568"),
    ],
)
def test_halves_are_rounded_up(value: float, decimals: int, expected: str) -> None:
    assert _rounded(value, decimals) == expected


def test_a_word_that_a_template_needs_is_named() -> None:
    template = next(t for t in read_templates() if t.name == "ratio_by_place")
    more = template.model_copy(update={"en": ("Which {w.harbours} have the highest ratios?",)})
    with pytest.raises(ConfigError, match=r"words: found no harbours; .* Add \[words\.harbours\]"):
        mint(bench(), [more], 0)


def test_numbers_in_a_json_answer_are_numbers_with_their_decimals() -> None:
    written = ["Käll", "0.38880", "yes", '["a", "b"]']
    text = answer_text(["name", "value", "fits", "names"], written, [False, True, False, False])
    assert '"value": 0.38880,' in text
    expected = {"name": "Käll", "value": 0.3888, "fits": "yes", "names": ["a", "b"]}
    assert json.loads(text) == expected


def test_no_template_asks_for_the_name_at_a_drawn_rank() -> None:
    for template in read_templates():
        for answer in template.answers:
            step = template.steps[int(answer["step"]) - 1]
            ranks = [c["value"] for c in step.get("where", ()) if c["column"] == "rank"]
            assert answer["kind"] != "entity" or ranks in ([], [1]), template.name
