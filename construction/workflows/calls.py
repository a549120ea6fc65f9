"""How a solution calls services: again where a fault passes, page by page, whole records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construction.workflows.contracts import Client, Refused, RefusedError
from construction.workflows.declaration import service as declared

LIMIT = 50  # rows of a page
TRIES = 4
PASSING = (Refused.RATE_LIMITED, Refused.UNAVAILABLE)


def attempt(client: Client, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
    """The body of the response; faults that pass are waited out. Raises RefusedError."""
    for _ in range(TRIES - 1):
        try:
            return client.call(service, operation, **arguments)
        except RefusedError as error:
            if error.refused not in PASSING:
                raise
    return client.call(service, operation, **arguments)


def rows(client: Client, service: str, plural: str, **conditions: Any) -> list[dict[str, Any]]:
    """All rows of a search, page by page, as the search shows them."""
    listed: list[dict[str, Any]] = []
    page, seen, total = 1, 0, 1
    while seen < total:
        body = attempt(client, service, f"search_{plural}", **conditions, limit=LIMIT, page=page)
        listed += map(dict, body["rows"])
        page, seen, total = page + 1, seen + LIMIT, body["total"]
    return listed


def get(client: Client, service: str, plural: str, identifier: str) -> Mapping[str, Any]:
    """One whole record. Raises RefusedError."""
    record = declared(service).collections[plural].record
    return attempt(client, service, f"get_{record}", id=identifier)
