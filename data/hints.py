"""Commands in messages, written so that a person can run them as they are printed."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

_NAME = "benchmint"


def program() -> str:
    """`benchmint` where a shell finds this one by its name; else its path."""
    own = Path(sys.executable).with_name(_NAME)
    known = shutil.which(_NAME)
    if not own.is_file() or (known is not None and own.samefile(known)):
        return _NAME
    here = Path.cwd()
    return shlex.quote(str(own.relative_to(here) if own.is_relative_to(here) else own))


def runnable(message: str) -> str:
    """A message whose commands in backticks can be run as they are."""
    return message.replace(f"`{_NAME} ", f"`{program()} ")
