"""What programs read stays what they read: statements, references, versions, hosts of services."""

from __future__ import annotations

import re
from ipaddress import ip_address

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.known_values import short_forms
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, Visit, labelled
from anonymization.text.masking.plain import plain_edits
from anonymization.text.vault import applied

KEY = b"p" * 32


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT))


def masked(detector: TextDetector, *pieces: Piece | str) -> list[str]:
    masker = Masker(detector, KEY, scope="programs", mode=Mode.SURROGATE)
    read = [Piece(piece) if isinstance(piece, str) else piece for piece in pieces]
    masker.learn(read)
    return [applied(piece.value, masker.edits(piece))[0] for piece in read]


@pytest.mark.parametrize(
    "lines",
    [
        '    option host-name    "heronry";\n    ddns-zonename     "mossnet";\n',
        "  user name   wharf;\n  proxy_bind    quay_zone;\n",
        "server name    inner {\n  upstream-zone    outer {\n",
    ],
)
def test_the_first_word_of_a_statement_is_no_value(detector: TextDetector, lines: str) -> None:
    (new,) = masked(detector, lines)
    assert [line.split()[0] for line in new.splitlines()] == [
        line.split()[0] for line in lines.splitlines()
    ]


@pytest.mark.parametrize(
    "line",
    ['echo "数据库密码："$rootPwd2', "echo 'パスワード: '$db_pass1", 'echo "密码是 "${adminKey9}'],
)
def test_a_reference_to_a_variable_is_no_password(detector: TextDetector, line: str) -> None:
    assert masked(detector, line) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "login: xxxx",
        "user = XXXXX",
        "https://hooks.telvi.net/send?access_token=4f0b92xxxxxxxxxxxx31ce",
        "https://hooks.telvi.net/send?token=a81********5d2",
    ],
)
def test_what_somebody_has_blanked_stays(detector: TextDetector, line: str) -> None:
    assert masked(detector, line)[0].replace("telvi", "") == line.replace("telvi", "")


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("氏名", "【お客様名】"),
        ("担当者", "ご担当者"),
        ("フリガナ", "取引先・ブランド名"),
        ("会社名", "…ご担当者名"),
        ("last_name", "Administrator"),
        ("sender", "The Figma Team"),
    ],
)
def test_a_label_or_a_role_in_a_cell_is_nobody(
    detector: TextDetector, label: str, value: str
) -> None:
    assert masked(detector, labelled(label, value)) == [value]


@pytest.mark.parametrize(
    ("text", "office"),
    [
        ("事務長 榎並様", "事務長 "),
        ("課長補佐　蓑田様", "課長補佐　"),
        ("資材課 樋渡様", "資材課 "),
        ("センター長　五島様", "センター長　"),
    ],
)
def test_a_post_before_a_name_stays(detector: TextDetector, text: str, office: str) -> None:
    (new,) = masked(detector, text)
    assert new.startswith(office) and new.endswith("様") and new != text


@pytest.mark.parametrize("name", ["服部 純一", "渡部 悠真", "氷室 亮介"])
def test_a_family_name_that_ends_like_a_unit_is_one(detector: TextDetector, name: str) -> None:
    (new,) = masked(detector, f"{name}様")
    assert name.split()[0] not in new


def test_degrees_and_pronouns_beside_a_name_stay(detector: TextDetector) -> None:
    new = masked(
        detector,
        labelled("last_name", "Tressel, CPA, MBA"),
        labelled("last_name", "Wickham (they/them)"),
    )
    assert new[0].endswith(", CPA, MBA") and "Tressel" not in new[0]
    assert new[1].endswith(" (they/them)") and "Wickham" not in new[1]


@pytest.mark.parametrize(
    "line",
    [
        "Nginx 1.2.48 ok",
        "| Tomcat 9.0.31 |",
        "Google Chrome for Testing 141.0.7390.54",
        "Listening on :::8443 now",
        "Fortune 40 Under 40 winners",
    ],
)
def test_versions_ports_and_counts_are_no_days_numbers_or_streets(
    detector: TextDetector, line: str
) -> None:
    assert masked(detector, line) == [line]


def test_a_short_day_behind_another_word_still_moves(detector: TextDetector) -> None:
    assert "2.4.67" not in masked(detector, "Geburtsdatum: 2.4.67")[0]


@pytest.mark.parametrize(
    "text", ["IP: 121.40.150.100\nMOBILE_HOST: on", "phone host 61.135.10.100"]
)
def test_an_address_of_four_numbers_is_no_telephone(detector: TextDetector, text: str) -> None:
    (new,) = masked(detector, text)
    old, made = (re.findall(r"\d+(?:\.\d+){3}", each)[0] for each in (text, new))
    assert old != made and ip_address(made)


@pytest.mark.parametrize("mac", ["00:1b:44:11:3a:b7", "02-42-AC-11-00-02", "A4:5E:60:C3:9D:0F"])
def test_the_address_of_a_device_stays_one_of_a_device(detector: TextDetector, mac: str) -> None:
    (new,) = masked(detector, f"ethernet {mac}")
    made = new.split()[1]
    assert made != mac and made.isupper() == mac.isupper()
    assert int(made[:2], 16) & 3 == int(mac[:2], 16) & 3


def test_a_bracket_behind_a_parameter_is_no_part_of_it() -> None:
    text = "- [Call](https://meet.tolnava.org/j/88?pwd=Qx7mVnNGVk9EVnpt09Zk)"
    masker = Masker(TextDetector(DetectionConfig(english_model="")), KEY, Mode.SURROGATE, "s")
    visit = Visit(look=masker.edits, open_blob=lambda *_: None)
    new = applied(text, plain_edits(text, visit))[0]
    assert new.endswith(")") and "%29" not in new


def test_a_url_keeps_its_port_and_path(detector: TextDetector) -> None:
    path = ":8090/api/v2/accounts/61fe295ce4b0d2f75c6b8b4f/orders"
    (new,) = masked(detector, f"[INFO] the service url was http://mule.tolnava.org{path}")
    assert ":8090/api/v2/accounts/" in new and new.endswith("/orders")


def test_a_cookie_keeps_its_name(detector: TextDetector) -> None:
    value = "7c1be20c9d14a6f3b8820e6d5f4a9b31"
    (new,) = masked(detector, f"auth_token: 'shop-token={value}; path=/'")
    assert re.search(r"'shop-token=[0-9a-f]{32}; path=/'", new) and value not in new


def test_the_relay_of_a_service_stays_and_that_of_a_firm_does_not(detector: TextDetector) -> None:
    service = "EMAIL_HOST = 'smtp.pigeonmail.io'\nEMAIL_HOST_USER = 'apikey'\n"
    assert masked(detector, service) == [service]
    firm = "EMAIL_HOST = 'smtp.tolnava3.com'\nEMAIL_HOST_USER = 'brynhild.k7'\n"
    assert "tolnava3" not in masked(detector, firm)[0]


def test_all_addresses_of_a_domain_have_one(detector: TextDetector) -> None:
    text = "info@tolnava.us noreply@tolnava.us ana.ruiz@tolnava.us header.i=@tolnava.us"
    (new,) = masked(detector, text)
    domains = {each.partition("@")[2] for each in new.split()}
    assert len(domains) == 1 and domains != {"tolnava.us"} and "noreply@" in new


def test_a_bounce_names_whom_the_letter_was_for(detector: TextDetector) -> None:
    bounce, plain, known = masked(
        detector,
        "for bounces+508-9e2f-greta.lund=tolnava.org@mail.vimsend.net",
        "to greta.lund@tolnava.org",
        "from bounces+508-9e2f-greta.lund=tolnava.org@mail.snapchat.com",
    )
    whose = plain.split()[1]
    assert whose != "greta.lund@tolnava.org"
    assert f"-9e2f-{whose.replace('@', '=')}@" in bounce and "vimsend" not in bounce
    assert known.endswith("@mail.snapchat.com")


def test_a_login_is_the_one_of_its_address(detector: TextDetector) -> None:
    login, mail, small = masked(
        detector,
        labelled("LOGIN", "QLM4711"),
        labelled("EMAIL", "QLM4711@tolnava.edu"),
        labelled("build", "rvk2288"),
    )
    assert mail.startswith(f"{login}@") and login != "QLM4711"
    assert small == "rvk2288"  # no address shows it


def test_an_address_that_is_looked_up_backwards_agrees(detector: TextDetector) -> None:
    plain, reverse = masked(
        detector, "connect ip=212.85.192.77 port=25", "lookup 77.192.85.212.bl.spamcop.net."
    )
    address = plain.split("=")[1].split()[0]
    backwards = ".".join(reversed(address.split(".")))
    assert address != "212.85.192.77" and reverse == f"lookup {backwards}.bl.spamcop.net."


def test_the_end_of_an_address_in_code_agrees(detector: TextDetector) -> None:
    code = "hosts = ['10.31.44.7', '10.31.44.9']\nif '.44.7' in host:\n    stop('.55.7')"
    (new,) = masked(detector, code)
    first = re.findall(r"10\.\d+\.\d+\.7", new)[0]
    assert f"'.{first.split('.')[2]}.7' in host" in new and "'.55.7'" in new


def test_the_signature_of_a_letter_stays(detector: TextDetector) -> None:
    head = (
        "DKIM-Signature: a=rsa-sha256; d=google.com; s=x7; see what the sender wrote here;\n"
        "\tb=Qm7fR2xLk9VtZp4sWd8YhJ3nBc6Ga1Eu+oTi5KvMzXrNqHwS0yDfPlCjUb2eAgIk\n"
    )
    assert "Qm7fR2xLk9VtZp4sWd8Yh" in masked(detector, head)[0]


def test_a_firm_is_not_what_a_sentence_says_before_it(detector: TextDetector) -> None:
    (new,) = masked(detector, "本平台运行五年，系重庆柏溪云仓供应链有限公司旗下品牌")
    assert "，系" in new and "柏溪云仓" not in new
    full = masked(detector, labelled("corporation_fullname", "柏溪云仓"))
    assert full != ["柏溪云仓"]


def test_the_association_of_a_name_makes_nobody_of_its_end() -> None:
    assert (EntityType.PERSON, "和会") not in set(short_forms("梁和会"))
    assert (EntityType.PERSON, "次長") not in set(short_forms("林次長"))
    assert (EntityType.PERSON, "若兰") in set(short_forms("祁若兰"))


def test_a_place_of_several_words_is_no_person(detector: TextDetector) -> None:
    region = "San Fermo, California, United States"
    assert masked(detector, labelled("location_name", region)) == [region]
