"""The record sets of `croissant.json`: every field of the tasks, every column of the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from data.snapshot.release import ReleasedTable

if TYPE_CHECKING:
    import polars as pl

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


def _label(name: str, what: str) -> _Field:
    return _Field(name, f"{what}; null if unassigned.", name, "$.value")


def _part(column: str, key: str, meaning: str, data_type: str = _TEXT) -> _Field:
    return _Field(f"{column}_{key}", meaning, column, f"$.{key}", data_type)


def _each(name: str, meaning: str, column: str, key: str) -> _Field:
    return _Field(name, meaning, column, f"$.{key}", is_array=True)


_FIELDS = (
    _Field("task_id", "Id of the task and name of its directory under tasks/.", "task_id"),
    _Field("lane", "Where the task was minted: sessions, questions, analytics, …", "lane"),
    _Field("prompt", "What the agent is told.", "prompt"),
    _Field("guidelines", "How to answer: format, units, rounding.", "guidelines"),
    _Field("language", "Language of the prompt as a BCP 47 tag.", "language"),
    _label("task_family", "What the task is about"),
    _Field("display_group", "Group of task families in reports.", "display_group"),
    _Field("business_task", "The task in a few words.", "business_task"),
    _Field("task_class", "Id of the unit of skill transfer.", "task_class", "$.subclass_id"),
    _label("role", "For whom the work is done"),
    _label("skill_subclass", "Skill that the task needs, within the role"),
    _label("skill_route", "How the skill is applied"),
    _Field("execution_surface", "What the agent acts on: files, api, …", "execution_surface"),
    _Field("difficulty", "easy, medium or hard; null if unknown.", "difficulty"),
    _Field("difficulty_rule", "How the difficulty was declared.", "difficulty_rule"),
    _part("measured", "difficulty", "What real agents showed; empty if unmeasured."),
    _part("measured", "pass_rate", "Share of their attempts that passed.", _NUMBER),
    _part("structure", "records", "Records of its world, or inputs.", _WHOLE),
    _part("structure", "overriding", "Records that override what is obvious.", _WHOLE),
    _part("structure", "services", "Services that have to be used.", _WHOLE),
    _part("structure", "calls", "Calls of the reference solution.", _WHOLE),
    _Field("split", "full, or smoke: easy, whether an agent works at all.", "split"),
    _each("fixtures", "Input files, below the task's inputs/.", "fixtures", "path"),
    _each("fixture_sha256", "Their digests.", "fixtures", "sha256"),
    _Field("tools", "Tools that the task offers.", "tools", is_array=True),
    _part("budget", "turns", "Most model turns.", _WHOLE),
    _part("budget", "seconds", "Longest run in seconds.", _WHOLE),
    _part("network", "mode", "What can be reached: none, list or web."),
    _each("deliverables", "Types of the files asked for.", "deliverables", "file_type"),
    _part("evidence", "retrieval", "Is it graded by what was looked up?", _TRUTH),
    _part("evidence", "accuracy", "Is it graded by the values given?", _TRUTH),
    _part("evidence", "action", "Is it graded by what was changed?", _TRUTH),
    _part("evidence", "semantic", "Does a judge grade parts of it?", _TRUTH),
    _Field("preflight", "verified if it was tried in a sandbox.", "preflight"),
    _part("provenance", "source", "Name of the source."),
    _part("provenance", "source_format", "Format of the source."),
    _part("provenance", "item_id", "Opaque id of what it was made from."),
    _part("provenance", "disclosure", "public, anonymized or private."),
    _part("provenance", "licence", "Licence of the source; null if none is declared."),
    _part("provenance", "judge", "Who labelled it: rules, a model or people."),
    _Field("canary", "GUID that marks text of this benchmark.", "canary"),
)


def record_sets(tables: Mapping[str, ReleasedTable]) -> list[dict[str, Any]]:
    """The tasks first, then the tables by name. Their columns are read from the files."""
    tasks = _record_set(_TASKS, "The tasks of this snapshot.", map(_task_field, _FIELDS))
    tasks["key"] = {"@id": f"{_TASKS}/task_id"}
    return [tasks, *(_table_records(name, table) for name, table in sorted(tables.items()))]


def table_file(name: str) -> str:
    """The id of the file of a table."""
    return f"table-{name}"


def _table_records(name: str, table: ReleasedTable) -> dict[str, Any]:
    return _record_set(name, f"One row is {table.row}.", _table_fields(name, table))


def _table_fields(name: str, table: ReleasedTable) -> Iterator[dict[str, Any]]:
    import polars as pl

    for column, dtype in pl.read_parquet_schema(table.path).items():
        meaning = table.columns.get(column, f"Column {column} of {name}.")
        source = {"fileObject": {"@id": table_file(name)}, "extract": {"column": column}}
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
