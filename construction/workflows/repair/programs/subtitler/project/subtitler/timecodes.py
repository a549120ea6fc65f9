"""From time codes to frames."""

import re

_CODE = re.compile(r"(\d\d):([0-5]\d):([0-5]\d)[:;](\d\d)")
_DROPPED = 2  # codes a minute


class BadCode(ValueError):
    """A time code that there is not at its rate."""


def frame(code, rate):
    """The number of the frame that a code names, from 0 on."""
    match = _CODE.fullmatch(code)
    if match is None:
        raise BadCode(f"not a time code: {code}")
    hours, minutes, seconds, frames = map(int, match.groups())
    if frames >= rate.counted:
        raise BadCode(f"no such frame at {rate.name}: {code}")
    minutes += 60 * hours
    counted = (minutes * 60 + seconds) * rate.counted + frames
    return counted - _left_out(minutes) if rate.drops else counted


def _left_out(minutes):
    """How many codes were left out in so many minutes."""
    return _DROPPED * (minutes - minutes // 10)
