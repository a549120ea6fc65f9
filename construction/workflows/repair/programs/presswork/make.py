"""Data of presswork: `make.py SEED` prints {folder: {path: text}}, `sample` and a folder per case."""

import csv
import io
import json
import random
import sys
from datetime import datetime, timedelta

REVISIONS = ["article", "revision", "received", "section", "kind", "publish", "embargo", "title"]
OUTAGES = ["channel", "from", "until"]
SECTIONS = ["city", "business", "islands"]
OFFSETS = {"city": 1, "business": -5, "islands": -1}  # in winter
TITLES = """Snow in the old town;Ferries stay in harbour;Council votes on trams;Élections à l'île;Market closes early;Harbour tunnel delayed;Whale seen off the coast;Rents rise again;Tram line nine reopens;Straßenfest abgesagt;Volcano quiet after a week;Bank moves its seat;Museum opens at night;Bread prices;Storm warning lifted;Mayor answers questions""".split(";")


def table(columns, rows):
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([columns, *rows])
    return buffer.getvalue()


def z(moment):
    return moment.strftime("%Y-%m-%dT%H:%MZ")


def at(text):
    return datetime.fromisoformat(text)


def files(revisions, outages=()):
    return {
        "data/revisions.csv": table(REVISIONS, revisions),
        "data/outages.csv": table(OUTAGES, [[channel, z(start), z(end)] for channel, start, end in outages]),
    }


def row(name, number, received, section, kind, publish, title, embargo=""):
    return [name, number, z(received), section, kind, publish.strftime("%Y-%m-%dT%H:%M"), embargo, title]


def local_time(draw):
    rows, early = [], at("2026-03-05T08:00")
    times = {
        "city": ["2026-03-29T01:40", "2026-03-29T02:35", "2026-03-29T03:10"],
        "islands": ["2026-03-29T00:20", "2026-03-28T23:50", "2026-03-29T01:15"],
        "business": ["2026-03-08T01:50", "2026-03-08T02:20", "2026-03-08T05:30"],
    }
    for section, moments in times.items():
        for number, moment in enumerate(moments):
            shown = at(moment) + timedelta(minutes=draw.randint(0, 9))
            rows.append(row(f"{section}-{number}", 1, early, section, "major", shown, draw.choice(TITLES)))
    return files(rows)


def embargo(draw):
    rows = []
    for number in range(5):
        day = at(f"2026-03-1{number + 2}T06:00")
        section, offset = draw.choice((("city", "+01:00"), ("business", "-05:00")))
        until = day + timedelta(hours=draw.randint(5, 7), minutes=draw.choice((0, 15, 30)))
        rows.append(row(f"e-{number}", 1, day, section, "major", day - timedelta(hours=9), draw.choice(TITLES), f"{until:%Y-%m-%dT%H:%M}{offset}"))
    return files(rows)


def ties(draw):
    rows = []
    for number, name in enumerate(draw.sample(("ape", "bee", "cat", "dog", "elk", "fox"), 5)):
        moment = at(f"2026-03-1{number // 3}T09:00")
        rows.append(row(name, 1, moment - timedelta(hours=12), "city", "major", moment, draw.choice(TITLES)))
    return files(rows)


def anew(draw):
    """A channel is down when an article is due, and a revision comes between two tries."""
    publish = at("2026-03-12T09:00")
    due = publish - timedelta(hours=1)  # in UTC
    minutes = draw.randint(6, 18)
    rows = [
        row("n-1", 1, due - timedelta(hours=3), "city", "major", publish, draw.choice(TITLES)),
        row("n-1", 2, due + timedelta(minutes=minutes), "city", "major", publish, draw.choice(TITLES)),
    ]
    return files(rows, [("wire", due - timedelta(minutes=draw.randint(1, 30)), due + timedelta(minutes=draw.randint(66, 69)))])


def resume(draw):
    """Two runs meet between two tries."""
    due = at("2026-03-10T11:50") + timedelta(minutes=draw.randint(0, 3))
    rows = [row("r-1", 1, due - timedelta(hours=3), "city", "major", due + timedelta(hours=1), draw.choice(TITLES))]
    return files(rows, [("wire", due - timedelta(minutes=draw.randint(1, 30)), due + timedelta(minutes=draw.randint(72, 80)))])


def unsent(draw):
    rows = []
    for number, title in enumerate(draw.sample(TITLES, 4)):
        publish = at(f"2026-03-1{number + 2}T09:00")
        name = f"u-{number}"
        rows.append(row(name, 1, publish - timedelta(hours=6), "city", "major", publish, title))
        later = publish - timedelta(hours=1) + timedelta(minutes=draw.randint(32, 110) if number % 2 else draw.randint(2, 28))
        rows.append(row(name, 2, later, "city", "retraction", publish, "Withdrawn"))
    return files(rows)


def slugs(draw):
    title, rows = draw.choice(TITLES), []
    for number in range(4):
        publish = at(f"2026-03-0{number + 3}T09:00")
        rows.append(row(f"s-{number}", 1, publish - timedelta(hours=6), "city", "major", publish, title if number != 2 else f"{title}!"))
        if number == 0:
            rows.append(row("s-0", 2, publish + timedelta(hours=7), "city", "retraction", publish, title))
    return files(rows)


def month(draw):
    rows = []
    for number, section in enumerate(SECTIONS):
        for hour in (-draw.randint(5, 50), draw.randint(5, 50)):
            publish = at("2026-04-01T00:00") + timedelta(minutes=hour)
            rows.append(row(f"m-{number}{'a' if hour < 0 else 'b'}", 1, publish - timedelta(hours=16), section, "major", publish, draw.choice(TITLES)))
    return files(rows)


def outage_end(draw):
    due, rows, outages = at("2026-03-12T08:00"), [], []
    for number in range(3):
        moment = due + timedelta(days=number)
        rows.append(row(f"o-{number}", 1, moment - timedelta(hours=6), "city", "major", moment + timedelta(hours=1), draw.choice(TITLES)))
        outages.append(("wire", moment - timedelta(minutes=draw.randint(3, 30)), moment + timedelta(minutes=(0, 5, 20)[number])))
    return files(rows, outages)


CASES = {
    case.__name__: case
    for case in (local_time, embargo, ties, anew, resume, unsent, slugs, month, outage_end)
}


def _article(draw, name, section, publish, summer):
    """Revisions of an article, and when it is due in UTC."""
    due = publish - timedelta(hours=OFFSETS[section] + summer)
    received = due - timedelta(hours=draw.randint(1, 30)) if draw.random() < 0.85 else due + timedelta(hours=draw.randint(1, 9))
    held = ""
    if draw.random() < 0.2:
        until = publish + timedelta(minutes=15 * draw.randint(1, 24))
        held = f"{until:%Y-%m-%dT%H:%M}{OFFSETS[section] + summer:+03}:00"
        due += until - publish
    title = draw.choice(TITLES)
    rows = [row(name, 1, received, section, "major", publish, title, held)]
    last = max(received, due)
    for number in range(2, 2 + draw.choices((0, 1, 2, 3), (5, 3, 2, 1))[0]):
        last += timedelta(minutes=draw.choice((3, 7, 12, 25, 48, 95, 240, 900)))
        kind = draw.choices(("major", "minor", "retraction"), (6, 3, 2))[0]
        rows.append(row(name, number, last, section, kind, publish, title if draw.random() < 0.7 else draw.choice(TITLES), held))
        if kind == "retraction":
            break
    return rows, max(received, due)


def sample(draw):
    rows, outages, name = [], [], draw.randint(300, 400)
    edges = [("city", "2026-03-29T02:40", 0), ("city", "2026-03-29T03:20", 1), ("islands", "2026-03-29T00:30", 1), ("business", "2026-03-08T02:30", 0), ("business", "2026-03-08T04:30", 1)]
    edges += [(section, "2026-04-01T00:20", 1) for section in SECTIONS] + [(section, "2026-03-31T23:30", 1) for section in SECTIONS]
    planned = [(section, at(publish), summer) for section, publish, summer in edges]
    for _ in range(110):
        section = draw.choice(SECTIONS)
        publish = at("2026-03-01T06:00") + timedelta(days=draw.randint(0, 38), minutes=15 * draw.randint(0, 60))
        turn = "2026-03-08" if section == "business" else "2026-03-29"
        planned.append((section, publish, int(publish > at(turn))))
    for section, publish, summer in planned:
        name += draw.randint(1, 3)
        made, due = _article(draw, f"{section[:2]}-{name}", section, publish, summer)
        rows += made
        if draw.random() < 0.3:
            channel, delay = draw.choice((("wire", 0), ("partner", 30), ("letter", 120)))
            start = due + timedelta(minutes=delay - draw.randint(1, 40))
            outages.append((channel, start, start + timedelta(minutes=draw.choice((25, 45, 60, 75, 90, 110)))))
    for day in (6, 12, 18, 24, 30):  # runs end at noon
        due = at(f"2026-03-{day:02}T11:50")
        section = draw.choice(("city", "business"))
        summer = int(day == 30 or (section == "business" and day > 8))
        name += 1
        shown = due + timedelta(hours=OFFSETS[section] + summer)
        rows.append(row(f"{section[:2]}-{name}", 1, due - timedelta(hours=4), section, "major", shown, draw.choice(TITLES)))
        outages.append(("wire", due - timedelta(minutes=4), due + timedelta(minutes=draw.choice((40, 70, 75)))))
    rows.sort(key=lambda each: (each[2], each[0]))
    return files(rows, sorted(outages, key=lambda each: each[1]))


if __name__ == "__main__":
    made = {"sample": sample(random.Random(sys.argv[1]))}
    made |= {name: case(random.Random(f"{sys.argv[1]}/{name}")) for name, case in CASES.items()}
    json.dump(made, sys.stdout)
