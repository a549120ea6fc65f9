"""Settings of the sessions lane. Part of the recipe."""

from __future__ import annotations

from construction.judging.model.containment import STAGE as CONTAINMENT
from construction.judging.preflight import NAME as PREFLIGHT
from construction.judging.preflight import PreflightConfig
from construction.sessions.gates.fixture import NAME as FIXTURE
from construction.sessions.gates.length import GATE as LENGTH
from construction.sessions.gates.network import NAME as NETWORK
from construction.sessions.gates.network import NetworkConfig
from construction.sessions.gates.restoration import NAME as RESTORATION
from construction.sessions.local_gates import LocalGatesConfig

# Judged in the flows, which alone may mask.
MASKING, LEAKS = "masking", "leaks"
# The gates in declared order: the first that fails decides.
GATES = (LENGTH.name, FIXTURE, RESTORATION, NETWORK, MASKING, PREFLIGHT, CONTAINMENT, LEAKS)


class SessionsConfig(LocalGatesConfig):
    """All stages of the lane."""

    network: NetworkConfig = NetworkConfig()
    preflight: PreflightConfig = PreflightConfig()

    @property
    def local_gates(self) -> LocalGatesConfig:
        return LocalGatesConfig.model_validate(
            {name: getattr(self, name) for name in LocalGatesConfig.model_fields}
        )
