"""A crontab whose jobs are started at the wrong times."""

from __future__ import annotations

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
    swap,
    table,
)

_FILE = "crontab.txt"
_DAYS = {"Mon-Fri": "1-5", "Sun": "0", "Mon": "1", "daily": "*", "Sat": "6"}
_REQUESTS = {
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


def _build(number: int, seed: int) -> RepairDraft:
    rule, draw = REPAIR.start(number, seed)
    lines, around, right = _MAKE[rule](draw)
    text = "\n".join([*_HEAD, *lines, *_TAIL]) + "\n"
    changed = {name: line for name, line in right.items() if line not in lines}
    checks = [
        schedule(name, _FILE, f"/opt/jobs/{name}.sh", [_times(line)], f"{name} runs as planned")
        for name, line in changed.items()
    ]
    mutants: dict[str, Change] = {
        name: swap(_FILE, line, _of_job(lines, name)) for name, line in changed.items()
    }
    but = "|".join(f"/opt/jobs/{name}\\.sh" for name in changed)
    checks.append(keeps_lines(_FILE, text.encode(), but))
    mutants[checks[-1].check_id] = swap(_FILE, "*/10 * * * *", "*/20 * * * *")
    return REPAIR.draft(
        number,
        prompt=_REQUESTS[rule],
        inputs={_FILE: text.encode(), **around},
        delivers=(_FILE,),
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


def _solve(rule: str, inputs: Files, _world: World | None) -> Files:
    lines = inputs[_FILE].decode().splitlines()
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
    return {_FILE: ("\n".join(lines) + "\n").encode()}


REPAIR = Repair(
    name="crontab_times",
    kind="cron",
    meaning="A crontab whose jobs are started at the wrong times.",
    task_family="scheduling_events",
    rules=("weekdays", "utc", "overlap"),
    build=_build,
    solve=_solve,
)
