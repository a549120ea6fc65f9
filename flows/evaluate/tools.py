"""What agents may call: data tools and services of the runner, and commands in their own box.

Tables are never mounted: the three tools of the questions lane answer from the runner's process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams, tool
from inspect_ai.util import sandbox
from pydantic import ValidationError

from construction.grading.trial import SHELL_TOOLS
from construction.statements.tools.agent_tools import BY_NAME, ToolSpec
from construction.statements.tools.database import Database, Refusal
from construction.webpages.pages import PageIndex
from construction.webpages.web_tools import WEB_TOOLS
from data.contracts import Candidate
from data.neutralise import one_line
from flows.evaluate.service_tools import service_tools
from flows.services.instance import Instance

SHELL, SHELL_SECONDS = "shell", 180
_SHELL_BYTES = 16 << 10  # of an output of the shell; the middle of a longer one is left out


def tools_for(
    task: Candidate,
    database: Database | None,
    pages: PageIndex | None = None,
    instance: Instance | None = None,
) -> list[Tool]:
    """The data tools and services that a task lists, `search` and `fetch` if there are pages, and
    a shell.
    """
    listed = [BY_NAME[name] for name in task.tools if name in BY_NAME]
    served = [_served(spec, database) for spec in listed] if database is not None else []
    served += [_served(spec, pages) for spec in WEB_TOOLS] if pages is not None else []
    served += service_tools(task, instance) if instance is not None else []
    works_on_files = task.deliverables or SHELL_TOOLS & set(task.tools)
    inside = [shell()] if works_on_files else []
    return [*served, *inside]


def _served(spec: ToolSpec, source: Database | PageIndex) -> Tool:
    """A tool of Inspect, with the description and arguments that MCP clients get."""

    async def execute(**arguments: object) -> str:
        try:
            given = {name: value for name, value in arguments.items() if value is not None}
            answer = spec.call(source, spec.arguments.model_validate(given))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            raise ToolError(one_line(f"{first['loc']}: {first['msg']}")) from error
        if isinstance(answer, Refusal):
            raise ToolError(answer.text)
        return str(spec.answer.dump_json(answer).decode())

    return ToolDef(
        execute,
        name=spec.name,
        description=spec.description,
        parameters=_parameters(spec),
        max_output=0,  # as long as it is: what is cut off is no JSON, and no evidence
    ).as_tool()


def _parameters(spec: ToolSpec) -> ToolParams:
    """The arguments, each with a type of its own: some servers read neither `$ref` nor `anyOf`."""
    schema = spec.arguments.model_json_schema()
    definitions = schema.get("$defs", {})
    properties = {
        name: _typed(parameter, definitions) for name, parameter in schema["properties"].items()
    }
    return ToolParams.model_validate(
        {"type": "object", "properties": properties, "required": schema.get("required", [])}
    )


def _typed(parameter: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter with what it refers to, or with the one type that it has beside null."""
    options = [item for item in parameter.get("anyOf", ()) if item.get("type") != "null"]
    meant = options[0] if len(options) == 1 else parameter
    if "$ref" in meant:
        meant = definitions[meant["$ref"].rpartition("/")[2]]
    own = {key: value for key, value in parameter.items() if key not in ("anyOf", "$ref")}
    return {**meant, **own}


@tool(max_output=_SHELL_BYTES)
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
        return text if done.success else f"{text}\n[exit code {done.returncode}]"

    return execute
