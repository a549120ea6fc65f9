"""Values of a row: numbers, weights, days, articles."""

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

_GRAMS = {"g": Decimal(1), "kg": Decimal(1000), "t": Decimal(1_000_000), "lb": Decimal("453.59237")}


class BadValue(Exception):
    """Why a row goes to quarantine."""


def number(text, supplier):
    """A decimal number as the supplier writes it, with or without grouping of thousands."""
    grouping = "," if supplier.decimal == "." else "."
    plain = text.replace(" ", "").replace("'", "").replace(grouping, "")
    try:
        return Decimal(plain.replace(supplier.decimal, "."))
    except InvalidOperation:
        raise BadValue(f"no number: {text}") from None


def grams(text, unit, supplier):
    """Whole grams. Units of the supplier's own are brought to ours first."""
    name = supplier.units.get(unit, unit).lower()
    if name not in _GRAMS:
        raise BadValue(f"unknown unit: {unit}")
    amount = number(text, supplier) * _GRAMS[name]
    if amount <= 0:
        raise BadValue(f"weight is not positive: {text}")
    return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def cents(text, supplier):
    return int((number(text, supplier) * 100).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def day(text, supplier):
    try:
        return datetime.strptime(text, supplier.day).date().isoformat()
    except ValueError:
        raise BadValue(f"no day: {text}") from None


def stamp(text):
    """An instant with offset, as UTC text that sorts by time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadValue(f"no time: {text}") from None
    if moment.tzinfo is None:
        raise BadValue(f"time without offset: {text}")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def article(text, supplier, settings):
    """Our number of an article: as it is, or by the supplier's alias."""
    ours = settings.aliases.get((supplier.name, text.casefold()), text)
    if not ours.startswith("ART-"):
        raise BadValue(f"unknown article: {text}")
    return ours
