"""Days in keys and ids move with the others; accounts of programs and offices stay."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.detect.wording import is_service_login
from anonymization.text.masking.forms import edits_of
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.text.vault import applied


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.FULL))


def masked(detector: TextDetector, text: str, path: str) -> str:
    masker = Masker(detector, bytes(32), Mode.SURROGATE, "s")

    def learn(piece: Piece) -> list[object]:
        masker.learn([piece])
        return []

    edits_of(text, path, learn)  # type: ignore[arg-type]
    return applied(text, edits_of(text, path, masker.edits))[0]


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("2031-01-26", "%Y-%m-%d"),
        ("20310126_153028_a.pdf", "%Y%m%d_153028_a.pdf"),
        ("2031-01-26_report.pdf", "%Y-%m-%d_report.pdf"),
        ("report_20310126_final.pdf", "report_%Y%m%d_final.pdf"),
        ("INV-20310126-007", "INV-%Y%m%d-007"),
        ("PO20310126153028", "PO%Y%m%d153028"),
        ("/backup/daily_20310126/x", "/backup/daily_%Y%m%d/x"),
    ],
)
def test_a_day_moves_in_a_key_and_in_a_value(
    detector: TextDetector, written: str, form: str
) -> None:
    text = json.dumps({written: {"received_at": "Sun, 26 Jan 2031 15:29", "file": written}})
    new = json.loads(masked(detector, text, "a.json"))
    (key,) = new
    day = datetime.strptime(new[key]["received_at"][5:16], "%d %b %Y").replace(tzinfo=UTC)
    assert day.date() != date(2031, 1, 26)
    assert key == new[key]["file"] == day.strftime(form)


@pytest.mark.parametrize("key", ["at", "time", "iat", "created", "mtime"])
def test_seconds_of_a_clock_move_under_their_keys(detector: TextDetector, key: str) -> None:
    text = json.dumps({key: 1769421590, "day": "2026-01-26", "size": 1769421588})
    new = json.loads(masked(detector, text, "a.json"))
    day = datetime.fromtimestamp(new[key], UTC).date()
    assert day.isoformat() == new["day"] != "2026-01-26"
    assert new["size"] == 1769421588


@pytest.mark.parametrize("number", ["20319926153028", "120310126153028", "20310126.153028"])
def test_numbers_that_are_no_time_stay(detector: TextDetector, number: str) -> None:
    assert number in masked(detector, f"The number {number} of 2031-02-03.", "a.txt")


@pytest.mark.parametrize(
    "login", ["svc_backup", "deploy-bot", "monitoring-agent", "appuser", "dbadmin", "etl_job2"]
)
def test_accounts_of_programs_are_nobody(detector: TextDetector, login: str) -> None:
    assert is_service_login(login)
    text = f"user={login}\nssh {login}@db.quillby.internal\nsudo useradd {login}\n"
    assert masked(detector, text, "a.txt").count(login) == text.count(login)


@pytest.mark.parametrize("login", ["svc_uhlenkamp", "jane-admin", "john.user", "hobart-bot"])
def test_accounts_with_a_name_are_somebody(login: str) -> None:
    assert not is_service_login(login)


def test_an_office_is_no_name_elsewhere(detector: TextDetector) -> None:
    text = "Tips for Success\nPeople Operations: people@quillby.net, success@quillby.net\n"
    new = masked(detector, text, "a.md")
    assert new.startswith("Tips for Success\nPeople Operations: people@")
    assert "quillby" not in new


def test_the_account_of_a_program_in_a_cloud_stays(detector: TextDetector) -> None:
    text = "SERVICE_ACCOUNT_EMAIL: harbour-app-sa@harbour-417.iam.gserviceaccount.com\n"
    assert masked(detector, text, "a.yml") == text


@pytest.mark.parametrize("head", ["## Contacts Ahead", "Tips for Success", "### Whom to Ask"])
def test_a_heading_above_an_address_is_no_signature(detector: TextDetector, head: str) -> None:
    text = f"{head}\n- Ask early.\n- Desk: helpdesk@quillby.net\n"
    assert masked(detector, text, "a.md").startswith(f"{head}\n- Ask early.\n")


def test_a_name_above_an_address_is_a_signature(detector: TextDetector) -> None:
    new = masked(detector, "Orla Brandt\nQuillby Partners\norla.brandt@quillby.net\n", "a.txt")
    assert "Orla" not in new and "Brandt" not in new and "Quillby" not in new


@pytest.mark.parametrize("label", ["MANAGER_ID", "manager_id", "Supervisor ID"])
def test_numbers_of_managers_follow_those_of_their_staff(
    detector: TextDetector, label: str
) -> None:
    table = f"EMPLOYEE_ID,SALARY,{label}\n4107,9100,\n4108,4107,4107\n4109,7200,4108\n"
    header, *rows = masked(detector, table, "staff.csv").splitlines()
    (first, *_), (second, salary, boss), (_, _, other) = (row.split(",") for row in rows)
    assert header == table.splitlines()[0]
    assert first != "4107" and (boss, other) == (first, second)
    assert salary == "4107"  # an amount is no number of somebody


def test_a_version_of_a_browser_is_no_address(detector: TextDetector) -> None:
    agent = "Mozilla/5.0 (Windows; U; en-US; rv:1.9.2.12) Gecko/20101026 Firefox/3.6.12"
    line = f'198.51.100.7 - - [01/Mar/2031:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "{agent}"\n'
    assert agent in masked(detector, line, "access.log")
