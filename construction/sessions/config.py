"""Settings of the sessions lane, and the registry of the gates that they are for."""

from __future__ import annotations

from typing import Annotated

from construction.sessions.gates.network import GATE as NETWORK
from construction.sessions.gates.network import NetworkConfig
from construction.sessions.local_gates import LocalGatesConfig
from data.contracts import gates_in


class SessionsConfig(LocalGatesConfig):
    """All stages of the lane. Gates are fields here or in `LocalGatesConfig`."""

    network: Annotated[NetworkConfig, NETWORK] = NetworkConfig()

    @property
    def local_gates(self) -> LocalGatesConfig:
        return LocalGatesConfig.model_validate(
            {name: getattr(self, name) for name in LocalGatesConfig.model_fields}
        )


NETWORK_GATES = gates_in(SessionsConfig, NETWORK.stage)
