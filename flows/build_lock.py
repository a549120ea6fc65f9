"""Builds into one directory take turns where a Prefect server sees them all.

The lock in `data.builds.building` keeps two builds of one machine apart, and lets the second fail.
With a server the second waits: a global concurrency limit of one, named by the directory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.settings import PREFECT_API_URL

from data.builds import BuildRunning
from data.canonical import digest
from data.errors import BenchmintError
from flows.server import OWN

PREFIX = "build-"
WAIT_SECONDS = 3600.0
_ANSWER_SECONDS = 20.0
_LEASE_SECONDS = 60  # the shortest there is: a killed build gives its turn back after that


class ServerUnreachable(BenchmintError):
    """The settings name a Prefect server, and none is there."""


@contextmanager
def taking_turns(out: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Wait until no other build of this server writes into `out`.

    Nothing without a server, or with one of the build's own: nobody else waits there.

    Raises BuildRunning if the turn does not come within `wait_seconds`, ServerUnreachable if the
    server that the settings name is away.
    """
    if not PREFECT_API_URL.value() or OWN in os.environ:
        yield
        return
    name = turn_name(out)
    _require_answer()
    _ensure(name)
    with ExitStack() as stack:
        try:
            stack.enter_context(
                concurrency(
                    name,
                    timeout_seconds=wait_seconds,
                    lease_duration=_LEASE_SECONDS,
                    strict=True,
                    # A server that is away for a while must not end a build: the lock still holds.
                    raise_on_lease_renewal_failure=False,
                )
            )
        except TimeoutError:
            raise BuildRunning(
                f"{out}: another build is still running here after {wait_seconds:.0f} s."
            ) from None
        yield


def turn_name(out: Path) -> str:
    """The name of the limit that builds into `out` share."""
    return PREFIX + digest(str(out.resolve()))[:16]


def _require_answer() -> None:
    """Raise ServerUnreachable if the server does not answer: Prefect would ask for minutes."""
    url = PREFECT_API_URL.value()
    try:
        httpx.get(f"{url}/health", timeout=_ANSWER_SECONDS)  # any status: somebody is there
    except httpx.TransportError:
        raise _unreachable() from None


def _unreachable() -> ServerUnreachable:
    return ServerUnreachable(
        f"{PREFECT_API_URL.value()}: no Prefect server answers there. Start it (make serve), "
        "or build without one: make stop, or unset PREFECT_API_URL."
    )


def _ensure(name: str) -> None:
    """Make the limit if it is not there (two builds may find that at once); tell who waits."""
    try:
        with get_client(sync_client=True) as client:
            try:
                limit = client.read_global_concurrency_limit_by_name(name)
            except ObjectNotFound:
                with suppress(ObjectAlreadyExists):
                    new = GlobalConcurrencyLimitCreate(name=name, limit=1)
                    client.create_global_concurrency_limit(new)
                return
    except (RuntimeError, httpx.TransportError):
        raise _unreachable() from None
    if limit.active_slots:
        print("benchmint: another build is running here; waiting for it to finish", file=sys.stderr)
