"""What a good answer is, by rules: deliverables, weighted criteria, hard rules, evidence.

The five dimensions of EnterpriseClawBench (app. B): their weights are editable, and `criteria`
writes what is asked in each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from construction.grading.file_types import TYPES, type_of
from construction.judging.computed_rules import computed_rules
from construction.judging.contracts import Case, Grading
from construction.judging.deliverables import ANSWER
from construction.judging.hard_rules import hard_rules
from construction.judging.inputs import ANY_FOLDER, inputs_spoken_of, sources_of
from construction.judging.lexicon import table
from construction.judging.rules.criteria import GradingConfig, Writer
from construction.judging.rules.demands import demands_of
from construction.judging.rules.labels import spaced
from construction.judging.sorting import is_in_order
from data.contracts import Criterion, Deliverable, Evidence, Rubric, Rule
from data.text.lexicon import any_of, has_any

DIMENSIONS = (
    "grounded_accuracy",
    "task_relevance",
    "substantive_depth",
    "practical_utility",
    "communication_quality",
)
_LONG = 240  # characters
_VERY_LONG = 50_000  # words
_LARGER = 3  # times the words of the inputs that are quoted
_FIGURE = re.compile(
    r"(?i)\bhow (?:many|much|long|old|far)\b|\bwhat (?:number|percentage|year)\b|多少|几"
)
_ROLE = re.compile(
    r"\W*(?:(?:#|name:|description:|---).*\n+){0,6}\W*You(?:'re| are) (?:an?|the) "
    r"|你是(?:一[个名位])?[^。\n]{0,30}(?:助手|智能体|专家|机器人)"
)
_OF_USERS = re.compile(
    r"\b(?:the|a|each) user(?:'s)?\b|\busers? (?:asks?|wants?|requests?|says)\b"
    r"|\btool calls?\b|用户"
)
_USERS = 3  # mentions; a task speaks of the person as "I" or "we"
_DEMANDED, _MOST_DEMANDS = "task_relevance", 4  # of which one other criterion is worth as much
_WHOLE = 1024  # weights are multiples of 1/1024: binary fractions, so that any sum is exact


def grade(case: Case, config: GradingConfig) -> Grading:
    """The grading of one case; the weights of its criteria sum to exactly 1.

    Where hardly anything can be held against an answer, the rubric needs a model.
    """
    deliverables = case.candidate.deliverables or (
        Deliverable(file_type="md", name_hints=(ANSWER,)),
    )
    rules, demands = _rules(case, deliverables), demands_of(case)
    quoted = demands or [" ".join(case.request.split())]
    writer = Writer(case, quoted, deliverables, rules, config)
    rubric = Rubric(
        route=_route(deliverables),
        criteria=tuple(_criteria(writer)),
        needs_model=_needs_model(writer, is_quoted=not demands),
    )
    return Grading(
        deliverables=deliverables,
        rubric=rubric,
        rules=rules,
        evidence=_evidence(case, deliverables),
    )


def _needs_model(writer: Writer, *, is_quoted: bool) -> bool:
    """Does a rubric say too little? A long request in which nothing reads as a demand does."""
    is_long = is_quoted and len(writer.demands[0]) > _LONG
    is_role = is_role_prompt(writer.case.request)
    is_short = writer.usable() < writer.config.min_usable
    return is_long or is_role or is_short or _lacks_measure(writer) or _is_in_state(writer)


def _is_in_state(writer: Writer) -> bool:
    """Is all that is wanted an order of rows in which an input is already, so that a copy is it?"""
    case, kinds = writer.case, {item.file_type for item in writer.deliverables}
    if len(writer.demands) > 1 or len(kinds) > 1:
        return False
    return any(
        is_in_order(case.request, known.tables)
        for path, known in case.inputs.items()
        if (kind := type_of(path)) is not None and kind.name in kinds
    )


def _lacks_measure(writer: Writer) -> bool:
    """Do all facts concern a side input, or is there no key to a figure in a very long text?"""
    words = {path: known.words for path, known in writer.case.inputs.items()}
    if not words:
        return False
    quoted = {path for _, paths in writer.references() for path in paths}
    main = max(words, key=lambda path: words[path])
    spoken = inputs_spoken_of(writer.case.request, list(words))
    # Where all of a request speaks of what is quoted, the other files merely lie there.
    is_whole = len(writer.demands) == 1 and quoted == set(spoken)
    is_beside = bool(quoted) and not is_whole and not _is_among(main, {*quoted, *spoken})
    is_beside = is_beside and not sources_of(writer.case.request, list(words))
    is_larger = words[main] > _LARGER * sum(words[path] for path in quoted)
    is_figure = _FIGURE.search(writer.case.request) is not None and len(writer.demands) == 1
    only_answer = all(item.name_hints == (ANSWER,) for item in writer.deliverables)
    is_hidden = is_figure and only_answer and words[main] > _VERY_LONG and not quoted
    return (is_beside and is_larger) or is_hidden


def _is_among(path: str, paths: Collection[str]) -> bool:
    """Is a file one of these, or beside one in a folder of their own ("rss/", not "inputs/")?"""
    folder = path.rpartition("/")[0]
    is_own = bool(folder) and folder.rpartition("/")[2].lower() not in ANY_FOLDER
    return path in paths or (is_own and any(other.rpartition("/")[0] == folder for other in paths))


def is_role_prompt(request: str) -> bool:
    """Does it set up an assistant for users to come, instead of asking for something?"""
    return _ROLE.match(request) is not None and len(_OF_USERS.findall(request)) >= _USERS


def _route(deliverables: Sequence[Deliverable]) -> str:
    visual = frozenset(table("grading")["route"]["visual"])
    return "visual" if any(item.file_type in visual for item in deliverables) else "text"


def _rules(case: Case, deliverables: Sequence[Deliverable]) -> tuple[Rule, ...]:
    """The candidate's own rules, then the hard rules of the deliverables and of their content."""
    known = {rule.rule_id for rule in case.candidate.rules}
    new = (*hard_rules(deliverables, case.request), *computed_rules(case, deliverables))
    return (*case.candidate.rules, *(rule for rule in new if rule.rule_id not in known))


def _evidence(case: Case, deliverables: Sequence[Deliverable]) -> Evidence:
    form = spaced(case.request)
    kinds = {TYPES[item.file_type].kind for item in deliverables if item.file_type in TYPES}
    return Evidence(
        retrieval=bool(case.candidate.fixtures or case.candidate.network.urls),
        accuracy="data" in kinds or has_any(form, _evident("accuracy")),
        action="code" in kinds or has_any(form, _evident("action")),
        semantic="document" in kinds or has_any(form, _evident("semantic")),
    )


@cache
def _evident(key: str) -> re.Pattern[str]:
    return any_of(table("grading")["evidence"][key])


def _criteria(writer: Writer) -> Iterator[Criterion]:
    texts = {
        "grounded_accuracy": list(writer.accuracy()),
        "task_relevance": list(writer.relevance()),
        "substantive_depth": list(writer.depth()),
        "practical_utility": list(writer.utility()),
        "communication_quality": list(writer.communication()),
    }
    shares = _shares({name: len(texts[name]) for name in DIMENSIONS})
    for name in DIMENSIONS:
        for (text, evidence), weight in zip(texts[name], shares[name], strict=True):
            yield Criterion(dimension=name, weight=weight, text=text, evidence=evidence)


def _shares(counts: dict[str, int]) -> dict[str, list[float]]:
    """The weights of the criteria; all sum to exactly 1.

    Each dimension shares its weight evenly; that of empty ones goes to the others in proportion.
    Where the demands are many, no other criterion weighs more than a few of them.
    """
    filled = [name for name in DIMENSIONS if counts[name]]
    weights = dict(table("grading")["weights"])
    each = weights[_DEMANDED] / max(1, counts[_DEMANDED])
    for name in filled:
        weights[name] = min(weights[name], _MOST_DEMANDS * each * counts[name])
    whole = sum(weights[name] for name in filled)
    units = {name: round(weights[name] / whole * _WHOLE) for name in filled}
    units[filled[0]] += _WHOLE - sum(units.values())
    shares: dict[str, list[float]] = {name: [] for name in DIMENSIONS}
    for name in filled:
        each, rest = divmod(units[name], counts[name])
        shares[name] = [(each + (place < rest)) / _WHOLE for place in range(counts[name])]
    return shares
