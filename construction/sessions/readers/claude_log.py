"""Parts of a Claude Code log: who wrote a user record, its content, and the active branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from construction.sessions.readers.talk import kind_of
from construction.sessions.wrappers.blocks import is_of_harness
from data.contracts import Origin

# Blocks that the harness inserts before, after or inside a prompt.
_INJECTED = ("system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics")

_BY_AGENTS = ("<teammate-message", "<agent-message", "<cross-session-message")
_MACHINE_KINDS = frozenset({"task-notification", "auto-continuation", "coordinator", "system"})
_AGENT_KINDS = frozenset({"peer", "agent", "teammate"})
_FLAGS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSynthetic")

_SAID = "the user said:\n"
_NOT_SAID = ("The user wants to clarify these questions",)
_NOTE_AFTER = "\n\nNote: The user's next message"


def without_injections(text: str) -> str:
    """The text without the blocks that the harness inserted."""
    if "<" not in text:
        return text
    for tag in _INJECTED:
        if f"<{tag}>" in text:
            text = _without_tag(text, f"<{tag}>", f"</{tag}>")
    return text


def _without_tag(text: str, opening: str, closing: str) -> str:
    kept: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(closing)
    kept.append(text[at:])
    return "".join(kept)


def origin_of(record: dict[str, Any], typed: str, is_side: bool) -> Origin | None:
    """The origin of a user record with this text; None leaves it to the wrappers in the text."""
    if any(record.get(flag) is True for flag in _FLAGS) or is_of_harness(typed.lstrip()):
        return Origin.SYSTEM
    kind = kind_of(record.get("origin"), "kind")
    if kind == "human":
        return None
    if kind in _MACHINE_KINDS:
        return Origin.SYSTEM
    if is_side or kind in _AGENT_KINDS:
        return Origin.AGENT
    return Origin.AGENT if typed.lstrip().startswith(_BY_AGENTS) else None


def said_on_refusal(result: str) -> str | None:
    """What a person typed when rejecting a tool call, which the log stores as the call's result."""
    start = result.find(_SAID)
    if start < 0:
        return None
    said = result[start + len(_SAID) :].partition(_NOTE_AFTER)[0].strip()
    return said if said and not said.startswith(_NOT_SAID) else None


_NONE = -1
_UNKNOWN = -1
_CLIMBING = -2


@dataclass(frozen=True, slots=True)
class Tree:
    """Connected messages, as positions in the log.

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
    quiet: Sequence[bool] = (),
) -> list[Tree]:
    """Group messages into trees, in the order of their roots.

    `ids`, `parents` and `labels` describe the messages, in file order. `relays` maps the other
    records to their parents; it is compressed in place. A message is a root if its parent is not
    in the log (it is the first, a line was lost, a restart) or has another label. If a message
    has several children, the branch of the last message in the file is active, because logs are
    appended to. Cycles are cut.

    `quiet` marks messages that neither a person nor the agent wrote, such as the output of a
    command with `!`: they choose no branch, and those beside the active one are added to it.
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
    forest: list[Tree] = []
    for root in sorted(members):
        own = members[root]
        leaf = next(number for number in reversed(own) if number not in with_child)
        path = _path_down(leaf, above)
        if quiet:
            last = next((number for number in reversed(own) if not quiet[number]), leaf)
            path = _with_asides(_path_down(_last_below(last, own, above), above), own, above, quiet)
        forest.append(Tree(labels[root], tuple(own), path))
    return forest


def _last_below(top: int, members: Sequence[int], above: Sequence[int]) -> int:
    """The last message that hangs from `top` and stands after it in the file."""
    last_child = {above[number]: number for number in members if number > top}
    while top in last_child:
        top = last_child[top]
    return top


def _with_asides(
    path: tuple[int, ...], members: Sequence[int], above: Sequence[int], quiet: Sequence[bool]
) -> tuple[int, ...]:
    """The path with the quiet messages that hang from it, all in file order."""
    kept = set(path)
    for number in members:
        if quiet[number] and above[number] in kept:
            kept.add(number)
    return path if len(kept) == len(path) else tuple(sorted(kept))


def nearest_message(
    start: str, position: Mapping[str, int], relays: dict[str, str | None]
) -> int | None:
    """The position of the message `start`, or of its nearest ancestor through relays."""
    if start in position:
        return position[start]
    trail: list[str] = []
    at: str | None = start
    while at is not None and at not in position:
        trail.append(at)
        above = relays.get(at)
        # A relay set to None ends a cycle when it is reached again.
        relays[at] = None
        at = above
    for relay in trail:
        relays[relay] = at
    return None if at is None else position[at]


def _roots(above: list[int]) -> list[int]:
    """The root of each message; a cycle is cut (in `above`) where it is first reached."""
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
