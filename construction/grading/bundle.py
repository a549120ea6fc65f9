"""The graders as a folder of Python files that imports nothing of this project.

The modules that grading needs are found from their imports, copied under one package, and their
imports are rewritten. `python -I grader --help` runs the folder.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from data.errors import BenchmintError

PACKAGE = "benchmint_grader"
TOOLSET = frozenset({"PIL", "docx", "lxml", "openpyxl", "pptx", "pypdf", "yaml"})
_COMMAND = "construction.grading.bundle_command"
# `grade` imports `files` within a function; it is named here so that nobody has to know.
_ROOTS = (_COMMAND, "construction.grading.grade", "construction.grading.files")
_SOURCE = Path(__file__).resolve().parents[__name__.count(".")]
_MAIN = '''"""Runs {command}."""

import sys

from {package}.{command} import main

sys.exit(main())
'''


class BundleError(BenchmintError):
    """A grader imports what the bundle cannot take along: the message says which and where."""


def write_bundle(folder: Path) -> str:
    """Write the graders into `folder`; returns the digest of its files.

    The same code gives the same bytes. Raises BundleError if a grader imports anything but the
    standard library, this project, and the libraries of the toolset.
    """
    files = bundle_files()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return bundle_digest(files)


def bundle_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 (hex) over names and contents, as of a sorted list of `sha256  name` lines."""
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def bundle_files(source: Path = _SOURCE, roots: tuple[str, ...] = _ROOTS) -> dict[str, bytes]:
    """The files of the bundle by relative POSIX path; `source` holds the project's packages.

    The folder runs `main` of the first root.
    """
    files = {"__main__.py": _MAIN.format(package=PACKAGE, command=roots[0]).encode()}
    for path in _closure(source, roots).values():
        relative = path.relative_to(source)
        text = path.read_text(encoding="utf-8")
        files[f"{PACKAGE}/{relative.as_posix()}"] = _rewritten(text, source).encode()
        for table in _tables(text):
            name = relative.with_name(table)
            files[f"{PACKAGE}/{name.as_posix()}"] = (source / name).read_bytes()
        for parent in relative.parents:
            files.setdefault(f"{PACKAGE}/{(parent / '__init__.py').as_posix()}", b"")
    return dict(sorted(files.items()))


def _closure(source: Path, roots: tuple[str, ...]) -> dict[str, Path]:
    """All modules of this project that the roots import, by name."""
    closure: dict[str, Path] = {}
    pending = list(roots)
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
                _check_foreign(imported, path, line)
    return closure


def _check_foreign(imported: str, path: Path, line: int) -> None:
    name = imported.partition(".")[0]
    if name not in sys.stdlib_module_names and name not in TOOLSET:
        raise BundleError(
            f"{path.name}:{line}: found an import of {name}; expected the standard library or one "
            f"of {', '.join(sorted(TOOLSET))}. Graders are exported without other packages."
        )


def _imports(source: Path, path: Path) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, at any depth, with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def _rewritten(text: str, source: Path) -> str:
    """The source with imports of this project's modules as imports of the bundle's."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            root = node.module.partition(".")[0]
            if (source / root).is_dir():
                line = lines[node.lineno - 1]
                lines[node.lineno - 1] = re.sub(r"\bfrom ", f"from {PACKAGE}.", line, count=1)
    return "".join(lines)


def _tables(text: str) -> Iterator[str]:
    """The names of the TOML tables that a module loads from its own package."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load_table":
            package, *names = node.args
            if not isinstance(package, ast.Name) or package.id != "__package__":
                raise BundleError(f"line {node.lineno}: a table outside the module's package")
            yield "/".join(str(ast.literal_eval(name)) for name in names)
