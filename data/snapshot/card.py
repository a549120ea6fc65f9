"""The texts around the tasks: README card, change log, licence notice, Croissant metadata, and the
audit pages beside the report.

There is a page per instance, and one about the privacy of the tables. Pages of instances belong to
the private half: they hold ids, numbers and pointers (file, line, turn), no session text. At most
`LIMIT` instances get a page, rejected ones first; the tables hold all of them. `audit/privacy.html`
shows what `audit/privacy.json` holds under `tables`. Names of tables and columns are as hostile as
their files: the template escapes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import orjson
import yaml

from data.canonical import file_digest
from data.contracts import Lane, Outcome, TurnedAway
from data.reasons import ReasonWords
from data.snapshot import layout
from data.snapshot.ledger import Frames
from data.snapshot.manifest import Manifest, tried_in_sandbox
from data.snapshot.pages import asset, page, render
from data.snapshot.release import CardConfig, Picture, PrivacyStamp, Release, ReleasedTable
from data.text.lexicon import load_table

LIMIT = 5_000
PER_INDEX = 500
_UNIT = "instance"
_TURNED_AWAY = (Outcome.REJECTED, Outcome.ERRORED)

_Record = Mapping[str, Any]
_PICTURES = "privacy-"
_RISKS = ("one company", "whole industry", "history", "largest company")
# Drift per column: key in the report, and heading.
_DRIFTS = (
    ("drift_mean", "mean"),
    ("drift_variance", "variance"),
    ("drift_skewness", "skewness"),
    ("drift_kurtosis", "kurtosis"),
)
# Keys that a table without measures lacks.
_MEASURED = ("statement", "verdict", "attacks", "frontier", "fidelity", "attacked", "limits")


@dataclass(slots=True)
class _InstanceHistory:
    """All rows of the ledger tables about one instance."""

    item_id: str
    opaque: str
    ledger: list[_Record] = field(default_factory=list)
    verdicts: list[_Record] = field(default_factory=list)
    parents: list[_Record] = field(default_factory=list)
    children: list[_Record] = field(default_factory=list)

    @property
    def turned_away(self) -> _Record | None:
        """The ledger row that rejected it, None if none did."""
        return next((row for row in self.ledger if row["outcome"] in _TURNED_AWAY), None)


def write_pages(
    frames: Frames,
    manifest: Manifest,
    stages: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
    opaque: Callable[[str], str],
    words: ReasonWords,
) -> Iterator[tuple[str, str]]:
    """Yield (file name, HTML): a page per instance, then the index pages that list them."""
    known = _histories(frames, stages, gates, opaque)
    shown = sorted(known, key=lambda instance: (instance.turned_away is None, instance.opaque))[
        :LIMIT
    ]
    for instance in shown:
        yield (
            f"{instance.opaque}.html",
            page(
                "instance.html.j2",
                asset("report.css"),
                instance=instance,
                manifest=manifest,
                words=words,
            ),
        )
    parts = [shown[at : at + PER_INDEX] for at in range(0, len(shown), PER_INDEX)] or [[]]
    for number, part in enumerate(parts, start=1):
        yield (
            _index_name(number),
            page(
                "index.html.j2",
                asset("report.css"),
                instances=part,
                manifest=manifest,
                number=number,
                names=[_index_name(n) for n in range(1, len(parts) + 1)],
                shown=len(shown),
                known=len(known),
                sentences=words.sentences,
            ),
        )


def _index_name(number: int) -> str:
    """`index.html`, `index-2.html`, …"""
    return "index.html" if number == 1 else f"index-{number}.html"


def _histories(
    frames: Frames,
    stages: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
    opaque: Callable[[str], str],
) -> list[_InstanceHistory]:
    histories: dict[str, _InstanceHistory] = {}
    stage_at = {stage["stage"]: index for index, stage in enumerate(stages)}
    gate_at = {gate: index for index, gate in enumerate(gates)}
    for row in frames.ledger.iter_rows(named=True):
        if row["unit"] == _UNIT:
            item = row["item_id"]
            instance = histories.setdefault(item, _InstanceHistory(item, opaque(item)))
            instance.ledger.append(row | {"evidence": _pairs(row["evidence"])})
    for row in frames.verdicts.iter_rows(named=True):
        if row["item_id"] in histories:
            histories[row["item_id"]].verdicts.append(row | {"measures": _pairs(row["measures"])})
    _link(frames, histories)
    for instance in histories.values():
        instance.ledger.sort(key=lambda row: stage_at.get(row["stage"], len(stage_at)))
        instance.verdicts.sort(key=lambda row: gate_at.get(row["gate"], len(gate_at)))
    return list(histories.values())


def _link(frames: Frames, histories: Mapping[str, _InstanceHistory]) -> None:
    for row in frames.lineage.iter_rows(named=True):
        if row["child_unit"] == _UNIT and row["child"] in histories:
            histories[row["child"]].parents.append(row)
        if row["parent_unit"] == _UNIT and row["parent"] in histories:
            histories[row["parent"]].children.append(row)


def _pairs(text: str) -> list[tuple[str, Any]]:
    """The entries of a JSON object as pairs."""
    return list(orjson.loads(text).items())


def has_tables(report: Mapping[str, Any] | None) -> bool:
    """Whether there is anything to show on the page."""
    return bool(report and report.get("tables"))


def privacy_page(
    card: CardConfig,
    manifest: Manifest,
    report: Mapping[str, Any],
    pictures: Mapping[str, Picture],
) -> str:
    """The page, with those of the release's `pictures` whose names start with `privacy-`."""
    mine = {name: picture for name, picture in pictures.items() if name.startswith(_PICTURES)}
    styles = dict.fromkeys(picture.style for _, picture in sorted(mine.items()))
    tables_report = report["tables"]
    shown = sorted(tables_report["tables"].items())
    return page(
        "privacy.html.j2",
        asset("report.css") + "".join(styles),
        card=card,
        manifest=manifest,
        tables_report=tables_report,
        tables=[_table(name, table, mine) for name, table in shown],
        risks=_RISKS,
        drifts=_DRIFTS,
    )


def _table(name: str, table: Mapping[str, Any], pictures: Mapping[str, Picture]) -> dict[str, Any]:
    own = [pictures[f"{_PICTURES}{name}-{kind}"] for kind in _kinds(name, pictures)]
    return {
        **dict.fromkeys(_MEASURED),
        "name": name,
        "pictures": own,
        "beyond": _beyond(table),
        **table,
    }


def _kinds(name: str, pictures: Mapping[str, Picture]) -> Sequence[str]:
    return [kind for kind in ("attacks", "frontier") if f"{_PICTURES}{name}-{kind}" in pictures]


def _beyond(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Columns that drifted beyond the limits in an industry, largest drift first."""
    cells: list[Mapping[str, Any]] = table["fidelity"]["by_group"] if "fidelity" in table else []
    far = [cell for cell in cells if cell["assessable"] and cell["within"] is False]
    return sorted(far, key=lambda cell: (-(cell["wasserstein"] or 0.0), -cell["d"], cell["column"]))


if TYPE_CHECKING:
    import polars as pl

# What each stamp means, for people who decide whether they may use the data.
_STAMPS: Mapping[PrivacyStamp, str] = {
    PrivacyStamp.GENERATED: "The input comes from the project's demo generator and names no real "
    "people or companies.",
    PrivacyStamp.PUBLIC: "All sources are declared public in the recipe; nothing was masked.",
    PrivacyStamp.MASKED: "Private text was masked before packaging, and the release passed the "
    "leak scan; see audit/privacy.json for the report.",
}
_WITH_TABLES = (
    "Private text was masked before packaging, private tables were anonymized, and the "
    "release passed the leak scan; see audit/privacy.json for the report."
)
_MADE: Mapping[Lane, tuple[str, str]] = {  # for one task, and for several
    Lane.SESSIONS: ("from a recorded work session", "from recorded work sessions"),
    Lane.SIGNALS: ("from popularity data", "from popularity data"),
    Lane.QUESTIONS: ("question about filed statements", "questions about filed statements"),
    Lane.ANALYTICS: ("analysis of data files", "analyses of data files"),
    Lane.REPOSITORIES: ("change to a repository", "changes to repositories"),
    Lane.WORKFLOWS: ("piece of work in services or files", "pieces of work in services and files"),
}
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)


def stamp(release: Release) -> str:
    """What the stamp of the release means; private tables are named only where it has some."""
    with_tables = release.privacy is PrivacyStamp.MASKED and has_tables(release.privacy_report)
    meaning = _WITH_TABLES if with_tables else _STAMPS[release.privacy]
    return f"{meaning}{_of_recogniser(release.privacy_report)}"


def _of_recogniser(report: Mapping[str, Any] | None) -> str:
    """Which model read for what is private, and whether anybody looked at its proposals."""
    read = ((report or {}).get("masking") or {}).get("recogniser")
    if not read:
        return ""
    unseen = " Words that it proposed to keep were accepted unseen." * read["accepts_proposals"]
    return f" A model ({read['model']}) recognised what is private beside the rules.{unseen}"


def summarised(release: Release) -> Release:
    """The release with a summary on its card: the recipe's, or one that counts tasks by lane."""
    if release.card.summary is not None:
        return release
    lanes = Counter(candidate.lane for candidate in release.candidates)
    by_rubric = sum(c.lane is Lane.REPOSITORIES and bool(c.rubric) for c in release.candidates)
    said = {Lane.REPOSITORIES: f" ({by_rubric} graded by rubric)"} if by_rubric else {}
    parts = [
        f"{lanes[lane]} {_MADE[lane][lanes[lane] > 1]}{said.get(lane, '')}"
        for lane in Lane
        if lanes[lane]
    ]
    summary = f"Self-contained tasks for agents: {', '.join(parts)}. Every rejection is recorded."
    return replace(release, card=release.card.model_copy(update={"summary": summary}))


def readme(
    release: Release,
    manifest: Manifest,
    funnel: Sequence[Mapping[str, Any]],
    undecided: Mapping[str, Sequence[str]],
    turned_away: TurnedAway,
    statistics: Mapping[str, Any],
) -> str:
    """The dataset card: YAML front matter for the Hugging Face hub, then the datasheet."""
    return render(
        "README.md.j2",
        front_matter=_front_matter(release, manifest, statistics),
        card=release.card,
        manifest=manifest,
        stamp=stamp(release),
        funnel=funnel,
        undecided=undecided,
        turned_away=turned_away,
        statistics=statistics,
        canary=_sentence(manifest),
        tried=tried_in_sandbox(manifest),
        tables=release.tables,
        has_privacy_report=release.privacy_report is not None,
        has_selection=release.selection is not None,
        keeps_languages=_keeps_languages(manifest.recipe),
        coverage=((release.selection or {}).get("questions") or {}).get("coverage", ()),
    )


def _keeps_languages(recipe: Mapping[str, Any]) -> bool:
    """Were texts in languages without detection of names released as unverified?"""
    language = recipe.get("masking", {}).get("language", {})
    return bool(language.get("unsupported") == "keep")


def _size_category(tasks: int) -> str:
    """The hub's word for a number of tasks."""
    return next((name for top, name in _SIZES if tasks < top), "n>1M")


def changelog(release: Release, manifest: Manifest) -> str:
    """What changed since the release before; the first one says that it is the first."""
    changes = release.changes or ("First release in this snapshot series.",)
    return render("CHANGELOG.md.j2", manifest=manifest, changes=changes, canary=_sentence(manifest))


def licence_notice(card: CardConfig, manifest: Manifest) -> str:
    """The licence by name and address, and how to give credit."""
    return render("LICENSE.j2", card=card, manifest=manifest, canary=_sentence(manifest))


def _front_matter(release: Release, manifest: Manifest, statistics: Mapping[str, Any]) -> str:
    card = release.card
    files = {"tasks": layout.TASK_TABLE}
    files |= {name: layout.table_path(name) for name in sorted(release.tables)}
    document = {
        "pretty_name": card.title,
        "license": card.licence.lower() if card.licence else "unknown",
        "language": sorted(row["value"] for row in statistics["languages"]),
        "tags": ["agents", "benchmark", "benchmint", f"privacy-{manifest.privacy}"],
        "task_categories": ["other"],
        "size_categories": [_size_category(statistics["tasks"])],
        "source_datasets": ["original"],
        "annotations_creators": ["machine-generated"],
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": path}]}
            for name, path in files.items()
        ],
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def _sentence(manifest: Manifest) -> str:
    return layout.canary_sentence(manifest.snapshot, manifest.canary)


_CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
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

    `statistics` are those of the released tasks (`data.snapshot.tasks`);
    `stamp` says what the privacy of the release means (`data.snapshot.card`).
    """
    sentence = layout.canary_sentence(manifest.snapshot, manifest.canary)
    return {
        "@context": orjson.loads(asset(_CONTEXT)),
        "@type": "sc:Dataset",
        "conformsTo": [_CONFORMS_TO, _RAI],
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
            _file(_TASKS_FILE, root, layout.TASK_TABLE, "One row is a task."),
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
    if _CONFORMS_TO not in (document.get("conformsTo") or ()):
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

_TASKS_FILE = "tasks-parquet"  # of the two lists the one whose lists are no texts
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
        "fileObject": {"@id": _TASKS_FILE},
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
