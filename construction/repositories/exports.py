"""Released tasks of the lane for others: an image with the environment, and rows of SWE-bench."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from construction.repositories.candidates import APPLY, ARCHIVE, PATCH
from construction.repositories.environment import PACK
from construction.repositories.git import Store
from construction.repositories.trees import members
from data.canonical import canonical_json
from data.contracts import Lane
from data.errors import InputError
from data.releases.tasks import ReleasedTask, ReleasedTasks

_UNTESTED = "# Untested: this image was not built when the release was exported."
_SOLVE = """#!/bin/sh
# Delivers the change of the session.
set -eu
cp "$(dirname "$0")/change.patch" "${BENCHMINT_WORK:-/work}/outputs/change.patch"
"""
_INSTALL = {
    "npm": "npm ci --ignore-scripts --no-audit --no-fund",
    "pnpm": "npx --yes pnpm install --frozen-lockfile --ignore-scripts "
    "--config.node-linker=hoisted",
    "bun": "/opt/build/tools/node_modules/@oven/bun-linux-x64/bin/bun install --frozen-lockfile "
    "--ignore-scripts",
}
_NODE = """{untested}
FROM node:22-bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    git python3 tmux && rm -rf /var/lib/apt/lists/*
COPY inputs/ /work/inputs/
COPY pack.py /opt/build/pack.py
WORKDIR /opt/build
RUN mkdir project && tar xf /work/inputs/repository.tar -C project{tools}
RUN cd project/{root} && {install}
RUN python3 pack.py project && mv environment /opt/programs && rm -rf project
WORKDIR /work
RUN mkdir -p outputs
"""
_PYTHON = """{untested}
FROM python:{python}-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    git tmux && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /opt/requirements.txt
RUN pip install --no-cache-dir --only-binary :all: --no-deps --target /opt/programs/site \\
    -r /opt/requirements.txt
WORKDIR /work
COPY inputs/ inputs/
RUN mkdir -p outputs
"""


def _repository_tasks(release: ReleasedTasks) -> Iterator[ReleasedTask]:
    """The tasks of the lane in a release, by id."""
    for task_id in sorted(release.tasks):
        if release.tasks[task_id].candidate.lane is Lane.REPOSITORIES:
            yield release.tasks[task_id]


def harbor_files(release: ReleasedTasks) -> dict[str, dict[str, str]]:
    """By task: the files that replace or join those that Harbor's tasks have, path -> text."""
    files = {}
    for task in _repository_tasks(release):
        whole = release.grading(task.candidate.task_id)
        files[task.candidate.task_id] = {
            **_image(_check(whole)["environment"]),
            "solution/solve.sh": _SOLVE,
            f"solution/{PATCH}": _reference(whole),
        }
    return files


def _image(built: Mapping[str, Any]) -> dict[str, str]:
    """The image with the environment that was built; none is where a rubric decides."""
    if "name" not in built:
        return {}
    if built["kind"] == "python":
        text = _PYTHON.format(untested=_UNTESTED, python=built["python"])
        packages = "".join(f"{package}\n" for package in built["packages"])
        return {"environment/Dockerfile": text, "environment/requirements.txt": packages}
    tools = " && npm install --prefix tools @oven/bun-linux-x64" if built["kind"] == "bun" else ""
    install = _INSTALL[built["kind"]]
    text = _NODE.format(untested=_UNTESTED, root=built["root"], install=install, tools=tools)
    return {"environment/Dockerfile": text, "environment/pack.py": PACK}


def _check(whole: Mapping[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = whole["checks"][0]["params"]
    return params


def _reference(whole: Mapping[str, Any]) -> str:
    return next(str(s["arguments"]["patch"]) for s in whole["steps"] if s["operation"] == APPLY)


def swe_bench_lines(release: ReleasedTasks) -> Iterator[bytes]:
    """The tasks of the lane as lines of SWE-bench. Raises InputError without any."""
    tasks = list(_repository_tasks(release))
    if not tasks:
        raise InputError(
            release.snapshot, "no repository tasks", "a release built with --repos",
            "Export it for Harbor or Inspect.",
        )  # fmt: skip
    for task in tasks:
        whole = release.grading(task.candidate.task_id)
        params = _check(whole)
        plan = orjson.loads(params["files"]["plan.json"]["text"])
        private = _provenance(release, task)
        is_proven = "name" in params["environment"]
        yield (
            canonical_json(
                {
                    "instance_id": task.candidate.task_id,
                    "repo": private.get("repository", ""),
                    "base_commit": private.get("base_commit", ""),
                    "problem_statement": task.candidate.prompt,
                    "patch": _reference(whole),
                    "test_patch": _hidden_patch(plan["hidden"], task.inputs[ARCHIVE]),
                    "FAIL_TO_PASS": plan["fail_to_pass"] if is_proven else [],
                    "PASS_TO_PASS": plan["pass_to_pass"],
                    "environment": params["environment"] if is_proven else {},
                    "commands": plan["commands"] if is_proven else [],
                    **({} if is_proven else {"needs_judge": True, "rubric": whole["rubric"]}),
                }
            )
            + b"\n"
        )


def _provenance(release: ReleasedTasks, task: ReleasedTask) -> dict[str, Any]:
    path = None if release.private is None else release.private / task.candidate.task_id
    content = (path / "provenance.json").read_bytes() if path is not None else b"{}"
    private = orjson.loads(content).get("provenance", {})
    detail: dict[str, Any] = private.get("detail", {})
    return detail


def _hidden_patch(hidden: list[tuple[str, str | None]], archive: Path) -> str:
    """The hidden files as a patch of the shipped tree."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder, "git"))
        base = store.tree_with(store.start(), members(archive, {path for path, _ in hidden}))
        laid = {p: None if c is None else ("100644", base64.b64decode(c)) for p, c in hidden}
        there = {entry.path for entry in store.entries(base)}
        changes = {p: c for p, c in laid.items() if c is not None or p in there}
        return store.patch(base, store.tree_with(base, changes), sorted(changes)).decode()
