"""Analytic tasks drawn for people who have not seen their steps: to read, and to compute anew.

    python -m benchmarks.analytics_reading SNAPSHOT OUT [NUMBER]

The draw is made by the digest of the release, and the first draw counts. `OUT/reading` is for
readers: rules, one page per task with its gold, a sheet to fill in, the files as agents get them,
and the clean tables. `OUT/computing` has the first 40 tasks without their gold, for people who
compute it by their own SQL. `OUT/answers` has steps and answers, and is for whoever compares the
sheets. Nothing is published of any but verdicts and counts.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from construction.analytics.answers import YES_NO
from construction.analytics.environment.variants import TABLES, schema_page
from construction.analytics.task_files import (
    ReleasedEnvironment,
    ReleasedTask,
    answer_text,
    read_analytics,
    read_released,
)
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import canonical_json, digest, pretty_json
from data.errors import InputError
from data.releases.tasks import ReleasedTasks, read_tasks, require_outside
from data.snapshot import layout

NUMBER, COMPUTED = 100, 40
FILES = """You have the files as an agent gets them (`files/`), and tables that were cleaned out
of them (`tables/`, with `SCHEMA.md`). You have not seen how the answers were computed.
"""
READING = f"""# Reading analytic tasks

You have the question, the guidelines and the gold of each task (`tasks/`). {FILES}
Fill in `sheet.csv`, a line per task, without looking back at tasks that you have done:

- `natural`: would an analyst ask that, in these words? (yes, no)
- `complete`: does it say all that one needs besides the files? (yes, no)
- `unambiguous`: is there one way to understand it? If not, give the other way in `note`. (yes, no)
- `answer_fits`: can the gold be an answer to that question, in kind, unit and size? (yes, no)
- `note`: what is wrong, in your words.
"""
COMPUTING = f"""# Computing analytic answers

You have the question and the guidelines of each task (`tasks/`), and not its gold. {FILES}
Fill in `sheet.csv`, a line per task: `answer` by your own SQL, as the guidelines ask for it, and in
`note` what you had to decide yourself, or why there is no answer.
"""
READ = ("task", "natural", "complete", "unambiguous", "answer_fits", "note")


def main() -> None:
    """Draw, and write both folders; says where they are."""
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: python -m benchmarks.analytics_reading SNAPSHOT OUT [NUMBER]")
    snapshot, out = Path(sys.argv[1]), Path(sys.argv[2])
    number = int(sys.argv[3]) if len(sys.argv) == 4 else NUMBER
    require_outside(snapshot, out)
    if out.exists():
        raise InputError(str(out), "a folder", "a new one", "The first draw counts: keep it.")
    release = read_tasks(snapshot)
    drawn = draw(read_analytics(release), release.digest, number)
    private_dir(out)
    write_reading(release, drawn, out / "reading")
    write_computing(release, drawn[:COMPUTED], out / "computing")
    write_answers(release, drawn, private_dir(out / "answers"))
    print(f"{len(drawn)} tasks in {out}")


def draw(tasks: Sequence[ReleasedTask], release: str, number: int) -> list[ReleasedTask]:
    """The tasks in the order of a digest over that of the release: nobody can choose again."""
    return sorted(tasks, key=lambda task: digest([release, task.task_id]))[:number]


def write_reading(release: ReleasedTasks, drawn: Sequence[ReleasedTask], out: Path) -> None:
    """What a reader gets: no step, no milestone, and no noise that bites."""
    pages = {number: gold_of(task) for number, task in enumerate(drawn, 1)}
    _write(release, drawn, out, READING, READ, pages)


def write_computing(release: ReleasedTasks, drawn: Sequence[ReleasedTask], out: Path) -> None:
    """What somebody gets who computes the answers: no gold either."""
    _write(release, drawn, out, COMPUTING, ("task", "answer", "note"), {})


def gold_of(task: ReleasedTask) -> str:
    """The gold as the guidelines ask for it."""
    said = dict(zip(YES_NO["en"], YES_NO[task.language], strict=True))
    return answer_text(
        [a.part for a in task.answers],
        [said[a.value] if a.type == "boolean" else a.value for a in task.answers],
        [a.type == "number" for a in task.answers],
    )


def _write(
    release: ReleasedTasks,
    drawn: Sequence[ReleasedTask],
    out: Path,
    rules: str,
    columns: Sequence[str],
    gold: Mapping[int, str],
) -> None:
    write_bytes(out / "RULES.md", rules.encode())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for number, task in enumerate(drawn, 1):
        prompt = release.tasks[task.task_id].candidate.prompt
        page = f"# Task {number:03}\n\n{prompt}\n\n## Guidelines\n\n{task.guidelines}\n"
        if number in gold:
            page += f"\n## Gold\n\n{gold[number]}\n"
        write_bytes(out / "tasks" / f"{number:03}.md", page.encode())
        writer.writerow([f"{number:03}", *[""] * (len(columns) - 1)])
    write_bytes(out / "sheet.csv", text.getvalue().encode())
    for name in sorted({task.environment for task in drawn}):
        given = release.public / layout.ENVIRONMENTS / name
        shutil.copytree(given, out / "files" / name)
        write_tables(read_released(release, name), out / "tables" / name)


def write_tables(environment: ReleasedEnvironment, out: Path) -> None:
    """The clean tables as CSV, and what their columns are."""
    for table in environment.declaration.tables:
        frame = environment.tables[table.name]
        write_bytes(out / f"{table.name}.csv", frame.write_csv().encode())
    page = schema_page(environment.declaration).replace(f"## {TABLES}/", "## ")
    write_bytes(out / "SCHEMA.md", page.encode())


def write_answers(release: ReleasedTasks, drawn: Sequence[ReleasedTask], out: Path) -> None:
    """What a reader must not see, readable by the owner alone."""
    rows = [
        {
            "task": f"{number:03}",
            "task_id": task.task_id,
            "answer": gold_of(task),
            "steps": [step.model_dump(mode="json") for step in task.program],
        }
        for number, task in enumerate(drawn, 1)
    ]
    lines = b"".join(canonical_json(row) + b"\n" for row in rows)
    write_bytes(out / "answers.jsonl", lines, mode=PRIVATE_FILE)
    drawn_ids = [task.task_id for task in drawn]
    about = {"release": release.digest, "snapshot": release.snapshot, "drawn": drawn_ids}
    write_bytes(out / "draw.json", pretty_json(about), mode=PRIVATE_FILE)


if __name__ == "__main__":
    main()
