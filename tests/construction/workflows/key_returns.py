"""The small document of these tests, whole, and with changes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from construction.workflows.documents.contracts import Document, document_of
from construction.workflows.documents.scenario import scenario_of
from construction.workflows.screening import ScreeningConfig

TEXT = (Path(__file__).parent / "key_returns.toml").read_text("utf-8")
CONFIG, SEED = ScreeningConfig(), 5


def small(**changes: Any) -> Document:
    return document_of({**tomllib.loads(TEXT), **changes})


def with_text(old: str, new: str) -> Document:
    assert old in TEXT
    return document_of(tomllib.loads(TEXT.replace(old, new)))


def alone(document: Document) -> Document:
    """Without the second derivation."""
    return document.model_copy(update={"second": None})


DOCUMENT = small()
SCENARIO = scenario_of(DOCUMENT)
DRAFT = SCENARIO.build(1, SEED)
