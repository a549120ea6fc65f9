"""The candidate ideas of a mixture: made by a model or by rules, filtered, and written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, TypeAdapter

from construction.judging.contracts import (
    Answer,
    Asker,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import (
    Checked,
    Costs,
    Stage,
    ask,
    require_answers,
    write_model_use,
)
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.judging.settings import Judges, ModelStage
from construction.signals.weights import SeedIdea
from construction.workflows.prefilters import PREFILTER, STAGE, Idea, IdeaReason, Proposed, sift
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Evidence, Lane, Outcome
from data.errors import InputError
from data.neutralise import one_line, visible
from data.snapshot import layout
from data.tables import (
    LEDGER,
    LINEAGE,
    TALLIES,
    ledger_record,
    lineage_record,
    tally_records,
    write_table,
)
from data.text.lexicon import load_table

# Candidate ideas by rules: a move of the pattern, in a situation, with a twist.
#
# A move is what is done; a twist is something that goes wrong. `idea_moves.toml` holds the
# moves of each pattern, `idea_situations.toml` the situations with their materials, and the
# twists. Ideas of one seed differ in situation and twist.

_STRIDE = 5  # between the first situations of adjacent patterns; prime to the size of each pool
_TURNS = 4  # a move is used at most this often: the next begins after its situations
_SENTENCE = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")


@dataclass(frozen=True, slots=True)
class _Twist:
    """What goes wrong with one kind of material: in the request, the steps and the grading."""

    task: str
    step: str
    graded: str


@dataclass(frozen=True, slots=True)
class _Move:
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


_MOVE = TypeAdapter(_Move)


@dataclass(frozen=True, slots=True)
class _Situation:
    """Where something is done: `words` fill slots, `materials` are file, name and content."""

    name: str
    setting: str
    words: Mapping[str, str]
    materials: Mapping[str, tuple[str, str, str]]


def _suggest_ideas(
    seeds: Sequence[SeedIdea], config: ModelStagesConfig, known: Sequence[str] = ()
) -> Proposed:
    """5 to 8 ideas per seed, filtered; `known` are titles and prompts not to be repeated."""
    return sift([_of_seed(seed, config) for seed in seeds], known, config.near_duplicate)


def _of_seed(seed: SeedIdea, config: ModelStagesConfig) -> Judged[tuple[Idea, ...]]:
    moves = _moves().get(seed.pattern)
    if not moves:
        return Judged(seed.pattern, None, IdeaReason.UNKNOWN_PATTERN)
    ideas = tuple(
        _idea_by_rules(seed, moves, place) for place in range(_ideas_wanted(seed, config))
    )
    return Judged(seed.pattern, ideas)


def _ideas_wanted(seed: SeedIdea, config: ModelStagesConfig) -> int:
    """How many ideas to ask for: what the seed wants, within the limits."""
    return min(max(seed.ideas, config.min_ideas), config.max_ideas)


def _idea_by_rules(seed: SeedIdea, moves: Sequence[_Move], number_in_seed: int) -> Idea:
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


def _filled(text: str, situation: _Situation) -> str:
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


def _short(text: str, situation: _Situation) -> str:
    """The text with its slots filled, materials by name."""
    names = {slot: f"the {name}" for slot, (_, name, _) in situation.materials.items()}
    return text.format_map({**situation.words, **names})


def _sentences(text: str) -> str:
    return _SENTENCE.sub(lambda match: match[0].upper(), text)


def _environment(task: str, move: _Move, situation: _Situation) -> tuple[str, ...]:
    """The materials that the task names, the files of its move, and the simulated service."""
    named = dict.fromkeys(slot for _, slot, _, _ in Formatter().parse(task) if slot)
    materials = [situation.materials[slot] for slot in named if slot in situation.materials]
    made = [f"{file}: {content}" for file, _, content in materials]
    return (*made, *move.files, *([move.service] if move.service else []))


@cache
def _moves() -> Mapping[str, tuple[_Move, ...]]:
    return {
        pattern: tuple(_MOVE.validate_python(move) for move in entry["moves"])
        for pattern, entry in load_table(__package__, "idea_moves.toml").items()
    }


@cache
def _situations() -> Mapping[str, tuple[_Situation, ...]]:
    return {
        pool: tuple(_situation(slug, told) for slug, told in entries.items())
        for pool, entries in load_table(__package__, "idea_situations.toml").items()
        if pool != "twists"
    }


def _situation(slug: str, fields: Mapping[str, Any]) -> _Situation:
    materials = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    words = {name: value for name, value in fields.items() if isinstance(value, str)}
    return _Situation(words.pop("name"), words.pop("setting"), words | {"slug": slug}, materials)


@cache
def _twists() -> Mapping[str, tuple[_Twist, ...]]:
    twists = load_table(__package__, "idea_situations.toml")["twists"]
    return {kind: tuple(_Twist(**one) for one in entries) for kind, entries in twists.items()}


# Candidate ideas by a model: several per seed idea, filtered, without near-duplicates.

_TITLES = 60  # known titles that the prompt lists
_Line = Annotated[str, Field(min_length=3, max_length=300)]


class _IdeaAnswer(Answer):
    title: Annotated[str, Field(min_length=3, max_length=120)]
    task: Annotated[str, Field(min_length=20, max_length=1_500)]
    steps: Annotated[tuple[_Line, ...], Field(max_length=20)]
    artifact: _Line
    environment: Annotated[tuple[_Line, ...], Field(max_length=20)]
    evidence: tuple[Literal["retrieval", "accuracy", "action", "semantic"], ...]
    graded: Annotated[str, Field(max_length=600)]
    ungraded: Annotated[str, Field(max_length=600)]
    minutes: Annotated[int, Field(ge=0, le=100_000)]


class _IdeasAnswer(Answer):
    ideas: Annotated[tuple[_IdeaAnswer, ...], Field(max_length=20)]


def _propose_ideas(
    seeds: Sequence[SeedIdea],
    client: Asker,
    config: ModelStagesConfig,
    known: Sequence[str] = (),
) -> Proposed:
    """5 to 8 ideas per seed, filtered; `known` are titles and prompts not to be repeated."""
    return sift(ask(_ideas_stage(config, known), seeds, client), known, config.near_duplicate)


def _ideas_stage(
    config: ModelStagesConfig, known: Sequence[str] = ()
) -> Stage[SeedIdea, _IdeasAnswer, tuple[Idea, ...]]:
    """The stage, for callers that want its requests or checks alone."""

    def check(seed: SeedIdea, answer: _IdeasAnswer) -> Checked[tuple[Idea, ...]] | Fault:
        number = len(answer.ideas)
        if not config.min_ideas <= number <= config.max_ideas:
            return Fault(JudgeReason.WRONG_NUMBER, str(number))
        numbered = enumerate(answer.ideas, start=1)
        return Checked(tuple(_idea(seed, number, idea) for number, idea in numbered))

    return Stage(
        prompt=load_prompt("ideas"),
        answer=_IdeasAnswer,
        item_id=lambda seed: seed.pattern,
        content=lambda seed, cleaner: _content(seed, cleaner, config, known),
        check=check,
    )


def _content(
    seed: SeedIdea, cleaner: Cleaner, config: ModelStagesConfig, known: Sequence[str]
) -> dict[str, Any]:
    """The material; names of signals come from public registries and may be hostile."""
    titles = sorted(set(known))[:_TITLES]
    return {
        "wanted": _ideas_wanted(seed, config),
        "kind_of_work": cleaner.text(seed.pattern, 120, "kind_of_work"),
        "task_family": seed.task_family,
        "goal": cleaner.text(seed.user_goal, 600, "goal"),
        "artifact": cleaner.text(seed.artifact, 600, "artifact"),
        "worked_in": seed.execution_surface,
        "expected": cleaner.text(seed.grading.expected, 600, "expected"),
        "graded": cleaner.text(seed.grading.graded, 600, "graded"),
        "ungraded": cleaner.text(seed.grading.ungraded, 600, "ungraded"),
        "in_demand": [cleaner.text(name, 120, "in_demand") for name in seed.signals],
        "taken": [cleaner.text(title, 120, "taken") for title in titles],
    }


def _idea(seed: SeedIdea, number: int, answer: _IdeaAnswer) -> Idea:
    return Idea(
        idea_id=f"{seed.pattern}-{number}",
        seed=seed.pattern,
        task_family=seed.task_family,
        title=one_line(" ".join(answer.title.split())),
        task=visible(answer.task.strip()),
        steps=tuple(map(one_line, answer.steps)),
        artifact=one_line(answer.artifact),
        environment=tuple(map(one_line, answer.environment)),
        evidence=Evidence(**dict.fromkeys(answer.evidence, True)),
        graded=one_line(answer.graded),
        ungraded=one_line(answer.ungraded),
        minutes=answer.minutes,
    )


IDEAS_FILE = "ideas.jsonl"
_LARGEST = 512 << 20  # bytes of a task list
_SEEDS = TypeAdapter(tuple[SeedIdea, ...])


@dataclass(frozen=True, slots=True)
class _CandidateIdeas:
    """Ideas and who made them (`judge`), what the model cost, digests of its replies by name."""

    proposed: Proposed
    judge: str
    costs: Costs = ()
    replies: Mapping[str, str] = field(default_factory=dict)


def seeds_of(report: Mapping[str, Any]) -> tuple[SeedIdea, ...]:
    """The seed ideas of a mixture's report."""
    return _SEEDS.validate_python(report["seeds"])


def prompts_of_release(release: Path | None) -> list[str]:
    """The prompts of a release except its questions: ideas must not repeat them.

    Raises InputError if the folder holds no list of tasks.
    """
    if release is None:
        return []
    path = layout.halves(release)[0] / layout.TASK_LIST
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            raise OSError
        tasks = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        return [str(task["prompt"]) for task in tasks if task["lane"] != Lane.QUESTIONS]
    except (OSError, ValueError, KeyError, TypeError):
        problem, todo = "no list of tasks", "Run `benchmint verify` on it."
        raise InputError(str(release), problem, "a release of this project", todo) from None


def candidate_ideas(
    seeds: Sequence[SeedIdea], known: Sequence[str], judges: Judges
) -> _CandidateIdeas:
    """5 to 8 ideas per seed, filtered: by the model where it is asked for, else by the rules.

    `known` are prompts that no idea may repeat. Raises ReleaseError where the model gave no reply
    about some seed.
    """
    config = judges.config
    judge = config.model.judge_of(ModelStage.CANDIDATE_IDEAS)
    if not config.model.does(ModelStage.CANDIDATE_IDEAS):
        return _CandidateIdeas(_suggest_ideas(seeds, config.model_stages, known), judge)
    with judges.client(masked=True) as client:  # what registries publish is public
        settings = config.stage_settings(ModelStage.CANDIDATE_IDEAS)
        proposed = _propose_ideas(seeds, client, settings, known)
        require_answers(list(proposed.judged))
        replies = {"model-replies-ideas": client.replies_digest()}
    return _CandidateIdeas(proposed, judge, judges.costs({STAGE: proposed.judged}), replies)


def write_ideas(ideas: _CandidateIdeas, out: Path) -> None:
    """Write the ideas that passed, one per line, and the stage tables of seeds and ideas."""
    proposed = ideas.proposed
    rows = [asdict(idea) | {"judge": ideas.judge} for idea in proposed.ideas]
    write_bytes(out / IDEAS_FILE, b"".join(canonical_json(row) + b"\n" for row in rows))
    write_table(out / "ledger.parquet", map(ledger_record, proposed.ledger), LEDGER)
    write_table(out / "lineage_rows.parquet", map(lineage_record, proposed.lineage), LINEAGE)
    records = [record for tally in proposed.tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", records, TALLIES)
    write_model_use(out, ideas.costs, ideas.replies)


def replace_ideas(ideas: _CandidateIdeas, folder: Path) -> None:
    """Put the ideas and their tables in the place of those of an earlier run, file by file.

    Nothing else in the folder is touched: it may be the user's own.
    """
    with TemporaryDirectory(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent) as part:
        write_ideas(ideas, Path(part))
        folder.mkdir(exist_ok=True)
        for made in sorted(Path(part).iterdir()):
            made.replace(folder / made.name)


def summary(ideas: _CandidateIdeas) -> str:
    """One line: how many ideas passed, whose they are, and why others were left out."""
    ledger = ideas.proposed.ledger
    reasons = Counter(str(row.reason) for row in ledger if row.outcome is Outcome.REJECTED)
    errored = sum(row.outcome is Outcome.ERRORED for row in ledger)
    tried = sum(row.stage == PREFILTER for row in ledger)
    passed = f"{len(ideas.proposed.ideas)} of {tried} candidate ideas passed"
    why = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
    without = f"; {errored} seeds without ideas" if errored else ""
    return f"{passed} (judge: {ideas.judge}){f': {why}' if why else ''}{without}"
