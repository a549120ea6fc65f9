"""A release as tasks for Harbor (schema 1.4, checked against 0.24.0): one folder per task."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomli_w

from construction.grading.bundle_command import ANSWER, OUTPUTS, answer_path
from construction.grading.exports.writing import (
    SOLVER,
    TEMPLATES,
    Export,
    agent_image,
    copy_inputs,
    has_rules,
    link_server,
    needs_tables,
    new_folder,
    write_bundle,
    write_client,
    write_server,
    write_services,
    write_text,
)
from construction.sandbox.sandbox import SERVER
from construction.statements.tools.client import URL
from data.contracts import NetworkPolicy
from data.errors import InputError
from data.releases.tasks import ReleasedTask

# The instruction of an exported task: its prompt, and where results go, in the same language


@dataclass(frozen=True, slots=True)
class _Directions:
    """Where an agent works and what it leaves there; only what applies to a task is written."""

    heading: str
    inputs: str
    answer: str
    files: str
    tools: str
    services: str


_DIRECTIONS = {
    "en": _Directions(
        heading="## Where results go\n\nYou work in /work.",
        inputs="The input files are in inputs/.",
        answer="Write your answer, in the form that the task asks for, to {path}.",
        files=(
            "Put the files that the task asks for into outputs/. If it also asks for an answer "
            "outside of these files, write that to {path}."
        ),
        tools=(
            "The data tools are an MCP server at {url}. In a shell, `data_tool` lists them and "
            '`data_tool NAME \'{{"argument": "value"}}\'` calls one.'
        ),
        services=(
            "The services of the task are tools of an MCP server at {url}. In a shell, `data_tool` "
            'lists them and `data_tool NAME \'{{"argument": "value"}}\'` calls one.'
        ),
    ),
    "zh": _Directions(
        heading="## 成果放在哪里\n\n工作目录是 /work。",
        inputs="输入文件在 inputs/ 中。",
        answer="请按任务要求的形式，把答案写入 {path}。",
        files="任务要求的文件放入 outputs/。如果任务还要求文件之外的回答，请写入 {path}。",
        tools=(
            "数据工具是一个 MCP 服务器：{url} 。在命令行中，`data_tool` 列出这些工具，"
            '`data_tool NAME \'{{"argument": "value"}}\'` 调用其中一个。'
        ),
        services=(
            "任务所用的各项服务是 MCP 服务器 {url} 上的工具。在命令行中，`data_tool` 列出这些工具，"
            '`data_tool NAME \'{{"argument": "value"}}\'` 调用其中一个。'
        ),
    ),
    "ja": _Directions(
        heading="## 成果物の置き場所\n\n作業フォルダーは /work です。",
        inputs="入力ファイルは inputs/ にあります。",
        answer="答えは、求められた形式で {path} に書いてください。",
        files=(
            "求められたファイルは outputs/ に置いてください。"
            "ファイル以外の回答も求められている場合は、{path} に書いてください。"
        ),
        tools=(
            "データツールは MCP サーバー {url} です。シェルでは `data_tool` で一覧を表示し、"
            '`data_tool NAME \'{{"argument": "value"}}\'` で呼び出します。'
        ),
        services=(
            "タスクの各サービスは MCP サーバー {url} のツールです。"
            "シェルでは `data_tool` で一覧を表示し、"
            '`data_tool NAME \'{{"argument": "value"}}\'` で呼び出します。'
        ),
    ),
}


def _instruction(
    task: ReleasedTask, *, asks_files: bool, has_tools: bool, has_services: bool = False
) -> str:
    """The prompt and the directions, for agents that submit by files alone."""
    words = _DIRECTIONS.get(task.candidate.language.partition("-")[0], _DIRECTIONS["en"])
    results = words.files if asks_files else words.answer
    lines = [words.heading]
    if task.inputs:
        lines.append(words.inputs)
    lines.append(results.format(path=answer_path(asks_files)))
    if has_tools:
        lines += ["", words.tools.format(url=URL)]
    if has_services:
        lines += ["", words.services.format(url=URL)]
    return "\n\n".join((task.instruction.rstrip(), "\n".join(lines))) + "\n"


SCHEMA = "1.4"
_TASKS = "tasks"
_JUDGED = "judged"  # tasks that only a judge lets pass: in a mean of Harbor's they would be zeros
_UNTESTED = "untested"
_TABLES = "tables"
_SERVICES = "services"
RECORD = "/state/record.json"  # of what was asked of services; never in the agent's container
ENVIRONMENT = "bubblewrap_environment"
_VERIFIER_SECONDS = 600
_MEMORY_MB, _STORAGE_MB = 2048, 4096
_SCRIPT, _FILE = 0o755, 0o644
_COLLECT = f"cd /services && python -I -B server --record /state/state.sqlite > {RECORD}"


def export_harbor(export: Export, out: Path, image: str | None = None) -> int:
    """Write all tasks below `out`; returns their number. Raises InputError.

    `image` is one that has what `environment/Dockerfile` installs: tasks without a server beside
    them then name it, and their inputs are uploaded into it.
    """
    tasks = list(export.tasks())
    with new_folder(out) as part:
        _write_shared(export, tasks, part)
        for task in tasks:
            _write_task(export, task, part, image)
    return len(tasks)


def _write_shared(export: Export, tasks: list[ReleasedTask], out: Path) -> None:
    """What stands beside the tasks: directions, the environment of bubblewrap, the tables."""
    shutil.copyfile(TEMPLATES / "harbor.md", out / "README.md")
    for module in (ENVIRONMENT, "transfer", "scripted_agents", "digests", "benchmint_verifiers"):
        shutil.copyfile(TEMPLATES / f"{module}.txt", out / f"{module}.py")
    (out / "box").mkdir()
    shutil.copyfile(TEMPLATES / "relay.txt", out / "box" / "relay.py")
    shutil.copyfile(SERVER, out / "box" / SERVER.name)
    if any(map(needs_tables, tasks)):
        write_server(export.release.tables, out / _TABLES)
    if any(task.candidate.task_id in export.services for task in tasks):
        write_services(out / _SERVICES)


def _write_task(export: Export, task: ReleasedTask, out: Path, image: str | None) -> None:
    folder = out / (_JUDGED if export.needs_judge(task) else _TASKS) / task.candidate.task_id
    is_served = task.candidate.task_id in export.services
    if is_served or needs_tables(task):
        image = None  # its containers are built together
    _write_environment(export, task, folder / "environment", out, is_built=image is None)
    text = _instruction(
        task,
        asks_files=has_rules(task),
        has_tools=needs_tables(task),
        has_services=is_served,
    )
    write_text(folder / "instruction.md", text)
    write_text(folder / "task.toml", tomli_w.dumps(_task_settings(export, task, image)))
    for path, text in export.files.get(task.candidate.task_id, {}).items():
        write_text(folder / path, text)
        (folder / path).chmod(_SCRIPT if path.endswith(".sh") else _FILE)
    tests = folder / "tests"
    if not export.with_private:
        _copy_script("no_test.sh", tests / "test.sh")
        return
    _copy_script("test_services.sh" if is_served else "test.sh", tests / "test.sh")
    write_bundle(tests / "grader")
    write_text(tests / "spec.json", json.dumps(export.spec(task), indent=2, sort_keys=True))
    steps = None if has_rules(task) else export.steps_to_carry_out(task)
    if steps is not None:
        solution = folder / "solution"
        _copy_script("solve.sh", solution / "solve.sh")
        write_bundle(solution / "solver", SOLVER)
        write_text(solution / "steps.json", json.dumps(steps, indent=2, sort_keys=True))


def _write_environment(
    export: Export, task: ReleasedTask, folder: Path, out: Path, *, is_built: bool
) -> None:
    """The agent's image, and beside it, where the task needs them, data tools or services."""
    copy_inputs(task, folder / "inputs")
    copies = ["COPY inputs/ inputs/"]
    is_served = task.candidate.task_id in export.services
    if is_served or needs_tables(task):
        copies += ["COPY data_tool /opt/benchmint/data_tool", "ENV PATH=/opt/benchmint:$PATH"]
        write_client(folder / "data_tool")
    if is_served:
        _add_services(export, task, folder, out / _SERVICES)
    elif needs_tables(task):
        link_server(out / _TABLES, folder / _TABLES)
        shutil.copyfile(TEMPLATES / "compose.txt", folder / "docker-compose.yaml")
    if is_built:
        write_text(folder / "Dockerfile", agent_image(*copies))


def _add_services(export: Export, task: ReleasedTask, folder: Path, server: Path) -> None:
    """The services of a task and their world. Raises InputError if it has data tools besides."""
    task_id = task.candidate.task_id
    if needs_tables(task):
        raise InputError(
            task_id, "service operations and data tools", "one kind of tool per task",
            "Export the release for Inspect, which serves both.",
        )  # fmt: skip
    link_server(server, folder / _SERVICES)
    shutil.copyfile(export.release.world(task_id), folder / _SERVICES / "world.json")
    shutil.copyfile(TEMPLATES / "compose_services.txt", folder / "docker-compose.yaml")


def _copy_script(template: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(TEMPLATES / template, path)
    path.chmod(_SCRIPT)


def _task_settings(export: Export, task: ReleasedTask, image: str | None = None) -> dict[str, Any]:
    """The content of `task.toml`."""
    candidate = task.candidate
    settings: dict[str, Any] = {
        "schema_version": SCHEMA,
        "artifacts": [f"/work/{OUTPUTS}", f"/work/{ANSWER}"],
        "metadata": {
            "release": export.release.snapshot,
            "release_digest": export.release.digest,
            "task_id": candidate.task_id,
            "lane": str(candidate.lane),
            "language": candidate.language,
            "tools": list(candidate.tools),
            "turns": candidate.budget.turns,
            "image": image or _UNTESTED,
            "needs_judge": export.needs_judge(task),
        },
        "agent": {"timeout_sec": float(candidate.budget.seconds)},
        "verifier": {"timeout_sec": float(_VERIFIER_SECONDS), "environment_mode": "separate"},
        "environment": {
            "workdir": "/work",
            "memory_mb": _MEMORY_MB,
            "storage_mb": _STORAGE_MB,
            **({} if image is None else {"docker_image": image}),
            **_network(candidate.network),
        },
    }
    is_served = candidate.task_id in export.services
    if is_served or needs_tables(task):
        name = f"benchmint-{_SERVICES if is_served else _TABLES}"
        server = {"name": name, "transport": "streamable-http", "url": URL}
        settings["environment"]["mcp_servers"] = [server]
    if is_served:
        settings["artifacts"].append({"source": RECORD, "service": _SERVICES})
        settings["verifier"]["collect"] = [{"command": _COLLECT, "service": _SERVICES}]
    if candidate.difficulty is not None:
        settings["metadata"]["difficulty"] = candidate.difficulty
    return settings


def _network(policy: NetworkPolicy) -> dict[str, Any]:
    """The network of a task. Data tools are on the loopback, which every mode has."""
    if policy.mode == "web":
        return {"network_mode": "public"}
    if policy.mode == "none":
        return {"network_mode": "no-network"}
    hosts = sorted({host for url in policy.urls if (host := urlsplit(url).hostname)})
    return {"network_mode": "allowlist", "allowed_hosts": hosts}
