"""What of the evidence stands in a prompt, and where a quote stands in the evidence.

`deal` gives the request first and whole, then small files whole, and the larger ones what is left
of the budget: files that the task names or the agent read most, then those that share words with
the request. Of a larger file its outline, its beginning and the passages, rows and sheets that
match the request (`passages`) are shown, a sheet that the request names whole if it fits. What is
left out is said in its place and in `left_out`. The same evidence and budget give the same content.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

from construction.judging.evidence.passages import (
    Piece,
    chosen,
    joined,
    pieces_of,
    scores_of,
    with_neighbours,
    words_about,
)
from construction.judging.evidence.views import (
    Column,
    Evidence,
    FileView,
    ImageRef,
    Said,
    Sheet,
    each_once,
)
from data.neutralise import unmarked
from data.text.lexicon import pattern_of
from data.text.scripts import HAN

BUDGET = 12_000  # tokens of the evidence of one candidate
_PICTURE_TOKENS = 1_000
_CHARS_PER_TOKEN, _HAN_TOKENS = 3.8, 0.9  # rough, over the tokenizers in use
_WIDE = pattern_of(rf"[{HAN}\u3040-\u30ff\uac00-\ud7af]")
_SAID_SHARE, _PICTURE_SHARE = 0.5, 0.4  # of the budget, at most
_TRIES = 8
_FLAT = 2  # lines of an outline: a list, and the keys of its records
_NAMED_WEIGHT = 4  # of a file that the task names, where others have 1 to 3
_LEAST = 60  # tokens of a file's view below which only its name is worth while
_COLUMNS, _LISTED, _PICTURES_NAMED = 40, 60, 20
_BEFORE_TOKENS, _WORDS_TOKENS = 800, 500


@dataclass(frozen=True, slots=True)
class _Shown:
    """The content for a prompt, the images that go with it, and what is left out."""

    content: dict[str, Any] = field(repr=False)
    images: tuple[ImageRef, ...]
    left_out: tuple[str, ...]
    tokens: int


def tokens_of(value: object, depth: int = 0) -> int:
    """About how many tokens a value takes in a prompt, as JSON with an indent of one a level."""
    chars, wide = _size(value, depth)
    return int(chars / _CHARS_PER_TOKEN + wide * _HAN_TOKENS) + 1


def _size(value: object, depth: int) -> tuple[int, int]:
    """Characters without wide ones, and the wide ones."""
    if isinstance(value, str):
        escaped = len(value) + value.count("\n") + value.count('"') + 2
        wide = 0 if value.isascii() else sum(1 for _ in _WIDE.finditer(value))
        return escaped - wide, wide
    if isinstance(value, dict):
        sizes = [_size(inner, depth + 1) for inner in value.values()]
        names = sum(map(len, value)) + 4 * len(value)
    elif isinstance(value, list | tuple):
        sizes, names = [_size(inner, depth + 1) for inner in value], 0
    else:
        return len(str(value)), 0
    margins = (depth + 3) * len(sizes) + depth + 3
    return sum(size for size, _ in sizes) + names + margins, sum(wide for _, wide in sizes)


def deal(
    evidence: Evidence,
    budget: int = BUDGET,
    *,
    images: bool = False,
    outputs_first: bool = False,
    about: str = "",
) -> _Shown:
    """The evidence within a budget of tokens; of an attempt the outputs count more than inputs.

    With `images` the pictures among the inputs go along, and pages that hold no text. `about` adds
    words by which parts of long files are chosen, where the evidence holds no request.
    """
    evidence = evidence.model_copy(update={"files": each_once(evidence.files)})
    left_out: list[str] = []
    content: dict[str, Any] = {"said": _said(evidence.said, int(budget * _SAID_SHARE), left_out)}
    content |= {key: value for key, value in _around(evidence, left_out).items() if value}
    views = (*evidence.files, *evidence.outputs)
    costs = [tokens_of(_file(view), 2) for view in views]
    room = budget - tokens_of(content)
    choice = _Choice(evidence, about)
    weights = choice.weights(outputs_first) if sum(costs) > room else [1] * len(views)
    files = list(zip(views, weights, strict=True))
    most = max(int(budget * _PICTURE_SHARE), room - sum(costs)) if images else 0
    pictures = _pictures(evidence, most, left_out)
    budget -= _PICTURE_TOKENS * len(pictures)
    room -= _PICTURE_TOKENS * len(pictures)
    for _ in range(_TRIES):  # costs are rough: what is too much is taken from the files again
        notes: list[str] = []
        shown = _files(files, costs, room, notes, choice)
        given = len(evidence.files)
        lists = {"input_files": shown[:given], "output_files": shown[given:]}
        content |= {name: [e for e in entries if e] for name, entries in lists.items() if entries}
        used = tokens_of(content)
        if used <= budget:
            break
        room -= int((used - budget) * 1.5) + _LEAST
    return _Shown(content, pictures, (*left_out, *notes), used + _PICTURE_TOKENS * len(pictures))


def _said(said: Sequence[Said], room: int, left_out: list[str]) -> list[dict[str, str]]:
    """The messages, people's whole before the agent's; long ones keep both ends."""
    costs = [tokens_of(message.text) for message in said]
    own = [at for at, message in enumerate(said) if message.speaker != "agent"]
    shares = _levels_of(own, costs, room)
    others = [at for at in range(len(said)) if at not in shares]
    shares |= _levels_of(others, costs, min(_WORDS_TOKENS * 2, room - sum(shares.values())))
    shown = []
    for at, message in enumerate(said):
        text, cut = _ends(message.text, shares[at])
        if cut:
            left_out.append(f"message {at + 1}: {cut} characters")
        when = {"at": message.at} if message.at else {}
        shown.append({"speaker": message.speaker, **when, "text": text})
    return shown


def _around(evidence: Evidence, left_out: list[str]) -> dict[str, Any]:
    """What stands around the files: what was said before, folders, what the agent did."""
    before = _said(evidence.before, _BEFORE_TOKENS, left_out) if evidence.before else []
    words, cut = _ends(evidence.last_words, _WORDS_TOKENS)
    if cut:
        left_out.append(f"last words of the agent: {cut} characters")
    names = ("tools", "read", "ran", "wrote")
    done = {name: _listed(getattr(evidence, name), name, left_out) for name in names}
    agent = {**done, "last_words": words}
    changes = [change.model_dump(mode="json") for change in evidence.changes]
    return {
        "said_before": before,
        "folders": _listed(evidence.tree, "folders", left_out),
        "agent": {key: value for key, value in agent.items() if value},
        "changes": [{k: v for k, v in one.items() if k != "more" or v} for one in changes],
    }


def _listed(lines: Sequence[str], what: str, left_out: list[str]) -> list[str]:
    shown = [_ends(line, 80)[0] for line in lines[:_LISTED]]
    if len(lines) > _LISTED:
        left_out.append(f"{what}: {len(lines) - _LISTED} entries")
        shown.append(f"⟨{len(lines) - _LISTED} more⟩")
    return shown


def _pictures(evidence: Evidence, room: int, left_out: list[str]) -> tuple[ImageRef, ...]:
    """The images of inputs that fit: files that are pictures first, then pages without text."""
    named = _named_paths(evidence)
    ordered = [
        (view.kind != "picture", view.path not in named, at, view.path, name)
        for view in evidence.files
        for at, name in enumerate(view.bare_pictures)
    ]
    ordered.sort(key=lambda entry: entry[:3])
    references = [ImageRef(path=path, picture=name) for *_, path, name in ordered]
    most = max(0, room // _PICTURE_TOKENS)
    if hidden := references[most:]:
        names = ", ".join(dict.fromkeys(one.path for one in hidden[:_PICTURES_NAMED]))
        left_out.append(f"{len(hidden)} of {len(references)} pictures are not shown: {names}")
    return tuple(references[:most])


def _named_paths(evidence: Evidence) -> set[str]:
    """The inputs whose names stand in the request, or that the agent read."""
    text = "\n".join(message.text for message in evidence.said if message.speaker != "agent")
    read = {path.rpartition("/")[2] for path in evidence.read}
    names = {view.path: view.path.rpartition("/")[2] for view in evidence.files}
    return {path for path, name in names.items() if name in text or name in read}


def _levels_of(places: Sequence[int], costs: Sequence[int], room: int) -> dict[int, int]:
    return dict(zip(places, _levels([costs[at] for at in places], room), strict=True))


def _levels(costs: Sequence[int], room: int, weights: Sequence[int] = ()) -> list[int]:
    """Shares of a room by what each needs: small needs are met, the others get alike by weight."""
    weights = weights or [1] * len(costs)
    order = sorted(range(len(costs)), key=lambda at: (costs[at] / weights[at], at))
    shares, weight = [0] * len(costs), sum(weights)
    for at in order:
        shares[at] = max(0, min(costs[at], room * weights[at] // weight))
        room -= shares[at]
        weight -= weights[at]
    return shares


class _Choice:
    """What of larger files matches the words of the request; found out once for each of them."""

    def __init__(self, evidence: Evidence, about: str) -> None:
        self.evidence = evidence
        self.words = words_about(evidence, about)
        people = [said.text for said in evidence.said if said.speaker != "agent"]
        self.asked = "\n".join([*people, about]).casefold()
        self._pieces: dict[int, tuple[list[Piece], list[int], list[float]]] = {}
        self._rows: dict[int, tuple[list[int], list[float]]] = {}

    def weights(self, outputs_first: bool) -> list[int]:
        """How much of the room each file gets, in relation to the others."""
        named = _named_paths(self.evidence)
        views = (*self.evidence.files, *self.evidence.outputs)
        scores = scores_of([f"{view.path}\n{plain_text(view)}" for view in views], self.words)
        best = max(scores, default=0) or 1
        weights = [1 + round(2 * score / best) for score in scores]
        for at, view in enumerate(views):
            if view.path in named or (outputs_first and at >= len(self.evidence.files)):
                weights[at] = _NAMED_WEIGHT
        return weights

    def names(self, sheet: Sheet) -> bool:
        """Does the request name a sheet?"""
        name = re.escape(sheet.name.casefold())
        return bool(name) and re.search(rf"(?<!\w){name}(?!\w)", self.asked) is not None

    def pieces(self, view: FileView) -> tuple[list[Piece], list[int], list[float]]:
        """The passages of a view, what each costs, and how well it matches."""
        if id(view) not in self._pieces:
            pieces = pieces_of(view.parts)
            costs = [tokens_of(piece.text) + tokens_of(piece.under) + 12 for piece in pieces]
            scores = scores_of([f"{piece.under}\n{piece.text}" for piece in pieces], self.words)
            self._pieces[id(view)] = pieces, costs, with_neighbours(scores)
        return self._pieces[id(view)]

    def rows(self, sheet: Sheet) -> tuple[list[int], list[float]]:
        """What each row of a sheet costs, and how well it matches."""
        if id(sheet) not in self._rows:
            lines = [line for _, line in _all_rows(sheet)]
            costs = [tokens_of(line) + 2 for line in lines]
            self._rows[id(sheet)] = costs, scores_of(lines, self.words)
        return self._rows[id(sheet)]

    def lines(self, lines: Sequence[str], room: int) -> list[str]:
        """The lines of an outline that fit, and how many are left out."""
        costs = [tokens_of(line) + 2 for line in lines]
        kept = chosen(costs, scores_of(lines, self.words), room)
        more = [f"⟨{len(lines) - len(kept)} more⟩"] if kept and len(kept) < len(lines) else []
        return [lines[at] for at in kept] + more


def _files(
    files: Sequence[tuple[FileView, int]],
    costs: Sequence[int],
    room: int,
    left_out: list[str],
    choice: _Choice,
) -> list[dict[str, Any]]:
    """Each file whole or in part; of very many the last are left out."""
    most = max(0, room // _LEAST)
    listed = set(sorted(range(len(files)), key=lambda at: (-files[at][1], at))[:most])
    if len(listed) < len(files):
        left_out.append(f"{len(files) - len(listed)} of {len(files)} files")
    whole = [cost if at in listed else 0 for at, cost in enumerate(costs)]
    shares = _levels(whole, room, [weight for _, weight in files])
    shown: list[dict[str, Any]] = []
    for (view, _), share, cost in zip(files, shares, whole, strict=True):
        is_whole = share >= cost
        shown.append({} if not cost else _file(view) if is_whole else _short(view, share, choice))
        if not is_whole:
            left_out.append(f"{view.path}: shown in part, chosen by the words of the request")
    return shown


def _file(view: FileView) -> dict[str, Any]:
    """A view whole. A small table needs no columns, and data whose source is shown no tables."""
    head: dict[str, Any] = {"path": view.path, "kind": view.kind, "bytes": view.bytes}
    head |= {"note": view.note} if view.note else {}
    sheets = [_sheet(sheet) for sheet in view.sheets]
    texts = [{"place": part.where, "text": part.text} for part in view.parts]
    if view.kind == "data":  # one list of records is read best as a table, and else as it stands
        is_table = len(sheets) == 1 and view.sheets[0].whole and view.sheets[0].name == "records"
        sheets, texts = (sheets, []) if is_table else ([], texts)
        head |= {"begins": view.begins} if view.begins else {}
        head |= {"outline": list(view.outline)} if is_table and len(view.outline) > _FLAT else {}
    shown: tuple[str, object] = ("parts", texts)
    if view.kind in ("text", "code", "data") or len(texts) == 1:
        shown = ("text", "\n".join(part["text"] for part in texts))
    return head | {name: value for name, value in (("sheets", sheets), shown) if value}


def _short(view: FileView, room: int, choice: _Choice) -> dict[str, Any]:
    """A view in part: outline and columns, then the rows and passages that match the request."""
    head: dict[str, Any] = {"path": view.path, "kind": view.kind, "bytes": view.bytes}
    if room < _LEAST:
        return head | {"left_out": "its content"}
    if view.note:
        head["note"] = _ends(view.note, room // 4)[0]
    outline = choice.lines([_ends(line, 40)[0] for line in view.outline], room // 6)
    if outline:
        head["outline"] = outline
    if view.begins and tokens_of(view.begins) < room // 4:
        head["begins"] = view.begins
    room -= tokens_of(head)
    if view.sheets:
        head["sheets"] = _short_sheets(view.sheets, room, choice)
        room -= tokens_of(head["sheets"])
    if view.parts and room >= _LEAST:
        head["parts"] = _short_parts(view, room, choice)
    return head


def _sheet(
    sheet: Sheet, kept: Collection[int] | None = None, columns: int = _COLUMNS
) -> dict[str, Any]:
    """A sheet with the rows of these places in `_all_rows`, each as "number: cell | cell"."""
    rows = _all_rows(sheet)
    is_whole = sheet.whole and (kept is None or len(kept) >= len(rows))
    shown: dict[str, Any] = {"sheet": sheet.name} if sheet.name else {}
    shown |= {"rows_below_header": sheet.rows}
    if not is_whole or sheet.rows > 12:
        shown["columns"] = [_column_line(column) for column in sheet.columns[:columns]]
        if len(sheet.columns) > columns:
            shown["columns"].append(f"⟨{len(sheet.columns) - columns} more columns⟩")
    else:
        formats = {column.name: column.format for column in sheet.columns if column.format}
        shown |= {"number_formats": formats} if formats else {}
    for name in ("duplicates", "note"):
        shown |= {name: value} if (value := getattr(sheet, name)) else {}
    if sheet.errors:
        shown["error_cells"] = _counted(sheet.errors, sheet.error_count)
    if sheet.formulas:
        most = len(rows) if kept is None else max(8, len(kept))
        shown["formulas"] = _counted(sheet.formula_cells[:most], sheet.formulas)
    if sheet.first_column > 1:
        shown["first_column"] = sheet.first_column
    places = range(len(rows)) if kept is None else sorted(kept)
    return shown | {"cells": list(_with_gaps(sheet, [rows[at] for at in places]))}


def _all_rows(sheet: Sheet) -> list[tuple[int, str]]:
    """The rows that a sheet holds, blank ones left out, with their numbers."""
    rows: list[tuple[int, str]] = []
    for at, row in _numbered(sheet):
        if row and (not rows or at > rows[-1][0]):
            rows.append((at, _row(at, row)))
    return rows


def _numbered(sheet: Sheet) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rows at the beginning and the end of a sheet, with their numbers."""
    yield from enumerate(sheet.head, sheet.first_row)
    yield from enumerate(sheet.tail, sheet.last_row - len(sheet.tail) + 1)


def _with_gaps(sheet: Sheet, rows: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Rows, and between them which are not shown."""
    held = [at for at, _ in _all_rows(sheet)]
    head = [at for at in held if at < sheet.first_row + len(sheet.head)]
    following = dict(pairwise(head))  # over blank rows
    after = held[0] if held else sheet.first_row
    for at, line in rows:
        if at > after and following.get(after - 1) != at:
            yield f"⟨rows {after}–{at - 1} are not shown⟩"
        yield line
        after = at + 1
    last = held[-1] if held and sheet.whole else sheet.last_row
    if after <= last:
        yield f"⟨rows {after}–{last} are not shown⟩"


def _row(at: int, row: Sequence[str]) -> str:
    text = " | ".join(" ".join(cell.split()) if "\n" in cell else cell for cell in row)
    return f"{at}: {text}" if row else ""


def _counted(cells: Sequence[str], count: int) -> list[str]:
    return [*cells, *([f"⟨{count - len(cells)} more⟩"] if count > len(cells) else [])]


def _column_line(column: Column) -> str:
    """A column on one line."""
    facts = [column.type]
    if column.low is not None:
        facts.append(f"{column.low} to {column.high}")
    facts.append(f"{column.distinct} distinct")
    facts += [f"{column.blanks} blank"] if column.blanks else []
    facts += [f"format {column.format}"] if column.format else []
    facts += [f"e.g. {' / '.join(column.examples)}"] if column.examples else []
    return f"{column.name}: {', '.join(facts)}"


def _short_sheets(sheets: Sequence[Sheet], room: int, choice: _Choice) -> list[dict[str, Any]]:
    """Sheets in their order: those that the request names first, whole if they fit."""
    costs = [tokens_of(_sheet(sheet), 4) for sheet in sheets]
    named = [at for at, sheet in enumerate(sheets) if choice.names(sheet)]
    others = [at for at in range(len(sheets)) if at not in named]
    shares = _levels_of(named, costs, room - sum(min(costs[at], _LEAST) for at in others))
    shares |= _levels_of(others, costs, room - sum(shares.values()))
    return [_short_sheet(sheet, shares[at], choice) for at, sheet in enumerate(sheets)]


def _short_sheet(sheet: Sheet, room: int, choice: _Choice) -> dict[str, Any]:
    """The head, and as many rows as fit, those that match first; columns alone in a narrow room."""
    whole = _sheet(sheet)
    if tokens_of(whole, 4) <= room:
        return whole
    rest = room - tokens_of(_sheet(sheet, ()), 4)
    if rest < 0:
        few = {"formula_cells": sheet.formula_cells[:3], "errors": sheet.errors[:8]}
        return _sheet(sheet.model_copy(update=few), (), max(3, room // 40))
    costs, scores = choice.rows(sheet)
    return _sheet(sheet, chosen(costs, scores, rest))


def _short_parts(view: FileView, room: int, choice: _Choice) -> list[dict[str, str]]:
    """The passages that are shown, joined where they follow each other, and the gaps between."""
    pieces, costs, scores = choice.pieces(view)
    tables = [piece.table for piece in pieces]
    places = chosen(costs, scores, room - _LEAST, tables)
    if not places:
        text, _ = _ends(pieces[0].text, room - 24, head_only=True)
        return [{"place": _place_of(view, pieces[:1]), "text": text}]
    shown: list[dict[str, str]] = []
    at = 0
    for first, last in _runs(places, pieces):
        if first > at:
            shown.append(_gap(view, pieces[at:first]))
        run = pieces[first : last + 1]
        under = {"under": run[0].under} if run[0].under and first != at else {}
        shown.append({"place": _place_of(view, run), **under, "text": joined(run)})
        at = last + 1
    if at < len(pieces):
        shown.append(_gap(view, pieces[at:]))
    return shown


def _gap(view: FileView, run: Sequence[Piece]) -> dict[str, str]:
    count = sum(len(piece.text) for piece in run)
    return {"place": _place_of(view, run), "text": f"⟨{count} characters not shown⟩"}


def _runs(places: Sequence[int], pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """First and last of passages that follow each other in one part, or in numbered lines."""
    first = before = places[0]
    for at in [*places[1:], -1]:
        old, new = pieces[before], pieces[at]
        if at != before + 1 or (new.part != old.part and new.first != old.last + 1):
            yield first, before
            first = at
        before = at


def _place_of(view: FileView, run: Sequence[Piece]) -> str:
    """Where passages stand: "lines 40–61", "page 2", "page 2, lines 3–9", "page 3 to page 8"."""
    first, last, start, end = run[0], run[-1], run[0].first, run[-1].last
    where, until = view.parts[first.part].where, view.parts[last.part].where
    lines = f"line {start}" if start == end else f"lines {start}–{end}"
    if where.startswith("line") and until.startswith("line"):
        return lines
    if first.part != last.part:
        return f"{where} to {until}"
    is_whole = start == 1 and end > view.parts[last.part].text.count("\n")
    return where if is_whole else f"{where}, {lines}"


def _ends(text: str, room: int, *, head_only: bool = False) -> tuple[str, int]:
    """A text of about so many tokens, three parts of four from its beginning, and what is cut."""
    cost = tokens_of(text)
    if cost <= max(room, 1):
        return text, 0
    kept = max(20, len(text) * room // cost)
    cut = len(text) - kept
    if cut <= 30:
        return text, 0
    mark = f"⟨{cut} characters left out⟩"
    behind = 0 if head_only else kept // 4
    return text[: kept - behind] + mark + text[len(text) - behind :], cut


def plain_pieces(view: FileView, *, numbered: bool = True) -> Iterator[tuple[str, str]]:
    """The texts of which a view consists, rows as they are shown, each with its header row."""
    for sheet in view.sheets:
        rows = [_row(at, row) for at, row in _numbered(sheet) if row]
        rows = rows if numbered else [row.partition(": ")[2] for row in rows]
        at = sheet.header_row - sheet.first_row if sheet.header_row else len(sheet.head)
        header = _row(sheet.header_row, sheet.head[at]) if at < len(sheet.head) else ""
        yield header, "\n".join([*rows, *sheet.formula_cells, sheet.note]).strip()
    if view.parts:
        yield "", "\n".join(part.text for part in view.parts)


def plain_text(view: FileView, *, numbered: bool = True) -> str:
    """All that a view holds as one text."""
    return "\n\n".join(text for _, text in plain_pieces(view, numbered=numbered)).strip("\n")


_TOKEN = pattern_of(
    rf"(?<!\d)[-−]?\d(?:[\d,]*\d)?(?:\.\d+)?|[{HAN}\u3040-\u30ff\uac00-\ud7af]|[^\W\d_{HAN}]+|#\w+[/!?]*|\d+"
)
_ELLIPSIS = pattern_of(r"\s*(?:\.{3,}|…+)\s*")
_ROW = pattern_of(r"\A\s*\d+: ")  # how a shown row begins


def find_quote(evidence: Evidence, quote: str) -> str | None:
    """Where a quote stands in the evidence: "message 1", "data/a.xlsx, row 7"; else None.

    Words are compared without case, width, blanks and punctuation, numbers as numbers, both whole.
    An ellipsis parts pieces of one file or message. The number of a shown row may stand before it.
    """
    for text in dict.fromkeys((quote, _ROW.sub("", quote, count=1))):
        pieces = [words for part in _ELLIPSIS.split(text) if (words := words_of(part)).strip()]
        passages = _indexed(_Same(evidence)) if pieces else ()
        if places := [at for at, words in passages if all(piece in words for piece in pieces)]:
            return places[0]
    return None


class _Same:
    """An evidence by its identity, so that its words are indexed once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __hash__(self) -> int:
        return id(self.evidence)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.evidence is self.evidence


@lru_cache(maxsize=4)
def _indexed(same: _Same) -> list[tuple[str, str]]:
    """All passages of an evidence with their words: rows and parts first, then whole files."""
    passages = list(_passages(same.evidence))
    small = [(where, words_of(text)) for where, text in passages]
    whole: dict[str, list[str]] = {}
    for where, words in small:
        whole.setdefault(where.partition(", ")[0], []).append(words[:-1])
    # A quote may leave out the mark of a control character between the parts of a word.
    bared = ((where, text, unmarked(text, "")) for where, text in passages)
    small += [(where, words_of(bare)) for where, text, bare in bared if bare != unmarked(text)]
    return small + [(where, f"{''.join(own)} ") for where, own in whole.items()]


def words_of(text: str) -> str:
    """The words and numbers of a text in plain form, a blank around each."""
    folded = unicodedata.normalize("NFKC", unmarked(text)).casefold()
    words = []
    for match in _TOKEN.finditer(folded):
        word = match[0]
        if word[-1].isdigit():
            bare = word.replace(",", "").replace("−", "-")
            if match.start() and folded[match.start() - 1].isalnum():
                bare = bare.lstrip("-")  # the dash of a range or a date
            word = format(Decimal(bare).normalize(), "f") if "." in bare else bare
        words.append(word)
    return f" {' '.join(words)} "


def _passages(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Every piece of text that a prompt may show, by its place."""
    for at, message in enumerate(evidence.said, 1):
        yield f"message {at}", message.text
    for view in (*evidence.files, *evidence.outputs):
        yield from _passages_of(view)
    for at, message in enumerate(evidence.before, 1):
        yield f"said before {at}", message.text
    for change in evidence.changes:
        yield f"changes of {change.path}", "\n".join(change.lines)
    yield "last words", evidence.last_words
    for name in ("tree", "read", "ran", "wrote", "tools"):
        yield name, "\n".join(getattr(evidence, name))


def _passages_of(view: FileView) -> Iterator[tuple[str, str]]:
    for sheet in view.sheets:
        name = f"{view.path}, {sheet.name} row" if sheet.name else f"{view.path}, row"
        yield from ((f"{name} {at}", " | ".join(row)) for at, row in _numbered(sheet))
        columns = "\n".join(map(_column_line, sheet.columns))
        cells = "\n".join((*sheet.errors, *sheet.formula_cells))
        yield f"{view.path}, {sheet.name}", f"{sheet.name}\n{columns}\n{cells}\n{sheet.note}"
    for part in view.parts:
        yield f"{view.path}, {part.where}", part.text
    outline = "\n".join(view.outline)
    yield f"{view.path}, outline", f"{view.path}\n{outline}\n{view.begins}\n{view.note}"
