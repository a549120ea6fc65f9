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

from construction.judging.baseline.label import skill_table
from construction.judging.settings import ClassesConfig
from construction.signals.embedding import Encode, Vectors, cosine, encode_multilingual
from data.contracts import TaskClass
from data.randomness import Key, keyed_order
from data.text.scripts import HAN, is_han

IN_DOMAIN, HELD_OUT = "in_domain", "held_out"
_STAGE = "task_classes"
_WORD = re.compile(f"[a-z]{{4,}}|[{HAN}]{{2,}}")
_TERMS = 3
_NO_SKILL = {
    "name": "No single skill",
    "definition": "Work that the words of its request do not place under one skill",
}


@dataclass(frozen=True, slots=True)
class Member:
    """A task of the pool: its id, its role, its skill subclass, its business task and request."""

    task_id: str
    role: str
    skill: str
    business_task: str
    request: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.request}\x00{self.skill}".encode()).hexdigest()

    @property
    def words(self) -> set[str]:
        """Words of four letters and more, and pairs of Han characters, of the business task."""
        words: set[str] = set()
        for run in _WORD.findall(self.business_task.lower()):
            words |= {run[at : at + 2] for at in range(len(run) - 1)} if is_han(run) else {run}
        return words


_Group = list[tuple[Member, float]]  # with their closeness to the centre of the group


def induce_classes(
    pool: Sequence[Member], config: ClassesConfig, encode: Encode = encode_multilingual
) -> dict[str, TaskClass]:
    """The task class of every member by its task id, independent of the order of the pool."""
    by_role: dict[str, list[Member]] = defaultdict(list)
    for member in sorted(pool, key=lambda member: (member.digest, member.task_id)):
        by_role[member.role].append(member)
    classes: dict[str, TaskClass] = {}
    seen: Counter[str] = Counter()
    for role in sorted(by_role):
        members = by_role[role]
        everywhere = _spread(members)
        for group in _groups(members, config, encode):
            task_class = _task_class(role, group, seen, everywhere, len(members))
            for member, closeness in group:
                own = task_class.model_copy(update={"confidence": closeness})
                classes[member.task_id] = own
    return classes


def _task_class(
    role: str, group: _Group, seen: Counter[str], everywhere: Counter[str], members: int
) -> TaskClass:
    """The subclass of a group: its commonest skill, numbered where several groups share it.

    `seen` counts the groups that are named after each skill, in all roles, and is updated. The
    definition adds the words that are frequent in the group but not in the role.
    """
    counts = Counter(member.skill for member, _ in group)
    skill = min(counts, key=lambda name: (-counts[name], name))
    entry = skill_table().get(skill, _NO_SKILL)
    seen[skill] += 1
    here = _spread(member for member, _ in group)
    terms = sorted(here, key=lambda word: (-here[word], word))
    is_first = seen[skill] == 1
    weight = {
        word: round(count * math.log((1 + members) / everywhere[word]), 9)
        for word, count in here.items()
        if count * 2 >= len(group)
    }
    apart = sorted(weight, key=lambda word: (-weight[word], word))[:_TERMS]
    often = f"; here often: {', '.join(apart)}" if apart else ""
    return TaskClass(
        big_class=role,
        subclass_id=skill if is_first else f"{skill}-{seen[skill]}",
        name=entry["name"] + ("" if is_first else f" ({', '.join(terms[:2])})"),
        definition=entry["definition"] + often,
        confidence=0,
        reason=f"one of {len(group)} of {members} requests of the role",
    )


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


def _groups(members: list[Member], config: ClassesConfig, encode: Encode) -> list[_Group]:
    """Similar members, the largest group first."""
    # Details such as names and numbers would separate tasks of one kind, and cost far more time.
    vectors = encode([one.business_task or one.request[: config.chars] for one in members])
    rows_by_label: dict[int, list[int]] = defaultdict(list)
    for row, label in enumerate(_linked(members, vectors, config)):
        rows_by_label[label].append(row)
    groups = []
    for rows in rows_by_label.values():
        middle = vectors[rows].mean(axis=0)
        closeness = (vectors @ middle / (float(np.linalg.norm(middle)) or 1.0)).tolist()
        group = [(members[row], round(min(1.0, max(0.0, closeness[row])), 6)) for row in rows]
        groups.append(group)
    return sorted(groups, key=lambda group: (-len(group), min(one.digest for one, _ in group)))


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


def _spread(members: Iterable[Member]) -> Counter[str]:
    """The number of business tasks that contain each word."""
    return Counter(word for member in members for word in member.words)
