"""Names that other places of a document refer to: renamed together, so that references hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lxml.etree import _Element as Element

from anonymization.documents.markup import local
from anonymization.documents.visitor import Visitor
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.pieces import Piece
from anonymization.text.vault import applied

Named = Mapping[str, tuple[str, EntityType]]

IDENTIFIER = "identifier"
_NAMED = frozenset({"definedName", "bookmarkStart"})
_AS_SPACES = {ord("_"): " ", ord("."): " "}
_NOT_ALLOWED = re.compile(r"\W+")


def read_identifiers(
    roots: Iterable[Element], visitor: Visitor
) -> dict[str, tuple[str, EntityType]]:
    """New names of defined names and bookmarks that hold private values, by their old ones.

    Those that begin with a low line are the program's own.
    """
    names = sorted({name for root in roots for name in _names(root)})
    taken = {name.casefold() for name in names}
    told: dict[str, tuple[str, EntityType]] = {}
    for old in names:
        edits = visitor.look(Piece(old.translate(_AS_SPACES)))
        if not edits:
            continue
        stem = _NOT_ALLOWED.sub("_", applied(old, edits)[0])
        new, number = stem, 2
        while new.casefold() in taken:
            new, number = f"{stem}_{number}", number + 1
        taken.add(new.casefold())
        told[old] = (new, edits[0].type)
    return told


def _names(root: Element) -> Iterable[str]:
    for element in root.iter("*"):
        if local(element) in _NAMED:
            name = next((str(v) for k, v in element.attrib.items() if k.endswith("name")), "")
            if name and not name.startswith("_"):
                yield name


def identifier_edits(text: str, renamed: Named) -> list[Edit]:
    """Edits of the old names in a formula, a field code or a reference."""
    if not renamed:
        return []
    names = "|".join(
        re.escape(name) for name in sorted(renamed, key=lambda name: (-len(name), name))
    )
    return [
        Edit(m.start(), m.end(), renamed[m[0]][0], renamed[m[0]][1], IDENTIFIER, 1.0)
        for m in re.finditer(rf"(?<![\w.])(?:{names})(?![\w.])", text)
    ]


def mask_references(visitor: Visitor, part: str, element: Element, renamed: Named) -> None:
    """Attributes that are, or refer to, a name that was changed."""
    for key, value in element.attrib.items() if renamed else ():
        edits = identifier_edits(str(value), renamed)
        if edits:
            element.set(str(key), visitor.masked(part, str(value), edits))
