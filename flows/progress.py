"""What a person sees while a build runs: one bar per stage, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")
console = Console(stderr=True)


def track(items: Iterable[T], title: str, total: int, *, quiet: bool = False) -> Iterator[T]:
    """Yield `items` while a bar counts them; one plain line where there is no terminal."""
    if quiet:
        yield from items
        return
    if not sys.stderr.isatty():
        yield from items
        console.print(f"{title}: {total}", highlight=False)
        return
    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console) as progress:
        yield from progress.track(items, total=total, description=title)
