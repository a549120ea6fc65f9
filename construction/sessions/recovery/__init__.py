"""Task recovery: sessions become task instances by splitting and merging turns."""

from construction.sessions.recovery.exchanges import LeftOutReason
from construction.sessions.recovery.features import RecoveryConfig
from construction.sessions.recovery.recover import Cut, Recovered, recover

__all__ = ["Cut", "LeftOutReason", "Recovered", "RecoveryConfig", "recover"]
