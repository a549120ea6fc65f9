"""`benchmint agents skills`: do skills that one model distils help another at like tasks?"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.errors import InputError, require_extra
from data.progress import keep_telling
from flows.commands.evaluate import ATTEMPTS, Snapshot
from flows.commands.options import WriteTo

if TYPE_CHECKING:
    from flows.evaluate.request import Request
    from flows.evaluate.skills import Order, Study


def skills_command(
    snapshot: Snapshot,
    consumers: Annotated[
        str,
        typer.Option(help="Agents, each with its model: codex:openai/m1,react:openai/m2."),
    ],
    creators: Annotated[
        str,
        typer.Option(help="Models that write skills, in Inspect's form: openai/m1,openai/m2."),
    ],
    base_url: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server for all models.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--class", help="Only this task class; repeatable."),
    ] = None,
    in_domain: Annotated[
        int, typer.Option(min=1, help="Maximum number of tasks to distil a skill from.")
    ] = 10,
    epochs: Annotated[int, typer.Option(min=1, max=100, help="Attempts per task.")] = 1,
    at_once: Annotated[
        int, typer.Option(min=1, max=500, help="Number of attempts to run at once.")
    ] = 4,
    attempt_seconds: Annotated[
        int | None, typer.Option(min=1, max=604_800, help="Time limit per attempt.")
    ] = None,
    attempt_tokens: Annotated[
        int | None, typer.Option(min=1, max=1 << 40, help="Maximum tokens per attempt.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="File with prices for all models.")] = None,
    programs: Annotated[
        Path | None, typer.Option(help="Folder with the agents' programs, as for `evaluate`.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Model that scores what only a judge can.")
    ] = None,
    judge_url: Annotated[
        str, typer.Option(help="URL of the judge's OpenAI-compatible server.")
    ] = "http://127.0.0.1:8000/v1",
    attempts: Annotated[
        Path, typer.Option(help="Attempts without skills; those from `evaluate` count.")
    ] = ATTEMPTS,
    out: WriteTo = Path("skills"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run; write nothing.")
    ] = False,
) -> None:
    """Run consumers with and without creators' skills, and write how their scores change."""
    require_extra("evaluate")
    from flows.evaluate.request import Request
    from flows.evaluate.skills import Order, study

    own = Request(
        snapshot=snapshot, out=attempts, base_url=base_url, epochs=epochs, at_once=at_once,
        attempt_seconds=attempt_seconds, attempt_tokens=attempt_tokens, prices=prices,
        programs=programs,
    )  # fmt: skip
    models = _names("--creators", creators)
    order = Order(
        snapshot=snapshot, attempts=attempts, out=out,
        consumers=tuple(_consumer(own, name) for name in _names("--consumers", consumers)),
        creators=tuple(
            Request(snapshot=snapshot, out=out, model=name, base_url=base_url, prices=prices)
            for name in models
        ),
        classes=tuple(only or ()), in_domain=in_domain, judge=judge, judge_url=judge_url,
    )  # fmt: skip
    if dry_run:
        _print_plan(order)
        return
    keep_telling()
    _write(study(order), out)


def _names(option: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        expected = "comma-separated names, each once"
        raise InputError(option, repr(text), expected, "Correct it.")
    return names


def _consumer(common: Request, name: str) -> Request:
    """`agent:model`, or an address without a model. Raises InputError."""
    if name.startswith(("http://", "https://")):
        return replace(common, agent=name, base_url=None, prices=None, attempt_tokens=None)
    agent, _, model = name.partition(":")
    if not model:
        expected = "AGENT:MODEL, such as codex:openai/some-model, or a URL"
        raise InputError("--consumers", repr(name), expected, "Give both parts.")
    return replace(common, agent=agent, model=model)


def _print_plan(order: Order) -> None:
    from flows.evaluate.plan import left_out
    from flows.evaluate.skills import plans_without, prepare

    release, classes, reasons = prepare(order)
    learned = sum(len(of.in_domain) for of in classes)
    tested = sum(len(of.held_out) for of in classes)
    for of in classes:
        print(f"{of.name}: {len(of.in_domain)} in-domain, {len(of.held_out)} held-out ({of.split})")
    for name, reason in reasons.items():
        print(f"left out: {name}: {reason}")
    n, m = len(order.consumers), len(order.creators)
    epochs = order.consumers[0].epochs
    print(
        f"{release.snapshot}: {n * (learned + tested) * epochs} attempts without skills, "
        f"{n * m * len(classes)} skills, {n * m * tested * epochs} attempts with skills"
    )
    for plan in plans_without(order, classes):
        for reason, n_tasks in Counter(left_out(plan).values()).most_common():
            print(f"left out for {plan.configuration.name}: {n_tasks} tasks: {reason}")
    print("Nothing was written and no model was called.")


def _write(made: Study, out: Path) -> None:
    from selection.evaluation.transfer import (
        matrix,
        transfer_markdown,
        transfer_record,
        write_transfer,
    )

    record = transfer_record(_about(made), matrix(made.pairs))
    paths = write_transfer(record, out)
    print(transfer_markdown(record), end="")
    print("\n".join(f"written: {path}" for path in paths))
    print(f"written: {out / 'private'} (private: skills, attempts and traces)")


def _about(made: Study) -> dict[str, Any]:
    """All but the figures: a skill by its digest and size, never its text."""
    skills = [
        {
            "creator": written.creator, "consumer": written.consumer,
            "task_class": written.task_class, "name": written.name, "digest": written.digest,
            "made_of": written.made_of, "attempts": len(written.attempts),
            "characters": len(written.instructions), "tokens": written.tokens,
            "cost": written.cost,
        }
        for written in made.skills
    ]  # fmt: skip
    return {
        "release": made.release,
        "release_digest": made.release_digest,
        "judge": made.judge,
        "consumer_names": list(made.consumers),
        "creator_names": list(made.creators),
        "classes": [asdict(of) for of in made.classes],
        "pairs": [asdict(pair) for pair in made.pairs],
        "skills": skills,
        "uses": [asdict(use) for use in made.uses],
        "left_out": [asdict(row) for row in made.left_out],
    }
