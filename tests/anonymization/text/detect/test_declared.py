"""Values that a label declares, rows under columns, and words that are never replaced."""

from __future__ import annotations

import pytest

from anonymization.masking_gates import short_language
from anonymization.text.contracts import EntityType as T
from anonymization.text.contracts import Finding
from anonymization.text.detect.declared import declared_kind, find_declared, find_rows
from anonymization.text.detect.explained import without_fixed_words


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Nachname", T.PERSON),
        ("customerPhone", T.PHONE),
        ("DB_USER", T.ACCOUNT),
        ("mot de passe", T.SECRET),
        ("担当者", T.PERSON),
        ("身份证号", T.NATIONAL_ID),
        ("method", None),
        ("name", None),
        ("id", None),
    ],
)
def test_what_a_label_declares(label: str, kind: T | None) -> None:
    assert declared_kind(label) is kind


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{ vorname: 'Bodo', nachname: 'Uhlenkamp' }", ["Bodo", "Uhlenkamp"]),
        ("SMTP_USER=svc_uhlenkamp\n", ["svc_uhlenkamp"]),
        ("Mobil: 1752290847", ["1752290847"]),
        ("Vorname: -", []),
        ("user: str", []),
        ("login: ${LOGIN}", []),
        ("password: null", []),
    ],
)
def test_values_behind_labels(text: str, values: list[str]) -> None:
    assert [text[f.start : f.end] for f in find_declared(text)] == values


def test_rows_of_an_insert_have_the_kinds_of_their_columns() -> None:
    text = "INSERT INTO c (id, nom, tel) VALUES (1, 'Kermeur', '0298441763'), (2, 'Le Goff', NULL);"
    values = [(text[f.start : f.end], f.type) for f in find_rows(text)]
    assert values == [("Kermeur", T.PERSON), ("0298441763", T.PHONE), ("Le Goff", T.PERSON)]


def test_printed_columns_may_have_an_index_before_them() -> None:
    text = "   姓名    手机\n0  桑雨桐  15220974638\n"
    assert [text[f.start : f.end] for f in find_rows(text)] == ["桑雨桐", "15220974638"]


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("package billing\n", "package billing", []),
        ("public class Tantou {", "class Tantou", []),
        ("BEGIN:VCALENDAR\nDESCRIPTION:x", "DESCRIPTION", []),
        ("https://a.example/b?mobile=1", "mobile", []),
        ("I'm Aldous here", "I'm Aldous", ["Aldous"]),
        ("ask Aldous", "Aldous", ["Aldous"]),
        ("标题用Times New Roman，加粗", "Times New Roman", []),
        ("in Lucida Console", "Lucida Console", []),
        ("the Times New Roman Group met", "Times New Roman Group", ["Times New Roman Group"]),
    ],
)
def test_fixed_words_are_no_names(text: str, name: str, rest: list[str]) -> None:
    start = text.index(name)
    findings = [Finding(start, start + len(name), T.PERSON, "model", 0.8)]
    kept = without_fixed_words(text, findings)
    assert [text[f.start : f.end] for f in kept] == rest


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("moin, schick bitte dem bodo die rechnung, mein handy ist aus", "de"),
        ("coucou, je suis chez moi, appelle le client stp", "fr"),
        ("Please send the invoice to Herr von der Leyen and das Auto in Munich", None),
    ],
)
def test_short_texts_show_their_language(text: str, language: str | None) -> None:
    assert short_language([text]) == language
