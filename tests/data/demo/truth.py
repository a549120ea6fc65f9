"""The form of `truth.json`: every planted defect and every outcome a build must produce."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from data.contracts import StageConfig
from data.demo.generate import TRUTH


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


def load_truth(folder: Path) -> Truth:
    """Read the truth of a demo workspace."""
    return Truth.model_validate_json((folder / TRUTH).read_bytes())
