"""Pictures of the pages of delivered files, made in a sandbox without network.

LibreOffice and Chromium turn documents, spreadsheets, slides and web pages into PDF, PDFium turns
PDF into PNG, Pillow writes pictures anew. A rendered file is kept under the digest of its content:
fonts and programs differ from machine to machine, and what a judge was shown must not.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from construction.grading.file_look import read_regular
from construction.grading.file_types import type_of
from construction.grading.text_openers import TooLarge
from construction.judging.calls.contracts import Image
from construction.sandbox.box import Box, interpreter
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import FileRefused, Sandbox, SandboxFailed
from construction.sandbox.toolset import library_paths
from data.atomic import replacing_dir
from data.canonical import digest

OFFICE = frozenset({"docx", "xlsx", "pptx"})
PICTURES = frozenset({"png", "jpg", "gif", "webp"})
PAGES_OF_BROWSER = frozenset({"html", "svg"})
_VERSION = "benchmint-pages/1"  # raised when pages are made in another way
_SETTINGS = ("/etc/libreoffice", "/etc/chromium", "/etc/chromium.d")
_LIBRARIES = ("pypdfium2", "pillow")
_MOST_BYTES = 100 << 20
_PDF, _TROUBLE = "page.pdf", "trouble"
_PROGRAMS = {"soffice": "LibreOffice", "chromium": "Chromium"}
_TO_PNG = """
import sys
from pathlib import Path
kind, most, width = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if kind == "pdf":
    import pypdfium2
    document = pypdfium2.PdfDocument("page.pdf")
    for number in range(min(len(document), most)):
        page = document[number]
        scale = width / max(page.get_width(), page.get_height(), 1)
        page.render(scale=scale).to_pil().convert("RGB").save(f"page-{number + 1:03d}.png")
else:
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = 100_000_000
    with Image.open(f"file.{kind}") as picture:
        picture.thumbnail((width, width))
        picture.convert("RGB").save("page-001.png")
"""


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Limits of one file: pages, pixels of the longer side, seconds and bytes of memory."""

    pages: int = 8
    pixels: int = 1200
    seconds: float = 120.0
    memory_bytes: int = 3 << 30


def pages_of(
    folder: Path, name: str, kept: Path, limits: PageLimits | None = None
) -> tuple[tuple[Image, ...], str]:
    """Pictures of the first pages of a file below `folder`, and shortly why there are none.

    `kept` is a private folder of pages made before. Raises SandboxFailed without a sandbox.
    """
    limits = limits or PageLimits()
    kind = type_of(name)
    if kind is None or kind.name not in {*OFFICE, *PICTURES, *PAGES_OF_BROWSER, "pdf"}:
        return (), "no_pages"
    try:
        content = read_regular(str(folder), name, _MOST_BYTES)
    except (OSError, TooLarge):
        return (), "unsafe_file"
    program = "soffice" if kind.name in OFFICE else "chromium"
    if kind.name in OFFICE | PAGES_OF_BROWSER and shutil.which(program) is None:
        return (), f"{_PROGRAMS[program]} is not installed"  # not kept: it may be installed later
    made_from = [_VERSION, kind.name, digest(content), limits.pages, limits.pixels]
    target = kept / digest(made_from)[:32]
    if not target.is_dir():
        pages, trouble = _rendered(content, kind.name, limits)
        with replacing_dir(target) as part:
            for number, page in enumerate(pages, 1):
                (part / f"page-{number:03d}.png").write_bytes(page)
            (part / _TROUBLE).write_text(trouble, encoding="utf-8")
    shown = (path.read_bytes() for path in sorted(target.glob("page-*.png")))
    return tuple(Image("image/png", page) for page in shown), (target / _TROUBLE).read_text("utf-8")


def _rendered(content: bytes, kind: str, limits: PageLimits) -> tuple[list[bytes], str]:
    box = Box(
        limits=Limits(memory_bytes=limits.memory_bytes),
        libraries=library_paths(_LIBRARIES),
        settings=_SETTINGS,
    )
    with Sandbox(box) as sandbox:
        try:
            sandbox.write(_PDF if kind == "pdf" else f"file.{kind}", content)
            if kind not in PICTURES and kind != "pdf":
                _to_pdf(sandbox, kind, limits)
            return _to_png(sandbox, kind if kind in PICTURES else "pdf", limits), ""
        except FileRefused:
            return [], "not_rendered"
        except SandboxFailed:  # it was ended: out of memory, or out of time
            return [], "crashed"


def _to_pdf(sandbox: Sandbox, kind: str, limits: PageLimits) -> None:
    """Write page.pdf. Raises FileRefused where the program makes none."""
    if kind in OFFICE:
        command = [
            "soffice", "-env:UserInstallation=file:///tmp/office", "--headless", "--norestore",
            "--convert-to", "pdf", "--outdir", "made", f"file.{kind}",
        ]  # fmt: skip
        made = "made/file.pdf"
    else:
        made = "made.pdf"
        command = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=/tmp/web",
            "--virtual-time-budget=5000", "--no-pdf-header-footer",
            f"--print-to-pdf=/work/{made}", f"file:///work/file.{kind}",
        ]  # fmt: skip
    sandbox.run(command, seconds=limits.seconds)
    sandbox.write(_PDF, sandbox.read(made))


def _to_png(sandbox: Sandbox, kind: str, limits: PageLimits) -> list[bytes]:
    sizes = [str(limits.pages), str(limits.pixels)]
    sandbox.run([interpreter(), "-c", _TO_PNG, kind, *sizes], seconds=limits.seconds)
    names = sorted(name for name in sandbox.names("") if name.startswith("page-"))
    if not names:
        raise FileRefused(kind, "no page")
    return [sandbox.read(name) for name in names[: limits.pages]]
