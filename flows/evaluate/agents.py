"""Agents as solvers of Inspect: its own react agent on a model, and scripted ones without a model.

The scripted ones show that a benchmark measures something: `oracle` must pass, and `null`, `talk`
and `empty-calls` must not.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from inspect_ai.agent import AgentSubmit, as_solver, react
from inspect_ai.model import ChatMessageAssistant, ModelOutput, execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall, ToolDef

from data.contracts import Candidate

INSTRUCTIONS = """
You work on a task in a folder of your own. Its input files, if any, are in inputs/; files that the
task asks for go into outputs/. Use the tools, then call submit() once with your answer, in the form
that the task asks for and nothing else. If the task asks for files only, submit one short line that
names them.
"""
Script = Callable[[Candidate, Sequence[Tool]], "Sequence[Move]"]
Move = tuple[str, Mapping[str, Any]]  # a tool's name and its arguments; "submit" ends the attempt
TALK = "Done. All steps of the task were carried out, the results were checked, and all is ready."


def model_agent(tools: Sequence[Tool]) -> Solver:
    """Inspect's react agent with the tools of one task."""
    agent = react(prompt=INSTRUCTIONS, tools=list(tools), submit=AgentSubmit(answer_only=True))
    return as_solver(agent)


@solver
def scripted(moves: Sequence[Move], tools: Sequence[Tool]) -> Solver:
    """Plays the moves; each is a step of its own, and the last may submit an answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for name, arguments in moves:
            if name == "submit":
                answer = str(arguments["answer"])
                state.output = ModelOutput.from_content("scripted", answer)
                state.messages.append(ChatMessageAssistant(content=answer))
                break
            call = ToolCall(id=uuid.uuid4().hex, function=name, arguments=dict(arguments))
            state.messages.append(ChatMessageAssistant(content="", tool_calls=[call]))
            done = await execute_tools(state.messages, list(tools))
            state.messages += done.messages
        return state

    return solve


def null_moves(_task: Candidate, _tools: Sequence[Tool]) -> Sequence[Move]:
    """Nothing at all."""
    return ()


def talk_moves(_task: Candidate, _tools: Sequence[Tool]) -> Sequence[Move]:
    """A confident report without any action."""
    return (("submit", {"answer": TALK}),)


def empty_call_moves(task: Candidate, tools: Sequence[Tool]) -> Sequence[Move]:
    """Each tool once with no more than it insists on, then the report."""
    calls = [(definition.name, _least(definition)) for definition in map(ToolDef, tools)]
    return (*calls, *talk_moves(task, tools))


def _least(definition: ToolDef) -> dict[str, Any]:
    """An empty value for each argument that a tool insists on."""
    blank = {"string": " ", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
    schema = orjson.loads(definition.parameters.model_dump_json(exclude_none=True))
    return {
        name: blank[schema["properties"][name].get("type", "string")]
        for name in schema.get("required", ())
    }


SCRIPTS: Mapping[str, Script] = {
    "null": null_moves,
    "talk": talk_moves,
    "empty-calls": empty_call_moves,
}
