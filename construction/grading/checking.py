"""What check programs and solutions of a model may import where they run: `from checking import *`.

Tables as rows of cells whatever the file type, texts, numbers and dates as values whatever their
form, matching by whole words and numbers, and the list of findings. It lies beside every program as
`checking.py`, so it imports the standard library and what opens files there, and nothing else.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from construction.grading import formulas
else:
    try:
        from construction.grading import formulas
    except ImportError:  # it lies beside this module where programs run
        formulas = import_module("formulas")

__all__ = [
    "Findings", "about", "beside", "column", "computed", "date", "dates", "deliverable", "near",
    "number", "numbers", "plain", "records", "says", "says_number", "table", "text", "times",
]  # fmt: skip
# Signs of scripts that set no blanks: a figure or a Latin word may stand directly beside them.
# The marks among them (、。「」《》・) are none.
_WIDE = (
    "\u0e00-\u0eff\u2e80-\u2fff\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNITS = "[kcdm]?m[23]|kg|km|cm|mm|ml|kwh|gb|mb|px|h|min|s|pcs|usd|eur|gbp|cny|rmb"
_NUMBERING, _NOTE = re.compile("[①-⓿㈠-㉃㊀-㊰]"), re.compile("(?<=\\d)[¹²³⁰-⁹]+")
_SCALES = {
    "k": 1e3, "m": 1e6, "bn": 1e9, "thousand": 1e3, "million": 1e6, "billion": 1e9,
    "千": 1e3, "万": 1e4, "百万": 1e6, "亿": 1e8,
}  # fmt: skip
# A blank between two numbers parts them, unless it parts a single one into thousands.
_NUMBER = re.compile(
    rf"(?<![^\W{_WIDE}])(?<!\.)(?<!\d[,'’])"
    rf"(?P<sign>(?:(?<![%)])(?<!\d[{_WIDE}])[-−(负])?(?:(?:[$€£¥]|usd|eur|gbp|cny|rmb)\s?[-−]?)?)"
    r"(?P<digits>(?<!\d )\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?! ?\d)|\d{1,3}(?:\.\d{3})+,\d+"
    r"|\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:e[+-]?\d+)?)"
    rf"(?:\s?(?P<wide>百万|千(?![克米瓦卡帕])|万|亿)|(?P<near>bn|[km])(?![^\W{_WIDE}])"
    r"|\s?(?P<word>bn|thousand|million|billion)\b"
    rf"|(?:{_UNITS})(?![^\W{_WIDE}])|(?![^\W{_WIDE}]|[.,'’]\d))",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)")
_DIGITS = re.compile(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)")
_MONTHS = [datetime.date(2000, month, 1).strftime("%b").lower() for month in range(1, 13)]
_SPELT = re.compile(
    r"(?i)(?:(?<!\d)(\d{1,2})(?:st|nd|rd|th)?[-.]?(?:\s+of)?\s*)?\b("
    + "|".join(_MONTHS)
    + r")[a-z]*\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?(?!\d))?[-,]?\s*(\d{4})(?!\d)"
)
_NO_YEAR = re.compile(r"(?<!\d)(?:1[0-2]|0?[1-9])月(?:3[01]|[12]\d|0?[1-9])[日号]")
_TIME = re.compile(
    rf"(?:(?<![\d.:])(?<![^\W{_WIDE}])|(?<=\dT))(?P<hour>[01]?\d|2[0-4])"
    r"(?::(?P<minute>[0-5]\d)(?::[0-5]\d(?:[.,]\d+)?)?(?:(?P<half>\s?[ap]\.?m\b)|(?![\d:]*\d)Z?)"
    r"|(?P<bare>\s?[ap]\.?m\b)|[时点](?P<minutes>[0-5]\d)分)",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[{_WIDE}]+|[^\W_{_WIDE}]+")
_CLAUSE = re.compile(r"(?<=[,;:.!?])\s+|(?<=[、。])")
_LISTED = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+")
_FILE = re.compile(r"(?:.*/)?[^/\n]+\.[A-Za-z]\w{0,5}")
_BESIDE_WORD = re.compile(r"[^\W\d] ?$")
_TABLES = {"csv": ",", "tsv": "\t"}
_not_computed = set[str]()  # what `computed` left open: findings that fail say so


def deliverable(pattern: str) -> str:
    """The path of what was delivered under a name ("report.xlsx"), wherever in `outputs/` it lies.

    Of a pattern ("*.md") the first. "" where there is nothing of the kind.
    """
    there = sorted(Path("outputs").rglob(Path(pattern).name))
    there += [
        path
        for path in sorted(Path("outputs").rglob("*"))
        if path.name.casefold() == Path(pattern).name.casefold()
    ]
    return str(there[0]) if there else ""


def table(path: str, sheet: str | int | None = None) -> list[list[Any]]:
    """The rows of cells of a workbook, CSV, TSV, JSON, or of the tables in Markdown and Word.

    Of a workbook all sheets in order, or one by its name or number (from 0); values, not formulas,
    where the file holds them. Rows without any filled cell are left out; [] where nothing opens.
    """
    try:
        rows = list(_rows(path, sheet))
    except Exception:  # a file that somebody delivered may be broken in any way
        return []
    return [list(row) for row in rows if any(cell not in (None, "") for cell in row)]


def computed(path: str) -> str:
    """A copy of a workbook in which formulas without a value have one, to be opened in its place.

    A cell that cannot be computed says so: "cannot be computed: OFFSET". Of anything else the path
    itself.
    """
    try:
        copy, lacking = formulas.with_values(path)
    except Exception as error:  # as in `table`
        if Path(path).is_file() and Path(path).suffix.lower() in (".xlsx", ".xlsm"):
            _not_computed.add(f"{Path(path).name}: {type(error).__name__}")
        return path
    _not_computed.update(lacking)
    return copy


def records(
    path: str, sheet: str | int | None = None, heads: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """The rows below the head of a table, as mappings by the names of its columns, stripped.

    The head is the first row that says all `heads`; without any, the first with two filled cells or
    more of which none is a number.
    """
    rows, wanted = table(path, sheet), list(heads)
    at = next((at for at, row in enumerate(rows) if _is_head(row, wanted)), None)
    if at is None:
        return []
    names = ["" if cell is None else str(cell).strip() for cell in rows[at]]
    return [dict(zip(names, row, strict=False)) for row in rows[at + 1 :]]


def column(rows: Sequence[Sequence[Any]], *what: str | Iterable[object]) -> list[Any]:
    """The cells of a column, one for each row: None where the row is shorter; [] without it.

    It is the first one in which a cell says one of some heads; of a list, the one that holds most
    of its values.
    """
    wide = max(map(len, rows), default=0)
    columns = [[row[n] if n < len(row) else None for row in rows] for n in range(wide)]
    for wanted in what:
        if isinstance(wanted, str):
            places = [(at, n) for n, own in enumerate(columns) for at, cell in enumerate(own)
                      if isinstance(cell, str) and says(cell, wanted)]  # fmt: skip
            if places:
                return columns[min(places)[1]]
            continue
        values = list(wanted)
        held = [sum(_stands(value, own) for value in values) for own in columns]
        if any(held):
            return columns[held.index(max(held))]
    return []


def _stands(value: object, cells: Iterable[object]) -> bool:
    return any(cell is not None and _is_same(value, cell, 0.01) for cell in cells)


def text(path: str) -> str:
    """All that a file says, as text: cells of a row with " | " between them; "" if none opens."""
    ending = Path(path).suffix.lower().removeprefix(".")
    try:
        if ending in ("xlsx", "xlsm", *_TABLES) and (rows := table(path)):
            return "\n".join(" | ".join(map(_shown, row)) for row in rows)
        if ending == "docx":
            return "\n".join(_word_lines(path))
        if ending == "pptx":
            return "\n".join(_slide_lines(path))
        if ending == "pdf":
            from pypdf import PdfReader

            return "\n".join(page.extract_text() for page in PdfReader(path).pages)
        return _decoded(Path(path).read_bytes())
    except Exception:  # as in `table`
        return ""


def number(value: object) -> float | None:
    """The number that a cell or a text states: "1,234.50 €", "12 %" (12), "(3.2)" (-3.2), "3k".

    None where it states none, or several.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    values = numbers(str(value))
    return values[0] if len(values) == 1 else None


def numbers(words: str) -> list[float]:
    """Every number of a text, in order, whole: 12 is not in 312, 12.5 or A12, but in 共12台.

    What `dates` and `times` read, and 3月5日, states none. (3.2) is negative, but not in Rye (3.2).
    """
    clauses = words.replace("，", ", ")  # parts of a sentence, not thousands
    folded = _folded(re.sub(r"(?<=\d)[\u00a0\u2009\u202f](?=\d)", "’", clauses))
    spans = [match.span() for form in (_NO_YEAR, _TIME) for match in form.finditer(folded)]
    parts, at = list[str](), 0
    for start, end in sorted([*spans, *(span for span, _ in _days(folded))]):
        parts += [folded[at:start], "|"]
        at = max(at, end)
    folded = "".join([*parts, folded[at:]])
    values = []
    for match in _NUMBER.finditer(folded):
        scale = match["wide"] or match["near"] or match["word"]
        value = _value(match["digits"]) * (_SCALES[scale.lower()] if scale else 1)
        sign = match["sign"]
        is_bracketed = sign.startswith("(") and folded.startswith(")", match.end())
        is_bracketed &= not _BESIDE_WORD.search(folded[max(0, match.start() - 2) : match.start()])
        values.append(-value if is_bracketed or set(sign) & set("-−负") else value)
    return values


def near(actual: object, expected: object, tolerance: float = 0.01) -> bool:
    """Are two numbers the same, within a tolerance? Texts are read by `number`; 12 % is 0.12."""
    first, second = number(actual), number(expected)
    if first is None or second is None:
        return False
    pairs = [(first, second)]
    pairs += [(first, second * 100)] if _is_percent(actual) and not _is_percent(expected) else []
    return any(abs(one - other) <= tolerance + 1e-9 for one, other in pairs)


def _is_percent(value: object) -> bool:
    return isinstance(value, str) and value.rstrip().endswith(("%", "％"))


def says_number(words: str, value: float, tolerance: float = 0.01) -> bool:
    """Does a text state a number, as one of its whole numbers?"""
    return any(abs(one - value) <= tolerance + 1e-9 for one in numbers(words))


def about(words: str, name: str, names: Iterable[str] = ()) -> str:
    """What a text says of one of some names: rows that say it, sentences, what is below as a head.

    What has no name goes with what stands before it in its paragraph. Of a part of a sentence that
    says several, each has the words from its own to the next; where figures stand before names
    alone, those up to its own.
    """
    own, form = plain(name), _form_of([name, *names])
    owner, last, depth, pieces = "", "", 0, list[str]()
    for written in unicodedata.normalize("NFKC", words).splitlines():
        line = _LISTED.sub("", written)
        said = list(dict.fromkeys(plain(match[0]) for match in form.finditer(line)))
        level = _level(line, said)
        if level and (said or level <= depth):
            owner, depth = said[0] if len(said) == 1 else "", level
        last = owner if level or not line.strip() else last
        if level or " | " in line or line.startswith("|"):
            pieces += [line] if own in said or (owner == own and not said) else []
            continue
        for clause in filter(None, _CLAUSE.split(line)):
            for named, piece in _shared_out(clause, list(form.finditer(clause))):
                last = named or last
                pieces += [piece] if own in last.split("\n") else []
    return "\n".join(pieces)


def _form_of(names: Sequence[str]) -> re.Pattern[str]:
    """Any of some names, whole, the longest first; nothing where there is none."""
    forms = list[str]()
    for words in sorted({*map(plain, names)} - {""}, key=lambda words: (-len(words), words)):
        inner = "".join(r"[\W_]*" if sign == " " else re.escape(sign) for sign in words)
        first, last = (re.match(f"[{_WIDE}]", end) for end in (words, words[-1]))
        before = "" if first else rf"(?<![^\W_{_WIDE}])"
        forms.append(f"{before}{inner}" + ("" if last else rf"(?![^\W_{_WIDE}])"))
    return re.compile("|".join(forms) or r"(?!)", re.IGNORECASE)


def _level(line: str, said: Sequence[str]) -> int:
    """How deep a head is: by its marks; 7 if it is bold, ends with a colon or is a bare name."""
    bare = line.strip()
    if bare.startswith("#"):
        return len(bare) - len(bare.lstrip("#"))
    is_bold = bare.startswith("**") and bare.rstrip(":").endswith("**")
    return 7 if said and (is_bold or bare.endswith(":") or said == [plain(line)]) else 0


def _shared_out(clause: str, places: Sequence[re.Match[str]]) -> Iterator[tuple[str, str]]:
    """The pieces of a clause, each with its name; one that cannot be parted with all its names."""
    names = [plain(match[0]) for match in places]
    if len(set(names)) < 2:
        yield names[0] if names else "", clause
        return
    first, last = places[0].start(), places[-1].end()
    if not numbers(clause[:first]):
        ends = [*(match.start() for match in places[1:]), len(clause)]
        starts = [0, *ends[:-1]]
    elif not numbers(clause[last:]):
        ends = [*(match.end() for match in places[:-1]), len(clause)]
        starts = [0, *ends[:-1]]
    else:
        yield "\n".join(names), clause
        return
    yield from ((n, clause[a:b]) for n, a, b in zip(names, starts, ends, strict=True))


def beside(words: str, name: str) -> list[float]:
    """The numbers in the lines of a text that say a name, those of the name itself left out."""
    own = numbers(name)
    lines = [line for line in words.splitlines() if says(line, name)]
    values = [figure for line in lines for figure in numbers(line)]
    for figure in own:
        values = [
            other for at, other in enumerate(values) if other != figure or figure in values[:at]
        ]
    return values


def says(words: str, phrase: str) -> bool:
    """Does a text say a word or phrase, whole, whatever its case, width and punctuation?"""
    return _is_said(plain(words), plain(phrase))


def _is_said(words: str, wanted: str) -> bool:
    if not wanted:
        return False
    first, last = ("" if re.match(f"[{_WIDE}]", end) else " " for end in (wanted, wanted[-1]))
    return f"{first}{wanted}{last}" in f" {words} "


def plain(value: object) -> str:
    """The words and figures of a value in one case and width, with single blanks between them."""
    return " ".join(_WORD.findall(_folded("" if value is None else str(value)).casefold()))


def _folded(words: str) -> str:
    """A text in one width; numbering in circles is parted from words, marks of notes go."""
    return unicodedata.normalize("NFKC", _NUMBERING.sub(r" \g<0> ", _NOTE.sub("", words)))


def date(value: object) -> str:
    """The ISO day of a cell or a text: 2026-03-05, 5 March 2026, 05.03.2026, 2026年3月5日; or "".

    Of 03/04/2026 the day comes first, unless only the month can.
    """
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()[:10]
    words = unicodedata.normalize("NFKC", "" if value is None else str(value))
    days = _days(words)
    if match := _DIGITS.search(words):
        days.append((match.span(), _day(match[1], match[2], match[3])))
    return next((day for _, day in days if day), "")


def dates(words: str) -> list[str]:
    """The ISO days that a text states, in order."""
    return [day for _, day in sorted(_days(unicodedata.normalize("NFKC", words)))]


def _days(words: str) -> list[tuple[tuple[int, int], str]]:
    """Where the whole dates of a text stand, and their days."""
    days = list[tuple[tuple[int, int], str]]()
    for match in _ISO.finditer(words):
        days.append((match.span(), _day(match[1], match[2], match[3])))
    for match in _DAY_FIRST.finditer(words):
        day, month = match[1], match[2]
        days.append((match.span(), _day(match[3], month, day) or _day(match[3], day, month)))
    for match in _SPELT.finditer(words):
        month = str(_MONTHS.index(match[2].lower()) + 1)
        days.append((match.span(), _day(match[4], month, match[1] or match[3] or "")))
    return [(span, day) for span, day in days if day]


def times(words: str) -> list[str]:
    """The clock times of a text, in order, as 22:00: of 22:00:15, 10 pm, 22时00分."""
    hours = list[str]()
    for match in _TIME.finditer(unicodedata.normalize("NFKC", words)):
        hour, half = int(match["hour"]), (match["half"] or match["bare"] or "").strip().lower()
        if half:
            hour = hour % 12 + (12 if half.startswith("p") else 0)
        hours.append(f"{hour:02}:{match['minute'] or match['minutes'] or '00'}")
    return hours


class Findings:
    """The list that a check program prints, in a `with`: it is printed whatever happens inside."""

    def __init__(self) -> None:
        self.items: list[dict[str, object]] = []

    def add(self, finding: str, passed: object, expected: object = "", actual: object = "") -> None:
        """One thing that can be wrong alone."""
        shown = "nothing" if actual is None or actual == "" else _shown(actual)
        if _not_computed and not passed:
            shown += f" (cannot be computed: {', '.join(sorted(_not_computed))})"
        self.items.append(
            {
                "finding": finding,
                "passed": bool(passed),
                "expected": _shown(expected),
                "found": shown,
            }
        )

    def equal(
        self, finding: str, expected: object, actual: object, tolerance: float = 0.01
    ) -> None:
        """Numbers within a tolerance, dates by their day, everything else by its words.

        A list item by item in order, a set in any order.
        """
        self.add(finding, _is_same(expected, actual, tolerance), expected, actual)

    def absent(self, finding: str, values: Iterable[object], where: object) -> None:
        """None of some values stands in a text or in rows of cells; there has to be something.

        It proves itself by copies of the result in which they stand.
        """
        words = where if isinstance(where, str) else "\n".join(map(str, _flat(where)))
        listed = [_shown(value) for value in values]
        said = plain(words)
        there = [value for value in listed if _is_said(said, plain(value))]
        self.add(finding, words.strip() and not there, f"none of {listed}", there or words[:40])

    def __enter__(self) -> Findings:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        print(json.dumps(self.items, ensure_ascii=False))
        return kind is None or issubclass(kind, Exception)


def _flat(value: object) -> Iterator[object]:
    """The cells of rows, of a list, or a single one; blank ones left out."""
    if isinstance(value, list | tuple | set | dict):
        inner = value.values() if isinstance(value, dict) else value
        yield from (cell for one in inner for cell in _flat(one))
    elif value not in (None, ""):
        yield _shown(value)


def _is_same(expected: object, actual: object, tolerance: float) -> bool:
    if isinstance(expected, list | tuple | set):
        rest = list(actual) if isinstance(actual, list | tuple | set) else []
        if len(rest) != len(expected):
            return False
        for item in expected:
            tried = rest if isinstance(expected, set) else rest[:1]
            at = next((n for n, one in enumerate(tried) if _is_same(item, one, tolerance)), None)
            if at is None:
                return False
            del rest[at]
        return isinstance(actual, list | tuple | set)
    if isinstance(expected, datetime.date):
        return date(actual) == date(expected)
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return near(actual, expected, tolerance)
    if plain(expected) == plain(actual):
        return not _is_other_file(str(expected), str(actual))
    is_number = all(map(_is_bare_number, (expected, actual)))
    return is_number and near(actual, expected, tolerance)


def _is_other_file(expected: str, actual: str) -> bool:
    """Do two spellings name other files? Those of inputs and outputs are meant to the letter."""
    first, second = (unicodedata.normalize("NFC", one.strip()) for one in (expected, actual))
    if first == second or not all(map(_FILE.fullmatch, (first, second))):
        return False
    there = [path.name for folder in ("inputs", "outputs") for path in Path(folder).rglob("*")]
    return any(
        unicodedata.normalize("NFC", name) in (first.rpartition("/")[2], second.rpartition("/")[2])
        for name in there
    )


def _rows(path: str, sheet: str | int | None) -> Iterator[Sequence[Any]]:
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending in ("xlsx", "xlsm"):
        yield from _workbook_rows(path, sheet)
    elif ending in ("json", "jsonl"):
        yield from _json_rows(_decoded(Path(path).read_bytes()), ending)
    elif ending == "docx":
        yield from (row for row in map(_split, _word_lines(path)) if row)
    elif ending in _TABLES:
        words = _decoded(Path(path).read_bytes())
        first = words.partition("\n")[0]
        mark = max(_TABLES[ending] + ";\t|", key=first.count)
        yield from ([*row] for row in csv.reader(io.StringIO(words, newline=""), delimiter=mark))
    else:
        yield from (row for row in map(_split, text(path).splitlines()) if row)


def _split(line: str) -> list[str]:
    """The cells of a line with bars; [] for other lines and for the rule below a head."""
    cells = [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
    is_rule = all(set(cell) <= set("-: ") for cell in cells)
    return [] if "|" not in line or is_rule else cells


def _workbook_rows(path: str, sheet: str | int | None) -> Iterator[list[Any]]:
    from openpyxl import load_workbook

    values, written = load_workbook(path, data_only=True), load_workbook(path)
    names = values.sheetnames if sheet is None else []
    if sheet is not None:
        names = [values.sheetnames[sheet] if isinstance(sheet, int) else sheet]
    for name in names:
        wide, rows = values[name].max_column, dict[int, list[Any]]()
        for cell, other in zip(*map(formulas.cells_of, (values[name], written[name])), strict=True):
            row = rows.setdefault(cell.row, [None] * wide)
            row[cell.column - 1] = cell.value if cell.value is not None else other.value
        yield from rows.values()


def _json_rows(words: str, ending: str) -> Iterator[list[Any]]:
    lines = [json.loads(line) for line in words.splitlines() if line.strip()]
    value = lines if ending == "jsonl" else json.loads(words)
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list) and item]
        value = lists[0] if lists else [[key, item] for key, item in value.items()]
    maps = [item for item in value if isinstance(item, dict)]
    names = list(dict.fromkeys(name for item in maps for name in item))
    yield from [names] if names else []
    for item in value:
        if isinstance(item, dict):
            yield [item.get(name) for name in names]
        else:
            yield item if isinstance(item, list) else [item]


def _word_lines(path: str) -> Iterator[str]:
    from docx import Document
    from docx.table import Table

    for block in Document(path).iter_inner_content():
        if isinstance(block, Table):
            yield from (" | ".join(cell.text for cell in row.cells) for row in block.rows)
        else:
            yield block.text


def _slide_lines(path: str) -> Iterator[str]:
    from pptx import Presentation

    shapes: Iterator[Any] = (shape for slide in Presentation(path).slides for shape in slide.shapes)
    for shape in shapes:
        if shape.has_text_frame:
            yield shape.text_frame.text
        if getattr(shape, "has_table", False):
            yield from (" | ".join(cell.text for cell in row.cells) for row in shape.table.rows)


def _is_head(row: Sequence[Any], heads: Sequence[str]) -> bool:
    if heads:
        return all(any(says(str(cell), head) for cell in row) for head in heads)
    filled = [cell for cell in row if cell not in (None, "")]
    words = [cell for cell in filled if not re.fullmatch(r"(?:19|20)\d\d", str(cell).strip())]
    return len(filled) > 1 and bool(words) and not any(map(_is_bare_number, words))


def _is_bare_number(cell: object) -> bool:
    return not isinstance(cell, str) or re.fullmatch(r"[-−]?[\d.,\s]+%?", cell.strip()) is not None


def _decoded(data: bytes) -> str:
    for name in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")


def _value(digits: str) -> float:
    bare = re.sub(r"[ '’]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,(?:\d{1,2}|\d{4,})", bare) and (
        "," in bare or bare.count(".") > 1
    ):  # a decimal comma, and points between thousands
        bare = bare.replace(".", "").replace(",", ".")
    return float(bare.replace(",", ""))


def _day(year: str, month: str, day: str) -> str:
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


def _shown(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, set | frozenset):  # whose order is another in each run
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return "" if value is None else str(value)
