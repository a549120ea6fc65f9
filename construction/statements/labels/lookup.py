"""Japanese line items in English: from the own table, or composed from its parts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from construction.statements.labels.compose import compose
from construction.statements.model import LabelMethod, Statement
from data.errors import ConfigError

LONGEST_LABEL = 120  # characters; no statement has a longer item, and rules run on what is read
_WHITE = re.compile(r"\s+")
_TABLE = "table.tsv"

Table = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Translation:
    """The English text of a label, or None; `exact` if the table holds the label as a whole."""

    text: str | None
    method: LabelMethod
    exact: bool = False


def fold(label: str) -> str:
    """The label in one way of writing: half-width brackets and digits, no spaces."""
    return _WHITE.sub("", unicodedata.normalize("NFKC", label))


def translate(label: str, statement: Statement | None = None) -> Translation:
    """The English label of a Japanese line item; `statement` settles what depends on it.

    A label without Japanese letters is returned as it is. The text is ASCII: where a part of
    the label is unknown, the label is untranslated, never half translated.
    """
    if label.isascii() and label.strip():
        return Translation(label.strip(), LabelMethod.REPORTED, exact=True)
    if len(label) > LONGEST_LABEL:
        return Translation(None, LabelMethod.UNTRANSLATED)
    return _translated(fold(label), statement)


@cache
def default_table() -> Table:
    """The table of this package."""
    return load_table(Path(__file__).with_name(_TABLE))


def load_table(path: Path) -> Table:
    """Read a table: folded label -> statement (or "" for any) -> English text.

    Lines are tab separated: label, English, and optionally the statement; `#` starts a remark.
    Raises ConfigError for a line that does not fit and for a label told twice.
    """
    table: dict[str, dict[str, str]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        key, english, statement = _row(path, number, line)
        told = table.setdefault(key, {})
        if statement in told:
            raise ConfigError(f"{path}:{number}: this label has a line already. Remove one.")
        told[statement] = english
    return table


def _row(path: Path, number: int, line: str) -> tuple[str, str, str]:
    parts = line.split("\t")
    statement = parts[2] if len(parts) == 3 else ""
    fits = len(parts) in (2, 3) and statement in ("", *Statement)
    if not fits or not parts[1].strip() or not parts[1].isascii():
        raise ConfigError(
            f"{path}:{number}: found {len(parts)} columns; expected a label, its English text in "
            "ASCII and, if the text is for one statement only, the name of that statement."
        )
    return fold(parts[0]), parts[1].strip(), statement


@cache
def _known(statement: Statement | None) -> Mapping[str, str]:
    """What each label means in a statement: its own text, that for any, or the first told."""
    name = "" if statement is None else str(statement)
    return {
        key: told.get(name) or told.get("") or next(iter(told.values()))
        for key, told in default_table().items()
    }


def _translated(key: str, statement: Statement | None) -> Translation:
    known = _known(statement)
    if key in known:
        return Translation(known[key], LabelMethod.TABLE, exact=True)
    text = compose(key, known)
    if text is None or not text.isascii():
        return Translation(None, LabelMethod.UNTRANSLATED)
    return Translation(text, LabelMethod.TABLE)
