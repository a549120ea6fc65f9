"""What agents may call: data tools and services of the runner, and commands in their own box.

Tables are never mounted: the three tools of the questions lane answer from the runner's process.
Services are one instance for each attempt, in a file of its own beside it. What the agent asked and
changed enters its submission; if the instance itself ends, the attempt is an infrastructure error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.solver import TaskState
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams, tool
from inspect_ai.util import sandbox
from pydantic import ValidationError

from construction.sandbox.toolset import SHELL_TOOLS
from construction.statements.tools.agent_tools import BY_NAME, ToolSpec
from construction.statements.tools.database import Database, Refusal
from construction.webpages.pages import WEB_TOOLS, PageIndex
from construction.workflows.contracts import Request
from construction.workflows.declaration import ServiceTool, has_services, tools_of
from construction.workflows.world_file import read_world
from data.attempts import SERVICES, attempt_name
from data.canonical import canonical_json
from data.contracts import Candidate
from data.contracts.attempt import AuditRow, StateChange, Submission
from data.neutralise import one_line
from data.releases.tasks import ReleasedTasks
from flows.mcp_serving import PATH as MCP_PATH
from flows.services.instance import Instance
from flows.services.mcp_app import Instances
from flows.services.serve import serving_instances

AUDIT, _CHANGES = "audit", "changes"  # in an attempt's store
PORT = 8702  # of services inside a box
_HOW_TO_CALL = (
    "\nThe services of the task are at $SERVICES_URL (REST; /openapi.json lists the routes) and at "
    f"$SERVICES_URL{MCP_PATH} (MCP). Send the header `Authorization: Bearer $SERVICES_TOKEN`.\n"
)


def start_instance(
    release: ReleasedTasks, task_id: str, folder: Path, epoch: int
) -> Instance | None:
    """A new instance with the world of a task; None for a task without services.

    An earlier attempt that did not come to its end leaves a file, which is replaced. Raises
    InputError without the private half.
    """
    if not has_services(release.tasks[task_id].candidate):
        return None
    path = folder / SERVICES / f"{attempt_name(task_id, epoch)}.sqlite"
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return Instance.start(path, read_world(release.world(task_id)))


def _service_tools(task: Candidate, instance: Instance) -> list[Tool]:
    """The operations that a task lists, as tools of Inspect."""
    listed = set(task.tools)
    known = tools_of(sorted(instance.world.state))
    return [_served_operation(tool, instance) for tool in known if tool.name in listed]


def _served_operation(tool: ServiceTool, instance: Instance) -> Tool:
    async def execute(**arguments: object) -> str:
        operation = tool.operation
        response = instance.answer(Request(operation.service, operation.name, arguments))
        if response.delay_ms:
            await asyncio.sleep(response.delay_ms / 1000)
        if response.refused is not None:
            raise ToolError(f"{response.refused}: {response.body['message']}")
        return canonical_json(dict(response.body)).decode()

    return ToolDef(
        execute,
        name=tool.name,
        description=tool.description,
        parameters=ToolParams.model_validate(tool.parameters),
        max_output=0,  # as long as it is: what is cut off is no JSON
    ).as_tool()


@asynccontextmanager
async def reachable(
    instance: Instance | None, box: Any
) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """Serve an instance inside a box; yields a text for the agent, and variables for its programs.

    Without an instance both are empty.
    """
    if instance is None:
        yield "", {}
        return
    listening = await asyncio.to_thread(box.sandbox.listen, PORT)
    instances = Instances()
    token = instances.add(instance)
    async with serving_instances(instances, listening, PORT):
        address = f"http://127.0.0.1:{PORT}"
        yield _HOW_TO_CALL, {"SERVICES_URL": address, "SERVICES_TOKEN": token}


def said_so_far(state: TaskState | AgentState) -> int:
    """The inferences in the messages of an attempt."""
    return sum(isinstance(message, ChatMessageAssistant) for message in state.messages)


def keep(state: TaskState, instance: Instance | None) -> None:
    """Write what was asked and changed into an attempt's store, and end the instance."""
    if instance is None:
        return
    rows = [*state.store.get(AUDIT, []), *map(asdict, instance.audit)]
    state.store.set(AUDIT, rows)
    state.store.set(_CHANGES, [asdict(change) for change in instance.changes])
    instance.close()


def kept(store: Mapping[str, Any]) -> Submission:
    """The part of a submission that an attempt's store holds."""
    return Submission(
        audit=tuple(
            AuditRow(**{**row, "records": tuple(row["records"])}) for row in store.get(AUDIT, ())
        ),
        changes=tuple(StateChange(**row) for row in store.get(_CHANGES, ())),
    )


SHELL, _SHELL_SECONDS = "shell", 180
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
    served = [_served_tool(spec, database) for spec in listed] if database is not None else []
    served += [_served_tool(spec, pages) for spec in WEB_TOOLS] if pages is not None else []
    served += _service_tools(task, instance) if instance is not None else []
    works_on_files = task.deliverables or SHELL_TOOLS & set(task.tools)
    inside = [_shell()] if works_on_files else []
    return [*served, *inside]


def _served_tool(spec: ToolSpec, source: Database | PageIndex) -> Tool:
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


@tool(name=SHELL, max_output=_SHELL_BYTES)
def _shell() -> Tool:
    """Run commands in the task's own box."""

    async def execute(command: str) -> str:
        """Run a shell command in your work folder, which holds inputs/ and outputs/.

        Python 3 with libraries for office files and PDF is installed. There is no network.

        Args:
          command: The command line.
        """
        done = await sandbox().exec(["sh", "-c", command], timeout=_SHELL_SECONDS)
        text = done.stdout + (f"\n[stderr]\n{done.stderr}" if done.stderr else "")
        return text if done.success else f"{text}\n[exit code {done.returncode}]"

    return execute
