"""One task in the two halves: what an agent gets, and what only graders see.

What an agent gets is written several times (a row of `tasks.jsonl` and `tasks.parquet`,
`task.yaml`, `instruction.md`); all of them show the same text.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import orjson
import yaml

from data.canonical import file_digest, pretty_json
from data.contracts import PRIVATE_FIELDS, Candidate, Contract, Fixture
from data.errors import ReleaseError
from data.neutralise import storable_tree, visible
from data.remembered import remembered
from data.snapshot import layout
from data.snapshot.statistics import evidence_kinds

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]


def public_row(task: Candidate, opaque: Callable[[str], str], guid: str) -> Row:
    """The row of `tasks.jsonl`: the candidate without grader-only fields, with an opaque id.

    `provenance.detail` stays private as a whole. The prompt and the guidelines are neutralised
    here, once, so that every copy of them is the same.
    """
    row: Row = storable_tree(task.model_dump(mode="json", exclude=set(PRIVATE_FIELDS)))
    row["prompt"] = visible(task.prompt)
    row["guidelines"] = visible(task.guidelines)
    del row["provenance"]["detail"]
    row["provenance"]["item_id"] = opaque(task.provenance.item_id)
    return row | {"canary": guid}


def candidate_of(row: Mapping[str, Any]) -> Candidate:
    """The candidate that a public row or a line holds. Raises pydantic.ValidationError."""
    return Candidate.model_validate({k: v for k, v in from_line(row).items() if k != "canary"})


def row_line(row: Row) -> bytes:
    """A row as a line of `tasks.jsonl`; `task_id` comes first.

    Loaders guess types from the first lines, so each line shows all of them, whichever rows come
    first: lists are JSON texts, and what a task does not have is an empty text or a record of them.
    """
    return orjson.dumps(_fields(row, _row_types()), option=orjson.OPT_APPEND_NEWLINE)


def from_line(line: Mapping[str, Any]) -> Row:
    """The row that was written as a line; one of an earlier release, with lists, stays as it is."""
    return {key: _untyped(value, _row_types().get(key, _UNKNOWN)) for key, value in line.items()}


def task_table(rows: Sequence[Row]) -> pl.DataFrame:
    """The rows as a table: every release has the same columns with the same types."""
    import polars as pl

    schema = {name: _column(kind) for name, kind in _row_types().items()}
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)


@dataclass(frozen=True, slots=True)
class Shape:
    """The type of a field, without the None (`may_lack`) and without the bounds around it."""

    core: Any
    may_lack: bool = False

    @property
    def is_list(self) -> bool:
        return get_origin(self.core) is tuple


@cache
def _row_types() -> Mapping[str, Shape]:
    """Field of a public row -> its type."""
    public = {k: v for k, v in _types(Candidate).items() if k not in PRIVATE_FIELDS}
    return public | {"canary": Shape(str)}


@remembered()
def _types(contract: type[Contract]) -> Mapping[str, Shape]:
    """The fields of a contract that are released; free-form details are not."""
    annotated = {name: field.annotation for name, field in contract.model_fields.items()}
    return {name: _shape(kind) for name, kind in annotated.items() if get_origin(kind) is not dict}


@remembered()
def _nothing(contract: type[Contract]) -> Mapping[str, Any]:
    """How a contract that a task does not have is written."""
    return {name: _typed(None, each) for name, each in _types(contract).items()}


def _shape(kind: Any) -> Shape:
    may_lack = NoneType in get_args(kind)
    if may_lack:
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    return Shape(get_args(kind)[0] if get_origin(kind) is Annotated else kind, may_lack)


def _contract(shape: Shape) -> type[Contract] | None:
    core = shape.core
    return core if isinstance(core, type) and issubclass(core, Contract) else None


def _typed(value: Any, shape: Shape) -> Any:
    contract = _contract(shape)
    if contract is not None:
        return _fields(value or {}, _types(contract))
    if shape.is_list:
        return orjson.dumps(value).decode()
    return {float: 0.0, int: 0, bool: False}.get(shape.core, "") if value is None else value


def _fields(value: Mapping[str, Any], types: Mapping[str, Shape]) -> dict[str, Any]:
    return {name: _typed(value.get(name), each) for name, each in types.items()}


def _untyped(value: Any, shape: Shape) -> Any:
    if isinstance(value, str):
        if shape.is_list:
            try:
                return orjson.loads(value)
            except orjson.JSONDecodeError:
                return value
        return None if shape.may_lack and value == "" else value
    contract = _contract(shape) if isinstance(value, dict) else None
    if contract is None:
        return value
    if shape.may_lack and value == _nothing(contract):
        return None
    types = _types(contract)
    return {k: _untyped(v, types.get(k, _UNKNOWN)) for k, v in value.items() if v != {}}


_UNKNOWN = Shape(None)


def _column(shape: Shape) -> pl.DataType:
    import polars as pl

    contract = _contract(shape)
    if contract is not None:
        return pl.Struct({name: _column(each) for name, each in _types(contract).items()})
    if shape.is_list:
        return pl.List(_column(_shape(get_args(shape.core)[0])))
    plain = {float: pl.Float64(), int: pl.Int64(), bool: pl.Boolean()}
    return plain.get(shape.core, pl.String())


def instruction(task: Candidate, snapshot: str, guid: str) -> str:
    """`instruction.md`: the prompt as it is, the guidelines if any, the canary as a comment.

    `task` is the public one (`candidate_of` its row).
    """
    parts = [task.prompt.rstrip()]
    if task.guidelines.strip():
        parts.append("## Guidelines\n\n" + task.guidelines.strip())
    parts.append(f"<!-- {layout.canary_sentence(snapshot, guid)} -->")
    return "\n\n".join(parts) + "\n"


def task_yaml(task: Candidate, snapshot: str, version: str, guid: str) -> str:
    """`task.yaml`: the task in the format of Claw harnesses, without the grader."""
    dumped: Row = task.model_dump(mode="json")
    body = {
        "task_id": task.task_id,
        "task_name": task.business_task or task.task_id,
        "version": version,
        "category": task.task_family.value if task.task_family else str(task.lane),
        "difficulty": task.difficulty,
        "measured_difficulty": task.measured_difficulty,
        "split": task.split,
        "prompt": {
            "text": task.prompt,
            "language": task.language,
            "attachments": [f"{layout.INPUTS}/{item.path}" for item in task.fixtures],
        },
        "guidelines": task.guidelines or None,
        "tools": dumped["tools"],
        "environment": {
            "timeout_seconds": task.budget.seconds,
            "max_turns": task.budget.turns,
            "network": dumped["network"],
            "fixtures": dumped["fixtures"],
        },
        "deliverables": dumped["deliverables"],
        "preflight": task.preflight,
        "primary_dimensions": evidence_kinds(task),
    }
    text = yaml.dump(body, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return f"# {layout.canary_sentence(snapshot, guid)}\n{text}"


def private_parts(task: Candidate, guid: str) -> dict[str, bytes]:
    """File name -> content of the grader-only fields and the provenance, without empty ones."""
    dumped: Row = storable_tree(task.model_dump(mode="json"))
    parts = {name: dumped[name] for name in sorted(PRIVATE_FIELDS) if dumped[name]}
    parts["provenance"] = dumped["provenance"]
    return {
        f"{name}.json": pretty_json({"canary": guid, "task_id": task.task_id, name: value})
        for name, value in parts.items()
    }


def copy_fixture(task_id: str, fixture: Fixture, source: Path, target: Path) -> None:
    """Copy stored content to `target`. Raises ReleaseError if size or digest differ."""
    if source.is_symlink() or not source.is_file():
        raise ReleaseError(
            f"task {task_id}: the store has no regular file for fixture {fixture.sha256[:12]}. "
            "Run the fixture stage again."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    size = target.stat().st_size
    if size != fixture.bytes or file_digest(target) != fixture.sha256:
        raise ReleaseError(
            f"task {task_id}: fixture {fixture.sha256[:12]} has {size} bytes and another digest "
            f"or size than recorded ({fixture.bytes} bytes). The store was changed after the "
            "fixture stage; run that stage again."
        )


class _Dumper(yaml.SafeDumper):
    """Writes multi-line texts as literal blocks and repeated values in full (no YAML aliases)."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
