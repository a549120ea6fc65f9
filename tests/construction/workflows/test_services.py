"""The declared services: nineteen, and nothing in a declaration names what is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from construction.workflows.declaration import (
    operations,
    service,
    service_names,
    split_tool_name,
    tools_of,
)
from construction.workflows.values import FieldType
from construction.workflows.world_file import world_faults
from tests.conftest import REPO
from tests.construction.workflows.worlds import filled_world

NINETEEN = {
    "approvals", "archive", "calendar", "chat", "config", "contacts", "crm", "documents", "finance",
    "helpdesk", "hr", "inventory", "kb", "mail", "notes", "rss", "scheduler", "todo", "web",
}  # fmt: skip
_SLOTS = {"actor", "now", "today"}


def test_there_are_nineteen() -> None:
    assert set(service_names()) == NINETEEN


@pytest.mark.parametrize("name", sorted(NINETEEN))
def test_a_collection_names_only_its_own_fields(name: str) -> None:
    declared = service(name)
    for plural, collection in declared.collections.items():
        fields = {"id", *collection.fields}
        named = {*collection.summary, *collection.query, collection.sort.removeprefix("-")}
        named |= {field for pair in collection.orders for field in pair}
        named |= set(collection.typed_by or ())
        if collection.overlap is not None:
            named |= {collection.overlap.per, collection.overlap.start, collection.overlap.end}
        assert named <= fields, plural
        assert not {"id", "query", "sort", "limit", "page"} & set(collection.fields), plural
        statuses = {*collection.locked, *collection.transitions}
        statuses |= {after for values in collection.transitions.values() for after in values}
        if statuses:
            assert statuses <= set(collection.fields["status"].values), plural
        if collection.transitions:
            assert collection.fields["status"].default is not None, plural


@pytest.mark.parametrize("name", sorted(NINETEEN))
def test_references_lead_to_collections(name: str) -> None:
    for collection in service(name).collections.values():
        for rule in collection.fields.values():
            if rule.reference is not None:
                target, _, plural = rule.reference.rpartition("/")
                assert plural in service(target or name).collections


@pytest.mark.parametrize("name", sorted(NINETEEN))
def test_a_special_operation_names_only_fields_and_arguments(name: str) -> None:
    declared = service(name)
    for title, special in declared.specials.items():
        collection = declared.collections[special.collection]
        named = {*special.takes, *special.needs, *special.sets, *special.adds}
        named |= {*special.only_if, *special.not_if, *(special.settles or ())[:2]}
        assert named <= set(collection.fields), title
        assert set(special.needs) <= set(special.takes), title
        known = _SLOTS | set(special.takes) | set(special.arguments)
        templates = [special.sets, special.adds, special.only_if, special.not_if]
        for slot in _slots([*templates, special.log_sets]):
            field = slot.removeprefix("record.")
            assert slot in known or (slot != field and field in {"id", *collection.fields}), title
        if special.log is not None:
            assert set(special.log_sets) <= set(declared.collections[special.log].fields), title
        if special.allowed_in:
            assert set(special.allowed_in) <= set(collection.fields["status"].values), title


def _slots(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from re.findall(r"\{([a-z_.]+)\}", value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _slots(item)
    elif isinstance(value, list):
        for item in value:
            yield from _slots(item)


def test_every_collection_can_be_searched_and_long_texts_are_not_in_its_rows() -> None:
    for name in NINETEEN:
        for plural, collection in service(name).collections.items():
            assert f"search_{plural}" in operations(name)
            shown = collection.summary or tuple(collection.fields)
            assert all(collection.fields[field].max_chars <= 1000 for field in shown), plural
            if collection.summary:
                assert f"get_{collection.record}" in operations(name)


def test_tools_have_plain_schemas_and_names_that_lead_back() -> None:
    tools = tools_of(sorted(NINETEEN))
    assert len({tool.name for tool in tools}) == len(tools) > 150
    for tool in tools:
        operation = tool.operation
        assert split_tool_name(tool.name) == (operation.service, operation.name)
        assert re.fullmatch(r"[a-z_]{1,64}", tool.name)
        for schema in tool.parameters["properties"].values():
            assert isinstance(schema["type"], str)
            assert schema["description"]
            assert "$ref" not in schema
            assert "anyOf" not in schema
    for other in ("get_company_fundamentals", "mail", "mail_", "mail_post", "_search_messages"):
        assert split_tool_name(other) is None


def test_a_pattern_is_explained_in_words() -> None:
    for name in NINETEEN:
        for collection in service(name).collections.values():
            for rule in collection.fields.values():
                assert rule.pattern is None or (rule.about and rule.type is FieldType.TEXT)


def test_a_world_made_from_the_declarations_has_no_faults() -> None:
    assert world_faults(filled_world(1, 5)) == []


def test_the_guide_names_every_service_collection_and_special_operation() -> None:
    guide = (REPO / "docs" / "services.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z]+) \| (.+) \|$", guide, re.MULTILINE))
    assert rows.keys() >= NINETEEN
    for name in NINETEEN:
        declared = service(name)
        for plural in declared.collections:
            assert plural.replace("_", " ") in rows[name]
        assert set(re.findall("`([a-z_]+)`", rows[name])) == set(declared.specials)
