"""What a command loads before it does its work: never what it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from data.builds import building
from tests.flows.command import environment

LIBRARIES = {
    "boto3",
    "botocore",
    "duckdb",
    "jinja2",
    "numpy",
    "openai",
    "polars",
    "prefect",
    "presidio_analyzer",
    "s3fs",
    "scipy",
    "securesystemslib",
    "spacy",
}
CALL = """
import sys
from flows import cli
sys.argv = ["benchmint", *sys.argv[1:]]
try:
    cli.main()
except SystemExit as end:
    print(end.code)
print(*sorted(sys.modules))
"""


def _loaded(code: str, *arguments: str, folder: Path) -> tuple[list[str], set[str]]:
    """What the code printed before the names of all modules, and the libraries among these."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    *printed, names = done.stdout.splitlines()
    return printed, {name.partition(".")[0] for name in names.split()} & LIBRARIES


def test_wrong_paths_are_told_before_any_library_is_loaded(tmp_path: Path) -> None:
    arguments = ("build", "absent", "--out", str(tmp_path / "out"))
    printed, libraries = _loaded(CALL, *arguments, folder=tmp_path)
    assert (printed, libraries) == (["2"], set())
    assert not (tmp_path / "out").exists()


def test_a_folder_in_which_another_builds_is_told_as_early(tmp_path: Path) -> None:
    with building(tmp_path / "out"):
        printed, libraries = _loaded(CALL, "build", "--out", str(tmp_path / "out"), folder=tmp_path)
    assert (printed, libraries) == (["2"], set())


def test_a_query_leaves_the_database_to_its_process(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "staging.duckdb") as staging:
        staging.execute("CREATE SCHEMA newest")
    printed, libraries = _loaded(
        CALL, "sql", "select 1 as one", "--out", str(tmp_path), "--format", "csv", folder=tmp_path
    )
    assert (printed, libraries) == (["one", "1", "None"], set())


@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("flows.recipe", set()),
        ("flows.gates", set()),
        ("data.staging.database", {"duckdb"}),
        ("data.snapshot.verification", {"duckdb", "polars"}),
        ("flows.build_snapshot", {"duckdb", "jinja2", "numpy", "polars", "prefect"}),
    ],
)
def test_a_module_loads_no_library_that_it_does_not_need(
    module: str, needed: set[str], tmp_path: Path
) -> None:
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    _, libraries = _loaded(code, folder=tmp_path)
    assert libraries <= needed


def test_no_build_loads_the_server_of_prefect(tmp_path: Path) -> None:
    code = "import sys, flows.build_snapshot; print(*(n for n in sys.modules if 'prefect.s' in n))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "prefect.server.api" not in done.stdout
