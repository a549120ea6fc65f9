"""What a recipe needs and this machine lacks, said in the first second of a build.

It reads the configuration as it stands in its layers: to validate them takes seconds of imports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construction.sandbox.presence import sandbox_problem
from data import doctor
from data.processes import can_have_workers

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
    if needs_sandbox(values):
        findings.append(doctor.sandbox(sandbox_problem()))
    return [finding for finding in findings if finding.grade is not doctor.Grade.OK]


def needs_sandbox(values: Mapping[str, Any]) -> bool:
    """Are candidates to be tried, or workflow tasks made, some of which are broken workspaces?"""
    is_demo = not any(_setting(values, "runtime", name) for name in _INPUT)
    has_demand = is_demo or bool(_setting(values, "runtime", "signals"))
    makes_workflows = has_demand and _setting(values, "workflows", "drafts") != 0
    return makes_workflows or _setting(values, "preflight", "sandbox") == "run"


def _setting(values: Mapping[str, Any], section: str, name: str) -> object:
    settings = values.get(section)
    return settings.get(name) if isinstance(settings, Mapping) else None
