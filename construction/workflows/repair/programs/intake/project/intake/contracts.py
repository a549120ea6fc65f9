"""Prices that were agreed: each is valid until the day before the next one of its article."""

from datetime import date, timedelta

from intake import values

FOREVER = "9999-12-31"


def contract(raw, supplier, settings):
    """A contract price of a raw row. Raises BadValue."""
    for name in ("article", "valid_from", "price", "currency", "stamp"):
        if name not in raw.values:
            raise values.BadValue(f"no {name}")
    return {
        "article": values.article(raw.values["article"], supplier, settings),
        "valid_from": values.day(raw.values["valid_from"], supplier),
        "price": values.cents(raw.values["price"], supplier),
        "currency": raw.values["currency"],
        "stamp": values.stamp(raw.values["stamp"]),
    }


def _before(day):
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


def store(connection, supplier, row):
    """Insert a price between those before and after it; the same start replaces the price."""
    key = (supplier.name, row["article"])
    later = connection.execute(
        "SELECT min(valid_from) FROM contracts "
        "WHERE supplier = ? AND article = ? AND valid_from > ?",
        (*key, row["valid_from"]),
    ).fetchone()[0]
    connection.execute(
        "UPDATE contracts SET valid_to = ? "
        "WHERE supplier = ? AND article = ? AND valid_from < ? AND valid_to >= ?",
        (_before(row["valid_from"]), *key, row["valid_from"], row["valid_from"]),
    )
    valid_to = _before(later) if later else FOREVER
    connection.execute(
        "INSERT INTO contracts VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (supplier, article, valid_from) DO UPDATE SET "
        "price = excluded.price, currency = excluded.currency, loaded = excluded.loaded "
        "WHERE excluded.loaded >= contracts.loaded",
        (*key, row["valid_from"], valid_to, row["price"], row["currency"], row["stamp"]),
    )


def agreed(connection, supplier, article, day):
    """The price of an article on a day, or None."""
    return connection.execute(
        "SELECT price, currency FROM contracts "
        "WHERE supplier = ? AND article = ? AND valid_from <= ? AND valid_to >= ?",
        (supplier, article, day, day),
    ).fetchone()
