"""What PDF pages say, however their glyphs are drawn; and pages that may show something else."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from anonymization.documents.contracts import DocumentConfig, Refusal
from anonymization.documents.document import mask_bytes
from anonymization.leaks.contracts import LeakConfig
from anonymization.leaks.scan import Budget, _document_parts
from anonymization.pdf_pages import PdfPage, read_pages
from data.canonical import digest
from tests.anonymization.pdf_objects import pdf_of
from tests.anonymization.text.masking.fakes import masker

NAME = "Margaret Thornquist"
LINE = f"The minutes were written by {NAME} on Monday."
_WIDTH = 7.2  # of every glyph of Courier at 12 points
PROSE = (
    "The committee met in the large hall and went through the plan for the coming year. Every part "
    "of the plan was read aloud and discussed, and most of it was accepted without any change. Two "
    "questions remain open and will be answered before the next meeting takes place."
)


def document(stream: str, font: str = "") -> bytes:
    """A PDF of one page with this content and Courier as F1."""
    content = stream.encode("latin-1")
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        f"<</Type/Font/Subtype/Type1/BaseFont/Courier{font}>>".encode(),
    ]
    return pdf_of(objects)


def lines(text: str) -> str:
    """Text drawn as usual, in lines of 70 characters."""
    rows = [text[start : start + 70] for start in range(0, len(text), 70)]
    return "\n".join(
        f"BT /F1 12 Tf 50 {700 - 14 * row} Td ({part}) Tj ET" for row, part in enumerate(rows)
    )


def glyphs(
    text: str, *, step: float = _WIDTH, order: Callable[[list[str]], None] = lambda _: None
) -> str:
    """Each glyph in a text object of its own, blanks left out."""
    drawn = [
        f"BT /F1 12 Tf {50 + step * column:.2f} 700 Td ({char}) Tj ET"
        for column, char in enumerate(text)
        if char != " "
    ]
    order(drawn)
    return "\n".join(drawn)


def array(pieces: str) -> str:
    """Strings with the distances between them, in thousandths of the size."""
    return f"BT /F1 12 Tf 50 700 Td [{pieces}] TJ ET"


def shuffled(items: list[str]) -> None:
    random.Random(5).shuffle(items)


DRAWN = {
    "as lines": lines(LINE),
    "glyph by glyph": glyphs(LINE),
    "in any order": glyphs(LINE, order=shuffled),
    "backwards": glyphs(LINE, order=list.reverse),
    "with spaced letters": glyphs(LINE, step=11.5, order=shuffled),
    "with blanks between the letters": array(" ".join(f"({char} ) 600" for char in LINE)),
    "twice for bold print": glyphs(LINE) + "\n" + glyphs(LINE).replace("700 Td", "700.2 Td"),
    "turned by a right angle": "q 0 1 -1 0 600 0 cm\n" + glyphs(LINE, order=shuffled) + "\nQ",
    "turned the other way": "q 0 -1 1 0 0 792 cm\n" + glyphs(LINE, order=shuffled) + "\nQ",
    "upside down": "q -1 0 0 -1 600 1400 cm\n" + glyphs(LINE, order=shuffled) + "\nQ",
    "aslant": "q 0.866 0.5 -0.5 0.866 300 -200 cm\n" + glyphs(LINE, order=shuffled) + "\nQ",
    "by kerning alone": array(" -600 ".join(f"({word})" for word in LINE.split())),
}


def pages(stream: str, font: str = "") -> list[PdfPage]:
    return list(read_pages(document(stream, font)))


def scanned(data: bytes) -> bytes:
    """What the search for leaks reads."""
    config = LeakConfig()
    parts = _document_parts(data, Budget(len(data), config), config)
    return b"\n".join(part.data for part in parts)


@pytest.mark.parametrize("name", DRAWN)
def test_words_are_found_however_they_are_drawn(name: str) -> None:
    (page,) = pages(DRAWN[name])
    assert any(NAME in text for text in page.texts), page.texts
    assert page.is_trusted
    masked = mask_bytes(document(DRAWN[name]), "a.pdf", masker())
    if masked.report.refusal is None:
        assert not any(word in scanned(masked.data) for word in NAME.encode().split())
    else:
        assert masked.report.refusal is Refusal.TEXT_LAYER
    assert NAME.encode() in scanned(document(DRAWN[name]))


def test_a_page_as_usual_is_read_once() -> None:
    (page,) = pages(lines(PROSE))
    assert len(page.texts) == 1
    assert (
        page.texts[0].split()
        == " ".join(PROSE[start : start + 70] for start in range(0, len(PROSE), 70)).split()
    )


def shifted(text: str) -> str:
    """Letters that a font with its own shapes could show as others."""
    return "".join(chr((ord(c) - 97 + 11) % 26 + 97) if c.islower() else c for c in text)


LETTER = "{x} {y} m {x1} {y} {x1} {y1} {x} {y1} c f"
OUTLINES = "\n".join(LETTER.format(x=50 + 7 * n, y=600, x1=56 + 7 * n, y1=610) for n in range(60))
UNTRUSTED = {
    "letters that are no language": (lines(shifted(PROSE)), ""),
    "glyphs without known characters": (
        lines(PROSE),
        "/Encoding<</Differences[97 " + "".join(f"/x{n}" for n in range(26)) + "]>>",
    ),
    "letters drawn as outlines": (lines("A short note.") + "\n" + OUTLINES, ""),
}


@pytest.mark.parametrize("name", UNTRUSTED)
def test_a_page_that_may_show_something_else_is_refused_unless_approved(name: str) -> None:
    stream, font = UNTRUSTED[name]
    (page,) = pages(stream, font)
    assert not page.is_trusted
    data = document(stream, font)
    report = mask_bytes(data, "a.pdf", masker()).report
    assert (report.refusal, report.part) == (Refusal.UNTRUSTED_TEXT, "page 1")
    approved = DocumentConfig(approvals=frozenset({digest(data)}))
    assert mask_bytes(data, "a.pdf", masker(), approved).report.refusal is None


def test_a_list_with_round_marks_and_a_rule_is_trusted() -> None:
    marks = "\n".join(
        LETTER.format(x=50, y=600 - 14 * n, x1=54, y1=604 - 14 * n) for n in range(20)
    )
    assert pages(lines(PROSE) + "\n" + marks)[0].is_trusted


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 nonsense", b"\xff" * 5000])
def test_what_is_no_pdf_raises(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a PDF"):
        list(read_pages(data))


def test_pages_of_real_material_are_trusted(material: Path) -> None:
    files = [path for path in sorted(material.rglob("*.pdf")) if path.read_bytes()[:5] == b"%PDF-"]
    seen = [page for path in files[:40] for page in read_pages(path.read_bytes())]
    assert len(seen) >= 40
    assert all(page.is_trusted for page in seen)
