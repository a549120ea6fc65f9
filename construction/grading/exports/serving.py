"""The tools in an export: servers of data tools and of services, a client for shells, a solver.

    tables/           server/ (a bundle), data/ (Parquet), requirements.txt, Dockerfile
    services/         server/ (a bundle), requirements.txt; worlds/TASK.json beside it
    data_tool         a program of one file, for agents that work in a shell
    solver/           a bundle that computes an answer from the tools

Servers run beside the agent and never where the agent can read their files.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from construction.grading.bundle import Bundle, write_bundle
from construction.sandbox.toolset import FONTS, interpreter, pins
from construction.statements.model import COMPANIES, HISTORY, POINTS, SERIES
from construction.statements.tools import client
from data.errors import InputError

# Named as text: the server's modules are copied, and flows is imported by nothing but flows.
SERVER = Bundle(
    "benchmint_tables",
    "Serves the data tools",
    "flows.evaluate.table_server_command",
    libraries=frozenset(
        {
            *("anyio", "mcp", "mcp_types", "numpy", "orjson", "polars", "pydantic"),
            *("rapidfuzz", "starlette", "uvicorn"),
        }
    ),
    tables=("data/schemas.toml",),
)
SERVICES = Bundle(
    "benchmint_services",
    "Serves the services of a workflow task",
    "flows.services.exported_command",
    libraries=frozenset(
        {"anyio", "mcp", "mcp_types", "orjson", "pydantic", "starlette", "uvicorn"},
    ),
    tables=("construction/workflows/services/*.toml",),
)
SOLVER = Bundle(
    "benchmint_solver",
    "Computes an answer from the data tools",
    "construction.grading.solver_command",
)
_DISTRIBUTIONS = ("mcp", "numpy", "orjson", "polars", "pydantic", "rapidfuzz")
_OF_SERVICES = ("mcp", "orjson", "pydantic")
_UNTESTED = "# Untested: this image was not built when the release was exported."
_PROGRAM = 0o755


def write_server(tables: Path, folder: Path) -> None:
    """Write the server and the tables it serves. Raises InputError if there are none."""
    write_bundle(folder / "server", SERVER)
    (folder / "data").mkdir()
    for table in (COMPANIES, SERIES, POINTS, HISTORY):
        source = tables / f"{table.name}.parquet"
        if not source.is_file():
            raise InputError(
                str(source), "no file", "the tables behind the tools that tasks use",
                "Export from the release's complete public half.",
            )  # fmt: skip
        shutil.copyfile(source, folder / "data" / source.name)
    (folder / "requirements.txt").write_text(pins(_DISTRIBUTIONS), encoding="utf-8")
    (folder / "Dockerfile").write_text(
        f"{_UNTESTED}\n{_base()}"
        "COPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n"
        "COPY server/ server/\nCOPY data/ data/\nUSER nobody\n"
        'CMD ["python", "-I", "-B", "server", "data", "--http", "8765"]\n',
        encoding="utf-8",
    )


def write_services(folder: Path) -> None:
    """Write the server of services, which serves any world: that beside it, in its image."""
    write_bundle(folder / "server", SERVICES)
    (folder / "requirements.txt").write_text(pins(_OF_SERVICES), encoding="utf-8")
    (folder / "Dockerfile").write_text(
        f"{_UNTESTED}\n{_base()}WORKDIR /services\nRUN mkdir /state && chown nobody /state\n"
        "COPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n"
        "COPY server/ server/\nCOPY world.json .\nUSER nobody\n"
        'CMD ["python", "-I", "-B", "server", "world.json", "--state", "/state/state.sqlite", '
        '"--http", "8765"]\n',
        encoding="utf-8",
    )


def link_server(folder: Path, target: Path) -> None:
    """The same files at another place, sharing their bytes on the disk where links are possible."""
    shutil.copytree(folder, target, copy_function=_link)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def write_client(path: Path) -> None:
    """Write the client as a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = Path(client.__file__).read_text(encoding="utf-8")
    path.write_text(f"#!/usr/bin/env python3\n{text}", encoding="utf-8")
    path.chmod(_PROGRAM)


def agent_image(*copies: str) -> str:
    """The Dockerfile of an agent's work folder: what the toolset declares, git for tasks with
    repositories, and tmux for agents that work in a terminal. `copies` are its last lines.
    """
    libraries = " \\\n    ".join(pins().split())
    return "\n".join(
        (
            _UNTESTED,
            f"{_base()}RUN apt-get update && apt-get install --yes --no-install-recommends \\",
            f"    {' '.join(FONTS)} git tmux && rm -rf /var/lib/apt/lists/*",
            f"RUN pip install --no-cache-dir \\\n    {libraries}",
            "WORKDIR /work\nRUN mkdir -p inputs outputs",
            *copies,
            "",
        )
    )


def _base() -> str:
    return f"FROM python:{interpreter()}-slim\n"
