"""Consensus on sessions: rounds of annotators over releases, and what they agree on.

The log of rounds (`rounds.jsonl`, private) has one line per release, in the order in which the
releases were begun. A release is built on the lines up to its own, so that building it again, or
continuing after a kill, holds no further round. A case starts anew if its text or its annotators
changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from construction.judging.baseline.screen import screen as screen_by_facts
from construction.judging.consensus import (
    RULES,
    STAGE,
    UNIT,
    ConsensusConfig,
    Endorsed,
    Opinion,
    Routed,
    route,
)
from construction.judging.contracts import (
    Asker,
    Case,
    ContainmentReason,
    Judged,
    ModelStagesConfig,
    Screened,
)
from construction.judging.evidence.views import Pictures
from construction.judging.model.asking import ask, require_answers, write_model_use
from construction.judging.model.prompt import Cleaner
from construction.judging.model.screen import screen_stage
from construction.judging.review import (
    Decisions,
    ReviewItem,
    Topic,
    answers_decided,
    disputes,
    write_items,
)
from construction.judging.settings import Judges, ModelStage
from construction.judging.stages import write_screened
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Scalar, StageKind
from data.errors import InputError
from data.figures import amount
from data.stage_tables import write_stage_tables

_ROUNDS, _AGREED = "rounds.jsonl", "agreed.json"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Round(_Record):
    """The verdicts on a case in one round, by annotator; None: no usable answer."""

    item_id: Annotated[str, Field(min_length=1, max_length=300)]
    case: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # digest of what they read
    round: Annotated[int, Field(ge=1)]
    verdicts: dict[str, Screened | None]


class _ReleaseRounds(_Record):
    """A line of the log: the rounds that were held for a release."""

    release: str
    rounds: tuple[Round, ...]


_Rounds = Mapping[str, Sequence[Round]]  # by task id, the first round first


@dataclass(frozen=True, slots=True)
class _Consented:
    """What the annotators, or people, agreed on: the routing, the verdicts, and who gave them.

    `inputs` holds the digest of the rounds: answers that a rebuild does not ask for again. `costs`
    are of the rounds held now.
    """

    routed: Routed
    judged: Sequence[Judged[Screened]]
    judge: str
    costs: Sequence[Mapping[str, Scalar]]
    inputs: Mapping[str, str]


def hold_consensus(
    judges: Judges,
    folder: Path,
    release: str,
    cases: Sequence[Case],
    decisions: Decisions,
    pictures: Pictures | None = None,
) -> _Consented:
    """Hold the rounds that are due, admit what is unanimous or decided, queue the rest.

    `folder` keeps the rounds, and takes what people have to decide. A build that was stopped before
    all annotators had answered holds the same rounds again, out of the store of replies. Raises
    ReleaseError where a model gave no reply about some case.
    """
    decided, config = answers_decided(decisions, Topic.CONTAINMENT), judges.config.consensus
    log = _read_rounds(folder)
    known = _rounds_of(log, release, cases, config)
    is_new = all(line.release != release for line in log)
    due = _due(cases, known, decided, config, is_new=is_new)
    held = {
        name: _verdicts_of(judges, name, due, known, pictures) for name in config.annotators if due
    }
    log = _with_release(log, release, _held_rounds(due, held, known))
    _write_rounds(folder, log)
    rounds = _rounds_of(log, release, cases, config)

    ids, given = [case.candidate.task_id for case in cases], _opinions(rounds)
    write_items(folder, _disputed(cases, rounds, route(ids, given, config), config))
    routed = route(ids, given, config, decided=decided)
    admitted = {item.item_id: item for item in routed.admitted}
    verdicts = [
        Judged(name, _endorsed_verdict(rounds[name], admitted[name], config.annotators))
        for name in ids
        if name in admitted
    ]
    costs: list[dict[str, Scalar]] = []
    for name in [name for name in held if name != RULES]:
        costs += judges.with_model(name).costs({STAGE: held[name]})
    judge = f"consensus: {', '.join(map(_judge_name, config.annotators))}"
    return _Consented(routed, verdicts, judge, costs, {"consensus-rounds": digest(rounds)})


def write_consensus(cases: Sequence[Case], consented: _Consented, out: Path) -> None:
    """Write what was agreed on, and the stage tables of all cases."""
    ids, ledger = [case.candidate.task_id for case in cases], consented.routed.ledger
    write_stage_tables(out, StageKind.FILTER, ids, ledger, stage=STAGE, unit=UNIT)
    verdicts = {judged.item_id: judged.value for judged in consented.judged}
    write_bytes(out / _AGREED, canonical_json({"judge": consented.judge, "verdicts": verdicts}))
    write_model_use(out, consented.costs)


def screen_as_agreed(
    cases: Sequence[Case], consensus: Path, judges: Judges, decisions: Decisions, out: Path
) -> None:
    """Keep what the consensus found self-contained."""
    agreed = orjson.loads((consensus / _AGREED).read_bytes())
    verdicts = agreed["verdicts"]
    admitted = [case for case in cases if case.candidate.task_id in verdicts]
    judged = [
        Judged(name, Screened.model_validate(verdicts[name]))
        for name in (case.candidate.task_id for case in admitted)
    ]
    write_screened(admitted, judged, decisions, agreed["judge"], judges.config, out)


def _verdicts_of(
    judges: Judges, annotator: str, cases: Sequence[Case], known: _Rounds, pictures: Pictures | None
) -> list[Judged[Screened]]:
    """What an annotator says of each case."""
    if annotator == RULES:
        return [Judged(case.candidate.task_id, screen_by_facts(case)) for case in cases]
    judges = judges.with_model(annotator)
    settings = judges.config.stage_settings(ModelStage.SCREEN)
    with judges.client(masked=True) as client:
        return require_answers(_judge_anew(cases, known, client, settings, pictures))


def _judge_anew(
    cases: Sequence[Case],
    earlier: _Rounds,
    client: Asker,
    config: ModelStagesConfig,
    pictures: Pictures | None = None,
) -> list[Judged[Screened]]:
    """A model's verdicts; it is told how often each verdict was given in the earlier rounds."""
    stage = screen_stage(config, screen_by_facts, pictures)

    def content(case: Case, cleaner: Cleaner) -> dict[str, Any]:
        counts = []
        for held in earlier[case.candidate.task_id]:
            given = Counter(str(v.reason_code) for v in held.verdicts.values() if v is not None)
            counts.append(dict(sorted(given.items())))
        return stage.content(case, cleaner) | ({"earlier_rounds": counts} if counts else {})

    return ask(replace(stage, content=content), cases, client)


def _read_rounds(folder: Path) -> list[_ReleaseRounds]:
    """The log, oldest release first; empty where there is none. Raises InputError."""
    path = folder / _ROUNDS
    lines = path.read_bytes().splitlines() if path.is_file() else []
    log = []
    for number, line in enumerate(lines, start=1):
        try:
            log.append(_ReleaseRounds.model_validate_json(line))
        except ValidationError as error:
            problem, todo = amount(error.error_count(), "error"), "Restore the file, or remove it."
            raise InputError(str(path), problem, "rounds of a release", todo, number) from None
    return log


def _write_rounds(folder: Path, log: Sequence[_ReleaseRounds]) -> None:
    """Replace the log at once; only its owner may read it."""
    lines = b"".join(canonical_json(line) + b"\n" for line in log)
    write_bytes(folder / _ROUNDS, lines, mode=PRIVATE_FILE)


def _with_release(
    log: Sequence[_ReleaseRounds], release: str, held: Iterable[Round]
) -> list[_ReleaseRounds]:
    """The log with `held` in the line of `release`, which is a new last line if there is none."""
    releases: dict[str, dict[tuple[object, ...], Round]] = {}
    for line in (*log, _ReleaseRounds(release=release, rounds=tuple(held))):
        rounds = releases.setdefault(line.release, {})
        rounds |= {(r.item_id, r.case, r.round, *sorted(r.verdicts)): r for r in line.rounds}
    return [
        _ReleaseRounds(release=name, rounds=tuple(by_key[key] for key in sorted(by_key)))
        for name, by_key in releases.items()
    ]


def _rounds_of(
    log: Sequence[_ReleaseRounds], release: str, cases: Sequence[Case], config: ConsensusConfig
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


def _held_rounds(
    cases: Sequence[Case],
    judged_by: Mapping[str, Sequence[Judged[Screened]]],
    known: _Rounds,
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


def _opinions(rounds: _Rounds) -> list[Opinion]:
    """The reason codes as `consensus.route` takes them; who abstains gives none."""
    return [
        Opinion(held.item_id, annotator, str(verdict.reason_code), held.round)
        for of_case in rounds.values()
        for held in of_case
        for annotator, verdict in sorted(held.verdicts.items())
        if verdict is not None and verdict.reason_code is not ContainmentReason.NEEDS_MODEL
    ]


def _endorsed_verdict(
    rounds: Sequence[Round], endorsed: Endorsed, order: Sequence[str]
) -> Screened:
    """The verdict of an endorsed case: the first with the answer.

    `order` are the annotators. Of a case that the review endorsed the last round is read, in which
    nobody need have given the answer.
    """
    held = next((each for each in rounds if each.round == endorsed.round), rounds[-1])
    answer = ContainmentReason(endorsed.answer)
    verdicts = (each for each in (held.verdicts[name] for name in order) if each is not None)
    same = (each for each in verdicts if each.reason_code is answer)
    return next(same, Screened(reason_code=answer, brief_reason="endorsed"))


def _due(
    cases: Sequence[Case],
    known: _Rounds,
    decided: Mapping[str, str | None],
    config: ConsensusConfig,
    *,
    is_new: bool,
) -> list[Case]:
    """The cases without any round, and in a new release those that wait for the next round."""
    waiting = {item.item_id for item in route(list(known), _opinions(known), config).queue}
    next_round = waiting - decided.keys() if is_new else set()

    def is_due(task_id: str) -> bool:
        held = len(known[task_id])
        return not held or (task_id in next_round and held < config.max_rounds)

    return [case for case in cases if is_due(case.candidate.task_id)]


def _disputed(
    cases: Sequence[Case], rounds: _Rounds, routed: Routed, config: ConsensusConfig
) -> list[ReviewItem]:
    """What the annotators have not agreed on, decided or not, with their last answers."""
    admitted = {item.item_id for item in routed.admitted}
    prompts = {case.candidate.task_id: case.candidate.prompt for case in cases}
    texts = {task_id: text for task_id, text in prompts.items() if task_id not in admitted}
    by_judge: dict[str, dict[str, str]] = {}
    for annotator in config.annotators:
        last = {task_id: rounds[task_id][-1].verdicts[annotator] for task_id in texts}
        answers = {name: str(own.reason_code) for name, own in last.items() if own is not None}
        by_judge[_judge_name(annotator)] = answers
    return disputes(Topic.CONTAINMENT, texts, by_judge)


def _judge_name(annotator: str) -> str:
    return annotator if annotator == RULES else f"model:{annotator}"
