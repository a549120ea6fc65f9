"""What is made from a value is made from its surrogate: logins, addresses, firms, numbers."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import EntityType
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.links import letters_of
from anonymization.text.surrogates.scope_surrogates import Surrogates

T = EntityType


def learned(*values: tuple[EntityType, str]) -> Surrogates:
    surrogates = Surrogates(b"d" * 32, "derived", ScopeVocabulary())
    surrogates.learn(values)
    return surrogates


@pytest.mark.parametrize(
    ("login", "made_of"),
    [
        ("orlabrandt", "{given}{family}"),
        ("obrandt", "{g}{family}"),
        ("brandto", "{family}{g}"),
        ("orlab", "{given}{f}"),
        ("o.brandt", "{g}.{family}"),
        ("brandt_o", "{family}_{g}"),
        ("orla-brandt", "{given}-{family}"),
        ("obrandt2", "{g}{family}#"),
    ],
)
@pytest.mark.parametrize("kind", [T.ACCOUNT, T.PERSON, T.EMAIL])
def test_a_login_is_made_of_the_names_of_its_person(
    login: str, made_of: str, kind: EntityType
) -> None:
    if kind is T.PERSON and not login.isalpha():
        pytest.skip("a name of one word")
    value = f"{login}@quillby.net" if kind is T.EMAIL else login
    others = [(T.PERSON, "Olaf Venn"), (T.PERSON, "Oona Brill")]
    surrogates = learned((T.PERSON, "Orla Brandt"), (kind, value), *others)
    given, family = surrogates.of(T.PERSON, "Orla Brandt").lower().split()
    expected = made_of.format(given=given, family=family, g=given[0], f=family[0])
    new = surrogates.of(kind, value).partition("@")[0]
    assert "".join("#" if char.isdigit() else char for char in new) == expected


def test_initials_of_three_names_and_the_family_name_first() -> None:
    surrogates = learned((T.PERSON, "Brandt, Orla Mae"), (T.EMAIL, "omb@quillby.net"))
    family, *given = surrogates.of(T.PERSON, "Brandt, Orla Mae").replace(",", "").lower().split()
    local = surrogates.of(T.EMAIL, "omb@quillby.net").partition("@")[0]
    assert sorted(local) == sorted(name[0] for name in [*given, family])


@pytest.mark.parametrize(
    "local",
    ["noreply", "it.manager", "finance_member", "staff2", "support+4711", "marketing-assistant"],
)
def test_offices_stay_in_addresses(local: str) -> None:
    value = f"{local}@quillby.net"
    new = learned((T.EMAIL, value)).of(T.EMAIL, value)
    assert new.startswith(f"{local}@")
    assert "quillby" not in new


def test_a_drawn_part_stays_one_beside_an_office() -> None:
    new = learned((T.EMAIL, "7eef1.private@quillby.net")).of(T.EMAIL, "7eef1.private@quillby.net")
    drawn, _, rest = new.partition(".")
    assert rest.startswith("private@")
    assert len(drawn) == 5 and drawn != "7eef1"
    assert [char.isdigit() for char in drawn] == [True, False, False, False, True]


def test_a_number_alone_is_no_office() -> None:
    assert not learned().of(T.EMAIL, "48151623@quillby.net").startswith("48151623@")


@pytest.mark.parametrize(
    ("firm", "kept"),
    [
        ("Orrick Plumbing Supplies Ltd", ["Plumbing", "Supplies", "Ltd"]),
        ("Venn & Sons Roofing LLC", ["&", "Sons", "Roofing", "LLC"]),
        ("Quillby Landscape", ["Landscape"]),
        ("A & Q Lawn Care", ["A", "&", "Lawn", "Care"]),
        ("Landscaping Services Inc", ["Inc"]),
        ("Brill's Bakery", ["'s", "Bakery"]),
    ],
)
@pytest.mark.parametrize("kind", [T.ORGANIZATION, T.PERSON, T.UNEXPLAINED])
def test_a_firm_keeps_its_trade(firm: str, kept: list[str], kind: EntityType) -> None:
    new = learned((kind, firm)).of(kind, firm)
    assert new != firm
    assert all(word in new for word in kept)
    assert len(new.split()) == len(firm.split())


def test_a_firm_is_called_after_its_person() -> None:
    surrogates = learned((T.PERSON, "Orla Brandt"), (T.PERSON, "Brandt's Lawn Service"))
    family = surrogates.of(T.PERSON, "Orla Brandt").split()[-1]
    assert surrogates.of(T.PERSON, "Brandt's Lawn Service") == f"{family}'s Lawn Service"


def test_initials_of_a_firm_stay_initials() -> None:
    new = learned().of(T.ORGANIZATION, "QVB Inc")
    assert new.endswith(" Inc") and len(new) == len("QVB Inc") and new[:3].isupper()


@pytest.mark.parametrize(
    "host", ["grafana.corp.quillby.net", "wiki.quillby.net", "vpn.quillby.net"]
)
def test_the_label_of_a_product_stays(host: str) -> None:
    new = learned().of(T.URL, host)
    assert new.partition(".")[0] == host.partition(".")[0]
    assert "quillby" not in new


def test_the_label_of_somebody_does_not_stay() -> None:
    assert learned().of(T.URL, "discourse.quillby.net").startswith("discourse.")
    surrogates = learned((T.PERSON, "Discourse Venn"), (T.URL, "discourse.quillby.net"))
    assert not surrogates.of(T.URL, "discourse.quillby.net").startswith("discourse")
    assert not learned().of(T.URL, "orla.quillby.net").startswith("orla")


def test_numbers_of_america_keep_their_region() -> None:
    numbers = [f"937-{group}-4410" for group in range(225, 525)]
    surrogates = learned(*((T.PHONE, number) for number in numbers))
    new = {surrogates.of(T.PHONE, number) for number in numbers}
    assert len(new) == len(numbers)
    assert all(number.startswith("937-555-") for number in new)
    home = "418 Larch Street, Dayton, OH 45402"
    moved = surrogates.of(T.ADDRESS, home)
    assert " OH 454" in moved and not moved.endswith("45402")
    for code in ("45402", "45402-7339"):
        assert surrogates.of(T.ADDRESS, code).startswith(moved[-5:])
    assert not surrogates.of(T.ADDRESS, "10234 Larch Street").startswith("102")


def test_roads_and_boxes_of_the_state_stay() -> None:
    surrogates = learned()
    for value, kept in (
        ("9573 US Highway 220", "US Highway"),
        ("P.O. Box 25128", "P.O. Box"),
        ("5392 NC 150", " NC "),
    ):
        assert kept in surrogates.of(T.ADDRESS, value)


@pytest.mark.parametrize(
    ("firm", "kept"),
    [
        ("手打ちのうどん みかづき", ["うどん"]),
        ("ひばりフードサービス株式会社", ["フードサービス", "株式会社"]),
        ("北瀬らーめん ほたる", ["らーめん"]),
        ("鶴沢総合医療センター", ["総合医療センター"]),
        ("ミナモバー", []),
        ("バー みなも", ["バー"]),
        ("月影亭", ["亭"]),
    ],
)
def test_a_japanese_firm_keeps_its_trade(firm: str, kept: list[str]) -> None:
    surrogates = learned()
    surrogates.learn([(T.ORGANIZATION, firm)], japanese=frozenset([firm]))
    new = surrogates.of(T.ORGANIZATION, firm)
    assert new != firm
    assert all(word in new for word in kept)
    assert not any(
        stem in new for stem in ("みかづき", "ひばり", "ほたる", "みなも", "ミナモ", "月影")
    )


def test_a_house_is_no_person() -> None:
    surrogates = learned()
    surrogates.learn([(T.PERSON, "月影亭")], japanese=frozenset(["月影亭"]))
    assert surrogates.of(T.PERSON, "月影亭").endswith("亭")


def test_a_value_of_many_like_words_ends_the_search_for_its_initials() -> None:
    """Every order of its words would be tried, which are as many as whoever wrote it likes."""
    leader, new = (" ".join(letter * size for size in range(1, 15)) for letter in "ak")
    assert letters_of(leader, new, f"{'a' * 30}b") == ""
    assert letters_of(leader, new, "aa") == "KK"
