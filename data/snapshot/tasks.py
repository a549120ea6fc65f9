"""One task in the two halves: what an agent gets, and what only graders see.

What an agent gets is written several times (a row of `tasks.jsonl` and `tasks.parquet`,
`task.yaml`, `instruction.md`); all of them show the same text.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import yaml

from data.canonical import file_digest, pretty_json
from data.contracts import PRIVATE_FIELDS, Candidate, Fixture
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
    row["provenance"] |= {"item_id": opaque(task.provenance.item_id), "detail": {}}
    return row | {"canary": guid}


def candidate_of(row: Mapping[str, Any]) -> Candidate:
    """The candidate that a public row holds. Raises pydantic.ValidationError."""
    return Candidate.model_validate({key: row[key] for key in row if key != "canary"})


def row_line(row: Row) -> bytes:
    """A row as a line; keys in the order of the contract, so that `task_id` comes first."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def task_table(rows: Sequence[Row]) -> pl.DataFrame:
    """The rows as a table. What holds nothing in all of them is a column of missing texts."""
    if not rows:
        return pl.DataFrame(schema={"task_id": pl.String})
    frame = pl.from_dicts([_without_empty(row) for row in rows], infer_schema_length=None)
    return frame.cast(
        {name: _without_null(dtype) for name, dtype in frame.collect_schema().items()}
    )


def _without_empty(value: Any) -> Any:
    """Parquet has no structs without fields."""
    if isinstance(value, dict):
        return {key: _without_empty(item) for key, item in value.items()} or None
    return value


def _without_null(dtype: Any) -> Any:
    if isinstance(dtype, pl.List):
        return pl.List(_without_null(dtype.inner))
    if isinstance(dtype, pl.Struct):
        return pl.Struct({item.name: _without_null(item.dtype) for item in dtype.fields})
    return pl.String if dtype == pl.Null else dtype


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
