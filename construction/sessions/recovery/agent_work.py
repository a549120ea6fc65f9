"""What the agent did beyond its file acts: the tools that it called, and what its programs made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from construction.mentions.extensions import tail
from construction.sessions.recovery.exchanges import (
    Exchange,
    acts_of,
    handles_files,
    runs_program,
)
from construction.sessions.recovery.shell import READ
from data.contracts import Role, Session

_MOST_TOOLS = 40


def tools_called(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """The tools that were called, with how often, in the order of their first calls."""
    counts = Counter(
        call.name[:100]
        for exchange in exchanges
        for turn in exchange.answers
        for call in turn.tool_calls
    )
    return tuple(f"{name} ×{count}" for name, count in list(counts.items())[:_MOST_TOOLS])


def other_tools(called: Iterable[str]) -> list[str]:
    """Those of the called tools that do more than handle files or run a shell."""
    return [tool for tool in called if not handles_files(tool.partition(" ×")[0])]


def made_by_programs(session: Session) -> frozenset[str]:
    """The files that the agent read and that a program of its had made, as far as the log tells.

    Such a file was read after a program ran, and its name stands nowhere before that: in no
    message, in no listing, in no other result.
    """
    known: list[str] = [(session.system_prompt or "").casefold()]
    has_run = False
    made: set[str] = set()
    seen: set[str] = set()
    for turn in session.turns:
        if turn.role is Role.USER:
            known += [turn.text.casefold(), *((a.path or "").casefold() for a in turn.attachments)]
        for call in turn.tool_calls:
            for act in acts_of(replace(turn, tool_calls=(call,))):
                is_new = has_run and act.kind == READ and act.path not in seen
                seen.add(act.path)
                if is_new and not any(tail(act.path) in text for text in known):
                    made.add(act.path)
            if runs_program(call):
                has_run = True
            elif not has_run and call.result:
                known.append(call.result.casefold())
    return frozenset(made)
