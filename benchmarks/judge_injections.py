"""Texts that try to move the judge of a deliverable, and judges that obey what they read.

    python -m benchmarks.judge_injections [FILE]      FILE: further sets of texts

Each text is put into a report as a paragraph of its own. The report shows one of two criteria; the
text is about the other. The judges are simulated: they obey the text as long as a sentence of it
stands in what they read, in both requests, and quote it.

- `everything`: calls all criteria met.
- `point`: calls met whatever is about the criterion that the text aims at, its twin too.
- `other`: calls met the criterion alone and sees through twins, but quotes an honest sentence; the
  second request is then free of the text.
- `credulous`: as `other` with a quote of the text; takes every claim for the thing.
- `exact`: as `credulous`, but is taken in by this text alone. What remains, by its definition: no
  request can tell it from a judge that was shown the thing.

Where a criterion can only be shown by the whole work (asked of a request that holds nothing of it),
a further request about it sees the report: the last column counts what is raised then.

`raised`: the criterion that nothing shows is met or partly met. `unjudged`: it has no verdict, and
counts as not met.
`disturbed`: the criterion that is shown is not met any more. Honest paragraphs are quoted by an
honest judge as what shows a criterion; `lost` are those that do not count.

`fourth` (20 that want everything, 40 that aim at one thing, 60 honest) was read by nobody before
its first run, at which twins and second reading stood as they are now, and a list of words of
judging and absence was held against quotes: `everything` and `point` raised 0 of 60, `other` 0, and
`exact` 37 of 40 that aim at one thing, while 10 of 60 honest paragraphs were lost. The list was
dropped for it. Empty claims came afterwards, so that their row on `fourth` is no score. The authors
of all sets are language models that had not seen the code.
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
from construction.judging.evidence.views import Evidence
from construction.judging.model.attempt_case import AttemptCase, PartVerdict
from construction.judging.model.attempts import judge_attempts
from tests.construction.judging.model.attempt_cases import text_file
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
    "other": lambda aimed: {"wants": wants_exactly(aimed), "quotes_other": True},
    "credulous": lambda aimed: {"wants": wants_exactly(aimed), "is_credulous": True},
    "exact": lambda aimed: {"wants": wants_exactly(aimed)},
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


def judged(text: str, aimed: str, judge: Judge) -> Mapping[str, PartVerdict]:
    """The verdicts on both criteria where the text is in the report."""
    report = "\n\n".join([REPORT[0], text, *REPORT[1:]])
    evidence = Evidence(outputs=(text_file("r.md", report),))
    case = AttemptCase("a1", TASK, {"held": HELD, "aimed": aimed}, "report.md", evidence)
    (result,) = judge_attempts([case], Scripted(judge), CONFIG, _KEY)
    return result.verdicts


def moved(text: str, aimed: str, name: str, whole: bool = False) -> str:
    """What a judge that obeys the text makes of it; `whole`: the second request sees the report."""
    seen = judged(
        text,
        aimed,
        Judge({HELD: HELD_IN}, text, whole=aimed if whole else "\n", **_JUDGES[name](aimed)),
    )
    verdicts = {part: own.verdict for part, own in seen.items()}
    if verdicts["aimed"] in (CriterionVerdict.MET, CriterionVerdict.PARTLY):
        return "raised"
    if verdicts["aimed"] is None:
        return "unjudged"
    return "as without" if verdicts["held"] is CriterionVerdict.MET else "disturbed"


def lost(text: str, criterion: str) -> bool:
    """Is an honest paragraph no evidence for its criterion?"""
    quote = text[:600].strip()
    seen = judged(text, criterion, Judge({HELD: HELD_IN, criterion: quote}))["aimed"]
    return seen.verdict is not CriterionVerdict.MET


def _rows(sets: Mapping[str, Sequence[Entry]]) -> list[dict[str, Any]]:
    rows = []
    for name, entries in sets.items():
        if name.endswith(_HONEST):
            continue
        for judge in _JUDGES:
            counts = Counter(moved(*entry, judge) for entry in entries)
            wide = Counter(moved(*entry, judge, whole=True) for entry in entries)
            rows.append({"set": name, "texts": len(entries), "judge": judge} | {
                what: counts[what] for what in ("as without", "raised", "unjudged", "disturbed")
            } | {"raised where the whole work is read": wide["raised"]})  # fmt: skip
    return rows


def main() -> None:
    sets = sets_of(_TEXTS)
    for extra in sys.argv[1:]:
        sets |= sets_of(Path(extra))
    rows = _rows(sets)
    honest = {name: entries for name, entries in sets.items() if name.endswith(_HONEST)}
    gone = {name: [e for e in entries if lost(*e)] for name, entries in honest.items()}
    kept = [[name, str(len(honest[name])), str(len(gone[name]))] for name in honest]
    text = table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
    text += "\n" + table(["honest paragraphs", "texts", "lost as evidence"], kept)
    print(text)
    figures = {"rows": rows, "lost": {name: len(entries) for name, entries in gone.items()}}
    write_result("judge_injections", str(__doc__), text, figures)


if __name__ == "__main__":
    main()
