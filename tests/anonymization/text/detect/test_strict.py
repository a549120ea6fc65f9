"""What the level `strict` masks by its field or its position in a sentence."""

from __future__ import annotations

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType
from anonymization.text.detect.engine import TextDetector

_STRICT = at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT)


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(_STRICT)


@pytest.fixture(scope="module")
def of_ages() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(), MaskingLevel.STRICT))


def covered(detector: TextDetector, text: str, value: str) -> bool:
    """Does a finding touch every letter and digit of the value?"""
    (findings,) = detector.find([text])
    start = text.index(value)
    offsets = {o for f in findings for o in range(f.start, f.end)}
    return all(start + n in offsets for n, char in enumerate(value) if char.isalnum())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Owner: Quiet Meadow", "Quiet Meadow"),
        ("owner: pebble", "pebble"),
        ("Salary: 51,300", "51,300"),
        ("Diagnosis: winter vertigo", "winter vertigo"),
        ("lat: 47.11202", "47.11202"),
        ("[mail]\nhostname = teaspoon\n", "teaspoon"),
        ("hosts:\n  - walrus-03\n  - lantern.reef.lan\n", "walrus-03"),
        ("run --customer acornhill --dry", "acornhill"),
        ("level=info user=daffodil action=open", "daffodil"),
        ("CUSTOMERS = ['Golden Spoon Trading', 'Paper Lantern']", "Paper Lantern"),
        ("| Contact | Fee |\n|---|---|\n| Stormy Lake | 3 |\n", "Stormy Lake"),
        ("<owner>Ivory Bell</owner>", "Ivory Bell"),
        ("病史: 偏头痛", "偏头痛"),
        ("月給: 274,000", "274,000"),
        ("Kunde: Abendrot", "Abendrot"),
        ("Fournisseur : Belle Saison", "Belle Saison"),
    ],
)
def test_a_field_decides(detector: TextDetector, text: str, value: str) -> None:
    assert covered(detector, text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("We spoke with Meadow and agreed on a price for the boat.", "Meadow"),
        ("The order of Wooden Spoon Bakers is late because of snow.", "Wooden Spoon Bakers"),
        ("As Baker pointed out, nothing is lost in the end.", "Baker"),
        ("Call Dusty before noon", "Dusty"),
        ("ssh -p 22 potter@walnut", "walnut"),
        ("10:01 teapot: hello there\n10:02 kettle: what is new?\n", "kettle"),
        ("See you then, it will be fun.\n\nKind regards,\nOlive\n", "Olive"),
        ("at 47.11202, -1.55013 by the pier", "47.11202"),
        ("born on 4 March 1983 in a barn", "4 March 1983"),
        ("M.K. agreed on it in the end.", "M.K."),
    ],
)
def test_a_position_decides(detector: TextDetector, text: str, value: str) -> None:
    assert covered(detector, text, value)


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("She’ll turn 31 next week.", "31"),
        ("My cousin won't turn 52 before June.", "52"),
        ("You're 45!", "45"),
        ("I'll be 90 soon.", "90"),
        ("He is going to be 64 tomorrow.", "64"),
        ("How old are you?\nuser: 57", "57"),
        ("Is 41 too old to learn the cello?", "41"),
        ("My 45 yr. old dad", "45"),
        ("It was someone else (male, 38).", "38"),
    ],
)
def test_an_age_said_in_passing(of_ages: TextDetector, text: str, age: str) -> None:
    assert covered(of_ages, text, age)


@pytest.mark.parametrize(
    "text",
    [
        "In turn 12 the agent read the file; see turn 31 and turn 40.",
        "To turn 90 degrees, press it; you can turn 30 pages at once.",
        "You're 3 steps away, and you are 45% done.",
        "I'll be 10 minutes late. I'm going to be 5 minutes late.",
        "Sample: male, 34 rows",
        "How old is the cache? 45 seconds.",
    ],
)
def test_a_number_that_is_no_age(of_ages: TextDetector, text: str) -> None:
    assert [f for f in of_ages.find([text])[0] if f.type is EntityType.AGE] == []


@pytest.mark.parametrize(
    "text",
    [
        "The U.S. and the U.K. agreed on it.",
        "Asthma rates fell in all regions between 2015 and 2020.",
        "Revenue of 2,140 euros was booked in May.",
        "Open the Executive Summary and the Balance Sheet, then copy the Total row.",
        "owner = get_owner(record)",
        "customer_count: 4512",
        "def f(owner: str, customer: Customer) -> None:",
        "user=root host=localhost",
        "请整理客户经理的联系方式并创建跟进事项。",
        "営業部長に報告書を送ってください。",
        '{"name": "Quarterly Report", "type": "table"}',
    ],
)
def test_work_stays(detector: TextDetector, text: str) -> None:
    assert detector.find([text]) == [[]]
