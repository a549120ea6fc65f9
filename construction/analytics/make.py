"""The lane: candidates drawn from templates, judged, and chosen until the quotas are filled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from construction.analytics import steps as s
from construction.analytics.answers import guidelines_of
from construction.analytics.contracts import (
    RATED_BY_STEPS,
    RULE_BY_LABEL,
    RULE_BY_STEPS,
    STAGE,
    AnalyticsReason,
    AnalyticTask,
    Category,
    Language,
    Part,
    difficulty_of,
)
from construction.analytics.drawing import (
    Family,
    World,
    draw_values,
    families_of,
    family_name,
    step_values,
    word_values,
)
from construction.analytics.environment.declaration import Metric
from construction.analytics.gates import Bench, Draft, Judged, judge, noise_that_bites
from construction.analytics.guessing import Guesser
from construction.analytics.milestones import milestones_of
from construction.analytics.templates import Template, filled
from data.canonical import digest
from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.randomness import keyed_generator, keyed_order

LANGUAGES: tuple[Language, ...] = ("en", "zh")
UNLIMITED = 10**9


@dataclass
class Minted:
    """The tasks in the order of their ids, a ledger row per candidate, and the funnel."""

    tasks: list[AnalyticTask] = field(default_factory=list)
    ledger: list[LedgerRow] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def tally(self) -> StageTally:
        counts = Counter(row.outcome for row in self.ledger)
        both = {outcome: counts[outcome] for outcome in (Outcome.KEPT, Outcome.REJECTED)}
        return StageTally(
            STAGE, StageKind.FILTER, "candidate", len(self.ledger), both | {Outcome.ERRORED: 0}
        )


@dataclass
class _Source:
    """The candidates of one template, family after family in a keyed order."""

    template: Template
    families: list[Family]
    seed: int
    tries: int
    taken: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def values(self, world: World) -> Iterator[tuple[Family, Language, dict[str, Any]]]:
        for attempt in range(self.tries):
            for family in self.families:
                name = f"{self.template.name}:{family_name(family)}:{attempt}"
                generator = keyed_generator(self.seed, STAGE, name)
                drawn = draw_values(self.template, family, world, generator)
                if drawn is not None:
                    yield family, LANGUAGES[int(generator.integers(2))], drawn


def mint(bench: Bench, templates: Sequence[Template], seed: int) -> Minted:
    """Draw candidates by template in turn, until each category and difficulty has its quota."""
    world = World(bench.declaration, bench.tables)
    guesser = Guesser(world, bench.declaration.limits.closed_book)
    minted, seen = Minted(), set[str]()
    for category in Category:
        sources = _sources(category, templates, bench, seed)
        for difficulty, quota in _quotas(bench, category).items():
            fitting = [(source, iter(source.values(world))) for source in sources]
            fitting = [item for item in fitting if _difficulty(item[0].template) == difficulty]
            _fill(fitting, quota, bench, world, guesser, minted, seen)
    minted.tasks.sort(key=lambda task: task.task_id)
    minted.report = report_of(minted, bench, guesser)
    return minted


def _sources(
    category: Category, templates: Sequence[Template], bench: Bench, seed: int
) -> list[_Source]:
    sources = []
    for template in (template for template in templates if template.category == category):
        families = families_of(template, bench.declaration)
        names = ["/".join(family_name(family)) for family in families]
        ordered = [families[at] for at in keyed_order(seed, template.name, names)]
        sources.append(_Source(template, ordered, seed, bench.declaration.limits.tries))
    return sources


def _difficulty(template: Template) -> str:
    return difficulty_of(template.category, len(template.steps), template.label)


def _quotas(bench: Bench, category: Category) -> Mapping[str, int]:
    quotas = bench.declaration.quotas
    if quotas:
        return quotas.get(category, {})
    return dict.fromkeys(("easy", "medium", "hard"), UNLIMITED)


def _fill(
    sources: list[tuple[_Source, Iterator[tuple[Family, Language, dict[str, Any]]]]],
    quota: int,
    bench: Bench,
    world: World,
    guesser: Guesser,
    minted: Minted,
    seen: set[str],
) -> None:
    """Take candidates from the templates in turn, until the quota or all are used up."""
    wanted = quota
    while wanted > 0 and sources:
        for source, candidates in list(sources):
            drawn = next(candidates, None)
            if drawn is None:
                sources.remove((source, candidates))
                continue
            if wanted > 0 and _admitted(source, drawn, bench, world, guesser, minted, seen):
                wanted -= 1


def _admitted(
    source: _Source,
    drawn: tuple[Family, Language, dict[str, Any]],
    bench: Bench,
    world: World,
    guesser: Guesser,
    minted: Minted,
    seen: set[str],
) -> bool:
    family, language, values = drawn
    name = family_name(family)
    if source.taken[name] >= bench.declaration.limits.max_per_template:
        return False
    draft = drafted(source.template, values, world, language)
    identity = digest(orjson.dumps([s_.model_dump(mode="json") for s_ in draft.program]))
    if identity in seen:
        return False
    seen.add(identity)
    judged = judge(draft, bench)
    task = None
    if judged.reason is None:
        task = task_of(source.template, name, values, judged, bench)
        if not guesser.fits(task):
            judged = Judged(draft, AnalyticsReason.WORLD_KNOWLEDGE, "a guesser is right too often")
            task = None
    minted.ledger.append(_row(identity, source.template, judged))
    if task is None:
        return False
    guesser.add(task)
    source.taken[name] += 1
    minted.tasks.append(task)
    return True


def drafted(
    template: Template, values: Mapping[str, Any], world: World, language: Language
) -> Draft:
    """A candidate of drawn values: its programme, question and guidelines."""
    declaration = world.declaration
    fields = step_values(values)
    program = s.program_of(filled(template.steps, fields))
    parts = tuple(Part.model_validate(part) for part in filled(template.answers, fields))
    words = word_values(template, values, declaration, language)
    wordings = template.wordings(language)
    chosen = int(digest([template.name, *map(str, fields.values())])[:8], 16) % len(wordings)
    question = filled(wordings[chosen], words)
    words = {name: words[name] for name in _worded(values, words, wordings[chosen])}
    return Draft(
        template=template.name,
        category=template.category,
        language=language,
        question=str(question),
        guidelines=guidelines_of(declaration, parts, language),
        program=program,
        parts=parts,
        words=words,
        metrics=tuple(value for value in values.values() if isinstance(value, Metric)),
    )


def _worded(values: Mapping[str, Any], words: Mapping[str, str], wording: str) -> list[str]:
    """The placeholders that must show in a question: an ordinal in the form that is used."""
    forms = {name: [form for form in words if form.startswith(f"{name}_")] for name in values}
    return [
        next((form for form in forms[name] if f"{{{form}}}" in wording), name) for name in values
    ]


def task_of(
    template: Template,
    family: tuple[str, ...],
    values: Mapping[str, Any],
    judged: Judged,
    bench: Bench,
) -> AnalyticTask:
    """A judged draft as a task with its milestones and the noise that bites."""
    draft = judged.draft
    rated = template.category in RATED_BY_STEPS
    context = list(draft.words.values())
    return AnalyticTask(
        task_id=digest([bench.declaration.name, draft.question])[:16],
        template=template.name,
        family=family,
        category=template.category,
        difficulty=difficulty_of(template.category, len(draft.program), template.label),
        difficulty_rule=RULE_BY_STEPS if rated else RULE_BY_LABEL,
        language=draft.language,
        question=draft.question,
        guidelines=draft.guidelines,
        program=draft.program,
        parts=draft.parts,
        answers=judged.answers,
        milestones=milestones_of(draft.program, judged.results, context),
        noise=noise_that_bites(judged, bench),
        files=tuple(sorted({bench.file_of[name] for name in s.tables_of(draft.program)})),
        drawn={
            name: value if isinstance(value, str) else str(getattr(value, "name", value))
            for name, value in values.items()
        },
    )


def _row(identity: str, template: Template, judged: Judged) -> LedgerRow:
    rejected = judged.reason is not None
    return LedgerRow(
        stage=STAGE,
        unit="candidate",
        item_id=identity[:32],
        outcome=Outcome.REJECTED if rejected else Outcome.KEPT,
        gate=None if judged.reason is None else judged.reason.partition(".")[0],
        reason=None if judged.reason is None else str(judged.reason),
        stratum=f"{template.category}/{_difficulty(template)}",
        evidence={"template": template.name, "detail": judged.detail},
    )


def report_of(minted: Minted, bench: Bench, guesser: Guesser) -> dict[str, Any]:
    """The funnel: tasks and reasons by category and difficulty, noise, guessers."""
    tasks = minted.tasks
    reasons: dict[str, Counter[str]] = {}
    for row in minted.ledger:
        reasons.setdefault(row.stratum or "", Counter())[row.reason or "kept"] += 1
    wanted = {
        f"{category}/{difficulty}": quota
        for category, quotas in bench.declaration.quotas.items()
        for difficulty, quota in quotas.items()
    }
    bitten = [task for task in tasks if task.noise]
    return {
        "candidates": len(minted.ledger),
        "tasks": len(tasks),
        "asked_for": wanted,
        "made": dict(sorted(Counter(f"{t.category}/{t.difficulty}" for t in tasks).items())),
        "reasons": {name: dict(sorted(count.items())) for name, count in sorted(reasons.items())},
        "templates": dict(sorted(Counter(task.template for task in tasks).items())),
        "languages": dict(sorted(Counter(task.language for task in tasks).items())),
        "noise": dict(sorted(Counter(kind for task in tasks for kind in task.noise).items())),
        "noisy_share": round(len(bitten) / len(tasks), 4) if tasks else 0.0,
        "guessers": guesser.report(),
    }
