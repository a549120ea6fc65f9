"""The audit page as a person uses it: hostile text, what-if, keyboard, phone, sign-off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data import hash_chain
from data.neutralise import one_line, visible
from flows.audit_server import _load_columns, export_page
from tests.data.audit_page.whatif import recompute
from tests.flows.audit_workspace import HOSTILE, hostile_workspace
from tests.flows.browser import READY, chromium, served, violations, watched

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return hostile_workspace(tmp_path / "out")


def set_limit(page: Any, gate: str, value: int) -> None:
    group = page.locator("details.gate").filter(
        has=page.locator(f"summary strong:text-is('{gate}')")
    )
    group.evaluate("node => { node.open = true; }")
    box = group.locator("input[type=number]").first
    box.fill(str(value))
    box.press("Tab")


def test_hostile_text_is_text_and_private_text_needs_the_token(browser: Any, out: Path) -> None:
    page, trouble = watched(browser)
    with served(out) as (address, token):
        page.goto(address)
        page.wait_for_selector(READY)
        assert page.inner_text("#found") == "30 units in 30 entries"
        page.click("#list .line >> nth=0")
        page.click("text=Show private evidence")
        page.wait_for_selector("#detail .bad")
        assert "Enter the token" in page.inner_text("#detail .bad")
        page.fill("#token", token)
        page.focus("#list")
        page.keyboard.press("Home")
        shown, read = set(), set()
        for _ in HOSTILE:
            shown.add(page.text_content("#chosen"))
            page.click("text=Show private evidence")
            page.wait_for_selector("#detail pre")
            read.add(page.text_content("#detail pre"))
            page.focus("#list")
            page.keyboard.press("ArrowDown")
        assert shown == {one_line(text) for text in HOSTILE}
        assert len(read) == len(HOSTILE)
        assert page.evaluate("window.pwned") is None
        assert page.title() == "Audit of unnamed"
        page.fill("#name", "Ada")
        page.fill("#note", HOSTILE[0])
        page.click("text=Sign off this run")
        page.wait_for_selector("#signed li")
        assert HOSTILE[0] in page.inner_text("#signed")
    assert not trouble
    assert len(hash_chain.entries(out / "private" / "access.log")) == len(HOSTILE)
    assert hash_chain.entries(out / "private" / "sign-offs.log")[0]["note"] == visible(HOSTILE[0])


def test_the_export_works_from_a_file_and_counts_as_the_reference(
    browser: Any, out: Path, tmp_path: Path
) -> None:
    export_page(out, tmp_path / "page")
    page, trouble = watched(browser)
    page.goto((tmp_path / "page" / "audit.html").as_uri())
    page.wait_for_selector(READY)
    columns = _load_columns(out, leaves=True)
    names = [step["name"] for step in columns["steps"]]
    assert page.inner_text("#kept") == f"{recompute(columns, {}).kept} of 33 would be kept."
    set_limit(page, "length", 8)
    now = recompute(columns, {(names.index("length"), 0): 8})
    assert now.kept > 3
    assert page.inner_text("#kept").startswith(f"{now.kept} of 33 would be kept (+{now.kept - 3});")
    set_limit(page, "fixture", 1)
    both = recompute(columns, {(names.index("length"), 0): 8, (names.index("fixture"), 1): 1})
    assert both.unmeasured == 1
    assert page.inner_text("#kept") == (
        f"{both.kept} of 33 would be kept (+{both.kept - 3}); "
        "1 more was not measured further, so its outcome is unknown."
    )
    page.check("#rescued")
    n = both.kept - 3 + both.unmeasured
    assert page.inner_text("#found") == f"{n} units in {n} entries, of 30 units in 30 entries"
    page.click("text=Clear")
    page.click("text=Reset all limits")
    assert page.inner_text("#kept") == "3 of 33 would be kept."
    with page.expect_download() as download:
        page.click("text=Download as CSV")
    assert Path(download.value.path()).read_text() == (tmp_path / "page/rejections.csv").read_text()
    assert not trouble


def test_by_keyboard_on_a_phone_and_for_a_screen_reader(
    browser: Any, out: Path, tmp_path: Path
) -> None:
    export_page(out, tmp_path / "page")
    page, trouble = watched(browser, viewport={"width": 360, "height": 740})
    page.goto((tmp_path / "page" / "audit.html").as_uri())
    page.wait_for_selector(READY)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    choice = page.locator("#by-reason option", has_text="length.too_short")
    assert (
        str(choice.text_content()).rpartition(". ")[2] == "length.too_short"
    )  # after its sentence
    page.select_option("#by-reason", choice.get_attribute("value"))
    assert str(page.text_content("#row-0 .why")).rpartition(". ")[2] == "length.too_short"
    page.select_option("#order", "near")
    assert page.inner_text("#chosen") == page.inner_text("#row-0 .id")
    page.fill("#q", "no such id")
    page.wait_for_selector("#detail >> text=No rejections match")
    page.fill("#q", "")
    page.wait_for_selector("#chosen")
    page.focus("#list")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'chosen'")
    assert "would pass min_user_chars at 9 instead of 10" in page.inner_text("#detail")
    page.keyboard.press("Escape")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.id") == "list"
    active = page.get_attribute("#list", "aria-activedescendant")
    assert page.get_attribute(f"#{active}", "aria-selected") == "true"
    assert page.get_attribute(f"#{active}", "aria-posinset") == "30"
    page.click("#list .line >> nth=1")  # on a phone the details are below: they are gone to
    page.wait_for_function("document.activeElement.id === 'chosen'")
    assert page.locator("#chosen").bounding_box()["y"] < 740
    slider = page.locator("#knob-0-0")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == "9"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    assert violations(page) == []
    assert not trouble
