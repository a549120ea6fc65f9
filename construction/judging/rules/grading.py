"""What a good answer is, by rules: deliverables, weighted criteria, hard rules, evidence.

The five dimensions of EnterpriseClawBench (app. B): their weights are editable, the criteria are
made from the request's own demands, and each points at the fixtures that decide it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from construction.grading.file_types import TYPES
from construction.judging.contracts import Case, Grading
from construction.judging.deliverables import ANSWER
from construction.judging.hard_rules import hard_rules
from construction.judging.lexicon import table
from construction.judging.reading import Ask, Reading, read
from construction.judging.rules.facts import FactKind, find_facts
from construction.judging.rules.rewriting import without_lead_ins
from construction.judging.rules.sentences import is_noise
from construction.judging.rules.taxonomy import business_task, spaced
from data.contracts import Count, Criterion, Deliverable, Evidence, Rubric, Rule, StageConfig
from data.text.lexicon import any_of, has_any
from data.text.scripts import HAN, leading_language

DIMENSIONS = (
    "grounded_accuracy",
    "task_relevance",
    "substantive_depth",
    "practical_utility",
    "communication_quality",
)
_WHOLE = 1024  # weights are multiples of 1/1024: binary fractions, so that any sum is exact
_SAVING_WORDS = 8  # "Save as report.docx" is left to the hard rules
_ADDED_WORDS = 25
# Own cut: a criterion quotes the clause, so the text keeps its form and figures such as 1,000 stay
# whole; `data.text.sentences` makes a form in which phrases are sought.
_CLAUSE = re.compile(rf"[,，;；:：。.](?=\s|[{HAN}]|$)")
_JOIN = {"en": ", ", "zh": "、"}


class GradingConfig(StageConfig):
    """The largest size of a rubric: demands and bounds as criteria, named facts and files."""

    max_demands: Count = 6
    max_bounds: Count = 2
    max_facts: Count = 8
    max_files: Count = 6
    max_chars: Count = 240  # of a demand that is quoted


def grade(case: Case, config: GradingConfig) -> Grading:
    """The grading of one case; the weights of its criteria sum to exactly 1."""
    deliverables = case.candidate.deliverables or (
        Deliverable(file_type="md", name_hints=(ANSWER,)),
    )
    return Grading(
        deliverables=deliverables,
        rubric=Rubric(
            route=_route(deliverables), criteria=tuple(_criteria(case, deliverables, config))
        ),
        rules=_rules(case, deliverables),
        evidence=_evidence(case, deliverables),
    )


def _route(deliverables: Sequence[Deliverable]) -> str:
    visual = frozenset(table("grading")["route"]["visual"])
    return "visual" if any(item.file_type in visual for item in deliverables) else "text"


def _rules(case: Case, deliverables: Sequence[Deliverable]) -> tuple[Rule, ...]:
    """The candidate's own rules, then the hard rules of the deliverables."""
    known = {rule.rule_id for rule in case.candidate.rules}
    new = hard_rules(deliverables, case.request)
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


def _criteria(
    case: Case, deliverables: Sequence[Deliverable], config: GradingConfig
) -> Iterator[Criterion]:
    demands = _demands(case)
    task = _clipped(business_task(case.request) or demands[0], config.max_chars)
    texts: dict[str, list[tuple[str, tuple[str, ...]]]] = {
        "grounded_accuracy": list(_accuracy(case, config)),
        "task_relevance": list(_relevance(case, demands, config)),
        "substantive_depth": [(_words(case)["depth"].format(demand=task), _pointers(case))],
        "practical_utility": [(_utility(case, deliverables, task, config), ())],
        "communication_quality": list(_communication(case, demands, config)),
    }
    shares = _shares({name: len(texts[name]) for name in DIMENSIONS})
    for name in DIMENSIONS:
        for (text, evidence), weight in zip(texts[name], shares[name], strict=True):
            yield Criterion(dimension=name, weight=weight, text=text, evidence=evidence)


def _shares(counts: dict[str, int]) -> dict[str, list[float]]:
    """The weights of each dimension, shared evenly by its criteria; all sum to exactly 1."""
    units = {name: round(table("grading")["weights"][name] * _WHOLE) for name in DIMENSIONS}
    units[DIMENSIONS[0]] += _WHOLE - sum(units.values())
    shares = {}
    for name, count in counts.items():
        each, rest = divmod(units[name], count)
        shares[name] = [(each + (place < rest)) / _WHOLE for place in range(count)]
    return shares


Texts = Iterator[tuple[str, tuple[str, ...]]]


def _words(case: Case) -> dict[str, str]:
    words: dict[str, str] = table("grading")[_language(case)]
    return words


def _language(case: Case) -> str:
    return "zh" if leading_language(case.request) == "zh" else "en"


def _list(case: Case, items: Sequence[str]) -> str:
    return _JOIN[_language(case)].join(items)


def _pointers(case: Case) -> tuple[str, ...]:
    """Every fixture, or its parts (`path#sheet`) where there are excerpts of them."""
    pointers: list[str] = []
    for fixture in case.candidate.fixtures:
        parts = sorted(key for key in case.excerpts if key.startswith(f"{fixture.path}#"))
        pointers += parts or [fixture.path]
    return tuple(pointers)


def _accuracy(case: Case, config: GradingConfig) -> Texts:
    words, pointers = _words(case), _pointers(case)
    if pointers:
        shown = _list(
            case, [fixture.path for fixture in case.candidate.fixtures][: config.max_files]
        )
        yield words["accuracy_files"].format(files=shown), pointers
    if urls := case.candidate.network.urls:
        shown = _list(case, urls[: config.max_files])
        yield words["accuracy_urls"].format(urls=shown), tuple(urls)
    kinds = (FactKind.DATE, FactKind.NUMBER, FactKind.ENTITY)
    facts = [fact.text for fact in find_facts(case.request) if fact.kind in kinds]
    if facts:
        shown = _list(case, facts[: config.max_facts])
        yield words["accuracy_facts"].format(facts=shown), ()
    elif not pointers:
        yield words["accuracy_plain"], ()


def _demands(case: Case) -> list[str]:
    """What the request asks for, in its own words: directives, questions, requirements."""
    named = [name for item in case.candidate.deliverables for name in item.name_hints]
    demands: list[str] = []
    for number, part in enumerate(case.request.split("\n\n")):
        for sentence in read(part):
            names_file = any(name in sentence.text for name in named)
            only_saves = sentence.words <= _SAVING_WORDS and names_file
            if not is_noise(sentence) and not only_saves and _is_demand(sentence, number > 0):
                demands.append(" ".join(without_lead_ins(sentence.text).split()))
    return list(dict.fromkeys(demands)) or [business_task(case.request) or case.request.strip()]


def _is_demand(sentence: Reading, later: bool) -> bool:
    """A short sentence that was added later is a requirement, however it is worded."""
    if sentence.ask in (Ask.DIRECTIVE, Ask.QUESTION) or sentence.requires:
        return True
    return later and sentence.ask is Ask.NONE and sentence.words <= _ADDED_WORDS


def _relevance(case: Case, demands: Sequence[str], config: GradingConfig) -> Texts:
    words, pointers = _words(case), _pointers(case)
    for demand in demands[: config.max_demands]:
        shown = _clipped(demand, config.max_chars)
        yield words["relevance"].format(demand=shown), _named_in(demand, pointers)


def _named_in(demand: str, pointers: tuple[str, ...]) -> tuple[str, ...]:
    """The fixtures whose file names the demand mentions."""
    return tuple(
        pointer
        for pointer in pointers
        if pointer.partition("#")[0].rpartition("/")[2].lower() in demand.lower()
    )


def _utility(
    case: Case, deliverables: Sequence[Deliverable], task: str, config: GradingConfig
) -> str:
    words = _words(case)
    if all(item.name_hints == (ANSWER,) for item in deliverables):
        return words["utility_answer"].format(task=task)
    names = [name for item in deliverables for name in (item.name_hints or (f".{item.file_type}",))]
    return words["utility"].format(files=_list(case, names[: config.max_files]), task=task)


def _communication(case: Case, demands: Sequence[str], config: GradingConfig) -> Texts:
    words, pattern = _words(case), _evident("bounds")
    clauses = [clause.strip() for demand in demands for clause in _CLAUSE.split(demand)]
    bounds = [clause for clause in clauses if has_any(spaced(clause), pattern)]
    for demand in bounds[: config.max_bounds]:
        shown = _clipped(demand, config.max_chars)
        yield words["bounds"].format(demand=shown), ()
    yield words["language"], ()


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
