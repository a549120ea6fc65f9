"""`benchmint rules check`: run a task's hard rules over a folder of outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer
from pydantic import TypeAdapter, ValidationError

from construction.judging.hard_rule_checks import RuleResult
from construction.judging.hard_rules import check
from data.contracts import Rule
from data.errors import InputError
from data.neutralise import one_line
from data.snapshot.pages import amount

_RULES = TypeAdapter(tuple[Rule, ...])
_FILE = "rules.json"
_EVERY_TASK = "provenance.json"  # stands in each task's folder of a private half


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
        results = check(_load(task), outputs)
    except (KeyError, TypeError, ValueError) as error:
        found = f"parameters that do not fit their rule ({type(error).__name__})"
        raise InputError(str(task), found, "a list of rules", "Use the released file.") from error
    print(orjson.dumps(results).decode() if json else "\n".join(map(_line, results)))
    raise typer.Exit(0 if all(result.passed for result in results) else 1)


def _load(task: Path) -> tuple[Rule, ...]:
    """The rules of a released `rules.json`, or of a file that is a list of rules alone."""
    path = task / _FILE if task.is_dir() else task
    try:
        document = orjson.loads(path.read_bytes())
        return _RULES.validate_python(document["rules"] if isinstance(document, dict) else document)
    except OSError as error:
        if path != task and (task / _EVERY_TASK).is_file():
            raise InputError(
                str(task), f"no {_FILE}", "a task with hard rules", "This task has none to check."
            ) from None
        raise InputError(
            str(path), error.strerror or "an error", "a task's rules.json", "Check the path."
        ) from None
    except (orjson.JSONDecodeError, KeyError) as error:
        found = f"no rules ({type(error).__name__})"
        raise InputError(str(path), found, "a list of rules", "Use the released file.") from None
    except ValidationError as error:
        found = amount(error.error_count(), "error")
        raise InputError(str(path), found, "a list of rules", "Use the released file.") from None


def _line(result: RuleResult) -> str:
    name = one_line(result.rule_id)
    if result.passed:
        return f"pass  {name}"
    where = f" in {result.file}" if result.file else ""
    return f"FAIL  {name}  {result.reason}{where}: {result.observed}, limit {result.limit}"
