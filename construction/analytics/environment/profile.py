"""The draft of a declaration from a folder of files: tables, keys, joins, and roles with reasons.

Roles follow from types, keys, cardinalities and joins that hold; names of columns are hints only.
`role_faults` says where a declared role does not fit the data.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from construction.analytics.environment.declaration import Declaration, File
from construction.analytics.environment.variants import content, read_file
from data.errors import InputError

TABULAR = (".csv", ".csv.gz", ".xlsx", ".json", ".parquet")
_MISSING = ("-", "–", "－", "n/a", "NA", "N/A", "..", "...", "x", "(D)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = r"^(?:19|20)\d\d(?:-\d\d(?:-\d\d)?|\d{4})?(?:$|[ T])"
_CODE = re.compile(r"(?:^|_)(?:id|code|no|nr|number|cik|key|symbol|ticker)$", re.I)
_PLAN = re.compile(r"plan|target|goal|quota|budget", re.I)
_MONEY = re.compile(r"revenue|sales|income|profit|asset|capital|cost|amount|gdp|output|value", re.I)
_UNIQUE, _JOINS, _NUMERIC = 0.98, 0.6, 0.95
_HEAD = 200_000  # characters of a file in which its header is looked for
_PROSE = 12  # characters that titles have on average
_FEW, _MANY_KINDS, _PLACES = 3, 40, 300  # different values of a kind, and of a place


@dataclass
class Sheet:
    """A table as it was found. `kinds`: the type of each column; `key`: columns without repeats."""

    name: str
    file: dict[str, Any]
    rows: pl.DataFrame
    kinds: dict[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    unpivot: tuple[str, list[str]] | None = None  # what the names of these columns are
    shared: frozenset[str] = frozenset()  # numbers that another table names alike

    def called(self, column: str) -> str:
        """The name of a column in the clean table; figures of two tables never have one name."""
        return _safe(f"{self.name}_{column}" if column in self.shared else column)

    def of(self, kind: str) -> list[str]:
        return [name for name, own in self.kinds.items() if own == kind]

    def values(self, column: str) -> set[str]:
        return set(self.rows[column].drop_nulls().str.strip_chars().to_list())

    def is_unique(self, column: str) -> bool:
        known = self.rows[column].drop_nulls()
        return known.n_unique() >= _UNIQUE * max(len(known), 1)


def read_sheets(folder: Path) -> tuple[list[Sheet], dict[str, str]]:
    """The tables of a folder by file, and its texts by their id. Raises InputError without any."""
    sheets, texts = [], dict[str, str]()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder).as_posix()
        if path.name.endswith(TABULAR):
            sheets.append(_sheet(folder, relative))
        elif path.suffix == ".txt":
            texts[re.sub(r"\W+", "_", path.stem)] = relative
    if not sheets:
        expected = f"files that end in {', '.join(TABULAR)}"
        raise InputError(str(folder), "no table", expected, "Pass the folder with the files.")
    return sheets, texts


def _sheet(folder: Path, relative: str) -> Sheet:
    name = re.sub(r"\W+", "_", relative.rpartition("/")[2].partition(".")[0].lower()).strip("_")
    file: dict[str, Any] = {"path": relative}
    if ".csv" in relative:
        raw = content(folder, relative)
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            file["encoding"], text = "cp932", raw.decode("cp932", "replace")
        try:
            file |= _header(text)
        except csv.Error as error:
            actual = f"no CSV ({error})"
            raise InputError(relative, actual, "lines of cells", "Export it again.") from None
    rows = read_file(folder, _file(file))
    name = name if name[:1].isalpha() else f"t_{name}"
    sheet = Sheet(name, file, rows)
    lines = _notes(rows)
    if lines and not relative.endswith((".json", ".parquet")):
        file["data_from"] = file.get("data_from", 1) + lines
        sheet.rows = rows.slice(lines)
    sheet.kinds = {column: _kind_of(column, sheet.rows[column]) for column in rows.columns}
    _unpivot(sheet)
    _find_key(sheet)
    return sheet


def _header(text: str) -> dict[str, int]:
    """The line of the header, where others stand before it: the first as wide as most."""
    widths = [len(row) for row in csv.reader(io.StringIO(text[:_HEAD]))]
    usual = Counter(widths[3:] or widths).most_common(1)[0][0] if widths else 0
    at = next((number for number, width in enumerate(widths) if width == usual), 0)
    return {"header": at, "data_from": at + 1} if at else {}


def _file(file: Mapping[str, Any]) -> File:
    return File.model_validate({**file, "domain": "industry"})


def _notes(rows: pl.DataFrame) -> int:
    """How many of the first rows are notes: texts where the rows below hold numbers."""
    numeric = [c for c in rows.columns if _share(rows[c].slice(4), r"^-?[\d,.]+$") > _NUMERIC]
    for at in range(min(4, rows.height)):
        cells = [str(rows[c][at] or "") for c in numeric]
        odd = [cell for cell in cells if not re.fullmatch(r"-?[\d,.]*", cell)]
        if len(odd) * 2 <= len(cells):
            return at
    return 0


def _share(cells: pl.Series, pattern: str) -> float:
    known = cells.drop_nulls().str.strip_chars().filter(~cells.drop_nulls().is_in(_MISSING))
    return float(known.str.contains(pattern).sum() / max(len(known), 1))


def _kind_of(name: str, cells: pl.Series) -> str:
    """`year` for years and dates, `number`, or `text`, of which codes in digits are."""
    if _share(cells, _DATE) > _NUMERIC and not _MONEY.search(name):
        return "year"
    if _share(cells, r"^[+-]?(?:\d[\d,]*)?(?:\.\d+)?(?:[eE][+-]?\d+)?$") > _NUMERIC:
        return "text" if _CODE.search(name) else "number"
    return "text"


def _unpivot(sheet: Sheet) -> None:
    """Columns whose names are years become rows."""
    years = [name for name in sheet.rows.columns if _YEAR.fullmatch(name.strip())]
    if len(years) >= _FEW:
        others = [name for name in sheet.rows.columns if name not in years]
        sheet.unpivot = ("year", years)
        sheet.rows = sheet.rows.unpivot(
            years, index=others, variable_name="year", value_name="value"
        )
        sheet.kinds = {
            **{name: sheet.kinds[name] for name in others},
            "year": "year",
            "value": "number",
        }


def _find_key(sheet: Sheet) -> None:
    """The fewest columns without repeats among texts and years, codes and first columns first."""
    texts = sorted(sheet.of("text"), key=lambda name: not _CODE.search(name))
    candidates = [
        name
        for name in [*texts, *sheet.of("year")]
        if sheet.rows[name].null_count() * 5 < sheet.rows.height
    ]
    years = {name: sheet.rows[name].str.slice(0, 4) for name in sheet.of("year")}
    rows = sheet.rows.with_columns(**years) if years else sheet.rows
    for size in (1, 2, 3):
        for key in combinations(candidates[:12], size):
            known = rows.select(key).drop_nulls()
            if known.n_unique() >= _UNIQUE * max(known.height, 1) and known.height:
                sheet.key = key
                return


@dataclass
class _Proposed:
    """A role with the table and its columns, and why."""

    role: str
    sheet: Sheet
    parts: dict[str, str]
    why: str


def _contained(values: set[str], others: set[str]) -> float:
    """Which share of some values is among others."""
    return len(values & others) / len(values) if values else 0.0


def _propose_roles(sheets: Sequence[Sheet]) -> list[_Proposed]:
    """A table for each role that the data show; entities first, since the others join them."""
    entities = _entities(sheets)
    if entities is None:
        return []
    by_role = {"entities": entities}
    for sheet in sheets:
        if sheet is not entities.sheet:
            proposed = _other(sheet, entities)
            if proposed is not None and _is_better(proposed, by_role.get(proposed.role)):
                by_role[proposed.role] = proposed
    return list(by_role.values())


def _is_better(proposed: _Proposed, other: _Proposed | None) -> bool:
    return other is None or len(proposed.sheet.of("number")) > len(other.sheet.of("number"))


def _entities(sheets: Sequence[Sheet]) -> _Proposed | None:
    """The table with a thing and a year in its key, and a place that other tables know."""
    best: tuple[int, _Proposed] | None = None
    for sheet in sheets:
        years = [name for name in sheet.key if sheet.kinds[name] == "year"] or sheet.of("year")[:1]
        texts = [name for name in sheet.key if sheet.kinds[name] == "text"]
        if not years or not texts or not sheet.of("number"):
            continue
        key = texts[0]
        groups = [
            n for n in sheet.of("text") if n != key and _FEW <= len(sheet.values(n)) <= _PLACES
        ]
        ranked = sorted(groups, key=lambda name: (-_known_elsewhere(sheet, name, sheets), name))
        if not ranked or _known_elsewhere(sheet, ranked[0], sheets) < _JOINS:
            continue
        home = ranked[0]
        rest = [n for n in groups if n != home and len(sheet.values(n)) <= _MANY_KINDS]
        parts = {"key": key, "period": years[0], "place": home}
        names = [
            n for n in sheet.of("text") if len(sheet.values(n)) >= 0.8 * len(sheet.values(key))
        ]
        parts |= {"name": next((n for n in names if n != key), key)}
        parts |= {"kind": rest[0]} if rest else {}
        things = len(sheet.values(key))
        why = f"{things:,} by {key} over {len(sheet.values(years[0]))} of {years[0]}"
        if best is None or things > best[0]:
            best = (things, _Proposed("entities", sheet, parts, why))
    return None if best is None else best[1]


def _known_elsewhere(sheet: Sheet, column: str, sheets: Sequence[Sheet]) -> float:
    """The largest share of a column's values that some text column of another table holds."""
    values = sheet.values(column)
    shares = (
        _contained(values, other.values(name))
        for other in sheets
        if other is not sheet
        for name in other.of("text")
        if name in other.key or len(other.values(name)) <= _PLACES
    )
    return max(shares, default=0.0)


def _other(sheet: Sheet, entities: _Proposed) -> _Proposed | None:
    """The role of a table beside the entities; None for one that joins with nothing."""
    own, parts = entities.sheet, entities.parts
    keys, places = own.values(parts["key"]), own.values(parts["place"])
    numbers, years = sheet.of("number"), sheet.of("year")
    texts = sheet.of("text")
    joined = {name: _contained(sheet.values(name), keys) for name in texts}
    of_places = {name: _contained(places, sheet.values(name)) for name in texts}
    home = max(of_places, key=lambda name: of_places[name], default="")
    own_key = max(joined, key=lambda name: joined[name], default="")
    if own_key and joined[own_key] >= _JOINS / 2 and sheet.is_unique(own_key):
        sheet.key = (own_key,)
        why = f"{joined[own_key]:.0%} of {own_key} are entities"
        return _Proposed("register", sheet, {"key": own_key}, why)
    if home and of_places[home] >= _JOINS:
        why = f"{of_places[home]:.0%} of the places are in {home}"
        kinds = own.values(parts["kind"]) if "kind" in parts else set[str]()
        branch = next(
            (n for n in sheet.key if n != home and _contained(kinds, sheet.values(n)) >= _JOINS), ""
        )
        title = next((n for n in texts if n != home and _is_prose(sheet, n)), "")
        if branch and numbers:
            return _Proposed("counts", sheet, {"place": home, "branch": branch}, why)
        if title and years and not sheet.unpivot:
            return _Proposed(
                "notices", sheet, {"place": home, "title": title, "period": years[0]}, why
            )
        if set(sheet.key) == {home} and numbers:
            is_plan = any(map(_PLAN.search, [sheet.name, *numbers]))
            return _Proposed("plans" if is_plan else "places", sheet, {"place": home}, why)
        if home in sheet.key and len(sheet.key) == 2 and set(sheet.key) & set(years) and numbers:
            return _Proposed("series", sheet, {"place": home, "period": years[0]}, why)
        return None
    return _abroad(sheet)


def _abroad(sheet: Sheet) -> _Proposed | None:
    """Things by year that join with nothing."""
    years = [name for name in sheet.key if sheet.kinds[name] == "year"]
    texts = [name for name in sheet.key if sheet.kinds[name] == "text"]
    if not years or not texts or not sheet.of("number"):
        return None
    why = f"{texts[0]} matches no entity"
    return _Proposed("abroad", sheet, {"place": texts[0], "period": years[0]}, why)


def _is_prose(sheet: Sheet, column: str) -> bool:
    cells = sheet.rows[column].drop_nulls()
    long = cells.str.len_chars().sum() > _PROSE * len(cells)
    return len(cells) > 0 and long and cells.n_unique() >= _FEW


def draft(
    name: str, sheets: Sequence[Sheet], texts: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """The draft of a declaration as data, and a line for each table with its role and why."""
    roles = _propose_roles(sheets)
    by_sheet = {id(each.sheet): each for each in roles}
    if any(each.role == "counts" for each in roles):
        roles[0].parts["branch"] = roles[0].parts["kind"]
    counted = Counter(_safe(name) for each in roles for name in each.sheet.of("number"))
    for each in roles:
        shared = (name for name in each.sheet.of("number") if counted[_safe(name)] > 1)
        each.sheet.shared = frozenset(shared)
    lines = [_line(sheet, by_sheet.get(id(sheet))) for sheet in sheets]
    entities = next((each for each in roles if each.role == "entities"), None)
    declared: dict[str, Any] = {
        "name": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "environment",
        "languages": ["en"],
        "words": _words(entities),
        "files": {s.name: {**s.file, "domain": _domain(by_sheet.get(id(s)))} for s in sheets},
        "tables": [_table(s) for s in sheets if id(s) in by_sheet],
        "roles": {
            r.role: {"table": r.sheet.name, **{k: r.sheet.called(v) for k, v in r.parts.items()}}
            for r in roles
        },
        "metrics": [m for r in roles for m in _metrics(r)],
        "slots": _slots(roles),
    }
    if texts:
        declared |= with_texts(declared, texts, "texts", {})
        lines.append(f"{len(texts)} texts: texts")
    return declared, lines


def with_texts(
    declared: Mapping[str, Any], texts: Mapping[str, str], name: str, filed: Mapping[str, Any]
) -> dict[str, Any]:
    """The parts of a declaration with documents, each a text of its own; `filed`: if they are
    papers of an archive, where each is filed."""
    file = {"path": name, "domain": "policy", "texts": dict(texts), "filed": dict(filed)}
    columns = [{"name": column, "source": column} for column in ("doc_id", "text")]
    table = {"name": name, "file": name, "key": ["doc_id"], "columns": columns}
    return {
        "files": {**declared["files"], name: file},
        "tables": [*declared["tables"], table],
        "roles": {**declared["roles"], "texts": {"table": name, "key": "doc_id", "text": "text"}},
    }


def _line(sheet: Sheet, role: _Proposed | None) -> str:
    key = ", ".join(sheet.key) or "no key"
    said = f"{sheet.file['path']}: {sheet.rows.height:,} rows by {key}: "
    if role is None:
        return said + "no role (does not join to a table that has one)"
    parts = ", ".join(f"{part} = {column}" for part, column in role.parts.items())
    return said + f"{role.role} ({parts}; {role.why})"


def _domain(role: _Proposed | None) -> str:
    if role is None:
        return "irrelevant"
    known = {
        "entities": "enterprise",
        "register": "enterprise",
        "notices": "policy",
        "abroad": "international",
    }
    return known.get(role.role, "industry")


def _safe(column: str) -> str:
    """The name of a column as a declaration has it."""
    name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:60]
    return name if name[:1].isalpha() else f"c_{name}"


def _words(entities: _Proposed | None) -> dict[str, dict[str, str]]:
    """The words of questions, to be corrected: what an entity and a place are called."""
    home = entities.parts["place"].replace("_", " ").lower() if entities else "place"
    return {
        "entity": {"en": "company"},
        "entities": {"en": "companies"},
        "place": {"en": home},
        "places": {"en": f"{home[:-1]}ies" if home.endswith("y") else f"{home}s"},
        "money": {"en": "units of money"},
    }


def _table(sheet: Sheet) -> dict[str, Any]:
    used = [*sheet.key, *(name for name in sheet.kinds if name not in sheet.key)]
    columns = []
    for name in used:
        source = {"year": "(cells)", "value": "(value)"}.get(name, name) if sheet.unpivot else name
        column: dict[str, Any] = {"name": sheet.called(name), "source": source}
        column["type"] = sheet.kinds[name]
        marks = [m for m in _MISSING if m in sheet.values(name)]
        columns.append({**column, **({"missing": marks} if marks else {})})
    unpivot = (
        {"unpivot": {year: year.strip() for year in sheet.unpivot[1]}, "into": "year"}
        if sheet.unpivot
        else {}
    )
    return {
        "name": sheet.name,
        "file": sheet.name,
        "key": [sheet.called(k) for k in sheet.key],
        "columns": columns,
        **unpivot,
    }


def _metrics(role: _Proposed) -> Iterator[dict[str, Any]]:
    """A metric for each number of a table in a role that has measures."""
    if role.role == "notices":
        return
    for column in role.sheet.of("number"):
        cells = (
            role.sheet.rows[column]
            .str.replace_all(",", "")
            .cast(pl.Float64, strict=False)
            .drop_nulls()
        )
        kind = "money" if _MONEY.search(column) else "count"
        metric = {
            "name": f"{role.sheet.name}_{_safe(column)}"[:60],
            "table": role.sheet.name,
            "column": role.sheet.called(column),
            "kind": kind,
            "label": {"en": column.replace("_", " ").strip().lower()},
        }
        if role.role == "entities":
            is_size = len(cells) > 0 and (cells < 0).sum() == 0
            metric["families"] = ["size"] if is_size else ["result"]
        elif role.role == "places":
            metric["families"] = ["rank", "base"]
        yield metric


def _slots(roles: Sequence[_Proposed]) -> dict[str, Any]:
    """Words of titles by which notices are counted: those in a tenth to a half of the titles."""
    notices = next((each for each in roles if each.role == "notices"), None)
    if notices is None:
        return {}
    titles = notices.sheet.rows[notices.parts["title"]].drop_nulls()
    words = titles.str.extract_all(r"\p{L}{4,}").list.unique().explode().value_counts()
    some = words.filter(pl.col("count").is_between(len(titles) // 10, len(titles) // 2))
    terms = some.sort(["count", words.columns[0]], descending=[True, False])[
        words.columns[0]
    ].to_list()[:3]
    return {"term": {"values": terms}} if terms else {}


_JOINED = (
    ("places", "place"),
    ("series", "place"),
    ("counts", "place"),
    ("notices", "place"),
    ("plans", "place"),
    ("register", "key"),
    ("counts", "branch"),
)
_SINGLE = (
    ("places", ("place",)),
    ("plans", ("place",)),
    ("register", ("key",)),
    ("series", ("place", "period")),
    ("counts", ("place", "branch")),
)


def role_faults(declaration: Declaration, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """Roles that the data do not bear out, in a line each: joins that fail, keys that repeat."""
    for name, role in declaration.roles.items():
        if not tables[role.table].height:
            yield f"roles.{name}: found no rows in {role.table}; expected some"
    yield from _unjoined(declaration, tables)
    for name, parts in _SINGLE:
        columns = [column for part in parts if (column := declaration.column(name, part))]
        if len(columns) < len(parts):
            continue
        role = declaration.roles[name]
        rows = tables[role.table]
        for column, cell in role.only.items():
            rows = rows.filter(pl.col(column) == cell)
        known = rows.select(columns).drop_nulls()
        if known.n_unique() < known.height:
            yield (
                f"roles.{name}: found several rows per {' and '.join(parts)} in {role.table}; "
                f"expected one. Correct the role, or say which rows count with roles.{name}.only."
            )


def _unjoined(declaration: Declaration, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """Columns that should join with the entities, and hold none of their values."""
    for name, part in _JOINED:
        mine, other = declaration.column("entities", part), declaration.column(name, part)
        if mine is None or other is None:
            continue
        own, table = declaration.roles["entities"].table, declaration.roles[name].table
        values = set(tables[own][mine].drop_nulls().cast(pl.String).to_list())
        if not values & set(tables[table][other].drop_nulls().cast(pl.String).to_list()):
            yield (
                f"roles.{name}.{part}: found no values of {own}.{mine} in {table}.{other}; "
                "expected columns that join. Correct the role."
            )
