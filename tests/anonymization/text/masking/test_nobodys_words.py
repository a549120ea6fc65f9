"""Names of files, constants, placeholders, releases and roles are nobody's; what a person is
called beside them still goes."""

from __future__ import annotations

import re

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, labelled

KEY = b"n" * 32


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def masked(detector: TextDetector, *texts: str) -> list[str]:
    return Masker(detector, KEY, Mode.SURROGATE, "s").mask_texts(list(texts))


@pytest.mark.parametrize(
    "text",
    [
        "2031-04-20 15:39:05 shelves.py:34 line [INFO] 写入数据库，创建成功\n"
        "2031-04-20 15:41:41 shelves.py:59 line [INFO] 写入数据库，创建成功",
        'Invoke-WebRequest -OutFile "$env:TEMP\\quorl.zip"\nCopy-Item "$env:TEMP\\quorl" $Dest',
        "reg query HKLM\\quorlstore",
        '"tool_consumer_profile": "__TODO_IS_THIS_A_PROFILE_OR_ONLY_A_URL_SEE_5_6__",',
        "序号:1,名字:学员1号,分数:0",
        "[build](http://10.0.0.0/viewType.html?buildTypeId=Quay_QuayServerDev250_2)",
        'CONTACT="email@domain.com" # or ops-team@example.com',
        "Late again: the release (Q2 2031) and pkgsrc release 2031Q3.",
    ],
)
def test_names_of_files_constants_and_placeholders_stay(detector: TextDetector, text: str) -> None:
    def without_days(said: str) -> str:
        return re.sub(r"2\d{3}-\d\d-\d\d", "", said)

    (own,) = masked(detector, text)
    assert without_days(own) == without_days(text)


def test_a_quarter_of_the_text_moves_with_its_days(detector: TextDetector) -> None:
    (own,) = masked(detector, "Signed on 2031-05-14, sales of Q2 2031 follow.")
    assert "2031" not in own


def test_an_address_under_any_label_is_one(detector: TextDetector) -> None:
    host, said = masked(detector, '[string]$HostName = "8.163.137.149"', "ping 8.163.137.149")
    address = re.findall(r"\d+(?:\.\d+){3}", host)
    assert address == re.findall(r"\d+(?:\.\d+){3}", said) != ["8.163.137.149"]
    assert all(int(number) < 256 for number in address[0].split("."))


def test_a_role_behind_a_family_name_stays(detector: TextDetector) -> None:
    (own,) = masked(detector, labelled("姓名", "王员工").text)
    assert own.endswith("员工") and "王" not in own


@pytest.mark.parametrize("local", ["tech.manager", "html", "parent", "mysql-admin"])
def test_things_and_roles_in_an_address_stay(detector: TextDetector, local: str) -> None:
    (own,) = masked(detector, f"ask {local}@quillhost.org or oda.renquist@quillhost.org")
    assert f"{local}@" in own and "quillhost" not in own and "renquist" not in own


def test_what_a_machine_is_for_stays_in_a_login(detector: TextDetector) -> None:
    (own,) = masked(detector, 'user="quorlin@prod-quorlshop"')
    assert "@prod-" in own and "quorl" not in own


def test_a_name_of_a_table_needs_more_than_a_capital(detector: TextDetector) -> None:
    table = "| Capture | Quorsyl Prime | Northstar |\n| Call | Helen Mercer | Northstar |\n"
    (own,) = masked(detector, table)
    assert "Quorsyl Prime" in own and "Mercer" not in own


def test_names_in_a_chinese_column_stay_chinese_beside_japanese_ones(
    detector: TextDetector,
) -> None:
    chinese = [labelled("姓名", name) for name in ("胡莉", "刘根梅", "章琪", "罗桃美")]
    japanese = [labelled("姓名", name) for name in ("山本さん", "森本　真由美")]
    masker = Masker(detector, KEY, Mode.SURROGATE, "s")
    masker.learn([*chinese, *japanese])

    def surrogate(piece: Piece) -> str:
        (edit,) = masker.edits(piece)
        return edit.new

    assert [len(surrogate(piece)) for piece in chinese] == [2, 3, 2, 3]


def test_a_date_in_the_name_of_a_file_moves_with_that_of_the_text(detector: TextDetector) -> None:
    (own,) = masked(
        detector, "# 2031-07-30_003_ui_rules.yaml and quorl-2031-07-30-en.html of (2031-07-30)"
    )
    assert "2031-07-30" not in own and len(set(re.findall(r"\d{4}-\d\d-\d\d", own))) == 1


def test_the_group_of_a_command_and_the_letters_of_a_code_stay(detector: TextDetector) -> None:
    (own,) = masked(detector, "sudo useradd -G acconts quorlvin\n- **職員コード**: STAFF071\n")
    assert "-G acconts" in own and "quorlvin" not in own
    assert "STAFF" in own and "STAFF071" not in own
