"""Slugs."""

import re
from unicodedata import combining, normalize


def plain(title):
    """A title as a slug, before a number may be added."""
    letters = "".join(sign for sign in normalize("NFKD", title) if not combining(sign))
    return re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")


def free(title, taken):
    """The slug of a title that no article has or had."""
    slug, number = plain(title), 1
    while (made := slug if number == 1 else f"{slug}-{number}") in taken:
        number += 1
    return made
