"""The recipe section `workflows`: how many drafts are made of what, and how they are screened."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from construction.workflows.screening import ScreeningConfig
from data.contracts import Count, StageConfig


class WorkflowsRecipe(StageConfig):
    """`drafts` are distributed over the task families by the weights of the mixture.

    Each generator makes at most `per_generator` of them. `generators` lists the generators to use;
    an empty list means all. With 0 drafts, the lane is off. A model writes scenarios for `authored`
    ideas (0: none); each proven scenario makes `per_generator` additional drafts.
    """

    drafts: Count = 12
    per_generator: Annotated[int, Field(gt=0, le=50)] = 3
    generators: tuple[str, ...] = ()
    authored: Count = 0
    screening: ScreeningConfig = ScreeningConfig()
