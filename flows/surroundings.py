"""What a command needs around it: a folder, UTF-8, memory, open files, certificates; and what a
recipe needs and this machine lacks, said in the first second of a build.

The configuration is read as it stands in its layers: to validate it takes seconds of imports.
"""

from __future__ import annotations

import os
import resource
import stat
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from construction.sandbox.presence import sandbox_problem
from data import doctor
from data.errors import InputError
from data.processes import can_have_workers

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


def missing(values: Mapping[str, Any]) -> list[doctor.Finding]:
    """What is not as it should be for these settings, and what to do."""
    findings = [doctor.python(), doctor.workers(can_have=can_have_workers())]
    if _needs_sandbox(values):
        findings.append(doctor.sandbox(sandbox_problem()))
    return [finding for finding in findings if finding.grade is not doctor.Grade.OK]


def _needs_sandbox(values: Mapping[str, Any]) -> bool:
    """Are candidates to be tried, or workflow tasks made, some of which are broken workspaces?"""
    is_demo = not any(_setting(values, "runtime", name) for name in _INPUT)
    has_demand = is_demo or bool(_setting(values, "runtime", "signals"))
    makes_workflows = has_demand and _setting(values, "workflows", "drafts") != 0
    return makes_workflows or _setting(values, "preflight", "sandbox") == "run"


def _setting(values: Mapping[str, Any], section: str, name: str) -> object:
    settings = values.get(section)
    return settings.get(name) if isinstance(settings, Mapping) else None
