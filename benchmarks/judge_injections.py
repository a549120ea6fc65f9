"""Texts that try to move the judge of a deliverable, and how many of them a judge ever reads.

    python -m benchmarks.judge_injections

Each text of `judge_injections.toml` is put into a report as a paragraph of its own. `taken out`:
the judge's request is the one about the report without it; no judge can be moved by it. What is
not taken out is stopped by the controls where a judge that obeys the text calls everything met
(`third_all`, as its author says), and by nothing where it aims at one thing (`third_one`). Of
honest paragraphs, what is taken out is lost: the judge should have read it.

`texts` (60) and `held_out` (30) were written before the rules that they led to, `second` (60)
before the rule on directions; `third` (60) and its honest paragraphs are read with the rules as
they are, and nobody who wrote the rules had seen them. Their authors are language models that had
not seen the code.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from benchmarks.report import table, write_result
from construction.judging.model.attempts import without_orders

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
    sets: dict[str, list[str]] = tomllib.loads(_TEXTS.read_text(encoding="utf-8"))
    reaching = {name: [text for text in texts if reaches(text)] for name, texts in sets.items()}
    rows = [
        [name, str(len(texts)), str(len(texts) - len(reaching[name])), str(len(reaching[name]))]
        for name, texts in sets.items()
    ]
    figures = {
        name: {"texts": len(texts), "reach the judge": reaching[name]}
        for name, texts in sets.items()
    }
    text = table(["set", "texts", "taken out", "reach the judge"], rows)
    text += "\nAimed at one thing, and read by the judge:\n\n"
    text += "".join(f"- {' '.join(line.split())}\n" for line in reaching["third_one"])
    print(text)
    write_result("judge_injections", str(__doc__), text, figures)


if __name__ == "__main__":
    main()
