"""Values of the formulas of a workbook that no office program has computed.

What people write in most workbooks is computed as Excel does: operators, ranges of all sheets and
the functions below. Nothing else is guessed: such a cell says "cannot be computed: OFFSET", and so
does what depends on it. Cells are computed after those that they need, however long the chain, and
all of a workbook within a number of steps, so that a hostile one ends as well. Like `checking` it
lies beside programs, and imports the standard library and openpyxl alone.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from functools import partial
from importlib import import_module
from itertools import chain
from math import floor, fsum, isfinite, prod
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

_MOST_CELLS = 1 << 20  # of one range: a whole column
_MOST_STEPS = 5_000_000  # for all formulas together: cells of ranges that are read, and more
_FORMULA_STEPS, _WAITING_STEPS, _MADE_STEPS = 60, 8, 6  # a formula, a cell it waits for or makes
_KEPT_AREAS = 64  # ranges that are read once for the formulas that share them
_LONGEST = 32_767  # characters of a text in a cell, as Excel has it
_BINDS = {"=": 1, "<>": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4,
          "/": 4, "^": 5}  # fmt: skip
_COMPARED = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt,
             "<=": operator.le, ">=": operator.ge}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[float, float], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "^": operator.pow,
}  # fmt: skip
_SHEET = re.compile(r"(?:'((?:[^']|'')+)'|([^'!]+))!(.+)")
_CRITERION = re.compile(r"(<=|>=|<>|<|>|=)?(.*)", re.DOTALL)
_DAY = re.compile(r"\d+[-/.]\d+[-/.]\d+")
_LONGEST_NAME = 60  # characters of what is not computed, in its place
_Address = tuple[str, int, int]  # sheet, row, column
_Part = Callable[[], Any]  # computes a part of a formula


class _Uncomputable(Exception):
    """What is not computed here; the message names it."""


class _Needs(Exception):
    """The cells that have to be computed first, as argument."""


class _Error(Exception):
    """A value such as #DIV/0!, as a result or as that of a cell in an area."""


class _Area(list[list[Any]]):
    """The values of a range by rows; of a single cell too. All rows are of one length."""

    @property
    def flat(self) -> list[Any]:
        return list(chain.from_iterable(self))


class _Array(_Area):
    """What an operation makes of ranges; only SUMPRODUCT takes it."""


def with_values(path: str) -> tuple[str, list[str]]:
    """A copy of a workbook with values in the place of formulas, and what could not be computed.

    Values that the file holds stay. Raises what openpyxl raises for a file that does not open.
    """
    book = _Book(path)
    book.compute()
    lacking = set[str]()
    for (title, row, column), value in book.known.items():
        cell: Any = book.sheets[title].cell(row, column)
        if cell.data_type != "f":
            continue
        if isinstance(value, _Uncomputable):
            lacking.add(str(value))
            value = f"cannot be computed: {value}"
        cell.value = str(value) if isinstance(value, _Error) else value
        if isinstance(value, str):
            cell.data_type = "s"  # also where it begins with "="
    copy = Path(mkdtemp(), Path(path).name)
    book.workbook.save(copy)
    return str(copy), sorted(lacking)


def cells_of(sheet: Any) -> list[Any]:
    """The cells that a sheet has, by rows; a single one in its last corner makes no others."""
    return [cell for _, cell in sorted(sheet._cells.items())]


class _Book:
    """A workbook: what is known of its cells, and the formulas without a value."""

    def __init__(self, path: str) -> None:
        from openpyxl import load_workbook

        self.workbook, values = load_workbook(path), load_workbook(path, data_only=True)
        self.sheets = {sheet.title.casefold(): sheet for sheet in self.workbook.worksheets}
        self.known: dict[_Address, Any] = {}
        self.without: dict[_Address, Any] = {}
        self.steps, self.lacking = 0, False  # is there a cell that cannot be computed?
        self.areas: dict[tuple[str, str], _Area] = {}
        self.rows = max(sheet.max_row for sheet in self.sheets.values())
        self.columns = max(sheet.max_column for sheet in self.sheets.values())
        days: Any = import_module("openpyxl.utils.datetime")
        for name, sheet in self.sheets.items():
            for cell, stored in zip(cells_of(sheet), cells_of(values[sheet.title]), strict=True):
                address, value = (name, cell.row, cell.column), stored.value
                if isinstance(value, date | time | timedelta):
                    value = days.to_excel(value, self.workbook.epoch)
                if value is not None:
                    self.known[address] = _Error(value) if stored.data_type == "e" else value
                elif cell.data_type == "f":
                    self.without[address] = cell.value

    def compute(self) -> None:
        """Compute every cell after those that it needs."""
        parts: dict[_Address, _Part] = {}  # of cells that wait for others
        waiting = list(reversed(self.without))
        while waiting:
            address = waiting[-1]
            if address in self.known:
                waiting.pop()
                continue
            try:
                value = self._computed(address, parts)
            except _Needs as needs:
                missing: list[_Address] = needs.args[0]
                if not any(one in parts for one in missing):
                    waiting += reversed(missing)
                    continue
                value = _Uncomputable("a circular reference")
            self.known[address] = value
            self.lacking = self.lacking or isinstance(value, _Uncomputable)
            parts.pop(address, None)

    def _computed(self, address: _Address, parts: dict[_Address, _Part]) -> Any:
        """The value of a formula. Raises _Needs, and keeps what computes it then."""
        try:
            if address not in parts:
                self.spend(_FORMULA_STEPS)
                parts[address] = _Formula(self, address[0], self.without[address]).whole()
            value = _single(parts[address]())
            is_endless = isinstance(value, float) and not isfinite(value)
            return _Error("#NUM!") if is_endless else 0 if value is None else value
        except (_Error, _Uncomputable) as error:
            return type(error)(str(error))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return _Uncomputable("a formula of this form")
        except RecursionError:
            return _Uncomputable("a formula nested this deep")

    def spend(self, steps: int, cells: int = 0) -> None:
        """Count steps; of a range its `cells`. Raises _Uncomputable for more than are taken."""
        if cells > _MOST_CELLS:
            raise _Uncomputable("a range of this size")
        self.steps += steps
        if self.steps > _MOST_STEPS:
            raise _Uncomputable("a workbook with this much to compute")

    def area(self, text: str, sheet: str) -> _Area:
        if (area := self.areas.get((text, sheet))) is not None:
            self.spend(len(area) * len(area[0]))
            return area
        name, rows, columns = self._bounds(text, sheet)
        count = len(rows) * len(columns)
        self.spend(count, count)
        known = self.known
        area = _Area([known.get((name, row, n)) for n in columns] for row in rows)
        empty = [at for at, line in enumerate(area) if None in line] if self.without else ()
        if missing := [
            (name, rows[at], n)
            for at in empty
            for n, value in zip(columns, area[at], strict=True)
            if value is None and (name, rows[at], n) in self.without
        ]:
            self.spend(_WAITING_STEPS * len(missing))
            raise _Needs(missing)
        if self.lacking:
            for value in area.flat:
                if isinstance(value, _Uncomputable):
                    raise value
        if count > 1:
            if len(self.areas) >= _KEPT_AREAS:
                del self.areas[next(iter(self.areas))]
            self.areas[text, sheet] = area
        return area

    def _bounds(self, text: str, sheet: str) -> tuple[str, range, range]:
        """The sheet, rows and columns of a reference; whole columns end with the last row."""
        from openpyxl.utils.cell import range_boundaries

        if match := _SHEET.fullmatch(text):
            sheet = (match[1] or match[2]).replace("''", "'").casefold()
        bounds: Any = ()
        with suppress(ValueError):
            bounds = range_boundaries((match[3] if match else text).replace("$", ""))
        if not bounds or sheet not in self.sheets:
            raise _Uncomputable(f"the reference {text[:_LONGEST_NAME]}")
        columns = range(bounds[0] or 1, (bounds[2] or self.columns) + 1)
        return sheet, range(bounds[1] or 1, (bounds[3] or self.rows) + 1), columns

    def each(self, function: Callable[..., Any], *parts: _Part) -> _Part:
        """A function of single values; of ranges, for each of their cells."""

        def value() -> Any:
            values = [part() for part in parts]
            areas = [one for one in values if isinstance(one, _Area) and len(one.flat) != 1]
            if not areas:
                return function(*map(_single, values))
            wide, high = max(len(area[0]) for area in areas), max(map(len, areas))
            self.spend(_MADE_STEPS * wide * high, wide * high)
            made = _Array([None] * wide for _ in range(high))
            for at, row in enumerate(made):
                for n in range(wide):
                    try:
                        row[n] = function(*(_at(one, at, n) for one in values))
                    except _Error as error:
                        row[n] = error
            return made

        return value


class _Formula:
    """The tokens of a formula, read as what computes it."""

    def __init__(self, book: _Book, sheet: str, formula: str) -> None:
        from openpyxl.formula import Tokenizer

        tokens = Tokenizer(formula).items
        self.tokens = [token for token in tokens if token.type != "WHITE-SPACE"]
        self.book, self.sheet, self.at = book, sheet, 0

    def whole(self) -> _Part:
        part = self._expression(1)
        if self.at < len(self.tokens):
            raise _Uncomputable(f"the sign {self.tokens[self.at].value}")
        return part

    def _is(self, kind: str) -> bool:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return token is not None and kind in (token.type, f"{token.type} {token.subtype}")

    def _expression(self, least: int) -> _Part:
        first, rest = self._operand(), list[tuple[str, _Part]]()
        while self._is("OPERATOR-INFIX") and _BINDS.get(self.tokens[self.at].value, 0) >= least:
            sign = self.tokens[self.at].value
            self.at += 1
            rest.append((sign, self._expression(_BINDS[sign] + 1)))
        return partial(self._operated, first, rest) if rest else first

    def _operated(self, first: _Part, rest: Sequence[tuple[str, _Part]]) -> Any:
        """What operators of one strength make of their operands, from the left."""
        value = first()
        for sign, part in rest:
            value = self.book.each(partial(_operated, sign), partial(_given, value), part)()
        return value

    def _operand(self) -> _Part:
        token = self.tokens[self.at]
        self.at += 1
        if token.type == "OPERATOR-PREFIX":
            sign = -1 if token.value == "-" else 1
            return self.book.each(lambda value: sign * _number(value), self._operand())
        if token.type == "FUNC" and token.subtype == "OPEN":
            part = self._call(token.value.upper().split(".")[-1].removesuffix("("))
        elif token.type == "PAREN" and token.subtype == "OPEN":
            part = self._expression(1)
            self.at += 1
        elif token.type == "OPERAND" and token.subtype == "RANGE":
            part = partial(self.book.area, token.value, self.sheet)
        elif token.type == "OPERAND":
            part = partial(_constant, token.value, token.subtype)
        else:
            raise _Uncomputable(f"the sign {token.value}")
        while self._is("OPERATOR-POSTFIX"):
            self.at += 1
            part = self.book.each(lambda value: _number(value) / 100, part)
        return part

    def _call(self, name: str) -> _Part:
        parts: list[_Part] = []
        while not self._is("FUNC CLOSE"):
            parts.append((lambda: None) if self._is("SEP ARG") else self._expression(1))
            self.at += self._is("SEP ARG")
        self.at += 1
        if name in _SINGLE:
            return self.book.each(_SINGLE[name], *parts)
        if name in _WHOLE:
            return partial(_of_ranges, name, *parts)
        if name not in _LAZY:
            raise _Uncomputable(name[:_LONGEST_NAME])
        return partial(_LAZY[name], *parts)


def _of_ranges(name: str, *parts: _Part) -> Any:
    values = [part() for part in parts]
    if name != "SUMPRODUCT" and any(isinstance(one, _Array) for one in values):
        raise _Uncomputable(f"{name} of an array")
    return _WHOLE[name](*values)


def _given(value: Any) -> Any:
    return value


def _at(value: Any, row: int, n: int) -> Any:
    """The value of a cell of a range; a row, a column or a single value stands for all."""
    if not isinstance(value, _Area):
        return value
    line = value[row if len(value) > 1 else 0]
    return _sound(line[n if len(line) > 1 else 0])


def _single(value: Any) -> Any:
    if isinstance(value, _Area) and len(value.flat) != 1:
        raise _Uncomputable("a range in the place of one value")
    return _at(value, 0, 0)


def _sound(value: Any) -> Any:
    if isinstance(value, _Error):
        raise value
    return value


def _constant(text: str, kind: str) -> Any:
    if kind == "TEXT":
        return text[1:-1].replace('""', '"')
    if kind == "ERROR":
        raise _Error(text)
    return text.upper() == "TRUE" if kind == "LOGICAL" else float(text)


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_numeric(value: Any) -> bool:
    """Is it a text that Excel reads as a number?"""
    return isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d+(?:\.\d+)?\s*", value) is not None


def _number(value: Any) -> float:
    if isinstance(value, str) and not _is_numeric(value):
        raise _Error("#VALUE!")
    return 0.0 if value is None else float(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return format(value, ".15g") if _is_figure(value) else "" if value is None else str(value)


def _key(value: Any, other: Any) -> tuple[int, Any]:
    """What values compare by: numbers before texts before truths; a blank is like the other."""
    if value is None:
        value = "" if isinstance(other, str) else False if isinstance(other, bool) else 0
    if isinstance(value, bool):
        return 2, value
    return (1, value.casefold()) if isinstance(value, str) else (0, float(_text(value)))


def _operated(sign: str, first: Any, second: Any) -> Any:
    if sign == "&":
        joined = _text(first) + _text(second)
        if len(joined) > _LONGEST:
            raise _Error("#VALUE!")
        return joined
    if sign in _COMPARED:
        return _COMPARED[sign](_key(first, second), _key(second, first))
    a, b = _number(first), _number(second)
    if sign == "/" and not b:
        raise _Error("#DIV/0!")
    value = _ARITHMETIC[sign](a, b) if a or b or sign != "^" else 1j
    if isinstance(value, complex):
        raise _Error("#NUM!")
    return value


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        raise _Error("#VALUE!")
    return bool(value)


def _if(test: _Part, then: _Part, otherwise: _Part = lambda: False) -> Any:
    """Only the branch that is taken: what stands in the other may be an error."""
    return (then if _truth(_single(test())) else otherwise)()


def _if_error(value: _Part, otherwise: _Part) -> Any:
    try:
        return _single(value())
    except _Error:
        return otherwise()


def _figures(*values: Any) -> list[float]:
    """The numbers among the cells of ranges, and what is given by itself as a number."""
    figures: list[float] = []
    for value in values:
        is_area = isinstance(value, _Area)
        figures += filter(_is_figure, map(_sound, value.flat)) if is_area else [_number(value)]
    return figures


def _mean(figures: Sequence[float]) -> float:
    if not figures:
        raise _Error("#DIV/0!")
    return fsum(figures) / len(figures)


def _cells(*values: Any) -> list[Any]:
    return [cell for one in values for cell in (one.flat if isinstance(one, _Area) else [one])]


def _truths(*values: Any) -> list[bool]:
    return [_truth(_sound(cell)) for cell in _cells(*values) if not isinstance(cell, str | None)]


def _rounded(mode: str, value: Any, digits: Any = 0) -> float:
    unit = Decimal(1).scaleb(-int(_number(digits)))
    given = Decimal(format(_number(value), ".15g"))
    return float((given / unit).to_integral_value(mode) * unit)


def _sum_of_products(*areas: Any) -> float:
    rows = zip(*map(_cells, areas), strict=True)
    return fsum(prod(one if _is_figure(one) else 0 for one in map(_sound, row)) for row in rows)


def _pattern_of(wanted: str) -> re.Pattern[str]:
    """What a criterion with * and ? matches: each piece at its first place, so no long search."""
    signs = {"?": ".", "~*": r"\*", "~?": r"\?"}
    pieces = [""]
    for sign in re.split(r"(~?[*?])", wanted):
        if sign == "*":
            pieces.append("")
        else:
            pieces[-1] += signs.get(sign) or re.escape(sign)
    first, *others = pieces
    if not others:
        return re.compile(first, re.DOTALL)
    inner = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    return re.compile(f"{first}{inner}.*{others[-1]}", re.DOTALL)


def _meets(criterion: Any) -> Callable[[Any], bool]:
    """What a criterion such as ">=5", "<>north" or "A*" says of a cell."""
    match = _CRITERION.fullmatch(_text(_single(criterion)))
    sign, wanted = (match[1] or "=", match[2].casefold()) if match else ("=", "")
    if _DAY.fullmatch(wanted):
        raise _Uncomputable("a criterion with a day in words")
    compared, is_other = _COMPARED[sign], sign == "<>"
    try:
        number = float(wanted)
    except ValueError:
        form = _pattern_of(wanted)
        if sign in ("=", "<>"):
            return lambda cell: (form.fullmatch(_text(cell).casefold()) is None) == is_other
        return lambda cell: isinstance(cell, str) and compared(cell.casefold(), wanted)

    def meets(cell: Any) -> bool:
        if not _is_figure(cell) and not (sign in ("=", "<>") and _is_numeric(cell)):
            return is_other
        return bool(compared(float(cell), number))

    return meets


def _chosen(values: Any, *conditions: Any) -> _Area:
    """The cells of a range beside those that meet all conditions: range, criterion, and so on."""
    tests = [
        [meets(cell) for cell in area.flat]
        for area, meets in zip(conditions[::2], map(_meets, conditions[1::2]), strict=True)
    ]
    rows = zip(values.flat, *tests, strict=True)
    return _Area([[cell for cell, *all_met in rows if all(all_met)]])


def _if_one(function: Callable[[list[float]], float]) -> Callable[..., float]:
    def value(area: Any, criterion: Any, values: Any = None) -> float:
        return function(_figures(_chosen(area if values is None else values, area, criterion)))

    return value


def _position(wanted: Any, values: Sequence[Any], kind: int) -> int:
    """The position of a value: itself (0), or the last one up to it in ascending order (1)."""
    keys = [(3, 0) if cell is None else _key(cell, None) for cell in map(_sound, values)]
    key = _key(_single(wanted), None)
    if kind not in (0, 1) or (kind and keys != sorted(keys)):
        raise _Uncomputable("a lookup of this order")
    if kind == 0 and isinstance(_single(wanted), str) and re.search(r"[*?~]", _single(wanted)):
        raise _Uncomputable("a lookup by a pattern")
    places = [at for at, own in enumerate(keys) if (own <= key if kind else own == key)]
    if not places:
        raise _Error("#N/A")
    return places[-1 if kind else 0]


def _vlookup(wanted: Any, table: _Area, column: Any, is_near: Any = True) -> Any:
    row = _position(wanted, [line[0] for line in table], int(_truth(_single(is_near))))
    return _sound(table[row][int(_number(_single(column))) - 1])


def _index(area: _Area, row: Any, column: Any = None) -> Any:
    at, n = (int(_number(_single(one))) for one in (row, column))
    if len(area) == 1 and column is None:
        at, n = 1, at
    if at > len(area) or n > len(area[0]):
        raise _Error("#REF!")
    rows = area[at - 1 : at] if at else area
    return _Area(line[n - 1 : n] if n else line for line in rows)


def _xlookup(wanted: Any, keys: _Area, values: _Area, missing: Any = None) -> Any:
    if 1 not in (len(values), len(values[0])):
        raise _Uncomputable("XLOOKUP of this form")
    try:
        return _sound(values.flat[_position(wanted, keys.flat, 0)])
    except _Error as error:
        if missing is None or str(error) != "#N/A":
            raise
        return missing


_LAZY: dict[str, Callable[..., Any]] = {"IF": _if, "IFERROR": _if_error}
_SINGLE: dict[str, Callable[..., Any]] = {
    "ROUND": partial(_rounded, ROUND_HALF_UP), "ROUNDUP": partial(_rounded, ROUND_UP),
    "ROUNDDOWN": partial(_rounded, ROUND_DOWN), "ABS": lambda value: abs(_number(value)),
    "INT": lambda value: floor(_number(value)), "NOT": lambda value: not _truth(value),
    "ISBLANK": lambda value: value is None,
}  # fmt: skip
_WHOLE: dict[str, Callable[..., Any]] = {
    "SUM": lambda *values: fsum(_figures(*values)), "SUMPRODUCT": _sum_of_products,
    "AVERAGE": lambda *values: _mean(_figures(*values)),
    "MIN": lambda *values: min(_figures(*values), default=0),
    "MAX": lambda *values: max(_figures(*values), default=0),
    "COUNT": lambda *values: sum(map(_is_figure, _cells(*values))),
    "COUNTA": lambda *values: sum(cell is not None for cell in _cells(*values)),
    "COUNTIF": lambda area, criterion: len(_chosen(area, area, criterion).flat),
    "COUNTIFS": lambda area, *more: len(_chosen(area, area, *more).flat),
    "SUMIF": _if_one(fsum), "AVERAGEIF": _if_one(_mean),
    "SUMIFS": lambda values, *more: fsum(_figures(_chosen(values, *more))),
    "AVERAGEIFS": lambda values, *more: _mean(_figures(_chosen(values, *more))),
    "AND": lambda *values: all(_truths(*values)), "OR": lambda *values: any(_truths(*values)),
    "VLOOKUP": _vlookup, "XLOOKUP": _xlookup, "INDEX": _index,
    "MATCH": lambda wanted, area, kind=1: (
        _position(wanted, area.flat, int(_number(_single(kind)))) + 1
    ),
}  # fmt: skip
