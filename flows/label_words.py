"""What labels mean, from the tables of all packages: families, roles, skills and operations too."""

from __future__ import annotations

from functools import cache

from construction.analytics.steps import OPERATIONS
from construction.judging.baseline.label import skill_table
from construction.signals.codebook import default_crosswalk
from data.reasons import Labels, named, own_labels
from data.text.lexicon import load_table


@cache
def all_labels() -> Labels:
    """The words of all labels, by kind and value."""
    own = own_labels()
    roles = load_table("construction.judging", "tables", "roles.toml")
    steps = {
        code: named(code, f"A step of the kind “{kind}”.") for code, kind in OPERATIONS.items()
    }
    return {
        **own,
        "family": {
            code: named(code, f"{meaning}.")
            for code, meaning in default_crosswalk().task_families.items()
        },
        "role": {
            code: named(code, f"{row['definition']}.", row["name"]) for code, row in roles.items()
        },
        "skill": {
            code: named(code, f"{row['definition']}.", row["name"])
            for code, row in skill_table().items()
        },
        "operation": {**own["operation"], **steps},
    }
