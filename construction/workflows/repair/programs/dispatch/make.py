"""Data of dispatch: `make.py SEED` prints {folder: {path: text}}, `sample` and a folder per case."""

import json
import random
import sys

PLAN = "data/plan.jsonl"


def plan(entries):
    return {PLAN: "".join(json.dumps(entry) + "\n" for entry in entries)}


def submit(at, identifier, queue, handler="echo", priority=0, key="", **payload):
    request = {"id": identifier, "queue": queue, "handler": handler, "payload": payload}
    request |= {"priority": priority} if priority else {}
    request |= {"key": key} if key else {}
    return {"at": at, "submit": request}


def status_lock(draw):
    return {"requests.json": json.dumps({"text": f"hello {draw.randint(1, 999)}", "sums": []})}


def results(draw):
    amounts = [f"{draw.randint(1, 99)}.{draw.randint(10, 99)}" for _ in range(2)]
    return {"requests.json": json.dumps({"text": "", "sums": amounts})}


def lease(draw):
    """Jobs that wait long for their turn, and then take nearly as long as they may."""
    takes = draw.randint(24, 28)
    return plan([submit(100, f"w{n}", "mail", text="a", takes=takes) for n in range(9)])


def reclaim(draw):
    """Jobs that hang once, and fail as often as they may."""
    at = 130
    return plan([
        submit(at, "h1", "mail", "remote", takes=draw.randint(2, 6), hangs=1, fails=2),
        submit(at + 1, "h2", "mail", "remote", takes=3, fails=2),
        submit(at + draw.randint(60, 80), "h3", "reports", "remote", takes=4, hangs=2, fails=3),
    ])


def torn(draw):
    """A line of the journal is half written when the process is killed, twice."""
    return plan([
        submit(3, "t1", "mail", text="y", takes=draw.randint(2, 5)),
        submit(4, "t2", "remote", text="y", takes=2),
        {"at": 20, "down": 2, "torn": '{"at": 20, "id": "t'},
        submit(25, "t3", "mail", text="z", takes=draw.randint(2, 9)),
        {"at": 60, "down": 3, "torn": '{"at": 60'},
        submit(66, "t4", "remote", text="z", takes=draw.randint(2, 9)),
    ])


def keys(draw):
    """A job of a key is given up; the next one of the key is another job."""
    return plan([
        submit(100, "k1", "mail", "render", key="month", template="$missing"),
        submit(101, "k2", "mail", text="a", key="other", takes=draw.randint(20, 25)),
        submit(103, "k3", "mail", text="b", key="other"),
        submit(110 + draw.randint(0, 9), "k4", "mail", "render", key="month", template="ok"),
        submit(170, "k5", "mail", text="b", key="other"),
    ])


def ties(draw):
    """A job that failed is tried again before those that were submitted after it."""
    entries = [submit(100, "f0", "mail", "remote", fails=1, takes=1)]
    entries += [submit(101, f"f{n}", "mail", text="a", takes=draw.randint(4, 5)) for n in range(1, 7)]
    entries.append(submit(102, "urgent", "mail", text="a", takes=4, priority=5))
    return plan(entries)


def catch_up(draw):
    return plan([{"at": draw.randint(78, 98), "down": draw.randint(290, 300)}])


def fill(draw):
    """More jobs at once than may be started, none of which takes long."""
    count = draw.randint(12, 16)
    return plan([submit(200, f"r{n}", "remote", text="a") for n in range(count)])


def reload(draw):
    """Settings are read again when a queue has just started as many as it may."""
    at = draw.randint(205, 225)
    entries = [submit(at, f"m{n}", "mail", text="a") for n in range(3)]
    entries.append({"at": at + 1, "config": "[queue mail]\nrunning = 9\n"})
    return plan([*entries, *(submit(at + 1, f"n{n}", "mail", text="a") for n in range(2))])


CASES = {
    "status_lock": status_lock,
    "results": results,
    "lease": lease,
    "reclaim": reclaim,
    "torn": torn,
    "keys": keys,
    "ties": ties,
    "catch_up": catch_up,
    "fill": fill,
    "reload": reload,
}


def _job(draw, number, at):
    queue = draw.choice(("mail", "mail", "reports", "remote", "remote"))
    payload = {"takes": draw.randint(1, 3 if queue == "remote" else 9)}
    handler, key = "echo", ""
    kind = draw.random()
    if kind < 0.28:
        handler = "remote"
        payload |= {"fails": draw.randint(1, 4), "host": draw.choice(("crm", "bank", "print"))}
    elif kind < 0.40 and at > 120:
        handler = "sum"
        payload["amounts"] = [f"{draw.randint(1, 99)}.{draw.randint(10, 99)}" for _ in range(3)]
    elif kind < 0.62:
        handler, key = "render", f"letter-{draw.randint(1, 3)}"
        payload["template"] = draw.choice(("Dear $name", "Total $total"))
        payload["values"] = {"name": "Ada"}
    if draw.random() < 0.10:
        payload["hangs"] = 1
    if draw.random() < 0.12:
        payload["takes"] = draw.randint(22, 29) if queue == "mail" else draw.randint(30, 38)
    return submit(at, f"j{number}", queue, handler, draw.choice((0, 0, 0, 0, 5)), key, **payload)


def sample(draw):
    entries = []
    for number in range(1, 96):
        burst = draw.choice((30, 90, 140, 172, 290, 320, 390, 450))
        entries.append(_job(draw, number, burst + draw.randint(0, 22)))
    entries.sort(key=lambda entry: entry["at"])
    entries += [{"at": at, "get": path} for at, path in ((75, "/health"), (160, "/jobs/j400"), (210, "/jobs"))]
    entries.append({"at": 168, "down": 4, "torn": '{"at": 168, "id": "j'})
    entries.append({"at": 198, "down": draw.randint(76, 89)})
    entries.append({"at": 425, "get": f"/jobs/order-{draw.randint(100, 999)}"})
    for at in (300, 331, 337, 397):
        entries.append({"at": at, "config": "[queue mail]\nrunning = 4\n\n[queue remote]\nlongest_delay = 15\n"})
    return plan(sorted(entries, key=lambda entry: entry["at"]))


if __name__ == "__main__":
    made = {"sample": sample(random.Random(sys.argv[1]))}
    made |= {name: case(random.Random(f"{sys.argv[1]}/{name}")) for name, case in CASES.items()}
    json.dump(made, sys.stdout)
