"""Wrong answers of known kinds to real questions, and other ways to write the right one.

Used by the grading benchmark and by the tests. Each planted answer has the one reason that a grader
should give. The sentences around values were written before the graders were run on them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import cycle
from pathlib import Path

import polars as pl

from construction.grading.answers.lexicon import AnswerReason
from construction.grading.spec import AnswerSpec, TaskSpec, spec_of
from construction.statements.database import ASKABLE, DATABASE, Sources, write_database
from construction.statements.model import read_statements
from construction.statements.questions.contracts import StatementsRecipe
from construction.statements.questions.make import DRAWN, make_questions
from construction.statements.questions.output import candidate_of
from construction.statements.tools.database import Database, index_database
from data.randomness import keyed_order

_SEED = 13
_SCALES = {1: "", 1000: "thousand", 1_000_000: "million"}
_JAPANESE = {1: "円", 1000: "千円", 1_000_000: "百万円"}
_AMONG = (
    "Depending on the filing the figure is {a}, {gold} or {b}.",
    "I see three numbers in the tables: {b}, {a} and {gold}.",
    "{a} / {gold} / {b}",
    "Candidates are {gold}, {a}, {b}; any of these may be meant.",
    "{gold} or {a}",
    "Either {a} or {gold}, I would say.",
    "- {a}\n- {b}\n- {gold}",
    "{a}; {b}; {gold}",
)
# The fifth set of sentences. Of the first four, each harder than the last, the rules of their day
# missed 1, 2, 3 and 4 of 8; of this one they missed one, the last, and were then mended.
_REFUSALS = (
    "Honestly this is beyond my reach. Wikipedia's infobox mentions {gold}.",
    "All three calls ended in errors, leaving me empty-handed; in training I came across {gold}.",
    "I'll pass on this one, though {gold} rings a bell.",
    "The period is absent from the tables. Extrapolating the trend would lead to {gold}.",
    "Please consult the annual report yourself. Rough mental arithmetic yields {gold}.",
    "Skipping: {gold} showed up, yet its source is dubious.",
    "很遗憾，我查阅后仍没有把握，{gold} 仅供参考。",
    "残念ながら答えは出せません。昔の記事には {gold} とありました。",
)
_SENTENCES = (
    "It was {amount}.",
    "The company reported {amount}.",
    "According to the filing, the value is {amount}.",
    "Final answer: {amount}",
    "After checking the series, I get {amount}",
    "The figure asked for is **{amount}**.",
)


@dataclass(frozen=True, slots=True)
class Planted:
    """An answer to a task: of which kind, and the reason that grading should give (None: right)."""

    kind: str
    spec: TaskSpec
    answer: str
    reason: AnswerReason | None


@dataclass(frozen=True, slots=True)
class Material:
    """Questions as specifications, with the database that answers them."""

    specs: Sequence[TaskSpec]
    database: Database


def read_material(sources: Sources, n_questions: int, folder: Path) -> Material:
    """Questions about statements, in a keyed order; the tables are written into `folder`."""
    write_database(sources, StatementsRecipe(), folder)
    statements = read_statements(folder / DATABASE)
    points = pl.read_parquet(folder / ASKABLE)["point_id"].unique().sort().to_list()
    order = keyed_order(_SEED, "planted", points)[: 2 * n_questions]
    rows = [(points[at], "balance_sheet", 1.0, False) for at in order]
    drawn = pl.DataFrame(rows, schema=DRAWN, orient="row")
    batch = make_questions(drawn, statements, StatementsRecipe().wording, _SEED)
    candidates = [
        candidate_of(question, f"q-{number}")
        for number, question in enumerate(batch.questions[:n_questions])
    ]
    specs = [spec_of(candidate.model_dump(mode="json")) for candidate in candidates]
    frames = (statements.companies, statements.series, statements.points, statements.history)
    database = index_database(*frames)
    return Material(specs, database)


def wrong_answers(material: Material) -> Iterator[Planted]:
    """Every kind of wrong answer that a question allows, for all questions."""
    peers = _peers(material)
    among, refusals = cycle(_AMONG), cycle(_REFUSALS)
    for spec in material.specs:
        (part,) = spec.answers
        yield from _numeric(spec, part)
        near = _neighbours(spec, part, material.database)
        if near:
            yield Planted("neighbour period", spec, near[0], AnswerReason.WRONG_VALUE)
        others = [peer for peer in peers.get(_peer_key(spec), ()) if _is_other(peer, part)]
        if others:
            yield Planted("neighbour entity", spec, others[0], AnswerReason.WRONG_VALUE)
        higher, lower = _others(part)
        texts = {"gold": _grouped(part), "a": higher, "b": lower}
        text = next(among).format(**texts)
        yield Planted("gold among others", spec, text, AnswerReason.AMBIGUOUS)
        text = next(refusals).format(gold=_amount(part))
        yield Planted("refusal that quotes the gold", spec, text, AnswerReason.REFUSED)
    yield from _swapped(material.specs)


def _numeric(spec: TaskSpec, part: AnswerSpec) -> Iterator[Planted]:
    value, quantum = Decimal(part.value), Decimal(1).scaleb(-(part.decimals or 0))
    yield Planted("sign", spec, f"{-value:f}", AnswerReason.WRONG_SIGN)
    yield Planted("times 1000", spec, f"{value * 1000:f}", AnswerReason.WRONG_SCALE)
    yield Planted("divided by 1000", spec, f"{value / 1000:f}", AnswerReason.WRONG_SCALE)
    unrounded = value + quantum * Decimal("0.3817").copy_sign(value)
    yield Planted("unrounded", spec, f"{unrounded:f}", AnswerReason.WRONG_ROUNDING)
    coarse = quantum.scaleb(max(1, value.adjusted() + (part.decimals or 0) - 2))
    rounded = (value / coarse).quantize(Decimal(1), rounding=ROUND_HALF_UP) * coarse
    if value.adjusted() + (part.decimals or 0) >= 3 and rounded != value:
        yield Planted("rounded too far", spec, f"{rounded:f}", AnswerReason.WRONG_ROUNDING)
    unit = "%" if part.unit not in ("percent", "ratio") else " shares"
    yield Planted("wrong unit", spec, f"{_grouped(part)}{unit}", AnswerReason.WRONG_UNIT)
    if _is_money(part):
        other = "EUR" if part.unit != "EUR" else "GBP"
        text = _amount(replace(part, unit=other))
        yield Planted("wrong currency", spec, text, AnswerReason.WRONG_CURRENCY)
        if part.scale > 1:
            bare = f"{part.unit} {_grouped(part)}"
            yield Planted("scale left out", spec, bare, AnswerReason.WRONG_SCALE)
    yield Planted("no value", spec, "Please see the filing.", AnswerReason.NO_VALUE)
    yield Planted("empty", spec, " ", AnswerReason.MISSING)


def _swapped(specs: Sequence[TaskSpec]) -> Iterator[Planted]:
    """Two questions as one task with two parts, answered the other way round."""
    for first, second in zip(specs[::2], specs[1::2], strict=False):
        pair = two_parts(first, second)
        part, other = pair.answers
        if part.value != other.value and (part.unit, part.scale) == (other.unit, other.scale):
            answer = json.dumps({part.part: other.value, other.part: part.value})
            yield Planted("swapped parts", pair, answer, AnswerReason.SWAPPED_PARTS)


def two_parts(first: TaskSpec, second: TaskSpec) -> TaskSpec:
    """One task that asks both questions."""
    answers = (
        replace(first.answers[0], part="first_value"),
        replace(second.answers[0], part="second_value"),
    )
    prompt = f"{first.prompt} {second.prompt}"
    return TaskSpec(f"{first.task_id}+{second.task_id}", prompt, answers=answers)


def equivalent_forms(material: Material) -> Iterator[Planted]:
    """The right answer of each question in other forms."""
    sentences = cycle(_SENTENCES)
    for spec in material.specs:
        (part,) = spec.answers
        value = Decimal(part.value)
        forms = {
            "plain": _plain(part),
            "separators": _grouped(part),
            "with unit and scale": _amount(part),
            "JSON": json.dumps({"answer": float(value) if part.decimals else int(value)}),
            "JSON by part": json.dumps({part.part: _plain(part)}),
            "marked": f"I looked it up.\n\nAnswer: {_grouped(part)}",
            "bold": f"**{_grouped(part)}**",
            "boxed": f"\\boxed{{{_plain(part)}}}",
            "trailing zeros": f"{value:f}{'' if '.' in part.value else '.'}00",
            "full width": _plain(part).translate(_WIDE),
            "sentence": next(sentences).format(amount=_amount(part)),
        }
        if _is_money(part):
            forms["base units"] = f"{part.unit} {value * part.scale:,f}"
            if part.unit == "JPY":
                forms["Japanese"] = f"{_grouped(part)}{_JAPANESE[part.scale]}"
        if value < 0:
            forms["brackets"] = f"({abs(value):,f})"
        for kind, text in forms.items():
            yield Planted(kind, spec, text, None)
    for first, second in zip(material.specs[::2], material.specs[1::2], strict=False):
        pair = two_parts(first, second)
        lines = "\n".join(f"{part.part}: {_amount(part)}" for part in pair.answers)
        yield Planted("parts as lines", pair, lines, None)


_WIDE = {ord(char): ord(char) + 0xFEE0 for char in "0123456789.-"}  # full-width forms


def _plain(part: AnswerSpec) -> str:
    return f"{Decimal(part.value):f}"


def _grouped(part: AnswerSpec) -> str:
    return f"{Decimal(part.value):,f}"


def _is_money(part: AnswerSpec) -> bool:
    return len(part.unit or "") == 3 and (part.unit or "").isupper()


def _amount(part: AnswerSpec) -> str:
    """The value with its unit and scale in words: "3,633 million USD"."""
    unit = {"percent": "percent", "ratio": "times", "count": "", "shares": "shares"}
    money = (part.unit or "").replace("/share", " per share")
    words = (_grouped(part), _SCALES[part.scale], unit.get(part.unit or "count", money))
    return " ".join(word for word in words if word)


def _others(part: AnswerSpec) -> tuple[str, str]:
    """Two other values of the same order of magnitude."""
    value, quantum = Decimal(part.value), Decimal(1).scaleb(-(part.decimals or 0))
    step = quantum if value >= 0 else -quantum  # away from the value, that none rounds back to it
    higher = (value * Decimal("1.17")).quantize(quantum) + 5 * step
    lower = (value * Decimal("0.86")).quantize(quantum) - 7 * step
    return f"{higher:,f}", f"{lower:,f}"


def _neighbours(spec: TaskSpec, part: AnswerSpec, database: Database) -> list[str]:
    """Other values of the same series, the nearest periods first, as answers."""
    read = next(step for step in spec.steps if step.operation == "get_company_fundamentals")
    given = read.arguments or {}
    points = database.points_of(given["company_id"]).filter(
        pl.col("series_id") == given["series_id"]
    )
    values = [_as_answer(value, part) for value in points["value"].to_list()]
    return [value for value in values if _is_other(value, part)]


def _is_other(text: str, part: AnswerSpec) -> bool:
    """Neither the gold value, nor one with its digits or one that rounds to them."""
    value, gold = abs(Decimal(text)), abs(Decimal(part.value))
    if not value or not gold:
        return False
    shifted = value.scaleb(gold.adjusted() - value.adjusted())
    return abs(value - gold) > gold / 50 and shifted != gold


def _as_answer(value: str, part: AnswerSpec) -> str:
    """A filed value in the unit, scale and rounding asked for."""
    amount = Decimal(value) * (100 if part.unit == "percent" else 1) / part.scale
    quantum = Decimal(1).scaleb(-(part.decimals or 0))
    return f"{amount.quantize(quantum, rounding=ROUND_HALF_UP):f}"


def _peer_key(spec: TaskSpec) -> tuple[str, str]:
    """The line and the period that a question is about, whatever its company."""
    read = next(step for step in spec.steps if step.operation == "get_company_fundamentals")
    given = read.arguments or {}
    return "/".join(given["series_id"].split("/")[1:]), given["period"]


def _peers(material: Material) -> Mapping[tuple[str, str], list[str]]:
    """For each line and period the values of other companies, as answers."""
    wanted = {_peer_key(spec): spec for spec in material.specs}
    lines = {key[0] for key in wanted}
    frame = material.database.points.with_columns(
        line=pl.col("series_id").str.split("/").list.slice(1).list.join("/")
    ).filter(pl.col("line").is_in(sorted(lines)))
    peers: dict[tuple[str, str], list[str]] = {}
    columns = ("line", "fiscal_year", "fiscal_period", "company_id", "value")
    for line, year, period, company, value in frame.select(columns).iter_rows():
        key = (line, f"FY{year}" + ("" if period in (None, "FY") else f"-{period}"))
        spec = wanted.get(key)
        if spec is None or company == (spec.steps[-2].arguments or {})["company_id"]:
            continue
        answer = _as_answer(value, spec.answers[0])
        if _is_other(answer, spec.answers[0]):
            peers.setdefault(key, []).append(answer)
    return peers
