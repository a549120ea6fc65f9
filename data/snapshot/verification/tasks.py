"""Checks the tasks of the public half: rows that fit the contract, directories that match them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import yaml
from pydantic import ValidationError

from data.contracts import PRIVATE_FIELDS, Candidate
from data.snapshot import croissant, layout
from data.snapshot.manifest import Manifest, fields_of
from data.snapshot.statistics import statistics, stored_fixtures, verified
from data.snapshot.tasks import candidate_of, instruction
from data.snapshot.verification.files import read, read_object, size_of
from data.snapshot.verification.findings import Check, Findings, Half

Row = dict[str, Any]
# Scalars stay texts: untrusted YAML is not turned into numbers, dates or objects.
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_LARGEST_YAML = 16 * 1024 * 1024
_DEEPEST_YAML = 100
_OF_TASKS = (f"{layout.TASKS}/", f"{layout.ENVIRONMENTS}/")


def load_rows(half: Half, findings: Findings) -> dict[str, Row]:
    """The rows of `tasks.jsonl` that fit the contract, by task id."""
    content = read(half.files, layout.TASK_LIST, half.name, findings) or b""
    rows: dict[str, Row] = {}
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        where = f"{half.name}/{layout.TASK_LIST}:{number}"
        row = _row(line, where, findings)
        if row is None:
            continue
        if row["task_id"] in rows:
            findings.add(Check.TASK_TWICE, where, "the task id was listed before")
        rows[row["task_id"]] = row
    if content and not content.endswith(b"\n"):
        where = f"{half.name}/{layout.TASK_LIST}"
        findings.add(Check.TASK_ROW, where, "the last line is incomplete")
    return rows


def _row(line: bytes, where: str, findings: Findings) -> Row | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        findings.add(Check.TASK_ROW, where, f"{len(line)} bytes that are not JSON")
        return None
    if not isinstance(row, dict):
        findings.add(Check.TASK_ROW, where, f"found {type(row).__name__}, expected an object")
        return None
    private_fields = sorted(PRIVATE_FIELDS & row.keys())
    if private_fields:
        findings.add(Check.PRIVATE_FIELD, where, f"has {', '.join(private_fields)}")
    try:
        task = candidate_of(row)
    except ValidationError as error:
        findings.add(Check.TASK_ROW, where, fields_of(error))
        return None
    if task.provenance.detail:
        findings.add(Check.PRIVATE_FIELD, where, "has provenance.detail")
    if not isinstance(row.get("canary"), str):
        findings.add(Check.CANARY_MISSING, where, "lacks the canary")
        return None
    if not layout.is_id(task.task_id):
        findings.add(Check.UNSAFE_PATH, where, "a task id that is not a valid directory name")
        return None
    return row


def check_tasks(
    half: Half, rows: Mapping[str, Row], manifest: Manifest | None, findings: Findings
) -> None:
    """Each task has exactly its files, with the recorded sizes, digests and texts."""
    expected: set[str] = set()
    for task_id, row in rows.items():
        task = candidate_of(row)
        folder = f"{layout.TASKS}/{task_id}"
        texts = {f"{folder}/{layout.INSTRUCTION}", f"{folder}/{layout.TASK_YAML}"}
        inputs = {layout.input_path(task_id, item) for item in task.fixtures}
        for path in sorted((texts | inputs) - half.files.keys()):
            findings.add(Check.TASK_FILES, f"{half.name}/{path}", "the task lacks this file")
        expected |= texts | inputs
        _check_fixtures(half, task, findings)
        if manifest is not None and row["canary"] != manifest.canary:
            where = f"{half.name}/{layout.TASK_LIST}"
            findings.add(Check.CANARY_MISSING, where, f"{task_id} has another canary")
        if manifest is not None:
            text = instruction(task, manifest.snapshot, row["canary"])
            _check_instruction(half, folder, text, findings)
        _check_yaml(half, folder, task, findings)
    for path in half.files:
        if path.startswith(_OF_TASKS) and path not in expected:
            findings.add(Check.TASK_FILES, f"{half.name}/{path}", "belongs to no task")


def check_counts(
    half: Half, rows: Mapping[str, Row], manifest: Manifest, findings: Findings
) -> None:
    """The manifest's counts and the statistics match the rows."""
    tasks = [candidate_of(row) for row in rows.values()]
    fixtures = stored_fixtures(tasks)
    counted = {
        "tasks": len(tasks),
        "fixtures": len(fixtures),
        "fixture_bytes": sum(fixture.bytes for fixture in fixtures),
    }
    for name, n in counted.items():
        declared = getattr(manifest.counts, name)
        if declared != n:
            problem = f"counts {declared} {name}, the tasks have {n}"
            findings.add(Check.MANIFEST_COUNT, f"{half.name}/{layout.MANIFEST}", problem)
    if manifest.grading is not None and manifest.grading.verified != verified(tasks):
        problem = f"counts {manifest.grading.verified} tasks as tried, the tasks say otherwise"
        findings.add(Check.MANIFEST_COUNT, f"{half.name}/{layout.MANIFEST}", problem)
    declared_statistics = read_object(half, layout.STATISTICS, Check.STATISTICS, findings)
    if declared_statistics is not None:
        declared_statistics.pop("canary", None)
        ours = orjson.loads(orjson.dumps(statistics(tasks)))
        for name in sorted(ours.keys() | declared_statistics.keys()):
            if ours.get(name) != declared_statistics.get(name):
                path = f"{half.name}/{layout.STATISTICS}"
                findings.add(Check.STATISTICS, path, f"{name} does not match the tasks")


def check_metadata(half: Half, findings: Findings) -> None:
    """`croissant.json` is complete and pins the task list and the tables."""
    document = read_object(half, "croissant.json", Check.METADATA, findings)
    if document is None:
        return
    where = f"{half.name}/croissant.json"
    missing = croissant.problems(document)
    if missing:
        findings.add(Check.METADATA, where, f"lacks {', '.join(missing)}")
    for path in croissant.unpinned(document, half.digests):
        findings.add(Check.METADATA, where, f"does not pin {path} by its digest")


def _check_fixtures(half: Half, task: Candidate, findings: Findings) -> None:
    for fixture in task.fixtures:
        path = layout.input_path(task.task_id, fixture)
        if not layout.is_safe_input(fixture):
            where = f"{half.name}/{layout.TASKS}/{task.task_id}"
            findings.add(Check.UNSAFE_PATH, where, "a fixture leaves its folder")
        elif path in half.files and half.digests.get(path) != fixture.sha256:
            findings.add(Check.FIXTURE, f"{half.name}/{path}", "not the recorded digest")
        elif path in half.files and size_of(half.files[path]) != fixture.bytes:
            findings.add(Check.FIXTURE, f"{half.name}/{path}", "not the recorded size")


def _check_instruction(half: Half, folder: str, text: str, findings: Findings) -> None:
    path = f"{folder}/{layout.INSTRUCTION}"
    if path not in half.files:
        return
    content = read(half.files, path, half.name, findings)
    if content is not None and content != text.encode():
        findings.add(Check.TASK_TEXT, f"{half.name}/{path}", "not the prompt of tasks.jsonl")


def _check_yaml(half: Half, folder: str, task: Candidate, findings: Findings) -> None:
    path = f"{folder}/{layout.TASK_YAML}"
    content = read(half.files, path, half.name, findings) if path in half.files else None
    if content is None:
        return
    where = f"{half.name}/{path}"
    document = _load_yaml(content)
    if isinstance(document, str):
        findings.add(Check.TASK_TEXT, where, document)
        return
    prompt = document.get("prompt")
    text = prompt.get("text") if isinstance(prompt, dict) else None
    if text != task.prompt or document.get("task_id") != task.task_id:
        findings.add(Check.TASK_TEXT, where, "not the task of tasks.jsonl")
    private_fields = sorted(PRIVATE_FIELDS & document.keys())
    if private_fields:
        findings.add(Check.PRIVATE_FIELD, where, f"has {', '.join(private_fields)}")


def _load_yaml(content: bytes) -> Row | str:
    """A YAML mapping with texts as scalars, or what is wrong with `content`."""
    if len(content) > _LARGEST_YAML:
        return "larger than 16 MiB"
    try:
        # The composer recurses in C without a limit: check the depth before using it.
        if _is_deep(content):
            return f"nested deeper than {_DEEPEST_YAML} levels"
        document = yaml.load(content, Loader=_Loader)  # noqa: S506 (makes texts, lists, dicts)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return f"not YAML ({type(error).__name__})"
    return document if isinstance(document, dict) else "not a YAML mapping"


def _is_deep(content: bytes) -> bool:
    depth = 0
    for event in yaml.parse(content, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST_YAML:
            return True
    return False
