"""The reference steps of a question run on the data tools of this process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic import ValidationError

from construction.grading.spec import TaskSpec
from construction.grading.walk import OracleError, computable, walk
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database, Refusal
from data.contracts.attempt import Submission

__all__ = ["OracleError", "computable", "oracle"]


def oracle(spec: TaskSpec, database: Database) -> Submission:
    """What an agent that follows the reference steps would submit, with its calls.

    Raises OracleError if a step is refused, does not return what later steps use, or if no value
    or several fit the period.
    """
    return walk(spec, partial(served, database))


def served(database: Database, name: str, arguments: Mapping[str, Any]) -> str:
    """The answer of a data tool as JSON, as an agent is shown it. Raises OracleError."""
    tool = BY_NAME[name]
    try:
        checked = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise OracleError(f"{error.error_count()} invalid arguments") from error
    result = tool.call(database, checked)
    if isinstance(result, Refusal):
        raise OracleError(f"refused: {result.text}")
    return tool.answer.dump_json(result).decode()
