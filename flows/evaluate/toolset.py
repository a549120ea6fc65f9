"""What agents find installed in the sandbox: the interpreter and libraries for files.

The same packages that open deliverables when they are graded, and what those need. A run states
the versions and a digest of them.
"""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from data.canonical import canonical_json, digest

PACKAGES = ("openpyxl", "python-docx", "python-pptx", "pypdf", "pillow")


@cache
def installed() -> dict[str, str]:
    """Package -> version, of the packages here and all that they require, sorted."""
    versions: dict[str, str] = {}
    waiting = list(PACKAGES)
    while waiting:
        name = waiting.pop().lower()
        if name in versions:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        versions[name] = package.version
        needed = map(Requirement, package.requires or ())
        waiting += [item.name for item in needed if item.marker is None or item.marker.evaluate()]
    return dict(sorted(versions.items()))


def toolset() -> dict[str, object]:
    """The interpreter and the libraries with their versions, and the digest of all that."""
    parts = {"python": platform.python_version(), "libraries": installed()}
    return {**parts, "digest": digest(canonical_json(parts))}


def library_paths() -> tuple[Path, ...]:
    """The folders and modules of the libraries, to be laid side by side in a sandbox."""
    paths: set[Path] = set()
    for name in installed():
        package = distribution(name)
        for file in package.files or ():
            first = file.parts[0]
            if first not in ("..", "__pycache__") and not first.endswith(".pth"):
                paths.add(Path(str(package.locate_file(first))))
    return tuple(sorted(path for path in paths if path.exists()))
