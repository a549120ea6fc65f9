"""The views over the staged tables: what analysts and auditors start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """A view: what one row is, its columns with type and meaning, and the query behind it.

    The query names tables with their schema, so that it means the same from whatever schema or
    attached database it is asked for.
    """

    name: str
    row: str
    columns: Mapping[str, tuple[str, str]]
    query: str


_RUN = ("VARCHAR", "run, one of `runs`")
_TEXT, _COUNT = "VARCHAR", "BIGINT"

FUNNEL = View(
    "funnel",
    "one stage of one run: units in, and their outcomes",
    {
        "run_id": _RUN,
        "step": (_COUNT, "position of the stage in the pipeline, from 1"),
        "stage": (_TEXT, "stage"),
        "kind": (_TEXT, "filter, derive or choose"),
        "unit": (_TEXT, "what is counted"),
        "n_in": (_COUNT, "units that came in"),
        "passed": (_COUNT, "kept, consumed or chosen"),
        "rejected": (_COUNT, "rejected"),
        "errored": (_COUNT, "errored: a fault, not a judgement"),
        "not_chosen": (_COUNT, "not chosen by a choosing stage"),
    },
    """SELECT run_id, row_number() OVER (PARTITION BY run_id ORDER BY min(rowid)) AS step,
              stage, kind, unit, CAST(sum(n) AS BIGINT) AS n_in,
              CAST(sum(n * (outcome IN ('kept', 'consumed', 'chosen'))::INT) AS BIGINT) AS passed,
              CAST(sum(n * (outcome = 'rejected')::INT) AS BIGINT) AS rejected,
              CAST(sum(n * (outcome = 'errored')::INT) AS BIGINT) AS errored,
              CAST(sum(n * (outcome = 'not_chosen')::INT) AS BIGINT) AS not_chosen
       FROM main.tallies GROUP BY run_id, stage, kind, unit ORDER BY run_id, step""",
)
REJECTIONS = View(
    "rejections",
    "one unit that was rejected or errored: by which gate, why, what was measured, what is allowed",
    {
        "run_id": _RUN,
        "stage": (_TEXT, "stage"),
        "unit": (_TEXT, "what it is: file, line, session, instance, …"),
        "item_id": (_TEXT, "id of the unit; in parentheses for a group of n units"),
        "outcome": (_TEXT, "rejected or errored"),
        "gate": (_TEXT, "gate that decided; null outside the gates"),
        "reason": (_TEXT, "why"),
        "observed": (_TEXT, "what was seen, as text"),
        "limit": (_TEXT, "what is allowed or expected, as text"),
        "path": (_TEXT, "source file, if the evidence points to one"),
        "line": (_COUNT, "line in it, from 1"),
        "evidence": (_TEXT, "JSON: the whole pointer"),
        "n": (_COUNT, "units"),
    },
    """SELECT run_id, stage, unit, item_id, outcome, gate, reason,
              coalesce(observed, evidence->>'found') AS observed,
              coalesce("limit", evidence->>'expected') AS "limit",
              evidence->>'path' AS path, TRY_CAST(evidence->>'line' AS BIGINT) AS line,
              evidence, n
       FROM main.ledger WHERE outcome IN ('rejected', 'errored')""",
)
_OVERLAPS = {
    "run_id": _RUN,
    "gate": (_TEXT, "one gate"),
    "other_gate": (_TEXT, "another, later by name"),
    "n": (_COUNT, "items that both failed"),
}
GATE_OVERLAPS = View(
    "gate_overlaps",
    "how many items two gates both failed",
    _OVERLAPS,
    """SELECT a.run_id, a.gate AS gate, b.gate AS other_gate, count(*) AS n
       FROM main.verdicts a JOIN main.verdicts b USING (run_id, item_id)
       WHERE a.status = 'failed' AND b.status = 'failed' AND a.gate < b.gate
       GROUP BY ALL ORDER BY a.run_id, n DESC, gate, other_gate""",
)
# OVERLAPS is a reserved word: this name has to be quoted in queries, the other not.
OVERLAPS = View("overlaps", GATE_OVERLAPS.row, _OVERLAPS, "FROM main.gate_overlaps")
LINEAGE = View(
    "lineage",
    "one parent-child link: session to instance, turn to instance, instance to candidate",
    {
        "run_id": _RUN,
        "stage": (_TEXT, "stage that made the child"),
        "parent_unit": (_TEXT, "what the parent is"),
        "parent": (_TEXT, "id of the parent; a turn is <session uid>#<turn index>"),
        "child_unit": (_TEXT, "what the child is"),
        "child": (_TEXT, "id of the child"),
        "why": (_TEXT, "why the child was made from the parent; the role of a turn"),
    },
    """SELECT run_id, stage, parent_unit, parent, child_unit, child, why FROM main.lineage_rows
       UNION ALL
       SELECT run_id, 'recover', 'turn', session_uid || '#' || turn_index, 'instance',
              instance_id, role FROM main.turns WHERE instance_id IS NOT NULL""",
)
SELECTION = View(
    "selection",
    "one candidate before the selection: chosen or why not, and its pilots' scores",
    {
        "run_id": _RUN,
        "task_id": (_TEXT, "candidate"),
        "instance_id": (_TEXT, "what it was packaged from"),
        "lane": (_TEXT, "lane"),
        "task_family": (_TEXT, "task family; null if the codebook knows none"),
        "difficulty": (_TEXT, "easy, medium or hard"),
        "outcome": (_TEXT, "chosen or not_chosen"),
        "reason": (_TEXT, "why it was not chosen"),
        "stratum": (_TEXT, "lane and family that it was counted under"),
        "n_pilots": (_COUNT, "pilots that ran on it"),
        "mean_score": ("DOUBLE", "mean of their scores; null without pilots"),
        "score_spread": ("DOUBLE", "highest minus lowest of them; 0 if they are all equal"),
    },
    """SELECT c.run_id, c.task_id, c.instance_id, c.lane, c.task_family, c.difficulty, c.outcome,
              l.reason, l.stratum, coalesce(s.n_pilots, 0) AS n_pilots, s.mean_score,
              s.score_spread
       FROM main.candidates c
       LEFT JOIN main.ledger l ON l.run_id = c.run_id AND l.item_id = c.task_id
                               AND l.unit = 'candidate' AND l.stage = 'select'
       LEFT JOIN (SELECT run_id, task_id, count(score) AS n_pilots, avg(score) AS mean_score,
                         max(score) - min(score) AS score_spread
                  FROM main.scores GROUP BY run_id, task_id) s
              ON s.run_id = c.run_id AND s.task_id = c.task_id""",
)

METRICS = View(
    "metrics",
    "one measure of one stage of one run",
    {
        "run_id": _RUN,
        "stage": (_TEXT, "stage of the funnel; for seconds and bytes a stage of the build"),
        "unit": (_TEXT, "what is counted; null where the measure is not of items"),
        "measure": (
            _TEXT,
            "items_in, items_out, seconds, cpu_seconds, bytes, cost, prompt_tokens or "
            "completion_tokens",
        ),
        "value": ("DOUBLE", "the measure; seconds of the computation, also where it was reused"),
    },
    """SELECT run_id, stage, unit, measure, value FROM (
         SELECT run_id, stage, unit, n_in::DOUBLE AS items_in, passed::DOUBLE AS items_out
         FROM main.funnel) UNPIVOT (value FOR measure IN (items_in, items_out))
       UNION ALL
       SELECT run_id, stage, NULL, measure, value FROM (
         SELECT run_id, work AS stage, sum(seconds) AS seconds, sum(cpu_seconds) AS cpu_seconds,
                sum(bytes)::DOUBLE AS bytes
         FROM main.timings GROUP BY run_id, work)
         UNPIVOT (value FOR measure IN (seconds, cpu_seconds, bytes))
       UNION ALL
       SELECT run_id, stage, NULL, measure, value FROM (
         SELECT run_id, stage, sum(cost) AS cost, sum(prompt_tokens)::DOUBLE AS prompt_tokens,
                sum(completion_tokens)::DOUBLE AS completion_tokens
         FROM main.costs GROUP BY run_id, stage)
         UNPIVOT (value FOR measure IN (cost, prompt_tokens, completion_tokens))""",
)

VIEWS = (FUNNEL, REJECTIONS, GATE_OVERLAPS, OVERLAPS, LINEAGE, SELECTION, METRICS)
