"""The recipe section `workflows`: how many drafts are made of what, and how they are screened."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from construction.workflows.screening import ScreeningConfig
from data.contracts import Count, StageConfig


class WorkflowsRecipe(StageConfig):
    """`drafts` are distributed over the task families by the weights of the mixture.

    No generator makes more than `per_generator` of them. `generators` names those that are used;
    none named means all. With 0 drafts the lane is off. A model writes scenarios of `authored`
    ideas (0: none); each that is proven makes `per_generator` drafts more.
    """

    drafts: Count = 12
    per_generator: Annotated[int, Field(gt=0, le=50)] = 3
    generators: tuple[str, ...] = ()
    authored: Count = 0
    screening: ScreeningConfig = ScreeningConfig()
