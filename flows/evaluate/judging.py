"""The process in which a judge is asked: it reads a release and attempts, but no key or vault.

python -m flows.evaluate.judging      reads the order from standard input, as JSON
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from construction.grading.logs import grade_attempts, print_summaries, summaries
from construction.grading.retrieval_tables import write_retrieval_tables
from construction.judging.calls.contracts import LlmConfig, LlmRuntime, Mode, Usage
from construction.judging.contracts import ModelStagesConfig
from construction.judging.judged_attempts import JudgedRun, judge_run, packets, rated_pairs
from construction.judging.model.asking import model_client
from construction.judging.model.attempt_case import WORTH
from construction.judging.review import read_items, recorded, write_items
from data.atomic import private_dir
from data.attempts import write_tables
from data.randomness import release_key
from data.releases.guarded import require_guarded
from data.releases.tasks import ReleasedTasks, read_tasks, require_outside
from flows.evaluate.closed_off import require_closed_off, run_closed_off, work_closed_off
from selection.evaluation.raters import agreement

HOME = "judging"  # below the attempts: replies, pages, packets


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOrder:
    """What is judged and by whom; the fields are the options of `benchmint judge`.

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
    write_tables(order.tables, judged.run.attempts, judged.run.scores, release.notice_digest)
    retrieval = order.tables / "retrieval"
    write_retrieval_tables(retrieval, release, judged.run.attempts, judged.run.scores)
    _print(judged)
    print_summaries(summaries(judged.run))
    print(f"tables: {order.tables}")
    _packets(judged, order)


def _judged(release: ReleasedTasks, order: JudgeOrder) -> JudgedRun:
    private = private_dir(private_dir(order.attempts / HOME) / "private")
    run, config = grade_attempts(release, order.attempts), order.client
    stages, kept = ModelStagesConfig(judge=config.judge), private_dir(private / "pages")
    key = release_key(private / "controls.key")
    with model_client(config, order.runtime, private / "replies", masked=True) as client:
        return judge_run(release, run, order.attempts, client, stages, kept, key)


def _print(judged: JudgedRun) -> None:
    faults = Counter(result.reason for result in judged.results if result.value is None)
    parts = [part for result in judged.results for part in (result.value or {}).values()]
    reasons = Counter(str(part.reason) for part in parts if part.reason is not None)
    addressed = sum(case.is_addressed for case in judged.cases)
    tokens = sum((result.usage for result in judged.results), Usage())
    print(f"{len(judged.cases)} attempts judged, {judged.untouched} with nothing delivered")
    print(f"tokens when asked: {tokens.prompt_tokens} in, {tokens.completion_tokens} out")
    print(f"{len(parts)} verdicts, attempts that address the judge: {addressed}")
    for reason, n in sorted(reasons.items()):
        print(f"{reason}: {n} verdicts")
    for fault, n in sorted(faults.items(), key=str):
        print(f"no usable verdict on {n} attempts: {fault}")


def _packets(judged: JudgedRun, order: JudgeOrder) -> None:
    """Write packets for people, and say how far those that came back agree with the judge."""
    home, judge_name = order.attempts / HOME, order.client.judge
    folder = private_dir(home / "private" / "review")
    if order.packets:
        items = packets(judged, judge_name, order.packets, order.seed)
        write_items(folder, items)
        print(f"{len(items)} criteria for people: benchmint review export SHEET --out {home}")
    decisions = recorded(folder)
    if not decisions:
        return
    own, persons = rated_pairs(read_items(folder), decisions, judge_name)
    worth = {str(verdict): value for verdict, value in WORTH.items()}
    seen = agreement([worth[v] for v in own], [worth[v] for v in persons], (own, persons))
    print(
        f"judge and people on {seen.n} criteria: mean error {_shown(seen.mean_error)}, "
        f"Spearman {_shown(seen.spearman)}, kappa {_shown(seen.kappa)}"
    )


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    work_closed_off(_work)
