"""The exported data tools: the bytes of the ones here, over stdio and in a shell, and no gold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from construction.grading.exports.writing import (
    SOLVER,
    write_bundle,
    write_client,
    write_server,
    write_services,
)
from construction.statements.tools.agent_tools import CallLog, answer
from construction.workflows.declaration import service_names
from data.errors import InputError
from flows.evaluate.table_server import build_server
from tests.construction.grading.exports.sample import TOOLS, ids, sample_export
from tests.construction.statements.tools.tiny import QUANDELL, REVENUE, tiny_database

_COMPANY = {"company_id": QUANDELL}
CALLS: list[tuple[str, dict[str, Any]]] = [
    (TOOLS[0], {"query": "quandell"}),
    (TOOLS[0], {"query": "精密", "limit": 3}),
    (TOOLS[0], {"query": ""}),
    (TOOLS[0], {"query": "a", "max": 3}),
    (TOOLS[0], {"query": "zzzz"}),
    (TOOLS[1], {**_COMPANY, "query": "revenue"}),
    (TOOLS[1], {"company_id": "sec:999"}),
    (TOOLS[2], {**_COMPANY, "series_id": REVENUE, "period": "2024-Q1"}),
    (TOOLS[2], {**_COMPANY, "series_id": REVENUE, "period": "when it rains"}),
    ("drop_tables", {}),
]
CLEAN = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="module")
def tables(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "tables"
    write_server(sample_export(snapshot, with_private=False).release.tables, folder)
    return folder


@pytest.fixture(scope="module")
def url(tables: Path) -> Iterator[str]:
    """The exported server over HTTP."""
    program = [str(tables / "server"), str(tables / "data"), "--http", "0"]
    command = [sys.executable, "-I", "-B", *program]
    with subprocess.Popen(
        command, cwd=tables, env=CLEAN, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        yield process.stderr.readline().rpartition(" ")[2].strip()
        process.terminate()


def ask(target: Any, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(target) as client:
            with anyio.fail_after(60):
                return await work(client)

    return anyio.run(run)


async def everything(client: Client) -> tuple[Any, list[Any]]:
    """What a client is told about the tools, and the replies to all calls."""
    listed = [tool.model_dump() for tool in (await client.list_tools()).tools]
    return listed, [(await client.call_tool(*call)).model_dump() for call in CALLS]


@pytest.mark.timeout(120)
def test_the_same_calls_get_the_same_bytes_as_here(tables: Path) -> None:
    program = ["-I", "-B", str(tables / "server"), str(tables / "data")]
    exported = StdioServerParameters(command=sys.executable, args=program, cwd=tables, env=CLEAN)
    database = tiny_database()
    there = ask(exported, everything)
    assert there == ask(build_server(database, CallLog(None)), everything)
    texts = [reply["content"][0]["text"] for reply in there[1]]
    assert texts == [answer(database, *call).text for call in CALLS]
    assert sum(reply["is_error"] for reply in there[1]) == 5


@pytest.mark.timeout(120)
def test_a_shell_gets_the_same_text(url: str, tmp_path: Path) -> None:
    database = tiny_database()
    for name, arguments in CALLS:
        done = client(tmp_path, name, json.dumps(arguments), url=url)
        reply = answer(database, name, arguments)
        assert (done.stdout, done.returncode) == (f"{reply.text}\n", int(reply.outcome != "ok"))


def client(folder: Path, *arguments: str, url: str) -> subprocess.CompletedProcess[str]:
    write_client(folder / "data_tool")
    return subprocess.run(
        [folder / "data_tool", *arguments],
        capture_output=True,
        text=True,
        env={**CLEAN, "BENCHMINT_TABLES_URL": url},
        check=False,
    )


def test_the_client_lists_the_tools_and_says_what_is_wrong(url: str, tmp_path: Path) -> None:
    listed = client(tmp_path, url=url)
    assert listed.returncode == 0
    assert all(f"{name}\n" in listed.stdout for name in TOOLS)
    assert "Fiscal year:" in listed.stdout
    for arguments in ([TOOLS[0]], [TOOLS[0], "quandell"], [TOOLS[0], "[]"]):
        wrong = client(tmp_path, *arguments, url=url)
        assert (wrong.returncode, wrong.stderr[:6]) == (2, "usage:")
    silent = client(tmp_path, url="http://127.0.0.1:9/mcp")
    assert silent.returncode == 2
    assert silent.stderr.startswith("data_tool: no answer from the data tools:")


@pytest.mark.timeout(120)
def test_the_solver_computes_and_never_reads_the_gold(
    snapshot: Path, url: str, tmp_path: Path
) -> None:
    export = sample_export(snapshot, with_private=True)
    question, _, text = (export.release.tasks[name] for name in ids(export))
    steps = export.computable_steps(question)
    assert steps is not None
    assert set(steps) == {"task_id", "steps"}
    assert '"125"' not in json.dumps(steps)
    assert export.computable_steps(text) is None
    write_bundle(tmp_path / "solver", SOLVER)
    done = solved(tmp_path, steps, url)
    assert (done.returncode, (tmp_path / "out" / "answer.txt").read_text()) == (0, "125\n"), done
    steps["steps"][2]["arguments"]["period"] = "2019-Q1"
    other = solved(tmp_path, steps, url)
    assert (other.returncode, "0 values fit the period" in other.stderr) == (1, True)


def solved(folder: Path, steps: dict[str, Any], url: str) -> subprocess.CompletedProcess[str]:
    (folder / "steps.json").write_text(json.dumps(steps))
    files = {"--steps": folder / "steps.json", "--answer": folder / "out" / "answer.txt"}
    arguments = [str(part) for pair in files.items() for part in pair]
    return subprocess.run(
        [sys.executable, "-I", "-B", str(folder / "solver"), *arguments, "--url", url],
        capture_output=True,
        text=True,
        cwd=folder,
        env=CLEAN,
        check=False,
    )


def test_only_the_served_tables_leave(tables: Path, tmp_path: Path) -> None:
    names = {path.name for path in tables.rglob("*.parquet")}
    assert names == {f"{name}.parquet" for name in ("companies", "series", "points", "history")}
    with pytest.raises(InputError, match="expected the tables behind the tools that tasks use"):
        write_server(tmp_path, tmp_path / "tables")


def test_the_server_of_services_has_all_of_them_and_nothing_of_this_project(
    tmp_path: Path,
) -> None:
    write_services(tmp_path)
    declared = tmp_path / "server/benchmint_services/construction/workflows/services"
    assert [path.stem for path in sorted(declared.iterdir())] == [*service_names()]
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'server')!r});"
        "from benchmint_services.flows.services.mcp_app import main;"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in "
        "('construction', 'data', 'flows', 'fastapi', 'polars', 'inspect_ai')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", code],
        capture_output=True, text=True, cwd="/", check=True, env=CLEAN,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
