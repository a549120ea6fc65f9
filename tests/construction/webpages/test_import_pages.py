"""Importing saved pages: what a reader sees of them, and what becomes of each that is no page."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pypdf import PdfWriter

from construction.webpages import importing
from construction.webpages.importing import HTML, _html_text, _text_of, _tidy, import_pages
from construction.webpages.pages import open_pages
from data.errors import InputError

HOSTILE = """<!doctype html><html><head><title>Q2 \x1b[31m results</title>
<script>steal()</script><style>p {color: red}</style></head><body onload="x()">
<h1>Results</h1><p hidden>obey me</p><div style="display: none"><p>and me</p> tail</div>after
<!-- a comment --><iframe src="http://127.0.0.1/"></iframe><noscript>no</noscript>
<table><tr><th>Sales</th><td>1,234</td></tr><tr><th>Cost</th><td>(56)</td></tr></table>
<p>Zeile<br>zwei&nbsp;&amp;&#x202e;drei</p><svg><text>drawn</text></svg></body></html>"""


def test_only_what_a_reader_sees_is_left_of_a_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(HOSTILE, encoding="utf-8")
    page = _text_of(path, HTML)
    assert page.title == "Q2 ⟨U+001B⟩[31m results"
    assert page.text.split("\n") == [
        "Results", "after", "Sales\t1,234", "Cost\t(56)", "Zeile", "zwei &⟨U+202E⟩drei",
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "shift_jis", "gb18030"])
def test_a_page_is_read_in_the_encoding_that_it_declares(encoding: str) -> None:
    page = f"<html><head><meta charset='{encoding}'></head><body><p>売上高 1,234</p></body></html>"
    _, text = _html_text(page.encode(encoding))
    assert _tidy(text) == "売上高 1,234"


def test_deep_nesting_does_not_overflow() -> None:
    _, text = _html_text(b"<div>" * 200 + b"deep" + b"</div>" * 200)
    assert _tidy(text) == "deep"


def saved(folder: Path, table: str, **files: bytes) -> tuple[Path, Path]:
    (folder / "saved").mkdir()
    for name, content in files.items():
        (folder / "saved" / name.replace("_", ".")).write_bytes(content)
    path = folder / "urls.csv"
    path.write_text(table, encoding="utf-8")
    return folder / "saved", path


def pdf(folder: Path) -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(folder / "blank")
    return (folder / "blank").read_bytes()


def test_every_row_and_file_has_an_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_MOST_BYTES", 10_000)
    outcomes = {
        "a.html,https://Example.org:443/a#top,2024-05-01": None,
        "b.txt,http://example.org/b?x=1,": None,
        "a.html,http://example.org/a,": "page.duplicate",
        "gone.html,https://example.org/gone,": "page.no_file",
        "../urls.csv,https://example.org/up,": "page.no_file",
        "c.exe,https://example.org/c,": "page.unknown_type",
        "empty.html,https://example.org/empty,": "page.no_text",
        "big.txt,https://example.org/big,": "page.too_large",
        "bad.pdf,https://example.org/bad,": "page.unreadable",
        "blank.pdf,https://example.org/blank,": "page.no_text",
        "a.html,javascript:alert(1),": "page.bad_url",
        "a.html,https://example.org/day,May 1": "page.bad_day",
    }
    folder, table = saved(
        tmp_path,
        "\n".join(["file,url,captured", *outcomes]),
        a_html=b"<title>A</title><p>one</p>",
        b_txt="zwei \N{EM DASH} two".encode(),
        c_exe=b"MZ",
        empty_html=b"<script>x</script>",
        big_txt=b"x" * 10_001,
        bad_pdf=b"%PDF-1.4 nonsense",
        blank_pdf=pdf(tmp_path),
        stray_html=b"<p>not listed</p>",
    )
    done = import_pages(folder, table, tmp_path / "pages")
    ledger = pl.read_parquet(tmp_path / "pages/ledger.parquet")
    assert ledger["reason"].to_list() == [*outcomes.values(), "page.not_listed"]
    assert sum(done.refused.values()) == 11
    pages = list(open_pages(tmp_path / "pages").pages())
    assert [(page.url, page.title, page.captured, page.text) for page in pages] == [
        ("http://example.org/b?x=1", "", None, "zwei — two"),
        ("https://example.org/a", "A", "2024-05-01", "one"),
    ]


def test_pages_beyond_the_room_for_text_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_MOST_TEXT", 5)
    folder, table = saved(
        tmp_path, "file,url\na.txt,http://x.org/a\nb.txt,http://x.org/b\n",
        a_txt=b"four", b_txt=b"two",
    )  # fmt: skip
    done = import_pages(folder, table, tmp_path / "pages")
    assert (done.folder.n_pages, done.refused) == (1, {"page.no_room": 1})


@pytest.mark.parametrize("content", ["", "name,url\n", "file\n"])
def test_a_table_without_its_columns_is_refused(tmp_path: Path, content: str) -> None:
    folder, table = saved(tmp_path, content)
    with pytest.raises(InputError, match="no column"):
        import_pages(folder, table, tmp_path / "pages")


def test_a_changed_folder_of_pages_is_refused(tmp_path: Path) -> None:
    folder, table = saved(tmp_path, "file,url\na.txt,http://x.org/a\n", a_txt=b"one")
    import_pages(folder, table, tmp_path / "pages")
    (tmp_path / "pages/pages.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"ComputeError|SHA-256"):
        open_pages(tmp_path / "pages")
    with pytest.raises(InputError, match="FileNotFoundError"):
        open_pages(tmp_path)
