"""The configuration's reference is that of the models, whole and readable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from data.contracts import StageConfig
from flows import docs_reference
from flows.docs_reference import PAGE, configuration_page, write
from flows.recipe import Settings


def keys(model: BaseModel, path: str = "") -> Iterator[tuple[str, str]]:
    """Section and key of everything that can be set and is no section itself."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from keys(value, f"{path}.{name}".strip("."))
        else:
            yield path, name


def test_the_committed_page_is_current() -> None:
    told = PAGE.read_text(encoding="utf-8")
    assert told == configuration_page(told), "run: make docs"


def test_every_key_stands_in_its_section_once() -> None:
    sections = re.split(r"^### \[(.+)\]$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    told = dict(zip(sections[1::2], sections[2::2], strict=True))
    wanted = list(keys(Settings()))
    assert len(wanted) > 150
    for section, key in wanted:
        assert len(re.findall(rf"^\| `{key}` \|", told[section], re.MULTILINE)) == 1, (section, key)


def test_what_stands_above_is_kept_and_the_heading_is_needed() -> None:
    page = configuration_page("# Mine\n\nwords\n\n## Reference\nold\n")
    assert page.startswith("# Mine\n\nwords\n\n## Reference\n\nMade from")
    assert "\nold\n" not in page
    with pytest.raises(ValueError, match="no heading '## Reference'"):
        configuration_page("# Mine\n")


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Mine\n\n## Reference\n")
    write(page)
    once = page.read_bytes()
    write(page)
    assert page.read_bytes() == once


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Leaf(StageConfig):
    """One leaf; it may say <b>."""

    size: Annotated[int, Field(gt=0, le=9)]
    green: bool = True  # as in spring


class Tree(StageConfig):
    """A tree."""

    colour: Colour | None = None
    names: frozenset[str] = frozenset({"b", "a|c"})
    ratio: float = Field(default=0.5, ge=0, description="part of | the whole")
    leaves: Mapping[str, Leaf] = Field(default_factory=dict)
    row: tuple[Leaf, ...] = ()


class Root(StageConfig):
    tree: Tree = Tree(ratio=0.25)


def test_types_defaults_and_meanings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_reference, "Settings", Root)
    told = configuration_page("\n## Reference\n").partition("### [tree]\n")[2]
    tree, leaf, _ = re.split(r"### \[.+\]\n", told)
    assert tree.strip().splitlines() == [
        "A tree.",
        "",
        "Environment: `BENCHMINT_TREE__<KEY>`",
        "",
        "| key | type | default | meaning |",
        "| --- | --- | --- | --- |",
        "| `colour` | `red` or `blue` or none | *none* |  |",
        r'| `names` | list of text | `["a\|c","b"]` |  |',
        r"| `ratio` | number, ≥ 0 | `0.25` | part of \| the whole |",
        "| `leaves` | table of table | `{}` |  |",
        "| `row` | list of table | `[]` |  |",
    ]
    assert "### [tree.leaves.<name>]\n" in told
    assert "### [tree.row.<number>]\n" in told
    assert leaf.strip().splitlines() == [
        "One leaf; it may say &lt;b>.",
        "",
        "| key | type | default | meaning |",
        "| --- | --- | --- | --- |",
        "| `size` | integer, > 0, ≤ 9 | **required** |  |",
        "| `green` | true or false | `true` | as in spring |",
    ]


def test_every_page_is_in_the_index_and_every_link_leads_somewhere() -> None:
    folder = PAGE.parent
    pages = sorted(folder.glob("*.md"))
    links = {
        page.name: re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        for page in pages
    }
    assert {page.name for page in pages} == {*links["index.md"], "index.md"}
    dead = [(name, to) for name, found in links.items() for to in found
            if not (folder / to).is_file()]  # fmt: skip
    assert dead == []
