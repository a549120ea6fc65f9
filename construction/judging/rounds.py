"""Rounds of annotators over releases: who judged a case how, kept for the next round.

The log (`rounds.jsonl`, private) has one line per release, in the order in which the releases were
begun. A release is built on the lines up to its own, so that building it again, or continuing
after a kill, holds no further round. A case starts anew if its text or its annotators changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from construction.judging.baseline.screen import screen as screen_by_facts
from construction.judging.consensus import RULES, ConsensusConfig, Endorsed, Opinion, Routed, route
from construction.judging.contracts import (
    Asker,
    Case,
    ContainmentReason,
    Judged,
    ModelStagesConfig,
    Screened,
)
from construction.judging.evidence.pictures import Pictures
from construction.judging.judge import screen_cases
from construction.judging.model.asking import ask, require_answers
from construction.judging.model.prompt import Cleaner
from construction.judging.model.screen import screen_stage
from construction.judging.review import ReviewItem, Topic, disputes
from construction.judging.settings import JudgingConfig, ModelStage
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest
from data.errors import InputError
from data.figures import amount

ROUNDS = "rounds.jsonl"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Round(_Record):
    """The verdicts on a case in one round, by annotator; None: no usable answer."""

    item_id: Annotated[str, Field(min_length=1, max_length=300)]
    case: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # digest of what they read
    round: Annotated[int, Field(ge=1)]
    verdicts: dict[str, Screened | None]

    @property
    def key(self) -> tuple[str, str, int, tuple[str, ...]]:
        return self.item_id, self.case, self.round, tuple(sorted(self.verdicts))


class ReleaseRounds(_Record):
    """A line of the log: the rounds that were held for a release."""

    release: str
    rounds: tuple[Round, ...]


Rounds = Mapping[str, Sequence[Round]]  # by task id, the first round first
OpenModel = Callable[[str], AbstractContextManager[Asker]]


@dataclass(frozen=True, slots=True)
class HeldRounds:
    """All rounds that count for a release; `by_model`: the verdicts just given, by model."""

    rounds: Rounds
    by_model: Mapping[str, Sequence[Judged[Screened]]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The cases that were agreed on, each with its verdict; `disputed` are for people to decide."""

    cases: list[Case]
    judged: list[Judged[Screened]]
    judge: str
    routed: Routed
    disputed: list[ReviewItem]


def hold_rounds(
    folder: Path,
    release: str,
    cases: Sequence[Case],
    decided: Mapping[str, str | None],
    config: JudgingConfig,
    open_model: OpenModel,
    pictures: Pictures | None = None,
) -> HeldRounds:
    """Hold the rounds that are due for `release`, and add them to the log in `folder`.

    `decided` are the answers of the review by task id; `open_model` opens a client of a model by
    its name. The log is written when all annotators have answered: a build that was stopped
    before that holds the same rounds again, out of the store of replies. Raises ReleaseError where
    a model gave no reply about some case.
    """
    log, consensus = read_rounds(folder), config.consensus
    known = rounds_of(log, release, cases, consensus)
    is_new = all(line.release != release for line in log)
    due = _due(cases, known, decided, consensus, is_new=is_new)
    judged: dict[str, list[Judged[Screened]]] = {}
    for annotator in consensus.annotators if due else ():
        if annotator == RULES:
            judged[annotator] = screen_cases(due, config, None)
            continue
        with open_model(annotator) as client:
            settings = config.with_model(annotator).stage_settings(ModelStage.SCREEN)
            verdicts = judge_anew(due, known, client, settings, pictures)
            judged[annotator] = require_answers(verdicts)
    log = with_release(log, release, held_rounds(due, judged, known))
    write_rounds(folder, log)
    by_model = {name: verdicts for name, verdicts in judged.items() if name != RULES}
    return HeldRounds(rounds_of(log, release, cases, consensus), by_model)


def agree(
    cases: Sequence[Case],
    rounds: Rounds,
    decided: Mapping[str, str | None],
    config: ConsensusConfig,
) -> Agreement:
    """Admit what is unanimous or decided by the review, queue the rest."""
    ids, given = [case.candidate.task_id for case in cases], opinions(rounds)
    disputed = _disputed(cases, rounds, route(ids, given, config), config)
    routed = route(ids, given, config, decided=decided)
    endorsed = {item.item_id: item for item in routed.admitted}
    admitted = [case for case in cases if case.candidate.task_id in endorsed]
    verdicts = [
        Judged(task_id, endorsed_verdict(rounds[task_id], endorsed[task_id], config.annotators))
        for task_id in (case.candidate.task_id for case in admitted)
    ]
    judge = f"consensus: {', '.join(map(_judge_name, config.annotators))}"
    return Agreement(admitted, verdicts, judge, routed, disputed)


def read_rounds(folder: Path) -> list[ReleaseRounds]:
    """The log, oldest release first; empty where there is none. Raises InputError."""
    path = folder / ROUNDS
    lines = path.read_bytes().splitlines() if path.is_file() else []
    log = []
    for number, line in enumerate(lines, start=1):
        try:
            log.append(ReleaseRounds.model_validate_json(line))
        except ValidationError as error:
            problem, todo = amount(error.error_count(), "error"), "Restore the file, or remove it."
            raise InputError(str(path), problem, "rounds of a release", todo, number) from None
    return log


def write_rounds(folder: Path, log: Sequence[ReleaseRounds]) -> None:
    """Replace the log at once; only its owner may read it."""
    lines = b"".join(canonical_json(line) + b"\n" for line in log)
    write_bytes(folder / ROUNDS, lines, mode=PRIVATE_FILE)


def with_release(
    log: Sequence[ReleaseRounds], release: str, held: Iterable[Round]
) -> list[ReleaseRounds]:
    """The log with `held` in the line of `release`, which is a new last line if there is none."""
    releases = {line.release: {each.key: each for each in line.rounds} for line in log}
    rounds = releases.setdefault(release, {})
    rounds.update({each.key: each for each in held})
    return [
        ReleaseRounds(release=name, rounds=tuple(by_key[key] for key in sorted(by_key)))
        for name, by_key in releases.items()
    ]


def rounds_of(
    log: Sequence[ReleaseRounds], release: str, cases: Sequence[Case], config: ConsensusConfig
) -> dict[str, list[Round]]:
    """By task id, in order: the rounds that count for `release`, of cases as they are now."""
    names = [line.release for line in log]
    until = names.index(release) + 1 if release in names else len(names)
    known = {case.candidate.task_id: digest(case) for case in cases}
    by_item: dict[str, dict[int, Round]] = defaultdict(dict)
    for held in (each for line in log[:until] for each in line.rounds):
        if known.get(held.item_id) == held.case and held.verdicts.keys() == set(config.annotators):
            by_item[held.item_id].setdefault(held.round, held)
    return {item: [by_item[item][number] for number in sorted(by_item[item])] for item in known}


def opinions(rounds: Rounds) -> list[Opinion]:
    """The reason codes as `consensus.route` takes them; who abstains gives none."""
    return [
        Opinion(held.item_id, annotator, str(verdict.reason_code), held.round)
        for of_case in rounds.values()
        for held in of_case
        for annotator, verdict in sorted(held.verdicts.items())
        if verdict is not None and verdict.reason_code is not ContainmentReason.NEEDS_MODEL
    ]


def held_rounds(
    cases: Sequence[Case],
    judged_by: Mapping[str, Sequence[Judged[Screened]]],
    known: Rounds,
) -> list[Round]:
    """The next round of each case, from the verdicts of each annotator in the cases' order."""
    return [
        Round(
            item_id=case.candidate.task_id,
            case=digest(case),
            round=1 + max((held.round for held in known[case.candidate.task_id]), default=0),
            verdicts={annotator: judged[row].value for annotator, judged in judged_by.items()},
        )
        for row, case in enumerate(cases)
    ]


def endorsed_verdict(rounds: Sequence[Round], endorsed: Endorsed, order: Sequence[str]) -> Screened:
    """The verdict of an endorsed case: the first with the answer.

    `order` are the annotators. Of a case that the review endorsed the last round is read, in which
    nobody need have given the answer.
    """
    held = next((each for each in rounds if each.round == endorsed.round), rounds[-1])
    answer = ContainmentReason(endorsed.answer)
    verdicts = [each for each in (held.verdicts[name] for name in order) if each is not None]
    same = [each for each in verdicts if each.reason_code is answer]
    return same[0] if same else Screened(reason_code=answer, brief_reason="endorsed")


def judge_anew(
    cases: Sequence[Case],
    earlier: Rounds,
    client: Asker,
    config: ModelStagesConfig,
    pictures: Pictures | None = None,
) -> list[Judged[Screened]]:
    """A model's verdicts; it is told how often each verdict was given in the earlier rounds."""
    stage = screen_stage(config, screen_by_facts, pictures)

    def content(case: Case, cleaner: Cleaner) -> dict[str, Any]:
        counts = [_verdict_counts(held) for held in earlier[case.candidate.task_id]]
        return stage.content(case, cleaner) | ({"earlier_rounds": counts} if counts else {})

    return ask(replace(stage, content=content), cases, client)


def _verdict_counts(held: Round) -> dict[str, int]:
    codes = Counter(str(each.reason_code) for each in held.verdicts.values() if each is not None)
    return dict(sorted(codes.items()))


def _due(
    cases: Sequence[Case],
    known: Rounds,
    decided: Mapping[str, str | None],
    config: ConsensusConfig,
    *,
    is_new: bool,
) -> list[Case]:
    """The cases without any round, and in a new release those that wait for the next round."""
    waiting = {item.item_id for item in route(list(known), opinions(known), config).queue}
    next_round = waiting - decided.keys() if is_new else set()

    def is_due(task_id: str) -> bool:
        held = len(known[task_id])
        return not held or (task_id in next_round and held < config.max_rounds)

    return [case for case in cases if is_due(case.candidate.task_id)]


def _disputed(
    cases: Sequence[Case], rounds: Rounds, routed: Routed, config: ConsensusConfig
) -> list[ReviewItem]:
    """What the annotators have not agreed on, decided or not, with their last answers."""
    admitted = {item.item_id for item in routed.admitted}
    prompts = {case.candidate.task_id: case.candidate.prompt for case in cases}
    texts = {task_id: text for task_id, text in prompts.items() if task_id not in admitted}
    last = {task_id: rounds[task_id][-1].verdicts for task_id in texts}
    by_judge = {
        _judge_name(annotator): {
            task_id: str(verdict.reason_code)
            for task_id, verdicts in last.items()
            if (verdict := verdicts[annotator]) is not None
        }
        for annotator in config.annotators
    }
    return disputes(Topic.CONTAINMENT, texts, by_judge)


def _judge_name(annotator: str) -> str:
    return annotator if annotator == RULES else f"model:{annotator}"
