"""The codebook as data."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.signals.codebook import (
    Codebook,
    _load_codebook,
    _load_crosswalk,
    default_codebook,
    default_crosswalk,
    spread,
)
from construction.signals.matching import _parse_cue
from data.errors import ConfigError
from data.text.scripts import has_han
from tests.construction.signals.made import small_codebook

# Three layers of families and their shares.

GOOD = """
[task_families]
letters = "Letters"
shapes = "Shapes"
programs = "Programs"
[display_groups]
desk = "Desk"
shop = "Shop"
[signal_to_task.office]
letters = 0.5
shapes = 0.25
[signal_to_task.craft]
programs = 1.0
[task_to_display.letters]
desk = 1.0
[task_to_display.shapes]
desk = 0.5
shop = 0.5
[task_to_display.programs]
shop = 1.0
"""


@pytest.fixture
def book(tmp_path: Path) -> Codebook:
    return small_codebook(tmp_path)


def load(folder: Path, book: Codebook, text: str = GOOD) -> object:
    path = folder / "crosswalk.toml"
    path.write_text(text, encoding="utf-8")
    return _load_crosswalk(path, book)


def test_masses_travel_by_shares_and_the_rest_is_unmapped() -> None:
    shares = {"office": {"letters": 0.5, "shapes": 0.25}, "craft": {"programs": 1.0}}
    mapped = spread({"office": 0.6, "craft": 0.3, "other": 0.1}, shares)
    assert mapped.masses == {"letters": 0.3, "programs": 0.3, "shapes": 0.15}
    assert mapped.unmapped == pytest.approx(0.25)  # a quarter of office, and all of other
    assert mapped.weights == {"letters": 0.4, "programs": 0.4, "shapes": 0.2}


def test_nothing_mapped_has_no_weights() -> None:
    mapped = spread({"other": 1.0}, {})
    assert (mapped.masses, mapped.weights, mapped.unmapped) == ({}, {}, 1.0)


def test_largest_share_names_the_family_and_the_group(tmp_path: Path, book: Codebook) -> None:
    path = tmp_path / "crosswalk.toml"
    path.write_text(GOOD, encoding="utf-8")
    loaded = _load_crosswalk(path, book)
    assert loaded.task_family({"office": 0.7, "craft": 0.3}) == "letters"  # .35 against .30
    assert loaded.task_family({"self": 1.0}) is None
    assert loaded.display_group("shapes") == "desk"  # equal shares go by name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("letters = 0.5", "letters = 0.9", "sum to 1.15; expected at most 1"),
        ("shop = 0.5", "shop = 0.4", "sum to 0.9; expected exactly 1"),
        ("programs = 1.0\n[task_to_display.l", "x = 1.0\n[task_to_display.l", "names x"),
        (
            "[signal_to_task.craft]",
            "[signal_to_task.crafts]",
            "do not match its families: craft, crafts",
        ),
        ("shapes = 0.25", "shapes = -0.25", "none of them negative"),
    ],
)
def test_errors_name_the_row(
    tmp_path: Path, book: Codebook, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, book, GOOD.replace(old, new, 1))


def test_the_packages_crosswalk_fits_its_codebook() -> None:
    crosswalk, book = default_crosswalk(), default_codebook()
    market = {book.patterns[pattern].family for pattern in book.benchmarkable}
    assert crosswalk.signal_to_task.keys() == market
    reached = {family for row in crosswalk.signal_to_task.values() for family in row}
    assert reached == crosswalk.task_families.keys()  # no task family that no signal asks for
    groups = {crosswalk.display_group(family) for family in crosswalk.task_families}
    assert groups == crosswalk.display_groups.keys()


def test_the_package_has_twenty_two_task_families() -> None:
    families = default_crosswalk().task_families
    assert len(families) == 22
    assert families.keys() > {
        *("inventory_procurement", "customer_support", "approvals_governance"),
        *("recruiting_onboarding", "scheduling_events"),
    }


def test_meta_patterns_stand_apart(tmp_path: Path) -> None:
    book = small_codebook(tmp_path)
    assert book.benchmarkable == {"mail", "paper", "code"}
    assert book.family_of("memory") == "self"
    assert book.family_of("uncategorized") == "uncategorized"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("cues", "[code]", "[coding]", "has an entry for code, coding"),
        ("patterns", 'family = "craft"', 'family = "crafts"', "family of code is not in"),
        (
            "cues",
            'anchors = ["Fold paper into shapes."]',
            "anchors = []",
            "no anchor sentences for paper",
        ),
    ],
)
def test_errors_name_the_pattern(
    tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    small_codebook(tmp_path)
    path = tmp_path / f"{file}.toml"
    assert old in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        _load_codebook(tmp_path)


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    before = small_codebook(tmp_path)
    path = tmp_path / "cues.toml"
    path.write_text(path.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    assert _load_codebook(tmp_path).digest == before.digest
    changed = path.read_text(encoding="utf-8").replace("origami", "kirigami")
    path.write_text(changed, encoding="utf-8")
    assert _load_codebook(tmp_path).digest != before.digest


def test_every_cue_of_the_package_can_match() -> None:
    book = default_codebook()
    cues = [c for p in book.patterns.values() for c in (*p.strong, *p.weak)] + list(book.decoys)
    empty = [cue for cue in cues if not all(_parse_cue(cue).halves)]
    assert empty == []


def test_no_cue_of_the_package_is_given_twice() -> None:
    for pattern in default_codebook().patterns.values():
        cues = [*pattern.strong, *pattern.weak]
        assert len(cues) == len(set(cues)), pattern.slug
        assert has_han("".join(cues)), pattern.slug
