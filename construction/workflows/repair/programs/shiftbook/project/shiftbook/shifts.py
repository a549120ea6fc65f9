"""From stretches to shifts: what belongs together, and what of it is work."""

from dataclasses import dataclass

from shiftbook.stretches import Stretch
from shiftbook.weeks import Week
from shiftbook.zones import ZERO, elapsed


@dataclass(frozen=True)
class Shift:
    stretches: tuple  # with breaks between them

    @property
    def day(self):
        return self.stretches[0].start.date()

    @property
    def week(self):
        return Week.of(self.day)

    @property
    def present(self):
        return sum((stretch.length for stretch in self.stretches), ZERO)

    @property
    def breaks(self):
        pairs = zip(self.stretches, self.stretches[1:])
        return sum((elapsed(first.end, second.start) for first, second in pairs), ZERO)


def shifts(stretches, same_shift, break_from):
    """Shifts of a person; `stretches` in their order."""
    groups = []
    for stretch in stretches:
        if groups and elapsed(groups[-1][-1].end, stretch.start) < same_shift:
            groups[-1].append(stretch)
        else:
            groups.append([stretch])
    return [Shift(tuple(_closed_up(group, break_from))) for group in groups]


def _closed_up(stretches, break_from):
    """Stretches without the gaps that are too short for a break."""
    made = [stretches[0]]
    for stretch in stretches[1:]:
        if elapsed(made[-1].end, stretch.start) < break_from:
            made[-1] = Stretch(made[-1].start, stretch.end)
        else:
            made.append(stretch)
    return made


def work(shift, breaks, quarter):
    """The work of a shift that is paid; `breaks` says how long a break is needed from when on."""
    paid = shift.present
    for limit, needed in breaks:
        if shift.present > limit:
            missing = max(ZERO, needed - shift.breaks)
            paid = min(paid, max(limit, shift.present - missing))
    return rounded(paid, quarter)


def rounded(length, quarter):
    """To whole quarters, half a quarter upwards."""
    return (length + quarter / 2) // quarter * quarter
