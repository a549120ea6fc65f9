"""`croissant.json`: MLCommons Croissant 1.1 metadata, so that dataset loaders find the tasks.

Format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. The reference
loader accepts a missing name, url, creator or description; `problems` does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from data.canonical import file_digest
from data.snapshot import layout
from data.snapshot.config import CardConfig
from data.snapshot.manifest import Manifest
from data.snapshot.release import ReleasedTable

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
_NOT_EVALUATED = "http://rightsstatements.org/vocab/CNE/1.0/"  # no licence is declared
_FILE = "tasks-jsonl"
_RECORDS = "tasks"
_REQUIRED = ("name", "description", "url", "license", "creator", "datePublished", "version")

# The literal context of the specification: loaders warn about any other.
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

# Columns whose value is one text in every row; nested ones are read from the file itself.
_FIELDS: Mapping[str, str] = {
    "task_id": "Id of the task and name of its directory under tasks/.",
    "lane": "Where the task was minted: sessions, signals, questions or analytics.",
    "prompt": "What the agent is told.",
    "language": "Language of the prompt as a BCP 47 tag.",
    "canary": "GUID that marks text of this benchmark.",
}


def metadata(
    card: CardConfig,
    manifest: Manifest,
    task_list: bytes,
    sha256: str,
    tables: Mapping[str, ReleasedTable] = MappingProxyType({}),
) -> dict[str, Any]:
    """The JSON-LD document for `tasks.jsonl`, given by content and digest, and for the tables."""
    sentence = layout.canary_sentence(manifest.snapshot, manifest.canary)
    return {
        "@context": dict(_CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": manifest.snapshot,
        "description": f"{card.summary} {sentence}",
        "url": card.url,
        "license": card.licence_url or card.licence or _NOT_EVALUATED,
        "creator": {"@type": "sc:Organization", "name": card.creator},
        "datePublished": manifest.released.isoformat(),
        "version": manifest.version,
        "citeAs": f"{card.creator}. {card.title}, snapshot {manifest.snapshot}. {card.url}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": _FILE,
                "name": layout.TASK_LIST,
                "description": "One task a line.",
                "contentUrl": layout.TASK_LIST,
                "contentSize": f"{len(task_list)} B",
                "encodingFormat": "application/jsonlines",
                "sha256": sha256,
            },
            *(_table(name, table) for name, table in sorted(tables.items())),
        ],
        "recordSet": [_record_set()],
    }


def _record_set() -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": _RECORDS,
        "name": _RECORDS,
        "description": "The tasks of this snapshot.",
        "key": {"@id": f"{_RECORDS}/task_id"},
        "field": [_field(name, meaning) for name, meaning in _FIELDS.items()],
    }


def _table(name: str, table: ReleasedTable) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"table-{name}",
        "name": f"{name}.parquet",
        "description": f"One row is {table.row}.",
        "contentUrl": layout.table_path(name),
        "contentSize": f"{table.path.stat().st_size} B",
        "encodingFormat": "application/vnd.apache.parquet",
        "sha256": file_digest(table.path),
    }


def problems(document: Mapping[str, Any]) -> list[str]:
    """Required properties that are missing or empty."""
    missing = [key for key in _REQUIRED if not document.get(key)]
    creator = document.get("creator")
    if "creator" not in missing and not (isinstance(creator, dict) and creator.get("name")):
        missing.append("creator.name")
    if document.get("conformsTo") != CONFORMS_TO:
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


def _field(name: str, meaning: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{_RECORDS}/{name}",
        "name": name,
        "description": meaning,
        "dataType": "sc:Text",
        "source": {"fileObject": {"@id": _FILE}, "extract": {"column": name}},
    }
