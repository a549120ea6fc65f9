"""The reference in `docs/configuration.md`, made from the configuration's models.

python -m flows.docs_reference

What stands above the reference is written by hand and stays.
"""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
from collections.abc import Iterator, Mapping, Sequence
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
from flows.recipe import Settings
from flows.run import ROOT

PAGE = ROOT / "docs" / "configuration.md"
_HEAD = "\n## Reference\n"
_TOLD = """
Made from the models by `flows/docs_reference.py` (`make docs`); do not edit below this line. All
sections in the order of the recipe, `[runtime]` last. A default of *none* means: not given. In the
names of variables the key stands in capitals."""
_BY_MACHINE = {"runtime.workers": "processors, at most 4"}
_WORDS = {
    "string": "text", "integer": "integer", "number": "number", "boolean": "true or false",
    "null": "none", "array": "list", "object": "table",
}  # fmt: skip
_BOUNDS = {
    "minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}", "exclusiveMaximum": "< {}",
    "maxLength": "at most {} characters", "minItems": "{} or more", "pattern": "like `{}`",
}  # fmt: skip


def configuration_page(current: str) -> str:
    """The page with its reference made anew. Raises ValueError where the heading is missing."""
    head, mark, _ = current.partition(_HEAD)
    if not mark:
        raise ValueError(f"no heading {_HEAD.strip()!r} to put the reference under")
    return head + mark + "\n".join([_TOLD, *_section("", Settings, Settings())]) + "\n"


def _section(path: str, model: type[BaseModel], value: BaseModel | None) -> Iterator[str]:
    """A model's keys as a table, then those of the models inside it.

    `value` is what the section is by default; None where there is none until a user names one.
    """
    schema = model.model_json_schema()
    rows: list[tuple[str, str, str, str]] = []
    inner: list[tuple[str, type[BaseModel], BaseModel | None]] = []
    for name, field in model.model_fields.items():
        default = getattr(value, name) if value is not None else _default(field)
        place = f"{path}.{name}" if path else name
        found = list(_models(field.annotation))
        if isinstance(default, BaseModel):
            inner.append((place, type(default), default))
            continue
        inner += [(place + step, one, None) for step, one in found if one is not model]
        kind = _kind(schema["properties"][name], schema.get("$defs", {}))
        told = _BY_MACHINE.get(place) or _written(default)
        rows.append((f"`{name}`", kind, told, _meaning(model, name, field)))
    if path:
        yield from _heading(path, model)
    if rows:
        yield from _table(rows)
    for place, one, given in inner:
        yield from _section(place, one, given)


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
    """The field's description, else the comment behind it; the section's text tells the rest."""
    if field.description:
        return _escaped(field.description)
    owners = [one for one in model.__mro__ if name in vars(one).get("__annotations__", {})]
    return _escaped(_comments(owners[0]).get(name, "")) if owners else ""


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
