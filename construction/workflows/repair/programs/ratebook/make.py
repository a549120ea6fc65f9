"""Data of ratebook: `make.py SEED` prints {folder: {path: text}}, `sample` and a folder per case."""

import csv
import io
import json
import random
import sys
from datetime import UTC, date, datetime, timedelta

ACCOUNTS = ["account", "zone", "currency", "cycle_day", "opened", "tax_percent"]
SUBSCRIPTIONS, CREDITS = ["account", "from", "plan"], ["credit", "account", "granted", "expires", "amount"]
EVENTS = ["event", "revision", "account", "at", "quantity", "unit", "received"]
ZONES = {"Europe/Berlin": 1, "Europe/Lisbon": 0, "America/Chicago": -6, "America/New_York": -5, "Asia/Tokyo": 9}


def table(columns, rows):
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return buffer.getvalue()


def files(accounts, plans, credits, events):
    """`accounts`: rows; `plans`: (account, day, plan); `events`: rows, by month of receipt."""
    made = {
        "data/accounts.csv": table(ACCOUNTS, accounts),
        "data/subscriptions.csv": table(SUBSCRIPTIONS, plans),
        "data/credits.csv": table(CREDITS, credits),
    }
    months = {}
    for row in events:
        months.setdefault(row[-1][:7], []).append(row)
    for month, rows in months.items():
        made[f"data/events/{month}.csv"] = table(EVENTS, rows)
    return made


def z(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def event(name, account, at, quantity, unit="h", revision=1, received=None):
    received = received or at.replace(hour=12, minute=5, second=0) + timedelta(days=1)
    return [name, revision, account, z(at), quantity, unit, z(received)]


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def zone_day(draw):
    days = {"Europe/Berlin": "2026-03-29", "America/Chicago": "2026-03-08", "Europe/Lisbon": "2026-03-29"}
    accounts, plans, events = [], [], []
    for number, (zone, day) in enumerate(days.items()):
        name = f"Z{number}"
        accounts.append([name, zone, "EUR", 5, "2026-03-05", 20])
        plans.append([name, "2026-03-05", draw.choice(("small", "payg"))])
        first = {-6: f"{day}T07:10", 1: f"{day}T00:20", 0: f"{day}T00:20"}[ZONES[zone]]
        evening = at(f"{day}T00:00") + timedelta(hours=21 - ZONES[zone], minutes=draw.randint(5, 50))
        events.append(event(f"z{number}a", name, at(first), 4 * draw.randint(3, 8)))
        events.append(event(f"z{number}b", name, evening, 4 * draw.randint(3, 8)))
        if zone != "America/Chicago":
            events.append(event(f"z{number}c", name, at(f"{day}T03:20"), 4 * draw.randint(3, 8)))
    return files(accounts, plans, [], events)


def revisions(draw):
    events, moment = [], at("2026-02-10T10:00")
    for number in range(4):
        used = moment + timedelta(days=number, minutes=draw.randint(0, 200))
        amounts = draw.sample(range(12, 64, 4), 3)
        hours = draw.sample(range(2, 40), 3)
        for revision, amount in enumerate(amounts, 9):
            amount = "" if number == 3 and revision == 11 else amount
            received = used + timedelta(hours=6 + hours[revision - 9] + (40 if revision == 9 else 0))
            events.append(event(f"r{number}", "R1", used, amount, "h", revision, received))
    draw.shuffle(events)
    return files(
        [["R1", "Asia/Tokyo", "EUR", 1, "2026-02-01", 0]], [["R1", "2026-02-01", "payg"]], [], events
    )


def month_ends(draw):
    accounts, plans, events = [], [], []
    for number, day in enumerate((31, 30, 29)):
        name = f"M{number}"
        accounts.append([name, "Europe/Lisbon", "EUR", day, f"2025-12-{day}", 20])
        plans.append([name, f"2025-12-{day}", "payg"])
        for n in range(16):
            used = at("2026-01-06T10:00") + timedelta(days=n * 6 + number)
            events.append(event(f"m{number}.{n}", name, used, draw.randint(2, 25)))
        for day_of_march in (28, 29, 30):
            used = at(f"2026-03-{day_of_march}T12:00")
            events.append(event(f"m{number}.m{day_of_march}", name, used, draw.randint(20, 40)))
    return files(accounts, plans, [], events)


def receipts(draw):
    """Usage on the eve of a period's end, received about local midnight at the end of its grace."""
    accounts, plans, events = [], [], []
    for number, (zone, hours) in enumerate((("Asia/Tokyo", 9), ("America/Chicago", -6))):
        name = f"L{number}"
        accounts.append([name, zone, "USD", 10, "2026-01-10", 0])
        plans.append([name, "2026-01-10", "payg"])
        for n, minutes in enumerate((-draw.randint(20, 200), draw.randint(20, 200))):
            used = at("2026-02-08T12:00") + timedelta(hours=n)
            received = at("2026-02-13T00:00") + timedelta(hours=-hours, minutes=minutes)
            amount = draw.randint(20, 30) + n * 31
            events.append(event(f"l{number}.{n}", name, used, amount, "gb", received=received))
        events.append(event(f"l{number}.x", name, at("2026-02-20T12:00"), draw.randint(3, 30), "gb"))
    return files(accounts, plans, [], events)


def plan_changes(draw):
    events = []
    for n in range(20):
        used = at("2026-02-02T09:00") + timedelta(days=n * 1.3, minutes=draw.randint(0, 300))
        used = used.replace(hour=9 + n % 6, second=0, microsecond=0)
        events.append(event(f"p{n}", f"P{n % 2}", used, draw.randint(9, 17)))
        events.append(event(f"q{n}", f"P{n % 2}", used, draw.randint(4, 12), "gb"))
    day = draw.randint(9, 13)
    plans = [["P0", "2026-02-01", "small"], ["P0", f"2026-02-{day:02}", "payg"], ["P0", f"2026-02-{day + 8}", "small"]]
    plans += [["P1", "2026-02-01", "small"], ["P1", "2026-02-13", "large"]]
    accounts = [[name, "Europe/Berlin", "EUR", 1, "2026-02-01", 0] for name in ("P0", "P1")]
    return files(accounts, plans, [], events)


def rollover(draw):
    amounts = (draw.randint(1, 4), draw.randint(1, 4), draw.randint(130, 170))
    events = [
        event(f"o{n}", "O1", at(f"2026-0{n + 1}-15T11:00"), amount, unit)
        for n, amount in enumerate(amounts)
        for unit in ("h",)
    ]
    events += [
        event(f"t{n}", "O1", at(f"2026-0{n + 1}-16T11:00"), amount // 2, "gb")
        for n, amount in enumerate(amounts)
    ]
    return files(
        [["O1", "Europe/Lisbon", "EUR", 1, "2026-01-01", 0]], [["O1", "2026-01-01", "large"]], [], events
    )


def credits(draw):
    rows = [
        ["C-20", "C1", "2026-01-03", "2026-12-31", draw.randint(9, 20)],
        ["C-07", "C1", "2026-01-03", "2026-03-01", draw.randint(5, 9)],
        ["C-09", "C1", "2026-02-03", "2026-06-30", draw.randint(60, 70)],
    ]
    events = [event(f"c{n}", "C1", at(f"2026-0{n}-15T11:00"), draw.randint(75, 90)) for n in (1, 2, 3)]
    return files(
        [["C1", "Europe/Lisbon", "EUR", 1, "2026-01-01", 0]], [["C1", "2026-01-01", "payg"]], rows, events
    )


def cents(draw):
    """Amounts that end in half a cent."""
    accounts, plans, events = [], [], []
    for number, quarters in enumerate(draw.sample((3, 7, 11, 15, 19, 23), 4)):
        name = f"H{number}"
        accounts.append([name, "Europe/Lisbon", "EUR", 1, "2026-02-01", 5])
        plans.append([name, "2026-02-01", "payg"])
        events.append(event(f"h{number}", name, at("2026-02-11T11:00"), quarters * 250, "mb"))
    return files(accounts, plans, [], events)


def written_off(draw):
    """Usage that reaches us days after its grace, before and after the day of an amendment."""
    accounts, plans, events = [], [], []
    for number, zone in enumerate(("Europe/Lisbon", "Asia/Tokyo", "America/Chicago", "America/New_York")):
        name = f"W{number}"
        accounts.append([name, zone, "EUR", 1, "2026-01-01", 0])
        plans.append([name, "2026-01-01", "payg"])
        for month in (1, 2):
            end = at(f"2026-0{month + 1}-01T12:00")
            for days in range(3, 13):
                used = end - timedelta(days=draw.randint(3, 20))
                received = end + timedelta(days=2 + days)
                events.append(event(f"w{number}.{month}.{days}", name, used, draw.randint(20, 90), "gb", received=received))
    return files(accounts, plans, [], events)


CASES = {
    "zone_day": zone_day,
    "revisions": revisions,
    "month_ends": month_ends,
    "receipts": receipts,
    "plan_changes": plan_changes,
    "rollover": rollover,
    "credits": credits,
    "cents": cents,
    "written_off": written_off,
}


def _customers(draw):
    """Accounts, plans and credits of the sample."""
    accounts, plans, credits, zones = [], [], [], list(ZONES)
    for number in range(12):
        name = f"A{draw.randint(10, 99)}{number:02}"
        zone = zones[number % len(zones)]
        currency = {"Asia/Tokyo": "JPY"}.get(zone, "USD" if zone.startswith("Am") else "EUR")
        cycle = (1, 31, 15, 29, 8, 30, 22, 31)[number % 8]
        accounts.append([name, zone, currency, cycle, f"2025-12-{draw.randint(2, 28):02}", (20, 5, 10, 0)[number % 4]])
        first = "payg" if number % 5 == 4 else draw.choice(("small", "large"))
        plans.append([name, "2025-12-01", first])
        if number % 2 == 0:
            other = {"small": "large", "large": "small", "payg": "small"}[first]
            plans.append([name, f"2026-0{draw.randint(1, 3)}-{draw.randint(4, 24):02}", other])
        if number % 7 == 5:
            plans.append([name, "2026-02-10", "paused"])
            plans.append([name, "2026-02-24", first])
        if number % 2:
            expires = draw.choice(("2026-02-28", "2026-12-31", "2026-06-30"))
            credits.append([f"CR-{400 + number}", name, "2026-01-05", expires, draw.randint(6, 60)])
    return accounts, plans, credits


def _used(draw, names, zone_of):
    """Events of four months, some corrected, some late, a few that cannot be billed."""
    events = []
    for number in range(700):
        name = draw.choice(names)
        used = at("2025-12-20T00:00") + timedelta(minutes=draw.randint(0, 60 * 24 * 112))
        received = used + timedelta(hours=draw.randint(1, 30))
        if draw.random() < 0.06:
            received = used + timedelta(days=draw.randint(4, 20))
        unit, amount = draw.choice((("h", draw.randint(6, 34)), ("gb", draw.randint(1, 9)), ("min", draw.randint(30, 500)), ("mb", 250 * draw.randint(3, 30))))
        row = event(f"E{number:04}", name, used, amount, unit, 1, received)
        events.append(row)
        if draw.random() < 0.08:
            second = event(f"E{number:04}", name, used, amount * 2, unit, 2, received + timedelta(hours=9))
            third = event(f"E{number:04}", name, used, amount * 3, unit, 3, received + timedelta(hours=4))
            events += [second, third]
        if draw.random() < 0.015:
            bad = list(row)
            bad[0], bad[5] = f"X{number:04}", draw.choice(("hrs", "GiB", "kwh"))
            events.append(bad)
    return events


def _edges(draw, accounts):
    """Days on which clocks change, and receipts about midnight."""
    events = []
    for number, (name, zone, _, cycle, *_) in enumerate(accounts):
        hours = ZONES[zone]
        day = "2026-03-08" if zone.startswith("Am") else "2026-03-29"
        for n, hour in enumerate((0.4 - min(hours, 0), 20.5 - hours, 21.3 - hours)):
            events.append(event(f"D{number}.{n}", name, at(day) + timedelta(hours=hour), draw.randint(5, 15)))
        end = date(2026, 2, min(cycle, 28))
        used = at(f"{end - timedelta(days=2)}T12:00")
        for n, minutes in enumerate((-draw.randint(20, 200), draw.randint(20, 200))):
            received = at(f"{end}T00:00") + timedelta(days=3, hours=-hours, minutes=minutes)
            events.append(event(f"N{number}.{n}", name, used, draw.randint(8, 20), received=received))
    return events


def sample(draw):
    accounts, plans, credits = _customers(draw)
    zone_of = {row[0]: row[1] for row in accounts}
    events = _used(draw, list(zone_of), zone_of) + _edges(draw, accounts)
    events.sort(key=lambda row: (row[-1], row[0]))
    return files(accounts, plans, credits, events)


if __name__ == "__main__":
    made = {"sample": sample(random.Random(sys.argv[1]))}
    made |= {name: case(random.Random(f"{sys.argv[1]}/{name}")) for name, case in CASES.items()}
    json.dump(made, sys.stdout)
