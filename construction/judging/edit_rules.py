"""Hard rules on what a change leaves in place, and on what a conversion carries over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from construction.grading.file_look import word_form
from construction.grading.file_types import TYPES, FileType, type_of
from construction.judging.contracts import InputFile
from construction.judging.reading import read
from construction.judging.request_bounds import changes
from construction.judging.rule_task import TERMS, WITH_TABLES, Task, has_text, rule
from construction.judging.rules.orders import orders_of
from construction.mentions.extensions import tail
from data.contracts import Rule
from data.text.lexicon import alternatives
from data.text.numerals import NUMBER_WORDS, read_integer

_KEPT = 0.3  # of the terms of an input that is changed
_KEPT_WITHOUT_COLUMNS = 0.1  # where columns go
_ALL_BUT = frozenset(("only", "but", "except", "apart", "other"))
_RUN = re.compile(rf"\b(?:first|last|top|bottom)\s(\d+|{alternatives(NUMBER_WORDS)})\b")
_CARRIED = 0.4  # of the words of an input that is converted: programs cut words where lines end
_APPENDS = re.compile(
    r"(?i)\b(?:append|add|insert|paste|attach)\b(?:[^.;]|\.(?=\w)){1,80}?"
    r"\b(?:to|into|in|at the end of|after|below)\b|追加|附加到"
)
_FEW = 4  # terms; fewer may all be written otherwise


def of_edits(task: Task) -> Iterator[Rule]:
    """What a change leaves in place, and how many rows it leaves."""
    for path in () if changes(task.request, "clears") else task.edited:
        known, kind = task.inputs.get(path), type_of(path)
        if known is None or kind is None:
            continue
        terms = known.terms[:TERMS]
        name, where = tail(path), {"names_of_files": [tail(path)]}
        if len(terms) > 1:
            share = _KEPT_WITHOUT_COLUMNS if changes(task.request, "drops_columns") else _KEPT
            least = max(2, round(share * len(terms)))
            text = f"{name} keeps what was not to be changed."
            yield rule(
                f"mentions.kept.{name}", kind.extensions, text, terms=terms, min=least, **where
            )
        if known.tables and kind.name in WITH_TABLES:
            yield from _of_changed_table(task.request.lower(), known, kind, name)


def of_appends(task: Task) -> Iterator[Rule]:
    """The words of the other input of which a request speaks, where they are added to one."""
    others = [path for path in task.given if path not in task.edited and path in task.inputs]
    if len(task.edited) != 1 or len(others) != 1 or not _APPENDS.search(task.request):
        return
    path, known, kind = task.edited[0], task.inputs[others[0]], type_of(task.edited[0])
    there = frozenset(task.inputs[path].terms) if path in task.inputs else frozenset[str]()
    terms = [term for term in known.terms if term.isalpha() and term not in there][:TERMS]
    if kind is None or len(terms) < _FEW or changes(task.request, "part"):
        return
    yield rule(
        f"mentions.carried.{tail(path)}",
        kind.extensions,
        f"{tail(path)} says what {tail(others[0])} says, too.",
        terms=terms,
        min=round(_CARRIED * len(terms)),
        names_of_files=[tail(path)],
    )


def _of_changed_table(request: str, known: InputFile, kind: FileType, name: str) -> Iterator[Rule]:
    largest = max(known.tables, key=lambda entry: entry.rows)
    where = {"names_of_files": [name]}
    if changes(request, "drops_header"):
        return
    removes = changes(request, "removes")
    kept = _columns_left(request, largest.columns, removes=removes)
    if kept:
        text = f"{name} still has the columns {', '.join(kept)}."
        yield rule(f"columns.kept.{name}", kind.extensions, text, names=kept, **where)
    least, most = _rows_left(request, largest.rows, removes=removes)
    if least or most:
        bounds = {"min": least, "max": most}
        params = {key: value for key, value in bounds.items() if value}
        said = " and ".join(
            f"at {'least' if k == 'min' else 'most'} {v}" for k, v in params.items()
        )
        text = f"{name} has {said} rows below its header ({largest.rows} before the change)."
        yield rule(f"length.rows.{name}", kind.extensions, text, unit="rows", **params, **where)


def _columns_left(request: str, columns: Sequence[str], *, removes: bool) -> list[str]:
    """The columns of which a change says nothing; none where columns go that it does not name."""
    gone = re.split(r"[\W_]+", request) if removes or changes(request, "renames") else ()
    stems = {word.removesuffix("s") for word in gone}
    lettered = [column for column in columns if any(map(str.isalpha, column))]
    kept = [
        column
        for column in lettered
        if stems.isdisjoint(word.removesuffix("s") for word in word_form(column).split())
    ]
    drops = changes(request, "drops_columns")
    is_unclear = len(kept) == len(lettered) or not _ALL_BUT.isdisjoint(stems)
    return [] if drops and is_unclear else kept


def _rows_left(request: str, rows: int, *, removes: bool) -> tuple[int, int | None]:
    """The least and the most rows that a table has after a change; 0 and None: nothing is known."""
    if changes(request, "merges"):
        return 0, None
    if removes:
        of_rows = changes(request, "rows") and not changes(request, "columns")
        number = _RUN.search(request)
        gone = (number and (read_integer(number[1]) or NUMBER_WORDS.get(number[1]))) or 1
        return (1, rows - gone) if of_rows and rows > gone else (0, None)
    if changes(request, "adds_rows") and not changes(request, "columns"):
        return rows + 1, None
    return rows, None


def of_conversions(task: Task) -> Iterator[Rule]:
    """The words of the only input of which a request speaks, in what it is converted to."""
    known = [task.inputs[path] for path in task.given if path in task.inputs]
    is_other = task.edited or task.moved or changes(task.request, "makes")
    if len(known) != 1 or len(task.given) != 1 or is_other:
        return
    terms = [term for term in known[0].terms if term.isalpha()][:TERMS]
    orders = [order for item in read(task.request) for order in orders_of(item.text)]
    whole = [order for order in orders if changes(order, "converts") and not changes(order, "part")]
    for item in task.deliverables if len(terms) >= _FEW else ():
        kind = TYPES.get(item.file_type)
        is_single = len(task.deliverables) == 1
        is_meant = any(name in order for name in item.name_hints for order in whole)
        if kind is not None and has_text(kind) and whole and (is_single or is_meant):
            text = f"The .{kind.name} output says what {tail(task.given[0])} says."
            least = round(_CARRIED * len(terms))
            rule_id = f"mentions.carried.{kind.name}"
            yield rule(rule_id, kind.extensions, text, terms=terms, min=least)
