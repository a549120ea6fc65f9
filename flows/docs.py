"""The generated parts of the docs: settings, stages, gates, limits and reasons.

python -m flows.docs

Tables in pages that are otherwise written by hand stand between two markers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from construction.sessions.readers.registry import FORMATS, Format, Named
from data.atomic import write_bytes
from data.contracts import Bound, Gate, Limit, Status
from data.labels import own_labels
from data.reasons import sentences
from data.settings_page import Part, Reference, settings_page
from data.stages import Lane
from flows import ROOT
from flows.build_snapshot import PIPELINE
from flows.gates import GATES
from flows.recipe import Settings
from selection.evaluation.board import COLUMNS

SETTINGS_PAGE = ROOT / "docs" / "configuration.md"
COMMON_FILE = Path(__file__).with_name("common_settings.toml")
_FIRST = Part(
    "Settings that most releases need",
    """
These {common} of {all} settings are enough for most releases; the others rarely need changing.
Each example is a line for the file; `release.name` is the key `name` in section `[release]`.""",
)
_USUAL = Part(
    "Reference",
    """
Generated from the models by `flows/docs.py` (`make docs`); do not edit this part. Sections follow
the order of the recipe, with `[runtime]` last; limits and weights that rarely change are under
[Advanced](#advanced). A default of *none* means that nothing is set. The environment variable for
`seed` in `[selection]` is `BENCHMINT_SELECTION__SEED`; dots in a section name become `__`.""",
)
_ADVANCED = Part(
    "Advanced",
    """
Limits and weights that were set by measurement. Before you change one, check what it affects:
`benchmint build --dry-run` shows which stages would run again.""",
)


AnyGate = Gate[Any, Any]
_SIGNS = {Bound.MIN: "≥", Bound.MAX: "≤"}


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; `|` in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def between_markers(page: str, name: str, table: str) -> str:
    """The page with `table` between its markers `<!-- NAME: … -->` and `<!-- end NAME -->`.

    Raises ValueError if the page has no such markers.
    """
    begin, end = f"<!-- {name}: made by `make docs` -->", f"<!-- end {name} -->"
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"expected the markers {begin} and {end}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def stage_table(lanes: Iterable[Lane[Any]]) -> str:
    """One row per stage, in the order of the pipeline."""
    rows = []
    for lane in lanes:
        for stage in lane.stages:
            kinds = dict.fromkeys(f"{unit.name} ({unit.kind})" for unit in stage.units)
            counts = ", ".join(kinds)
            rows.append((lane.name, stage.name, stage.meaning, counts))
    head = ("lane", "stage", "question", "counts")
    return markdown_table(head, rows)


def gate_table(gates: Iterable[AnyGate]) -> str:
    """All gates: what each asks, and the reasons that it gives."""
    rows = [(gate.name, gate.meaning, _family(gate)) for gate in gates]
    return markdown_table(("gate", "question", "reasons"), rows)


def limit_table(gates: Iterable[AnyGate]) -> str:
    """The limits that a setting can change, in the order in which they decide."""
    head = ("gate", "what passes", "limit", "setting", "reason")
    return markdown_table(head, (row for gate in gates for row in _limit_rows(gate)))


def is_adjustable(limit: Limit) -> bool:
    """Whether a setting changes the limit or decides if it applies."""
    return limit.at is None or limit.policy is not None


def _meaning_table(kind: str, meanings: Mapping[str, str]) -> str:
    """Names of a kind with their meanings."""
    return markdown_table((kind, "meaning"), meanings.items())


def reason_table(sentences: Mapping[str, str]) -> str:
    """Every reason with its sentence."""
    rows = [(f"`{reason}`", sentence) for reason, sentence in sentences.items()]
    return markdown_table(("reason", "meaning"), rows)


def _limit_rows(gate: AnyGate) -> Iterator[tuple[str, ...]]:
    for limit in filter(is_adjustable, gate.limits):
        setting = f"`{gate.section}.{limit.name}`"
        if limit.policy is not None:
            field, value = limit.policy
            written = str(value).lower() if isinstance(value, bool) else f'"{value}"'
            setting = f"only with `{gate.section}.{field} = {written}`"
        reason = f"`{limit.reason}`" if limit.reason is not None else _family(gate)
        if limit.status is Status.UNVERIFIED:
            reason += " (unverified, not rejected)"
        yield gate.name, limit.meaning, _allowed(gate, limit), setting, reason


def _allowed(gate: AnyGate, limit: Limit) -> str:
    """The default of a limit with its direction and unit."""
    allowed = limit.allowed(gate.config())
    if isinstance(allowed, bool):
        return "yes" if allowed else "no"
    return f"{_SIGNS[limit.bound]} {allowed:,} {limit.unit.removeprefix('share ')}"


def _family(gate: AnyGate) -> str:
    """The reasons of a gate in short: the part before the dot, or the only one."""
    reasons = [str(reason) for reason in gate.reasons]
    families = dict.fromkeys(reason.partition(".")[0] for reason in reasons)
    names = reasons if len(reasons) == 1 else [f"{family}.*" for family in families]
    return ", ".join(f"`{name}`" for name in names)


def configuration_page(current: str) -> str:
    """The reference of settings made anew. Raises ValueError where a heading is missing."""
    common = tomllib.loads(COMMON_FILE.read_text(encoding="utf-8"))
    meanings = {
        (gate.config, limit.name): limit.meaning
        for gate in GATES
        for limit in gate.limits
        if limit.at is None
    }
    by_machine = {"runtime.workers": "processors, at most 4"}
    rows, behind = common["setting"], common["advanced"]
    reference = Reference(_FIRST, _USUAL, _ADVANCED, rows, behind, meanings, by_machine)
    return settings_page(current, Settings(), reference)


def _format_table() -> str:
    """The formats of session logs with what must be present, and those that are not read."""
    read: dict[str, list[str]] = {}
    for entry in FORMATS:
        if isinstance(entry, Format):
            read.setdefault(entry.name, []).append(entry.signature)
    rows = [(f"`{name}`", "; ".join(signatures)) for name, signatures in read.items()]
    unread = ", ".join(f"`{entry.name}`" for entry in FORMATS if isinstance(entry, Named))
    table = markdown_table(("format", "what must be present"), rows)
    return f"{table}\n\nRecognised, but not read (a dry run says why): {unread}."


def _agent_table() -> str:
    """The agents without a model."""
    agents = own_labels()["agent"].values()
    return _meaning_table("`--agent`", {f"`{words.code}`": words.meaning for words in agents})


def tables() -> Mapping[Path, Mapping[str, str]]:
    """The tables of each page, by the names of their marked parts."""
    return {
        ROOT / "docs" / "sessions.md": {"session formats": _format_table()},
        ROOT / "docs" / "audit.md": {
            "gates": gate_table(GATES),
            "limits": limit_table(GATES),
            "reasons": reason_table(sentences(GATES)),
        },
        ROOT / "docs" / "run.md": {"agents": _agent_table()},
        ROOT / "docs" / "leaderboard.md": {"columns": _meaning_table("column", COLUMNS)},
        ROOT / "docs" / "architecture.md": {"stages": stage_table(PIPELINE)},
    }


def page_with_tables(path: Path) -> str:
    """The text of a page with its tables made anew."""
    page = path.read_text("utf-8")
    for name, table in tables()[path].items():
        page = between_markers(page, name, table)
    return page


def main() -> None:
    """Write the generated parts into their pages."""
    page = SETTINGS_PAGE.read_text(encoding="utf-8")
    write_bytes(SETTINGS_PAGE, configuration_page(page).encode())
    for path in tables():
        write_bytes(path, page_with_tables(path).encode())


if __name__ == "__main__":
    main()
