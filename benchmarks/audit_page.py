"""The audit page with 100,000 rejections, served and exported, in a headless Chromium.

    python -m benchmarks.audit_page [--rejections N]

writes results/audit_page.md and audit_page.json. The verdicts are made up by arithmetic. Filter
times are the page's own marks, from the change of a filter to the rows in place; what-if times are
from the move of a slider to the funnel in place. Needs a Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from benchmarks.report import table, write_result
from construction.sessions.gates import fixture, length, network
from construction.sessions.gates.fixture import FixtureConfig, FixtureObservation, FixtureReason
from construction.sessions.gates.length import Length, LengthConfig
from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from data.contracts import Verdict
from flows.audit_server import export_page
from tests.flows.audit_workspace import Told, write_workspace
from tests.flows.browser import READY, chromium, served, watched

_BENCHMINT = (sys.executable, "-c", "from flows.cli import main; main()")
_BAR_PAINT, _BAR_FILTER = 2000, 200  # ms
_QUERIES = ("7", "network", "session-000123", "zzz", "0_i1")
_CHANGES = {
    "by-gate": ("length", "fixture", "network"),
    "by-reason": ("length.too_short", "fixture.unresolved"),
    "order": ("near", "listed"),
    "within": ("0.25", "1"),
    "by-other": ("fixture",),
}
_SLIDE = """number => {
  const slider = document.querySelector("details.gate input[type=range]");
  const began = performance.now();
  slider.value = String(number);
  slider.dispatchEvent(new Event("input"));
  return performance.now() - began;
}"""


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rejections", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), arguments.rejections)
    about = __doc__.partition("\n\n    python")[0] if __doc__ else ""
    write_result("audit_page", about, _page(figures), figures)


def measure(folder: Path, rejections: int) -> dict[str, Any]:
    """Build the workspace, then use the page in both forms."""
    out = write_workspace(folder / "out", list(_instances(rejections)))
    began = time.process_time()
    files = export_page(out, folder / "page")
    exported = round(time.process_time() - began, 2)
    command = _command(out)
    with chromium() as browser:
        file = _use(browser, files[0].as_uri())
        with served(out) as (address, _):
            web = _use(browser, address)
    sizes = {path.name: path.stat().st_size for path in files}
    figures = {"rejections": rejections, "export_cpu_seconds": exported, "command": command}
    return figures | {"bytes": sizes, "exported": file, "served": web}


def _command(out: Path) -> dict[str, float]:
    """`benchmint audit --serve` until all columns were answered: CPU, wall clock, memory."""
    began = time.perf_counter()
    with subprocess.Popen(
        [*_BENCHMINT, "audit", "--serve", "--out", str(out)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split()[-1]
            ready = _spent(process.pid)
            httpx.get(f"{address}data.json", timeout=60, trust_env=False).raise_for_status()
            wall = round(time.perf_counter() - began, 2)
            status = Path(f"/proc/{process.pid}/status").read_text()
            peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
            answered = _spent(process.pid)
        finally:
            process.terminate()
    return {
        "ready_cpu_seconds": ready,
        "answered_cpu_seconds": answered,
        "answered_wall_seconds": wall,
        "peak_mib": peak,
    }


def _spent(pid: int) -> float:
    """CPU seconds of a process so far, user and system."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return round(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), 2)


def _use(browser: Any, address: str) -> dict[str, Any]:
    page, trouble = watched(browser, viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.wait_for_selector(READY)
    now = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    for name, values in _CHANGES.items():
        for value in values:
            by = {"value": value} if name in ("order", "within") else {"label": value}
            page.select_option(f"#{name}", **by)
        page.select_option(f"#{name}", index=0)
    for query in _QUERIES:
        page.fill("#q", query)
        page.press("#q", "Enter")
    slides = [page.evaluate(_SLIDE, number) for number in (9, 8, 5, 0, 20)]
    filters = _filters(page)
    page.close()
    return {
        "first_paint_ms": round(paint),
        "ready_ms": round(now),
        "filter_ms": [round(value, 1) for value in filters],
        "slide_ms": [round(value, 1) for value in slides],
        "trouble": trouble,
    }


def _filters(page: Any) -> list[float]:
    """How long each filter took, the first listing included (ms)."""
    took: list[float] = page.evaluate(
        "performance.getEntriesByName('filter').map(entry => entry.duration)"
    )
    return took


def _instances(rejections: int) -> Iterator[Told]:
    """A fifth short, half without a file, three in ten without a site; and as many kept."""
    lengths, files, sites = LengthConfig(), FixtureConfig(), NetworkConfig()
    for n in range(rejections * 13 // 10):
        kind = n % 13
        short, gone, dead = kind < 2, 2 <= kind < 7, 7 <= kind < 10
        chars = n % 10 if short else 10 + n % 4000
        seen: list[Verdict] = [length.GATE.judge(Length(chars, chars), lengths)]
        lost = 1 + n % 3 if gone or (short and n % 29 == 0) else 0
        problem = FixtureReason.UNRESOLVED if lost else None
        seen.append(
            fixture.GATE.judge(
                FixtureObservation(f"{n}", 4, 4 - lost, 0, lost, 0, n * 7, problem, ()), files
            )
        )
        if not (short or gone):
            seen.append(network.GATE.judge(_reach(n, dead=dead), sites))
        yield f"session-{n // 4:06d}.{n % 4}_i1", seen


def _reach(n: int, *, dead: bool) -> Any:
    """Four URLs, of which one or more have no host if they are dead."""
    urls = [f"https://{number}.example/" for number in range(4)]
    lost = 1 + n % 3 if dead else 0
    causes = [Cause.NO_SUCH_HOST] * lost + [None] * (4 - lost)
    results = {u: ProbeResult(u, cause) for u, cause in zip(urls, causes, strict=True)}
    return network.measure(results, results)


_HEADS = (
    "page",
    "first paint (ms)",
    "list there (ms)",
    "filter: median, worst (ms)",
    "what-if: median, worst (ms)",
    "console errors",
)


def _page(figures: dict[str, Any]) -> str:
    rows, kept = [], True
    for form in ("served", "exported"):
        used = figures[form]
        filters, slides = used["filter_ms"], used["slide_ms"]
        kept = kept and used["first_paint_ms"] < _BAR_PAINT and max(filters) < _BAR_FILTER
        rows.append(
            (
                form,
                f"{used['first_paint_ms']}",
                f"{used['ready_ms']}",
                f"{statistics.median(filters):.0f}, {max(filters):.0f}",
                f"{statistics.median(slides):.0f}, {max(slides):.0f}",
                f"{len(used['trouble'])}",
            )
        )
    command = figures["command"]
    size = figures["bytes"]["audit.html"] / 1e6
    return "\n\n".join(
        (
            f"{figures['rejections']:,} rejections. Bar: first paint under {_BAR_PAINT} ms, "
            f"a filter under {_BAR_FILTER} ms. {'Kept' if kept else 'Missed'}.",
            table(_HEADS, rows),
            f"`benchmint audit --serve` takes {command['answered_cpu_seconds']} s of CPU from "
            f"the command to the last byte of its columns ({command['answered_wall_seconds']} s "
            f"by the clock), and {command['peak_mib']} MiB at most. The export takes "
            f"{figures['export_cpu_seconds']} s of CPU and its page holds {size:.0f} MB.\n",
        )
    )


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        raise SystemExit("no chromium on this machine")
    main()
