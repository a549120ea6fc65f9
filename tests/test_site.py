"""The documentation as a site: every page is in its navigation, and nothing is fetched."""

from __future__ import annotations

import yaml

from tests.conftest import REPO

CONFIG = yaml.safe_load((REPO / "mkdocs.yml").read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [
        page
        for section in CONFIG["nav"]
        for pages in section.values()
        for page in (pages if isinstance(pages, list) else [pages])
    ]
    there = [path.relative_to(REPO / "docs").as_posix() for path in (REPO / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(there)


def test_the_site_has_a_search_and_loads_nothing_from_elsewhere() -> None:
    assert CONFIG["plugins"] == ["search"]  # `offline` would load a script from a public server
    assert CONFIG["theme"]["font"] is False


def test_what_makes_the_site_is_locked() -> None:
    wanted = (REPO / "requirements-docs.in").read_text(encoding="utf-8").strip()
    assert wanted in (REPO / "requirements-docs.lock").read_text(encoding="utf-8")
