"""The value of a prose scope, by the rules for ranges, refusals, asides and labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import pairwise

from construction.grading.answers import lexicon
from construction.grading.answers.lexicon import Declared, ErrorReason, rounded
from construction.grading.answers.markup import RawTable, clean
from construction.grading.answers.passage import Passage, Reading, read, read_passage
from construction.grading.answers.question import Period, Target, core, exact, find_periods
from construction.grading.answers.roles import (
    Naming,
    Role,
    Version,
    excluded_role,
    is_bounded,
    is_of_other_label,
    is_stated,
    is_supposed,
    naming,
    period_of,
    version_in,
    version_of,
    yielding_role,
)
from construction.grading.answers.units import declared_in

_MAX_VALUES = 1000  # a scope with more values is ambiguous
_MOST_AMOUNTS = 2  # in prose that commits to one: the value, and what it is compared with
_LISTED = re.compile(
    r"\s*(?:[,、;/]|,?\s*(?:and|or|und|oder|et|ou|y|e|o|en|och|og|eller)\s|和|と|或|、?または)\s*"
)
_OR = re.compile(
    r"\b(?:or|oder|ou|oppure|ofwel|eller)\b|または|又は|もしくは|あるいは|或(?!许|許)|还是|還是"
    r"|か[、,\s]?\Z",
    re.I,
)
_SUMMED = re.compile(
    r"合計|合计|总计|總計|共计|共計|总共|\+|\b(?:(?:sub)?total(?:s|l?ed|l?ing)?|sum(?:s|med|ming)?|plus"
    r"|together|altogether|combin(?:e|ed|ing)|in all|add(?:s|ed|ing)?)\b",
    re.I,
)
_SUM_WITHIN = 1000  # characters in which amounts are added up
_MAX_EDGE = 200  # characters allowed around a value that is alone in its scope
_EDGE = " \t\n.。,、;:!?\"'「」“”*()[]{}<>~≈約约|"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of a scope, or why there is none."""

    reading: Reading | None
    reason: ErrorReason | None = None


NOTHING = Outcome(None, ErrorReason.NO_VALUE)
AMBIGUOUS = Outcome(None, ErrorReason.AMBIGUOUS_VALUES)


@dataclass(slots=True)
class _Group:
    """Readings of one amount; `best` is the most precise, `members` are those not yet ruled out."""

    best: Reading
    members: list[Reading]


def choose(
    passage: Passage,
    scope: tuple[int, int],
    target: Target,
    declared: Declared,
    *,
    marked: bool,
    whole_clause: bool = False,
) -> Outcome:
    """The value of `scope`. In `marked` scopes refusals are not looked for, and clauses end with
    the scope unless `whole_clause` is set."""
    low, high = scope
    indices = passage.within(low, high)
    alone = [k for k in indices[:_MAX_VALUES] if _is_alone(passage, k, low, high)]
    indices = alone or [k for k in indices if not passage.values[k].weak]
    if len(indices) > _MAX_VALUES:
        return AMBIGUOUS
    kept = [k for k in indices if excluded_role(passage, k) is Role.CANDIDATE]
    if not kept:
        ranged = any(excluded_role(passage, k) is Role.RANGE for k in indices)
        return AMBIGUOUS if ranged else NOTHING
    reach = (0, len(passage.text)) if whole_clause else scope
    readings = [
        read(passage, passage.values[k], target, declared, *reach, alone=bool(alone)) for k in kept
    ]
    if not marked and lexicon.REFUSAL.search(passage.text[low:high]):
        readings = [r for r in readings if _survives_refusal(passage, r, target)]
    if not readings:
        return NOTHING
    if any(_offers(passage, first, second) for first, second in pairwise(readings)):
        return AMBIGUOUS
    groups = _merge(passage, _best_units(passage, readings, target))
    remaining = _without_asides(passage, groups, target) if len(groups) > 1 else groups
    if target.strict and not marked and len(groups) > _MOST_AMOUNTS:
        concluded = _concluded(passage, groups, remaining, target)
        return AMBIGUOUS if concluded is None else Outcome(concluded.best)
    outcome = _decide(passage, remaining, target)
    is_prose = not alone and (whole_clause or not marked)
    return outcome if _commits(passage, outcome.reading, target, is_prose) else NOTHING


def _commits(passage: Passage, reading: Reading | None, target: Target, is_prose: bool) -> bool:
    """In a strict check: is the value no bound, and does its clause, if in prose, state it?"""
    if reading is None or not target.strict:
        return True
    if is_bounded(passage, reading.value, target):
        return False
    states = is_stated(passage, reading, target) and not is_supposed(passage, reading, target)
    return states or not is_prose


def offers_several(passage: Passage, target: Target, declared: Declared) -> bool:
    """Are different amounts joined by "or", so that the text offers both?"""
    reach = (0, len(passage.text))
    readings = [
        read(passage, passage.values[k], target, declared, *reach, alone=False)
        for k in passage.within(*reach)[:_MAX_VALUES]
        if not passage.values[k].weak
    ]
    groups = _merge(passage, readings)
    return len(groups) > 1 and _alternatives(passage, groups, target.strict)


def _offers(passage: Passage, first: Reading, second: Reading) -> bool:
    """Are two amounts of one unit, written in full or once, joined by "or" ("£3 or £4 a share")?"""
    between = passage.text[first.value.end : second.value.start]
    joined = lexicon.ALTERNATIVE.fullmatch(between)
    if joined is None or first.amount == second.amount or first.unit.name != second.unit.name:
        return False
    return second.stated and between.strip(" ,(")[:1] not in "/;"


def _best_units(passage: Passage, readings: list[Reading], target: Target) -> list[Reading]:
    """The readings whose unit fits best.

    In a strict check those without a unit that stand in a list with one of them stay too: in
    "100, 140 and 120 million yen" the unit is that of all three.
    """
    ranks = [reading.rank(target) for reading in readings]
    best = min(ranks)
    kept = [rank == best for rank in ranks]
    if target.strict:
        if target.counts:  # "Of 57 aircraft, 41 were leased": things are counted without a unit too
            kept = [keep or not r.stated for keep, r in zip(kept, readings, strict=True)]
        for at in range(len(readings) - 2, -1, -1):
            first, second = readings[at].value, readings[at + 1].value
            listed = _LISTED.fullmatch(passage.text, first.end, second.start)
            kept[at] = kept[at] or (kept[at + 1] and listed is not None and first.unit is None)
    return [reading for reading, keep in zip(readings, kept, strict=True) if keep]


def _is_alone(passage: Passage, index: int, low: int, high: int) -> bool:
    value = passage.values[index]
    if value.start - low > _MAX_EDGE or high - value.end > _MAX_EDGE:
        return False
    rest = passage.text[low : value.start] + passage.text[value.end : high]
    return not rest.strip(_EDGE)


def _survives_refusal(passage: Passage, reading: Reading, target: Target) -> bool:
    clause = passage.text[reading.low : reading.high]
    if target.strict and (lexicon.REFUSAL.search(clause) or lexicon.GUESS.search(clause)):
        return False
    named = naming(passage, reading.value, target, reading.low, reading.high) is Naming.ASKED
    return named and not _other_period(passage, reading, target)


def _other_period(passage: Passage, reading: Reading, target: Target) -> bool:
    """Whether the value belongs to a period that was not asked for."""
    period = period_of(passage, reading)
    return period is not None and target.period is not None and not period.fits(target.period)


def _merge(passage: Passage, readings: list[Reading]) -> list[_Group]:
    """Groups equal amounts, and a rounded amount with the more precise one of its period."""
    by_amount: dict[object, _Group] = {}
    for reading in readings:
        by_amount.setdefault(reading.amount, _Group(reading, [])).members.append(reading)
    groups = sorted(by_amount.values(), key=lambda group: group.best.quantum)
    merged: list[_Group] = []
    for group in groups:
        host = next((other for other in merged if _rounds(passage, other.best, group.best)), None)
        if host is None:
            merged.append(group)
        else:
            host.members += group.members
    return sorted(merged, key=lambda group: max(r.value.start for r in group.members))


def _rounds(passage: Passage, precise: Reading, coarse: Reading) -> bool:
    if rounded(precise.amount, coarse.quantum) != coarse.amount or not coarse.amount:
        return False
    if {version_of(passage, precise), version_of(passage, coarse)} == set(Version):
        return False
    precise_period, coarse_period = period_of(passage, precise), period_of(passage, coarse)
    if precise_period is None or coarse_period is None:
        return True
    return precise_period.fits(coarse_period)


def _without_asides(passage: Passage, groups: list[_Group], target: Target) -> list[_Group]:
    """Drops asides, comparatives, changes, other periods, plans and values of other filings, each
    if something remains."""
    yielding = [Role.ASIDE, Role.COMPARATIVE] + ([] if target.change else [Role.CHANGE])
    drops: list[Callable[[Reading], bool]] = [partial(_plays, passage, role) for role in yielding]
    drops.append(lambda reading: _other_period(passage, reading, target))
    if not target.plan:
        drops.append(
            lambda reading: bool(lexicon.PLAN.search(passage.text[reading.low : reading.high]))
        )
    if wanted := version_in(target.text):
        drops.insert(0, lambda reading: version_of(passage, reading) not in (None, wanted))
    for drop in drops:
        remaining = [
            _Group(group.best, [r for r in group.members if not drop(r)]) for group in groups
        ]
        groups = [group for group in remaining if group.members] or groups
    return groups


def _plays(passage: Passage, role: Role, reading: Reading) -> bool:
    index = passage.within(reading.value.start, reading.value.start + 1)[0]
    return yielding_role(passage, index) is role


def _decide(passage: Passage, groups: list[_Group], target: Target) -> Outcome:
    if len(groups) == 1:
        return Outcome(groups[0].best)
    if _alternatives(passage, groups, target.strict):
        return AMBIGUOUS
    concluded = _conclusion(passage, groups)
    if concluded is not None:
        return Outcome(concluded.best)
    named = [
        min(naming(passage, r.value, target, r.low, r.high) for r in group.members)
        for group in groups
    ]
    best = min(named)
    best_groups = [group for group, label in zip(groups, named, strict=True) if label is best]
    if len(best_groups) > 1 and best is Naming.ASKED:
        own = [group for group in best_groups if not _is_of_other(passage, group, target)]
        best_groups = own or best_groups
    if len(best_groups) > 1 and (target.strict or best is Naming.ASKED):
        return AMBIGUOUS
    return Outcome(best_groups[-1].best)


def _is_of_other(passage: Passage, group: _Group, target: Target) -> bool:
    return all(is_of_other_label(passage, reading, target) for reading in group.members)


def _alternatives(passage: Passage, groups: list[_Group], strict: bool) -> bool:
    """Are different amounts joined by "or" or "/", or, in a strict check, by a comma or "and"?"""
    spots = sorted(
        (reading.value.start, reading.value.end, number)
        for number, group in enumerate(groups)
        for reading in group.members
    )
    for (_, end, first), (start, _, second) in pairwise(spots):
        between = passage.text[end:start]
        joined = lexicon.ALTERNATIVE.fullmatch(between) or (
            strict and (_LISTED.fullmatch(between) or _OR.search(between))
        )
        if first != second and len(between) < 40 and joined:
            return True
    low, high = passage.sentence(spots[-1][0])
    return bool(
        lexicon.EITHER.search(passage.text[low : spots[-1][0]][-400:])
        and " or " in passage.text[spots[0][1] : spots[-1][0]]
        and low <= spots[0][0] < high
    )


def _concluded(
    passage: Passage, groups: list[_Group], remaining: list[_Group], target: Target
) -> _Group | None:
    """The one of many amounts that a text commits to: its conclusion, the total of the others, or
    the only one under the name asked for, when the others are changes or comparatives."""
    named = [group for group in groups if _is_named(passage, group.best, target)]
    concluded = _conclusion(passage, groups) or _total(passage, groups, named)
    if concluded is None and len(remaining) == 1 and remaining[0] in named:
        return remaining[0]
    return concluded


def _is_named(passage: Passage, reading: Reading, target: Target) -> bool:
    named = naming(passage, reading.value, target, reading.low, reading.high)
    return named is Naming.ASKED


def _total(passage: Passage, groups: list[_Group], named: Sequence[_Group]) -> _Group | None:
    """The amount that is the sum of all others, if the words add them up.

    If another amount alone has the name asked for, the sum is not what it commits to.
    """
    everything = sum((group.best.amount for group in groups), Decimal(0))
    totals = [group for group in groups if 2 * group.best.amount == everything]
    first = min(group.best.value.start for group in groups)
    low, high = passage.sentence(first)[0], passage.sentence(groups[-1].best.value.start)[1]
    if len(totals) != 1 or not _SUMMED.search(passage.text, max(low, high - _SUM_WITHIN), high):
        return None
    return totals[0] if all(group is totals[0] for group in named) else None


def _conclusion(passage: Passage, groups: list[_Group]) -> _Group | None:
    """The last candidate of the last sentence that concludes or corrects."""
    spots = sorted(
        ((reading.value.start, group) for group in groups for reading in group.members),
        key=lambda spot: -spot[0],
    )
    for start, group in spots:
        low, high = passage.sentence(start)
        sentence = passage.text[max(low, start - 400) : min(high, start + 400)].strip()
        if lexicon.CONCLUSION.search(sentence):
            return group
    return None


_MAX_CELLS = 20_000
_MAX_CAPTION = 300


@dataclass(slots=True)
class _Grid:
    rows: list[list[str]]
    caption: str
    declared: Declared

    def column(self, index: int) -> str:
        return self.rows[0][index] if index < len(self.rows[0]) else ""


def fitting_cells(tables: list[RawTable], target: Target, declared: Declared) -> list[Reading]:
    """Readings of the cells that fit the metric and period asked for, over all tables."""
    readings: list[Reading] = []
    for table in tables:
        if sum(len(row) for row in table.rows) <= _MAX_CELLS and table.rows and table.rows[0]:
            grid = _clean(table, declared)
            readings += _by_label(grid, target)
    ranks = [reading.rank(target) for reading in readings]
    return [reading for reading in readings if reading.rank(target) == min(ranks)]


def all_cells(tables: list[RawTable], target: Target, declared: Declared) -> list[Reading]:
    """Readings of all cells beside the labels, of those periods that fit."""
    readings: list[Reading] = []
    for table in tables:
        if sum(len(row) for row in table.rows) <= _MAX_CELLS and table.rows and table.rows[0]:
            grid = _clean(table, declared)
            cells = [(at, k) for at, row in enumerate(grid.rows) for k in range(1, len(row))]
            readings += _read(grid, cells, target)
    return readings


def labels_of(tables: list[RawTable]) -> list[str]:
    """The texts of all cells without figures, and of the first cell of each row."""
    return [
        clean(cell).text
        for table in tables
        for row in table.rows
        for at, cell in enumerate(row)
        if at == 0 or not any(map(str.isdigit, cell))
    ]


def _clean(table: RawTable, declared: Declared) -> _Grid:
    rows = [[clean(cell).text.strip() for cell in row] for row in table.rows if row]
    caption = clean(table.caption[-_MAX_CAPTION:]).text.strip()
    caption = "" if caption.endswith((".", "。")) else caption
    own = declared_in(caption, label=True).over(declared_in(rows[0][0], label=True))
    return _Grid(rows, caption, own.over(declared))


def _by_label(grid: _Grid, target: Target) -> list[Reading]:
    rows = _fitting([row[0] if row else "" for row in grid.rows], target)
    if rows:
        cells = [(row, column) for row in rows for column in range(1, len(grid.rows[row]))]
        return _read(grid, cells, target)
    columns = _fitting(grid.rows[0], target)
    cells = [
        (row, column)
        for row in range(1, len(grid.rows))
        for column in columns
        if column < len(grid.rows[row])
    ]
    return _read(grid, cells, target)


def _fitting(labels: list[str], target: Target) -> list[int]:
    """Labels equal to the metric; failing that, the only label that contains it."""
    bare = [_bare(label, target) for label in labels]
    for normal in (exact, core):
        metric = normal(target.metric)
        equal = [k for k, label in enumerate(bare) if metric and normal(label) == metric]
        if equal:
            return equal
    containing = [
        k for k, label in enumerate(bare) if target.naming and target.naming.search(label)
    ]
    return containing if len(containing) == 1 else []


def _bare(label: str, target: Target) -> str:
    """The label without company, periods and brackets that declare a unit."""
    pieces, position = [], 0
    for period in find_periods(label):
        pieces.append(label[position : period.start])
        position = period.end
    bare = "".join([*pieces, label[position:]])
    bare = bare.replace(target.company, "") if target.company else bare
    cut = bare.rfind("(")
    if cut > 0 and declared_in(bare[cut:], label=True) != Declared():
        bare = bare[:cut]
    head, _, tail = bare.rpartition(",")
    return head if head and declared_in(tail, label=True) != Declared() else bare


def _read(grid: _Grid, cells: list[tuple[int, int]], target: Target) -> list[Reading]:
    dated = bool(_periods(grid)) and target.period is not None
    readings = []
    for row, column in cells:
        cell = grid.rows[row][column]
        passage = read_passage(cell, target)
        if not passage.values or (row == 0 and find_periods(cell)):
            continue
        if dated and not _fits(grid, row, column, target):
            continue
        outcome = _cell(passage, grid, row, column, target)
        readings += [outcome] if outcome is not None else []
    return readings


def _cell(passage: Passage, grid: _Grid, row: int, column: int, target: Target) -> Reading | None:
    declared = Declared()
    for text in (*_texts(grid, row, column), grid.rows[row][0], grid.column(column)):
        declared = declared.over(declared_in(text, label=True))
    scope = (0, len(passage.text))
    return choose(passage, scope, target, declared.over(grid.declared), marked=True).reading


def _texts(grid: _Grid, row: int, column: int) -> list[str]:
    """Cells of the row without digits, such as its unit."""
    return [
        cell
        for index, cell in enumerate(grid.rows[row])
        if index not in (0, column) and not any(map(str.isdigit, cell))
    ]


def _periods(grid: _Grid) -> list[Period]:
    labels = [*grid.rows[0], *(row[0] for row in grid.rows if row), grid.caption]
    return [period for label in labels for period in find_periods(label)]


def _fits(grid: _Grid, row: int, column: int, target: Target) -> bool:
    """Year and kind from header, row label (or another cell of the row) and caption, in turn."""
    header = find_periods(grid.column(column)) if row else ()
    texts = [grid.rows[row][0], *(c for k, c in enumerate(grid.rows[row]) if k not in (0, column))]
    labels = [period for text in texts[:1] for period in find_periods(text)]
    if not labels and not header:
        labels = [period for text in texts[1:] for period in find_periods(text)]
    headers_dated = any(find_periods(cell) for cell in grid.rows[0][1:])
    if row and headers_dated and not header:
        return False
    periods = [*header, *labels, *find_periods(grid.caption)]
    year = next((p.year for p in periods if p.year is not None), None)
    kind = next((p.kind for p in periods if p.kind is not None), None)
    return (
        bool(periods) and target.period is not None and Period(0, 0, year, kind).fits(target.period)
    )
