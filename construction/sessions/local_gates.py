"""The registry of the local gates, with their settings and those of task recovery.

Worker processes import only these, not the settings of the later stages, and so start faster.
"""

from __future__ import annotations

from typing import Annotated

from construction.sessions.gates.fixture import GATE as FIXTURE
from construction.sessions.gates.fixture import FixtureConfig
from construction.sessions.gates.length import GATE as LENGTH
from construction.sessions.gates.length import LengthConfig
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
