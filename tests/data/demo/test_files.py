"""The documents of the demo: the same bytes each time, and readable by their own libraries."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile

import docx
import openpyxl
import pptx
import pypdf
import pytest
from PIL import Image

from data.canonical import digest
from data.demo import files
from data.demo.files import preview, rendered
from data.demo.material import Table, TaskFile
from tests.conftest import REPO

TABLE = Table(("名称", "amount"), (("线槽", 12.5), ("=1+1", 3)))


def _file(name: str, text: str = "", table: Table | None = None) -> TaskFile:
    return TaskFile("folder", name, table, text)


def digests() -> dict[str, str]:
    """SHA-256 of a file of each kind, by name."""
    files = [_file(name, table=TABLE) for name in ("a.csv", "a.xlsx", "a.json")]
    texts = ("a.docx", "a.pptx", "a.pdf", "a.png", "a.txt", "a.md", "a.py")
    files += [_file(name, "# Title\nline one\nline two") for name in texts]
    return {file.name: digest(rendered(file, "en")) for file in files}


def test_files_have_the_same_bytes_in_another_process_and_at_another_time() -> None:
    code = f"from {__name__} import digests; import json; print(json.dumps(digests()))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPO,
        env=os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(result.stdout) == digests()


@pytest.mark.parametrize("name", ["a.xlsx", "a.docx", "a.pptx"])
def test_archives_hold_no_time(name: str) -> None:
    file = _file(name, "# T\nx", TABLE if name.endswith("xlsx") else None)
    with zipfile.ZipFile(io.BytesIO(rendered(file, "en"))) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        core = archive.read("docProps/core.xml").decode()
    assert core.count("2025-01-01T00:00:00Z") == core.count("<dcterms:")


def test_a_workbook_opens_with_its_cells() -> None:
    book = openpyxl.load_workbook(io.BytesIO(files.xlsx(TABLE)))
    assert list(book.worksheets[0].iter_rows(values_only=True))[1] == ("线槽", 12.5)


def test_a_document_opens_with_headings_and_paragraphs() -> None:
    document = docx.Document(io.BytesIO(files.docx_file("# 标题\n第一段\n\n第二段")))
    assert [p.text for p in document.paragraphs] == ["标题", "第一段", "第二段"]
    style = document.paragraphs[0].style
    assert style is not None
    assert style.name == "Heading 1"


def test_a_deck_opens_with_one_slide_per_heading() -> None:
    deck = pptx.Presentation(io.BytesIO(files.pptx_file("# One\na\nb\n\n# Two\nc")))
    assert [slide.shapes.title.text for slide in deck.slides] == ["One", "Two"]
    assert deck.slides[0].placeholders[1].text == "a\nb"


@pytest.mark.parametrize(
    ("text", "chinese"), [("Memo: 94 (percent)", False), ("产能利用率94%", True)]
)
def test_a_pdf_gives_its_text_back(text: str, chinese: bool) -> None:
    reader = pypdf.PdfReader(io.BytesIO(files.pdf(text, chinese)), strict=True)
    assert reader.pages[0].extract_text().strip() == text


def test_a_picture_is_as_high_as_its_text() -> None:
    picture = Image.open(io.BytesIO(files.png("one\ntwo\nthree")))
    assert picture.size == (480, 40 + 3 * 28)
    assert len(set(picture.convert("L").tobytes())) > 2


def test_a_preview_shows_the_table_and_never_binary_content() -> None:
    assert preview(_file("a.xlsx", table=TABLE)).startswith("名称,amount\n线槽,12.5")
    assert preview(_file("a.png", "text on it")) == "[image]"
