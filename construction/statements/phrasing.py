"""Wording of table questions by a model: the same question in other words, or none.

The structured question decides what is asked for. A wording may move its words and exchange those
that carry no meaning (`free_words` of the prompt). One that says line item or period otherwise is
answered again, by another call that sees the company's rows as the data tools give them and knows
nothing of the question before: it has to find the row, and its answer the gold. Every wording goes
through the ambiguity check and the answer check of `construction.statements.questions` too. Where
no model is asked, or its wording does not pass, the structured wording stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from construction.grading.answers.check import check_answer
from construction.judging.calls.contracts import Image
from construction.judging.consensus import RULES
from construction.judging.contracts import (
    Answer,
    Asker,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import (
    Checked,
    Stage,
    ask,
    require_answers,
    write_model_use,
)
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.judging.settings import Judges, ModelStage
from construction.statements.enrichment import render_png
from construction.statements.model import read_statements
from construction.statements.questions.ambiguity import (
    Database,
    Slots,
    index_database,
    other_values,
    rivals,
)
from construction.statements.questions.contracts import Level, Point, Question, Sharpening
from construction.statements.questions.output import (
    PAGES,
    QUESTIONS,
    candidate_of,
    numbers_of,
    stored_questions,
    write_questions,
)
from construction.statements.questions.terms import period_words, phrases_of
from construction.statements.questions.wording import (
    WORDS,
    comparable,
    has_foreign_letters,
    phrase_of,
)
from construction.statements.tools.database import fiscal_text
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import Disclosure, LedgerRow, Outcome, StageKind
from data.neutralise import visible
from data.pool import write_pool
from data.randomness import keyed_order
from data.snapshot.release import ReleasedTable
from data.stage_tables import write_stage_tables

STAGE = "question_phrasing"
REPORT = "phrasing.json"  # how many questions are in a model's words, and why the others are not
_NUMBER = re.compile(r"\d[\d,.]*")
_KEPT = re.compile(r"“[^”]*”|\([^()]*\)")
_UNIT = re.compile(r", ((?:in|as) [^,?]+(?:, to [^,?]+)?)")


_KEPT_PARTS = ("company", "unit", "remark")  # even in a wording that is answered again
# Words that narrow or widen what is meant: a wording neither adds nor drops them.
_QUALIFIERS = frozenset(WORDS["qualifiers"]["words"])
_MOST_ROWS = 40  # that the second call sees
_NEAR_DAYS = 400
_ROWS_STAGE = "question_phrasing.rows"


class WordingAnswer(Answer):
    wording: Annotated[str, Field(min_length=1, max_length=2_000)]


class RowAnswer(Answer):
    row: Annotated[int, Field(ge=0)]
    answer: Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class _Worded:
    """A question in new words, and the fault of a wording that another answer has to clear."""

    question: Question
    fault: Fault | None = None


def _phrase_questions(
    questions: Sequence[Question],
    database: Database,
    client: Asker,
    config: ModelStagesConfig,
    pictures: Mapping[str, Image] | None = None,
) -> list[Judged[Question]]:
    """Each question in the model's words, in order; one without a value keeps its old words.

    `pictures` are the statements by the id of the value asked for, for models that see.
    """
    worded = ask(_phrasing_stage(database, config, pictures or {}), questions, client)
    open_ones = [item.value for item in worded if item.value and item.value.fault]
    second = ask(_second_stage(database, config), open_ones, client)
    cleared = {item.item_id: item for item in second}
    return [_settled(item, cleared.get(item.item_id)) for item in worded]


def _settled(item: Judged[_Worded], second: Judged[Question] | None) -> Judged[Question]:
    """The worded question; without the second answer its wording falls by its own fault."""
    item_id, notes, worded = item.item_id, item.notes, item.value
    if worded is None:
        return Judged(item_id, None, item.reason, item.detail, notes, item.usage)
    if worded.fault is None or second is None:
        return Judged(item_id, worded.question, notes=notes, usage=item.usage)
    usage, reason, detail = item.usage + second.usage, worded.fault.reason, worded.fault.detail
    if second.value is not None:
        return Judged(item_id, second.value, notes=notes, usage=usage)
    if second.reason is not None and not isinstance(second.reason, JudgeReason):
        return Judged(item_id, None, second.reason, second.detail, notes, usage)
    return Judged(item_id, None, reason, detail, notes, usage)


def _second_stage(
    database: Database, config: ModelStagesConfig
) -> Stage[_Worded, RowAnswer, Question]:
    """Answers a wording from the company's rows: the row and the value have to be the gold's."""

    def content(worded: _Worded, cleaner: Cleaner) -> dict[str, Any]:
        rows: list[dict[str, Any]] = []
        for number, point in enumerate(_rows(worded.question, database)):
            row = {k: cleaner.text(v, 300, k) for k, v in _row(point, database).items()}
            rows.append({"row": number} | row)
        question = cleaner.text(worded.question.text, config.wording_chars, "question")
        return {"question": question, "rows": rows}

    def check(worded: _Worded, answer: RowAnswer) -> Checked[Question] | Fault:
        question, points = worded.question, _rows(worded.question, database)
        chosen = points[answer.row] if answer.row < len(points) else None
        if chosen is None or chosen.point_id != question.point.point_id:
            return Fault(JudgeReason.AMBIGUOUS, "another row")
        if not check_answer(answer.answer, question.gold, question.text).is_correct:
            return Fault(JudgeReason.NOT_CHECKABLE, "another answer")
        return Checked(question)

    return Stage(
        prompt=load_prompt("reanswer"),
        answer=RowAnswer,
        item_id=lambda worded: worded.question.point_id,
        content=content,
        check=check,
    )


def _rows(question: Question, database: Database) -> list[Point]:
    """The point and others of its company, those of like lines and near periods first, keyed."""
    own, words = question.point, phrase_of(question.series.label).bag
    others: list[tuple[int, int, str, Point]] = []
    for series in database.of_company.get(question.company.company_id, ()):
        shared = len(words & phrase_of(series.label).bag)
        for point in database.points.of_series(series.series_id):
            days = abs((point.period_end - own.period_end).days)
            if days <= _NEAR_DAYS and point.point_id != own.point_id:
                others.append((-shared, days, point.point_id, point))
    shown = [own, *other_values(own, database)]
    known = {point.point_id for point in shown}
    near = [entry[-1] for entry in sorted(others, key=lambda entry: entry[:3])]
    shown += [point for point in near if point.point_id not in known][: _MOST_ROWS - len(shown)]
    order = keyed_order(0, f"{_ROWS_STAGE}.{own.point_id}", [point.point_id for point in shown])
    return [shown[at] for at in order]


def _row(point: Point, database: Database) -> dict[str, str]:
    series = database.series[point.series_id]
    start = f"{point.period_start} to " if point.period_start else ""
    fiscal = {"fiscal_year": point.fiscal_year, "fiscal_period": point.fiscal_period}
    return {
        "statement": series.statement,
        "section": " | ".join(series.path),
        "line": series.label,
        "period": f"{start}{point.period_end}",
        "fiscal_period": fiscal_text(fiscal) or "",
        "filed": str(point.filed or ""),
        "unit": series.unit,
        "value": point.value,
    }


def _phrasing_stage(
    database: Database, config: ModelStagesConfig, pictures: Mapping[str, Image]
) -> Stage[Question, WordingAnswer, _Worded]:
    prompt, most = load_prompt("phrasing"), config.wording_chars

    def content(question: Question, cleaner: Cleaner) -> dict[str, Any]:
        keep = {"question": question.text, **_parts(question)}
        return {name: cleaner.text(text, most, name) for name, text in keep.items()}

    def check(question: Question, answer: WordingAnswer) -> Checked[_Worded] | Fault:
        wording = " ".join(visible(answer.wording).split())
        if len(wording) > most:
            return Fault(JudgeReason.TOO_LONG, f"{len(wording)} characters")
        if has_foreign_letters(wording):
            return Fault(JudgeReason.OTHER_LANGUAGE)
        if wording.count("?") != 1:
            return Fault(JudgeReason.CHANGED_WORDS, "question marks")
        fault = _word_fault(question, wording, prompt.free_words)
        if fault is not None and not _can_be_cleared(question, wording):
            return fault
        slots = Slots(
            question.company, question.series, question.point, question.sharpened, question.worded
        )
        if rivals(slots, database):
            return Fault(JudgeReason.AMBIGUOUS)
        if not check_answer(question.answer, question.gold, wording).is_correct:
            return Fault(JudgeReason.NOT_CHECKABLE)
        return Checked(_Worded(replace(question, text=wording), fault))

    return Stage(
        prompt=prompt,
        answer=WordingAnswer,
        item_id=lambda question: question.point_id,
        content=content,
        check=check,
        images=lambda question: tuple(
            pictures[name] for name in (question.point.point_id,) if name in pictures
        ),
    )


def _parts(question: Question) -> dict[str, str]:
    """The parts of the old wording that the new one must contain unchanged."""
    text = question.text
    dated = Sharpening.DATES in question.sharpened
    unit = _UNIT.search(text)
    named = [phrase.text for phrase in phrases_of(question.series.label)]
    metrics = [name for name in (question.worded, *named) if name in text]
    parts = {
        "company": question.company.name,
        "line_item": max(metrics, key=len, default=""),
        "period": period_words(question.point, question.company, dated=dated),
        "unit": unit[1] if unit else "",
        "remark": text.partition("?")[2].strip(),
    }
    form = text.casefold()
    return {name: part for name, part in parts.items() if part and part.casefold() in form}


def _word_fault(question: Question, wording: str, free: frozenset[str]) -> Fault | None:
    """The fault of a wording that lost a required part, or added or lost words or numbers."""
    form = wording.casefold()
    parts = [*_parts(question).values(), *_KEPT.findall(question.text)]
    gone = [part for part in parts if part.casefold() not in form]
    if gone:
        return Fault(JudgeReason.LOSS, ", ".join(gone))
    if _numbers(wording) != _numbers(question.text):
        return Fault(JudgeReason.CHANGED_WORDS, "numbers")
    allowed = {word for entry in free for word in comparable(entry)}
    changed = set(comparable(wording)) ^ set(comparable(question.text))
    strange = sorted(changed - allowed)
    return Fault(JudgeReason.CHANGED_WORDS, ", ".join(strange)) if strange else None


def _can_be_cleared(question: Question, wording: str) -> bool:
    """Whether all that no other words can say is as it was."""
    form, parts = wording.casefold(), _parts(question)
    kept = [parts[name] for name in _KEPT_PARTS if name in parts]
    kept += [part for part in _KEPT.findall(question.text) if part not in parts.get("period", "")]
    changed = set(comparable(wording)) ^ set(comparable(question.text))
    is_kept = all(part.casefold() in form for part in kept) and not changed & _QUALIFIERS
    return is_kept and _numbers(wording) == _numbers(question.text)


def _numbers(text: str) -> list[str]:
    return sorted(number.rstrip(".,") for number in _NUMBER.findall(text))


@dataclass(frozen=True, slots=True)
class ReleaseTerms:
    """What candidates made of questions need from the release: ids by point id, licence, seed."""

    task_id: Callable[[str], str]
    licence: str | None
    seed: int


def _write_phrased(
    questions: Sequence[Question],
    worded: Sequence[Judged[Question]],
    judge: str,
    terms: ReleaseTerms,
    out: Path,
) -> None:
    """Write questions, candidates, stage tables and `REPORT`.

    `worded` are the results in the order of `questions`; where one has no value, its question
    keeps the structured wording. `judge`: `rules` or `model:NAME`.
    """
    final = [item.value or old for item, old in zip(worded, questions, strict=True)]
    (out / "public").mkdir()
    write_questions(out / "public", out / "private", final, terms.seed, terms.task_id)
    candidates = []
    for question, item in zip(final, worded, strict=True):
        candidate = candidate_of(question, terms.task_id(question.point_id), terms.licence)
        who = judge if item.value is not None else RULES
        provenance = candidate.provenance.model_copy(update={"judge": who})
        candidates.append(candidate.model_copy(update={"provenance": provenance}))
    write_pool(out, candidates, {})
    ledger = [
        LedgerRow(STAGE, "point", item.item_id, Outcome.KEPT, reason=item.reason) for item in worded
    ]
    ids = [question.point_id for question in questions]
    write_stage_tables(out, StageKind.FILTER, ids, ledger, stage=STAGE, unit="point")
    refused = Counter(str(item.reason) for item in worded if item.reason is not None)
    reworded = 0 if judge == RULES else len(worded) - refused.total()
    report = {"judge": judge, "reworded": reworded, "not_taken": dict(sorted(refused.items()))}
    write_bytes(out / REPORT, pretty_json(report))


def word_questions(
    folder: Path, database: Path, round_share: float, judges: Judges, terms: ReleaseTerms, out: Path
) -> None:
    """Word the questions stored in `folder`: in a model's words where one is named, else as asked.

    `database` holds their statements, `PAGES` of `folder` the pictures of these. Raises
    ReleaseError where the model gave no reply about some question.
    """
    questions, model = stored_questions(folder), judges.config.model
    judge = model.judge_of(ModelStage.QUESTION_PHRASING)
    if not model.does(ModelStage.QUESTION_PHRASING):
        same = [Judged(question.point_id, question) for question in questions]
        _write_phrased(questions, same, judge, terms, out)
        return
    index = index_database(read_statements(database), round_share)
    images = {}
    if model.shows_statements:
        for point_id, number in numbers_of(questions, terms.seed).items():
            svg = (folder / PAGES / f"{number:05}.svg").read_text("utf-8")
            images[point_id] = Image("image/png", render_png(svg))
    # Easy questions in the model's words; harder ones keep theirs, which make them harder.
    easy = [question for question in questions if question.level is Level.EASY]
    public = all(item.company.disclosure == Disclosure.PUBLIC for item in questions)
    with judges.client(masked=public) as client:
        settings = judges.config.stage_settings(ModelStage.QUESTION_PHRASING)
        reworded = iter(_phrase_questions(easy, index, client, settings, images))
        worded = [
            next(reworded) if question.level is Level.EASY else Judged(question.point_id, question)
            for question in questions
        ]
        replies = {"model-replies-questions": client.replies_digest()}
    costs = judges.costs({STAGE: require_answers(worded)})
    _write_phrased(questions, worded, judge, terms, out)
    write_model_use(out, costs, replies)


def questions_table(folder: Path) -> ReleasedTable:
    """The released questions, without their answers."""
    return ReleasedTable(folder / "public" / "questions.parquet", QUESTIONS.row, QUESTIONS.meanings)
