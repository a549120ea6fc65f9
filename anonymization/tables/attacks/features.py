"""Numbers as an attacker compares them: a state that perturbation keeps, and a magnitude."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from scipy.special import ndtri

from anonymization.tables.cells import Floats
from anonymization.tables.keystream import Ints

_APART = 1e3  # between states; magnitudes stay far below
_BLOCK = 1e6  # between labels


class Metric(StrEnum):
    """How magnitudes are compared: by logarithm, or by rank among the rows of a label."""

    LOG = "log"
    RANK = "rank"


def states(values: Floats) -> Floats:
    """0 missing, 1 negative, 2 zero, 3 positive."""
    return np.where(np.isnan(values), 0.0, np.sign(np.nan_to_num(values)) + 2)


def logs(values: Floats) -> Floats:
    """log10 of the size, with the sign of the value so that order is kept; 0 where there is none.

    The smallest unit counts as one: reported values are whole numbers of some unit.
    """
    numbers = np.nan_to_num(values)
    return np.sign(numbers) * np.log10(
        np.abs(numbers), out=np.zeros_like(numbers), where=numbers != 0
    )


def ranks(values: Floats, label: Ints) -> Floats:
    """Per column the rank among the rows of a label, 0 to 1; ties share theirs; 0.5 if missing."""
    scaled = np.full(values.shape, 0.5)
    for column in range(values.shape[1]):
        known = np.flatnonzero(~np.isnan(values[:, column]))
        scaled[known, column] = _ranked(values[known, column], label[known])
    return scaled


def _ranked(value: Floats, label: Ints) -> Floats:
    if not len(value):
        return value
    order = np.lexsort((value, label))
    v, group = value[order], label[order]
    new_group = np.append(True, group[1:] != group[:-1])
    new = new_group | np.append(True, v[1:] != v[:-1])
    starts, run = np.flatnonzero(new), np.cumsum(new) - 1
    middle = starts + (np.diff(np.append(starts, len(v))) - 1) / 2
    first = np.flatnonzero(new_group)
    size = np.diff(np.append(first, len(v)))
    which = np.cumsum(new_group) - 1
    scaled = np.empty(len(v))
    scaled[order] = (middle[run] - first[which] + 0.5) / size[which]
    return scaled


def normal_scores(values: Floats, label: Ints) -> Floats:
    """Ranks turned into standard normal quantiles."""
    return np.asarray(ndtri(np.clip(ranks(values, label), 1e-6, 1 - 1e-6)))


def magnitudes(values: Floats, label: Ints, metric: Metric) -> Floats:
    """Rows × columns, larger for larger values."""
    return logs(values) if metric is Metric.LOG else ranks(values, label)


def spread(known: Floats) -> Floats:
    """Per column the distance between quartiles, 1 where there is none."""
    wide = np.subtract(*np.quantile(known, (0.75, 0.25), axis=0))
    return np.where(wide > 0, wide, 1.0)


def coordinates(magnitude: Floats, values: Floats, label: Ints | None) -> Floats:
    """Points whose Euclidean distance sets apart labels first, then states, then magnitudes."""
    points = magnitude + _APART * states(values)
    if label is None:
        return points
    return np.column_stack([points, _BLOCK * label])
