"""Rounds of annotators over releases: who said what of a case, kept for the next round.

The log (`rounds.jsonl`, private) has a line per release, in the order in which releases were
begun. A release goes on from what the lines up to its own say, so building it again, or going on
with it after a kill, opens no further round. A case whose text or whose annotators changed begins
anew.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from construction.judging.consensus import ConsensusConfig, Endorsed, Opinion
from construction.judging.contracts import Case, Containment, ContainmentReason
from construction.judging.model.asking import ask
from construction.judging.model.containment import SecondOpinion, containment_stage
from construction.judging.model.contracts import Asker, Judged, ModelStagesConfig
from construction.judging.model.prompt import Cleaner
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest
from data.errors import InputError
from data.snapshot.pages import amount

ROUNDS = "rounds.jsonl"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Round(_Record):
    """What the annotators said of a case in one round; None: no usable answer."""

    item_id: Annotated[str, Field(min_length=1, max_length=300)]
    case: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # digest of what they read
    round: Annotated[int, Field(ge=1)]
    verdicts: dict[str, Containment | None]

    @property
    def key(self) -> tuple[str, str, int, tuple[str, ...]]:
        return self.item_id, self.case, self.round, tuple(sorted(self.verdicts))


class ReleaseRounds(_Record):
    """A line of the log: the rounds that were held for a release."""

    release: str
    rounds: tuple[Round, ...]


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
    """Write the log in one step, for its owner's eyes."""
    lines = b"".join(canonical_json(one) + b"\n" for one in log)
    write_bytes(folder / ROUNDS, lines, mode=PRIVATE_FILE)


def with_release(
    log: Sequence[ReleaseRounds], release: str, held: Iterable[Round]
) -> list[ReleaseRounds]:
    """The log with `held` in the line of `release`, the last one if it has none yet."""
    releases = {one.release: {each.key: each for each in one.rounds} for one in log}
    line = releases.setdefault(release, {})
    line.update({one.key: one for one in held})
    return [
        ReleaseRounds(release=name, rounds=tuple(line[key] for key in sorted(line)))
        for name, line in releases.items()
    ]


def rounds_of(
    log: Sequence[ReleaseRounds], release: str, cases: Sequence[Case], config: ConsensusConfig
) -> dict[str, list[Round]]:
    """By task id, in order: the rounds that count for `release`, of cases as they are now."""
    names = [held.release for held in log]
    until = names.index(release) + 1 if release in names else len(names)
    known = {case.candidate.task_id: digest(case) for case in cases}
    by_item: dict[str, dict[int, Round]] = defaultdict(dict)
    for held in (each for line in log[:until] for each in line.rounds):
        if known.get(held.item_id) == held.case and held.verdicts.keys() == set(config.annotators):
            by_item[held.item_id].setdefault(held.round, held)
    return {item: [by_item[item][number] for number in sorted(by_item[item])] for item in known}


def opinions(rounds: Mapping[str, Sequence[Round]]) -> list[Opinion]:
    """What `consensus.route` takes: the reason codes that were given."""
    return [
        Opinion(one.item_id, annotator, str(told.reason_code), one.round)
        for held in rounds.values()
        for one in held
        for annotator, told in sorted(one.verdicts.items())
        if told is not None
    ]


def held_rounds(
    cases: Sequence[Case],
    judged_by: Mapping[str, Sequence[Judged[Containment]]],
    known: Mapping[str, Sequence[Round]],
) -> list[Round]:
    """The next round of each case, from the verdicts of each annotator in the cases' order."""
    return [
        Round(
            item_id=case.candidate.task_id,
            case=digest(case),
            round=1 + max((one.round for one in known[case.candidate.task_id]), default=0),
            verdicts={annotator: judged[row].value for annotator, judged in judged_by.items()},
        )
        for row, case in enumerate(cases)
    ]


def agreed(held: Sequence[Round], endorsed: Endorsed, order: Sequence[str]) -> Containment:
    """The verdict of an endorsed case: the first that gives the answer, with the first prompt.

    Of a case that the review endorsed the last round is read; it need not hold the answer.
    """
    last_round = next((each for each in held if each.round == endorsed.round), held[-1])
    answer = ContainmentReason(endorsed.answer)
    given = [each for each in (last_round.verdicts[name] for name in order) if each is not None]
    same = [each for each in given if each.reason_code is answer]
    prompts = [each.rewritten_prompt for each in same if each.rewritten_prompt is not None]
    if not same:
        is_good = answer is ContainmentReason.SELF_CONTAINED
        return Containment(self_contained=is_good, reason_code=answer, brief_reason="endorsed")
    return same[0].model_copy(update={"rewritten_prompt": prompts[0] if prompts else None})


def judge_anew(
    cases: Sequence[Case],
    earlier: Mapping[str, Sequence[Round]],
    client: Asker,
    config: ModelStagesConfig,
    second: SecondOpinion,
) -> list[Judged[Containment]]:
    """A model's verdicts; it is told how the verdicts of each earlier round were spread."""
    stage = containment_stage(config, second)

    def content(case: Case, cleaner: Cleaner) -> dict[str, Any]:
        spreads = [_spread(one) for one in earlier[case.candidate.task_id]]
        return stage.content(case, cleaner) | ({"earlier_rounds": spreads} if spreads else {})

    return ask(replace(stage, content=content), cases, client)


def _spread(held: Round) -> dict[str, int]:
    given = Counter(str(told.reason_code) for told in held.verdicts.values() if told is not None)
    return dict(sorted(given.items()))
