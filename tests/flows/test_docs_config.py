"""Pages of the docs: configurations that they show are taken, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flows.recipe import load_settings
from tests.conftest import REPO

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


@pytest.mark.parametrize("name", BLOCKS)
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
