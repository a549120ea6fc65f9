"""The funnel as an SVG picture: the same bytes for the same counts.

Each step narrows the funnel by what it lost. Where the unit changes (files to sessions, sessions
to instances) there is a heading, and the funnel starts at full width again. It is drawn twice, for
wide pages and for phones, so that its text stays readable on both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from data.figures import number, plural
from data.neutralise import one_line
from data.snapshot.pages import asset

_PASSED = ("kept", "consumed", "chosen")
_STEP = 64  # height of a narrowing step
_BAND = 42  # height of a change of unit
_LINE = 16
_SHOWN_LOSSES = 2
_INSIDE = 24  # half width from which the count fits into the funnel

STYLE = asset("funnel.css")


@dataclass(frozen=True, slots=True)
class Step:
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
class Shape:
    """Dimensions of a drawing: width, the funnel's axis and half width, the label column."""

    width: int
    axis: int
    half: int
    labels_at: int


WIDE = Shape(width=760, axis=210, half=200, labels_at=432)
NARROW = Shape(width=350, axis=52, half=50, labels_at=114)


def steps(
    stages: Sequence[Mapping[str, Any]],
    rejections: Sequence[Mapping[str, Any]],
    gates: list[str],
    undecided: Mapping[str, Sequence[str]],
) -> list[Step]:
    """Stages as narrowing steps; a stage with several gates becomes a step per gate.

    Stages without input are left out. `undecided` as in `data.snapshot.ledger`, by stage.
    """
    steps_drawn: list[Step] = []
    for stage in filter(lambda stage: stage["n_in"], stages):
        mine = [row for row in rejections if _belongs(row, stage)]
        by_gate = [gate for gate in gates if any(row["gate"] == gate for row in mine)]
        passed = tuple(undecided.get(stage["stage"], ()))
        whole = replace(_step(stage, mine), undecided=passed)
        steps_drawn += _gate_steps(stage, mine, by_gate) if by_gate else [whole]
    return steps_drawn


def draw(steps: Sequence[Step], shape: Shape, title: str, *, standalone: bool = False) -> str:
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
    style = f"<style>{STYLE}</style>" if standalone else ""
    return head + style + "".join(parts) + "</svg>"


def _belongs(row: Mapping[str, Any], stage: Mapping[str, Any]) -> bool:
    return bool(row["stage"] == stage["stage"] and row["unit"] == stage["unit"])


def _step(stage: Mapping[str, Any], mine: Sequence[Mapping[str, Any]]) -> Step:
    """A stage without gates: its losses are the reasons, or the outcomes where none is given."""
    losses = Counter[str]()
    for row in mine:
        losses[row["reason"] or row["outcome"]] += row["n"]
    losses["not chosen"] = stage["outcomes"].get("not_chosen", 0)
    passed = sum(stage["outcomes"].get(outcome, 0) for outcome in _PASSED)
    made = tuple(sorted(stage["made"].items()))
    return Step(stage["stage"], stage["unit"], stage["n_in"], passed, _ranked(losses), made)


def _gate_steps(
    stage: Mapping[str, Any], mine: Sequence[Mapping[str, Any]], gates: Sequence[str]
) -> list[Step]:
    """One step per gate in declared order, preceded by one for units rejected outside the gates."""
    steps: list[Step] = []
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
            steps.append(Step(name, stage["unit"], remaining, remaining - lost, _ranked(losses)))
        remaining -= lost
    return steps


def _ranked(losses: Counter[str]) -> tuple[tuple[str, int], ...]:
    ranked = sorted(losses.items(), key=lambda item: (-item[1], item[0]))
    return tuple((name, n) for name, n in ranked if n)


def _run(steps: Sequence[Step], start: int) -> list[Step]:
    """The steps from `start` on that count the same unit."""
    run: list[Step] = []
    for step in steps[start:]:
        if step.unit != steps[start].unit:
            break
        run.append(step)
    return run


def _band(step: Step, shape: Shape, y: int) -> str:
    label = f"{number(step.n_in)} {plural(step.unit, step.n_in)}"
    return _text(shape.axis - shape.half, y + 30, label, "big")


def _narrowing(step: Step, shape: Shape, y: int, top: int, *, odd: bool) -> str:
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


def _labels(step: Step, shape: Shape, y: int) -> str:
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
