"""Questions on disk, and as candidates of the pool.

On disk they are the public table, the private answers, and whole questions for later stages. A
candidate also has its reference path: gold answer, executable steps, milestones.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from construction.signals.codebook import default_crosswalk
from construction.statements.categories import coverage_lines
from construction.statements.database import DATABASE, REPORT
from construction.statements.questions.contracts import (
    Company,
    Point,
    Question,
    Series,
    Sharpening,
)
from construction.statements.questions.operations import PRESENT, TOOLS
from construction.statements.questions.terms import period_words
from construction.statements.questions.wording import phrase_of
from construction.statements.tools.database import MOST_SERIES, QUERY_CHARS, fiscal_text
from data.atomic import PRIVATE_FILE, private_dir, replacing, replacing_dir, write_bytes
from data.contracts import (
    Answer,
    Budget,
    Candidate,
    Disclosure,
    Evidence,
    Label,
    Lane,
    Milestone,
    NetworkPolicy,
    Provenance,
    Scalar,
    Step,
)
from data.figures import percent
from data.pool import POOL_FILE
from data.randomness import keyed_order
from data.schemas import ANSWERS, QUESTIONS
from data.stage_tables import LEDGER_FILE
from data.tables import write_table
from data.text.lexicon import load_table


def _gold_answer(question: Question) -> Answer:
    """The gold value in the unit and scale asked for; no deviation is tolerated."""
    gold = question.gold
    return Answer(
        part="value",
        type="number",
        value=f"{gold.value:f}",
        unit=gold.unit,
        scale=int(gold.scale),
        decimals=gold.decimals,
        tolerance=0.0,
    )


def _reference_steps(question: Question) -> tuple[Step, ...]:
    """Find the company, its series and the value, and present it: each step names its tool.

    For two values the second series and value follow, and the last step combines them.
    """
    company, combined = question.company, question.combined
    steps = [
        _step(
            1,
            f"Find the company {company.name} with {TOOLS[0]}: {company.company_id}.",
            TOOLS[0],
            {"query": _company_query(question)[:QUERY_CHARS]},
            "companies",
        ),
        _find_series(2, question.series),
        _read_value(3, company, question.series, question.point),
    ]
    if combined is not None:
        if combined.series.series_id != question.series.series_id:
            steps.append(_find_series(len(steps) + 1, combined.series))
        steps.append(_read_value(len(steps) + 1, company, combined.series, combined.point))
    return (*steps, _present(len(steps) + 1, question))


def _step(index: int, text: str, tool: str, arguments: dict[str, Any], table: str) -> Step:
    return Step(index=index, text=text, operation=tool, arguments=arguments, reads=(table,))


def _find_series(index: int, series: Series) -> Step:
    text = f"Find its series “{series.label}” with {TOOLS[1]}: {series.series_id}."
    query = series.label[:QUERY_CHARS]
    arguments = {"company_id": series.company_id, "query": query, "limit": MOST_SERIES}
    return _step(index, text, TOOLS[1], arguments, "series")


def _read_value(index: int, company: Company, series: Series, point: Point) -> Step:
    period = period_words(point, company, dated=True).removeprefix("for ")
    when = period if point.months == 0 else f"for {period}"
    arguments = {
        "company_id": series.company_id,
        "series_id": series.series_id,
        "period": _tool_period(point),
    }
    return _step(index, f"Read its value {when} with {TOOLS[2]}.", TOOLS[2], arguments, "points")


def _present(index: int, question: Question) -> Step:
    gold, combined = question.gold, question.combined
    arguments: dict[str, Any] = {"values": "$3.values", **_days(question.point)}
    if question.point.replaced_by:
        arguments["document"] = question.point.document
    text = "Give it in the unit and scale asked for."
    if combined is not None:
        text = f"Take the {combined.operation} of both values, and give it as asked for."
        days = {f"second_{name}": day for name, day in _days(combined.point).items()}
        values = {"combine": combined.operation.value, "second_values": f"${index - 1}.values"}
        arguments |= values | days
    arguments |= {"unit": gold.unit, "scale": int(gold.scale), "decimals": gold.decimals}
    return Step(index=index, text=text, operation=PRESENT, arguments=arguments, reads=())


def _company_query(question: Question) -> str:
    """What identifies the company in the question: its register number, its ticker or its name."""
    company = question.company
    if Sharpening.REGISTER in question.sharpened:
        return company.company_id.partition(":")[2] or company.company_id
    if Sharpening.TICKER in question.sharpened and company.ticker:
        return company.ticker
    return company.name


def _tool_period(point: Point) -> str:
    """The fiscal period as the data tools write it, or the last day of one without a name."""
    row = {"fiscal_year": point.fiscal_year, "fiscal_period": point.fiscal_period}
    return fiscal_text(row) or point.period_end.isoformat()


def _days(point: Point) -> dict[str, str | int | None]:
    """The days and months that tell a value from others of the same fiscal period."""
    start = point.period_start
    return {
        "period_start": None if start is None else start.isoformat(),
        "period_end": point.period_end.isoformat(),
        "months": point.months,
    }


def _milestones(question: Question) -> tuple[Milestone, ...]:
    """Company, series, period and the value as filed, which the data tools return.

    For two values series, period and value of the second one follow.
    """
    company, combined = question.company, question.combined
    reached = [
        Milestone(name="company", value=company.company_id, step=1),
        *_of_value("", question.series, question.point, 2),
    ]
    if combined is not None:
        is_same = combined.series.series_id == question.series.series_id
        second = _of_value("second_", combined.series, combined.point, 4)
        reached += second[1:] if is_same else second
    return tuple(reached)


def _of_value(prefix: str, series: Series, point: Point, step: int) -> list[Milestone]:
    """Series, period and value; the series is found in `step`, the value read in the next one.

    A second value of the same series is read in `step` itself.
    """
    line = (series.series_id, series.label, phrase_of(series.label).text)
    names = {name: f"{prefix}{name}" for name in ("series", "period", "value")}
    return [
        Milestone(name=names["series"], value=series.series_id, step=step, implies=("company",)),
        Milestone(
            name=names["period"],
            value=_tool_period(point),
            step=step + 1,
            context=line,
            implies=("company", names["series"]),
        ),
        Milestone(
            name=names["value"],
            value=point.value,
            type="number",
            unit=series.unit,
            step=step + 1,
            context=line,
            implies=("company", names["series"], names["period"]),
        ),
    ]


__all__ = ["ANSWERS", "QUESTIONS"]

PAGES = "pages"  # pictures of the statements, by the number of their question
_ORDER_STAGE = "question.order"
_FILE = "asked.jsonl"
_QUESTION = TypeAdapter(Question)


def write_questions(
    public: Path,
    private: Path,
    questions: Sequence[Question],
    seed: int,
    task_id: Callable[[str], str],
) -> tuple[Path, Path]:
    """Write `questions.parquet` into `public` and `answers.parquet` into `private`.

    Rows are in a keyed order, numbered from 0, so that neighbouring rows are unrelated. `task_id`
    gives the released id of a drawn point. Returns the two paths; the same questions and seed give
    the same bytes.
    """
    ordered = [questions[at] for at in _order(questions, seed)]
    public_path, private_path = (
        public / "questions.parquet",
        private_dir(private) / "answers.parquet",
    )
    with replacing(public_path) as part:
        write_table(part, map(_public_row, range(len(ordered)), ordered), QUESTIONS.schema)
    with replacing(private_path, mode=PRIVATE_FILE) as part:
        rows = (
            _private_row(number, question, task_id(question.point_id))
            for number, question in enumerate(ordered)
        )
        write_table(part, rows, ANSWERS.schema)
    return public_path, private_path


def numbers_of(questions: Sequence[Question], seed: int) -> dict[str, int]:
    """The number that `write_questions` gives each question, by the id of the value asked for."""
    order = _order(questions, seed)
    return {questions[at].point.point_id: number for number, at in enumerate(order)}


def _order(questions: Sequence[Question], seed: int) -> Sequence[int]:
    return keyed_order(seed, _ORDER_STAGE, [question.point_id for question in questions])


def _public_row(index: int, question: Question) -> dict[str, object]:
    point, company = question.point, question.company
    return {
        "index": index,
        "question": question.text,
        "unit": question.gold.unit,
        "category": question.category,
        "level": question.level.value,
        "ticker": company.ticker,
        "company": company.name,
        "company_id": company.company_id,
        "fiscal_period": _fiscal_name(question),
        "calendar_period": point.calendar_period,
        "period_type": point.period_type,
        "pi_design": question.pi_design,
        "is_replacement": question.is_replacement,
        "document": point.document,
    }


def _private_row(index: int, question: Question, task_id: str) -> dict[str, object]:
    gold, point, combined = question.gold, question.point, question.combined
    return {
        "index": index,
        "task_id": task_id,
        "answer": question.answer,
        "value": f"{gold.value:f}",
        "unit": gold.unit,
        "scale": int(gold.scale),
        "decimals": gold.decimals,
        "point_id": point.point_id,
        "document": point.document,
        "report": point.report,
        "line": point.line,
        "operation": None if combined is None else combined.operation.value,
        "second_point_id": None if combined is None else combined.point.point_id,
    }


def _fiscal_name(question: Question) -> str | None:
    """FY2010 or 2010-Q1; None if the point has no fiscal period."""
    year, part = question.point.fiscal_year, question.point.fiscal_period
    if year is None or part is None:
        return None
    return f"FY{year}" if part == "FY" else f"{year}-{part}"


def store_questions(folder: Path, questions: Sequence[Question]) -> None:
    """Write the questions into a private folder, one per line."""
    lines = [_QUESTION.dump_json(question) + b"\n" for question in questions]
    write_bytes(folder / _FILE, b"".join(lines), mode=PRIVATE_FILE)


def stored_questions(folder: Path) -> list[Question]:
    """The questions that `store_questions` wrote."""
    lines = (folder / _FILE).read_bytes().splitlines()
    return [_QUESTION.validate_json(line) for line in lines]


_SURFACE = "api"
_DIFFICULTY_RULE = (
    "easy: one value, in the usual wording; medium: one value, by the filer's own label, a "
    "synonym, or part of a fiscal year without its dates; hard: two values to combine"
)
_FAMILIES = load_table(__package__, "families.toml")


def candidate_of(question: Question, task_id: str, licence: str | None = None) -> Candidate:
    """The candidate of a question; `task_id` is its opaque released id.

    The prompt holds the question and the answer format; value, row and steps are in the private
    fields (`PRIVATE_FIELDS`).
    """
    family = _FAMILIES.get(question.category, _FAMILIES["*"])
    return Candidate(
        task_id=task_id,
        lane=Lane.QUESTIONS,
        prompt=f"{question.text}\n\n{question.guideline}",
        language="en",
        task_family=Label(
            value=family, confidence=1.0, reason=f"category {question.category}", judge="rules"
        ),
        display_group=default_crosswalk().display_group(family),
        business_task=f"Look up one figure: {question.category.replace('_', ' ')}",
        execution_surface=_SURFACE,
        difficulty=question.level.value,
        difficulty_rule=_DIFFICULTY_RULE,
        tools=TOOLS,
        budget=Budget(turns=30, seconds=600),
        network=NetworkPolicy(),
        answers=(_gold_answer(question),),
        steps=_reference_steps(question),
        milestones=_milestones(question),
        evidence=Evidence(retrieval=True, accuracy=True),
        provenance=Provenance(
            source=question.company.source,
            source_format="statements",
            item_id=question.point_id,
            disclosure=Disclosure(question.company.disclosure),
            licence=licence,
            detail=_detail(question),
        ),
    )


def _detail(question: Question) -> dict[str, Scalar]:
    """Where the values come from, and what makes the question harder."""
    detail: dict[str, Scalar] = {
        "document": question.point.document,
        "is_replacement": question.is_replacement,
        "means": ", ".join(question.means),
    }
    if question.combined is not None:
        detail["second_document"] = question.combined.point.document
    return detail


def hand_over(out: Path, read: Path, questions: Path, phrased: Path) -> None:
    """Copy what people use out of the lane's stages to `out`, each half whole or not at all.

    `read`, `questions` and `phrased` are the folders of the stages.
    """
    shutil.rmtree(out / "public", ignore_errors=True)
    with replacing_dir(out / "public") as part:
        shutil.copyfile(phrased / "public/questions.parquet", part / "questions.parquet")
        shutil.copytree(read / DATABASE, part / "tables")
    private = private_dir(out / "private") / "questions"
    shutil.rmtree(private, ignore_errors=True)
    with replacing_dir(private) as part:
        shutil.copyfile(phrased / "private/answers.parquet", part / "answers.parquet")
        shutil.copyfile(phrased / POOL_FILE, part / "candidates.parquet")
        for name in (LEDGER_FILE, REPORT):
            shutil.copyfile(questions / name, part / name)
        shutil.copyfile(phrased / LEDGER_FILE, part / "phrasing-ledger.parquet")
        shutil.copyfile(read / LEDGER_FILE, part / "statements-ledger.parquet")
        shutil.copytree(questions / PAGES, part / PAGES)


def report_lines(report: Mapping[str, Any], out: Path, stamp: str) -> Iterator[str]:
    """What the lane asked and what it left out, in lines for a person."""
    share, seed = report["filters"]["dropped_share"], report["filters"]["seed_share"]
    rejected = sum(row["rejected"] for row in report["response"])
    yield f"{report['questions']} of {report['asked_for']} questions in {out} (privacy: {stamp})"
    by_region, by_category = _counts(report["by_region"]), _counts(report["by_category"])
    yield f"by region {by_region}; by category {by_category}"
    replaced = report["replacements"]
    yield f"{rejected} drawn points could not be turned into questions; {replaced} were replaced"
    for reason, n in report["not_asked"].items():
        yield f"  {n} × {reason}"
    yield _leveled(report["levels"])
    yield _wording(report["phrasing"])
    omitted = f"{percent(share)} (the seed: {percent(seed, 0)})"
    yield f"computed or auto-generated points left out: {omitted}"
    yield from coverage_lines(report["coverage"])


def _leveled(levels: Mapping[str, Any]) -> str:
    shares = levels["shares"]
    wanted = f"asked for: medium {percent(shares['medium'], 0)}, hard {percent(shares['hard'], 0)}"
    return f"by level {_counts(levels['questions'])} ({wanted}); means {_counts(levels['means'])}"


def _wording(phrasing: Mapping[str, Any]) -> str:
    if phrasing["judge"] == "rules":
        return "worded by rules"
    kept = _counts(phrasing["not_taken"])
    reworded = f"worded by {phrasing['judge']}: {phrasing['reworded']}"
    return f"{reworded}; not taken: {kept}" if kept else reworded


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())
