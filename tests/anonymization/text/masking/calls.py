"""One call that masks several files, as `benchmint privacy mask` does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from anonymization.documents.document import learn, mask_bytes, pieces_in
from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker

KEY = b"c" * 32


@cache
def strict() -> TextDetector:
    """The detector of the command, at its level."""
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def mask_files(files: Mapping[str, str], key: bytes = KEY) -> dict[str, str]:
    """The masked texts of files by their names."""
    masker = Masker(strict(), key, Mode.SURROGATE, "call")
    data = {name: text.encode() for name, text in files.items()}
    learn([pieces_in(raw, name) for name, raw in data.items()], masker, are_apart=True)
    return {name: mask_bytes(raw, name, masker).data.decode() for name, raw in data.items()}
