"""Roles, programs, commands and numbers of work stay; what refers to one another agrees."""

from __future__ import annotations

import re

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.code_text import fenced_spans
from anonymization.text.masking.common_words import is_of_role
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, labelled
from anonymization.text.vault import applied
from tests.anonymization.text.surrogates.test_make import surrogates


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT))


def masker(detector: TextDetector) -> Masker:
    return Masker(detector, b"r" * 32, scope="roles", mode=Mode.SURROGATE)


def masked(detector: TextDetector, *texts: str | Piece) -> list[str]:
    worker = masker(detector)
    pieces = [Piece(text) if isinstance(text, str) else text for text in texts]
    worker.learn(pieces)
    return [applied(piece.value, worker.edits(piece))[0] for piece in pieces]


@pytest.mark.parametrize("word", ["admin", "git", "Backup", "majordomo", "Microsoft", "info"])
def test_words_of_roles_are_nobody(word: str) -> None:
    assert is_of_role(word) and not is_of_role("Jordan") and not is_of_role("tamberlo")


@pytest.mark.parametrize(
    "places",
    [
        ("bind as cn=sysadmin,dc=orlam,dc=se", "stats socket *:1999 level sysadmin"),
        ("the log is in /home/backup/today.log", "run the backup before noon"),
        ("copy it to /home/db_restore/x", "db_restore starts at four"),
    ],
)
def test_a_role_in_the_place_of_a_name_stays_everywhere(
    detector: TextDetector, places: tuple[str, str]
) -> None:
    own, other = masked(detector, *places)
    assert other == places[1]
    assert set(re.findall(r"\w+", places[1])) & set(re.findall(r"\w+", own))


def test_a_word_of_an_address_renames_no_product_and_no_role(detector: TextDetector) -> None:
    texts = [
        "mail majordomo@quillhost.org, google@quillhost.org or qdesk-noreply@quillhost.org",
        "More majordomo info: ask Google Maps",
        "QDESK-Sec Nexus, run by qdesk",
    ]
    assert masked(detector, *texts)[1:] == texts[1:]


def test_a_capital_may_be_somebody(detector: TextDetector) -> None:
    (own,) = masked(detector, labelled("last_name", "Baker"))
    assert own != "Baker"


@pytest.mark.parametrize("role", ["销售", "采购", "法务"])
def test_what_a_family_name_stands_before_is_no_name(detector: TextDetector, role: str) -> None:
    texts = [f"联系人：王{role}", f"{role}部 {role}编号"]
    assert masked(detector, *texts)[1] == texts[1]


@pytest.mark.parametrize(
    "text",
    [
        "小計 3 円\n@endforelse\n合計",
        "@section('x')\n内容\n@endsection\n",
        "限制组：setquota -g coders",
        "Add it:\n@retryable\ndef call():\n    pass\n",
        "端口号: 41022",
        "SSHポート番号: 22022",
        "ポート番号: 標準の22ではなく41022を使用しています",
        "It is 10.5281/zenodo.4471902 and was published.",
        "Subject: CS2040 midterm results",
        "INSERT INTO `kw_client` VALUES (410007, 'x');",
        "MAIL_PASSWORD=mail-password",
        "define('PASSWORD_RESET_FROM_ADDRESS', 'helpline@yourdomain.com');",
        "SMTP_HOST=smtp.office365.com",
        "SMTP_USER=your-account@gmail.com",
        "export BUILD_USER_UID=yourself",
    ],
)
def test_what_a_program_or_a_number_says_stays(detector: TextDetector, text: str) -> None:
    assert masked(detector, text) == [text]


def test_names_that_attackers_tried_stay_in_each_form_of_the_line(detector: TextDetector) -> None:
    tried = ["oracle9", "vex", "solvik"]
    lines = [
        f"sshd[{at}]: {form} {name} from 198.51.100.{at} port 5{at}022"
        for at, name in enumerate(tried)
        for form in ("Invalid user", "Failed password for invalid user")
    ]
    lines += [f"sshd[7]: Connection closed by invalid user {name} 198.51.100.9" for name in tried]
    (after,) = masked(detector, "\n".join(lines))
    assert all(after.count(f" user {name} ") == 3 for name in tried)
    (other,) = masked(detector, "sshd[4]: Accepted password for mwatson from 198.51.100.4 port 9")
    assert "mwatson" not in other


def test_a_login_is_one_in_prose_and_in_commands(detector: TextDetector) -> None:
    commands = "```ini\nUser quelvorn\n```\n\n```bash\ncd /home/quelvorn/site\n```\n"
    text = f"ユーザー名: quelvorn\n\n{commands}"
    assert fenced_spans(text)
    (after,) = masked(detector, text)
    assert "quelvorn" not in after and len(set(re.findall(r"User (\w+)|home/(\w+)", after))) == 2


def test_one_domain_has_one_name(detector: TextDetector) -> None:
    text = "to: info@company.com, oda.renquist@company.com, admin@company.com, x@other.company.com"
    (after,) = masked(detector, text)
    assert "@company.com" not in after and "admin@" in after
    samples = "jane.doe@example.com or admin@example.com"
    assert masked(detector, "admin@example.com") == ["admin@example.com"]
    (mixed,) = masked(detector, f"{samples}, oda.renquist@example.com")
    assert mixed.startswith(samples) and mixed.endswith("@example.com")  # nobody's (RFC 2606)
    assert "oda.renquist" not in mixed


@pytest.mark.parametrize("days", ["6/13 and 6/27", "12/24\n1/7"])
def test_days_without_a_year_move_together_or_not_at_all(detector: TextDetector, days: str) -> None:
    worker = TextDetector(at_level(DetectionConfig(), MaskingLevel.STRICT))
    text = f"{days}\n## 7月11日\n会議"
    assert masked(worker, text) == [text]
    dated = f"{days}\n## 2021年7月11日"
    assert masked(worker, dated) == [dated]
    for alone in ("## 7月11日\n会議", "## 2021年7月11日"):
        assert masked(worker, alone) != [alone]


def test_a_town_in_a_column_of_names_of_places(detector: TextDetector) -> None:
    rows = "('Tarvald Ltd', 'Pathum Thani', '02-170-8253'),\n('Brun Ltd', 'Samut Prakan', 'x')"
    (after,) = masked(detector, f"INSERT INTO c (name, country, phone) VALUES\n{rows};")
    assert "'Pathum Thani'" in after and "'Samut Prakan'" in after and "8253" not in after


def test_numbers_keep_what_says_their_kind() -> None:
    made = surrogates()
    phone = made.of(EntityType.PHONE, "035-352-446-48 Ext : 0,123")
    assert re.fullmatch(r"03\d-\d{3}-\d{3}-\d\d Ext : \d,\d{3}", phone)
    assert made.of(EntityType.PHONE, "02-021-6000 Ext").endswith(" Ext")
    degrees = made.of(EntityType.UNEXPLAINED, "+172.364245")
    assert degrees.startswith("+172.") and degrees != "+172.364245"
    ids = [made.of(EntityType.PERSON_NUMBER, f"66-{n}-TNT") for n in (148, 149)]
    assert all(each.startswith("66-") and each.endswith("-TNT") for each in ids)
    firm = made.of(EntityType.ORGANIZATION, "SERVICE PRESS (MALAYSIA) COMPANY LIMITED")
    assert " (MALAYSIA) " in firm and "SERVICE" not in firm


@pytest.mark.parametrize("number", ["02-1361691", "03-5542210"])
def test_a_telephone_number_is_no_number_of_a_firm(detector: TextDetector, number: str) -> None:
    (after,) = masked(detector, labelled("phone", number))
    assert after[:3] == number[:3] and after != number
