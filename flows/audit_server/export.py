"""The audit page as files that may be handed on: no names of items, no paths, no text."""

from __future__ import annotations

from pathlib import Path

from data.atomic import write_bytes
from data.audit_page import as_csv, as_json, audit_page
from flows.audit_server.load import load_columns


def export(out: Path, target: Path) -> list[Path]:
    """Write `audit.html`, `rejections.csv` and `rejections.json` into `target`; returns them."""
    columns = load_columns(out, leaves=True)
    files = {
        "audit.html": audit_page(columns, served=False).encode(),
        "rejections.csv": as_csv(columns).encode(),
        "rejections.json": as_json(columns),
    }
    for name, content in files.items():
        write_bytes(target / name, content)
    return [target / name for name in files]
