"""The active branches of a log whose records point at their parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NONE = -1
_UNKNOWN = -1
_CLIMBING = -2


@dataclass(frozen=True, slots=True)
class Tree:
    """Messages that hang together, as positions in the log.

    `members` are all of them in file order, `path` those of the active branch, root first.
    """

    label: str
    members: tuple[int, ...]
    path: tuple[int, ...]


def trees(
    ids: Sequence[str | None],
    parents: Sequence[str | None],
    labels: Sequence[str],
    relays: dict[str, str | None],
) -> list[Tree]:
    """Sort messages into trees, in the order of their roots.

    `ids`, `parents` and `labels` belong to the messages, in file order. `relays` maps the other
    records that stand between messages to their parents; it is compressed in place. A message
    is a root if its parent is not in the log (nothing came before, a line was lost, a log starts
    anew after compaction) or has another label. Where a message has several children, the
    branch of the last leaf in the file is active, because logs are appended to. Cycles are cut.
    """
    position = {id_: number for number, id_ in enumerate(ids) if id_ is not None}
    above = [_NONE] * len(ids)
    for number, parent in enumerate(parents):
        if parent is None:
            continue
        near = nearest_message(parent, position, relays)
        if near is not None and near != number and labels[near] == labels[number]:
            above[number] = near
    members: dict[int, list[int]] = {}
    for number, root in enumerate(_roots(above)):
        members.setdefault(root, []).append(number)
    with_child = set(above)
    found: list[Tree] = []
    for root in sorted(members):
        leaf = next(number for number in reversed(members[root]) if number not in with_child)
        found.append(Tree(labels[root], tuple(members[root]), _path_down(leaf, above)))
    return found


def nearest_message(
    start: str, position: Mapping[str, int], relays: dict[str, str | None]
) -> int | None:
    """The position of the message that `start` is or hangs from through relays."""
    if start in position:
        return position[start]
    trail: list[str] = []
    at: str | None = start
    while at is not None and at not in position:
        trail.append(at)
        above = relays.get(at)
        # An emptied relay ends a cycle when it is met again.
        relays[at] = None
        at = above
    for relay in trail:
        relays[relay] = at
    return None if at is None else position[at]


def _roots(above: list[int]) -> list[int]:
    """The root of each message; a cycle is cut (in `above`) where it is first met."""
    roots = [_UNKNOWN] * len(above)
    for start in range(len(above)):
        trail: list[int] = []
        at = start
        while roots[at] == _UNKNOWN and above[at] != _NONE:
            roots[at] = _CLIMBING
            trail.append(at)
            at = above[at]
        if roots[at] == _CLIMBING:
            above[at] = _NONE
        roots[at] = at if above[at] == _NONE else roots[at]
        for passed in trail:
            roots[passed] = roots[at]
    return roots


def _path_down(leaf: int, above: list[int]) -> tuple[int, ...]:
    path: list[int] = []
    at = leaf
    while at != _NONE:
        path.append(at)
        at = above[at]
    return tuple(reversed(path))
