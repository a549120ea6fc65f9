"""Candidate ideas by rules: a move of the pattern, in a situation, with a twist.

A move is what is done; a twist is something that goes wrong. `idea_moves.toml` holds the
moves of each pattern, `idea_situations.toml` the situations with their materials, and the
twists. Ideas of one seed differ in situation and twist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import Any

from pydantic import TypeAdapter

from construction.ideas.prefilters import Idea, IdeaReason, Proposed, ideas_wanted, sift
from construction.judging.contracts import Judged, ModelStagesConfig
from construction.signals.seeds import SeedIdea
from data.contracts import Evidence
from data.text.lexicon import load_table

_STRIDE = 5  # between the first situations of adjacent patterns; prime to the size of each pool
_TURNS = 4  # a move is used at most this often: the next begins after its situations
_SENTENCE = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")


@dataclass(frozen=True, slots=True)
class Twist:
    """What goes wrong with one kind of material: in the request, the steps and the grading."""

    task: str
    step: str
    graded: str


@dataclass(frozen=True, slots=True)
class Move:
    """What is done, as texts with slots. `twist` is the kind of material that has a fault.

    Without `evidence` an idea has the kinds of evidence of its seed.
    """

    pool: str
    twist: str
    title: str
    task: str
    steps: tuple[str, ...]
    artifact: str
    graded: str
    minutes: int
    service: str = ""
    files: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


_MOVE = TypeAdapter(Move)


@dataclass(frozen=True, slots=True)
class Situation:
    """Where something is done: `words` fill slots, `materials` are file, name and content."""

    name: str
    setting: str
    words: Mapping[str, str]
    materials: Mapping[str, tuple[str, str, str]]


def suggest_ideas(
    seeds: Sequence[SeedIdea], config: ModelStagesConfig, known: Sequence[str] = ()
) -> Proposed:
    """5 to 8 ideas per seed, filtered; `known` are titles and prompts not to be repeated."""
    return sift([_of_seed(seed, config) for seed in seeds], known, config.near_duplicate)


def _of_seed(seed: SeedIdea, config: ModelStagesConfig) -> Judged[tuple[Idea, ...]]:
    moves = _moves().get(seed.pattern)
    if not moves:
        return Judged(seed.pattern, None, IdeaReason.UNKNOWN_PATTERN)
    ideas = tuple(_idea(seed, moves, place) for place in range(ideas_wanted(seed, config)))
    return Judged(seed.pattern, ideas)


def _idea(seed: SeedIdea, moves: Sequence[Move], number_in_seed: int) -> Idea:
    turn, number = divmod(number_in_seed, len(moves))
    move = moves[number]
    begin = _STRIDE * list(_moves()).index(seed.pattern)
    situations = [one for one in _situations()[move.pool] if one.words["slug"] not in move.skip]
    situation = situations[(begin + turn + _TURNS * number) % len(situations)]
    twists = _twists()[move.twist]
    twist = twists[(begin + turn + len(moves) * number) % len(twists)]
    task = f"{move.task} {twist.task}"
    steps = (move.steps[0], twist.step, *move.steps[1:])
    graded = f"{move.graded}; {twist.graded}"
    kinds = dict.fromkeys(move.evidence or _kinds(seed.grading.evidence), True)
    return Idea(
        idea_id=f"{seed.pattern}-{number_in_seed + 1}",
        seed=seed.pattern,
        task_family=seed.task_family,
        title=f"{situation.name}: {_short(move.title, situation)}",
        task=f"{situation.setting} {_filled(task, situation)}",
        steps=tuple(_sentences(_short(step, situation)) for step in steps),
        artifact=_short(move.artifact, situation),
        environment=_environment(task, move, situation),
        evidence=Evidence(**kinds),
        graded=_short(graded, situation),
        ungraded=seed.grading.ungraded,
        minutes=move.minutes,
    )


def _kinds(evidence: Evidence) -> list[str]:
    return [name for name, needed in evidence.model_dump().items() if needed]


def _filled(text: str, situation: Situation) -> str:
    """The text with its slots filled: a material first with file and content, later by name."""
    seen: set[str] = set()
    parts = []
    for plain, slot, _, _ in Formatter().parse(text):
        parts.append(plain)
        if slot is None:
            continue
        if slot not in situation.materials:
            parts.append(situation.words[slot])
            continue
        file, name, content = situation.materials[slot]
        parts.append(f"the {name}" if slot in seen else f"the {name} ({file}: {content})")
        seen.add(slot)
    return _sentences("".join(parts))


def _short(text: str, situation: Situation) -> str:
    """The text with its slots filled, materials by name."""
    names = {slot: f"the {name}" for slot, (_, name, _) in situation.materials.items()}
    return text.format_map({**situation.words, **names})


def _sentences(text: str) -> str:
    return _SENTENCE.sub(lambda match: match[0].upper(), text)


def _environment(task: str, move: Move, situation: Situation) -> tuple[str, ...]:
    """The materials that the task names, the files of its move, and the simulated service."""
    named = dict.fromkeys(slot for _, slot, _, _ in Formatter().parse(task) if slot)
    materials = [situation.materials[slot] for slot in named if slot in situation.materials]
    made = [f"{file}: {content}" for file, _, content in materials]
    return (*made, *move.files, *([move.service] if move.service else []))


@cache
def _moves() -> Mapping[str, tuple[Move, ...]]:
    return {
        pattern: tuple(_MOVE.validate_python(move) for move in entry["moves"])
        for pattern, entry in load_table(__package__, "idea_moves.toml").items()
    }


@cache
def _situations() -> Mapping[str, tuple[Situation, ...]]:
    return {
        pool: tuple(_situation(slug, told) for slug, told in entries.items())
        for pool, entries in load_table(__package__, "idea_situations.toml").items()
        if pool != "twists"
    }


def _situation(slug: str, fields: Mapping[str, Any]) -> Situation:
    materials = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    words = {name: value for name, value in fields.items() if isinstance(value, str)}
    return Situation(words.pop("name"), words.pop("setting"), words | {"slug": slug}, materials)


@cache
def _twists() -> Mapping[str, tuple[Twist, ...]]:
    twists = load_table(__package__, "idea_situations.toml")["twists"]
    return {kind: tuple(Twist(**one) for one in entries) for kind, entries in twists.items()}
