"""Task folders of Harbor: `task.toml`, `instruction.md`, `environment/`, `tests/`, `solution/`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from construction.lint.findings import (
    Finding,
    Missing,
    Report,
    Trials,
    repeated,
    unread,
    words_of,
)
from construction.lint.harbor_task import (
    INSTRUCTION,
    NET,
    SOLVE,
    TEST,
    HarborTask,
    matches,
    read_task,
    script,
)
from construction.lint.harbor_trial import setting_of, trial
from data.canonical import digest, file_digest
from data.errors import InputError

_ENVIRONMENT = "an environment"
# Names that a registry knows without an owner; other such names are of images built at home.
_OFFICIAL = re.compile(
    "almalinux|alpine|amazoncorretto|bash|buildpack-deps|busybox|centos|clojure|composer|"
    "dart|debian|docker|eclipse-temurin|elixir|erlang|fedora|gcc|golang|"
    "gradle|groovy|haskell|httpd|julia|mariadb|maven|mongo|mysql|"
    "nginx|node|openjdk|oraclelinux|perl|php|postgres|pypy|python|"
    "r-base|rabbitmq|redis|rockylinux|ruby|rust|sbt|swift|ubuntu"
)
_SCRIPT = PurePosixPath(SOLVE).name
_NAMED = 3  # files in a message
_SMALL = 64  # bytes: smaller files are equal by chance
_TELLING, _ENOUGH = 30, 3  # characters of a line, and how many lines of a solution in a text tell


def lint(folders: Sequence[Path], root: Path, trials: Trials) -> Report:
    """The faults of task folders below `root`; tests are tried in a sandbox where they need no
    image, as far as `trials` go.
    """
    report, tasks = Report("tasks of Harbor", len(folders)), list[HarborTask]()
    shared = {name for name, n in Counter(each.name for each in folders).items() if n > 1}
    for folder in folders:
        name = str(folder.relative_to(root)) if folder.name in shared else folder.name
        try:
            tasks.append(replace(read_task(folder, root), name=name))
        except InputError as error:
            report.defects.append(Finding(name, "task.unreadable", str(error)))
        except OSError as error:
            report.unchecked.append(unread(name, error))
    report.defects += _duplicates(tasks)
    missing = Missing()
    for task in tasks:
        try:
            _look(task, report, missing)
        except OSError as error:
            report.unchecked.append(unread(task.name, error))
    missing.settle(report)
    _try(tasks, report, trials)
    return report


def _duplicates(tasks: Sequence[HarborTask]) -> Iterator[Finding]:
    """Tasks that ask the same of the same: many say "make the tests pass" of different files."""
    wanted = {task.name: words_of(task.instruction) for task in tasks}
    often = Counter(wanted.values())
    named = []
    for task in tasks:
        key = wanted[task.name]
        if key and often[key] > 1:
            parts = (*task.files("environment"), *task.parts("tests"))
            key += "\n" + "\n".join(sorted(map(file_digest, parts)))
        named.append((task.name, key))
    yield from repeated(named, "task.duplicate", "instruction, environment and tests")


def _look(task: HarborTask, report: Report, missing: Missing) -> None:
    """What the files of a task show."""
    if _is_draft(task):
        what = "no instruction, environment or tests: an unfinished task"
        report.unchecked.append(Finding(task.name, "task.draft", what))
        return
    faults = [*_structure(task, missing), *_inputs(task, missing), *_solution_told(task)]
    report.defects += [Finding(task.name, code, detail) for code, detail in faults]
    for code, detail, is_here in _images(task):
        kept = report.portability if is_here else report.defects
        kept.append(Finding(task.name, code, detail))
    if NET.search(task.test):
        detail = "its tests fetch dependencies from the network"
        report.portability.append(Finding(task.name, "tests.need_network", detail))
    if task.has_bom:
        detail = "task.toml begins with a byte order mark, which TOML parsers reject"
        report.portability.append(Finding(task.name, "task.byte_order_mark", detail))


def _try(tasks: Sequence[HarborTask], report: Report, trials: Trials) -> None:
    """Trials of the first tasks by the digest of their names."""
    for task in sorted(tasks, key=lambda each: digest(each.name)):
        try:
            setting = setting_of(task)
        except OSError as error:
            report.unchecked.append(unread(task.name, error))
            continue
        if isinstance(setting, str):
            report.unchecked.append(Finding(task.name, "oracle", setting))
        elif trials.allow():
            tried = trial(setting)
            report.defects += [Finding(task.name, code, detail) for code, detail in tried.defects]
            report.unchecked += [Finding(task.name, "oracle", why) for why in tried.unchecked]
    report.unchecked += trials.left_out("oracle")


Faults = Iterator[tuple[str, str]]


def _is_draft(task: HarborTask) -> bool:
    parts = task.instruction, task.test, task.image, task.docker
    return not any(parts) and not task.files("environment")


def _structure(task: HarborTask, missing: Missing) -> Faults:
    for folder in task.places():
        if not script(task.folder / folder / INSTRUCTION, task.root).strip():
            yield "instruction.empty", f"no text in {folder}{INSTRUCTION}"
        tests = [script(task.folder / each / TEST, task.root) for each in (folder, "")]
        if not any(map(str.strip, tests)) and not task.has_own_verifier:
            yield "tests.missing", f"no {folder}{TEST}"
    compose = any((task.folder / "environment").glob("*compose*.y*ml"))
    if task.docker is not None or task.image or compose:
        missing.there.add(_ENVIRONMENT)
    else:
        detail = "no environment/Dockerfile and no docker_image"
        missing.lost.append((_ENVIRONMENT, Finding(task.name, "environment.missing", detail)))


def _images(task: HarborTask) -> Iterator[tuple[str, str, bool]]:
    """Images without a version: code, detail, and whether they are of the author's machine."""
    images = [task.image] if task.image else []
    for image in dict.fromkeys((*images, *(task.docker.images if task.docker else ()))):
        name = image.rpartition("/")[2]
        if "@" in image or "$" in image or (":" in name and not name.endswith(":latest")):
            continue
        if "/" in image or _OFFICIAL.fullmatch(name.partition(":")[0]):
            yield "image.unpinned", f"{image}: neither a version nor a digest", False
        else:
            yield "image.local", f"{image} is not in a registry and has to be built first", True


def _inputs(task: HarborTask, missing: Missing) -> Faults:
    """Files that the image wants and that are not there; solutions and tests that are in it."""
    root = task.folder / "environment"
    if task.docker is None or any(root.glob("*compose*.y*ml")):
        return
    within = set[str]()
    for source in dict.fromkeys(each for sources, _ in task.docker.copies for each in sources):
        is_there = _is_there(root, source)
        # An image that is fetched was built elsewhere, often in the folder of the task.
        base = task.folder if task.image and not is_there else root
        if is_there or _is_there(base, source):
            missing.there.add(source)
        elif (outside := _lost(task, source)) is not None:
            yield outside
        else:
            detail = f"environment/{source} is copied into the image but missing"
            missing.lost.append((source, Finding(task.name, "fixture.missing", detail)))
        for path in matches(base, source):
            inner = [path] if path.is_file() else task.files(str(path.relative_to(task.folder)))
            within |= {file_digest(each) for each in inner if not each.is_symlink()}
    if solved := _solved(task, within):
        yield "solution.in_inputs", f"the image contains {_named(solved, task)}"
    tests = [path for path in task.parts("tests") if _is_run(path, task)]
    if held := [path for path in tests if _is_in(path, within)]:
        yield "tests.in_inputs", f"the image contains {_named(held, task)}"


def _solved(task: HarborTask, within: set[str]) -> list[Path]:
    """The files of the solution, if the image holds its script or all that is beside it.

    Some of them alone may be files that the agent starts from and the solution leaves as they are.
    """
    held = [path for path in task.parts("solution") if _is_in(path, within)]
    beside = [path for path in task.parts("solution") if path.name != _SCRIPT]
    has_script = any(path.name == _SCRIPT for path in held)
    return held if has_script or (beside and len(held) == len(beside)) else []


def _is_in(path: Path, within: set[str]) -> bool:
    return path.stat().st_size >= _SMALL and file_digest(path) in within


def _named(paths: Sequence[Path], task: HarborTask) -> str:
    return ", ".join(str(path.relative_to(task.folder)) for path in paths[:_NAMED])


def _lost(task: HarborTask, source: str) -> tuple[str, str] | None:
    """A source that lies in the folder of the task and not in `environment/`."""
    if not _is_there(task.folder, source):
        return None
    part = next((each for each in PurePosixPath(source).parts if each not in ("..", ".")), "")
    code = "solution.in_inputs" if part == "solution" else "fixture.missing"
    return code, f"{source} is copied into the image but is outside environment/"


def _is_run(path: Path, task: HarborTask) -> bool:
    """Is it a file of the tests that their script names?"""
    name = re.escape(path.name)
    return path.parent.name == "tests" and bool(
        re.search(rf"(?<![\w.-]){name}(?![\w-])", task.test)
    )


def _is_there(root: Path, source: str) -> bool:
    path = PurePosixPath(source.removeprefix("./").lstrip("/"))
    if ".." in path.parts or str(path) in ("", "."):
        return True
    return any(root.glob(str(path))) if any(c in source for c in "*?[") else (root / path).exists()


def _solution_told(task: HarborTask) -> Faults:
    """Lines of the solution that stand in the instruction."""
    lines = {line.strip() for line in task.solve.splitlines() if not line.lstrip().startswith("#")}
    telling = {line for line in lines if len(line) >= _TELLING}
    n_lines = sum(line in task.instruction for line in telling)
    if n_lines >= _ENOUGH and 2 * n_lines >= len(telling):
        yield "solution.in_instruction", f"{n_lines} lines from {SOLVE}"
