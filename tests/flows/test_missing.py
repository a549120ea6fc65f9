"""What a build says first: what its recipe needs and this machine lacks, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from construction.sandbox import sandbox
from data import doctor
from flows import missing as module
from flows.missing import missing, needs_sandbox
from tests.demo import Demo, assert_all_but_what_needs_a_box
from tests.flows.command import inline

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
    assert needs_sandbox(values) is needed


def test_what_is_there_and_what_is_not_needed_is_not_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    monkeypatch.setattr(doctor, "python", lambda: doctor.Finding("python", doctor.Grade.OK, ""))
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
