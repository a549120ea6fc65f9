"""`croissant.json`: MLCommons Croissant 1.1 metadata, so that dataset loaders find the tasks.

Format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. The reference
loader accepts a missing name, url, creator or description; `problems` does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from data.canonical import file_digest
from data.snapshot import layout
from data.snapshot.config import CardConfig
from data.snapshot.croissant_records import TASKS_FILE, record_sets, table_file
from data.snapshot.manifest import Manifest, tried_in_sandbox
from data.snapshot.release import ReleasedTable

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
_RAI = "http://mlcommons.org/croissant/RAI/1.0"
_NOT_EVALUATED = "http://rightsstatements.org/vocab/CNE/1.0/"  # no licence is declared
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
        "@context": dict(_CONTEXT),
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
            _file("tasks-jsonl", root, layout.TASK_LIST, "One task a line; lists are JSON texts."),
            _file(TASKS_FILE, root, layout.TASK_TABLE, "One row is a task."),
            *(
                _file(table_file(name), root, layout.table_path(name), f"One row is {table.row}.")
                for name, table in sorted(tables.items())
            ),
        ],
        "recordSet": record_sets(tables),
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
    tried = f" Run in a sandbox before the release: {trials}." if trials else ""
    shares = "; ".join(
        f"{name}: {_counts(statistics[name])}" for name in ("languages", "lanes", "families")
    )
    return {
        "rai:dataCollection": f"Source: {source.source}. Authorization: {source.authorization}. "
        f"Reviewed by {source.reviewer}, {source.reviewed}. Retention: {source.retention}.",
        "rai:dataPreprocessingProtocol": "Candidates pass gates with declared limits; "
        "audit/ledger.json counts what each of them rejected, by reason.",
        "rai:dataAnnotationProtocol": f"Labelled by {_counts(statistics['judges'])}.",
        "rai:personalSensitiveInformation": stamp,
        "rai:dataLimitations": f"{tasks} tasks.{tried} They cover what the source holds, and "
        "stand for no other work.",
        "rai:dataBiases": f"Tasks by {shares}. Sources, gates and selection decide these shares.",
        "rai:dataUseCases": "Evaluating agents. Not for training: each text file has a canary.",
        "rai:dataReleaseMaintenancePlan": f"Published by {card.creator}: {card.url}. A release is "
        "never changed: corrections are notices beside it, another selection is a new snapshot.",
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
