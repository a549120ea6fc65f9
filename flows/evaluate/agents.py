"""Agents as solvers of Inspect: its own react agent on a model, and agents that play a script."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from inspect_ai.agent import AgentSubmit, as_solver, react
from inspect_ai.model import ChatMessageAssistant, ModelOutput, execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall

from flows.evaluate.scripts import Script

INSTRUCTIONS = """
You work on a task in a folder of your own. Its input files, if any, are in inputs/; files that the
task asks for go into outputs/. Use the tools, then call submit() once with your answer, in the form
that the task asks for and nothing else. If the task asks for files only, submit one short line that
names them.
"""


def model_agent(tools: Sequence[Tool]) -> Solver:
    """Inspect's react agent with the tools of one task."""
    agent = react(prompt=INSTRUCTIONS, tools=list(tools), submit=AgentSubmit(answer_only=True))
    return as_solver(agent)


@solver
def scripted(script: Script, tools: Sequence[Tool]) -> Solver:
    """Plays a script: each step says something, makes its calls, or both."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for step in script.steps:
            calls = [
                ToolCall(id=uuid.uuid4().hex, function=name, arguments=dict(arguments))
                for name, arguments in step.calls
            ]
            message = ChatMessageAssistant(content=step.text, tool_calls=calls or None)
            state.messages.append(message)
            if calls:
                state.messages += (await execute_tools(state.messages, list(tools))).messages
        if script.answer is not None:
            state.output = ModelOutput.from_content("scripted", script.answer)
        return state

    return solve
