"""The tables of gates, limits and reasons in the docs, made from the registry of gates.

python -m flows.docs_gates
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from data.atomic import write_bytes
from data.contracts import Bound, Gate, Limit, Status
from data.prose_tables import between_markers, markdown_table
from flows import ROOT
from flows.gates import GATES, SESSION_GATES

_SIGNS = {Bound.MIN: "≥", Bound.MAX: "≤"}
_MOST_LISTED = 4  # limits of one gate in a cell; a longer list is only counted


def gate_table() -> str:
    """All gates: what each asks, and the reasons that it gives."""
    rows = [(gate.name, gate.meaning, _family(gate)) for gate in GATES]
    return markdown_table(("gate", "question", "reasons"), rows)


def session_gate_table() -> str:
    """The gates of the sessions lane in their order, with stage, limits and reasons."""
    head = ("gate", "question", "stage", "limits", "reasons")
    rows = [
        (gate.name, gate.meaning, gate.stage, _limits(gate), _family(gate))
        for gate in SESSION_GATES
    ]
    return markdown_table(head, rows)


def limit_table() -> str:
    """Every limit of every gate, in the order in which they decide."""
    head = ("gate", "what passes", "limit", "setting", "reason")
    return markdown_table(head, (row for gate in GATES for row in _limit_rows(gate)))


def reason_table() -> str:
    """Every reason that a gate gives."""
    rows = [(f"`{reason}`", reason.meaning) for gate in GATES for reason in gate.reasons]
    return markdown_table(("reason", "meaning"), rows)


def _limit_rows(gate: Gate[Any, Any]) -> Iterator[tuple[str, ...]]:
    for limit in gate.limits:
        setting = f"`{gate.section}.{limit.name}`" if limit.at is None else "none"
        if limit.policy is not None:
            field, value = limit.policy
            setting = f'only with `{gate.section}.{field} = "{value}"`'
        reason = f"`{limit.reason}`" if limit.reason is not None else _family(gate)
        if limit.status is Status.UNVERIFIED:
            reason += " (unverified, not rejected)"
        yield gate.name, limit.meaning, _allowed(gate, limit), setting, reason


def _limits(gate: Gate[Any, Any]) -> str:
    """The limits of a gate by default; only their number where there are many."""
    if len(gate.limits) > _MOST_LISTED:
        return f"{len(gate.limits)} limits"
    return "; ".join(dict.fromkeys(f"{lim.name}: {_allowed(gate, lim)}" for lim in gate.limits))


def _allowed(gate: Gate[Any, Any], limit: Limit) -> str:
    """The default of a limit with its direction and unit."""
    allowed = limit.allowed(gate.config())
    if isinstance(allowed, bool):
        return "yes" if allowed else "no"
    return f"{_SIGNS[limit.bound]} {allowed:,} {limit.unit.removeprefix('share ')}"


def _family(gate: Gate[Any, Any]) -> str:
    """The reasons of a gate in short: the part before the dot, or the only one."""
    reasons = [str(reason) for reason in gate.reasons]
    families = dict.fromkeys(reason.partition(".")[0] for reason in reasons)
    names = reasons if len(reasons) == 1 else [f"{family}.*" for family in families]
    return ", ".join(f"`{name}`" for name in names)


# Page -> name of the marked part -> how it is made.
PARTS: Mapping[Path, Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        ROOT / "README.md": {"gates": gate_table},
        ROOT / "docs" / "sessions.md": {"session gates": session_gate_table},
        ROOT / "docs" / "audit.md": {"limits": limit_table, "reasons": reason_table},
    }
)


def page_with_tables(path: Path) -> str:
    """The text of a page with its tables of gates made anew."""
    page = path.read_text("utf-8")
    for name, table in PARTS[path].items():
        page = between_markers(page, name, table())
    return page


def main() -> None:
    """Write the tables into their pages."""
    for path in PARTS:
        write_bytes(path, page_with_tables(path).encode())


if __name__ == "__main__":
    main()
