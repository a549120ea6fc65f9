"""Changes of one setting that make a selection possible: applied, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from selection.config import Band, SelectionConfig
from selection.programme import SCALE, Row, RowKind

_DECIMALS = 1_000_000  # of a share that is proposed


@dataclass(frozen=True, slots=True)
class Change:
    """A setting of `[selection]`, with dots between the names of tables, and its new value.

    For `must_include`, `removed` are the ids that are no longer named.
    """

    setting: str
    value: Any
    removed: tuple[str, ...] = ()


def changed(config: SelectionConfig, setting: str, value: Any) -> Change:
    """The change of a setting to a value."""
    removed: tuple[str, ...] = ()
    if setting == "must_include":
        removed = tuple(name for name in config.must_include if name not in {*value})
    return Change(setting, value, removed)


def change_of(row: Row, config: SelectionConfig, value: int, *, below: bool) -> Change:
    """The setting of a row, moved so far that `value` is within its bound."""
    if row.kind in (RowKind.LANE, RowKind.DIFFICULTY):
        name = row.name.removeprefix(f"{row.kind} ")
        setting = f"{row.kind}_shares.{name}.{'low' if below else 'high'}"
        return changed(config, setting, _share(value, config.size, below=below))
    if row.kind is RowKind.GENERATOR:
        return changed(config, "max_per_generator", value)
    if row.kind is RowKind.CHURN:
        return changed(config, "max_changed", _share(value, config.size, below=False))
    if row.kind is RowKind.BUDGET:
        return changed(config, "budget", value / SCALE)
    if row.kind is RowKind.ORDER:
        # Rounded down: the proposed margin must be reachable.
        if value <= 0 or config.order_margin is None:
            return changed(config, "order_margin", None)
        return changed(
            config, "order_margin", min(config.order_margin, value // config.size / SCALE)
        )
    if row.kind is RowKind.FORCED:
        gone = row.name.removeprefix("must_include ")
        kept = tuple(name for name in config.must_include if name != gone)
        return changed(config, "must_include", kept)
    return changed(config, "cover_families", False)


def _share(items: int, size: int, *, below: bool) -> float:
    """A share of the size that admits `items`: rounded down as a lower bound, else up."""
    units = items * _DECIMALS
    return (units // size if below else -(-units // size)) / _DECIMALS


def apply(config: SelectionConfig, change: Change) -> SelectionConfig:
    """The configuration with a change."""
    name, *path = change.setting.split(".")
    if not path:
        return config.model_copy(update={name: change.value})
    group, side = ".".join(path[:-1]), path[-1]
    bands: dict[str, Band] = dict(getattr(config, name))
    bands[group] = bands[group].model_copy(update={side: change.value})
    return config.model_copy(update={name: bands})


def shown(change: Change) -> str:
    """As a line of the configuration, or in words where there is none."""
    if change.setting == "must_include":
        return f"remove {', '.join(change.removed)} from must_include"
    if change.value is None:
        return f"no {change.setting}"
    if isinstance(change.value, bool):
        return f"{change.setting} = {str(change.value).lower()}"
    if isinstance(change.value, float):
        return f"{change.setting} = {change.value:.6f}".rstrip("0").rstrip(".")
    return f"{change.setting} = {change.value}"
