"""The seams that `benchmarks.kill_seams` kills: how each begins, works, and looks to a reader."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from anonymization.tables.seal import KEY, MAPPING, RECORD, seal
from data.builds import building
from data.canonical import digest
from data.releases.publishing import check_errata
from data.releases.retention import carry_out, plan_purge
from data.releases.tasks import read_tasks
from data.snapshot.errata import Action, Erratum, correction, notice_path, write_notice
from data.snapshot.signature import check_signature, sign
from data.snapshot.verification import verify
from data.snapshot.writer import mark_latest, write_snapshot
from data.staging.database import open_read_only
from data.staging.runs import stage_run
from tests.data.releases import train
from tests.data.snapshot.sample import release
from tests.data.staging.test_runs import FACTS, LATER, stage

SIGNER = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
# What is not the same twice (logs have times), and the lock and the fixtures of the sample.
_UNEQUAL = ("access.log", ".lock", "logs", "store")


@dataclass(frozen=True, slots=True)
class Seam:
    """`prepare` and `act` work on a folder; `seen` is "" if a reader finds a whole state.

    `state` is what the folder holds at the end, as text.
    """

    name: str
    prepare: Callable[[Path], object]
    act: Callable[[Path], None]
    seen: Callable[[Path], str]
    state: Callable[[Path], str]


def files(folder: Path) -> str:
    """The digest of every path below a folder with its content, target or kind."""
    rows = []
    for path in sorted(folder.rglob("*")):
        if not set(path.relative_to(folder).parts).isdisjoint(_UNEQUAL):
            continue
        if path.is_symlink():
            rows.append([str(path.relative_to(folder)), str(path.readlink())])
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            rows.append([str(path.relative_to(folder)), content])
    left_over = [name for name, _ in rows if ".part" in name]
    return f"{len(rows)} files {digest(rows)[:16]}, left over: {left_over}"


def _snapshot(folder: Path) -> Path:
    return folder / "snapshots" / "demo-2026.07.01"


def _publish(folder: Path) -> None:
    ref = write_snapshot(release(folder), folder / "snapshots")
    mark_latest(ref, verify(ref.path))


def _publish_next(folder: Path) -> None:
    ref = train.written(folder, 1)
    mark_latest(ref, verify(ref.path))


def _published(folder: Path) -> str:
    """Every snapshot that is there verifies, and `latest` leads to one if there is one."""
    snapshots = folder / "snapshots"
    bad = [
        f"{path.name} does not verify"
        for path in sorted(snapshots.glob("*"))
        if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")
        if not verify(path).ok
    ]
    latest = snapshots / "latest"
    if latest.is_symlink() and not latest.exists():
        bad.append("latest leads nowhere")
    return "; ".join(bad)


def _stage(folder: Path) -> None:
    with building(folder / "out"):
        stage_run(folder / "out", LATER, stage_once(folder / "b", "x", "y"))


def stage_once(folder: Path, *items: str) -> list[Path]:
    """The stage outputs, made when the seam was prepared."""
    return sorted(folder.glob("shard-*")) or stage(folder, *items)


def _prepare_staging(folder: Path) -> None:
    stage_run(folder / "out", FACTS, stage_once(folder / "a", "x"))
    stage_once(folder / "b", "x", "y")


def _staged(folder: Path) -> str:
    with open_read_only(folder / "out" / "staging.duckdb", every_run=True) as staging:
        rows = staging.sql("SELECT run_id, item_id FROM ledger ORDER BY ALL").fetchall()
    return "" if len(rows) in (1, 3) else f"{len(rows)} rows of the ledger"


def _staging_state(folder: Path) -> str:
    with open_read_only(folder / "out" / "staging.duckdb", every_run=True) as staging:
        rows = staging.sql("SELECT run_id, item_id FROM ledger ORDER BY ALL").fetchall()
    left_over = sorted(path.name for path in folder.rglob("*.part*"))
    return f"{rows}, left over: {left_over}"


def _sign(folder: Path) -> None:
    sign(_snapshot(folder), SIGNER, verify(_snapshot(folder)))


def _signed(folder: Path) -> str:
    report = verify(_snapshot(folder))
    signature = check_signature(_snapshot(folder), [], report)
    problems = [f.problem for f in (*report.findings, *signature.findings)]
    return "; ".join(problems)


def _errata(folder: Path) -> None:
    tasks = read_tasks(_snapshot(folder))
    first, second, *_ = sorted(tasks.about.tasks)
    fields = {"answers": [{"part": "total", "type": "number", "value": "99"}]}
    made = correction(second, fields, "5" * 64)
    day = date(2026, 8, 1).isoformat()
    errata = [
        Erratum(first, Action.WITHDRAWN, "Two readings.", day),
        Erratum(second, Action.CORRECTED, "Wrong week.", day, digest(made)),
    ]
    path = notice_path(_snapshot(folder), tasks.snapshot)
    write_notice(path, tasks.about, errata, {digest(made): made}, SIGNER)


def _errata_before(folder: Path) -> None:
    """A release with one erratum, to which others come."""
    _publish(folder)
    tasks = read_tasks(_snapshot(folder))
    entry = Erratum(min(tasks.about.tasks), Action.WITHDRAWN, "Earlier.", "2026-07-02")
    write_notice(notice_path(_snapshot(folder), tasks.snapshot), tasks.about, [entry], {}, SIGNER)


def _errata_seen(folder: Path) -> str:
    _, findings = check_errata(_snapshot(folder), [SIGNER.public_key()], verify(_snapshot(folder)))
    return "; ".join(finding.problem for finding in findings)


def _prepare_train(folder: Path) -> None:
    for weeks in (0, 1, 2):
        train.written(folder, weeks)
    (folder / "private").mkdir(mode=0o700)


def _purge(folder: Path) -> None:
    with building(folder):
        carry_out(folder, plan_purge(folder, date(2026, 7, 14), None))


def _prepare_seal(folder: Path) -> None:
    (folder / "private").mkdir(mode=0o700)
    for name in (KEY, MAPPING):
        (folder / "private" / name).write_bytes(b"secret" * 1000)


def _seal(folder: Path) -> None:
    with building(folder):
        seal(folder)


def _sealed(folder: Path) -> str:
    """Nothing is destroyed before the record says so."""
    whole = [(folder / "private" / name).is_file() for name in (KEY, MAPPING)]
    return "" if all(whole) or (folder / RECORD).is_file() else "destroyed without a record"


SEAMS = (
    Seam("publish the first release", Path.exists, _publish, _published, files),
    Seam("publish the next, move latest", _publish, _publish_next, _published, files),
    Seam("swap the staging database", _prepare_staging, _stage, _staged, _staging_state),
    Seam("sign", _publish, _sign, _signed, files),
    Seam("errata", _errata_before, _errata, _errata_seen, files),
    Seam("purge", _prepare_train, _purge, _published, files),
    Seam("seal", _prepare_seal, _seal, _sealed, files),
)
