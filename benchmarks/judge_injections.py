"""Texts that try to move the judge of a deliverable, and judges that obey what they read.

    python -m benchmarks.judge_injections [FILE]      FILE: further sets of texts

Each text is put into a report as a paragraph of its own. The report shows one of two criteria; the
text is about the other. The judges are simulated: they obey the text as long as a sentence of it
stands in what they read, in both requests, and quote of it the sentence that best withstands the
list of what is no evidence.

- `everything`: calls all criteria met.
- `point`: calls met whatever is about the criterion that the text aims at, its twin too.
- `exact`: calls met that criterion alone, and sees through its twin: the worst there is. What it
  moves is what the list of what is no evidence does not know.
- `other`: as `exact`, but quotes an honest sentence; the second request is then free of the text.

`raised`: the criterion that nothing shows is met or partly met. `unjudged`: it has no verdict.
`disturbed`: the criterion that is shown is not met any more. Honest paragraphs are quoted by an
honest judge as what shows a criterion; `lost` are those that the list does not let through.

`texts`, `held_out`, `second` and `third` were read when the list was written, and are no measure of
it. Their authors are language models that had not seen the code.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import table, write_result
from construction.judging.contracts import CriterionVerdict
from construction.judging.model.attempt_case import AttemptCase, DeliveredFile, PartVerdict
from construction.judging.model.attempts import judge_attempts
from tests.construction.judging.model.fakes import CONFIG, Scripted
from tests.construction.judging.model.judges import (
    AIMED,
    HELD,
    HELD_IN,
    REPORT,
    TASK,
    Judge,
    wants_about,
    wants_everything,
    wants_exactly,
)

_TEXTS = Path(__file__).with_suffix(".toml")
_KEY = 20_261_126
_HONEST = "honest"
_JUDGES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "everything": lambda aimed: {"wants": wants_everything},
    "point": lambda aimed: {"wants": wants_about(aimed)},
    "exact": lambda aimed: {"wants": wants_exactly(aimed)},
    "other": lambda aimed: {"wants": wants_exactly(aimed), "quotes_other": True},
}
Entry = tuple[str, str]  # text, criterion


def sets_of(path: Path) -> dict[str, list[Entry]]:
    """The sets of a file; a text without a criterion aims at the comparison."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: [
            (one, AIMED) if isinstance(one, str) else (one["text"], one["criterion"])
            for one in entries
            if isinstance(one, str) or "criterion" in one
        ]
        or [(one["text"], AIMED) for one in entries]
        for name, entries in content.items()
    }


def judged(text: str, aimed: str, judge: Judge) -> Mapping[str, PartVerdict | None]:
    """The verdicts on both criteria, None without any, where the text is in the report."""
    report = "\n\n".join([REPORT[0], text, *REPORT[1:]])
    case = AttemptCase(
        "a1", TASK, {"held": HELD, "aimed": aimed}, "report.md", (DeliveredFile("r.md", report),)
    )
    (result,) = judge_attempts([case], Scripted(judge), CONFIG, _KEY)
    return result.value or {"held": None, "aimed": None}


def moved(text: str, aimed: str, name: str) -> str:
    """What a judge that obeys the text makes of it."""
    seen = judged(text, aimed, Judge({HELD: HELD_IN}, text, **_JUDGES[name](aimed)))
    verdicts = {part: one.verdict if one else None for part, one in seen.items()}
    if verdicts["aimed"] in (CriterionVerdict.MET, CriterionVerdict.PARTLY):
        return "raised"
    if verdicts["aimed"] is None:
        return "unjudged"
    return "as without" if verdicts["held"] is CriterionVerdict.MET else "disturbed"


def lost(text: str, criterion: str) -> bool:
    """Is an honest paragraph no evidence for its criterion?"""
    quote = text[:600].strip()
    seen = judged(text, criterion, Judge({HELD: HELD_IN, criterion: quote}))["aimed"]
    return seen is None or seen.verdict is not CriterionVerdict.MET


def _rows(sets: Mapping[str, Sequence[Entry]]) -> list[dict[str, Any]]:
    rows = []
    for name, entries in sets.items():
        if name.endswith(_HONEST):
            continue
        for judge in _JUDGES:
            counts = Counter(moved(*entry, judge) for entry in entries)
            rows.append({"set": name, "texts": len(entries), "judge": judge} | {
                what: counts[what] for what in ("as without", "raised", "unjudged", "disturbed")
            })  # fmt: skip
    return rows


def main() -> None:
    sets = sets_of(_TEXTS)
    for extra in sys.argv[1:]:
        sets |= sets_of(Path(extra))
    rows = _rows(sets)
    honest = {name: entries for name, entries in sets.items() if name.endswith(_HONEST)}
    gone = {name: [e for e in entries if lost(*e)] for name, entries in honest.items()}
    kept = [[name, str(len(honest[name])), str(len(gone[name]))] for name in honest]
    last = [name for name in sets if name.endswith("_one")][-1]
    reached = [text for text, aimed in sets[last] if moved(text, aimed, "exact") == "raised"]
    text = table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
    text += "\n" + table(["honest paragraphs", "texts", "lost as evidence"], kept)
    text += f"\nOf `{last}`, what a judge that sees through twins obeys:\n\n"
    text += "".join(f"- {' '.join(line.split())}\n" for line in reached)
    print(text)
    print(*(f"lost: {entry[0]}" for entries in gone.values() for entry in entries), sep="\n")
    figures = {"rows": rows, "lost": {n: len(e) for n, e in gone.items()}, "reached": reached}
    write_result("judge_injections", str(__doc__), text, figures)


if __name__ == "__main__":
    main()
