"""Frame rates: frames in a second as they pass, and as they are counted."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Rate:
    name: str
    exact: Fraction
    counted: int
    drops: bool = False

    def seconds(self, frames):
        """How long a number of frames lasts, exactly."""
        return frames / self.exact


NTSC = Fraction(30000, 1001)
RATES = {
    rate.name: rate
    for rate in (
        Rate("24", Fraction(24), 24),
        Rate("25", Fraction(25), 25),
        Rate("29.97", NTSC, 30),
        Rate("29.97df", NTSC, 30, drops=True),
    )
}
