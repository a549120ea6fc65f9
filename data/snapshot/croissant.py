"""`croissant.json`: MLCommons Croissant 1.1 metadata, so that dataset loaders find the tasks.

Format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. The reference
loader accepts a missing name, url, creator or description; `problems` does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import orjson

from data.canonical import file_digest
from data.snapshot import layout
from data.snapshot.manifest import Manifest, tried_in_sandbox
from data.snapshot.pages import asset
from data.snapshot.release import CardConfig, ReleasedTable
from data.text.lexicon import load_table

if TYPE_CHECKING:
    import polars as pl

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
_RAI = "http://mlcommons.org/croissant/RAI/1.0"
_NOT_EVALUATED = "http://rightsstatements.org/vocab/CNE/1.0/"  # no licence is declared
_REQUIRED = ("name", "description", "url", "license", "creator", "datePublished", "version")

# The literal context of the specification: loaders warn about any other.
_CONTEXT = "croissant_context.json"


def metadata(
    card: CardConfig,
    manifest: Manifest,
    root: Path,
    statistics: Mapping[str, Any],
    stamp: str,
    tables: Mapping[str, ReleasedTable] = MappingProxyType({}),
) -> dict[str, Any]:
    """The JSON-LD document for the lists of tasks that `root` holds, and for the tables.

    `statistics` are those of the released tasks (`data.snapshot.statistics`);
    `stamp` says what the privacy of the release means (`data.snapshot.card`).
    """
    sentence = layout.canary_sentence(manifest.snapshot, manifest.canary)
    return {
        "@context": orjson.loads(asset(_CONTEXT)),
        "@type": "sc:Dataset",
        "conformsTo": [CONFORMS_TO, _RAI],
        "name": manifest.snapshot,
        "description": f"{card.summary} {sentence}",
        "url": card.url,
        "license": card.licence_url or card.licence or _NOT_EVALUATED,
        "creator": {"@type": "sc:Organization", "name": card.creator},
        "datePublished": manifest.released.isoformat(),
        "version": manifest.version,
        "citeAs": f"{card.creator}. {card.title}, snapshot {manifest.snapshot}. {card.url}",
        "distribution": [
            _file("tasks-jsonl", root, layout.TASK_LIST, "One task per line; lists are JSON text."),
            _file(TASKS_FILE, root, layout.TASK_TABLE, "One row is a task."),
            *(
                _file(_table_file(name), root, layout.table_path(name), f"One row is {table.row}.")
                for name, table in sorted(tables.items())
            ),
        ],
        "recordSet": _record_sets(tables),
        **_responsible_use(card, manifest, statistics, stamp),
    }


def _file(file_id: str, root: Path, path: str, meaning: str) -> dict[str, Any]:
    is_table = path.endswith(".parquet")
    return {
        "@type": "cr:FileObject",
        "@id": file_id,
        "name": PurePosixPath(path).name,
        "description": meaning,
        "contentUrl": path,
        "contentSize": f"{(root / path).stat().st_size} B",
        "encodingFormat": "application/x-parquet" if is_table else "application/jsonlines",
        "sha256": file_digest(root / path),
    }


def _responsible_use(
    card: CardConfig, manifest: Manifest, statistics: Mapping[str, Any], stamp: str
) -> dict[str, str]:
    """The RAI properties of Croissant 1.0, from what the manifest and the statistics say."""
    source, tasks = manifest.authorization, statistics["tasks"]
    trials = tried_in_sandbox(manifest)
    tried = f" Run in a sandbox before release: {trials}." if trials else ""
    shares = "; ".join(
        f"{name}: {_counts(statistics[name])}" for name in ("languages", "lanes", "families")
    )
    return {
        "rai:dataCollection": f"Source: {source.source}. Authorization: {source.authorization}. "
        f"Reviewed by {source.reviewer}, {source.reviewed}. Retention: {source.retention}.",
        "rai:dataPreprocessingProtocol": "Candidates pass gates with declared limits; "
        "audit/ledger.json counts each gate's rejections by reason.",
        "rai:dataAnnotationProtocol": f"Labelled by {_counts(statistics['judges'])}.",
        "rai:personalSensitiveInformation": stamp,
        "rai:dataLimitations": f"{tasks} tasks.{tried} They cover only what is in the "
        "source and do not represent other work.",
        "rai:dataBiases": f"Tasks by {shares}. Sources, gates and selection decide these shares.",
        "rai:dataUseCases": "Evaluating agents. Not for training: every text file has a canary.",
        "rai:dataReleaseMaintenancePlan": f"Published by {card.creator}: {card.url}. A release is "
        "never changed: corrections are separate notices, and a new selection is a new snapshot.",
    }


def _counts(rows: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{row['value']} {row['n']}" for row in rows) or "none"


def problems(document: Mapping[str, Any]) -> list[str]:
    """Required properties that are missing or empty."""
    missing = [key for key in _REQUIRED if not document.get(key)]
    creator = document.get("creator")
    if "creator" not in missing and not (isinstance(creator, dict) and creator.get("name")):
        missing.append("creator.name")
    if CONFORMS_TO not in (document.get("conformsTo") or ()):
        missing.append("conformsTo")
    return missing


def unpinned(document: Mapping[str, Any], digests: Mapping[str, str]) -> list[str]:
    """Files with a wrong or missing digest: `tasks.jsonl`, the tables, and other files it names."""
    distribution = document.get("distribution")
    pinned = {
        file["contentUrl"]: file.get("sha256")
        for file in (distribution if isinstance(distribution, list) else [])
        if isinstance(file, dict) and isinstance(file.get("contentUrl"), str)
    }
    tables = {path for path in digests if path.startswith(f"{layout.TABLES}/")}
    named = {layout.TASK_LIST} | tables | pinned.keys()
    return sorted(path for path in named if pinned.get(path) != digests.get(path, ""))


# Record sets -------------------------------------------------------------------------------------

TASKS_FILE = "tasks-parquet"  # of the two lists the one whose lists are no texts
_TASKS = "tasks"
_TEXT, _WHOLE, _NUMBER, _TRUTH = "sc:Text", "sc:Integer", "sc:Float", "sc:Boolean"


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a task: its column, and where in a nested one it stands."""

    name: str
    meaning: str
    column: str
    path: str | None = None
    data_type: str = _TEXT
    is_array: bool = False


_FIELDS = tuple(
    _Field(**{"name": name, "column": name, **declared})
    for name, declared in load_table(__package__, "croissant_fields.toml").items()
)


def _record_sets(tables: Mapping[str, ReleasedTable]) -> list[dict[str, Any]]:
    """The tasks first, then the tables by name. Their columns are read from the files."""
    tasks = _record_set(_TASKS, "The tasks in this snapshot.", map(_task_field, _FIELDS))
    tasks["key"] = {"@id": f"{_TASKS}/task_id"}
    return [tasks, *(_table_records(name, table) for name, table in sorted(tables.items()))]


def _table_file(name: str) -> str:
    """The id of the file of a table."""
    return f"table-{name}"


def _table_records(name: str, table: ReleasedTable) -> dict[str, Any]:
    return _record_set(name, f"One row is {table.row}.", _table_fields(name, table))


def _table_fields(name: str, table: ReleasedTable) -> Iterator[dict[str, Any]]:
    import polars as pl

    for column, dtype in pl.read_parquet_schema(table.path).items():
        meaning = table.columns.get(column, f"Column {column} of {name}.")
        source = {"fileObject": {"@id": _table_file(name)}, "extract": {"column": column}}
        yield _field(name, column, meaning, source, _data_type(dtype))


def _task_field(field: _Field) -> dict[str, Any]:
    source: dict[str, Any] = {
        "fileObject": {"@id": TASKS_FILE},
        "extract": {"column": field.column},
    }
    if field.path is not None:
        source["transform"] = {"jsonPath": field.path}
    made = _field(_TASKS, field.name, field.meaning, source, field.data_type)
    return made | ({"isArray": True, "arrayShape": "-1"} if field.is_array else {})


def _record_set(name: str, meaning: str, fields: Iterator[dict[str, Any]]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": meaning,
        "field": list(fields),
    }


def _field(
    records: str, name: str, meaning: str, source: Mapping[str, Any], data_type: str
) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{name}",
        "name": name,
        "description": meaning,
        "dataType": data_type,
        "source": dict(source),
    }


def _data_type(dtype: pl.DataType) -> str:
    import polars as pl

    if dtype == pl.Boolean:
        return _TRUTH
    if dtype.is_integer():
        return _WHOLE
    if dtype.is_float() or dtype.is_decimal():
        return _NUMBER
    return "sc:Date" if dtype == pl.Date else _TEXT
