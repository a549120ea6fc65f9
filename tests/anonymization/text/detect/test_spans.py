"""What the rules find, to the character: word lists, addresses, secrets, numbers with a form."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.address import find_addresses
from anonymization.text.detect.listed_names import find_listed_names, whole_firm
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.rules import load_rules, scan
from anonymization.text.secrets.find_secrets import find_secrets

Spans = list[tuple[str, str, float]]  # text, recognizer, score
BEGIN, END = "-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----"
SHORT_KEY = BEGIN + "A" * 39 + END
WHOLE_KEY = BEGIN + "Ab1+" * 10 + END
LONG_KEY = BEGIN + "Ab1+" * 20  # cut off
NAMES: list[tuple[str, Spans]] = [
    (
        "We met Andrew Miller and Maria Lopez in Paris.",
        [
            ("Andrew Miller", "given_name", 0.6),
            ("Maria Lopez", "given_name", 0.6),
            ("Paris", "place_list", 0.6),
        ],
    ),
    (
        "She moved from the United States of America to New Zealand.",
        [("United States of America", "place_list", 0.6), ("New Zealand", "place_list", 0.6)],
    ),
    (
        "He is Polish; polish the text. She is a german citizen, ex-german.",
        [("Polish", "nationality_list", 0.6), ("german", "nationality_list", 0.6)],
    ),
    (
        "A Slovene engineer and a norwegian one",
        [("Slovene", "nationality_list", 0.6), ("norwegian", "nationality_list", 0.6)],
    ),
    ("Smith, Jones and Brown will sign.", [("Smith, Jones and Brown", "firm", 0.6)]),
    ("July, August and September were warm.", []),
    ("Reed-Walker Group hired him.", [("Reed-Walker Group", "organisation", 0.6)]),
    (
        "Greenfield Hospital called. Blue Ridge Foundation too.",
        [
            ("Greenfield Hospital", "organisation", 0.6),
            ("Blue Ridge Foundation", "organisation", 0.6),
        ],
    ),
    (
        "Congo (Brazzaville) and Congo (kinshasa)",
        [("Congo (Brazzaville)", "place_list", 0.6), ("Congo", "place_list", 0.6)],
    ),
    (
        "Senior Account Manager\nJohn Smith, the Sales Director, agreed.",
        [("John Smith", "given_name", 0.6), ("Sales Director", "job_title", 0.6)],
    ),
    ("Jane Doe\nHead of Marketing", [("Jane Doe", "given_name", 0.6)]),
    ("All of us were there\nSales Director", [("Sales Director", "job_title", 0.6)]),
    ("All of us were there yesterday\nSales Director", []),
    ("Andrew lives at Apt 4", [("Andrew", "given_name", 0.55)]),
    ("Andrew Robert Van Dyke Miller Jones came", [("Andrew Robert Van Dyke", "given_name", 0.6)]),
    ("Andrew's house; Maria's", [("Andrew", "given_name", 0.55), ("Maria", "given_name", 0.55)]),
    ("@Andrew and /Andrew and x.Andrew", []),
    ("Andrew July went home", [("Andrew", "given_name", 0.55)]),
    (
        "from London, Berlin and Rome",
        [("London", "place_list", 0.6), ("Berlin", "place_list", 0.6), ("Rome", "place_list", 0.6)],
    ),
    ("the Chinese team", [("Chinese", "nationality_list", 0.6)]),
    (
        "Republic of Ireland and Northern Ireland",
        [("Ireland", "place_list", 0.6), ("Northern Ireland", "place_list", 0.6)],
    ),
    ("Andrew\nMiller", [("Andrew", "given_name", 0.55)]),
]
ADDRESSES: list[tuple[str, Spans]] = [
    (
        "Send it to 28 Queen's Road, London NW1 6XE by May.",
        [("28 Queen's Road, London NW1 6XE", "street_address", 0.9)],
    ),
    (
        "12 Baker Street, Apt 4, Springfield",
        [("12 Baker Street, Apt 4, Springfield", "street_address", 0.9)],
    ),
    ("Her address is 4 Elm, Dover.", [("4 Elm, Dover", "street_address", 0.9)]),
    ("Her address is 4 Elms now", [("4 Elms", "street_address", 0.9)]),
    ("Her address is 4 Elm now", []),
    (
        "The corner of Fifth Avenue and Main Street is busy.",
        [("corner of Fifth Avenue and Main Street", "street_address", 0.9)],
    ),
    ("Calle Mayor 5, 28013 Madrid", [("Calle Mayor 5, 28013 Madrid", "street_address", 0.9)]),
    ("Hauptstraße 12, 10115 Berlin", [("Hauptstraße 12, 10115 Berlin", "street_address", 0.9)]),
    ("Kossuth Lajos utca 7.", [("Kossuth Lajos utca 7.", "street_address", 0.9)]),
    (
        "Suite 200, 15 Park Avenue",
        [("Suite 200", "street_address", 0.9), ("15 Park Avenue", "street_address", 0.9)],
    ),
    ("See section 3 Main Results", []),
    ("221B Main St.\nSpringfield IL 627 01", [("221B Main St.", "street_address", 0.9)]),
    ("We sold 12 Boxes in May", []),
    ("5 High Street\n\nDear Sir", [("5 High Street", "street_address", 0.9)]),
    (
        "Via Roma 10, Milano",
        [("Via Roma 10", "street_address", 0.9), ("Milano", "street_address", 0.9)],
    ),
    ("Section 12 Baker", []),
    ("> 5 Low Road\n> Leeds LS1 4AB", [("5 Low Road\n> Leeds LS1 4AB", "street_address", 0.9)]),
]
SECRETS: list[tuple[str, Spans]] = [
    (
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        [("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "secret.github-token", 0.95)],
    ),
    ("key sk-proj-abc", []),
    ("token = aB3dE5fG7hI9jK1lM3nO5pQ7", [("aB3dE5fG7hI9jK1lM3nO5pQ7", "secret.named", 0.85)]),
    ("password: hunter2", [("hunter2", "secret.named", 0.85)]),
    ("password is secret", []),
    ("密码是 Tr0ub4dor&3 谢谢", [("Tr0ub4dor&3", "secret.named", 0.85)]),
    ("commit 16c7e42f292c6912e7710c838347ae178b4a1234", []),
    ("use 9f8G7h6J5k4L3m2N1b0V please today", [("9f8G7h6J5k4L3m2N1b0V", "secret.bare", 0.6)]),
    ("api_key=${API_KEY}", []),
    ("api_key=changeme123", []),
    ("curl -u bob:Sw0rdfish9 https://x.example", [("bob:Sw0rdfish9", "secret.named", 0.85)]),
    ("curl -u bob: https://x.example", []),
    ("https://bob:Sw0rdfish9@x.example/", [("Sw0rdfish9", "secret.url-password", 0.98)]),
    ("https://bob:bob@x.example/", []),
    (
        "Authorization: Basic Ym9iOlN3MHJkZmlzaDk=",
        [("Ym9iOlN3MHJkZmlzaDk=", "secret.authorization", 0.98)],
    ),
    ("Authorization: Basic abcdefgh", []),
    (
        "kind: Secret\ndata:\n  a: aGVsbG93b3JsZA==\n  b: d29ybGRoZWxsbzE=\nkind: x",
        [
            ("aGVsbG93b3JsZA==", "secret.kubernetes", 0.9),
            ("d29ybGRoZWxsbzE=", "secret.kubernetes", 0.9),
        ],
    ),
    ("db_pwd: s3cr3t!pass, next", [("s3cr3t!pass", "secret.named", 0.85)]),
    ("the token for it is Zx81Qw72Er63Ty54", [("Zx81Qw72Er63Ty54", "secret.named", 0.85)]),
    ("my key: 12345678901234", [("12345678901234", "secret.named", 0.85)]),
    ("secret_key: 1234567890123", []),
    ("secret_key: 12345678901234", [("12345678901234", "secret.named", 0.85)]),
    ("uuid 123e4567-e89b-12d3-a456-426614174000", []),
    (
        "token 123e4567-e89b-12d3-a456-426614174000",
        [("123e4567-e89b-12d3-a456-426614174000", "secret.named", 0.85)],
    ),
    (
        "Please take 123e4567-e89b-12d3-a456-426614174000 as your login for now",
        [("123e4567-e89b-12d3-a456-426614174000", "secret.bare", 0.6)],
    ),
    (
        SHORT_KEY,
        [],
    ),
    (
        WHOLE_KEY,
        [
            (
                WHOLE_KEY,
                "secret.private-key",
                0.98,
            )
        ],
    ),
    (
        LONG_KEY,
        [
            (
                LONG_KEY,
                "secret.private-key",
                0.98,
            )
        ],
    ),
    ("AKIAQ3EGRIT7WXYZ2345*", []),
    ("sha256 hash: 9f86d081884c7d659a2feaa0c55ad015", []),
    ("access_token='VgWPwjRwXk'", []),
    ("password=VgWPwjRw", [("VgWPwjRw", "secret.named", 0.85)]),
    ("password=abcdefgh", []),
    ("password=abc12", []),
    ("password=abc123", [("abc123", "secret.named", 0.85)]),
    ("apikey: src/app/main.py", []),
    ("apikey: 2024-03-05", []),
]
RULES: list[tuple[str, Spans]] = [
    (
        "call +1 (415) 555-2671 or 13812345678",
        [
            ("+1 (415) 555-2671", "phone_plus", 0.8),
            ("1 (415) 555-2671", "phone_us", 1.0),
            ("(415) 555-2671", "phone_said", 0.8),
            ("13812345678", "mobile_chinese", 1.0),
            ("13812345678", "phone_said", 0.8),
        ],
    ),
    ("mail ada@acme.com or no-reply@acme.com", [("ada@acme.com", "email", 0.95)]),
    (
        "身份证 11010519491231002X",
        [
            ("11010519491231002X", "resident_id", 0.95),
            ("11010519491231002X", "resident_id_form", 0.75),
            ("11010519491231002X", "resident_id_said", 0.8),
        ],
    ),
    ("IBAN GB82 WEST 1234 5698 7654 32", [("GB82 WEST 1234 5698 7654 32", "iban", 0.95)]),
    ("server 81.187.45.201 and v 127.0.0.256", [("81.187.45.201", "ipv4", 0.7)]),
    ("https://wiki.acme.com/x?id=3", [("https://wiki.acme.com/x?id=3", "url_in_prose", 0.6)]),
    (
        "/home/ada/x.py C:\\Users\\ada\\x",
        [("ada", "user_path_posix", 0.9), ("ada", "user_path_windows", 0.9)],
    ),
    (
        "卡号 6222021234567890128",
        [("6222021234567890128", "bank_card", 1.0), ("6222021234567890128", "bank_card_said", 0.8)],
    ),
    (
        "社会信用代码 91350100M000100Y43",
        [
            ("91350100M000100Y43", "credit_code", 0.9),
            ("91350100M000100Y43", "credit_code_said", 0.8),
        ],
    ),
    ("SSN 078-05-1120", [("078-05-1120", "us_social_security", 1.0)]),
    (
        "born on March 5, 1984, 2024年3月5日",
        [
            ("March 5, 1984", "date_in_full", 0.7),
            ("March 5, 1984", "date_words", 0.7),
            ("2024年3月5日", "date_chinese", 0.6),
        ],
    ),
    (
        "passport E48213907",
        [("E48213907", "passport", 0.8), ("E48213907", "passport_chinese", 0.7)],
    ),
    ("京A12345", [("京A12345", "plate", 0.8)]),
    ("(2023)京01民初1234号", [("(2023)京01民初1234号", "case_chinese", 0.95)]),
    ("工号 00123", [("00123", "person_number_said", 0.8)]),
    ("aged 45 years", [("45", "age", 0.7), ("45 years", "span_of_time", 0.7)]),
    (
        "Mr. Ellsworth and Dr Jane Poole",
        [
            ("Mr.", "title", 0.8),
            ("Ellsworth", "name_after_title", 0.9),
            ("Dr", "title", 0.8),
            ("Jane Poole", "name_after_title", 0.9),
        ],
    ),
]
FIRMS: list[tuple[str, str, str]] = [
    ("We paid 48 Factoring Inc. today", "48 Factoring Inc", "48 Factoring Inc."),
    ("We paid Factoring Inc. today", "Factoring Inc", "Factoring Inc."),
    ("We paid Factoring GmbH. today", "Factoring GmbH", "Factoring GmbH"),
    ("We paid Factoring Limited. End", "Factoring Limited", "Factoring Limited"),
    ("in 2024 Acme Corp. and", "Acme Corp", "Acme Corp."),
    ("v1.48 Acme Ltd", "Acme Ltd", "Acme Ltd"),
    ("Acme Co", "Acme Co", "Acme Co"),
    ("Acmeinc", "Acmeinc", "Acmeinc"),
]


def spans(text: str, findings: Iterable[Finding]) -> Spans:
    return [(text[f.start : f.end], f.recognizer, f.score) for f in findings]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_names_of_the_word_lists(text: str, expected: Spans) -> None:
    assert spans(text, find_listed_names(text, MachineLines(text))) == expected


@pytest.mark.parametrize(("text", "expected"), ADDRESSES)
def test_addresses(text: str, expected: Spans) -> None:
    assert spans(text, find_addresses(text, MachineLines(text))) == expected


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_secrets(text: str, expected: Spans) -> None:
    assert spans(text, find_secrets(text)) == expected


@pytest.mark.parametrize(("text", "expected"), RULES)
def test_rules(text: str, expected: Spans) -> None:
    assert spans(text, sorted(scan(load_rules(), text, MachineLines(text)))) == expected


@pytest.mark.parametrize(("text", "name", "whole"), FIRMS)
def test_the_whole_name_of_a_firm(text: str, name: str, whole: str) -> None:
    start = text.index(name)
    finding = Finding(start, start + len(name), EntityType.ORGANIZATION, "model", 0.6)
    firm = whole_firm(text, finding)
    assert text[firm.start : firm.end] == whole
    person = Finding(start, start + len(name), EntityType.PERSON, "model", 0.6)
    assert whole_firm(text, person) == person
