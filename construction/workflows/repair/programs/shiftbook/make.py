"""Data of shiftbook: `make.py SEED` prints {folder: {path: text}}, `sample` and a folder per case."""

import csv
import io
import json
import random
import sys
from datetime import UTC, date, datetime, timedelta

PEOPLE = ["person", "site", "weekly_hours", "started"]
PUNCHES = ["id", "person", "kind", "at", "received"]
CORRECTIONS = ["id", "number", "person", "kind", "at", "received"]
WINTER = {"norrby": 1, "lisbon": 0, "chicago": -6}
TURN = {"norrby": "2026-03-29", "lisbon": "2026-03-29", "chicago": "2026-03-08"}  # also a holiday
NAMES = "Aino Bertil Cosima Duarte Elwira Fenna Gustav Hedda Ilario Jolanda Kerttu Leander".split()


def z(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Made:
    """Rows of one folder."""

    def __init__(self, draw):
        self.draw, self.people, self.punches, self.corrections = draw, [], [], []

    def wall(self, site, text, summer=0):
        return moment(text) - timedelta(hours=WINTER[site] + summer)

    def punch(self, person, kind, at, received=None, name=None):
        name = name or f"{self.draw.randrange(16**8):08x}"
        row = [name, person, kind, at, received or at + timedelta(minutes=1)]
        self.punches.append(row)
        return name

    def span(self, person, start, end):
        return self.punch(person, "in", start), self.punch(person, "out", end)

    def correct(self, name, number, person, kind, at, received):
        self.corrections.append([name, number, person, kind, at, received])

    def files(self):
        made = {"data/people.csv": _table(PEOPLE, self.people)}
        for folder, columns, rows in (("punches", PUNCHES, self.punches), ("corrections", CORRECTIONS, self.corrections)):
            months = {}
            for row in sorted(rows, key=lambda row: (row[-1], row[0], str(row[1]))):
                months.setdefault(f"{row[-1]:%Y-%m}", []).append([z(each) if isinstance(each, datetime) or each is None else each for each in row])
            made |= {f"data/{folder}/{month}.csv": _table(columns, rows) for month, rows in months.items()}
            made.setdefault(f"data/{folder}/2026-01.csv", _table(columns, []))
        return made


def _table(columns, rows):
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([columns, *rows])
    return buffer.getvalue()


def clock_change(made, person, site):
    """Nights in which clocks change: a shift across it, or a gap."""
    day, minutes = TURN[site], made.draw.randint(0, 3)
    before = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    if made.draw.random() < 0.5:
        made.span(person, made.wall(site, f"{before}T21:0{minutes}"), made.wall(site, f"{day}T04:45", 1))
    else:
        made.span(person, made.wall(site, f"{before}T20:0{minutes}"), made.wall(site, f"{day}T01:2{minutes + 2}"))
        made.span(person, made.wall(site, f"{day}T05:4{minutes}", 1), made.wall(site, f"{day}T10:0{minutes + 1}", 1))


def holiday_end(made, person, site):
    """The evening of a holiday on which clocks are put forward, until after midnight."""
    following = (date.fromisoformat(TURN[site]) + timedelta(days=1)).isoformat()
    minutes = made.draw.randint(10, 40)
    made.span(person, made.wall(site, f"{TURN[site]}T20:{minutes}", 1), made.wall(site, f"{following}T00:{minutes}", 1))


def both_limits(made, person, site):
    start = made.wall(site, "2026-02-02T06:00")
    length = timedelta(hours=9, minutes=made.draw.randint(3, 14))
    made.span(person, start, start + length)


def ties(made, person, site):
    start = made.wall(site, "2026-02-09T10:00") + timedelta(minutes=made.draw.randint(0, 40))
    length = timedelta(minutes=7.5 + 30 * made.draw.randint(4, 10))
    made.span(person, start, start + length)


def withdrawn(made, person, site):
    start = made.wall(site, "2026-02-16T08:00")
    _, name = made.span(person, start, start + timedelta(hours=4))
    received = start + timedelta(hours=7)
    made.correct(name, 1, person, "out", None, received)
    made.correct(name, 2, person, "out", start + timedelta(hours=4.25 + made.draw.randint(0, 4) / 4), received + timedelta(hours=20))


def vanished(made, person, site):
    start = made.wall(site, "2026-02-28T09:00")  # nothing else in this week
    names = made.span(person, start, start + timedelta(hours=made.draw.randint(3, 5)))
    received = moment("2026-03-05T08:00") + timedelta(minutes=made.draw.randint(0, 500))
    for kind, name in zip(("in", "out"), names):
        made.correct(name, 1, person, kind, None, received)


def copies(made, person, site):
    start = made.wall(site, "2026-03-02T12:00")
    name, other = made.span(person, start, start + timedelta(hours=made.draw.randint(3, 5)))
    late = moment("2026-03-11T12:00") + timedelta(minutes=made.draw.randint(1, 300))
    for kind, copy, at in list((row[2], row[0], row[3]) for row in made.punches if row[0] in (name, other)):
        made.punch(person, kind, at, late, copy)


def forgiven(made, person, site):
    """Owes much for weeks, and works more than owed afterwards."""
    for day in range(9, 14):
        start = made.wall(site, f"2026-03-{day:02}T09:00")
        made.span(person, start, start + timedelta(hours=made.draw.randint(3, 5)))


def night_before(made, person, site):
    start = made.wall(site, f"2026-03-23T0{made.draw.randint(2, 4)}:00", int(site == "chicago"))
    made.span(person, start, start + timedelta(hours=5))


def overdue(made, person, site):
    """Saturdays of which a punch is corrected days afterwards."""
    for n, day in enumerate(("2026-02-07", "2026-02-14", "2026-02-21", "2026-03-21", "2026-04-04")):
        _corrected(made, person, site, day, n + made.draw.randint(2, 5))


def _corrected(made, person, site, day, days):
    kind = made.draw.choice(("in", "out"))
    start = made.wall(site, f"{day}T10:00", int(site == "chicago" and day > TURN[site]))
    names = made.span(person, start, start + timedelta(hours=3))
    more = timedelta(minutes=made.draw.choice((15, 15, 30, 45, 60, 75)))
    at = start + timedelta(hours=3) + more if kind == "out" else start - more
    received = at + timedelta(days=days, minutes=made.draw.randint(-200, 200))
    made.correct(names[kind == "out"], 1, person, kind, at, received)


CASES = {
    case.__name__: case
    for case in (clock_change, holiday_end, both_limits, ties, withdrawn, vanished, copies, forgiven, night_before)
}


def overdue_case(draw):
    """Both kinds of punches, of several days, a few days before and after the last one to do it."""
    made = Made(draw)
    for number in range(12):
        person, site = f"{draw.choice(NAMES)} {number}", list(WINTER)[number % 3]
        made.people.append([person, site, 1, "2026-02-02"])
        overdue(made, person, site)
    return made.files()


def case(name, draw):
    made = Made(draw)
    for person, site in zip(draw.sample(NAMES, 3), WINTER):
        weekly = 12 if name == "forgiven" else 1
        made.people.append([person, site, weekly, "2026-02-02"])
        CASES[name](made, person, site)
        if name == "clock_change":  # both kinds, under other names
            for twin in (f"{person} II", f"{person} III"):
                made.people.append([twin, site, weekly, "2026-02-02"])
                CASES[name](made, twin, site)
    return made.files()


def _usual(made, person, site, weeks):
    """Tuesdays to Fridays of the weeks, in the forenoon."""
    for number in weeks:
        for day in range(1, 5):
            start = made.wall(site, date.fromisocalendar(2026, number, day + 1).isoformat() + "T08:30")
            start += timedelta(minutes=made.draw.randint(-20, 20))
            middle = start + timedelta(minutes=made.draw.randint(110, 150))
            gap = timedelta(minutes=made.draw.choice((6, 12, 18, 35, 40)))
            made.span(person, start, middle)
            made.span(person, middle + gap, middle + gap + timedelta(minutes=made.draw.randint(140, 190)))


def sample(draw):
    made = Made(draw)
    for number, person in enumerate(draw.sample(NAMES, 9)):
        site = list(WINTER)[number % 3]
        made.people.append([person, site, 16 if number % 2 == 0 else 20, "2026-01-12" if number % 4 else "2026-01-15"])
        away = {4, 5, 9} if number % 2 else {9}
        _usual(made, person, site, [week for week in range(3, 16) if week not in away | {10, 11, 14}])
        for each in draw.sample(list(CASES.values()), 8):
            if each is not forgiven:
                each(made, person, site)
        _usual(made, person, site, [10, 14])
        overdue(made, person, site)
        if number % 2:
            forgiven(made, person, site)
    copied = [row for row in made.punches if draw.random() < 0.02]
    made.punches += [[*row[:4], row[4] + timedelta(minutes=draw.randint(5, 50))] for row in copied]
    for number in range(6):
        at = moment(f"2026-02-{draw.randint(3, 26):02}T08:00") + timedelta(minutes=draw.randint(0, 500))
        made.punch(f"Visitor {draw.randint(10, 99)}", "in", at)
    return made.files()


if __name__ == "__main__":
    made = {"sample": sample(random.Random(sys.argv[1]))}
    made |= {name: case(name, random.Random(f"{sys.argv[1]}/{name}")) for name in CASES}
    made["overdue"] = overdue_case(random.Random(f"{sys.argv[1]}/overdue"))
    json.dump(made, sys.stdout)
