"""Plain text: lines in pieces of bounded size, base64 and percent escapes opened."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence

from anonymization.text.masking.escapes import percent_edits
from anonymization.text.masking.pieces import Heed, labelled, shifted
from anonymization.text.masking.visit import MAX_DEPTH, Visit
from anonymization.text.vault.contracts import Edit

_PIECE = 50_000  # characters, from which a text is cut at the next line
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/]{4}){6,}[A-Za-z0-9+/]{0,4}={0,2}(?![\w+/=-])"
)
_WRAPPED = re.compile(r"(?:[A-Za-z0-9+/]{60,80}\r?\n){2,}[A-Za-z0-9+/]{1,80}={0,2}(?![\w+/=-])")
_BREAKS = re.compile(r"\s")


def plain_edits(text: str, visit: Visit, label: str = "", heed: Heed = Heed.ALL) -> list[Edit]:
    """Edits of a text in prose, code or logs; for `label` and `heed` see `Piece`."""
    told: list[Edit] = []
    for start, part in _parts(text):
        piece = labelled(label, part, heed)
        told = joined(told, shifted(visit.look(piece), start))
    told = joined(told, percent_edits(text, visit))
    return joined(told, _base64_edits(text, visit), first=True)


def lines(text: str) -> Iterator[str]:
    """Lines with their ends; only a line feed ends one (str.splitlines knows ten more)."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def joined(edits: Sequence[Edit], more: Iterable[Edit], *, first: bool = False) -> list[Edit]:
    """Both, sorted; where they overlap `edits` stay, or `more` if `first`."""
    more = list(more)
    if not more or not edits:
        return sorted([*edits, *more])
    kept, others = (more, edits) if first else (edits, more)
    told, place = sorted(kept), 0
    free: list[Edit] = []
    for edit in sorted(others):
        while place < len(told) and told[place].end <= edit.start:
            place += 1
        if place == len(told) or edit.end <= told[place].start:
            free.append(edit)
    return sorted([*told, *free])


def _parts(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while len(text) - start > _PIECE:
        end = text.find("\n", start + _PIECE) + 1 or len(text)
        end = min(end, start + 2 * _PIECE)
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _base64_edits(text: str, visit: Visit) -> Iterator[Edit]:
    if visit.depth >= MAX_DEPTH:
        return
    place = 0
    for pattern in (_WRAPPED, _BASE64):
        for match in pattern.finditer(text):
            if match.start() < place:
                continue
            edit = _blob_edit(match, visit)
            if edit is not None:
                place = match.end() if pattern is _WRAPPED else place
                yield edit


def _blob_edit(match: re.Match[str], visit: Visit) -> Edit | None:
    run = _BREAKS.sub("", match.group())
    try:
        data = b64decode(run + "=" * (-len(run) % 4), validate=True)
    except binascii.Error:
        return None
    opened = visit.open_blob(data, visit.deeper())
    if opened is None or not opened[1]:
        return None
    surest = max(opened[1], key=lambda edit: (edit.score, edit.type.value))
    new = b64encode(opened[0]).decode("ascii")
    new = new if run.endswith("=") else new.rstrip("=")
    name = f"base64>{surest.recognizer}"
    return Edit(match.start(), match.end(), new, surest.type, name, surest.score)
