"""Which jobs of a queue were lost, repeated or given up, from the log of its workers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from construction.workflows.contracts import World
from construction.workflows.repair.drafts import (
    Draw,
    Files,
    Repair,
    RepairDraft,
    read_table,
    stamp,
    table,
)
from construction.workflows.repair.drafts import rows as rows_check

_FILE, _LOG = "jobs.csv", "worker.log"
_COLUMNS = {
    "lost": ("job", "queue", "attempts"),
    "twice": ("job", "queue", "finished"),
    "given_up": ("job", "queue", "last_error"),
}
_REQUESTS = {
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


def _build(number: int, seed: int) -> RepairDraft:
    rule, draw = REPAIR.start(number, seed)
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
    return REPAIR.draft(
        number,
        prompt=_REQUESTS[rule],
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


def _solve(rule: str, inputs: Files, _world: World | None) -> Files:
    jobs: dict[str, list[Event]] = {}
    for line in inputs[_LOG].decode().splitlines():
        head, _, error = line.partition(" error=")
        _, _, what, job, queue = head.split()
        event = (what, job.partition("=")[2], queue.partition("=")[2], error)
        jobs.setdefault(event[1], []).append(event)
    rows = [row for story in jobs.values() if (row := _row(rule, story)) is not None]
    return {_FILE: table(_COLUMNS[rule], sorted(rows))}


REPAIR = Repair(
    name="queue_log",
    kind="logs",
    meaning="Which jobs of a queue were lost, repeated or given up, from the log of its workers.",
    task_family="service_coordination",
    rules=("lost", "twice", "given_up"),
    build=_build,
    solve=_solve,
)
