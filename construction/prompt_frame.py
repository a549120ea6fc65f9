"""The frame of a prompt: the project's own sentences around a request, in three languages.

The request is a person's or a model's; which inputs there are, what is to be delivered and how the
request is to be read is said by code, here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from construction.mentions.files import FileSpan, extension, find_file_spans, path_parts, tail
from construction.mentions.urls import find_urls
from data.contracts import Deliverable, Fixture
from data.text.scripts import leading_language

ANSWER = "answer.md"  # what is delivered where only an answer is asked for
INPUTS = "inputs/"
OUTPUTS = "outputs/"


@dataclass(frozen=True, slots=True)
class PromptWords:
    """The framing sentences in one language; `frame` fills in the `{…}`."""

    several_people: str
    as_one: str
    gaps: str
    inputs: str
    same: str
    deliver: str
    answer: str
    named: str
    several: str
    files: str
    today: str


WORDS = {
    "en": PromptWords(
        several_people="These messages were written by several people, in this order:",
        as_one=(
            "Take all of the above together as one request: do what it asks for, use the rest as "
            "background, and where a later part changes an earlier one, follow the later one."
        ),
        gaps=(
            "If something you need is neither stated above nor in the input files, say so and "
            "continue with what is available."
        ),
        inputs="Input files:",
        same="{path} (the same file: {others})",
        deliver="Deliver into outputs/:",
        answer="outputs/{name}: your complete answer",
        named="outputs/{name}",
        several="outputs/{name}: as many files as the work takes",
        files="at least {count} × .{type}",
        today="Today is {day}.",
    ),
    "zh": PromptWords(
        several_people="以下消息由几个人先后写下：",
        as_one=(
            "请把以上内容作为一个整体来完成：做其中要求的事，其余作为背景；前后不一致时，以后面的为准。"
        ),
        gaps="如果所需的内容上面没有说、输入文件里也没有，请指出来，并用现有的内容完成。",
        inputs="输入文件：",
        same="{path}（同一文件：{others}）",
        deliver="请将成果放入 outputs/：",
        answer="outputs/{name}：完整的回答",
        named="outputs/{name}",
        several="outputs/{name}：按需要的数量",
        files="至少 {count} 个 .{type} 文件",
        today="今天是 {day}。",
    ),
    "ja": PromptWords(
        several_people="以下は複数の人が順に書いたメッセージです：",
        as_one=(
            "上記を一つの依頼として扱ってください。求められていることを行い、残りは背景とし、"
            "前後で食い違う場合は後の内容に従ってください。"
        ),
        gaps=(
            "必要なものが上にも入力ファイルにもない場合は、それを示したうえで、あるもので進めてください。"
        ),
        inputs="入力ファイル：",
        same="{path}（同じファイル：{others}）",
        deliver="成果物は outputs/ に置いてください：",
        answer="outputs/{name}：完全な回答",
        named="outputs/{name}",
        several="outputs/{name}：必要な数だけ",
        files=".{type} ファイル {count} 件以上",
        today="今日は {day} です。",
    ),
}


def words_of(language: str, text: str = "") -> PromptWords:
    """The framing sentences for a language; for one without, those for the script of the text."""
    return WORDS[language if language in WORDS else leading_language(text)]


def frame(
    request: str,
    fixtures: Sequence[Fixture],
    deliverables: Sequence[Deliverable],
    language: str,
    *,
    guidelines: Sequence[str] = (),
) -> str:
    """The prompt: the request, how to read it (`guidelines`), input files, what to deliver where.

    Nothing else tells an agent where its inputs lie and its results belong.
    """
    words = words_of(language, request)
    blocks = [request, *guidelines]
    if fixtures:
        blocks.append("\n".join([words.inputs, *(f"- {one}" for one in _given(fixtures, words))]))
    lines = [f"- {line}" for item in deliverables for line in _deliver(item, words)]
    blocks.append("\n".join([words.deliver, *lines]))
    return "\n\n".join(blocks)


def _given(fixtures: Sequence[Fixture], words: PromptWords) -> Iterator[str]:
    """The paths of the inputs, each content once."""
    paths: dict[str, list[str]] = {}
    for fixture in fixtures:
        paths.setdefault(fixture.sha256, []).append(f"{INPUTS}{fixture.path}")
    for path, *others in paths.values():
        yield words.same.format(path=path, others=", ".join(others)) if others else path


def announced(deliverables: Sequence[Deliverable]) -> tuple[str, ...]:
    """The names and patterns of files that a prompt announces, as they stand below `outputs/`.

    What an agent once chose to call a file is not announced.
    """
    return tuple(
        name
        for item in deliverables
        for name in ((() if item.source == "produced" else item.name_hints) + item.patterns)
    )


def _deliver(item: Deliverable, words: PromptWords) -> Iterator[str]:
    """The lines for one deliverable: its names, and how many files of a type have none."""
    if item.name_hints == (ANSWER,):
        yield words.answer.format(name=ANSWER)
        return
    names = announced([item])
    for name in names:
        form = words.several if name in item.patterns else words.named
        yield form.format(name=name)
    if item.count > len(names):
        yield words.files.format(count=item.count - len(names), type=item.file_type)


_RESULTS = frozenset((("result",), ("results",), ("output",), ("outputs",), ("out",)))
_ROOTED = re.compile(r"[/~]|[A-Za-z]:[\\/]|\\\\")  # a path of a machine
_SCHEME = "file:"
_STOP = re.compile(r"(?<=[\w-]/)\.(?=\s|$)")  # behind a folder: it ends the sentence


def with_page_paths(text: str, pages: Mapping[str, str]) -> str:
    """The text with the URLs of frozen pages replaced by the released paths of their fixtures.

    `pages` maps a URL to the path of its fixture.
    """
    pieces, position = [], 0
    for mention in find_urls(text):
        if mention.url in pages:
            pieces += [text[position : mention.start], f"{INPUTS}{pages[mention.url]}"]
            position = mention.end
    return "".join(pieces) + text[position:]


def with_released_paths(
    text: str,
    fixtures: Sequence[Fixture],
    results: Sequence[str] = (),
    cwd: str | None = None,
    *,
    of_machine: bool = False,
) -> str:
    """The text with every name of a file replaced by its path in the release.

    `of_machine`: only paths from the root, from home or from a drive.

    Input files and folders lie in `inputs/`. `results` are the paths of files that the request
    names as results: where they have a folder, they and all else in it are put into `outputs/`, so
    that there is one place for them. A path of a machine to an input that is changed in place
    becomes its name, since it is in both. `cwd` is the session's working folder.
    """
    places, made = _result_folders(results), {tail(path) for path in results}
    pieces, position = [], 0
    sought = _STOP.sub(",", text)
    for span in find_file_spans(sought) if fixtures or places else ():
        if of_machine and not _ROOTED.match(span.path):
            continue
        given = _fixture_at(text, span, fixtures)
        if given is not None and tail(span.path) in made:
            name = given[1].removeprefix(INPUTS)
            given = (given[0], name if _ROOTED.match(span.path) else span.path)
        match = given or _in_outputs(span, places) or _as_outputs(text, span, fixtures)
        match = match or _folder_at(span, fixtures, cwd)
        if match is not None:
            start, path = match
            start -= len(_SCHEME) * text.endswith(_SCHEME, 0, start)
            pieces += [text[position:start], path]
            position = span.end
    return "".join(pieces) + text[position:]


def _result_folders(results: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The folders of results: those from the root or from home, and `results`; longest first."""
    rooted = {tuple(path_parts(path)[:-1]) for path in results if _ROOTED.match(path)}
    folders: set[tuple[str, ...]] = {parts for parts in rooted if len(parts) > 1}
    folders |= {parts for path in results if (parts := tuple(path_parts(path)[:-1])) in _RESULTS}
    return tuple(sorted(folders, key=len, reverse=True))


def _in_outputs(span: FileSpan, folders: Sequence[tuple[str, ...]]) -> tuple[int, str] | None:
    """(start of the name, path in `outputs/`) of what lies in a folder of results."""
    start, written = span.start, span.path
    parts = tuple(path_parts(written))
    for folder in folders:
        if parts[: len(folder)] == folder and len(parts) > len(folder):
            rest = written.replace("\\", "/").split("/")[len(folder) :]
            return start, OUTPUTS + "/".join(rest)
        if parts == folder:
            return start, OUTPUTS
    return None


def _as_outputs(text: str, span: FileSpan, fixtures: Sequence[Fixture]) -> tuple[int, str] | None:
    """(start of the name, `outputs/`) of a folder of results from the root, without a fixture."""
    start = span.start
    parts = [part for part in path_parts(span.path.rstrip("/")) if part]
    start -= text[start - 1 : start] == "/"
    if text[start] not in "/~" or len(parts) < 2 or (parts[-1],) not in _RESULTS:
        return None
    holds_inputs = any(parts[-1] in _names(fixture.path) for fixture in fixtures)
    return None if holds_inputs else (start, OUTPUTS)


def _names(path: str) -> list[str]:
    return path.split("/")[:-1]


def _folder_at(
    span: FileSpan, fixtures: Sequence[Fixture], cwd: str | None
) -> tuple[int, str] | None:
    """(start of the name, path in `inputs/`) of a folder that holds fixtures."""
    start = span.start
    parts = [part for part in path_parts(span.path.rstrip("/\\")) if part]
    if len(parts) < 2 or extension(span.path):
        return None
    folders = {parent for fixture in fixtures for parent in _parents(fixture.path)}
    named = [folder for folder in folders if path_parts(folder)[-1] == parts[-1]]
    if not named:
        is_cwd = cwd is not None and path_parts(cwd.rstrip("/"))[-1] == parts[-1]
        return (start, INPUTS) if is_cwd and fixtures else None
    best = min(named, key=lambda folder: (-_shared(folder, "/".join(parts)), len(folder), folder))
    return start, f"{INPUTS}{best}/"


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def _fixture_at(text: str, span: FileSpan, fixtures: Sequence[Fixture]) -> tuple[int, str] | None:
    """(start of the name, path) of the fixture that a span names; None if it names none.

    Of several fixtures with the same name this is the one that shares the longest tail with the
    path as written, and none if two share as much. A name whose start is uncertain is matched by
    its end.
    """
    wide = text[span.reach : span.end].casefold()
    named = [fixture.path for fixture in fixtures if _ends_with_name(wide, tail(fixture.path))]
    if not named:
        return None
    ranked = sorted(named, key=lambda path: (-len(tail(path)), -_shared(path, span.path), path))
    path = ranked[0]
    rank = (len(tail(path)), _shared(path, span.path))
    if [(len(tail(other)), _shared(other, span.path)) for other in ranked].count(rank) > 1:
        return None
    if tail(span.path) == tail(path):
        return span.start, INPUTS + path
    return span.end - len(tail(path)), INPUTS + path


def _ends_with_name(wide: str, name: str) -> bool:
    if not wide.endswith(name):
        return False
    before = wide[: -len(name)]
    return not before or not (before[-1].isascii() and (before[-1].isalnum() or before[-1] in "_-"))


def _shared(path: str, written: str) -> int:
    """The number of components that two paths share, counted from their ends."""
    pairs = zip(reversed(path_parts(path)), reversed(path_parts(written)), strict=False)
    count = 0
    for component, other in pairs:
        if component != other:
            break
        count += 1
    return count
