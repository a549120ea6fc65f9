"""What a rubric says of mails among the inputs."""

from __future__ import annotations

import pytest

from construction.judging.lexicon import table
from construction.judging.reference_texts import references_of, whole_text
from tests.construction.judging.rules.cases import case

WORDS = table("grading")["en"]


@pytest.mark.parametrize("words", ["the latest mail", "最早的邮件"])
def test_the_earliest_and_the_latest_mail_are_named_where_every_mail_has_a_date(words: str) -> None:
    task = case(f"Find {words} and save it.", files=["a.eml", "b.eml"])
    excerpts = {"a.eml": "Oars! Sent at: 2031-05-04 10:00", "b.eml": "Date: 2030-01-02"}
    dated = task.model_copy(update={"excerpts": excerpts})
    texts = [text for text, _ in references_of(dated, ["a.eml", "b.eml"], [], WORDS, few=6)]
    assert "the earliest is b.eml (2030-01-02) and the latest a.eml (2031-05-04 10:00)" in texts[0]
    undated = task.model_copy(update={"excerpts": excerpts | {"b.eml": "Sails!"}})
    texts = [text for text, _ in references_of(undated, ["a.eml", "b.eml"], [], WORDS, few=6)]
    assert not any("earliest" in text for text in texts)


def test_marks_between_the_parts_of_a_mail_are_not_quoted() -> None:
    mark = "===============2457938525952404095=="
    mail = f"Oars {mark} --{mark}-- They are wet."
    assert whole_text(mail, "mail/a.eml") == "Oars They are wet."
