"""What the token of the audit page opens: private evidence, and sign-offs of what is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from data import hash_chain
from data.canonical import canonical_json, digest
from data.neutralise import storable, visible
from data.staging.audit import Rows, changed_parts, missing_inputs

SIGNATURES = "sign-offs.log"
_MAX_NAME, _MAX_NOTE = 100, 2000


class Refused(Exception):
    """A request that is not answered: status code of HTTP, and what the person may do."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class PrivateHalf:
    """Answers requests (JSON objects) about the run in `out` that the page shows.

    `items` are the ids as staging has them; `columns` show them without control characters.
    `evidence` gives role, file, line and words of each turn of an item of `out`.
    """

    def __init__(
        self,
        out: Path,
        items: Sequence[str],
        columns: Mapping[str, Any],
        evidence: Callable[[Path, str], Rows],
    ) -> None:
        private = out / "private"
        self._evidence = evidence
        self._out, self._items, self._about = out, items, columns["about"]
        self._content = digest(canonical_json(columns))
        self._looks, self._signatures = private / "access.log", private / SIGNATURES

    def look(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What an item lacks or masking changed, and its text; the item is given by its position.

        Logged first: no log, no text.
        """
        position = request.get("item")
        if type(position) is not int or not 0 <= position < len(self._items):
            raise Refused(404, "There is no such item in this run.")
        item = self._items[position]
        hash_chain.record_access(self._looks, "audit page", item)
        return {
            "missing": missing_inputs(self._out, item),
            "changed": changed_parts(self._out, item),
            "turns": self._evidence(self._out, item),
        }

    def sign(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Append a sign-off of exactly what the page shows: run, and digest of its columns."""
        hash_chain.append(
            self._signatures,
            {
                "action": "sign-off",
                "run_id": self._about["run_id"],
                "units": self._about["units"],
                "entries": self._about["entries"],
                "content_sha256": self._content,
                "name": _text(request, "name", _MAX_NAME),
                "note": _text(request, "note", _MAX_NOTE),
            },
        )
        return self.signed({})

    def signed(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """All sign-offs, newest first, once the chain was checked."""
        del request
        return {"signed": hash_chain.entries(self._signatures)[::-1]}


def parsed_request(content: bytes) -> dict[str, Any]:
    """The JSON object of a request. Raises Refused."""
    try:
        request = orjson.loads(content)
    except orjson.JSONDecodeError:
        request = None
    if not isinstance(request, dict):
        raise Refused(400, "Send a JSON object.")
    return request


def _text(request: Mapping[str, Any], name: str, most: int) -> str:
    value = request.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise Refused(400, f"{name}: enter text of 1 to {most} characters.")
    return visible(str(storable(value.strip())))
