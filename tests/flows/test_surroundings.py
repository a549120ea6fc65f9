"""Odd surroundings: a command works in them, or says in one line what is missing."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from construction.sandbox import sandbox
from data.errors import InputError
from data.loopback import listen
from flows import server, surroundings
from flows import surroundings as module
from flows.server import _is_named
from flows.surroundings import _needs_sandbox, missing
from tests.demo import Demo, assert_all_but_what_needs_a_box
from tests.flows.command import command, environment, inline


def shell(line: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command ("$@") that a shell starts, in an environment of its own."""
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", *command(*arguments)],
        capture_output=True,
        text=True,
        env=environment() | variables,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('cd {folder}; rmdir {folder}; exec "$@"', "the working folder: found No such file"),
        ('ulimit -v 900000; exec "$@"', "the address space: found 878 MiB; expected at least"),
    ],
)
def test_what_every_command_needs(tmp_path: Path, line: str, said: str) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    done = shell(line.format(folder=folder), "release", "list", "--out", tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith(f"benchmint: {said}")


def test_files_are_named_in_utf8_whatever_the_locale(tmp_path: Path) -> None:
    variables = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = shell('exec "$@"', "demo", tmp_path / "demo", "--size", "3", **variables)
    assert (done.returncode, done.stderr) == (0, "")
    names = [path.name for path in (tmp_path / "demo").rglob("*")]
    assert any(not name.isascii() for name in names)
    assert not any("\udc80" <= char <= "\udcff" for name in names for char in name)


def test_no_thread_is_started_by_a_word(tmp_path: Path) -> None:
    done = shell('exec "$@"', "release", "list", "--out", tmp_path, POLARS_MAX_THREADS="many")
    assert done.stderr == "benchmint: POLARS_MAX_THREADS is not a positive number and is ignored\n"


def test_no_child_is_forgotten(tmp_path: Path) -> None:
    """Python's development mode prints what was not closed and who was not waited for."""
    code = "from data.child import _fork_server; _fork_server('data.staging.sql', 1)"
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert "ResourceWarning" not in done.stderr


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("ulimit -n 200", "the open files: found at most 200; expected at least 256"),
        ("ulimit -v 4000000", "the address space: found 3,906 MiB; expected at least 9,500 MiB"),
    ],
)
def test_what_a_build_needs(tmp_path: Path, limits: str, said: str) -> None:
    done = shell(f'{limits}; exec "$@"', "build", "--quiet", "--out", tmp_path / "out")
    assert (done.returncode, done.stderr.split(". ")[0]) == (2, f"benchmint: {said}")


def test_open_files_are_as_many_as_there_may_be(tmp_path: Path) -> None:
    """The soft limit is raised; the build then ends at the certificates."""
    done = shell(
        'ulimit -S -n 100; exec "$@"',
        "build",
        "--quiet",
        "--out",
        tmp_path,
        SSL_CERT_FILE="/nonexistent",
    )
    assert done.stderr.startswith("benchmint: SSL_CERT_FILE /nonexistent: found No such file")


def test_certificates_that_are_none_are_an_error(tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_text("no certificate")
    with pytest.raises(InputError, match="expected certificates"):
        surroundings._require_certificates({"SSL_CERT_FILE": str(other)})
    with pytest.raises(InputError, match="SSL_CERT_DIR"):
        surroundings._require_certificates({"SSL_CERT_DIR": str(tmp_path / "none")})
    surroundings._require_certificates({"SSL_CERT_DIR": str(tmp_path), "SSL_CERT_FILE": ""})


def test_this_machine_is_asked_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    surroundings._keep_proxies_out(os.environ)
    assert "no_proxy" not in os.environ
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    monkeypatch.setenv("no_proxy", "")
    surroundings._keep_proxies_out(os.environ)
    assert os.environ["no_proxy"] == os.environ["NO_PROXY"]
    assert os.environ["no_proxy"] == "intranet.example,127.0.0.1,localhost"


def test_a_broken_file_of_prefect_is_named(tmp_path: Path) -> None:
    (tmp_path / "prefect.toml").write_text("[[")
    with pytest.raises(InputError, match=r"prefect\.toml: found invalid TOML"):
        _is_named({"PREFECT_HOME": str(tmp_path / "home")}, tmp_path)


def test_a_server_that_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/api"
        monkeypatch.setattr("prefect.settings.PREFECT_API_URL", SimpleNamespace(value=lambda: url))
        monkeypatch.setenv("PREFECT_API_URL", url)
        with (
            pytest.raises(server._ServerUnreachable, match="no Prefect server responds there"),
            server.own_server(),
        ):
            pass


def test_a_machine_without_a_loopback_is_told_so() -> None:
    code = "from data.loopback import listen; listen(0)"
    arguments = ["unshare", "--net", "--map-root-user", sys.executable, "-c", code]
    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, env=environment(), check=False
        )
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if done.stderr.startswith("unshare:"):
        pytest.skip(f"no network of its own: {done.stderr.strip()}")
    assert "expected this machine's loopback" in done.stderr
    listen(0).close()


LOGS = {"runtime": {"sessions": ["logs"]}}


@pytest.mark.parametrize(
    ("values", "needed"),
    [
        ({}, True),  # the demo
        ({"workflows": {"drafts": 0}}, False),
        (LOGS, False),
        ({"runtime": {"sec": ["filings"]}}, False),
        ({"runtime": {"sessions": ["logs"], "signals": ["top.csv"]}}, True),
        (LOGS | {"preflight": {"sandbox": "run"}}, True),
        (LOGS | {"preflight": {"sandbox": "off"}}, False),
        (LOGS | {"preflight": "run"}, False),  # wrong, which is told later
    ],
)
def test_a_recipe_needs_a_sandbox_or_not(values: Mapping[str, Any], needed: bool) -> None:
    assert _needs_sandbox(values) is needed


def test_what_is_there_and_what_is_not_needed_is_not_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    monkeypatch.setattr(
        surroundings, "python", lambda: surroundings.Finding("python", surroundings.Grade.OK, "")
    )
    assert [one.check for one in missing({})] == ["sandbox"]
    assert missing(LOGS) == []
    monkeypatch.setattr(module, "can_have_workers", lambda: False)
    assert [one.check for one in missing(LOGS)] == ["workers"]


def test_it_is_said_before_the_settings_are_read_and_not_to_the_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    wrong = ("build", "--workers", "0", "--out", tmp_path / "out")
    first, second = inline(*wrong).stderr.splitlines()
    assert first == (
        "sandbox: absent, bubblewrap (bwrap) is not installed: `make system` installs it. "
        "Tasks that need a sandbox are left out, with the reason."
    )
    assert "runtime.workers" in second
    (only,) = inline(*wrong, "--quiet").stderr.splitlines()
    assert only == second


def test_the_demo_of_the_quick_tests_is_built_without_a_sandbox(demo: Demo) -> None:
    if demo.has_box:
        pytest.skip("slow tests run too, which need one: test_build.py builds one without")
    assert_all_but_what_needs_a_box(demo.out)
