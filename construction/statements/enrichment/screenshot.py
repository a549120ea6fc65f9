"""A screenshot of a highlighted document by a headless Chromium, if the machine has one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from construction.statements.enrichment.document import FACT_ID
from data.contracts import StageConfig

_BINARIES = ("chromium", "chromium-browser")


class NotMade(StrEnum):
    """Why there is no screenshot."""

    NO_BROWSER = "screenshot.no_browser"
    FAILED = "screenshot.failed"


class ScreenshotConfig(StageConfig):
    """Runtime settings: pictures of browsers differ between machines and are never digested."""

    width: int = 1280
    height: int = 900
    seconds: float = 60


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A PNG, or the reason why there is none."""

    png: bytes | None
    reason: NotMade | None = None


def screenshot(document: bytes, config: ScreenshotConfig) -> Screenshot:
    """The page around the highlighted fact of a document that `highlight_fact` wrote.

    The document has no scripts left, and its policy allows none; the browser resolves no names,
    and its profile is thrown away.
    """
    binary = next((found for name in _BINARIES if (found := shutil.which(name))), None)
    if binary is None:
        return Screenshot(None, NotMade.NO_BROWSER)
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "page.html", Path(folder) / "page.png"
        page.write_bytes(document)
        command = _command(binary, Path(folder), page, picture, config)
        try:
            subprocess.run(  # noqa: S603  (fixed arguments, own paths)
                command, check=True, capture_output=True, timeout=config.seconds
            )
            return Screenshot(picture.read_bytes())
        except (subprocess.SubprocessError, OSError):
            return Screenshot(None, NotMade.FAILED)


def _command(
    binary: str, folder: Path, page: Path, picture: Path, config: ScreenshotConfig
) -> list[str]:
    # Chromium refuses to start as root with its sandbox; the page has neither script nor network.
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [
        binary,
        *as_root,
        "--headless=new",
        "--disable-background-networking",
        "--disable-gpu",
        "--disable-extensions",
        "--hide-scrollbars",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={config.width},{config.height}",
        f"--screenshot={picture}",
        f"{page.as_uri()}#{FACT_ID}",
    ]
