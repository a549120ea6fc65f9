"""The text of a packaged prompt: the person's words, released file paths and framing sentences.

The framing sentences are the project's own; they exist in English, Chinese and Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from construction.judging.deliverables import ANSWER
from construction.sessions.mentions.spans import FileSpan, find_file_spans
from construction.sessions.network.urls import find_urls
from construction.sessions.prompts.merge import Part
from data.contracts import Deliverable, Fixture
from data.text.language import leading_language
from data.text.scripts import HAN


@dataclass(frozen=True, slots=True)
class PromptWords:
    """The framing sentences in one language; `prompt_text` fills in the `{…}`."""

    several_people: str
    thread: str
    context: str
    reply: str
    earlier: str
    now: str
    as_one: str
    gaps: str
    inputs: str
    deliver: str
    answer: str
    named: str
    files: str


WORDS = {
    "en": PromptWords(
        several_people="These messages were written by several people, in this order:",
        thread="These messages reached the person you assist, the oldest first:",
        context="Earlier in the same conversation, for context only:",
        reply=(
            "Write the answer to the last message, ready to be sent, and in it settle the "
            "questions and requests above that are still open. Rest it on what the messages and "
            "the input files say, cite the facts it rests on, give your reasons, and name what "
            "cannot be known from them."
        ),
        earlier="Background, from earlier in the same conversation:",
        now="The request:",
        as_one=(
            "Take all of the above together as one request: do what it asks for, use the rest as "
            "background, and where a later part changes an earlier one, follow the later one."
        ),
        gaps=(
            "If something it needs is neither said above nor in the input files, name it and go on "
            "with what is there."
        ),
        inputs="Input files:",
        deliver="Deliver into outputs/:",
        answer="outputs/{name}: your complete answer",
        named="outputs/{name}",
        files="{count} × .{type}",
    ),
    "zh": PromptWords(
        several_people="以下消息由几个人先后写下：",
        thread="你所协助的人先后收到以下消息（从早到晚）：",
        context="同一对话中较早的内容，仅供参考：",
        reply=(
            "请写出对最后一条消息的答复，可以直接发送，并在其中回应上面尚未解决的问题和请求。"
            "答复要以这些消息和输入文件为依据，写明所依据的事实，说明理由，并指出从中无法得知的内容。"
        ),
        earlier="背景（同一对话中较早的内容）：",
        now="任务：",
        as_one=(
            "请把以上内容作为一个整体来完成：做其中要求的事，其余作为背景；前后不一致时，以后面的为准。"
        ),
        gaps="如果所需的内容上面没有说、输入文件里也没有，请指出来，并用现有的内容完成。",
        inputs="输入文件：",
        deliver="请将成果放入 outputs/：",
        answer="outputs/{name}：完整的回答",
        named="outputs/{name}",
        files="{count} 个 .{type} 文件",
    ),
    "ja": PromptWords(
        several_people="以下は複数の人が順に書いたメッセージです：",
        thread="あなたが補佐する人に、次のメッセージが古い順に届きました：",
        context="同じ会話の前の部分（参考のみ）：",
        reply=(
            "最後のメッセージへの返信を、そのまま送れる形で書いてください。上の未解決の質問と依頼すべてに"
            "答え、メッセージと入力ファイルに基づき、理由を示し、そこから分からないことは明記してください。"
        ),
        earlier="背景（同じ会話の前の部分）：",
        now="依頼：",
        as_one=(
            "上記を一つの依頼として扱ってください。求められていることを行い、残りは背景とし、"
            "前後で食い違う場合は後の内容に従ってください。"
        ),
        gaps=(
            "必要なものが上にも入力ファイルにもない場合は、それを示したうえで、あるもので進めてください。"
        ),
        inputs="入力ファイル：",
        deliver="成果物は outputs/ に置いてください：",
        answer="outputs/{name}：完全な回答",
        named="outputs/{name}",
        files=".{type} ファイル {count} 件",
    ),
}


INPUTS = "inputs/"
_ROOT_AFTER_HAN = re.compile(rf"(?<=[{HAN}])(?:~|\.{{1,2}}|[A-Za-z]:)?[/\\](?=[\x21-\x7e])")


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


def with_released_paths(text: str, fixtures: Sequence[Fixture]) -> str:
    """The text with every file name replaced by the path under which the file is released."""
    pieces, position = [], 0
    for span in find_file_spans(text) if fixtures else ():
        match = _fixture_at(text, span, fixtures)
        if match is not None:
            start, path = match
            pieces += [text[position:start], f"{INPUTS}{path}"]
            position = span.end
    return "".join(pieces) + text[position:]


def _fixture_at(text: str, span: FileSpan, fixtures: Sequence[Fixture]) -> tuple[int, str] | None:
    """(start of the name, path) of the fixture that a span names; None if it names none.

    Of several fixtures with the same name this is the one that shares the longest tail with the
    path as written. A name after Chinese words, whose start is uncertain, is matched by its end.
    """
    wide = text[span.reach : span.end].casefold()
    named = [fixture.path for fixture in fixtures if _ends_with_name(wide, tail(fixture.path))]
    if not named:
        return None
    path = min(named, key=lambda path: (-_shared(path, span.path), -len(path), path))
    if tail(span.path) == tail(path):
        return span.start + _root_at(span.path), path
    return span.end - len(tail(path)), path


def _ends_with_name(wide: str, name: str) -> bool:
    if not wide.endswith(name):
        return False
    before = wide[: -len(name)]
    return not before or not (before[-1].isascii() and (before[-1].isalnum() or before[-1] in "_-"))


def _root_at(written: str) -> int:
    """The offset of a path that follows Chinese words without a space: "看/root/a.docx"."""
    root = _ROOT_AFTER_HAN.search(written)
    return root.start() if root else 0


def _shared(path: str, written: str) -> int:
    """The number of components that two paths share, counted from their ends."""
    pairs = zip(reversed(_components(path)), reversed(_components(written)), strict=False)
    count = 0
    for component, other in pairs:
        if component != other:
            break
        count += 1
    return count


def _components(path: str) -> list[str]:
    return path.casefold().replace("\\", "/").split("/")


def tail(path: str) -> str:
    """The last component of a path, case-folded."""
    return _components(path)[-1]


def prompt_text(
    earlier: Sequence[str],
    parts: Sequence[Part],
    fixtures: Sequence[Fixture],
    deliverables: Sequence[Deliverable],
    *,
    thread: bool = False,
) -> str:
    """The prompt: background, request, how to read them, input files and deliverables.

    A thread is shown as messages with their senders, and the request is to answer it.
    """
    words = WORDS[leading_language("\n".join(part.said for part in parts))]
    blocks = [words.context if thread else words.earlier, *earlier] if earlier else []
    if thread:
        blocks += [words.thread, *(f"{part.sender}: {part.said}" for part in parts), words.reply]
    else:
        blocks += [words.now] if earlier else []
        blocks += _said(parts, words)
    if not thread and len(parts) + len(earlier) > 1:
        blocks.append(words.as_one)
    if not thread and any(fixture.role == "observed" for fixture in fixtures):
        blocks.append(words.gaps)
    if fixtures:
        paths = [f"- {INPUTS}{fixture.path}" for fixture in fixtures]  # as attached and named
        blocks.append("\n".join([words.inputs, *paths]))
    given = frozenset(tail(fixture.path) for fixture in fixtures)
    lines = [f"- {line}" for item in deliverables for line in _deliver(item, given, words)]
    blocks.append("\n".join([words.deliver, *lines]))
    return "\n\n".join(blocks)


def _said(parts: Sequence[Part], words: PromptWords) -> list[str]:
    if len({part.sender for part in parts if part.sender}) < 2:
        return [part.said for part in parts]
    named = [f"{part.sender}: {part.said}" if part.sender else part.said for part in parts]
    return [words.several_people, *named]


def _deliver(item: Deliverable, given: frozenset[str], words: PromptWords) -> list[str]:
    """The lines for one deliverable: names from the request, or the names of edited inputs."""
    if item.name_hints == (ANSWER,):
        return [words.answer.format(name=ANSWER)]
    edits = given.issuperset(tail(name) for name in item.name_hints)
    names = item.name_hints if item.source != "produced" or edits else ()
    lines = [words.named.format(name=name) for name in names]
    if item.count > len(names):
        lines.append(words.files.format(count=item.count - len(names), type=item.file_type))
    return lines
