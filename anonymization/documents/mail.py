"""Mail: headers, bodies of all parts, attachments and their names."""

from __future__ import annotations

import email.errors
import re
from collections.abc import Sequence
from dataclasses import replace
from email import message_from_bytes, policy
from email.charset import QP, Charset
from email.generator import BytesGenerator
from email.header import Header, decode_header, make_header
from email.message import Message
from email.utils import collapse_rfc2231_value, formataddr, getaddresses
from io import BytesIO
from pathlib import PurePath

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.pictures import embedded_picture
from anonymization.documents.text_forms import show_caption
from anonymization.documents.visitor import Visitor, name_edits
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.wording import private_site
from anonymization.text.encodings import encoding_of, is_likely, writable
from anonymization.text.masking.pieces import Piece, labelled
from anonymization.text.masking.plain import plain_edits
from anonymization.text.surrogates.networks import address_of
from anonymization.text.vault import applied, decoded, encoded

_ADDRESSES = frozenset(
    {"from", "to", "cc", "bcc", "sender", "reply-to", "resent-from", "resent-to"}
)
_FORMAL = frozenset(
    {"content-type", "content-disposition", "content-transfer-encoding", "mime-version"}
)
_DATES = frozenset({"date", "resent-date", "delivery-date"})
_HOST = re.compile(r"\b(?:from|by|helo=?) ?([A-Za-z0-9][\w-]{0,62}(?:[.-][\w-]{1,62}){1,8})")
_FOLD = re.compile(r"\r?\n[ \t]+")
_MARKS = re.compile(r"[:;,<>\"()]")
_NAMES = (("content-type", "name"), ("content-disposition", "filename"))
_FORMAL_PARAMETERS = frozenset(
    {"charset", "name", "filename", "format", "delsp", "type", "method", "report-type", "protocol",
     "micalg", "size", "start"}
)  # fmt: skip
_FORMS = {"text/html": "x.html", "text/csv": "x.csv", "text/plain": "x.txt"}
_HEAD = 4_000  # bytes in which the line ends of a message show
_MAX_PARTS, _MAX_PARAMETERS = 1_000, 100


def rewrite_mail(visitor: Visitor, data: bytes) -> bytes:
    """The message masked; structure and encodings stay. Raises Refused."""
    message = message_from_bytes(data, policy=policy.compat32)
    parts = list(message.walk())
    if len(parts) > _MAX_PARTS:
        raise Refused(Refusal.TOO_LARGE)
    for number, part in enumerate(parts):
        _mask_headers(visitor, f"part {number}", part)
        if not part.is_multipart():
            _mask_body(visitor, f"part {number}", part)
        for field in ("preamble", "epilogue"):
            text = getattr(part, field, None)
            if isinstance(text, str) and text.strip():
                setattr(part, field, visitor.text(f"part {number} {field}", text))
    out = BytesIO()
    ends = "\r\n" if b"\r\n" in data[:_HEAD] else "\n"
    kept = policy.compat32.clone(linesep=ends)
    BytesGenerator(out, mangle_from_=False, maxheaderlen=0, policy=kept).flatten(message)
    return _without_new_ends(out.getvalue(), data, parts, ends.encode())


def _without_new_ends(
    masked: bytes, data: bytes, parts: Sequence[Message], line_end: bytes
) -> bytes:
    """Without the last boundary of a message that was cut before it."""
    for part in parts:
        boundary = part.get_boundary()
        if not part.is_multipart() or not boundary:
            continue
        last = b"--" + boundary.encode("ascii", "surrogateescape") + b"--"
        if last not in data:
            head, mark, tail = masked.rpartition(last)
            masked = head + tail.removeprefix(line_end) if mark else masked
    return masked


_ENVELOPE = re.compile(rb"(?m)^From [^\r\n]{3,300}\r?\n")


def rewrite_mailbox(visitor: Visitor, data: bytes) -> bytes:
    """The messages of a mailbox (RFC 4155), each masked, behind their masked lines `From …`."""
    heads = list(_ENVELOPE.finditer(data))
    if not heads or heads[0].start() > 0:
        return rewrite_mail(visitor, data)
    parts: list[bytes] = []
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(data)
        envelope = visitor.text(f"message {number}", head.group().decode("utf-8", "replace"))
        parts += [envelope.encode(), rewrite_mail(visitor, data[head.end() : end])]
    return b"".join(parts)


def _mask_headers(visitor: Visitor, where: str, part: Message) -> None:
    kept = list(part.raw_items())
    for name in {name for name, _ in kept}:
        del part[name]
    for name, value in kept:
        is_formal = name.lower() in _FORMAL
        part.set_raw(name, value if is_formal else _header(visitor, where, name, str(value)))
    for header, parameter in _NAMES:
        _mask_name(visitor, where, part, header, parameter)
    for header in ("content-type", "content-disposition"):
        _mask_parameters(visitor, where, part, header)


def _header(visitor: Visitor, where: str, name: str, raw: str) -> str:
    """The header masked: bytes beyond ASCII in their encoding, words in their charset, folded."""
    own, codec = _bare_bytes(raw)
    unfolded = _FOLD.sub(" ", own)  # a date may be folded in its middle
    plain = _FOLD.sub(" ", _decoded(own))
    edits = _header_edits(visitor, name, plain)
    if not edits:
        return raw
    if plain == unfolded:
        visitor.record(f"{where} {name}", edits)
        folded = _applied_in_folds(own, edits)
        return folded if codec is None else _written_bytes(folded, codec)
    masked = visitor.masked(f"{where} {name}", plain, edits)
    if masked.isascii():
        return masked
    if name.lower() not in _ADDRESSES:
        return _encoded(masked, _charset_of(own))
    pairs = getaddresses([masked.replace("\n", " ")])
    return ", ".join(formataddr(pair, _charset_of(own)) for pair in pairs)


def _bare_bytes(raw: str) -> tuple[str, str | None]:
    """A header with bytes beyond ASCII in the letters that they stand for, and their encoding.

    Raises Refused where that is not sure.
    """
    if raw.isascii():
        return raw, None
    data = raw.encode("ascii", "surrogateescape")
    codec = encoding_of(data)
    if codec is None:
        raise Refused(Refusal.ENCODING_UNSURE)
    return decoded(data, codec), codec


def _written_bytes(text: str, codec: str) -> str:
    return encoded(writable(text, codec), codec).decode("ascii", "surrogateescape")


def _applied_in_folds(text: str, edits: Sequence[Edit]) -> str:
    """The folded text with the edits of its unfolded form, in which each fold is one blank."""
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for fold in [*_FOLD.finditer(text), None]:
        stop = fold.start() if fold else len(text)
        starts += range(done, stop)
        ends += range(done + 1, stop + 1)
        if fold:
            starts.append(fold.start())
            ends.append(fold.end())
            done = fold.end()
    moved = [replace(edit, start=starts[edit.start], end=ends[edit.end - 1]) for edit in edits]
    return applied(text, moved)[0]


def _header_edits(visitor: Visitor, name: str, plain: str) -> Sequence[Edit]:
    if name.lower() in _DATES:
        return visitor.look(Piece(plain, kind=EntityType.DATE))
    if name.lower() == "received":
        for match in _HOST.finditer(plain):
            if private_site(match[1]) and address_of(match[1]) is None:
                visitor.look(Piece(match[1], kind=EntityType.ACCOUNT))
    if name.lower() in _ADDRESSES:
        for display, _ in getaddresses([plain]):
            visitor.look(labelled("sender", display))
    for caption in _MARKS.split(plain):
        show_caption(visitor.look, caption.strip())
    return plain_edits(plain, visitor.visit(), name)


def _decoded(raw: str) -> str:
    try:
        return str(make_header(decode_header(raw)))
    except (email.errors.HeaderParseError, LookupError, UnicodeError, ValueError):
        return raw


def _charset_of(raw: str) -> str:
    """The charset of the words that a header encodes."""
    try:
        names = [charset for _, charset in decode_header(raw) if charset]
    except email.errors.HeaderParseError:
        names = []
    return names[0] if names else "utf-8"


def _encoded(text: str, charset: str) -> str:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    try:
        return Header(clean, charset, maxlinelen=998).encode()
    except UnicodeEncodeError:
        return Header(clean, "utf-8", maxlinelen=998).encode()


def _mask_name(visitor: Visitor, where: str, part: Message, header: str, parameter: str) -> None:
    if header not in part:
        return
    value = part.get_param(parameter, header=header)
    if value is None:
        return
    name = _decoded(collapse_rfc2231_value(value))
    edits = name_edits(name, visitor.look)
    if edits:
        masked = visitor.masked(f"{where} {parameter}", name, edits)
        parameter_value = masked if masked.isascii() else ("utf-8", "", masked)
        part.set_param(parameter, parameter_value, header=header)  # type: ignore[arg-type]


def _mask_parameters(visitor: Visitor, where: str, part: Message, header: str) -> None:
    """Mask parameters that a program or a person made up; a boundary is a name of its own."""
    parameters = (part.get_params(header=header) or [])[1:]
    if len(parameters) > _MAX_PARAMETERS:  # each change reads all of them anew
        raise Refused(Refusal.TOO_LARGE)
    for parameter, value in parameters:
        if parameter.lower() in _FORMAL_PARAMETERS or not isinstance(value, str):
            continue
        is_boundary = parameter.lower() == "boundary"
        edits = name_edits(value, visitor.look) if is_boundary else visitor.look(Piece(value))
        if not edits:
            continue
        masked = visitor.masked(f"{where} {parameter}", value, edits)
        if is_boundary:
            masked = f"=_{where.replace(' ', '_')}"
        part.set_param(parameter, masked, header=header)


def _mask_body(visitor: Visitor, where: str, part: Message) -> None:
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes) or not raw:
        return
    if part.get_content_maintype() != "text":
        shown = f"{where} {part.get_content_type()}"
        if part.get_content_maintype() == "image":
            masked = embedded_picture(visitor, shown, raw)
        else:
            masked = visitor.inner(shown, raw, _form(part))
        if masked != raw:
            _put(part, masked, "base64")
        return
    charset = _charset(part, raw)
    text = decoded(raw, charset)
    masked_text = visitor.text(where, text, _form(part))
    if masked_text == text:
        return
    try:
        masked = encoded(masked_text, charset)
    except UnicodeEncodeError:
        charset, masked = "utf-8", encoded(masked_text, "utf-8")
        part.set_param("charset", charset)
    was = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    if was in ("", "7bit") and masked.isascii():
        part.set_payload(masked.decode("ascii"))
        return
    if was in ("8bit", "binary", "", "7bit") and charset == "utf-8":
        part.set_payload(masked.decode("ascii", "surrogateescape"))
        return
    is_legacy = was != "base64" and (charset != "utf-8" or text.isascii())
    is_quoted = was == "quoted-printable" or is_legacy
    _put(part, masked, "quoted-printable" if is_quoted else "base64")


def _form(part: Message) -> str:
    """A file name that implies the form of a part, from its own name or its type."""
    ending = PurePath(_decoded(part.get_filename() or "")).suffix
    return f"x{ending}" if ending else _FORMS.get(part.get_content_type(), "")


def _charset(part: Message, raw: bytes) -> str:
    """The declared encoding where the letters do not belie it, else the recognised one.

    Raises Refused if the two differ and neither is sure.
    """
    declared = part.get_content_charset() or ""
    recognised = encoding_of(raw)
    try:
        text = raw.decode(declared)
    except (LookupError, UnicodeDecodeError):
        if recognised is None:
            raise Refused(Refusal.ENCODING_UNSURE) from None
        return recognised
    if recognised == "utf-8" and not raw.isascii():
        return recognised
    if recognised and raw.decode(recognised) == text:
        return declared
    if declared.startswith(("utf-", "iso-2022", "hz")) or is_likely(raw, declared):
        return declared
    raise Refused(Refusal.ENCODING_UNSURE)


def _put(part: Message, content: bytes, encoding: str) -> None:
    """Replace a body, and set its transfer encoding in the header."""
    if "Content-Transfer-Encoding" in part:
        part.replace_header("Content-Transfer-Encoding", encoding)
    else:
        part["Content-Transfer-Encoding"] = encoding
    if encoding == "base64":
        charset = Charset("utf-8")
        part.set_payload(charset.body_encode(content))
        return
    quoted = Charset("latin-1")
    quoted.body_encoding = QP
    part.set_payload(quoted.body_encode(content.decode("latin-1")))
