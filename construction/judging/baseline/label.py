"""The task as it was said, with role and skill by a table of words, and the task classes of a pool.

The evidence for a label is the share of its score in the scores of the two best labels and of a
doubt, which grows with the length of the request: a word says less of a longer one. Confidence is a
logistic function of the evidence, fitted on labelled tasks; below a threshold it is unassigned.

Task classes are induced from a pool: the unit of skill transfer (EnterpriseClawBench, app. B). The
big class is the role. Within a role, requests are clustered by what they say (sentence vectors) and
by their skill; a cluster is a subclass, named after its commonest skill and the words that
distinguish it. A joint stage: the classes depend on the whole pool, not on its order.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from construction.judging.contracts import (
    UNASSIGNED,
    Case,
    Difficulty,
    RoleClass,
    Taxonomy,
    Written,
)
from construction.judging.settings import ClassesConfig
from construction.mentions.files import without_file_names
from construction.prompt_frame import ANSWER
from construction.signals.matching import Encode, Vectors, cosine, encode_multilingual
from data.contracts import Label, TaskClass
from data.randomness import Key, keyed_order
from data.text.lexicon import any_of, load_table
from data.text.scripts import HAN, count_han, is_han, phrase_form, sentence_spans

_STRENGTHS = {"strong": 3.0, "usual": 1.0, "weak": 0.3}
_DOUBT, _SKILL_DOUBT = 3.0, 2.0  # the weight of being none of them, in a short request
_SHORT = 150  # characters of a request, up to which a word says most
_SLOPE, _MIDDLE = 8.6, 0.3  # confidence by evidence, fitted on 200 labelled tasks
_LEAST, _MOST_SURE = 0.5, 0.95
_HEAVIEST = 5  # words of each label, so that long requests have no advantage
_NAMED = 3  # words that a reason cites
_CHARS = 30_000  # of a request that are read
_TASK_WORDS, _TASK_HAN = 14, 28
_LEAST_CHARS = 5  # of a phrase; a shorter one says nothing
_GENERAL_ROUTE = "read what is given → do what is asked → check the result against the request"
_EDGE = re.compile(rf"(?<=[{HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{HAN}])|[/_.-]")
_DIFFICULTY_RULE = (
    "points for: input files (2 or 3: 1, from 4: 2), files to deliver (2 or 3: 1, from 4: 2), rows "
    "of input tables (from 200: 1), error cells, repeated rows or blanks in them: 1; easy 0 or 1, "
    "medium 2 or 3, hard from 4"
)
_STEPS, _ROWS = (2, 4), 200


def as_said(case: Case) -> Written:
    """The task in the person's own words, with labels by words and difficulty by points."""
    return Written(
        request=case.request,
        deliverables=case.candidate.deliverables,
        taxonomy=label(case),
        difficulty=_difficulty_of(case),
        difficulty_reason=_DIFFICULTY_RULE,
    )


def _difficulty_of(case: Case) -> Difficulty:
    """The points of `_DIFFICULTY_RULE` as a level."""
    sheets = [sheet for view in case.evidence.files for sheet in view.sheets]
    is_untidy = any(
        sheet.error_count or sheet.duplicates or any(column.blanks for column in sheet.columns)
        for sheet in sheets
    )
    files = len(case.candidate.fixtures)
    wanted = sum(item.count for item in case.candidate.deliverables)
    points = sum(number >= step for number in (files, wanted) for step in _STEPS)
    points += (sum(sheet.rows for sheet in sheets) >= _ROWS) + is_untidy
    return "easy" if points < 2 else "medium" if points < 4 else "hard"


def label(case: Case) -> Taxonomy:
    """Role, skill, its route, and the beginning of the request as the business task."""
    text = _plain(case)
    doubt = max(1.0, math.sqrt(len(case.request) / _SHORT))
    role = _best({name: _weights(words, text) for name, words in _roles().items()}, _DOUBT * doubt)
    skills = {
        name: dict.fromkeys(_words_in(entry["words"], text), 1.0)
        for name, entry in skill_table().items()
        if name.startswith(f"{role.value}.")
    }
    skill = _best(skills, _SKILL_DOUBT * doubt)
    entry = skill_table().get(skill.value, {})
    route = {
        "value": entry.get("route", _GENERAL_ROUTE),
        "reason": f"route of {skill.value}",
    }
    return Taxonomy(
        business_task=_business_task(case.request) or entry.get("name", "Work with files"),
        role=role,
        skill_subclass=skill,
        skill_route=skill.model_copy(update=route),
    )


def _business_task(request: str) -> str:
    """The beginning of the request's first sentence, without names of files; "" if it has none."""
    for start, end in sentence_spans(request):
        sentence = " ".join(without_file_names(request[start:end]).split())
        words = sentence.strip(" ,.;:，。；：…")
        if len(words) > _LEAST_CHARS:
            is_han = count_han(words) * 2 > len(words)
            cut = words[:_TASK_HAN] if is_han else " ".join(words.split()[:_TASK_WORDS])
            return (cut[:1].upper() + cut[1:])[:200]
    return ""


@cache
def skill_table() -> Mapping[str, Any]:
    """The skill subclasses by "role.skill"."""
    table = load_table("construction.judging", "tables", "skills.toml")
    return {
        f"{role}.{name}": entry for role, skills in table.items() for name, entry in skills.items()
    }


@cache
def _roles() -> Mapping[str, Mapping[str, list[str]]]:
    table = load_table("construction.judging", "tables", "roles.toml")
    return {str(role): {key: table[role][key] for key in _STRENGTHS} for role in RoleClass}


def _weights(words: Mapping[str, list[str]], text: str) -> dict[str, float]:
    matched = {
        word: _STRENGTHS[strength]
        for strength in reversed(_STRENGTHS)
        for word in _words_in(words[strength], text)
    }
    heaviest = sorted(matched, key=lambda word: (-matched[word], word))[:_HEAVIEST]
    return {word: matched[word] for word in heaviest}


def _best(weights: Mapping[str, Mapping[str, float]], doubt: float) -> Label:
    """The label with the highest score, or `unassigned` with the guess as its reason."""
    scores = {name: round(sum(words.values()), 9) for name, words in weights.items()}
    ranked = sorted(scores, key=lambda name: -scores[name])
    if not ranked or not scores[ranked[0]]:
        return Label(value=UNASSIGNED, confidence=0.0, reason="no word of any")
    best = ranked[0]
    second = scores[ranked[1]] if len(ranked) > 1 else 0.0
    evidence = scores[best] / (scores[best] + second + doubt)
    confidence = round(min(1 / (1 + math.exp(-_SLOPE * (evidence - _MIDDLE))), _MOST_SURE), 9)
    reason = ", ".join(list(weights[best])[:_NAMED])
    if confidence >= _LEAST:
        return Label(value=best, confidence=confidence, reason=reason)
    reason = f"too few words for {best}: {reason}"
    return Label(value=UNASSIGNED, confidence=confidence, reason=reason)


def _words_in(words: Sequence[str], text: str) -> Iterable[str]:
    """The words that stand in the text, each once."""
    return dict.fromkeys(match[0].strip() for match in _pattern(tuple(words)).finditer(text))


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return any_of(words)


def _plain(case: Case) -> str:
    """Request and names of files in the form of the tables' words."""
    names = [name for item in case.candidate.deliverables for name in item.name_hints]
    names += [fixture.path for fixture in case.candidate.fixtures[:_NAMED]]
    stems = " ".join(name.rpartition("/")[2].partition(".")[0] for name in names if name != ANSWER)
    return phrase_form(_EDGE.sub(" ", f"{case.request[:_CHARS]}\n{stems}"))


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
