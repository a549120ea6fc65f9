"""Pages in a headless Chromium, driven with playwright and checked with axe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from tests.flows.command import environment
from tests.needs import CHROMIUM

_SERVE = "import sys, pathlib; from flows.audit_server import serve_page; "
_SERVE += "serve_page(pathlib.Path(sys.argv[1]), 0)"
READY = "body[data-ready=yes]"


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; or a skip if this machine has none."""
    if CHROMIUM is None:
        pytest.skip("no chromium here: `make system`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def served(out: Path) -> Iterator[tuple[str, str]]:
    """The audit page of `out`, served by a process of its own: its address and its token."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(out)], stderr=subprocess.PIPE, text=True,
        env=environment(),
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            result = [process.stderr.readline().split()[-1] for _ in range(2)]
            yield result[0], result[1]
        finally:
            process.terminate()


def watched(browser: Any, **options: Any) -> tuple[Any, list[str]]:
    """A new page, and the list that its errors and foreign requests go to."""
    page, trouble = browser.new_page(**options), list[str]()

    def console(said: Any) -> None:
        if said.type == "error":
            trouble.append(said.text)

    def request(requests: Any) -> None:
        if "203.0.113" in requests.url:
            trouble.append(requests.url)

    page.on("console", console)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", request)
    return page, trouble


def violations(page: Any) -> list[tuple[str, str]]:
    """What axe-core finds of serious or critical impact: rule and element."""
    actual = Axe().run(page).response["violations"]
    return [
        (rule["id"], rule["nodes"][0]["html"])
        for rule in actual
        if rule["impact"] in ("serious", "critical")
    ]


def overflow(page: Any) -> list[str]:
    """Elements that stick out to the right of the window, but for those in a scroll box."""
    elements: list[str] = page.evaluate(
        """() => {
          if (document.documentElement.scrollWidth <= innerWidth) return [];
          return [...document.body.querySelectorAll('*')]
            .filter(n => n.getBoundingClientRect().right > innerWidth + 1
                    && !n.closest('.scroll') && !n.closest('nav'))
            .map(n => n.outerHTML.slice(0, 120)).slice(0, 3)
            .concat([`page of ${document.documentElement.scrollWidth} px`]);
        }"""
    )
    return elements
