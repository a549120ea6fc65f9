"""The evidence of a task or an attempt: what was said, what each file shows, what an agent did.

A file's view is made by the library of its type (`views`), is never a raw dump, and holds the file
whole up to its limits: `shown.deal` chooses what of it fits into a prompt. All texts are as they
stand in the files; what is sent to a model is cleaned there.
"""

from __future__ import annotations

from data.contracts.candidate import Contract

POINTER = "is a pointer (Git LFS, git-annex): its content is absent"  # the note of such a view


class Said(Contract):
    """One message: `speaker` is "person", "person:NAME" or "agent"; `at` an ISO time to minutes."""

    speaker: str
    at: str | None = None
    text: str


class Column(Contract):
    """A column of a table below its header, `low` and `high` as its type orders them.

    `type` is integer, number, date, text, boolean, mixed or empty. `distinct` counts the filled
    values, `blanks` the empty cells. `format` is the number format of a workbook's cells, where it
    says more than the values do.
    """

    name: str
    type: str
    low: str | None = None
    high: str | None = None
    distinct: int = 0
    blanks: int = 0
    examples: tuple[str, ...] = ()
    format: str = ""


class Sheet(Contract):
    """One table of a file.

    `head` and `tail` are rows of cells as shown, the header among them; blank rows are empty, so
    that rows count on from `first_row` (of `head`) and up to `last_row` (of `tail`), and cells from
    column `first_column`. `rows` counts the filled rows below the header, which stands in
    `header_row` (0: there is none); `duplicates` those that equal an earlier one. `errors` are
    cells such as "B7 #DIV/0!", `formula_cells` such as "B9 =SUM(B2:B8)": the first of
    `error_count` and `formulas`. `whole`: `head` holds all rows. `note` names merged cells, hidden
    rows, charts.
    """

    name: str
    columns: tuple[Column, ...] = ()
    rows: int = 0
    duplicates: int = 0
    errors: tuple[str, ...] = ()
    error_count: int = 0
    formulas: int = 0
    formula_cells: tuple[str, ...] = ()
    head: tuple[tuple[str, ...], ...] = ()
    tail: tuple[tuple[str, ...], ...] = ()
    first_row: int = 1
    last_row: int = 0
    first_column: int = 1
    header_row: int = 0
    whole: bool = True
    note: str = ""


class Part(Contract):
    """A piece of a file and where it stands: "slide 3", "page 2", "lines 1–40", "mail 4"."""

    where: str
    text: str


class FileView(Contract):
    """What a file shows.

    `path` is the one that the task names. `kind` is table, text, code, mail, calendar, contacts,
    document, slides, pdf, notebook, picture, archive, data (JSON, YAML, TOML, XML by structure),
    binary or unreadable. `outline` is the order of the whole: headings, definitions, keys, slides,
    entries of an archive. `pictures` names the images that can be shown: "picture" is the file
    itself, "page 2" a page that is rendered. `begins` is the beginning of data as it is written,
    where tables and text show it by structure. `note` says why it could not be read, or what it
    does not show.
    """

    path: str
    bytes: int
    media_type: str
    kind: str
    sheets: tuple[Sheet, ...] = ()
    parts: tuple[Part, ...] = ()
    outline: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    begins: str = ""
    note: str = ""

    @property
    def bare_pictures(self) -> list[str]:
        """The pictures of which no text stands in the view: pages without text, and pictures."""
        there = {part.where for part in self.parts}
        return [name for name in self.pictures if name not in there]

    @property
    def is_there(self) -> bool:
        """Has the file a content, and not only a pointer to one?"""
        return bool(self.bytes) and self.note != POINTER


class Change(Contract):
    """What became of an input: `how` is changed, same, gone or made; `lines` are its differences.

    Of tables "Sheet1!B7: 12 → 15", of text the lines of a unified diff. `more` counts those that
    are left out.
    """

    path: str
    how: str
    lines: tuple[str, ...] = ()
    more: int = 0


class Evidence(Contract):
    """All that may be known of a task, and of an attempt at it.

    `said` are the turns of the task, `before` what was said earlier in the session; the answers of
    the agent among them are shortened. `files` are the inputs as released, `tree` their folders;
    `read`, `ran`, `wrote` and `tools` ("Bash ×4") what the agent did; `outputs` what it made, or
    what an attempt delivered, and `changes` what became of the inputs.
    """

    said: tuple[Said, ...] = ()
    before: tuple[Said, ...] = ()
    files: tuple[FileView, ...] = ()
    tree: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    last_words: str = ""
    outputs: tuple[FileView, ...] = ()
    changes: tuple[Change, ...] = ()


class ImageRef(Contract):
    """An image that goes with a prompt: a name out of `pictures` of the file's view."""

    path: str
    picture: str
