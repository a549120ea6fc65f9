"""Text files: masked as they are read here, and kept so that every byte comes back."""

from __future__ import annotations

from anonymization.documents.readings import text_edits
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.text_files import MaskedText, rewritten
from anonymization.text.vault import decoded


def mask_reading(
    data: bytes, path: str, encoding: str, masker: Masker, released: str
) -> MaskedText:
    """Mask a text file whose pieces were learned; the vault can restore it byte for byte."""
    edits = text_edits(decoded(data, encoding), path, masker.edits)
    return rewritten(data, path, encoding, edits, masker, released)
