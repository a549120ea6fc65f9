"""How probing runs in a build, which is no part of what it finds: the runtime section `network`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from data.contracts import StageConfig


class NetworkRuntime(StageConfig):
    """Runtime settings for the probe, not part of the digest. Times are in seconds.

    `host_delay` is the pause between two requests to the same host; `refresh` selects which
    captured results to probe again.
    """

    concurrency: Annotated[int, Field(ge=1, le=64)] = 8
    host_delay: Annotated[float, Field(ge=0)] = 1.0
    backoff: Annotated[float, Field(ge=0)] = 1.0
    max_retry_after: Annotated[float, Field(ge=0)] = 30.0
    refresh: Literal["never", "unverified", "all"] = "never"
