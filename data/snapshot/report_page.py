"""`audit/report.html`: what was rejected and why, and what was released."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from data.contracts import MISSING, Outcome
from data.figures import amount, number
from data.labels import Labels, words_of
from data.neutralise import public_text, script_json
from data.reasons import ReasonWords
from data.snapshot import funnel_picture
from data.snapshot.config import CardConfig
from data.snapshot.ledger import turned_away
from data.snapshot.manifest import Manifest
from data.snapshot.pages import asset, page
from data.snapshot.release import Picture

Limits = Sequence[tuple[str | None, str]]  # reasons and the limits shown with them
_FULL = 100.0  # width of the longest bar, in units of its view box
_STATUSES = ("passed", "failed", "unverified")
# Charts of the released tasks: title, key of `statistics`, column counted.
_COUNTS = (
    ("Input types, by task", "input_types", "tasks"),
    ("Deliverable types, by task", "deliverable_types", "tasks"),
    ("Languages", "languages", "n"),
    ("Source formats", "formats", "n"),
    ("Lanes", "lanes", "n"),
    ("Task families", "families", "n"),
    ("Roles", "roles", "n"),
    ("Skills", "skills", "n"),
    ("Task classes", "task_classes", "n"),
    ("Split for skill transfer", "splits", "n"),
    ("Labelled by", "judges", "n"),
    ("Declared difficulty", "difficulties", "n"),
    ("Difficulty measured with agents", "measured", "n"),
    ("Full or smoke", "smoke", "n"),
    ("Network", "network", "n"),
)
_KINDS = {
    "languages": "language", "lanes": "lane", "families": "family", "roles": "role",
    "skills": "skill", "smoke": "split",
}  # fmt: skip
_LENGTHS = (
    ("Prompt length, characters", "prompt_chars"),
    ("Input files per task", "inputs_per_task"),
    ("Input file size, bytes", "input_bytes"),
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a bar: its style class, start and length (0 to 100)."""

    kind: str
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A labelled bar; `text` is the number as shown."""

    label: str
    text: str
    segments: tuple[Segment, ...]


def bars(rows: Sequence[Mapping[str, Any]], label: str = "value", n: str = "n") -> list[Bar]:
    """One plain bar per row, scaled to the largest."""
    top = max((row[n] for row in rows), default=0)
    return [
        Bar(str(row[label]), number(row[n]), (Segment("plain", 0.0, _scaled(row[n], top)),))
        for row in rows
    ]


def _stacks(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str], label: str) -> list[Bar]:
    """One bar per row with a segment per kind, scaled to the row with the largest sum."""
    top = max((sum(row[kind] for kind in kinds) for row in rows), default=0)
    return [_stack(row, kinds, label, top) for row in rows]


def _stack(row: Mapping[str, Any], kinds: Sequence[str], label: str, top: int) -> Bar:
    segments: list[Segment] = []
    done = 0
    for kind in kinds:
        if row[kind]:
            segments.append(Segment(kind, _scaled(done, top), _scaled(row[kind], top)))
        done += row[kind]
    return Bar(str(row[label]), number(done), tuple(segments))


def _scaled(n: int, top: int) -> float:
    return round(_FULL * n / top, 2) if top else 0.0


def report(
    card: CardConfig,
    manifest: Manifest,
    stages: Sequence[Mapping[str, Any]],
    summary: Mapping[str, Sequence[Mapping[str, Any]]],
    statistics: Mapping[str, Any],
    rows: Mapping[str, Any],
    pictures: Sequence[Picture],
    *,
    stamp: str,
    words: ReasonWords,
    labels: Labels,
    limits: Mapping[str, Limits],
    has_privacy_page: bool,
) -> str:
    """The page. `rows` comes from `rejection_rows` and is embedded as JSON; `limits`: by gate."""
    gates = [gate["gate"] for gate in summary["gates"]]
    strata = _strata(summary["strata"])
    return page(
        "report.html.j2",
        _style(pictures),
        asset("report.js"),
        card=card,
        manifest=manifest,
        stamp=stamp,
        **_funnel(manifest, stages, summary, words),
        stages=stages,
        reasons=_reasons(summary["rejections"], stages, gates, words),
        gates=[_gate(gate, limits.get(gate["gate"], ()), words) for gate in summary["gates"]],
        gate_names=_failing(summary["overlaps"], gates),
        overlaps=list(zip(summary["overlaps"], _overlap_bars(summary["overlaps"]), strict=True)),
        strata=strata,
        empty_strata=_empty(strata),
        counts=[(name, _named_bars(statistics[key], n, key, labels)) for name, key, n in _COUNTS],
        lengths=[_length(name, statistics[key]) for name, key in _LENGTHS],
        pictures=pictures,
        has_privacy_page=has_privacy_page,
        turned_away=turned_away(summary["rejections"]),
        island=script_json({**rows, "sentences": _sentences(rows["words"], words)}),
    )


def _named_bars(rows: Sequence[Mapping[str, Any]], n: str, key: str, labels: Labels) -> list[Bar]:
    """The bars of a count, whose labels are in words."""
    kind = _KINDS.get(key, "")
    return bars(
        [{**row, "value": words_of(labels, kind, str(row["value"])).name} for row in rows], n=n
    )


def _failing(overlaps: Sequence[Mapping[str, Any]], gates: Sequence[str]) -> list[str]:
    """The gates that an item failed, in their order: the columns of the overlaps."""
    failed = {gate for row in overlaps for gate in row["gates"]}
    return [gate for gate in gates if gate in failed]


def _style(pictures: Sequence[Picture]) -> str:
    styles = dict.fromkeys(picture.style for picture in pictures)
    return "".join([asset("report.css"), funnel_picture.STYLE, *styles])


def funnel_title(manifest: Manifest, stages: Sequence[Mapping[str, Any]]) -> str:
    """The text alternative of the picture for screen readers."""
    inflows = "; ".join(
        f"{step['stage']}: {amount(step['n_in'], step['unit'])} in" for step in stages
    )
    return f"Funnel of {manifest.snapshot}. {inflows}; {manifest.counts.tasks} tasks released."


def _funnel(
    manifest: Manifest,
    stages: Sequence[Mapping[str, Any]],
    summary: Mapping[str, Sequence[Mapping[str, Any]]],
    words: ReasonWords,
) -> dict[str, Any]:
    """The funnel for wide and narrow pages, and what its stages passed without a verdict."""
    passed = words.undecided(summary["gates"])
    gates = [gate["gate"] for gate in summary["gates"]]
    steps = funnel_picture.steps(stages, summary["rejections"], gates, passed)
    title = funnel_title(manifest, stages)
    return {
        "funnel_wide": funnel_picture.draw(steps, funnel_picture.WIDE, title),
        "funnel_narrow": funnel_picture.draw(steps, funnel_picture.NARROW, title),
        "undecided": passed,
    }


def _sentences(shown: Iterable[str], words: ReasonWords) -> dict[str, str]:
    """The sentences of the reasons among the words of the table."""
    return {word: words.sentences[word] for word in shown if word in words.sentences}


def _reasons(
    rows: Sequence[Mapping[str, Any]],
    stages: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
    words: ReasonWords,
) -> list[dict[str, Any]]:
    """The table of reasons: those of gates, then the others; each in pipeline order."""
    stage_at = {(stage["stage"], stage["unit"]): at for at, stage in enumerate(stages)}
    gate_at = {gate: at for at, gate in enumerate(gates)}
    ordered = sorted(
        rows,
        key=lambda row: (
            row["gate"] is None,
            stage_at.get((row["stage"], row["unit"]), len(stage_at)),
            gate_at.get(row["gate"], -1),
            -row["n"],
        ),
    )
    return [_reason(row, words) for row in ordered]


def _strata(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One line per stage and stratum with its counts by outcome."""
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        key = (row["stage"], row["unit"], row["stratum"])
        line = lines.setdefault(key, {"chosen": 0, "not_chosen": 0})
        line[row["outcome"]] = row["n"]
    return [
        {"stage": stage, "unit": unit, "stratum": stratum} | counts
        for (stage, unit, stratum), counts in sorted(lines.items())
    ]


def _empty(strata: Sequence[dict[str, Any]]) -> list[tuple[tuple[str, str], list[Any]]]:
    """The strata of which nothing was chosen, by stage and unit: many, and alike."""
    grouped: dict[tuple[str, str], list[Any]] = {}
    for row in strata:
        if not row["chosen"]:
            grouped.setdefault((row["stage"], row["unit"]), []).append(row)
    return list(grouped.items())


def _reason(row: Mapping[str, Any], words: ReasonWords) -> dict[str, Any]:
    """A line of the table of reasons, its observed values as one text."""
    seen = row["observed"]
    if seen["kind"] == "number":
        low, high = number(seen["min"]), number(seen["max"])
        text = low if low == high else f"{low} to {high}, median {number(seen['median'])}"
    else:
        values = seen["values"]
        text = ", ".join(f"{item['value']} ({number(item['n'])})" for item in values)
    limits = (str(words.allowed(row["gate"], row["reason"], limit)) for limit in row["limits"])
    return {
        **row,
        "observed_text": text,
        "limit_text": ", ".join(limits),
        "meaning": words.sentences.get(row["reason"] or "", ""),
    }


def _gate(gate: Mapping[str, Any], limits: Limits, words: ReasonWords) -> dict[str, Any]:
    texts = (str(words.allowed(gate["gate"], reason, limit)) for reason, limit in limits)
    return {
        "gate": gate["gate"],
        "statuses": gate["statuses"],
        "unmeasured": [_unmeasured(by, n) for by, n in gate["blocked_by"].items()],
        "limit_text": "; ".join(dict.fromkeys(texts)),
        "total": _stacks([{"label": gate["gate"]} | gate["statuses"]], _STATUSES, "label")[0],
        "histogram": _stacks(gate["histogram"], _STATUSES, "label"),
    }


def _unmeasured(blocked_by: str, n: int) -> str:
    """Why so many items were not measured: a gate had rejected them, or a command has to run."""
    if blocked_by.startswith("benchmint "):
        return f"{number(n)} wait for {blocked_by}"
    return f"{number(n)} were rejected by {blocked_by}"


def _overlap_bars(overlaps: Sequence[Mapping[str, Any]]) -> list[Any]:
    return bars([{"value": "+".join(row["gates"]), "n": row["n"]} for row in overlaps])


def _length(name: str, distribution: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "bars": bars(distribution["histogram"], label="label"),
        "summary": distribution,
    }


# The table of all rejections ---------------------------------------------------------------------

_TURNED_AWAY = (str(Outcome.REJECTED), str(Outcome.ERRORED))


def rejection_rows(
    ledger: pl.DataFrame, opaque: Callable[[str], str], reasons: ReasonWords
) -> dict[str, Any]:
    """Rejected and errored units for the table: each text once, rows as indices into the texts.

    A row is [opaque id, stage, unit, outcome, gate, reason, missing, observed, limit, units]; the
    units are a number, limits have their unit. What is missing is described, never named.
    Rejections by gates come first.
    """
    words: dict[str, int] = {}
    columns = [
        "item_id", "stage", "unit", "outcome", "gate", "reason", "missing", "observed", "limit",
        "n",
    ]  # fmt: skip
    missing = pl.col("evidence").str.json_path_match(f"$.{MISSING}").alias("missing")
    chosen = (
        ledger.filter(pl.col("outcome").is_in(_TURNED_AWAY)).with_columns(missing).select(columns)
    )
    rows = [
        [opaque(row[0]), *_coded(row[1:-1], reasons, words), row[-1]] for row in chosen.iter_rows()
    ]
    gate = columns.index("gate")
    rows.sort(key=lambda row: (row[gate] == words.get(""), row))
    return {"words": list(words), "rows": rows}


def _coded(
    values: Sequence[str | None], reasons: ReasonWords, words: dict[str, int]
) -> Iterator[int]:
    *names, gate, reason, missing, observed, limit = values
    allowed = reasons.allowed(gate, reason, public_text(limit))
    for value in (*names, gate, reason, missing, public_text(observed), allowed):
        yield words.setdefault("" if value is None else str(value), len(words))
