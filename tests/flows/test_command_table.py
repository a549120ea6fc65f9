"""The table of commands: whole, callable, and cheap to load."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import flows.commands
from flows import cli
from flows.cli import app
from flows.commands.table import COMMANDS, GROUPS, add_commands

HEAVY = ("polars", "duckdb", "prefect", "scipy", "presidio_analyzer", "spacy", "pydantic")


def _group() -> TyperGroup:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    add_commands(group)
    return group


def _paths() -> list[list[str]]:
    alone = [[name] for name in COMMANDS]
    return alone + [
        [name, member] for name, (_, _, members) in GROUPS.items() for member in members
    ]


@pytest.mark.parametrize("path", _paths(), ids=" ".join)
def test_every_command_loads_and_says_what_it_does(path: list[str]) -> None:
    command: TyperGroup | TyperCommand = _group()
    for name in path:
        assert isinstance(command, TyperGroup)
        member = command.get_command(command.make_context("benchmint", ["x"]), name)
        assert isinstance(member, TyperGroup | TyperCommand)
        command = member
    context = command.make_context(path[-1], [], resilient_parsing=True)
    assert context.command.help
    assert context.command.params


def test_every_module_of_commands_is_in_the_table() -> None:
    modules = {path.stem for path in Path(flows.commands.__path__[0]).glob("*.py")}
    named = {module for module, *_ in [*COMMANDS.values(), *GROUPS.values()]}
    assert modules - {"__init__", "table", "options"} == named


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    get_command(app).main(["--version"], "benchmint", standalone_mode=False)
    assert capsys.readouterr().out == f"benchmint {version('benchmint')}\n"


def test_the_program_alone_loads_nothing_heavy() -> None:
    result = "import sys, flows.cli; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", result], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & set(HEAVY)


@pytest.mark.parametrize("arguments", [[], ["rules"], ["review"]], ids=" ".join)
def test_a_group_alone_prints_its_help(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmint", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    printed = capsys.readouterr()
    assert (stopped.value.code, printed.err) == (2, "")
    assert printed.out.startswith(f"Usage: {' '.join(['benchmint', *arguments])} [OPTIONS] COMMAND")


def test_help_and_version_are_taken_for_the_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(word: str) -> str:
        monkeypatch.setattr(sys, "argv", ["benchmint", word])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert not stopped.value.code
        return capsys.readouterr().out

    assert printed("help") == printed("--help")
    assert printed("version") == printed("--version") == f"benchmint {version('benchmint')}\n"
