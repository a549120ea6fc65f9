"""The rewriter of a file, chosen by its content first and its name second."""

from __future__ import annotations

from pathlib import PurePath

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.mail import rewrite_mail
from anonymization.documents.ooxml import is_office, read_package, rewrite_archive, rewrite_office
from anonymization.documents.pictures import admit_picture
from anonymization.documents.visitor import Visitor
from anonymization.text.masking.forms import encoding_of
from anonymization.text.vault import decoded, encoded

_ZIP = b"PK\x03\x04"
_CFB = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PICTURES = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*",
    b"\x01\0\0\0", b"\xd7\xcd\xc6\x9a",
)  # fmt: skip
_MAIL = (".eml",)
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
        from anonymization.documents.pdf import admit_pdf  # slow to import, seldom needed

        return admit_pdf(visitor, data)
    if data.startswith(_PICTURES) or data[8:12] == b"WEBP":
        return admit_picture(visitor, data)
    if data.startswith(_CFB):
        raise Refused(Refusal.ENCRYPTED if ending in _OFFICE else Refusal.UNKNOWN_TYPE)
    if ending in _MAIL or name.endswith("message/rfc822"):
        return rewrite_mail(visitor, data)
    encoding = encoding_of(data)
    if encoding is None or ending in _RICH or data.startswith(b"{\\rtf"):
        raise Refused(Refusal.UNKNOWN_TYPE)
    return encoded(visitor.text("", decoded(data, encoding), name), encoding)


def is_document(data: bytes, name: str) -> bool:
    """Is it rewritten as a package or admitted unchanged, rather than edited as text?"""
    ending = PurePath(name).suffix.lower()
    heads = (_ZIP, _CFB, *_PICTURES)
    if data.startswith(heads) or data[8:12] == b"WEBP" or ending in (*_MAIL, *_RICH, *_OFFICE):
        return True
    return data[:1024].lstrip().startswith(b"%PDF-") or encoding_of(data) is None
