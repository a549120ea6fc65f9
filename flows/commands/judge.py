"""`benchmint judge`: a model scores what graders cannot, and people check a part of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from construction.judging.calls.contracts import LlmConfig, LlmRuntime, Mode
from data.attempts import TABLES_FOLDER
from data.errors import InputError

if TYPE_CHECKING:
    from construction.judging.judged_attempts import JudgedRun

HOME = "judging"  # below the attempts: replies, pages, packets


def judge_command(
    attempts: Annotated[Path, typer.Argument(help="A folder of attempts, of one release.")],
    snapshot: Annotated[Path, typer.Option(help="The release that was run, with private/.")],
    model: Annotated[str, typer.Option(help="The judge: one for all of a leaderboard.")],
    base_url: Annotated[
        str, typer.Option(help="Address of an OpenAI-compatible server.")
    ] = "http://127.0.0.1:8000/v1",
    mode: Annotated[
        Mode, typer.Option(help="record asks and keeps each reply; replay uses kept replies alone.")
    ] = Mode.RECORD,
    most_tokens: Annotated[
        int | None, typer.Option(min=1, help="The most tokens that all questions may cost.")
    ] = None,
    packets: Annotated[
        int, typer.Option(min=0, help="Attempts for people to judge too (`review export`).")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Draws the packets.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the tables; by default ATTEMPTS/scores.")
    ] = None,
) -> None:
    """Score the open parts of attempts, and write the tables anew; judged replies are kept."""
    from construction.grading.logs import grade_attempts, print_summaries, summaries
    from construction.grading.retrieval_tables import write_retrieval_tables
    from data.attempts import write_tables
    from data.releases.tasks import require_outside

    tables = out or attempts / TABLES_FOLDER
    require_outside(snapshot, tables)
    runtime = LlmRuntime(base_url=base_url)
    config = LlmConfig(mode=mode, model=model, budget_tokens=most_tokens)
    if mode not in (Mode.RECORD, Mode.REPLAY, Mode.BATCH):
        raise InputError("--mode", mode, "record, replay or batch", "Choose one of these.")
    release = _release(snapshot, attempts, runtime)
    judged = _judged(release, grade_attempts(release, attempts), attempts, config, runtime)
    write_tables(tables, judged.run.attempts, judged.run.scores, release.notice_digest)
    write_retrieval_tables(tables / "retrieval", release, judged.run.attempts, judged.run.scores)
    _print(judged)
    print_summaries(summaries(judged.run))
    print(f"tables: {tables}")
    _packets(judged, attempts / HOME, config.judge, packets, seed)


def _release(snapshot: Path, attempts: Path, runtime: LlmRuntime) -> Any:
    """The release; a judge that runs elsewhere sees one that passed leak scan and risk gate."""
    from data.releases.guarded import require_guarded
    from data.releases.tasks import read_tasks, require_outside

    require_outside(snapshot, attempts)  # replies and packets are kept beside them
    return read_tasks(snapshot) if runtime.is_loopback else require_guarded(snapshot)


def _judged(
    release: Any, run: Any, attempts: Path, config: LlmConfig, runtime: LlmRuntime
) -> JudgedRun:
    from construction.judging.contracts import ModelStagesConfig
    from construction.judging.judged_attempts import judge_run
    from construction.judging.model.asking import model_client
    from data.atomic import private_dir

    private = private_dir(private_dir(attempts / HOME) / "private")
    stages, kept = ModelStagesConfig(judge=config.judge), private_dir(private / "pages")
    with model_client(config, runtime, private / "replies", masked=True) as client:
        return judge_run(release, run, attempts, client, stages, kept)


def _print(judged: JudgedRun) -> None:
    from collections import Counter

    faults = Counter(result.reason for result in judged.results if result.value is None)
    unsupported = sum(
        part.verdict is None
        for result in judged.results
        if result.value is not None
        for part in result.value.values()
    )
    addressed = sum(case.is_addressed for case in judged.cases)
    print(f"{len(judged.cases)} attempts judged, {judged.untouched} with nothing delivered")
    print(f"verdicts without evidence: {unsupported}; attempts that address the judge: {addressed}")
    for reason, n in sorted(faults.items(), key=str):
        print(f"no usable verdict on {n} attempts: {reason}")


def _packets(judged: JudgedRun, home: Path, judge: str, most: int, seed: int) -> None:
    """Write packets for people, and say how far those that came back agree with the judge."""
    from construction.judging.judged_attempts import packets, rated_pairs
    from construction.judging.model.attempts import WORTH
    from construction.judging.review import read_items, recorded, write_items
    from data.atomic import private_dir
    from selection.evaluation.raters import agreement

    folder = private_dir(home / "private" / "review")
    if most:
        items = packets(judged, judge, most, seed)
        write_items(folder, items)
        print(f"{len(items)} criteria for people: benchmint review export SHEET --out {home}")
    decisions = recorded(folder)
    if not decisions:
        return
    own, persons = rated_pairs(read_items(folder), decisions, judge)
    worth = {str(verdict): value for verdict, value in WORTH.items()}
    seen = agreement([worth[v] for v in own], [worth[v] for v in persons], (own, persons))
    print(
        f"judge and people on {seen.n} criteria: mean error {_shown(seen.mean_error)}, "
        f"Spearman {_shown(seen.spearman)}, kappa {_shown(seen.kappa)}"
    )


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
