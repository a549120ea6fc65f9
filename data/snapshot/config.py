"""Configuration of a release: its name and card, the source of its sessions, the demo."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from pydantic import Field, model_validator

from data.contracts import Count, Disclosure, SourceFormat, StageConfig

DEMO_NAME, DEMO_DATE = "benchmint-demo", dt.date(2026, 1, 15)


class CardConfig(StageConfig):
    """Settings for publishing the release.

    Without a `summary`, the card says how many tasks came from which kind of material.
    """

    title: str = Field(default="Benchmint snapshot", min_length=1)
    summary: Annotated[str, Field(min_length=1)] | None = None
    creator: str = Field(default="The publisher of this snapshot", min_length=1)
    url: str = Field(default="https://example.org/benchmint", pattern=r"^https?://[^\s]+$")
    licence: Annotated[str, Field(min_length=1)] | None = None  # none: no licence is declared
    licence_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$")] | None = None
    contact: str = ""

    @model_validator(mode="after")
    def _url_of_a_licence(self) -> CardConfig:
        if self.licence is None and self.licence_url is not None:
            raise ValueError("licence_url without a licence: state the licence, or leave out both")
        return self


# The demo is generated, so that nobody else has rights in it.
DEMO_LICENCE = {
    "licence": "CC-BY-4.0",
    "licence_url": "https://creativecommons.org/licenses/by/4.0/",
}


class ReleaseConfig(StageConfig):
    """What to release, under which name and date, and the public seed for all sampling.

    The demo workspace sets its own name and date.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)] = "benchmint"
    release_date: dt.date = DEMO_DATE
    # None: by date and revision, such as 20260115.0.0, since each selection is another MAJOR.
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")] | None = None
    seed: Count = 20260115
    # The key that signs: `SHA256:…`, as `ssh-keygen -l` names it. None: nobody is expected to.
    signer: Annotated[str, Field(pattern=r"^SHA256:[A-Za-z0-9+/]{43}$")] | None = None
    card: CardConfig = CardConfig()


class SourceConfig(StageConfig):
    """Where the sessions come from and who allowed their use (EnterpriseClawBench §6).

    An undeclared source is private; the demo workspace declares its own.
    """

    name: str = "sessions"
    disclosure: Disclosure = Disclosure.PRIVATE
    licence: str | None = None
    authorization: str = "not recorded"
    reviewer: str = "not recorded"
    reviewed: str = "not recorded"  # ISO date
    retention: str = "not recorded"
    format: SourceFormat | None = None  # none: detected for each file


class DemoConfig(StageConfig):
    """The generated workspace to build when there are no sessions."""

    size: Annotated[int, Field(gt=0)] = 60
    seed: Count = 7
