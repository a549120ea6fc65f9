"""What of the docs is generated: settings, stages, gates, limits and reasons, and the page of the
staging tables and views.

python -m flows.docs

Tables in pages that are otherwise written by hand stand between two markers.
"""

from __future__ import annotations

import ast
import dataclasses
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

from construction.sessions.readers.registry import FORMATS, Format, Named
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Bound, Gate, Limit, Status
from data.reasons import own_labels, sentences
from data.schemas import ATTEMPT_TABLES, LEDGER_TABLES, RUNS
from data.stages import Lane
from data.staging.database import RUN_ID, STAGED, VIEWS, meanings, sql_types
from flows import ROOT
from flows.build_snapshot import PIPELINE
from flows.gates import GATES
from flows.recipe import Settings
from selection.evaluation.board import COLUMNS

_WORDS = {
    "string": "text", "integer": "integer", "number": "number", "boolean": "true or false",
    "null": "none", "array": "list", "object": "table",
}  # fmt: skip
_BOUNDS = {
    "minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}", "exclusiveMaximum": "< {}",
    "maxLength": "at most {} characters", "minItems": "{} or more", "pattern": "like `{}`",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the page: its heading and the paragraph under it."""

    heading: str
    intro: str


@dataclass(frozen=True, slots=True)
class Reference:
    """What the page says beside the models.

    `common` are rows (key, meaning, example) of the first part, `behind` the sections of the
    advanced part. `meanings` explain fields by model and name; `by_machine` are defaults in words,
    by path. The intro of the first part may name `{common}` and `{all}`, the numbers of settings.
    """

    first: _Part
    usual: _Part
    advanced: _Part
    common: Sequence[Mapping[str, str]]
    behind: Sequence[str]
    meanings: Mapping[tuple[type[BaseModel], str], str] = dataclasses.field(default_factory=dict)
    by_machine: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of the configuration: its lines on the page, and its keys with their defaults."""

    path: str
    lines: list[str]
    defaults: dict[str, str]


def _settings_page(current: str, settings: BaseModel, reference: Reference) -> str:
    """The page with its parts made anew. Raises ValueError where a heading is missing."""
    sections = list(_sections(reference, "", type(settings), settings, {}))
    advanced = [section for section in sections if _is_inside(section.path, reference.behind)]
    usual = [section for section in sections if section not in advanced]
    page = _with_part(current, reference.first.heading, _common_lines(reference, sections))
    for part, members in ((reference.usual, usual), (reference.advanced, advanced)):
        lines = [line for section in members for line in section.lines]
        page = _with_part(page, part.heading, [part.intro, *lines])
    return page


def _with_part(page: str, heading: str, lines: Iterable[str]) -> str:
    """The page with the text between a heading and the next of its level replaced."""
    before, mark, after = page.partition(f"\n## {heading}\n")
    if not mark:
        raise ValueError(f"no heading '## {heading}' to put a part of the reference under")
    _, following, rest = after.partition("\n## ")
    return before + mark + "\n".join(lines) + "\n" + following + rest


def _common_lines(reference: Reference, sections: Sequence[_Section]) -> Iterator[str]:
    defaults = {
        f"{section.path}.{key}": default
        for section in sections
        for key, default in section.defaults.items()
    }
    yield reference.first.intro.format(common=len(reference.common), all=len(defaults))
    yield ""
    yield "| setting | what it does | default | example |"
    yield "| --- | --- | --- | --- |"
    for row in reference.common:
        key, example = row["key"], _escaped(f"{row['key']} = {row['example']}")
        yield f"| `{key}` | {_escaped(row['meaning'])} | {defaults[key]} | `{example}` |"


def _is_inside(path: str, outer: Sequence[str]) -> bool:
    return any(path == section or path.startswith(f"{section}.") for section in outer)


def _sections(
    reference: Reference,
    path: str,
    model: type[BaseModel],
    value: BaseModel | None,
    shown: dict[type[BaseModel], str],
) -> Iterator[_Section]:
    """A model's keys as a table, then those of the models inside it.

    `value` is what the section is by default; None where there is none until a user names one.
    The keys of such a section are listed once: `shown` says where those of a model stand.
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
        defaults[name] = reference.by_machine.get(field_path) or _written(default)
        meaning = reference.meanings.get((model, name)) or _meaning(model, name, field)
        rows.append((f"`{name}`", kind, defaults[name], _escaped(meaning)))
    heading = _heading(path, model) if path else ()
    lines = [*heading, *(_table(rows) if rows else ())]
    if value is None and shown.setdefault(model, path) != path:
        lines = [f"\n### [{path}]\n", f"The same keys as in `[{shown[model]}]`."]
    yield _Section(path, lines, defaults)
    for inner_path, item, given in inner:
        yield from _sections(reference, inner_path, item, given, shown)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table; without the last column if it is empty."""
    wide = 4 if any(row[-1] for row in rows) else 3
    head = ("key", "type", "default", "meaning")
    yield ""
    for row in (head, ("---",) * 4, *rows):
        yield f"| {' | '.join(row[:wide])} |"


def _heading(path: str, model: type[BaseModel]) -> Iterator[str]:
    yield f"\n### [{path}]\n"
    yield _escaped(inspect.getdoc(model) or "", keep_lines=True)


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
        return ", ".join(f"`{one}`" for one in node.get("enum", [node.get("const")]))
    if "anyOf" in node:
        *kinds, last = dict.fromkeys(_kind(one, defs) for one in node["anyOf"])
        return f"{', '.join(kinds)} or {last}" if kinds else last
    name = node.get("format") or _WORDS.get(node.get("type", ""), "any")
    item = node.get("items") or (node.get("prefixItems") or [None])[0]
    if item:
        name = f"list of {_kind(item, defs)}"
    elif isinstance(node.get("additionalProperties"), Mapping):
        name = f"table of {_kind(node['additionalProperties'], defs)}"
    bounds = [told.format(node[key]) for key, told in _BOUNDS.items() if key in node]
    return _escaped(", ".join([name, *bounds]))


def _written(value: Any) -> str:
    """A default as it would be written in TOML; sets in the order of their values."""
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
        return field.description
    owners = [one for one in model.__mro__ if name in vars(one).get("__annotations__", {})]
    return _comments(owners[0]).get(name, "") if owners else ""


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


SETTINGS_PAGE = ROOT / "docs" / "configuration.md"
SCHEMA_PAGE = ROOT / "docs" / "schema.md"
COMMON_FILE = Path(__file__).with_name("common_settings.toml")
_FIRST = _Part(
    "Settings that most releases need",
    """
These {common} of {all} settings are enough for most releases; the others rarely need changing.
Each example is a line for the file; `release.name` is the key `name` in section `[release]`.""",
)
_USUAL = _Part(
    "Reference",
    """
Generated from the models by `flows/docs.py` (`make docs`); do not edit this part. Sections follow
the order of the recipe, with `[runtime]` last; limits and weights that rarely change are under
[Advanced](#advanced). A default of *none* means that nothing is set. The environment variable for
`seed` in `[selection]` is `BENCHMINT_SELECTION__SEED`; dots in a section name become `__`.""",
)
_ADVANCED = _Part(
    "Advanced",
    """
Limits and weights that were set by measurement. Before you change one, check what it affects:
`benchmint build --dry-run` shows which stages would run again.""",
)


_AnyGate = Gate[Any, Any]
_SIGNS = {Bound.MIN: "≥", Bound.MAX: "≤"}


def _markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; `|` in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _between_markers(page: str, name: str, table: str) -> str:
    """The page with `table` between its markers `<!-- NAME: … -->` and `<!-- end NAME -->`.

    Raises ValueError if the page has no such markers.
    """
    begin, end = f"<!-- {name}: made by `make docs` -->", f"<!-- end {name} -->"
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"expected the markers {begin} and {end}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def _stage_table(lanes: Iterable[Lane[Any]]) -> str:
    """One row per stage, in the order of the pipeline."""
    rows = []
    for lane in lanes:
        for stage in lane.stages:
            kinds = dict.fromkeys(f"{unit.name} ({unit.kind})" for unit in stage.units)
            counts = ", ".join(kinds)
            rows.append((lane.name, stage.name, stage.meaning, counts))
    head = ("lane", "stage", "question", "counts")
    return _markdown_table(head, rows)


def _gate_table(gates: Iterable[_AnyGate]) -> str:
    """All gates: what each asks, and the reasons that it gives."""
    rows = [(gate.name, gate.meaning, _family(gate)) for gate in gates]
    return _markdown_table(("gate", "question", "reasons"), rows)


def _limit_table(gates: Iterable[_AnyGate]) -> str:
    """The limits that a setting can change, in the order in which they decide."""
    head = ("gate", "what passes", "limit", "setting", "reason")
    return _markdown_table(head, (row for gate in gates for row in _limit_rows(gate)))


def _is_adjustable(limit: Limit) -> bool:
    """Whether a setting changes the limit or decides if it applies."""
    return limit.at is None or limit.policy is not None


def _meaning_table(kind: str, meanings: Mapping[str, str]) -> str:
    """Names of a kind with their meanings."""
    return _markdown_table((kind, "meaning"), meanings.items())


def _reason_table(sentences: Mapping[str, str]) -> str:
    """Every reason with its sentence."""
    rows = [(f"`{reason}`", sentence) for reason, sentence in sentences.items()]
    return _markdown_table(("reason", "meaning"), rows)


def _limit_rows(gate: _AnyGate) -> Iterator[tuple[str, ...]]:
    for limit in filter(_is_adjustable, gate.limits):
        setting = f"`{gate.section}.{limit.name}`"
        if limit.policy is not None:
            field, value = limit.policy
            written = str(value).lower() if isinstance(value, bool) else f'"{value}"'
            setting = f"only with `{gate.section}.{field} = {written}`"
        reason = f"`{limit.reason}`" if limit.reason is not None else _family(gate)
        if limit.status is Status.UNVERIFIED:
            reason += " (unverified, not rejected)"
        yield gate.name, limit.meaning, _allowed(gate, limit), setting, reason


def _allowed(gate: _AnyGate, limit: Limit) -> str:
    """The default of a limit with its direction and unit."""
    allowed = limit.allowed(gate.config())
    if isinstance(allowed, bool):
        return "yes" if allowed else "no"
    return f"{_SIGNS[limit.bound]} {allowed:,} {limit.unit.removeprefix('share ')}"


def _family(gate: _AnyGate) -> str:
    """The reasons of a gate in short: the part before the dot, or the only one."""
    reasons = [str(reason) for reason in gate.reasons]
    families = dict.fromkeys(reason.partition(".")[0] for reason in reasons)
    names = reasons if len(reasons) == 1 else [f"{family}.*" for family in families]
    return ", ".join(f"`{name}`" for name in names)


def _configuration_page(current: str) -> str:
    """The reference of settings made anew. Raises ValueError where a heading is missing."""
    common = tomllib.loads(COMMON_FILE.read_text(encoding="utf-8"))
    meanings = {
        (gate.config, limit.name): limit.meaning
        for gate in GATES
        for limit in gate.limits
        if limit.at is None
    }
    by_machine = {"runtime.workers": "processors, at most 4"}
    rows, behind = common["setting"], common["advanced"]
    reference = Reference(_FIRST, _USUAL, _ADVANCED, rows, behind, meanings, by_machine)
    return _settings_page(current, Settings(), reference)


def _format_table() -> str:
    """The formats of session logs with what must be present, and those that are not read."""
    read: dict[str, list[str]] = {}
    for entry in FORMATS:
        if isinstance(entry, Format):
            read.setdefault(entry.name, []).append(entry.signature)
    rows = [(f"`{name}`", "; ".join(signatures)) for name, signatures in read.items()]
    unread = ", ".join(f"`{entry.name}`" for entry in FORMATS if isinstance(entry, Named))
    table = _markdown_table(("format", "what must be present"), rows)
    return f"{table}\n\nRecognised, but not read (a dry run says why): {unread}."


def _agent_table() -> str:
    """The agents without a model."""
    agents = own_labels()["agent"].values()
    return _meaning_table("`--agent`", {f"`{words.code}`": words.meaning for words in agents})


def tables() -> Mapping[Path, Mapping[str, str]]:
    """The tables of each page, by the names of their marked parts."""
    return {
        ROOT / "docs" / "sessions.md": {"session formats": _format_table()},
        ROOT / "docs" / "audit.md": {
            "gates": _gate_table(GATES),
            "limits": _limit_table(GATES),
            "reasons": _reason_table(sentences(GATES)),
        },
        ROOT / "docs" / "run.md": {"agents": _agent_table()},
        ROOT / "docs" / "leaderboard.md": {"columns": _meaning_table("column", COLUMNS)},
        ROOT / "docs" / "architecture.md": {"stages": _stage_table(PIPELINE)},
    }


def _page_with_tables(path: Path) -> str:
    """The text of a page with its tables made anew."""
    page = path.read_text("utf-8")
    for name, table in tables()[path].items():
        page = _between_markers(page, name, table)
    return page


def main() -> None:
    """Write the generated pages, and the generated parts into theirs."""
    write_bytes(SCHEMA_PAGE, schema_page().encode())
    page = SETTINGS_PAGE.read_text(encoding="utf-8")
    write_bytes(SETTINGS_PAGE, _configuration_page(page).encode())
    for path in tables():
        write_bytes(path, _page_with_tables(path).encode())


_SCHEMA_HEAD = """# Staging schema

This page lists every table and view in the staging database with its columns; [staging](staging.md)
shows how to query them. It is generated by `flows/docs.py`; do not edit it.

Every table and view except `runs` has `run_id` as its first column. A name without a schema covers
all kept runs; with the prefix `newest.`, only the run staged last. No column holds raw text."""

_ATTEMPTS = """## Attempts

Views over graded attempts under a folder ([run](run.md)):
`benchmint sql --attempts FOLDER "FROM attempts"`. They are not part of the staging database and
have no `run_id`. They are private, because they hold what agents said and were shown.
"""


def schema_page() -> str:
    """The whole page as Markdown, closed by a newline."""
    return "\n".join(_schema_lines()) + "\n"


def _schema_lines() -> Iterator[str]:
    yield _SCHEMA_HEAD
    yield "\n## Views\n"
    for view in VIEWS:
        yield from _schema_section(view.name, view.row, view.columns)
    ledger_tables = [table for table in STAGED if table in LEDGER_TABLES]
    lanes = [table for table in STAGED if table not in LEDGER_TABLES]
    for title, tables in (("Runs and lanes", [RUNS, *lanes]), ("The ledger", ledger_tables)):
        yield f"## {title}\n"
        for table in tables:
            meaning_of = meanings(table)
            columns = {name: (kind, meaning_of[name]) for name, kind in sql_types(table).items()}
            yield from _schema_section(table.name, table.row, columns)
    yield _ATTEMPTS
    for table in ATTEMPT_TABLES:
        own = table.sql_types
        columns = {name: (kind, table.columns[name][1]) for name, kind in own.items()}
        yield from _schema_section(table.name, table.row, columns)


def _schema_section(name: str, row: str, columns: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"One row: {row}.\n"
    yield "| column | type | meaning |\n|---|---|---|"
    for column, (kind, meaning) in columns.items():
        if column != RUN_ID or name == RUNS.name:
            yield f"| `{column}` | {kind} | {meaning.replace('|', chr(92) + '|')} |"
    yield ""


if __name__ == "__main__":
    main()
