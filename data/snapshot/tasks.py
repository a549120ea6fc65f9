"""One task in the two halves: what an agent gets, and what only graders see.

What an agent gets is written several times (a row of `tasks.jsonl` and `tasks.parquet`,
`task.yaml`, `instruction.md`); all of them show the same text.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

import orjson
import polars as pl
import yaml

from data.canonical import file_digest, pretty_json
from data.contracts import PRIVATE_FIELDS, Candidate, Contract, Fixture
from data.errors import ReleaseError
from data.neutralise import storable_tree, visible
from data.snapshot import layout
from data.snapshot.statistics import evidence_kinds

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
    return orjson.dumps(_typed(row, row_types()), option=orjson.OPT_APPEND_NEWLINE)


def from_line(line: Mapping[str, Any]) -> Row:
    """The row that was written as a line; one of an earlier release, with lists, stays as it is."""
    return {key: _untyped(value, row_types().get(key)) for key, value in line.items()}


def task_table(rows: Sequence[Row]) -> pl.DataFrame:
    """The rows as a table: every release has the same columns with the same types."""
    schema = {name: _column(kind) for name, kind in row_types().items()}
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)


@cache
def row_types() -> Mapping[str, Any]:
    """Field of a public row -> its annotated type."""
    return {k: v for k, v in _types(Candidate).items() if k not in PRIVATE_FIELDS} | {"canary": str}


@cache
def _types(contract: type[Contract]) -> Mapping[str, Any]:
    """The fields of a contract that are released; free-form details are not."""
    annotated = {name: field.annotation for name, field in contract.model_fields.items()}
    return {name: kind for name, kind in annotated.items() if get_origin(kind) is not dict}


@cache
def _nothing(contract: type[Contract]) -> Mapping[str, Any]:
    """How a contract that a task does not have is written."""
    return {name: _typed(None, each) for name, each in _types(contract).items()}


def _core(kind: Any) -> Any:
    """A type without the None and without the bounds around it."""
    if NoneType in get_args(kind):
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_contract(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Contract)


def _typed(value: Any, kind: Any) -> Any:
    core = _core(kind)
    if isinstance(core, Mapping) or _is_contract(core):
        fields = core if isinstance(core, Mapping) else _types(core)
        return {name: _typed((value or {}).get(name), each) for name, each in fields.items()}
    if get_origin(core) is tuple:
        return orjson.dumps(value).decode()
    return {float: 0.0, int: 0, bool: False}.get(core, "") if value is None else value


def _untyped(value: Any, kind: Any) -> Any:
    core, may_lack = _core(kind), NoneType in get_args(kind)
    if _is_contract(core) and isinstance(value, dict):
        if may_lack and value == _nothing(core):
            return None
        types = _types(core)
        return {k: _untyped(v, types.get(k)) for k, v in value.items() if v != {}}
    if get_origin(core) is tuple and isinstance(value, str):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return None if may_lack and value == "" else value


def _column(kind: Any) -> pl.DataType:
    core = _core(kind)
    if _is_contract(core):
        return pl.Struct({name: _column(each) for name, each in _types(core).items()})
    if get_origin(core) is tuple:
        return pl.List(_column(get_args(core)[0]))
    return {float: pl.Float64(), int: pl.Int64(), bool: pl.Boolean()}.get(core, pl.String())


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
