"""Offices, hosts, counters and characters of a sheet keep what the work needs of them."""

from __future__ import annotations

import re

import pytest

from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.contracts import EntityType as T
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import labelled
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.scope_surrogates import Surrogates
from anonymization.text.vault import applied

KEY = b"f" * 32


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    config = DetectionConfig(english_model="", chinese_model="", japanese_model="")
    return TextDetector(at_level(config, MaskingLevel.STRICT))


def masked(detector: TextDetector, text: str) -> str:
    return Masker(detector, KEY, Mode.SURROGATE, "s").mask_texts([text])[0]


@pytest.mark.parametrize(
    "local",
    ["hostmaster", "chair", "noc", "registrar", "it-support", "care.sales"],
)
def test_a_mailbox_of_an_office_keeps_its_name(detector: TextDetector, local: str) -> None:
    new = masked(detector, f"write to {local}@tolnava.org")
    assert f" {local}@" in new and "tolnava" not in new


def test_a_host_is_one_alone_in_an_address_and_behind_a_variable(detector: TextDetector) -> None:
    text = (
        "Feb  3 16:45:04 trelkow7 postfix/qmgr[9]: from=<root@trelkow7.localdomain>\n"
        "echo $shop.tolnava.org ana@tolnava.org https://tolnava.org/terms ana@$zone\n"
    )
    first, second, _ = masked(detector, text).split("\n")
    host = first.split()[3]
    assert host != "trelkow7" and f"root@{host}.localdomain" in first
    variable, mail, site, other = second.split()[1:]
    domain = mail.partition("@")[2]
    assert domain != "tolnava.org" and variable == f"$shop.{domain}"
    assert site.split("/")[2] == domain and other == "ana@$zone"


def column(detector: TextDetector, values: list[str]) -> list[str]:
    masker = Masker(detector, KEY, Mode.SURROGATE, "s")
    pieces = [labelled("customer_id", value) for value in values]
    masker.learn(pieces)
    return [applied(piece.value, masker.edits(piece))[0] for piece in pieces]


def test_a_column_that_counts_stays_and_another_is_masked_wholly(detector: TextDetector) -> None:
    counted = [str(number) for number in range(1, 131)]
    assert column(detector, counted) == counted
    serials = ["7", "58", "104", "873", "0042", "2215", "60"]
    new = column(detector, serials)
    assert all(old != other for old, other in zip(serials, new, strict=True))
    assert [len(value) for value in new] == [len(value) for value in serials]
    assert len({int(value) for value in new}) == len(serials)


def test_surrogates_fit_the_encoding_of_their_value() -> None:
    made = Surrogates(KEY, "s", ScopeVocabulary())
    for value in ("佐久間", "瀬戸 亮", "飯塚", "ｵｸﾞﾗ", "スガヌマ"):
        new = made.of(T.PERSON, value)
        assert new != value and new.encode("cp932")
    assert "ﾞ" in made.of(T.UNEXPLAINED, "ｵｸﾞﾗ") and not made.of(T.UNEXPLAINED, "ｵｸﾞﾗ").isascii()


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("login:\n  name: tolna\n  password: tolna\n", "password: tolna"),
        ("db.user=tolna\ndb.password=letmein\n", "letmein"),
        ("ftp_login = tolna\r\nftp_pass = sunflower\r\n", "sunflower"),
    ],
)
def test_a_password_beside_its_user_is_one_whatever_it_is(
    detector: TextDetector, text: str, password: str
) -> None:
    assert password not in masked(detector, text)


@pytest.mark.parametrize(
    "text",
    [
        "interface Login {\n  username: string\n  password: string\n}",
        "user: postgres\npassword: postgres\n",
        "username = ask()\npassword = getpass()\n",
        "username: ${USER}\npassword: ${PASS}\n",
    ],
)
def test_types_defaults_and_references_are_no_passwords(detector: TextDetector, text: str) -> None:
    (findings,) = detector.find([text])
    assert [finding for finding in findings if finding.type is T.SECRET] == []


@pytest.mark.parametrize(("text", "times"), [("オンライン会議", 0), ("担当はンライさん", 1)])
def test_a_part_of_a_katakana_word_is_no_leak(text: str, times: int) -> None:
    patterns = LeakPatterns([PrivateValue("ンライ", "PERSON")], KEY, LeakConfig())
    assert len(list(patterns.find(text.encode()))) == times


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("48 Larkby Crossing", r"\d\d \w+ Crossing"),
        ("7 Old Quell Circle, Unit 4", r"\d \w+ \w+ Circle, Unit \d"),
        ("3 22nd Avenue", r"\d \d{1,2}(?:st|nd|rd|th) Avenue"),
        ("6 Trail Street", r"\d (?!Trail)\w+ Street"),
        ("T2X 1V4", r"T\d[A-CEGHJ-NPR-TV-Z] \d[A-CEGHJ-NPR-TV-Z]\d"),
    ],
)
def test_streets_keep_their_type_and_codes_their_form(value: str, kept: str) -> None:
    new = Surrogates(KEY, "s", ScopeVocabulary()).of(T.ADDRESS, value)
    assert new != value and re.fullmatch(kept, new)


def test_rows_without_names_of_columns_are_those_of_their_table(detector: TextDetector) -> None:
    text = (
        "CREATE TABLE IF NOT EXISTS `buyer` (\n  `id` bigint NOT NULL,\n  `full_name` text,\n"
        "  `phone_number` bigint,\n  `password` varchar(20),\n  PRIMARY KEY (`id`)\n) ENGINE=X;\n"
        "INSERT INTO `buyer` VALUES (4, 'Ilka Tolnava', 15408862217, 'tolna_pass'), "
        "(5, 'Oren Quist', 15496613384, 'sesame');\n"
        "INSERT INTO `stock` VALUES (4, 'Blue Chair', 15408862, 'oak_board');\n"
    )
    new = masked(detector, text)
    for value in ("Tolnava", "Quist", "15408862217", "15496613384", "tolna_pass", "sesame"):
        assert value not in new
    assert "(4, 'Blue Chair', 15408862, 'oak_board')" in new and "`full_name` text" in new


@pytest.mark.parametrize(
    "text",
    [
        "Co-authored-by: Claude <noreply@anthropic.com>",
        "Author: Claude Opus 4.5 (claude-opus-4-5)",
        "## Results At A Glance",
        "- **User naming / hiding.** No custom name.",
    ],
)
def test_assistants_and_headings_are_nobody(detector: TextDetector, text: str) -> None:
    assert Masker(detector, KEY, Mode.SURROGATE, "s").mask_texts([text]) == [text]


def test_somebody_called_like_an_assistant_is_somebody(detector: TextDetector) -> None:
    for text in ("Author: Claude Dupont, of Anthropic", "Author: Claude <claude@dupont.fr>"):
        (masked,) = Masker(detector, KEY, Mode.SURROGATE, "s").mask_texts([text])
        assert "Claude" not in masked
