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
        typer.Argument(help="Session logs or folders of them; if none, the demo is piloted."),
    ] = None,
    config: Config = None,
    out: Annotated[Path | None, typer.Option(help="The directory of the build.")] = None,
    key: Key = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="A pilot, as of `benchmint evaluate`; may be given several times. Those that ask "
            "a model run on each. By default without models: scripted ones, which measure nothing."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model of the pilots (provider/model); may be given several times."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible server.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="Any other agent: a command line that works in the sandbox.")
    ] = None,
    mcp: Annotated[
        bool, typer.Option("--mcp", help="With --command: it reads the MCP servers of $MCP_CONFIG.")
    ] = False,
    programs: Annotated[
        Path | None, typer.Option(help="A folder with the agents' programs, as of `evaluate`.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, max=100, help="Attempts at each task.")] = 1,
    at_once: Annotated[
        int, typer.Option(min=1, max=500, help="How many attempts run at once.")
    ] = 4,
    release: Annotated[
        bool, typer.Option("--release", help="Build the next release from the scores.")
    ] = False,
    date: Annotated[
        str | None, typer.Option(help="Its date (YYYY-MM-DD); without one it is a revision.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and why; write nothing.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bars and no summary.")
    ] = False,
) -> None:
    """Run pilots where no key can be read, write their scores, and build a release from them."""
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
        raise InputError("--date", repr(text), "YYYY-MM-DD", "Give another --date.") from None


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
    print(f"Then {len(requests)} pilots would work on all of the pool: {names}")
