"""Packaged cases in any number, for the benchmark of replays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from construction.judging.contracts import Case
from construction.judging.stages import write_cases
from construction.sessions.config import LocalGatesConfig, SessionsConfig
from construction.sessions.package import (
    Identity,
    drop_copies,
    package_survivors,
    with_files,
)
from construction.sessions.scan import scan, shards
from construction.sessions.shard import ShardJob, process_shard
from data.contracts import Disclosure
from data.demo import generate
from data.pool import read_survivors, unpack_fixtures

_VERSIONS = 10
_SEED = 5000
_DIGITS = "0123456789"
_PER_CASE = 1.3  # sessions that a case takes
_AS_THEY_ARE = frozenset({"task_id", "sha256", "bytes", "media_type", "file_type", "item_id"})


def write_packaged(count: int, packaged: Path, work: Path) -> None:
    """Write `count` distinct cases into `packaged`, as the stage before judging does."""
    sessions = round(count / _VERSIONS * _PER_CASE)
    actual = _from_demo(sessions, work)
    cases = [_version(case, number) for number in range(_VERSIONS) for case in actual]
    distinct = {case.request: case for case in cases}
    if len(distinct) < count:
        raise SystemExit(f"{len(distinct)} distinct cases of {sessions} sessions, not {count}")
    chosen = list(distinct.values())[:count]
    write_cases(packaged, sorted(chosen, key=lambda case: case.candidate.task_id))


def _from_demo(sessions: int, work: Path) -> list[Case]:
    """The cases of a demo workspace, unmasked: it is generated."""
    generate(work / "demo", sessions, _SEED)
    outs = []
    files = [file for file in scan([work / "demo" / "sessions"]) if file.format]
    for number, shard in enumerate(shards(files, 64 << 20)):
        out = work / "shards" / str(number)
        out.mkdir(parents=True)
        roots = (work / "demo" / "files",)
        process_shard(ShardJob(tuple(shard), roots, LocalGatesConfig(), bytes(32)), out)
        outs.append(out)
    survivors, _ = drop_copies(read_survivors(outs))
    identities = (Identity(f"s-{n:05d}", "demo", Disclosure.PUBLIC) for n in range(len(survivors)))
    pool = package_survivors(survivors, lambda _: next(identities), SessionsConfig())
    contents = work / "contents"
    contents.mkdir()
    wanted = {item.sha256 for case in pool.cases for item in case.candidate.fixtures}
    unpack_fixtures(survivors, wanted, contents)
    kept = {sha256: contents / sha256 for sha256 in wanted}
    return with_files(pool.cases, kept)


def _version(case: Case, number: int) -> Case:
    """The case with every figure, date and numbered name moved on by `number` in each digit."""
    moved = str.maketrans(_DIGITS, _DIGITS[number:] + _DIGITS[:number])
    result = _moved(case.model_dump(mode="json"), moved)
    result["candidate"]["task_id"] = f"{case.candidate.task_id}-{number}"
    return Case.model_validate(result)


def _moved(value: Any, digits: dict[int, int]) -> Any:
    if isinstance(value, str):
        return value.translate(digits)
    if isinstance(value, list):
        return [_moved(part, digits) for part in value]
    if isinstance(value, dict):
        return {
            key: part if key in _AS_THEY_ARE else _moved(part, digits)
            for key, part in value.items()
        }
    return value
