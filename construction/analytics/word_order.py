"""What is first in a question has to be first in its steps: ratios, growth, groups, weights."""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.analytics import steps as s
from construction.analytics.candidates import Draft
from construction.analytics.environment.declaration import Declaration
from construction.analytics.origins import behind, columns_read, origin, texts_behind
from construction.analytics.wording import Said
from data.text.folding import fold_width

# A question with one of these names what is divided before what it is divided by.
_DIVIDED = {
    "en": re.compile(r"\bdivid|\bas a percentage of\b", re.I),
    "zh": re.compile(r"除以|占[^。]*百分比"),
}
_TABLES = {"sector_workers": "census", "states": "output"}  # words of what is no metric
_ONCE = re.compile(r"\bonce\b|weight 1\b|权重(?:为)?1(?!\d)")


def turned(draft: Draft, said: Said, declaration: Declaration) -> Iterator[str]:
    """The steps that take two things the other way round than the question."""
    for number, step in enumerate(draft.program, 1):
        if isinstance(step, s.Compare):
            if step.result in ("ratio", "percent"):
                pair = (_columns(draft.program, v) for v in (step.first, step.second))
                is_turned = _is_divided_otherwise(draft, declaration, *pair)
            elif step.result == "growth":
                is_turned = _is_later_first(draft.program, step)
            else:
                is_turned = _is_other_group(draft.program, step) or (
                    step.result == "difference" and _is_named_later(draft.program, step, said)
                )
        elif isinstance(step, s.Convert) and step.how in ("over", "percent_of"):
            own = [origin(draft.program, step.source, str(c)) for c in (step.of, step.by)]
            pair = ({each} if each else set() for each in own)
            is_turned = _is_divided_otherwise(draft, declaration, *pair)
        elif isinstance(step, s.Score):
            is_turned = _is_weighted_otherwise(draft, step, declaration)
        else:
            continue
        if is_turned:
            yield f"step {number} takes it the other way round"


def _columns(program: s.Program, operand: s.Operand) -> set[tuple[str, str]]:
    number = s.step_number(operand)
    return columns_read(behind(program, number)) if number is not None else set()


def _at(draft: Draft, declaration: Declaration, column: tuple[str, str] | None) -> int:
    """Where the question names the metric of a column; -1 where it does not."""
    question = fold_width(draft.question).casefold()
    named = [m.label for m in declaration.metrics if (m.table, m.column) == column]
    table = column[0] if column is not None else ""
    if not named and _TABLES.get(table) in declaration.words:
        named = [declaration.words[_TABLES[table]]]
    labels = [fold_width(label[draft.language]).casefold() for label in named]
    return max((question.find(label) for label in labels), default=-1)


def _is_divided_otherwise(
    draft: Draft,
    declaration: Declaration,
    first: set[tuple[str, str]],
    second: set[tuple[str, str]],
) -> bool:
    if not _DIVIDED[draft.language].search(fold_width(draft.question)):
        return False
    mine = {at for c in first - second if (at := _at(draft, declaration, c)) >= 0}
    other = {at for c in second - first if (at := _at(draft, declaration, c)) >= 0}
    return len(mine) == len(other) == 1 and min(mine) > min(other)


def _years(program: s.Program, operand: s.Operand) -> list[float]:
    """The years by which the steps behind an operand select rows."""
    number = s.step_number(operand)
    steps = behind(program, number) if number is not None else ()
    conditions = [c for step in steps for c in getattr(step, "where", ())]
    return [float(c.value) for c in conditions if c.column in ("fiscal_year", "year")]


def _is_later_first(program: s.Program, step: s.Compare) -> bool:
    first, second = (_years(program, value) for value in (step.first, step.second))
    return bool(first and second) and max(first) < max(second)


def _is_other_group(program: s.Program, step: s.Compare) -> bool:
    """Is the first number that of the rows below what the second lies above?"""
    sides = []
    for operand in (step.first, step.second):
        number = s.step_number(operand)
        conditions = getattr(program[number - 1], "where", ()) if number is not None else ()
        sides.append({(c.column, str(c.value)): c.test[0] for c in conditions})
    first, second = sides
    return any(first[k] == "<" and second[k] == ">" for k in first.keys() & second.keys())


def _is_named_later(program: s.Program, step: s.Compare, said: Said) -> bool:
    """Is the second number of a difference of what the question names first?"""
    first, second = (
        {name for name, values in said.names.items() if values & texts}
        for texts in (texts_behind(program, v) for v in (step.first, step.second))
    )
    mine, other = first - second, second - first
    if not mine or not other:
        return False
    return min(map(said.rest.find, mine)) > min(map(said.rest.find, other))


def _is_weighted_otherwise(draft: Draft, step: s.Score, declaration: Declaration) -> bool:
    """Has the metric that the question weights first another weight in the steps?"""
    named = []
    for criterion in step.criteria:
        column = _counted(draft.program, step.source, criterion.column)
        at = _at(draft, declaration, column)
        if at >= 0:
            named.append((at, criterion.weight))
    if len(named) != 2:
        return False
    (_, first), (_, second) = sorted(named)
    question = fold_width(draft.question)
    heavy = next((w for w in (first, second) if w != 1), None)
    if heavy is None or first == second:
        return False
    weight = re.search(rf"(?<![\d.,]){heavy:g}(?![\d.,]\d|\d)", question)
    once = _ONCE.search(question)
    if weight is None:
        return False
    is_first_heavy = once is None or weight.start() < once.start()
    return (first == heavy) != is_first_heavy


def _counted(program: s.Program, source: str, column: str) -> tuple[str, str] | None:
    """The table and column behind a column, also behind a measure of groups."""
    number = s.step_number(source)
    while number is not None and 1 <= number <= len(program):
        step = program[number - 1]
        if isinstance(step, s.Aggregate) and column in step.measures:
            return origin(program[: number - 1], step.source, step.measures[column][1])
        if isinstance(step, s.Join) and column in step.take:
            return _counted(program[: number - 1], step.other, column)
        if isinstance(step, s.Compare):
            return None
        source = step.source
        number = s.step_number(source)
    return source, column
