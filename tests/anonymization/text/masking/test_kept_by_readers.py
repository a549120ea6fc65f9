"""What strangers missed in masked work files: loopback, options, posts, trades, loose dates."""

from __future__ import annotations

import re

import pytest

from anonymization.documents.document import learn
from anonymization.documents.text_forms import text_edits
from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.one_clock import years_of
from anonymization.text.masking.pieces import Piece, labelled
from anonymization.text.surrogates.identifiers import shared_leads
from anonymization.text.vault import applied
from tests.anonymization.text.surrogates.test_make import surrogates


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def masked(detector: TextDetector, *pieces: Piece) -> list[str]:
    """The values of the pieces of one file, masked."""
    masker = Masker(detector, b"r" * 32, Mode.SURROGATE, "scope")
    learn([list(pieces)], masker, are_apart=True)
    return [applied(piece.value, masker.edits(piece))[0] for piece in pieces]


@pytest.mark.parametrize(
    "text",
    [
        "mynetworks = 127.0.0.0/8 [::ffff:127.0.0.0]/104 [::1]/128",
        "; --- :2::10 — dns ---\n; --- ::a — loopback ---",
        "default uses f2c to turn Fortran into C.  By default it tries more.",
        "setfacl -m user:root:rwx /srv/data",
        "The survey of the Santa Clara Counties goes on.",
        "The 2017 meeting, on Oct 22, went on until the 28th of August.",
        "held at VMware, one day before",
        "owner: audit_service",
        "ALTER USER 'root'@'localhost' IDENTIFIED BY '${MYSQL_ROOT_PASSWORD}';",
        "ssh: Could not resolve hostname github.com-orlam: Name or service not known",
    ],
    ids=[
        "loopback",
        "ends",
        "language",
        "rights",
        "counties",
        "loose days",
        "firm",
        "service",
        "reference",
        "alias",
    ],
)
def test_stays(detector: TextDetector, text: str) -> None:
    assert masked(detector, Piece(text)) == [text]


def test_a_public_address_within_another_moves(detector: TextDetector) -> None:
    (text,) = masked(detector, Piece("allow [::ffff:85.235.65.80]/128"))
    assert "85.235" not in text and re.fullmatch(r"allow \[::ffff:[\d.]+\]/128", text)


def test_options_of_a_database_stay(detector: TextDetector) -> None:
    tail = "@cluster0.kx2q.mongodb.net/?retryWrites=true&w=majority&appName=Cluster0"
    (text,) = masked(detector, Piece(f"url = mongodb+srv://vosadmin:f6nEppPx0fOlHImd{tail}"))
    assert text.endswith(tail) and "f6nEppPx0fOlHImd" not in text


def test_days_without_a_year_move_with_the_others(detector: TextDetector) -> None:
    text = "rotated 2023-05-29 14:59\n-rw-r--r-- 1 root root 2628  5月 29 14:55 a.cer\n"
    later = Piece("opened 2024-06-03, 2024-06-04 and 2024-06-05 on 5月 29")
    masker = Masker(detector, b"r" * 32, Mode.SURROGATE, "scope")
    first = Piece(text)
    learn([[first], [later]], masker, are_apart=True)
    new = applied(text, masker.edits(first))[0]
    whole, loose = re.search(r"\d{4}-(\d\d)-(\d\d)", new), re.search(r"(\d+)月 (\d+)", new)
    assert whole and loose and new != text
    assert [int(part) for part in whole.groups()] == [int(part) for part in loose.groups()]


def test_short_years_move(detector: TextDetector) -> None:
    text = "sent 6 Aug 89 10:24:36 GMT, read 9 August 1989"
    (new,) = masked(detector, Piece(text))
    years = re.search(r" (\d\d) 10:24:36 GMT, read \d+ \w+ 19(\d\d)", new)
    assert years and years[1] == years[2] != "89"
    assert years_of("6 Aug 89") == [1989] and years_of("3/20/21") == [2021]
    assert years_of("Oct 22") == years_of("10月30日") == []


def test_posts_behind_names_stay(detector: TextDetector) -> None:
    (new,) = masked(detector, labelled("Customer name", "Alex Mercer (Sales Lead)"))
    assert new.endswith(" (Sales Lead)") and not new.startswith("Alex")


def test_couriers_are_public(detector: TextDetector) -> None:
    cells = [labelled("快递公司", name) for name in ("韵达", "圆通", "百世快递")]
    assert masked(detector, *cells) == [cell.value for cell in cells]


def test_a_family_name_alone_is_that_person(detector: TextDetector) -> None:
    name = labelled("顧客名", "佐藤 次郎")
    new, call = masked(detector, name, Piece("showDetail('佐藤')"))
    assert call == f"showDetail('{new.split()[0]}')" and not new.startswith("佐藤")


def test_parameters_keep_their_form(detector: TextDetector) -> None:
    masker = Masker(detector, b"r" * 32, Mode.SURROGATE, "scope")
    text = 'href="order.html?customer=田中"'
    masker.learn([Piece("田中", kind=EntityType.PERSON)])
    edits = text_edits(text, "page.html", masker.edits)
    new = applied(text, edits)[0]
    assert "田中" not in new and "%" not in new


def test_a_login_and_its_home_agree(detector: TextDetector) -> None:
    (new,) = masked(detector, Piece("cd /home/torvekk/app\nscp a torvekk@sv4.hollin-mere.se:~/\n"))
    home, login = re.search(r"/home/([\w-]+)/", new), re.search(r"scp a ([\w-]+)@", new)
    assert home and login and home[1] == login[1] != "torvekk"


def test_numbers_keep_what_their_series_shares() -> None:
    staff = [f"E00370{number}" for number in (10682, 12325, 14188, 14881, 19256, 28173)]
    made = surrogates()
    made.learn([(EntityType.PERSON_NUMBER, number) for number in staff])
    new = [made.of(EntityType.PERSON_NUMBER, number) for number in staff]
    assert all(each.startswith("E0037") and each not in staff for each in new)
    assert len(set(new)) == len(staff)
    assert set(shared_leads(["734512", "281377", "905166"]).values()) == {0}


def test_a_telephone_number_of_two_kinds_keeps_its_form() -> None:
    made = surrogates()
    value = "080-1234-5678"
    made.learn([(EntityType.PERSON_NUMBER, value), (EntityType.PHONE, value)])
    new = made.of(EntityType.PHONE, value)
    assert new.startswith("080-") and new != value == "080-1234-5678"


@pytest.mark.parametrize(
    ("firm", "tail"),
    [
        ("Waikaro Linux Users Group", " Linux Users Group"),
        ("Comprehensive Drug Testing Inc.", " Drug Testing Inc."),
        ("Essia Justice Group", " Justice Group"),
    ],
)
def test_firms_keep_the_words_of_their_trade(firm: str, tail: str) -> None:
    made = surrogates()
    made.learn([(EntityType.ORGANIZATION, firm), (EntityType.LOCATION, firm.split()[0])])
    new = made.of(EntityType.ORGANIZATION, firm)
    assert new.endswith(tail) and new != firm
    assert made.of(EntityType.LOCATION, firm.split()[0]) == new.split()[0]


def test_an_office_in_a_column_of_people_stays(detector: TextDetector) -> None:
    people = ("Sue Pemberton", "Dawn Goley", "Keith Matassa", "Ruth Dover", "Dispatch Hotline")
    cells = [labelled("Contact", name) for name in people]
    *names, office = masked(detector, *cells, Piece("Hotline"))[:-1]
    assert office == "Dispatch Hotline" and not set(names) & set(people)
