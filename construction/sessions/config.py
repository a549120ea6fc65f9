"""The recipe of the sessions lane, stage by stage."""

from __future__ import annotations

from construction.judging.model.containment import STAGE as CONTAINMENT
from construction.judging.preflight import NAME as PREFLIGHT
from construction.judging.preflight import PreflightConfig
from construction.sessions.gates.fixture import NAME as FIXTURE
from construction.sessions.gates.length import NAME as LENGTH
from construction.sessions.gates.network import NAME as NETWORK
from construction.sessions.gates.network import NetworkConfig
from construction.sessions.gates.restoration import NAME as RESTORATION
from construction.sessions.mechanical import MechanicalConfig

# Judged in the flows, which alone may mask.
MASKING, LEAKS = "masking", "leaks"
# The gates in declared order: the first that fails decides.
GATES = (LENGTH, FIXTURE, RESTORATION, NETWORK, MASKING, PREFLIGHT, CONTAINMENT, LEAKS)


class SessionsConfig(MechanicalConfig):
    """All stages of the lane."""

    network: NetworkConfig = NetworkConfig()
    preflight: PreflightConfig = PreflightConfig()

    @property
    def mechanical(self) -> MechanicalConfig:
        return MechanicalConfig.model_validate(
            {name: getattr(self, name) for name in MechanicalConfig.model_fields}
        )
