"""The leak scan: plants in every form and container are found, clean files are not accused."""

from __future__ import annotations

import bz2
import gzip
import html
import io
import json
import lzma
import quopri
import tarfile
import zipfile
import zlib
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import docx
import openpyxl
import polars as pl
import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from anonymization.leaks.contracts import Leak, LeakConfig, NotScannable, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.leaks.scan import scan_bytes, scan_release
from tests.anonymization.pdf_objects import pdf_of

KEY = b"k" * 32
CONFIG = LeakConfig()
NAME, MAIL, CHINESE, CODE = (
    "Oriane Vasquez",
    "o.vasquez@kestrel-labs.example",
    "欧阳明远",
    "88213907",
)
VALUES = (NAME, MAIL, CHINESE, CODE)
PATTERNS = LeakPatterns(
    [
        PrivateValue(NAME, "PERSON"),
        PrivateValue(MAIL, "EMAIL"),
        PrivateValue(CHINESE, "PERSON"),
        PrivateValue(CODE, "identifier"),
    ],
    KEY,
    CONFIG,
)


def _actual(data: bytes, name: str = "file") -> set[str]:
    """The values that the scan names, by their digests."""
    digests = {PATTERNS.digest(i): private.value for i, private in enumerate(PATTERNS.values)}
    leaks = scan_bytes(name, data, PATTERNS, CONFIG)
    return {digests[leak.digest] for leak in leaks if leak.digest}


def _reasons(data: bytes, config: LeakConfig = CONFIG) -> set[str]:
    return {leak.kind for leak in scan_bytes("file", data, PATTERNS, config) if not leak.digest}


def _zip(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


ENCODERS: dict[str, Callable[[str], bytes]] = {
    "raw": lambda v: f"before {v}, after".encode(),
    "utf16_le": lambda v: f"before {v}, after".encode("utf-16-le"),
    "utf16_be": lambda v: f"before {v}, after".encode("utf-16-be"),
    "utf16_mark": lambda v: f"before {v}, after".encode("utf-16"),
    "hex": lambda v: b"0x" + v.encode().hex().encode(),
    "hex_upper": lambda v: v.encode().hex().upper().encode(),
    "json_lower": lambda v: b'{"a": "' + "".join(f"\\u{ord(c):04x}" for c in v).encode() + b'"}',
    "json_upper": lambda v: "".join(f"\\u{ord(c):04X}" for c in v).encode(),
    "json_in_json": lambda v: json.dumps(json.dumps({"a": v + "\u00e9"})).encode(),
    "percent": lambda v: f"https://x.example/?q={quote(v, safe='')}".encode(),
    "percent_all": lambda v: "".join(f"%{b:02x}" for b in v.encode()).encode(),
    "form": lambda v: f"a=b&name={v.replace(' ', '+')}&c=d".encode(),
    "html_decimal": lambda v: "".join(f"&#{ord(c)};" for c in v).encode(),
    "html_hex": lambda v: "".join(f"&#x{ord(c):X};" for c in v).encode(),
    "html_named": lambda v: html.escape(f"<{v}>").encode(),
    "quoted_printable": lambda v: (
        b"Content-Transfer-Encoding: quoted-printable\n\n"
        + quopri.encodestring(f"{'x' * 70} {v} tail é".encode())
    ),
    "runs": lambda v: (
        f"<w:p><w:r><w:t>{v[:2]}</w:t></w:r><w:r><w:rPr><w:b/></w:rPr>"
        f"<w:t>{v[2:]}</w:t></w:r></w:p>"
    ).encode(),
    "gzip": lambda v: gzip.compress(v.encode()),
    "bz2": lambda v: bz2.compress(v.encode()),
    "xz": lambda v: lzma.compress(v.encode()),
    "zip": lambda v: _zip(a=v.encode()),
    "zip_three_deep": lambda v: _zip(a=_zip(b=_zip(c=v.encode()))),
    "tar_gz": lambda v: gzip.compress(_tar(v.encode())),
    "base64_of_gzip": lambda v: encodebytes(
        gzip.compress((v + " " * 9).encode() + bytes(range(200)))
    ),
}


def _tar(data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo("inner.docx")
        packed = _zip(**{"word/document.xml": data})
        entry.size = len(packed)
        archive.addfile(entry, io.BytesIO(packed))
    return out.getvalue()


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_plant_is_found_in_every_form(encoder: str, value: str) -> None:
    assert _actual(ENCODERS[encoder](value)) == {value}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
@pytest.mark.parametrize("shift", range(6))
def test_base64_is_read_at_every_alignment(
    value: str, encode: Callable[[bytes], bytes], shift: int
) -> None:
    inner = b"\xff\xfe?>"[: shift % 5] + b"." * shift + value.encode()
    for data in (inner, inner + b"\xfb tail"):
        assert _actual(b'{"data": "' + encode(data) + b'"}') == {value}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("lead", range(0, 60, 7))
def test_base64_is_read_across_the_line_breaks_of_a_mail(value: str, lead: int) -> None:
    body = encodebytes(b"\x00\xfe" * lead + value.encode() + b"\xff" * 80)
    assert _actual(b"Content-Transfer-Encoding: base64\r\n\r\n" + body.replace(b"\n", b"\r\n")) == {
        value
    }


def test_mail_addresses_full_names_and_tripwires_are_found_in_any_case() -> None:
    assert _actual(MAIL.upper().encode()) == {MAIL}
    assert _actual(NAME.upper().encode()) == {NAME}
    assert _actual(NAME.lower().encode()) == {NAME}
    several = [PrivateValue("Rosemary", "PERSON"), PrivateValue("Wire-77Q", "tripwire")]
    leaks = scan_bytes("file", b"rosemary, wire-77q", LeakPatterns(several, KEY, CONFIG), CONFIG)
    assert [leak.kind for leak in leaks] == ["tripwire"]  # rosemary is an herb too


def test_short_words_and_numbers_count_only_as_whole_tokens() -> None:
    patterns = LeakPatterns(
        [PrivateValue("Anna", "PERSON"), PrivateValue("600519", "identifier")], KEY, CONFIG
    )

    def hits(text: bytes) -> int:
        return len(scan_bytes("f", text, patterns, CONFIG))

    assert hits(b"Hannah moved to Annapolis; 1600519 and 6005190 are not it") == 0
    assert hits(b64encode(b"Hannah moved to Annapolis, 1600519")) == 0
    assert hits(b"Anna: 600519.") == 2
    assert hits("请问Anna的代码是600519吗".encode()) == 2


def test_values_that_are_too_short_are_counted_and_not_searched() -> None:
    patterns = LeakPatterns(
        [PrivateValue("1", "id"), PrivateValue("Li", "PERSON"), PrivateValue("张伟", "PERSON")],
        KEY,
        CONFIG,
    )
    assert patterns.too_short == {"PERSON": 1, "id": 1}
    assert [private.value for private in patterns.values] == ["张伟"]


def test_office_files_are_searched_inside(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.create_sheet("hidden")["A1"] = NAME
    workbook.save(tmp_path / "a.xlsx")
    document = docx.Document()
    paragraph = document.add_paragraph("Dear ")
    for part in (MAIL[:5], MAIL[5:11], MAIL[11:]):
        paragraph.add_run(part).bold = True
    document.save(str(tmp_path / "b.docx"))
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = f"{CHINESE}的报告"
    slides.save(str(tmp_path / "c.pptx"))
    named = {leak.file.split("!")[0] for leak in scan_release(tmp_path, PATTERNS, CONFIG)}
    assert named == {"a.xlsx", "b.docx", "c.pptx"}


def test_parquet_is_searched_by_column(tmp_path: Path) -> None:
    frame = pl.DataFrame({"name": ["x", NAME], "code": [1, int(CODE)], "other": [0.5, 1.0]})
    frame.write_parquet(tmp_path / "t.parquet", compression="zstd")
    leaks = scan_release(tmp_path, PATTERNS, CONFIG)
    assert {(leak.file, leak.kind) for leak in leaks if "!" in leak.file} == {
        ("t.parquet!name", "PERSON"),
        ("t.parquet!code", "identifier"),
    }


def _pdf(text: str, title: str) -> bytes:
    stream = zlib.compress(f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode())
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        b"<</Title<" + title.encode("utf-16").hex().encode() + b">>>",
    ]
    return pdf_of(objects, b"/Info 6 0 R")


def test_pdf_text_and_metadata_are_searched() -> None:
    assert _actual(_pdf(f"written by {NAME}", CHINESE)) == {NAME, CHINESE}


def test_a_broken_pdf_is_not_scannable() -> None:
    assert _reasons(b"%PDF-1.7\nnothing here") == {NotScannable.BROKEN}


def test_picture_metadata_is_searched() -> None:
    note = PngImagePlugin.PngInfo()
    note.add_text("Author", NAME, zip=True)
    note.add_itxt("Comment", CHINESE, zip=True)
    png, jpeg = io.BytesIO(), io.BytesIO()
    picture = Image.new("RGB", (4, 4))
    picture.save(png, "PNG", pnginfo=note)
    exif = Image.Exif()
    exif[0x013B] = MAIL
    picture.save(jpeg, "JPEG", exif=exif, comment=CODE.encode())
    assert _actual(png.getvalue()) == {NAME, CHINESE}
    assert _actual(jpeg.getvalue()) == {MAIL, CODE}


def test_file_and_member_names_are_searched(tmp_path: Path) -> None:
    (tmp_path / f"offer for {NAME}").mkdir()
    (tmp_path / "x.zip").write_bytes(_zip(**{f"{CHINESE}.txt": b""}))
    leaks = scan_release(tmp_path, PATTERNS, CONFIG)
    assert {leak.encoding for leak in leaks} >= {"file_name"}
    assert {leak.kind for leak in leaks} == {"PERSON"}
    assert len({leak.digest for leak in leaks}) == 2


def test_a_link_is_not_scannable(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    assert scan_release(tmp_path, PATTERNS, CONFIG) == [Leak("link", NotScannable.LINK, "raw", 0)]


def test_bombs_and_closed_archives_fail_the_release() -> None:
    small = LeakConfig(free_inflated_bytes=1 << 17, max_inflation_ratio=10)
    bomb = _zip(a=b"\0" * (8 << 20))
    assert _reasons(bomb, small) == {NotScannable.INFLATES}
    assert _reasons(gzip.compress(b"\0" * (8 << 20)), small) == {NotScannable.INFLATES}
    assert _reasons(_zip(a=bomb, b=bomb), small) == {NotScannable.INFLATES}
    many = _zip(**{str(number): b"" for number in range(50)})
    assert _reasons(many, LeakConfig(max_members=20)) == {NotScannable.INFLATES}
    locked = bytearray(_zip(a=b"x"))
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    assert _reasons(bytes(locked)) == {NotScannable.ENCRYPTED}
    assert _reasons(b"7z\xbc\xaf\x27\x1c" + bytes(40)) == {NotScannable.UNKNOWN_ARCHIVE}
    assert _reasons(_zip(a=b"abc" * 99)[:60]) == {NotScannable.BROKEN}
    assert _reasons(_zip(a=_zip(b=_zip(c=_zip(d=b"x"))))) == {NotScannable.TOO_DEEP}


def test_a_table_is_read_up_to_the_limit_and_no_further() -> None:
    """Equal rows take a few thousand bytes in the file, and millions in memory."""
    packed = io.BytesIO()
    pl.select(a=pl.repeat(int(CODE), 60_000)).write_parquet(packed, compression="zstd")
    data = packed.getvalue()
    assert len(data) < 100_000
    small = LeakConfig(free_inflated_bytes=1 << 17, max_inflation_ratio=10)
    assert _reasons(data, small) == {NotScannable.INFLATES}
    assert _reasons(data) == set()
    assert _reasons(b"PAR1" + bytes(40) + b"PAR1") == {NotScannable.BROKEN}


def test_clean_files_are_not_accused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": list(range(5_000)), "t": [f"row {n}" for n in range(5_000)]})
    frame.write_parquet(tmp_path / "t.parquet")
    (tmp_path / "a.html").write_text("<p>Oriane</p><p>Vasquez</p> 882 139 07 &#27431;")
    (tmp_path / "b.zip").write_bytes(_zip(a=encodebytes(bytes(range(256)) * 40)))
    (tmp_path / "c.pdf").write_bytes(_pdf("nothing", "at all"))
    (tmp_path / "d.json").write_text(json.dumps({"欧阳": "明远", "path": "C:\\u0041\\new"}))
    assert scan_release(tmp_path, PATTERNS, CONFIG) == []


def test_a_leak_never_carries_the_value() -> None:
    (leak,) = scan_bytes("f", NAME.encode() * 3, PATTERNS, CONFIG)
    assert (leak.offset, leak.count, leak.encoding) == (0, 3, "raw")
    assert NAME not in repr(leak)
    other = LeakPatterns([PrivateValue(NAME, "PERSON")], b"x" * 32, CONFIG)
    assert other.digest(0) != leak.digest


@given(
    st.lists(st.sampled_from([*VALUES, "noise", "\\u00", "%4", "&#x", "<a", "=="]), max_size=8),
    st.randoms(use_true_random=False),
)
def test_order_of_values_does_not_matter(texts: list[str], shuffler: object) -> None:
    patterns = list(PATTERNS.values)
    shuffler.shuffle(patterns)  # type: ignore[attr-defined]
    data = " ".join(texts).encode()
    again = scan_bytes("f", data, LeakPatterns(patterns, KEY, CONFIG), CONFIG)
    assert again == scan_bytes("f", data, PATTERNS, CONFIG)
    assert {leak.kind for leak in again if leak.encoding == "raw"} == {
        private.kind for private in patterns if private.value in texts
    }
