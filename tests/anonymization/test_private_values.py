"""The list of private values: what a line may say, and errors that do not repeat it."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymization.text.contracts import EntityType
from anonymization.words_review import _read_private_values, listed_digest
from data.errors import InputError

KEY = bytes(32)


def read(folder: Path, text: str) -> tuple[tuple[EntityType, str], ...]:
    (folder / "list.txt").write_text(text, encoding="utf-8")
    return _read_private_values(folder / "list.txt")


def test_lines_with_and_without_a_kind(tmp_path: Path) -> None:
    text = "\ufeff# ours\n\n pebble \nPERSON\tMara Thornquist\npebble\nORGANIZATION\t 青鸟\n"
    assert read(tmp_path, text) == (
        (EntityType.ORGANIZATION, "青鸟"),
        (EntityType.PERSON, "Mara Thornquist"),
        (EntityType.UNEXPLAINED, "pebble"),
    )
    assert _read_private_values(None) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "pebble\n x!\n",
            r"list\.txt:2: found a value with 1 letters and digits; expected 2 or more",
        ),
        ("PERSN\tpebble\n", r"list\.txt:1: found an unknown kind .* Did you mean PERSON\?"),
        ("person\tpebble\n", r"Did you mean PERSON\?"),
        ("TITLE\tpebble\n", "found an unknown kind"),  # a title keeps its words
        ("PERSON\tpebble\tmore\n", "found 2 tabs"),
        ("PERSON\tpebble\n#\npebble\n", "list.txt:3: found UNEXPLAINED for a value that is PERSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_and_not_repeated(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, text)
    assert "pebble" not in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_no_text_or_is_missing(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="found text that is not UTF-8"):
        _read_private_values(tmp_path / "list.txt")
    with pytest.raises(InputError, match="expected a list of private values"):
        _read_private_values(tmp_path / "gone.txt")


def test_another_list_or_key_has_another_digest() -> None:
    listed, more = ((EntityType.PERSON, "pebble"),), ((EntityType.UNEXPLAINED, "pebble"),)
    digests = {listed_digest(listed, KEY), listed_digest(more, KEY), listed_digest((), KEY)}
    assert len(digests | {listed_digest(listed, bytes(range(32)))}) == 4
    assert listed_digest(listed, KEY) in digests
