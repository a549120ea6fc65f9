"""Prefect's settings for this project, applied before Prefect is imported.

Only defaults: whatever the user set stays. Nothing is sent anywhere (no telemetry).
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from pathlib import Path

NOTHING_SENT = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
}
DEFAULTS = {
    **NOTHING_SENT,
    # The ephemeral server needs more than the default 20 s on a busy two-core machine.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
    # The command tells errors itself, in one line; --debug shows the whole story.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_ROOT_LEVEL": "CRITICAL",
    "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
    # Builds at the same time share one SQLite file: its server says 500 while that is locked.
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "500",
    "PREFECT_CLI_COLORS": "false",
}


def _can_have_a_folder(home: str) -> bool:
    """May Prefect's folder be made, or written, in this home?"""
    own = Path(home, ".prefect")
    return bool(home) and os.access(own if own.is_dir() else home, os.W_OK | os.X_OK)


def _home_of_the_homeless() -> Path:
    """A folder of this user among the temporary files, for one whose home cannot be written."""
    folder = Path(tempfile.gettempdir(), f"benchmint-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return folder if is_own else Path(tempfile.mkdtemp(prefix="benchmint-"))


def apply() -> None:
    """Set the defaults for this process and its children."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    if not os.environ.get("PREFECT_HOME") and not _can_have_a_folder(os.environ.get("HOME", "")):
        os.environ["PREFECT_HOME"] = str(_home_of_the_homeless())
    # A dry run needs no home; a build without one ends with a line of its own (flows.server).
    warnings.filterwarnings("ignore", message="Failed to create the Prefect home")
