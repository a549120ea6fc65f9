"""What a table says of several of its columns that a request names together.

Two that it compares ("less in May than in June"), and those that it adds up in the row of somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from construction.grading.file_look import word_form
from construction.judging.columns import asks, is_of_figures, named_columns, names_of, numbers
from construction.judging.contracts import InputTable
from construction.judging.reading import read

_COMPARED = re.compile(
    r"(?P<less>lower|less|smaller|fewer|worse|cheaper)|higher|more|greater|larger|better|bigger"
)
_PAIR, _NAME = 2, 3  # columns; letters of a name

Words = Mapping[str, str]


def of_pairs(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """The rows in which a column of figures is above or below another that a request names."""
    for sentence in read(request):
        form = word_form(sentence.text).replace(" ", "")
        numeric = [n for n in named_columns(sheet, form) if is_of_figures(sheet, n)]
        compared = _COMPARED.search(form)
        if compared is None or "than" not in form or len(numeric) != _PAIR:
            continue
        first, second = sorted(numeric, key=lambda n: form.rfind(_form_of(sheet.columns[n])))
        if form.rfind("than") > form.rfind(_form_of(sheet.columns[second])):
            continue
        pairs = [(numbers([row[first]]), numbers([row[second]]), row) for row in sheet.cells]
        wanted = [
            row
            for one, two, row in pairs
            if one and two and (one < two if compared["less"] else one > two)
        ]
        text = words["reference_below" if compared["less"] else "reference_above"]
        columns = {"first": sheet.columns[first], "second": sheet.columns[second]}
        size = {"file": path, "rows": sheet.rows, "number": len(wanted)}
        yield text.format(names=names_of(sheet, wanted), **columns, **size)


def of_rows(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """The sum of the columns of figures that a request names, in the only row that it names."""
    form = word_form(request)
    run = form.replace(" ", "")
    columns = [n for n in named_columns(sheet, run) if is_of_figures(sheet, n)]
    rows = [
        (cell, row)
        for row in sheet.cells
        for cell in row
        if len(cell) >= _NAME and cell[:1].isupper() and f" {word_form(cell).strip()} " in form
    ]
    if len(columns) < _PAIR or len(rows) != 1 or not asks("sum_of_row").search(request.lower()):
        return
    name, row = rows[0]
    values = [numbers([row[number]]) for number in columns]
    if all(values):
        shown = ", ".join(sheet.columns[number] for number in columns)
        total = f"{sum(value[0] for value in values):.2f}".rstrip("0").rstrip(".")
        yield words["reference_row_sum"].format(file=path, name=name, columns=shown, sum=total)


def _form_of(column: str) -> str:
    return word_form(column.partition("(")[0].replace("_", " ")).replace(" ", "")
