"""One task in the two halves: what an agent gets, and what only graders see.

What an agent gets is written several times (a row of `tasks.jsonl` and `tasks.parquet`,
`task.yaml`, `instruction.md`); all of them show the same text.
"""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import orjson
import yaml

from data.canonical import file_digest, pretty_json
from data.contracts import PRIVATE_FIELDS, Candidate, Contract, Fixture, Label
from data.errors import ReleaseError
from data.neutralise import storable_tree, visible
from data.remembered import remembered
from data.snapshot import layout

if TYPE_CHECKING:
    import polars as pl

_Bins = Mapping[str, tuple[float, float]]  # label -> [low, high)

_NONE = "not labelled"
_UNREAD = "nobody"  # the judge of a task that neither a model nor a person has read
_TENTHS = 10
_EXACT = 2**53  # largest whole number up to which floats are exact


def statistics(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Inputs, deliverables, languages and lengths of the tasks.

    `unread` counts tasks of which nobody said that they can be done, `without_rubric` those that
    hard rules alone judge. Lengths are in characters, sizes in bytes. `*_types.tasks` counts tasks
    that have the type at all, `*_types.files` counts files.
    """
    fixtures = stored_fixtures(candidates)
    return {
        "tasks": len(candidates),
        "lanes": _counted(str(task.lane) for task in candidates),
        "languages": _counted(task.language for task in candidates),
        "formats": _counted(task.provenance.source_format for task in candidates),
        "families": _counted(_value(task.task_family) for task in candidates),
        "roles": _counted(_value(task.role) for task in candidates),
        "skills": _counted(_value(task.skill_subclass) for task in candidates),
        "task_classes": _counted(_class(task) for task in candidates),
        "splits": _counted(_split(task) for task in candidates),
        "judges": _counted(task.role.judge if task.role else _NONE for task in candidates),
        "unread": sum(task.provenance.judge == _UNREAD for task in candidates),
        "without_rubric": sum(
            task.rubric is not None and task.rubric.needs_model for task in candidates
        ),
        "difficulties": _counted(task.difficulty or _NONE for task in candidates),
        "measured": _counted(task.measured_difficulty for task in candidates),
        "smoke": _counted(task.split for task in candidates),
        "surfaces": _counted(task.execution_surface or _NONE for task in candidates),
        "network": _counted(task.network.mode for task in candidates),
        "evidence": _counted(kind for task in candidates for kind in _evidence_kinds(task)),
        "input_types": _types_of(_inputs(task) for task in candidates),
        "deliverable_types": _types_of(_deliverables(task) for task in candidates),
        "prompt_chars": _distribution([len(task.prompt) for task in candidates]),
        "inputs_per_task": _distribution([len(task.fixtures) for task in candidates]),
        "input_bytes": _distribution([fixture.bytes for fixture in fixtures]),
        "total_input_bytes": sum(fixture.bytes for fixture in fixtures),
    }


def stored_fixtures(candidates: Iterable[Candidate]) -> list[Fixture]:
    """The input files that a release holds: those of an environment once for all its tasks."""
    stored = {
        layout.input_path(task.task_id, fixture): fixture
        for task in candidates
        for fixture in task.fixtures
    }
    return list(stored.values())


def verified(candidates: Iterable[Candidate]) -> int:
    """How many tasks were tried in a sandbox, without a fault."""
    return sum(task.preflight == "verified" for task in candidates)


def _counted(values: Iterable[str]) -> list[dict[str, Any]]:
    """Values with their counts, most frequent first, then by name."""
    ranked = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    return [{"value": value, "n": n} for value, n in ranked]


def _distribution(values: Sequence[float]) -> dict[str, Any]:
    """`summary` and the histogram of `values`."""
    edges = bins(values)
    counts = Counter(label_of(value, edges) for value in values)
    return summary(values) | {
        "histogram": [{"label": label, "n": counts[label]} for label in edges]
    }


def summary(values: Sequence[float]) -> dict[str, Any]:
    """n, min, quartiles and max; quantiles by nearest rank, so each is a value that occurred."""
    if not values:
        return {"n": 0}
    ordered = sorted(values)
    places = {"min": 0.0, "p25": 0.25, "median": 0.5, "p75": 0.75, "max": 1.0}
    ranks = {name: max(math.ceil(q * len(ordered)) - 1, 0) for name, q in places.items()}
    return {"n": len(ordered)} | {name: _plain(ordered[rank]) for name, rank in ranks.items()}


def bins(values: Sequence[float]) -> _Bins:
    """Bins that cover `values`: tenths for shares, else 0, 1, 2, 5, 10, 20, 50 and so on."""
    if not values:
        return {}
    low, high = min(values), max(values)
    if low >= 0 and high <= 1 and any(value % 1 for value in values):
        # The last bin holds 1 itself.
        edges = [*(index / _TENTHS for index in range(_TENTHS)), math.inf]
        return {f"{a:.1f}–{min(b, 1.0):.1f}": (a, b) for a, b in pairwise(edges)}
    whole = not any(value % 1 for value in values)
    pairs = [(a, b) for a, b in pairwise(_series_up_to(high)) if b > low]
    covered = {_span(a, b, whole): (a, b) for a, b in pairs}
    return ({"< 0": (-math.inf, 0.0)} if low < 0 else {}) | covered


def label_of(value: float, edges: _Bins) -> str:
    """The label of the bin that holds `value`, which must be one of those `bins` was given."""
    return next(label for label, (low, high) in edges.items() if low <= value < high)


def _plain(value: float) -> float | int:
    """A whole number as int while that is exact; any other rounded to 1e-9 (law 5)."""
    return int(value) if abs(value) <= _EXACT and value % 1 == 0 else round(value, 9)


def _evidence_kinds(task: Candidate) -> list[str]:
    """The kinds of evidence a grader of `task` needs."""
    return [kind for kind, needed in task.evidence.model_dump().items() if needed]


def _series_up_to(high: float) -> list[float]:
    """0, 1, 2, 5, 10, 20, 50, … past `high`."""
    edges = [0.0]
    power = 1.0
    while edges[-1] <= high:
        edges += [power, 2 * power, 5 * power]
        power *= 10
    last = next(index for index, edge in enumerate(edges) if edge > high)
    return edges[: last + 1]


def _span(low: float, high: float, whole: bool) -> str:
    """Label of [low, high); whole numbers name the last one that is in it while it is short."""
    if whole and high - low == 1:
        return _short(low)
    return f"{_short(low)}–{_short(high - 1 if whole and high < 1000 else high)}"


def _short(value: float) -> str:
    """1500 -> 1.5k, as axis labels have it."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _value(label: Label | None) -> str:
    return label.value if label else _NONE


def _class(task: Candidate) -> str:
    return task.task_class.name if task.task_class else _NONE


def _split(task: Candidate) -> str:
    return (task.task_class and task.task_class.split) or _NONE


def _inputs(task: Candidate) -> Counter[str]:
    return Counter(_extension(fixture.path) for fixture in task.fixtures)


def _deliverables(task: Candidate) -> Counter[str]:
    files: Counter[str] = Counter()
    for item in task.deliverables:
        files[item.file_type] += item.count
    return files


def _extension(path: str) -> str:
    """Lower-case extension without the dot, or "none"."""
    return PurePosixPath(path).suffix.lower().removeprefix(".") or "none"


def _types_of(files_by_task: Iterable[Counter[str]]) -> list[dict[str, Any]]:
    files: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    for counts in files_by_task:
        files.update(counts)
        tasks.update(counts.keys())
    ranked = sorted(files, key=lambda name: (-tasks[name], -files[name], name))
    return [{"value": name, "tasks": tasks[name], "files": files[name]} for name in ranked]


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
class _Shape:
    """The type of a field, without the None (`may_lack`) and without the bounds around it."""

    core: Any
    may_lack: bool = False

    @property
    def is_list(self) -> bool:
        return get_origin(self.core) is tuple


@cache
def _row_types() -> Mapping[str, _Shape]:
    """Field of a public row -> its type."""
    public = {k: v for k, v in _types(Candidate).items() if k not in PRIVATE_FIELDS}
    return public | {"canary": _Shape(str)}


@remembered()
def _types(contract: type[Contract]) -> Mapping[str, _Shape]:
    """The fields of a contract that are released; free-form details are not."""
    annotated = {name: field.annotation for name, field in contract.model_fields.items()}
    return {name: _shape(kind) for name, kind in annotated.items() if get_origin(kind) is not dict}


@remembered()
def _nothing(contract: type[Contract]) -> Mapping[str, Any]:
    """How a contract that a task does not have is written."""
    return {name: _typed(None, each) for name, each in _types(contract).items()}


def _shape(kind: Any) -> _Shape:
    may_lack = NoneType in get_args(kind)
    if may_lack:
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    return _Shape(get_args(kind)[0] if get_origin(kind) is Annotated else kind, may_lack)


def _contract(shape: _Shape) -> type[Contract] | None:
    core = shape.core
    return core if isinstance(core, type) and issubclass(core, Contract) else None


def _typed(value: Any, shape: _Shape) -> Any:
    contract = _contract(shape)
    if contract is not None:
        return _fields(value or {}, _types(contract))
    if shape.is_list:
        return orjson.dumps(value).decode()
    return {float: 0.0, int: 0, bool: False}.get(shape.core, "") if value is None else value


def _fields(value: Mapping[str, Any], types: Mapping[str, _Shape]) -> dict[str, Any]:
    return {name: _typed(value.get(name), each) for name, each in types.items()}


def _untyped(value: Any, shape: _Shape) -> Any:
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


_UNKNOWN = _Shape(None)


def _column(shape: _Shape) -> pl.DataType:
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
        "primary_dimensions": _evidence_kinds(task),
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
