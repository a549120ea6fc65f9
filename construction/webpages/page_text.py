"""The text of a saved page as its reader sees it: HTML, PDF or plain text.

    python -m construction.webpages.page_text SECONDS BYTES     (started by `data.child`)

Saved pages are untrusted: a child process with limits parses them (law 10). Scripts, styles,
comments and hidden elements are left out, nothing is loaded, and no attribute survives but the
text of links and tables. Frames in: a task (JSON), the file. Frame out: title and text (JSON), or
the reason why there are none.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from lxml import etree, html

from construction.grading.openers import decode
from data.child import Child, ChildFailed, ChildLimits, confine, read_frame, write_frame
from data.neutralise import visible

HTML, PDF, PLAIN = "text/html", "application/pdf", "text/plain"
MOST_BYTES = 32 << 20
MOST_CHARS = 1_000_000  # of one page's text
_LIMITS = ChildLimits(seconds=20, memory_bytes=1 << 30, answer_bytes=13 * MOST_CHARS)
_LEFT_OUT = frozenset(
    [
        *("script", "style", "noscript", "template", "head", "iframe", "object", "embed", "applet"),
        *("svg", "math", "canvas", "audio", "video", "select", "textarea", "button"),
    ]
)
_LINES = frozenset(
    [
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt"),
        *("figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"),
        *("main", "nav", "ol", "p", "pre", "section", "table", "title", "tr", "ul"),
    ]
)
_CELLS = frozenset({"td", "th"})
_HIDDEN = ("display:none", "visibility:hidden")
_BLANKS = re.compile(r"[^\S\n\t]+")
_EDGES = re.compile(r"[ \t]*\n[ \t]*")
_LINE_END = re.compile(r"\s*\n\s*")
_GAPS = re.compile(r"\n{3,}")
_CELL = re.compile(r" *\t[ \t]*")


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says. `reason` is set where it could not be read, such as `page.unreadable`."""

    title: str = ""
    text: str = ""
    reason: str | None = None


def text_of(path: Path, media_type: str) -> PageText:
    """The text of a saved page, read in a child process; at most `MOST_CHARS` of it."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        return PageText(reason="page.too_large")
    try:
        with Child(__name__, _LIMITS) as child:
            child.send(json.dumps({"media_type": media_type}).encode())
            child.send(content)
            page = PageText(**json.loads(child.receive()))
    except ChildFailed:
        return PageText(reason="page.limit")
    return page if page.text or page.reason else PageText(reason="page.no_text")


def html_text(content: bytes) -> tuple[str, str]:
    """Title and text of an HTML page, with a line per block and a tab between cells."""
    # Without an encoding the parser looks for the page's own declaration.
    encoding = "utf-8" if _is_utf8(content) else None
    parser = html.HTMLParser(
        no_network=True, huge_tree=False, remove_comments=True, encoding=encoding
    )
    root = html.document_fromstring(content, parser=parser)
    title = root.findtext(".//title") or ""
    return title, _LINE_END.sub("\n", "".join(_pieces(root)))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _pieces(root: etree._Element) -> Iterator[str]:
    """The visible text in order, without recursion: pages may be nested to any depth."""
    closes: list[etree._Element] = []
    skipped: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            closes.append(element)
            if skipped is None and _is_hidden(element):
                skipped = element
            if skipped is None:
                yield _before(element) + (element.text or "")
        else:
            closes.pop()
            ended = skipped is None
            skipped = None if skipped is element else skipped
            if ended and element.tag in _LINES:
                yield "\n"
            if skipped is None and closes:
                yield element.tail or ""


def _before(element: etree._Element) -> str:
    if element.tag in _LINES:
        return "\n"
    return "\t" if element.tag in _CELLS else ""


def _is_hidden(element: etree._Element) -> bool:
    if not isinstance(element.tag, str) or element.tag in _LEFT_OUT:
        return True
    return "hidden" in element.attrib or any(
        style in "".join(element.get("style", "").lower().split()) for style in _HIDDEN
    )


def _pdf_text(content: bytes) -> tuple[str, str]:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    title = (reader.metadata.title if reader.metadata else None) or ""
    parts: list[str] = []
    room = MOST_CHARS
    for page in reader.pages:
        parts.append(page.extract_text())
        room -= len(parts[-1])
        if room <= 0:
            break
    return str(title), "\n\n".join(parts)


def _read(content: bytes, media_type: str) -> PageText:
    if media_type == PDF:
        title, text = _pdf_text(content)
    elif media_type == HTML:
        title, text = html_text(content)
    else:
        title, text = "", decode(content)
    return PageText(" ".join(visible(title).split())[:300], tidy(text)[:MOST_CHARS])


def tidy(text: str) -> str:
    """Control characters made visible, runs of white space as one."""
    shown = _BLANKS.sub(" ", visible(text))
    return _GAPS.sub("\n\n", _EDGES.sub("\n", _CELL.sub("\t", shown))).strip()


def main() -> None:
    """Read one page."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    source = sys.stdin.buffer
    answer = confine(seconds, memory)
    task = json.loads(read_frame(source, MOST_BYTES))
    content = read_frame(source, MOST_BYTES)
    try:
        page = _read(content, task["media_type"])
    except ImportError:
        page = PageText(reason="page.no_library")
    except (MemoryError, RecursionError):
        page = PageText(reason="page.limit")
    except Exception:  # a library may raise anything on a hostile file
        page = PageText(reason="page.unreadable")
    write_frame(answer, json.dumps(asdict(page)).encode())


if __name__ == "__main__":
    main()
