"""The configuration's reference is that of the models, whole and readable."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from data.contracts import StageConfig
from flows import docs_reference
from flows.docs_reference import COMMON_FILE, PAGE, configuration_page, write
from flows.recipe import Settings, load_settings


def keys(model: BaseModel, path: str = "") -> Iterator[tuple[str, str]]:
    """Section and key of everything that can be set and is no section itself."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from keys(value, f"{path}.{name}".strip("."))
        else:
            yield path, name


def test_the_committed_page_is_current() -> None:
    result = PAGE.read_text(encoding="utf-8")
    assert result == configuration_page(result), "run: make docs"


def test_every_key_stands_in_its_section_once() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("\n## Reference\n")[2]
    sections = re.split(r"^### \[(.+)\]$", page, flags=re.MULTILINE)
    result = dict(zip(sections[1::2], sections[2::2], strict=True))
    wanted = list(keys(Settings()))
    assert len(wanted) > 150
    for section, key in wanted:
        assert len(re.findall(rf"^\| `{key}` \|", result[section], re.MULTILINE)) == 1, (
            section,
            key,
        )


HEADINGS = ("Settings that most releases need", "Reference", "Advanced")
EMPTY = "# Mine\n\nwords\n" + "".join(f"\n## {heading}\nold\n" for heading in HEADINGS)


def test_twenty_settings_come_first_and_their_examples_are_taken(tmp_path: Path) -> None:
    rows = tomllib.loads(COMMON_FILE.read_text(encoding="utf-8"))["setting"]
    assert len({row["key"] for row in rows}) == len(rows) == 20
    assert all(row["meaning"].endswith(".") for row in rows)
    path = tmp_path / "benchmint.toml"
    path.write_text("\n".join(f"{row['key']} = {row['example']}" for row in rows))
    assert load_settings(path, environment={}).model_fields_set
    first = PAGE.read_text(encoding="utf-8").partition("\n## ")[2]
    assert first.startswith(HEADINGS[0])
    table = first.partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z_.]+)` \|", table, re.MULTILINE) == [row["key"] for row in rows]


def test_limits_of_the_rule_judges_are_in_the_advanced_part() -> None:
    usual, advanced = PAGE.read_text(encoding="utf-8").split("\n## Advanced\n")
    for section in ("judging.containment", "judging.taxonomy", "sessions.preflight"):
        assert f"### [{section}]" in advanced
        assert f"### [{section}]" not in usual
    assert "### [runtime]" in usual


def test_an_advanced_section_is_one_that_exists() -> None:
    sections = set(re.findall(r"^### \[(.+)\]$", PAGE.read_text("utf-8"), re.MULTILINE))
    assert set(tomllib.loads(COMMON_FILE.read_text(encoding="utf-8"))["advanced"]) <= sections


def test_what_is_written_by_hand_is_kept_and_the_headings_are_needed() -> None:
    page = configuration_page(EMPTY.replace("\n## Reference", "\n## Example\nkept\n\n## Reference"))
    assert page.startswith("# Mine\n\nwords\n\n## Settings that most releases need\n\nThese 20 of ")
    assert "\n## Example\nkept\n\n## Reference\n\nMade from" in page
    assert "\nold\n" not in page
    with pytest.raises(ValueError, match="no heading '## Reference'"):
        configuration_page(EMPTY.replace("## Reference", "## Other"))


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(EMPTY)
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


def test_types_defaults_and_meanings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(docs_reference, "Settings", Root)
    monkeypatch.setattr(docs_reference, "COMMON_FILE", tmp_path / "common.toml")
    row = 'key = "tree.ratio"\nmeaning = "How much."\nexample = "0.1"\n'
    (tmp_path / "common.toml").write_text(f"advanced = []\n[[setting]]\n{row}")
    page = configuration_page(EMPTY)
    assert "| `tree.ratio` | How much. | `0.25` | `tree.ratio = 0.1` |" in page
    assert "These 1 of 9 settings" in page
    result = page.partition("### [tree]\n")[2].partition("\n## ")[0]
    tree, leaf, _ = re.split(r"### \[.+\]\n", result)
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
    assert "### [tree.leaves.<name>]\n" in result
    assert "### [tree.row.<number>]\n" in result
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
