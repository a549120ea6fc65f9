"""What is imported is declared, what is declared is locked and explained."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from data.errors import EXTRA_MODULES
from tests.conftest import REPO
from tests.sources import source_of

PACKAGES = ("flows", "construction", "anonymization", "selection", "data")
INSTALLED = ("masking", "pictures")  # beside the core, by `make install`
RUNNING = (*INSTALLED, "evaluate")
TESTED = (*RUNNING, "notebooks", "dev")
EXTRAS = {
    "flows": RUNNING,
    "tests": TESTED,
    "notebooks": ("notebooks",),
    "benchmarks": (*TESTED, "bench"),
}
LATE = {
    "construction/statements/enrichment.py": "fontTools",  # extra `dev`
    "construction/statements/readers/xbrl/convert.py": "arelle",  # from an environment of its own
    "construction/sessions/readers/benchmark_runs.py": "zipfile_zstd",  # comes with `evaluate`
}
SHARED_NAMES = {"google-genai"}  # packages whose top module belongs to several
LOCKS = {
    "requirements.lock": INSTALLED,
    "requirements-evaluate.lock": RUNNING,
    "requirements-dev.lock": TESTED,
    "requirements-cluster.lock": (*INSTALLED, "dask", "ray"),
}
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def locked(name: str) -> dict[str, str]:
    """Packages and their versions in a lock file."""
    text = (REPO / name).read_text(encoding="utf-8")
    pins = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)", text, re.MULTILINE)
    return {canonicalize_name(package): version for package, version in pins}


def declared(*extras: str) -> list[Requirement]:
    """The requirements of the core and of some extras."""
    lines = [*PROJECT["dependencies"]]
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


def firm(requirement: Requirement) -> set[str]:
    """The bounds but for floors."""
    return {str(bound) for bound in requirement.specifier if bound.operator != ">="}


def names(requirements: list[Requirement]) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in requirements}


def imported(folder: Path) -> set[str]:
    """Top-level names of all modules from elsewhere that the folder's modules import."""
    modules: set[str] = set()
    for path in folder.rglob("*.py"):
        if "programs" in path.parts:  # what repairs are made of: data
            continue
        late = {LATE.get(path.relative_to(REPO).as_posix())}
        for node in source_of(path).imports:
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names} - late
            else:
                modules |= {(node.module or "").partition(".")[0]} - late
    return modules - set(sys.stdlib_module_names) - {*PACKAGES, *EXTRAS}


@pytest.mark.parametrize("package", sorted({*PACKAGES, *EXTRAS}))
def test_what_is_imported_is_declared(package: str) -> None:
    sources, modules = packages_distributions(), imported(REPO / package)
    assert modules
    needed = {canonicalize_name(sources.get(module, [module])[0]) for module in modules}
    assert sorted(needed - names(declared(*EXTRAS.get(package, INSTALLED)))) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_what_is_declared_is_locked_in_its_bounds(lock: str) -> None:
    pins = locked(lock)
    strange = [
        f"{requirement} is locked at {pins.get(canonicalize_name(requirement.name))}"
        for requirement in declared(*LOCKS[lock], "install")
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]
    assert strange == []


def test_the_locks_of_tests_and_clusters_have_all_of_the_lock_of_an_installation() -> None:
    small = locked("requirements.lock")
    for name in ("requirements-dev.lock", "requirements-cluster.lock"):
        assert small.items() <= locked(name).items()
    tools = {"zuban", "ruff", "pytest", "hypothesis", "marimo", "ray", "fonttools"}
    assert not small.keys() & tools


@pytest.mark.parametrize("extra", EXTRA_MODULES)
def test_the_table_of_extras_names_what_pyproject_declares(extra: str) -> None:
    sources = packages_distributions()
    brought = {canonicalize_name(sources[module][0]) for module in EXTRA_MODULES[extra]}
    lines = PROJECT["optional-dependencies"][extra]
    assert brought == names([Requirement(line) for line in lines]) - SHARED_NAMES


def test_commands_load_without_extras() -> None:
    """What an extra brings is imported when it is needed, and not before.

    Commands import `flows.evaluate` when they run agents.
    """
    blocked = {module: None for modules in EXTRA_MODULES.values() for module in modules}
    files = sorted((REPO / "flows").rglob("*.py"))
    modules = [".".join(file.relative_to(REPO).with_suffix("").parts) for file in files]
    modules = [name for name in modules if not name.startswith("flows.evaluate.")]
    code = f"""
import importlib, sys
sys.modules.update({blocked})
for module in {[name for name in modules if not name.endswith("__main__")]}:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        print(module, error.name)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == []


def test_each_dependency_is_explained_with_its_bound() -> None:
    page = (REPO / "docs" / "dependencies.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([a-z][^|]*) \|", page, re.MULTILINE)
    lines = [
        line for cell in cells for line in cell.split(", ") if line not in ("package", "lock file")
    ]
    explained = {requirement.name: firm(requirement) for requirement in map(Requirement, lines)}
    wanted = declared(*RUNNING, "notebooks")
    assert explained == {requirement.name: firm(requirement) for requirement in wanted}
