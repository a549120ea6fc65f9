"""How sessions are masked: part of the recipe."""

from __future__ import annotations

from pathlib import Path

from anonymization.documents.approvals import read_approvals
from anonymization.documents.contracts import DocumentConfig
from anonymization.leaks.contracts import LeakConfig
from anonymization.text.config import DetectionConfig
from anonymization.text.contracts import Mode
from data.contracts import StageConfig


class MaskingRecipe(StageConfig):
    """What stands for private values, what is looked for, limits on documents and leak scan."""

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
