"""What agents find installed: the interpreter, the libraries for files, the fonts.

One declaration for the sandbox, the images of exports, and what a run and a release state.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from data.canonical import canonical_json, digest

PACKAGES = ("openpyxl", "python-docx", "python-pptx", "pypdf", "pillow", "pyyaml")
FONTS = {  # packages of Debian, and where they put their files
    "fonts-dejavu-core": "/usr/share/fonts/truetype/dejavu",
    "fonts-noto-cjk": "/usr/share/fonts/opentype/noto",
}


@cache
def interpreters() -> dict[str, Path]:
    """The interpreters of this machine by version such as 3.12: their folders, this one's first."""
    base = Path(sys.base_prefix)
    versions = {f"{sys.version_info.major}.{sys.version_info.minor}": base}
    beside = sorted(base.parent.glob("*")) if not base.is_relative_to("/usr") else []
    for folder in beside:
        for program in sorted((folder / "bin").glob("python3.*")):
            version = program.name.removeprefix("python")
            if version.removeprefix("3.").isdigit():
                versions.setdefault(version, folder)
    return versions


@cache
def installed(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Package -> version here, of the packages and all that they require, sorted."""
    versions: dict[str, str] = {}
    waiting = [Requirement(name) for name in packages]
    while waiting:
        wanted = waiting.pop()
        name = wanted.name.lower().replace("_", "-")
        if name in versions:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        versions[name] = package.version
        extras = [{"extra": extra} for extra in ("", *wanted.extras)]
        for item in map(Requirement, package.requires or ()):
            if item.marker is None or any(map(item.marker.evaluate, extras)):
                waiting.append(item)
    return dict(sorted(versions.items()))


def pins(packages: Sequence[str] = PACKAGES) -> str:
    """The same as lines `name==version`, for pip."""
    return "".join(f"{name}=={version}\n" for name, version in installed(packages).items())


def interpreter() -> str:
    """The version of Python, such as 3.11.7."""
    return platform.python_version()


def toolset() -> dict[str, object]:
    """The interpreter, the libraries with their versions, the fonts, and the digest of it all."""
    fonts = [package for package, folder in FONTS.items() if Path(folder).is_dir()]
    parts = {"python": interpreter(), "libraries": installed(), "fonts": fonts}
    return {**parts, "digest": digest(canonical_json(parts))}


def library_paths(packages: Sequence[str] = PACKAGES) -> tuple[Path, ...]:
    """The folders and modules of the libraries, to be laid side by side in a sandbox."""
    paths: set[Path] = set()
    for name in installed(tuple(packages)):
        package = distribution(name)
        for file in package.files or ():
            first = file.parts[0]
            if first not in ("..", "__pycache__") and not first.endswith(".pth"):
                paths.add(Path(str(package.locate_file(first))))
    return tuple(sorted(path for path in paths if path.exists()))


SHELL_TOOLS = frozenset({"shell", "read_file", "write_file"})  # served by the shell of the sandbox
