"""What agents find installed in the sandbox: the interpreter and libraries for files.

The same packages that open deliverables when they are graded, and what those need. A run states
the versions and a digest of them.
"""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

from construction.grading.toolset import FONTS, installed, interpreter
from data.canonical import canonical_json, digest


def toolset() -> dict[str, object]:
    """The interpreter, the libraries with their versions, the fonts, and the digest of it all."""
    fonts = [package for package, folder in FONTS.items() if Path(folder).is_dir()]
    parts = {"python": interpreter(), "libraries": installed(), "fonts": fonts}
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
