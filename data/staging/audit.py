"""An auditor's queries of a staging file: what was rejected, by which gate, and why.

Also the lines that an instance's pointers lead to: private, for someone who may look.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from data.contracts import TurnedAway
from data.errors import NOT_BUILT, InputError
from data.neutralise import one_line, storable, visible
from data.reasons import ReasonWords
from data.staging.database import open_read_only

Rows = list[dict[str, Any]]
_MAX_CHARS = 20_000  # of one turn; a log line can be a whole document


@dataclass(frozen=True, slots=True)
class RejectionFilter:
    """Which rejections to list; None means any."""

    gate: str | None = None
    reason: str | None = None
    item_id: str | None = None


def rejections(staging: Path, wanted: RejectionFilter) -> Rows:
    """Entries of rejected and errored units with reason, observed and limit: first those that a
    gate rejected, in a stable order.
    """
    return _query(
        staging,
        """SELECT stage, unit, item_id, n, outcome, gate, reason, observed, "limit", path, line,
                  evidence ->> '$.found' AS found,
                  evidence ->> '$.missing' AS missing
           FROM rejections
           WHERE ($gate IS NULL OR gate = $gate)
             AND ($reason IS NULL OR reason = $reason)
             AND ($item_id IS NULL OR item_id = $item_id)
           ORDER BY gate IS NULL, stage, gate, reason, item_id""",
        {"gate": wanted.gate, "reason": wanted.reason, "item_id": wanted.item_id},
    )


def rejection_counts(staging: Path) -> Rows:
    """Units and entries of each reason, in the order of stages, the most frequent first."""
    return _query(
        staging,
        """SELECT step, stage, gate, unit, reason, sum(n)::BIGINT AS units, count(*) AS entries
           FROM rejections
           LEFT JOIN (SELECT stage, min(step) AS step FROM funnel GROUP BY stage) USING (stage)
           GROUP BY ALL ORDER BY step, units DESC, stage, gate, unit, reason""",
        {},
    )


def turned_away(staging: Path) -> TurnedAway:
    """How much the newest build rejected, errors included."""
    sql = "SELECT coalesce(sum(n), 0)::BIGINT AS units, count(*) AS entries FROM rejections"
    return TurnedAway(**_query(staging, sql, {})[0])


def gates(staging: Path) -> list[str]:
    """The gates that measured or rejected something, by name."""
    rows = _query(staging, "SELECT gate FROM verdicts UNION SELECT gate FROM rejections", {})
    return sorted(row["gate"] for row in rows if row["gate"])


def reasons(staging: Path) -> list[str]:
    """The reasons of rejected and errored units, by name."""
    rows = _query(staging, "SELECT DISTINCT reason FROM rejections", {})
    return sorted(row["reason"] for row in rows if row["reason"])


def commonest_reasons(staging: Path, most: int) -> Rows:
    """The reasons for which most items were rejected, with their number, the commonest first."""
    return _query(
        staging,
        """SELECT reason, sum(n) AS n FROM rejections WHERE reason IS NOT NULL
           GROUP BY reason ORDER BY n DESC, reason LIMIT $most""",
        {"most": most},
    )


def funnel(staging: Path) -> Rows:
    """The funnel of the newest build, one row per stage and unit."""
    return _query(staging, "FROM funnel", {})


def undecided_lines(staging: Path, words: ReasonWords) -> list[str]:
    """What the gates of the newest build let through without a verdict, a line for each stage."""
    undecided = words.undecided(_gate_counts(staging))
    stages = dict.fromkeys(row["stage"] for row in funnel(staging))
    return [
        f"passed {stage} without a verdict: {', '.join(undecided[stage])}"
        for stage in stages
        if stage in undecided
    ]


def _gate_counts(staging: Path) -> Rows:
    """Per gate of the newest build, as `ReasonWords.undecided` takes it: items by status, and how
    many each other gate, or a command to run, kept from being measured.
    """
    gates: dict[str, dict[str, Any]] = {}
    counted = _query(
        staging,
        "SELECT gate, status, blocked_by, count(*) AS n FROM verdicts GROUP BY ALL ORDER BY ALL",
        {},
    )
    for row in counted:
        gate = gates.setdefault(
            row["gate"], {"gate": row["gate"], "statuses": Counter(), "blocked_by": Counter()}
        )
        gate["statuses"][row["status"]] += row["n"]
        if row["blocked_by"] is not None:
            gate["blocked_by"][row["blocked_by"]] += row["n"]
    return list(gates.values())


def _verdicts(staging: Path, wanted: RejectionFilter) -> Rows:
    """The gates' measurements of one instance, in declared order."""
    return _query(
        staging,
        """SELECT gate, status, reason, observed_text AS observed, limit_text AS "limit",
                  measures, blocked_by
           FROM verdicts
           WHERE item_id = $item_id AND ($gate IS NULL OR gate = $gate)
             AND ($reason IS NULL OR reason = $reason)
           ORDER BY rowid""",
        {"item_id": wanted.item_id, "gate": wanted.gate, "reason": wanted.reason},
    )


def _story(staging: Path, instance_id: str) -> Rows:
    """The stages an instance went through, parents and children included."""
    return _query(
        staging,
        """SELECT stage, parent_unit AS unit, parent AS item_id, why, 'parent' AS relation
           FROM lineage WHERE child = $item_id
           UNION ALL
           SELECT stage, child_unit, child, why, 'child' FROM lineage WHERE parent = $item_id
           ORDER BY relation DESC, stage, unit,
                    TRY_CAST(regexp_extract(item_id, '#(\\d+)$', 1) AS BIGINT), item_id""",
        {"item_id": instance_id},
    )


def turn_lines(staging: Path, instance_id: str) -> Rows:
    """Pointers to the turns of an instance: file, line, role, length; never their text."""
    return _query(
        staging,
        """SELECT s.path, s.session_uid, t.line, t.turn_index, t.role, t.origin, t.chars
           FROM turns t JOIN sessions s USING (session_uid)
           WHERE t.instance_id = $item_id ORDER BY t.turn_index""",
        {"item_id": instance_id},
    )


def about_instance(staging: Path, instance: str, wanted: RejectionFilter) -> dict[str, Rows]:
    """All tables about one instance, by title: of gate and reason what is `wanted`."""
    mine = replace(wanted, item_id=instance)
    return {
        "verdicts": _verdicts(staging, mine),
        "rejections": rejections(staging, mine),
        "story": _story(staging, instance),
        "turns": turn_lines(staging, instance),
    }


def require_known(
    what: str, name: str | None, in_run: Sequence[str], registered: Sequence[str]
) -> None:
    """Raise InputError for the name of a gate or reason that this run does not have."""
    if name is None or name in in_run:
        return
    actual = f"a {what} that rejected nothing here" if name in registered else f"no such {what}"
    near = get_close_matches(name, [*in_run, *registered], n=1, cutoff=0.5)
    guess = f"Did you mean {near[0]}? " if near and near[0] != name else ""
    todo = f"{guess}The {what}s in this run: {', '.join(in_run) or 'none'}."
    raise InputError(f"--{what}", actual, f"a {what} in this run", todo)


def _query(staging: Path, sql: str, values: dict[str, Any]) -> Rows:
    """The rows of a query of the newest run. Raises InputError where there is no staging file."""

    import duckdb

    if not staging.is_file():
        raise InputError(str(staging), "nothing", "a staging file", NOT_BUILT)
    try:
        with open_read_only(staging) as connection:
            result = connection.execute(sql, {name: storable(v) for name, v in values.items()})
            names = [column[0] for column in result.description or ()]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    except duckdb.Error as error:
        actual = f"a file that DuckDB cannot use ({type(error).__name__})"
        expected = "a staging database from this version"
        raise InputError(str(staging), actual, expected, "Run `benchmint build` again.") from error


def missing_inputs(out: Path, instance_id: str) -> Rows:
    """What an instance or its candidate lacked, with the names of it: private."""

    from data.staging.runs import NAMES_FILE

    return _private_rows(out, NAMES_FILE, instance_id)


def changed_parts(out: Path, instance_id: str) -> Rows:
    """What masking changed in the request of an instance, before and after: private."""

    from data.staging.runs import CHANGES_FILE

    return _private_rows(out, CHANGES_FILE, instance_id)


def _private_rows(out: Path, file: str, instance_id: str) -> Rows:
    staging = out / "staging.duckdb"
    made = [row["item_id"] for row in _story(staging, instance_id) if row["relation"] == "child"]
    try:
        by_item: dict[str, Rows] = json.loads((out / "private" / file).read_bytes())
    except FileNotFoundError:  # purged
        return []
    rows = (row for item_id in (instance_id, *made) for row in by_item.get(item_id, ()))
    return [{name: one_line(text) for name, text in row.items()} for row in rows]


def with_records(out: Path, turns: Rows) -> Rows:
    """Turns with the raw line that each one's pointer leads to, control-safe and cut if long.

    Where there is none, `record` says why: a later build read other sources, or the file is gone.
    """
    sources = source_paths(out)
    return [turn | {"record": _record(sources.get(turn["path"]), turn)} for turn in turns]


def source_paths(out: Path) -> Mapping[str, str]:
    """Where the files of the newest build lie, by the path in the pointers."""
    try:  # with json: names that are not UTF-8 stand in it as lone surrogates
        sources: Mapping[str, str] = json.loads((out / "private" / "sources.json").read_bytes())
    except FileNotFoundError:  # purged
        return {}
    return sources


def _record(source: str | None, turn: dict[str, Any]) -> str:
    if source is None:
        return "(not read by the newest build)"
    if not Path(source).is_file():
        return "(source file missing)"
    with Path(source).open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if number == turn["line"]:
                return cut_long(visible(line.decode("utf-8", "replace").strip()))
    return f"(a single document without lines: open {visible(source)})"


def cut_long(text: str) -> str:
    """The beginning of a text that is too long to be looked at whole, and how much is missing."""
    if len(text) <= _MAX_CHARS:
        return text
    return f"{text[:_MAX_CHARS]} … ({len(text) - _MAX_CHARS} more characters)"


# Finding an item ---------------------------------------------------------------------------------

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
        raise InputError(begin, "no such instance", "an instance ID, or a prefix of one", todo)
    return Match(None, instances or rows)


def _match(row: dict[str, Any]) -> Match:
    return Match(row["item_id"], [], row["unit"], row["outcome"], row["stage"], row["reason"])


def _beginning(staging: Path, begin: str) -> Rows:
    """The items whose ids begin so, with their last outcome in the run."""
    return _query(
        staging,
        """SELECT unit, item_id, arg_max(outcome, step) AS outcome, arg_max(gate, step) AS gate,
                  arg_max(stage, step) AS stage,
                  arg_max({reason: reason}, step).reason AS reason
           FROM (SELECT unit, item_id, outcome, gate, stage, reason, rowid AS step FROM ledger
                 WHERE $begin <> '' AND starts_with(item_id, $begin))
           GROUP BY unit, item_id ORDER BY unit = 'session' DESC, unit, item_id LIMIT $most""",
        {"begin": begin, "most": _MOST},
    )
