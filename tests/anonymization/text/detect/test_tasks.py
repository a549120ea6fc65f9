"""The settings for tasks: what tells of someone is masked, what the task is about stays."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import DetectionConfig, EntityType
from anonymization.text.detect.engine import TextDetector


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(DetectionConfig.for_tasks())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Compare sales in Germany and Shanghai for August 2025 and on 18 August 2025.", {}),
        ("Plot Q3 by month, January to June, and translate the English notes.", {}),
        ("汇总2025年8月18日上海市和北京的销售额，按季度列出。", {}),
        ("The patient is aged 45 and a data analyst.", {}),
        ("She was born on 14 March 1987.", {"14 March 1987": "DATE"}),
        ("DOB: 1987-03-14, hired 2019-05-01", {"1987-03-14": "DATE"}),
        ("born on 3 May 1990 and hired in June 2012", {"3 May 1990": "DATE"}),
        ("出生日期：1987年3月14日，入职日期2019年5月1日", {"1987年3月14日": "DATE"}),
        ("1987年3月14日出生，2019年5月1日入职", {"1987年3月14日": "DATE"}),
        (
            "Ask Margaret Ellsworth of Brightwater Partners Ltd, 48 Harrowgate Lane, Sheffield.",
            {
                "Margaret Ellsworth": "PERSON",
                "Brightwater Partners Ltd": "ORGANIZATION",
                "48": "ADDRESS",
                "Harrowgate Lane": "ADDRESS",
                "Sheffield": "ADDRESS",
            },
        ),
        ("Mail lin.hui@corp-mail.cn or 13812345678.",
         {"lin.hui@corp-mail.cn": "EMAIL", "13812345678": "PHONE"}),
    ],
)  # fmt: skip
def test_what_is_masked_in_a_task(
    detector: TextDetector, text: str, expected: dict[str, str]
) -> None:
    actual = detector.find([text])[0]
    assert {text[f.start : f.end]: f.type.value for f in actual} == expected


def test_the_default_masks_what_tasks_keep() -> None:
    text = "Dr. Walsh, aged 45, left Germany on 18 August 2025."
    kinds = {finding.type for finding in TextDetector().find([text])[0]}
    assert {EntityType.DATE, EntityType.LOCATION, EntityType.AGE, EntityType.TITLE} <= kinds


def test_the_kinds_that_tasks_leave() -> None:
    remaining = set(EntityType) - set(DetectionConfig.for_tasks().entities)
    assert remaining == {
        EntityType.AGE,
        EntityType.NATIONALITY,
        EntityType.TITLE,
        EntityType.QUANTITY,
        EntityType.UNEXPLAINED,
    }
