"""Does a released task name an input that it does not ship? Read by another program than the gate.

    python -m benchmarks.named_inputs SNAPSHOT [SNAPSHOT...]

Of the pipeline nothing is used but its output: in the prompt of each released task of the sessions
lane every word that ends like a file is sought among the task's inputs and deliverables, and every
path in `inputs/` among the inputs. What is left is listed in the JSON for a reader; the page has
the counts. A name such as `student_name.eml`, where a nameless result of that type is to be made,
is the pattern of that result's name. Names of folders outside `inputs/` and files described in
words are not seen.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import table, write_result
from data.snapshot.tasks import from_line

_ENDINGS = (
    "xlsx|xls|docx|doc|pptx|ppt|pdf|csv|tsv|jsonl|json|md|txt|png|jpe?g|gif|svg|wav|mp3|mp4|eml|ics|"
    "html?|xml|ya?ml|toml|py|ipynb|sql|sqlite|db|log|srt|lrc|zip|gz"
)
_FILE = re.compile(rf"[\w./~@-]*[\w-]\.(?:{_ENDINGS})(?!\w)", re.IGNORECASE)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[!-~]+")
_NAME_PATTERN = re.compile(r"(?:[a-z]+[_-])?name\.(\w+)", re.IGNORECASE)
_INPUT = re.compile(r"inputs/[\w./-]+")


def unshipped(task: dict[str, Any]) -> Iterator[str]:
    """The names in a task's prompt that are neither inputs nor deliverables."""
    inputs = [fixture["path"] for fixture in task["fixtures"]]
    results = [name for item in task["deliverables"] for name in item.get("name_hints") or ()]
    text = _URL.sub(" ", task["prompt"])
    for path in sorted(inputs, key=len, reverse=True):  # names with spaces, as a whole
        text = text.replace(f"inputs/{path}", " ")
    nameless = {item["file_type"] for item in task["deliverables"] if not item.get("name_hints")}
    known = {path.rpartition("/")[2].casefold() for path in (*inputs, *results)}
    for match in _FILE.finditer(text):
        name = match.group()
        pattern = _NAME_PATTERN.fullmatch(name)
        is_result = pattern is not None and pattern[1].lower() in nameless
        is_known = name.rpartition("/")[2].casefold() in known or "outputs/" in name
        if not (is_known or is_result):
            yield name
    for match in _INPUT.finditer(text):
        start = match.group().removeprefix("inputs/").rstrip("./")
        if not any(path.startswith(start) for path in inputs):
            yield match.group()


def main() -> None:
    """Check the released session tasks of the snapshots, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshots", type=Path, nargs="+")
    rows: list[list[str]] = []
    names_left: dict[str, list[str]] = {}
    for snapshot in parser.parse_args().snapshots:
        lines = (snapshot / "public" / "tasks.jsonl").read_bytes().splitlines()
        listed = (from_line(json.loads(line)) for line in lines)
        tasks = [task for task in listed if task["lane"] == "sessions"]
        named = {task["task_id"]: names for task in tasks if (names := list(unshipped(task)))}
        names_left |= named
        rows.append([snapshot.name, str(len(tasks)), str(len(named))])
    head = ("snapshot", "session tasks", "with a name that is not shipped")
    write_result("named_inputs", __doc__ or "", table(head, rows), names_left)


if __name__ == "__main__":
    main()
