"""One file opened as what it is, in a confined child.

    python -m construction.judging.evidence.opened SECONDS BYTES

Frames in: the limits and the file's name as JSON, its content. Frame out: the fields of its view.
The first bytes say what a file is, its name only where they do not. A task that asks for a picture
is answered with a JPEG of it, or with nothing, one that asks for a sheet with all rows of a
workbook's first one.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tomllib
import warnings
import wave
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice
from typing import Any

from construction.grading.file_types import extension_of, type_of
from construction.grading.openers import Bounds, Encrypted, TooLarge, check_zip, decode
from construction.judging.evidence import documents, tables
from construction.judging.evidence.documents import View, noted, view
from construction.judging.evidence.views import POINTER, Part, Sheet
from data.child import confine, read_frame, write_frame
from data.file_kinds import is_pointer

_MOST = 1 << 30
_CHUNK = 4_000  # characters of a part of a text
_QUALITY = 85  # of a picture as JPEG
_OUTLINE, _MOST_PATHS = 200, 120
_RAW = 300  # characters at the beginning of data that are shown as they are written
_DEFINITION = re.compile(
    r"^\s{0,8}(?:export |default |public |private |protected |static |final |abstract |async )*"
    r"(?:pub )?(?:class|interface|enum|struct|trait|impl|func|fn|function|def|type|module|namespace"
    r"|CREATE|create|const \w+ = (?:async )?(?:\(|function))\b.{1,120}"
)
_HEADING = re.compile(r"^#{1,6} \S.{0,150}$")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"SQLite format 3\x00", "sqlite"),
    (b"PAR1", "parquet"),
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (_OLE, "ole"),
)
_BY_EXTENSION = {
    "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "yaml": "yaml",
    "yml": "yaml", "toml": "toml", "xml": "xml", "svg": "xml", "html": "page", "htm": "page",
    "eml": "mail", "mbox": "mail", "ics": "calendar", "vcf": "calendar", "ipynb": "notebook",
    "bmp": "picture", "tif": "picture", "tiff": "picture", "wav": "sound", "tar": "tar",
    "webp": "picture", "geojson": "json",
}  # fmt: skip
_LIBRARIES = ("docx", "lxml.html", "openpyxl", "PIL.Image", "pptx", "pypdfium2", "yaml")


def _opened(name: str, data: bytes, bounds: Bounds) -> View:
    """The fields of a file's view; one that cannot be read is `unreadable`, with the reason."""
    if is_pointer(data, len(data)):
        return view("unreadable", (), note=POINTER)
    form = _form_of(name, data)
    try:
        return _OPENERS[form](data, bounds) if form in _OPENERS else _text_view(name, data, bounds)
    except TooLarge:
        return view("unreadable", (), note="holds more than is read of one file")
    except Encrypted:
        return view("unreadable", (), note="is encrypted")
    except MemoryError:
        return view("unreadable", (), note="needs more memory than is allowed")
    except ImportError as error:
        return view("unreadable", (), note=f"the library {error.name} is not installed")
    except Exception as error:  # a library may raise anything on a broken file
        broken = f"is broken, or no {extension_of(name) or form} file ({type(error).__name__})"
    with suppress(Exception):  # broken syntax is still text that a person can read
        if form not in _BINARY:
            shown = _text_view(name, data, bounds)
            return {**shown, "note": noted(f"{broken}: shown as text", shown.get("note", ""))}
    return view("unreadable", (), note=broken)


def _form_of(name: str, data: bytes) -> str:
    """What opens a file: a key of `_OPENERS`, or text."""
    extension = extension_of(name)
    form = next((form for first, form in _SIGNATURES if data.startswith(first)), "")
    if data[:4] == b"RIFF":
        form = "picture" if data[8:12] == b"WEBP" else "sound"
    if form == "zip":
        return _zip_form(data)
    return form or _BY_EXTENSION.get(extension, "text")


def _zip_form(data: bytes) -> str:
    for part, form in ((b"word/", "docx"), (b"xl/", "xlsx"), (b"ppt/", "pptx")):
        if part in data[-65_536 - (len(data) // 20) :] and b"[Content_Types].xml" in data:
            return form
    return "odf" if data[30:38] == b"mimetype" else "zip"


def _chunks(text: str) -> Iterator[Part]:
    """A text as parts of whole lines; a longer line is a part of its own."""
    lines, size, start = list[str](), 0, 1
    for at, line in enumerate(text.split("\n"), 1):
        if lines and size + len(line) > _CHUNK:
            yield Part(where=_lines(start, at - 1), text="\n".join(lines))
            lines, size, start = [], 0, at
        lines.append(line)
        size += len(line) + 1
    yield Part(where=_lines(start, start + len(lines) - 1), text="\n".join(lines))


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}–{last}"


def _decoded(data: bytes) -> tuple[str, str]:
    """The text, and a note where no form of Unicode is known of it."""
    try:
        return decode(data), ""
    except UnicodeError:
        return data.decode("cp1252", "replace"), "read as Windows-1252"


def _text_view(name: str, data: bytes, bounds: Bounds) -> View:
    """Text or code, whole, with its headings or definitions; what is no text is binary."""
    text, note = _decoded(data)
    if note and (b"\x00" in data or sum(byte < 9 for byte in data[:4096]) > 4):
        return view("binary", (), note="no form that is read here")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    known = type_of(name)
    kind = "code" if known is not None and known.kind == "code" else "text"
    outline = list(islice(_outline(text, name, kind), _OUTLINE))
    count = text.count("\n") + (not text.endswith("\n"))
    note = noted(note, f"{count} lines" if count > 1 else "", "" if text.strip() else "empty")
    return view(kind, _chunks(text.rstrip("\n")), outline, note=note)


def _outline(text: str, name: str, kind: str) -> Iterator[str]:
    """Definitions of code, headings of text."""
    if kind == "code" and extension_of(name) == "py":
        with suppress(SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from _python(ast.parse(text).body, "")
            return
    form, longest = (_DEFINITION, 300) if kind == "code" else (_HEADING, len(text) + 1)
    for at, line in enumerate(text.split("\n"), 1):
        if len(line) < longest and form.match(line):
            yield f"line {at}: {line.strip() if kind == 'code' else line}"


def _python(body: Sequence[ast.stmt], within: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield f"line {node.lineno}: class {within}{node.name}"
            yield from _python(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = ", ".join(a.arg for a in (*node.args.args, *node.args.kwonlyargs))
            yield f"line {node.lineno}: def {within}{node.name}({arguments})"


def _csv(data: bytes, bounds: Bounds) -> View:
    text, note = _decoded(data)
    if not text.strip():
        return view("table", (), note="empty")
    return view("table", (), sheets=[tables.delimited(text, bounds)], note=note)


def _structured(values: list[Any], text: str, note: str = "", raw: str = "") -> View:
    """Decoded data: its lists of records as tables, its paths, and all of it as text."""
    sheets = list(tables.records(values))[:20]
    outline = list(_paths(values[0] if len(values) == 1 else values))
    parts = _chunks(text.rstrip())
    return view("data", parts, outline[:_OUTLINE], sheets=sheets, note=note, begins=raw[:_RAW])


def _json(data: bytes, bounds: Bounds) -> View:
    raw = decode(data)
    value = json.loads(raw, parse_float=_Figure)
    values = value if isinstance(value, list) else [value]
    return _structured(values, _as_text(value), "JSON", raw.lstrip())


def _json_lines(data: bytes, bounds: Bounds) -> View:
    raw = decode(data)
    values = [json.loads(line, parse_float=_Figure) for line in raw.splitlines() if line.strip()]
    return _structured(values, _as_text(values), "JSON lines", raw.lstrip())


class _Figure(str):
    """A figure as it is written in the source."""


def _as_text(value: object) -> str:
    """Data without the marks of JSON, which take a third of it: one value a line, indented."""
    return "\n".join(_data_lines(value, ""))


def _data_lines(value: object, margin: str) -> Iterator[str]:
    if not isinstance(value, dict | list) or not value:
        yield f"{margin}{json.dumps(value) if isinstance(value, dict | list) else _scalar(value)}"
        return
    for key, inner in value.items() if isinstance(value, dict) else (("-", v) for v in value):
        name = f"{margin}{key}" if key == "-" else f"{margin}{key}:"
        if isinstance(inner, dict | list) and inner:
            flat = isinstance(inner, list) and not any(isinstance(v, dict | list) for v in inner)
            if flat and len(shown := ", ".join(map(_scalar, inner))) < 300:
                yield f"{name} [{shown}]"
            else:
                yield name
                yield from _data_lines(inner, f"{margin}  ")
        else:
            yield f"{name} {next(_data_lines(inner, ''))}"


def _scalar(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = isinstance(value, _Figure) or (value and value == value.strip())
    return str(value) if is_plain else f'"{value}"'


def _yaml(data: bytes, bounds: Bounds) -> View:
    import yaml

    text = decode(data)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if len(text) > bounds.text_chars // 10:
        return _text_view("data.yaml", data, bounds)
    return _structured(list(yaml.load_all(text, Loader=loader)), text)


def _paths(value: Any) -> Iterator[str]:
    """The paths of nested data, with the type and number of what is there; lists by their first."""
    pending: list[tuple[str, Any]] = [("", value)]
    seen: set[int] = set()
    steps = 0
    while pending and steps < _MOST_PATHS:
        path, inner = pending.pop(0)
        steps += 1
        if isinstance(inner, dict):
            yield f"{path or '(top)'}: {len(inner)} keys: {', '.join(map(str, list(inner)[:20]))}"
            below = [(f"{path}.{key}" if path else str(key), item) for key, item in inner.items()]
        elif isinstance(inner, list):
            yield f"{path or '(top)'}: list of {len(inner)}"
            below = [(f"{path}[0]", inner[0])] if inner else []
        else:
            continue
        if id(inner) not in seen:  # an alias of YAML is followed once
            seen.add(id(inner))
            pending += [entry for entry in below[:40] if isinstance(entry[1], dict | list)]


def _xml(data: bytes, bounds: Bounds) -> View:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser)
    counts: dict[str, int] = {}
    stack = [("", root)]
    for _ in range(200_000):
        if not stack:
            break
        path, element = stack.pop()
        if isinstance(element.tag, str):
            own = f"{path}/{etree.QName(element).localname}"
            if own in counts or len(counts) < _MOST_PATHS:
                counts[own] = counts.get(own, 0) + 1
                stack += [(own, child) for child in reversed(element)]
    outline = [f"{path} ×{count}" for path, count in counts.items()]
    text = decode(data) if not data.lstrip().startswith(b"<?xml") else _declared(data)
    if text.count("\n") < 3:
        text = etree.tostring(root, pretty_print=True, encoding="unicode")
    return view("data", _chunks(text.rstrip()), outline)


def _declared(data: bytes) -> str:
    encoding = re.match(rb"<\?xml[^>]*encoding=[\"']([\w.-]+)", data.lstrip())
    return data.decode(encoding[1].decode() if encoding else "utf-8", "replace")


def _workbook(data: bytes, bounds: Bounds) -> View:
    sheets, note = tables.workbook(data, bounds)
    return view("table", (), sheets=sheets, note=note)


def _database(data: bytes, bounds: Bounds) -> View:
    return view("table", (), sheets=list(tables.sqlite(data, bounds)), note="a SQLite database")


def _picture(data: bytes, bounds: Bounds) -> View:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the exact bound below replaces it
    with Image.open(io.BytesIO(data)) as image:
        width, height, frames = image.width, image.height, getattr(image, "n_frames", 1)
        if width * height > bounds.pixels:
            raise TooLarge
        image.load()
    many = f", {frames} frames" if frames > 1 else ""
    return view("picture", (), pictures=["picture"], note=f"{image.format}, {width}×{height}{many}")


def _archive(data: bytes, bounds: Bounds) -> View:
    with check_zip(data, bounds) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        listed = [f"{entry.filename} ({entry.file_size} bytes)" for entry in entries]
    return view("archive", (), listed[: 5 * _OUTLINE], note=f"{len(entries)} files")


def _tar(data: bytes, bounds: Bounds) -> View:
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        names = [f"{m.name} ({m.size} bytes)" for m, _ in zip(archive, range(5_000), strict=False)]
    return view("archive", (), names[: 5 * _OUTLINE], note=f"{len(names)} entries")


def _gzip(data: bytes, bounds: Bounds) -> View:
    """What is inside, up to the bound of inflated bytes."""
    import zlib

    inflater = zlib.decompressobj(wbits=31)
    inner = inflater.decompress(data, min(bounds.inflated_bytes, 64 << 20))
    if inflater.unconsumed_tail:
        raise TooLarge
    if inner[257:262] == b"ustar":
        return _tar(inner, bounds)
    shown = _opened("", inner, bounds)
    return {**shown, "note": noted("compressed with gzip", shown.get("note", ""))}


def _open_document(data: bytes, bounds: Bounds) -> View:
    """Text and tables of an OpenDocument file."""
    from lxml import etree

    with check_zip(data, bounds) as archive:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(archive.read("content.xml"), parser)
    rows, sheets, lines = list[tuple[str, ...]](), list[Sheet](), list[str]()
    for element in root.iter("{*}table", "{*}p", "{*}h"):
        if element.tag.endswith("}table"):
            rows = [
                tuple("".join(cell.itertext()) for cell in row.iter("{*}table-cell"))
                for row in element.iter("{*}table-row")
            ]
            name = next((v for k, v in element.attrib.items() if k.endswith("}name")), "")
            sheets.append(tables.sheet_of(name, rows))
        elif not any(True for _ in element.iterancestors("{*}table")):
            lines.append("".join(element.itertext()))
    return view("document", _chunks("\n".join(lines)), sheets=sheets)


def _ole(data: bytes, bounds: Bounds) -> View:
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise Encrypted
    return view("unreadable", (), note="the old binary form of Office, which nothing here reads")


def _sound(data: bytes, bounds: Bounds) -> View:
    length = ""
    with suppress(wave.Error, EOFError), wave.open(io.BytesIO(data)) as sound:
        length = f" of {sound.getnframes() / sound.getframerate():.1f} s"
    return view("binary", (), note=f"sound{length}, which cannot be shown")


_OPENERS: dict[str, Callable[[bytes, Bounds], View]] = {
    "calendar": documents.calendar,
    "csv": _csv,
    "docx": documents.document,
    "gzip": _gzip,
    "json": _json,
    "jsonl": _json_lines,
    "mail": documents.mail,
    "notebook": documents.notebook,
    "odf": _open_document,
    "ole": _ole,
    "page": documents.page,
    "parquet": lambda data, bounds: view("table", (), sheets=[tables.parquet(data, bounds)]),
    "pdf": documents.pdf,
    "picture": _picture,
    "pptx": documents.slides,
    "sound": _sound,
    "sqlite": _database,
    "tar": _tar,
    "toml": lambda data, bounds: _structured([tomllib.loads(decode(data))], decode(data)),
    "xlsx": _workbook,
    "xml": _xml,
    "yaml": _yaml,
    "zip": _archive,
}
_BINARY = {form for _, form in _SIGNATURES} | {"docx", "odf", "pptx", "sound", "tar", "xlsx"}


def _scaled(picture: str, data: bytes, pixels: int, most: int) -> bytes:
    """A JPEG of a picture, or of "page 3" of a PDF, at most `pixels` wide and high."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # the exact bound below replaces it
    page = None
    if picture.startswith("page "):
        import pypdfium2

        sheet = pypdfium2.PdfDocument(data)[int(picture[5:]) - 1]
        scale = pixels / max(sheet.get_width(), sheet.get_height(), 1)
        page = sheet.render(scale=scale).to_pil()
    with page or Image.open(io.BytesIO(data)) as image:
        if image.width * image.height > most:
            raise TooLarge
        upright = ImageOps.exif_transpose(image).convert("RGBA")
    upright.thumbnail((pixels, pixels), Image.Resampling.LANCZOS)
    paper = Image.new("RGB", upright.size, "white")
    paper.paste(upright, mask=upright)
    target = io.BytesIO()
    paper.save(target, "JPEG", quality=_QUALITY)
    return target.getvalue()


def main() -> None:
    """Serve one file."""
    source = sys.stdin.buffer
    answer = confine(int(sys.argv[1]), int(sys.argv[2]))
    task = json.loads(read_frame(source, _MOST))
    data, made = read_frame(source, _MOST), b""
    if "picture" in task:
        with suppress(Exception):  # a library may raise anything on a broken file
            made = _scaled(task["picture"], data, task["pixels"], task["most"])
    elif "sheet" in task:
        made = json.dumps(tables.first_sheet(data, task["sheet"])).encode()
    else:
        fields = _opened(task["name"], data, Bounds(**task["bounds"]))
        made = json.dumps(fields, default=lambda item: item.model_dump()).encode()
    write_frame(answer, made)


for _library in _LIBRARIES:  # imported once, before the fork for each file
    with suppress(ImportError):
        import_module(_library)

if __name__ == "__main__":
    main()
