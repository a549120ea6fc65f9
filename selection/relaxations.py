"""Changes of one setting that make a selection possible: applied, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from selection.config import Band, SelectionConfig


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
