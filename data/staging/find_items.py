"""Finding an item of a run by its id or by how it begins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.errors import InputError
from data.staging.audit import Rows, query

_MOST = 100  # listed of those that begin so
_INSTANCE = "instance"


@dataclass(frozen=True, slots=True)
class Match:
    """What an id stands for: one item, or several that begin so (`item_id` None).

    Of one item `unit` says what it is, and `outcome`, `stage` and `reason` what became of it last.
    """

    item_id: str | None
    others: Rows
    unit: str = ""
    outcome: str = ""
    stage: str = ""
    reason: str | None = None


def find_item(staging: Path, begin: str) -> Match:
    """The item with this id, else the one that begins so, or the list of them.

    A session stands for its instances: the only one, or the list. Raises InputError if nothing
    begins so.
    """
    rows = _beginning(staging, begin)
    exact = [row for row in rows if row["item_id"] == begin and row["unit"] != "session"]
    if exact:
        return _match(exact[-1])
    instances = [row for row in rows if row["unit"] == _INSTANCE]
    if len(instances) == 1:
        return _match(instances[0])
    if len({row["item_id"] for row in rows}) == 1:
        return _match(rows[-1])
    if not rows:
        todo = "List instances with `benchmint audit --gate G`."
        raise InputError(begin, "no such instance", "an instance id, or how one begins", todo)
    return Match(None, instances or rows)


def _match(row: dict[str, Any]) -> Match:
    return Match(row["item_id"], [], row["unit"], row["outcome"], row["stage"], row["reason"])


def _beginning(staging: Path, begin: str) -> Rows:
    """The items whose ids begin so, with their last outcome in the run."""
    return query(
        staging,
        """SELECT unit, item_id, arg_max(outcome, step) AS outcome, arg_max(gate, step) AS gate,
                  arg_max(stage, step) AS stage,
                  arg_max({reason: reason}, step).reason AS reason
           FROM (SELECT unit, item_id, outcome, gate, stage, reason, rowid AS step FROM ledger
                 WHERE $begin <> '' AND starts_with(item_id, $begin))
           GROUP BY unit, item_id ORDER BY unit = 'session' DESC, unit, item_id LIMIT $most""",
        {"begin": begin, "most": _MOST},
    )
