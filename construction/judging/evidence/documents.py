"""Documents, slides, PDF, mail, calendars, contacts, notebooks and pages: their parts and outline.

Runs in the confined child of `views`. Each function returns the fields of a `FileView` that it
knows; the library of a format is imported when a file of it is opened.
"""

from __future__ import annotations

import email
import email.policy
import io
import json
import re
from collections.abc import Iterable, Iterator
from email.message import EmailMessage
from typing import Any

from construction.grading.openers import Bounds, Encrypted, TooLarge, check_zip, decode
from construction.judging.evidence.views import Part

_MOST_PARTS, _MOST_PICTURES, _MOST_EVENTS = 400, 8, 2_000
_OUTLINE_CHARS = 160
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BREAKS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n"}
_FROM_LINE = re.compile(rb"(?m)^From [^\n]*\n(?=[A-Za-z-]+:)")
_MAIL_HEADS = ("from", "to", "cc", "bcc", "reply-to", "date", "subject")
_FOLD = re.compile(r"\r?\n[ \t]")
_ENTRY = re.compile(r"([A-Za-z0-9.-]+)((?:;[^:\"]*(?:\"[^\"]*\"[^:\"]*)*)?):(.*)")
_ENTRIES = ("VEVENT", "VTODO", "VJOURNAL", "VCARD", "VFREEBUSY")
# What stands in entries for programs alone.
_SKIPPED = (
    "UID", "DTSTAMP", "PRODID", "VERSION", "SEQUENCE", "CREATED", "LAST-MODIFIED", "PHOTO",
    "BEGIN", "END",
)  # fmt: skip
_TIMES = ("DT", "DUE", "EX", "RECUR", "BDAY")
_DAY_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# These begin no line.
_INLINE = (
    "a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "u", "label", "font",
    "mark",
)  # fmt: skip

View = dict[str, Any]


def view(kind: str, parts: Iterable[Part], outline: Iterable[str] = (), **more: Any) -> View:
    """The fields of a file's view; parts without text are left out."""
    kept = [part for part in parts if part.text.strip()]
    cut = [line[:_OUTLINE_CHARS] for line in outline]
    return {"kind": kind, "parts": kept, "outline": cut, **more}


def noted(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def _grid(rows: Iterable[Iterable[str]]) -> str:
    """A table inside a document: a line for each row."""
    return "\n".join(" | ".join(" ".join(cell.split()) for cell in row) for row in rows)


def document(data: bytes, bounds: Bounds) -> View:
    """A Word document by its headings, with tables in place, comments, headers and footers."""
    import docx
    from docx.table import Table

    check_zip(data, bounds).close()
    opened = docx.Document(io.BytesIO(data))
    parts: list[Part] = []
    heading, lines, outline, tables = "beginning", list[str](), list[str](), 0
    for block in opened.iter_inner_content():
        if isinstance(block, Table):
            tables += 1
            grid = _grid(_word_rows(block))
            lines.append(f"[table {tables}]\n{grid}\n[end of table {tables}]")
            continue
        text, style = _word_text(block._p), str(getattr(block.style, "name", "") or "")
        if style.startswith(("Heading", "Title")) and text.strip():
            parts.append(Part(where=heading, text="\n".join(lines)))
            heading, lines = f"{style}: {text.strip()[:_OUTLINE_CHARS]}", [f"# {text.strip()}"]
            outline.append(heading)
        elif text.strip():
            is_item = style.startswith("List") or block._p.find(f".//{_WORD}numPr") is not None
            lines.append(f"- {text}" if is_item else text)
    parts.append(Part(where=heading, text="\n".join(lines)))
    parts += _word_edges(opened)
    comments = [f"{item.author}: {item.text}" for item in opened.comments]
    parts.append(Part(where="comments", text="\n".join(comments)))
    pictures = len(opened.inline_shapes)
    changed = len(list(opened.element.iter(f"{_WORD}ins", f"{_WORD}del")))
    tracked = f"{changed} tracked changes; deleted text stands in [deleted: …]"
    note = noted(f"{pictures} pictures" if pictures else "", tracked if changed else "")
    return view("document", parts, outline, note=note)


def _word_text(paragraph: Any) -> str:
    """The text of a paragraph, tracked changes and text boxes included."""
    pieces = []
    for element in paragraph.iter():
        parent = element.getparent()
        if element.tag == f"{_WORD}t":
            pieces.append(element.text or "")
        elif element.tag == f"{_WORD}delText":
            pieces.append(f"[deleted: {element.text or ''}]")
        elif element.tag in _BREAKS and parent is not None and parent.tag == f"{_WORD}r":
            pieces.append(_BREAKS[element.tag])
    return "".join(pieces)


def _word_rows(table: Any) -> Iterator[list[str]]:
    for row in table._tbl.tr_lst:
        yield [" ".join(_word_text(p) for p in cell.iter(f"{_WORD}p")) for cell in row.tc_lst]


def _word_edges(opened: Any) -> Iterator[Part]:
    seen = set()
    for section in opened.sections:
        for name, edge in (("header", section.header), ("footer", section.footer)):
            text = "\n".join(_word_text(paragraph._p) for paragraph in edge.paragraphs).strip()
            if text and text not in seen:
                seen.add(text)
                yield Part(where=name, text=text)


def slides(data: bytes, bounds: Bounds) -> View:
    """A deck slide by slide: title, texts, tables, charts with their values, notes."""
    import pptx

    check_zip(data, bounds).close()
    deck = pptx.Presentation(io.BytesIO(data))
    parts, outline = [], []
    for at, slide in enumerate(deck.slides, 1):
        title = slide.shapes.title.text_frame.text if slide.shapes.title is not None else ""
        lines = list(_shapes(slide.shapes))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            lines.append(f"[notes] {slide.notes_slide.notes_text_frame.text}")
        where = f"slide {at}{' (hidden)' if slide._element.get('show') == '0' else ''}"
        parts.append(Part(where=where, text="\n".join(lines) or "(no text)"))
        outline.append(f"{where}: {title or '(no title)'}")
    return view("slides", parts[:_MOST_PARTS], outline, note=_beyond(parts, "slides"))


def _shapes(shapes: Iterable[Any]) -> Iterator[str]:
    for shape in shapes:
        if shape.shape_type == 6:  # a group
            yield from _shapes(shape.shapes)
        elif getattr(shape, "has_table", False):
            yield f"[table]\n{_grid([cell.text for cell in row.cells] for row in shape.table.rows)}"
        elif getattr(shape, "has_chart", False):
            yield f"[chart]\n{_chart(shape.chart)}"
        elif shape.has_text_frame:
            if shape.text_frame.text.strip():
                yield shape.text_frame.text.replace("\x0b", "\n")
        elif shape.shape_type == 13:
            yield "[picture]"


def _chart(chart: Any) -> str:
    has_title = chart.has_title and chart.chart_title.has_text_frame
    lines = [chart.chart_title.text_frame.text] if has_title else []
    for plot in chart.plots:
        lines.append(" | ".join(["", *map(str, plot.categories)]))
        lines += [" | ".join([series.name, *map(str, series.values)]) for series in plot.series]
    return "\n".join(lines)


def pdf(data: bytes, bounds: Bounds) -> View:
    """A PDF page by page; pages without text can only be seen."""
    import pypdfium2

    try:
        opened = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Encrypted from None
        raise
    if len(opened) > bounds.pages:
        raise TooLarge
    texts = [opened[at].get_textpage().get_text_bounded() for at in range(len(opened))]
    pages = [[line.rstrip() for line in text.replace("\r", "").split("\n")] for text in texts]
    parts = [Part(where=f"page {at}", text="\n".join(page)) for at, page in enumerate(pages, 1)]
    bare = [at for at, page in enumerate(pages, 1) if not any(page)]
    titles = [f"{'  ' * item.level}{item.get_title()}" for item in opened.get_toc(max_depth=4)]
    shown = bare[:_MOST_PARTS] or range(1, len(pages) + 1)[:_MOST_PICTURES]
    pictures = [f"page {at}" for at in shown]
    unread = f"{len(bare)} of them hold no text and can only be looked at"
    named = f"page {', '.join(map(str, bare[:20]))}{' …' if len(bare) > 20 else ''}"
    note = noted(f"{len(pages)} pages", f"{unread}: {named}" if bare else "")
    return view("pdf", parts, titles, pictures=pictures, note=note)


def mail(data: bytes, bounds: Bounds) -> View:
    """A message, or those of a mailbox: people, time, subject, text, names of attachments."""
    pieces = [piece for piece in _FROM_LINE.split(data) if piece.strip()]
    is_box = data.startswith(b"From ") and bool(pieces)
    parts, outline = [], []
    for at, piece in enumerate(pieces if is_box else [data], 1):
        message = email.message_from_bytes(piece, policy=email.policy.default)
        if not isinstance(message, EmailMessage) or not message.keys():
            raise ValueError("no mail")
        if at <= _MOST_PARTS:
            parts.append(Part(where=f"mail {at}" if is_box else "mail", text=_message(message)))
        day, sender, subject = (message[name] or "" for name in ("date", "from", "subject"))
        outline.append(f"{day} {sender}: {subject}")
    return view("mail", parts, outline if is_box else (), note=_beyond(outline, "mails"))


def _beyond(entries: list[Any], what: str) -> str:
    return f"{len(entries)} {what}, the first {_MOST_PARTS}" if len(entries) > _MOST_PARTS else ""


def _message(message: EmailMessage) -> str:
    lines = [f"{name.capitalize()}: {message[name]}" for name in _MAIL_HEADS if message[name]]
    attached = [
        str(part.get_filename() or part.get_content_type()) for part in message.iter_attachments()
    ]
    lines += [f"Attachments: {', '.join(attached)}"] * bool(attached)
    body: Any = message.get_body(("plain", "html"))
    text = ""
    if body is not None:
        try:
            text = str(body.get_content())
        except (LookupError, ValueError):  # an unknown charset
            text = bytes(body.get_payload(decode=True) or b"").decode("utf-8", "replace")
        text = _web_text(text)[0] if body.get_content_subtype() == "html" else text
    return "\n".join([*lines, "", text])


def calendar(data: bytes, bounds: Bounds) -> View:
    """Events and tasks of a calendar, or contacts, one a line with all that they say."""
    entries = list(_entries(decode(data)))
    if not entries:
        raise ValueError("no calendar")
    is_book = {kind for kind, _ in entries} == {"VCARD"}
    parts = [
        Part(where=f"{'contact' if is_book else kind[1:].lower()} {at}", text="\n".join(lines))
        for at, (kind, lines) in enumerate(entries[:_MOST_EVENTS], 1)
    ]
    count = f"{len(entries)} {'contacts' if is_book else 'entries'}"
    return view("contacts" if is_book else "calendar", parts, note=count)


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """What stands in events, tasks and contacts, without what is for programs."""
    kind, lines = "", list[str]()
    for line in _FOLD.sub("", text).splitlines():
        match = _ENTRY.fullmatch(line)
        if match is None:
            continue
        name, options, value = match[1].upper().rpartition(".")[2], match[2], match[3]
        if name == "BEGIN" and value.upper() in _ENTRIES:
            kind, lines = value.upper(), []
        elif name == "END" and value.upper() == kind:
            yield kind, lines
            kind = ""
        elif kind and name not in _SKIPPED and value:
            shown = value.replace("\\n", "\n").replace("\\,", ",").replace("\\;", ";")
            shown = _DAY_TIME.sub(_day_time, shown) if name.startswith(_TIMES) else shown
            stated = dict(part.partition("=")[::2] for part in options.split(";"))
            extra = (stated.get("TZID") or stated.get("CN") or "").strip('"')
            lines.append(f"{name}: {shown}{f' ({extra})' if extra else ''}")


def _day_time(match: re.Match[str]) -> str:
    day = f"{match[1]}-{match[2]}-{match[3]}"
    return f"{day} {match[4]}:{match[5]}{' UTC' if match[6] else ''}" if match[4] else day


def notebook(data: bytes, bounds: Bounds) -> View:
    """A notebook cell by cell, what a cell printed below it."""
    parts, outline = [], []
    for at, cell in enumerate(json.loads(decode(data))["cells"], 1):
        kind, source = str(cell.get("cell_type", "")), "".join(cell.get("source", ""))
        shown = [source, *(f"[output] {text}" for text in _printed(cell.get("outputs", ())))]
        parts.append(Part(where=f"cell {at} ({kind})", text="\n".join(shown)))
        if kind == "markdown":
            outline += [line for line in source.splitlines() if line.startswith("#")]
    return view("notebook", parts[:_MOST_PARTS], outline, note=f"{len(parts)} cells")


def _printed(outputs: Iterable[Any]) -> Iterator[str]:
    for output in outputs:
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain") or output.get("traceback") or ""
        yield "".join(text) if text else f"({', '.join(data) or 'nothing'})"


def _web_text(text: str) -> tuple[str, list[str]]:
    """The text of a page with its tables as rows, and its headings."""
    from lxml import html

    if not text.strip():
        return "", []
    root = html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8"))
    for element in list(root.iter("script", "style", "template", "noscript")):
        element.drop_tree()
    headings = [" ".join(h.text_content().split()) for h in root.iter(*_HEADING_TAGS)]
    lines = (" ".join(line.split()) for line in "".join(_web_pieces(root)).split("\x00"))
    return "\n".join(filter(None, lines)), [h for h in headings if h]


def _web_pieces(root: Any) -> Iterator[str]:
    """Text in order; what is not inline begins a line (NUL), cells of a row share one."""
    from lxml import etree

    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        is_cell = tag in ("td", "th")
        begins = bool(tag) and tag not in _INLINE and not is_cell
        if event == "start":
            yield "\x00" if begins else ""
            if tag == "img" and element.get("alt"):
                yield f"[picture: {element.get('alt')}]"
            yield "- " if tag == "li" else f"{'#' * int(tag[1])} " if tag in _HEADING_TAGS else ""
            yield (element.text or "") if tag else ""
        else:
            if is_cell and element.getnext() is not None:
                yield " | "
            yield f"{chr(0) if begins else ''}{element.tail or ''}"


def page(data: bytes, bounds: Bounds) -> View:
    """A web page as text, without its scripts."""
    source = decode(data)
    text, headings = _web_text(source)
    title = re.search(r"<title[^>]*>([^<]{1,200})", source, re.IGNORECASE)
    outline = ([f"title: {title[1].strip()}"] if title else []) + headings
    note = f"HTML, {source.count(chr(10)) + 1} lines of source"
    return view("document", [Part(where="page", text=text)], outline, note=note)
