"""Changed copies of files: results that are wrong in one way each, and other inputs.

A changed copy differs from the original in one thing: a number, a row, a name, an order, the heads
of two columns, a unit. Texts, delimited tables, JSON and workbooks are changed by their structure,
documents and slides in their paragraphs and cells; other types are left alone. What the findings of
a check tell of is changed wherever it stands, and added where they say that it is absent; formulas
and programs are made to compute otherwise (`STRUCTURE`). Other inputs have a record less, other
numbers, hours and days: the reference's results for them are wrong results for the inputs as they
are, and checks that compute what they expect pass them. The same file gives the same copies.

This file is also the program that makes the copies, in a sandbox (inputs come from sessions, and
results from programs of a model); so it imports the standard library and what opens files there:

    python3 mutants.py told|wrong|inputs|names NAME WORDS    reads `given`, writes `made/`

WORDS are what findings tell of, or names of other entities; `names` lists those that a file holds.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from construction.judging.checks import office
else:
    try:
        from construction.judging.checks import office
    except ImportError:  # it lies beside this program where that runs
        office = import_module("office")

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,-])-?\d[\d,]*(?:\.\d+)?(?![A-Za-z0-9_]|[.,-]\d)")
_ID = re.compile(r"(?=[\d-]*[^\W\d])[\w-]{1,20}")
_WORD = re.compile(r"[^\W\d_]{3,}(?:[ -][^\W\d_]{3,})?|(?:(?![\x00-\u2e7f])[^\W\d_]){2,8}")
_DATE = re.compile(
    r"(?<!(?a:[\w.-]))(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})(?!(?a:[\w-]))"
)
_PROPER = re.compile(r"(?<![^\W_])[A-Z][a-z]{2,}(?![^\W_])")
_STAMP = re.compile(r"(?<!\d)(\d{8})(?=T\d{4}|(?!\d))")
_LISTED = re.compile(r"'([^']{2,80})'")
_NONE_OF = "none of ["  # how a finding begins to say what must not stand in a result
_BLOCK = re.compile(
    r"^BEGIN:(VEVENT|VTODO|VJOURNAL|VCARD)\r?\n.*?^END:\1[ \t]*(?:\r?\n|$)", re.M | re.S
)
_END = re.compile(r"(^DTEND[^:\n]*:\d{8}T)(\d\d)", re.M)
_MOST_TEXT, _MOST_NAMES = 200_000, 200
# One unit of a text is changed, the first of these that it holds.
_UNITS = (
    ("EUR", "USD"), ("USD", "EUR"), ("€", "$"), ("$", "€"), ("£", "€"), ("%", "‰"), ("元", "万元"),
    ("kg", "lb"),
)  # fmt: skip
_TABLES = {"csv": ",", "tsv": "\t"}
_BINARY = frozenset({"pdf", "png", "jpg", "jpeg", "gif", "zip", "xls", "doc", "ppt", "odt", "ods"})
_WHOLE = frozenset({"xlsx", "docx", "pptx", "xml", "html", "toml"})  # no lines to leave out
PROGRAMS = frozenset({"py", "js", "ts", "sql", "r", "sh", "rb", "php", "go", "java", "vba", "bas"})
_WRITTEN = re.compile(r"=[A-Z][A-Z.]*\([^\n`]*")  # a formula in an answer in words
# What a formula or a program computes by: an operator, a function, the row of a cell, a truth.
_PART = re.compile(
    r"\A=|(?<=[\w)\] ])(?:[<>!=]=|<>|[<>+*/-])(?=[\w($ ])|\b(?:and|or|not|[Tt]rue|[Ff]alse)\b"
    r"|\b[A-Z]{2,}(?=\()|(?<=[A-Z$])\d+(?![\w(])"
)
_OTHER_PARTS = {
    "=": "", "==": "!=", "!=": "==", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
    "+": "-", "-": "+", "*": "/", "/": "*", "and": "or", "or": "and", "not": "",
    "True": "False", "False": "True", "true": "false", "false": "true",
}  # fmt: skip
_FUNCTIONS = ("SUM", "MAX", "MIN", "COUNT")
STRUCTURE = "structure"
_LOGICAL = frozenset({"True", "False", "None", "nothing"})
_MOST_TOLD, _TOLD_WAYS = 24, 3  # values that are changed, and in how many ways each
_PLACES = 6  # of one kind in one file
_MOST = 30  # copies of one file
INDEX = "index.json"
_Rows = list[list[str]]
_Change = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed copy: the kind of change, what stood there and stands there now."""

    kind: str
    path: str
    content: bytes
    before: str = ""
    after: str = ""


def main() -> None:
    """Make the copies of one file; none of a file that does not open."""
    what, path, words = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    content, made = Path("given").read_bytes(), list[Mutant]()
    Path("made").mkdir()
    if what == "names":
        rows: list[Any] = _names_of(path)
    else:
        try:
            copies = list(islice(_copies(what, path, content, words), _MOST))
        except Exception:  # libraries raise anything for files that are not of their type
            copies = []
        held = _held(path, content)
        made = [copy for copy in copies if _held(path, copy.content) != held]
        rows = [[mutant.kind, mutant.before, mutant.after] for mutant in made]
    for number, mutant in enumerate(made):
        Path("made", str(number)).write_bytes(mutant.content)
    Path("made", INDEX).write_text(json.dumps(rows), encoding="utf-8")


def _held(path: str, content: bytes) -> object:
    """What a file holds, however it is written: a copy that holds the same is none."""
    kind = PurePosixPath(path).suffix.lower().removeprefix(".")
    try:
        return _rows(content, _TABLES[kind]) if kind in _TABLES else office.held(content, kind)
    except Exception:  # as in `main`
        return content


def _names_of(path: str) -> list[str]:
    """The names that a file holds: whole cells of its tables, words with capitals of a text."""
    helper: Any = import_module("checking")  # lies beside this program
    named = Path(path).name
    Path(named).write_bytes(Path("given").read_bytes())
    cells = {str(cell).strip() for row in helper.table(named) for cell in row if cell is not None}
    names = set(filter(_WORD.fullmatch, cells))
    return sorted(names or set(_PROPER.findall(helper.text(named)[:_MOST_TEXT])))[:_MOST_NAMES]


def _copies(what: str, path: str, content: bytes, words: list[str]) -> Iterator[Mutant]:
    kind = PurePosixPath(path).suffix.lower().removeprefix(".")
    if what == "told":
        return _reported(path, content, kind, words)
    if what == "inputs":
        return _inputs(path, content, kind)
    return _wrong(path, content, kind, frozenset(words))


def _wrong(path: str, content: bytes, kind: str, others: frozenset[str]) -> Iterator[Mutant]:
    yield from islice(_structures(path, content, kind), _MOST // 2)
    if kind in _TABLES:
        yield from _of_table(path, content, _TABLES[kind], others)
    elif kind == "xlsx":
        yield from _of_workbook(path, content, others)
    elif kind in ("docx", "pptx"):
        yield from _of_paragraphs(path, content, kind, others)
    elif kind not in _BINARY:
        yield from _of_text(path, content, others)


def _structures(path: str, content: bytes, kind: str) -> Iterator[Mutant]:
    """Formulas of cells and answers and parts of programs that compute otherwise, in one place."""
    places: list[tuple[str, str]] = []  # that were passed, each as its line was and is
    whole = re.compile(r"(?s).+") if kind in PROGRAMS | {"xlsx"} else _WRITTEN

    def changed(chosen: int, way: int, text: str) -> str:
        def of_part(match: re.Match[str]) -> str:
            new = _other_part(match[0], way) if len(places) == chosen else match[0]
            start, end = match.string.rfind("\n", 0, match.start()) + 1, match.end()
            rest = match.string[end:].partition("\n")[0]
            before = match.string[start : match.start()]
            places.append((f"{before}{match[0]}{rest}", f"{before}{new}{rest}"))
            return new

        return whole.sub(lambda formula: _PART.sub(of_part, formula[0]), text)

    if kind in PROGRAMS | {"xlsx", "md", "txt"}:
        _everywhere(content, kind, partial(changed, -1, 0), formulas=True)
        count, known = len(places), set[tuple[int, str]]()
        for way in _ways(count)[: len(_FUNCTIONS) - 1]:
            for at in _spread(range(count), 2 * _PLACES):
                places.clear()
                made = _everywhere(content, kind, partial(changed, at, way), formulas=True)
                before, after = places[at]
                if (at, after) not in known:
                    yield Mutant(STRUCTURE, path, made, before, after)
                known.add((at, after))


def _other_part(part: str, way: int) -> str:
    """Another row, another function, the opposite operator or truth."""
    if part.isdigit():
        return str(int(part) + 1 + way)
    others = [name for name in _FUNCTIONS if name != part]
    return _OTHER_PARTS[part] if part in _OTHER_PARTS else others[way]


def _reported(path: str, content: bytes, kind: str, words: Sequence[str]) -> Iterator[Mutant]:
    """Every value of some words changed at all its places at once, in some ways each."""
    if kind in _BINARY:
        return
    yield from _added(path, content, kind, words)
    values = _values(words)
    names = [value for what, value in values if what == "entity"]
    for way in range(_TOLD_WAYS if len(values) > _TOLD_WAYS else _PLACES):
        for what, value in values[:_MOST_TOLD]:
            if what == "number":
                is_it, after = partial(_is, float(value)), _another(value, way)
                change: _Change = partial(_with_numbers, way, is_it)
            elif what == "date":
                change, after = _date_change(value, way)
            else:
                other = [name for name in names if name.casefold() != value.casefold()]
                after = other[way] if way < len(other) else f"not given {way + 1}"
                form = re.compile(rf"(?<!(?a:\w)){re.escape(value)}(?!(?a:\w))", re.IGNORECASE)
                change = partial(form.sub, after.replace("\\", r"\\"))
            yield Mutant(what, path, _everywhere(content, kind, change), value, after)


def _added(path: str, content: bytes, kind: str, words: Sequence[str]) -> Iterator[Mutant]:
    """Copies in which stands what findings say must not: a line, a row, words of a paragraph."""
    lists = [text for text in words if text.startswith(_NONE_OF)]
    for value in _spread([one for text in lists for one in _LISTED.findall(text)]):
        made = content + f"\n{value}\n".encode()
        if kind in _TABLES:
            rows = _rows(content, _TABLES[kind])
            width = max(map(len, rows), default=1)
            made = _written([*rows, [value] * width], _TABLES[kind])
        elif kind == "json":
            made = json.dumps(
                office.with_entry(json.loads(content), value), ensure_ascii=False
            ).encode()
        elif kind == "xlsx":
            book = office.opened(content)
            for sheet in book.worksheets:
                sheet.append([value] * sheet.max_column)
            made = office.with_values(office.saved(book), content)
        elif kind in ("docx", "pptx"):
            document = office.opened_document(content, kind)
            texts = list(map(office.text_of, office.paragraphs(document, kind)))
            at = next((n for n, text in enumerate(texts) if text), 0)
            end = len(texts[at])
            made = office.with_text(content, kind, at, (end, end), f" {value}")
        yield Mutant("added", path, made, "", value)


def _values(words: Sequence[str]) -> list[tuple[str, str]]:
    """The dates, numbers and short texts that some words consist of, each once."""
    values: dict[tuple[str, str], None] = {}
    for text in words:
        values |= dict.fromkeys(("date", match[0]) for match in _DATE.finditer(text))
        for match in _NUMBER.finditer(_DATE.sub(" ", text)):
            values["number", match[0].replace(",", "")] = None
        for name in _LISTED.findall(text) or ([text] if len(text) <= 80 else []):
            is_name = _WORD.search(name) or _ID.fullmatch(name)
            if is_name and not _NUMBER.fullmatch(name) and name not in _LOGICAL:
                values["entity", name] = None
    return list(values)


def _with_numbers(way: int, is_meant: Callable[[str], bool], text: str) -> str:
    """The text with the numbers changed that are meant, by their digits."""
    return _NUMBER.sub(
        lambda match: _another(match[0], way) if is_meant(match[0].replace(",", "")) else match[0],
        text,
    )


def _is(number: float, digits: str) -> bool:
    return abs(float(digits) - number) <= 0.01


def _date_change(value: str, way: int) -> tuple[_Change, str]:
    """A day changed as it is written, and in the form without marks that calendars have."""
    after = _another_date(value, way)
    bare, other = (re.sub(r"\D", "", day) for day in (value, after))

    def changed(text: str) -> str:
        swapped = text.replace(value, after)
        return _STAMP.sub(lambda match: other if match[1] == bare else match[0], swapped)

    return changed, after


def _everywhere(content: bytes, kind: str, change: _Change, *, formulas: bool = False) -> bytes:
    """The file with every text and number in it changed; as it was where nothing changes.

    Of a workbook the formulas, or all but these.
    """
    if kind == "xlsx":
        book = office.opened(content)
        cells = [cell for _, cell in office.filled(book) if (cell.data_type == "f") == formulas]
        changed = [_change_cell(cell, change) for cell in cells]
        return office.with_values(office.saved(book), content) if any(changed) else content
    if kind not in ("docx", "pptx"):
        return change(content.decode("utf-8", "replace")).encode()
    document = office.opened_document(content, kind)
    texts = [
        (paragraph, office.text_of(paragraph)) for paragraph in office.paragraphs(document, kind)
    ]
    rewritten = [(paragraph, new) for paragraph, text in texts if (new := change(text)) != text]
    for paragraph, new in rewritten:
        office.rewrite(paragraph, new)
    return office.saved(document) if rewritten else content


def _change_cell(cell: Any, change: _Change) -> bool:
    value = cell.value
    if isinstance(value, str):
        new: Any = change(value)
    elif office.is_figure(value):
        shown = office.figure(value)
        new = value if (text := change(shown)) == shown else type(value)(float(text))
    elif isinstance(value, date):
        shown = value.isoformat()[:10]
        new = value if change(shown) == shown else value + timedelta(days=40)
    else:
        return False
    cell.value = new
    return bool(new != value)


def _another(number: str, way: int = 0) -> str:
    """Another number in the same form: larger by a tenth and something, one more, doubled, ten
    times as large, one less, a third."""
    digits = number.replace(",", "")
    decimals = len(digits.partition(".")[2])
    value = float(digits)
    near, step = (0.37, 10.0**-decimals) if decimals else (3.0, 1.0)
    further = (value * 2 + step, value * 10 + step, value - step, value / 3 - near)
    changed = (value * 1.1 + near, value + step, *further)[way]
    return f"{changed:,.{decimals}f}" if "," in number else f"{changed:.{decimals}f}"


def _another_date(written: str, way: int = 0) -> str:
    """Another date in the same form: a day later, a month, a year."""
    mark = next(sign for sign in written if not sign.isdigit())
    parts = written.split(mark)
    order = [2, 1, 0] if len(parts[0]) == 4 else [0, 1, 2]
    at, width = order[way % 3], len(parts[order[way % 3]])
    number = int(parts[at])
    parts[at] = str(number % 28 + 1 if way == 0 else number % 12 + 1 if way == 1 else number + 1)
    parts[at] = parts[at].zfill(width)
    return mark.join(parts)


def _ways(places: int) -> range:
    """In how many ways each of so many numbers is changed, so that few give enough copies."""
    return range(1 if places >= _PLACES else 3 if places > 2 else _PLACES)


def _instead(name: str, others: Sequence[str], places: int) -> list[str]:
    """Names to put for another: several where few places have one."""
    rest, most = [other for other in others if other != name], _PLACES // max(1, places)
    return _spread(rest, most) if most > 1 else rest[:1]


def _spread(places: Sequence[Any], most: int = _PLACES) -> list[Any]:
    """Some of many places, first and last among them."""
    if len(places) <= most:
        return list(places)
    return [places[round(step * (len(places) - 1) / (most - 1))] for step in range(most)]


def _inputs(path: str, content: bytes, kind: str) -> Iterator[Mutant]:
    """Other inputs: a record less, other numbers at once, and single other numbers and dates."""
    if kind in _BINARY:
        return
    yield from _records(path, content, kind)
    for way in (0, 1):
        change = partial(_with_numbers, way, partial(_is_no_year, way))
        yield Mutant("numbers", path, _everywhere(content, kind, change))
    if kind in _TABLES:
        yield from _table_numbers(path, _rows(content, _TABLES[kind]), _TABLES[kind])
    elif kind == "xlsx":
        yield from _workbook_numbers(path, content)
    elif kind in ("docx", "pptx"):
        changed = _of_paragraphs(path, content, kind)
        yield from (one for one in changed if one.kind in ("number", "row"))
    else:
        text = content.decode("utf-8", "replace")
        for match in _spread(list(_END.finditer(text))):  # an event that ends at another hour
            hour = f"{int(match[2]) + (1 if int(match[2]) < 23 else -1):02}"
            other = f"{text[: match.start(2)]}{hour}{text[match.end(2) :]}"
            yield Mutant("number", path, other.encode(), match[2], hour)
        yield from _text_numbers(path, text)


def _records(path: str, content: bytes, kind: str) -> Iterator[Mutant]:
    """One record less, and the first half of them: rows, events, entries of a list, lines."""
    if kind == "xlsx":
        sheets = office.opened(content).worksheets
        rows = [(sheet.title, row) for sheet in sheets for row in range(2, sheet.max_row)]
        for title, row in _spread(rows, 3):
            yield Mutant("row", path, office.without_row(content, title, row))
    if kind in _WHOLE:
        return
    text = content.decode("utf-8", "replace")
    if kind == "json":
        for changed in _shorter_lists(json.loads(text)):
            yield Mutant("row", path, json.dumps(changed, ensure_ascii=False).encode())
        return
    blocks = [match.span() for match in _BLOCK.finditer(text)]
    if not blocks:
        lines = [*re.finditer(r"[^\n]*\n|[^\n]+$", text)]
        blocks = [line.span() for line in lines[kind in _TABLES :] if line[0].strip()]
    kept = [*_spread([[span] for span in blocks], 3), blocks[: len(blocks) // 2]]
    for left_out in kept if len(blocks) > 1 else []:
        start, end = left_out[0][0], left_out[-1][1]
        yield Mutant("row", path, (text[:start] + text[end:]).encode(), text[start:end].strip())


def _shorter_lists(whole: Any) -> Iterator[Any]:
    """The content with one entry less of its longest list, and with the first half of it less."""
    longest = max(office.lists_of(whole), key=len, default=[])
    entries = list(longest)
    for at in _spread(range(len(entries)), 3) if len(entries) > 1 else []:
        longest[:] = entries[:at] + entries[at + 1 :]
        yield whole
    if len(entries) > 3:
        longest[:] = entries[len(entries) // 2 :]
        yield whole


def _is_no_year(way: int, digits: str) -> bool:
    """Nor a single digit, the first way."""
    is_year = digits.isdigit() and len(digits) == 4 and digits[:2] in ("18", "19", "20")
    return not is_year and (len(digits) > 1 or way > 0)


# By the structure of a file: texts, delimited tables, workbooks, documents and slides


def _of_text(path: str, content: bytes, others: frozenset[str]) -> Iterator[Mutant]:
    text = content.decode("utf-8", "replace")
    yield from _text_numbers(path, text)
    lines = text.splitlines(keepends=True)
    telling = [at for at, line in enumerate(lines) if _WORD.search(line) or _NUMBER.search(line)]
    for at in _spread(telling):
        shorter = "".join(lines[:at] + lines[at + 1 :])
        yield Mutant("row", path, shorter.encode(), lines[at].strip())
    for at, after in pairwise(telling):  # two lines change places
        turned = list(lines)
        turned[at], turned[after] = lines[after], lines[at]
        yield Mutant("order", path, "".join(turned).encode(), lines[at].strip())
        if at >= _PLACES:
            break
    for unit, other in [pair for pair in _UNITS if pair[0] in text][:1]:
        yield Mutant("unit", path, text.replace(unit, other).encode(), unit, other)
    yield from _entity(path, text, others)


def _text_numbers(path: str, text: str) -> Iterator[Mutant]:
    for form, change, most in ((_NUMBER, _another, _PLACES), (_DATE, _another_date, 3)):
        places = list(form.finditer(text))
        for match in _spread(places):
            for way in _ways(len(places))[:most]:
                new = change(match[0], way)
                changed = text[: match.start()] + new + text[match.end() :]
                yield Mutant("number", path, changed.encode(), match[0], new)


def _entity(path: str, text: str, others: frozenset[str]) -> Iterator[Mutant]:
    chosen = _spread(sorted(name for name in others if name in text), 3)
    for name in chosen:
        for other in _instead(name, sorted(others), len(chosen)):
            yield Mutant("entity", path, text.replace(name, other).encode(), name, other)


def _rows(content: bytes, delimiter: str) -> _Rows:
    text = content.decode("utf-8-sig", "replace")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def _written(rows: _Rows, delimiter: str) -> bytes:
    target = io.StringIO(newline="")
    csv.writer(target, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return target.getvalue().encode()


def _of_table(path: str, content: bytes, mark: str, others: frozenset[str]) -> Iterator[Mutant]:
    rows = _rows(content, mark)
    yield from _table_numbers(path, rows, mark)
    yield from _reordered(path, rows, mark)
    names = frozenset(filter(_WORD.fullmatch, (cell.strip() for row in rows[1:] for cell in row)))
    yield from _entity(path, _written(rows, mark).decode(), others | names)


def _table_numbers(path: str, rows: _Rows, delimiter: str) -> Iterator[Mutant]:
    for form, change, most in ((_NUMBER, _another, _PLACES), (_DATE, _another_date, 3)):
        cells = [(row, c, cell) for row in rows for c, cell in enumerate(row)]
        places = [(row, c, cell) for row, c, cell in cells if form.fullmatch(cell.strip())]
        for row, c, cell in _spread(places):
            for way in _ways(len(places))[:most]:
                row[c] = change(cell.strip(), way)
                yield Mutant("number", path, _written(rows, delimiter), cell, row[c])
                row[c] = cell


def _reordered(path: str, rows: _Rows, delimiter: str) -> Iterator[Mutant]:
    """A row less, a row twice, the order turned round, the values of two columns swapped."""
    body = rows[1:]

    def made(kind: str, changed: _Rows, before: str = "", after: str = "") -> Mutant:
        return Mutant(kind, path, _written(changed, delimiter), before, after)

    if len(body) > 1:
        for at in sorted({1, len(body)}):
            yield made("row", rows[:at] + rows[at + 1 :], ",".join(rows[at]))
        yield made("order", [rows[0], *reversed(body)])
        yield made("row", [*rows, body[0]], "", ",".join(body[0]))
    columns = sorted(
        c for c in range(len(rows[0]) if rows else 0)
        if all(len(row) > c and _NUMBER.fullmatch(row[c].strip()) for row in body)
    )  # fmt: skip
    if body and len(columns) > 1:
        first, second = columns[:2]
        swapped = [list(row) for row in body]
        for row in swapped:
            row[first], row[second] = row[second], row[first]
        yield made("column", [rows[0], *swapped], rows[0][first], rows[0][second])


def _of_workbook(path: str, content: bytes, others: frozenset[str]) -> Iterator[Mutant]:
    yield from _workbook_numbers(path, content)
    book = office.opened(content)
    names: dict[str, tuple[str, int, int]] = {}
    for title, cell in office.filled(book):
        if isinstance(cell.value, str) and _WORD.fullmatch(cell.value.strip()):
            names.setdefault(cell.value.strip(), (title, cell.row, cell.column))
    known = sorted(names.keys() | others)
    chosen = _spread(sorted(names), 3)
    for name in chosen:
        for other in _instead(name, known, len(chosen)):
            yield Mutant(
                "entity", path, office.with_cell(content, *names[name], other), name, other
            )
    figures = [
        (title, c.row, c.column) for title, c in office.filled(book) if office.is_figure(c.value)
    ]
    for title, row, column in _spread(figures, 2):
        broken = office.with_cell(content, title, row, column, "#DIV/0!")
        yield Mutant("number", path, broken, "", "#DIV/0!")
    for sheet in [sheet for sheet in book.worksheets if sheet.max_row > 2][:1]:
        for row in sorted({2, sheet.max_row}):
            yield Mutant("row", path, office.without_row(content, sheet.title, row), str(row))
        yield Mutant("order", path, office.turned_round(content, sheet.title))
        sheet.insert_rows(3)
        yield Mutant("row", path, office.saved(book))


def _workbook_numbers(path: str, content: bytes) -> Iterator[Mutant]:
    cells = office.filled(office.opened(content))
    figures = [(title, cell) for title, cell in cells if office.is_figure(cell.value)]
    for title, cell in _spread(figures):
        for way in _ways(len(figures)):
            new: Any = type(cell.value)(float(_another(office.figure(cell.value), way)))
            changed = office.with_cell(content, title, cell.row, cell.column, new)
            yield Mutant("number", path, changed, str(cell.value), str(new))
    days = [(title, cell) for title, cell in cells if isinstance(cell.value, date)]
    for title, cell in _spread(days):
        for later in (1, 40, 400):
            new = cell.value + timedelta(days=later)
            changed = office.with_cell(content, title, cell.row, cell.column, new)
            yield Mutant("number", path, changed, str(cell.value)[:10], str(new)[:10])


def _of_paragraphs(
    path: str, content: bytes, kind: str, others: frozenset[str] = frozenset()
) -> Iterator[Mutant]:
    texts = list(
        map(office.text_of, office.paragraphs(office.opened_document(content, kind), kind))
    )
    figures = [(at, match) for at, text in enumerate(texts) for match in _NUMBER.finditer(text)]
    for at, match in _spread(figures):
        for way in _ways(len(figures)):
            new = _another(match[0], way)
            yield Mutant(
                "number",
                path,
                office.with_text(content, kind, at, match.span(), new),
                match[0],
                new,
            )
    for at, _ in _spread(figures, 2):
        yield Mutant(
            "row", path, office.with_text(content, kind, at, (0, len(texts[at])), ""), texts[at]
        )
    whole = enumerate(texts)
    named = [(at, text.index(name), name) for at, text in whole for name in others if name in text]
    present = _spread(sorted(named), 3)
    for at, start, name in present:
        for other in _instead(name, sorted(others), len(present)):
            changed = office.with_text(content, kind, at, (start, start + len(name)), other)
            yield Mutant("entity", path, changed, name, other)


if __name__ == "__main__":
    main()
