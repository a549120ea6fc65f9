"""XML parts of office files: text gathered from the elements that split it, attributes, and edits
written back to both.

Defined names, bookmarks and tables are renamed together with what refers to them: references still
hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.text_forms import show_caption
from anonymization.documents.visitor import Visitor, literal_edits
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.pieces import FindingFilter, Piece, carried
from anonymization.text.masking.plain import joined, plain_edits
from anonymization.text.vault import applied

_BLOCKS = frozenset({"p", "si", "is", "text"})
_STRINGS = frozenset({"si", "is"})
_APART = frozenset({"instrText", "delInstrText", "rPh"})
READING = "rPh"  # how the text beside it is read: it goes where that text is masked
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_REMOVED = frozenset({"del", "moveFrom"})
_ADDED = frozenset({"ins", "moveTo"})
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def parse(data: bytes, part: str) -> Element:
    """The root of a part; no entities, no network. Raises Refused if it is not plain XML."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise Refused(Refusal.BROKEN, part) from None
    if root.getroottree().docinfo.doctype:
        raise Refused(Refusal.DOCTYPE, part)
    return root


def serialise(root: Element) -> bytes:
    """A part as bytes, always the same for the same tree."""
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def local(element: Element) -> str:
    """The name of an element without its namespace; empty for comments."""
    tag = element.tag
    return _bare(tag) if isinstance(tag, str) else ""


@lru_cache(4096)  # a document has few names, each thousands of times
def _bare(tag: str) -> str:
    return tag.rpartition("}")[2]


@dataclass(frozen=True, slots=True)
class Slot:
    """A text position in the tree: an element's text, or the text after it (`tail`).

    `fixed` is the character of a break, which holds no text. `change` is `del` or `ins` in a
    tracked change.
    """

    element: Element
    tail: bool = False
    fixed: str = ""
    change: str = ""

    @property
    def text(self) -> str:
        """The current text."""
        return (self.element.tail if self.tail else self.element.text) or ""

    def write(self, text: str) -> None:
        """Set the text."""
        if self.tail:
            self.element.tail = text
            return
        self.element.text = text
        if text != text.strip() and local(self.element) in {"t", "delText"}:
            self.element.set(_SPACE, "preserve")


def groups(root: Element) -> Iterator[list[Slot]]:
    """Slots that a reader sees as one text, in the order of the document."""
    if (only := _only_text(root)) is not None:
        if only.text:
            yield [Slot(only)]
        return
    slots_by_block: dict[tuple[Element, str], list[Slot]] = {}
    around = _above(root)
    for element in root.iter():
        parent, name = element.getparent(), local(element)
        surroundings = around[element] = _around(element, name, around[parent])
        block = element if surroundings.block is None else surroundings.block
        key = (block, surroundings.apart)
        if (element.text and element.text.strip()) or (element.text and block is not element):
            slots_by_block.setdefault(key, []).append(Slot(element, change=surroundings.change))
        if name in _BREAKS and parent is not None and local(parent) in {"r", "p"}:
            slots_by_block.setdefault(key, []).append(Slot(element, fixed=_BREAKS[name]))
        if element.tail and element.tail.strip():
            slots_by_block.setdefault((element, "tail"), []).append(Slot(element, tail=True))
    yield from (slots for (_, apart), slots in slots_by_block.items() if apart != READING)


def _only_text(root: Element) -> Element | None:
    """The `t` of a string of a sheet that has nothing else, as nearly all have."""
    if len(root) != 1 or local(root) not in _STRINGS:
        return None
    only = root[0]
    if local(only) != "t" or len(only):
        return None
    beside = (root.text, root.tail, only.tail)
    return None if any(text and text.strip() for text in beside) else only


def _above(root: Element) -> dict[Element | None, _Around]:
    """The surroundings of the root itself, which may be an element within a part."""
    surroundings = _Around()
    for element in reversed([*root.iterancestors()]):
        surroundings = _around(element, local(element), surroundings)
    return {root.getparent(): surroundings}


class _Around(NamedTuple):
    """The block of an element, what separates it there, and its tracked change."""

    block: Element | None = None
    apart: str = ""
    change: str = ""


def _around(element: Element, name: str, above: _Around) -> _Around:
    if name in _BLOCKS:
        return _Around(element)
    if above.block is None:
        return above
    apart = above.apart or (name if name in _APART else "")
    change = "del" if name in _REMOVED else "ins" if name in _ADDED else above.change
    return _Around(above.block, apart, change)


def group_edits(slots: Sequence[Slot], visitor: Visitor, label: str = "") -> list[Edit]:
    """Edits of a group, with offsets in its real characters; tracked changes are read both ways."""
    if len(slots) == 1 and not slots[0].fixed and not slots[0].change:
        text = slots[0].text
        whole = plain_edits(text, visitor.visit(), label) if text.strip() else []
        return [edit for edit in whole if edit.start < edit.end]
    edits: list[Edit] = []
    is_tracked = any(slot.change for slot in slots)
    for hidden in ("del", "ins") if is_tracked else ("",):
        view, starts, ends = _view(slots, hidden)
        if view.strip():
            found_edits = plain_edits(view, visitor.visit(), label)
            edits = joined(edits, carried(found_edits, starts, ends, lambda new: new))
    return [edit for edit in edits if edit.start < edit.end]


def _view(slots: Sequence[Slot], hidden: str) -> tuple[str, list[int], list[int]]:
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    offset = 0
    for slot in slots:
        if slot.fixed:
            parts.append(slot.fixed)
            starts.append(offset)
            ends.append(offset)
            continue
        size = len(slot.text)
        if not hidden or slot.change != hidden:
            parts.append(slot.text)
            starts += range(offset, offset + size)
            ends += range(offset + 1, offset + size + 1)
        offset += size
    return "".join(parts), starts, ends


def write_edits(slots: Iterable[Slot], edits: Sequence[Edit]) -> None:
    """Write edits to the slots they span: the first gets the replacement, the others lose text."""
    offset = 0
    for slot in slots:
        if slot.fixed:
            continue
        text = slot.text
        parts, done = [], 0
        for edit in edits:
            start, end = max(edit.start - offset, 0), min(edit.end - offset, len(text))
            if start >= end:
                continue
            parts += [text[done:start], edit.new if edit.start >= offset else ""]
            done = end
        if parts:
            slot.write("".join(parts) + text[done:])
        offset += len(text)


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
     "string", "displayText", "subject", "caption", "comment", "description"}
)  # fmt: skip
_PROSE_OF = frozenset(
    {("docPr", "name"), ("cNvPr", "name"), ("tableColumn", "name"), ("section", "name"),
     ("custShow", "name"), ("property", "name"), ("cacheField", "name"), ("dataField", "name"),
     ("alias", "val"), ("tag", "val"), ("docVar", "val"), ("sheetName", "val"), ("s", "v"),
     ("listItem", "value"), ("cSld", "name"), ("docVar", "name"), ("connectString", "val"),
     ("query", "val")}
)  # fmt: skip
# Values that programs write as several words: fonts, shape styles, number formats, point paths.
_WRITTEN = frozenset(
    {"typeface", "style", "formatCode", "path", "d", "points", "coordsize", "adj", "Requires",
     "Ignorable", "type", "progId", "ProgID", "ref", "sqref", "instr"}
)  # fmt: skip
_SENTENCE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")
_DEFAULT_NAME = re.compile(r"(?:[A-Za-z]+ ){1,4}\d+")
_FORMAL = frozenset({"Override", "Default", "sheet"})  # content types; sheets are renamed elsewhere
_MEASURED = frozenset(("pos", "x", "y", "cx", "cy", "w", "h", "ang", "dist", "rad", "amt"))
_FORMAL_PART = re.compile(
    r"theme|[sS]tyles|fontTable|[sS]ettings|numbering|presProps|viewProps|slideLayout|Master"
)
_SHORTEST = 4
_CELLS = frozenset({"c", "row"})  # of a sheet, which has more of them than of all else
# Their places and types, and what is too short to be a name.
_OF_CELL = re.compile(r"[A-Z]{1,3}[0-9]{1,7}|[0-9]{1,5}:[0-9]{1,5}|inlineStr|[A-Za-z0-9]{1,3}")


def owned_edits(visitor: Visitor, kind: EntityType, text: str) -> list[Edit]:
    """Edits of a text that only names a person or a company."""
    if text.strip().lower() in _APPLICATIONS or not text.strip():
        return []
    return list(visitor.look(Piece(text, kind=kind)))


def mask_attributes(visitor: Visitor, part: str, element: Element) -> None:
    """Mask the attributes of one element."""
    of = local(element)
    is_cell = of in _CELLS and part.startswith("xl/worksheets/")
    if of in _FORMAL or (is_cell and all(map(_OF_CELL.fullmatch, element.values()))):
        return
    external = element.get("TargetMode") == "External"
    for key, value in element.attrib.items():
        if of == "Relationship" and not (external and str(key) == "Target"):
            continue
        name = str(key).rpartition("}")[2]
        if _is_chosen_name(element, of, name):
            edits = list(visitor.look(Piece(str(value).translate(_AS_SPACES))))
        else:
            edits = _edits(visitor, (part, of, name), str(value), external and name == "Target")
        if edits:
            visitor.record(f"{part}@{name}", edits)
            element.set(str(key), applied(str(value), edits)[0])


def _is_chosen_name(element: Element, of: str, name: str) -> bool:
    """Is it the name of a style that somebody made, or of the code of a sheet?"""
    if name == "codeName":
        return True
    if (of, name) == ("cellStyle", "name"):
        return element.get("builtinId") is None
    parent = element.getparent()
    is_style = (of, name) == ("name", "val") and parent is not None and local(parent) == "style"
    return is_style and any(str(key).endswith("customStyle") for key in parent.attrib)


def _edits(
    visitor: Visitor, attribute: tuple[str, str, str], value: str, external: bool
) -> list[Edit]:
    part, of, name = attribute
    kind = _OWNED_ATTRIBUTES.get((of, name)) or _OWNED_ATTRIBUTES.get(("", name))
    if kind is not None:
        return owned_edits(visitor, kind, value)
    too_short = len(value) < _SHORTEST and value.isascii()
    if too_short or not any(map(str.isalnum, value)):
        return []
    if name == "formatCode":
        return literal_edits(visitor, value)
    if name == "instr":
        proven = plain_edits(value, visitor.visit(), accepts=FindingFilter.PROVEN)
        return joined(literal_edits(visitor, value), proven)
    formal = name == "typeface" or _FORMAL_PART.search(part) is not None
    if (formal or name in _MEASURED) and value.removeprefix("-").isdigit():
        return []  # an amount that is masked elsewhere is no place, size or share here
    if (of, name) == ("cSld", "name") and formal:
        return visitor.word(value, FindingFilter.WHOLE)
    if not external and not _is_prose(of, name, value, formal):
        return visitor.word(value, FindingFilter.PROVEN if formal else FindingFilter.WHOLE)
    if _DEFAULT_NAME.fullmatch(value) is not None:
        return visitor.word(value, FindingFilter.PROVEN)
    show_caption(visitor.look, value)
    return plain_edits(value, visitor.visit())


def _is_prose(of: str, name: str, value: str, formal: bool) -> bool:
    if name in _PROSE or (of, name) in _PROSE_OF:
        return True
    return not formal and name not in _WRITTEN and _SENTENCE.search(value) is not None


_Named = Mapping[str, tuple[str, EntityType]]

_IDENTIFIER = "identifier"
_NAMED_ELEMENTS = frozenset({"definedName", "bookmarkStart", "table"})
_AS_SPACES = {ord("_"): " ", ord("."): " "}
_NOT_ALLOWED = re.compile(r"\W+")


def read_identifiers(
    roots: Iterable[Element], visitor: Visitor
) -> dict[str, tuple[str, EntityType]]:
    """New names of defined names, bookmarks and tables with private values, by their old names.

    Names that begin with an underscore are the program's own.
    """
    names = sorted({name for root in roots for name in _names(root)})
    taken = {name.casefold() for name in names}
    renamed: dict[str, tuple[str, EntityType]] = {}
    for old in names:
        edits = visitor.look(Piece(old.translate(_AS_SPACES)))
        if not edits:
            continue
        stem = _NOT_ALLOWED.sub("_", applied(old, edits)[0])
        new, number = stem, 2
        while new.casefold() in taken:
            new, number = f"{stem}_{number}", number + 1
        taken.add(new.casefold())
        renamed[old] = (new, edits[0].type)
    return renamed


def _names(root: Element) -> Iterable[str]:
    for element in root.iter("*"):
        if local(element) in _NAMED_ELEMENTS:
            named = (str(v) for k, v in element.attrib.items() if k.lower().endswith("name"))
            yield from (name for name in named if name and not name.startswith("_"))


def identifier_edits(text: str, renamed: _Named) -> list[Edit]:
    """Edits of the old names in a formula, a field code or a reference."""
    if not renamed:
        return []
    names = "|".join(
        re.escape(name) for name in sorted(renamed, key=lambda name: (-len(name), name))
    )
    return [
        Edit(m.start(), m.end(), renamed[m[0]][0], renamed[m[0]][1], _IDENTIFIER, 1.0)
        for m in re.finditer(rf"(?<![\w.])(?:{names})(?![\w.])", text)
    ]


def mask_references(visitor: Visitor, part: str, element: Element, renamed: _Named) -> None:
    """Update attributes that are, or refer to, a renamed name."""
    for key, value in element.attrib.items() if renamed else ():
        edits = identifier_edits(str(value), renamed)
        if edits:
            element.set(str(key), visitor.masked(part, str(value), edits))
