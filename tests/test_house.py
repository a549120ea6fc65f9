"""The rules of the house: who may import whom, and that the packages are found from anywhere."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPO

ALLOWED = {
    "data": {"data"},
    "construction": {"construction", "data"},
    "anonymization": {"anonymization", "data"},
    "selection": {"selection", "data"},
    "flows": {"flows", "construction", "anonymization", "selection", "data", "prefect"},
}
WATCHED = {*ALLOWED, "prefect"}


def modules(package: str) -> list[Path]:
    found = sorted((REPO / package).rglob("*.py"))
    assert found, f"no modules in {package}"
    return found


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_arrows_point_one_way(package: str) -> None:
    for path in modules(package):
        strays = (set(imports(path)) & WATCHED) - ALLOWED[package]
        assert not strays, f"{path.relative_to(REPO)} imports {sorted(strays)}"


def test_files_stay_small() -> None:
    sizes = {
        path.relative_to(REPO).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for package in ALLOWED
        for path in modules(package)
    }
    assert {name: lines for name, lines in sizes.items() if lines > 400} == {}


def test_packages_are_found_beside_a_foreign_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "notes.csv").write_text("a,b\n")
    told = subprocess.run(
        [sys.executable, "-c", "import data, data.canonical; print(data.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(told.stdout.strip()) == REPO / "data" / "__init__.py"
