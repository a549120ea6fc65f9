"""Every page that a person opens in Chromium: phone, tablet and desk, light and dark.

    python -m benchmarks.pages OUT LEADERBOARD SITE [--instances N]

opens the pages of the newest release in OUT (report, privacy, index and every page of an instance,
or the N largest of these),
its audit page served and exported, the page of a workflow task's services, the leaderboard page
(`benchmint leaderboard --out LEADERBOARD`) and the documentation in SITE (`make site`). Each is
looked at with everything unfolded, at 390, 768 and 1440 px. "Too wide" counts elements that make
the page scroll sideways, "axe" rules of serious or critical impact that are broken (contrast among
them), "console" errors, "focus" stops of the Tab key (the first 40) that show no mark, that cannot
be seen, or that come before or after their turn in the document.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from benchmarks.report import table, write_result
from data.snapshot import layout
from flows.audit_server import export_page
from tests.flows.browser import READY, chromium, overflow, served, violations, watched
from tests.flows.command import command, environment

WIDTHS = (390, 768, 1440)
SCHEMES = ("light", "dark")
_STOPS = 40
_HEADS = ("page", "files", *(f"{width} px {scheme}" for scheme in SCHEMES for width in WIDTHS))
_UNFOLD = "document.querySelectorAll('details').forEach(node => node.open = true)"
# Stops of the Tab key in the order of the document, marked with their number.
_NUMBER = """() => {
  const wanted = 'a[href], button, input, select, textarea, summary, [tabindex]';
  const stops = [...document.querySelectorAll(wanted)].filter(node =>
    node.tabIndex >= 0 && !node.disabled && node.type !== 'hidden'
    && node.checkVisibility({visibilityProperty: true}));
  const seen = new Set();
  return stops.filter(node => {   // of radio buttons with one name, Tab reaches only one
    const group = node.type === 'radio' ? node.name : null;
    const isNew = group === null || !seen.has(group);
    seen.add(group);
    return isNew;
  }).map((node, number) => { node.dataset.stop = number; return number; }).length;
}"""
_STOP = """async () => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const shown = [node, ...(node.labels ?? [])];   // a label may stand for a hidden radio button
  const writes = node.matches('textarea, input:not([type]), input[type=text], input[type=search]');
  const marked = writes || shown.some(one => {    // where one writes, the cursor blinks
    const style = getComputedStyle(one);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
      || style.boxShadow !== 'none';
  });
  let visible = false;   // scrolling to it takes some frames
  for (let frames = 0; !visible && frames < 60; frames++) {
    visible = shown.some(one => {
      const box = one.getBoundingClientRect();
      return box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
    });
    if (!visible) await new Promise(requestAnimationFrame);
  }
  return {number: Number(node.dataset.stop ?? -1), marked, visible,
          html: node.outerHTML.slice(0, 120)};
}"""
# Is a stop none any more? Scrolling hides the button that leads back to the top.
_GONE = """number => {
  const node = document.querySelector(`[data-stop="${number}"]`);
  return !node || node.tabIndex < 0 || !node.checkVisibility({visibilityProperty: true});
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Measure and write the result; what is wrong is printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("out", "leaderboard", "site"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--instances", type=int, default=10_000)
    arguments = parser.parse_args()
    looks: list[dict[str, Any]] = []
    with ExitStack() as stack:
        pages = [
            *_release_pages(stack, arguments.out, arguments.instances),
            *_other_pages(stack, arguments.leaderboard, arguments.site),
        ]
        browser = stack.enter_context(chromium())
        for scheme in SCHEMES:
            for kind, address in pages:
                for look in _looks(browser, kind, address, scheme):
                    looks.append(look)
                    print(look["kind"], scheme, look["width"], _cell([look]), *look["faults"])
    about = __doc__.partition("\n\n    python")[0] if __doc__ else ""
    write_result("pages", about, _page(looks), {"date": time.strftime("%F"), "looks": looks})


def _release_pages(stack: ExitStack, out: Path, instances: int) -> Iterator[tuple[str, str]]:
    """Kind and address of each page of the newest release, and of those that serve it."""
    snapshot = (out / "snapshots" / "latest").resolve()
    audit = snapshot / layout.PRIVATE / layout.AUDIT
    yield "report", (snapshot / layout.PUBLIC / layout.REPORT).as_uri()
    yield "privacy", (snapshot / layout.PUBLIC / layout.PRIVACY_PAGE).as_uri()
    yield "private index", (audit / "index.html").as_uri()
    singles = [path for path in sorted(audit.glob("*.html")) if path.name != "index.html"]
    for path in sorted(singles, key=lambda path: -path.stat().st_size)[:instances]:
        yield "private instance", path.as_uri()
    address, _ = stack.enter_context(served(out))
    yield "audit page, served", address
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    yield "audit page, exported", export_page(out, folder)[0].as_uri()
    yield "services of a task", stack.enter_context(_services(snapshot))


def _other_pages(stack: ExitStack, leaderboard: Path, site: Path) -> Iterator[tuple[str, str]]:
    """Kind and address of the leaderboard's page and of those of the documentation."""
    yield "leaderboard", (leaderboard / "leaderboard.html").resolve().as_uri()
    handler = partial(_Quiet, directory=str(site))
    server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler))
    Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.shutdown)
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        yield "documentation", f"http://127.0.0.1:{server.server_port}/{name}"


@contextmanager
def _services(snapshot: Path) -> Iterator[str]:
    """The address of the page of the first workflow task's services."""
    task = min(path.parent.name for path in (snapshot / layout.PRIVATE).glob(f"*/{layout.WORLD}"))
    with subprocess.Popen(
        command("agents", "services", task, "--snapshot", snapshot),
        stderr=subprocess.PIPE, text=True, env=environment(),
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            yield next(line.split()[-1] for line in lines if "http" in line and "page" in line)
        finally:
            process.terminate()


def _looks(browser: Any, kind: str, address: str, scheme: str) -> Iterator[dict[str, Any]]:
    """One page in one scheme at each width: what is wrong, by kind."""
    page, trouble = watched(browser, color_scheme=scheme)
    try:
        for width in WIDTHS:
            trouble.clear()
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(address)
            if kind.startswith("audit page"):
                page.wait_for_selector(READY)
            page.evaluate(_UNFOLD)
            faults = {
                "too wide": overflow(page),
                "axe": [str(item) for item in violations(page)],
                "focus": _focus(page),
                "console": list(trouble),
            }
            wrong = [f"{name}: {fault}" for name, items in faults.items() for fault in items]
            name = address.rpartition("/")[2]
            yield {"kind": kind, "page": name, "width": width, "scheme": scheme, "faults": wrong}
    finally:
        page.close()


def _focus(page: Any) -> list[str]:
    """What is wrong with the first stops of the Tab key."""
    expected = min(page.evaluate(_NUMBER), _STOPS)
    page.evaluate("window.scrollTo(0, 0)")
    wrong: list[str] = []
    number = 0
    while number < expected:
        page.keyboard.press("Tab")
        stop = page.evaluate(_STOP)
        reached = expected if stop is None else stop["number"]
        while number < reached and page.evaluate(_GONE, number):
            number += 1
        if number == expected:  # the last ones are gone
            return wrong
        if stop is None:
            return [*wrong, f"stop {number}: nothing has the focus"]
        if stop["number"] != number:
            return [*wrong, f"stop {number}: not its turn: {stop['html']}"]
        if not stop["marked"]:
            wrong.append(f"stop {number}: no mark: {stop['html']}")
        if not stop["visible"]:
            wrong.append(f"stop {number}: out of sight: {stop['html']}")
        number += 1
    return wrong


def _cell(looks: list[dict[str, Any]]) -> str:
    counts = Counter(fault.partition(":")[0] for look in looks for fault in look["faults"])
    return ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "0"


def _page(looks: list[dict[str, Any]]) -> str:
    """One row for each kind of page, one column for each width and scheme."""
    rows = []
    for kind in dict.fromkeys(look["kind"] for look in looks):
        mine = [look for look in looks if look["kind"] == kind]
        cells = [
            _cell([look for look in mine if (look["width"], look["scheme"]) == (width, scheme)])
            for scheme in SCHEMES
            for width in WIDTHS
        ]
        rows.append([kind, str(len({look["page"] for look in mine})), *cells])
    wrong = sorted({f"- {look['page']}: `{fault}`" for look in looks for fault in look["faults"]})
    text = f"{len(looks)} looks, {_cell(looks)} faults.\n\n{table(_HEADS, rows)}"
    return text + ("\n" + "\n".join(wrong) + "\n" if wrong else "")


if __name__ == "__main__":
    main()
