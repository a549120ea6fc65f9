"""Settings for masking sessions: the recipe's section `masking`."""

from __future__ import annotations

from pathlib import Path

from anonymization.documents.approvals import read_approvals
from anonymization.documents.contracts import DocumentConfig
from anonymization.leaks.contracts import LeakConfig
from anonymization.text.config import DetectionConfig
from anonymization.text.contracts import Mode
from data.contracts import StageConfig


class MaskingRecipe(StageConfig):
    """The kind of replacement, detection, and limits on documents and the leak scan."""

    mode: Mode = Mode.SURROGATE
    detection: DetectionConfig = DetectionConfig.for_tasks()
    documents: DocumentConfig = DocumentConfig()
    leaks: LeakConfig = LeakConfig()


def with_approvals(recipe: MaskingRecipe, file: Path | None) -> MaskingRecipe:
    """The recipe with the digests that a file of approvals names. Raises InputError."""
    if file is None:
        return recipe
    known = recipe.documents.approvals | read_approvals(file)
    documents = recipe.documents.model_copy(update={"approvals": known})
    return recipe.model_copy(update={"documents": documents})
