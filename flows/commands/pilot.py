"""`agents pilot`: agents on the whole pool, their score matrix, and the release it leads to."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from data.errors import InputError, require_extra
from flows.commands.build import checked_settings, print_built, print_plan
from flows.commands.options import Config, Key, given
from flows.server import own_server

if TYPE_CHECKING:
    from flows.evaluate.request import Request
    from flows.recipe import Settings


def pilot_command(
    sessions: Annotated[
        list[Path] | None,
        typer.Argument(help="Session logs or folders of logs; with none, pilots the demo."),
    ] = None,
    config: Config = None,
    out: Annotated[Path | None, typer.Option(help="Build directory.")] = None,
    key: Key = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Pilot agent, as in `benchmint evaluate`; repeatable. Agents that use a model run "
            "once per model. Default without models: scripted agents, which measure nothing."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Model for the pilots (provider/model); repeatable."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="Any other agent: a command line to run in the sandbox.")
    ] = None,
    mcp: Annotated[
        bool, typer.Option("--mcp", help="With --command: it reads MCP servers from $MCP_CONFIG.")
    ] = False,
    programs: Annotated[
        Path | None, typer.Option(help="Folder with the agents' programs, as for `evaluate`.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, max=100, help="Attempts per task.")] = 1,
    at_once: Annotated[
        int, typer.Option(min=1, max=500, help="Number of attempts to run at once.")
    ] = 4,
    release: Annotated[
        bool, typer.Option("--release", help="Build the next release from the scores.")
    ] = False,
    date: Annotated[
        str | None,
        typer.Option(help="Date of the next release (YYYY-MM-DD); without one, it is a revision."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and why; write nothing.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bars and no summary.")
    ] = False,
) -> None:
    """Run pilots with no access to keys, write their scores, and build a release from them."""
    require_extra("evaluate")
    from flows.evaluate.request import requests_of

    overrides = given(sessions=sessions, out=out, key_file=key, quiet=quiet or None)
    released = _day(date)
    common = {
        "out": Path(), "base_url": base_url, "epochs": epochs, "at_once": at_once,
        "command": command, "mcp": mcp, "programs": programs,
    }  # fmt: skip
    requests = requests_of(Path(), agent or [], model or [], common)
    if dry_run:
        _print_pilots(checked_settings(config, {"runtime": overrides}), requests)
        return
    settings = checked_settings(config, {"runtime": overrides})
    with own_server():
        _pilot(settings, requests, release=release or released is not None, released=released)


def _day(text: str | None) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError:
        raise InputError("--date", repr(text), "YYYY-MM-DD", "Correct --date.") from None


def _pilot(
    settings: Settings, requests: list[Request], *, release: bool, released: dt.date | None
) -> None:
    from flows.evaluate.pilots import next_release, pilot

    recipe, runtime = settings.recipe, settings.runtime
    done = pilot(recipe, runtime, requests)
    print(f"pilots on {len(done.pool.tasks)} candidates: {done.attempts}")
    print(f"scores: {done.scores}")
    built = next_release(recipe, runtime, done, released) if release else None
    if built is not None and not runtime.quiet:
        print_built(built)


def _print_pilots(settings: Settings, requests: list[Request]) -> None:
    """What would run: the stages that lead to the pool, then the pilots."""
    print_plan(settings)
    names = ", ".join(request.title for request in requests)
    print(f"Then {len(requests)} pilots would attempt the whole pool: {names}")
