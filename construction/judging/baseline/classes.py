"""Task classes induced from a pool: the unit of skill transfer (EnterpriseClawBench, app. B).

The big class is the role. Within a role, requests are clustered by what they say (sentence
vectors) and by their skill; a cluster is a subclass, named after its commonest skill and the
words that distinguish it. A joint stage: the classes depend on the whole pool, not on its order.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from construction.judging.baseline.label import skill_definition, skill_name
from construction.judging.settings import ClassesConfig
from construction.signals.embedding import Encode, Vectors, cosine, encode_multilingual
from data.contracts import TaskClass
from data.randomness import Key, keyed_order
from data.text.scripts import HAN, is_han

IN_DOMAIN, HELD_OUT = "in_domain", "held_out"
_STAGE = "task_classes"
_WORD = re.compile(f"[a-z]{{4,}}|[{HAN}]{{2,}}")
_TERMS = 3
_NEIGHBOURS = 8  # nearest requests of the same role outside a group


@dataclass(frozen=True, slots=True)
class Member:
    """A task of the pool: its id, its role, its skill subclass, its business task and request."""

    task_id: str
    role: str
    skill: str
    business_task: str
    request: str


@dataclass(frozen=True, slots=True)
class ClassGroup:
    """Similar tasks, with the rules' id of the group; `neighbours` are the nearest other tasks."""

    subclass_id: str
    big_class: str
    members: tuple[Member, ...]
    neighbours: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Induced:
    """The classes of a pool by task id, as the rules name them, and the groups behind them."""

    classes: dict[str, TaskClass]
    groups: tuple[ClassGroup, ...]


def induce_classes(
    pool: Sequence[Member], config: ClassesConfig, encode: Encode = encode_multilingual
) -> Induced:
    """The task class of every member, independent of the order of the pool."""
    by_role: dict[str, list[Member]] = defaultdict(list)
    for member in sorted(pool, key=lambda member: (_digest(member), member.task_id)):
        by_role[member.role].append(member)
    classes: dict[str, TaskClass] = {}
    class_groups: list[ClassGroup] = []
    seen: Counter[str] = Counter()
    for role in sorted(by_role):
        members = by_role[role]
        clusters = _clusters(members, config, encode)
        groups = [group for group, _ in clusters]
        names = _names(groups, seen)
        everywhere = _spread(members)
        for (subclass_id, name), (group, others) in zip(names, clusters, strict=True):
            definition = _definition(group, everywhere, len(members))
            inside = tuple(member for member, _ in group)
            class_groups.append(ClassGroup(subclass_id, role, inside, tuple(others)))
            for member, closeness in group:
                classes[member.task_id] = TaskClass(
                    big_class=role,
                    subclass_id=subclass_id,
                    name=name,
                    definition=definition,
                    confidence=closeness,
                    reason=f"one of {len(group)} of {len(members)} requests of the role",
                )
    return Induced(classes, tuple(class_groups))


def split_classes(classes: Iterable[TaskClass], config: ClassesConfig, seed: Key) -> dict[str, str]:
    """`in_domain` or `held_out` for every subclass id; each big class keeps one in-domain."""
    by_big: dict[str, set[str]] = defaultdict(set)
    for task_class in classes:
        by_big[task_class.big_class].add(task_class.subclass_id)
    split: dict[str, str] = {}
    for big in sorted(by_big):
        names = sorted(by_big[big])
        order = keyed_order(seed, _STAGE, names)
        held = min(round(config.held_out_share * len(names)), len(names) - 1)
        for position, index in enumerate(order):
            split[names[index]] = HELD_OUT if position < held else IN_DOMAIN
    return dict(sorted(split.items()))


Group = list[tuple[Member, float]]


def _clusters(
    members: list[Member], config: ClassesConfig, encode: Encode
) -> list[tuple[Group, list[Member]]]:
    """Groups of members with their closeness to the group's centre, the largest group first.

    Each comes with the outside members that are nearest to its centre.
    """
    # Details such as names and numbers would separate tasks of one kind, and cost far more time.
    texts = [one.business_task or one.request[: config.chars] for one in members]
    vectors = encode(texts)
    labels = _linked(members, vectors, config)
    rows_by_label: dict[int, list[int]] = defaultdict(list)
    for row, label in enumerate(labels):
        rows_by_label[label].append(row)
    groups = [_with_closeness(members, vectors, rows) for rows in rows_by_label.values()]
    return sorted(
        groups, key=lambda pair: (-len(pair[0]), min(_digest(member) for member, _ in pair[0]))
    )


def _linked(members: list[Member], vectors: Vectors, config: ClassesConfig) -> list[int]:
    if len(members) == 1:
        return [1]
    # Takes half a second to import; commands that only need the settings do without.
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    skills = np.array([member.skill for member in members])
    other = (skills[:, None] != skills[None, :]).astype(np.float64)
    unlike = np.clip(1.0 - cosine(vectors, vectors), 0.0, 2.0)
    distance = np.round((1.0 - config.skill_share) * unlike + config.skill_share * other, 9)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average")
    labels: list[int] = fcluster(tree, t=config.radius, criterion="distance").tolist()
    return labels


def _with_closeness(
    members: list[Member], vectors: Vectors, rows: list[int]
) -> tuple[Group, list[Member]]:
    middle = vectors[rows].mean(axis=0)
    norm = float(np.linalg.norm(middle)) or 1.0
    closeness = [
        round(min(1.0, max(0.0, found)), 6) for found in (vectors @ middle / norm).tolist()
    ]
    inside = frozenset(rows)
    outside = [row for row in range(len(members)) if row not in inside]
    outside.sort(
        key=lambda row: -closeness[row]
    )  # a stable sort of members that are in a fixed order
    group = [(members[row], closeness[row]) for row in rows]
    return group, [members[row] for row in outside[:_NEIGHBOURS]]


def _digest(member: Member) -> str:
    return hashlib.sha256(f"{member.request}\x00{member.skill}".encode()).hexdigest()


def _names(groups: list[Group], seen: Counter[str]) -> list[tuple[str, str]]:
    """An id and a name per group: its commonest skill, numbered where several groups share it.

    `seen` counts the groups that are named after each skill, in all roles, and is updated.
    """
    named = []
    for group in groups:
        skill = _commonest(group)
        seen[skill] += 1
        number = "" if seen[skill] == 1 else f"-{seen[skill]}"
        title = skill_name(skill) + ("" if not number else f" ({', '.join(_terms(group)[:2])})")
        named.append((f"{skill}{number}", title))
    return named


def _commonest(group: Group) -> str:
    counts = Counter(member.skill for member, _ in group)
    return min(counts, key=lambda skill: (-counts[skill], skill))


def _terms(group: Group) -> list[str]:
    counts = _spread(member for member, _ in group)
    return sorted(counts, key=lambda word: (-counts[word], word))[:_TERMS]


def _spread(members: Iterable[Member]) -> Counter[str]:
    """The number of business tasks that contain each word."""
    return Counter(word for member in members for word in set(_words(member)))


def _definition(group: Group, everywhere: Counter[str], members: int) -> str:
    """The skill's definition, and the words that are frequent in the group but not in the role."""
    here = _spread(member for member, _ in group)
    weight = {
        word: round(count * math.log((1 + members) / everywhere[word]), 9)
        for word, count in here.items()
        if count * 2 >= len(group)
    }
    apart = sorted(weight, key=lambda word: (-weight[word], word))[:_TERMS]
    often = f"; here often: {', '.join(apart)}" if apart else ""
    return skill_definition(_commonest(group)) + often


def _words(member: Member) -> list[str]:
    """Words of four letters and more, and pairs of Han characters, of the business task."""
    words: list[str] = []
    for run in _WORD.findall(member.business_task.lower()):
        words += [run[at : at + 2] for at in range(len(run) - 1)] if is_han(run) else [run]
    return words
