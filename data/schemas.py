"""The staging tables: every column with its type and meaning. No column holds raw text (law 8).

The one source for writing Parquet, for the comments inside `staging.duckdb`, and for the docs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True, slots=True)
class Table:
    """A staging table: what one row is, and its columns as name -> (type, meaning)."""

    name: str
    row: str
    columns: Mapping[str, tuple[Any, str]]

    @property
    def schema(self) -> dict[str, Any]:
        return {name: dtype for name, (dtype, _) in self.columns.items()}

    @property
    def meanings(self) -> dict[str, str]:
        return {name: meaning for name, (_, meaning) in self.columns.items()}


FILES = Table(
    "files",
    "one input file",
    {
        "path": (pl.String, "path under its root, POSIX"),
        "bytes": (pl.Int64, "size"),
        "sha256": (pl.String, "digest of the content; null if it could not be read"),
        "format": (pl.String, "format read, or the name of the unsupported format"),
        "outcome": (pl.String, "kept, rejected or errored"),
        "reason": (pl.String, "why it was not read"),
    },
)
SESSIONS = Table(
    "sessions",
    "one session read",
    {
        "session_uid": (pl.String, "session id plus six hex digits of the source path"),
        "path": (pl.String, "source file"),
        "format": (pl.String, "source format"),
        "format_version": (pl.String, "version the file declares"),
        "agent": (pl.String, "agent name and version, if logged"),
        "started_at": (pl.Float64, "seconds since the epoch, UTC"),
        "n_turns": (pl.Int64, "turns on the active branch"),
        "n_human_turns": (pl.Int64, "turns typed by a person"),
        "n_tool_calls": (pl.Int64, "tool calls"),
        "n_instances": (pl.Int64, "task instances recovered"),
        "is_sub_agent": (pl.Boolean, "the prompts were written by another agent"),
        "dropped": (pl.String, "JSON: records left out, by reason"),
    },
)
TURNS = Table(
    "turns",
    "one turn of a session",
    {
        "session_uid": (pl.String, "session"),
        "turn_index": (pl.Int64, "position in the session, from 0"),
        "line": (pl.Int64, "line in the source file, from 1; 0 for one-document files"),
        "role": (pl.String, "user, assistant or system"),
        "origin": (pl.String, "human, agent, cron or system"),
        "at": (pl.Float64, "seconds since the epoch, UTC"),
        "chars": (pl.Int64, "characters as logged"),
        "said_chars": (pl.Int64, "characters after unwrapping"),
        "n_attachments": (pl.Int64, "attachments"),
        "n_tool_calls": (pl.Int64, "tool calls"),
        "instance_id": (pl.String, "task instance the turn went into"),
        "left_out": (pl.String, "why a human turn went into none"),
    },
)
TASK_INSTANCES = Table(
    "task_instances",
    "one task instance",
    {
        "instance_id": (pl.String, "<session uid>_i<k>"),
        "session_uid": (pl.String, "session"),
        "path": (pl.String, "source file"),
        "format": (pl.String, "source format"),
        "started_by": (pl.String, "why it starts where it starts"),
        "first_line": (pl.Int64, "line of its first user turn"),
        "n_turns": (pl.Int64, "turns"),
        "n_user_turns": (pl.Int64, "turns typed by a person"),
        "said_chars": (pl.Int64, "characters the person typed, after unwrapping"),
        "language": (pl.String, "BCP 47; mul for several, und if unknown"),
        "n_acts": (pl.Int64, "file reads, writes and runs by the agent"),
        "asked": (pl.Boolean, "the agent asked back"),
        "fingerprint": (pl.String, "keyed digest over the user turns: equal for copies"),
    },
)
FIXTURES = Table(
    "fixtures",
    "one input file of an instance, declared or observed",
    {
        "instance_id": (pl.String, "task instance"),
        "role": (pl.String, "declared, observed or frozen_page"),
        "extension": (pl.String, "file type by extension, lower case"),
        "status": (pl.String, "resolved, or the reason why not"),
        "bytes": (pl.Int64, "size of the copy"),
        "sha256": (pl.String, "digest of the copy"),
    },
)
RESTORATIONS = Table(
    "restorations",
    "one redacted span in a user message or attachment path",
    {
        "instance_id": (pl.String, "task instance"),
        "field_path": (pl.String, "which text of the instance, and the span's offsets in it"),
        "status": (pl.String, "restored_by_context, restored_by_host or unrecoverable"),
        "confidence": (pl.Float64, "how sure the restoration is, 0 to 1"),
        "match_strategy": (pl.String, "how it was matched, or why it was not"),
        "value_hmac": (pl.String, "keyed digest of the restored value; the value is private"),
    },
)
CANDIDATES = Table(
    "candidates",
    "one candidate task",
    {
        "task_id": (pl.String, "opaque id, as released"),
        "instance_id": (pl.String, "task instance it was packaged from"),
        "lane": (pl.String, "sessions, signals, questions or analytics"),
        "task_family": (pl.String, "task family; null if the codebook knows none"),
        "language": (pl.String, "language of the prompt"),
        "difficulty": (pl.String, "easy, medium or hard"),
        "execution_surface": (pl.String, "where the work happens"),
        "prompt_chars": (pl.Int64, "characters of the prompt"),
        "n_fixtures": (pl.Int64, "input files"),
        "n_deliverables": (pl.Int64, "files asked for"),
        "deliverable_types": (pl.String, "their types, joined by comma"),
        "n_rules": (pl.Int64, "hard rules"),
        "outcome": (pl.String, "chosen or not_chosen"),
    },
)

MASKED_SPANS = Table(
    "masked_spans",
    "one private value replaced in a task's text or file",
    {
        "instance_id": (pl.String, "task instance"),
        "place": (pl.String, "the turn, or the released path of the file"),
        "offset": (pl.Int64, "characters before it in the original"),
        "type": (pl.String, "kind of value"),
        "recognizer": (pl.String, "what found it; vault: known from elsewhere in the session"),
        "score": (pl.Float64, "how sure, 0 to 1"),
    },
)

TABLES = (
    FILES,
    SESSIONS,
    TURNS,
    TASK_INSTANCES,
    FIXTURES,
    RESTORATIONS,
    MASKED_SPANS,
    CANDIDATES,
)


SIGNALS = Table(
    "signals",
    "one skill of a snapshot",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "slug": (pl.String, "the skill's name in addresses"),
        "mass": (pl.Float64, "popularity by the declared measure"),
        "measure": (pl.String, "which count is the popularity"),
        "pattern": (pl.String, "pattern with the largest share, or uncategorized"),
        "family": (pl.String, "signal family with the largest share, or uncategorized"),
        "sure_family": (pl.String, "the same if its share is large enough; null: unsure"),
        "task_family": (pl.String, "task family through the crosswalk; null if unmapped"),
        "benchmarkable": (pl.Boolean, "its pattern enters the mixture"),
        "n_patterns": (pl.Int64, "patterns that share its mass"),
        "score": (pl.Float64, "score of the first pattern, 0 to 1"),
        "cluster": (pl.Int64, "density cluster; null in a sparse place"),
        "nearest_pattern": (pl.String, "pattern with the nearest anchor sentences"),
        "nearest_similarity": (pl.Float64, "mean cosine to them"),
        "summary_chars": (pl.Int64, "characters of the skill's summary"),
    },
)
SIGNAL_PATTERNS = Table(
    "signal_patterns",
    "one pattern's share in one skill, with its evidence",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "slug": (pl.String, "skill"),
        "pattern": (pl.String, "pattern"),
        "family": (pl.String, "signal family"),
        "share": (pl.Float64, "part of the skill's mass; the parts of a skill sum to 1"),
        "score": (pl.Float64, "weighed sum of the three kinds of evidence, 0 to 1"),
        "cues": (pl.Float64, "evidence of the cues, 0 to 1"),
        "similarity": (pl.Float64, "mean cosine to the pattern's two nearest anchors"),
        "in_cluster": (pl.Boolean, "the skill's cluster has the pattern's name"),
        "hits": (pl.String, "JSON: cue, field, start, end and weight of each match"),
    },
)
PATTERNS = Table(
    "patterns",
    "one workflow pattern in one snapshot",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "pattern": (pl.String, "pattern"),
        "family": (pl.String, "signal family"),
        "benchmarkable": (pl.Boolean, "enters the mixture"),
        "surface": (pl.String, "where the work happens"),
        "signals": (pl.Int64, "skills with a share in it"),
        "mass": (pl.Float64, "popularity, by measure and counting"),
        "weight": (pl.Float64, "share of the benchmarkable mass; 0 for the others"),
        "measure": (pl.String, "which count is the popularity"),
        "counting": (pl.String, "fractional or full"),
        "ideas": (pl.Int64, "recommended number of task ideas"),
    },
)
WEIGHTS = Table(
    "weights",
    "one family of one layer in one snapshot",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "layer": (pl.String, "signal, task or display"),
        "family": (pl.String, "family; (unmapped) for mass that the crosswalk does not map"),
        "weight": (pl.Float64, "share of the benchmarkable mass; sums to 1 in each layer"),
        "measure": (pl.String, "which count is the popularity"),
        "counting": (pl.String, "fractional or full"),
        "tasks": (pl.Int64, "tasks of the pool in the family (task layer)"),
        "gap": (pl.Float64, "weight minus the pool's share, percentage points (task layer)"),
        "suggested": (pl.Int64, "tasks in a release of the size asked for (task layer)"),
        "action": (pl.String, "PRIORITY, ADD, OK, TRIM or REDUCE (task layer)"),
    },
)

SIGNAL_TABLES = (SIGNALS, SIGNAL_PATTERNS, PATTERNS, WEIGHTS)
