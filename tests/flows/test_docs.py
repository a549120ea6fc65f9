"""The docs: generated parts, shown configurations, and links that lead somewhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from construction.analytics.environment.declaration import PolicyText
from construction.sessions.gates.length import LengthConfig, LengthReason
from construction.sessions.gates.restoration import GATE as RESTORATION
from data.contracts import StageConfig
from data.reasons import sentences, stage_sentences
from flows.build_snapshot import PIPELINE
from flows.docs import (
    COMMON_FILE,
    Reference,
    _configuration_page,
    _gate_table,
    _is_adjustable,
    _limit_table,
    _page_with_tables,
    _Part,
    _reason_table,
    _settings_page,
    tables,
)
from flows.docs import SETTINGS_PAGE as PAGE
from flows.gates import GATES
from flows.recipe import Settings, load_settings
from tests.conftest import REPO


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
    assert result == _configuration_page(result), "run: make docs"


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


def test_limits_of_recovery_and_model_stages_are_in_the_advanced_part() -> None:
    usual, advanced = PAGE.read_text(encoding="utf-8").split("\n## Advanced\n")
    for section in ("judging.model_stages", "judging.classes", "sessions.recovery"):
        assert f"### [{section}]" in advanced
        assert f"### [{section}]" not in usual
    assert "### [runtime]" in usual


def test_an_advanced_section_is_one_that_exists() -> None:
    sections = set(re.findall(r"^### \[(.+)\]$", PAGE.read_text("utf-8"), re.MULTILINE))
    assert set(tomllib.loads(COMMON_FILE.read_text(encoding="utf-8"))["advanced"]) <= sections


def test_what_is_written_by_hand_is_kept_and_the_headings_are_needed() -> None:
    page = _configuration_page(
        EMPTY.replace("\n## Reference", "\n## Example\nkept\n\n## Reference")
    )
    assert page.startswith("# Mine\n\nwords\n\n## Settings that most releases need\n\nThese 20 of ")
    assert "\n## Example\nkept\n\n## Reference\n\nGenerated" in page
    assert "\nold\n" not in page
    with pytest.raises(ValueError, match="no heading '## Reference'"):
        _configuration_page(EMPTY.replace("## Reference", "## Other"))


def test_writing_twice_changes_nothing() -> None:
    once = _configuration_page(EMPTY)
    assert _configuration_page(once) == once


@pytest.mark.parametrize("path", tables(), ids=lambda path: path.name)
def test_a_page_has_its_tables_as_they_are(path: Path) -> None:
    assert path.read_text("utf-8") == _page_with_tables(path), "run `make docs`"


def test_a_row_of_each_table_says_what_the_record_says() -> None:
    question = f"| {RESTORATION.name} | {RESTORATION.meaning} | `restoration.unrecoverable` |"
    assert question in _gate_table(GATES)
    limit = f"≥ {LengthConfig().min_user_chars} characters"
    row = f"{limit} | `sessions.length.min_user_chars` | `length.too_short` |"
    assert row in _limit_table(GATES)
    meaning = LengthReason.TOO_SHORT.meaning
    assert f"| `length.too_short` | {meaning} |" in _reason_table(sentences(GATES))


def test_every_gate_adjustable_limit_and_reason_has_a_row() -> None:
    heading = 2  # lines
    assert len(_gate_table(GATES).splitlines()) == len(GATES) + heading
    adjustable = sum(_is_adjustable(limit) for gate in GATES for limit in gate.limits)
    assert len(_limit_table(GATES).splitlines()) == adjustable + heading
    reasons = sum(len(gate.reasons) for gate in GATES) + len(stage_sentences())
    assert len(_reason_table(sentences(GATES)).splitlines()) == reasons + heading


def test_a_limit_that_leaves_an_item_unverified_says_so() -> None:
    policy = 'only with `sessions.network.unverified = "keep"`'
    (kept,) = (line for line in _limit_table(GATES).splitlines() if policy in line)
    assert kept.endswith("`network.*` (unverified, not rejected) |")


def test_every_stage_reads_what_comes_before_it() -> None:
    known: set[str] = set()
    for lane in PIPELINE:
        for stage in lane.stages:
            assert set(stage.reads) <= known, stage.name
            known.add(stage.name)


# A block of its own, or what a shell example writes into a file.
_TOML = re.compile(r"(?:^```toml|<<'TOML')\n(.*?)^(?:```|TOML)$", re.MULTILINE | re.DOTALL)
BLOCKS = {
    f"{page.name}:{number}": block
    for page in sorted([*(REPO / "docs").glob("*.md"), REPO / "README.md"])
    for number, block in enumerate(_TOML.findall(page.read_text(encoding="utf-8")), start=1)
}


def test_the_pages_show_configurations() -> None:
    pages = {name.partition(":")[0] for name in BLOCKS}
    assert pages >= {"README.md", "anonymization.md", "configuration.md", "judging.md"}


def test_a_shown_policy_is_taken() -> None:
    (policy,) = tomllib.loads(BLOCKS["environments.md:1"])["policies"]
    assert PolicyText.model_validate(policy).in_force(2021)


@pytest.mark.parametrize("name", sorted(BLOCKS.keys() - {"environments.md:1"}))
def test_a_shown_configuration_is_taken(name: str, tmp_path: Path) -> None:
    path = tmp_path / "benchmint.toml"
    path.write_text(BLOCKS[name], encoding="utf-8")
    assert load_settings(path, environment={}).model_fields_set


def test_every_page_is_in_the_index_and_every_link_leads_somewhere() -> None:
    folder = REPO / "docs"
    pages = sorted(folder.glob("*.md"))
    links = {
        page.name: re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        for page in pages
    }
    assert {page.name for page in pages} == {*links["index.md"], "index.md"}
    dead = [(name, to) for name, found in links.items() for to in found
            if not (folder / to).is_file()]  # fmt: skip
    assert dead == []


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


def test_types_defaults_and_meanings() -> None:
    row = {"key": "tree.ratio", "meaning": "How much.", "example": "0.1"}
    parts = (
        _Part("First", "These {common} of {all} settings"),
        _Part("All", ""),
        _Part("Rare", ""),
    )
    reference = Reference(*parts, common=[row], behind=[])
    empty = "# Mine\n" + "".join(f"\n## {part.heading}\nold\n" for part in parts)
    page = _settings_page(empty, Root(), reference)
    assert "| `tree.ratio` | How much. | `0.25` | `tree.ratio = 0.1` |" in page
    assert "These 1 of 9 settings" in page
    result = page.partition("### [tree]\n")[2].partition("\n## ")[0]
    tree, leaf, _ = re.split(r"### \[.+\]\n", result)
    assert tree.strip().splitlines() == [
        "A tree.",
        "",
        "| key | type | default | meaning |",
        "| --- | --- | --- | --- |",
        "| `colour` | `red`, `blue` or none | *none* |  |",
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
