"""Pages of delivered files as pictures."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from PIL import Image, ImageDraw

from construction.judging.evidence.delivered import _PageLimits, pages_of
from tests.needs import needs_box, needs_chromium, needs_office

DARK = 128


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("delivered")
    book = openpyxl.Workbook()
    book.worksheets[0].append(["Region", "Revenue"])
    book.save(folder / "table.xlsx")
    text = docx.Document()
    text.add_paragraph("Revenue rose by 5 percent.")
    text.save(str(folder / "text.docx"))
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = "Plan"
    slides.save(str(folder / "slides.pptx"))
    (folder / "page.html").write_text("<h1>Plan</h1><img src='http://127.0.0.1:9/x.png'>")
    (folder / "drawing.svg").write_text(
        "<svg xmlns='http://www.w3.org/2000/svg' width='99' height='99'>"
        "<rect width='50' height='50'/></svg>"
    )
    picture = Image.new("RGB", (3000, 1000), "white")
    ImageDraw.Draw(picture).rectangle((0, 0, 1500, 500), fill="black")
    picture.save(folder / "chart.png")
    picture.save(folder / "chart.pdf")
    return folder


@needs_box
@needs_chromium
@needs_office
@pytest.mark.slow(seconds=30)
def test_each_type_with_a_look_becomes_pictures(files: Path, tmp_path: Path) -> None:
    for name in sorted(path.name for path in files.iterdir()):
        pages, trouble = pages_of(files, name, tmp_path)
        assert (len(pages), trouble) == (1, ""), name
        with Image.open(io.BytesIO(pages[0].content)) as page:
            assert max(page.size) <= _PageLimits().pixels
            assert min(page.convert("L").tobytes()) < DARK, f"{name}: an empty page"


@needs_box
@needs_chromium
@needs_office
def test_pages_that_were_made_are_kept_and_what_is_broken_has_none(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pages_of(files, "chart.png", tmp_path)
    monkeypatch.setattr("construction.judging.evidence.delivered.Sandbox", None)
    assert pages_of(files, "chart.png", tmp_path) == first
    monkeypatch.undo()
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 no more")
    (tmp_path / "link.png").symlink_to(files / "chart.png")
    assert pages_of(tmp_path, "broken.pdf", tmp_path) == ((), "not_rendered")
    assert pages_of(tmp_path, "link.png", tmp_path) == ((), "unsafe_file")
    assert pages_of(tmp_path, "notes.md", tmp_path) == ((), "no_pages")


def test_a_program_that_is_missing_is_named_and_not_remembered(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert pages_of(files, "text.docx", tmp_path) == ((), "LibreOffice is not installed")
    assert pages_of(files, "page.html", tmp_path) == ((), "Chromium is not installed")
    assert not list(tmp_path.iterdir())
