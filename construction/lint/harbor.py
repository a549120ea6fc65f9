"""Task folders of Harbor: `task.toml`, `instruction.md`, `environment/`, `tests/`, `solution/`."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

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
from construction.sandbox.box import Box, bubblewrap
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import FileRefused, Sandbox, SandboxFailed
from data.canonical import file_digest
from data.errors import InputError

# Trials of a Harbor task in a sandbox: its solution has to pass, and what is no work must not.
#
# Only where the image is no more than files on a plain system: its Dockerfile copies, makes folders
# and installs pytest. The solution is tried first. Where it does not pass here, the machine may be
# at fault: that is not checked, and no fault. Where it passes, the same tests are given nothing,
# the inputs in place of results, the results with other figures, and the words of the inputs.

_LIMITS = Limits(disk_bytes=256 << 20, file_bytes=4 << 20, files=500)
_SECONDS = 60.0
_TAKEN = frozenset(
    "usr bin lib lib64 etc proc dev tmp opt work sbin sys run".split()  # noqa: SIM905
)
_FOLDER = re.compile(r"/([a-z][\w-]*)(?:/|$)")
_MOST_BYTES = 16 << 20
_SHOWN, _LONGEST = 60, 20_000  # characters of an answer in a message, and of one that is altered
_PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
_REWARDS = ("reward.txt", "reward.json")
_STARTED = "tests.started"
_RUNNER = """#!/bin/sh
for word do
  shift
  case "$word" in --ctrf) skip=1 ;; *) [ -z "$skip" ] && set -- "$@" "$word"; skip= ;; esac
done
exec python3 -m pytest -p no:cacheprovider "$@"
"""
Files = Mapping[str, bytes]


@dataclass(slots=True)
class Tried:
    defects: list[tuple[str, str]] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Setting:
    """What one attempt starts from: files by absolute path, and the folders of the box."""

    files: Files
    workdir: str
    folders: tuple[str, ...]
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Result:
    """The reward that the tests gave (None: none), and files that the attempt made or changed."""

    reward: float | None
    made: Files


def trial(task: HarborTask) -> Tried:
    """What trials show of a task, or why there were none."""
    tried = Tried()
    setting = _setting(task)
    if isinstance(setting, str):
        tried.unchecked.append(setting)
        return tried
    try:
        oracle = _attempt(setting, "bash /solution/solve.sh", {})
        if oracle.reward != 1:
            got = "no reward" if oracle.reward is None else f"reward {oracle.reward:g}"
            tried.unchecked.append(f"the solution got {got} here, without the task's own image")
            return tried
        tried.defects += _attacked(setting, oracle, lambda made: _attempt(setting, "true", made))
        again = _attempt(setting, "bash /solution/solve.sh", {})
        if again.reward != 1:
            tried.defects.append(("oracle.unsteady", "the solution passed once and then failed"))
    except (SandboxFailed, FileRefused) as error:
        tried.unchecked.append(f"no sandbox held out ({error})")
    return tried


def _setting(task: HarborTask) -> Setting | str:
    """The files of an attempt, or why it cannot be made here."""
    docker = task.docker
    if bubblewrap() is None:
        return "no sandbox here (bubblewrap)"
    if docker is None or docker.unplain:
        return f"needs its image: {docker.unplain if docker else task.image or 'no Dockerfile'}"
    if not task.solve or not task.test:
        return "no solution to try" if task.test else "no tests to try"
    if NET.search(task.test) or NET.search(task.solve):
        return "its tests or solution fetch from the network"
    files = dict(_copied(task))
    for part in ("tests", "solution"):
        for path in task.files(part):
            files[f"/{path.relative_to(task.folder)}"] = path.read_bytes()
    if sum(map(len, files.values())) > _MOST_BYTES:
        return f"more than {_MOST_BYTES >> 20} MiB of files"
    named = [docker.workdir, *files, *docker.folders, "/app", "/logs"]
    tops = {match[1] for path in named if (match := _FOLDER.match(path))}
    if tops & _TAKEN or docker.workdir == "/":
        return f"works in {docker.workdir} or in folders of the system"
    return Setting(
        files, docker.workdir, tuple(f"/{top}" for top in sorted(tops)), docker.variables
    )


def _copied(task: HarborTask) -> Iterator[tuple[str, bytes]]:
    """What the Dockerfile copies, by its path in the image."""
    root = task.folder / "environment"
    assert task.docker is not None
    for sources, target in task.docker.copies:
        for source in sources:
            for path in matches(root, source):
                if path.is_dir():
                    inner = [each for each in task.files("environment") if path in each.parents]
                    for each in inner:
                        yield f"{target.rstrip('/')}/{each.relative_to(path)}", each.read_bytes()
                elif path.is_file():
                    is_folder = target.endswith("/")
                    yield f"{target}{path.name}" if is_folder else target, path.read_bytes()


def _attempt(setting: Setting, command: str, made: Files) -> Result:
    """One attempt in a box of its own. Raises SandboxFailed or FileRefused."""
    libraries = tuple(
        Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
        for name in _PYTEST
        if (spec := importlib.util.find_spec(name)) is not None and spec.origin is not None
    )
    box = replace(Box(_LIMITS), folders=setting.folders, libraries=libraries)
    with Sandbox(box) as sandbox:
        for path, content in {**setting.files, **made}.items():
            sandbox.write(f"image{path}", content)
        sandbox.write("bin/pytest", _RUNNER.encode())
        sandbox.write("run.sh", _script(setting, command).encode())
        sandbox.run(["bash", "/work/run.sh"], seconds=_SECONDS, variables=dict(setting.variables))
        kept = {name: sandbox.read(f"out/{name}") for name in sandbox.names("out")}
    reward = next((_reward(kept[n]) for n in _REWARDS if n in kept), None)
    changed = {f"/{n.partition('/')[2]}": kept[n] for n in kept if n.startswith("made/")}
    return Result(reward if _STARTED in kept else None, changed)


def _script(setting: Setting, command: str) -> str:
    folders = " ".join(map(shlex.quote, setting.folders))
    workdir = shlex.quote(setting.workdir)
    return f"""chmod +x /work/bin/pytest; export PATH=/work/bin:$PATH
cp -r /work/image/. / 2>/dev/null
mkdir -p {workdir} /logs/verifier /logs/agent /work/out/made
touch /work/mark; sleep 0.05
cd {workdir}; {command} >/dev/null 2>&1
find {folders} -type f -newer /work/mark ! -path '/tests/*' ! -path '/logs/*' \\
  -exec cp --parents -t /work/out/made {{}} + 2>/dev/null
touch /work/out/{_STARTED}
cd {workdir}; timeout 45 bash /tests/test.sh >/work/log 2>&1
cp /logs/verifier/reward.* /work/out/ 2>/dev/null
"""


def _reward(content: bytes) -> float | None:
    try:
        value: Any = orjson.loads(content)
        return float(value["reward"] if isinstance(value, dict) else value)
    except (ValueError, TypeError, KeyError):
        return None


def _attacked(
    setting: Setting, oracle: Result, attempt: Callable[[Files], Result]
) -> Iterator[tuple[str, str]]:
    """Attempts without the work of the solution that pass all the same."""
    if attempt({}).reward == 1:
        yield "grader.passed_by_null", "the tests pass where nothing was done"
        return
    inputs = {
        path: content
        for path, content in setting.files.items()
        if not path.startswith(("/tests/", "/solution/"))
    }
    texts = {path: text for path, content in oracle.made.items() if (text := _plain(content))}
    if not texts or len(texts) < len(oracle.made):
        return
    shown = ", ".join(path.rpartition("/")[2] for path in texts)
    if attempt(dict.fromkeys(texts, b"")).reward == 1:
        yield "grader.passed_by_empty_files", f"the grader passes empty files: {shown}"
    for path, content in inputs.items():
        if (
            content not in oracle.made.values()
            and attempt(dict.fromkeys(texts, content)).reward == 1
        ):
            name = path.rpartition("/")[2]
            what = f"the grader passes the pasted input: copying {name} to {shown} passes"
            yield "grader.passed_by_pasted_input", what
    yield from _answers(texts, inputs, attempt)


def _answers(
    texts: Mapping[str, str], inputs: Files, attempt: Callable[[Files], Result]
) -> Iterator[tuple[str, str]]:
    """The answer with other figures, and all words of the inputs instead of an answer."""
    other = {path: re.sub(r"\d", _next, text) for path, text in texts.items()}
    if other != dict(texts) and attempt(_encoded(other)).reward == 1:
        answer = _short(next(other[path] for path in texts if other[path] != texts[path]))
        what = f"the grader passes an answer without the right figures: '{answer}' passes"
        yield "grader.passed_by_other_figures", what
    words = " ".join(
        dict.fromkeys(
            word
            for content in inputs.values()
            for word in re.findall(r"[^\W\d_]{3,}", _plain(content))
        )
    )
    if words and attempt(_encoded(dict.fromkeys(texts, words))).reward == 1:
        what = f"the grader passes the words of the inputs for an answer: '{_short(words)}' passes"
        yield "grader.passed_by_listing", what


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


def _next(match: re.Match[str]) -> str:
    return str((int(match[0]) + 1) % 10)


def _short(text: str) -> str:
    return text.strip()[:_SHOWN]


def _plain(content: bytes) -> str:
    """A short text; "" for anything else."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return "" if "\x00" in text or len(text) > _LONGEST else text


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
