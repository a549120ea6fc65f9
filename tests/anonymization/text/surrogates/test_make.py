"""Surrogates: plausible, of the same form, never real, never twice."""

from __future__ import annotations

import ipaddress
import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymization.text.contracts import EntityType as T
from anonymization.text.detect.rules import bank_card, iban
from anonymization.text.identity_numbers import credit_code, resident_id
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.scope_surrogates import Surrogates

KEY = bytes(range(32))


def surrogates(
    *values: tuple[T, str], texts: tuple[str, ...] = (), open_names: frozenset[str] = frozenset()
) -> Surrogates:
    vocabulary = ScopeVocabulary()
    for text in (*texts, *(value for _, value in values)):
        vocabulary.add(text)
    made = Surrogates(KEY, "scope", vocabulary, open_names)
    made.learn(values)
    return made


def item(kind: T, value: str) -> str:
    return surrogates((kind, value)).of(kind, value)


def test_parts_of_names_agree() -> None:
    made = surrogates(
        (T.PERSON, "Smith"), (T.PERSON, "John Smith"), (T.PERSON, "J. SMITH"),
        (T.EMAIL, "john.smith@acme.com"), (T.EMAIL, "jsmith@acme.com"), (T.USER_PATH, "jsmith"),
    )  # fmt: skip
    given_name, family = made.of(T.PERSON, "John Smith").split()
    assert made.of(T.PERSON, "Smith") == family
    assert made.of(T.PERSON, "J. SMITH") == f"{given_name[0]}. {family.upper()}"
    local, host = made.of(T.EMAIL, "john.smith@acme.com").split("@")
    assert local == f"{given_name}.{family}".lower() and host.endswith(".example")
    short = (given_name[0] + family).lower()
    assert made.of(T.EMAIL, "jsmith@acme.com") == f"{short}@{host}"
    assert made.of(T.USER_PATH, "jsmith") == short


SAID = frozenset({"dana", "straße".casefold()})


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("dana@quill.example", ["dana"]),
        ("DANA@quill.example", ["DANA"]),
        ("dana.holt@quill.example", ["dana"]),
        ("k_dana7@quill.example", ["dana"]),
        ("STRASSE@quill.example", ["STRASSE"]),
        ("holt@dana.example", []),
        ("danah@quill.example", []),
        ("d\u0430na@quill.example", []),  # a Cyrillic letter
        ("dana@localhost", []),
        ("dana the second@quill.example", ["dana"]),
        (f"{'dana' * 75}@quill.example", []),
        (f"{'dana.' * 75}@quill.example", ["dana"] * 75),
    ],
)
def test_an_address_goes_on_showing_what_is_said_openly_and_nothing_else(
    value: str, kept: list[str]
) -> None:
    new = surrogates((T.EMAIL, value), open_names=SAID).of(T.EMAIL, value)
    local, _, domain = value.rpartition("@")
    assert new.count("@") == 1
    assert domain == "localhost" or not new.endswith(domain)
    stayed = set(re.findall(r"[^\W\d_]+", value)) & set(re.findall(r"[^\W\d_]+", new))
    assert stayed - {"example", "localhost"} == set(kept)
    assert [word for word in re.findall(r"[^\W\d_]+", local) if word in stayed] == kept
    assert surrogates((T.EMAIL, value), open_names=SAID).of(T.EMAIL, value) == new


def test_addresses_with_one_name_stay_apart() -> None:
    locals_ = "dana", "dana1", "dana2", "k.dana", "d.dana", "e.dana", "dana_"
    hosts = "a.example", "b.example", "localhost"
    values = [f"{local}@{host}" for host in hosts for local in locals_]
    made = surrogates(*((T.EMAIL, value) for value in values), open_names=SAID)
    new = [made.of(T.EMAIL, value) for value in values]
    assert len(set(new)) == len(values)
    assert all("dana" in one for one, value in zip(new, values, strict=True) if "host" not in value)
    assert len({one.partition("@")[2] for one in new[:3]}) == 1


@pytest.mark.parametrize("kind", [T.PERSON, T.ORGANIZATION, T.LOCATION, T.UNEXPLAINED])
def test_an_address_shows_what_a_name_became_in_the_text(kind: T) -> None:
    made = surrogates((T.EMAIL, "tavish.holt@quill.example"), (kind, "Tavish"))
    new = made.of(kind, "Tavish")
    assert new != "Tavish"
    assert made.of(T.EMAIL, "tavish.holt@quill.example").startswith(f"{new.lower()}.")


@pytest.mark.parametrize("kind", [T.SECRET, T.USER_PATH, T.ACCOUNT, T.PERSON])
def test_a_name_that_is_part_of_another_private_value_is_not_shown(kind: T) -> None:
    made = surrogates((T.EMAIL, "dana@quill.example"), (kind, "x-Dana-9"), open_names=SAID)
    assert "dana" not in made.of(T.EMAIL, "dana@quill.example")


def test_chinese_names_keep_length_title_and_family() -> None:
    made = surrogates(*((T.PERSON, v) for v in ("张伟", "张先生", "小张", "张伟经理", "欧阳娜娜")))
    new = made.of(T.PERSON, "张伟")
    assert len(new) == 2 and new != "张伟"
    assert made.of(T.PERSON, "张先生") == f"{new[0]}先生"
    assert made.of(T.PERSON, "小张") == f"小{new[0]}"
    assert made.of(T.PERSON, "张伟经理") == f"{new}经理"
    assert len(made.of(T.PERSON, "欧阳娜娜")) == 4


def test_companies_keep_their_legal_form() -> None:
    names = ("Acme Inc.", "Acme", "北京字节跳动科技有限公司", "字节跳动")
    made = surrogates(*((T.ORGANIZATION, name) for name in names))
    assert made.of(T.ORGANIZATION, "Acme Inc.") == made.of(T.ORGANIZATION, "Acme") + " Inc."
    long = made.of(T.ORGANIZATION, "北京字节跳动科技有限公司")
    assert long.endswith("科技有限公司") and made.of(T.ORGANIZATION, "字节跳动") in long
    assert long.startswith("北京")  # so do addresses beside it


def test_numbers_pass_their_checks_where_nobody_lives() -> None:
    identity = item(T.NATIONAL_ID, "11010519491231002X")
    assert resident_id(identity) and identity.startswith("99")
    card = item(T.BANK_CARD, "4111 1111 1111 1111")
    assert bank_card(card) and card.startswith("4000 00") and len(card) == 19
    code = item(T.COMPANY_CODE, "91350100M000100Y43")
    assert credit_code(code) and code[2:4] == "99"
    assert iban(item(T.BANK_ACCOUNT, "GB82 WEST 1234 5698 7654 32"))
    assert re.fullmatch(r"\+1 \([2-9]\d\d\) 555-01\d\d", item(T.PHONE, "+1 (415) 555-2671"))
    assert re.fullmatch(r"138\d{8}", item(T.PHONE, "13812345678"))
    assert re.fullmatch(r"07700 900\d{3}", item(T.PHONE, "07911 123456"))
    assert re.fullmatch(r"9\d\d-[0-4]\d-\d{4}", item(T.NATIONAL_ID, "078-05-1120"))
    address = ipaddress.ip_address(item(T.IP_ADDRESS, "81.2.69.142"))
    assert address in ipaddress.ip_network("240.0.0.0/4")


def test_a_number_with_the_check_digit_of_a_code_becomes_a_number() -> None:
    numbers = ["887063859634103307", "910000006000000005", "310000002000000001"]
    assert all(item(T.COMPANY_CODE, number).isdigit() for number in numbers)


def test_the_days_of_a_range_move_together() -> None:
    assert re.fullmatch(r"[A-Z][a-z]{2} (\d+)-(?:[A-Z][a-z]{2} )?(\d+)", item(T.DATE, "Apr 11-13"))
    assert item(T.DATE, "May 30-31, 2023").count("-") == 1


def test_a_host_keeps_what_serves_and_its_domain_has_one_surrogate() -> None:
    site, service = item(T.URL, "www.quillmoor.org"), item(T.ACCOUNT, "api.quillmoor.org")
    assert site.startswith("www.") and service == "api." + site.removeprefix("www.")


def test_a_given_name_alone_that_only_japan_writes_stays_japanese() -> None:
    assert item(T.PERSON, "和子").encode("shift_jis")


def test_one_number_in_several_forms_stays_one() -> None:
    made = surrogates((T.PHONE, "+86 138-1234-5678"), (T.PHONE, "13812345678"))
    spaced = made.of(T.PHONE, "+86 138-1234-5678")
    assert re.sub(r"\D", "", spaced) == "86" + made.of(T.PHONE, "13812345678")


@given(
    day=st.dates(date(1950, 1, 1), date(2030, 12, 31)),
    other=st.dates(date(1950, 1, 1), date(2030, 12, 31)),
)
@settings(max_examples=50)
def test_dates_keep_gaps_and_days_of_the_week(day: date, other: date) -> None:
    made = surrogates()
    new, new_other = (date.fromisoformat(made.of(T.DATE, d.isoformat())) for d in (day, other))
    assert new - new_other == day - other
    assert new.weekday() == day.weekday() and new != day
    assert (
        made.of(T.DATE, f"{day.year}年{day.month}月{day.day}日")
        == f"{new.year}年{new.month}月{new.day}日"
    )


@pytest.mark.parametrize(
    "value",
    ["March 5, 1984", "5 Mar 2020", "3rd of May", "12/31/1999", "1998", "二〇二四年三月五日"],
)
def test_dates_keep_their_form(value: str) -> None:
    new = item(T.DATE, value)
    assert new != value and re.sub(r"[\dA-Za-z〇一二三四五六七八九十]+", "", new) == re.sub(
        r"[\dA-Za-z〇一二三四五六七八九十]+", "", value
    )


def test_secrets_keep_prefix_and_alphabet() -> None:
    new = item(T.SECRET, "AKIAQ3EGRIT7WXYZ2345")
    assert re.fullmatch(r"AKIA[A-Z0-9]{16}", new)
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----"
    assert item(T.SECRET, key).startswith("-----BEGIN RSA PRIVATE KEY-----\n")


_WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=9).map(str.title)


@given(
    names=st.lists(
        st.tuples(_WORDS, _WORDS).map(" ".join), min_size=2, max_size=40, unique_by=str.casefold
    )
)
@settings(max_examples=40)
def test_two_values_never_share_a_surrogate(names: list[str]) -> None:
    values = [(T.PERSON, name) for name in names]
    made = surrogates(*values)
    result = [made.of(*value) for value in values]
    assert len({new.casefold() for new in result}) == len(names)
    assert not {new.casefold() for new in result} & {name.casefold() for name in names}


def test_many_names_do_not_collide() -> None:
    values = [(T.PERSON, f"{chr(0x4E00 + 7 * n)}{chr(0x5E00 + n)}") for n in range(250)]
    values += [(T.EMAIL, f"user{n}@host{n}.com") for n in range(1000)]
    made = surrogates(*values)
    assert len({made.of(*value) for value in values}) == len(values)


def test_a_surrogate_stands_in_no_text() -> None:
    plain = item(T.PERSON, "John Smith")
    made = surrogates((T.PERSON, "John Smith"), texts=(f"and {plain} was here",))
    assert not set(made.of(T.PERSON, "John Smith").split()) & set(plain.split())


def test_a_given_name_and_a_login_of_a_known_person_agree_with_the_whole_name() -> None:
    made = surrogates(
        (T.PERSON, "欧阳明远"), (T.PERSON, "明远"),
        (T.PERSON, "Margaret Ellsworth"), (T.ACCOUNT, "margaret"),
    )  # fmt: skip
    assert made.of(T.PERSON, "欧阳明远").endswith(made.of(T.PERSON, "明远"))
    assert (
        made.of(T.ACCOUNT, "margaret") == made.of(T.PERSON, "Margaret Ellsworth").split()[0].lower()
    )
