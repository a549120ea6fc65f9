"""Opening files that are text: the text that a reader would see, and whether there is any content.

Runs only in a confined child (`file_child`) or on files that this project wrote itself. A library
is imported when a file of its type is opened. An opener gets the file's bytes and either returns
its `Content` or raises; all its limits are in `Bounds`.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import tomllib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from construction.grading.tables import Table, TableCounter, tables_of_records


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one file: bytes after decompression, cells, pixels, pages, characters."""

    inflated_bytes: int
    archive_entries: int
    cells: int
    pixels: int
    pages: int
    text_chars: int


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds: `items` counts its units (cells, pages, slides, …), 0 if it is empty.

    `is_shell`: it has only the frame of its type, such as a header without rows. `prose`
    is its text without the syntax of the format; None where `text` is that already. `pages`
    counts pages or slides, where the type has any. `form` is all that an edit can change, where a
    file that is saved anew has other bytes; None where the bytes tell.
    """

    text: str
    items: int
    is_shell: bool = False
    prose: str | None = None
    pages: int = 0
    tables: tuple[Table, ...] = ()
    form: str | None = None


class TooLarge(Exception):
    """The file holds more than its bounds allow."""


class Encrypted(Exception):
    """The file cannot be read without a password."""


def decode(data: bytes) -> str:
    """Text in UTF-8, UTF-16 with a mark, or GB 18030; raises UnicodeError for anything else."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    if b"\x00" in data:
        raise UnicodeError("NUL bytes in text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030")


def says_nothing(text: str) -> bool:
    """Is there neither a letter nor a digit?"""
    return not any(map(str.isalnum, text))


def joined(parts: Iterable[str], bounds: Bounds) -> str:
    """The parts as lines, cut at the limit of characters."""
    kept, room = [], bounds.text_chars
    for part in parts:
        if room <= 0:
            break
        kept.append(part[:room])
        room -= len(part) + 1
    return "\n".join(kept)


def open_text(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    return Content(text[: bounds.text_chars], len(text.split(None, 1)), says_nothing(text))


def is_header_only(rows: int, values: str) -> bool:
    """Is a table at most one row of words? A single row of figures is content."""
    return rows < 2 and not any(map(str.isdigit, values))


def open_csv(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    # The limit is the whole process's: it is only ever raised.
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    seen = filled = 0
    counter = TableCounter("")
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        seen += len(row) + 1
        filled += counter.add([cell.strip() for cell in row])
        if seen > bounds.cells:
            raise TooLarge
    is_shell = is_header_only(counter.filled_rows, text)
    return Content(text[: bounds.text_chars], filled, is_shell, tables=counter.tables())


def open_json(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    value = json.loads(text)
    return _structured(text, [value], _size(value), bounds)


def open_jsonl(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return _structured(text, lines, len(lines), bounds)


def open_yaml(data: bytes, bounds: Bounds) -> Content:
    """Its scalars as they are written: what a tag of some program (`!Ref`) means is not asked."""
    import yaml

    text = decode(data)
    documents = list(yaml.load_all(text, Loader=yaml.BaseLoader))
    return _structured(text, documents, sum(_size(document) for document in documents), bounds)


def open_toml(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    value = tomllib.loads(text)
    return _structured(text, [value], _size(value), bounds)


def open_notebook(data: bytes, bounds: Bounds) -> Content:
    """A notebook without any source is a shell, no matter what its metadata say."""
    text = decode(data)
    value = json.loads(text)
    cells = value.get("cells", ()) if isinstance(value, dict) else ()
    sources = [cell.get("source", "") for cell in cells if isinstance(cell, dict)]
    prose = joined(("".join(source) for source in sources), bounds)
    return Content(text[: bounds.text_chars], _size(value), says_nothing(prose), prose)


def _structured(text: str, values: Iterable[object], items: int, bounds: Bounds) -> Content:
    """Decoded values whose prose is their leaves; without a leaf that says anything, a shell."""
    prose = joined(_leaves(values), bounds)
    tables = tables_of_records(values)
    return Content(text[: bounds.text_chars], items, says_nothing(prose), prose, tables=tables)


def _leaves(values: Iterable[object]) -> Iterator[str]:
    """The scalars inside lists and tables, as text; aliases of YAML are followed only once."""
    pending, seen = [*values][::-1], set[int]()
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            if id(value) not in seen:
                seen.add(id(value))
                inner = list(value.values() if isinstance(value, dict) else value)
                pending += reversed(inner)
        elif value is not None:
            yield str(value)


def _size(value: object) -> int:
    """How much a decoded value holds: members of a container, 1 for a scalar, 0 for nothing."""
    if isinstance(value, dict | list | str):
        return len(value)
    return 0 if value is None else 1


def open_xml(data: bytes, bounds: Bounds) -> Content:
    """Elements with attributes count as drawn; a single rectangle is a background."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser)
    text = joined((part.strip() for part in root.itertext() if part.strip()), bounds)
    tags = [item.tag for item in root.iterdescendants() if item.attrib]
    drawn = len(tags) > 1 or (len(tags) == 1 and not str(tags[0]).endswith("}rect"))
    return Content(
        text, len(root) + len(root.attrib) + bool(text), says_nothing(text) and not drawn
    )


class _Visible(HTMLParser):
    """Collects the text outside scripts, styles and code, and counts what is not text."""

    _hidden = frozenset({"script", "style", "template", "code", "pre"})
    _pictures = frozenset({"img", "svg", "canvas", "video", "audio", "iframe", "object"})

    def __init__(self) -> None:
        super().__init__()
        self.tags = self.depth = self.pictures = 0
        self.parts: list[str] = []
        self.hidden: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += 1
        self.depth += tag in self._hidden
        self.pictures += tag in self._pictures
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if data.strip():
            if not self.depth:
                self.parts.append(data.strip())
            elif self._open != "style":
                self.hidden.append(data.strip())


def open_html(data: bytes, bounds: Bounds) -> Content:
    """Text inside scripts and code is content, but not prose."""
    page = _Visible()
    page.feed(decode(data))
    page.close()
    if not page.tags:
        raise ValueError("no element in the page")
    text, hidden = joined(page.parts, bounds), joined(page.hidden, bounds)
    is_shell = not page.pictures and says_nothing(text + hidden)
    return Content(text, page.tags, is_shell, f"{text}\n{hidden}")


def open_py(data: bytes, bounds: Bounds) -> Content:
    """Code that consists of comments, docstrings and `pass` is a shell."""
    text = decode(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, "deliverable.py")
        compile(tree, "deliverable.py", "exec", dont_inherit=True)
    return Content(text[: bounds.text_chars], len(text.split(None, 1)), _does_nothing(tree.body))


def _does_nothing(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )
