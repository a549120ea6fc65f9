"""What a table says of two of its columns that a request compares: "less in May than in June"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from construction.grading.file_look import word_form
from construction.judging.columns import is_of_figures, named_columns, names_of, numbers
from construction.judging.contracts import InputTable
from construction.judging.reading import read

_COMPARED = re.compile(
    r"(?P<less>lower|less|smaller|fewer|worse|cheaper)|higher|more|greater|larger|better|bigger"
)
_PAIR = 2  # columns

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


def _form_of(column: str) -> str:
    return word_form(column.partition("(")[0].replace("_", " ")).replace(" ", "")
