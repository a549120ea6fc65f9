"""The readers that `benchmarks.fuzz` gives damaged files, each with its corpus."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from anonymization.tables.files import read_table
from construction.sessions.fixtures.safety import _archive_problem
from construction.sessions.gates.fixture import FixtureConfig
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.signals.collect.snapshot import read_signals
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import EdinetConfig
from construction.statements.readers.sec.read import read_sec
from data.attempts import (
    AttemptRecord,
    _read_attempt,
    attempt_id_of,
    bundle,
    outputs_folder,
    unpack,
    write_attempt,
)
from data.contracts.attempt import Attempt, AttemptStatus, Configuration, Submission, Usage
from data.releases.publishing import check_errata
from data.releases.tasks import read_tasks
from data.snapshot import layout
from data.snapshot.errata import Action, Erratum, notice_path, write_notice
from data.snapshot.signature import (
    check_signature,
    public_line,
    read_private_key,
    read_public_keys,
    sign,
)
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from flows.recipe import load_settings
from tests.conftest import REPO
from tests.data.snapshot.sample import release

CORPUS = REPO / "benchmarks" / "fuzz_corpus"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


@dataclass(frozen=True, slots=True)
class Reader:
    """`prepare` makes what is read beside an input and returns the corpus; `read` reads one."""

    name: str
    prepare: Callable[[Path], Sequence[bytes]]
    read: Callable[[Path, bytes], object]


def _committed(name: str) -> Callable[[Path], Sequence[bytes]]:
    return lambda _: [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def _written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _session(folder: Path, content: bytes) -> None:
    """A log never raises: what cannot be read is an issue."""
    path = _written(folder, "log.jsonl", content)
    try:
        list(read_source(SourceFile(path, path.name)))
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}") from error


def _table(folder: Path, content: bytes) -> None:
    read_table(_written(folder, "table.csv", content))


def _signals(folder: Path, content: bytes) -> None:
    name = "signals.json" if content[:1] in b"[{" else "signals.csv"
    read_signals(_written(folder, name, content), "source", dt.date(2026, 1, 1))


def _edinet(folder: Path, content: bytes) -> None:
    home = folder / "edinet"
    home.mkdir(exist_ok=True)
    shutil.copy(CORPUS / "statements_edinet" / "EdinetcodeDlInfo.csv", home)
    (home / "edinet_summaries_x.jsonl.gz").write_bytes(gzip.compress(content, 1))
    read_edinet([home], EdinetConfig())


def _sec(folder: Path, content: bytes) -> None:
    """The damaged content stands for each of the four tables in turn, by its first column."""
    home = folder / "sec"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(CORPUS / "statements_sec", home)
    heads = {path.read_bytes().split(b"\n")[0][:12]: path for path in sorted(home.iterdir())}
    target = heads.get(content[:12], home / "num.txt")
    target.write_bytes(content)
    read_sec([home])


def _archives(_: Path) -> Sequence[bytes]:
    text = b"name,amount\n" + b"oak,3\n" * 50
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", text)
        archive.writestr("inner.gz", gzip.compress(text))
    with tarfile.open(fileobj=tarred, mode="w") as tape:
        entry = tarfile.TarInfo("a.csv")
        entry.size = len(text)
        tape.addfile(entry, io.BytesIO(text))
    return [
        zipped.getvalue(), tarred.getvalue(), gzip.compress(text), bz2.compress(text),
        lzma.compress(text), lzma.compress(text, lzma.FORMAT_ALONE),
        gzip.compress(zipped.getvalue()),
    ]  # fmt: skip


def _archive(folder: Path, content: bytes) -> None:
    path = _written(folder, "archive", content)
    with path.open("rb") as handle:
        _archive_problem(handle, len(content), FixtureConfig())


def _snapshot(folder: Path) -> Path:
    """The sample release, signed and with an erratum."""
    path = write_snapshot(release(folder), folder / "out").path
    sign(path, KEY, verify(path))
    tasks = read_tasks(path)
    entry = Erratum(min(tasks.tasks), Action.WITHDRAWN, "Two readings.", "2026-08-01")
    write_notice(notice_path(path, tasks.snapshot), tasks.about, [entry], {}, KEY)
    return path


def _where(folder: Path) -> Path:
    return folder / "out" / "demo-2026.07.01"


def _attestations(folder: Path) -> Sequence[bytes]:
    return [(_snapshot(folder) / layout.PUBLIC / layout.ATTESTATION).read_bytes()]


def _attestation(folder: Path, content: bytes) -> None:
    path = _where(folder)
    (path / layout.PUBLIC / layout.ATTESTATION).write_bytes(content)
    report = verify(path / layout.PUBLIC)
    check_signature(path, [KEY.public_key()], report)


def _notices(folder: Path) -> Sequence[bytes]:
    path = _snapshot(folder)
    return [notice_path(path, path.name).read_bytes()]


def _notice(folder: Path, content: bytes) -> None:
    """As `verify` reads it, which never raises, and as everything else does."""
    path = _where(folder)
    notice_path(path, path.name).write_bytes(content)
    check_errata(path / layout.PUBLIC, [], verify(path / layout.PUBLIC))
    read_tasks(path)


def _record(number: int) -> AttemptRecord:
    attempt = Attempt(
        attempt_id_of("d" * 64, f"t-{number}", "agent", 1), "d" * 64, f"t-{number}",
        Configuration("agent", "h", "m"), 1,
        AttemptStatus.COMPLETED, None, 4, Usage(), 1.0, 0, "d" * 64,
    )  # fmt: skip
    return AttemptRecord(attempt, Submission(answer="42", statements=((1, "I add."),)))


def _attempts(folder: Path) -> Sequence[bytes]:
    return [write_attempt(folder / "a", _record(number)).read_bytes() for number in (1, 2)]


def _attempt(folder: Path, content: bytes) -> None:
    _read_attempt(_written(folder, "t-1-1.json", content))


def _submissions(folder: Path) -> Sequence[bytes]:
    for number in (1, 2):
        write_attempt(folder / "mine", _record(number))
    outputs = outputs_folder(folder / "mine", "t-1", 1)
    outputs.mkdir(parents=True)
    (outputs / "notes.md").write_text("Some notes.")
    bundle(folder / "mine", folder / "s.zip")
    return [(folder / "s.zip").read_bytes()]


def _submission(folder: Path, content: bytes) -> None:
    """What is unpacked stays in its folder."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    try:
        unpack(_written(folder, "given.zip", content), home / "unpacked")
    finally:
        assert {path.name for path in home.iterdir()} <= {"unpacked"}


def _keys(_: Path) -> Sequence[bytes]:
    private = KEY.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return [private, public_line(KEY.public_key()).encode() + b" signer\n"]


def _key(folder: Path, content: bytes) -> None:
    path = _written(folder, "key", content)
    for read in (read_public_keys, lambda path: read_private_key(path, lambda: "wrong")):
        try:
            read(path)
        except Exception as error:
            if not hasattr(error, "todo"):
                raise


def _recipe(folder: Path, content: bytes) -> None:
    load_settings(_written(folder, "benchmint.toml", content), environment={})


def _sums(folder: Path) -> Sequence[bytes]:
    return [(_snapshot(folder) / layout.PUBLIC / layout.SUMS).read_bytes()]


def _sum(folder: Path, content: bytes) -> None:
    (_where(folder) / layout.PUBLIC / layout.SUMS).write_bytes(content)
    verify(_where(folder) / layout.PUBLIC)
    try:
        layout.parse(content)
    except layout.SumsError:
        return


READERS = (
    Reader("sessions", _committed("sessions"), _session),
    Reader("tables", _committed("table"), _table),
    Reader("signals", _committed("signals"), _signals),
    Reader("statements of EDINET", _committed("statements_edinet"), _edinet),
    Reader("statements of the SEC", _committed("statements_sec"), _sec),
    Reader("archives", _archives, _archive),
    Reader("attestations", _attestations, _attestation),
    Reader("errata", _notices, _notice),
    Reader("attempts", _attempts, _attempt),
    Reader("submissions", _submissions, _submission),
    Reader("keys", _keys, _key),
    Reader("recipes", _committed("recipe"), _recipe),
    Reader("sums", _sums, _sum),
)
