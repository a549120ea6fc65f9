"""How a reference solution acts: it calls services as an agent does, and tries again on faults."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from construction.workflows.contracts import Client, Refused, RefusedError
from construction.workflows.declaration import service as declared

LIMIT = 50  # rows of a page
TRIES = 4
PASSING = (Refused.RATE_LIMITED, Refused.UNAVAILABLE)
Record = Mapping[str, Any]


def attempt(client: Client, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
    """The body of the response; faults that pass are waited out. Raises RefusedError."""
    for _ in range(TRIES - 1):
        try:
            return client.call(service, operation, **arguments)
        except RefusedError as error:
            if error.refused not in PASSING:
                raise
    return client.call(service, operation, **arguments)


def report(**parts: Any) -> str:
    """The lines that the guidelines ask for."""
    return "\n".join(f"{name}: {_written(value)}" for name, value in parts.items())


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return json.dumps(list(value), ensure_ascii=False)
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def rows(client: Client, service: str, plural: str, **conditions: Any) -> list[dict[str, Any]]:
    """All rows of a search, page by page, as the search shows them."""
    listed: list[dict[str, Any]] = []
    page, seen, total = 1, 0, 1
    while seen < total:
        body = attempt(client, service, f"search_{plural}", **conditions, limit=LIMIT, page=page)
        listed += map(dict, body["rows"])
        page, seen, total = page + 1, seen + LIMIT, body["total"]
    return listed


def every(client: Client, service: str, plural: str, **conditions: Any) -> list[Record]:
    """The whole records that a search finds."""
    collection = declared(service).collections[plural]
    listed = rows(client, service, plural, **conditions)
    if not collection.summary:
        return list(listed)
    return [get(client, service, plural, row["id"]) for row in listed]


def get(client: Client, service: str, plural: str, identifier: str) -> Record:
    """One whole record. Raises RefusedError."""
    record = declared(service).collections[plural].record
    return attempt(client, service, f"get_{record}", id=identifier)


def named(client: Client, service: str, plural: str, name: str, field: str = "name") -> Record:
    """The record with exactly this name. Raises LookupError without one."""
    for row in rows(client, service, plural, query=name):
        if row[field] == name:
            return get(client, service, plural, row["id"])
    raise LookupError(name)


def article(client: Client, title: str) -> str:
    """The text of the published article with this title; empty if there is none."""
    for row in rows(client, "kb", "articles", query=title, status="published"):
        if row["title"] == title:
            return str(get(client, "kb", "articles", row["id"])["body"])
    return ""


def figure(text: str, pattern: str, otherwise: float) -> float:
    """The number behind a pattern with one group; thousands may have commas."""
    match = re.search(pattern, text)
    return float(match[1].replace(",", "")) if match else otherwise


def ruled(text: str, words: Mapping[str, str]) -> str:
    """The first rule whose words are in a text; empty if none."""
    return next((rule for rule, phrase in words.items() if phrase in text), "")


def letter(client: Client, sender: str, subject: str) -> str:
    """The text of the mail with this subject from this person; empty if there is none."""
    for row in rows(client, "mail", "messages", query=subject):
        if row["subject"] == subject:
            message = get(client, "mail", "messages", row["id"])
            if message["sender_name"] == sender:
                return str(message["body"])
    return ""
