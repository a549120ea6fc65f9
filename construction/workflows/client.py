"""A client in the same process: it holds a world and what was logged of the requests to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from construction.grading.spec import REPORT
from construction.workflows.contracts import RefusedError, Request, World
from construction.workflows.diff import changes_of
from construction.workflows.engine import handle
from data.contracts.attempt import AuditRow, StateChange
from data.contracts.candidate import Step


class InProcessClient:
    """Acts on services as an agent does; `world` and `audit` are always the latest.

    Slow services are not waited for.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.audit: tuple[AuditRow, ...] = ()

    def call(self, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """The body of the response. Raises RefusedError."""
        handled = handle(self.world, Request(service, operation, arguments))
        self.world = handled.world
        self.audit += handled.audit
        if handled.response.refused is not None:
            raise RefusedError(handled.response.refused, handled.response.body["message"])
        return handled.response.body

    @property
    def changes(self) -> tuple[StateChange, ...]:
        """What differs from the state at the start."""
        return changes_of(self.world)


def reference_steps(audit: Sequence[AuditRow], answer: str | None) -> tuple[Step, ...]:
    """The requests of a reference solution as steps, refused ones too, and its answer as the last.

    The step of the answer has the operation `report` and the argument `answer`.
    """
    steps = [
        Step(
            index=index,
            text=f"{row.service}: {row.operation.replace('_', ' ')}",
            operation=f"{row.service}.{row.operation}",
            arguments=dict(row.arguments),
        )
        for index, row in enumerate(audit, start=1)
    ]
    if answer is not None:
        text = "Report what was asked for."
        last = Step(index=len(steps) + 1, text=text, operation=REPORT, arguments={"answer": answer})
        steps.append(last)
    return tuple(steps)
