"""The base of every configuration model: frozen, and closed to unknown keys."""

from pydantic import BaseModel, ConfigDict


class StageConfig(BaseModel):
    """Settings of one stage: part of the recipe, hence digested, unless it says it is runtime."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
