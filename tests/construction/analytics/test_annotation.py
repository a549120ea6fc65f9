"""Annotation by consensus: what agrees, what goes to people, and which rounds are kept."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from construction.analytics.annotation import EXECUTOR, Consented, Subject, _read_rounds, annotate
from construction.analytics.answers import program_of_steps
from construction.analytics.steps import Statistic
from construction.analytics.task_files import candidate_of
from construction.judging.consensus import ConsensusConfig
from construction.judging.contracts import Asker
from tests.construction.analytics.test_make import minted
from tests.construction.analytics.world import bench, declaration
from tests.construction.judging.model.fakes import Scripted

CONFIG = ConsensusConfig(annotators=(EXECUTOR, "model"), max_rounds=2)


@lru_cache(maxsize=1)
def subjects() -> tuple[Subject, ...]:
    answered = (task for task in minted().tasks if [p.part for p in task.parts] == ["value"])
    tasks = [task for task in answered if isinstance(task.program[0], Statistic)][:4]
    candidates = [candidate_of(task, declaration(), (), str) for task in tasks]
    return tuple(Subject(task, declaration(), bench().tables) for task in candidates)


def own_steps(subject: Subject) -> dict[str, Any]:
    program, parts = program_of_steps(subject.candidate.steps)
    return {
        "steps": [step.model_dump(mode="json") for step in program],
        "answers": [{"part": p.part, "step": p.step, "column": p.column} for p in parts],
    }


def model_with(programmes: dict[str, Any]) -> Scripted:
    """A model that writes the given programmes, by task id, and nothing usable for other tasks."""
    return Scripted(lambda q: {"programme": json.dumps(programmes.get(q.item_id, {}))})


def held(
    folder: Path,
    model: Scripted,
    release: str = "first",
    decided: dict[str, str | None] | None = None,
) -> Consented:
    def open_model(_name: str) -> AbstractContextManager[Asker]:
        return nullcontext(model)

    return annotate(folder, release, subjects(), decided or {}, CONFIG, open_model)


def ids() -> list[str]:
    return [subject.candidate.task_id for subject in subjects()]


def test_a_model_whose_own_steps_give_the_gold_agrees(tmp_path: Path) -> None:
    model = model_with({s.candidate.task_id: own_steps(s) for s in subjects()})
    consented = held(tmp_path, model)
    assert {item.item_id for item in consented.routed.admitted} == set(ids())
    assert consented.disputed == []
    assert len(_read_rounds(tmp_path)) == len(ids())


def test_what_is_not_unanimous_goes_to_people_without_the_others_answers(tmp_path: Path) -> None:
    good, *others = subjects()
    wrong = own_steps(good)
    programmes: dict[str, Any] = {good.candidate.task_id: own_steps(good)}
    unlike: list[Any] = [
        {"steps": wrong["steps"], "answers": [{"part": "value", "step": 1}]},
        {"steps": [{"op": "shell", "source": "rm"}], "answers": []},
        "no object",
    ]
    for subject, programme in zip(others, unlike, strict=True):
        programmes[subject.candidate.task_id] = programme
    consented = held(tmp_path, model_with(programmes))
    assert [item.item_id for item in consented.routed.admitted] == [good.candidate.task_id]
    waiting = {subject.candidate.task_id for subject in others}
    assert {item.item_id for item in consented.disputed} == waiting
    assert all(item.answers == {} for item in consented.disputed)
    reasons = sorted(str(row.reason) for row in consented.routed.ledger if row.reason)
    assert reasons == ["consensus.disputed", "consensus.too_few", "consensus.too_few"]


def test_a_person_who_finds_the_gold_admits_and_another_answer_rejects(tmp_path: Path) -> None:
    first, second, third, _ = subjects()
    decided: dict[str, str | None] = {
        first.candidate.task_id: first.gold,
        second.candidate.task_id: "123456.789",
        third.candidate.task_id: None,
    }
    consented = held(tmp_path, model_with({}), decided=decided)
    assert [item.item_id for item in consented.routed.admitted] == [first.candidate.task_id]
    reasons = {row.item_id: str(row.reason) for row in consented.routed.ledger if row.reason}
    assert reasons[second.candidate.task_id] == "consensus.reviewed_out"
    assert reasons[third.candidate.task_id] == "consensus.reviewed_out"


def test_a_release_built_again_asks_nobody_and_the_next_one_asks_once_more(
    tmp_path: Path,
) -> None:
    silent = model_with({})
    held(tmp_path, silent)
    again = model_with({})
    held(tmp_path, again)
    assert again.asked == []
    late = model_with({s.candidate.task_id: own_steps(s) for s in subjects()})
    consented = held(tmp_path, late, release="second")
    assert sorted(q.item_id for q in late.asked) == sorted(ids())
    assert len(consented.routed.admitted) == len(ids())
    assert {item.round for item in consented.routed.admitted} == {2}
    built_again = held(tmp_path, model_with({}), release="first")
    assert not built_again.routed.admitted


@pytest.mark.parametrize("text", ["{", '{"release": "x"}'])
def test_a_broken_log_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "analytics-rounds.jsonl").write_text(text + "\n")
    with pytest.raises(Exception, match=r"analytics-rounds\.jsonl:1"):
        _read_rounds(tmp_path)
