"""Attributes of office XML, and elements that hold nothing but a person or a company."""

from __future__ import annotations

import re

from lxml import etree
from lxml.etree import _Element as Element

from anonymization.documents.markup import local
from anonymization.documents.visitor import Visitor
from anonymization.text.contracts import EntityType
from anonymization.text.masking.pieces import Heed, Piece
from anonymization.text.masking.plain import plain_edits
from anonymization.text.vault.contracts import Edit
from anonymization.text.vault.restore import applied

_PERSON, _ORGANIZATION, _ACCOUNT = EntityType.PERSON, EntityType.ORGANIZATION, EntityType.ACCOUNT
_APPLICATIONS = frozenset(
    {"openpyxl", "python-docx", "python-pptx", "microsoft office user", "microsoft", "user",
     "author", "unknown", "unknown author", "administrator", "admin", "system"}
)  # fmt: skip
OWNED_ELEMENTS = {
    "creator": _PERSON,
    "lastModifiedBy": _PERSON,
    "Manager": _PERSON,
    "Company": _ORGANIZATION,
    "author": _PERSON,
}
_OWNED_ATTRIBUTES = {
    ("", "author"): _PERSON,
    ("", "initials"): _PERSON,
    ("cmAuthor", "name"): _PERSON,
    ("author", "name"): _PERSON,
    ("person", "displayName"): _PERSON,
    ("person", "userId"): _ACCOUNT,
    ("author", "userId"): _ACCOUNT,
    ("presenceInfo", "userId"): _ACCOUNT,
    ("fileSharing", "userName"): _PERSON,
    ("userInfo", "name"): _PERSON,
}
_PROSE = frozenset(
    {"title", "descr", "alt", "tooltip", "display", "prompt", "promptTitle", "error", "errorTitle",
     "string", "displayText", "subject", "caption"}
)  # fmt: skip
_PROSE_OF = frozenset(
    {("docPr", "name"), ("cNvPr", "name"), ("tableColumn", "name"), ("section", "name"),
     ("custShow", "name"), ("property", "name"), ("cacheField", "name"), ("dataField", "name"),
     ("alias", "val"), ("tag", "val"), ("docVar", "val"), ("sheetName", "val"), ("s", "v"),
     ("listItem", "value")}
)  # fmt: skip
_DEFAULT_NAME = re.compile(r"(?:[A-Za-z]+ ){1,4}\d+")
_FORMAL = frozenset({"Override", "Default", "sheet"})  # content types; sheets are renamed apart
_FORMAL_PART = re.compile(
    r"theme|[sS]tyles|fontTable|[sS]ettings|numbering|presProps|viewProps|slideLayout|Master"
)
_STYLES = "styles"
_SHORTEST = 4


def owned_edits(visitor: Visitor, kind: EntityType, text: str) -> list[Edit]:
    """Edits of a text that names a person or a company and nothing else."""
    if text.strip().lower() in _APPLICATIONS or not text.strip():
        return []
    return list(visitor.look(Piece(text, kind=kind)))


def mask_attributes(visitor: Visitor, part: str, element: Element) -> None:
    """Mask the attributes of one element."""
    of = local(element)
    if of in _FORMAL:
        return
    external = element.get("TargetMode") == "External"
    for key, value in element.attrib.items():
        if of == "Relationship" and not (external and str(key) == "Target"):
            continue
        name = etree.QName(str(key)).localname
        at = part if of != "cSld" else _STYLES
        edits = _edits(visitor, (at, of, name), str(value), external and name == "Target")
        if edits:
            visitor.tell(f"{part}@{name}", edits)
            element.set(str(key), applied(str(value), edits)[0])


def _edits(visitor: Visitor, place: tuple[str, str, str], value: str, external: bool) -> list[Edit]:
    part, of, name = place
    kind = _OWNED_ATTRIBUTES.get((of, name)) or _OWNED_ATTRIBUTES.get(("", name))
    if kind is not None:
        return owned_edits(visitor, kind, value)
    if len(value) < _SHORTEST or not any(map(str.isalnum, value)):
        return []
    prose = external or name in _PROSE or (of, name) in _PROSE_OF
    if not prose:
        formal = name == "typeface" or _FORMAL_PART.search(part) is not None
        return plain_edits(value, visitor.visit(), heed=Heed.PROVEN if formal else Heed.WHOLE)
    named = _DEFAULT_NAME.fullmatch(value) is not None
    return plain_edits(value, visitor.visit(), heed=Heed.PROVEN if named else Heed.ALL)
