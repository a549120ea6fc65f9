"""Commands in an installation without extras: what works, and what says which extra to install."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from data.errors import EXTRA_MODULES
from tests.demo import Demo
from tests.flows.command import command, environment

_BLOCK = f"""
import sys
for module in {sorted(module for modules in EXTRA_MODULES.values() for module in modules)}:
    sys.modules[module] = None  # an import of it raises ModuleNotFoundError
"""


@pytest.fixture
def core(tmp_path: Path) -> dict[str, str]:
    """The environment of a Python that finds no package of an extra, nor do its children."""
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "sitecustomize.py").write_text(_BLOCK)
    return environment() | {"PYTHONPATH": str(tmp_path / "core")}


def _run(core: dict[str, str], *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, env=core, timeout=300, check=False
    )


@pytest.mark.slow(seconds=30)
def test_a_release_of_questions_needs_the_core_only(
    demo: Demo, core: dict[str, str], tmp_path: Path
) -> None:
    statements, out = demo.folder / "statements", tmp_path / "out"
    sources = ("--sec", statements / "sec", "--edinet", statements / "edinet")
    config = tmp_path / "few.toml"
    config.write_text("[questions.sampling]\nsize = 30\n")
    built = _run(core, "build", *sources, "--config", config, "--out", out, "--quiet")
    assert (built.returncode, built.stderr) == (0, "")
    verified = _run(core, "verify", out / "snapshots" / "latest")
    assert "verified" in verified.stdout
    requests = _run(core, "sql", "SELECT count(*) AS n FROM newest.ledger", "--out", out)
    assert (requests.returncode, requests.stderr) == (0, "")
    audited = _run(core, "audit", "--out", out)
    assert (audited.returncode, audited.stderr) == (0, "")


SLOW = pytest.mark.slow(seconds=5)


@pytest.mark.parametrize(
    ("arguments", "module", "extra"),
    [
        pytest.param(
            ["build", "{logs}", "--out", "{out}", "--quiet"], "PIL", "masking", marks=SLOW
        ),
        (["privacy", "mask", "{logs}", "--out", "{out}"], "presidio_analyzer", "masking"),
        pytest.param(
            ["agents", "review", "import", "{logs}", "--out", "{out}"], "openpyxl", "masking",
            marks=SLOW,
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_a_command_says_which_extra_it_needs(
    arguments: list[str], module: str, extra: str, core: dict[str, str], tmp_path: Path
) -> None:
    logs = tmp_path / "log.jsonl"
    logs.write_text("{}\n")
    filled = [part.format(logs=logs, out=tmp_path / "out") for part in arguments]
    run = _run(core, *filled)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert run.stderr.startswith(f"benchmint: {module}: found no such package")
    assert f"pip install -e '.[{extra}]')" in run.stderr
    target = extra if extra in ("evaluate", "notebooks") else "install"
    assert f"In the checkout run: make {target} (" in run.stderr
