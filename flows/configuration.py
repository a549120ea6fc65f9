"""Reading a configuration: defaults, a TOML file over them, the environment, the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from data.configuration import Section, merge, read_layers, read_toml, validated
from data.errors import ConfigError
from flows.recipe import Recipe, Settings


def load_settings(
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Defaults, then the file, then the environment, then `overrides` (from the command line).

    Raises ConfigError naming the file, each wrong key, what was found and what is expected.
    """
    values = read_layers(path, environment)
    merge(values, overrides or {})
    return validated(Settings, values, path)


def load_section(
    model: type[Section],
    name: str,
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Section:
    """One section of a build's configuration for a command that stands alone; the same layers.

    Keys of the section that `model` lacks and a build knows are left to the build.
    """
    values, source = read_layers(path, environment), path or "configuration"
    if strange := sorted(values.keys() - Settings.model_fields.keys()):
        raise ConfigError(
            f"{source}: found no section named {', '.join(strange)}; expected [{name}]."
        )
    section = values.get(name, {})
    if not isinstance(section, dict):
        raise ConfigError(f"{source}: {name}: found a value; expected a section.")
    merge(section, overrides or {})
    builds = type(getattr(Recipe(), name)).model_fields.keys() - model.model_fields.keys()
    return validated(model, {k: v for k, v in section.items() if k not in builds}, path)


def recipe_over(path: Path, recipe: Recipe) -> Recipe:
    """The configuration file `path` with what `recipe` was explicitly given on top."""
    values = {name: part for name, part in read_toml(path).items() if name in Recipe.model_fields}
    merge(values, recipe.model_dump(exclude_unset=True))
    return validated(Recipe, values, path)
