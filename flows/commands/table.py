"""The commands of `benchmint`: what each is for, and the module that is loaded when it is called.

Workers of sharded stages import the program that started them: names alone keep that cheap.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

# Name: the module of `flows.commands`, and what the command is for.
COMMANDS = {
    "build": ("build", "build and verify a release"),
    "demo": ("workspace", "write a demo workspace with planted defects"),
    "audit": ("audit", "show why something was rejected"),
    "verify": ("releases", "check a snapshot"),
    "sign": ("releases", "sign a snapshot"),
    "sql": ("staging", "query the staging tables of all runs"),
    "explore": ("staging", "open a DuckDB shell on the newest run"),
    "errata": ("errata", "withdraw or correct tasks of a published release"),
    "publish": ("publish", "copy a signed release to a folder or bucket"),
    "diff": ("releases", "show what changed between two releases"),
    "metrics": ("staging", "print items, seconds, bytes and cost of runs"),
    "doctor": ("workspace", "check that everything needed is installed"),
    "releases": ("releases", "list and verify the releases"),
    "purge": ("releases", "remove data whose retention has ended"),
    "mask": ("anonymize", "write masked copies of files"),
    "scan": ("anonymize", "search files for private values"),
    "restore": ("anonymize", "undo masking with the vault"),
    "profile": ("anonymize", "propose a role for each column of a table"),
    "perturb": ("anonymize", "write anonymized tables"),
    "seal": ("anonymize", "destroy the release key and the mapping"),
    "signals": ("lanes", "compute weights and ideas from what people install"),
    "select": ("lanes", "select the best subset of a score matrix"),
    "questions": ("lanes", "make questions from financial statements"),
    "workflows": ("workflows", "make executable tasks from what people install"),
    "analytics": ("analytics", "make analytic tasks over an environment of files"),
    "lint": ("lint", "faults of tasks, ours and of others"),
    "evaluate": ("evaluate", "run an agent on a release"),
    "grade": ("evaluate", "grade attempts again"),
    "pilot": ("pilot", "run pilots on the pool and take a release from their scores"),
    "judge": ("judge", "score what only a judge can"),
    "leaderboard": ("leaderboard", "write the leaderboard of graded attempts"),
    "link": ("leaderboard", "put the scores of two snapshots on one scale"),
    "submit": ("submissions", "bundle attempts for a leaderboard"),
    "check": ("submissions", "check a submission and grade it again"),
    "plan": ("leaderboard", "say how many tasks tell two agents apart"),
    "serve-tables": ("workspace", "serve statements to agents (MCP)"),
    "services": ("services", "start a workflow task's services to try them"),
    "export-atif": ("workspace", "write sessions as ATIF trajectories"),
}
GROUPS = {
    "export": (
        "running",
        "export a release for other runners",
        {"inspect": "as one Inspect task", "harbor": "as one folder per task, for Harbor"},
    ),
    "pages": (
        "pages",
        "captured web pages for agents",
        {"import": "saved pages and their addresses", "statements": "those of a release, printed"},
    ),
    "rules": (
        "judging",
        "check the hard rules of a released task",
        {"check": "check an output folder against them"},
    ),
    "review": (
        "judging",
        "decide the cases on which judges disagree",
        {"export": "write the open cases to a sheet", "import": "record the decisions"},
    ),
}

# Commands that find what an earlier run of theirs has finished.
GOES_ON = frozenset({"build", "evaluate", "pilot", "judge"})

# A query that begins with a comment: a blank before it, and it is not taken for an option.
_SQL_COMMENT = re.compile(r"--(\s|[^=\n]*\n)")


class LateCommand(TyperCommand):
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


def add_commands(group: TyperGroup) -> None:
    """Put every command into the group; `export-atif` is the function `export_atif_command`."""
    for name, (module, about) in COMMANDS.items():
        function = f"{name.replace('-', '_')}_command"
        group.add_command(LateCommand(name, about, module, function))
    for name, (module, about, members) in GROUPS.items():
        inner = CommandGroup(name=name, help=about, rich_markup_mode=None)
        for member, member_about in members.items():
            function = f"{name}_{member}_command"
            inner.add_command(LateCommand(member, member_about, module, function))
        group.add_command(inner)
