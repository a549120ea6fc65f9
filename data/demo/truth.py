"""`truth.json`: every planted defect of a demo workspace and every outcome a build must produce."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import orjson

from data.atomic import replacing
from data.contracts import StageConfig
from data.errors import InputError

NAME = "truth.json"
TRIPWIRES = "tripwires.txt"


class IssueTruth(StageConfig):
    """A line or record that cannot be read; `line` is 1-based."""

    line: int
    reason: str


class GateTruth(StageConfig):
    """What a gate must say of an instance with a planted defect: failed or unverified, and why."""

    status: str
    reason: str


class SpanTruth(StageConfig):
    """A redacted span, in the order in which the person's messages hold them."""

    status: str
    value: str | None = None


class UrlTruth(StageConfig):
    """A URL that the network gate must judge, restored ones included.

    `live` says what a probe with a network would see: reachable, no_such_host,
    forbidden_address or one_time_path (not probed).
    """

    url: str
    live: str


class InstanceTruth(StageConfig):
    """A task instance: `turns` are positions among the human turns of its session.

    `started_by` is how the plan opened it. `gates` are the verdicts of an offline build in
    which unverified instances are kept, by gate; a gate that is not named passes, or is not
    measured because an earlier one failed. `outcome` is `rejected`, `instance.duplicate` for a
    copy of another session's task, or `kept`. `declared` are the input files as the log has them,
    without those that only the words name and that are nowhere.
    """

    turns: tuple[int, ...]
    started_by: str
    task: str
    language: str
    gates: Mapping[str, GateTruth]
    outcome: str
    declared: tuple[str, ...] = ()
    spans: tuple[SpanTruth, ...] = ()
    urls: tuple[UrlTruth, ...] = ()
    plants: tuple[str, ...] = ()


class SessionTruth(StageConfig):
    session_id: str
    n_human_turns: int
    is_sub_agent: bool = False
    instances: tuple[InstanceTruth, ...] = ()


class FileTruth(StageConfig):
    """A file below `sessions/`. `outcome` is `read` or the reason why it is not read.

    `label` is the format that a build must report; `plants` names what is wrong with the file.
    """

    path: str
    outcome: str
    label: str
    issues: tuple[IssueTruth, ...] = ()
    sessions: tuple[SessionTruth, ...] = ()
    plants: tuple[str, ...] = ()


class Tripwire(StageConfig):
    """A private-looking value, invented, and where it was planted."""

    kind: str
    value: str
    session_id: str


class Truth(StageConfig):
    """The whole document. `plants` counts each planted defect."""

    seed: int
    size: int
    files: tuple[FileTruth, ...]
    tripwires: tuple[Tripwire, ...]
    plants: Mapping[str, int]


class TruthWriter:
    """Streams `truth.json`, and the planted values one per line, in constant memory.

    Files and tripwires are spooled to one file each, since a JSON document holds one list after
    the other, and are joined at the end.
    """

    def __init__(self, folder: Path, seed: int, size: int) -> None:
        self._path = folder / NAME
        self._files = _Spool(folder / f".{NAME}.files")
        self._wires = _Spool(folder / f".{NAME}.tripwires")
        self._values = (folder / TRIPWIRES).open("wb")
        self._head = {"seed": seed, "size": size}
        self._counts: Counter[str] = Counter()
        self.n_instances = 0

    @property
    def n_files(self) -> int:
        return self._files.length

    def add(self, file: FileTruth) -> None:
        """Add one file below `sessions/` with its expected outcomes."""
        self._files.append(file)
        self._counts.update(file.plants)
        for session in file.sessions:
            self.n_instances += len(session.instances)
            for instance in session.instances:
                self._counts.update(instance.plants)

    def tripwire(self, wire: Tripwire) -> None:
        self._wires.append(wire)
        self._values.write(wire.value.encode() + b"\n")

    def close(self) -> dict[str, int]:
        """Join the document and return how often each defect was planted."""
        self._values.close()
        plants = dict(sorted(self._counts.items()))
        with replacing(self._path) as part, part.open("wb") as target:
            head = orjson.dumps({**self._head, "plants": plants})
            target.write(head[:-1] + b',\n"files": [\n')
            self._files.pour(target)
            target.write(b'\n],\n"tripwires": [\n')
            self._wires.pour(target)
            target.write(b"\n]}\n")
        return plants


class _Spool:
    """Models as JSON with commas between them, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = path.open("wb")
        self.length = 0

    def append(self, model: StageConfig) -> None:
        self._handle.write(b",\n" if self.length else b"")
        self._handle.write(orjson.dumps(model.model_dump(mode="json")))
        self.length += 1

    def pour(self, target: BinaryIO) -> None:
        """Append everything to `target` and remove the spool."""
        self._handle.close()
        with self._path.open("rb") as source:
            shutil.copyfileobj(source, target)
        self._path.unlink()


def load_truth(path: Path) -> Truth:
    """Read `truth.json`, given by path or by its demo folder. Raises InputError for others."""
    file = path / NAME if path.is_dir() else path
    try:
        return Truth.model_validate_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(
            file.name,
            type(error).__name__,
            "the truth of a demo workspace",
            "Write the workspace again with `benchmint demo DIR`.",
        ) from None
