"""Which real requests are released, beside what two blind readers call doable and gradable.

    python -m benchmarks.real_requests [--material DIR]

The 120 requests were drawn by a key out of one half of `sessions-with-files`, stratified by source;
twins in two languages and subtasks of one task lie in the same half. The readers had seen neither
the code nor any output of it. A request is released where a candidate that was made from it passes
every gate; nothing is left out for the size of the release. Sessions that were recorded, with many
requests each, are counted apart.

Rules are written on other requests. One exception: that beside exports of stores an order to send
something needs the system was chosen among six candidate rules by the counts of this page, without
sight of a text; since then the figures of `claw_eval` are not blind.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.agreement import Interval, agreement, wilson
from benchmarks.report import table, write_result

MATERIAL = Path(__file__).resolve().parents[2] / "shared" / "material"
LABELS = Path(__file__).with_name("labels")
_BENCHMINT = Path(sys.executable).with_name("benchmint")
_RECIPE = """
[release]
name = "requests"
release_date = 2026-11-01
seed = 1
[source]
disclosure = "public"
[sessions.network]
mode = "offline"
unverified = "keep"
"""
_RELEASED = """
SELECT s.path, max(chosen.task_id IS NOT NULL) FROM newest.sessions s
LEFT JOIN newest.lineage l ON l.parent = s.session_uid AND l.child_unit = 'instance'
LEFT JOIN newest.selection chosen
  ON chosen.instance_id = l.child AND chosen.outcome = 'chosen'
GROUP BY s.path
"""
_REASONS = """
SELECT s.path, min(r.reason) FROM newest.sessions s
JOIN newest.lineage l ON l.parent = s.session_uid AND l.child_unit = 'instance'
LEFT JOIN newest.lineage c ON c.parent = l.child AND c.child_unit = 'candidate'
JOIN newest.rejections r ON r.item_id IN (l.child, c.child)
GROUP BY s.path
"""


@dataclass(frozen=True, slots=True)
class Request:
    """A labelled request; `session` is a path below `sessions-with-files`."""

    session: str
    language: str
    doable: bool
    reason: str

    @property
    def source(self) -> str:
        return self.session.partition("/")[0]

    @property
    def name(self) -> str:
        return Path(self.session).stem


def read_labels(path: Path) -> dict[str, Request]:
    """The labels of one reader by session."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["session"]: Request(
                row["session"], row["language"], row["label"] == "true", row["reason"]
            )
            for row in csv.DictReader(file)
        }


def build(sessions: Iterable[str], root: Path, out: Path) -> None:
    """Build a release of these sessions with their files, with the settings that users get."""
    for session in sessions:
        target = out / "sessions" / session
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((root / session).read_bytes())
    recipe = out / "recipe.toml"
    recipe.write_text(_RECIPE, encoding="utf-8")
    folders = sorted(root.glob("*/files"))
    files = [part for folder in folders for part in ("--files", str(folder))]
    sources = sorted(map(str, (out / "sessions").iterdir()))
    command = [str(_BENCHMINT), "build", *sources, *files]
    command += ["--config", str(recipe), "--out", str(out / "workspace"), "--quiet"]
    subprocess.run(command, check=True)


def outcomes(workspace: Path) -> tuple[dict[str, bool], dict[str, str]]:
    """By the stem of a session's file: whether a task was released, and a reason why not."""
    with duckdb.connect(str(workspace / "staging.duckdb"), read_only=True) as connection:
        released = connection.execute(_RELEASED).fetchall()
        reasons = connection.execute(_REASONS).fetchall()
    return (
        {Path(path).stem: bool(was_released) for path, was_released in released},
        {Path(path).stem: reason for path, reason in reasons},
    )


def agreement_rows(
    requests: Sequence[Request], released: Mapping[str, bool], group: Callable[[Request], str]
) -> list[list[str]]:
    """Recall and precision with Wilson intervals, for each group and for all."""
    groups = sorted({group(request) for request in requests})
    chosen = [(name, [row for row in requests if group(row) == name]) for name in groups]
    return [_row(name, rows, released) for name, rows in [*chosen, ("all", list(requests))]]


def _row(name: str, rows: Sequence[Request], released: Mapping[str, bool]) -> list[str]:
    doable = sum(row.doable for row in rows)
    out = sum(released[row.name] for row in rows)
    both = sum(row.doable and released[row.name] for row in rows)
    return [
        name,
        str(len(rows)),
        str(doable),
        str(out),
        str(both),
        _share(both, doable),
        _share(both, out),
    ]


def _share(part: int, whole: int) -> str:
    return _text(wilson(part, whole) if whole else None)


def report(
    first: Mapping[str, Request],
    second: Mapping[str, Request],
    recorded: Sequence[str],
    released: Mapping[str, bool],
    reasons: Mapping[str, str],
) -> None:
    """Write the page."""
    requests = list(first.values())
    agreed = [row for row in requests if second[row.session].doable == row.doable]
    head = ("", "requests", "doable", "released", "both", "recall", "precision")
    kappa = agreement(
        [str(row.doable) for row in requests],
        [str(second[row.session].doable) for row in requests],
    ).kappa
    missed = [row for row in requests if row.doable and not released[row.name]]
    wrong = [row for row in requests if released[row.name] and not row.doable]
    text = table(head, agreement_rows(requests, released, lambda row: row.source))
    text += "\n" + table(head, agreement_rows(requests, released, lambda row: row.language))
    text += "\nBy the second reader, and where both readers agree:\n\n"
    text += table(head, [
        _row("second reader", list(second.values()), released),
        _row("both agree", agreed, released),
    ])  # fmt: skip
    text += f"\nThe readers agree on {len(agreed)} of {len(requests)}; κ {_text(kappa)}. "
    text += "Both are language models; these are readings of the author's side, provisional.\n"
    n_recorded = sum(released[Path(session).stem] for session in recorded)
    text += f"\nRecorded sessions: {n_recorded} of {len(recorded)} gave a released task.\n"
    text += "\n## Doable and not released, by the gate's reason\n\n"
    text += _counted(reasons.get(row.name, "none") for row in missed)
    text += "\n## Released and not doable, by the reader's reason\n\n"
    text += _counted(row.reason for row in wrong)
    figures = {
        "released": sorted(row.session for row in requests if released[row.name]),
        "doable": sorted(row.session for row in requests if row.doable),
    }
    write_result("real_requests", __doc__ or "", text, figures)


def _text(interval: Interval | None) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})" if interval else "–"


def _counted(words: Iterable[str]) -> str:
    return "".join(f"- {n} × `{word}`\n" for word, n in Counter(words).most_common()) or "None.\n"


def main() -> None:
    """Build the labelled sessions, compare, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--material", type=Path, default=MATERIAL)
    root = parser.parse_args().material / "sessions-with-files"
    first, second = (read_labels(LABELS / f"requests_{reader}.csv") for reader in "ab")
    recorded = (LABELS / "requests_recorded.txt").read_text(encoding="utf-8").split()
    with tempfile.TemporaryDirectory(prefix="requests-") as name:
        build([*first, *recorded], root, Path(name))
        released, reasons = outcomes(Path(name) / "workspace")
    report(first, second, recorded, released, reasons)


if __name__ == "__main__":
    main()
