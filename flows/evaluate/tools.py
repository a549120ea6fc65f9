"""What agents may call: data tools that the runner serves, and commands in their own box.

Tables are never mounted: the three tools of the questions lane answer from the runner's process.
"""

from __future__ import annotations

from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams, tool
from inspect_ai.util import sandbox
from pydantic import ValidationError

from construction.grading.trial import SHELL_TOOLS
from construction.statements.tools.agent_tools import BY_NAME, ToolSpec
from construction.statements.tools.database import Database
from construction.statements.tools.results import Refusal
from data.contracts import Candidate
from data.neutralise import one_line

SHELL_SECONDS = 180
_MOST_CHARS = 60_000


def tools_for(task: Candidate, database: Database | None) -> list[Tool]:
    """The tools of a task, by the names that it lists."""
    served = [
        _served(BY_NAME[name], database) for name in task.tools if name in BY_NAME and database
    ]
    works_on_files = task.deliverables or SHELL_TOOLS & set(task.tools)
    inside = [shell()] if works_on_files else []
    return [*served, *inside]


def _served(spec: ToolSpec, database: Database) -> Tool:
    """A data tool as a tool of Inspect, with the description and arguments that MCP clients get."""

    async def execute(**arguments: object) -> str:
        try:
            given = {name: value for name, value in arguments.items() if value is not None}
            answer = spec.call(database, spec.arguments.model_validate(given))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            raise ToolError(one_line(f"{first['loc']}: {first['msg']}")) from error
        if isinstance(answer, Refusal):
            raise ToolError(answer.text)
        return str(spec.answer.dump_json(answer).decode())

    schema = spec.arguments.model_json_schema()
    return ToolDef(
        execute,
        name=spec.name,
        description=spec.description,
        parameters=ToolParams.model_validate(
            {key: schema[key] for key in ("type", "properties", "required") if key in schema}
        ),
    ).as_tool()


@tool
def shell() -> Tool:
    """Run commands in the task's own box."""

    async def execute(command: str) -> str:
        """Run a shell command in your work folder, which holds inputs/ and outputs/.

        Python 3 with libraries for office files and PDF is installed. There is no network.

        Args:
          command: The command line.
        """
        done = await sandbox().exec(["sh", "-c", command], timeout=SHELL_SECONDS)
        text = done.stdout + (f"\n[stderr]\n{done.stderr}" if done.stderr else "")
        shown = text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}\n… cut"
        return shown if done.success else f"{shown}\n[exit code {done.returncode}]"

    return execute
