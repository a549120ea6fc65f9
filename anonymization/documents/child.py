"""The child process that parses documents: it sends the pieces, gets the edits, writes the file.

    python -m anonymization.documents.child SECONDS BYTES

Frames in: a task (JSON), the document, the edits (JSON). Frames out: the pieces (JSON); the
outcome (JSON), the masked document. Detection and its models stay in the parent.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from anonymization.documents.contracts import DocumentConfig, Refusal, Refused
from anonymization.documents.dispatch import rewrite_any
from anonymization.documents.visitor import Visitor
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.pieces import Collector, FindingFilter, Look, Piece
from data.child import confine, read_frame, write_frame


def dumped(value: Any) -> bytes:
    """JSON in ASCII; lone surrogates are accepted."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def pieces_to(pieces: Iterable[Piece]) -> list[list[Any]]:
    """Pieces as lists."""
    return [[p.text, p.lead, p.kind.value if p.kind else None, p.accepts.value] for p in pieces]


def piece_from(fields: Sequence[Any]) -> Piece:
    """The piece of a list."""
    text, lead, kind, accepts = fields
    return Piece(str(text), int(lead), EntityType(kind) if kind else None, FindingFilter(accepts))


def edits_to(edits: Iterable[Edit]) -> list[list[Any]]:
    """Edits as lists."""
    return [[e.start, e.end, e.new, e.type.value, e.recognizer, e.score] for e in edits]


def edits_from(rows: Iterable[Sequence[Any]]) -> list[Edit]:
    """The edits of lists."""
    return [Edit(s, e, new, EntityType(k), by, score) for s, e, new, k, by, score in rows]


_MOST = 4 << 30


def _answer(visitor: Visitor, data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    try:
        masked = rewrite_any(visitor, data, name)
        outcome: dict[str, Any] = {"refusal": None, "part": ""}
    except Refused as refused:
        masked, outcome = b"", {"refusal": refused.reason.value, "part": refused.part}
    except (MemoryError, RecursionError):
        masked, outcome = b"", {"refusal": Refusal.INFLATES.value, "part": ""}
    except Exception:  # a library may raise anything on a hostile file
        masked, outcome = b"", {"refusal": Refusal.BROKEN.value, "part": ""}
    outcome["rows"] = [
        [r.part, r.offset, r.type.value, r.recognizer, r.score] for r in visitor.rows
    ]
    return outcome, masked


def _known_edits(pairs: Sequence[Any]) -> Look:
    known: dict[Piece, list[Edit]] = {piece_from(p): edits_from(edits) for p, edits in pairs}
    none: tuple[Edit, ...] = ()
    get: Callable[[Piece], Sequence[Edit]] = lambda piece: known.get(piece, none)  # noqa: E731
    return get


def main() -> None:
    """Serve one document."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    source = sys.stdin.buffer
    answer = confine(seconds, memory)
    task = json.loads(read_frame(source, _MOST))
    data = read_frame(source, _MOST)
    config = DocumentConfig.model_validate(task["config"])
    seen = Collector()
    _answer(Visitor(seen, config, rewrite_any), data, task["name"])
    write_frame(answer, dumped(pieces_to(seen.pieces)))
    look = _known_edits(json.loads(read_frame(source, _MOST)))
    outcome, masked = _answer(Visitor(look, config, rewrite_any), data, task["name"])
    write_frame(answer, dumped(outcome))
    write_frame(answer, masked)


if __name__ == "__main__":
    main()
