"""The operations of services as the tools of an agent: names, descriptions, argument schemas.

A tool's name is the service, an underline, and the operation: no service has an underline in its
name, and tool names may not hold dots.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from construction.workflows.declaration import Operation, operations, service_names
from construction.workflows.values import object_schema
from data.contracts.candidate import Candidate


@dataclass(frozen=True, slots=True)
class ServiceTool:
    """One tool. `parameters` is a JSON schema without references and alternatives."""

    name: str
    description: str
    parameters: dict[str, Any]
    operation: Operation


def tools_of(services: Iterable[str]) -> tuple[ServiceTool, ...]:
    """The tools of these services, in the order of their declaration. Raises KeyError."""
    return tuple(
        ServiceTool(
            tool_name(operation),
            operation.about,
            object_schema(operation.arguments),
            operation,
        )
        for name in services
        for operation in operations(name).values()
    )


def tool_name(operation: Operation) -> str:
    return f"{operation.service}_{operation.name}"


def has_services(task: Candidate) -> bool:
    """Does a task list an operation of a service as a tool?"""
    return any(split_tool_name(name) is not None for name in task.tools)


def split_tool_name(name: str) -> tuple[str, str] | None:
    """Service and operation of a tool; None for the tools of others."""
    service, _, operation = name.partition("_")
    if service not in service_names() or operation not in operations(service):
        return None
    return service, operation
