"""What a world's records are now, against what they were at the start."""

from __future__ import annotations

from construction.workflows.contracts import State, World
from data.canonical import digest
from data.contracts.attempt import StateChange


def changes_of(world: World) -> tuple[StateChange, ...]:
    """The records that differ from the state at the start."""
    return state_changes(world.state if world.initial is None else world.initial, world.state)


def state_changes(before: State, after: State) -> tuple[StateChange, ...]:
    """The records that differ, by service and id ("collection/id"), in that order."""
    changes = []
    for service in sorted({*before, *after}):
        first, second = before.get(service, {}), after.get(service, {})
        for plural in sorted({*first, *second}):
            old, new = first.get(plural, {}), second.get(plural, {})
            if old is new:
                continue
            changes += [
                StateChange(service, f"{plural}/{name}", old.get(name), new.get(name))
                for name in sorted({*old, *new})
                if old.get(name) != new.get(name)
            ]
    return tuple(changes)


def state_digest(state: State) -> str:
    """SHA-256 (hex) of all records, whatever their order."""
    return digest(state)
