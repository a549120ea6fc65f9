"""Markdown tables and fenced CSV, taken out of an answer."""

from __future__ import annotations

import csv
import re

from construction.statements.answers.markup import RawTable

_RULE = re.compile(r"\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?")
_FENCE = re.compile(r"(?:```|~~~)\s*+\w*")


def take_tables(text: str) -> tuple[str, list[RawTable]]:
    """The text without its tables, and the tables with the line above each as caption."""
    if "|" not in text and "```" not in text and "~~~" not in text:
        return text, []
    lines, kept, tables = text.split("\n"), list[str](), list[RawTable]()
    index = 0
    while index < len(lines):
        end = index
        while end < len(lines) and "|" in lines[end]:
            end += 1
        if end > index:
            before, rows = _markdown(lines[index:end])
            kept += before
        elif _FENCE.fullmatch(lines[index].strip()):
            rows, end = _fenced(lines, index)
        else:
            rows = []
        if rows:
            tables.append(RawTable(rows, _above(kept)))
            kept.append("")
        elif end == index:
            kept.append(lines[index])
        index = max(end, index + 1)
    return "\n".join(kept), tables


def _above(lines: list[str]) -> str:
    """The nearest line with text, at most one empty line away."""
    near = [line for line in lines[-2:] if line.strip()]
    return near[-1] if near else ""


def _markdown(block: list[str]) -> tuple[list[str], list[list[str]]]:
    """The lines before the table, and its rows; a table has a rule or a frame."""
    rule = next((k for k, line in enumerate(block) if k and _RULE.fullmatch(line.strip())), 0)
    framed = len(block) > 1 and all(line.strip().startswith("|") for line in block)
    if not rule and not framed:
        return block, []
    start = max(rule - 1, 0)
    return block[:start], [
        _cells(line) for line in block[start:] if not _RULE.fullmatch(line.strip())
    ]


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", bare)]


def _fenced(lines: list[str], index: int) -> tuple[list[list[str]], int]:
    end = index + 1
    while end < len(lines) and not lines[end].strip().startswith(("```", "~~~")):
        end += 1
    block = [line for line in lines[index + 1 : end] if line.strip()]
    if len(block) < 2 or block[0].lstrip().startswith(("{", "[")):
        return [], index
    tabs = all("\t" in line for line in block)
    try:
        rows = [
            [cell.strip() for cell in row]
            for row in csv.reader(block, delimiter="\t" if tabs else ",", skipinitialspace=True)
        ]
    except csv.Error:
        return [], index
    regular = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
    return (rows, end + 1) if regular else ([], index)
