"""Task folders of Harbor: `task.toml`, `instruction.md`, `environment/`, `tests/`, `solution/`.

Trials in a sandbox: a solution has to pass, and what is no work must not. Only where the image is
no more than files on a plain system: its Dockerfile copies, makes folders and installs pytest. The
solution is tried first. Where it does not pass here, the machine may be at fault: that is not
checked, and no fault. Where it passes, the same tests are given nothing, the inputs in place of
results, the results with other figures, and the words of the inputs.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

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
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import Box, FileRefused, Sandbox, SandboxFailed, bubblewrap
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


_LIMITS = Limits(disk_bytes=256 << 20, file_bytes=4 << 20, files=500)
_SECONDS, _SLOW = 60.0, 30.0  # of an attempt, and from which it is not repeated for attacks
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
_Files = Mapping[str, bytes]


@dataclass(slots=True)
class _Tried:
    defects: list[tuple[str, str]] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Setting:
    """What one attempt starts from: files by absolute path, and the folders of the box."""

    files: _Files
    workdir: str
    folders: tuple[str, ...]
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Result:
    """The reward that the tests gave (None: none), and files that the attempt made or changed."""

    reward: float | None
    made: _Files


def _trial(setting: _Setting) -> _Tried:
    """What trials show of a task, or why there were none."""
    tried = _Tried()
    try:
        began = time.monotonic()
        oracle = _attempt(setting, "bash /solution/solve.sh", {})
        is_slow = time.monotonic() - began > _SLOW
        if oracle.reward != 1:
            got = "no reward" if oracle.reward is None else f"reward {oracle.reward:g}"
            tried.unchecked.append(f"the solution got {got} here, without the task's own image")
            return tried
        if is_slow:
            tried.unchecked.append("passed, but too slow for its tests to be attacked")
            return tried
        tried.defects += _attacked(setting, oracle, lambda made: _attempt(setting, "true", made))
        again = _attempt(setting, "bash /solution/solve.sh", {})
        if again.reward != 1:
            tried.defects.append(("oracle.unsteady", "the solution passed once and then failed"))
    except (SandboxFailed, FileRefused) as error:
        tried.unchecked.append(f"the sandbox failed ({error})")
    return tried


def _setting_of(task: HarborTask) -> _Setting | str:
    """The files of an attempt, or why it cannot be made here."""
    docker = task.docker
    if bubblewrap() is None:
        return "no sandbox on this machine (bubblewrap)"
    if task.steps:
        return f"has {len(task.steps)} steps"
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
        return f"works in {docker.workdir} or in system folders"
    return _Setting(
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


def _attempt(setting: _Setting, command: str, made: _Files) -> _Result:
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
    return _Result(reward if _STARTED in kept else None, changed)


def _script(setting: _Setting, command: str) -> str:
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
    setting: _Setting, oracle: _Result, attempt: Callable[[_Files], _Result]
) -> Iterator[tuple[str, str]]:
    """Attempts without the work of the solution that pass all the same."""
    if attempt({}).reward == 1:
        yield "grader.passed_by_null", "the tests pass when nothing was done"
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
            what = f"the grader passes a pasted input: copying {name} to {shown} passes"
            yield "grader.passed_by_pasted_input", what
    yield from _answers(texts, inputs, attempt)


def _answers(
    texts: Mapping[str, str], inputs: _Files, attempt: Callable[[_Files], _Result]
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
        what = f"the grader passes words from the inputs as an answer: '{_short(words)}' passes"
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
            setting = _setting_of(task)
        except OSError as error:
            report.unchecked.append(unread(task.name, error))
            continue
        if isinstance(setting, str):
            report.unchecked.append(Finding(task.name, "oracle", setting))
        elif trials.allow():
            tried = _trial(setting)
            report.defects += [Finding(task.name, code, detail) for code, detail in tried.defects]
            report.unchecked += [Finding(task.name, "oracle", why) for why in tried.unchecked]
    report.unchecked += trials.left_out("oracle")


_Faults = Iterator[tuple[str, str]]


def _is_draft(task: HarborTask) -> bool:
    parts = task.instruction, task.test, task.image, task.docker
    return not any(parts) and not task.files("environment")


def _structure(task: HarborTask, missing: Missing) -> _Faults:
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


def _inputs(task: HarborTask, missing: Missing) -> _Faults:
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


def _solution_told(task: HarborTask) -> _Faults:
    """Lines of the solution that stand in the instruction."""
    lines = {line.strip() for line in task.solve.splitlines() if not line.lstrip().startswith("#")}
    telling = {line for line in lines if len(line) >= _TELLING}
    n_lines = sum(line in task.instruction for line in telling)
    if n_lines >= _ENOUGH and 2 * n_lines >= len(telling):
        yield "solution.in_instruction", f"{n_lines} lines from {SOLVE}"
