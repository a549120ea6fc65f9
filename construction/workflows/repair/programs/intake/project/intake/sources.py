"""Files of the inbox as raw rows: name of the column -> text, by supplier's form."""

import csv
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Raw:
    file: str
    line: int
    values: dict


@dataclass(frozen=True)
class Source:
    """A file of the inbox: `DATE_SUPPLIER_KIND.EXT`."""

    path: object
    supplier: str
    kind: str  # deliveries or contracts


def sources(settings):
    """The files in the order in which they are to be read: by their date, then by name."""
    known = []
    for path in sorted(settings.inbox.iterdir()):
        parts = path.stem.split("_")
        if len(parts) == 3 and parts[1] in settings.suppliers:
            known.append(Source(path, parts[1], parts[2]))
    return known


def _csv(path, supplier):
    with path.open(newline="", encoding=supplier.encoding) as file:
        reader = csv.DictReader(file, delimiter=supplier.delimiter)
        for row in reader:
            yield reader.line_num, {key: value for key, value in row.items() if key}


def _jsonl(path, supplier):
    for number, line in enumerate(path.read_text(supplier.encoding).splitlines(), 1):
        if line.strip():
            values = json.loads(line, parse_float=str, parse_int=str)
            yield number, values


def raw_rows(source, supplier):
    """The rows of a file under our names; what a row does not have is absent."""
    read = _jsonl if supplier.form == "jsonl" else _csv
    for line, values in read(source.path, supplier):
        ours = {}
        for name, theirs in supplier.columns.items():
            value = values.get(theirs)
            if value is not None and str(value).strip():
                ours[name] = str(value).strip()
        yield Raw(source.path.name, line, ours)
