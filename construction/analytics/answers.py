"""Typed answers from results, the guidelines that ask for them, and the lint that both fit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import polars as pl

from construction.analytics import steps as s
from construction.analytics.contracts import Language, Part
from construction.analytics.environment.declaration import Declaration
from construction.analytics.execute_polars import Result
from construction.analytics.origins import columns_listed, columns_read, values_of
from construction.analytics.templates import words_table
from data.contracts import Answer

YES_NO = {"en": ("yes", "no"), "zh": ("是", "否")}


def rounded(value: float, decimals: int) -> str:
    """Half up, of the number rounded to 12 significant digits first (last bits decide nothing)."""
    steady = Decimal(f"{value:.12g}")
    written = steady.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    return f"{abs(written) if written == 0 else written:f}"


def written_parts(parts: Sequence[Part], results: Sequence[Result]) -> tuple[str, ...]:
    """Each part's value as text: what gold, ablations and careless readers are compared by."""
    return tuple(_written(part, results[part.step - 1]) for part in parts)


def _written(part: Part, result: Result) -> str:
    if isinstance(result, pl.DataFrame):
        return json.dumps(result[part.column or ""].to_list(), ensure_ascii=False)
    if isinstance(result, bool):
        return "yes" if result else "no"
    if isinstance(result, str):
        return result
    return rounded(float(result), part.decimals or 0)


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
    if kind["type"] == "number":
        unit = kind["unit"].replace("{currency}", declaration.currency)
        scale = declaration.money_scale if part.kind == "money" else 1
        return Answer(**common, unit=unit, scale=scale, decimals=part.decimals, tolerance=0.0)
    if kind["type"] == "text":
        names = declaration.names.get(part.names or "", {}).get(text, ())
        return Answer(**common, aliases=tuple(dict.fromkeys(names)))
    return Answer(**common)


def guidelines_of(
    declaration: Declaration, parts: Sequence[Part], program: s.Program, language: Language
) -> str:
    """How to answer: kind, unit, rounding, conventions, and what to say without data."""
    lines = _guideline_lines(declaration, parts, program, language)
    return (" " if language == "en" else "").join(lines)


def _guideline_lines(
    declaration: Declaration, parts: Sequence[Part], program: s.Program, language: Language
) -> list[str]:
    """The sentences of `guidelines_of`, of which the conventions may be several."""
    words = words_table()["guidelines"][language]
    if len(parts) == 1:
        lines = [words["files"], words["only"].format(**_wanted(declaration, parts[0], language))]
    else:
        separator = "; " if language == "en" else "；"
        wanted = [
            words["part"].format(part=part.part, **_wanted(declaration, part, language))
            for part in parts
        ]
        lines = [words["files"], words["several"].format(parts=separator.join(wanted))]
    if any(part.decimals is not None for part in parts):
        lines.append(words["rounding"])
    read = {f"{table}.{column}" for table, column in columns_read(program)}
    read |= {f"{table}.{column}" for table, column in columns_listed(program, parts)}
    read.update(s.tables_of(program))
    selected = values_of(program)
    lines += [
        convention.words[language]
        for convention in declaration.conventions
        if read.intersection(convention.reads)
        and (not convention.of or selected.intersection(convention.of))
    ]
    lines.append(words["no_data"])
    return lines


def beyond_guidelines(
    declaration: Declaration,
    guidelines: str,
    parts: Sequence[Part],
    program: s.Program,
    language: Language,
) -> str:
    """What guidelines say besides what follows from the steps and the parts of the answer."""
    for line in _guideline_lines(declaration, parts, program, language):
        guidelines = guidelines.replace(line, " ", 1)
    return guidelines.strip()


def _wanted(declaration: Declaration, part: Part, language: Language) -> dict[str, str]:
    kind = words_table()["kinds"][part.kind][language]
    kind = kind.replace("{w.money}", declaration.says("money", language))
    return {"kind": kind, "decimals": _decimals_words(part.decimals, language)}


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
) -> list[str]:
    """What in the guidelines does not fit the answers; nothing if they fit."""
    faults = []
    if [part.part for part in parts] != [answer.part for answer in answers]:
        faults.append("parts differ")
    for part, answer in zip(parts, answers, strict=False):
        kind = words_table()["kinds"][part.kind]
        if answer.type != kind["type"]:
            faults.append(f"{part.part}: {answer.type} instead of {kind['type']}")
        wanted = _wanted(declaration, part, language)
        if wanted["kind"] not in guidelines:
            faults.append(f"{part.part}: its kind is not asked for")
        if answer.type == "number":
            faults += _number_faults(part, answer, wanted["decimals"], guidelines)
        if len(parts) > 1 and f'"{part.part}"' not in guidelines:
            faults.append(f"{part.part}: its key is not named")
    lines = _guideline_lines(declaration, parts, program, language)
    faults += [f"not said: {line[:60]}" for line in lines if line not in guidelines]
    if more := beyond_guidelines(declaration, guidelines, parts, program, language):
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
