"""`audit/report.html`: what was rejected and why, and what was released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from data.contracts import MISSING, Outcome
from data.figures import amount, number, plural
from data.neutralise import one_line, public_text, script_json
from data.reasons import Labels, ReasonWords, words_of
from data.snapshot.ledger import turned_away
from data.snapshot.manifest import Manifest
from data.snapshot.pages import asset, page
from data.snapshot.release import CardConfig, Picture

# The funnel as an SVG picture: the same bytes for the same counts.
#
# Each step narrows the funnel by what it lost. Where the unit changes (files to sessions, sessions
# to instances) there is a heading, and the funnel starts at full width again. It is drawn twice,
# for wide pages and for phones, so that its text stays readable on both.

_PASSED = ("kept", "consumed", "chosen")
_STEP = 64  # height of a narrowing step
_BAND = 42  # height of a change of unit
_LINE = 16
_SHOWN_LOSSES = 2
_INSIDE = 24  # half width from which the count fits into the funnel

_STYLE = asset("funnel.css")


@dataclass(frozen=True, slots=True)
class _Step:
    """One narrowing: `losses` are (reason or outcome, n), largest first; `made`: children.

    `undecided`: what passed without a verdict, such as `146 unverified by sandbox`.
    """

    name: str
    unit: str
    n_in: int
    n_out: int
    losses: tuple[tuple[str, int], ...]
    made: tuple[tuple[str, int], ...] = ()
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Shape:
    """Dimensions of a drawing: width, the funnel's axis and half width, the label column."""

    width: int
    axis: int
    half: int
    labels_at: int


WIDE = _Shape(width=760, axis=210, half=200, labels_at=432)
NARROW = _Shape(width=350, axis=52, half=50, labels_at=114)


def steps(
    stages: Sequence[Mapping[str, Any]],
    rejections: Sequence[Mapping[str, Any]],
    gates: list[str],
    undecided: Mapping[str, Sequence[str]],
) -> list[_Step]:
    """Stages as narrowing steps; a stage with several gates becomes a step per gate.

    Stages without input are left out. `undecided` as in `data.snapshot.ledger`, by stage.
    """
    steps_drawn: list[_Step] = []
    for stage in filter(lambda stage: stage["n_in"], stages):
        mine = [row for row in rejections if _belongs(row, stage)]
        by_gate = [gate for gate in gates if any(row["gate"] == gate for row in mine)]
        passed = tuple(undecided.get(stage["stage"], ()))
        whole = replace(_step(stage, mine), undecided=passed)
        steps_drawn += _gate_steps(stage, mine, by_gate) if by_gate else [whole]
    return steps_drawn


def draw(steps: Sequence[_Step], shape: _Shape, title: str, *, standalone: bool = False) -> str:
    """The picture as an `<svg>`; standalone files include their style."""
    parts: list[str] = []
    y = 8
    unit, top = None, 0
    for index, step in enumerate(steps):
        if step.unit != unit:
            run = [other.n_in for other in _run(steps, index)]
            unit, top = step.unit, max([*run, 1])
            parts.append(_band(step, shape, y))
            y += _BAND
        parts.append(_narrowing(step, shape, y, top, odd=index % 2 == 1))
        y += _STEP
    last = steps[-1] if steps else None
    if last is not None:
        closing = f"{number(last.n_out)} {plural(last.unit, last.n_out)} left"
        parts.append(_text(shape.axis - shape.half, y + 22, closing, "big"))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="funnel" role="img" '
        f'viewBox="0 0 {shape.width} {y + 34}" aria-label={quoteattr(one_line(title))}>'
    )
    style = f"<style>{_STYLE}</style>" if standalone else ""
    return head + style + "".join(parts) + "</svg>"


def _belongs(row: Mapping[str, Any], stage: Mapping[str, Any]) -> bool:
    return bool(row["stage"] == stage["stage"] and row["unit"] == stage["unit"])


def _step(stage: Mapping[str, Any], mine: Sequence[Mapping[str, Any]]) -> _Step:
    """A stage without gates: its losses are the reasons, or the outcomes where none is given."""
    losses = Counter[str]()
    for row in mine:
        losses[row["reason"] or row["outcome"]] += row["n"]
    losses["not chosen"] = stage["outcomes"].get("not_chosen", 0)
    passed = sum(stage["outcomes"].get(outcome, 0) for outcome in _PASSED)
    made = tuple(sorted(stage["made"].items()))
    return _Step(stage["stage"], stage["unit"], stage["n_in"], passed, _ranked(losses), made)


def _gate_steps(
    stage: Mapping[str, Any], mine: Sequence[Mapping[str, Any]], gates: Sequence[str]
) -> list[_Step]:
    """One step per gate in declared order, preceded by one for units rejected outside the gates."""
    steps: list[_Step] = []
    remaining = stage["n_in"]
    for gate in (None, *gates):
        losses = Counter[str]()
        for row in mine:
            if row["gate"] == gate:
                losses[row["reason"] or row["outcome"]] += row["n"]
        lost = losses.total()
        if gate is not None or lost:
            own = gate in (None, stage["stage"])  # a gate may bear the name of its stage
            name = stage["stage"] if own else f"{stage['stage']}: {gate}"
            steps.append(_Step(name, stage["unit"], remaining, remaining - lost, _ranked(losses)))
        remaining -= lost
    return steps


def _ranked(losses: Counter[str]) -> tuple[tuple[str, int], ...]:
    ranked = sorted(losses.items(), key=lambda item: (-item[1], item[0]))
    return tuple((name, n) for name, n in ranked if n)


def _run(steps: Sequence[_Step], start: int) -> list[_Step]:
    """The steps from `start` on that count the same unit."""
    run: list[_Step] = []
    for step in steps[start:]:
        if step.unit != steps[start].unit:
            break
        run.append(step)
    return run


def _band(step: _Step, shape: _Shape, y: int) -> str:
    label = f"{number(step.n_in)} {plural(step.unit, step.n_in)}"
    return _text(shape.axis - shape.half, y + 30, label, "big")


def _narrowing(step: _Step, shape: _Shape, y: int, top: int, *, odd: bool) -> str:
    wide = shape.half * step.n_in / top
    narrow = shape.half * step.n_out / top
    bottom = y + _STEP - 4
    a, b = shape.axis - wide, shape.axis + wide
    c, d = shape.axis + narrow, shape.axis - narrow
    flow = (
        f'<path class="flow{" odd" if odd else ""}" '
        f'd="M{a:.1f} {y}H{b:.1f}L{c:.1f} {bottom}H{d:.1f}Z"/>'
    )
    inside = _text(shape.axis, y + 35, number(step.n_out), "on", "middle")
    return flow + (inside if narrow > _INSIDE else "") + _labels(step, shape, y)


def _labels(step: _Step, shape: _Shape, y: int) -> str:
    """The labels beside the funnel: the step, its losses by reason, and what it made."""
    lost = step.n_in - step.n_out
    passing = "none rejected" if step.undecided else "all pass"
    head = f"{step.name} −{number(lost)}" if lost else f"{step.name}: {passing}"
    lines = [(head, "big" if lost else "soft")]
    more = len(step.losses) - _SHOWN_LOSSES
    lines += [(f"{number(n)} {_in_words(name)}", "lost") for name, n in step.losses[:_SHOWN_LOSSES]]
    if more > 0:
        rest = sum(n for _, n in step.losses[_SHOWN_LOSSES - 1 :])
        lines[-1] = (f"{number(rest)} for {more + 1} more reasons", "lost")
    if step.undecided and not lost:
        lines.append((", ".join(step.undecided), "soft"))
    if step.made:
        made = ", ".join(f"{number(n)} {plural(unit, n)}" for unit, n in step.made)
        lines.append((f"→ {made}", "soft"))
    return "".join(
        _text(shape.labels_at, y + 14 + _LINE * index, text, kind)
        for index, (text, kind) in enumerate(lines)
    )


def _in_words(reason: str) -> str:
    """A reason as a picture has room for it: `length: too short`; the table has its sentence."""
    return reason.replace(".", ": ").replace("_", " ")


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(one_line(text))}</text>"
    )


_Limits = Sequence[tuple[str | None, str]]  # reasons and the limits shown with them
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
class _Segment:
    """A segment of a bar: its style class, start and length (0 to 100)."""

    kind: str
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class _Bar:
    """A labelled bar; `text` is the number as shown."""

    label: str
    text: str
    segments: tuple[_Segment, ...]


def _bars(rows: Sequence[Mapping[str, Any]], label: str = "value", n: str = "n") -> list[_Bar]:
    """One plain bar per row, scaled to the largest."""
    top = max((row[n] for row in rows), default=0)
    return [
        _Bar(str(row[label]), number(row[n]), (_Segment("plain", 0.0, _scaled(row[n], top)),))
        for row in rows
    ]


def _stacks(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str], label: str) -> list[_Bar]:
    """One bar per row with a segment per kind, scaled to the row with the largest sum."""
    top = max((sum(row[kind] for kind in kinds) for row in rows), default=0)
    return [_stack(row, kinds, label, top) for row in rows]


def _stack(row: Mapping[str, Any], kinds: Sequence[str], label: str, top: int) -> _Bar:
    segments: list[_Segment] = []
    done = 0
    for kind in kinds:
        if row[kind]:
            segments.append(_Segment(kind, _scaled(done, top), _scaled(row[kind], top)))
        done += row[kind]
    return _Bar(str(row[label]), number(done), tuple(segments))


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
    limits: Mapping[str, _Limits],
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


def _named_bars(rows: Sequence[Mapping[str, Any]], n: str, key: str, labels: Labels) -> list[_Bar]:
    """The bars of a count, whose labels are in words."""
    kind = _KINDS.get(key, "")
    return _bars(
        [{**row, "value": words_of(labels, kind, str(row["value"])).name} for row in rows], n=n
    )


def _failing(overlaps: Sequence[Mapping[str, Any]], gates: Sequence[str]) -> list[str]:
    """The gates that an item failed, in their order: the columns of the overlaps."""
    failed = {gate for row in overlaps for gate in row["gates"]}
    return [gate for gate in gates if gate in failed]


def _style(pictures: Sequence[Picture]) -> str:
    styles = dict.fromkeys(picture.style for picture in pictures)
    return "".join([asset("report.css"), _STYLE, *styles])


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
    drawn = steps(stages, summary["rejections"], gates, passed)
    title = funnel_title(manifest, stages)
    return {
        "funnel_wide": draw(drawn, WIDE, title),
        "funnel_narrow": draw(drawn, NARROW, title),
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


def _gate(gate: Mapping[str, Any], limits: _Limits, words: ReasonWords) -> dict[str, Any]:
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
    return _bars([{"value": "+".join(row["gates"]), "n": row["n"]} for row in overlaps])


def _length(name: str, distribution: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "bars": _bars(distribution["histogram"], label="label"),
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
