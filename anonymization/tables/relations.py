"""Hard relations between measures, restored after perturbation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from anonymization.tables.cells import Bools, Cells, Floats, NumericColumn
from anonymization.tables.config import BoundRelation, Relations, SumRelation


@dataclass(frozen=True, slots=True)
class Restored:
    """One relation: rows in which it can be checked, held before, and hold after.

    `forced` rows needed more than the rule: parts that share one factor so that the total keeps
    its sign, or a lesser that was set to the greater.
    """

    relation: str
    rows: int
    held_before: int
    hold_after: int
    forced: int


# Rescales a total's remainder: (total, moved remainder, original remainder, rows) → remainder.
Rescale = Callable[[str, Floats, Floats, Bools], Floats]


def restore(
    columns: Mapping[str, NumericColumn],
    value: dict[str, Floats],
    relations: Relations,
    rescale: Rescale,
) -> tuple[Restored, ...]:
    """Change `value` (in units of the last decimal) so that relations that held hold again."""
    restored = [_restore_sum(columns, value, relation, rescale) for relation in relations.sums]
    restored += [_restore_bound(columns, value, relation) for relation in relations.bounds]
    return tuple(restored)


def _cells(columns: Mapping[str, NumericColumn], name: str) -> Cells:
    column = columns[name]
    return column.cells(slice(0, len(column.series)))


def _restore_sum(
    columns: Mapping[str, NumericColumn],
    value: dict[str, Floats],
    relation: SumRelation,
    rescale: Rescale,
) -> Restored:
    """total = sum of the known parts + a remainder.

    Where all parts are known, a remainder of at most one reported unit per part is rounding and
    stays. Any other remainder, such as a missing part, takes the factor of the total's own noise.
    """
    total = _cells(columns, relation.total)
    parts = [_cells(columns, name) for name in relation.parts]
    real = [part.value / part.scale for part in parts]
    rest = total.value / total.scale - sum(real)
    some = total.known & np.logical_or.reduce([part.known for part in parts])
    complete = total.known & np.logical_and.reduce([part.known for part in parts])
    slack = _rounding_unit(total, parts) * len(parts)
    held = complete & (np.abs(rest) <= slack)
    own = _ratio(np.abs(value[relation.total]), np.abs(total.value))
    rest = np.where(held, rest, rescale(relation.total, rest * own, rest, some & ~held))
    moved = _moved(value, relation.parts, parts)
    forced = some & (np.sign(sum(moved) + rest) != np.sign(total.value))
    _share_factor(value, relation.parts, parts, real, moved, forced)
    moved = _moved(value, relation.parts, parts)
    new = (sum(moved) + rest) * total.scale
    new = np.where(held, np.rint(new), total.settled(new))
    value[relation.total] = np.where(some, new, value[relation.total])
    remainder = value[relation.total] / total.scale - sum(moved)
    hold = int((held & (np.abs(remainder) <= slack)).sum())
    name = f"{relation.total} = {' + '.join(relation.parts)}"
    return Restored(name, int(complete.sum()), int(held.sum()), hold, int(forced.sum()))


def _moved(value: Mapping[str, Floats], names: tuple[str, ...], parts: list[Cells]) -> list[Floats]:
    return [value[name] / part.scale for name, part in zip(names, parts, strict=True)]


def _rounding_unit(total: Cells, parts: list[Cells]) -> Floats:
    """The unit a row is reported in: the second finest of its columns', since one of them may
    end in a zero, or be exact, by chance."""
    units = np.sort([c.grid / c.scale for c in (total, *parts)], axis=0)
    return np.asarray(units[1])


def _ratio(after: Floats, before: Floats) -> Floats:
    return np.divide(after, before, out=np.ones_like(after), where=before > 0)


def _share_factor(
    value: dict[str, Floats],
    names: tuple[str, ...],
    parts: list[Cells],
    real: list[Floats],
    moved: list[Floats],
    rows: Bools,
) -> None:
    """In `rows` all parts take the factor of the largest part, so that the sum keeps its sign."""
    largest = np.argmax(np.abs(real), axis=0)
    take = (largest, np.arange(len(largest)))
    factor = _ratio(np.abs(np.array(moved)[take]), np.abs(np.array(real)[take]))
    for name, part in zip(names, parts, strict=True):
        value[name] = np.where(rows, part.settled(part.value * factor), value[name])


def _restore_bound(
    columns: Mapping[str, NumericColumn], value: dict[str, Floats], relation: BoundRelation
) -> Restored:
    """If the lesser exceeds the greater, it is set below it, about as far as it was before.

    With the distance a = log(greater / lesser) before and the excess v after, the new distance is
    a · (1 + e⁻ᵛ) / 2: it depends on the noise, so the old ratio is not revealed.
    """
    lesser, greater = _cells(columns, relation.lesser), _cells(columns, relation.greater)
    known = lesser.known & greater.known
    low, high = lesser.value / lesser.scale, greater.value / greater.scale
    held = known & (low <= high)
    limit, own = value[relation.greater] / greater.scale, value[relation.lesser] / lesser.scale
    passed = held & (own > limit)
    positive = passed & (low > 0) & (limit > 0)
    distance = np.log(_ratio(np.where(positive, high, 1.0), np.where(positive, low, 1.0)))
    excess = np.log(_ratio(np.where(positive, own, 1.0), np.where(positive, limit, 1.0)))
    below = limit * np.exp(-distance * (1 + np.exp(-excess)) / 2) * lesser.scale
    new = np.where(positive, lesser.settled(below), value[relation.lesser])
    forced = held & ((new / lesser.scale > limit) | (low == high)) & (new != limit * lesser.scale)
    new = np.where(forced, np.floor(limit * lesser.scale), new)
    value[relation.lesser] = new
    hold = int((held & (new / lesser.scale <= limit)).sum())
    name = f"{relation.lesser} <= {relation.greater}"
    return Restored(name, int(known.sum()), int(held.sum()), hold, int(forced.sum()))
