"""Running one function over many shards: in this process, or in a pool of processes.

Prefect sees one task per stage. The workers never import Prefect, and so start fast.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def map_shards(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Iterator[Result]:
    """Yield `work(job)` in the order of `jobs`. `work` and the jobs must be picklable."""
    if workers == 1 or len(jobs) < 2:
        yield from map(work, jobs)
        return
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context) as pool:
        yield from pool.map(work, jobs)
