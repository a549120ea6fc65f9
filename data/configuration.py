"""Reading a configuration: a TOML file, the environment over it, validated by one model."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from data.canonical import canonical_json
from data.contracts import StageConfig
from data.errors import ConfigError
from data.text.lexicon import load_table

_PREFIX = "BENCHMINT_"
Section = TypeVar("Section", bound=StageConfig)


def validated(model: type[Section], values: Mapping[str, Any], path: Path | None) -> Section:
    """The values as a model. Raises ConfigError naming each wrong key and what is expected."""
    try:
        section = model.model_validate(values)
        # What no JSON can hold, the manifest cannot; paths may be any bytes.
        canonical_json(section.model_dump(mode="json", exclude={"runtime"}))
        return section
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)
        lines = "; ".join(_line(model, item) for item in details)
        raise ConfigError(f"{path or 'configuration'}: {lines}") from None
    except TypeError:
        raise ConfigError(
            f"{path or 'configuration'}: found an integer longer than 64 bits, or text that is "
            "not UTF-8; expected smaller numbers and UTF-8 text."
        ) from None


def _line(model: type[BaseModel], item: ErrorDetails) -> str:
    """Where, and what is wrong there; for an unknown key the one that may be meant."""
    path: tuple[int | str, ...] = item["loc"] or ("",)
    *section, key = path
    name = ".".join(map(str, item["loc"]))
    if item["type"] != "extra_forbidden":
        return f"{name}: {_expected(item)}"
    near = get_close_matches(str(key), _keys(model, section), n=1)
    return f"{name}: unknown key" + (f"; did you mean {near[0]}?" if near else "")


def _keys(model: type[BaseModel], section: Sequence[int | str]) -> list[str]:
    """The keys of a section; none where its model is not plain to see."""
    for name in section:
        field = model.model_fields.get(str(name))
        kind = field.annotation if field else None
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            return []
        model = kind
    return list(model.model_fields)


def read_section(
    model: type[Section],
    name: str,
    whole: StageConfig,
    values: dict[str, Any],
    path: Path | None,
    overrides: Mapping[str, Any],
) -> Section:
    """The section `name` of a configuration as `model`, which has fewer keys than a build's.

    Keys of the section that `model` lacks and that of `whole` knows are left out.
    """
    source = path or "configuration"
    if strange := sorted(values.keys() - type(whole).model_fields.keys()):
        raise ConfigError(
            f"{source}: found no section named {', '.join(strange)}; expected [{name}]."
        )
    section = values.get(name, {})
    if not isinstance(section, dict):
        raise ConfigError(f"{source}: {name}: found a value; expected a section.")
    merge(section, overrides)
    known = type(getattr(whole, name)).model_fields.keys() - model.model_fields.keys()
    return validated(model, {k: v for k, v in section.items() if k not in known}, path)


def read_layers(path: Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """The file's values, if one is given, and those of the environment over them.

    Raises ConfigError if the file cannot be read or is not TOML.
    """
    values: dict[str, Any] = {}
    if path is not None:
        merge(values, read_toml(path))
    merge(values, _from_environment(environment))
    return values


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file. Raises ConfigError if it cannot be read or is not TOML."""
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: is not a regular file; expected TOML.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError:
        raise ConfigError(f"{path}: is nested too deeply; expected sections and values.") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not TOML ({error}).") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in sorted(environment):
        section, separator, rest = name.removeprefix(_PREFIX).partition("__")
        if not name.startswith(_PREFIX) or not separator:
            continue
        nested: Any = _parsed(environment[name])
        for part in reversed([section, *rest.split("__")]):
            nested = {part.lower(): nested}
        merge(values, nested)
    return values


def _parsed(text: str) -> Any:
    """A TOML value, or the text itself where it is none (so that words need no quotes)."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Put `values` into `into`: mappings into mappings, anything else replaces the old value."""
    for name, value in values.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            merge(into[name], value)
        elif isinstance(value, Mapping):
            into[name] = {}
            merge(into[name], value)
        else:
            into[name] = value


# What is wrong with a setting --------------------------------------------------------------------

_WORDS = load_table(__package__, "setting_errors.toml")
FORMS: Mapping[str, str] = _WORDS["forms"]  # patterns of settings, in words


def _expected(item: ErrorDetails) -> str:
    """`expected a whole number`, `is missing`, or the message of a check of our own."""
    kind, context = item["type"], item.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"])
        return f"expected {FORMS.get(pattern, f'text that matches {pattern}')}"
    if kind in _WORDS["expected"]:
        return f"expected {_WORDS['expected'][kind].format(**context)}"
    return item["msg"].removeprefix("Value error, ")
