"""One value has one surrogate, whatever stands around it and whichever kind found it."""

from __future__ import annotations

import re

import pytest

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.masking.one_value import whole_values
from tests.anonymization.text.masking.calls import mask_files

_KEYS = [bytes([number]) * 32 for number in range(1, 5)]


def _captured(pattern: str, text: str) -> set[str]:
    matches = set(re.findall(pattern, text, re.MULTILINE))
    assert matches, (pattern, text)
    return matches


@pytest.mark.parametrize("key", _KEYS)
@pytest.mark.parametrize("password", ["harrow-Velvet-61", "Pk7vQz2mLw9x", "blue.Kettle!58"])
def test_a_password_is_one_value(password: str, key: bytes) -> None:
    made = mask_files(
        {
            "settings.py": f'DB_PASSWORD = "{password}"\n'
            f'URL = "postgresql://orlamapp:{password}@db.orlam.se:5432/orders"\n'
            f'BROKER = "redis://:{password}@cache.orlam.se:6379/0"\n',
            "app.yaml": f"database:\n  user: orlamapp\n  password: {password}\n",
            "run.sh": f'export DB_PASSWORD="${{DB_PASSWORD:-{password}}}"\n'
            f'curl -u "orlamapp:{password}" https://db.orlam.se/health\n'
            "mysql -u root -p${DB_PASSWORD} orders\n",
        },
        key,
    )
    whole = "\0".join(made.values())
    assert password not in whole
    values = _captured(r'^DB_PASSWORD = "(.+)"$', whole)
    values |= _captured(r"postgresql://\w+:(.+)@db\.", whole)
    values |= _captured(r"redis://:(.+)@cache\.", whole)
    values |= _captured(r"^  password: (.+)$", whole)
    values |= _captured(r"DB_PASSWORD:-(.+)\}", whole)
    values |= _captured(r'-u "\w+:(.+)"', whole)
    assert len(values) == 1
    assert len(_captured(r"://(\w+):.+@db", whole) | _captured(r'-u "(\w+):', whole)) == 1
    assert "-p${DB_PASSWORD} orders" in whole and "export DB_PASSWORD=" in whole


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("docker run -e DB_KEY=${DB_KEY} app", "${DB_KEY}"),
        ("docker run -e DB_KEY=${DB_KEY} app", "DB_KEY}"),
        ("login -p $SHOP_PASS", "$SHOP_PASS"),
        ("set pw=%SHOP_PASS%", "%SHOP_PASS%"),
        ("password: {{ vault_shop }}", "{{ vault_shop }}"),
        ("key SHA256:Vb3nA9tYq0LkZ", "Vb3nA9tYq0LkZ"),
    ],
)
def test_references_and_fingerprints_are_no_values(text: str, value: str) -> None:
    start = text.rindex(value)
    finding = Finding(start, start + len(value), EntityType.SECRET, "any", 0.9)
    assert list(whole_values(text, [finding])) == []


@pytest.mark.parametrize("key", _KEYS)
@pytest.mark.parametrize(
    ("name", "mails"),
    [
        ("欧阳晓峰", ("ouyangxf", "xiaofeng.ouyang", "ouyangxiaofeng", "oyxf")),
        ("李雪梅", ("lixuemei", "xuemei.li", "lixm", "lxm")),
    ],
)
def test_addresses_follow_the_reading_of_chinese_names(
    name: str, mails: tuple[str, ...], key: bytes
) -> None:
    rows = "".join(f"{name},财务处,{mail}@hengrun.cn\n" for mail in mails)
    (made,) = mask_files({"staff.csv": "姓名,部门,邮箱\n" + rows}, key).values()
    assert name not in made and not any(f"{mail}@" in made for mail in mails)
    whole = re.findall(r"(\w[\w.]*)@", made)
    assert len(whole) == len(mails)
    joined = {mail.replace(".", "") for mail in whole}
    new_letters = {mail[0] for mail in joined} | {whole[1].rpartition(".")[2][0]}
    assert len(new_letters) <= 2  # of the family and of the given name
    if name == "李雪梅":
        given, _, family = whole[1].partition(".")
        assert whole[0] == family + given
        assert whole[2].startswith(family) and whole[3][0] == family[0]
    else:
        given, _, family = whole[1].partition(".")
        assert whole[2] == family + given and whole[0].startswith(family)


@pytest.mark.parametrize("key", _KEYS)
def test_japanese_names_are_one_with_posts_and_titles(key: bytes) -> None:
    made = mask_files(
        {
            "roster.csv": "施設名,管理者,電話\n"
            "老人ホームあおい,施設長 佐伯 美緒,03-5550-1177\n"
            "グループホームかえで,長谷部 健司,03-5550-1178\n",
            "memo.txt": "差出人：佐伯美緒\n宛先：長谷部健司\n\n長谷部様\n\n"
            "お疲れ様です。佐伯です。\n",
        },
        key,
    )
    roster, memo = made["roster.csv"], made["memo.txt"]
    assert not re.search("佐伯|美緒|長谷部|健司", roster + memo)
    director, head = (
        re.search(r"施設長 (\S+) (\S+),", roster),
        re.search(r"かえで,(\S+) (\S+),", roster),
    )
    assert director and head
    assert f"差出人：{director[1]}{director[2]}\n宛先：{head[1]}{head[2]}\n" in memo
    assert f"\n{head[1]}様\n" in memo and f"。{director[1]}です。" in memo


def test_domains_of_providers_stay() -> None:
    text = "Mara Thornby <m.thornby@gmail.com>, info@hotmail.com, lars.eide@orlam.no\n"
    (made,) = mask_files({"mail.txt": f"From: {text}"}).values()
    assert "thornby" not in made.lower() and "@gmail.com" in made and "orlam" not in made
    assert ", info@" in made and "hotmail" not in made  # of an office: its word stays
