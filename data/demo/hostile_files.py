"""The files of the demo that attack a reader, and the ones that must be refused."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

_FOLDER = "planted"
_NAME = f"{_FOLDER}/+SUM&$HOME'\u202evsc.csv"  # formula, shell, and reversed extension
_LARGE_BYTES = 64_000_000  # over the fixture gate's limit; a sparse file takes no disk space
_BOMB_MEGABYTES = 96
_MEGABYTE = 1024 * 1024
_DOS_DATE = 0x21  # 1 January 1980
_DEFLATED = 8


def write_hostile_files(target: Path) -> None:
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
