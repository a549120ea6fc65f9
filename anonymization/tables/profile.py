"""A proposal of column roles from the data, for a person to correct."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from anonymization.tables.config import (
    ColumnConfig,
    ColumnRole,
    DerivedKind,
    Formula,
    IdentifierKind,
    Relations,
    SumRelation,
    TableConfig,
)
from anonymization.tables.pseudonym_names import lexicon
from anonymization.tables.relations import find_undeclared
from data.figures import percent

_SAMPLE = 5_000
_PERIOD_NAME = re.compile(r"(?i)year|period|date|quarter|month|年|期|日")
_YEAR = r"^(?:19|20)[0-9]{2}(?:$|[-/.年])"
_NUMBER = r"^[^0-9A-Za-z]{0,4}(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?[^0-9]{0,6}$"
_CODE = r"^[A-Za-z]{0,6}[-.]?[0-9]{1,14}[A-Za-z]{0,3}$"
_ID_NAME = re.compile(
    r"(?i)(?:^|_)(?:id|code|no|cik|ticker|isin|lei|doc)(?:$|_)|[a-z](?:Id|Code)$|代码|编号|コード|番号"
)
_NAME_NAME = re.compile(r"(?i)name|company|公司|企业|名称|会社|社名")
_GROUP_NAME = re.compile(r"(?i)industry|sector|行业|业种|業種")
_REGION_NAME = re.compile(r"(?i)prefecture|province|region|state|city|省|地区|都道府県")
_UNIT_NAME = re.compile(r"(?i)unit|currency|单位|単位|币种|通貨")
_LONG_TEXT = 40
_MOSTLY = 0.9
_SOME_NUMBERS = 0.5  # below, a column is text; between, a measure with cells that are none
_ROWS_PER_ENTITY = 1.5  # from which a column constant per company is no coincidence


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A column's proposed role and the reason: counts and shapes, never values."""

    column: str
    role: ColumnRole
    kind: IdentifierKind | None
    formula: Formula | None
    why: str


@dataclass(frozen=True, slots=True)
class _Profile:
    """Proposals per column, the likely entity, group, region and period columns, and sums."""

    proposals: tuple[_Proposal, ...]
    entity: str | None
    group: str | None
    region: str | None
    period: str | None
    sums: tuple[SumRelation, ...]


def propose_roles(frame: pl.DataFrame) -> _Profile:
    """Propose a role for every column from its name and its values.

    Numbers that follow from others are proposed as derived, and a total of two other columns as a
    relation. The proposal is a start: only a person knows the table.
    """
    shapes = {name: _Shape.of(frame[name]) for name in frame.columns}
    proposals = {name: _proposed(name, shape) for name, shape in shapes.items()}
    period = _first(
        frame,
        lambda n: bool(_PERIOD_NAME.search(n)) and shapes[n].years > _MOSTLY,
        lambda n: (-shapes[n].distinct, n),
    )
    group = _first(frame, lambda n: bool(_GROUP_NAME.search(n)), lambda n: (shapes[n].distinct, n))
    region = _first(
        frame, lambda n: bool(_REGION_NAME.search(n)), lambda n: (shapes[n].distinct, n)
    )
    entity = _entity(frame, proposals)
    proposals = _with_constant_codes(frame, proposals, entity, period)
    with_derived, sums = _derived(frame, proposals, entity, period)
    return _Profile(
        tuple(with_derived[name] for name in frame.columns), entity, group, region, period, sums
    )


def as_config(profile: _Profile) -> dict[str, Any]:
    """The proposal as the table's section of a configuration file."""
    columns: dict[str, Any] = {}
    for proposal in profile.proposals:
        column: dict[str, Any] = {"role": proposal.role.value}
        if proposal.kind is IdentifierKind.NAME:
            column["kind"] = proposal.kind.value
        if proposal.formula is not None:
            column["formula"] = proposal.formula.model_dump(mode="json", exclude_defaults=True)
        columns[proposal.column] = column
    key_columns = {
        "entity": profile.entity or "",
        "group": profile.group,
        "region": profile.region,
        "period": profile.period,
    }
    section: dict[str, Any] = {
        name: value for name, value in key_columns.items() if value is not None
    }
    if profile.sums:
        section["relations"] = {"sums": [s.model_dump(mode="json") for s in profile.sums]}
    return section | {"columns": columns}


def profile_lines(profile: _Profile) -> Iterator[str]:
    """The proposal in lines for a person: a column each, then the key columns and the sums."""
    for proposal in profile.proposals:
        kind = f" ({proposal.kind})" if proposal.kind else ""
        yield f"{proposal.column}: {proposal.role}{kind} - {proposal.why}"
    roles = {"entity": profile.entity, "group": profile.group, "period": profile.period}
    roles["region"] = profile.region
    yield "; ".join(f"{name}: {column or 'none found'}" for name, column in roles.items())
    for relation in profile.sums:
        yield f"relation: {relation.total} = {' + '.join(relation.parts)}"


@dataclass(frozen=True, slots=True)
class _Shape:
    """Shares of a column's known cells by form, and the number of distinct ones."""

    known: int
    distinct: int
    numbers: float
    codes: float
    years: float
    names: float
    length: float
    typed: bool

    @classmethod
    def of(cls, series: pl.Series) -> _Shape:
        values = series.drop_nulls()
        text = values.head(_SAMPLE).cast(pl.String)
        typed = series.dtype.is_numeric()

        def share(pattern: str) -> float:
            return int(text.str.contains(pattern).sum()) / max(len(text), 1)

        forms = "|".join(
            re.escape(f) for own in lexicon().forms.values() for f in own if len(f) > 1
        )
        return cls(
            len(values),
            values.n_unique(),
            1.0 if typed else share(_NUMBER),
            share(_CODE),
            share(_YEAR),
            share(rf"(?:^|[\s,.）)])(?:{forms})(?:$|[\s,.（(])|株式会社|公司$"),
            int(text.str.len_chars().sum()) / max(len(text), 1),
            typed,
        )


def _proposed(name: str, shape: _Shape) -> _Proposal:
    role, kind, why = _judged(name, shape)
    return _Proposal(name, role, kind, None, why)


def _judged(name: str, shape: _Shape) -> tuple[ColumnRole, IdentifierKind | None, str]:
    varied = f"{shape.distinct} values in {shape.known} cells"
    if shape.known == 0 or shape.distinct == 1:
        return ColumnRole.CONSTANT, None, varied
    if _ID_NAME.search(name) and shape.codes > _MOSTLY:
        return ColumnRole.IDENTIFIER, IdentifierKind.CODE, f"named and shaped like a code, {varied}"
    if _ID_NAME.search(name) and shape.distinct == shape.known and shape.numbers < _MOSTLY:
        return ColumnRole.DROPPED, None, "a different id in every cell, so it identifies one record"
    if shape.numbers < _MOSTLY and (shape.names > 0.3 or _NAME_NAME.search(name)):
        if shape.length > _LONG_TEXT:
            return ColumnRole.FREE_TEXT, None, f"{shape.length:.0f} characters on average"
        if not _GROUP_NAME.search(name):
            why = f"named like a name, or {percent(shape.names, 0)} with a legal form, {varied}"
            return ColumnRole.IDENTIFIER, IdentifierKind.NAME, why
    if _UNIT_NAME.search(name) and shape.distinct <= 50:
        return ColumnRole.UNIT, None, varied
    if _PERIOD_NAME.search(name) and shape.years > _MOSTLY:
        return ColumnRole.QUASI_IDENTIFIER, None, "a period"
    if shape.numbers > _MOSTLY:
        return ColumnRole.MEASURE, None, f"{percent(shape.numbers, 0)} numbers, {varied}"
    if shape.length > _LONG_TEXT:
        return ColumnRole.FREE_TEXT, None, f"{shape.length:.0f} characters on average"
    if shape.numbers > _SOME_NUMBERS:
        why = f"only {percent(shape.numbers, 0)} numbers; cells of text will be released empty"
        return ColumnRole.MEASURE, None, why
    return ColumnRole.QUASI_IDENTIFIER, None, varied


def _first(frame: pl.DataFrame, fits: Any, order: Any) -> str | None:
    matching = sorted((name for name in frame.columns if fits(name)), key=order)
    return matching[0] if matching else None


def _entity(frame: pl.DataFrame, proposals: dict[str, _Proposal]) -> str | None:
    """The identifier code with the most values that still repeats, if any does; else a name."""
    codes = [p for p in proposals.values() if p.kind is IdentifierKind.CODE]
    names = [p for p in proposals.values() if p.kind is IdentifierKind.NAME]
    options = [p.column for p in (codes or names)]
    ranked = sorted(options, key=lambda n: (frame[n].null_count(), frame[n].n_unique(), n))
    return ranked[0] if ranked else None


def _with_constant_codes(
    frame: pl.DataFrame, proposals: dict[str, _Proposal], entity: str | None, period: str | None
) -> dict[str, _Proposal]:
    """Columns that hold one value per company, and almost a different one for each, name it."""
    if entity is None:
        return proposals
    revised = dict(proposals)
    companies = frame.drop_nulls(entity).group_by(entity)
    repeated = frame.height >= _ROWS_PER_ENTITY * frame[entity].n_unique()
    for name, proposal in proposals.items():
        is_open = proposal.role in (ColumnRole.MEASURE, ColumnRole.QUASI_IDENTIFIER)
        if name in (entity, period) or not is_open:
            continue
        values = companies.agg(pl.col(name).drop_nulls().unique()).filter(
            pl.col(name).list.len() > 0
        )
        single = int((values[name].list.len() == 1).sum()) / max(values.height, 1)
        distinct = values[name].explode().n_unique() / max(values.height, 1)
        if single > _MOSTLY and distinct > _MOSTLY and (repeated or _fixed_width(frame[name])):
            text = frame[name].drop_nulls().cast(pl.String)
            is_code = int(text.str.contains(_CODE).sum()) > _MOSTLY * len(text)
            kind = IdentifierKind.CODE if is_code else IdentifierKind.NAME
            why = f"one value per company in {percent(single, 0)} of {values.height} companies"
            revised[name] = _Proposal(name, ColumnRole.IDENTIFIER, kind, None, why)
    return revised


def _fixed_width(column: pl.Series) -> bool:
    """Whole numbers of one length and four digits or more, all different: a code."""
    text = column.drop_nulls().cast(pl.String)
    widths = text.str.len_chars().unique()
    is_code = len(widths) == 1 and int(widths[0]) >= 4 and text.str.contains(_CODE).all()
    return bool(is_code and text.n_unique() == len(text))


def _derived(
    frame: pl.DataFrame, proposals: dict[str, _Proposal], entity: str | None, period: str | None
) -> tuple[dict[str, _Proposal], tuple[SumRelation, ...]]:
    """Measures that follow from others: derived, or the total of a sum."""
    measures = [n for n, p in proposals.items() if p.role is ColumnRole.MEASURE]
    used = {name: ColumnConfig(role=ColumnRole.MEASURE) for name in measures}
    key = entity or "row"
    table = frame if entity else frame.with_row_index(key)
    for name in {key, period} - {None}:
        used[str(name)] = ColumnConfig(role=ColumnRole.QUASI_IDENTIFIER)
    config = TableConfig(columns=used, entity=key, period=period, relations=Relations())
    sums: list[SumRelation] = []
    revised = dict(proposals)
    bases: set[str] = set()
    for suspect in find_undeclared(table, config):
        name, formula = suspect.column, suspect.formula
        if name in bases:
            continue  # other columns are already derived from it
        why = (
            f"{formula.kind} of {', '.join(formula.of)} in {percent(suspect.share, 0)} of the cells"
        )
        if formula.kind is DerivedKind.SUM:
            sums.append(SumRelation(total=name, parts=formula.of))
            revised[name] = _Proposal(name, ColumnRole.MEASURE, None, None, why)
        elif formula.kind is DerivedKind.DIFFERENCE:
            sums.append(SumRelation(total=formula.of[0], parts=(name, formula.of[1])))
        else:
            revised[name] = _Proposal(name, ColumnRole.DERIVED, None, formula, why)
        bases |= {name, *formula.of}
    return revised, tuple(sums)
