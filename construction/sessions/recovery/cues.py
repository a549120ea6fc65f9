"""The scoring table: every cue for or against a cut between two neighbouring exchanges.

A cut is made where the weights of all cues that hold sum to the threshold or more. Weights of 50
and more decide alone. The others were fitted on the tuning halves of `benchmarks.segmentation`
and on the project's own dialogues (logistic regression, then coordinate search) and rounded to
quarters; cues too rare there to be fitted were set by judgement.

Lexical cohesion across the gaps follows Hearst 1997 (TextTiling), with exchanges as units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from construction.sessions.recovery import lexicon
from construction.sessions.recovery.features import Answer, Speech
from data.contracts import CutReason, share
from data.text.lexicon import has_any
from data.text.sentences import phrase_form

_WINDOWS = (1, 2, 3)  # exchanges on each side of a gap
_REACH = 2 * max(_WINDOWS) - 1
_FULL_MASS = 40  # with this many topic terms on both sides, cohesion counts in full
_MASS_WINDOW = 2
_NEAR = 2  # a valley is the lowest among this many gaps on each side
_FAR = 3  # its rims are the highest among this many gaps on each side


@dataclass(frozen=True, slots=True)
class Cohesion:
    """How similar the texts before and after a gap are.

    `value` is the mean cosine of the term counts of both sides, over windows of one to three
    exchanges (0 to 1), `usual` the median of the session; `mass` measures how much text it is
    based on (0 to 1); `depth` is its distance below the rims around it; `valley` is true if no
    nearby gap is lower.
    """

    value: float
    usual: float
    mass: float
    depth: float
    valley: bool


def cohesions(terms: Sequence[frozenset[str]]) -> list[Cohesion]:
    """The cohesion of each of the `len(terms) - 1` gaps."""
    overlap = _overlaps(terms)
    sizes = [len(exchange_terms) for exchange_terms in terms]
    values = [_mean_cosine(overlap, gap) for gap in range(1, len(terms))]
    usual = median(values) if values else 0.0
    measured: list[Cohesion] = []
    for index, value in enumerate(values):
        gap = index + 1
        poorer = min(
            sum(sizes[max(0, gap - _MASS_WINDOW) : gap]),
            sum(sizes[gap : gap + _MASS_WINDOW]),
        )
        rim_before = max(values[max(0, index - _FAR) : index + 1])
        rim_after = max(values[index : index + _FAR + 1])
        lowest = min(values[max(0, index - _NEAR) : index + _NEAR + 1])
        mass = min(1.0, poorer / _FULL_MASS)
        depth = (rim_before + rim_after) / 2 - value
        measured.append(Cohesion(value, usual, mass, depth, value <= lowest))
    return measured


def _overlaps(terms: Sequence[frozenset[str]]) -> list[list[int]]:
    """`overlap[i][d]`: the number of terms that exchanges i and i + d share.

    The dot product of the term counts of two blocks is the sum of the overlaps of their
    exchanges, so that each overlap is computed once for all windows.
    """
    count = len(terms)
    return [
        [len(terms[i] & terms[j]) for j in range(i, min(count, i + _REACH + 1))]
        for i in range(count)
    ]


def _mean_cosine(overlap: list[list[int]], gap: int) -> float:
    total = 0.0
    for window in _WINDOWS:
        before = range(max(0, gap - window), gap)
        after = range(gap, min(len(overlap), gap + window))
        across = 0
        for i in before:
            across += sum(overlap[i][gap - i : after.stop - i])
        if across:
            total += across / (_square(overlap, before) * _square(overlap, after)) ** 0.5
    return total / len(_WINDOWS)


def _square(overlap: list[list[int]], block: range) -> int:
    """The squared norm of a block's term counts."""
    total = 0
    for i in block:
        row = overlap[i]
        total += 2 * sum(row[: block.stop - i]) - row[0]
    return total


_OPENING = 160  # characters at the start of a request in which markers count
_REFERRING = 80
_COHERENT, _INCOHERENT, _DEEP = 0.4, 0.12, 0.25  # cosines at which a cue counts in full
_ABOVE_USUAL = 1.5
_SHORT, _FULL = 8, 10  # words
_HANDFUL = 5


@dataclass(frozen=True, slots=True)
class Gap:
    """The gap between two exchanges, with all that the cues examine.

    `request` is the turn with the request after the gap: `next`, or the first turn with words if
    bare attachments come first. `names` are the files and identifiers of the instance so far,
    `terms` its topic terms; `next_files` are the files that the agent uses after the gap. `pause`
    is a share of a long pause, 0 to 2.
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
    """A row of the table: `weight` times `value` (0 to 1, for pauses to 2); a kind of cut."""

    name: str
    weight: float
    value: Callable[[Gap], float]
    reason: CutReason | None = None


def _opening(gap: Gap) -> str:
    return gap.request.plain[:_OPENING]


def _refers_back(gap: Gap) -> bool:
    return not _material(gap) and has_any(gap.request.plain[:_REFERRING], lexicon.REFERS_BACK)


def _hands_over(gap: Gap) -> bool:
    """True if the request turns to the next piece of work: "alright, let's tackle …"."""
    return has_any(_opening(gap), lexicon.HANDOVERS)


def _replies(gap: Gap) -> bool:
    """True for an opening such as "no" or "so", unless a handover follows."""
    return gap.next.plain.startswith(lexicon.REPLIES) and not (_hands_over(gap) or _closes(gap))


def _closes(gap: Gap) -> bool:
    """True for an opening that may close what was before: "alright", with a full request after."""
    opener = gap.next.plain.startswith(lexicon.ACKNOWLEDGEMENTS)
    return opener and gap.next.words >= _FULL and not gap.answer.asks_back


def _leans_on(gap: Gap) -> bool:
    """True if the first sentence requests something that builds on an earlier result."""
    sentence = gap.request.plain[: gap.request.plain.find("|", 3) + 1]
    return not _material(gap) and has_any(sentence, lexicon.LEANS_ON)


def _attached(gap: Gap) -> bool:
    return gap.next.attached or gap.request.attached


def _material(gap: Gap) -> bool:
    """True if the request brings its own material, so that "this" does not refer back."""
    return _attached(gap) or gap.request.inline


def _delivered(gap: Gap) -> bool:
    """True if the agent finished something before the next request or material."""
    if gap.answer.asks_back or not (gap.request.asks or _attached(gap)):
        return False
    return gap.answer.wrote or has_any(phrase_form(gap.answer.opening), lexicon.DONE)


def _new_object(gap: Gap) -> bool:
    return gap.request.asks and gap.request.indefinite


def _other_names(gap: Gap) -> bool:
    return bool(gap.names and gap.request.names) and gap.names.isdisjoint(gap.request.names)


def _novel(gap: Gap) -> float:
    """The share of a handful of topic terms in a request that are new to the instance."""
    return min(1.0, len(gap.request.terms - gap.terms) / _HANDFUL) if gap.request.asks else 0.0


def _coherent(gap: Gap) -> float:
    """How coherent both sides are, by the session's own measure if all of it shares its words."""
    return min(1.0, gap.coherence.value / max(_COHERENT, _ABOVE_USUAL * gap.coherence.usual))


def _same_files(gap: Gap) -> float:
    """The share of the files used after the gap that the instance knows."""
    return share(len(gap.names & gap.next_files), len(gap.next_files))


def _finished(gap: Gap) -> bool:
    """True if the agent reports finished work in the end, and a full request follows."""
    return gap.answer.reports and not gap.answer.asks_back and gap.request.words >= _FULL


def _incoherent(gap: Gap) -> float:
    return gap.coherence.mass * max(0.0, 1 - gap.coherence.value / _INCOHERENT)


def _deep(gap: Gap) -> float:
    return gap.coherence.mass * min(1.0, gap.coherence.depth / _DEEP)


_RESET, _NEW = CutReason.EXPLICIT_RESET, CutReason.MARKED_AS_NEW
_PAUSE, _DELIVERY, _TOPIC = CutReason.LONG_PAUSE, CutReason.AFTER_DELIVERY, CutReason.TOPIC_SHIFT

CUES = (
    # Decisive, for a cut.
    Cue("reset_command", 200, lambda g: g.after_reset, _RESET),
    Cue("reset_words", 60, lambda g: has_any(_opening(g), lexicon.RESETS), _RESET),
    # Decisive, against a cut.
    Cue("courtesy", -500, lambda g: g.next.courtesy),
    Cue("waiting_for_material", -100, lambda g: g.waiting),
    Cue("go_on", -50, lambda g: g.next.go_on),
    Cue("only_material_so_far", -50, lambda g: g.before.bare and not g.answer.wrote),
    # Weighted, for a cut: the previous task is over.
    Cue("marked", 2, lambda g: has_any(_opening(g), lexicon.MARKERS), _NEW),
    Cue("hands_over", 2.5, _hands_over, _NEW),
    Cue("by_the_way", 0.5, lambda g: has_any(_opening(g), lexicon.BY_THE_WAY), _NEW),
    Cue("pause", 1.5, lambda g: g.pause, _PAUSE),
    Cue("closed", 2, lambda g: g.before.courtesy, _DELIVERY),
    Cue("delivered", 0.5, _delivered, _DELIVERY),
    Cue("finished", 1, _finished, _DELIVERY),
    Cue("incoherent", 2.5, _incoherent, _TOPIC),
    Cue("deep", 0.5, _deep, _TOPIC),
    Cue("valley", 1, lambda g: g.coherence.mass * g.coherence.valley, _TOPIC),
    Cue("novel", 0.75, _novel, _TOPIC),
    Cue("other_names", 0.75, _other_names, _TOPIC),
    # Weighted, for a cut: a new task begins.
    Cue("thanked", 0.5, lambda g: g.next.thanked),
    Cue("greeting", 2.5, lambda g: g.next.plain.startswith(lexicon.GREETINGS)),
    Cue("request", 1, lambda g: g.request.asks),
    Cue("new_object", 0.75, _new_object),
    Cue("new_material", 1.25, _attached),
    Cue("question", 0.25, lambda g: has_any(_opening(g), lexicon.QUESTIONS)),
    # Weighted, against a cut.
    Cue("coherent", -3.25, _coherent),
    Cue("same_names", -1, lambda g: not g.names.isdisjoint(g.request.names)),
    Cue("same_files", -1.25, _same_files),
    Cue("answers_question", -1.25, lambda g: g.answer.asks_back),
    Cue("unanswered", -1, lambda g: not g.answer.present and not g.before.courtesy),
    Cue("reply_opener", -2, _replies),
    Cue("interrupts", -1, lambda g: g.answer.unfinished and not _hands_over(g)),
    Cue("leans_on", -1.5, _leans_on),
    Cue("known_object", -0.5, lambda g: g.request.definite and not _material(g)),
    Cue("refers_back", -0.75, _refers_back),
    Cue("refines", -1, lambda g: not _material(g) and has_any(g.request.plain, lexicon.REFINES)),
    Cue("short", -1.25, lambda g: max(0.0, 1 - g.request.words / _SHORT)),
    Cue("habit", -2, lambda g: 1.0),  # most turns continue the current task
)
