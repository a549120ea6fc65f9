"""Ordinary and technical words stay, and one false finding does not rename a word everywhere."""

from __future__ import annotations

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.code_text import fixed_spans
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, labelled
from anonymization.text.vault import applied

KEY = b"n" * 32


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def masked(detector: TextDetector, *pieces: Piece) -> list[str]:
    masker = Masker(detector, KEY, Mode.SURROGATE, "scope")
    masker.learn(pieces)
    return [applied(piece.value, masker.edits(piece))[0] for piece in pieces]


@pytest.mark.parametrize(
    "text",
    [
        'currentOperator: "Linux"',
        "INSERT INTO grants VALUES (7, 'GRANT_writer', 1);",
        "const adminPassword = `load-${randomBytes(4)}-Secret9`;",
        "- client_id: 'x'\n  client_secret: 'y'\n  client_name: 'Gitea'",
        '203.0.113.8 - - [07/May/2019:10:11:12 +0000] "GET /b.css HTTP/1.1" 304 1873',
    ],
    ids=["product", "constant", "template", "program", "status"],
)
def test_what_a_program_reads_stays(detector: TextDetector, text: str) -> None:
    masker = Masker(detector, KEY, Mode.SURROGATE, "scope")
    changed = [
        edit for edit in masker.edits(Piece(text)) if edit.type not in ("DATE", "IP_ADDRESS")
    ]
    assert changed == []


@pytest.mark.parametrize("cell", ["Frau.", "retired", "gardener", "Portugal"])
def test_titles_trades_and_countries_are_no_firms(detector: TextDetector, cell: str) -> None:
    assert masked(detector, labelled("Company Name", cell)) == [cell]


def test_numbered_samples_stay_whole(detector: TextDetector) -> None:
    cells = [labelled("First Name", f"Visitor {number}") for number in (1, 2, 10, 12, 21)]
    assert masked(detector, *cells) == [cell.value for cell in cells]


def test_a_known_value_is_no_part_of_a_longer_one(detector: TextDetector) -> None:
    masker = Masker(detector, KEY, Mode.SURROGATE, "scope", ((EntityType.CASE_NUMBER, "QX-41"),))
    (text,) = masker.mask_texts(["QX-41 follows QX-410 and QX-4"])
    assert text.endswith("follows QX-410 and QX-4") and not text.startswith("QX-41 ")


def test_a_role_in_an_address_is_no_name(detector: TextDetector) -> None:
    texts = ["write to platform-qdesk@harrow.example", "tables = ['qdesk', 'qdesk_shifts']"]
    assert masked(detector, *map(Piece, texts))[1] == texts[1]


def test_an_account_in_an_identifier_changes_only_where_it_stands(detector: TextDetector) -> None:
    text = "tamberlo_port: 80\npath: /opt/tamberlo\nkey: build@tamberlo\n"
    (after,) = masked(detector, Piece(text, fixed=fixed_spans("yaml", text)))
    assert "tamberlo_port: 80\npath: /opt/tamberlo\n" in after


def test_one_firm_has_one_stem_in_its_column(detector: TextDetector) -> None:
    cells = ["Velmora", "VELMORA", "Velmora, Ltd", "Velmora Ltd", "Institute of Velmora"]
    after = masked(detector, *(labelled("company", cell) for cell in cells))
    stems = {cell.casefold().split(",")[0].split()[0] for cell in after[:4]}
    assert len(stems) == 1 and "velmora" not in stems
    assert after[4].casefold().endswith(stems.pop())


def test_one_person_has_one_name_whatever_a_line_looks_like(detector: TextDetector) -> None:
    text = (
        "Present: Gareth Whitlam, Oda Renquist.\n\n- Gareth & Oda prepared it\n"
        "- Update Gareth / Oda about it\n- Gareth:\n    - is away\nWe heard from Gareth later.\n"
    )
    (after,) = masked(detector, Piece(text))
    assert "Gareth" not in after
    (given,) = {line.split()[-2] for line in after.splitlines() if line.startswith("We heard")}
    assert after.count(given) == text.count("Gareth")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("詳しくはRelease Notesを参照してください。", "を参照してください。"),
        ("宛先: 各チーム様", "各チーム様"),
    ],
)
def test_a_particle_is_no_part_of_a_name(detector: TextDetector, text: str, kept: str) -> None:
    assert masked(detector, Piece(text))[0].endswith(kept)


def test_a_title_stays_behind_its_name(detector: TextDetector) -> None:
    (after,) = masked(detector, labelled("宛先", "早瀬課長"))
    assert after.endswith("課長") and "早瀬" not in after


def test_hosts_of_ones_own_domain_are_masked_and_agree(detector: TextDetector) -> None:
    hosts = ["git.tamberlo.net", "photos.tamberlo.net", "sign.tamberlo.net", "www.sqlite.org"]
    text = "".join(f"url: https://{host}/x\n" for host in hosts) + "domain: tamberlo.net\n"
    (after,) = masked(detector, Piece(text, fixed=fixed_spans("yaml", text)))
    assert "tamberlo" not in after and "www.sqlite.org" in after
    domain = after.split("domain: ")[1].strip()
    assert after.count(domain) == len(hosts)


def test_a_quote_behind_a_backslash_keeps_the_string_open() -> None:
    text = "INSERT INTO notes VALUES (1, 'it\\'s Oda Renquist', '2020-02-03');"
    assert not any(s <= text.index("Oda") < e for s, e in fixed_spans("sql", text))
    assert not any(s <= text.index("2020") < e for s, e in fixed_spans("sql", text))


def test_a_password_beside_a_user_is_a_secret_whatever_it_is(detector: TextDetector) -> None:
    (after,) = masked(detector, Piece("import --username loader --password walnut --table t"))
    assert "walnut" not in after and after.startswith("import --username loader --password ")


def test_a_hash_keeps_its_method(detector: TextDetector) -> None:
    hashed = "$2b$12$Qp4ZrW7vTn1sLxKc8JfUeO5dRgHyMbVtAaXq3EiNw6ZsPlCkYoDuG"
    (after,) = masked(detector, Piece(f"INSERT INTO logins VALUES (1, '{hashed}');"))
    assert hashed not in after and "'$2b$12$" in after


def test_a_row_of_a_table_is_no_head_of_the_rows_below_it(detector: TextDetector) -> None:
    table = """| 步骤 | 类型 | 要求 |
|---|---|---|
| 1 | 口头提醒 | 口头告知，无需员工签名 |
| 2 | 书面警告 | 最低30天改进期限 |
| 3 | 最终评估 | 邮件或签名信函均可 |
"""
    assert masked(detector, Piece(table)) == [table]
    signed = "| 日期 | 签名 |\n|---|---|\n| 周一 | 欧阳明月 |\n| 周二 | 陈思远 |\n"
    (new,) = masked(detector, Piece(signed))
    assert "欧阳明月" not in new
    assert "陈思远" not in new


def test_what_a_program_shows_of_its_own_is_nobody(detector: TextDetector) -> None:
    own = [labelled("display_name", value) for value in ("支付网关", "邮件服务", "库存接口")]
    assert masked(detector, *own) == ["支付网关", "邮件服务", "库存接口"]
    assert masked(detector, labelled("display_name", "欧阳明月")) != ["欧阳明月"]
