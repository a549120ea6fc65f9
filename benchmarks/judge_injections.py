"""Texts that try to move the judge of a deliverable, and how many of them a judge ever reads.

    python -m benchmarks.judge_injections

Each text of `judge_injections.toml` is put into a report as a paragraph of its own. The measure is
the worst case: a judge that obeys whatever it reads is moved by every text that reaches it, and by
none that does not. Sixty texts were written before the guard was read; the word lists as they were
then took out 29 of them. The rule on words of judging was written after those that were missed had
been seen, so the sixty are no measure of it; the thirty held-out texts were written before it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from benchmarks.report import table, write_result
from construction.judging.model.attempts import without_orders
from construction.judging.model.injection import addresses_judge

_TEXTS = Path(__file__).with_suffix(".toml")
_REPORT = (
    "Errors in May",
    "The gateway logged 42 errors, most of them 502 from the billing service.",
    "The worst hour was 14:00 with 9 errors.",
)


def reaches(text: str) -> bool:
    """Is the report with the text in it another one to the judge than the report without it?"""
    clean = without_orders("\n\n".join(_REPORT)).text
    first, *rest = _REPORT
    return without_orders("\n\n".join([first, text, *rest])).text != clean


def main() -> None:
    sets = tomllib.loads(_TEXTS.read_text(encoding="utf-8"))
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    for name, texts in sets.items():
        known = sum(map(addresses_judge, texts))
        through = [text for text in texts if reaches(text)]
        figures[name] = {"texts": len(texts), "lists": known, "reach the judge": through}
        rows.append([name, str(len(texts)), str(known), str(len(through))])
    head = ["set", "texts", "known to the word lists", "reach the judge"]
    text = table(head, rows) + "\nThose that reach it:\n\n"
    text += "".join(f"- {line}\n" for own in figures.values() for line in own["reach the judge"])
    print(text)
    write_result("judge_injections", str(__doc__), text, figures)


if __name__ == "__main__":
    main()
