"""What base64, hexadecimal digits and percent escapes hold, and that a decision on it counts."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from anonymization.documents.contracts import Refusal
from anonymization.documents.remaining_words import _packed_texts
from anonymization.documents.scopes import FILES, MaskingConfig, mask_paths
from anonymization.documents.worth_a_look import _is_code_like, series_members
from anonymization.masking_recipe import MaskingLevel
from anonymization.words_review import WORDS, _read_review

_KEY = bytes(32)
_FULL = MaskingConfig(level=MaskingLevel.FULL)


@pytest.mark.parametrize("text", ["under the stone", "pebble9x", "青鸾项目"])
def test_what_decodes_to_text_is_found(text: str) -> None:
    data = text.encode()
    escaped = "".join(f"%{byte:02X}" for byte in data)
    for packed in (b64encode(data).decode(), data.hex(), escaped):
        assert list(_packed_texts(f"token: {packed} is set")) == [text]


@pytest.mark.parametrize(
    "text",
    ["configuration", "d41d8cd98f00b204e9800998ecf8427e", "abcdefab", "%20%20%20%20", "GetString"],
)
def test_words_and_digests_are_no_packed_texts(text: str) -> None:
    assert list(_packed_texts(text)) == []


def test_words_with_a_number_that_only_count_on_are_no_codes() -> None:
    chains = ["col1", "col2", "harbor7", "badge12", "badge14", "call_8", "call_9", "gate512"]
    assert list(series_members(chains)) == ["col1", "col2", "call_8", "call_9"]
    codes = {"Table1": False, "table9": True, "window42panel": True, "word-Word-4711": True}
    assert {chain: _is_code_like(chain) for chain in codes} == codes
    assert not _is_code_like("plan-Draft-2024")


def test_a_decision_on_packed_words_masks_them_where_they_stand(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_text("The state of it is below.\nbackup " + b"grey owl".hex() + "\n")
    (source / "b.txt").write_text("The grey owl is on the list, and it was read by all of us.\n")
    mask_paths([source], tmp_path / "one", _KEY, _FULL, 1)
    listed = (tmp_path / "one/private" / WORDS).read_text(encoding="utf-8-sig")
    assert "\n,grey owl," in listed
    rows = listed.splitlines()[1:]
    decided = [("private" if "grey owl," in row[:10] else "keep") + row for row in rows]
    (tmp_path / WORDS).write_text("\n".join([listed.splitlines()[0], *decided, ""]))
    review = _read_review(tmp_path / WORDS)
    reports = mask_paths([source], tmp_path / "two", _KEY, _FULL, 1, review.private, review)
    assert [report.refusal for report in reports] == [None, None]
    for report in reports:
        text = (tmp_path / "two" / FILES / report.path).read_text()
        assert "grey owl" not in text and b"grey owl".hex() not in text


def test_a_single_letter_that_is_private_keeps_its_file_out(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_text(
        "The state of the list is open, and it is read by user=x today.\n"
    )
    mask_paths([source], tmp_path / "one", _KEY, _FULL, 1)
    listed = (tmp_path / "one/private" / WORDS).read_text(encoding="utf-8-sig")
    assert "\n,x,1," in listed
    (tmp_path / WORDS).write_text(listed.replace("\n,x,", "\nprivate,x,").replace("\n,", "\nkeep,"))
    review = _read_review(tmp_path / WORDS)
    (report,) = mask_paths([source], tmp_path / "two", _KEY, _FULL, 1, review.private, review)
    assert report.refusal is Refusal.NOT_REVIEWED
