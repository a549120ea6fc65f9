"""Tables of files: workbooks, delimited text, Parquet, SQLite and lists of records, as sheets.

Runs in the confined child of `views`. Cells are texts as a person reads them: whole numbers without
".0", dates in ISO form, percentages as such; what a column holds is told from these texts.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from itertools import islice
from typing import Any

from construction.grading.openers import Bounds, TooLarge, check_zip
from construction.judging.evidence.views import Column, Sheet
from data.text.scripts import DIGITS

_CELL_CHARS = 2_000
_HEAD_CHARS, _TAIL_ROWS, _MOST_COLUMNS, _MOST_TABLES = 120_000, 8, 80, 40
_NAMED = 40  # cells of one sheet that are named: errors, formulas, comments, colours
_EXAMPLES, _FEW, _EXAMPLE_CHARS = 3, 8, 40
_FULL_XML = 8 << 20  # bytes of sheets up to which a workbook is read with its layout
_PARTS = 2_000  # of a workbook that is read whole
_HEADER_AMONG = 12  # filled rows among which the header is
_NUMBER = re.compile(
    r"[-+(]?\s?[$€£¥]?\s?-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?\s?%?\)?"
)
_DATE = re.compile(r"\d{4}([-/.])\d{1,2}\1\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?")
_OF_NUMBERS = frozenset("0123456789.eE+-")
_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!")
_BOOLEANS = frozenset(("true", "false"))
_PLAIN = frozenset(("General", "@", "0"))

_Row = tuple[str, ...]
_Rows = Sequence[_Row]


def _number(text: str) -> Decimal | None:
    """The value of a text that is one number, whatever its sign, currency and thousands."""
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    bare = "".join(filter(_OF_NUMBERS.__contains__, text))
    if len(bare) > 1 and bare[0] == "0" and bare.isdigit():
        return None  # an identifier such as 00417
    return -Decimal(bare) if text.startswith("(") else Decimal(bare)


def _cell_text(value: object, number_format: str = "") -> str:
    """A cell as it is shown, percentages with all their digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        plain = format(value, ".15g") if isinstance(value, float) else str(value)
        if "%" not in number_format or plain.strip("-0123456789."):
            return plain
        percent = format(Decimal(plain) * 100, "f")
        return (percent.rstrip("0").rstrip(".") if "." in percent else percent) + "%"
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time()
        return value.date().isoformat() if at_midnight else value.isoformat(" ", "seconds")
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    text = str(value).strip()
    return text if len(text) <= _CELL_CHARS else f"{text[:_CELL_CHARS]}… ({len(text)} characters)"


def letters(column: int) -> str:
    """The letters of a column, the first is 1."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def sheet_of(
    name: str, rows: _Rows, *, total: int | None = None, last: _Rows = (), **more: Any
) -> Sheet:
    """The sheet of rows from the first row on; blank ones may be empty.

    `total` counts all filled rows of a table of which `rows` are the first and `last` the last.
    """
    filled = [at for at, row in enumerate(rows) if any(row)]
    if not filled:
        return Sheet(name=name, note=str(more.get("note", "")) or "empty")
    first = filled[0]
    margin = min(next(n for n, cell in enumerate(rows[at]) if cell) for at in filled)
    kept = [_row(row, margin) for row in rows[first : filled[-1] + 1]]
    width = max(map(len, kept))
    header = _header(kept)
    names = () if header is None else kept[header]
    body = [row for row in kept[0 if header is None else header + 1 :] if row]
    head = kept[: _fitting(kept)]
    is_whole = len(head) == len(kept) and total is None
    tail = [_row(row, margin) for row in last] or kept[max(len(head), len(kept) - _TAIL_ROWS) :]
    errors = _errors(kept, first, margin)
    return Sheet(
        name=name,
        columns=_columns(names, body, margin, width),
        rows=len(body) if total is None else total - (len(filled) - len(body)),
        duplicates=len(body) - len(set(body)),
        errors=tuple(islice(errors, _NAMED)),
        error_count=len(errors),
        head=tuple(row[:_MOST_COLUMNS] for row in head),
        tail=tuple(row[:_MOST_COLUMNS] for row in tail),
        first_row=first + 1,
        last_row=filled[-1] + 1 if total is None else first + total,
        first_column=margin + 1,
        header_row=0 if header is None else first + header + 1,
        whole=is_whole,
        note=_notes(str(more.pop("note", "")), width, len(body) if total is not None else 0),
        **more,
    )


def _notes(note: str, width: int, first_rows: int) -> str:
    wide = f"{width - _MOST_COLUMNS} more columns are not shown" if width > _MOST_COLUMNS else ""
    long = f"columns, errors and duplicates are those of the first {first_rows} rows"
    return "; ".join(filter(None, (note, wide, long if first_rows else "")))


def _row(row: _Row, margin: int) -> _Row:
    """A row from its first column on, without blanks behind."""
    last = next((n for n in range(len(row), 0, -1) if row[n - 1]), 0)
    return tuple(row[margin:last])


def _fitting(rows: _Rows) -> int:
    room = _HEAD_CHARS
    for number_of, row in enumerate(rows):
        room -= sum(map(len, row[:_MOST_COLUMNS])) + 3 * len(row)
        if room < 0:
            return max(1, number_of)
    return len(rows)


def _header(rows: _Rows) -> int | None:
    """The row that names the columns: the first of several words, before any row of values."""
    filled = [(at, row) for at, row in enumerate(rows) if row][:_HEADER_AMONG]
    usual = sorted(sum(map(bool, row)) for _, row in filled)[len(filled) // 2]
    for at, row in filled:
        cells = [cell for cell in row if cell]
        if len(cells) < min(2, usual) or 2 * len(cells) < usual:
            continue
        values = [cell for cell in cells if _number(cell) is not None or _DATE.fullmatch(cell)]
        years = [cell for cell in values if len(cell) == 4 and cell[:2] in ("19", "20")]
        is_alone = len(filled) == 1 == len(cells)  # several words alone: a table without rows
        return at if len(values) == len(years) < len(cells) and not is_alone else None
    return None


def _columns(names: _Row, body: _Rows, margin: int, width: int) -> tuple[Column, ...]:
    columns = []
    for n in range(min(width, _MOST_COLUMNS)):
        name, *cells = (row[n] if n < len(row) else "" for row in (names, *body))
        if name or any(cells):
            columns.append(_column(name or letters(margin + n + 1), cells))
    return tuple(columns)


def _column(name: str, cells: Sequence[str]) -> Column:
    counts = Counter(filter(None, cells))
    values = {cell: _number(cell) for cell in counts}
    kinds = {cell: _kind(cell, values[cell]) for cell in counts}
    kinds_seen = Counter(kinds[cell] for cell in cells if cell)
    kind = _type(kinds_seen)
    ordered: list[str] = []
    if kind in ("integer", "number", "mixed"):
        numbers = {cell: value for cell, value in values.items() if value is not None}
        ordered = sorted(numbers, key=lambda cell: (numbers[cell], cell))
    elif kind == "date":
        ordered = sorted(counts, key=lambda cell: [int(n) for n in DIGITS.findall(cell)])
    shown = [cell for cell, _ in counts.most_common()]
    if kind == "mixed":  # first those that are of another type than most
        most = kinds_seen.most_common(1)[0][0]
        shown.sort(key=lambda cell: kinds[cell] == most)
    few = _FEW if len(shown) <= _FEW else _EXAMPLES
    return Column(
        name=name[: _EXAMPLE_CHARS * 2],
        type=kind,
        low=ordered[0] if ordered else None,
        high=ordered[-1] if ordered else None,
        distinct=len(counts),
        blanks=len(cells) - counts.total(),
        examples=tuple(cell[:_EXAMPLE_CHARS] for cell in shown[:few]),
    )


def _kind(cell: str, value: Decimal | None) -> str:
    if value is not None:
        return "integer" if cell.lstrip("+-").isdigit() else "number"
    if _DATE.fullmatch(cell):
        return "date"
    return "boolean" if cell.lower() in _BOOLEANS else "text"


def _type(kinds_seen: Counter[str]) -> str:
    if len(kinds_seen) < 2:
        return next(iter(kinds_seen), "empty")
    if set(kinds_seen) == {"integer", "number"}:
        return "number"
    return "text" if kinds_seen["text"] >= 0.9 * kinds_seen.total() else "mixed"


def _errors(rows: _Rows, first: int, margin: int) -> list[str]:
    return [
        f"{letters(margin + n + 1)}{first + at + 1} {cell}"
        for at, row in enumerate(rows)
        for n, cell in enumerate(row)
        if cell in _ERRORS
    ]


def delimited(text: str, bounds: Bounds) -> Sheet:
    """A table of delimited text; of a long one the first rows are read, and the last are shown."""
    mark = _delimiter(text)
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    rows: list[_Row] = []
    cells = 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    for values in reader:
        rows.append(tuple(_cell_text(value) for value in values))
        cells += len(values) + 1
        if cells > bounds.cells:
            break
    else:
        return sheet_of("", rows, note=_ragged(rows))
    lines = text.splitlines()
    last = csv.reader(lines[-_TAIL_ROWS:], delimiter=mark)
    tail = [tuple(_cell_text(value) for value in values) for values in last]
    return sheet_of("", rows, total=sum(map(bool, lines)), last=tail)


def _ragged(rows: _Rows) -> str:
    """Rows that are longer or shorter than most: a stray delimiter moves values."""
    widths = Counter(len(row) for row in rows if any(row))
    if len(widths) < 2:
        return ""
    usual = widths.most_common(1)[0][0]
    odd = [str(at) for at, row in enumerate(rows, 1) if any(row) and len(row) != usual]
    more = "" if len(odd) <= 10 else f" and {len(odd) - 10} more"
    return f"not of {usual} cells: row {', '.join(odd[:10])}{more}"


def _delimiter(text: str) -> str:
    """The mark that stands as often in each of the first lines; a comma if none does."""
    lines = [line for line in islice(io.StringIO(text[:50_000]), 20) if line.strip()]
    for mark in "\t;|,":
        counts = {line.count(mark) for line in lines}
        if len(counts) == 1 and 0 not in counts:
            return mark
    return max(",\t;|", key=lambda mark: sum(line.count(mark) > 0 for line in lines))


def records(values: Sequence[object], name: str = "", depth: int = 0) -> Iterator[Sheet]:
    """The lists of flat records in decoded values, at most three levels deep, as tables."""
    maps = [value for value in values if isinstance(value, dict)]
    if len(maps) > 1:
        keys = list(dict.fromkeys(str(key) for record in maps[:500] for key in record))
        rows = [tuple(keys)] + [tuple(_field(r.get(key)) for key in keys) for r in maps]
        if len(keys) <= _MOST_COLUMNS:
            yield sheet_of(name or "records", rows)
        return
    for key, inner in (pair for record in maps if depth < 3 for pair in record.items()):
        if isinstance(inner, list | dict):
            below = inner if isinstance(inner, list) else [inner]
            yield from records(below, f"{name}.{key}" if name else str(key), depth + 1)


def _field(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_field(inner) for inner in value[:20])[:_CELL_CHARS]
    if isinstance(value, dict):
        shown = (f"{key}: {_field(inner)}" for key, inner in islice(value.items(), 20))
        return "; ".join(shown)[:_CELL_CHARS]
    return _cell_text(value)


def parquet(data: bytes, bounds: Bounds) -> Sheet:
    """The table of a Parquet file."""
    import polars

    source = io.BytesIO(data)
    names = list(polars.read_parquet_schema(source))
    frame = polars.scan_parquet(source)
    total = int(frame.select(polars.len()).collect().item())
    most = max(1, bounds.cells // max(1, len(names)))
    head = frame.head(most).collect()
    rows = [tuple(names), *(tuple(map(_field, row)) for row in head.iter_rows())]
    if total <= most:
        return sheet_of("", rows)
    last = [tuple(map(_field, row)) for row in frame.tail(_TAIL_ROWS).collect().iter_rows()]
    return sheet_of("", rows, total=total + 1, last=last)


def sqlite(data: bytes, bounds: Bounds) -> Iterator[Sheet]:
    """The tables of a SQLite file; views and virtual tables would run code of the file."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(data)
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA query_only = ON")
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
        tables = [(str(name), str(sql)) for name, sql in base.execute(query)]
        for name, sql in tables[:_MOST_TABLES]:
            if sql.upper().startswith("CREATE VIRTUAL") or name.startswith("sqlite_"):
                continue
            quoted = '"' + name.replace('"', '""') + '"'
            total = int(base.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0])  # noqa: S608
            cursor = base.execute(f"SELECT * FROM {quoted}")  # noqa: S608
            names = tuple(str(entry[0]) for entry in cursor.description)
            most = max(1, bounds.cells // (len(names) * max(1, len(tables))))
            rows = [names, *(tuple(map(_field, row)) for row in cursor.fetchmany(most))]
            yield sheet_of(name, rows, total=total + 1 if total > most else None)


def workbook(data: bytes, bounds: Bounds) -> tuple[list[Sheet], str]:
    """The sheets of a workbook, and what is said of the whole."""
    import openpyxl

    with check_zip(data, bounds) as archive:
        size = sum(
            i.file_size for i in archive.infolist() if i.filename.startswith("xl/worksheets")
        )
    values = None if size > _FULL_XML else openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    if values is None or sum(s.max_row * s.max_column for s in values.worksheets) > bounds.cells:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        shown = book.worksheets[:_MOST_TABLES]
        sheets = [_long_sheet(sheet, bounds.cells // len(shown)) for sheet in shown]
        return sheets, "large: read without its formulas, merged cells and hidden rows"
    formulas = openpyxl.load_workbook(io.BytesIO(data))
    sheets = [_sheet(sheet, formulas[sheet.title]) for sheet in values.worksheets[:_MOST_TABLES]]
    notes = [f"{len(values.worksheets) - len(sheets)} more sheets"] * (
        len(values.worksheets) > len(sheets)
    )
    notes += [f"{len(values.chartsheets)} chart sheets"] * bool(values.chartsheets)
    names = [f"{name} = {item.attr_text}" for name, item in values.defined_names.items()]
    notes += [f"defined names: {', '.join(names[:10])}"] * bool(names)
    return sheets, "; ".join(notes)


def first_sheet(data: bytes, limits: Mapping[str, int]) -> dict[str, Any]:
    """The filled `rows` of a workbook's first sheet: each with its number, and its cells as text
    with whether they are formulas; or the `trouble`, in words without content."""
    try:
        return {"rows": _all_rows(data, limits)}
    except TooLarge as trouble:
        return {"trouble": str(trouble)}
    except (MemoryError, RecursionError):
        return {"trouble": "a workbook that needs more memory than the limit"}
    except Exception as error:  # a library may raise anything on a hostile file
        return {"trouble": f"a file that is not a workbook ({type(error).__name__})"}


def _all_rows(data: bytes, limits: Mapping[str, int]) -> list[tuple[int, list[tuple[str, bool]]]]:
    import openpyxl

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
    # The reader reads no more of a part than its declared size.
    if len(parts) > _PARTS or sum(p.file_size for p in parts) > limits["inflated_bytes"]:
        raise TooLarge("a workbook that inflates beyond the limit")
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
    if not book.worksheets:
        raise TooLarge("a workbook without sheets")
    sheet = book.worksheets[0]
    sheet.reset_dimensions()
    rows: list[tuple[int, list[tuple[str, bool]]]] = []
    for line, cells in enumerate(sheet.iter_rows(max_col=limits["columns"]), start=1):
        texts = [(_plain_cell(cell.value), cell.data_type == "f") for cell in cells]
        while texts and not texts[-1][0]:
            texts.pop()
        if texts and len(rows) > limits["rows"]:
            raise TooLarge("a workbook with more rows than the limit")
        if any(len(text) > limits["cell_chars"] for text, _ in texts):
            raise TooLarge("a cell longer than the limit")
        rows += [(line, texts)] if texts else []
    return rows


def _plain_cell(value: object) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _long_sheet(sheet: Any, most: int) -> Sheet:
    """The first rows of a long sheet and its last; beyond twice `most` cells it ends."""
    declared = int(sheet.max_row or 0)
    sheet.reset_dimensions()  # a declared size of 16384 columns would pad every row
    rows: list[_Row] = []
    last: list[_Row] = []
    total = cells = 0
    for row in sheet.iter_rows(values_only=True):
        cells += len(row) + 1
        if cells > 2 * most:
            note = f"not read to its end, which is said to be row {declared}"
            return sheet_of(sheet.title, rows, total=total, last=last, note=note)
        shown = tuple(map(_cell_text, row))
        total += any(shown)
        if cells <= most:
            rows.append(shown)
        elif any(shown):
            last = [*last[1 - _TAIL_ROWS :], shown]
    return sheet_of(sheet.title, rows, total=total if last else None, last=last)


def _sheet(sheet: Any, formulas: Any) -> Sheet:
    rows: list[_Row] = []
    computed: list[str] = []
    uncached = 0
    noted: dict[str, list[str]] = {"comment": [], "colour": [], "number kept as text": []}
    formats: dict[int, Counter[str]] = {}
    for row in sheet.iter_rows(min_row=1, min_col=1):
        shown = []
        for cell in row:
            text = _cell_text(cell.value, str(cell.number_format))
            source = formulas.cell(cell.row, cell.column).value
            if source is not None and formulas.cell(cell.row, cell.column).data_type == "f":
                source = getattr(source, "text", source)
                uncached += not text
                computed.append(f"{cell.coordinate} {source}")
                text = text or str(source)
            shown.append(text)
            _note(cell, text, noted, formats)
        rows.append(tuple(shown))
    notes = _layout(sheet)
    notes += [f"{uncached} formula cells hold no computed value"] * bool(uncached)
    for what, cells in noted.items():
        more = f" and {len(cells) - _NAMED} more" if len(cells) > _NAMED else ""
        notes += [f"{what}: {', '.join(cells[:_NAMED])}{more}"] * bool(cells)
    made = sheet_of(
        sheet.title,
        rows,
        note="; ".join(notes),
        formulas=len(computed),
        formula_cells=tuple(computed[:_NAMED]),
    )
    return _with_formats(made, formats)


def _note(
    cell: Any, text: str, noted: dict[str, list[str]], formats: dict[int, Counter[str]]
) -> None:
    """What else a cell shows: a comment, a colour, a number format, a number kept as text."""
    if getattr(cell, "comment", None) is not None:
        noted["comment"].append(f"{cell.coordinate} “{str(cell.comment.text)[:600]}”")
    fill = cell.fill if cell.has_style else None
    if fill is not None and fill.fill_type == "solid" and fill.fgColor.type == "rgb":
        noted["colour"].append(f"{cell.coordinate} {str(fill.fgColor.rgb)[-6:]}")
    if not text:
        return
    if isinstance(cell.value, str) and _number(text) is not None:
        noted["number kept as text"].append(cell.coordinate)
    if cell.number_format not in _PLAIN:
        formats.setdefault(cell.column, Counter())[str(cell.number_format)] += 1


def _with_formats(sheet: Sheet, formats: dict[int, Counter[str]]) -> Sheet:
    """The sheet with the number formats of its columns; a blank column has no entry there."""
    header = sheet.head[sheet.header_row - sheet.first_row] if sheet.header_row else ()
    named = {name: sheet.first_column + n for n, name in reversed([*enumerate(header)]) if name}
    columns = tuple(
        column.model_copy(update={"format": " or ".join(k for k, _ in seen.most_common(3))})
        if (seen := formats.get(named.get(column.name, 0)))
        else column
        for column in sheet.columns
    )
    return sheet.model_copy(update={"columns": columns})


def _layout(sheet: Any) -> list[str]:
    """Hidden and merged parts, charts and pictures of a sheet."""
    hidden_rows = [str(n) for n, row in sheet.row_dimensions.items() if row.hidden]
    hidden_columns = [str(n) for n, column in sheet.column_dimensions.items() if column.hidden]
    merged = sorted(map(str, sheet.merged_cells.ranges))
    charts = [type(chart).__name__ for chart in getattr(sheet, "_charts", ())]
    pictures = len(getattr(sheet, "_images", ()))
    notes = ["the sheet is hidden"] * (sheet.sheet_state != "visible")
    notes += [f"filter on {sheet.auto_filter.ref}"] * bool(sheet.auto_filter.ref)
    notes += [f"{pictures} pictures"] * bool(pictures)
    lists = (hidden_rows, hidden_columns, merged, charts)
    whats = ("hidden rows", "hidden columns", "merged", "charts")
    for what, names in zip(whats, lists, strict=True):
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        notes += [f"{what}: {', '.join(names[:20])}{more}"] * bool(names)
    return notes
