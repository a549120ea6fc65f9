"""Edits applied and undone: masked bytes and their vault give the original, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymization.text.contracts import Document, Edit, Span, VaultRefused
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import digest


def applied(text: str, edits: Sequence[Edit]) -> tuple[str, tuple[Span, ...]]:
    """The masked text and its spans. `edits` are sorted and do not overlap."""
    masked: list[str] = []
    spans: list[Span] = []
    done = length = 0
    for edit in edits:
        masked += [text[done : edit.start], edit.new]
        length += edit.start - done
        spans.append(Span(length, edit.new, text[edit.start : edit.end]))
        length += len(edit.new)
        done = edit.end
    return "".join(masked) + text[done:], tuple(spans)


def undone(masked: str, spans: Sequence[Span]) -> str:
    """The text before masking. Raises VaultRefused if a surrogate is not in its place."""
    parts: list[str] = []
    done = 0
    for span in spans:
        end = span.start + len(span.surrogate)
        if span.start < done or masked[span.start : end] != span.surrogate:
            raise VaultRefused("the masked text is not the one this vault was written for")
        parts += [masked[done : span.start], span.original]
        done = end
    return "".join(parts) + masked[done:]


def restore(masked: bytes, document: Document, originals: Path) -> bytes:
    """The original bytes of a document.

    `originals` is the folder with the files kept whole. Raises VaultRefused if the masked bytes
    were changed since, or the original is missing or altered.
    """
    if digest(masked) != document.masked_sha256:
        raise VaultRefused(
            f"{document.path}: found content that differs from what was masked; expected the"
            " masked file as it was written. Restore from an unaltered copy."
        )
    if document.encoding:
        text = decoded(masked, document.encoding)
        original = encoded(undone(text, document.spans), document.encoding)
    else:
        kept = originals / document.original_sha256
        original = kept.read_bytes() if kept.is_file() else b""
    if digest(original) != document.original_sha256:
        raise VaultRefused(f"{document.path}: the original in the vault is missing or altered.")
    return original


def keep_original(originals: Path, data: bytes) -> None:
    """Store a whole file under its digest in the private store."""
    path = private_dir(originals) / digest(data)
    if not path.exists():
        write_bytes(path, data, mode=PRIVATE_FILE)


def decoded(data: bytes, encoding: str) -> str:
    """Bytes as text; bytes that are not UTF-8 become lone surrogates, so that nothing is lost."""
    return data.decode(encoding, "surrogateescape" if encoding.startswith("utf-8") else "strict")


def encoded(text: str, encoding: str) -> bytes:
    """The reverse of `decoded`."""
    return text.encode(encoding, "surrogateescape" if encoding.startswith("utf-8") else "strict")
