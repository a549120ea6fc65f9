"""The frame of a prompt: the project's own sentences around a request, in three languages.

The request is a person's or a model's; which inputs there are, what is to be delivered and how the
request is to be read is said by code, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
