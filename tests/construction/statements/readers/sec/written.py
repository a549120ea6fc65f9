"""Small data sets written for the tests: a filing, its facts and its rows, in a zip or folder."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HEADS = {
    "sub": "adsh cik name sic countryba countryinc fye form period fy fp filed prevrpt instance",
    "tag": "tag version custom abstract datatype iord crdr tlabel doc",
    "num": "adsh tag version ddate qtrs uom segments coreg value footnote",
    "pre": "adsh report line stmt inpth rfile tag version plabel negating",
}
FIRST, SECOND, THIRD = (f"0000000001-10-00000{n}" for n in (1, 2, 3))
GAAP = "us-gaap/2009"
_DEFAULTS = {
    "sub": {
        "adsh": FIRST,
        "cik": "42",
        "name": "ACME CORP /DE/",
        "sic": "3711",
        "countryba": "US",
        "fye": "1231",
        "form": "10-Q",
        "filed": "20100507",
        "prevrpt": "0",
        "instance": "acme-20100331.xml",
    },
    "tag": {"version": GAAP, "datatype": "monetary", "tlabel": "Revenues, Total"},
    "num": {
        "adsh": FIRST,
        "tag": "Revenues",
        "version": GAAP,
        "ddate": "20100331",
        "qtrs": "1",
        "uom": "USD",
        "value": "1234.0000",
    },
    "pre": {
        "adsh": FIRST,
        "report": "4",
        "line": "1",
        "stmt": "IS",
        "inpth": "0",
        "tag": "Revenues",
        "version": GAAP,
        "plabel": "Total revenues",
        "negating": "0",
    },
}
Row = Mapping[str, str]


@dataclass
class DataSet:
    """Rows of the four tables; what a row does not say is the default of its table."""

    sub: Sequence[Row] = ({},)
    tag: Sequence[Row] = ({"tag": "Revenues"},)
    num: Sequence[Row] = ({},)
    pre: Sequence[Row] = ({},)
    tail: Mapping[str, bytes] = field(default_factory=dict)  # raw bytes after a table

    def files(self, suffix: str = ".txt") -> dict[str, bytes]:
        """The content of each file by name."""
        return {f"{name}{suffix}": self._content(name) for name in HEADS}

    def zip(self, path: Path, *without: str, **more: bytes) -> Path:
        """Write a zip with the tables, some left out, and other members."""
        members = {name: raw for name, raw in self.files().items() if name not in without}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, raw in {**members, **more}.items():
                archive.writestr(name, raw)
        return path

    def folder(self, path: Path, suffix: str = ".txt") -> Path:
        """Write a folder with the tables."""
        path.mkdir()
        for name, raw in self.files(suffix).items():
            (path / name).write_bytes(raw)
        return path

    def records(self, name: str) -> list[dict[str, str | None]]:
        """The rows of a table with all columns; an empty field is None."""
        columns = HEADS[name].split()
        rows: Sequence[Row] = getattr(self, name)
        filled = [{**_DEFAULTS[name], **row} for row in rows]
        return [{column: row.get(column) or None for column in columns} for row in filled]

    def _content(self, name: str) -> bytes:
        lines = ["\t".join(HEADS[name].split())]
        lines += ["\t".join(value or "" for value in row.values()) for row in self.records(name)]
        return "".join(f"{line}\n" for line in lines).encode() + self.tail.get(name, b"")
