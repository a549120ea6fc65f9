"""Restoring masked sessions byte for byte: generated ones and all of the material.

    python -m benchmarks.restoring [--material DIR] [--sessions 1400]

At the levels `strict`, which is the default, and `full`. Every file is masked by itself as
`privacy mask --scope file` does it, and restored with the key and its vault, as `benchmint
restore` does it. The generated sessions are JSON lines of messages, tool calls and their output in
five languages, with made-up people; their encodings (UTF-8 with and without a byte order mark,
UTF-16, GB 18030, Latin-1, UTF-8 with stray bytes), line ends, escapes and broken lines vary. A file
counts as restored only if all its bytes are equal. Refused files leave nothing to restore and are
counted apart, by reason: fourteen hundred are generated so that a thousand are admitted.
`document.encoding_unsure` is a text whose few foreign letters do not settle its encoding.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.random import Generator, default_rng

from anonymization.documents.contracts import DocumentReport
from anonymization.documents.scopes import (
    FILES,
    VAULTS,
    MaskingConfig,
    Scope,
    mask_paths,
    restore_folder,
)
from anonymization.masking_gates import LanguageConfig
from anonymization.masking_recipe import MaskingLevel
from benchmarks.report import table, write_result

MATERIAL = Path(
    os.environ.get("BENCHMINT_MATERIAL", Path(__file__).parents[2] / "shared" / "material")
)
_KEY = bytes(32)  # nothing that this program writes is released
_SAID = (
    "Please ask {given} {family} to call {phone} about invoice {number}.",
    "mail the deck to {mail}, cc {family}, {given}; \u201cdraft\u201d is fine\u2026",
    "请把合同发给客户张晨曦，手机 139{number}，邮箱 {mail}。",
    "担当の樋口 真央さんに連絡して。電話は090-{number}です。",
    "Bitte Frau {family} unter {mail} anschreiben, danke. Grüße",
    "Merci de prévenir {given} {family} avant midi, tél. 06 12 34 56 78.",
    "\t<td>{given}&nbsp;{family}</td> \\u5f20 %7Email%3D{mail} \U0001f600 \u200b{given}",
    "INSERT INTO staff VALUES ('{family}, {given}', '{phone}', NULL);\r\n-- {given}",
)
_GIVEN = ("Margaret", "Ulrich", "Oriane", "Fergus", "Chiara", "Tomasz", "Noor", "Imogen")
_FAMILY = ("Thornquist", "Vandermeer", "Ellsworth", "Okonjo", "Brandvold", "Castellow")


def main() -> None:
    """Generate, mask, restore, compare and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--material", type=Path, default=MATERIAL)
    parser.add_argument("--sessions", type=int, default=1_400)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "made"
        generate(made, said.sessions)
        sources = {"generated": made, "material": said.material / "sessions"}
        figures = {
            f"{name}, {level}": restored(source, Path(scratch) / f"{name}-{level}", level)
            for level in (MaskingLevel.STRICT, MaskingLevel.FULL)
            for name, source in sources.items()
        }
    text = table(
        ["sessions and their files", *next(iter(figures.values()))],
        [[name, *(str(value) for value in row.values())] for name, row in figures.items()],
    )
    write_result("restoring", __doc__ or "", text, figures)
    print(text)


def generate(folder: Path, sessions: int) -> None:
    """Write session logs, each with its own encoding, line ends and damage."""
    folder.mkdir()
    for number in range(sessions):
        rng = default_rng(number)
        encode = _ENCODINGS[number % len(_ENCODINGS)]
        end = "\r\n" if rng.random() < 0.3 else "\n"
        lines = [_line(rng) for _ in range(int(rng.integers(2, 9)))]
        text = end.join(lines) + (end if rng.random() < 0.8 else "")
        (folder / f"session-{number:04d}.jsonl").write_bytes(encode(text))


def _line(rng: Generator) -> str:
    given, family = _GIVEN[int(rng.integers(8))], _FAMILY[int(rng.integers(6))]
    number = int(rng.integers(10_000_000, 99_999_999))
    said = _SAID[int(rng.integers(len(_SAID)))].format(
        given=given,
        family=family,
        number=number,
        phone=f"(415) 555-{number % 10_000:04d}",
        mail=f"{given.lower()}.{family.lower()}@corp-{number % 7}.example",
    )
    record: dict[str, Any] = {"type": "user", "message": {"role": "user", "content": said}}
    if rng.random() < 0.4:
        command = {"command": f"grep -n '{family}' notes.txt", "cwd": f"/home/{given.lower()}/x"}
        record = {"type": "assistant", "tool": "Bash", "input": json.dumps(command), "output": said}
    line = json.dumps(record, ensure_ascii=bool(rng.random() < 0.5))
    return line[: int(rng.integers(10, len(line)))] if rng.random() < 0.1 else line


def _with_stray_bytes(text: str) -> bytes:
    return text.encode().replace(b"about", b"ab\xff\xfeout", 1)


_ENCODINGS: Sequence[Callable[[str], bytes]] = (
    lambda text: text.encode(),
    lambda text: b"\xef\xbb\xbf" + text.encode(),
    lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    lambda text: text.encode("gb18030"),
    lambda text: text.encode("latin-1", "xmlcharrefreplace"),
    _with_stray_bytes,
)


def restored(source: Path, out: Path, level: MaskingLevel) -> dict[str, int | float | str]:
    """Mask a folder file by file, restore it, and compare every byte."""
    begin = time.process_time()
    kept = LanguageConfig(unsupported="keep")
    config = MaskingConfig(scope=Scope.FILE, level=level, language=kept)
    reports = mask_paths([source], out, _KEY, config, workers=1)
    masked = time.process_time()
    back = out / "back"
    names = restore_folder(out / FILES, out / "private" / VAULTS, _KEY, back)
    done = time.process_time()
    equal = sum((back / name).read_bytes() == (source.parent / name).read_bytes() for name in names)
    return {
        "files": len(reports),
        "refused": _refused(reports),
        "because": ", ".join(f"{reason} {n}" for reason, n in sorted(_reasons(reports).items())),
        "changed by masking": sum(bool(r.rows) for r in reports if r.refusal is None),
        "spans": sum(len(report.rows) for report in reports),
        "restored byte for byte": equal,
        "not restored": len(reports) - _refused(reports) - equal,
        "masking, processor s": round(masked - begin, 1),
        "restoring, processor s": round(done - masked, 1),
    }


def _refused(reports: Sequence[DocumentReport]) -> int:
    return sum(report.refusal is not None for report in reports)


def _reasons(reports: Sequence[DocumentReport]) -> Counter[str]:
    return Counter(str(report.refusal) for report in reports if report.refusal is not None)


if __name__ == "__main__":
    main()
