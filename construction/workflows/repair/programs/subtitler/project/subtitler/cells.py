"""How wide signs are on the screen."""

from unicodedata import category, east_asian_width

_NONE = ("Mn", "Me", "Cf")


def cells(text):
    """The cells of a text; a line break counts as the blank that it stands for."""
    return sum(_cells(sign) for sign in text)


def _cells(sign):
    if category(sign) in _NONE:
        return 0
    return 2 if east_asian_width(sign) in ("W", "F") else 1
