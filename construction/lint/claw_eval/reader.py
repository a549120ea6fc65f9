"""A foreign task folder as a candidate, as far as its services are known, and what is missing.

Folders are untrusted: YAML is parsed without tags and aliases, sizes are bounded, and no path leads
out of the folder. The grader is never imported here; `audit` runs it in a sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from construction.workflows.declaration import service_names, tools_of
from data.canonical import file_digest
from data.contracts import Budget, Candidate, Disclosure, Fixture, Lane, Provenance
from data.errors import InputError
from data.text.lexicon import load_table

TASK, GRADER, _FIXTURES = "task.yaml", "grader.py", "fixtures"
_MAX_BYTES, _MAX_FIXTURES = 2 << 20, 500
_TURNS, _SECONDS = 24, 300  # where a task states no budget: the defaults of Claw-Eval-Live
_DO = "Correct the file, or leave out the task."


class Missing(StrEnum):
    """What keeps a foreign task from running here; renaming one is a breaking change."""

    SERVICE = "foreign.unknown_service"
    TOOL = "foreign.unknown_tool"  # its service is known, the operation is not
    FIXTURE = "foreign.missing_fixture"
    GRADER = "foreign.no_grader"
    CHECKS = "foreign.no_checks"  # its grader is a program: somebody has to write it as checks


@dataclass(frozen=True, slots=True)
class _Gap:
    """One thing that is missing, and its name in the task."""

    missing: Missing
    name: str


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """A task as it was read. `tools` are the names that its own grader knows."""

    folder: Path
    task_id: str
    prompt: str
    tools: tuple[str, ...]
    reference: str  # what the task says of its solution, for the audit
    candidate: Candidate
    gaps: tuple[_Gap, ...]


def read_task(folder: Path, root: Path | None = None) -> ForeignTask:
    """Read one folder of the set in `root`. Raises InputError naming the file and the field in
    error, OSError for files that cannot be read.
    """
    document = document_of(folder)
    prompt, language = _prompt(document, folder)
    names = [_name(tool) for tool in _list(document.get("tools"))]
    fixtures, lost = _fixtures(document, folder, root or folder)
    services, gaps = _services(document, names)
    environment = document.get("environment")
    limits: Mapping[str, Any] = environment if isinstance(environment, Mapping) else {}
    gaps += [_Gap(Missing.FIXTURE, name) for name in lost]
    has_grader = (folder / GRADER).is_file() and not (folder / GRADER).is_symlink()
    gaps.append(_Gap(Missing.CHECKS if has_grader else Missing.GRADER, GRADER))
    task_id = str(document.get("task_id") or folder.name)[:100]
    candidate = Candidate(
        task_id=task_id,
        lane=Lane.WORKFLOWS,
        prompt=prompt,
        language=language,
        business_task=str(document["task_name"])[:200] if "task_name" in document else None,
        execution_surface="services" if services else "workspace",
        fixtures=fixtures,
        tools=tuple(tool.name for tool in tools_of(services)),
        budget=Budget(
            turns=_positive(limits.get("max_turns"), _TURNS),
            seconds=_positive(limits.get("timeout_seconds"), _SECONDS),
        ),
        provenance=Provenance(
            source="foreign tasks",
            source_format="claw_eval",
            item_id=task_id,
            disclosure=Disclosure.PUBLIC,
            detail={"category": str(document.get("category", ""))[:100]},
        ),
    )
    reference = str(document.get("reference_solution") or "")
    return ForeignTask(folder, task_id, prompt, tuple(names), reference, candidate, tuple(gaps))


def document_of(folder: Path) -> Mapping[str, Any]:
    """The task.yaml of a folder. Raises InputError."""
    path = folder / TASK
    try:
        if path.is_symlink() or (size := path.stat().st_size) > _MAX_BYTES:
            what = "a link" if path.is_symlink() else f"{size:,} bytes"
            raise InputError(str(path), what, f"a file of at most {_MAX_BYTES:,} bytes", _DO)
        document = yaml.load(path.read_text("utf-8"), Loader=_PlainLoader)  # noqa: S506 (below)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        what = type(error).__name__
        raise InputError(str(path), what, "YAML without tags or aliases", _DO) from None
    if not isinstance(document, dict):
        raise InputError(str(path), type(document).__name__, "a mapping", _DO)
    return document


class _PlainLoader(yaml.SafeLoader):
    """YAML that names no Python objects and repeats nothing by alias."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def _prompt(document: Mapping[str, Any], folder: Path) -> tuple[str, str]:
    prompt = document.get("prompt")
    text = prompt.get("text") if isinstance(prompt, Mapping) else prompt
    if not isinstance(text, str) or not text.strip():
        raise InputError(str(folder / TASK), "no prompt", "a non-empty prompt.text", _DO)
    language = prompt.get("language") if isinstance(prompt, Mapping) else None
    return text, language if isinstance(language, str) and len(language) < 20 else "und"


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def _name(entry: Any) -> str:
    name = entry.get("name", "") if isinstance(entry, Mapping) else entry
    return str(name)[:100]


def _positive(value: Any, otherwise: int) -> int:
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else otherwise
    )


def _services(document: Mapping[str, Any], tools: list[str]) -> tuple[list[str], list[_Gap]]:
    """The services here that stand for those of the task, and what is not known of them."""
    known: Mapping[str, str] = load_table(__package__, "known_services.toml")["services"]
    own = {name: name for name in service_names()}
    gaps, services = [], []
    for name in dict.fromkeys(map(_name, _list(document.get("services")))):
        here = own.get(name) or known.get(name)
        if here is None:
            gaps.append(_Gap(Missing.SERVICE, name))
        else:
            services.append((name, here))
    for tool in tools:
        owner = next((pair for pair in services if tool.startswith(f"{pair[0]}_")), None)
        if owner is None:
            continue
        operation = tool.removeprefix(f"{owner[0]}_")
        if f"{owner[1]}_{operation}" not in {each.name for each in tools_of([owner[1]])}:
            gaps.append(_Gap(Missing.TOOL, tool))
    return list(dict.fromkeys(here for _, here in services)), gaps


def _fixtures(
    document: Mapping[str, Any], folder: Path, root: Path
) -> tuple[tuple[Fixture, ...], Iterator[str]]:
    """The input files of the task, and the names of those that are declared and not there.

    Files for its grader (`sandbox_grader_files`) have to be there, and are no input.
    """
    environment = document.get("environment")
    declared = _list(environment.get("fixtures")) if isinstance(environment, Mapping) else []
    declared = declared + _list(document.get("sandbox_files"))
    kept_back = _list(document.get("sandbox_grader_files"))
    present, lost = [], []
    for number, entry in enumerate((*declared, *kept_back)[:_MAX_FIXTURES]):
        name = entry.get("path", "") if isinstance(entry, Mapping) else entry
        relative = PurePosixPath(str(name))
        if (path := _fixture_file(relative, folder, root)) is not None:
            if number >= len(declared):
                continue
            shown = str(relative).removeprefix(f"{_FIXTURES}/")
            size = path.stat().st_size
            present.append(
                Fixture(
                    path=shown,
                    sha256=file_digest(path),
                    bytes=size,
                    media_type="application/octet-stream",
                )
            )
        else:
            lost.append(str(relative)[:200])
    return tuple(present), iter(lost)


def _fixture_file(relative: PurePosixPath, folder: Path, root: Path) -> Path | None:
    """The file of that name in the folder of the task, or from the folder that holds the set."""
    if relative.is_absolute() or ".." in relative.parts:
        return None
    set_of = root if folder == root else root.parent
    for base, bound in ((folder, folder), (root, root), (set_of, root)):
        path = base / relative
        if path.is_file() and path.resolve().is_relative_to(bound.resolve()):
            return path
    return None
