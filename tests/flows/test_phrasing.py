"""Wording inside the questions lane: what is taken, what stands, costs, replies, and budgets."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from construction.judging.calls.contracts import Prices
from construction.judging.contracts import JudgeReason
from construction.judging.model.asking import model_costs, model_replies
from construction.judging.settings import ModelCalls, ModelConfig, ModelStage
from construction.statements.model import write_statements
from construction.statements.phrasing import REPORT, STAGE, ReleaseTerms, word_questions
from construction.statements.questions.contracts import Question, QuestionConfig
from construction.statements.questions.make import make_questions
from construction.statements.questions.output import numbers_of, store_questions, stored_questions
from data.errors import ReleaseError
from data.pool import read_pool
from flows.recipe import Recipe, Runtime
from flows.run import Run, open_run
from tests.construction.statements.questions.small import Book, drawn
from tests.flows.model_server import Served, lanes, model_server

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><path d="M1 1h9"/></svg>'


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with eight questions, their statements and their pages."""
    folder = tmp_path_factory.mktemp("asked")
    book = Book()
    points = []
    for number in range(8):
        firm = book.company(f"c{number}", f"Acme {'ABCDEFGH'[number]}-Tools Inc.")
        line = book.line(firm, "Income statement | Net sales")
        points.append(book.value(line, f"{number + 3}123000"))
    statements = book.close()
    questions = make_questions(drawn(*points), statements, QuestionConfig(), 7).questions
    assert len(questions) == 8
    store_questions(folder, questions)
    write_statements(folder / "tables", statements)
    (folder / "pages").mkdir()
    for number in numbers_of(questions, Recipe().release.seed).values():
        (folder / "pages" / f"{number:05}.svg").write_text(SVG)
    return folder


def run_in(out: Path, url: str = "", *, mode: str = "record", **result: Any) -> Run:
    """A run with the model at `url`; `told` are settings of the model, or the budget in tokens."""
    budget = result.pop("budget_tokens", None)
    model = {"name": "fake-1", **result} if url else {}
    calls = {"mode": mode, "budget_tokens": budget, "prices": Prices(prompt=1e4)}
    runtime = Runtime(out=out, quiet=True, model_calls=ModelCalls.model_validate(calls))
    if url:
        llm = runtime.llm.model_copy(update={"base_url": url, "attempts": 1})
        runtime = runtime.model_copy(update={"llm": llm})
    return open_run(Recipe.model_validate({"judging": {"model": model}}), runtime)


def phrased(run: Run, requests: Path) -> Path:
    out = Path(tempfile.mkdtemp(dir=run.runtime.out))
    terms = ReleaseTerms(partial(run.opaque, "q"), None, run.recipe.release.seed)
    share = run.recipe.questions.wording.round_share
    word_questions(requests, requests / "tables", share, run.judges, terms, out)
    return out


def texts(out: Path) -> list[str]:
    return pl.read_parquet(out / "public/questions.parquet")["question"].to_list()


def report(out: Path) -> dict[str, Any]:
    return dict(orjson.loads((out / REPORT).read_bytes()))


def test_questions_come_back_as_they_were(requests: Path) -> None:
    questions = stored_questions(requests)
    assert all(isinstance(one, Question) for one in questions)
    assert questions[0].gold.value == questions[0].gold.value.normalize()
    assert [one.point_id for one in questions] == sorted(one.point_id for one in questions)


def test_without_a_model_the_structured_words_stand(requests: Path, tmp_path: Path) -> None:
    made = phrased(run_in(tmp_path), requests)
    assert sorted(texts(made)) == sorted(one.text for one in stored_questions(requests))
    ledger = pl.read_parquet(made / "ledger.parquet")
    assert ledger.select("stage", "outcome", "reason").unique().rows() == [(STAGE, "kept", None)]
    assert report(made) == {"judge": "rules", "reworded": 0, "not_taken": {}}
    assert (model_costs([made]), model_replies([made])) == ([], {})


def test_a_model_rewords_and_what_fails_the_checks_stands(requests: Path, tmp_path: Path) -> None:
    with model_server(lanes) as served:
        made = phrased(run_in(tmp_path, served.url), requests)
    taken = [text for text in texts(made) if text.startswith("Can you tell me ")]
    ledger = pl.read_parquet(made / "ledger.parquet")
    assert ledger["outcome"].to_list() == ["kept"] * 8
    lost = ledger.filter(reason=str(JudgeReason.LOSS)).height
    assert 0 < lost < 8
    assert report(made) == {
        "judge": "model:fake-1",
        "reworded": 8 - lost,
        "not_taken": {str(JudgeReason.LOSS): lost},
    }
    assert len(taken) == 8 - lost
    pool = read_pool([made]).candidates
    judges = {one.prompt.startswith("Can you tell me "): one.provenance.judge for one in pool}
    assert judges == {True: "model:fake-1", False: "rules"}
    (row,) = model_costs([made])
    assert (row["stage"], row["items"], row["errors"], row["cost"]) == (STAGE, 8, lost, 8.0)


def test_a_replay_is_the_same_without_a_call(requests: Path, tmp_path: Path) -> None:
    with model_server(lanes) as served:
        first = phrased(run_in(tmp_path, served.url), requests)
        calls = len(served.requests)
    again = phrased(run_in(tmp_path, served.url, mode="replay"), requests)
    assert calls == 8
    assert texts(again) == texts(first)
    assert model_replies([again]) == model_replies([first])
    assert list(model_replies([again])) == ["model-replies-questions"]


def test_a_stage_that_is_not_the_models_asks_nothing(requests: Path, tmp_path: Path) -> None:
    with model_server(lanes) as served:
        made = phrased(run_in(tmp_path, served.url, stages=["write"]), requests)
    assert (served.requests, report(made)["judge"]) == ([], "rules")


def test_the_order_in_which_stages_are_named_says_nothing() -> None:
    result = ModelConfig.model_validate({"name": "m", "stages": ["write", "screen"] * 2})
    assert result.stages == (ModelStage.SCREEN, ModelStage.WRITE)
    assert (result.does(ModelStage.WRITE), result.does(ModelStage.GRADE)) == (True, False)
    assert result.judge_of(ModelStage.GRADE) == "rules"


def pictures(served: Served) -> int:
    return sum(isinstance(one["messages"][1]["content"], list) for one in served.requests)


@pytest.mark.parametrize(("sees", "shown"), [(False, 0), (True, 8)])
def test_the_statement_is_shown_to_models_that_see(
    requests: Path, tmp_path: Path, sees: bool, shown: int
) -> None:
    with model_server(lanes) as served:
        phrased(run_in(tmp_path, served.url, shows_statements=sees), requests)
    assert pictures(served) == shown
    assert (b"data:image/png;base64," in orjson.dumps(served.requests)) is sees


def test_unasked_questions_stop_the_build_and_the_next_goes_on(
    requests: Path, tmp_path: Path
) -> None:
    with model_server(lanes) as served:
        with pytest.raises(ReleaseError, match=r"call\.budget.*run it again"):
            phrased(run_in(tmp_path, served.url, budget_tokens=4_100), requests)
        assert 0 < len(served.requests) < 8
        made = phrased(run_in(tmp_path, served.url), requests)
        assert len(served.requests) == 8
    assert report(made)["judge"] == "model:fake-1"


def test_clients_of_one_run_share_its_budget(requests: Path, tmp_path: Path) -> None:
    with model_server(lanes) as served:
        run = run_in(tmp_path, served.url, budget_tokens=8 * 150 + 4_200)
        with run.judges.budget() as budget:
            phrased(run, requests)
            assert budget.spent.replies == 8
            with run.judges.client(masked=True) as client:
                assert client.spent == budget.spent
        with run.judges.client(masked=True) as client:
            assert client.spent.replies == 0
