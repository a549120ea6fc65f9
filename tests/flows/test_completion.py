"""Shell completion as bash asks for it: commands and options, though modules load late."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from flows.commands.table import COMMANDS
from tests.flows.command import BENCHMINT, environment


def completed(*words: str) -> set[str]:
    """What bash is offered for the last of the words."""
    result = subprocess.run(
        [str(BENCHMINT)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=environment()
        | {
            "_BENCHMINT_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(("benchmint", *words)),
            "COMP_CWORD": str(len(words)),
        },
    )
    return set(result.stdout.split())


def test_every_command_is_offered() -> None:
    assert completed("") == set(COMMANDS)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("build", "--dry"), {"--dry-run"}),
        (("agents", "review", ""), {"export", "import"}),
        (("metrics", "--"), {"--out", "--run", "--help"}),
    ],
)
def test_options_of_a_command_are_offered(words: tuple[str, ...], offered: set[str]) -> None:
    assert completed(*words) == offered


@pytest.mark.parametrize(
    ("shell", "part"),
    [
        ("bash", "complete -o default -F"),
        ("zsh", "#compdef benchmint"),
        ("fish", "complete --command benchmint"),
        ("pwsh", "Register-ArgumentCompleter"),
    ],
)
def test_the_shell_that_is_named_gets_its_script(shell: str, part: str, tmp_path: Path) -> None:
    result = subprocess.run(
        [str(BENCHMINT), "--show-completion", shell],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "SHELL": "/bin/bash", "HOME": str(tmp_path)},
    )
    assert (result.returncode, part in result.stdout) == (0, True), result.stderr


def test_installing_for_a_named_shell_leaves_the_others_alone(tmp_path: Path) -> None:
    subprocess.run(
        [str(BENCHMINT), "--install-completion", "fish"],
        capture_output=True,
        timeout=120,
        check=True,
        env={**os.environ, "SHELL": "/bin/bash", "HOME": str(tmp_path)},
    )
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file == tmp_path / ".config/fish/completions/benchmint.fish"


def test_the_script_for_bash_asks_the_command() -> None:
    result = subprocess.run(
        [str(BENCHMINT), "--show-completion", "bash"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "SHELL": "/bin/bash"},
    )
    assert result.returncode == 0, result.stderr
    assert "_BENCHMINT_COMPLETE=complete_bash" in result.stdout
    assert result.stdout.rstrip().endswith("benchmint")
