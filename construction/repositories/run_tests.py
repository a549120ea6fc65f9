"""The program that lays a change over a tree, runs the hidden tests, and says which passed.

It runs in a sandbox or in the container of an exported task, so it imports the standard library
alone. In its folder are `plan.json`, `repository.tar` and, where something was delivered,
`change.patch`; it prints one JSON object. What runs the tests is never taken from what was
delivered: test files and settings of test runners are those of the tree and of the plan.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from pathlib import Path
from typing import Any

_PROGRAMS = "/opt/programs"
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]*\.py|[^/]*_(?:test|spec)\.py|[^/]*[._](?:test|spec)\.[cm]?[jt]sx?)$"
)
_TEST_FOLDER = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|__mocks__|testing|fixtures|__snapshots__)/"
)
_RUNNER_FILE = re.compile(
    r"(?:^|/)(?:conftest\.py|pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|"
    r"sitecustomize\.py|usercustomize\.py|[^/]*\.pth|package\.json|bunfig\.toml|\.npmrc|"
    r"(?:vitest|jest|vite|mocha|babel)\.(?:config|setup|workspace)\.[cm]?[jt]s(?:on)?|"
    r"\.mocharc[^/]*|\.env(?:\.[^/]*)?)$"
)
_SHADOWS = re.compile(r"(?:^|/)(?:_?pytest|pluggy|iniconfig|hypothesis|node_modules)(?:\.py$|/)")
_MOST_OUTPUT, _TAIL = 64 << 20, 1500
PASSED, _FAILED, _SKIPPED = "passed", "failed", "skipped"


def is_test(path: str) -> bool:
    """Is it a file with tests?"""
    return _TEST_FILE.search(path) is not None


def is_protected(path: str) -> bool:
    """Does it decide which tests are run and how, so that a submission may not bring it?"""
    patterns = (_TEST_FILE, _TEST_FOLDER, _RUNNER_FILE, _SHADOWS)
    return any(pattern.search(path) for pattern in patterns)


def main() -> None:
    """Read the plan in the folder, lay out the tree, run the commands, print what happened."""
    here = Path.cwd()
    plan = json.loads((here / "plan.json").read_text("utf-8"))
    root = here / "repository"
    problem = _lay_out(here, root, plan)
    outcomes: dict[str, str] = {}
    tail, timed_out = problem or "", False
    for command in plan["commands"] if problem is None else ():
        more, said, late = run(command, root, plan)
        outcomes.update(more)
        tail, timed_out = said or tail, timed_out or late
    print(json.dumps(verdict(plan, outcomes) | {"tail": tail, "timed_out": timed_out}))


def verdict(plan: dict[str, Any], outcomes: dict[str, str]) -> dict[str, Any]:
    """Do all tests that decide pass? `tests` are all outcomes, if the plan asks for them."""
    counts = {
        name: sum(outcomes.get(test) == PASSED for test in plan[name])
        for name in ("fail_to_pass", "pass_to_pass")
    }
    wanted = len(plan["fail_to_pass"]) + len(plan["pass_to_pass"])
    passed = bool(plan["fail_to_pass"]) and sum(counts.values()) == wanted
    details = {"tests": outcomes} if plan.get("tell") else {}
    return {"passed": passed, **counts, **details}


def _lay_out(here: Path, root: Path, plan: dict[str, Any]) -> str | None:
    """The tree with the change, its tests and runner settings as the plan has them.

    Returns why the change cannot be applied, None if it can.
    """
    root.mkdir()
    with tarfile.open(here / "repository.tar") as archive:
        names = {item.name for item in archive.getmembers()}
        archive.extractall(root, filter="data")
        patch = here / "change.patch"
        is_empty = not patch.is_file() or not patch.stat().st_size
        problem = None if is_empty else _apply(patch, root)
        if problem is not None:
            return problem
        for path in sorted(root.rglob("*"), reverse=True):
            name = path.relative_to(root).as_posix()
            kind = f"{name}/" if path.is_dir() and not path.is_symlink() else name
            is_file = not kind.endswith("/")
            if is_file and is_protected(name) and name not in names:
                path.unlink()
        archive.extractall(
            root, filter="data", members=[m for m in archive.getmembers() if is_protected(m.name)]
        )
    for name, content in plan["hidden"]:
        path = root / name
        if content is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(base64.b64decode(content))
    _link_modules(root)
    return None


def _apply(patch: Path, root: Path) -> str | None:
    environment = {
        **os.environ,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CEILING_DIRECTORIES": str(root.parent),
    }
    done = subprocess.run(  # noqa: S603 (in a sandbox)
        ["git", "apply", "--whitespace=nowarn", str(patch)],  # noqa: S607
        cwd=root,
        env=environment,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return f"the change cannot be applied: {done.stderr.decode(errors='replace')[-_TAIL:]}"
    return None


def _link_modules(root: Path) -> None:
    """The packages of Node where the tree looks for them; packages of the tree stay its own."""
    modules = Path(_PROGRAMS, "modules")
    listed = Path(_PROGRAMS, "modules.json")
    folders: dict[str, dict[str, str]] = json.loads(listed.read_text()) if listed.is_file() else {}
    for folder, own in folders.items():
        target = root / folder
        if not target.parent.is_dir():
            continue
        target.mkdir(exist_ok=True)
        for entry in sorted((modules / folder).iterdir()):
            if entry.name.startswith("@") and not entry.is_symlink():
                (target / entry.name).mkdir(exist_ok=True)
                for scoped in sorted(entry.iterdir()):
                    _link(target / entry.name / scoped.name, scoped)
            else:
                _link(target / entry.name, entry)
        for name, package in own.items():
            link = target / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(root / package)


def _link(link: Path, target: Path) -> None:
    if not link.is_symlink() and not link.exists():
        link.symlink_to(target)


def _modules_above(program: str, folder: Path, root: Path) -> str:
    """The nearest folder of packages that holds a program, from a folder upwards."""
    name = program.removeprefix("{modules}/")
    for above in (folder, *folder.parents):
        if (above / "node_modules" / name).exists():
            return str(above / "node_modules")
        if above == root:
            break
    return str(root / "node_modules")


def _variables_of(command: dict[str, Any], root: Path) -> dict[str, str]:
    """The variables that tests see: where packages and programs of the environment are."""
    own = [root / path for path in ("src", "lib", "", *command["paths"])]
    paths = [*dict.fromkeys(map(str, own)), f"{_PROGRAMS}/site"]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
        "CI": "true",
        "NO_COLOR": "1",
        "HOME": tempfile.mkdtemp(),
        "PATH": os.pathsep.join([f"{_PROGRAMS}/bin", f"{_PROGRAMS}/site/bin", os.environ["PATH"]]),
    }


def run(
    command: dict[str, Any], root: Path, plan: dict[str, Any]
) -> tuple[dict[str, str], str, bool]:
    """Outcomes by test, the end of what was printed, and whether its time was over."""
    report = Path(tempfile.mkdtemp()) / "report"
    folder = root / command["folder"]
    words = [
        part.replace("{report}", str(report))
        .replace("{modules}", _modules_above(part, folder, root))
        .replace("{python}", sys.executable)
        for part in command["words"]
    ]
    if not folder.is_dir():
        return {}, "the folder of the tests is not there", False
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(  # noqa: S603 (in a sandbox)
            words,
            cwd=folder,
            env=_variables_of(command, root),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late = False
        try:
            process.wait(plan["seconds"])
        except subprocess.TimeoutExpired:
            late = True
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        printed.seek(max(0, printed.seek(0, os.SEEK_END) - _TAIL))
        tail = printed.read().decode(errors="replace")
    return _outcomes_in(report, command), tail, late


def _outcomes_in(report: Path, command: dict[str, Any]) -> dict[str, str]:
    """The outcomes that a report in the form of JUnit tells, by test; none if it is damaged."""
    if not report.is_file() or report.stat().st_size > _MOST_OUTPUT:
        return {}
    content = report.read_bytes()
    if content[:1] == b"{":
        return _outcomes_of_jest(content, command["folder"])
    try:
        cases = list(ElementTree.fromstring(content).iter("testcase"))  # noqa: S314 (in a sandbox)
    except ElementTree.ParseError:
        return {}
    outcomes: dict[str, str] = {}
    for case in cases:
        label = f"{case.get('file') or case.get('classname') or ''}"
        name = f"{label}::{case.get('classname') or ''}::{case.get('name') or ''}"
        name = f"{command['folder']}/{name}".lstrip("/")
        kinds = {child.tag for child in case}
        outcome = (
            _FAILED if kinds & {"failure", "error"} else _SKIPPED if "skipped" in kinds else PASSED
        )
        # Of several cases of one name all have to pass.
        outcomes[name] = outcome if outcomes.get(name, PASSED) == PASSED else outcomes[name]
    return outcomes


def _outcomes_of_jest(content: bytes, folder: str) -> dict[str, str]:
    """The outcomes in a report of Jest."""
    try:
        suites = json.loads(content)["testResults"]
        cases = [
            (f"{folder}/{Path(suite['name']).name}::{case['fullName']}".lstrip("/"), case["status"])
            for suite in suites
            for case in suite["assertionResults"]
        ]
    except (ValueError, KeyError, TypeError):
        return {}
    outcomes: dict[str, str] = {}
    for name, status in cases:
        outcome = status if status in (PASSED, _FAILED) else _SKIPPED
        outcomes[name] = outcome if outcomes.get(name, PASSED) == PASSED else outcomes[name]
    return outcomes


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
