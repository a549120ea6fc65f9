"""The scoring table: every reason for or against a cut between two neighbouring exchanges.

A cut is made where the weights of all cues that hold add up to the threshold. Weights of 50 and
more decide alone. The others were fitted on the tuning halves of `benchmarks.segmentation` and
on the project's own dialogues (logistic regression, then a search by coordinates), and rounded to
quarters; those that hold too seldom there to be fitted are set by judgement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from construction.sessions.recovery import lexicon
from construction.sessions.recovery.cohesion import Cohesion
from construction.sessions.recovery.features import Answer, Speech
from construction.sessions.recovery.lexicon import plain
from data.contracts import CutReason
from data.text.lexicon import has_any

_OPENING = 160  # characters of a request in which markers and references count
_REFERRING = 80
_COHERENT, _INCOHERENT, _DEEP = 0.4, 0.12, 0.25  # cosines at which a cue counts in full
_SHORT = 8  # words
_HANDFUL = 5


@dataclass(frozen=True, slots=True)
class Gap:
    """The place between two exchanges, with all that the cues look at.

    `request` is what is asked after the gap: `next`, or the first turn with words where bare
    attachments come first. `names` are the files and identifiers of the instance so far, `terms`
    its topic words; `next_files` are those that the agent touches after the gap. `pause` is in
    shares of a long pause, 0 to 2.
    """

    before: Speech
    answer: Answer
    next: Speech
    request: Speech
    after_reset: bool
    waiting: bool
    names: set[str]
    terms: set[str]
    next_files: frozenset[str]
    coherence: Cohesion
    pause: float


@dataclass(frozen=True, slots=True)
class Cue:
    """One row: `value` (0 to 1, pauses to 2) times `weight`; `reason` names the kind of cut."""

    name: str
    weight: float
    value: Callable[[Gap], float]
    reason: CutReason | None = None


def _opening(gap: Gap) -> str:
    return gap.request.plain[:_OPENING]


def _refers_back(gap: Gap) -> bool:
    return not _material(gap) and has_any(gap.request.plain[:_REFERRING], lexicon.REFERS_BACK)


def _leans_on(gap: Gap) -> bool:
    """Does the first sentence ask for something to be made of what was there before?"""
    sentence = gap.request.plain[: gap.request.plain.find("|", 3) + 1]
    return not _material(gap) and has_any(sentence, lexicon.LEANS_ON)


def _attached(gap: Gap) -> bool:
    return gap.next.attached or gap.request.attached


def _material(gap: Gap) -> bool:
    """Does the request bring what it speaks of, so that "this" is no reference back?"""
    return _attached(gap) or gap.request.inline


def _delivered(gap: Gap) -> bool:
    """Was something finished before more is asked for or sent?"""
    if gap.answer.asked or not (gap.request.asks or _attached(gap)):
        return False
    return gap.answer.wrote or has_any(plain(gap.answer.opening), lexicon.DONE)


def _new_object(gap: Gap) -> bool:
    return gap.request.asks and gap.request.indefinite


def _other_names(gap: Gap) -> bool:
    return bool(gap.names and gap.request.names) and gap.names.isdisjoint(gap.request.names)


def _novel(gap: Gap) -> float:
    """How many topic words of the request are new to the instance, up to a handful."""
    return min(1.0, len(gap.request.terms - gap.terms) / _HANDFUL) if gap.request.asks else 0.0


def _incoherent(gap: Gap) -> float:
    return gap.coherence.mass * max(0.0, 1 - gap.coherence.value / _INCOHERENT)


def _deep(gap: Gap) -> float:
    return gap.coherence.mass * min(1.0, gap.coherence.depth / _DEEP)


_RESET, _NEW = CutReason.EXPLICIT_RESET, CutReason.MARKED_AS_NEW
_PAUSE, _DELIVERY, _TOPIC = CutReason.LONG_PAUSE, CutReason.AFTER_DELIVERY, CutReason.TOPIC_SHIFT

CUES = (
    # Decisive, for a cut
    Cue("reset_command", 200, lambda g: g.after_reset, _RESET),
    Cue("reset_words", 60, lambda g: has_any(_opening(g), lexicon.RESETS), _RESET),
    # Decisive, against it
    Cue("courtesy", -500, lambda g: g.next.courtesy),
    Cue("waiting_for_material", -100, lambda g: g.waiting),
    Cue("go_on", -50, lambda g: g.next.go_on),
    Cue("only_material_so_far", -50, lambda g: g.before.bare and not g.answer.wrote),
    # Weighed, for a cut: what came before is over
    Cue("marked", 2, lambda g: has_any(_opening(g), lexicon.MARKERS), _NEW),
    Cue("by_the_way", 0.5, lambda g: has_any(_opening(g), lexicon.BY_THE_WAY), _NEW),
    Cue("pause", 1.5, lambda g: g.pause, _PAUSE),
    Cue("closed", 2, lambda g: g.before.courtesy, _DELIVERY),
    Cue("delivered", 0.5, _delivered, _DELIVERY),
    Cue("incoherent", 2.5, _incoherent, _TOPIC),
    Cue("deep", 0.5, _deep, _TOPIC),
    Cue("valley", 1, lambda g: g.coherence.mass * g.coherence.valley, _TOPIC),
    Cue("novel", 0.75, _novel, _TOPIC),
    Cue("other_names", 0.75, _other_names, _TOPIC),
    # Weighed, for a cut: something else begins
    Cue("thanked", 0.5, lambda g: g.next.thanked),
    Cue("greeting", 2.5, lambda g: g.next.plain.startswith(lexicon.GREETINGS)),
    Cue("request", 1, lambda g: g.request.asks),
    Cue("new_object", 0.75, _new_object),
    Cue("new_material", 1.25, _attached),
    Cue("question", 0.25, lambda g: has_any(_opening(g), lexicon.QUESTIONS)),
    # Weighed, against it
    Cue("coherent", -3.25, lambda g: min(1.0, g.coherence.value / _COHERENT)),
    Cue("same_names", -1, lambda g: not g.names.isdisjoint(g.request.names)),
    Cue("same_files", -1.25, lambda g: not g.names.isdisjoint(g.next_files)),
    Cue("answers_question", -1.25, lambda g: g.answer.asked),
    Cue("unanswered", -1, lambda g: not g.answer.present and not g.before.courtesy),
    Cue("reply_opener", -2, lambda g: g.next.plain.startswith(lexicon.REPLIES)),
    Cue("leans_on", -1.5, _leans_on),
    Cue("known_object", -0.5, lambda g: g.request.definite and not _material(g)),
    Cue("refers_back", -0.75, _refers_back),
    Cue("refines", -1, lambda g: not _material(g) and has_any(g.request.plain, lexicon.REFINES)),
    Cue("short", -1.25, lambda g: max(0.0, 1 - g.request.words / _SHORT)),
    Cue("habit", -2, lambda g: 1.0),  # most turns go on with the task at hand
)
