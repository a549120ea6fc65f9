"""Every page of the documentation in Chromium: phone, tablet and desk, light and dark.

The site is made by `make site`, whose environment is not that of the tests; without it this is
skipped.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.conftest import REPO
from tests.flows.browser import chromium, overflow, violations, watched

pytestmark = pytest.mark.full

WIDTHS = (390, 768, 1440)
_MKDOCS = REPO / ".venv-docs" / "bin" / "mkdocs"
_SCHEMES = {"light": "default", "dark": "slate"}  # as the theme names them


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of the site, and its address: a server on the loopback."""
    if not _MKDOCS.is_file():
        pytest.skip("no .venv-docs: `make site` makes it")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [str(_MKDOCS), "build", "--quiet", "--site-dir", str(folder)],
        cwd=REPO,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": "/usr/bin:/bin"},
        check=True,
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize("scheme", _SCHEMES)
def test_every_page_fits_and_everyone_can_use_it(
    browser: Any, site: tuple[Path, str], scheme: str
) -> None:
    folder, address = site
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    assert len(pages) > 20
    page, trouble = watched(browser, color_scheme=scheme)
    faults = {}
    for name in pages:
        page.goto(f"{address}/{name}")
        assert page.evaluate("document.body.dataset.mdColorScheme") == _SCHEMES[scheme], name
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if wide := overflow(page):
                faults[name, width] = wide
        if serious := violations(page):
            faults[name, 0] = [str(fault) for fault in serious]
    assert faults == {}
    assert trouble == []


def test_the_search_finds_a_page(browser: Any, site: tuple[Path, str]) -> None:
    page, trouble = watched(browser, viewport={"width": 1440, "height": 900})
    page.goto(f"{site[1]}/index.html")
    page.get_by_role("textbox", name="Search").click()
    page.keyboard.type("errata")
    page.wait_for_selector(".md-search-result__link")
    assert "errata" in page.inner_text(".md-search-result__list").lower()
    assert trouble == []
