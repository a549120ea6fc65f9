"""A log that changes or goes after the scan is told: the scan's digests are the shard's key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from construction.sessions.config import LocalGatesConfig
from construction.sessions.scan import scan
from construction.sessions.shard import ShardJob, process_shard
from data.errors import InputError

SAID = '{"messages":[{"role":"user","content":"%s"},{"role":"assistant","content":"Done."}]}\n'


@pytest.mark.parametrize(
    "change", [Path.unlink, lambda path: path.write_text(SAID % "Sort the sheds by price.")]
)
def test_a_log_that_is_another_than_the_scanned_one_ends_the_shard(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = logs / "sheds.jsonl"
    log.write_text(SAID % "Sort the sheds by name.")
    job = ShardJob(tuple(scan([logs])), (), LocalGatesConfig(), b"k")
    (tmp_path / "first").mkdir()
    process_shard(job, tmp_path / "first")
    change(log)
    (tmp_path / "second").mkdir()
    with pytest.raises(
        InputError, match=r"logs/sheds\.jsonl: found a file that changed or disappeared"
    ):
        process_shard(job, tmp_path / "second")
