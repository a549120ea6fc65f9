"""Fixtures shared by all tests, and the order in which tests run."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import hypothesis
import pytest

from tests.dealing import dealt
from tests.demo import Demo, base, begin, shared

REPO = Path(__file__).resolve().parent.parent
SLOW_SECONDS = 10.0  # where `slow` does not say

hypothesis.settings.register_profile("benchmint", deadline=None)  # speed is never asserted
hypothesis.settings.load_profile("benchmint")


def pytest_configure(config: pytest.Config) -> None:
    """Prefect's database is this process's own: workers do not wait for each other's locks."""
    home = tempfile.mkdtemp(prefix="benchmint-prefect-")
    os.environ["PREFECT_HOME"] = home
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first: what takes minutes must not begin when the others are done."""
    by_name = {item.nodeid: item for item in items}
    slow = {
        name: float(mark.kwargs.get("seconds", SLOW_SECONDS))
        for name, item in by_name.items()
        if (mark := item.get_closest_marker("slow"))
    }
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = [by_name[name] for name in dealt(list(by_name), slow, workers)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that is skipped for want of what BENCHMINT_REQUIRE names has failed."""
    return required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for whole files."""
    return required((yield))


Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def required(report: Report) -> Report:
    """A skip whose reason names a required part (bubblewrap, evaluate, harbor) as a failure."""
    wanted = [name for name in os.environ.get("BENCHMINT_REQUIRE", "").split(",") if name]
    if report.skipped and not hasattr(report, "wasxfail"):
        # A skip is (path, line, reason); a path may hold a name of a part too.
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if any(name in reason.lower() for name in wanted):
            report.outcome = "failed"
            report.longrepr = f"BENCHMINT_REQUIRE names what is absent: {reason}"
    return report


@pytest.fixture(scope="session")
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo, built once for all workers. Read it; copy `out` to write into it.

    For quick tests alone it is built as on a machine without bubblewrap, which has to go too.
    """
    return shared(base(tmp_path_factory), has_box=_has_box(request.config))


@pytest.fixture(scope="session", autouse=True)
def _demo_in_time(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The demo is begun before the first test, so that workers do not all wait for it later."""
    is_first = os.environ.get("PYTEST_XDIST_WORKER") == "gw0"
    if not is_first or not any("demo" in _fixtures(item) for item in request.session.items):
        yield
        return
    child = begin(base(tmp_path_factory), has_box=_has_box(request.config))
    yield
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGTERM)
    child.wait()


def _has_box(config: pytest.Config) -> bool:
    return "not slow" not in config.getoption("markexpr")


def _fixtures(item: pytest.Item) -> Sequence[str]:
    return getattr(item, "fixturenames", ())


@pytest.fixture(scope="session")
def material() -> Path:
    """The folder of real material, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("BENCHMINT_MATERIAL", REPO.parent / "shared" / "material"))
    if not folder.is_dir():
        pytest.skip("no real material: set BENCHMINT_MATERIAL or put it at ../shared/material")
    return folder
