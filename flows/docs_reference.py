"""The reference in `docs/configuration.md`, made from the configuration's models.

python -m flows.docs_reference

Three parts are made: the settings that most releases need (`common_settings.toml`), the reference,
and its advanced sections. What stands under other headings is written by hand and stays.
"""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from data.atomic import write_bytes
from data.canonical import canonical_json
from data.configuration import PREFIX
from flows import ROOT
from flows.gates import GATES
from flows.recipe import Settings

PAGE = ROOT / "docs" / "configuration.md"
COMMON_FILE = Path(__file__).with_name("common_settings.toml")
_COMMON, _REFERENCE, _ADVANCED = "Settings that most releases need", "Reference", "Advanced"
_COMMON_INTRO = """
These {common} of {all} settings are enough for most releases; the others have defaults that fit.
Each example is a line of the file; `release.name` is the key `name` of the section `[release]`."""
_REFERENCE_INTRO = """
Made from the models by `flows/docs_reference.py` (`make docs`); do not edit it here. The sections
are in the order of the recipe, `[runtime]` last; limits of the rule judges and the like are under
[Advanced](#advanced). A default of *none* means: not given. In the names of variables the key is in
capitals."""
_ADVANCED_INTRO = """
Limits and weights that were set by measurement. Change one only to see what it does: `benchmint
build --dry-run` shows which stages run again."""
_BY_MACHINE = {"runtime.workers": "processors, at most 4"}
_WORDS = {
    "string": "text", "integer": "integer", "number": "number", "boolean": "true or false",
    "null": "none", "array": "list", "object": "table",
}  # fmt: skip
_BOUNDS = {
    "minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}", "exclusiveMaximum": "< {}",
    "maxLength": "at most {} characters", "minItems": "{} or more", "pattern": "like `{}`",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of the configuration: its lines on the page, and its keys with their defaults."""

    path: str
    lines: list[str]
    defaults: dict[str, str]


def configuration_page(current: str) -> str:
    """The page with its parts made anew. Raises ValueError where a heading is missing."""
    common = tomllib.loads(COMMON_FILE.read_text(encoding="utf-8"))
    sections = list(_sections("", Settings, Settings()))
    behind = tuple(common["advanced"])
    advanced = [section for section in sections if _is_inside(section.path, behind)]
    usual = [section for section in sections if section not in advanced]
    page = _with_part(current, _COMMON, _common_lines(common["setting"], sections))
    page = _with_part(page, _REFERENCE, [_REFERENCE_INTRO, *_lines_of(usual)])
    return _with_part(page, _ADVANCED, [_ADVANCED_INTRO, *_lines_of(advanced)])


def _with_part(page: str, heading: str, lines: Iterable[str]) -> str:
    """The page with the text between a heading and the next of its level replaced."""
    before, mark, after = page.partition(f"\n## {heading}\n")
    if not mark:
        raise ValueError(f"no heading '## {heading}' to put a part of the reference under")
    _, following, rest = after.partition("\n## ")
    return before + mark + "\n".join(lines) + "\n" + following + rest


def _common_lines(
    settings: Sequence[Mapping[str, str]], sections: Sequence[_Section]
) -> Iterator[str]:
    defaults = {
        f"{section.path}.{key}": default
        for section in sections
        for key, default in section.defaults.items()
    }
    yield _COMMON_INTRO.format(common=len(settings), all=len(defaults))
    yield ""
    yield "| setting | what it does | default | example |"
    yield "| --- | --- | --- | --- |"
    for row in settings:
        key, example = row["key"], _escaped(f"{row['key']} = {row['example']}")
        yield f"| `{key}` | {_escaped(row['meaning'])} | {defaults[key]} | `{example}` |"


def _lines_of(sections: Sequence[_Section]) -> Iterator[str]:
    for section in sections:
        yield from section.lines


def _is_inside(path: str, outer: Sequence[str]) -> bool:
    return any(path == section or path.startswith(f"{section}.") for section in outer)


def _sections(path: str, model: type[BaseModel], value: BaseModel | None) -> Iterator[_Section]:
    """A model's keys as a table, then those of the models inside it.

    `value` is what the section is by default; None where there is none until a user names one.
    """
    schema = model.model_json_schema()
    rows: list[tuple[str, str, str, str]] = []
    inner: list[tuple[str, type[BaseModel], BaseModel | None]] = []
    defaults: dict[str, str] = {}
    for name, field in model.model_fields.items():
        default = getattr(value, name) if value is not None else _default(field)
        field_path = f"{path}.{name}" if path else name
        if isinstance(default, BaseModel):
            inner.append((field_path, type(default), default))
            continue
        models = _models(field.annotation)
        inner += [(field_path + step, item, None) for step, item in models if item is not model]
        kind = _kind(schema["properties"][name], schema.get("$defs", {}))
        defaults[name] = _BY_MACHINE.get(field_path) or _written(default)
        rows.append((f"`{name}`", kind, defaults[name], _meaning(model, name, field)))
    heading = _heading(path, model) if path else ()
    yield _Section(path, [*heading, *(_table(rows) if rows else ())], defaults)
    for inner_path, item, given in inner:
        yield from _sections(inner_path, item, given)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table; without the last column where nothing stands in it."""
    wide = 4 if any(row[-1] for row in rows) else 3
    head = ("key", "type", "default", "meaning")
    yield ""
    for row in (head, ("---",) * 4, *rows):
        yield f"| {' | '.join(row[:wide])} |"


def _heading(path: str, model: type[BaseModel]) -> Iterator[str]:
    yield f"\n### [{path}]\n"
    yield _escaped(inspect.getdoc(model) or "", keep_lines=True)
    if "<" not in path:
        yield f"\nEnvironment: `{PREFIX}{path.upper().replace('.', '__')}__<KEY>`"


def _default(field: FieldInfo) -> Any:
    """The default of a field; undefined where it must be given."""
    return field.get_default(call_default_factory=True, validated_data={})


def _models(annotation: Any, step: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """The models in an annotation, with how a path goes on to them: `.<name>` in a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield step, annotation
        return
    origin = getattr(annotation, "__origin__", None)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        step += ".<name>"
    elif origin in (tuple, list, set, frozenset):
        step += ".<number>"
    for part in get_args(annotation):
        yield from _models(part, step)


def _kind(node: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """A JSON schema's type in words, with its bounds."""
    if "$ref" in node:
        return _kind(defs[node["$ref"].rpartition("/")[2]], defs)
    if "enum" in node or "const" in node:
        return " or ".join(f"`{one}`" for one in node.get("enum", [node.get("const")]))
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(_kind(one, defs) for one in node["anyOf"]))
    name = node.get("format") or _WORDS.get(node.get("type", ""), "any")
    item = node.get("items") or (node.get("prefixItems") or [None])[0]
    if item:
        name = f"list of {_kind(item, defs)}"
    elif isinstance(node.get("additionalProperties"), Mapping):
        name = f"table of {_kind(node['additionalProperties'], defs)}"
    bounds = [told.format(node[key]) for key, told in _BOUNDS.items() if key in node]
    return _escaped(", ".join([name, *bounds]))


def _written(value: Any) -> str:
    """A default as it would stand in TOML; sets in the order of their values."""
    if value is PydanticUndefined:
        return "**required**"
    if value is None:
        return "*none*"
    if isinstance(value, frozenset | set):
        value = sorted(value)
    plain = value.value if isinstance(value, Enum) else to_jsonable_python(value)
    return f"`{_escaped(canonical_json(plain).decode())}`"


def _meaning(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    """A gate's limit explains its field, else the description does, else the comment behind it."""
    if meaning := _limit_meanings().get((model, name)) or field.description:
        return _escaped(meaning)
    owners = [one for one in model.__mro__ if name in vars(one).get("__annotations__", {})]
    return _escaped(_comments(owners[0]).get(name, "")) if owners else ""


@cache
def _limit_meanings() -> Mapping[tuple[type[BaseModel], str], str]:
    """What the limits of the gates mean, by the model and field that hold them."""
    return {
        (gate.config, limit.name): limit.meaning
        for gate in GATES
        for limit in gate.limits
        if limit.at is None
    }


@cache
def _comments(model: type[BaseModel]) -> Mapping[str, str]:
    """The comment at the end of each field's last line, by field."""
    source = textwrap.dedent(inspect.getsource(model))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    by_line = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokens
        if token.type == tokenize.COMMENT and "noqa" not in token.string
    }
    (body,) = ast.parse(source).body
    assert isinstance(body, ast.ClassDef)
    return {
        node.target.id: by_line[node.end_lineno]
        for node in body.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.end_lineno in by_line
    }


def _escaped(text: str, *, keep_lines: bool = False) -> str:
    """Text for a Markdown cell, or with `keep_lines` for a paragraph."""
    if keep_lines:
        return text.replace("<", "&lt;")
    return " ".join(text.split()).replace("|", "\\|")


def write(page: Path = PAGE) -> None:
    """Make the reference of the committed page anew."""
    write_bytes(page, configuration_page(page.read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    write()
