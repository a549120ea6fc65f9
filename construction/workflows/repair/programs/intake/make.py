"""Data of intake: `make.py SEED` prints {folder: {path: text}}, `sample` and a folder per case."""

import json
import random
import sys
from datetime import UTC, date, datetime, timedelta

FORMS = {
    "aldane": (",", ".", "%Y-%m-%d", "delivery,article,date,weight,unit,price_kg,currency,site,changed", "csv"),
    "brugnoli": (";", ",", "%d.%m.%Y", "Nummer;Artikel;Datum;Gewicht;Einheit;Preis;Waehrung;Werk;Stand", "csv"),
    "corvane": (None, ".", "%Y-%m-%d", "delivery,article,date,weight,unit,price_kg,currency,site,changed", "jsonl"),
    "dunmore": ("\t", ".", "%d/%m/%Y", "delivery\tarticle\tdate\tweight\tunit\tprice_kg\tcurrency\tsite\tchanged", "csv"),
}
CONTRACT_HEADS = {"aldane": "article,valid_from,price_kg,currency,changed", "dunmore": "article\tvalid_from\tprice_kg\tcurrency\tchanged",
                  "brugnoli": "Artikel;Gueltig ab;Preis;Waehrung;Stand", "corvane": "article,valid_from,price_kg,currency,changed"}
ALIASES = {"brugnoli": {1: "Weizenmehl 550", 2: "RÜBENZUCKER fein", 3: "Magermilchpulver"}, "corvane": {1: "FLR-AP", 2: "sug-f", 3: "MILK-SK"}, "dunmore": {4: "Flour, strong"}}
CURRENCIES = {"aldane": "EUR", "brugnoli": "CHF", "corvane": "USD", "dunmore": "GBP"}
OFFSETS = {"aldane": (0, 0), "brugnoli": (1, 2), "corvane": (-6, -5), "dunmore": (0, 1)}


def article(supplier, number):
    return ALIASES.get(supplier, {}).get(number, f"ART-100{number}")


def num(supplier, value, places=2, grouped=False):
    decimal = FORMS[supplier][1]
    text = f"{value:,.{places}f}" if grouped else f"{value:.{places}f}"
    if decimal == ",":
        text = text.replace(",", "\0").replace(".", ",").replace("\0", ".")
    return text


def stamped(supplier, moment, offset=None):
    hours = OFFSETS[supplier][0] if offset is None else offset
    sign = "+" if hours >= 0 else "-"
    return (moment + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S") + f"{sign}{abs(hours):02}:00"


def row(supplier, number, art, day, weight, unit, price, stamp, site="S1", currency=None):
    """Cells as texts; `weight` and `price` are texts already, or empty."""
    currency = (currency or CURRENCIES[supplier]) if price else ""
    day = day.strftime(FORMS[supplier][2])
    return [number, article(supplier, art), day, weight, unit if weight else "", price, currency, site, stamp]


def written(supplier, rows, head=None):
    delimiter, _, _, columns, form = FORMS[supplier]
    head = head or columns
    if form == "jsonl":
        names = head.split(",")
        lines = [{name: cell for name, cell in zip(names, cells) if cell} for cells in rows]
        return "".join(json.dumps(line) + "\n" for line in lines)
    quoted = [[f'"{cell}"' if delimiter in cell else cell for cell in cells] for cells in rows]
    return "\n".join([head, *(delimiter.join(cells) for cells in quoted)]) + "\n"


def contracts(supplier, prices, moment):
    """`prices`: (article, day, price)."""
    rows = [
        [article(supplier, art), day.strftime(FORMS[supplier][2]), num(supplier, price), CURRENCIES[supplier], stamped(supplier, moment)]
        for art, day, price in prices
    ]
    return written(supplier, rows, CONTRACT_HEADS[supplier])


def name(day, supplier, kind="deliveries"):
    return f"inbox/{day}_{supplier}_{kind}.{FORMS[supplier][4]}"


def rates(draw, start="2025-12-15", days=200):
    lines, day = ["day,currency,rate"], date.fromisoformat(start)
    levels = {"CHF": 1.05, "USD": 0.92, "GBP": 1.17}
    for n in range(days):
        today = day + timedelta(days=n)
        if today.weekday() < 5:
            for currency in levels:
                levels[currency] *= 1 + draw.uniform(-0.012, 0.012)
                lines.append(f"{today},{currency},{levels[currency]:.4f}")
    return "\n".join(lines) + "\n"


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def same_stamp(draw):
    """A file ends amid rows of one moment; the next one starts with the others of it."""
    moment = at(f"2026-03-09T{draw.randint(10, 15)}:30:00")
    day, made = date(2026, 3, 9), {}
    rows = [row("aldane", f"D{n}", 5 + n % 3, day, f"{draw.randint(50, 900)}.5", "kg", f"{draw.randint(2, 9)}.20", stamped("aldane", moment)) for n in range(6)]
    early = row("aldane", "D9", 5, day, "40", "kg", "3.10", stamped("aldane", moment - timedelta(hours=2)))
    made[name("2026-03-10", "aldane")] = written("aldane", [early, *rows[:3]])
    made[name("2026-03-11", "aldane")] = written("aldane", rows[2:])
    return made


def offsets(draw):
    """Summer time ends between two changes, or sites of a supplier are in different zones."""
    moment, day, first, second = at("2026-03-12T15:00:00"), date(2026, 3, 12), [], []
    for n in range(5):
        old = f"{draw.randint(100, 400)}"
        new = f"{draw.randint(500, 900)}"
        later = moment + timedelta(minutes=30)
        a = row("corvane", f"F{n}", 1 + n % 3, day, old, "kg", "1.40", stamped("corvane", moment, -4), "S2", "EUR")
        b = row("corvane", f"F{n}", 1 + n % 3, day, new, "kg", "1.40", stamped("corvane", later, -8), "S2", "EUR")
        first += [a, b]
    for n in range(3):
        second.append(row("corvane", f"G{n}", 2, day, f"{draw.randint(100, 900)}", "kg", "1.60", stamped("corvane", moment + timedelta(hours=1, minutes=n), -8), "S3", "EUR"))
    return {name("2026-03-13", "corvane"): written("corvane", first), name("2026-03-14", "corvane"): written("corvane", second)}


def partial(draw):
    """Changes that say only what changed."""
    moment, day, first, second = at("2026-03-02T08:00:00"), date(2026, 3, 2), [], []
    for n in range(6):
        weight, price = f"{draw.randint(100, 400)}.25", f"{draw.randint(2, 7)}.{draw.randint(10, 99)}"
        first.append(row("aldane", f"P{n}", 5 + n % 2, day, weight, "kg", price, stamped("aldane", moment)))
        later = stamped("aldane", moment + timedelta(days=1, hours=n))
        changed = (f"{draw.randint(500, 900)}", "") if n % 2 else ("", "8.15")
        second.append(row("aldane", f"P{n}", 5 + n % 2, day, changed[0], "kg", changed[1], later, site=""))
    terms = contracts("aldane", [(5, date(2026, 1, 1), 2.5), (6, date(2026, 1, 1), 3.5)], moment)
    return {
        name("2026-03-01", "aldane", "contracts"): terms,
        name("2026-03-03", "aldane"): written("aldane", first),
        name("2026-03-04", "aldane"): written("aldane", second),
    }


def price_changes(draw):
    """Agreed prices change several times; one is agreed afterwards for days between others."""
    moment = at("2026-01-02T08:00:00")
    prices = draw.sample(range(200, 900), 6)
    starts = [date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1), date(2026, 4, 1)]
    made = {
        name(f"2026-01-0{n + 2}", "dunmore", "contracts"): contracts("dunmore", [(4, start, prices[n] / 100)], moment)
        for n, start in enumerate(starts)
    }
    made[name("2026-01-07", "dunmore", "contracts")] = contracts("dunmore", [(4, date(2026, 2, 15), prices[4] / 100)], moment)
    rows = [
        row("dunmore", f"K{n}", 4, date(2026, 1, 12) + timedelta(days=n * 9), f"{draw.randint(20, 90)}", "kg", "" if n % 3 else "5.00", stamped("dunmore", moment + timedelta(days=100, hours=n), 1))
        for n in range(12)
    ]
    made[name("2026-04-28", "dunmore")] = written("dunmore", rows)
    return {path: text.replace("GBP", "EUR") for path, text in made.items()}


def fixings(draw):
    """Foreign prices on working days and on days between."""
    day = date(2026, 3, 2)
    rows = [
        row("corvane", f"X{n}", 1 + n % 3, day + timedelta(days=n), f"{draw.randint(2000, 9000)}", "kg", f"{draw.randint(2, 9)}.35", stamped("corvane", at("2026-03-20T10:00:00") + timedelta(minutes=n)))
        for n in range(10)
    ]
    return {name("2026-03-21", "corvane"): written("corvane", rows)}


def grouping(draw):
    """Thousands with and without decimals."""
    day, moment, rows = date(2026, 3, 5), at("2026-03-05T10:00:00"), []
    for n in range(6):
        weight = num("brugnoli", draw.randint(1001, 9000) + (0.5 if n % 2 else 0), n % 2, True)
        rows.append(row("brugnoli", f"W{n}", 1 + n % 3, day, weight, "kg", num("brugnoli", 1.5), stamped("brugnoli", moment + timedelta(minutes=n)), currency="EUR"))
    more = [row("aldane", f"V{n}", 6, day, num("aldane", draw.randint(1001, 9000), 0, True), "kg", "2.00", stamped("aldane", moment + timedelta(minutes=n))) for n in range(3)]
    return {name("2026-03-06", "brugnoli"): written("brugnoli", rows), name("2026-03-06", "aldane"): written("aldane", more)}


def order(draw):
    """A file lists the changes of a delivery in no order."""
    day, moment, rows = date(2026, 3, 5), at("2026-03-05T10:00:00"), []
    for n in range(5):
        for change in draw.sample(range(4), 4):
            rows.append(row("aldane", f"B{n}", 7, day, f"{100 * (n + 1) + change * draw.randint(11, 17)}", "kg", f"{change + 2}.00", stamped("aldane", moment + timedelta(hours=change, minutes=n))))
    rows.append(rows.pop(next(i for i, cells in enumerate(rows) if cells[5] == "2.00")))
    return {name("2026-03-06", "aldane"): written("aldane", rows)}


def pounds(draw):
    day, moment = date(2026, 3, 5), at("2026-03-05T10:00:00")
    rows = [row("corvane", f"L{n}", 1, day, f"{draw.choice((3, 5, 8, 10, 13, 15, 20, 23))}", "lbs", "900.00", stamped("corvane", moment + timedelta(minutes=n)), currency="EUR") for n in range(8)]
    return {name("2026-03-06", "corvane"): written("corvane", rows)}


def consigned(draw):
    """Deliveries to all sites about the days from which some are on consignment."""
    made = {}
    for supplier, art in (("aldane", 5), ("brugnoli", 2), ("dunmore", 4)):
        rows, moment = [], at("2026-03-05T10:00:00")
        for n in range(30):
            day = date(2026, 1, 27) + timedelta(days=n * 1.3)
            price = num(supplier, draw.randint(100, 900) / 100) if n % 5 else ""
            weight = num(supplier, draw.randint(60, 900), 0)
            stamp = stamped(supplier, moment + timedelta(minutes=n))
            rows.append(row(supplier, f"N{n}", art, day, weight, "kg", price, stamp, f"S{n % 3 + 1}", "EUR"))
        terms = contracts(supplier, [(art, date(2026, 1, 1), draw.randint(100, 900) / 100)], at("2026-01-02T08:00:00"))
        made[name("2026-01-02", supplier, "contracts")] = terms.replace(CURRENCIES[supplier], "EUR")
        made[name("2026-03-06", supplier)] = written(supplier, rows)
    return made


CASES = {
    "same_stamp": same_stamp,
    "offsets": offsets,
    "partial": partial,
    "price_changes": price_changes,
    "fixings": fixings,
    "grouping": grouping,
    "order": order,
    "pounds": pounds,
    "consigned": consigned,
}


def _delivered(draw, supplier, number, moment):
    """A delivery and the changes to it: (moment, row)."""
    numbers = {"aldane": (5, 6, 7), "brugnoli": (1, 2, 3), "corvane": (1, 2, 3), "dunmore": (4, 5)}
    art = draw.choice(numbers[supplier])
    day = (moment - timedelta(days=draw.randint(0, 2))).date()
    unit, weight = "kg", num(supplier, draw.randint(60, 6000), 0, draw.random() < 0.6)
    if supplier == "corvane" and draw.random() < 0.5:
        unit = "lbs"
    if supplier == "brugnoli":
        unit = "Kilo"
    if draw.random() < 0.02:
        unit = "pallet"
    price = num(supplier, draw.randint(90, 900) / 100) if draw.random() < 0.7 else ""
    rows, offset = [], None
    if supplier in ("corvane", "brugnoli"):
        offset = draw.choice(OFFSETS[supplier]) if supplier == "brugnoli" else draw.choice((-4, -8))
    site = draw.choice(("S1", "S2", "S3"))
    rows.append((moment, row(supplier, number, art, day, weight, unit, price, stamped(supplier, moment, offset), site)))
    for _ in range(draw.choice((0, 0, 1, 2))):
        moment = moment + timedelta(minutes=draw.randint(20, 400))
        again = num(supplier, draw.randint(60, 6000), 0, draw.random() < 0.6) if draw.random() < 0.5 else ""
        price = "" if again else num(supplier, draw.randint(90, 900) / 100)
        if supplier == "corvane":
            offset = draw.choice((-4, -8))
        rows.append((moment, row(supplier, number, art, day, again, unit, price, stamped(supplier, moment, offset), "")))
    return rows


def _agreed(draw, supplier):
    made, numbers = {}, {"aldane": (5, 6, 7), "brugnoli": (1, 2, 3), "corvane": (1, 2, 3), "dunmore": (4, 5)}
    starts = (date(2026, 1, 1), date(2026, 1, 25), date(2026, 2, 14), date(2026, 3, 8))
    for n, start in enumerate(starts):
        day = date(2026, 1, 2) if n == 0 else start - timedelta(days=6)
        prices = [(art, start, draw.randint(100, 900) / 100) for art in numbers[supplier]]
        made[name(day, supplier, "contracts")] = contracts(supplier, prices, at(f"{day}T07:00:00"))
    return made


def sample(draw):
    made = {}
    for supplier in FORMS:
        made |= _agreed(draw, supplier)
        changes = []
        for number in range(70):
            moment = at("2026-01-05T08:00:00") + timedelta(minutes=20 * draw.randint(0, 72 * 100))
            changes += _delivered(draw, supplier, f"{supplier[0].upper()}{4000 + number}", moment)
        changes.sort(key=lambda change: change[0])
        cuts = [round(len(changes) * n / 6) for n in range(7)]
        for first, last in zip(cuts, cuts[1:]):
            part = changes[max(first - 2, 0) : last]
            for n in (last - 1, last):  # rows of the moment at which the file was cut
                if last < len(changes) and n == last:
                    moment, cells = changes[last]
                    same = changes[last - 1][1][8]
                    changes[last] = (changes[last - 1][0], [*cells[:8], same])
            shuffled = draw.sample(part, len(part)) if supplier != "dunmore" else part
            day = part[-1][0].date() + timedelta(days=1)
            made[name(day, supplier)] = written(supplier, [cells for _, cells in shuffled])
    made["data/rates.csv"] = rates(draw)
    return made


if __name__ == "__main__":
    made = {"sample": sample(random.Random(sys.argv[1]))}
    for case, make in CASES.items():
        draw = random.Random(f"{sys.argv[1]}/{case}")
        made[case] = make(draw) | {"data/rates.csv": rates(draw)}
    json.dump(made, sys.stdout)
