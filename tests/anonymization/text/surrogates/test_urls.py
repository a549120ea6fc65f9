"""What programs need of a URL stays; host, user, password and private segments change."""

from __future__ import annotations

import re

import pytest

from anonymization.text.contracts import EntityType
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.scope_surrogates import Surrogates


def of_url(value: str, *others: tuple[EntityType, str]) -> str:
    surrogates = Surrogates(b"k" * 32, "scope", ScopeVocabulary())
    surrogates.learn([*others, (EntityType.URL, value)])
    return surrogates.of(EntityType.URL, value)


@pytest.mark.parametrize(
    ("value", "form", "gone"),
    [
        (
            "redis://cache-2.fennimore.internal:6380/3",
            r"redis://cache-2\.[a-z]+\.internal:6380/3",
            "fennimore",
        ),
        (
            "jdbc:mariadb://kbh-sql02.torvald.intern/reports",
            r"jdbc:mariadb://[a-z]+-sql02\.[a-z]+\.intern/reports",
            "torvald",
        ),
        (
            "mysql+pymysql://gwen_ro:cob-Web-221@db.fennimore.org:3306/tickets",
            r"mysql\+pymysql://[a-z]+_[a-z]+:\w+-\w+-\d+@db\.[a-z]+\.example:3306/tickets",
            "cob-Web",
        ),
        (
            "amqp://:p3Lican9@10.3.7.41:5672/1",
            r"amqp://:[a-z]\d[A-Z][a-z]+\d@[\d.]+:5672/1",
            "p3Lican9",
        ),
        (
            "https://hooks.slack.com/services/T9QRS/B55XY/k2Pq8Ww",
            r"https://hooks\.slack\.com/services/\w+/\w+/\w+",
            "k2Pq8Ww",
        ),
        (
            "https://teams.microsoft.com/l/meetup-join/88%3ameeting_Kq7",
            r"https://teams\.microsoft\.com/l/meetup-join/.+",
            "Kq7",
        ),
        (
            "https://fennimore.sharepoint.com/sites/otterplan",
            r"https://[a-z]+\.sharepoint\.com/sites/[a-z]+",
            "fennimore",
        ),
        (
            "s3://fennimore-cold-2c4/backup/otterplan",
            r"s3://[a-z0-9-]+/backup/[a-z]+",
            "fennimore",
        ),
        (
            "https://crm.fennimore.no/openapi/v3/members",
            r"https://crm\.[a-z]+\.example/openapi/v3/members",
            "fennimore",
        ),
        ("3307/otterplan", r"3307/[a-z]+", "otterplan"),
        ("postgres://shop_rw", r"postgres://[a-z]+_[a-z]+", "xx"),
        ("dwh03.corp.fennimore.ie", r"[a-z]+03\.[a-z]+\.[a-z]+\.example", "fennimore"),
    ],
)
def test_what_is_not_private_stays(value: str, form: str, gone: str) -> None:
    new = of_url(value)
    assert re.fullmatch(form, new), new
    assert gone not in new and new != value


@pytest.mark.parametrize("value", ["amqp", "https", "postgresql", "tickets", "5433/payouts"])
def test_a_part_that_names_nobody_stays(value: str) -> None:
    assert of_url(value) == value


def test_a_number_in_a_path_is_that_of_the_texts() -> None:
    surrogates = Surrogates(b"k" * 32, "scope", ScopeVocabulary())
    url = (EntityType.URL, "https://hr.fennimore.no/files/R-0417")
    number = (EntityType.CASE_NUMBER, "R-0417")
    surrogates.learn([url, number])
    assert surrogates.of(*url).endswith(f"/files/{surrogates.of(*number)}")
