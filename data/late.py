"""Names that a package offers and loads when they are first asked for.

A package that gathers what its modules offer would otherwise load all of them for any one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late(package: str, modules: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `modules` says which of them has which names."""
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
