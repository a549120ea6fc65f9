"""Settings of the sessions lane, and the registries of its gates.

`LocalGatesConfig` and `SessionsConfig` are part of the recipe; `NetworkRuntime` says how probing
runs in a build (the runtime section `network`), which is no part of what it finds.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from construction.sessions.gates.fixture import GATE as FIXTURE
from construction.sessions.gates.fixture import FixtureConfig
from construction.sessions.gates.length import GATE as LENGTH
from construction.sessions.gates.length import LengthConfig
from construction.sessions.gates.network import GATE as NETWORK
from construction.sessions.gates.network import NetworkConfig
from construction.sessions.gates.restoration import GATE as RESTORATION
from construction.sessions.gates.restoration import RestorationConfig
from construction.sessions.recovery.recover import RecoveryConfig
from data.contracts import StageConfig, gates_in


class LocalGatesConfig(StageConfig):
    """Settings of what one shard computes without network access: recovery and the local gates.

    The gates run on every instance, so that overlaps are seen; the first that fails, in the order
    of these fields, decides.
    """

    recovery: RecoveryConfig = RecoveryConfig()
    length: Annotated[LengthConfig, LENGTH] = LengthConfig()
    fixture: Annotated[FixtureConfig, FIXTURE] = FixtureConfig()
    restoration: Annotated[RestorationConfig, RESTORATION] = RestorationConfig()


LOCAL_GATES = gates_in(LocalGatesConfig)


class SessionsConfig(LocalGatesConfig):
    """Settings for the sessions lane."""

    network: Annotated[NetworkConfig, NETWORK] = NetworkConfig()

    @property
    def local_gates(self) -> LocalGatesConfig:
        return LocalGatesConfig.model_validate(
            {name: getattr(self, name) for name in LocalGatesConfig.model_fields}
        )


NETWORK_GATES = gates_in(SessionsConfig, NETWORK.stage)


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
