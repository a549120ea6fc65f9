"""Names that stand beside themselves in another script, behind a title, or joined by a hyphen."""

from __future__ import annotations

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType
from anonymization.text.detect.engine import TextDetector


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def people(detector: TextDetector, text: str) -> set[str]:
    (findings,) = detector.find([text])
    return {
        text[finding.start : finding.end]
        for finding in findings
        if finding.type is EntityType.PERSON and finding.recognizer != "doubted"
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("## 面试官 2: 李敏 (Li Min) | 高级工程师", {"李敏", "Li Min"}),
        ("| **Ma Li** (马丽) | Legal | Email |", {"马丽", "Ma Li"}),
        ("The CTO (Sana Mehta) and the CEO (Jordan Park) know.", {"Sana Mehta", "Jordan Park"}),
        ("Signed by the manager (Rasheed Kite).", {"Rasheed Kite"}),
        ("- **Chen Jing-Zhang Tao IM**: the complaint", {"Chen Jing", "Zhang Tao"}),
    ],
    ids=["han first", "latin first", "initials", "job", "hyphen"],
)
def test_it_is_found(detector: TextDetector, text: str, names: set[str]) -> None:
    assert names <= {name.removesuffix(" IM") for name in people(detector, text)}


@pytest.mark.parametrize(
    "text",
    [
        "总结 (Final Report)",
        "方法 (Best Practice)",
        "Ask an engineer (Part Time) first.",
        "The director (Human Resources) agrees.",
    ],
)
def test_a_translation_or_a_kind_of_work_is_nobody(detector: TextDetector, text: str) -> None:
    assert people(detector, text) == set()


def test_a_double_name_stays_one(detector: TextDetector) -> None:
    assert "Anne-Li Wang" in people(detector, "Anne-Li Wang met the board.")
