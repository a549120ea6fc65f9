"""Facts highlighted in foreign HTML, which does nothing any more."""

from __future__ import annotations

import io
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from PIL import Image

from construction.statements.enrichment.document import (
    FACT_ID,
    NotMade,
    ScreenshotConfig,
    highlight_fact,
    screenshot,
)
from data.errors import InputError
from tests.needs import needs_chromium

_HEAD = b"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html [<!ENTITY boom "boom">]>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL">
<head><title>10-K</title></head><body><p>&boom;</p><table>"""
_TAIL = b"</table></body></html>"


def _fact(concept: str, context: str, shown: str) -> bytes:
    return (
        f'<tr><td>x</td><td>$ <ix:nonFraction name="{concept}" contextRef="{context}" '
        f'unitRef="USD" scale="3">{shown}</ix:nonFraction> end</td></tr>'
    ).encode()


_FACTS = (
    _fact("us-gaap:Assets", "c1", "1,234")
    + _fact("us-gaap:Assets", "c2", "999")
    + _fact("us-gaap:AssetsNet", "c1", "777")
)


def _marked(document: bytes) -> list[str]:
    root = html.document_fromstring(document)
    return [element.text for element in root.xpath("//*[contains(@style, 'outline')]")]


@pytest.mark.parametrize("concept", ["us-gaap:Assets", "Assets"])
def test_only_the_fact_of_concept_and_context_is_marked(concept: str) -> None:
    document = highlight_fact(_HEAD + _FACTS + _TAIL, concept, "c1")
    assert _marked(document) == ["1,234"]
    (fact,) = html.document_fromstring(document).xpath(f"//*[@id='{FACT_ID}']")
    assert fact.text == "1,234" and fact.tail == " end"


def test_a_fact_shown_twice_is_marked_twice_with_one_id() -> None:
    document = highlight_fact(_HEAD + 2 * _FACTS + _TAIL, "Assets", "c2")
    assert _marked(document) == ["999", "999"]
    assert document.count(FACT_ID.encode()) == 1


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>steal()</script>",
        "<ScRiPt src='https://x.test/a.js'></ScRiPt>",
        "<img src='https://x.test/a.png' onerror='steal()'/>",
        "<a href='javascript:steal()'>x</a>",
        "<a href='java&#10;script:steal()'>x</a>",
        "<iframe srcdoc='&lt;script&gt;steal()&lt;/script&gt;'></iframe>",
        "<style>@import url(https://x.test/a.css)</style>",
        "<div style='background:u\\72l(https://x.test)'>x</div>",
        "<div style='width:expression(steal())'>x</div>",
        "<svg><script>steal()</script><a xlink:href='javascript:steal()'>x</a></svg>",
        "<math><mtext><style><img src=x onerror=steal()></style></mtext></math>",
        "<meta http-equiv='refresh' content='0;url=https://x.test'/>",
        "<base href='https://x.test/'/>",
        "<form action='https://x.test'><input autofocus onfocus='steal()'/></form>",
        "<object data='https://x.test'></object><embed src='https://x.test'/>",
        "<video poster='https://x.test'><source src='https://x.test'/></video>",
        "<?php steal() ?>",
        "<!-- https://x.test -->",
        f"<p id='{FACT_ID}'>me first</p>",
        "<td background='https://x.test'>x</td>",
    ],
)
def test_nothing_runs_and_nothing_is_loaded(hostile: str) -> None:
    body = _HEAD + b"</table>" + hostile.encode() + b"<table>" + _FACTS + _TAIL
    document = highlight_fact(body, "Assets", "c1")
    text = document.decode()
    assert "steal" not in text
    assert "x.test" not in text
    assert _marked(document) == ["1,234"]
    assert text.count(FACT_ID) == 1
    assert "default-src 'none'" in text


def test_pictures_within_the_document_and_inner_links_stay() -> None:
    inner = b"<img src='data:image/png;base64,AAAA'/><a href='#p2'>x</a>"
    document = highlight_fact(_HEAD + b"</table>" + inner + _FACTS + _TAIL, "Assets", "c1")
    assert b"data:image/png;base64,AAAA" in document
    assert b'href="#p2"' in document


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"\x00\x01",
        _HEAD + _TAIL,
        _HEAD + b"<div>" * 3000 + _FACTS + _TAIL,
        b"<?xml",
        b"<!DOCTYPE [",
    ],
)
def test_documents_without_the_fact_are_refused(document: bytes) -> None:
    with pytest.raises(InputError):
        highlight_fact(document, "Assets", "c1")


@given(st.binary(max_size=300))
def test_no_bytes_break_it(noise: bytes) -> None:
    try:
        document = highlight_fact(_HEAD + noise + _FACTS + _TAIL, "Assets", "c1")
    except InputError:
        return
    root = html.document_fromstring(document)
    assert not root.xpath("//script|//iframe|//@onload|//@onerror")


def test_without_a_browser_the_screenshot_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    made = screenshot(b"<p>x</p>", ScreenshotConfig())
    assert (made.png, made.reason) == (None, NotMade.NO_BROWSER)


def test_a_browser_that_fails_gives_no_screenshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "/bin/false")
    assert screenshot(b"<p>x</p>", ScreenshotConfig()).reason is NotMade.FAILED


@pytest.mark.slow
@needs_chromium
def test_a_real_browser_shows_the_highlighted_fact() -> None:
    page = (
        b"<html><body><p>Cash <ix:nonFraction name='us-gaap:Cash' contextRef='c1'>812,400"
        b"</ix:nonFraction></p></body></html>"
    )
    made = screenshot(highlight_fact(page, "us-gaap:Cash", "c1"), ScreenshotConfig())
    assert made.png is not None, made.reason
    with Image.open(io.BytesIO(made.png)) as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24) or ()}
    assert (255, 233, 138) in colours, "the colour of the mark"
