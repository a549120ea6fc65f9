"""The codebook as data."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.signals.codebook import default_codebook, load_codebook
from construction.signals.matching import parse_cue
from data.errors import ConfigError
from data.text.scripts import has_han
from tests.construction.signals.made import small_codebook


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
        load_codebook(tmp_path)


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    before = small_codebook(tmp_path)
    path = tmp_path / "cues.toml"
    path.write_text(path.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    assert load_codebook(tmp_path).digest == before.digest
    changed = path.read_text(encoding="utf-8").replace("origami", "kirigami")
    path.write_text(changed, encoding="utf-8")
    assert load_codebook(tmp_path).digest != before.digest


def test_every_cue_of_the_package_can_match() -> None:
    book = default_codebook()
    cues = [c for p in book.patterns.values() for c in (*p.strong, *p.weak)] + list(book.decoys)
    empty = [cue for cue in cues if not all(parse_cue(cue).halves)]
    assert empty == []


def test_no_cue_of_the_package_is_given_twice() -> None:
    for pattern in default_codebook().patterns.values():
        cues = [*pattern.strong, *pattern.weak]
        assert len(cues) == len(set(cues)), pattern.slug
        assert has_han("".join(cues)), pattern.slug
