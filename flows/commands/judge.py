"""`benchmint agents judge`: a model scores what graders cannot, and people check a part of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from construction.judging.calls.contracts import Mode
from data.attempts import TABLES_FOLDER
from data.errors import InputError


def judge_command(
    attempts: Annotated[Path, typer.Argument(help="Folder of attempts at one release.")],
    snapshot: Annotated[Path, typer.Option(help="The release that was run, with private/.")],
    model: Annotated[
        str, typer.Option(help="The judge model: the same one for a whole leaderboard.")
    ],
    base_url: Annotated[
        str, typer.Option(help="URL of an OpenAI-compatible server.")
    ] = "http://127.0.0.1:8000/v1",
    mode: Annotated[
        Mode,
        typer.Option(
            help="record: call the model and keep replies; replay: use only kept replies."
        ),
    ] = Mode.RECORD,
    most_tokens: Annotated[
        int | None, typer.Option(min=1, help="Maximum tokens for all questions together.")
    ] = None,
    packets: Annotated[
        int,
        typer.Option(min=0, help="Number of attempts for people to judge too (`review export`)."),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed for drawing the packets.")] = 0,
    hide: Annotated[
        list[Path] | None,
        typer.Option(
            help="Key or folder to hide from the judge process; repeatable. "
            "The private folder of the release's build is always hidden."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output directory for tables; default: ATTEMPTS/scores.")
    ] = None,
) -> None:
    """Score what a program cannot grade, and rewrite the tables; replies are kept."""
    from data.releases.tasks import require_outside
    from flows.evaluate.judging import JudgeOrder, judge, private_of_build

    tables = out or attempts / TABLES_FOLDER
    require_outside(snapshot, tables)
    if mode not in (Mode.RECORD, Mode.REPLAY, Mode.BATCH):
        raise InputError("--mode", mode, "record, replay or batch", "Choose one of these.")
    judge(
        JudgeOrder(
            attempts=attempts, snapshot=snapshot, model=model, base_url=base_url, mode=mode,
            most_tokens=most_tokens, packets=packets, seed=seed, tables=tables,
            hidden=tuple(path.resolve() for path in (*private_of_build(snapshot), *(hide or ()))),
        )
    )  # fmt: skip
