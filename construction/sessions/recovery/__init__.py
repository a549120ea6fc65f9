"""Task recovery: sessions become task instances by splitting and merging turns."""

from construction.sessions.recovery.exchanges import LeftOutReason
from construction.sessions.recovery.recover import RecoveryConfig, Tasks, recover

__all__ = ["LeftOutReason", "RecoveryConfig", "Tasks", "recover"]
