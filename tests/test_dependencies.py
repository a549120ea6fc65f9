"""What is imported is declared, what is declared is locked and explained."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import REPO

PACKAGES = ("flows", "construction", "anonymization", "selection", "data")
EXTRAS = {"tests": ("dev",), "notebooks": ("dev",), "benchmarks": ("dev", "bench")}
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = {
    canonicalize_name(name): version
    for name, version in re.findall(
        r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)",
        (REPO / "requirements.lock").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}


def declared(*extras: str) -> list[Requirement]:
    told = [*PROJECT["dependencies"]]
    for extra in extras:
        told += PROJECT["optional-dependencies"][extra]
    return [Requirement(one) for one in told]


def firm(requirement: Requirement) -> set[str]:
    """The bounds but for floors."""
    return {str(bound) for bound in requirement.specifier if bound.operator != ">="}


def names(requirements: list[Requirement]) -> set[str]:
    return {canonicalize_name(one.name) for one in requirements}


def imported(folder: Path) -> set[str]:
    """Top-level names of all modules from elsewhere that the folder's modules import."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    return found - set(sys.stdlib_module_names) - {*PACKAGES, *EXTRAS}


@pytest.mark.parametrize("package", [*PACKAGES, *EXTRAS])
def test_what_is_imported_is_declared(package: str) -> None:
    sources, modules = packages_distributions(), imported(REPO / package)
    assert modules
    needed = {canonicalize_name(sources.get(module, [module])[0]) for module in modules}
    assert sorted(needed - names(declared(*EXTRAS.get(package, ())))) == []


def test_what_is_declared_is_locked_in_its_bounds() -> None:
    strange = [
        f"{one} is locked at {LOCKED.get(canonicalize_name(one.name))}"
        for one in declared("dev")
        if not one.specifier.contains(LOCKED.get(canonicalize_name(one.name), "0"))
    ]
    assert strange == []


def test_each_dependency_is_explained_with_its_bound() -> None:
    page = (REPO / "docs" / "dependencies.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([a-z][^|]*) \|", page, re.MULTILINE)
    told = [Requirement(one) for cell in cells for one in cell.split(", ") if one != "package"]
    assert {one.name: firm(one) for one in told} == {one.name: firm(one) for one in declared()}
