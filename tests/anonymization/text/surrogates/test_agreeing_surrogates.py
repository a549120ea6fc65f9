"""Surrogates that agree with each other, as the values did: a task can still be done with them."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import EntityType
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.scope_surrogates import Surrogates

T = EntityType
Value = tuple[EntityType, str]


def learned(*values: Value, chinese: frozenset[str] = frozenset()) -> list[str]:
    surrogates = Surrogates(b"k" * 32, "scope", ScopeVocabulary())
    surrogates.learn(values, chinese=chinese)
    return [surrogates.of(*value) for value in values]


def first_letters(name: str) -> str:
    return "".join(part[0] for part in name.replace("-", " ").split())


def test_initials_are_those_of_the_surrogate() -> None:
    whole, short, double, its = learned(
        (T.PERSON, "Rosalind Tranter"),
        (T.PERSON, "RT"),
        (T.PERSON, "Ingo Bach-Wieland"),
        (T.PERSON, "IBW"),
    )
    assert short == first_letters(whole)
    assert its == first_letters(double)


def test_initials_of_nobody_known_are_as_many_letters() -> None:
    (new,) = learned((T.PERSON, "QXZ"))
    assert len(new) == 3 and new.isupper() and new != "QXZ"


def test_addresses_spell_letters_with_marks_as_the_surrogate() -> None:
    whole, mail, login, plain = learned(
        (T.PERSON, "Björn Häusler-Søby"),
        (T.EMAIL, "b.haeusler@x.example"),
        (T.ACCOUNT, "bhaeusler"),
        (T.PERSON, "HAUSLER"),
    )
    given, family = whole.casefold().split(" ")
    first = family.partition("-")[0]
    assert mail.startswith(f"{given[0]}.{first}@")
    assert login == given[0] + first
    assert plain == first.upper()


def test_a_login_of_a_name_alone_is_its_surrogate_in_small_letters() -> None:
    name, login = learned((T.PERSON, "Ottilie"), (T.USER_PATH, "ottilie"))
    assert login == name.lower()


def test_a_nickname_begins_as_the_surrogate_of_the_name() -> None:
    whole, short, called = learned(
        (T.PERSON, "Frederick Lowndes"), (T.PERSON, "Fred"), (T.PERSON, "Uncle Fred")
    )
    assert whole.startswith(short) and called == f"Uncle {short}"


def test_parts_of_chinese_names_agree() -> None:
    whole, given, friend = learned(
        (T.PERSON, "司马雯"),
        (T.PERSON, "小雯"),
        (T.PERSON, "小司"),
    )
    assert given == f"小{whole[-1]}" and friend[0] == "小"
    name, alone = learned(
        (T.PERSON, "芮明岳"), (T.PERSON, "明岳"), chinese=frozenset({"芮明岳", "明岳"})
    )
    assert name.endswith(alone)


def test_a_given_name_of_japan_alone_is_that_of_the_whole_name() -> None:
    whole, given = learned((T.PERSON, "若狭 美咲"), (T.PERSON, "美咲"))
    assert whole.split(" ")[1] == given


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("Fontanella Tiles S.p.A.", " Tiles S.p.A."),
        ("Krumlov Glass s.r.o.", " Glass s.r.o."),
        ("Gerold Antriebstechnik e. K.", " Antriebstechnik e. K."),
        ("Molkerei Sandhatten eG", "Molkerei "),
        ("Okkenga & Partner", " & Partner"),
        ("湖南云岫电缆股份有限公司", "电缆股份有限公司"),
        ("湖南云岫电缆股份有限公司", "湖南"),
        ("云岫模具（越南）公司", "模具（越南）公司"),
        ("(株)浜岸解体", "解体"),
    ],
)
def test_firms_keep_their_form_trade_and_region(value: str, kept: str) -> None:
    (new,) = learned((T.ORGANIZATION, value))
    assert kept in new and new != value


def test_short_names_of_firms_share_the_stem_in_any_order() -> None:
    long, middle, short = learned(
        (T.ORGANIZATION, "湖南云岫电缆股份有限公司"),
        (T.ORGANIZATION, "云岫电缆"),
        (T.ORGANIZATION, "云岫"),
    )
    assert short in middle and middle in long


def test_the_domain_of_a_firm_has_its_words() -> None:
    firm, mail, joined, tag = learned(
        (T.ORGANIZATION, "Varnholm Logistics Ltd"),
        (T.EMAIL, "ida@varnholm-logistics.no"),
        (T.EMAIL, "ida@varnholmfoods.com"),
        (T.ACCOUNT, "varnholm-gw3.varnholm-logistics.no"),
    )
    stem = firm.split()[0].lower()
    assert mail.endswith(f"@{stem}-logistics.example")
    assert joined.endswith(f"@{stem}foods.example")
    assert tag == f"{stem}-gw3.{stem}-logistics.example"


def test_machines_keep_what_they_are_for_and_their_number() -> None:
    host, other, server = learned(
        (T.ACCOUNT, "qlf-db02.internal"), (T.ACCOUNT, "qlf-app03"), (T.ACCOUNT, "QLF-FS01")
    )
    assert host.endswith("-db02.internal") and other.endswith("-app03")
    assert server.endswith("-FS01") and server.isupper()
    assert host.partition("-")[0] == other.partition("-")[0] == server.partition("-")[0].lower()


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("Kastanienallee 14, 49377 Ellenstedt", "allee "),
        ("Mühlenstraße 3", "straße "),
        ("Via Roncaglia 8, 41049 Fiorano (MO), Italia", ", Italia"),
        ("2210 W Pulaski Street, Chicago, IL 60612", ", Chicago, IL 606"),
        ("温州市梧城区飞霞南路5号附2号", "温州市"),
        ("温州市梧城区飞霞南路5号附2号", "号附"),
        ("宮城県東松川市みどり町3-14-2", "宮城県"),
        ("宮城県東松川市みどり町3-14-2", "市"),
    ],
)
def test_addresses_keep_kinds_regions_and_well_known_towns(value: str, kept: str) -> None:
    (new,) = learned((T.ADDRESS, value))
    assert kept in new and new != value


def test_the_code_of_a_town_is_one_in_an_address_and_a_cell() -> None:
    whole, town, cell = learned(
        (T.ADDRESS, "Am Siel 3, 26954 Ellenserdamm"),
        (T.ADDRESS, "26954 Ellenserdamm"),
        (T.UNEXPLAINED, "26954"),
    )
    assert town in whole and town.startswith(cell) and cell != "26954"


def test_the_year_of_a_number_moves_as_the_dates_do() -> None:
    (stays,) = learned((T.CASE_NUMBER, "RE-2024-00817"))
    assert stays.startswith("RE-2024-")
    moved, day = learned((T.CASE_NUMBER, "RE-2024-00817"), (T.DATE, "2024-07-01"))
    assert moved.startswith(f"RE-{day[:4]}-")


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        (T.BANK_ACCOUNT, "13588771042", "135"),
        (T.PERSON_NUMBER, "(312) 415-0163", "(312) 555-01"),
        (T.COMPANY_CODE, "GB 118 4421 07", "GB "),
        (T.CASE_NUMBER, "云岫智能〔2025〕12号", "智能〔2025〕"),
    ],
)
def test_numbers_keep_their_form(kind: EntityType, value: str, kept: str) -> None:
    new, _ = learned((kind, value), (T.ORGANIZATION, "云岫智能"))
    assert kept in new and new != value


def test_a_hyphen_in_a_given_name_makes_no_family_name() -> None:
    _, other = learned((T.PERSON, "Karl-Otto Wiemann"), (T.PERSON, "Otto Prahl"))
    assert _.split(" ")[0].split("-")[1] == other.split(" ")[0]
