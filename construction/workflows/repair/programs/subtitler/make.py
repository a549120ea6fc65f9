"""Data of subtitler: `make.py SEED` prints {folder: {path: text}}, `sample` and a folder per case."""

import csv
import io
import json
import random
import sys

COUNTED = {"24": 24, "25": 25, "29.97": 30, "29.97df": 30}
CUES = ["cue", "revision", "in", "out", "style", "text"]
NBSP = "\u00a0"
WORDS = "you never said that the boat would leave before morning and now nobody knows where she went with all of it except perhaps your brother who will not talk about anything since winter came".split()
THAI = ["\u0e2d\u0e22\u0e48\u0e32\u0e25\u0e37\u0e21\u0e19\u0e30", "\u0e19\u0e49\u0e33\u0e02\u0e36\u0e49\u0e19\u0e41\u0e25\u0e49\u0e27", "\u0e40\u0e23\u0e37\u0e2d\u0e2d\u0e2d\u0e01\u0e17\u0e35\u0e48\u0e2b\u0e19\u0e36\u0e48\u0e07", "\u0e1e\u0e35\u0e48\u0e2d\u0e22\u0e39\u0e48\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48"]
JAPANESE = ["港は", "閉まって", "いる", "船が", "出る", "朝まで"]


def table(columns, rows):
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([columns, *rows])
    return buffer.getvalue()


def code(frame, rate):
    """The time code of a frame."""
    if rate == "29.97df":
        tens, rest = divmod(frame, 17982)
        frame += 18 * tens + (2 * ((rest - 2) // 1798) if rest > 1 else 0)
    seconds, frames = divmod(frame, COUNTED[rate])
    sign = ";" if rate == "29.97df" else ":"
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{sign}{frames:02}"


def files(rates, edits, cues):
    """`edits`: (reel, from, to) and `cues`: rows by reel, all in frames."""
    made = {
        "data/reels.csv": table(["reel", "rate"], rates.items()),
        "data/edits.csv": table(["reel", "from", "to"], [(reel, code(a, rates[reel]), code(b, rates[reel])) for reel, a, b in edits]),
    }
    for reel, rows in cues.items():
        rows = [[cue, revision, code(a, rates[reel]), code(b, rates[reel]), style, text] for cue, revision, a, b, style, text in rows]
        made[f"data/cues/{reel}.csv"] = table(CUES, rows)
    return made


def words(draw, number):
    return " ".join(draw.choice(WORDS) for _ in range(number)).capitalize() + "."


def hours(draw):
    """A drop-frame reel that goes on over a full hour."""
    hour = 107892
    start = hour - draw.randint(900, 1500)
    rows = [[n, 1, start + at, start + at + 61, "dialogue", words(draw, 3)] for n, at in enumerate((91, 421, 1702, 2003), 1)]
    return files({"H": "29.97df"}, [("H", start, start + 2401)], {"H": rows})


def drift(draw):
    edits, rows, at = [], [], 240
    for number in range(1, 13):
        length = 24 * draw.randint(2, 4) + draw.choice((1, 4, 7))
        edits.append(("D", at, at + length))
        rows.append([number, 1, at + 3, at + 41, "dialogue", words(draw, 2)])
        at += length + 30
    return files({"D": "24"}, edits, {"D": rows})


def joined(draw):
    few = draw.randint(2, 6)
    edits = [("J", 0, 250), ("J", 250, 500), ("J", 500, 750), ("J", 800, 1000)]
    rows = [
        [1, 1, 250 - few, 320, "dialogue", words(draw, 3)],
        [2, 1, 430, 500 + few, "dialogue", words(draw, 3)],
        [3, 1, 700, 750 + few, "dialogue", words(draw, 2)],
        [4, 1, 800 - 50, 800 + few, "dialogue", words(draw, 2)],
        [5, 1, 900, 900 + few, "dialogue", "No!"],
    ]
    return files({"J": "25"}, edits, {"J": rows})


def end(draw):
    last = 500 - draw.randint(20, 40)
    rows = [[1, 1, 100, 150, "dialogue", words(draw, 4)], [2, 1, last, 500, "dialogue", words(draw, 16)], [3, 1, last - 40, last - 10, "signs", words(draw, 12)]]
    return files({"E": "25"}, [("E", 0, 500)], {"E": rows})


def no_break(draw):
    rows = []
    for number in range(1, 7):
        unit = draw.choice((f"12{NBSP}km", f"M.{NBSP}Roux", f"9{NBSP}h{NBSP}30", f"n°{NBSP}{number}"))
        text = f"{'x' * (19 + number % 4)} {unit} {words(draw, 4)}"
        rows.append([number, 1, 200 * number, 200 * number + 150, "signs", text])
    return files({"N": "25"}, [("N", 0, 1500)], {"N": rows})


def remembered(draw):
    rows = []
    for number in range(1, 5):
        text = words(draw, 9)
        for turn, style in enumerate(draw.sample(("dialogue", "narrator", "signs"), 3)):
            rows.append([10 * number + turn, 1, 400 * number + 10 * turn, 400 * number + 150, style, text])
    return files({"R": "25"}, [("R", 0, 2200)], {"R": rows})


def cells(draw):
    rows = []
    for number in range(1, 6):
        text = " ".join(draw.choice(THAI) for _ in range(7))
        rows.append([number, 1, 300 * number, 300 * number + 25, "narrator", text])
    rows.append([9, 1, 1900, 1925, "signs", "\u2764\ufe0f" * draw.randint(6, 9) + " \U0001f469\u200d\U0001f692 " + words(draw, 3)])
    return files({"C": "25"}, [("C", 0, 2400)], {"C": rows})


def ties(draw):
    rows = []
    for number in range(1, 4):
        for turn in draw.sample((8, 9, 10, 11), 3):
            rows.append([turn if number == 1 else turn * 10 ** (number - 1), 1, 200 * number, 200 * number + draw.randint(60, 90), "dialogue", words(draw, 2)])
    rows = [[cue + index if cue > 11 else cue, *rest] for index, (cue, *rest) in enumerate(rows)]
    return files({"T": "25"}, [("T", 0, 1000)], {"T": rows})


def taken_away(draw):
    rows = []
    for number in range(1, 6):
        rows.append([number, 1, 150 * number, 150 * number + 70, "dialogue", words(draw, 3)])
        rows.append([number, 2, 150 * number, 150 * number + 80, "dialogue", "" if number % 2 else words(draw, 3)])
        if number == 3:
            rows.append([number, 3, 150 * number, 150 * number + 90, "dialogue", words(draw, 3)])
    draw.shuffle(rows)
    return files({"W": "25"}, [("W", 0, 1000)], {"W": rows})


def halves(draw):
    rows = []
    for number in range(1, 8):
        start = 15 * (4 * draw.randint(2, 5) + 1) + 400 * number
        start -= (start - 15) % 60  # an odd multiple of 15 frames: half a millisecond
        rows.append([number, 1, start, start + 60, "dialogue", words(draw, 2)])
    return files({"V": "29.97"}, [("V", 0, 4000)], {"V": rows})


CASES = {
    case.__name__: case
    for case in (hours, drift, joined, end, no_break, remembered, cells, ties, taken_away, halves)
}


def _text(draw):
    kind = draw.random()
    if kind < 0.5:
        return words(draw, draw.randint(2, 14))
    if kind < 0.65:
        return f"{words(draw, draw.randint(3, 7))[:-1]} 40{NBSP}km {words(draw, 2)}"
    if kind < 0.8:
        return " ".join(draw.choice(THAI) for _ in range(draw.randint(3, 8)))
    if kind < 0.9:
        return " ".join(draw.choice(JAPANESE) for _ in range(draw.randint(3, 8)))
    return f"- {words(draw, 4)}\\n- {words(draw, 6)}"


def _cues(draw, start, end):
    """Rows of a reel, some revised, some at the same moment, songs in two styles."""
    rows, at, number = [], start + draw.randint(5, 40), draw.randint(3, 8)
    songs = [words(draw, 8) for _ in range(2)]
    while at < end - 60:
        style = draw.choices(("dialogue", "narrator", "signs"), (5, 2, 2))[0]
        until = at + draw.randint(22, 95)
        text = draw.choice(songs) if draw.random() < 0.15 else _text(draw)
        rows.append([number, 1, at, until, style, text])
        chance = draw.random()
        if chance < 0.08:
            rows.append([number, 2, at, until, style, ""])
        elif chance < 0.16:
            rows.append([number, 2, at, until + 6, style, _text(draw)])
        elif chance < 0.3:
            number += 1
            rows.append([number, 1, at, until + draw.randint(0, 9), style, words(draw, 3)])
        number += 1
        at = until + draw.randint(4, 50)
    return rows


def sample(draw):
    names = draw.sample("ABCDEFGHKLMN", 5)
    rates = dict(zip(names, draw.sample(["24", "25", "29.97", "29.97df", "29.97df"], 5)))
    edits, cues, queues = [], {}, []
    for name, rate in rates.items():
        start = 106500 + draw.randint(0, 300) if rate == "29.97df" else COUNTED[rate] * 10 * draw.randint(0, 40)
        length = 150 * COUNTED[rate]
        cues[name] = _cues(draw, start, start + length)
        at, own = start, []
        while at < start + length - 500:
            until = at + draw.randint(100, 420)
            own.append((name, at, until))
            if draw.random() < 0.4:  # goes on without a gap
                own.append((name, until, until + 120))
                until += 120
            at = until + draw.choice((0, 0, 30, 90))
        queues.append(own)
    while any(queues):
        own = draw.choice([queue for queue in queues if queue])
        edits += [own.pop(0) for _ in range(min(len(own), draw.randint(1, 3)))]
    last = draw.choice([row for row in edits])[0]
    row = next(row for row in reversed(cues[last]) if row[5])
    edits.append((last, row[2] - 60, row[2] + 20))
    return files(rates, edits, cues)


if __name__ == "__main__":
    made = {"sample": sample(random.Random(sys.argv[1]))}
    made |= {name: case(random.Random(f"{sys.argv[1]}/{name}")) for name, case in CASES.items()}
    json.dump(made, sys.stdout)
