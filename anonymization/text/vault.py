"""The vault of one scope, and edits applied and undone: masked bytes and their vault give the
original, byte for byte.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anonymization.text.contracts import Document, Edit, EntityType, Entry, Mode, Span, VaultRefused
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import digest
from data.randomness import keyed_hash
from data.text.dates import find_dates


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


_STAGE = "anonymization.text.vault"
_FORMAT = "benchmint-vault-1"
_REFUSED = "found a vault that does not fit its seal; expected the one written with this key"


class Vault:
    """What was masked in one scope. `entries` are unique by type and value."""

    def __init__(self, scope: str, mode: Mode) -> None:
        self.scope = scope
        self.mode = mode
        self._entries: dict[tuple[EntityType, str], Entry] = {}
        self._documents: dict[str, Document] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All values with their surrogates, sorted."""
        return tuple(sorted(self._entries.values()))

    @property
    def documents(self) -> Mapping[str, Document]:
        """The documents by the path of their masked form."""
        return self._documents

    def add(self, entry: Entry) -> None:
        """Record a value and its surrogate."""
        self._entries[entry.type, entry.value] = entry

    def add_document(self, document: Document) -> None:
        """Record how to restore a document; a later one of the same path replaces it."""
        self._documents[document.path] = document

    def drop_document(self, path: str) -> None:
        """Forget a document that is not released after all."""
        self._documents.pop(path, None)

    def save(self, path: Path, key: bytes) -> None:
        """Write the vault, sealed with HMAC-SHA-256 under a key derived from the release key.

        It is sealed, not encrypted: whoever may read the private store can read it.
        """
        body = _dumped(self._body())
        head = _dumped({"format": _FORMAT, "seal": _seal(key, body)})
        private_dir(path.parent)
        write_bytes(path, head + b"\n" + body + b"\n", mode=PRIVATE_FILE)

    def _body(self) -> dict[str, Any]:
        return {
            "scope": self.scope,
            "mode": self.mode.value,
            "entries": [_entry(entry) for entry in self.entries],
            "documents": [_document(self._documents[path]) for path in sorted(self._documents)],
        }

    @classmethod
    def load(cls, path: Path, key: bytes) -> Vault:
        """Read a vault. Raises VaultRefused if key or content are not those of its seal."""
        raw = path.read_bytes()
        head, _, body = raw.rstrip(b"\n").partition(b"\n")
        try:
            header = json.loads(head)
            genuine = header["format"] == _FORMAT and isinstance(header["seal"], str)
            genuine = genuine and hmac.compare_digest(header["seal"], _seal(key, body))
        except (ValueError, KeyError, TypeError):
            genuine = False
        if not genuine:
            raise VaultRefused(f"{path}: {_REFUSED}. Check --key, and that the file is unaltered.")
        return cls._from_body(json.loads(body))

    @classmethod
    def _from_body(cls, body: Mapping[str, Any]) -> Vault:
        vault = cls(body["scope"], Mode(body["mode"]))
        for kind, *rest in body["entries"]:
            vault.add(Entry(EntityType(kind), *rest))
        for fields in body["documents"]:
            spans = tuple(Span(*span) for span in fields.pop("spans"))
            vault.add_document(Document(**fields, spans=spans))
        return vault


def merged(vaults: Iterable[Vault]) -> Vault:
    """One vault of parts that share scope and mode."""
    parts = list(vaults)
    whole = Vault(parts[0].scope, parts[0].mode)
    for part in parts:
        for entry in part.entries:
            whole.add(entry)
        for document in part.documents.values():
            whole.add_document(document)
    return whole


def _entry(entry: Entry) -> list[str | bool]:
    row: list[str | bool] = [entry.type.value, entry.value, entry.surrogate]
    if entry.is_listed:
        return [*row, entry.is_ordinary, True]
    return [*row, True] if entry.is_ordinary else row


def _document(document: Document) -> dict[str, Any]:
    return asdict(document) | {
        "spans": [[s.start, s.surrogate, s.original] for s in document.spans]
    }


def _dumped(value: Any) -> bytes:
    """Canonical JSON in ASCII: unlike `data.canonical` it accepts lone surrogates."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def _seal(key: bytes, body: bytes) -> str:
    return hmac.digest(keyed_hash(key, _STAGE, "seal"), body, "sha256").hex()


Days = frozenset[tuple[int, int, int]]


def days_that_moved(entries: Iterable[Entry]) -> Days:
    """The days of the originals that are no moved ones as well: beside a moved day such a one tells
    by how many weeks all moved."""
    dates = [entry for entry in entries if entry.type is EntityType.DATE]
    originals = {day for entry in dates for day in _days(entry.value)}
    return frozenset(originals.difference(*(_days(entry.surrogate) for entry in dates)))


def holds_day(data: bytes, days: Days) -> bool:
    """Does a text hold one of the days, in any notation?"""
    return bool(days) and not days.isdisjoint(_days(data.decode("utf-8", "ignore")))


def _days(text: str) -> Iterator[tuple[int, int, int]]:
    for _, _, moment in find_dates(text):
        if moment.year and moment.month and moment.day:
            yield moment.year, moment.month, moment.day
