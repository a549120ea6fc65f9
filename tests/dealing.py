"""In which order tests run: slow ones first, dealt out to the workers by what they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def dealt(names: Sequence[str], slow: Mapping[str, float], workers: int) -> list[str]:
    """The tests in the order in which xdist should cut them, one stretch for each worker.

    `names` are node ids, `slow` the seconds of those that are. Slow tests of one file stay
    together, since they share fixtures; the file that takes longest goes first, to who has least
    to do. xdist cuts the list into stretches of equal length (--dist worksteal), and lets whoever
    is done take from their ends.
    """
    files: dict[str, list[str]] = {}
    for name in names:
        if name in slow:
            files.setdefault(name.partition("::")[0], []).append(name)
    hands: list[list[str]] = [[] for _ in range(workers)]
    loads = [0.0] * workers
    taken = {file: sum(slow[name] for name in held) for file, held in files.items()}
    for file in sorted(files, key=lambda file: (-taken[file], file)):
        least = loads.index(min(loads))
        hands[least] += files[file]
        loads[least] += taken[file]
    quick = [name for name in names if name not in slow]
    order: list[str] = []
    for number, hand in enumerate(hands):
        length = (len(names) - len(order)) // (workers - number)
        more = max(0, length - len(hand))
        order += hand + quick[:more]
        del quick[:more]
    return order + quick
