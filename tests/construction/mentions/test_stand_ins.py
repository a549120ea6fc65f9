"""Texts that stand for pictures, scans and recordings; and files that only look like such."""

from __future__ import annotations

import pytest

from construction.mentions.named_files import output_files
from construction.mentions.stand_ins import text_for
from tests.construction.sessions.instances import said


@pytest.mark.parametrize(
    ("path", "at_hand", "text"),
    [
        ("bulletin_2020_12.pdf", ["fixtures/ocr/bulletin_2020_12.txt", "a.csv"], 0),
        ("menu_photo.jpg", ["menu_ocr.txt"], 0),
        ("call.mp4", ["notes.md", "call.srt"], 1),
        ("/home/u/Sprachmemo.m4a", ["sprachmemo_transcript.md"], 0),
        ("report.pdf", ["report.md"], None),
        ("chart.png", ["chart.csv"], None),
        ("menu.jpg", ["lunch_ocr.txt"], None),
        ("menu.jpg", ["menu_ocr.txt", "ocr/menu.txt"], None),
        ("data.csv", ["data.txt", "ocr/data.txt"], None),
    ],
)
def test_a_text_stands_for_what_it_shows_or_says(
    path: str, at_hand: list[str], text: int | None
) -> None:
    assert text_for(path, at_hand) == (None if text is None else at_hand[text])


def test_a_picture_for_which_a_text_stands_is_no_result() -> None:
    instance = said("The menu is a photo, menu.jpeg. What does the soup cost?")
    assert [mention.path for mention in output_files(instance, ["a.csv"])] == ["menu.jpeg"]
    assert output_files(instance, ["ocr/menu_ocr.txt"]) == ()
