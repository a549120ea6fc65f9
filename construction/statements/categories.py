"""The category of each series, by rules on its name from an editable table."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.model import SEPARATOR
from data.contracts import Outcome, StageKind, StageTally
from data.errors import InputError
from data.ledger import close
from data.tables import LEDGER

STAGE = "categories"
_NONE = "none"
_KEYS = frozenset({"category", "first", "label", "unit"})


class Category(StrEnum):
    """The six categories (FinRetrieval, categories of metrics), and figures per share and ratios
    that a filing gives apart from its statements, which are no operating figures."""

    INCOME_STATEMENT = "income_statement"
    BALANCE_SHEET = "balance_sheet"
    CASH_FLOW = "cash_flow"
    OPERATIONAL_KPIS = "operational_kpis"
    GUIDANCE = "guidance"
    SEGMENTS_GEOGRAPHY = "segments_geography"
    PER_SHARE_RATIOS = "per_share_ratios"


class CategoryReason(StrEnum):
    NONE = "category.none"


@dataclass(frozen=True, slots=True)
class Rule:
    """`category` for names with one of these first components and, if given, one of these words in
    the label and one of these endings of the unit.

    A rule with category None excludes series on purpose.
    """

    category: Category | None
    first: tuple[str, ...]
    label: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assigned:
    """`series` in their order, `category` null if no rule matches; `ledger` (schema LEDGER) has a
    row per series without one."""

    series: pl.DataFrame
    ledger: pl.DataFrame
    tallies: tuple[StageTally, ...]


def assign(series: pl.DataFrame, rules: tuple[Rule, ...] | None = None) -> Assigned:
    """Fill the category of each series by its name; without one, the ledger has `category.none`.

    A series without a category stays in the frame; the filters reject its points.
    """
    parts = pl.col("name").str.to_lowercase().str.split(SEPARATOR)
    tests = [_fits(rule, parts) for rule in (_default_rules() if rules is None else rules)]
    named = pl.coalesce(
        *(pl.when(test).then(pl.lit(value)) for test, value in tests), pl.lit(_NONE)
    )
    assigned = series.with_columns(category=named).with_columns(
        category=pl.when(pl.col("category") != _NONE).then("category")
    )
    unassigned = assigned.filter(pl.col("category").is_null())
    counts = {
        Outcome.KEPT: assigned.height - unassigned.height,
        Outcome.REJECTED: unassigned.height,
    }
    tally = close(STAGE, StageKind.FILTER, "series", assigned.height, counts)
    return Assigned(assigned, _ledger(unassigned), (tally,))


def _ledger(unassigned: pl.DataFrame) -> pl.DataFrame:
    values = {
        "stage": pl.lit(STAGE),
        "unit": pl.lit("series"),
        "item_id": pl.col("series_id"),
        "outcome": pl.lit(str(Outcome.REJECTED)),
        "reason": pl.lit(str(CategoryReason.NONE)),
        "evidence": pl.struct(
            first=pl.col("name").str.split(SEPARATOR).list.first()
        ).struct.json_encode(),
        "n": pl.lit(1),
    }
    columns = (
        values.get(name, pl.lit(None)).cast(kind).alias(name) for name, kind in LEDGER.items()
    )
    return unassigned.sort("series_id").select(columns)


def _fits(rule: Rule, parts: pl.Expr) -> tuple[pl.Expr, str]:
    """Whether a rule matches a name, given as its components in lower case, and its category."""
    test = parts.list.first().is_in([word.lower() for word in rule.first])
    if rule.label:
        words = [word.lower() for word in rule.label]
        test &= parts.list.last().str.contains_any(words)
    if rule.unit:
        test &= pl.any_horizontal(pl.col("unit").str.ends_with(unit) for unit in rule.unit)
    return test, str(rule.category) if rule.category else _NONE


def parse_rules(text: str, path: str) -> tuple[Rule, ...]:
    """Rules from TOML, in their order. Errors: `InputError` if the text is not a table of rules."""
    try:
        entries = tomllib.loads(text).get("rule", [])
        return tuple(_rule(entry) for entry in entries)
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
        raise InputError(
            path,
            f"a {type(error).__name__}",
            f"[[rule]] entries with the keys {', '.join(sorted(_KEYS))}",
            f"Correct the category table: {error}",
        ) from None


def _rule(entry: Any) -> Rule:
    if not isinstance(entry, dict):
        raise TypeError("a rule is a table")
    strange = entry.keys() - _KEYS
    if strange or not entry.get("first") or "category" not in entry:
        raise ValueError(f"a rule has the keys {', '.join(sorted(entry))}")
    lists = {key: entry.get(key, []) for key in ("first", "label", "unit")}
    if any(not isinstance(w, str) for words in lists.values() for w in words):
        raise TypeError("first, label and unit are lists of words")
    named = entry["category"]
    return Rule(
        None if named == _NONE else Category(named), **{k: tuple(v) for k, v in lists.items()}
    )


def load_rules(path: Path) -> tuple[Rule, ...]:
    """A user's own table of categories."""
    return parse_rules(path.read_text(encoding="utf-8"), str(path))


@lru_cache(maxsize=1)
def _default_rules() -> tuple[Rule, ...]:
    """The table that ships with the project."""
    source = files(__package__).joinpath("categories.toml")
    return parse_rules(source.read_text(encoding="utf-8"), "categories.toml")
