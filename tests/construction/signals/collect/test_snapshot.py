"""Reading sources, and the top of a snapshot: order, ranks, rows of one skill, and its digest."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.signals.collect import CollectConfig, Collected, collect_file
from construction.signals.collect.snapshot import (
    _choose_signals,
    _item_lines,
    _SourceRow,
    read_signals,
)
from data.contracts import Outcome, Popularity, ReadIssue, Signal
from data.errors import ConfigError, InputError
from tests.construction.signals.collect.made import DAY, collect_text, made_signal

CSV_HEADER = "slug,downloads,summary\r\n"


def read(folder: Path, content: str | bytes, name: str = "list.csv") -> tuple[_SourceRow, ...]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_signals(path, "made", DAY)


def slugs(rows: tuple[_SourceRow, ...]) -> list[str]:
    return [row.content.slug for row in rows if isinstance(row.content, Signal)]


def issues(rows: tuple[_SourceRow, ...]) -> list[tuple[int, str, str]]:
    return [
        (row.content.line, row.content.reason, row.content.actual)
        for row in rows
        if isinstance(row.content, ReadIssue)
    ]


def test_records_may_span_lines_of_any_kind(tmp_path: Path) -> None:
    text = CSV_HEADER + 'one,1,"a\r\nb\n\nc"\r\ntwo,2,"say ""hi"", now"\n\r\nthree,3,plain'
    rows = read(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert [row.where for row in rows] == ["list.csv:2", "list.csv:6", "list.csv:8"]
    assert [row.content.summary for row in rows if isinstance(row.content, Signal)] == [
        "a\nb\n\nc",
        'say "hi", now',
        "plain",
    ]


def test_a_bad_row_costs_itself_alone(tmp_path: Path) -> None:
    bad = ["two,many,x", "three,3", "four,4,x,y", "../five,5,x", 'six,6,"x" y']
    text = CSV_HEADER + "\r\n".join(["one,1,x", *bad, "seven,7,x"]) + "\r\n"
    rows = read(tmp_path, text)
    assert slugs(rows) == ["one", "seven"]
    assert issues(rows) == [
        (3, "signal.bad_field", "downloads: text of length 4"),
        (4, "signal.bad_csv", "2 cells"),
        (5, "signal.bad_csv", "4 cells"),
        (6, "signal.bad_field", "slug: text of length 7"),
        (7, "signal.bad_csv", "text that is not CSV (',' expected after '\"')"),
    ]
    five = rows[5].content
    assert isinstance(five, ReadIssue)
    assert (five.source_path, five.unit) == ("list.csv", "record")


@pytest.mark.parametrize("quoted", [True, False])
def test_an_open_quotation_mark_swallows_nothing(tmp_path: Path, quoted: bool) -> None:
    after = [f's{n},{n},"text {n}"' if quoted else f"s{n},{n},text {n}" for n in range(2, 900)]
    rows = read(tmp_path, CSV_HEADER + 's1,1,"never closed\r\n' + "\r\n".join(after))
    assert slugs(rows) == [f"s{n}" for n in range(2, 900)]
    assert [line for line, _, _ in issues(rows)] == [2]


def test_an_open_quotation_mark_in_front_swallows_nothing(tmp_path: Path) -> None:
    """The quotation mark closes far below, in a record that then has too few cells."""
    rows = read(tmp_path, CSV_HEADER + '"s1,1,x\r\ns2,2,x\r\ns3,3,x"\r\ns4,4,x\r\n')
    assert slugs(rows) == ["s2", "s3", "s4"]
    assert issues(rows) == [(2, "signal.bad_csv", "1 cells")]


def test_a_cell_beyond_the_limit_of_the_csv_module_is_an_issue(tmp_path: Path) -> None:
    rows = read(tmp_path, CSV_HEADER + f"one,1,{'x' * 200_000}\r\ntwo,2,x\r\n")
    assert slugs(rows) == ["two"]
    assert issues(rows)[0][:2] == (2, "signal.bad_csv")


def test_bytes_that_are_no_text_cost_their_row(tmp_path: Path) -> None:
    rows = read(tmp_path, CSV_HEADER.encode() + b"one,1,caf\xe9\r\ntwo,2,caf\xc3\xa9\r\n")
    assert slugs(rows) == ["two"]
    assert issues(rows) == [(2, "signal.not_text", "bytes that are not UTF-8")]


@pytest.mark.parametrize(
    ("content", "actual"),
    [
        ("", "0 columns"),
        ("name,downloads\r\none,1\r\n", "2 columns"),
        ("slug,summary\r\none,x\r\n", "2 columns"),
        ("slug,downloads,Slug\r\none,1,x\r\n", "3 columns"),
        ('slug,"downloads"x\r\none,1\r\n', "text that is not CSV"),
    ],
)
def test_a_header_that_does_not_fit_ends_it(tmp_path: Path, content: str, actual: str) -> None:
    with pytest.raises(InputError, match=r"list\.csv:1: found " + actual):
        read(tmp_path, content)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file or directory"):
        read_signals(tmp_path / "gone.csv", "made", DAY)
    with pytest.raises(InputError, match="Is a directory"):
        read_signals(tmp_path, "made", DAY)


@pytest.mark.parametrize("wrapped", [True, False])
def test_json_in_both_shapes(tmp_path: Path, wrapped: bool) -> None:
    records = [{"slug": "one", "downloads": 1}, {"slug": "two", "stats": {"downloads": 2.0}}]
    content = json.dumps({"items": records, "nextCursor": None} if wrapped else records)
    rows = read(tmp_path, content, "list.JSON")
    assert slugs(rows) == ["one", "two"]
    assert [row.where for row in rows] == ["list.JSON#1", "list.JSON#2"]


def test_issues_of_json_name_the_line(tmp_path: Path) -> None:
    content = """
    {"note": "the word \\"items\\", [1,
      2] in text", "other": {"items": [1, 2]},
     "items": [
       {"slug": "one", "downloads": 1, "tags": [
          "a", "b,]"]},
       7, null,
       {"slug": "two"
        , "downloads": "x"},

       [], {"slug": "three", "downloads": 3}
     ], "more": ["a", "b"]}
    """.replace("1,\n      2]", "1, 2]")
    rows = read(tmp_path, content, "list.json")
    assert slugs(rows) == ["one", "three"]
    assert issues(rows) == [
        (6, "signal.not_a_record", "a value of type int"),
        (6, "signal.not_a_record", "nothing"),
        (7, "signal.bad_field", "downloads: text of length 1"),
        (10, "signal.not_a_record", "a list of length 0"),
    ]


def test_a_key_in_disguise_costs_the_lines_but_no_row(tmp_path: Path) -> None:
    rows = read(tmp_path, '{"it\\u0065ms": [{"slug": "one", "downloads": 1}, 7]}', "list.json")
    assert slugs(rows) == ["one"]
    assert issues(rows) == [(0, "signal.not_a_record", "a value of type int")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'[{"slug": "one"},\n oops]', r"list\.json:2: found text, not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"7", "a value of type int"),
        (b"{}", "found nothing"),
        (b'{"items": {"slug": "one"}}', "an object of length 1"),
        (b'"items"', "text of length 5"),
    ],
)
def test_json_that_does_not_fit_ends_it(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, content, "list.json")


def test_half_an_emoji_does_not_end_it(tmp_path: Path) -> None:
    rows = read(tmp_path, '[{"slug": "one", "downloads": 1, "summary": "\\ud83d"}]', "list.json")
    assert isinstance(rows[0].content, Signal)
    assert rows[0].content.summary == "\ufffd"


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


@given(st.lists(CELLS, max_size=12))
def test_whatever_csv_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, summaries: list[str]
) -> None:
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["slug", "downloads", "summary"])
    writer.writerows([f"s{n}", n, summary] for n, summary in enumerate(summaries))
    rows = read(tmp_path_factory.mktemp("csv"), table.getvalue())
    assert slugs(rows) == [f"s{n}" for n in range(len(summaries))]


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=8), st.dictionaries(st.sampled_from("abc"), VALUES), st.booleans())
def test_lines_of_items_are_those_of_an_indented_file(
    items: list[object], before: dict[str, object], wrapped: bool
) -> None:
    document = before | {"items": items} if wrapped else items
    text = json.dumps(document, indent=1)
    lines = _item_lines(text.encode(), b"items" if wrapped else None)
    if not items:
        assert len(lines) == 1  # the place where an item would stand; there is none to ask for it
        return
    assert len(lines) == len(items)
    indent = " " * (2 if wrapped else 1)
    for line, item in zip(lines, items, strict=True):
        start = json.dumps(item, indent=1).splitlines()[0].rstrip(",")
        assert text.split("\n")[line - 1].startswith(indent + start)


def test_the_march_file(material: Path) -> None:
    rows = read_signals(material / "signals" / "clawhub_top_500.csv", "clawhub", DAY)
    assert len(slugs(rows)) == 500 == len(set(slugs(rows)))
    assert issues(rows) == []
    assert sum("\n" in row.content.summary for row in rows if isinstance(row.content, Signal)) == 4


def test_the_may_file(material: Path) -> None:
    rows = read_signals(material / "signals" / "clawhub_top_99_2026-05.json", "clawhub", DAY)
    assert len(set(slugs(rows))) == 99
    assert issues(rows) == []
    assert all(
        r.content.created_at and r.content.provenance.url
        for r in rows
        if isinstance(r.content, Signal)
    )


HEADER = "slug,downloads,stars,summary\n"


def chosen(collected: Collected) -> list[tuple[str, int]]:
    measure = collected.snapshot.measure
    return [(s.slug, s.popularity[measure]) for s in collected.snapshot.signals]


def test_the_top_by_measure_with_ties_by_slug(tmp_path: Path) -> None:
    text = HEADER + "d,5,1,\nc,7,1,\nb,7,2,\na,1,9,\ne,7,3,\n"
    assert chosen(collect_text(tmp_path, text, top=2)) == [("b", 7), ("c", 7)]
    path = tmp_path / "list.csv"
    stars = collect_file(path, "made", DAY, CollectConfig(measure=Popularity.STARS, top=2))
    assert chosen(stars) == [("a", 9), ("e", 3)]
    everything = collect_file(path, "made", DAY, CollectConfig(top=None))
    assert [slug for slug, _ in chosen(everything)] == ["a", "b", "c", "d", "e"]


def test_ranks_are_those_of_the_source_or_places_by_the_measure(tmp_path: Path) -> None:
    without = collect_text(tmp_path, HEADER + "a,1,1,\nb,9,1,\nc,5,1,\n", top=2)
    assert [(s.slug, s.provenance.rank) for s in without.snapshot.signals] == [("b", 1), ("c", 2)]
    stated = collect_text(tmp_path, "slug,downloads,rank\na,1,11\nb,9,17\n")
    assert [s.provenance.rank for s in stated.snapshot.signals] == [11, 17]


def test_of_two_rows_the_more_popular_one_stays(tmp_path: Path) -> None:
    text = HEADER + "a,5,1,old\nb,3,1,x\na,8,1,new\na,8,1,also new\na,8,1,also new\n"
    collected = collect_text(tmp_path, text)
    assert chosen(collected) == [("a", 8), ("b", 3)]
    assert collected.snapshot.signals[0].summary == "also new"  # equal counts: first by content
    rows = [row for row in collected.ledger if row.unit == "row"]
    outcomes = [(row.outcome, row.reason, row.observed, row.limit) for row in rows]
    assert sorted(outcomes, key=str) == [
        (Outcome.KEPT, None, 3, None),
        (Outcome.KEPT, None, 8, None),
        (Outcome.REJECTED, "signal.duplicate", 5, 8),
        (Outcome.REJECTED, "signal.duplicate", 8, 8),
        (Outcome.REJECTED, "signal.duplicate", 8, 8),
    ]
    (kept,) = [row.item_id for row in rows if row.observed == 8 and row.outcome is Outcome.KEPT]
    (older,) = [row for row in rows if row.observed == 5]
    assert older.evidence == {"slug": "a", "kept": kept}
    assert len({row.item_id for row in rows}) == 5


def test_the_books_close(tmp_path: Path) -> None:
    text = HEADER + "a,5,1,x\nb,,1,x\nc,many,1,x\na,4,1,x\nd,2,1,x\n"
    collected = collect_text(tmp_path, text, top=1)
    rows, top = collected.tallies
    assert (rows.stage, rows.n_in) == ("signals.collect", 5)
    assert rows.counts == {Outcome.KEPT: 2, Outcome.REJECTED: 2, Outcome.ERRORED: 1}
    assert (top.stage, top.n_in) == ("signals.top", 2)
    assert top.counts == {Outcome.CHOSEN: 1, Outcome.NOT_CHOSEN: 1}
    outcomes = [(r.outcome, r.reason) for r in collected.ledger if r.outcome.name != "KEPT"]
    assert sorted(outcomes[:3], key=str) == [
        (Outcome.ERRORED, "signal.bad_field"),
        (Outcome.REJECTED, "signal.duplicate"),
        (Outcome.REJECTED, "signal.no_measure"),
    ]
    assert outcomes[3:] == [(Outcome.CHOSEN, None), (Outcome.NOT_CHOSEN, "signal.below_top")]
    assert [row.item_id for row in collected.ledger[-2:]] == ["a", "d"]
    errored = next(row for row in collected.ledger if row.outcome is Outcome.ERRORED)
    assert errored.evidence == {
        "path": "list.csv",
        "found": "downloads: text of length 4",
        "expected": "a whole number from 0 to 10^15",
    }
    assert [issue.line for issue in collected.issues] == [4]


def test_a_file_without_a_usable_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 rows, none of them usable; measures given: stars;"):
        collect_text(tmp_path, "slug,stars\na,1\n")
    with pytest.raises(InputError, match=r"given: none \(first: downloads: text of length 1\)"):
        collect_text(tmp_path, "slug,downloads\na,x\n")


@pytest.mark.parametrize("source", ["", ".", "..", "a/b", "A", "a b", "a..b", "-a", "x" * 65])
def test_a_source_names_a_directory(tmp_path: Path, source: str) -> None:
    (tmp_path / "list.csv").write_text("slug,downloads\na,1\n")
    with pytest.raises(ConfigError, match="source name of"):
        collect_file(tmp_path / "list.csv", source, DAY, CollectConfig())


SIGNALS = st.builds(
    made_signal,
    st.sampled_from(["a", "b", "c", "d"]),
    st.integers(0, 3),
    summary=st.sampled_from(["x", "y"]),
)


@given(st.lists(SIGNALS, max_size=12), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_order_of_rows_is_no_matter(
    signals: list[Signal], top: int, chance: random.Random
) -> None:
    def snapshot(contents: list[Signal]) -> tuple[object, ...]:
        rows = [_SourceRow(f"f:{n}", content) for n, content in enumerate(contents)]
        collected = _choose_signals(rows, "made", DAY, CollectConfig(top=top))
        counts = [s.popularity[Popularity.DOWNLOADS] for s in collected.snapshot.signals]
        best = sorted(
            (
                max(s.popularity[Popularity.DOWNLOADS] for s in signals if s.slug == slug)
                for slug in {s.slug for s in signals}
            ),
            reverse=True,
        )
        assert sorted(counts, reverse=True) == best[:top]
        return collected.snapshot, collected.tallies, collected.ledger

    shuffled = chance.sample(signals, len(signals))
    assert snapshot(signals) == snapshot(shuffled)


def test_the_march_file_in_any_order_gives_the_same_digest(material: Path, tmp_path: Path) -> None:
    raw = (material / "signals" / "clawhub_top_500.csv").read_bytes()
    header, *records = raw.split(b"\r\n")
    records = [record for record in records if record]
    assert len(records) == 500
    digests: set[str] = set()
    ledgers: set[str] = set()
    for seed in (None, 1, 2):
        if seed is not None:
            random.Random(seed).shuffle(records)
        text = b"\r\n".join([header, *records, b""])
        collected = collect_text(tmp_path, text, top=300)
        digests.add(collected.snapshot.digest)
        ledgers.add(repr(collected.ledger))
    assert (len(digests), len(ledgers)) == (1, 1)
