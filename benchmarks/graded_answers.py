"""The grader on 450 answers written by somebody who had not seen it (`tests/challenge`).

Wrong answers are to be rejected with a fitting reason, equivalent forms of right ones accepted. The
first run is the reading: once a rule was mended with a look at these cases, they measure no more.

    python -m benchmarks.graded_answers    writes benchmarks/results/graded_answers.md and .json
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.agreement import wilson
from benchmarks.report import table, write_result
from tests.challenge.graded_answers import Judged, judged_cases


def main() -> None:
    cases = list(judged_cases())
    kinds = sorted({(case.is_right, case.kind) for case in cases})
    rows = [
        _row(kind, [case for case in cases if (case.is_right, case.kind) == (is_right, kind)])
        for is_right, kind in kinds
    ]
    wrong = _row("all wrong answers", [case for case in cases if not case.is_right])
    right = _row("all equivalent forms", [case for case in cases if case.is_right])
    head = ("kind", "cases", "as its writer says", "with a fitting reason", "95 % interval")
    text = table(head, [wrong, right, *rows])
    write_result("graded_answers", __doc__ or "", text, {"rows": [wrong, right, *rows]})


def _row(name: str, cases: Sequence[Judged]) -> list[str]:
    fitting, n = sum(case.reason_fits for case in cases), len(cases)
    interval = wilson(fitting, n)
    agreed = sum(case.agrees for case in cases)
    return [name, str(n), str(agreed), str(fitting), f"{interval.low:.1%} to {interval.high:.1%}"]


if __name__ == "__main__":
    main()
