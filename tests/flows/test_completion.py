"""Shell completion as bash asks for it: commands and options, though modules load late."""

from __future__ import annotations

import os
import subprocess

import pytest

from flows.commands.table import COMMANDS, GROUPS
from tests.flows.command import BENCHMINT, environment


def completed(*words: str) -> set[str]:
    """What bash is offered for the last of the words."""
    told = subprocess.run(
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
    return set(told.stdout.split())


def test_every_command_is_offered() -> None:
    assert completed("") == {*COMMANDS, *GROUPS}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("build", "--dry"), {"--dry-run"}),
        (("review", ""), {"export", "import"}),
        (("metrics", "--"), {"--out", "--run", "--help"}),
    ],
)
def test_options_of_a_command_are_offered(words: tuple[str, ...], offered: set[str]) -> None:
    assert completed(*words) == offered


def test_the_script_for_bash_asks_the_command() -> None:
    told = subprocess.run(
        [str(BENCHMINT), "--show-completion", "bash"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "SHELL": "/bin/bash"},
    )
    assert told.returncode == 0, told.stderr
    assert "_BENCHMINT_COMPLETE=complete_bash" in told.stdout
    assert told.stdout.rstrip().endswith("benchmint")
