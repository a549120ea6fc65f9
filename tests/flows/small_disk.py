"""Commands whose output goes to a small disk: a tmpfs in a mount namespace of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.command import command, environment

# $1: KiB, $2: where; the rest is the command. Afterwards: what is there, on standard output.
_SCRIPT = """
mount -t tmpfs -o size="$1k" tmpfs "$2" || exit 99
folder="$2"; shift 2; "$@"; code=$?
echo "--- files"; find "$folder" -name '*.part*'; exit $code
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its error lines, and the partial files that it left behind."""

    code: int
    errors: list[str]
    partial: list[str]


def on_small_disk(
    folder: Path,
    kibibytes: int,
    *arguments: object,
    temporary: bool = False,
    program: tuple[str, ...] = (),
    variables: Mapping[str, str] | None = None,
) -> Ended:
    """Run `benchmint` with a tmpfs of that size at `folder`; `temporary`: for TMPDIR too.

    `program` runs in its place; `variables` are added to the environment. Skips the test where
    this user may make no mount namespace.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare on this machine: full disks are not tried")
    spaces = [unshare, "--mount"] if os.getuid() == 0 else [unshare, "--mount", "--map-root-user"]
    folder.mkdir(parents=True, exist_ok=True)
    given = environment() | ({"TMPDIR": str(folder)} if temporary else {})
    started = [*program, *map(str, arguments)] if program else command(*arguments)
    done = subprocess.run(
        [*spaces, "sh", "-c", _SCRIPT, "sh", str(kibibytes), str(folder), *started],
        capture_output=True,
        text=True,
        env=given | dict(variables or {}),
        timeout=300,
        check=False,
    )
    if done.returncode == 99 or "unshare failed" in done.stderr:
        pytest.skip(f"no mount namespace for this user: {done.stderr.strip()[:100]}")
    return Ended(
        done.returncode,
        done.stderr.splitlines(),
        done.stdout.partition("--- files\n")[2].splitlines(),
    )
