"""The page for a person who tries a task's services: what they hold now, and what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from construction.workflows.contracts import Fields
from construction.workflows.declaration import service
from data.canonical import canonical_json
from data.neutralise import one_line
from flows.services.instance import Instance

_FOLDER = Path(__file__).parent / "templates"
_MAX_ROWS = 200  # of a collection and of the log
_MAX_CHARS = 400  # of a cell


def page_html(instance: Instance) -> str:
    """The page as HTML. All values are escaped, and long ones cut."""
    world = instance.world
    changed = {(change.service, change.record) for change in instance.changes}
    log = list(enumerate(instance.audit, start=1))
    html: str = _template().render(
        now=world.now,
        actor=world.actor,
        was_killed=instance.was_killed,
        services=[
            {
                "name": name,
                "title": service(name).title,
                "collections": [
                    _collection(name, plural, records, changed)
                    for plural, records in sorted(collections.items())
                ],
            }
            for name, collections in sorted(world.state.items())
        ],
        requests=[
            [number, f"{row.service}.{row.operation}", _cell(row.arguments), row.status]
            for number, row in reversed(log[-_MAX_ROWS:])
        ],
        n_requests=len(log),
        n_changes=len(changed),
    )
    return html


def page_style() -> bytes:
    return (_FOLDER / "page.css").read_bytes()


def _collection(
    name: str, plural: str, records: Mapping[str, Fields], changed: set[tuple[str, str]]
) -> dict[str, Any]:
    columns = ["id", *service(name).collections[plural].fields]
    used = [column for column in columns if any(column in fields for fields in records.values())]
    shown = list(records.values())[:_MAX_ROWS]
    return {
        "plural": plural,
        "columns": used,
        "n": len(records),
        "rows": [
            {
                "is_changed": (name, f"{plural}/{fields['id']}") in changed,
                "cells": [_cell(fields.get(column, "")) for column in used],
            }
            for fields in shown
        ],
    }


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value).decode()
    shown = one_line(text[:_MAX_CHARS])
    return shown if len(text) <= _MAX_CHARS else f"{shown}…"


@cache
def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("page.html.j2")
