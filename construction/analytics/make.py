"""The lane: candidates proposed or drawn from templates, judged, until the quotas are filled.

`_Guesser` answers without the data: the most frequent answer, and what a public ranking says.
`report_of` is the funnel: what was made and rejected, what noise bites, what guessers get right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from construction.analytics import steps as s
from construction.analytics.answers import guidelines_of, milestones_of
from construction.analytics.archive import Archive, needed_for
from construction.analytics.candidates import Bench, Draft, Judged, Proposed
from construction.analytics.config import AnalyticsRecipe, NoiseQuota
from construction.analytics.contracts import (
    RATED_BY_STEPS,
    RULE_BY_LABEL,
    RULE_BY_STEPS,
    STAGE,
    AnalyticsReason,
    AnalyticTask,
    Category,
    Difficulty,
    Language,
    Part,
    difficulty_of,
)
from construction.analytics.environment.declaration import Metric, PolicyText
from construction.analytics.fairness import FAIR, fairness_of
from construction.analytics.gates import judge, noise_that_bites
from construction.analytics.templates import (
    Family,
    Template,
    World,
    draw_values,
    families_of,
    family_name,
    filled,
    require_words,
    step_values,
    steps_of,
    word_values,
)
from data.canonical import digest
from data.contracts import LedgerRow, Outcome, StageKind, StageTally, Verdict
from data.ledger import gated_row
from data.randomness import keyed_generator, keyed_order
from data.stage_tables import StageRecords

NAMES, YES_NO = "entity", "boolean"


class _Guesser:
    """Counts the answers that a guesser would get right, by kind of part.

    Chance is 1/2 for yes or no, and 1 among the values of the column for names. A public ranking
    names the entity at the rank asked for by the metric declared as `prominence`.
    """

    def __init__(self, world: World, beyond: float) -> None:
        self.beyond = beyond
        self.chance = {YES_NO: 0.5}
        self.ranking: dict[str, list[str]] = {}
        self.constant: dict[str, Counter[str]] = {}
        self.ranked: Counter[str] = Counter()
        declaration = world.declaration
        for slot, name in declaration.prominence.items():
            metric = next(metric for metric in declaration.metrics if metric.name == name)
            frame, column = world.tables[metric.table], declaration.column_of(metric, slot)
            if column in frame.columns:
                ordered = frame.drop_nulls(metric.column).sort(metric.column, descending=True)
                self.ranking[slot] = (
                    ordered[column].drop_nulls().unique(maintain_order=True).to_list()
                )
                self.chance[slot] = 1 / max(len(self.ranking[slot]), 1)

    def limit(self, slot: str, n: int) -> int:
        """How many of `n` answers may be guessed; at least one."""
        return max(int((self.chance[slot] + self.beyond) * n + 1e-9), 1)

    def fits(self, task: AnalyticTask, room: int = 4) -> bool:
        """Could the task be added? `room`: how many more are expected, while there are few."""
        for slot, value, ranked in self._guessable(task):
            counted = self.constant.setdefault(slot, Counter())
            n = max(counted.total() + 1, room)
            if counted[value] + 1 > self.limit(slot, n):
                return False
            if ranked and self.ranked[slot] + 1 > self.limit(slot, n):
                return False
        return True

    def add(self, task: AnalyticTask) -> None:
        for slot, value, ranked in self._guessable(task):
            self.constant.setdefault(slot, Counter())[value] += 1
            self.ranked[slot] += ranked

    def _guessable(self, task: AnalyticTask) -> Iterator[tuple[str, str, bool]]:
        for part, answer in zip(task.parts, task.answers, strict=True):
            if part.kind == YES_NO:
                yield YES_NO, answer.value, False
            elif part.kind == NAMES and part.names in self.chance:
                yield part.names, answer.value, self._is_ranked(task, part.names, answer.value)

    def _is_ranked(self, task: AnalyticTask, slot: str, value: str) -> bool:
        rank = int(task.drawn.get("nth", "1"))
        ranking = self.ranking[slot]
        return rank <= len(ranking) and ranking[rank - 1] == value

    def report(self) -> Mapping[str, Mapping[str, float | int]]:
        """By kind of part: how many, chance, and the share that each guesser gets right."""
        return {
            slot: {
                "n": counted.total(),
                "chance": round(self.chance[slot], 4),
                "majority": round(max(counted.values()) / counted.total(), 4),
                "ranking": round(self.ranked[slot] / counted.total(), 4),
            }
            for slot, counted in sorted(self.constant.items())
            if counted
        }


UNLIMITED = 10**9
SEVERAL = 3  # sources that most tasks have
_ID = 32  # characters of a digest


@dataclass
class Minted:
    """Tasks, a ledger row per candidate, and what guessers get right."""

    bench: Bench
    guesser: _Guesser
    quota: NoiseQuota
    tasks: list[AnalyticTask] = field(default_factory=list)
    ledger: list[LedgerRow] = field(default_factory=list)
    verdicts: list[tuple[str, Verdict]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    applied: Counter[str] = field(default_factory=Counter)  # tasks by policy

    @property
    def tally(self) -> StageTally:
        counts = Counter(row.outcome for row in self.ledger)
        both = {outcome: counts[outcome] for outcome in (Outcome.KEPT, Outcome.REJECTED)}
        return StageTally(
            STAGE, StageKind.FILTER, "candidate", len(self.ledger), both | {Outcome.ERRORED: 0}
        )

    def records(self, candidate_id: Callable[[str], str]) -> StageRecords:
        """What became of each draft, under the id that it has as a candidate."""
        return StageRecords(
            [replace(row, item_id=candidate_id(row.item_id)) for row in self.ledger],
            [self.tally],
            [(candidate_id(identity), verdict) for identity, verdict in self.verdicts],
        )

    def admit(self, draft: Draft, family: tuple[str, ...], drawn: Mapping[str, str]) -> bool:
        """Judge a draft and write down its outcome; nothing for what was judged before."""
        identity = _identity_of(draft.program, self.bench.declaration.name)
        if identity in self.seen or draft.question in self.seen:
            return False
        self.seen |= {identity, draft.question}
        judged = judge(draft, self.bench)
        task = None
        if judged.reason is None:
            task = _task_of(judged, self.bench, family, drawn)
            if not self.guesser.fits(task):
                why = "a guesser is right too often"
                judged, task = Judged(draft, AnalyticsReason.WORLD_KNOWLEDGE, why), None
            elif (kind := self.quota.missing(task)) is not None:
                why = f"the quota of tasks with {kind} noise would be missed"
                judged, task = Judged(draft, AnalyticsReason.TOO_LITTLE_NOISE, why), None
            elif self.bench.archive is not None:
                task, missed = _searched_for(task, self.bench, self.bench.archive)
                if missed:
                    why = ", ".join(missed)
                    judged, task = Judged(draft, AnalyticsReason.UNREACHED, why), None
        self._record(identity, judged)
        if task is None:
            return False
        self.guesser.add(task)
        self.quota.add(task)
        self.tasks.append(task)
        return True

    def _record(self, identity: str, judged: Judged) -> None:
        draft = judged.draft
        verdict = FAIR.judge(fairness_of(judged, judged.reason), AnalyticsRecipe())
        self.verdicts.append((identity[:_ID], verdict))
        row = gated_row(
            STAGE,
            "candidate",
            identity[:_ID],
            None if judged.reason is None else verdict,
            {"template": draft.template, "detail": judged.detail},
        )
        self.ledger.append(replace(row, stratum=f"{draft.category}/{draft.difficulty}"))

    def propose(self, proposed: Proposed) -> bool:
        """Judge a proposal; what is none is rejected with its reason."""
        if proposed.draft is None:
            identity = proposed.identity[:_ID]
            verdict = FAIR.judge(fairness_of(None, AnalyticsReason.INVALID), AnalyticsRecipe())
            row = gated_row(STAGE, "candidate", identity, verdict, {"detail": proposed.why})
            if proposed.identity not in self.seen:
                self.seen.add(proposed.identity)
                self.verdicts.append((identity, verdict))
                self.ledger.append(replace(row, stratum="proposal"))
            return False
        return self.admit(proposed.draft, ("proposal",), {})


@dataclass
class Source:
    """The candidates of one template, family after family in a keyed order."""

    template: Template
    families: list[Family]
    seed: int
    tries: int
    taken: Counter[tuple[str, ...]] = field(default_factory=Counter)
    known: set[tuple[str, ...]] = field(default_factory=set)

    def _is_known(self, shown: Mapping[str, str]) -> bool:
        """Were these values drawn before?"""
        drawn = tuple(shown.values())
        is_known = drawn in self.known
        self.known.add(drawn)
        return is_known

    @property
    def difficulty(self) -> str:
        template = self.template
        return difficulty_of(template.category, len(template.steps), template.label)

    def values(
        self, world: World, applied: Counter[str]
    ) -> Iterator[tuple[Family, Language, dict[str, Any]]]:
        """Values of every family, again and again; first of those whose policies fewest tasks
        apply, as `applied` counts them by then."""
        for attempt in range(self.tries):
            waiting = list(self.families)
            while waiting:
                family = min(waiting, key=lambda each: sum(applied[p] for p in _policies(each)))
                waiting = [each for each in waiting if each is not family]
                name = f"{self.template.name}:{family_name(family)}:{attempt}"
                generator = keyed_generator(self.seed, STAGE, name)
                drawn = draw_values(self.template, family, world, generator)
                if drawn is not None and not self._is_known(_shown(drawn)):
                    languages = world.declaration.languages
                    yield family, languages[int(generator.integers(len(languages)))], drawn


def _policies(values: Mapping[str, Any]) -> list[str]:
    return [each.name for each in values.values() if isinstance(each, PolicyText)]


def _identity_of(program: s.Program, environment: str) -> str:
    """The digest of a programme over an environment: what two candidates must not share."""
    return digest([environment, *(step.model_dump(mode="json") for step in program)])


def mint(
    bench: Bench,
    templates: Sequence[Template],
    seed: int,
    proposals: Sequence[Proposed] = (),
    recipe: AnalyticsRecipe | None = None,
) -> Minted:
    """Judge proposals, then draw candidates by template in turn until the quotas are filled."""
    world, quotas = World(bench.declaration, bench.tables), bench.declaration.quotas
    wanted = sum(n for of_category in quotas.values() for n in of_category.values())
    recipe = recipe or AnalyticsRecipe()
    templates = [each for each in templates if each.split in recipe.splits]
    noise = NoiseQuota(recipe, wanted or None)
    minted = Minted(bench, _Guesser(world, bench.declaration.limits.closed_book), noise)
    for proposed in proposals:
        minted.propose(proposed)
    for category in Category:
        sources = _sources(category, templates, world, seed)
        for difficulty, quota in _quotas(bench, category).items():
            have = sum((t.category, t.difficulty) == (category, difficulty) for t in minted.tasks)
            fitting = [source for source in sources if source.difficulty == difficulty]
            _fill(fitting, quota - have, world, minted, recipe.per_template or UNLIMITED)
    minted.tasks.sort(key=lambda task: task.task_id)
    return minted


def _sources(
    category: Category, templates: Sequence[Template], world: World, seed: int
) -> list[Source]:
    sources, declaration = [], world.declaration
    own = [template for template in templates if template.category == category]
    # Those that need several sources come first: quotas may end before the others.
    for template in sorted(own, key=lambda t: len({role for role, _ in t.roles}) < SEVERAL):
        families = families_of(template, declaration) if world.can_draw(template) else []
        if families:
            require_words(template, declaration)
        names = ["/".join(family_name(family)) for family in families]
        ordered = [families[at] for at in keyed_order(seed, template.name, names)]
        sources.append(Source(template, ordered, seed, declaration.limits.tries))
    return sources


def _quotas(bench: Bench, category: Category) -> Mapping[str, int]:
    quotas = bench.declaration.quotas
    if quotas:
        return {str(level): n for level, n in quotas.get(category, {}).items()}
    return dict.fromkeys(("easy", "medium", "hard"), UNLIMITED)


def _fill(
    sources: Sequence[Source], wanted: int, world: World, minted: Minted, per_template: int
) -> None:
    """Take candidates from the templates in turn, until there are enough or all are used up."""
    most = world.declaration.limits.max_per_template
    waiting = [(source, source.values(world, minted.applied)) for source in sources]
    while wanted > 0 and waiting:
        for source, candidates in list(waiting):
            is_full = source.taken.total() >= per_template
            drawn = None if is_full else next(candidates, None)
            if drawn is None:
                waiting.remove((source, candidates))
                continue
            family, language, values = drawn
            name = family_name(family)
            if wanted <= 0 or source.taken[name] >= most:
                continue
            draft = _drafted(source.template, values, world, language)
            if minted.admit(draft, name, _shown(values)):
                source.taken[name] += 1
                minted.applied.update(_policies(values))
                wanted -= 1


def _shown(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(getattr(value, "name", value)) for name, value in values.items()}


def _drafted(
    template: Template, values: Mapping[str, Any], world: World, language: Language
) -> Draft:
    """A candidate of drawn values: its programme, question and guidelines."""
    declaration = world.declaration
    fields = step_values(values, declaration)
    program = s.program_of(steps_of(template, fields, declaration))
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
        guidelines=guidelines_of(declaration, parts, program, language),
        program=program,
        parts=parts,
        words=words,
        metrics=tuple(value for value in values.values() if isinstance(value, Metric)),
        label=template.label,
    )


def _worded(values: Mapping[str, Any], words: Mapping[str, str], wording: str) -> list[str]:
    """The placeholders that must show in a question: an ordinal in the form that is used."""
    forms = {name: [form for form in words if form.startswith(f"{name}_")] for name in values}
    return [
        next((form for form in forms[name] if f"{{{form}}}" in wording), name) for name in values
    ]


def _task_of(
    judged: Judged, bench: Bench, family: tuple[str, ...], drawn: Mapping[str, str]
) -> AnalyticTask:
    """A judged draft as a task with its milestones and the noise that bites."""
    draft = judged.draft
    rated = draft.category in RATED_BY_STEPS
    return AnalyticTask(
        task_id=_identity_of(draft.program, bench.declaration.name)[:_ID],
        template=draft.template,
        family=family,
        category=draft.category,
        difficulty=draft.difficulty,
        difficulty_rule=RULE_BY_STEPS if rated else RULE_BY_LABEL,
        language=draft.language,
        question=draft.question,
        guidelines=draft.guidelines,
        program=draft.program,
        parts=draft.parts,
        answers=judged.answers,
        milestones=milestones_of(draft.program, judged.results, list(draft.words.values())),
        noise=noise_that_bites(judged, bench),
        files=tuple(sorted({bench.file_of[name] for name in s.tables_of(draft.program)})),
        drawn=dict(drawn),
    )


def _searched_for(
    task: AnalyticTask, bench: Bench, archive: Archive
) -> tuple[AnalyticTask, Sequence[str]]:
    """The task with what its archive answers, and the papers that no search leads to."""
    declaration = bench.declaration
    entities = declaration.roles.get("entities")
    periods = bench.tables[entities.table][entities.period].unique() if entities else ()
    needed = needed_for(task.program, declaration, periods)
    if not needed:
        return task, ()
    reading = archive.read(f"{task.question}\n{task.guidelines}", needed)
    use = reading.use([answer.value for answer in task.answers])
    guidelines = guidelines_of(declaration, task.parts, task.program, task.language, use.allowance)
    return task.model_copy(update={"archive": use, "guidelines": guidelines}), reading.missed


def report_of(minted: Minted) -> dict[str, Any]:
    """The funnel: tasks and reasons by category and difficulty, noise, guessers."""
    tasks = minted.tasks
    reasons: dict[str, Counter[str]] = {}
    for row in minted.ledger:
        reasons.setdefault(row.stratum or "", Counter())[row.reason or "kept"] += 1
    wanted = {
        f"{category}/{difficulty}": quota
        for category, quotas in minted.bench.declaration.quotas.items()
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
        "noise_by_difficulty": _noise_by_difficulty(tasks),
        "noisy_share": round(len(bitten) / len(tasks), 4) if tasks else 0.0,
        "noise_quota": minted.quota.report(),
        "guessers": minted.guesser.report(),
    }


def _noise_by_difficulty(tasks: Sequence[AnalyticTask]) -> list[dict[str, Any]]:
    """Per difficulty: its tasks, those that noise changes, and by kind."""
    rows = []
    for difficulty in get_args(Difficulty):
        own = [task for task in tasks if task.difficulty == difficulty]
        kinds = Counter(kind for task in own for kind in task.noise)
        rows.append(
            {
                "difficulty": difficulty,
                "tasks": len(own),
                "noisy": sum(bool(task.noise) for task in own),
                "kinds": dict(sorted(kinds.items())),
                "steps": sum(len(task.program) for task in own),
            }
        )
    return rows
