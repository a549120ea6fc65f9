"""Printing what an audit shows: reasons by gate, single rejections, and one item in full."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from rich.text import Text

from data.contracts import TurnedAway
from data.neutralise import one_line
from data.reasons import ReasonWords
from data.staging.audit import Rows
from data.staging.find_items import Match
from data.staging.print import output_console, print_fitting

_REJECTIONS = (
    "unit",
    "n",
    "item_id",
    "gate",
    "reason",
    "observed",
    "limit",
    "path",
    "line",
    "found",
    "missing",
)
_OUTCOMES = {"chosen": "chosen for the release", "not_chosen": "kept, not chosen"}
_NOTHING = (None, 0, False, "")
_LEAST_WIDTH, _MOST_WIDTH = 40, 100  # columns of running text


def print_json(tables: Mapping[str, Rows]) -> None:
    """Print tables by title as JSON."""
    print(orjson.dumps(tables, option=orjson.OPT_INDENT_2).decode())


def print_reasons(rows: Rows, words: ReasonWords) -> None:
    """Print the units of each reason with a sentence: by gate in their order, then by stage."""
    gates, questions = list(words.gates), words.questions()
    groups: dict[tuple[int, str], Rows] = {}
    for row in rows:
        gate = row["gate"]
        at = len(gates) + (gate is None) if gate not in gates else gates.index(gate)
        groups.setdefault((at, gate or f"stage {row['stage']}"), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: item[0][0])
    units = max((len(f"{row['units']:,}") for row in rows), default=0)
    names = max((len(row["unit"]) for row in rows), default=0)
    for (_, title), group in ordered:
        print(f"\n{one_line(title)}{f': {questions[title]}' if title in questions else ''}")
        for row in group:
            reason = one_line(row["reason"] or "errored")
            print(f"  {row['units']:>{units},} {row['unit']:<{names}}  {reason}")
            _print_wrapped(words.sentences.get(reason, ""), " " * (units + names + 5))


def print_rejections(rows: Rows, words: ReasonWords) -> None:
    """Print rejections with limits as a person reads them, then what each reason means."""
    print_tables({"rejections": readable(rows, words)})
    print_sentences(rows, words)


def print_sentences(rows: Rows, words: ReasonWords) -> None:
    """Print a sentence for each reason in `rows`."""
    for reason in sorted({row["reason"] for row in rows} & words.sentences.keys()):
        print(f"{reason}: {words.sentences[reason]}")


def readable(rows: Rows, words: ReasonWords) -> Rows:
    """Rows of rejections or verdicts with values and limits in words."""
    return [
        row
        | {
            "observed": words.measured(row["gate"], row["observed"]),
            "limit": words.allowed(row["gate"], row["reason"], row["limit"]),
        }
        for row in rows
    ]


def print_item(tables: Mapping[str, Rows], words: ReasonWords) -> None:
    """Print all that is known of an item; texts of turns stand below each other."""
    shown = dict(tables)
    for row in readable(tables["rejections"], words):
        _print_wrapped(_why(row, words), "")
    shown["verdicts"] = [
        row | {"measures": _measures(row["measures"])}
        for row in readable(tables["verdicts"], words)
    ]
    shown["rejections"] = readable(tables["rejections"], words)
    turns = _numbered(shown.pop("turns"))
    if turns:  # they have a table of their own
        shown["story"] = [row for row in tables["story"] if row["unit"] != "turn"]
    is_private = bool(turns) and "text" in turns[0]
    print_tables(shown if is_private else shown | {"turns": _located(turns)})
    if is_private:
        _print_texts(turns)
    whys = [{"reason": row["why"]} for row in tables["story"]]
    explained = {row["reason"] for row in tables["rejections"]}
    others = [row for row in tables["verdicts"] if row["reason"] not in explained]
    print_sentences(others + whys, words)


def print_last_outcome(item: Match, words: ReasonWords) -> None:
    """Print what became of an item that nothing rejected."""
    outcome = _OUTCOMES.get(item.outcome, one_line(item.outcome))
    sentence = words.sentences.get(item.reason or "", "")
    _print_wrapped(f"{outcome} (stage {one_line(item.stage)}){sentence and f': {sentence}'}", "")


def _why(row: Mapping[str, Any], words: ReasonWords) -> str:
    """Why it was rejected, in a sentence, with what was measured and what is allowed."""
    sentence = words.sentences.get(row["reason"], row["reason"] or "It could not be processed.")
    measured = "" if row["observed"] is None else f" Measured: {one_line(str(row['observed']))}."
    allowed = "" if row["limit"] is None else f" Allowed: {one_line(str(row['limit']))}."
    return f"{row['outcome']} in {row['gate'] or row['stage']}: {sentence}{measured}{allowed}"


def _measures(text: str | None) -> str | None:
    """The measures that are not zero: `chars 27, orders 2`."""
    measures: Mapping[str, Any] = orjson.loads(text or "{}")
    shown = (f"{name} {value}" for name, value in measures.items() if value not in _NOTHING)
    return ", ".join(shown) or None


def _numbered(turns: Rows) -> Rows:
    """Turns with `turn`, the number of a person's message in the task from 1, as gates name it."""
    number, numbered = 0, []
    for row in turns:
        is_person = row["role"] == "user" and row["origin"] == "human"
        number += is_person
        numbered.append({"turn": number if is_person else None} | row)
    return numbered


def _located(turns: Rows) -> Rows:
    hidden = ("session_uid", "turn_index")
    return [{name: row[name] for name in row if name not in hidden} for row in turns]


def _print_texts(turns: Rows) -> None:
    for row in turns:
        line = f":{row['line']}" if row["line"] else ""
        who = row["role"] if row["turn"] is None else f"turn {row['turn']}, {row['role']}"
        print(f"\n{who}, {one_line(row['path'])}{line}")
        for paragraph in row["text"].splitlines():
            _print_wrapped(paragraph, "  ")
    print()


def print_tables(tables: Mapping[str, Rows]) -> None:
    """Print each table that has rows."""
    console = output_console()
    with console.capture() as printed:
        for title, rows in tables.items():
            if not rows:
                continue
            wanted: Sequence[str] = _REJECTIONS if title == "rejections" else tuple(rows[0])
            names = [name for name in wanted if any(row[name] is not None for row in rows)]
            console.print(
                Text(f"{title} ({_counted(title, rows)})", style="italic"), soft_wrap=True
            )
            print_fitting(console, names, [[row[name] for name in names] for row in rows])
        if not any(tables.values()):
            console.print("Nothing was rejected.")
    _print_stripped(printed.get().splitlines())


def _print_stripped(lines: Iterable[str]) -> None:
    print("\n".join(line.rstrip() for line in lines))


def _counted(title: str, rows: Rows) -> str:
    if title != "rejections":
        return str(len(rows))
    return str(TurnedAway(sum(row["n"] for row in rows), len(rows)))


def _print_wrapped(text: str, indent: str) -> None:
    """Print a text in lines that fit the terminal."""
    if text:
        columns = shutil.get_terminal_size().columns
        width = min(max(columns, _LEAST_WIDTH), _MOST_WIDTH)
        wrapper = textwrap.TextWrapper(
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        print(wrapper.fill(text))
