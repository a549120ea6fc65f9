"""The child process that parses documents: it sends the pieces, gets the edits, writes the file.

    python -m anonymization.documents.child SECONDS BYTES

Frames in: a task (JSON), the document, the edits (JSON). Frames out: the pieces (JSON); the
outcome (JSON), the masked document. Detection and its models stay in the parent. The rewriter of a
file is chosen by its content first and its name second.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import Any

from anonymization.documents.contracts import DocumentConfig, Refusal, Refused
from anonymization.documents.data_files import (
    GZIP,
    NUMPY,
    SQLITE,
    admit_array,
    rewrite_gzip,
    rewrite_sqlite,
)
from anonymization.documents.mail import rewrite_mail, rewrite_mailbox
from anonymization.documents.ooxml import is_office, read_package, rewrite_archive, rewrite_office
from anonymization.documents.pictures import admit_picture
from anonymization.documents.visitor import Visitor
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.encodings import encoding_of, is_unsure, writable
from anonymization.text.masking.pieces import Collector, FindingFilter, Look, Piece
from anonymization.text.vault import decoded, encoded
from data.child import confine, read_frame, write_frame

_ZIP = b"PK\x03\x04"
_CFB = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_COLUMNS = (b"PAR1", b"ARROW1")
_BINARY = (_ZIP, _CFB, GZIP, SQLITE, NUMPY, *_COLUMNS)
_PICTURES = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*",
    b"\x01\0\0\0", b"\xd7\xcd\xc6\x9a",
)  # fmt: skip
# Sound and film: MP3, FLAC, Ogg, AMR, Matroska; by their inner marks WAVE, AVI and MPEG-4.
_MEDIA = (
    b"ID3",
    b"\xff\xfb",
    b"\xff\xf3",
    b"\xff\xf2",
    b"fLaC",
    b"OggS",
    b"#!AMR",
    b"\x1aE\xdf\xa3",
)
_RIFF = (b"WEBP", b"WAVE", b"AVI ")
_MAIL, _MAILBOX = (".eml",), (".mbox",)
_OFFICE = (".xlsx", ".docx", ".pptx", ".xltx", ".dotx", ".potx", ".ppsx", ".xlsm", ".docm", ".pptm")
_RICH = (".rtf", ".mht", ".mhtml", ".ps", ".eps")


def rewrite_any(visitor: Visitor, data: bytes, name: str) -> bytes:
    """The masked form of a file. Raises Refused if it cannot be masked or admitted."""
    if len(data) > visitor.config.max_file_bytes:
        raise Refused(Refusal.TOO_LARGE)
    ending = PurePath(name).suffix.lower()
    if data.startswith(_ZIP):
        parts = read_package(data, visitor.config)
        return (rewrite_office if is_office(parts) else rewrite_archive)(visitor, parts)
    if data[:1024].lstrip().startswith(b"%PDF-"):
        from anonymization.documents.pdf import rewrite_pdf  # slow to import, seldom needed

        return rewrite_pdf(visitor, data)
    if _is_media(data):
        return admit_picture(visitor, data)
    if data.startswith(SQLITE):
        return rewrite_sqlite(visitor, data)
    if data.startswith(GZIP):
        return rewrite_gzip(visitor, data, name)
    if data.startswith(NUMPY):
        return admit_array(visitor, data)
    if data.startswith(_COLUMNS):
        from anonymization.documents.columns import rewrite_columns  # slow to import

        return rewrite_columns(visitor, data)
    if data.startswith(_CFB):
        raise Refused(Refusal.ENCRYPTED if ending in _OFFICE else Refusal.UNKNOWN_TYPE)
    if ending in _MAIL or name.endswith("message/rfc822"):
        return rewrite_mail(visitor, data)
    if ending in _MAILBOX or _is_mail(data, name):
        return rewrite_mailbox(visitor, data)
    encoding = encoding_of(data)
    is_rich = ending in _RICH or data.startswith(b"{\\rtf")
    if encoding is None and not is_rich and is_unsure(data):
        raise Refused(Refusal.ENCODING_UNSURE)
    if encoding is None or is_rich:
        raise Refused(Refusal.UNKNOWN_TYPE)
    masked = visitor.text("", decoded(data, encoding), name)
    return encoded(writable(masked, encoding), encoding)


def _is_media(data: bytes) -> bool:
    """Is it a picture, sound or film?"""
    marked = (data.startswith(b"RIFF") and data[8:12] in _RIFF) or data[4:8] == b"ftyp"
    return marked or data.startswith((*_PICTURES, *_MEDIA))


# Two headers of those that a message has, in the first lines, perhaps behind that of a mailbox.
_HEADERS = re.compile(
    rb"(?:From [^\r\n]{3,300}\r?\n)?(?:[A-Za-z][A-Za-z-]{1,60}:[^\r\n]{0,998}\r?\n"
    rb"(?:[ \t][^\r\n]{1,998}\r?\n){0,60}){2,400}"
)
_OF_MAIL = re.compile(
    rb"(?i)^(?:received|return-path|delivered-to|message-id|mime-version):", re.MULTILINE
)
_FEWEST_HEADERS = 2


def _is_mail(data: bytes, name: str) -> bool:
    """Is a file without an ending a message or a mailbox, as servers store them?"""
    if PurePath(name).suffix:
        return False
    head = _HEADERS.match(data)
    return head is not None and len(_OF_MAIL.findall(head.group())) >= _FEWEST_HEADERS


def is_document(data: bytes, name: str) -> bool:
    """Is it rewritten as a package or admitted unchanged, rather than edited as text?"""
    ending = PurePath(name).suffix.lower()
    endings = (*_MAIL, *_MAILBOX, *_RICH, *_OFFICE)
    if data.startswith(_BINARY) or _is_media(data) or ending in endings or _is_mail(data, name):
        return True
    return data[:1024].lstrip().startswith(b"%PDF-") or encoding_of(data) is None


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
