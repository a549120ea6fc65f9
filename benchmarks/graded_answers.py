"""The grader on sets of 450 answers, written by people who had not seen it (`tests/challenge`).

Wrong answers are to be rejected with a fitting reason, equivalent forms of right ones accepted. The
first run is the reading: once a rule was mended with a look at these cases, they measure no more.

    python -m benchmarks.graded_answers [SET...]    writes benchmarks/results/SET.md and .json
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.agreement import wilson
from benchmarks.report import table, write_result
from tests.challenge.graded_answers import SETS, Judged, judged_cases


def main() -> None:
    """Read the named sets; without names the newest, whose cases no rule was written on."""
    for name in sys.argv[1:] or SETS[-1:]:
        _write(name)


def _write(name: str) -> None:
    cases = list(judged_cases(name))
    kinds = sorted({(case.is_right, case.kind) for case in cases})
    rows = [
        _row(kind, [case for case in cases if (case.is_right, case.kind) == (is_right, kind)])
        for is_right, kind in kinds
    ]
    wrong = _row("all wrong answers", [case for case in cases if not case.is_right])
    right = _row("all equivalent forms", [case for case in cases if case.is_right])
    head = ("kind", "cases", "as its writer says", "with a fitting reason", "95 % interval")
    text = table(head, [wrong, right, *rows])
    write_result(name, __doc__ or "", text, {"rows": [wrong, right, *rows]})


def _row(name: str, cases: Sequence[Judged]) -> list[str]:
    fitting, n = sum(case.reason_fits for case in cases), len(cases)
    interval = wilson(fitting, n)
    agreed = sum(case.agrees for case in cases)
    return [name, str(n), str(agreed), str(fitting), f"{interval.low:.1%} to {interval.high:.1%}"]


if __name__ == "__main__":
    main()
