"""Settings of task recovery and the local gates, in a module of their own.

Worker processes import only these, not the settings of the later stages, and so start faster.
"""

from __future__ import annotations

from construction.sessions.gates.fixture import FixtureConfig
from construction.sessions.gates.length import LengthConfig
from construction.sessions.gates.restoration import RestorationConfig
from construction.sessions.recovery.config import RecoveryConfig
from data.contracts import StageConfig


class LocalGatesConfig(StageConfig):
    """Settings of what one shard computes without network access: recovery and three gates."""

    recovery: RecoveryConfig = RecoveryConfig()
    length: LengthConfig = LengthConfig()
    fixture: FixtureConfig = FixtureConfig()
    restoration: RestorationConfig = RestorationConfig()
