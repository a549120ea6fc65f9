"""What refers to another place of its file goes on doing so, and what is nobody's stays."""

from __future__ import annotations

import base64
import re
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.known_search import times_in
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, labelled
from anonymization.text.vault import applied
from tests.anonymization.text.surrogates.test_make import surrogates


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT))


def masked(detector: TextDetector, *pieces: Piece) -> list[str]:
    masker = Masker(detector, b"a" * 32, scope="links", mode=Mode.SURROGATE)
    masker.learn(pieces)
    return [applied(piece.value, masker.edits(piece))[0] for piece in pieces]


def test_targets_of_a_zone_are_its_keys(detector: TextDetector) -> None:
    text = (
        "zone:\n  contact: hostmaster@torvekk.se\n"
        "  skarn: 10.4.7.12\n  shop: skarn.torvekk.se\n  quay-old: lune.torvekk.se\n"
    )
    (result,) = masked(detector, Piece(text))
    domain = re.search(r"hostmaster@(\S+)", result)
    assert domain and "torvekk" not in result
    assert f"shop: skarn.{domain[1]}\n" in result and "  skarn: " in result
    assert "lune." not in result and f".{domain[1]}\n" in result.partition("quay-old")[2]


def test_a_host_is_one_in_logs_and_in_mail(detector: TextDetector) -> None:
    text = "to=<ana.vos@brunkar.download>, relay=mx3.brunkar.download[203.0.114.9]:25"
    (result,) = masked(detector, Piece(text))
    hosts = re.search(r"@(\S+?)>, relay=mx3\.(\S+?)\[", result)
    assert hosts and hosts[1] == hosts[2] != "brunkar.download"


def test_entries_of_a_directory(detector: TextDetector) -> None:
    secret = base64.b64encode(b"{SSHA}" + base64.b64encode(bytes(range(24)))).decode()
    text = (
        "dn: cn=vdk_team07,dc=orlam,dc=se\ncn: vdk_team07\nmemberUid: katrin\n"
        "objectClass: posixGroup\n\n"
        "dn: uid=katrin,dc=orlam,dc=se\nuid: katrin\nobjectClass: inetOrgPerson\n"
        f"userPassword:: {secret}\n"
    )
    (result,) = masked(detector, Piece(text))
    assert "dn: cn=vdk_team07," in result and "\ncn: vdk_team07\n" in result
    new = re.search(r"\nuid: (\w+)\n", result)
    assert new and new[1] != "katrin" and f"dn: uid={new[1]}," in result
    assert f"memberUid: {new[1]}\n" in result
    made = base64.b64decode(result.partition("userPassword:: ")[2])
    assert made.startswith(b"{SSHA}") and len(base64.b64decode(made[6:])) == 24
    assert secret not in result


def test_identifiers_found_in_part_stay(detector: TextDetector) -> None:
    text = "owner: ledger_window\n\nsteps:\n  - run ledger_window before noon\n"
    assert masked(detector, Piece(text)) == [text]


def test_networks_hold_their_hosts(detector: TextDetector) -> None:
    text = (
        "lan = 10.0.0.0/24, gate 10.0.0.9; all of 10.0.0.0/8\n"
        "block = 2a0e:97c0:3d0::/44, site 2a0e:97c0:3d4::/48, host 2a0e:97c0:3d4:2::8\n"
    )
    (result,) = masked(detector, Piece(text))
    four = re.search(r"lan = (\S+), gate (\S+); all of (\S+)", result)
    six = re.search(r"block = (\S+), site (\S+), host (\S+)", result)
    assert four and six and four[3] == "10.0.0.0/8" and four[1] != "10.0.0.0/24"
    assert ip_address(four[2]) in ip_network(four[1])
    assert ip_network(six[2]).subnet_of(ip_network(six[1]))  # type: ignore[arg-type]
    assert ip_address(six[3]) in ip_network(six[2])


@pytest.mark.parametrize(
    "text",
    [
        "She has Dupuytren's contracture, and her brother Hodgkin lymphoma.",
        "We used the Barthel index and the Shapiro test.",
        "id 15.1.2507.39 (build 10.0.22621.4317)",
        "| Victor Predefined |",
    ],
)
def test_what_is_called_after_people_or_counts_versions(detector: TextDetector, text: str) -> None:
    assert masked(detector, Piece(text)) == [text]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Mozilla/5.0 (compatible; Yandrel/2.1; yandrel.crawl@mail.ru)", "Yandrel/2.1"),
        ("Pens of Norvik & Hale, also from hale@corwick.org", "Norvik & Hale"),
    ],
)
def test_programs_and_brands_are_nobody(detector: TextDetector, text: str, name: str) -> None:
    (result,) = masked(detector, Piece(text))
    assert name in result and result != text


def test_a_name_in_the_middle_of_a_compound_stays(detector: TextDetector) -> None:
    person, text = masked(
        detector, labelled("contact", "Marie Oxbrow"), Piece("Charcot-Marie-Tooth and Marie said")
    )
    assert "Marie" not in person and text.startswith("Charcot-Marie-Tooth ")


@pytest.mark.parametrize("name", ["浙江", "贵州", "内蒙古", "台湾"])
def test_a_province_alone_stays(detector: TextDetector, name: str) -> None:
    assert masked(detector, labelled("address", name)) == [name]


@pytest.mark.parametrize("town", ["厚木市", "高槻市", "静岡市葵区", "新北市板橋區", "成都市锦江区"])
def test_a_place_becomes_a_place(town: str) -> None:
    new = surrogates((EntityType.UNEXPLAINED, town)).of(EntityType.UNEXPLAINED, town)
    kinds = re.sub("[^市区區]", "", town)
    assert new != town and new[-1] == town[-1] and re.sub("[^市区區]", "", new) == kinds


@pytest.mark.parametrize(
    ("kind", "value", "form"),
    [
        (EntityType.LOCATION, "七丁目", "[一二三四五六八九]丁目"),
        (EntityType.LOCATION, "十四丁目", "十[一二三五六七八九]丁目"),
        (EntityType.ORGANIZATION, "株式会社ＶＥＬＫ", "株式会社[Ａ-Ｚ]+"),
    ],
)
def test_kinds_and_forms_stay(kind: EntityType, value: str, form: str) -> None:
    new = surrogates((kind, value)).of(kind, value)
    assert new != value and re.fullmatch(form, new)


def test_no_id_gets_a_nought_in_front() -> None:
    values = [f"EMP-{number}" for number in range(1, 60)]
    made = surrogates(*((EntityType.PERSON_NUMBER, value) for value in values))
    new = [made.of(EntityType.PERSON_NUMBER, value) for value in values]
    assert len({int(each.removeprefix("EMP-")) for each in new}) == len(values)


@given(st.text("ab -", max_size=40), st.sets(st.text("ab -", min_size=1, max_size=6), max_size=6))
def test_values_are_counted_as_one_by_one(text: str, values: set[str]) -> None:
    times = times_in(text, values)
    assert {value: times[value] for value in values} == {v: text.count(v) for v in values}
