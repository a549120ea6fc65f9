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
from flows.commands.table import COMMANDS, MOVED, _commands, _Group, add_commands

HEAVY = ("polars", "duckdb", "prefect", "scipy", "presidio_analyzer", "spacy", "pydantic")


def _group() -> TyperGroup:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    add_commands(group)
    return group


PATHS = [list(words) for words, _ in _commands()]


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
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
    named = {command.module for _, command in _commands()}
    assert modules - {"__init__", "table", "options"} == named


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    get_command(app).main(["--version"], "benchmint", standalone_mode=False)
    assert capsys.readouterr().out == f"benchmint {version('benchmint')}\n"


def test_the_program_alone_loads_nothing_heavy() -> None:
    result = "import sys, flows.cli; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", result], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & set(HEAVY)


@pytest.mark.parametrize("arguments", [[], ["privacy"], ["agents", "review"]], ids=" ".join)
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


def test_the_top_holds_twelve_commands_and_four_groups() -> None:
    groups = [name for name, one in COMMANDS.items() if isinstance(one, _Group)]
    assert groups == ["release", "privacy", "lane", "agents"]
    assert len(COMMANDS) - len(groups) <= 12


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["mask", "--help"], "privacy mask"),
        (["--debug", "export", "harbor", "--help"], "release export harbor"),
        (["rules", "check", "--help"], "agents rules"),
        (["serve-tables", "-h"], "agents tables"),
    ],
    ids=str,
)
def test_an_old_name_runs_the_command_and_says_the_new_one(
    old: list[str], new: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmint", *old])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    printed = capsys.readouterr()
    assert stopped.value.code == 0
    assert printed.out.startswith(f"Usage: benchmint {new} ")
    assert printed.err == f"benchmint: use `benchmint {new}`; the next release drops the old name\n"


def test_no_old_name_is_a_name_of_today() -> None:
    assert not MOVED.keys() & {words for words, _ in _commands()}
