"""What reading EDINET statements depends on. Part of the recipe."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from data.contracts import Disclosure, StageConfig

EdinetCode = Annotated[str, Field(pattern=r"^[EG][0-9]{5}$")]


class EdinetConfig(StageConfig):
    """`us_traded`: EDINET codes of the companies with shares or depositary receipts traded on a
    US exchange; EDINET does not tell, so that without this list no company counts as US.
    `max_line_bytes` and `max_inflated_bytes` (per file) bound what is read.
    """

    source: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = "edinet"
    disclosure: Disclosure = Disclosure.PUBLIC
    us_traded: tuple[EdinetCode, ...] = ()
    max_line_bytes: Annotated[int, Field(ge=1)] = 64 << 20
    max_inflated_bytes: Annotated[int, Field(ge=1)] = 16 << 30
    max_code_list_bytes: Annotated[int, Field(ge=1)] = 64 << 20
