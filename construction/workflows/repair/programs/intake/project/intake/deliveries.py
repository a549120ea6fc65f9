"""Rows of deliveries: checked, and brought into the table."""

import hashlib
import json

from intake import values

FIELDS = ("article", "day", "grams", "price", "currency", "site")


def _optional(raw, name, make):
    return make(raw.values[name]) if name in raw.values else None


def delivery(raw, supplier, settings):
    """A delivery of a raw row. Raises BadValue. What a row does not have is None."""
    for name in ("number", "article", "day", "stamp"):
        if name not in raw.values:
            raise values.BadValue(f"no {name}")
    unit = raw.values.get("unit", "kg")
    return {
        "number": raw.values["number"],
        "article": values.article(raw.values["article"], supplier, settings),
        "day": values.day(raw.values["day"], supplier),
        "grams": _optional(raw, "weight", lambda text: values.grams(text, unit, supplier)),
        "price": _optional(raw, "price", lambda text: values.cents(text, supplier)),
        "currency": raw.values.get("currency"),
        "site": raw.values.get("site"),
        "stamp": values.stamp(raw.values["stamp"]),
    }


def digest(row):
    """What makes two rows the same: everything that they say."""
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()


def is_new(connection, supplier, row):
    """Was a row not taken before? Rows below the watermark were, all others are looked up."""
    mark = connection.execute(
        "SELECT stamp FROM watermark WHERE supplier = ?", (supplier.name,)
    ).fetchone()
    if mark is not None and row["stamp"] < mark["stamp"]:
        return False
    known = connection.execute(
        "SELECT 1 FROM seen WHERE supplier = ? AND digest = ?", (supplier.name, digest(row))
    ).fetchone()
    return known is None


def store(connection, supplier, row):
    """Insert a delivery, or bring the one of its number up to date with what the row has."""
    columns = {"supplier": supplier.name, **row}
    names, marks = ", ".join(columns), ", ".join("?" for _ in columns)
    changes = ", ".join(f"{name} = coalesce(excluded.{name}, {name})" for name in FIELDS)
    connection.execute(
        f"INSERT INTO deliveries ({names}) VALUES ({marks}) "
        f"ON CONFLICT (supplier, number) DO UPDATE SET {changes}, stamp = excluded.stamp "
        "WHERE excluded.stamp >= deliveries.stamp",
        tuple(columns.values()),
    )
    connection.execute(
        "INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (supplier.name, row["stamp"], digest(row))
    )


def raise_watermark(connection, supplier, stamps):
    """The latest stamp of a file becomes the watermark; older rows need not be known any more."""
    if not stamps:
        return
    connection.execute(
        "INSERT INTO watermark VALUES (?, ?) ON CONFLICT (supplier) "
        "DO UPDATE SET stamp = max(stamp, excluded.stamp)",
        (supplier.name, max(stamps)),
    )
    connection.execute(
        "DELETE FROM seen WHERE supplier = ?1 AND stamp < "
        "(SELECT stamp FROM watermark WHERE supplier = ?1)",
        (supplier.name,),
    )
