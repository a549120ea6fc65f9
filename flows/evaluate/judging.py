"""The process in which a judge is asked: it reads a release and attempts, but no key or vault.

python -m flows.evaluate.judging      reads the order from standard input, as JSON
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from construction.grading.logs import grade_attempts, print_summaries, summaries
from construction.grading.retrieval_tables import write_retrieval_tables
from construction.judging.calls.contracts import LlmConfig, LlmRuntime, Mode, Usage
from construction.judging.calls.store import REPLIES
from construction.judging.contracts import ModelStagesConfig
from construction.judging.judged_attempts import JudgedRun, judge_run, packets, rated_pairs
from construction.judging.model.asking import model_client
from construction.judging.model.attempt_case import WORTH
from construction.judging.review import queued, recorded, write_items
from construction.repositories.tasks import with_changed_files
from data.atomic import private_dir
from data.attempts import write_tables
from data.contracts import Lane
from data.errors import InputError, ReleaseError, program
from data.randomness import release_key
from data.releases.tasks import ReleasedTasks, read_tasks, require_guarded, require_outside
from flows.evaluate.grading import require_closed_off, run_closed_off, work_closed_off
from selection.evaluation.intervals import agreement, prediction_powered

_HOME = "judging"  # below the attempts: replies, pages, packets
_REPLIES = "replies"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOrder:
    """What is judged and by whom; the fields are the options of `benchmint agents judge`.

    `hidden` are paths that the process must not be able to read.
    """

    attempts: Path
    snapshot: Path
    model: str
    base_url: str
    mode: Mode
    most_tokens: int | None
    packets: int
    seed: int
    tables: Path
    hidden: tuple[Path, ...]

    @property
    def client(self) -> LlmConfig:
        """The settings of the model client."""
        return LlmConfig(mode=self.mode, model=self.model, budget_tokens=self.most_tokens)

    @property
    def runtime(self) -> LlmRuntime:
        """Where the model answers."""
        return LlmRuntime(base_url=self.base_url)


_ORDER = TypeAdapter(JudgeOrder)


def private_of_build(snapshot: Path) -> tuple[Path, ...]:
    """Keys, vaults and originals of the build that wrote a release, where they lie beside it."""
    folder = snapshot.resolve().parent.parent / "private"
    return (folder,) if folder.is_dir() else ()


def judge(order: JudgeOrder) -> None:
    """Judge the attempts where no key can be read. Raises InputError, ClosedOffStopped.

    A judge that runs elsewhere sees a release that passed leak scan and risk gate, and no other.
    """
    require_outside(order.snapshot, order.attempts)  # replies and packets are kept beside them
    if not order.runtime.is_loopback:
        require_guarded(order.snapshot)
    run_closed_off("flows.evaluate.judging", _ORDER.dump_json(order), order.hidden)


def _work(given: bytes) -> None:
    order = _ORDER.validate_json(given)
    require_closed_off(order.hidden)
    release = read_tasks(order.snapshot)
    judged = _judged(release, order)
    _require_verdicts(judged)
    write_tables(order.tables, judged.run.attempts, judged.run.scores, release.notice_digest)
    retrieval = order.tables / "retrieval"
    write_retrieval_tables(retrieval, release, judged.run.attempts, judged.run.scores)
    _print(judged)
    print_summaries(summaries(judged.run))
    print(f"tables: {order.tables}")
    _packets(judged, order)


def _judged(release: ReleasedTasks, order: JudgeOrder) -> JudgedRun:
    private = private_dir(private_dir(order.attempts / _HOME) / "private")
    run, config = grade_attempts(release, order.attempts), order.client
    stages, kept = ModelStagesConfig(judge=config.judge), private_dir(private / "pages")
    key = _controls_key(private)
    with model_client(config, order.runtime, private / _REPLIES, masked=True) as client:
        looks = {Lane.REPOSITORIES: with_changed_files}
        return judge_run(release, run, order.attempts, client, stages, kept, key, looks)


def _controls_key(private: Path) -> bytes:
    """The key that draws the controls. Raises InputError where only the replies to it are left."""
    path, replies = private / "controls.key", private / _REPLIES
    if (replies / REPLIES).exists() and not path.exists():
        raise InputError(
            str(path), f"no key, and replies in {replies.name}/ to requests made with one",
            "that key, without which replies do not match their requests",
            f"Restore it, or move {replies.name}/ away: everything is then asked again.",
        )  # fmt: skip
    return release_key(path)


def _require_verdicts(judged: JudgedRun) -> None:
    """Raise ReleaseError where the judge came to no verdict at all: earlier scores stay."""
    parts = [part for result in judged.results for part in result.verdicts.values()]
    if parts and all(part.verdict is None for part in parts):
        reasons = Counter(str(part.reason) for part in parts)
        shown = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        raise ReleaseError(
            f"judge: found no supported verdict on any of {len(judged.cases)} attempts ({shown}); "
            "expected some. Nothing is written: choose another judge."
        )


def _print(judged: JudgedRun) -> None:
    parts = [part for result in judged.results for part in result.verdicts.values()]
    reasons = Counter(str(part.reason) for part in parts if part.reason is not None)
    addressed = sum(case.is_addressed for case in judged.cases)
    tokens = sum((result.usage for result in judged.results), Usage())
    print(f"{len(judged.cases)} attempts judged, {judged.untouched} with nothing to judge")
    print(f"tokens used by the calls: {tokens.prompt_tokens} in, {tokens.completion_tokens} out")
    print(f"{len(parts)} verdicts; attempts that address the judge: {addressed}")
    for reason, n in sorted(reasons.items()):
        print(f"{reason}: {n} verdicts")
    if unsupported := sum(part.verdict is None for part in parts):
        print(f"{unsupported} of them unsupported; they count as not met")


def _packets(judged: JudgedRun, order: JudgeOrder) -> None:
    """Write packets for people, and say how far those that came back agree with the judge."""
    home = order.attempts / _HOME
    folder = private_dir(home / "private" / "review")
    if order.packets:
        earlier = queued(folder)
        items = packets(judged, order.client.judge, order.packets, order.seed, earlier)
        write_items(folder, items)
        new = len(items) - len(earlier)
        print(f"{len(items)} criteria for people, {new} of them new:")
        print(f"{program()} agents review export SHEET --out {home}")
    decisions = recorded(folder)
    if not decisions:
        return
    own, persons = rated_pairs(judged, decisions)
    worth = {str(verdict): value for verdict, value in WORTH.items()}
    seen = agreement([worth[v] for v in own], [worth[v] for v in persons], (own, persons))
    print(
        f"judge and people on {seen.n} criteria: mean error {_shown(seen.mean_error)}, "
        f"Spearman {_shown(seen.spearman)}, kappa {_shown(seen.kappa)}"
    )
    _print_corrected(judged, own, persons)


def _print_corrected(judged: JudgedRun, own: list[str], persons: list[str]) -> None:
    """The mean of all judged parts as people would give it, from those that they judged."""
    every = Counter(str(p.counted) for result in judged.results for p in result.verdicts.values())
    others = (every - Counter(own)).elements()  # people did not judge these
    worth = {str(verdict): value for verdict, value in WORTH.items()}
    alone, judge, people = (np.array([worth[v] for v in vs]) for vs in (others, own, persons))
    seen = prediction_powered(alone, judge, people)
    print(
        f"estimated mean of all judged criteria if judged by people: {_shown(seen.mean)} "
        f"({_shown(seen.low)} to {_shown(seen.high)}, prediction-powered)"
    )


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    work_closed_off(_work)
