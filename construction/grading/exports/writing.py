"""What all exports share: the tasks of a release with what graders need, where it goes, bundles.

A bundle is a part of this project as a folder of Python files that imports nothing of this project.
The modules that a command needs are found from their imports, copied under one package, and their
imports are rewritten. `python -I grader --help` runs the folder.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import os
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from construction.grading.combine import PASS_THRESHOLD
from construction.grading.spec import REPORT, TaskSpec, spec_of
from construction.grading.walk import computable
from construction.sandbox.toolset import FONTS, interpreter, pins
from construction.statements.model import COMPANIES, HISTORY, POINTS, SERIES
from construction.statements.questions.operations import TOOLS
from construction.statements.tools import client
from data.atomic import remove_leftovers, replacing_dir
from data.contracts import PRIVATE_FIELDS
from data.errors import BenchmintError, InputError
from data.releases.tasks import ReleasedTask, ReleasedTasks

_SOURCE = Path(__file__).resolve().parents[__name__.count(".")]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder to be written: its package, the module whose `main` is run, what it may import.

    `roots` are modules that are needed but only imported within functions; `libraries` are the
    top-level modules outside the standard library that may be imported; `tables` are patterns of
    data files, relative to the project, that modules read beside those of `load_table`.
    """

    package: str
    title: str
    command: str
    roots: tuple[str, ...] = ()
    libraries: frozenset[str] = frozenset()
    tables: tuple[str, ...] = ()

    def main(self) -> str:
        """The text of `__main__.py`."""
        return (
            f'"""{self.title}; see `--help`."""\n\nimport sys\n\n'
            f"from {self.package}.{self.command} import main\n\nsys.exit(main())\n"
        )


GRADER = Bundle(
    "benchmint_grader",
    "Grades an agent's deliverables",
    "construction.grading.bundle_command",
    ("construction.grading.grade", "construction.grading.hard_rules"),
    frozenset({"PIL", "docx", "lxml", "openpyxl", "pptx", "pypdf", "yaml"}),
)


class _BundleError(BenchmintError):
    """A module imports what the bundle cannot take along: the message says which and where."""


def write_bundle(folder: Path, bundle: Bundle = GRADER) -> str:
    """Write the bundle into `folder`; returns the digest of its files.

    The same code gives the same bytes. Raises BundleError if a module imports anything but the
    standard library, this project, and the libraries of the bundle.
    """
    files = bundle_files(bundle)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return _bundle_digest(files)


def _bundle_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 (hex) over names and contents, as of a sorted list of `sha256  name` lines."""
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def bundle_files(bundle: Bundle = GRADER, source: Path = _SOURCE) -> Mapping[str, bytes]:
    """The files of the bundle by relative POSIX path; `source` holds the project's packages."""
    files = {"__main__.py": bundle.main().encode()}
    for path in _closure(bundle, source).values():
        relative = path.relative_to(source)
        text = path.read_text(encoding="utf-8")
        files[f"{bundle.package}/{relative.as_posix()}"] = _rewritten(
            text, source, bundle.package
        ).encode()
        for table in _tables(text):
            name = relative.with_name(table)
            files[f"{bundle.package}/{name.as_posix()}"] = (source / name).read_bytes()
        for parent in relative.parents:
            files.setdefault(f"{bundle.package}/{(parent / '__init__.py').as_posix()}", b"")
    for data_file in (path for pattern in bundle.tables for path in source.glob(pattern)):
        relative = data_file.relative_to(source)
        files[f"{bundle.package}/{relative.as_posix()}"] = data_file.read_bytes()
    return dict(sorted(files.items()))


# Trials run in threads, and before CPython 3.12 two that build a syntax tree at once can end in
# "AST constructor recursion depth mismatch" (python/cpython#106905).
_PARSING = threading.Lock()


def _tree(text: str) -> ast.Module:
    with _PARSING:
        return ast.parse(text)


def _closure(bundle: Bundle, source: Path) -> dict[str, Path]:
    """All modules of this project that the bundle's command and roots import, by name."""
    closure: dict[str, Path] = {}
    pending = [bundle.command, *bundle.roots]
    while pending:
        module = pending.pop()
        path = _path_of(source, module)
        if module in closure or path is None:
            continue
        closure[module] = path
        for imported, line in _imports(source, path):
            if _path_of(source, imported) is not None:
                pending.append(imported)
            else:
                _check_foreign(bundle, imported, f"{path.name}:{line}")
    return closure


def _check_foreign(bundle: Bundle, imported: str, where: str) -> None:
    name = imported.partition(".")[0]
    if name not in sys.stdlib_module_names and name not in bundle.libraries:
        allowed = ", ".join(("the standard library", *sorted(bundle.libraries)))
        raise _BundleError(
            f"{where}: found an import of {name}; expected one of {allowed}. "
            f"{bundle.package} is exported without other packages."
        )


def _imports(source: Path, path: Path) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, at any depth, with their lines."""
    for node in ast.walk(_tree(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _path_of(source, alias.name) is not None:
                    raise _BundleError(
                        f"{path.name}:{node.lineno}: found `import {alias.name}`; "
                        "expected `from … import …`, which the bundle can rewrite."
                    )
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in submodules if _path_of(source, name) is not None]
            yield from ((name, node.lineno) for name in modules)
            if len(modules) < len(submodules):
                yield node.module, node.lineno


def _path_of(source: Path, module: str) -> Path | None:
    """The file of a module or package of this project."""
    path = source.joinpath(*module.split("."))
    for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


def _rewritten(text: str, source: Path, package: str) -> str:
    """The source with imports of this project's modules as imports of the bundle's."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            root = node.module.partition(".")[0]
            if (source / root).is_dir():
                line = lines[node.lineno - 1]
                lines[node.lineno - 1] = line.replace("from ", f"from {package}.", 1)
    return "".join(lines)


def _tables(text: str) -> Iterator[str]:
    """The names of the TOML tables that a module loads from its own package."""
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load_table":
            package, *names = node.args
            if not isinstance(package, ast.Name) or package.id != "__package__":
                raise _BundleError(f"line {node.lineno}: a table outside the module's package")
            yield "/".join(str(ast.literal_eval(name)) for name in names)


# The tools in an export: servers of data tools and of services, a client for shells, a solver.
#
#     tables/           server/ (a bundle), data/ (Parquet), requirements.txt, Dockerfile
#     services/         server/ (a bundle), requirements.txt; worlds/TASK.json beside it
#     data_tool         a program of one file, for agents that work in a shell
#     solver/           a bundle that computes an answer from the tools
#
# Servers run beside the agent and never where the agent can read their files.

# Named as text: the server's modules are copied, and flows is imported by nothing but flows.
_SERVER = Bundle(
    "benchmint_tables",
    "Serves the data tools",
    "flows.evaluate.table_server",
    libraries=frozenset(
        {
            *("anyio", "mcp", "mcp_types", "numpy", "orjson", "polars", "pydantic"),
            *("rapidfuzz", "starlette", "uvicorn"),
        }
    ),
    tables=("data/schemas.toml",),
)
_SERVICES = Bundle(
    "benchmint_services",
    "Serves the services of a workflow task",
    "flows.services.mcp_app",
    libraries=frozenset(
        {"anyio", "mcp", "mcp_types", "orjson", "pydantic", "starlette", "uvicorn"},
    ),
    tables=("construction/workflows/services/*.toml",),
)
SOLVER = Bundle(
    "benchmint_solver",
    "Computes an answer from the data tools",
    "construction.grading.solver_command",
)
_DISTRIBUTIONS = ("mcp", "numpy", "orjson", "polars", "pydantic", "rapidfuzz")
_OF_SERVICES = ("mcp", "orjson", "pydantic")
_UNTESTED = "# Untested: this image was not built when the release was exported."
_PROGRAM = 0o755


def write_server(tables: Path, folder: Path) -> None:
    """Write the server and the tables it serves. Raises InputError if there are none."""
    write_bundle(folder / "server", _SERVER)
    (folder / "data").mkdir()
    for table in (COMPANIES, SERIES, POINTS, HISTORY):
        source = tables / f"{table.name}.parquet"
        if not source.is_file():
            raise InputError(
                str(source), "no file", "the tables behind the tools that tasks use",
                "Export from the release's complete public half.",
            )  # fmt: skip
        shutil.copyfile(source, folder / "data" / source.name)
    (folder / "requirements.txt").write_text(pins(_DISTRIBUTIONS), encoding="utf-8")
    (folder / "Dockerfile").write_text(
        f"{_UNTESTED}\n{_base()}"
        "COPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n"
        "COPY server/ server/\nCOPY data/ data/\nUSER nobody\n"
        'CMD ["python", "-I", "-B", "server", "data", "--http", "8765"]\n',
        encoding="utf-8",
    )


def write_services(folder: Path) -> None:
    """Write the server of services, which serves any world: that beside it, in its image."""
    write_bundle(folder / "server", _SERVICES)
    (folder / "requirements.txt").write_text(pins(_OF_SERVICES), encoding="utf-8")
    (folder / "Dockerfile").write_text(
        f"{_UNTESTED}\n{_base()}WORKDIR /services\nRUN mkdir /state && chown nobody /state\n"
        "COPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n"
        "COPY server/ server/\nCOPY world.json .\nUSER nobody\n"
        'CMD ["python", "-I", "-B", "server", "world.json", "--state", "/state/state.sqlite", '
        '"--http", "8765"]\n',
        encoding="utf-8",
    )


def link_server(folder: Path, target: Path) -> None:
    """The same files at another place, sharing their bytes on the disk where links are possible."""
    shutil.copytree(folder, target, copy_function=_link)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def write_client(path: Path) -> None:
    """Write the client as a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = Path(client.__file__).read_text(encoding="utf-8")
    path.write_text(f"#!/usr/bin/env python3\n{text}", encoding="utf-8")
    path.chmod(_PROGRAM)


def agent_image(*copies: str) -> str:
    """The Dockerfile of an agent's work folder: what the toolset declares, git for tasks with
    repositories, and tmux for agents that work in a terminal. `copies` are its last lines.
    """
    libraries = " \\\n    ".join(pins().split())
    return "\n".join(
        (
            _UNTESTED,
            f"{_base()}RUN apt-get update && apt-get install --yes --no-install-recommends \\",
            f"    {' '.join(FONTS)} git tmux && rm -rf /var/lib/apt/lists/*",
            f"RUN pip install --no-cache-dir \\\n    {libraries}",
            "WORKDIR /work\nRUN mkdir -p inputs outputs",
            *copies,
            "",
        )
    )


def _base() -> str:
    return f"FROM python:{interpreter()}-slim\n"


TEMPLATES = Path(__file__).with_name("templates")
_SPEC_FIELDS = ("task_id", "prompt", "fixtures", *sorted(PRIVATE_FIELDS - {"rubric"}), "rubric")


class _ExportRunning(BenchmintError):
    """Another process writes an export to the same folder."""


@dataclass(frozen=True, slots=True)
class Export:
    """A release and what of it leaves: with `with_private`, the grader's half too.

    `services` are the tools of workflow tasks by task id: operations of services. These tasks leave
    with the private half alone: what services hold is part of it. `files` are files of tasks by
    their paths in a task's folder, in place of what an export would write there.
    """

    release: ReleasedTasks
    with_private: bool = False
    services: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def spec(self, task: ReleasedTask) -> dict[str, Any]:
        """What grading needs of a task, as JSON. Raises InputError without the private half."""
        whole = self.release.grading(task.candidate.task_id)
        fields = {name: whole[name] for name in _SPEC_FIELDS}
        return {**fields, "release_digest": self.release.digest}

    def needs_judge(self, task: ReleasedTask) -> bool:
        """Can only a judge let an attempt at it pass? Without the private half nobody can say."""
        if not self.with_private:
            return False
        return _needs_judge(spec_of(self.release.grading(task.candidate.task_id)))

    def computable_steps(self, task: ReleasedTask) -> dict[str, Any] | None:
        """The reference steps, if data tools alone carry them out; no gold answer among them."""
        if not computable(spec_of(self.release.grading(task.candidate.task_id))):
            return None
        return self._steps(task)

    def steps_to_carry_out(self, task: ReleasedTask) -> dict[str, Any] | None:
        """The reference steps, if the tools that are served carry them out.

        Those of workflow tasks end in a report, the answer that the reference solution gave.
        """
        if task.candidate.task_id not in self.services:
            return self.computable_steps(task)
        whole = self._steps(task)
        has_report = [step["operation"] for step in whole["steps"][-1:]] == [REPORT]
        return whole if has_report else None

    def _steps(self, task: ReleasedTask) -> dict[str, Any]:
        whole = self.release.grading(task.candidate.task_id)
        return {name: whole[name] for name in ("task_id", "steps")}

    @property
    def left_out(self) -> frozenset[str]:
        """The ids of the workflow tasks, if they cannot leave."""
        return frozenset() if self.with_private else frozenset(self.services)

    def tasks(self) -> Iterator[ReleasedTask]:
        """The tasks by id, but for those that are left out."""
        for task_id in sorted(self.release.tasks.keys() - self.left_out):
            yield self.release.tasks[task_id]


def _needs_judge(spec: TaskSpec) -> bool:
    """Can programs give less than the threshold? Right answers pass by themselves."""
    checks = sum(check.weight for check in spec.checks)
    return bool(spec.criteria) and not spec.answers and checks < PASS_THRESHOLD


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yield the folder to write an export to; it is at `out` once all of it is written.

    Raises InputError if something is there, ExportRunning if another process writes there.
    """
    target = out.resolve()
    if target == Path.cwd():
        raise InputError(
            str(out), "the current folder, which would be replaced", "another folder",
            "Choose a missing or empty one, such as --out exports/harbor.",
        )  # fmt: skip
    is_new = not target.exists()
    with _held(out, target):
        try:
            remove_leftovers(target.parent, target.name)
            with replacing_dir(target) as part:
                yield part
        except BaseException:
            if is_new:
                with suppress(OSError):
                    target.rmdir()
            raise


@contextmanager
def _held(out: Path, target: Path) -> Iterator[None]:
    """Hold an empty folder, which is made if need be, against other exports."""
    if target.exists() and not target.is_dir():
        raise _occupied(out)
    target.mkdir(parents=True, exist_ok=True)
    handle = os.open(target, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _ExportRunning(
                f"{out}: another export is under way here. Wait for it, or choose another --out."
            ) from None
        if any(target.iterdir()):  # also where another export has come first
            raise _occupied(out)
        yield
    finally:
        os.close(handle)


def _occupied(out: Path) -> InputError:
    return InputError(
        str(out), "a file or a folder with files in it", "nothing, or an empty folder",
        "Choose another folder, or remove this one.",
    )  # fmt: skip


def needs_tables(task: ReleasedTask) -> bool:
    """Does the task name a data tool?"""
    return any(name in TOOLS for name in task.candidate.tools)


def has_rules(task: ReleasedTask) -> bool:
    """Does the task ask for files? Then it has rules for them, and its answer lies elsewhere."""
    return bool(task.candidate.deliverables)


def write_text(path: Path, text: str) -> None:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy_inputs(task: ReleasedTask, folder: Path) -> None:
    """Copy the input files below `folder`; it exists even without any."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in task.inputs.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
