"""Submissions without work, none of which may pass, and how far a task's grader lets them come.

An attack gains the share of the deterministic weight that it earns, and all of it if it passes or
satisfies a required part. What each means depends on how the task is graded:

- `null`: nothing is answered, called or delivered. Tasks with deliverables are attacked with files
  of the right types and names too: the empty shell of each type, filler, stubs such as a table of
  `a,b` and `1,2`, the pasted prompt, a copy of an input, and the same input saved anew. A grader
  that only asks whether a file is there lets these pass.
- `talk`: the prompt restated, the reference path told as if it had been walked, and "Done.", with
  no call, no change and no file. The gold answer is left out of what is told: an answer that is
  right is no attack. If the prompt itself holds the gold, restating it must still not pass.
- `empty_calls`: the same talk, and one successful call without arguments to each tool and each
  operation of a service that the task knows. A grader that counts calls lets it pass.

A judge's parts stay unjudged. They can earn an attack nothing here, and decide nothing.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import Any

from construction.grading.combine import deterministic_score
from construction.grading.file_look import RuleLimits, Seen, look
from construction.grading.file_types import FileType, extension_of, type_of
from construction.grading.spec import EMPTY_CALLS, NULL, TALK, RuleSpec, TaskSpec
from data.contracts.attempt import AuditRow, Call, Score, Submission

# Files that deliver nothing, of every type that a task can ask for: shells, and pasted text.
#
# They are real files, written by the same libraries that agents use, so that only what a grader
# says about content can tell them from work.

LOREM = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut "
    "labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco "
    "laboris nisi ut aliquip ex ea commodo consequat. Duis aute irure dolor in reprehenderit in "
    "voluptate velit esse cillum dolore eu fugiat nulla pariatur. Excepteur sint occaecat "
    "cupidatat non proident, sunt in culpa qui officia deserunt mollit anim id est laborum."
)
_SVG = "http://www.w3.org/2000/svg"
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LINE_COMMENT = {"py": "# ", "sh": "# ", "sql": "-- "}
_SHELLS = {
    "md": b"# \n",
    "txt": b"\n",
    "html": b"<!DOCTYPE html><html><head><title></title></head><body></body></html>\n",
    "csv": b"id,name,value\n",
    "tsv": b"id\tname\tvalue\n",
    "json": b"{}\n",
    "jsonl": b"{}\n",
    "yaml": b"{}\n",
    "toml": b"\n",
    "xml": b"<?xml version='1.0'?><document/>\n",
    "ics": b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n",
    "ipynb": b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
    "py": b"pass\n",
    "sh": b"#!/bin/sh\n",
    "svg": f'<svg xmlns="{_SVG}" width="100" height="100"/>\n'.encode(),
    "mp3": b"ID3\x04" + bytes(4096),
    "mp4": b"\x00\x00\x00\x18ftypmp42" + bytes(4096),
}


@cache
def shell(extension: str) -> bytes:
    """The file of this type that holds nothing."""
    kind = type_of(f"x.{extension}")
    if kind is None:
        return b"\n"
    if kind.opener == "image":
        return _blank_image(kind.name)
    if kind.name in _PAGES:
        return _PAGES[kind.name]([])
    return _SHELLS.get(kind.name, b"//\n")


def holding(extension: str, text: str) -> bytes | None:
    """A file of this type that holds a text and nothing else; None if the type holds no text."""
    kind = type_of(f"x.{extension}")
    text = _NO_TEXT.sub(" ", text)
    if kind is None:
        return text.encode()
    if kind.opener == "image" or kind.binary:
        return None
    if kind.name in _PAGES:
        return _PAGES[kind.name](text.splitlines())
    return _as_text(kind.name, kind.kind, text).encode()


_STUB_TABLE: Sequence[Sequence[object]] = [["a", "b"], [1, 2]]
_STUB_TEXT = "Done.\n"
_STUBS = {
    "csv": b"a,b\n1,2\n",
    "tsv": b"a\tb\n1\t2\n",
    "json": b'{"a": 1, "b": 2}\n',
    "jsonl": b'{"a": 1, "b": 2}\n',
    "yaml": b"a: 1\nb: 2\n",
    "toml": b"a = 1\nb = 2\n",
    "py": b"print('done')\n",
    "sh": b"#!/bin/sh\necho done\n",
    "js": b"console.log('done')\n",
    "eml": b"To: a@b.example\nSubject: Done\n\nDone.\n",
    "ics": b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Done\r\n"
    b"DTSTART:20300101T000000Z\r\nDTEND:20300101T010000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    "srt": b"1\n00:00:00,000 --> 00:00:01,000\nDone.\n",
    "vtt": b"WEBVTT\n\n00:00.000 --> 00:01.000\nDone.\n",
}


def stub(extension: str) -> bytes | None:
    """The least that a file of this type can hold and not be empty; None if it holds no text."""
    kind = type_of(f"x.{extension}")
    if kind is not None and kind.name == "xlsx":
        return _workbook(_STUB_TABLE)
    return (kind and _STUBS.get(kind.name)) or holding(extension, _STUB_TEXT)


def saved_anew(extension: str, data: bytes) -> bytes | None:
    """A file with the same content and other bytes; None for types that are not rewritten here."""
    kind = type_of(f"x.{extension}")
    if kind is not None and kind.name == "xlsx":
        import openpyxl

        try:
            return _saved(openpyxl.load_workbook(io.BytesIO(data)))
        except Exception:  # a library may raise anything on a broken or encrypted file
            return None
    is_text = kind is not None and not kind.binary and not kind.signatures
    return data.rstrip() + b"\n\n" if is_text else None


def _as_text(name: str, kind: str, text: str) -> str:
    lines = text.splitlines()
    if name in ("csv", "tsv"):
        table = io.StringIO()
        csv.writer(table, delimiter="\t" if name == "tsv" else ",").writerows([x] for x in lines)
        return table.getvalue()
    if name == "ipynb":
        cell = {"cell_type": "markdown", "metadata": {}, "source": text}
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    if name in ("json", "jsonl", "yaml"):  # JSON is YAML
        return json.dumps({"content": text})
    if name == "toml":
        return f"content = {json.dumps(text, ensure_ascii=False)}\n"
    if name == "xml":
        return f"<document>{escape(text)}</document>"
    if name == "svg":
        return f'<svg xmlns="{_SVG}"><text x="10" y="20">{escape(text)}</text></svg>'
    if name == "html":
        return "<html><body>" + "".join(f"<p>{escape(x)}</p>" for x in lines) + "</body></html>"
    if name == "ics":
        said = "DESCRIPTION:" + "\\n".join(lines)
        return "\r\n".join(("BEGIN:VCALENDAR", "BEGIN:VEVENT", said, "END:VEVENT", "END:VCALENDAR"))
    if kind == "code":
        mark = _LINE_COMMENT.get(name, "// ")
        return "".join(f"{mark}{line}\n" for line in lines)
    return text


def _saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _xlsx(lines: Sequence[str]) -> bytes:
    # A leading "=" would be a formula.
    return _workbook([[f"'{line}" if line.startswith("=") else line[:32_000]] for line in lines])


def _workbook(rows: Sequence[Sequence[object]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in rows:
        sheet.append(row)
    return _saved(book)


def _docx(lines: Sequence[str]) -> bytes:
    import docx

    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    return _saved(document)


def _pptx(lines: Sequence[str]) -> bytes:
    import pptx

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5 if lines else 6])
    if lines:
        slide.shapes.title.text = "\n".join(lines)
    return _saved(deck)


def _pdf(lines: Sequence[str]) -> bytes:
    """One page; each character is a glyph of its own, which the font's Unicode map names."""
    codes = {character: code for code, character in enumerate(sorted(set("".join(lines))), 1)}
    glyphs = ("".join(f"{codes[character]:04x}" for character in line) for line in lines)
    shown = "".join(f"<{line}> Tj T*\n" for line in glyphs)
    content = f"BT /F1 10 Tf 12 TL 36 750 Td\n{shown}ET" if lines else ""
    named = "\n".join(
        f"<{code:04x}> <{character.encode('utf-16-be').hex()}>" for character, code in codes.items()
    )
    unicode_map = (
        "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{named}\nendbfchar endcmap"
    )
    return _pdf_of(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        _stream(content),
        "<< /Type /Font /Subtype /Type0 /BaseFont /Plain /Encoding /Identity-H "
        "/DescendantFonts [6 0 R] /ToUnicode 7 0 R >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Plain /DW 600 "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        _stream(unicode_map),
    )


def _stream(content: str) -> str:
    return f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"


def _pdf_of(*objects: str) -> bytes:
    """A PDF file of numbered objects, the first of which is its catalogue."""
    parts, offsets, size = ["%PDF-1.7\n"], [], 0
    for number, body in enumerate(objects, 1):
        size += len(parts[-1])
        offsets.append(size)
        parts.append(f"{number} 0 obj\n{body}\nendobj\n")
    start = size + len(parts[-1])
    entries = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    parts.append(f"xref\n0 {count}\n0000000000 65535 f \n{entries}")
    parts.append(f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n")
    return "".join(parts).encode("ascii")


def _zip(lines: Sequence[str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("content.txt", "\n".join(lines))
    return buffer.getvalue()


def _blank_image(name: str) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(buffer, "JPEG" if name == "jpg" else name.upper())
    return buffer.getvalue()


_PAGES: dict[str, Callable[[Sequence[str]], bytes]] = {
    "xlsx": _xlsx,
    "docx": _docx,
    "pptx": _pptx,
    "pdf": _pdf,
    "zip": _zip,
}


DONE = "Done. Everything was carried out as requested."
Grader = Callable[[TaskSpec, Submission], Score]


@dataclass(frozen=True, slots=True)
class _Attack:
    """A submission without work. `name` tells the variants of a family apart."""

    family: str
    name: str
    submission: Submission


def attacks(
    spec: TaskSpec, tools: Sequence[str], inputs: Mapping[str, Path], folder: Path
) -> Iterator[_Attack]:
    """All attacks on a task, the cheapest first.

    `tools` are those that the task offers and `inputs` its input files by the names that
    agents see; files of the attacks are written into `folder`.
    """
    yield _Attack(NULL, "nothing", Submission())
    for name, outputs in _null_deliverables(spec, inputs, folder):
        yield _Attack(NULL, name, Submission(answer="", outputs=str(outputs), steps=1))
    text = reference_text(spec)
    talk = Submission(answer=text, statements=((1, text),), steps=1)
    yield _Attack(TALK, "reference text", talk)
    calls = tuple(
        Call(f"call-{number}", 1, name, {}, "{}") for number, name in enumerate(_tools(spec, tools))
    )
    audit = tuple(AuditRow(service, name, {}, "ok", 1) for service, name in _operations(spec))
    both = Submission(answer=text, statements=((1, text),), calls=calls, audit=audit, steps=1)
    yield _Attack(EMPTY_CALLS, "reference text and empty calls", both)


def gain(score: Score) -> float:
    """What an attack achieved, from 0 to 1; 1 if it passed or satisfied a required part."""
    if score.passed or any(part.required and part.value == 1 for part in score.parts):
        return 1.0
    return deterministic_score(score.parts)


def reference_text(spec: TaskSpec) -> str:
    """The prompt, then the reference path and the checks in words, without the gold answer."""
    path = [step.text for step in spec.steps] + [check.text for check in spec.checks]
    path += [criterion.text for criterion in spec.criteria]
    gold = sorted({form for answer in spec.answers for form in (answer.value, *answer.aliases)})
    return "\n".join([spec.prompt, *(_without(line, gold) for line in path), DONE])


def _without(text: str, gold: Sequence[str]) -> str:
    for form in gold:
        if form.strip():
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", "…", text, flags=re.IGNORECASE)
    return text


def _tools(spec: TaskSpec, tools: Sequence[str]) -> list[str]:
    """The tools that the task offers and those that its steps and checks name, each once."""
    named = [step.operation for step in spec.steps if step.operation]
    return list(dict.fromkeys([*tools, *named, *(name for _, name in _operations(spec))]))


def _operations(spec: TaskSpec) -> list[tuple[str, str]]:
    """Service and operation of each request that a check names, in the order of the checks."""
    requests = [
        request
        for check in spec.checks
        for request in (check.params, *check.params.get("calls", ()))
    ]
    pairs = [
        (str(request.get("service", "")), str(request["operation"]))
        for request in requests
        if request.get("operation")
    ]
    return list(dict.fromkeys(pairs))


def _null_deliverables(
    spec: TaskSpec, inputs: Mapping[str, Path], folder: Path
) -> Iterator[tuple[str, Path]]:
    """Folders of files with the names asked for, by what the files hold."""
    names = list(_asked_names(spec.rules))
    if not names:
        return
    contents: dict[str, Callable[[str], bytes | None]] = {
        "empty shells": shell,
        "filler": _filler,
        "stubs": stub,
        "the prompt": lambda extension: holding(extension, spec.prompt),
    }
    for title, content in contents.items():
        files = {name: content(extension_of(name)) for name in names}
        if any(data is not None for data in files.values()):
            yield title, _written(folder / title, files)
    if inputs and not any(rule.kind == "same" for rule in spec.rules):  # else a copy is the work
        likest = {name: _likest_input(name, inputs) for name in names}
        copies = {name: inputs[source].read_bytes() for name, source in likest.items()}
        yield "a copy of an input", _written(folder / "copies", copies)
        anew = {
            name: _again(name, source, copies[name]) or copies[name]
            for name, source in likest.items()
        }
        if anew != copies:
            yield "an input saved anew", _written(folder / "anew", anew)


@lru_cache(maxsize=64)
def _filler(extension: str) -> bytes | None:
    return holding(extension, LOREM)


def _written(folder: Path, files: Mapping[str, bytes | None]) -> Path:
    """Types that hold no text are empty shells."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(shell(extension_of(name)) if data is None else data)
    return folder


def _asked_names(rules: Sequence[RuleSpec]) -> Iterator[str]:
    """File names that satisfy what rules say of names, types and numbers."""
    hints = [name for rule in rules if rule.kind == "named" for name in rule.params["names"]]
    named = [name for name in map(_base, hints) if _is_writable(name)]
    yield from named
    for rule in rules:
        extensions = rule.params.get("extensions", ())
        if rule.kind == "count" and extensions:
            present = sum(extension_of(name) in extensions for name in named)
            for number in range(present, int(rule.params["min"])):
                yield f"output-{number + 1}.{extensions[0]}"


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


def _is_writable(name: str) -> bool:
    """Hidden files are not graded, and a name that no file can have needs no attack."""
    return not name.startswith(".") and "\0" not in name and 0 < len(os.fsencode(name)) <= 255


def _likest_input(name: str, inputs: Mapping[str, Path]) -> str:
    """The input of the same name as a file asked for; else the first of its type; else any."""
    return min(
        inputs,
        key=lambda path: (_base(path) != name, extension_of(path) != extension_of(name), path),
    )


def _again(name: str, source: str, data: bytes) -> bytes | None:
    """The input saved anew, if the file asked for is of its type and holds what can be saved."""
    return saved_anew(extension_of(name), data) if type_of(name) == type_of(source) else None


def look_here(folder: Path, names: Sequence[str], limits: RuleLimits) -> list[Seen]:
    """What is seen in files that this project wrote itself; no process of their own is needed."""
    return [_look((folder / name).read_bytes(), type_of(name), limits) for name in names]


@lru_cache(maxsize=256)
def _look(data: bytes, kind: FileType | None, limits: RuleLimits) -> Seen:
    return look(data, kind, limits)
