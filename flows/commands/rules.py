"""`benchmint rules check`: run a task's hard rules over a folder of outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from construction.grading.hard_rules import RuleResult, check
from construction.judging.rule_files import load_rules
from data.errors import InputError
from data.neutralise import one_line


def check_command(
    task: Annotated[
        Path, typer.Argument(help="A task's folder in the private half, or its rules.json.")
    ],
    outputs: Annotated[Path, typer.Argument(help="The folder that an agent filled.")],
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Print one line per rule; exit 1 if any fails."""
    if not outputs.is_dir():
        raise InputError(str(outputs), "no folder", "the outputs folder", "Check the path.")
    try:
        results = check(load_rules(task), outputs)
    except (KeyError, TypeError, ValueError) as error:
        actual = f"parameters that do not fit their rule ({type(error).__name__})"
        raise InputError(str(task), actual, "a list of rules", "Use the released file.") from error
    print(orjson.dumps(results).decode() if json else "\n".join(map(_line, results)))
    raise typer.Exit(0 if all(result.passed for result in results) else 1)


def _line(result: RuleResult) -> str:
    name = one_line(result.rule_id)
    if result.passed:
        return f"pass  {name}"
    where = f" in {result.file}" if result.file else ""
    return f"FAIL  {name}  {result.reason}{where}: {result.observed}, limit {result.limit}"
