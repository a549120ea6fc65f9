"""Task folders of Harbor: `task.toml`, `instruction.md`, `environment/`, `tests/`, `solution/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from construction.lint.findings import Finding, Report, repeated, words_of
from construction.lint.harbor_task import (
    INSTRUCTION,
    NET,
    SOLVE,
    TEST,
    HarborTask,
    matches,
    read_task,
)
from construction.lint.harbor_trial import trial
from data.canonical import file_digest
from data.errors import InputError

_SMALL = 64  # bytes: smaller files are equal by chance
_TELLING, _ENOUGH = 30, 3  # characters of a line, and how many lines of a solution in a text tell


def lint(folders: Sequence[Path]) -> Report:
    """The faults of task folders; their tests are tried in a sandbox where that needs no image."""
    report, tasks = Report("tasks of Harbor", len(folders)), []
    for folder in folders:
        try:
            tasks.append(read_task(folder))
        except InputError as error:
            report.defects.append(Finding(folder.name, "task.unreadable", str(error)))
    wanted = [(task.name, words_of(task.instruction)) for task in tasks]
    report.defects += repeated(wanted, "task.duplicate", "the instruction")
    for task in tasks:
        faults = [*_structure(task), *_images(task), *_inputs(task), *_solution_told(task)]
        report.defects += [Finding(task.name, code, detail) for code, detail in faults]
        if NET.search(task.test):
            detail = "its tests fetch what they need from the network"
            report.portability.append(Finding(task.name, "tests.need_network", detail))
        tried = trial(task)
        report.defects += [Finding(task.name, code, detail) for code, detail in tried.defects]
        report.unchecked += [Finding(task.name, "oracle", why) for why in tried.unchecked]
    return report


Faults = Iterator[tuple[str, str]]


def _structure(task: HarborTask) -> Faults:
    if not task.instruction.strip():
        yield "instruction.empty", f"no words in {INSTRUCTION}"
    if not task.test.strip():
        yield "tests.missing", f"no {TEST}"
    compose = any((task.folder / "environment").glob("*compose*.y*ml"))
    if task.docker is None and not task.image and not compose:
        yield "environment.missing", "no environment/Dockerfile and no docker_image"


def _images(task: HarborTask) -> Faults:
    images = [task.image] if task.image else []
    for image in (*images, *(task.docker.images if task.docker else ())):
        name = image.rpartition("/")[2]
        if "@" not in image and "$" not in image and (":" not in name or name.endswith(":latest")):
            yield "image.unpinned", f"{image}: neither a version nor a digest"


def _inputs(task: HarborTask) -> Faults:
    """Files that the image wants and that are not there; solutions and tests that are in it."""
    root = task.folder / "environment"
    if task.docker is None or any(root.glob("*compose*.y*ml")):
        return
    within: dict[str, Path] = {}
    for source in (source for sources, _ in task.docker.copies for source in sources):
        if not _is_there(root, source):
            part = next((each for each in PurePosixPath(source).parts if each != ".."), "")
            is_solution = part == "solution" and (task.folder / part).is_dir()
            code = "solution.in_inputs" if is_solution else "fixture.missing"
            yield code, f"environment/{source} is copied into the image and not there"
        for path in matches(root, source):
            held = [path] if path.is_file() else task.files(str(path.relative_to(task.folder)))
            within |= {file_digest(each): each for each in held if not each.is_symlink()}
    for part, code in (("solution", "solution.in_inputs"), ("tests", "tests.in_inputs")):
        for path in task.files(part):
            is_meant = part == "solution" or path.name in task.test
            if is_meant and path.stat().st_size >= _SMALL and file_digest(path) in within:
                yield code, f"the image holds {path.relative_to(task.folder)}"


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
        yield "solution.in_instruction", f"{n_lines} lines of {SOLVE}"
