"""Generated tables in pages that are otherwise written by hand: they stand between two markers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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
