"""From an output directory to the columns of its audit page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from construction.sessions.config import SessionsConfig
from data.audit_page import Books, Shown, build_columns, item_ids, read_books
from data.canonical import keyed_digest
from data.contracts import gates_in
from flows.audit_server.app import Audit
from flows.gates import GATE_ORDER


def load_columns(out: Path, *, leaves: bool) -> dict[str, Any]:
    """The columns of the newest run under `out`. Raises InputError.

    What `leaves` the house names items as the public report does, by keyed ids; without the key
    (after `benchmint seal`) by their place.
    """
    return _columns(out, _ledger(out), leaves=leaves)


def load_audit(out: Path, token: str) -> Audit:
    """The newest run under `out` as it is served. Raises InputError."""
    ledger = _ledger(out)
    return Audit(out, _columns(out, ledger, leaves=False), item_ids(ledger), token)


def _ledger(out: Path) -> Books:
    return read_books(out / "staging.duckdb").of_lane(GATE_ORDER)


def _columns(out: Path, ledger: Books, *, leaves: bool) -> dict[str, Any]:
    config = _config(out, ledger.about["published"])
    shown = Shown(_opaque(out) if leaves else None)
    gates = {gate.name: (gate, getattr(config, gate.name)) for gate in gates_in(SessionsConfig)}
    return build_columns(ledger, gates, shown)


def _opaque(out: Path) -> Callable[[str], str]:
    path = out / "private" / "release.key"
    if path.is_file():
        from data.randomness import release_key

        key = release_key(path)
        return lambda item: f"x-{keyed_digest(key, item)[:16]}"
    places: dict[str, int] = {}
    return lambda item: f"item-{places.setdefault(item, len(places) + 1)}"


def _config(out: Path, published: str) -> SessionsConfig:
    """The limits of the run as its manifest has them; else the defaults.

    Where these are not the run's, its verdicts contradict them, and the page offers no what-if.
    """
    manifest = out / "snapshots" / published / "public" / "manifest.json"
    if not published or not manifest.is_file():
        return SessionsConfig()
    try:
        return SessionsConfig.model_validate(
            orjson.loads(manifest.read_bytes())["recipe"]["sessions"]
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValidationError):
        return SessionsConfig()
