"""Names that stand only within addresses which masking replaces."""

from __future__ import annotations

import time

import pytest

from anonymization.session_texts import _lost_names, _words_of


def shown(text: str, start: int, end: int) -> str:
    return "robin@inglow.example" if "@" in text[start:end] else text[start:end]


@pytest.mark.parametrize(
    ("request_text", "texts", "files", "lost"),
    [
        ("Collect the mails of Dana.", ["From: dana@quill.example, hello"], ["a.eml"], ["dana"]),
        ("Collect the mails of Dana.", ["From: Dana <dana@quill.example>"], ["a.eml"], []),
        ("Collect the mails of Dana.", ["From: dana@quill.example"], ["mails/Dana/a.eml"], []),
        ("Mail it to Dana, dana@quill.example.", ["dana@quill.example"], ["a.eml"], []),
        ("Describe post@quill.example.", ["The pens of Quill."], ["a.txt"], ["quill"]),
        ("Describe Quill, post@quill.example.", ["The pens of Quill."], ["a.txt"], []),
        ("Will you sum up what is late? May I see it?", ["will@x.org, may@x.org"], ["a.eml"], []),
        ("- Collect the mails.", ["collect@x.org"], ["a.eml"], []),
        ("Hannah wrote these, sort them.", ["hannah@x.org"], ["a.eml"], ["hannah"]),
        ("Quill's mails are to be sorted.", ["post@quill.example"], ["a.eml"], ["quill"]),
        ("Describe post@quill.example.", ["a quill is a pen"], ["a.txt"], []),
        ("Describe Quill.", ["See https://quill.example/about"], ["a.txt"], []),
        ("Write to the Support.", ["support@quill.example"], ["a.eml"], []),
        ("Sum it up.", ["dana@quill.example"], ["a.eml"], []),
        ("汇总Dana的邮件。", ["dana@quill.example"], ["a.eml"], ["dana"]),
        ("Collect the mails of Robin.", ["robin@quill.example"], ["a.eml"], []),
    ],
)
def test_a_name_is_lost_where_one_side_has_it_in_a_replaced_address_alone(
    request_text: str, texts: list[str], files: list[str], lost: list[str]
) -> None:
    names = _lost_names(_words_of([request_text]), _words_of(texts, files), shown)
    assert [each.name for each in names] == lost


def test_a_name_that_is_masked_alike_in_the_address_is_not_lost() -> None:
    request, inputs = _words_of(["The mails of Dana."]), _words_of(["From: dana@quill.example"])

    def alike(text: str, start: int, end: int) -> str:
        return shown(text, start, end) if "@" in text[start:end] else "Robin"

    assert not _lost_names(request, inputs, alike)
    (lost,) = _lost_names(request, inputs, shown)
    assert lost.said[0][1:] == (13, 17)
    assert lost.held[0][1:] == (6, 24)


@pytest.mark.parametrize("piece", ["a@", "dana@quill.example ", "www.", "a" * 64 + "."])
def test_hostile_texts_take_linear_time(piece: str) -> None:
    start = time.process_time()
    _words_of([piece * (400_000 // len(piece))])
    assert time.process_time() - start < 2
