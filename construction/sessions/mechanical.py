"""The settings of a shard: apart from the rest, so that workers import little and start fast."""

from __future__ import annotations

from construction.sessions.gates.fixture import FixtureConfig
from construction.sessions.gates.length import LengthConfig
from construction.sessions.gates.restoration import RestorationConfig
from construction.sessions.recovery.config import RecoveryConfig
from data.contracts import StageConfig


class MechanicalConfig(StageConfig):
    """What one shard does without leaving the machine: recovery and the three local gates."""

    recovery: RecoveryConfig = RecoveryConfig()
    length: LengthConfig = LengthConfig()
    fixture: FixtureConfig = FixtureConfig()
    restoration: RestorationConfig = RestorationConfig()
