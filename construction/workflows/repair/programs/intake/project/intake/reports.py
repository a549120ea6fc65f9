"""Reports: what was delivered, what it cost, and what it should have cost."""

from intake.contracts import agreed
from intake.database import opened
from intake.rates import NoRate, Rates


def _price(connection, row):
    """Cents for a kilogram and their currency: as delivered, else as agreed; None if neither."""
    if row["price"] is not None and row["currency"] is not None:
        return row["price"], row["currency"]
    terms = agreed(connection, row["supplier"], row["article"], row["day"])
    return (terms["price"], terms["currency"]) if terms else None


def costs(settings, rates):
    """(supplier, month, article) -> [grams, cents of the home currency, deliveries unpriced]."""
    sums = {}
    with opened(settings.database) as connection:
        for row in connection.execute("SELECT * FROM deliveries ORDER BY supplier, number"):
            key = (row["supplier"], row["day"][:7], row["article"])
            entry = sums.setdefault(key, [0, 0, 0])
            price = _price(connection, row)
            if row["grams"] is None or price is None:
                entry[2] += 1
                continue
            cents = rates.home_cents(price[0], price[1], row["day"])
            entry[0] += row["grams"]
            entry[1] += (cents * row["grams"] + 500) // 1000
    return dict(sorted(sums.items()))


def payable(settings, rates):
    """What each delivery costs: supplier, day, article, number, cents of the home currency."""
    lines = []
    with opened(settings.database) as connection:
        for row in connection.execute("SELECT * FROM deliveries ORDER BY supplier, day, number"):
            price, cents = _price(connection, row), 0
            if row["grams"] is not None and price is not None:
                kilogram = rates.home_cents(price[0], price[1], row["day"])
                cents = (kilogram * row["grams"] + 500) // 1000
            lines.append((row["supplier"], row["day"], row["article"], row["number"], cents))
    return lines


def deviations(settings, rates):
    """Deliveries whose price is not the one agreed: number, day, both prices in home cents."""
    lines = []
    with opened(settings.database) as connection:
        query = "SELECT * FROM deliveries WHERE price IS NOT NULL ORDER BY supplier, number"
        for row in connection.execute(query):
            terms = agreed(connection, row["supplier"], row["article"], row["day"])
            if terms is None or row["currency"] is None:
                continue
            try:
                paid = rates.home_cents(row["price"], row["currency"], row["day"])
                due = rates.home_cents(terms["price"], terms["currency"], row["day"])
            except NoRate:
                continue
            if paid != due:
                lines.append((row["supplier"], row["number"], row["day"], paid, due))
    return lines


def read_rates(settings):
    return Rates.read(settings.root / "data/rates.csv", settings.home)
