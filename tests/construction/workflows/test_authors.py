"""A model writes scenario documents; what is wrong goes back, and what is proven stays."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from construction.workflows.documents.author import (
    ROUNDS,
    Attempt,
    AuthorReason,
    authored,
    chosen_ideas,
    ledger_row,
    reference,
    write_documents,
    written_documents,
)
from construction.workflows.documents.check import (
    check_lines,
)
from construction.workflows.documents.contracts import (
    DocumentFault,
    prose_digest,
    read_document,
    sqls_of,
)
from construction.workflows.documents.scenario import (
    build,
    scenario_of,
)
from data.contracts import Outcome
from tests.construction.judging.model.fakes import Scripted
from tests.construction.workflows.key_returns import (
    CONFIG,
    DOCUMENT,
    SEED,
    TEXT,
    with_text,
)

IDEAS = [
    {"idea_id": f"p-{number}", "seed": "p", "task_family": "assurance", "title": "Keys"}
    for number in range(1, 4)
]
FAULTY = TEXT.replace('instead = "facts.days_once <"', 'instead = "facts.days + 0 <"')
SECOND = tomllib.loads(TEXT)["second"]
READING = {
    "reading": "A key is overdue after so many days, but for doors that are spared.",
    "views": [{"name": name, "sql": sql} for name, sql in SECOND["views"].items()],
    "acts": SECOND["acts"],
    "answers": [{"part": part, "sql": sql} for part, sql in SECOND["answers"].items()],
    "doubts": [],
}


def authors(documents: Iterator[str], readings: Iterator[Mapping[str, Any]]) -> Scripted:
    """A model that writes these documents, and derives their results like this."""

    def reply(question: Any) -> Mapping[str, Any]:
        if question.stage == "derive":
            return next(readings)
        return {"document": f"{next(documents)}\n# {'-' * 200}"}

    return Scripted(reply)


@pytest.mark.slow
def test_faults_go_back_to_the_author_three_times() -> None:
    model = authors(iter(["no = [toml", FAULTY, TEXT]), repeat(READING))
    attempts, judged = authored(IDEAS[:1], model, CONFIG, SEED, drafts=1)
    (attempt,) = attempts
    assert attempt.faults == ()
    assert attempt.document is not None
    assert (attempt.document.name, attempt.rounds) == ("authored_p_1", 3)
    assert attempt.document.second == DOCUMENT.second
    written = [question for question in model.asked if question.stage == "author"]
    assert (len(written), len(judged)) == (ROUNDS, len(model.asked))
    assert '"faults"' not in written[0].user
    assert "invalid TOML" in written[1].user
    assert "traps.old_term: leads to the correct result" in written[2].user
    assert reference().strip() in written[0].system
    assert ledger_row(attempt).outcome is Outcome.KEPT


@pytest.fixture(scope="module")
def three() -> tuple[list[Attempt], Scripted]:
    """Three ideas: a document that is never proven, one that is at once, and none at all."""

    def reply(question: Any) -> Mapping[str, Any]:
        if question.stage == "derive":
            return READING
        if question.item_id == "p-1":
            return {"document": FAULTY}
        return {"document": TEXT} if question.item_id == "p-2" else {"text": "no"}

    model = Scripted(reply)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("construction.workflows.documents.scenario.TRIES", 1)
        return authored(IDEAS, model, CONFIG, SEED, drafts=1)[0], model


@pytest.mark.slow
def test_several_processes_judge_as_one_does() -> None:
    model = authors(repeat(TEXT), repeat(READING))
    two, judged = authored(IDEAS[:2], model, CONFIG, SEED, drafts=1, workers=2)
    assert [attempt.document is not None for attempt in two] == [True, True]
    assert (two, len(judged)) == (authored(IDEAS[:2], model, CONFIG, SEED, drafts=1)[0], 4)


def test_a_second_derivation_is_asked_for_without_what_the_first_holds(
    three: tuple[list[Attempt], Scripted],
) -> None:
    (_, attempt, _), model = three
    assert attempt.document is not None
    (question,) = (q for q in model.asked if (q.stage, q.item_id) == ("derive", "p-2"))
    shown = question.user + question.system
    assert "A key is overdue {f1} days after it was handed out." in shown
    assert '"columns": {' in shown
    for name in (*DOCUMENT.facts, *DOCUMENT.views, *(trap.name for trap in DOCUMENT.traps)):
        assert not re.search(rf"(?<![\w ]){name}\b", shown), name
    for sql in sqls_of(DOCUMENT):
        assert sql not in shown
    right = attempt.document.wanted.answers[0]
    assert build(attempt.document, 1, SEED).answers[0].value not in shown, right.part


@pytest.mark.slow
def test_where_two_derivations_differ_both_ends_go_back_with_the_doubts() -> None:
    careless = {
        **READING,
        "answers": [
            {"part": "cost", "sql": "select f4 * (select count(*) from out) from facts"},
            {"part": "keys", "sql": "select sku from late"},
        ],
        "doubts": ["Late keys may be all keys."],
    }
    model = authors(repeat(TEXT), repeat(careless))
    ((attempt,), _) = authored(IDEAS[:1], model, CONFIG, SEED, drafts=1)
    assert attempt.document is None
    said, doubt = attempt.faults
    assert re.fullmatch(
        r"second: answers.cost: `wanted` has [\d.]+, a second derivation has [\d.]+", said
    )
    assert doubt == "second: it was in doubt: Late keys may be all keys."
    assert ledger_row(attempt).reason is AuthorReason.UNPROVEN


def test_what_is_never_proven_is_refused_with_its_reason(
    three: tuple[list[Attempt], Scripted], tmp_path: Path
) -> None:
    attempts, _ = three
    rows = [ledger_row(attempt) for attempt in attempts]
    assert [row.reason for row in rows] == [AuthorReason.UNPROVEN, None, AuthorReason.UNUSABLE]
    assert [row.outcome for row in rows] == [Outcome.REJECTED, Outcome.KEPT, Outcome.ERRORED]
    assert [attempt.rounds for attempt in attempts] == [ROUNDS, 1, ROUNDS]
    write_documents(attempts, tmp_path)
    (kept,) = written_documents([tmp_path])
    assert attempts[1].document is not None
    # As text, since the order of columns and views counts.
    assert kept.model_dump_json() == attempts[1].document.model_dump_json()
    assert kept.second is not None
    assert kept.second.prose == prose_digest(kept)
    assert scenario_of(kept).build(2, SEED).faults == ()


def test_ideas_are_chosen_by_the_weights_of_their_families() -> None:
    ideas = [
        {"idea_id": f"{family}-{number}", "task_family": family}
        for family in ("assurance", "data_reporting", "web_operation")
        for number in range(6)
    ]
    weights = {"assurance": 0.75, "data_reporting": 0.25}
    chosen = chosen_ideas(ideas, weights, 4, SEED)
    families = sorted(idea["task_family"] for idea in chosen)
    assert families == ["assurance"] * 3 + ["data_reporting"]
    assert chosen_ideas(ideas[::-1], weights, 4, SEED) == chosen
    assert len(chosen_ideas(ideas, {}, 99, SEED)) == len(ideas)


def test_a_second_derivation_of_other_prose_is_none(tmp_path: Path) -> None:
    path = tmp_path / "key_returns.toml"
    path.write_text(TEXT)
    assert read_document(path).second is not None
    path.write_text(TEXT.replace("cost {fee} EUR", "cost {fee} EUR each"))
    with pytest.raises(DocumentFault, match="second: derived from other prose") as caught:
        read_document(path)
    path.write_text(TEXT.replace(str(DOCUMENT.second and DOCUMENT.second.prose), "0" * 16))
    now = prose_digest(DOCUMENT)
    with pytest.raises(DocumentFault, match=f'prose = "{now}"'):
        read_document(path)
    assert f'prose = "{now}"' not in str(caught.value)
    sql = with_text("count(*)", "count(1)")
    assert prose_digest(sql) == now


def test_the_check_names_a_file_that_is_no_document(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text('name = "broken"\n')
    lines = list(check_lines(path, CONFIG))
    assert "fault: meaning: Field required" in lines
