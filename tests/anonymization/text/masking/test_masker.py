"""One value, one surrogate, everywhere in the scope; keys, placeholders, forms of text."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict

import pytest

from anonymization.documents.document import _mask_text
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import FROM_VAULT, Masker
from anonymization.text.masking.pieces import FindingFilter, Piece
from tests.anonymization.text.masking.fakes import KEY, masker


def test_the_same_value_gets_the_same_surrogate() -> None:
    item, two = masker().mask_texts(["by Margaret Thornquist", "Margaret Thornquist, 2024-03-05"])
    name = item.removeprefix("by ")
    assert two.startswith(name + ", ") and name != "Margaret Thornquist"
    assert "2024-03-05" not in two


def test_a_full_name_is_masked_in_every_case_of_letters() -> None:
    known, small, large = masker().mask_texts(
        ["Margaret Thornquist", "margaret thornquist prints it", "to MARGARET THORNQUIST"]
    )
    assert small == f"{known.lower()} prints it"
    assert large == f"to {known.upper()}"


def test_a_value_in_another_spelling_gets_its_own_surrogate() -> None:
    texts = ["13812345678 is Margaret Thornquist's, 陈思远 knows"]
    spelled = ["+86 138-1234-5678", "thornquist, margaret", "MARGARET_THORNQUIST", "陈 思 远"]
    known, *result = masker().mask_texts([*texts, *spelled])
    number, rest = known.split(" is ")
    first, last = rest.split("'s, ")[0].split(" ")
    chinese = rest.split(", ")[1].removesuffix(" knows")
    assert result == [
        f"+86 {number[:3]}-{number[3:7]}-{number[7:]}",
        f"{last.lower()}, {first.lower()}",
        f"{first.upper()}_{last.upper()}",
        " ".join(chinese),
    ]


def test_a_placeholder_stands_for_every_spelling() -> None:
    texts = ["Margaret Thornquist", "thornquist, margaret called", "13812345678", "138 1234 5678"]
    result = masker(Mode.PLACEHOLDER).mask_texts(texts)
    assert result == ["<PERSON_1>", "<PERSON_1> called", "<PHONE_1>", "<PHONE_1>"]


def test_scopes_and_keys_differ() -> None:
    text = ["Margaret Thornquist"]
    seen = {
        masker(scope=scope, key=key).mask_texts(text)[0]
        for scope in ("a", "b")
        for key in (KEY, bytes(32))
    }
    assert len(seen) == 4


def test_order_does_not_matter() -> None:
    texts = ["Margaret Thornquist", "Ulrich Vandermeer", "陈思远 13812345678", "a@b.com"]
    forward = masker().mask_texts(texts)
    assert masker().mask_texts(texts[::-1])[::-1] == forward


def test_repeated_texts_are_asked_once() -> None:
    worker = masker()
    worker.mask_texts(["Margaret Thornquist"] * 50)
    assert worker._detector.asked == 1  # type: ignore[attr-defined]


def test_placeholders_count_per_kind_and_avoid_those_in_the_text() -> None:
    result = masker(Mode.PLACEHOLDER).mask_texts(
        ["<PERSON_1> met Margaret Thornquist", "Ulrich Vandermeer", "a@b.com"]
    )
    assert result == ["<PERSON_1> met <PERSON_2>", "<PERSON_3>", "<EMAIL_1>"]


def test_a_value_found_once_is_masked_everywhere() -> None:
    worker = masker()
    worker.learn(
        [
            Piece("Margaret Thornquist", kind=EntityType.ACCOUNT),
            Piece("call zanzi77", 5, EntityType.ACCOUNT),
        ]
    )
    edits = worker.edits(Piece("ask zanzi77!"))
    assert [(e.start, e.end, e.recognizer) for e in edits] == [(4, 11, FROM_VAULT)]
    assert worker.edits(Piece("Zanzibar 77")) == []


def test_a_host_of_everyday_words_is_masked_wherever_it_stands() -> None:
    worker = Masker(TextDetector(DetectionConfig()), KEY, Mode.SURROGATE, "session")
    worker.learn([Piece("host mail.harbour.com", 5, EntityType.ACCOUNT)])
    (entry,) = worker.vault.entries
    assert not entry.is_ordinary
    (edit,) = worker.edits(Piece("refused by mail.harbour.com:587"))
    assert (edit.start, edit.end, edit.new) == (11, 27, entry.surrogate)


@pytest.mark.parametrize("kind", [EntityType.ACCOUNT, EntityType.USER_PATH])
@pytest.mark.parametrize("login", ["backup", "errors", "mwatson", "ann.lee", "dora7", "john"])
def test_a_login_that_is_a_word_is_masked_in_its_place_alone(kind: EntityType, login: str) -> None:
    worker = masker()
    field = Piece(f"owner {login}", 6, kind)
    worker.learn([field])
    assert [(e.start, e.end) for e in worker.edits(field)] == [(0, len(login))]
    is_word = login in {"backup", "errors"}
    assert (worker.edits(Piece(f"502 {login} were seen")) == []) == is_word
    assert [entry.is_ordinary for entry in worker.vault.entries] == [is_word]


def test_keys_that_carry_values_are_masked_and_others_stay() -> None:
    data = {"m@corp.com": {"name": 1}, "Margaret Thornquist": 2, "role": "user"}
    masked = json.loads(_mask_text(json.dumps(data).encode(), "session.jsonl", masker()).data)
    assert list(masked)[2] == "role" and masked["role"] == "user"
    assert "m@corp.com" not in masked and "Margaret Thornquist" not in masked


def test_names_of_programs_need_proof() -> None:
    worker = masker()
    assert worker.edits(Piece("Margaret Thornquist", accepts=FindingFilter.PROVEN)) == []
    assert len(worker.edits(Piece("a@b.com", accepts=FindingFilter.PROVEN))) == 1


@pytest.mark.parametrize("value", ["thinking", "input", "result", "system", "extra"])
def test_every_string_is_visited(value: str) -> None:
    inner = json.dumps({value: ["陈思远", {"x": "a@b.com"}]})
    data = json.dumps({"content": [{"type": value, value: {"args": inner}}]}).encode()
    masked = _mask_text(data, "session.jsonl", masker()).data
    assert b"a@b.com" not in masked and "陈思远".encode() not in masked
    assert b"\\u9648" not in masked  # nor escaped, in the JSON inside
    assert json.loads(json.loads(masked)["content"][0][value]["args"])[value][1]["x"].endswith(
        ".example"
    )


def test_base64_and_percent_escapes_are_opened() -> None:
    blob = base64.b64encode(b"please mail a@b.com, Margaret Thornquist").decode()
    data = json.dumps({"t": f"data:text/plain;base64,{blob}", "u": "x?who=Margaret%20Thornquist"})
    masked = json.loads(_mask_text(data.encode(), "session.jsonl", masker()).data)
    opened = base64.b64decode(masked["t"].split(",")[1]).decode()
    assert "a@b.com" not in opened and "Thornquist" not in opened and opened.startswith("please")
    assert "Thornquist" not in masked["u"] and "%20" in masked["u"]


def test_a_phone_number_that_is_a_number_stays_one() -> None:
    masked = json.loads(
        _mask_text(b'{"phone": 13812345678, "count": 13812345678}', "session.jsonl", masker()).data
    )
    assert masked["phone"] != 13812345678 and isinstance(masked["phone"], int)


def test_tables_keep_their_form() -> None:
    data = '﻿name,mail\r\n"Margaret Thornquist, ""Meg""",a@b.com\r\n'.encode()
    masked = _mask_text(data, "a.csv", masker()).data.decode()
    assert masked.startswith('﻿name,mail\r\n"') and masked.endswith(".example\r\n")
    assert '""Meg""' in masked and "Thornquist" not in masked


def test_pages_are_read_across_tags() -> None:
    page = (
        b"<p title='a@b.com'>Marg<b>aret</b> Thorn&#113;uist</p>"
        b"<!-- a@b.com --><script>var x='a@b.com'</script>"
    )
    masked = _mask_text(page, "a.html", masker()).data.decode()
    assert "a@b.com" not in masked and "aret" not in masked and "uist" not in masked
    assert masked.count("<b>") == 1 and masked.endswith("</script>")


def test_the_audit_holds_no_value() -> None:
    masked = _mask_text(b'{"t":"Margaret Thornquist"}', "session.jsonl", masker())
    (edit,) = masked.edits
    result = {k: v for k, v in asdict(edit).items() if k != "new"}
    assert result == {"start": 6, "end": 25, "type": "PERSON", "recognizer": "fake", "score": 0.9}


def test_short_forms_and_turned_names_of_a_person_agree() -> None:
    detector = TextDetector(DetectionConfig.for_tasks())
    texts = [
        "Please ask Marguerite Duvalier about it.",
        "Name: Duvalier, Marguerite",
        "user=mduvalier logged in",
        "Reviewed by M. Duvalier",
        "margueriteduvalier is the login",
    ]
    whole, turned, login, short, joined = Masker(
        detector, bytes(32), Mode.SURROGATE, "scope"
    ).mask_texts(texts)
    given, family = whole.removeprefix("Please ask ").removesuffix(" about it.").split()
    assert {given, family}.isdisjoint({"Marguerite", "Duvalier"})
    assert turned == f"Name: {family}, {given}"
    assert login == f"user={given[0]}{family} logged in".lower()
    assert short == f"Reviewed by {given[0]}. {family}"
    assert joined == f"{given}{family} is the login".lower()
