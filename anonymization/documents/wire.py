"""Pieces and edits as JSON between the process that parses and the one that finds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.pieces import Heed, Piece


def dumped(value: Any) -> bytes:
    """JSON in ASCII; it takes lone surrogates."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def pieces_to(pieces: Iterable[Piece]) -> list[list[Any]]:
    """Pieces as lists."""
    return [[p.text, p.lead, p.kind.value if p.kind else None, p.heed.value] for p in pieces]


def piece_from(told: Sequence[Any]) -> Piece:
    """The piece that a list stands for."""
    text, lead, kind, heed = told
    return Piece(str(text), int(lead), EntityType(kind) if kind else None, Heed(heed))


def edits_to(edits: Iterable[Edit]) -> list[list[Any]]:
    """Edits as lists."""
    return [[e.start, e.end, e.new, e.type.value, e.recognizer, e.score] for e in edits]


def edits_from(told: Iterable[Sequence[Any]]) -> list[Edit]:
    """The edits that lists stand for."""
    return [Edit(s, e, new, EntityType(k), by, score) for s, e, new, k, by, score in told]
