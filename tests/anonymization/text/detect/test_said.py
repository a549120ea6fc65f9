"""Values behind the words that announce them, and what the same words leave alone."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import EntityType as T
from anonymization.text.detect.engine import TextDetector
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.said import find_said, is_label_of_value

_WORDS = TextDetector().dictionary


def said(text: str) -> dict[str, T]:
    """The announced values of a text with their kinds."""
    findings = find_said(text, MachineLines(text), _WORDS)
    return {text[finding.start : finding.end]: finding.type for finding in findings}


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("Her passport LX 55 812 07 expires in May.", "LX 55 812 07", T.PASSPORT),
        ("staff number is 44-871-2, desk near the door", "44-871-2", T.PERSON_NUMBER),
        ("National Insurance number QQ 82 11 09 C, thanks", "QQ 82 11 09 C", T.NATIONAL_ID),
        ("Her mobile, 0770-0 912 884.", "0770-0 912 884", T.PHONE),
        ("the door code is 7715#", "7715#", T.SECRET),
        ("serial number of my laptop C02ZX1YQMD6T", "C02ZX1YQMD6T", T.PERSON_NUMBER),
        ("She logs on to the portal as mtolg and waits", "mtolg", T.ACCOUNT),
        ("GET /api/v1/users/osvald.t/orders", "osvald.t", T.ACCOUNT),
        ("printer hostname LDN-PRN-0417 is down", "LDN-PRN-0417", T.ACCOUNT),
        ("the password is turnip lamp 77", "turnip lamp 77", T.SECRET),
        ("his temporary password cloudy-otter.", "cloudy-otter", T.SECRET),
        ("His payroll ref: PX/4471 is new", "PX/4471", T.PERSON_NUMBER),
        ("工号是A-00731，分机60217", "A-00731", T.PERSON_NUMBER),
        ("登录名qichi.g，初始密码hello世界88", "hello世界88", T.SECRET),
        ("水表编号:88120-3，请核对", "88120-3", T.PERSON_NUMBER),
        ("社員番号はE-20417です", "E-20417", T.PERSON_NUMBER),
        ("パスワードはumi-no-iroです", "umi-no-iro", T.SECRET),
        ("携帯は090 1234 5 678です", "090 1234 5 678", T.PHONE),
    ],
)
def test_the_words_decide_whatever_the_check_digit_and_the_groups(
    text: str, value: str, kind: T
) -> None:
    assert said(text).get(value) is kind


def test_a_round_amount_in_an_account_is_no_account() -> None:
    assert said("from our bank account 30000017") == {"30000017": T.BANK_ACCOUNT}
    assert said("from our bank account 30000000") == {}


def test_without_a_dictionary_a_bare_word_is_no_account() -> None:
    def named(text: str) -> set[str]:
        findings = find_said(text, MachineLines(text), frozenset())
        return {text[finding.start : finding.end] for finding in findings}

    assert named("In the line by line review, name each file.") == set()
    assert named("Her login is osvaldt.") == {"osvaldt"}
    assert named("Above three the signal is SELL; no Slack credentials are configured.") == set()
    assert named("Use the sender's account as header, since access is read-only.") == set()


def test_numbers_of_one_list_have_one_kind() -> None:
    codes = {"8841-2207": T.SECRET, "6610-9183": T.SECRET, "1204-7781": T.SECRET}
    assert said("Backup codes: 8841-2207, 6610-9183 and 1204-7781.") == codes


@pytest.mark.parametrize(
    "text",
    [
        "The invoice number: INV-2024-001 was paid.",
        "订单编号:A2024-0091",
        "注文番号:K-20240091",
        "Account 600100 Travel expenses",
        "the password must have 12 characters",
        "a password reset link was sent",
        "Customer Q3 2024 revenue grew",
        "[Slack #data-engineering] hello",
        "login = get_current_user()",
        "password = os.environ['DB_PASS']",
        "GitHub actions and Slack messages",
        "パスワードは8文字以上で設定してください",
        "密码长度不少于8位",
        "the room number 12 is on this floor",
        "mobile 2024 strategy",
        "/users/export-list/by-email",
        "host = args.host",
        "phone 12345678-1234-1234-1234-123456789012",
    ],
)
def test_the_same_words_have_other_uses(text: str) -> None:
    assert said(text) == {}


def test_labels_of_columns_and_keys() -> None:
    assert all(
        map(is_label_of_value, ("door_code", "nhsNumber", "Last name", "工号", "ログインID"))
    )
    assert not any(map(is_label_of_value, ("amount", "order number", "status", "数量", "title")))
