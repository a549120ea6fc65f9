"""What a judge sees of delivered files beside views: pictures of pages, and changes of inputs.

LibreOffice and Chromium turn documents, spreadsheets, slides and web pages into PDF, in a sandbox
without network, PDFium turns PDF into PNG, Pillow writes pictures anew. A rendered file is kept
under the digest of its content: fonts and programs differ from machine to machine, and what a judge
was shown must not. Changes are the differences between two views of a file, cell by cell or by
lines.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from pathlib import Path

from construction.grading.file_look import read_regular
from construction.grading.file_types import type_of
from construction.grading.openers import TooLarge
from construction.judging.calls.contracts import Image
from construction.judging.evidence.shown import plain_text
from construction.judging.evidence.tables import letters
from construction.judging.evidence.views import Change, FileView, Sheet
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import Box, FileRefused, Sandbox, SandboxFailed, interpreter
from construction.sandbox.toolset import library_paths
from data.atomic import replacing_dir
from data.canonical import digest

_OFFICE = frozenset({"docx", "xlsx", "pptx"})
_PICTURES = frozenset({"png", "jpg", "gif", "webp"})
_PAGES_OF_BROWSER = frozenset({"html", "svg"})
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
class _PageLimits:
    """Limits of one file: pages, pixels of the longer side, seconds and bytes of memory."""

    pages: int = 8
    pixels: int = 1200
    seconds: float = 120.0
    memory_bytes: int = 3 << 30


def pages_of(
    folder: Path, name: str, kept: Path, limits: _PageLimits | None = None
) -> tuple[tuple[Image, ...], str]:
    """Pictures of the first pages of a file below `folder`, and shortly why there are none.

    `kept` is a private folder of pages made before. Raises SandboxFailed without a sandbox.
    """
    limits = limits or _PageLimits()
    kind = type_of(name)
    if kind is None or kind.name not in {*_OFFICE, *_PICTURES, *_PAGES_OF_BROWSER, "pdf"}:
        return (), "no_pages"
    try:
        content = read_regular(str(folder), name, _MOST_BYTES)
    except (OSError, TooLarge):
        return (), "unsafe_file"
    program = "soffice" if kind.name in _OFFICE else "chromium"
    if kind.name in _OFFICE | _PAGES_OF_BROWSER and shutil.which(program) is None:
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


def _rendered(content: bytes, kind: str, limits: _PageLimits) -> tuple[list[bytes], str]:
    box = Box(
        limits=Limits(memory_bytes=limits.memory_bytes),
        libraries=library_paths(_LIBRARIES),
        settings=_SETTINGS,
    )
    with Sandbox(box) as sandbox:
        try:
            sandbox.write(_PDF if kind == "pdf" else f"file.{kind}", content)
            if kind not in _PICTURES and kind != "pdf":
                _to_pdf(sandbox, kind, limits)
            return _to_png(sandbox, kind if kind in _PICTURES else "pdf", limits), ""
        except FileRefused:
            return [], "not_rendered"
        except SandboxFailed:  # it was ended: out of memory, or out of time
            return [], "crashed"


def _to_pdf(sandbox: Sandbox, kind: str, limits: _PageLimits) -> None:
    """Write page.pdf. Raises FileRefused where the program makes none."""
    if kind in _OFFICE:
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


def _to_png(sandbox: Sandbox, kind: str, limits: _PageLimits) -> list[bytes]:
    sizes = [str(limits.pages), str(limits.pixels)]
    sandbox.run([interpreter(), "-c", _TO_PNG, kind, *sizes], seconds=limits.seconds)
    names = sorted(name for name in sandbox.names("") if name.startswith("page-"))
    if not names:
        raise FileRefused(kind, "no page")
    return [sandbox.read(name) for name in names[: limits.pages]]


_MOST, _LONGEST = 60, 240  # differences of a file, characters of one
_MOST_LINES = 4_000  # of a text that is compared line by line


def changes_of(before: Sequence[FileView], after: Sequence[FileView]) -> tuple[Change, ...]:
    """The inputs that were delivered again under their name, and how they differ."""
    given = {view.path.rpartition("/")[2]: view for view in before}
    pairs = [(given.get(view.path.rpartition("/")[2]), view) for view in after]
    return tuple(
        _change(was, now) for was, now in pairs if was is not None and now.kind == was.kind
    )


def _change(was: FileView, now: FileView) -> Change:
    if was.model_copy(update={"path": now.path, "bytes": now.bytes}) == now:
        return Change(path=now.path, how="same")
    lines = list(_cells(was, now)) or list(_lines(was, now))
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines[:_MOST]]
    return Change(path=now.path, how="changed", lines=tuple(cut), more=len(lines) - len(cut))


def _cells(was: FileView, now: FileView) -> Iterator[str]:
    """Cells that differ; nothing where rows came or went, which moves all that is below them."""
    old, new = ({sheet.name: sheet for sheet in view.sheets} for view in (was, now))
    if any(old[name].last_row != new[name].last_row for name in old.keys() & new.keys()):
        return
    yield from (f"sheet {name!r} is new" for name in new if name not in old)
    yield from (f"sheet {name!r} is gone" for name in old if name not in new)
    for name in (name for name in new if name in old):
        first, second = _placed(old[name]), _placed(new[name])
        for at in sorted(first.keys() | second.keys()):
            if first.get(at, "") != second.get(at, ""):
                cell = f"{name}!{letters(at[1])}{at[0]}" if name else f"{letters(at[1])}{at[0]}"
                yield f"{cell}: {first.get(at) or '(blank)'} → {second.get(at) or '(blank)'}"


def _placed(sheet: Sheet) -> dict[tuple[int, int], str]:
    return {
        (at, sheet.first_column + n): cell
        for at, row in enumerate(sheet.head, sheet.first_row)
        for n, cell in enumerate(row)
        if cell
    }


def _lines(was: FileView, now: FileView) -> Iterator[str]:
    """The lines of a unified diff without its heads."""
    old, new = (plain_text(view, numbered=False).splitlines()[:_MOST_LINES] for view in (was, now))
    yield from islice(unified_diff(old, new, lineterm="", n=0), 2, None)
