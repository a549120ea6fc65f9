"""Consensus in the lane: rounds by release, queue and decisions, a ledger that closes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from construction.judging.calls.contracts import CallReason, Question, Usage
from construction.judging.contracts import Judged
from construction.judging.model.asking import cost_rows
from construction.judging.review import Decision, Topic, read_items, record, recorded
from construction.judging.rounds import _Consented, _read_rounds, hold_consensus
from construction.judging.settings import Judges, ModelCalls, ModelConfig, ModelStage, client_config
from data.errors import ReleaseError
from data.run_store import RunStore
from flows.recipe import Settings
from flows.run import Run
from tests.construction.judging.model.answers import screened
from tests.construction.judging.model.fakes import Scripted, case

GOOD = case("Count the errors in gateway.csv.", {"gateway.csv": "a\n1\n"}, item_id="good")
PLAN = case("Write a plan for the move of the office in May, one page.", item_id="plan")
THANKS = case("Thank you so much, that was all!", item_id="thanks")
CASES = [GOOD, PLAN, THANKS]
REVIEW = "review"
DAYS = {"first": "2026-01-15", "second": "2026-02-15", "third": "2026-03-15"}


class Annotators:
    """Models: `m` accepts all but thanks, `n` takes the plan for too open until `gives_in`."""

    def __init__(self) -> None:
        self.gives_in = self.has_no_budget = False
        self.asked: list[tuple[str, str]] = []

    @contextmanager
    def open(self, judges: Judges, *, masked: bool) -> Iterator[Scripted]:
        name = judges.config.model.name
        assert masked

        def reply(question: Question) -> dict[str, Any] | CallReason:
            if self.has_no_budget and name == "n":
                return CallReason.BUDGET
            self.asked.append((name, question.item_id))
            stubborn = name == "n" and question.item_id == "plan" and not self.gives_in
            reason = "ambiguous_task" if stubborn else "self_contained"
            if question.item_id == "thanks":
                return screened(verdict="conversation_only", is_work=False, work_quote="Thank you")
            return screened(verdict=reason)

        yield Scripted(reply)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Annotators:
    models = Annotators()
    monkeypatch.setattr(Judges, "client", lambda judges, **how: models.open(judges, **how))
    return models


def route_at(out: Path, release: str, rounds: int = 3) -> _Consented:
    judging = {"consensus": {"annotators": ["m", "n"], "max_rounds": rounds}}
    values = {
        "judging": judging,
        "release": {"release_date": DAYS[release]},
        "runtime": {"out": str(out)},
    }
    settings = Settings.model_validate(values)
    run = Run(settings.recipe, settings.runtime, RunStore(out / "stages", "v"), b"k" * 32)
    return hold_consensus(run.judges, run.review, run.release, CASES, recorded(run.review))


def ledger_of(done: _Consented) -> list[tuple[str, str, str | None, str | None]]:
    return [(row.item_id, str(row.outcome), row.reason, row.stratum) for row in done.routed.ledger]


DISPUTED = ("plan", "rejected", "consensus.disputed", "round_1")
AGREED = [("good", "kept", None, "round_1"), ("thanks", "kept", None, "round_1")]


def test_unanimous_goes_on_and_the_rest_waits(models: Annotators, tmp_path: Path) -> None:
    done = route_at(tmp_path, "first")
    assert ledger_of(done) == [AGREED[0], DISPUTED, AGREED[1]]
    verdicts = {one.item_id: one.value for one in done.judged}
    assert verdicts.keys() == {"good", "thanks"}
    assert verdicts["thanks"] is not None and not verdicts["thanks"].self_contained
    assert done.judge == "consensus: model:m, model:n"
    (item,) = read_items(tmp_path / "private" / REVIEW)
    assert (item.item_id, item.answers["model:n"]) == ("plan", "ambiguous_task")
    assert sum(done.routed.tally.counts.values()) == len(CASES)


def test_built_again_a_release_holds_no_further_round(models: Annotators, tmp_path: Path) -> None:
    first = route_at(tmp_path, "first")
    models.asked.clear()
    again = route_at(tmp_path, "first")
    assert (again.inputs, ledger_of(again), models.asked) == (first.inputs, ledger_of(first), [])


def test_the_next_release_asks_about_what_waits(models: Annotators, tmp_path: Path) -> None:
    first = route_at(tmp_path, "first")
    models.asked.clear()
    models.gives_in = True
    second = route_at(tmp_path, "second")
    assert models.asked == [("m", "plan"), ("n", "plan")]
    assert ledger_of(second) == [AGREED[0], ("plan", "kept", None, "round_2"), AGREED[1]]
    assert read_items(tmp_path / "private" / REVIEW) == []
    assert route_at(tmp_path, "first").inputs == first.inputs != second.inputs


def test_after_so_many_rounds_a_case_is_given_up(models: Annotators, tmp_path: Path) -> None:
    for release in ("first", "second", "third"):
        done = route_at(tmp_path, release, rounds=2)
    assert ledger_of(done)[1] == ("plan", "rejected", "consensus.given_up", "round_2")
    assert [len(one.rounds) for one in _read_rounds(tmp_path / "private" / REVIEW)] == [3, 1, 0]
    assert [one.item_id for one in read_items(tmp_path / "private" / REVIEW)] == ["plan"]


def test_a_decision_endorses_and_nobody_is_asked_again(models: Annotators, tmp_path: Path) -> None:
    route_at(tmp_path, "first")
    models.asked.clear()
    decision = Decision(
        item_id="plan",
        topic=Topic.CONTAINMENT,
        decision="self_contained",
        reviewer="A. Reviewer",
        date=dt.date(2026, 1, 20),
    )
    record(tmp_path / "private" / REVIEW, [decision])
    done = route_at(tmp_path, "second")
    assert (ledger_of(done)[1], models.asked) == (("plan", "kept", None, "round_0"), [])
    verdict = {one.item_id: one.value for one in done.judged}["plan"]
    assert verdict is not None and verdict.self_contained


def test_rounds_are_written_when_all_have_answered(models: Annotators, tmp_path: Path) -> None:
    models.has_no_budget = True
    with pytest.raises(ReleaseError, match=r"call\.budget 3.*run it again"):
        route_at(tmp_path, "first")
    assert _read_rounds(tmp_path / "private" / REVIEW) == []
    models.has_no_budget = False
    route_at(tmp_path, "first")
    (line,) = _read_rounds(tmp_path / "private" / REVIEW)
    assert (line.release, len(line.rounds)) == ("benchmint-2026.01.15", 3)


def test_second_solutions_are_asked_of_the_model_that_grades_and_cost_apart() -> None:
    model = ModelConfig(name="small", models={ModelStage.GRADE: "large"})
    config = client_config(model, ModelCalls())
    assert (config.model_of("second"), config.model_of("write")) == ("large", "small")
    own = ModelConfig.model_validate({"name": "a", "models": {"grade": "b", "second": "c"}})
    apart = client_config(own, ModelCalls())
    assert [apart.model_of(name) for name in ("write", "grade", "mend", "second")] == list("abbc")
    (row,) = cost_rows(config, {"second": [Judged("t", "print()", usage=Usage(5, 3))]})
    assert (row["stage"], row["judge"], row["prompt_tokens"]) == ("second", "model:large", 5)
