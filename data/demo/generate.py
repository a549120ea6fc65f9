"""Writes a demo workspace: the frozen one beside this module, with as many sessions as are wanted.

The first block of sixty sessions with the usual seed is the frozen one, byte for byte. Another
block, or another seed, is a copy of it with other session ids and other people.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson

from data.canonical import digest, file_digest
from data.errors import InputError
from data.randomness import keyed_hash

_FOLDER = "planted"
_NAME = f"{_FOLDER}/+SUM&$HOME'\u202evsc.csv"  # formula, shell, and reversed extension
_LARGE_BYTES = 64_000_000  # over the fixture gate's limit; a sparse file takes no disk space
_BOMB_MEGABYTES = 96
_MEGABYTE = 1024 * 1024
_DOS_DATE = 0x21  # 1 January 1980
_DEFLATED = 8


_HERE = Path(__file__).parent
FROZEN = _HERE / "workspace"
REPLIES = _HERE / "replies.jsonl.gz"  # what a model said about the frozen sessions
RECORDED_MODEL = "recorded-2026-11"
COOPERATIVES = _HERE / "cooperatives"  # files without a declaration
CONFIG, STATEMENTS, ENVIRONMENT, TABLES = "benchmint.toml", "statements", "environment", "tables"
DECLARATION, TRIPWIRES, TRUTH = "environment.toml", "tripwires.txt", "truth.json"
_SUM = "sum.sha256"  # of all that was written, so that what is put in later is seen
SEED, _BLOCK = 7, 60
_MAX_SESSIONS = 300_000  # 5,000 blocks; 64 first names and 96 last names make 6,144 people
_INBOUND = "media/inbound"  # where a chat gateway stores what it receives
# A file whose name another tool would take for its own (*.py) is kept with this ending.
_KEPT_AS = ".frozen"
# A workspace of fewer sessions than a block may not give so many tasks.
_LEAST_SHARE = "[selection.lane_shares.sessions]\nlow = 0.25\n\n"


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """What was written. `bytes` counts session logs only; `plants` counts each defect."""

    sessions: int
    session_files: int
    instances: int
    fixture_files: int
    bytes: int
    plants: Mapping[str, int]


def generate(target: Path, size: int, seed: int, *, bytes_target: int | None = None) -> DemoSummary:
    """Write a demo workspace of `size` sessions to `target`, which must not exist or be empty.

    Session k is the same in a corpus of any size. With `bytes_target`, the results of tools are
    lengthened until the logs have about that many bytes. The folder is written beside `target` and
    renamed, so that it appears complete or not at all.

    Raises:
        InputError: `target` is not empty, or `size` is out of range.
    """
    if not 1 <= size <= _MAX_SESSIONS:
        expected = f"1 to {_MAX_SESSIONS:,} sessions"
        raise InputError("demo", f"size {size}", expected, "Choose another size.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        expected = "an empty or missing folder"
        raise InputError(target.name, "a file or non-empty folder", expected, "Choose another one.")
    part = target.absolute().with_name(f".{target.absolute().name}.part")
    shutil.rmtree(part, ignore_errors=True)  # left by a run that was killed
    part.mkdir(parents=True)
    try:
        summary = _write(part, size, seed, bytes_target)
        if target.exists():
            target.rmdir()
        part.replace(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return summary


def is_untouched(folder: Path) -> bool:
    """Whether a demo workspace is as it was written: nothing changed, added, linked or removed."""
    try:
        return (folder / _SUM).read_bytes().strip() == _sum_of(folder).encode()
    except OSError:
        return False


def _sum_of(folder: Path) -> str:
    entries: list[list[str]] = []
    for path in folder.rglob("*"):
        name = os.fsencode(path.relative_to(folder)).hex()
        if path.is_symlink():
            entries.append([name, "link", os.fsencode(path.readlink()).hex()])
        elif path.is_file() and path != folder / _SUM:
            entries.append([name, "file", file_digest(path)])
        elif not path.is_dir() and path != folder / _SUM:
            entries.append([name, "other", ""])
    return digest(sorted(entries))


def copy_frozen(source: Path, target: Path) -> int:
    """Copy a frozen folder into `target`; returns the number of files."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    for path in files:
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.with_name(copy.name.removesuffix(_KEPT_AS)).write_bytes(path.read_bytes())
    return len(files)


def copy_environment(folder: Path) -> Path:
    """Copy the files for analytic tasks into `folder`; returns the path of their declaration."""
    copy_frozen(FROZEN / ENVIRONMENT, folder)
    return folder / DECLARATION


def _write(part: Path, size: int, seed: int, bytes_target: int | None) -> DemoSummary:
    truth, n_bytes = _Truth(), 0
    for file in _files(size, seed, bytes_target):
        path = part / "sessions" / file.truth["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.link is None:
            path.write_bytes(file.content)
            n_bytes += len(file.content)
        else:
            path.symlink_to(file.link)
        truth.add(file)
    for folder in ("signals", STATEMENTS, TABLES, ENVIRONMENT):
        copy_frozen(FROZEN / folder, part / folder)
    n_fixtures = copy_frozen(FROZEN / "files", part / "files")
    (part / "files" / _INBOUND).mkdir(parents=True)
    for path in [path for path in part.glob("files/*/*") if path.is_file()]:
        received = f"{path.stem}---inbound{path.suffix}"
        shutil.copyfile(path, part / "files" / _INBOUND / received)
    _write_hostile_files(part)
    config = (FROZEN / CONFIG).read_text(encoding="utf-8")
    if size < _BLOCK:
        config = config.replace(_LEAST_SHARE, "")
    (part / CONFIG).write_text(config, encoding="utf-8")
    plants = truth.write(part, seed, size)
    (part / _SUM).write_text(f"{_sum_of(part)}\n", encoding="ascii")
    return DemoSummary(
        truth.n_sessions, len(truth.files), truth.n_instances, n_fixtures, n_bytes, plants
    )


# Session files -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _File:
    """A file below `sessions/`, or a link; `truth` is what a build must make of it."""

    truth: dict[str, Any]
    tripwires: Sequence[dict[str, str]]
    content: bytes = b""
    link: str | None = None


@dataclass(frozen=True, slots=True)
class _Listed:
    """A frozen file: its path, its line of the list, the numbers of its sessions, its content."""

    path: str
    line: bytes
    numbers: Sequence[int]
    content: bytes
    link: str | None


@cache
def _listed() -> tuple[_Listed, ...]:
    """The frozen files in the order in which they are written."""
    listed = []
    for line in (_HERE / "sessions.jsonl").read_bytes().splitlines():
        entry = orjson.loads(line)
        path = FROZEN / "sessions" / entry["truth"]["path"]
        link = str(path.readlink()) if path.is_symlink() else None
        content = b"" if link else path.read_bytes()
        listed.append(_Listed(entry["truth"]["path"], line, entry["numbers"], content, link))
    return tuple(listed)


def _files(size: int, seed: int, bytes_target: int | None) -> Iterator[_File]:
    """The session files, block by block; of a block that is not whole those of its sessions."""
    longer = _Lengthening(bytes_target * _BLOCK / size) if bytes_target else None
    for block in range(-(-size // _BLOCK)):
        for listed in _listed():
            file = _file(listed, size - block * _BLOCK, seed, block)
            if file is not None and longer is not None:
                content = longer.lengthened(file.content, listed.numbers[0], block)
                file = replace(file, content=content)
            if file is not None:
                yield file


def _file(listed: _Listed, count: int, seed: int, block: int) -> _File | None:
    """A file as its block has it, with sessions below number `count` only."""
    kept = [place for place, number in enumerate(listed.numbers) if number < count]
    if not kept:
        return None
    entry = orjson.loads(_dressed(listed.line, seed, block))
    truth, wires = entry["truth"], entry.get("tripwires", ())
    if listed.link is not None:
        return _File(truth, wires, link=_dressed(listed.link.encode(), seed, block).decode())
    content = listed.content
    if len(kept) < len(listed.numbers):
        truth["sessions"] = [truth["sessions"][place] for place in kept]
        content = _of_sessions(content, kept)
    return _File(truth, wires, _dressed(content, seed, block))


def _of_sessions(content: bytes, kept: Sequence[int]) -> bytes:
    """Of a file that several sessions share, the runs of a list or the lines that are kept."""
    if content.startswith(b"["):
        runs = orjson.loads(content)
        return orjson.dumps([runs[place] for place in kept])
    lines = content.splitlines(keepends=True)
    return b"".join(lines[place] for place in kept)


# A copy of the block -----------------------------------------------------------------------------


def _dressed(frozen: bytes, seed: int, block: int) -> bytes:
    """Frozen bytes with the ids, the people and the number of another block."""
    if (seed, block) == (SEED, 0):
        return frozen
    pieces = list(_pieces(frozen))
    pieces[1::2] = [_another(piece, seed, block) for piece in pieces[1::2]]
    return b"".join(pieces)


def _another(piece: bytes, seed: int, block: int) -> bytes:
    """An id, the number of a folder or a run, parts of a second, or a person of another block."""
    if piece in _ids():
        return keyed_hash(seed, "demo.sessions", f"{block}/{piece.decode()}").hex()[:8].encode()
    if piece.startswith(b"-"):
        return b"-%05d" % block
    if piece.startswith(b"."):
        return b".%06dZ" % block
    if piece.isdigit():
        return b"%d" % (int(piece) + block * _BLOCK)
    moved = block
    if seed != SEED:
        moved += int.from_bytes(keyed_hash(seed, "demo.people", "")[:4], "big")
    words = piece.decode().split(" ")
    language = "en" if len(words) == 2 else "zh"
    first, last = words if language == "en" else (piece.decode()[1:], piece.decode()[:1])
    names = _people()[language]
    number = names["last"].index(last) * len(names["first"]) + names["first"].index(first) + moved
    turn, position = divmod(number, len(names["first"]))
    first, last = names["first"][position], names["last"][turn % len(names["last"])]
    return (f"{first} {last}" if language == "en" else f"{last}{first}").encode()


@lru_cache(maxsize=4 * _BLOCK)
def _pieces(frozen: bytes) -> Sequence[bytes]:
    """Frozen bytes divided: every second piece is one that differs between copies."""
    return _changing().split(frozen)


@cache
def _changing() -> re.Pattern[bytes]:
    english, chinese = (
        ["|".join(names[part]).encode() for part in ("first", "last")]
        for names in (_people()["en"], _people()["zh"])
    )
    forms = (
        b"|".join(sorted(_ids())),
        rb"-00000(?=[/.])",
        rb"(?<=:[0-5]\d)\.000Z",
        rb'(?:(?<="task_id":)|(?<="task_))\d+(?=,|_trial_)',
        rb"(?:%s) (?:%s)" % (english[0], english[1]),
        rb"(?:%s)(?:%s)" % (chinese[1], chinese[0]),
    )
    return re.compile(rb"(%s)" % b"|".join(forms))


@cache
def _ids() -> frozenset[bytes]:
    """Ids of a session or a sub-agent begin with eight digits of its own."""
    lines = b"".join(listed.line for listed in _listed())
    return frozenset(re.findall(rb'"session_id":"(?:agent-)?([0-9a-f]{8})', lines))


@cache
def _people() -> Mapping[str, Mapping[str, list[str]]]:
    """First and last names by language."""
    return tomllib.loads((_HERE / "people.toml").read_text(encoding="utf-8"))


# Longer sessions ---------------------------------------------------------------------------------

# Sizes of the sixty sessions of a block, in shares of the mean: at a mean of 170 KB most have 40 to
# 200 KB and one has several MB, as real corpora do.
_SHARES = (29.4,) + (1.2,) * 6 + (0.6,) * 26 + (7.8 / 27,) * 27
_LONGEST = 620_000  # bytes of one result; with its envelope a line has at most 640 KB
_RESULT = re.compile(
    rb'"toolResult",.{0,160}?"text":"|"tool_result","tool_use_id":"\w+","content":"'
    rb'|"source_call_id":"\w+","content":"|"tool_call_id":"\w+","name":"\w+","content":"'
    rb'|"output":\{"text":"|"output":"\{\\"output\\":\\"'
)  # where the text of a result begins, by format; in the last it is JSON within JSON


class _Lengthening:
    """Puts texts of the task files before the results of tools, about `n_bytes` in a block.

    Sessions with more results are longer; copies of a file are lengthened alike.
    """

    def __init__(self, n_bytes: float) -> None:
        counts: dict[int, int] = {}
        for listed in _listed():
            counts.setdefault(listed.numbers[0], len(_RESULT.findall(listed.content)))
        longest = sorted(counts, key=lambda number: (-counts[number], number))
        shares = dict(zip(longest, _SHARES, strict=False))
        each = {number: shares[number] / max(counts[number], 1) for number in counts}
        plain = sum(len(listed.content) for listed in _listed())
        total = sum(
            each[listed.numbers[0]] * len(_RESULT.findall(listed.content)) for listed in _listed()
        )
        unit = max(n_bytes - plain, 0) / total
        self._lengths = {number: min(int(share * unit), _LONGEST) for number, share in each.items()}
        kinds = (".csv", ".md", ".txt", ".json")
        paths = sorted(path for path in (FROZEN / "files").rglob("*") if path.suffix in kinds)
        self._text = "\n".join(path.read_text(encoding="utf-8") for path in paths)

    def lengthened(self, content: bytes, number: int, block: int) -> bytes:
        """The content of the file of session `number` with longer results."""
        length, count = self._lengths[number], iter(range(1_000))

        def before(match: re.Match[bytes]) -> bytes:
            start = (block * 7919 + number * 104_729 + next(count) * 31) % len(self._text)
            n_chars = length * len(self._text) // len(self._text.encode())
            turns = -(-(start + n_chars) // len(self._text))
            inner = orjson.dumps((self._text * turns)[start : start + n_chars])[1:-1]
            if match[0].endswith(b'\\"'):
                inner = orjson.dumps(inner.decode())[1:-1]
            return match[0] + inner

        return _RESULT.sub(before, content)


# The truth ---------------------------------------------------------------------------------------


class _Truth:
    """Collects `truth.json`: every planted defect and every outcome a build must produce."""

    def __init__(self) -> None:
        self.files: list[bytes] = []
        self.n_sessions = self.n_instances = 0
        self._tripwires: list[Mapping[str, str]] = []
        self._plants: Counter[str] = Counter()

    def add(self, file: _File) -> None:
        self.files.append(orjson.dumps(file.truth))
        self._plants.update(file.truth["plants"])
        self.n_sessions += len(file.truth["sessions"])
        for session in file.truth["sessions"]:
            self.n_instances += len(session["instances"])
            for instance in session["instances"]:
                self._plants.update(instance["plants"])
        self._tripwires += file.tripwires

    def write(self, folder: Path, seed: int, size: int) -> dict[str, int]:
        """Write it, and the planted values one per line; returns how often each was planted."""
        plants = dict(sorted(self._plants.items()))
        head = orjson.dumps({"seed": seed, "size": size, "plants": plants})[:-1]
        wires = map(orjson.dumps, self._tripwires)
        lists = (b",\n".join(self.files), b",\n".join(wires))
        (folder / TRUTH).write_bytes(
            b'%s,\n"files": [\n%s\n],\n"tripwires": [\n%s\n]}\n' % (head, *lists)
        )
        values = "".join(f"{wire['value']}\n" for wire in self._tripwires)
        (folder / TRIPWIRES).write_text(values, encoding="utf-8")
        return plants


def _write_hostile_files(target: Path) -> None:
    """Write the files below `target/files`, and what lies out of bounds below `target/outside`."""
    folder, outside = target / "files" / _FOLDER, target / "outside"
    (folder / "deploy").mkdir(parents=True)
    outside.mkdir()
    rates = "currency,rate\nGBP,0.85\nUSD,1.10\n"
    (outside / "rates.csv").write_text(rates, encoding="utf-8")
    (outside / "payroll.csv").write_text("name,salary\nnobody,0\n", encoding="utf-8")
    (folder / "shared_rates.csv").symlink_to("../../outside/rates.csv")
    settings = "DB_USER=demo\nDB_PASSWORD=not-a-real-password\n"
    (folder / "deploy" / ".env").write_text(settings, encoding="utf-8")
    with (folder / "full_export.csv").open("wb") as handle:
        handle.write(b"date,kind,status,amount,currency\n2025-03-04,order,open,1250.00,EUR\n")
        handle.truncate(_LARGE_BYTES)
    (folder / "price_matrix.xlsx").write_bytes(_bomb("xl/worksheets/sheet1.xml"))
    (folder / "old_reports.zip").write_bytes(_bomb("reports/all.csv"))
    formula = "article,value\n=1+1,2\n@SUM(A1),3\n+7,4\n-8,5\n"
    (target / "files" / _NAME).write_text(formula, encoding="utf-8")


def _bomb(name: str) -> bytes:
    """A ZIP archive of one entry that is a thousand times larger once unpacked."""
    packed, checksum = _packed_zeros()
    size = _BOMB_MEGABYTES * _MEGABYTE
    raw = name.encode()
    common = struct.pack(
        "<5H3I2H", 20, 0, _DEFLATED, 0, _DOS_DATE, checksum, len(packed), size, len(raw), 0
    )
    local = b"PK\x03\x04" + common + raw + packed
    central = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<3H2I", 0, 0, 0, 0, 0)
    central += raw
    end = struct.pack("<4H2IH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


def _packed_zeros() -> tuple[bytes, int]:
    """Deflated zeros and their CRC-32. One packed megabyte is repeated: no need to pack all."""
    block = bytes(_MEGABYTE)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packer.compress(b"")
    once = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(_BOMB_MEGABYTES):
        checksum = zlib.crc32(block, checksum)
    return once * _BOMB_MEGABYTES + packer.flush(zlib.Z_FINISH), checksum
