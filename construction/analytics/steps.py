"""The step programme of an analytic task: closed relational steps, each with typed arguments.

A programme reads clean tables and makes one result per step: rows, a number, a text or a truth
value. `$3` stands for the result of step 3 wherever a table or a value is expected. The two
executors (`execute_polars`, `execute_duckdb`) share this module and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from data.text.numbers import NUMBER_WORDS
from data.text.scripts import SMALL_LETTERS

Name = Annotated[str, Field(min_length=1, max_length=200)]
Operand = int | float | str
Test = Literal["=", "!=", "<", "<=", ">", ">=", "in", "contains", "known"]
Function = Literal["sum", "mean", "median", "min", "max", "std", "count", "distinct"]


class Operation(StrEnum):
    """The six operations of DataClawBench, under which failures are counted."""

    LOOKUP = "entity attribute lookup"
    AGGREGATE = "aggregate count or sum"
    STATISTIC = "statistical summary"
    POLICY = "policy lookup and count"
    COMPARE = "comparison or boolean"
    RANK = "ranking and selection"


COVERED = 1.0  # the rate of what a policy covers without setting one
_SAME = 1e-9
_NUMBER = re.compile(r"(?<![\d.,])(\d[\d,]*(?:\.\d+)?)(?:\s+(thousand|million|billion))?")
_SCALE = {"thousand": 1e3, "million": 1e6, "billion": 1e9}


def _numbers_said(text: str) -> set[float]:
    """The numbers in a text: digits, with a scale in words also scaled, and small ones in words."""
    words = SMALL_LETTERS.findall(text.casefold())
    said = {float(NUMBER_WORDS[word]) for word in words if word in NUMBER_WORDS}
    for written, scale in _NUMBER.findall(text):
        number = float(written.replace(",", ""))
        said |= {number, number * _SCALE.get(scale, 1.0)}
    return said


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Condition(_Closed):
    """Rows whose `column` passes the test; `known` takes no value, `in` takes a list of texts.

    A row whose cell is missing passes no test.
    """

    column: Name
    test: Test = "="
    value: Operand | tuple[str, ...] = 0


class RowStep(_Closed):
    """`source`: a table, or `$N` for the rows of step N. `where`: rows that the step looks at."""

    text: str = ""
    source: Name
    where: tuple[Condition, ...] = ()


class Lookup(RowStep):
    """The cell of `column` in the only row that passes."""

    op: Literal["lookup"] = "lookup"
    column: Name


class Filter(RowStep):
    op: Literal["filter"] = "filter"


class Join(RowStep):
    """Rows of `source` with the columns `take` of the rows of `other` that have the same keys."""

    op: Literal["join"] = "join"
    other: Name
    on: Mapping[Name, Name]  # column of source: column of other
    take: tuple[Name, ...]


class Convert(RowStep):
    """A new column: `of` and `by` (a column, or a number if `by_value`) put together."""

    op: Literal["convert"] = "convert"
    column: Name
    of: Name
    how: Literal["times", "over", "minus", "plus", "percent_of", "per_cent", "growth"]
    by: Operand
    by_value: bool = False


class Aggregate(RowStep):
    """One row per group, with the measures asked for."""

    op: Literal["aggregate"] = "aggregate"
    by: Annotated[tuple[Name, ...], Field(min_length=1)]
    measures: Mapping[Name, tuple[Function, Name]]  # new column: function, column


class Statistic(RowStep):
    """One number over all rows. Missing cells are left out; `std` is that of a sample."""

    op: Literal["statistic"] = "statistic"
    function: Function
    column: Name


class Quote(_Closed):
    """Words of a document that say what a clause does; they stand there exactly once."""

    document: Name
    says: Annotated[str, Field(min_length=8)]


class Clause(_Closed):
    """Rows that pass `where` get `rate`; without one they are not covered.

    The quotes hold every number of the clause: a programme cannot state what its texts do not say.
    """

    quotes: Annotated[tuple[Quote, ...], Field(min_length=1)]
    where: tuple[Condition, ...] = ()
    rate: float | None = None

    @model_validator(mode="after")
    def _is_said(self) -> Self:
        stated = set[float]().union(*(_numbers_said(quote.says) for quote in self.quotes))
        compared = [c.value for c in self.where if isinstance(c.value, int | float)]
        for number in [*compared, *([] if self.rate in (None, COVERED) else [self.rate])]:
            if not any(abs(float(number) - other) <= _SAME * abs(other) for other in stated):
                raise ValueError(f"found no {number:g} in the words that are quoted")
        return self


class Policy(RowStep):
    """The rows that a policy covers, with their `rate`: of its clauses the last that fits decides.

    `texts`: the table of documents, with their id in `key` and their words in `column`.
    """

    op: Literal["policy"] = "policy"
    texts: Name
    key: Name = "doc_id"
    column: Name = "text"
    clauses: Annotated[tuple[Clause, ...], Field(min_length=1)]


class PolicyCount(RowStep):
    """How many policies pass and hold one of `terms`; with `by`, column `n` per group."""

    op: Literal["policy_count"] = "policy_count"
    column: Name = "title"
    terms: tuple[str, ...] = ()
    by: Name | None = None


class Compare(_Closed):
    """Two numbers: is the first greater, or their difference, ratio, product, …"""

    op: Literal["compare"] = "compare"
    text: str = ""
    first: Operand
    second: Operand
    result: Literal["greater", "difference", "ratio", "product", "percent", "growth"]


class Rank(RowStep):
    """The first `take` rows by `column`, with their rank in `rank`; ties go by `label`."""

    op: Literal["rank"] = "rank"
    column: Name
    label: Name
    descending: bool = True
    take: Annotated[int, Field(ge=1)] = 1


class Criterion(_Closed):
    """`min_max`: the column between its least (0) and greatest (1) value, times `weight`;
    `points`: `weight` where the column is at least `at`. `reverse` turns either around."""

    column: Name
    weight: float
    how: Literal["min_max", "points"] = "min_max"
    at: Operand = 0
    reverse: bool = False


class Score(RowStep):
    """A new column `score`: the sum over the criteria."""

    op: Literal["score"] = "score"
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]


class Correlate(RowStep):
    op: Literal["correlate"] = "correlate"
    x: Name
    y: Name
    method: Literal["pearson", "spearman"] = "pearson"


class Regress(RowStep):
    """The slope of the least squares line of `y` on `x`."""

    op: Literal["regress"] = "regress"
    x: Name
    y: Name


class WhatIf(RowStep):
    """The rows with `column` changed by `percent` per cent where `where` holds."""

    op: Literal["what_if"] = "what_if"
    column: Name
    percent: Operand


StepOf = (
    Lookup
    | Filter
    | Join
    | Convert
    | Aggregate
    | Statistic
    | Policy
    | PolicyCount
    | Compare
    | Rank
    | Score
    | Correlate
    | Regress
    | WhatIf
)
TypedStep = Annotated[StepOf, Field(discriminator="op")]
Program = tuple[StepOf, ...]
_PROGRAM: TypeAdapter[tuple[TypedStep, ...]] = TypeAdapter(tuple[TypedStep, ...])

OPERATIONS: Mapping[str, Operation] = {
    "lookup": Operation.LOOKUP,
    "filter": Operation.LOOKUP,
    "join": Operation.LOOKUP,
    "convert": Operation.STATISTIC,
    "aggregate": Operation.AGGREGATE,
    "statistic": Operation.STATISTIC,
    "policy": Operation.POLICY,
    "policy_count": Operation.POLICY,
    "compare": Operation.COMPARE,
    "rank": Operation.RANK,
    "score": Operation.RANK,
    "correlate": Operation.STATISTIC,
    "regress": Operation.STATISTIC,
    "what_if": Operation.STATISTIC,
}


def operation_of(step: StepOf) -> Operation:
    """The operation of the seed to which a step belongs."""
    if isinstance(step, Statistic) and step.function in ("sum", "count", "distinct"):
        return Operation.AGGREGATE
    return OPERATIONS[step.op]


def program_of(steps: list[dict[str, Any]]) -> Program:
    """Steps as data, checked. Raises pydantic's ValidationError."""
    return _PROGRAM.validate_python(steps)


def step_number(value: object) -> int | None:
    """N of `$N`; None for anything else."""
    if isinstance(value, str) and value[:1] == "$" and value[1:].isdigit():
        return int(value[1:])
    return None


def _operands(step: StepOf) -> Iterator[object]:
    """Everything in a step that may stand for the result of another."""
    if isinstance(step, Compare):
        yield from (step.first, step.second)
        return
    yield step.source
    yield from (condition.value for condition in step.where)
    if isinstance(step, Policy):
        yield from (c.value for clause in step.clauses for c in clause.where)
    if isinstance(step, Join):
        yield step.other
    elif isinstance(step, Convert) and step.by_value:
        yield step.by
    elif isinstance(step, WhatIf):
        yield step.percent
    elif isinstance(step, Score):
        yield from (criterion.at for criterion in step.criteria)


def reads_steps(step: StepOf) -> list[int]:
    """The numbers of the steps whose results this one uses."""
    numbers = (step_number(value) for value in _operands(step))
    return sorted({number for number in numbers if number is not None})


def reads_tables(step: StepOf) -> list[str]:
    """The tables that a step itself reads."""
    if isinstance(step, Compare):
        return []
    names = [step.source]
    names += [step.other] if isinstance(step, Join) else []
    names += [step.texts] if isinstance(step, Policy) else []
    return [name for name in dict.fromkeys(names) if step_number(name) is None]


def tables_of(program: Program) -> list[str]:
    """The tables that a programme reads, each once."""
    return sorted({name for step in program for name in reads_tables(step)})
