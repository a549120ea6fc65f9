"""Small folders about jobs: a crontab that starts them at the wrong times, and the log of a queue's
workers, from which it is to be said which were lost, repeated or given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from construction.workflows.contracts import World
from construction.workflows.repair.drafts import (
    Change,
    Draw,
    Files,
    Repair,
    RepairDraft,
    keeps_lines,
    read_table,
    schedule,
    stamp,
    swap,
    table,
)
from construction.workflows.repair.drafts import rows as rows_check

_CRONTAB = "crontab.txt"
_DAYS = {"Mon-Fri": "1-5", "Sun": "0", "Mon": "1", "daily": "*", "Sat": "6"}
_CRONTAB_REQUESTS = {
    "weekdays": (
        "Our working-day jobs run on Sundays and are skipped on Fridays: whoever wrote the crontab "
        "counted the days from another start. plan.csv says when each job is meant to run. Please "
        "hand back crontab.txt with the days put right; jobs that fit the plan stay untouched."
    ),
    "utc": (
        "The server was moved from Nairobi time (UTC+3, no summer time) to UTC, and the crontab "
        "came along as it was. plan.csv gives the times in Nairobi, and the jobs marked `moved` "
        "have to run at those same moments. Jobs marked `utc` are given in UTC already and are "
        "right. Please hand back crontab.txt."
    ),
    "overlap": (
        "The nightly jobs get into each other's way. plan.csv has their order and how long each "
        "takes at most, in minutes; README.md has our rule for the pauses. The first job stays "
        "where it is; please move the others in crontab.txt so that each begins as early as the "
        "rule allows. All of them run every day."
    ),
}


def _clock(minutes: int) -> tuple[int, int]:
    return minutes // 60 % 24, minutes % 60


def _line(minutes: int, days: str, name: str) -> str:
    hour, minute = _clock(minutes)
    return f"{minute} {hour} * * {days} /opt/jobs/{name}.sh >> /var/log/{name}.log 2>&1"


_HEAD = ["# site crontab, user batch", "MAILTO=batch@site.example", "PATH=/usr/bin:/bin", ""]
_TAIL = ["", "# house-keeping", "*/10 * * * * /opt/jobs/heartbeat.sh", "@monthly /opt/jobs/tidy.sh"]


def _weekdays(draw: Draw) -> tuple[list[str], Files, dict[str, str]]:
    start = {name: draw.number(330, 1100) for name in ("load", "mail", "quotes", "sweep")}
    planned = {"load": "Mon-Fri", "mail": "Mon-Fri", "quotes": "Mon", "sweep": "Sat"}
    wrong = {"load": "0-4", "mail": "0-4", "quotes": "0", "sweep": "6"}
    lines = [_line(start[name], wrong[name], name) for name in start]
    rows = [(name, planned[name], "{:02}:{:02}".format(*_clock(start[name]))) for name in start]
    right = {name: _line(start[name], _DAYS[planned[name]], name) for name in start}
    return lines, {"plan.csv": table(["job", "days", "time"], rows)}, right


def _utc(draw: Draw) -> tuple[list[str], Files, dict[str, str]]:
    local = {"closing": 60 + draw.number(1, 50), "ledger": 700 + draw.number(0, 59)}
    local |= {"archive": draw.number(20, 100), "beacon": 600 + draw.number(0, 59)}
    days = {"closing": "Mon", "ledger": "Mon-Fri", "archive": "daily", "beacon": "daily"}
    lines = [_line(local[name], _DAYS[days[name]], name) for name in local]
    marks = {name: "utc" if name == "beacon" else "moved" for name in local}
    rows = [
        (name, days[name], "{:02}:{:02}".format(*_clock(local[name])), marks[name])
        for name in local
    ]
    shifted = {"closing": "0"}  # before three in the morning of Monday it is still Sunday in UTC
    right = {
        name: _line(
            local[name] - (180 if marks[name] == "moved" else 0),
            shifted.get(name, _DAYS[days[name]]),
            name,
        )
        for name in local
    }
    return lines, {"plan.csv": table(["job", "days", "time", "kind"], rows)}, right


def _overlap(draw: Draw) -> tuple[list[str], Files, dict[str, str]]:
    names = draw.several(("snapshot", "reindex", "export", "verify"), 4)
    first = 60 * draw.number(21, 22) + 5 * draw.number(0, 11)
    gap = 5 * draw.number(3, 6)
    lasts = [draw.number(25, 95) for _ in names]
    starts = [first + sum(lasts[:n]) + gap * n for n in range(len(names))]
    lines = [_line(first + 30 * n, "*", name) for n, name in enumerate(names)]
    rows = [(n, name, lasts[n - 1]) for n, name in enumerate(names, 1)]
    right = {name: _line(start, "*", name) for name, start in zip(names, starts, strict=True)}
    readme = (
        "# Nightly batch\n\n- jobs run one after the other, in the order of plan.csv\n"
        f"- pause: a job is started {gap} minutes after the one before it is through, counted from "
        "its longest duration\n- times are local; the machine has no summer time\n"
    )
    plan = table(["order", "job", "longest_minutes"], rows)
    return lines, {"plan.csv": plan, "README.md": readme.encode()}, right


_MAKE = {"weekdays": _weekdays, "utc": _utc, "overlap": _overlap}


def _build_crontab(number: int, seed: int) -> RepairDraft:
    rule, draw = CRONTAB_TIMES.start(number, seed)
    lines, around, right = _MAKE[rule](draw)
    text = "\n".join([*_HEAD, *lines, *_TAIL]) + "\n"
    changed = {name: line for name, line in right.items() if line not in lines}
    checks = [
        schedule(name, _CRONTAB, f"/opt/jobs/{name}.sh", [_times(line)], f"{name} runs as planned")
        for name, line in changed.items()
    ]
    mutants: dict[str, Change] = {
        name: swap(_CRONTAB, line, _of_job(lines, name)) for name, line in changed.items()
    }
    but = "|".join(f"/opt/jobs/{name}\\.sh" for name in changed)
    checks.append(keeps_lines(_CRONTAB, text.encode(), but))
    mutants[checks[-1].check_id] = swap(_CRONTAB, "*/10 * * * *", "*/20 * * * *")
    return CRONTAB_TIMES.draft(
        number,
        prompt=_CRONTAB_REQUESTS[rule],
        inputs={_CRONTAB: text.encode(), **around},
        delivers=(_CRONTAB,),
        checks=checks,
        mutants=mutants,
    )


def _minutes(line: str) -> int:
    minute, hour = line.split()[:2]
    return int(hour) * 60 + int(minute)


def _times(line: str) -> str:
    return " ".join(line.split()[:5])


def _of_job(lines: list[str], name: str) -> str:
    return next(line for line in lines if f"/{name}.sh" in line)


def _solve_crontab(rule: str, inputs: Files, _world: World | None) -> Files:
    lines = inputs[_CRONTAB].decode().splitlines()
    plan = read_table(inputs["plan.csv"])
    moment, gap = 0, 0
    if rule == "overlap":
        moment = _minutes(_of_job(lines, plan[0]["job"]))
        gap = int(inputs["README.md"].decode().partition("is started ")[2].split()[0])
    for row in plan:
        position = lines.index(_of_job(lines, row["job"]))
        if rule == "overlap":
            lines[position] = _line(moment, "*", row["job"])
            moment += int(row["longest_minutes"]) + gap
            continue
        hour, minute = map(int, row["time"].split(":"))
        start, days = hour * 60 + minute, _DAYS[row["days"]]
        if rule == "utc" and row["kind"] == "moved":
            start -= 180
            days = "0" if start < 0 and days == "1" else days
        lines[position] = _line(start, days, row["job"])
    return {_CRONTAB: ("\n".join(lines) + "\n").encode()}


CRONTAB_TIMES = Repair(
    name="crontab_times",
    kind="cron",
    meaning="A crontab whose jobs are started at the wrong times.",
    task_family="scheduling_events",
    rules=("weekdays", "utc", "overlap"),
    build=_build_crontab,
    solve=_solve_crontab,
)


_FILE, _LOG = "jobs.csv", "worker.log"
_COLUMNS = {
    "lost": ("job", "queue", "attempts"),
    "twice": ("job", "queue", "finished"),
    "given_up": ("job", "queue", "last_error"),
}
_QUEUE_REQUESTS = {
    "lost": (
        "The queue was restarted in the night and some jobs never came to an end. From worker.log, "
        "please list the jobs that were started and neither finished nor given up, in jobs.csv "
        "with the columns job, queue, attempts (how often each was started). One line per job."
    ),
    "twice": (
        "Some customers were billed twice, because jobs were carried out more than once. From "
        "worker.log, please list in jobs.csv every job that finished more than once, with the "
        "columns job, queue, finished (how often). A retry after a failure is fine and not meant."
    ),
    "given_up": (
        "Please make a list of the jobs that the workers gave up last night and that nobody has "
        "put back yet: a job that is `requeued` afterwards is taken care of. Source is "
        "worker.log; write jobs.csv with the columns job, queue, last_error (the text after "
        "`error=` of its last failure)."
    ),
}
_ERRORS = ("timeout", "bad address", "no such customer", "connection reset")
_SURE = (7, 19, 34)  # jobs that the request is about in any draw
Event = tuple[str, str, str, str]  # what, job, queue, error


def _events(rule: str, draw: Draw) -> list[list[Event]]:
    """The events of each job, in their order."""
    stories = []
    for number in range(46):
        job, queue = f"J{draw.number(10, 99)}{number:02}", draw.pick(("mail", "invoice", "label"))
        kind = 0 if number in _SURE else draw.number(0, 9)
        if kind == 0 and rule == "twice":
            queue = "invoice"  # whoever was billed twice had such a job
        failed = ("failed", job, queue, draw.pick(_ERRORS))
        story: list[Event] = [("started", job, queue, "")]
        if draw.number(0, 3) == 0:
            story += [failed, ("started", job, queue, "")]
        if kind == 0 and rule == "lost":
            pass
        elif kind == 0 and rule == "twice":
            story += [("finished", job, queue, ""), ("started", job, queue, "")]
            story += [("finished", job, queue, "")] * draw.number(1, 2)
        elif kind <= 2:
            last = ("failed", job, queue, draw.pick(_ERRORS))
            story += [last, ("given_up", job, queue, "")]
            if kind == 1:
                story += [("requeued", job, queue, ""), ("started", job, queue, "")]
                story += [("finished", job, queue, "")]
        else:
            story += [("finished", job, queue, "")]
        stories.append(story)
    return stories


def _merged(stories: Sequence[Sequence[Event]], draw: Draw) -> list[Event]:
    """The events of all jobs, mixed as workers mix them: each job's own order is kept."""
    waiting = [list(story) for story in stories]
    merged = []
    while any(waiting):
        busy = [story for story in waiting[:6] if story]
        merged.append(draw.pick(busy).pop(0))
        waiting = [story for story in waiting if story]
    return merged


def _build_queue(number: int, seed: int) -> RepairDraft:
    rule, draw = QUEUE_LOG.start(number, seed)
    stories = _events(rule, draw)
    moment, lines = draw.night(), []
    for what, job, queue, error in _merged(stories, draw):
        moment += timedelta(seconds=draw.number(1, 50))
        tail = f" error={error}" if error else ""
        lines.append(f"{stamp(moment)} w{draw.number(1, 4)} {what} job={job} queue={queue}{tail}\n")
    gold = [row for story in stories if (row := _row(rule, story)) is not None]
    columns = _COLUMNS[rule]
    text = f"jobs.csv has exactly the {len(gold)} jobs in question, each with its {columns[2]}"
    check = rows_check("jobs", _FILE, columns, gold, text, "accuracy")
    return QUEUE_LOG.draft(
        number,
        prompt=_QUEUE_REQUESTS[rule],
        inputs={_LOG: "".join(lines).encode()},
        delivers=(_FILE,),
        checks=[check],
        mutants={"jobs": _without_last},
    )


def _without_last(files: dict[str, bytes]) -> None:
    kept = read_table(files[_FILE])[:-1]
    columns = files[_FILE].decode().splitlines()[0].split(",")
    files[_FILE] = table(columns, [list(row.values()) for row in kept])


def _row(rule: str, story: Sequence[Event]) -> tuple[str, ...] | None:
    """The row of a job that the request is about, from its events in order."""
    kinds = [event[0] for event in story]
    _, job, queue, _ = story[0]
    if rule == "lost":
        ended = {"finished", "given_up"} & set(kinds)
        return None if ended else (job, queue, str(kinds.count("started")))
    if rule == "twice":
        return (job, queue, str(kinds.count("finished"))) if kinds.count("finished") > 1 else None
    if kinds[-1] != "given_up":
        return None
    return job, queue, [event[3] for event in story if event[0] == "failed"][-1]


def _solve_queue(rule: str, inputs: Files, _world: World | None) -> Files:
    jobs: dict[str, list[Event]] = {}
    for line in inputs[_LOG].decode().splitlines():
        head, _, error = line.partition(" error=")
        _, _, what, job, queue = head.split()
        event = (what, job.partition("=")[2], queue.partition("=")[2], error)
        jobs.setdefault(event[1], []).append(event)
    rows = [row for story in jobs.values() if (row := _row(rule, story)) is not None]
    return {_FILE: table(_COLUMNS[rule], sorted(rows))}


QUEUE_LOG = Repair(
    name="queue_log",
    kind="logs",
    meaning="Which jobs of a queue were lost, repeated or given up, from the log of its workers.",
    task_family="service_coordination",
    rules=("lost", "twice", "given_up"),
    build=_build_queue,
    solve=_solve_queue,
)
