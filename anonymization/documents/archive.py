"""Zip archives: every member is masked as the file it is, its name too, or none is released."""

from __future__ import annotations

import posixpath

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.package import write_package
from anonymization.documents.visitor import Visitor, name_edits


def rewrite_archive(visitor: Visitor, parts: dict[str, bytes]) -> bytes:
    """The masked archive, its members in order of their names. Raises Refused for any of them.

    How much it inflates to has been bounded when `parts` was read; archives in archives are
    bounded by the depth of the visitor.
    """
    told: dict[str, bytes] = {}
    for number, name in enumerate(sorted(parts)):
        if name.startswith("/") or "\\" in name or ".." in name.split("/"):
            raise Refused(Refusal.BROKEN)  # it leads out of where the archive is unpacked
        masked = visitor.inner(f"member {number}", parts[name], name)
        new = "/".join(_named(visitor, part) for part in name.split("/"))
        told[_free(new, told)] = masked
    return write_package(told)


def _named(visitor: Visitor, name: str) -> str:
    return visitor.masked("name", name, name_edits(name, visitor.look))


def _free(name: str, taken: dict[str, bytes]) -> str:
    stem, ending = posixpath.splitext(name)
    new, number = name, 2
    while new in taken:
        new, number = f"{stem}-{number}{ending}", number + 1
    return new
