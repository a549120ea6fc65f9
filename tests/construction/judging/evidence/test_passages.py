"""Which passages, rows and sheets of long files a prompt shows: those that the request is about."""

from __future__ import annotations

import pytest

from construction.judging.evidence.passages import chosen, joined, pieces_of, scores_of, words_about
from construction.judging.evidence.shown import deal
from construction.judging.evidence.views import Evidence, FileView, Part, Said, Sheet

_FILLER = "The quay was swept and the ropes were coiled before the evening watch came on. "


def text_file(path: str, *paragraphs: str, kind: str = "text") -> FileView:
    text = "\n\n".join(paragraphs)
    last = text.count("\n") + 1
    parts = (Part(where=f"lines 1–{last}", text=text),)
    return FileView(path=path, bytes=len(text), media_type="text/plain", kind=kind, parts=parts)


def evidence_of(text: str, *files: FileView, **more: object) -> Evidence:
    return Evidence.model_validate(
        {"said": (Said(speaker="person", text=text),), "files": files, **more}
    )


def shown_of(evidence: Evidence, budget: int = 2_000) -> str:
    (file,) = deal(evidence, budget).content["input_files"]
    return "\n".join(f"[{part['place']}] {part['text']}" for part in file["parts"])


def among_filler(passage: str, count: int = 400, at: int = 250) -> list[str]:
    lines = [f"Entry {n}. {_FILLER}" for n in range(count)]
    return [*lines[:at], passage, *lines[at:]]


@pytest.mark.parametrize(
    ("request_text", "passage"),
    [
        (
            "What does the harbour charge for mooring overnight?",
            "Mooring overnight costs 41 crowns.",
        ),
        ("Find invoice QX-8812 and tell its due date.", "qx-8812: due on 4 May."),
        ('Who wrote "no pilots after dusk"?', "Olsen wrote: no pilots after dusk, by order."),
        ("Check clause 17.4 for me.", "17.4 Neither side may leave before the spring tide."),
        ("夜间停泊费是多少？", "规定如下：夜间停泊费为四十一克朗。"),
        ("係留料金はいくらですか", "夜間の係留料金は四十一クローネとする。"),
        ("what do kids pay for the ferries", "Ferry: a kid pays half of the fare."),
    ],
)
def test_the_passage_that_the_request_is_about_is_shown(request_text: str, passage: str) -> None:
    evidence = evidence_of(request_text, text_file("log.txt", *among_filler(passage)))
    text = shown_of(evidence)
    assert passage in text
    assert "Entry 0." in text
    assert "Entry 399." in text
    assert "characters not shown⟩" in text
    assert text == shown_of(evidence)


def test_what_the_agent_read_out_counts_too() -> None:
    paragraphs = among_filler("The lighthouse keeper is paid in herring.")
    evidence = evidence_of("Tell me.", text_file("log.txt", *paragraphs))
    said = evidence.model_copy(update={"last_words": "The lighthouse keeper gets herring."})
    assert "herring" not in shown_of(evidence)
    assert "herring" in shown_of(said)


def test_places_are_lines_of_the_file() -> None:
    file = text_file("log.txt", *among_filler("Mooring overnight costs 41 crowns."))
    line = file.parts[0].text.split("\n").index("Mooring overnight costs 41 crowns.") + 1
    (entry,) = deal(evidence_of("mooring overnight", file), 2_000).content["input_files"]
    places = [part["place"] for part in entry["parts"] if "41 crowns" in part["text"]]
    first, last = places[0].removeprefix("lines ").split("–")
    assert int(first) <= line <= int(last)


def test_a_table_comes_whole_with_what_stands_above_it() -> None:
    rows = [f"| berth {n} | {n * 7} |" for n in range(40)]
    table = "\n".join(["Tolls by berth", "| berth | toll |", "| --- | --- |", *rows])
    text = shown_of(
        evidence_of("Add up the tolls by berth.", text_file("a.md", *among_filler(table)))
    )
    assert all(row in text for row in rows)
    long = [f"| quay {n} | {'x' * 200} |" for n in range(200)]
    table = "\n".join(["Depths", "| quay | depth |", "| --- | --- |", *long])
    evidence = evidence_of("How deep is quay 150?", text_file("b.md", *among_filler(table)))
    (entry,) = deal(evidence, 2_000).content["input_files"]
    part = next(part for part in entry["parts"] if "| quay 150 |" in part["text"])
    assert part["under"] == "Depths\n| quay | depth |\n| --- | --- |"


def test_pages_keep_their_numbers() -> None:
    pages = [f"Page text {n}. {_FILLER * 12}" for n in range(60)]
    pages[41] = f"{pages[41]}\nThe salvage award was 9,120 crowns."
    parts = tuple(Part(where=f"page {n}", text=text) for n, text in enumerate(pages, 1))
    file = FileView(path="a.pdf", bytes=9, media_type="x/y", kind="pdf", parts=parts)
    assert "[page 42] " in shown_of(evidence_of("How high was the salvage award?", file))


def test_matching_functions_of_code_are_shown() -> None:
    functions = [
        f"def tide_{n}(x):\n    return x * {n}\n" + "    # slack\n" * 20 for n in range(90)
    ]
    functions[60] = "def mooring_fee(nights):\n    return nights * 41\n"
    file = text_file("fees.py", *functions, kind="code")
    assert "return nights * 41" in shown_of(evidence_of("fix mooring_fee for 0 nights", file))


def sheet(name: str, rows: int, mark: dict[int, str] | None = None) -> Sheet:
    body = tuple(((mark or {}).get(n, f"{name} {n}"), str(n)) for n in range(rows))
    head = (("what", "tons"), *body)
    return Sheet(name=name, rows=rows, head=head, last_row=rows + 1, header_row=1)


def book(*sheets: Sheet) -> FileView:
    return FileView(path="a.xlsx", bytes=9, media_type="x/y", kind="table", sheets=sheets)


def test_rows_that_match_are_shown_with_their_numbers() -> None:
    file = book(sheet("Log", 3_000, {1_700: "brigantine Aurelia"}))
    (entry,) = deal(evidence_of("When did the Aurelia come in?", file), 1_500).content[
        "input_files"
    ]
    cells = entry["sheets"][0]["cells"]
    assert "1702: brigantine Aurelia | 1700" in cells
    assert cells[0] == "1: what | tons"
    assert cells[-1] == "3001: Log 2999 | 2999"
    at = cells.index("1702: brigantine Aurelia | 1700")
    assert cells[at - 1].startswith("⟨rows ") or cells[at - 1].startswith("1701: ")


def test_a_sheet_that_the_request_names_is_whole_if_it_fits() -> None:
    file = book(sheet("Log", 2_000), sheet("Crew", 60), sheet("Ropes", 2_000))
    (entry,) = deal(evidence_of("Sort the Crew sheet.", file), 1_800).content["input_files"]
    assert [len(one["cells"]) for one in entry["sheets"]][1] == 61
    (entry,) = deal(evidence_of("整理“Crew”表", file), 1_800).content["input_files"]
    assert [len(one["cells"]) for one in entry["sheets"]][1] == 61


def test_files_that_match_get_more_than_those_that_do_not() -> None:
    files = [text_file(f"{n}.txt", *among_filler(f"Note {n}.")) for n in range(8)]
    files[5] = text_file("5.txt", *among_filler("Mooring overnight costs 41 crowns."))
    entries = deal(evidence_of("mooring overnight?", *files), 4_000).content["input_files"]
    sizes = [sum(len(part["text"]) for part in entry["parts"]) for entry in entries]
    assert sizes[5] > 1.5 * sizes[4]


def test_terms_weigh_by_what_they_are() -> None:
    weights = words_about(evidence_of('Take the "old dock" and 4471 of Lydd, please.'))
    assert weights["old"] == 3.0
    assert weights["4471"] == weights["lydd"] == 2.0
    assert weights["please"] == 1.0
    assert scores_of(["a plain line", "Lydd has 4471"], weights)[0] == 0


def test_nothing_is_lost_or_doubled_in_pieces() -> None:
    parts = text_file("a.txt", *among_filler("| a | b |\n| 1 | 2 |")).parts
    pieces = pieces_of(parts)
    assert joined(pieces) == parts[0].text
    one_line = (Part(where="line 1", text="herring " * 2_000),)
    assert joined(pieces_of(one_line)) == one_line[0].text
    assert [p.first for p in pieces[1:]] == [p.last + 1 for p in pieces[:-1]]
    assert chosen([5] * 10, [0.0] * 10, 20) == [0, 1, 2, 9]
    assert chosen([5] * 10, [0.0] * 6 + [1.0] + [0.0] * 3, 15) == [0, 6, 7]
