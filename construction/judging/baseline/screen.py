"""Is a case a task that can be released unread? By structure: one request, its files, its result.

A case passes only if one person asks once, every file that is spoken of is released or is to be
made, what is to be delivered is named or is an answer, and nothing outside the files is touched on.
Everything else is left to a model or a person (`needs_model`): the baseline never rejects.

`GATE` turns a judgement, whoever made it, into a verdict. What nobody has read is not released,
unless the recipe says so, and then the release says that nobody judged it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from construction.grading.file_types import extension_of
from construction.judging.contracts import Case, ContainmentReason, Screened
from construction.mentions.files import (
    MEDIA_TYPES,
    find_file_spans,
    missing_file,
    tail,
    without_file_names,
)
from construction.mentions.urls import find_urls
from construction.prompt_frame import ANSWER, INPUTS, OUTPUTS
from data.contracts import (
    Bound,
    Gate,
    GateReason,
    Limit,
    MissingInput,
    StageConfig,
    Status,
    Verdict,
)
from data.text.lexicon import load_table
from data.text.scripts import HAN, has_han

NAME = "self_containment"
NOBODY = "nobody"  # the judge of a task that is released unread; its release counts them
# Files that may be a copy of what a system holds; a document about one is none.
_DATA = frozenset({"json", "jsonl", "csv", "tsv", "xlsx", "db", "sqlite", "eml", "msg", "mbox"}) | {
    "ics"
}
_LEAST_WORDS = 4
_MOST_TURNS = 3
_OWN_FILES = ("after_delivery", "long_pause")  # cuts at which a person comes with other files
_LATER_WORDS = 4  # of a further message; a shorter one answers or reacts
_BROUGHT_WORDS = 40  # of a request without files, from which it may bring its own material
_BROUGHT_FIGURES = 3
_MOST_UNNAMED = 8  # files that merely lie in the folder
_LOOK_BACK = 140  # characters before a name
_WORD = re.compile(rf"[A-Za-z][A-Za-z'’-]*|\d[\d.,]*|[{HAN}]")
_FIGURE = re.compile(r"(?<![\w.])\d[\d.,:/%-]*")
_GREETING = re.compile(r"\s*(?:(?i:hi|hello|hey|dear)\s+[A-Z][a-z]+|@\w+)")
_VARIABLE = re.compile(r"\$\{?[A-Z][A-Z_]{3,}")
_QUESTION = ("?", "？")
_NOWHERE = "a file that it names is neither an input nor certainly to be made"


def screen(case: Case) -> Screened:
    """`self_contained`, or `needs_model` with the first thing that structure leaves open."""
    open_point = next(_open_points(case), "")
    if open_point:
        return Screened(
            reason_code=ContainmentReason.NEEDS_MODEL,
            brief_reason=open_point,
            confidence=0.5,
            missing=tuple(_unknown(case)) if open_point == _NOWHERE else (),
        )
    return Screened(
        reason_code=ContainmentReason.SELF_CONTAINED,
        brief_reason="one request; its files and its result are known",
        confidence=0.8,
    )


def _open_points(case: Case) -> Iterator[str]:
    yield from _of_the_talk(case)
    yield from _of_the_work(case)
    if any(_unknown(case)):
        yield _NOWHERE
    yield from _of_the_inputs(case) if case.candidate.fixtures else _of_own_material(case)
    yield from _of_the_result(case)
    yield from _outside(case)


def _of_the_talk(case: Case) -> Iterator[str]:
    """Does one person ask for one thing, at once?"""
    evidence, candidate = case.evidence, case.candidate
    if len(_WORD.findall(case.request)) < _LEAST_WORDS:
        yield "it says too little"
    people = [said for said in evidence.said if said.speaker != "agent"]
    if len({said.speaker for said in people}) > 1 or _GREETING.match(case.request):
        yield "it may be addressed to a person"
    # No matter after a reset, or where it brings files of its own.
    started = candidate.provenance.detail.get("started_by")
    brings = any(fixture.role == "declared" for fixture in candidate.fixtures)
    is_apart = started == "explicit_reset" or (started in _OWN_FILES and brings)
    if evidence.before and not is_apart:
        yield "more was said before it"
    turns = [said.text for said in people]
    if len(turns) > _MOST_TURNS:
        yield "it was asked for in many messages"
    if any(len(_WORD.findall(text)) < _LATER_WORDS for text in turns[1:]):
        yield "a later message is a short reply"
    if any(_file_names(text) - _file_names(turns[0]) for text in turns[1:]):
        yield "a later message names other files"
    between = [said.text for said in evidence.said[:-1] if said.speaker == "agent"]
    if any(text.rstrip().endswith(_QUESTION) for text in between):
        yield "the agent asked back"


def _file_names(text: str) -> set[str]:
    return {tail(span.path) for span in find_file_spans(text) if not span.doubtful}


def _of_the_work(case: Case) -> Iterator[str]:
    """Did the agent come to an end, with files and a shell alone?"""
    last_words, detail = case.evidence.last_words, case.candidate.provenance.detail
    if _is_recorded(case) and not last_words.strip():
        yield "the agent did not finish"
    if last_words.rstrip().endswith(_QUESTION):
        yield "the agent asked back"
    if detail.get("other_tools"):
        yield "the agent used more than files and a shell"
    if detail.get("in_part"):
        yield "of a file that the agent read only a part is known"
    if detail.get("redacted"):
        yield "parts of it were cut out"
    if find_urls(case.request) or _VARIABLE.search(case.request):
        yield "it names something on the network"


def _is_recorded(case: Case) -> bool:
    return bool(case.evidence.tools or case.evidence.last_words.strip())


def _unknown(case: Case) -> Iterator[MissingInput]:
    """The named files that are no inputs and of which nothing says that they are to be made."""
    candidate, text = case.candidate, case.request
    wanted = {tail(name) for item in candidate.deliverables for name in item.name_hints}
    known = {tail(fixture.path) for fixture in candidate.fixtures}
    known |= {tail(path) for path in case.evidence.wrote}
    spans = find_file_spans(text, sorted(known | wanted))
    for span in spans:
        name, before = tail(span.path), text[max(0, span.start - _LOOK_BACK) : span.start].lower()
        is_made = not _is_recorded(case) and (
            span.path.startswith(OUTPUTS) or (name in wanted and _first(_words("makes"), before))
        )
        if is_made and not span.doubtful:
            known.add(name)
    for span in spans:
        is_open = tail(span.path) not in known and not span.path.startswith(INPUTS)
        if is_open and not span.doubtful:
            known.add(tail(span.path))
            yield missing_file(span.path, "named in the request")


def _of_the_inputs(case: Case) -> Iterator[str]:
    """Inputs have to be spoken of."""
    request = case.request.casefold()
    read = {tail(path) for path in case.evidence.read}
    is_used = any(
        fixture.role == "declared"
        or tail(fixture.path) in read
        or f"{INPUTS}{fixture.path}".casefold() in request
        or tail(fixture.path).rpartition(".")[0].replace("_", " ") in request
        for fixture in case.candidate.fixtures
    )
    if not is_used and len(case.candidate.fixtures) > _MOST_UNNAMED:
        yield "nothing says which of many files it is about"
    if not is_used and _is_recorded(case):
        yield "the agent used none of the files"


def _of_own_material(case: Case) -> Iterator[str]:
    """Without inputs a request has to bring its own material."""
    if case.evidence.ran or case.evidence.read:
        yield "what the agent worked on is not among the files"
    is_long = len(_WORD.findall(case.request)) >= _BROUGHT_WORDS
    is_factual = len(_FIGURE.findall(case.request)) >= _BROUGHT_FIGURES
    is_new = any(item.name_hints != (ANSWER,) for item in case.candidate.deliverables)
    if not (is_long and (is_factual or is_new)):
        yield "it has no files and brings little material"


def _of_the_result(case: Case) -> Iterator[str]:
    """What is delivered has to be named in the request, or be an answer."""
    items, evidence = case.candidate.deliverables, case.evidence
    if any(item.source == "produced" for item in items):
        yield "the agent made a file that the request does not name"
    if any(item.name_hints != (ANSWER,) for item in items):
        kinds = {extension_of(name) for item in items for name in item.name_hints}
        if not kinds <= MEDIA_TYPES.keys():
            yield "what it asks for is of no known type"
        return
    text = without_file_names(case.request).lower()
    asks = any(part.rstrip().endswith(_QUESTION) for part in case.request.splitlines())
    asks |= bool(_first(_words("answers"), text)) and not _first(_words("edits"), text)
    if not _is_recorded(case) and not asks:
        yield "nothing says whether an answer or a file is wanted"
    if _is_recorded(case) and not asks and (evidence.ran or evidence.wrote):
        yield "the agent may have changed files"


def _outside(case: Case) -> Iterator[str]:
    """Words that point at something beyond the files, unless an input is of that kind."""
    text = without_file_names(case.request).lower()
    paths = [fixture.path for fixture in case.candidate.fixtures]
    kinds = {word for path in paths if extension_of(path) in _DATA for word in _path_words(path)}
    kinds |= {item.file_type for item in case.candidate.deliverables}
    for row in load_table(__package__, "words.toml")["outside"]:
        words = [word for word in row["words"] if word not in kinds]
        if kinds.isdisjoint(row.get("unless", ())) and (word := _first(words, text)):
            yield f"it may need something outside the files ({word})"
    if word := _first(_words("now"), text):
        yield f"it depends on the day ({word})"
    if word := _first(_words("elsewhere"), text):
        yield f"it leans on what was said or seen elsewhere ({word})"


def _path_words(path: str) -> list[str]:
    """The words of a path, case-folded; empty ones stand for signs at its ends."""
    return re.split(r"[\W_]+", path.casefold())


@cache
def _words(table: str) -> tuple[str, ...]:
    row = load_table(__package__, "words.toml")[table]
    return tuple(word for key in ("words", "latin", "han") for word in row.get(key, ()))


def _first(words: tuple[str, ...] | list[str], text: str) -> str:
    """The first of the words that stands in the text: Latin ones as whole words."""
    for word in words:
        if has_han(word):
            if word in text:
                return word
        elif re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text):
            return word
    return ""


class SelfContainmentReason(GateReason):
    """`ContainmentReason` as the reasons of a gate."""

    CONVERSATION_ONLY = f"{NAME}.conversation_only", "The request asks only for conversation."
    DEPENDS_ON_LIVE_SYSTEM = (
        f"{NAME}.depends_on_live_system",
        "The request needs something live: an account, a running system, the web, a "
        "device or a certain moment.",
    )
    MISSING_INPUT = f"{NAME}.missing_input", "A file or text that the request refers to is missing."
    MISSING_CONTEXT = f"{NAME}.missing_context", "The request depends on what was said earlier."
    MULTI_TASK = f"{NAME}.multi_task", "The request asks for several different pieces of work."
    AMBIGUOUS_TASK = f"{NAME}.ambiguous_task", "The request does not say clearly what is wanted."
    NOT_VERIFIABLE = f"{NAME}.not_verifiable", "The result could not be judged by a third person."
    NEEDS_MODEL = (
        f"{NAME}.needs_model",
        "No model or person has screened the request, and facts alone do not settle it.",
    )


class ScreeningConfig(StageConfig):
    """`release_unjudged`: is a task released that neither a model nor a person has read?"""

    release_unjudged: bool = False


def _decide(screened: Screened, config: ScreeningConfig) -> Verdict:
    observed, limit = str(screened.reason_code), str(ContainmentReason.SELF_CONTAINED)
    measures = {"confidence": round(screened.confidence, 9)}
    if screened.self_contained:
        return Verdict.passing(NAME, observed, limit, measures)
    reason = SelfContainmentReason(f"{NAME}.{observed}")
    is_unread = reason is SelfContainmentReason.NEEDS_MODEL and config.release_unjudged
    status = Status.UNVERIFIED if is_unread else Status.FAILED
    return Verdict(NAME, status, str(reason), observed, limit, measures, missing=screened.missing)


GATE = Gate(
    name=NAME,
    stage=NAME,
    section="judging",
    meaning="Is it complete, a single task and checkable? A model or people decide; without "
    "them, facts.",
    config=ScreeningConfig,
    reasons=SelfContainmentReason,
    measure=screen,
    limits=(
        Limit(
            "unread",
            Bound.MAX,
            "tasks",
            "A model or a person has screened it, or facts alone show that it is a task.",
            SelfContainmentReason.NEEDS_MODEL,
            at=0,
            movable=False,
            policy=("release_unjudged", False),
        ),
        Limit(
            "grounds",
            Bound.MAX,
            "grounds",
            "The screening found no reason not to hand it to a newcomer.",
            None,
            at=0,
            movable=False,
        ),
    ),
    decide=_decide,
    replayable=False,
)
