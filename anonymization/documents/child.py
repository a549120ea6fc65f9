"""The child process that parses documents: it sends the pieces, gets the edits, writes the file.

    python -m anonymization.documents.child SECONDS BYTES

Frames in: a task (JSON), the document, the edits (JSON). Frames out: the pieces (JSON); the
outcome (JSON), the masked document. Detection and its models stay in the parent. The rewriter of a
file is chosen by its content first and its name second.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from anonymization.documents.contracts import (
    CFB,
    COLUMNS,
    GZIP,
    MAIL,
    MAILBOX,
    NUMPY,
    OFFICE,
    RICH,
    SQLITE,
    ZIP,
    DocumentConfig,
    Refusal,
    Refused,
    is_mail,
    is_media,
)
from anonymization.documents.data_files import admit_array, rewrite_gzip, rewrite_sqlite
from anonymization.documents.mail import rewrite_mail, rewrite_mailbox
from anonymization.documents.ooxml import is_office, read_package, rewrite_archive, rewrite_office
from anonymization.documents.pictures import admit_picture
from anonymization.documents.visitor import Visitor, dumped, edits_from, piece_from, pieces_to
from anonymization.text.contracts import Edit
from anonymization.text.encodings import encoding_of, is_unsure, writable
from anonymization.text.masking.pieces import Collector, Look, Piece
from anonymization.text.vault import decoded, encoded
from data.child import confine, read_frame, write_frame


def _rewrite_any(visitor: Visitor, data: bytes, name: str) -> bytes:
    """The masked form of a file. Raises Refused if it cannot be masked or admitted."""
    if len(data) > visitor.config.max_file_bytes:
        raise Refused(Refusal.TOO_LARGE)
    ending = PurePath(name).suffix.lower()
    if data.startswith(ZIP):
        parts = read_package(data, visitor.config)
        return (rewrite_office if is_office(parts) else rewrite_archive)(visitor, parts)
    if data[:1024].lstrip().startswith(b"%PDF-"):
        from anonymization.documents.pdf import rewrite_pdf  # slow to import, seldom needed

        return rewrite_pdf(visitor, data)
    if is_media(data):
        return admit_picture(visitor, data)
    if data.startswith(SQLITE):
        return rewrite_sqlite(visitor, data)
    if data.startswith(GZIP):
        return rewrite_gzip(visitor, data, name)
    if data.startswith(NUMPY):
        return admit_array(visitor, data)
    if data.startswith(COLUMNS):
        from anonymization.documents.data_files import rewrite_columns  # slow to import

        return rewrite_columns(visitor, data)
    if data.startswith(CFB):
        raise Refused(Refusal.ENCRYPTED if ending in OFFICE else Refusal.UNKNOWN_TYPE)
    if ending in MAIL or name.endswith("message/rfc822"):
        return rewrite_mail(visitor, data)
    if ending in MAILBOX or is_mail(data, name):
        return rewrite_mailbox(visitor, data)
    encoding = encoding_of(data)
    is_rich = ending in RICH or data.startswith(b"{\\rtf")
    if encoding is None and not is_rich and is_unsure(data):
        raise Refused(Refusal.ENCODING_UNSURE)
    if encoding is None or is_rich:
        raise Refused(Refusal.UNKNOWN_TYPE)
    masked = visitor.text("", decoded(data, encoding), name)
    return encoded(writable(masked, encoding), encoding)


_MOST = 4 << 30


def _answer(visitor: Visitor, data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    try:
        masked = _rewrite_any(visitor, data, name)
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
    _answer(Visitor(seen, config, _rewrite_any), data, task["name"])
    write_frame(answer, dumped(pieces_to(seen.pieces)))
    look = _known_edits(json.loads(read_frame(source, _MOST)))
    outcome, masked = _answer(Visitor(look, config, _rewrite_any), data, task["name"])
    write_frame(answer, dumped(outcome))
    write_frame(answer, masked)


if __name__ == "__main__":
    main()
