"""What only the owner can decide stays in the text, is listed, and is masked for remote models."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymization.documents.scopes import FILES, MaskingConfig, mask_paths
from anonymization.masking_recipe import MaskingLevel, Undecided, at_level
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.words_review import Why, _read_review, open_rows, write_decisions

_TEXT = "We asked zorblatt to send QT-0093-17 back.\nOwner: pebble\nSalary: 48500\n"


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT))


def test_evidence_is_masked_and_what_nothing_explains_is_left_to_the_owner(
    detector: TextDetector,
) -> None:
    masker = Masker(detector, bytes(32), Mode.SURROGATE, "s")
    (text,) = masker.mask_texts([_TEXT])
    assert "pebble" not in text  # under a label of somebody
    assert all(word in text for word in ("zorblatt", "QT-0093-17", "48500"))
    waiting = masker.undecided(Piece(_TEXT))
    assert {_TEXT[f.start : f.end] for f in waiting} == {"zorblatt", "QT-0093-17", "48500"}
    assert {entry.value for entry in masker.vault.entries} == {"pebble"}


def test_for_a_remote_model_all_of_it_is_masked(detector: TextDetector) -> None:
    masker = Masker(detector, bytes(32), Mode.SURROGATE, "s", masks_undecided=True)
    (text,) = masker.mask_texts([_TEXT])
    assert not any(word in text for word in ("zorblatt", "QT-0093-17", "48500", "pebble"))
    assert masker.undecided(Piece(_TEXT)) == ()


@pytest.mark.parametrize("undecided", [None, Undecided.LISTED, Undecided.MASKED])
def test_the_list_begins_with_what_must_be_decided(
    tmp_path: Path, undecided: Undecided | None
) -> None:
    (tmp_path / "note.txt").write_text(_TEXT)
    config = MaskingConfig(undecided=undecided)
    mask_paths([tmp_path / "note.txt"], tmp_path / "out", bytes(32), config, 1)
    rows = open_rows(tmp_path / "out" / "private" / "words.csv")
    waiting = [row["word"] for row in rows if row["why"] == Why.UNDECIDED]
    assert waiting == [row["word"] for row in rows[: len(waiting)]]
    expected = set() if undecided is Undecided.MASKED else {"zorblatt", "QT-0093-17", "'48500"}
    assert set(waiting) == expected


def test_what_is_decided_leaves_no_row_open(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text(_TEXT)
    words = tmp_path / "out" / "private" / "words.csv"
    mask_paths([tmp_path / "note.txt"], tmp_path / "out", bytes(32), MaskingConfig(), 1)
    rows = [row["word"] for row in open_rows(words)]
    write_decisions(words, {row: "private" if row == "zorblatt" else "keep" for row in rows})
    assert open_rows(words) == []
    review = _read_review(words)
    again = tmp_path / "again"
    listed = review.private
    reports = mask_paths(
        [tmp_path / "note.txt"], again, bytes(32), MaskingConfig(), 1, listed, review
    )
    assert [report.refusal for report in reports] == [None]
    text = (again / FILES / "note.txt").read_text()
    assert "zorblatt" not in text and "QT-0093-17" in text
