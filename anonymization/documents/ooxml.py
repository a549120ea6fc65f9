"""Zip packages, and Office Open XML in them: every part is visited, whichever program wrote it.

Packages are read under limits, and written so that the same parts give the same bytes.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping

from lxml.etree import _Element as Element

from anonymization.documents import spreadsheet
from anonymization.documents.contracts import DocumentConfig, Refusal, Refused
from anonymization.documents.markup import (
    OWNED_ELEMENTS,
    Slot,
    group_edits,
    groups,
    identifier_edits,
    local,
    mask_attributes,
    mask_references,
    owned_edits,
    parse,
    read_identifiers,
    serialise,
    write_edits,
)
from anonymization.documents.pictures import REPLACED, embedded_picture
from anonymization.documents.spreadsheet import Workbook
from anonymization.documents.text_forms import show_caption, show_table
from anonymization.documents.visitor import Visitor, name_edits, refuse_names
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.pieces import labelled
from anonymization.text.masking.plain import joined

_CHUNK = 1 << 18
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".tif", ".tiff", ".webp")
_FEWEST_CHARACTERS = 20  # of a document that is more than its pictures
_NUMBER = re.compile(r"\s*-?\d{1,8}\s*")
_SHOWN = frozenset({"t", "v", "lpstr", "i4", *spreadsheet.FORMULAS, *spreadsheet.HEADERS})
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FIRST = "[Content_Types].xml"
_CFB = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_package(data: bytes, config: DocumentConfig) -> dict[str, bytes]:
    """The parts by name. Raises Refused if it is broken or encrypted, or inflates too far."""
    if data.startswith(_CFB):  # an encrypted office file is a compound file
        raise Refused(Refusal.ENCRYPTED)
    by_ratio = max(config.free_inflated_bytes, len(data) * config.max_inflation_ratio)
    remaining = min(config.max_inflated_bytes, by_ratio)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > config.max_parts:
                raise Refused(Refusal.INFLATES)
            parts: dict[str, bytes] = {}
            for member in members:
                if member.is_dir():
                    continue
                if member.flag_bits & 1:
                    raise Refused(Refusal.ENCRYPTED)
                parts[member.filename] = _read_member(archive, member, remaining)
                remaining -= len(parts[member.filename])
            return parts
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError):
        raise Refused(Refusal.BROKEN) from None


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, remaining: int) -> bytes:
    content = bytearray()
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            content += chunk
            if len(content) > remaining:
                raise Refused(Refusal.INFLATES)
    return bytes(content)


def _write_package(parts: Mapping[str, bytes]) -> bytes:
    """The parts as a zip file without times, comments or extra fields, in a fixed order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(parts, key=lambda name: (name != _FIRST, name)):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            archive.writestr(info, parts[name])
    return out.getvalue()


def rewrite_archive(visitor: Visitor, parts: dict[str, bytes]) -> bytes:
    """The masked archive, its members in order of their names. Raises Refused for any of them.

    Its inflated size was bounded when `parts` was read; the visitor's depth bounds archives in
    archives.
    """
    masked_parts: dict[str, bytes] = {}
    for number, name in enumerate(sorted(parts)):
        if name.startswith("/") or "\\" in name or ".." in name.split("/"):
            raise Refused(Refusal.BROKEN)  # the path escapes the folder of the archive
        masked = visitor.inner(f"member {number}", parts[name], name)
        new = "/".join(_named(visitor, part) for part in name.split("/"))
        masked_parts[_free(new, masked_parts)] = masked
    return _write_package(masked_parts)


def _named(visitor: Visitor, name: str) -> str:
    return visitor.masked("name", name, name_edits(name, visitor.look))


def _free(name: str, taken: dict[str, bytes]) -> str:
    stem, ending = posixpath.splitext(name)
    new, number = name, 2
    while new in taken:
        new, number = f"{stem}-{number}{ending}", number + 1
    return new


_XML = (".xml", ".rels", ".vml")
_TEXTS = (".txt", ".csv", ".html", ".htm", ".json", ".xhtml")
_OFFICE = (".docx", ".xlsx", ".pptx", ".docm", ".xlsm", ".pptm")
_KEPT = (".odttf", ".fntdata", ".ttf")
_CELL_VALUES = frozenset({"v", "is"})
_DROPPED = ("docProps/thumbnail", "printerSettings", "customXml/itemProps_thumb")
_GOOGLE = "xl/metadata"  # without an ending; `xl/metadata.xml` is a part of Excel's
_MACROS = ("vbaProject", "vbaData", "activeX", "macrosheets")
_CODES = frozenset({"instrText", "delInstrText"})
_CAPTIONED = re.compile(r"charts/|docProps/|diagrams/")
_PROPERTIES = "docProps/core.xml"
_HELD = {"keywords": "owner", "category": "owner"}  # words that an author chose, no sentence
_TYPES = "[Content_Types].xml"


def is_office(parts: Mapping[str, bytes]) -> bool:
    """Is it an office file rather than another zip archive?"""
    return _TYPES in parts


def rewrite_office(visitor: Visitor, parts: Mapping[str, bytes]) -> bytes:
    """A masked package of the same kind. Raises Refused, see `Refusal`."""
    kept = {part: raw for part, raw in parts.items() if not _is_dropped(part)}
    for part in kept:
        if any(mark in part for mark in _MACROS):
            raise Refused(Refusal.MACROS, part)
        edits = name_edits(posixpath.basename(part), visitor.look, is_chosen=not _is_xml(part))
        if _is_xml(part):  # programs name these
            edits = [edit for edit in edits if edit.type is not EntityType.UNEXPLAINED]
        refuse_names(edits)
    roots = {part: parse(raw, part) for part, raw in kept.items() if _is_xml(part)}
    workbook = spreadsheet.read_workbook(roots, visitor)
    workbook.identifiers = read_identifiers(roots.values(), visitor)
    dropped = sorted(parts.keys() - kept.keys())
    masked: dict[str, bytes] = {}
    for part in sorted(kept):
        root = roots.get(part)
        if root is None:
            masked[part] = _mask_binary(visitor, part, kept[part])
            continue
        _mask_part(visitor, part, root, workbook)
        _remove_references(part, root, dropped)
        masked[part] = serialise(root)
    if any(row.recognizer == REPLACED for row in visitor.rows) and not _says(roots):
        raise Refused(Refusal.NOT_APPROVED)  # the pictures are the document
    return _write_package(masked)


def _says(roots: Mapping[str, Element]) -> bool:
    """Does a document hold words of its own, beside its pictures and properties?"""
    texts = (
        text.strip()
        for part, root in roots.items()
        if not part.startswith(("docProps/", "_rels/"))
        for element in root.iter("{*}t", "{*}v")
        for text in (element.text or "",)
    )
    return sum(map(len, texts)) >= _FEWEST_CHARACTERS


def _is_xml(part: str) -> bool:
    return part.lower().endswith(_XML)


def _is_dropped(part: str) -> bool:
    """Is it a thumbnail (shows the first page), printer settings (name machines), or what Google
    keeps encrypted in a workbook?"""
    return part == _GOOGLE or any(mark in part for mark in _DROPPED)


def _mask_binary(visitor: Visitor, part: str, raw: bytes) -> bytes:
    lower = part.lower()
    if lower.endswith(_KEPT):
        return raw
    if lower.endswith(_OFFICE + _TEXTS) or raw.startswith(b"PK\x03\x04"):
        return visitor.inner(part, raw)
    if raw.startswith((b"\x89PNG", b"\xff\xd8")) or lower.endswith(_PICTURES):
        return embedded_picture(visitor, part, raw)
    raise Refused(Refusal.EMBEDDED_UNKNOWN, part)


def _mask_part(visitor: Visitor, part: str, root: Element, workbook: Workbook) -> None:
    for path in list(root.iter("{*}absPath")):  # of the folder it was saved in
        above = path.getparent()
        if above is not None:
            above.remove(path)
    if part == "xl/sharedStrings.xml":
        spreadsheet.mask_strings(visitor, part, root, workbook)
    elif part.startswith("xl/worksheets/"):
        spreadsheet.mask_cells(visitor, part, workbook)
    for table in root.iter("{*}tbl"):
        show_table(visitor.look, [_cells(row) for row in table.iterchildren("{*}tr")])
    for slots in [one for element in _beside_cells(part, root) for one in groups(element)]:
        _mask_group(visitor, part, slots, workbook)
    for element in root.iter("*"):
        if not element.keys():
            continue
        spreadsheet.mask_location(visitor, part, element, workbook)
        mask_references(visitor, part, element, workbook.identifiers)
        mask_attributes(visitor, part, element)


def _beside_cells(part: str, root: Element) -> list[Element]:
    """The elements whose texts are read apart from those of cells: of a long sheet they are few.

    The root itself, unless it is a sheet whose rows hold cells, and these values, and no more.
    """
    data = root.find("{*}sheetData")
    if data is None or not part.startswith("xl/worksheets/"):
        return [root]
    beside = []
    for row in data:
        for cell in row:
            beside += [inner for inner in cell if local(inner) not in _CELL_VALUES]
            if local(cell) != "c" or _has_text(cell) or any(map(_has_tail, cell)):
                return [root]
        if local(row) != "row" or _has_text(row):
            return [root]
    if _has_text(root) or _has_text(data):
        return [root]
    at = root.index(data)
    return [*root[:at], *beside, *root[at + 1 :]]


def _has_text(element: Element) -> bool:
    return bool(element.text and element.text.strip()) or _has_tail(element)


def _has_tail(element: Element) -> bool:
    return bool(element.tail and element.tail.strip())


def _mask_group(visitor: Visitor, part: str, slots: list[Slot], workbook: Workbook) -> None:
    element = slots[0].element
    name = local(element)
    is_value = not slots[0].tail and _is_cell_value(part, name, element)
    if part == "xl/sharedStrings.xml" or is_value:
        return
    renamed = workbook.renamed.get(slots[0].text) if name == "lpstr" else None
    if renamed is not None:
        element.text = renamed[0]
        return
    if name == "lpstr" and any(element.iterancestors("{*}HeadingPairs")):
        return  # kinds of parts, in the language of the program
    if len(slots) == 1 and name not in _SHOWN and _NUMBER.fullmatch(slots[0].text):
        return  # a place or size, which a program wrote
    if len(slots) == 1 and name in spreadsheet.FORMULAS:
        spreadsheet.mask_formula(visitor, part, element, workbook)
        return
    if len(slots) == 1 and name in spreadsheet.HEADERS:
        spreadsheet.mask_header(visitor, part, element)
        return
    if len(slots) == 1 and name in OWNED_ELEMENTS:
        edits = owned_edits(visitor, OWNED_ELEMENTS[name], slots[0].text)
    elif name in _CODES:
        codes = "".join(slot.text for slot in slots)
        edits = joined(identifier_edits(codes, workbook.identifiers), group_edits(slots, visitor))
    else:
        edits = _text_edits(visitor, part, name, slots)
    visitor.record(part, edits)
    write_edits(slots, edits)


def _cells(row: Element) -> list[str]:
    return ["".join(map(str, cell.itertext())) for cell in row.iterchildren("{*}tc")]


def _text_edits(visitor: Visitor, part: str, name: str, slots: list[Slot]) -> list[Edit]:
    if _CAPTIONED.search(part):
        text = "".join(slot.text for slot in slots)
        show_caption(visitor.look, text)
        if part == _PROPERTIES:
            visitor.look(labelled(_HELD.get(name, "Title"), text.strip()))
    return group_edits(slots, visitor)


def _is_cell_value(part: str, name: str, element: Element) -> bool:
    parent = element.getparent()
    in_cell = parent is not None and local(parent) == "c" and name in _CELL_VALUES
    return (in_cell or _in_inline(element)) and part.startswith("xl/worksheets/")


def _in_inline(element: Element) -> bool:
    return any(local(above) == "is" for above in element.iterancestors())


def _remove_references(part: str, root: Element, dropped: list[str]) -> None:
    """Remove relations and types of dropped parts, so that the file still opens."""
    removed = _relations(part, root, dropped) + [
        element
        for element in root
        if part == _TYPES and (element.get("PartName") or "").lstrip("/") in dropped
    ]
    for element in removed:
        root.remove(element)


def _relations(part: str, root: Element, dropped: list[str]) -> list[Element]:
    if not part.endswith(".rels"):
        return []
    folder = posixpath.dirname(posixpath.dirname(part))
    return [
        element
        for element in root
        if element.get("TargetMode") != "External" and _target(folder, element.attrib) in dropped
    ]


def _target(folder: str, attributes: Mapping[str, str]) -> str:
    target = str(attributes.get("Target", ""))
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(folder, target))
