"""Services with one large collection: a search over it, and opening its file again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from construction.workflows.contracts import Request, World
from construction.workflows.engine import handle
from flows.services.instance import Instance
from tests.construction.workflows.worlds import filled_world

RECORDS, SEARCHES, TRIES = 50_000, 25, 3


def large_world(records: int) -> World:
    """A mailbox with so many messages of five sentences beside a few records of everything."""
    base = filled_world(0, 3)
    messages = dict(base.state["mail"]["messages"])
    pattern = next(iter(messages.values()))
    messages |= {
        f"msg-{number}": {
            **pattern,
            "id": f"msg-{number}",
            "subject": f"Offer {number} of the week",
            "body": f"Dear all, this is message number {number}. " * 5,
        }
        for number in range(1000, 1000 + records)
    }
    state = {**base.state, "mail": {**base.state["mail"], "messages": messages}}
    return World(state, base.now, base.actor)


def large_figures() -> dict[str, Any]:
    """Processor milliseconds: of a search by words, a page of all, and of opening again."""
    world = large_world(RECORDS)
    words = Request("mail", "search_messages", {"query": "number 4711"})
    everything = Request("mail", "search_messages", {})
    with TemporaryDirectory() as name:
        path = Path(name) / "large.sqlite"
        with Instance.start(path, world) as instance:
            for _ in range(SEARCHES):
                instance.answer(words)
        return {
            "records": RECORDS,
            "search_ms": _least(lambda: handle(world, words)),
            "page_ms": _least(lambda: handle(world, everything)),
            "searches_before": SEARCHES,
            "reopen_ms": _least(lambda: Instance.reopen(path).close()),
        }


def large_line(figures: dict[str, Any]) -> str:
    """The figures in a sentence."""
    return (
        f"A mailbox of {figures['records']:,} messages, in processor milliseconds: a search by two "
        f"words {figures['search_ms']:,}, a page of all {figures['page_ms']:,}, opening its file "
        f"after {figures['searches_before']} searches {figures['reopen_ms']:,}."
    )


def _least(work: Callable[[], object]) -> float:
    times = []
    for _ in range(TRIES):
        began = time.process_time()
        work()
        times.append(1000 * (time.process_time() - began))
    return round(min(times))
