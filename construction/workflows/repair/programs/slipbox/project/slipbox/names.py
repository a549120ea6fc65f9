"""When two names are the same."""

from unicodedata import normalize


def key(name):
    """What names that are the same have in common."""
    folded = normalize("NFC", name).casefold()
    return " ".join(normalize("NFC", folded).split())


def entries(text):
    """The entries of a line of the head, without empty ones."""
    return [entry.strip() for entry in text.split(";") if entry.strip()]
