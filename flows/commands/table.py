"""The commands of `benchmint`: what each is for, the module that is loaded for it, and the options
that several of them share.

Workers of sharded stages import this module, so it holds only names to stay cheap to import.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


@dataclass(frozen=True, slots=True)
class _Command:
    """A command: its function in a module of `flows.commands`, its line of help, its old name."""

    module: str
    function: str
    about: str
    before: str = ""  # how it was called in the release before this one


@dataclass(frozen=True, slots=True)
class _Group:
    """Commands under one word, with the line of help of the group."""

    about: str
    members: Mapping[str, _Command | _Group]


def _command(name: str, module: str, about: str, before: str | None = None) -> _Command:
    """A command whose function is named after `name`; it once was called `before`, or `name`."""
    function = f"{name.replace('-', '_')}_command"
    return _Command(module, function, about, name if before is None else before)


COMMANDS: Mapping[str, _Command | _Group] = {
    "build": _command("build", "build", "build and verify a release"),
    "verify": _command("verify", "releases", "check a snapshot"),
    "audit": _command("audit", "audit", "show why something was rejected"),
    "sql": _command("sql", "workspace", "query the staging database"),
    "explore": _command("explore", "workspace", "open a DuckDB shell on the newest run"),
    "metrics": _command("metrics", "workspace", "print a run's items, seconds, bytes and cost"),
    "evaluate": _command("evaluate", "evaluate", "run an agent on a release"),
    "grade": _command("grade", "evaluate", "grade attempts again"),
    "leaderboard": _command(
        "leaderboard", "leaderboard", "write a leaderboard from graded attempts"
    ),
    "lint": _command("lint", "lint", "find defects in tasks, Benchmint's or third-party"),
    "demo": _command("demo", "workspace", "write a demo workspace with planted defects"),
    "doctor": _command("doctor", "workspace", "check that everything needed is installed"),
    "release": _Group(
        "list, sign, publish, compare, export and correct releases",
        {
            "list": _command("releases", "releases", "list and verify releases"),
            "sign": _command("sign", "releases", "sign a snapshot"),
            "publish": _command(
                "publish", "releases", "copy a signed release to a folder or bucket"
            ),
            "diff": _command("diff", "releases", "show what changed between two releases"),
            "errata": _command(
                "errata", "releases", "withdraw or correct tasks in a published release"
            ),
            "purge": _command("purge", "releases", "remove data past its retention period"),
            "export": _Group(
                "export a release for other runners",
                {
                    "inspect": _command(
                        "export-inspect", "releases", "as one Inspect task", "export inspect"
                    ),
                    "harbor": _command(
                        "export-harbor",
                        "releases",
                        "as one folder per task, for Harbor",
                        "export harbor",
                    ),
                    "swe-bench": _command(
                        "export-swe-bench",
                        "releases",
                        "repository tasks, as SWE-bench records",
                        "",
                    ),
                },
            ),
        },
    ),
    "privacy": _Group(
        "mask files, anonymize tables, find private values",
        {
            "mask": _command("mask", "anonymize", "write masked copies of files"),
            "words": _Command(
                "anonymize", "words_command", "decide on words that masking left open"
            ),
            "scan": _command("scan", "anonymize", "search files for private values"),
            "restore": _command("restore", "anonymize", "undo masking with the vault"),
            "profile": _command("profile", "anonymize", "propose a role for each table column"),
            "perturb": _command("perturb", "anonymize", "write anonymized tables"),
            "seal": _command("seal", "anonymize", "destroy the release key and mapping"),
        },
    ),
    "lane": _Group(
        "run a single lane: signals, workflows, questions, analytics, selection",
        {
            "signals": _command(
                "signals", "lanes", "derive weights and ideas from popularity data"
            ),
            "workflows": _command(
                "workflows", "lanes", "make executable tasks from popularity data"
            ),
            "questions": _command("questions", "lanes", "make questions from financial statements"),
            "convert-xbrl": _command(
                "convert-xbrl", "lanes", "convert iXBRL and ESEF packages to xBRL-JSON", ""
            ),
            "analytics": _command(
                "analytics", "analytics", "make analytics tasks over a file environment"
            ),
            "profile": _Command(
                "analytics", "profile_command", "draft or check an environment declaration"
            ),
            "select": _command("select", "lanes", "select the best subset from a score matrix"),
            "pages": _Group(
                "build folders of web pages for agents",
                {
                    "import": _command(
                        "pages-import", "lanes", "import saved pages", "pages import"
                    ),
                    "statements": _command(
                        "pages-statements",
                        "lanes",
                        "render a release's statements as pages",
                        "pages statements",
                    ),
                },
            ),
        },
    ),
    "agents": _Group(
        "pilots, judges, submissions, and services for agents",
        {
            "pilot": _command(
                "pilot", "agents", "run pilots on the pool and build a release from their scores"
            ),
            "judge": _command("judge", "agents", "score what only a judge can"),
            "skills": _command("skills", "agents", "measure the effect of model-written skills"),
            "review": _Group(
                "decide cases that judges disagree on",
                {
                    "export": _command(
                        "review-export",
                        "agents",
                        "write open cases to a sheet",
                        "review export",
                    ),
                    "import": _command(
                        "review-import", "agents", "record decisions from a sheet", "review import"
                    ),
                },
            ),
            "rules": _command(
                "rules-check", "agents", "check an output folder against hard rules", "rules check"
            ),
            "services": _command(
                "services", "workspace", "start a workflow task's services to try out"
            ),
            "tables": _command("serve-tables", "workspace", "serve statements to agents over MCP"),
            "plan": _command(
                "plan", "leaderboard", "estimate how many tasks tell two agents apart"
            ),
            "link": _command("link", "leaderboard", "put the scores of two snapshots on one scale"),
            "submit": _command("submit", "evaluate", "bundle attempts for a leaderboard"),
            "check": _command("check", "evaluate", "check and regrade a submission"),
            "trajectories": _command(
                "export-atif", "workspace", "write sessions as ATIF trajectories"
            ),
        },
    ),
}


def _commands(
    within: Mapping[str, _Command | _Group] = COMMANDS, before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], _Command]]:
    """Every command with the words that call it."""
    for name, member in within.items():
        if isinstance(member, _Command):
            yield (*before, name), member
        else:
            yield from _commands(member.members, (*before, name))


# The words that called a command in the release before this one, and those that call it now.
MOVED = {
    tuple(member.before.split()): words
    for words, member in _commands()
    if member.before and tuple(member.before.split()) != words
}

# Commands that find what an earlier run of theirs has finished.
GOES_ON = frozenset({"build", "evaluate", "skills", "pilot", "judge"})

# A query that begins with a comment: a blank before it, and it is not taken for an option.
_SQL_COMMENT = re.compile(r"--(\s|[^=\n]*\n)")


class _LateCommand(TyperCommand):
    """A name and a line of help; the module is imported when the command is called."""

    def __init__(self, name: str, short_help: str, module: str, function: str) -> None:
        super().__init__(name, short_help=short_help)
        self._module, self._function = f"flows.commands.{module}", function

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The context of the real command, which then is the one that runs.

        Typer has no public name for the type of the contexts it makes, hence `Any`.
        """
        args = [f" {text}" if _SQL_COMMENT.match(text) else text for text in args]
        return self._load().make_context(info_name, args, parent, **extra)

    def _load(self) -> TyperCommand:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(self.name)(getattr(import_module(self._module), self._function))
        command = get_command(app)
        assert isinstance(command, TyperCommand)
        return command


class CommandGroup(TyperGroup):
    """A group that prints its help and exits with 2 when it is called without arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments that remain after the options of the group."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            raise typer.Exit(2)
        return super().parse_args(ctx, args)


def add_commands(group: TyperGroup, members: Mapping[str, _Command | _Group] = COMMANDS) -> None:
    """Put every command into the group, below groups of their own where it belongs to one."""
    for name, member in members.items():
        if isinstance(member, _Command):
            group.add_command(_LateCommand(name, member.about, member.module, member.function))
        else:
            inner = CommandGroup(name=name, help=member.about, rich_markup_mode=None)
            add_commands(inner, member.members)
            group.add_command(inner)


def renamed(arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The arguments with an old name replaced by the words of today, and these; none: unchanged."""
    first = next((i for i, text in enumerate(arguments) if not text.startswith("-")), 0)
    for length in (2, 1):
        words = MOVED.get(tuple(arguments[first : first + length]))
        if words is not None:
            return [*arguments[:first], *words, *arguments[first + length :]], words
    return list(arguments), ()


WORKSPACE = Path("workspace")

BuiltInto = Annotated[Path, typer.Option(help="Build directory.")]
WriteTo = Annotated[Path, typer.Option(help="Output directory.")]
Config = Annotated[Path | None, typer.Option(help="Configuration file (TOML).")]
Masking = Annotated[Path | None, typer.Option(help="Configuration file with a [masking] section.")]
Key = Annotated[Path | None, typer.Option(help="Release key file; created on first use.")]
Approvals = Annotated[
    Path | None, typer.Option(help="Approved pictures and PDFs: one SHA-256 per line.")
]
PrivateValues = Annotated[
    Path | None,
    typer.Option(
        help="File of additional values to mask, one per line, optionally after a kind and a tab."
    ),
]
Reviewed = Annotated[
    Path | None,
    typer.Option(help="private/words.csv from an earlier run, with your decision on each word."),
]
Sec = Annotated[
    list[Path] | None, typer.Option(help="SEC financial statement data sets: a zip or folder.")
]
Edinet = Annotated[
    list[Path] | None, typer.Option(help="EDINET summaries, with the code list in the same folder.")
]
Xbrl = Annotated[
    list[Path] | None, typer.Option(help="xBRL-JSON documents: files, zips or folders.")
]
Processes = Annotated[int, typer.Option(min=1, help="Number of processes.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def given(**values: Any) -> dict[str, Any]:
    """The options that were given, without those that are None or an empty list."""
    return {name: value for name, value in values.items() if value not in (None, [])}
