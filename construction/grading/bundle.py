"""Parts of this project as a folder of Python files that imports nothing of this project.

The modules that a command needs are found from their imports, copied under one package, and their
imports are rewritten. `python -I grader --help` runs the folder.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from data.errors import BenchmintError

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


class BundleError(BenchmintError):
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
        raise BundleError(
            f"{where}: found an import of {name}; expected one of {allowed}. "
            f"{bundle.package} is exported without other packages."
        )


def _imports(source: Path, path: Path) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, at any depth, with their lines."""
    for node in ast.walk(_tree(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _path_of(source, alias.name) is not None:
                    raise BundleError(
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
                raise BundleError(f"line {node.lineno}: a table outside the module's package")
            yield "/".join(str(ast.literal_eval(name)) for name in names)
