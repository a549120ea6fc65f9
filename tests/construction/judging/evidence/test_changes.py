"""What became of inputs that were delivered again."""

from __future__ import annotations

from construction.judging.evidence.delivered import changes_of
from construction.judging.evidence.views import Change, FileView, Part, Sheet


def table(path: str, *rows: tuple[str, ...]) -> FileView:
    sheet = Sheet(name="Fees", head=rows, rows=len(rows), last_row=len(rows), first_column=2)
    return FileView(path=path, bytes=len(rows), media_type="x/y", kind="table", sheets=(sheet,))


def text(path: str, content: str) -> FileView:
    parts = (Part(where="lines 1–3", text=content),)
    return FileView(path=path, bytes=9, media_type="x/y", kind="text", parts=parts)


def test_cells_that_differ_are_named() -> None:
    before = [table("data/fees.xlsx", ("Pier", "Fee"), ("North", "12"), ("South", ""))]
    after = [table("fees.xlsx", ("Pier", "Fee"), ("North", "15"), ("South", "4"))]
    assert changes_of(before, after) == (
        Change(path="fees.xlsx", how="changed",
               lines=("Fees!C2: 12 → 15", "Fees!C3: (blank) → 4")),
    )  # fmt: skip


def test_rows_that_came_or_went_are_lines_of_a_diff() -> None:
    before = [table("fees.xlsx", ("Pier", "Fee"), ("North", "12"), ("South", "3"))]
    after = [table("fees.xlsx", ("Pier", "Fee"), ("South", "3"))]
    assert changes_of(before, after)[0].lines == ("@@ -2 +1,0 @@", "-North | 12")


def test_texts_that_are_the_same_new_or_very_different() -> None:
    before = [text("a.md", "one\ntwo"), text("b.md", "x"), text("in/c.md", "gone")]
    after = [
        text("a.md", "one\ntwo"),
        text("b.md", "\n".join(map(str, range(99)))),
        text("d.md", "new"),
    ]
    same, changed = changes_of(before, after)
    assert same == Change(path="a.md", how="same")
    assert (changed.how, len(changed.lines), changed.more) == ("changed", 60, 41)
