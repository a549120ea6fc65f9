"""How Inspect itself came to its end, apart from the attempts."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from inspect_ai.log import EvalLog

from data.errors import BenchmintError
from data.neutralise import one_line

_OS_ERROR = re.compile(r"OSError\((\d{1,3}), ")  # as Inspect records one of its own


class RunFailed(BenchmintError):
    """The runner could not start, such as in a sandbox that does not isolate."""


class RunStopped(BenchmintError):
    """Somebody stopped the run."""


def check_ended(logs: Sequence[EvalLog]) -> None:
    """Raise RunFailed where the runner itself failed, RunStopped where it was interrupted.

    Raises OSError where it failed as this machine did, such as with a full disk.
    """
    if not logs or any(log.status in ("cancelled", "started") for log in logs):
        raise RunStopped("stopped: the same command goes on from here.")
    for log in logs:
        if log.error is None:
            continue
        if number := _OS_ERROR.match(log.error.message):
            raise OSError(int(number[1]), os.strerror(int(number[1])))
        raise RunFailed(one_line(log.error.message)[:500])
