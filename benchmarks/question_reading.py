"""What three pairs of blind readers make of 100 questions about financial statements each.

    python -m benchmarks.question_reading

Questions are drawn by the digest of their release, first draw, from filings of the material that no
earlier draw had shown (`benchmarks.question_sheets`). The readers are language models that had not
seen the code. They saw question, guideline, gold answer and the source row. Scores: 0 wrong or not
answerable, 1 ambiguous, 2 a flaw of wording that misleads nobody, 3 a careful reader understands it
in one way. The column `reason` names the class into which their sentences were put afterwards.

First reading: 42 easy, 34 medium, 24 hard. Its classes were then mended over all labels. Second
reading: a new release (size 2,000) and new filings, 45 easy, 30 medium, 25 hard; 14 of the 100 are
about US companies, since nearly all filings of the material's one US quarter had been shown before.
Mended after the second reading, and not read again: a gain beside a line for losses no longer gets
a note about its sign, no difference is asked between filings of other scales, no bare line of a
Japanese cash flow statement, periods are named by conventions derived from the filings, and source
values that are cut to millions (`source_rounded`, the one score of 0) are not asked about.

Third reading: a release of size 4,000 after that, half of the draw from the US as far as unseen
filings go (43 of 100), 37 easy, 39 medium, 24 hard. Nothing is mended since. Both hold against it a
bare row label (a 0 and a 1), an aside turned round by the tag, and "nearest to December 31" for
companies whose quarters end on a weekday while their year ends on that day.
"""

from __future__ import annotations

from benchmarks.report import write_result
from benchmarks.session_reading import LABELS, read_scores, released_text

BAR = 0.95
READINGS = {"First reading": "EF", "Second reading": "PQ", "Third reading": "TU"}


def main() -> None:
    """Read the sheets, write the page."""
    parts, figures = [], {}
    for heading, readers in READINGS.items():
        sheets = {
            name: read_scores(LABELS / f"question_reading_{name.lower()}.csv") for name in readers
        }
        parts.append(f"## {heading}\n\n{released_text(sheets, BAR)}")
        for name, rows in sheets.items():
            figures[name] = {str(number): row.score for number, row in rows.items()}
    write_result("question_reading", __doc__ or "", "\n".join(parts), figures)


if __name__ == "__main__":
    main()
