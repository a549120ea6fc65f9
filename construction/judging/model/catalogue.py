"""The catalogue of labels out of the editable tables that the rules engine uses too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from construction.judging.model.contracts import Catalogue
from construction.judging.rules.words import table
from construction.signals.crosswalk import default_crosswalk


@cache
def default_catalogue() -> Catalogue:
    """Roles and skill subclasses with their definitions, routes, and the task families.

    A skill subclass is called `role.skill`, as the rules call it.
    """
    skills = {
        f"{role}.{name}": entry
        for role in sorted(table("skills"))
        for name, entry in _skills(role).items()
    }
    return Catalogue(
        roles={role: entry["definition"] for role, entry in table("roles").items()},
        skills={name: f"{entry['name']}: {entry['definition']}" for name, entry in skills.items()},
        families=dict(default_crosswalk().task_families),
        routes={name: entry["route"] for name, entry in skills.items()},
    )


def _skills(role: str) -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = table("skills")[role]
    return found
