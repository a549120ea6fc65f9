"""What of the findings stays in the text by choice: dates that are not births, public places."""

from __future__ import annotations

import re
from collections.abc import Callable

from anonymization.text.config import DetectionConfig
from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.lexicon import words

_PUBLIC = (
    words("places.toml", "countries")
    | words("places.toml", "towns")
    | words("places.toml", "chinese")
)
_SUFFIX = re.compile(r"[省市]$")
_BORN = re.compile(
    r"(?:(?<![a-z])born(?![a-z])|birth|(?<![a-z])d\.?o\.?b(?![a-z])|出生|生日|生于)[^.!?。！？，；\d\n]{0,40}$"
)
_BORN_AFTER = re.compile(r"[ ,)）]{0,2}(?:出生|生(?![产效成])|is (?:my|his|her|their) birthday)")
_REACH = 60  # characters


def keeper(config: DetectionConfig) -> Callable[[str, Finding], bool]:
    """A test of text and finding: is it to be masked under this configuration?"""

    def wanted(text: str, finding: Finding) -> bool:
        if config.births_only and finding.type is EntityType.DATE:
            return _of_birth(text, finding)
        if config.public_places and finding.type is EntityType.LOCATION:
            value = text[finding.start : finding.end]
            return value not in _PUBLIC and _SUFFIX.sub("", value) not in _PUBLIC
        return True

    return wanted


def _of_birth(text: str, finding: Finding) -> bool:
    before = text[max(0, finding.start - _REACH) : finding.start].lower()
    return _BORN.search(before) is not None or _BORN_AFTER.match(text, finding.end) is not None
