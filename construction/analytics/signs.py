"""Which words a programme needs in its question: the entries of `said` in `words.toml`."""

from __future__ import annotations

from collections.abc import Iterator

from construction.analytics import steps as s
from construction.analytics.drawing import words_table
from construction.analytics.origins import placed_by

_ABOVE_OR_BELOW = {">": "above", ">=": "above", "<": "below", "<=": "below"}


def signs_of(program: s.Program) -> set[str]:
    """The entries of `said` in `words.toml` for what the steps do."""
    signs = {sign for step in program for sign in _signs_of_step(step)}
    for step in program:
        for condition in getattr(step, "where", ()):
            signs.add(_ABOVE_OR_BELOW.get(condition.test, ""))
            if condition.column == "fiscal_year":
                signs.add("fiscal_year")
            if condition.test == "known":
                signs.add("reported")
            if _is_of_all(program, condition.value):
                signs.add("over_all")
    if "accounts" in s.tables_of(program):
        signs.add("company")
    if ("accounts", "region") in placed_by(program):
        signs.add("seat")
    if _averages_counts(program):
        signs.add("some")
    return signs & set(words_table()["said"])


def _signs_of_step(step: s.StepOf) -> Iterator[str]:
    if isinstance(step, s.Statistic):
        yield step.function
    elif isinstance(step, s.Aggregate):
        yield from (function for function, _ in step.measures.values())
    elif isinstance(step, s.Correlate):
        yield step.method
    elif isinstance(step, s.Regress):
        yield "slope"
    elif isinstance(step, s.Rank):
        yield "high" if step.descending else "low"
    elif isinstance(step, s.Score):
        yield from _signs_of_score(step)
    elif isinstance(step, s.PolicyCount) and step.terms:
        yield "title"
    elif isinstance(step, s.Compare):
        yield step.result
    elif isinstance(step, s.Convert):
        yield {"over": "ratio", "percent_of": "percent"}.get(step.how, step.how)


def _signs_of_score(step: s.Score) -> Iterator[str]:
    for criterion in step.criteria:
        yield criterion.how
        if criterion.how == "min_max":
            yield "ends"
        if criterion.reverse:
            yield "reverse"


def _is_of_all(program: s.Program, value: object) -> bool:
    """Is a value a statistic of a whole table?"""
    number = s.step_number(value)
    step = program[number - 1] if number is not None and number <= len(program) else None
    return isinstance(step, s.Statistic) and not step.where and step.source[:1] != "$"


def _averages_counts(program: s.Program) -> bool:
    """Is a mean made of counts per group, which leave out groups with none?"""
    counted = {
        f"${number}"
        for number, step in enumerate(program, 1)
        if isinstance(step, s.PolicyCount) and step.by is not None
    }
    return any(
        isinstance(step, s.Statistic)
        and step.function in ("mean", "median", "min", "std")
        and step.source in counted
        for step in program
    )
