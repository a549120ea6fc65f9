"""Typed answers from results, the guidelines that ask for them, and the lint that both fit; and
milestones: the values that a task's steps make, and what each implies upstream."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import polars as pl

from construction.analytics import steps as s
from construction.analytics.contracts import UNDECIDED, Language, Part
from construction.analytics.environment.declaration import Declaration
from construction.analytics.execute_polars import Result
from construction.analytics.origins import columns_read, origin
from construction.analytics.templates import words_table
from construction.statements.questions.operations import PRESENT
from data.contracts import Answer, Milestone, Step

YES_NO = {"en": ("yes", "no"), "zh": ("是", "否")}


def _rounded(value: float, decimals: int) -> str:
    """Half up, of the number rounded to 12 significant digits first (last bits decide nothing)."""
    steady = Decimal(f"{value:.12g}")
    written = steady.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    return f"{abs(written) if written == 0 else written:f}"


def written_parts(parts: Sequence[Part], results: Sequence[Result]) -> tuple[str, ...]:
    """Each part's value as text: what gold, ablations and careless readers are compared by."""
    return tuple(
        UNDECIDED
        if part.undecided is not None and results[part.undecided - 1]
        else _written(part, results[part.step - 1])
        for part in parts
    )


def _written(part: Part, result: Result) -> str:
    if isinstance(result, pl.DataFrame):
        return json.dumps(result[part.column or ""].to_list(), ensure_ascii=False)
    if isinstance(result, bool):
        return "yes" if result else "no"
    if isinstance(result, str):
        return result
    return _rounded(float(result), part.decimals or 0)


def gold_answers(
    declaration: Declaration, parts: Sequence[Part], written: Sequence[str]
) -> tuple[Answer, ...]:
    """The parts as the common graders compare them; no deviation is tolerated."""
    return tuple(
        _answer(declaration, part, text) for part, text in zip(parts, written, strict=True)
    )


def _answer(declaration: Declaration, part: Part, text: str) -> Answer:
    kind = words_table()["kinds"][part.kind]
    common: dict[str, Any] = {"part": part.part, "type": kind["type"], "value": text}
    if text == UNDECIDED:
        words = (words_table()["undecided"][language] for language in declaration.languages)
        return Answer(part=part.part, type="text", value=text, aliases=tuple(words))
    if kind["type"] == "number":
        unit = kind["unit"].replace("{currency}", declaration.currency)
        scale = declaration.money_scale if part.kind == "money" else 1
        return Answer(**common, unit=unit, scale=scale, decimals=part.decimals, tolerance=0.0)
    if kind["type"] == "text":
        names = declaration.names.get(part.names or "", {}).get(text, ())
        return Answer(**common, aliases=tuple(dict.fromkeys(names)))
    return Answer(**common)


def guidelines_of(
    declaration: Declaration,
    parts: Sequence[Part],
    program: s.Program,
    language: Language,
    allowance: int | None = None,
) -> str:
    """How to answer: kind, unit, rounding, conventions, and what to say without data.

    `allowance`: where papers are in an archive, how many requests it answers.
    """
    lines = _guideline_lines(declaration, parts, program, language, allowance)
    return (" " if language == "en" else "").join(lines)


def _guideline_lines(
    declaration: Declaration,
    parts: Sequence[Part],
    program: s.Program,
    language: Language,
    allowance: int | None = None,
) -> list[str]:
    """The sentences of `guidelines_of`, of which the conventions may be several."""
    words = words_table()["guidelines"][language]
    files = words["files" if allowance is None else "files_and_archive"]
    if len(parts) == 1:
        lines = [files, words["only"].format(**_wanted(declaration, parts[0], language))]
    else:
        separator = "; " if language == "en" else "；"
        wanted = [
            words["part"].format(part=part.part, **_wanted(declaration, part, language))
            for part in parts
        ]
        lines = [files, words["several"].format(parts=separator.join(wanted))]
    if any(part.decimals is not None for part in parts):
        lines.append(words["rounding"])
    read = {f"{table}.{column}" for table, column in columns_read(program)}
    read |= {f"{table}.{column}" for table, column in _columns_listed(program, parts)}
    read.update(s.tables_of(program))
    selected = _values_of(program)
    lines += [
        convention.words[language]
        for convention in declaration.conventions
        if read.intersection(convention.reads)
        and (not convention.of or selected.intersection(convention.of))
    ]
    if any(part.undecided is not None for part in parts):
        lines.append(words["pending"].format(word=words_table()["undecided"][language]))
    if allowance is not None:
        lines.append(words["archive"].format(n=allowance))
    lines.append(words["no_data"])
    return lines


def _columns_listed(program: s.Program, parts: Sequence[Part]) -> set[tuple[str, str]]:
    """The tables and columns of which lists are made."""
    listed = (
        origin(program, f"${part.step}", part.column) for part in parts if part.column is not None
    )
    return {item for item in listed if item is not None}


def _values_of(program: s.Program) -> set[str]:
    """The texts by which the steps select rows."""
    conditions = [c for step in program for c in getattr(step, "where", ())]
    single = {c.value for c in conditions if isinstance(c.value, str)}
    return single.union(*(c.value for c in conditions if isinstance(c.value, tuple)))


def beyond_guidelines(
    declaration: Declaration,
    guidelines: str,
    parts: Sequence[Part],
    program: s.Program,
    language: Language,
    allowance: int | None = None,
) -> str:
    """What guidelines say besides what follows from the steps and the parts of the answer."""
    for line in _guideline_lines(declaration, parts, program, language, allowance):
        guidelines = guidelines.replace(line, " ", 1)
    return guidelines.strip()


def _wanted(declaration: Declaration, part: Part, language: Language) -> dict[str, str]:
    kind = words_table()["kinds"][part.kind][language]
    kind = kind.replace("{w.money}", declaration.says("money", language))
    decimals = _decimals_words(part.decimals, language)
    if part.undecided is not None:
        word = words_table()["undecided"][language]
        decimals += words_table()["guidelines"][language]["or_undecided"].format(word=word)
    return {"kind": kind, "decimals": decimals}


def _decimals_words(decimals: int | None, language: Language) -> str:
    """“ rounded to 2 decimals”; nothing where there is nothing to round."""
    words: Mapping[str, str] = words_table()["guidelines"][language]
    if decimals is None:
        return ""
    return words.get(f"decimals_{decimals}", words["decimals"]).format(n=decimals)


def guideline_faults(
    declaration: Declaration,
    guidelines: str,
    parts: Sequence[Part],
    answers: Sequence[Answer],
    program: s.Program,
    language: Language,
    allowance: int | None = None,
) -> list[str]:
    """What in the guidelines does not fit the answers; nothing if they fit."""
    faults = []
    if [part.part for part in parts] != [answer.part for answer in answers]:
        faults.append("parts differ")
    for part, answer in zip(parts, answers, strict=False):
        kind = words_table()["kinds"][part.kind]
        is_open = part.undecided is not None and answer.value == UNDECIDED
        if answer.type != ("text" if is_open else kind["type"]):
            faults.append(f"{part.part}: {answer.type} instead of {kind['type']}")
        wanted = _wanted(declaration, part, language)
        if wanted["kind"] not in guidelines:
            faults.append(f"{part.part}: its kind is not asked for")
        if answer.type == "number":
            faults += _number_faults(part, answer, wanted["decimals"], guidelines)
        if len(parts) > 1 and f'"{part.part}"' not in guidelines:
            faults.append(f"{part.part}: its key is not named")
    lines = _guideline_lines(declaration, parts, program, language, allowance)
    faults += [f"not said: {line[:60]}" for line in lines if line not in guidelines]
    if more := beyond_guidelines(declaration, guidelines, parts, program, language, allowance):
        faults.append(f"{len(more)} characters that do not follow from the answer")
    return faults


def _number_faults(part: Part, answer: Answer, words: str, guidelines: str) -> list[str]:
    faults = []
    decimals = len(answer.value.partition(".")[2])
    if part.decimals is None or decimals != part.decimals or answer.decimals != part.decimals:
        faults.append(f"{part.part}: {decimals} decimals instead of {part.decimals}")
    if words not in guidelines:
        faults.append(f"{part.part}: its rounding is not asked for")
    return faults


_TOLERANCE = 0.01  # relative, as DataClawBench has it


def milestones_of(
    program: s.Program, results: Sequence[Result], words: Sequence[str]
) -> tuple[Milestone, ...]:
    """One per step that makes a number or a name; `words` are those of what is drawn.

    A number is evidence only beside a word of the step's columns or of `words`.
    """
    made: dict[int, str] = {}
    implied: dict[int, set[int]] = {}
    milestones = []
    for number, (step, result) in enumerate(zip(program, results, strict=True), 1):
        uses = s.reads_steps(step)
        implied[number] = set(uses).union(*(implied[other] for other in uses))
        if isinstance(step, s.Rank) and isinstance(result, pl.DataFrame) and result.height:
            result = str(result[step.label][-1])  # the last of those taken
        if isinstance(step, s.Policy) and isinstance(result, pl.DataFrame):
            result = result.height  # how many are covered
        if isinstance(result, bool | pl.DataFrame):
            continue
        made[number] = f"{step.op}_{number}"
        is_text = isinstance(result, str)
        columns = [str(value) for key, value in step if key in ("column", "x", "y", "result")]
        milestones.append(
            Milestone(
                name=made[number],
                value=str(result) if is_text else f"{result:.12g}",
                type="text" if is_text else "number",
                tolerance=_TOLERANCE,
                step=number,
                context=() if is_text else tuple(dict.fromkeys([*columns, *words])),
                implies=tuple(made[other] for other in sorted(implied[number]) if other in made),
            )
        )
    return tuple(milestones)


def reference_steps(program: s.Program, parts: Sequence[Part]) -> tuple[Step, ...]:
    """The programme as the steps of a candidate: in words, and as data that both executors run.

    A last step for each part of the answer says of which step it is made, and how it is written.
    """
    made = tuple(
        Step(
            index=number,
            text=_described(step),
            operation=step.op,
            arguments=step.model_dump(mode="json", exclude={"op", "text"}),
            reads=tuple(s.reads_tables(step)),
        )
        for number, step in enumerate(program, 1)
    )
    given = tuple(
        Step(
            index=number,
            text=f"Give the result of step {part.step} as {part.part}.",
            operation=PRESENT,
            arguments=part.model_dump(mode="json"),
        )
        for number, part in enumerate(parts, len(program) + 1)
    )
    return made + given


def program_of_steps(steps: Sequence[Step]) -> tuple[s.Program, tuple[Part, ...]]:
    """The programme and the parts of the answer that `reference_steps` wrote.

    Raises pydantic.ValidationError for other steps.
    """
    made = [
        {"op": step.operation, "text": step.text, **step.arguments}
        for step in steps
        if step.operation != PRESENT
    ]
    given = [step.arguments for step in steps if step.operation == PRESENT]
    return s.program_of(made), tuple(map(Part.model_validate, given))


def _described(step: s.StepOf) -> str:
    """A step in words, without its result."""
    if step.text:
        return step.text
    operation = s.operation_of(step)
    if isinstance(step, s.Compare):
        return f"{operation}: {step.result} of {step.first} and {step.second}."
    what = [str(value) for key, value in step if key in ("function", "column", "x", "y")]
    rows = step.source + (f" with {step.other}" if isinstance(step, s.Join) else "")
    tests = [f"{c.column} {c.test} {c.value}" for c in step.where]
    where = f" where {' and '.join(tests)}" if tests else ""
    return f"{operation}: {step.op} {' '.join(what)} of {rows}{where}."
