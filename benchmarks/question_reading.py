"""What two blind readers make of 100 questions about financial statements.

    python -m benchmarks.question_reading

The questions were drawn by the digest of their release, first draw, from filings of the material
that no earlier draw had shown (`benchmarks.question_sheets`): 42 easy, 34 medium, 24 hard. The
readers are two language models that had not seen the code. They saw question, guideline, gold
answer and the source row. Scores: 0 wrong or not answerable, 1 ambiguous, 2 a flaw of wording that
misleads nobody, 3 a careful reader understands it in one way. The column `reason` names the class
into which their sentences were put afterwards. After the reading the synonyms of harder questions
were replaced by terms that readers use (`synonyms.toml`); the questions were not read again.
"""

from __future__ import annotations

from benchmarks.report import write_result
from benchmarks.session_reading import LABELS, read_scores, released_text

BAR = 0.95


def main() -> None:
    """Read the sheets, write the page."""
    sheets = {name: read_scores(LABELS / f"question_reading_{name.lower()}.csv") for name in "EF"}
    figures = {
        name: {str(number): row.score for number, row in rows.items()}
        for name, rows in sheets.items()
    }
    write_result("question_reading", __doc__ or "", released_text(sheets, BAR), figures)


if __name__ == "__main__":
    main()
