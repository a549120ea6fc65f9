"""A value that also stands where it may not change stays, and goes to the list."""

from __future__ import annotations

import json
import re

import pytest

from tests.anonymization.text.masking.calls import mask_files

_LOGINS = ["reporter", "courier", "harvester"]


@pytest.mark.parametrize("login", _LOGINS)
@pytest.mark.parametrize(
    "other",
    [
        "mysqldump -u {} shop > dump.sql\n",
        "chown {}:{} /srv/data\n",
        "cat /srv/{}/queue\n",
    ],
)
def test_a_login_that_is_a_word_changes_everywhere_or_nowhere(login: str, other: str) -> None:
    grant = f"GRANT SELECT ON shop.* TO '{login}'@'10.4.7.21' IDENTIFIED BY 'vK8#ostrich91';\n"
    script = f'curl -u "{login}:vK8#ostrich91" https://db.orlam.se/health\n' + other.format(
        login, login
    )
    made = mask_files({"grants.sql": grant, "run.sh": script})
    whole = "".join(made.values())
    before = (grant + script).count(login)
    assert whole.count(login) in (0, before)
    assert "ostrich91" not in whole


def test_a_login_of_a_known_person_is_replaced_though_it_is_a_word() -> None:
    staff = {"staff": [{"name": "Tobias Anker", "login": "tanker"}]}
    log = "ssh tanker@db.orlam.se\n"
    made = mask_files({"staff.json": json.dumps(staff), "run.sh": log})
    login = json.loads(made["staff.json"])["staff"][0]["login"]
    assert login != "tanker"
    assert not re.search(r"\btanker\b", made["staff.json"])


@pytest.mark.parametrize("key", [bytes([number]) * 32 for number in range(1, 4)])
def test_links_of_columns_hold_in_all_forms(key: bytes) -> None:
    rows = [
        ("E20417", "Henrike Vossbeck", "Tobias Anker", "E20388", "h.vossbeck@orlam.se"),
        ("E20388", "Tobias Anker", "Marit Solberg", "E20301", "t.anker@orlam.se"),
        ("E20301", "Marit Solberg", "", "", "marit.solberg@orlam.se"),
    ]
    head = "EMPLOYEE_ID,NAME,SUPERVISOR,MANAGER_ID,EMAIL"
    table = "\n".join([head, *map(",".join, rows)]) + "\n"
    people = [{"id": r[0], "name": r[1], "supervisor": r[2] or None} for r in rows]
    sql = "".join(f"INSERT INTO staff VALUES ('{r[0]}', '{r[1]}', '{r[3]}');\n" for r in rows)
    url = "https://hr.orlam.se/mail?to=h.vossbeck%40orlam.se&id=E20417\n"
    made = mask_files(
        {"s.csv": table, "s.json": json.dumps(people), "s.sql": sql, "s.txt": url}, key
    )
    new = [line.split(",") for line in made["s.csv"].splitlines()[1:]]
    by_id = {row[0]: row for row in new}
    assert len(by_id) == len(rows)
    for row in new[:2]:
        assert by_id[row[3]][1] == row[2]
    assert [each["id"] for each in json.loads(made["s.json"])] == [row[0] for row in new]
    assert [each["name"] for each in json.loads(made["s.json"])] == [row[1] for row in new]
    assert all(f"'{row[0]}', '{row[1]}', '{row[3]}'" in made["s.sql"] for row in new)
    assert new[0][4].replace("@", "%40") in made["s.txt"] and f"id={new[0][0]}" in made["s.txt"]
    assert not re.search("vossbeck|anker|solberg|E20", "".join(made.values()), re.IGNORECASE)
