"""The framing sentences of a packaged prompt: the project's own, in English, Chinese, Japanese.

Packaging writes them around a person's words; judging recognises them.
"""

from __future__ import annotations

from dataclasses import dataclass


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
            "Write the answer to the last message, ready to be sent, and settle in it the "
            "questions and requests above that are still open. Base it on what the messages and "
            "the input files say, cite the facts that you use, give your reasons, and say what "
            "cannot be known from them."
        ),
        earlier="Background, from earlier in the same conversation:",
        now="The request:",
        as_one=(
            "Take all of the above together as one request: do what it asks for, use the rest as "
            "background, and where a later part changes an earlier one, follow the later one."
        ),
        gaps=(
            "If something you need is neither stated above nor in the input files, say so and "
            "continue with what is available."
        ),
        inputs="Input files:",
        deliver="Deliver into outputs/:",
        answer="outputs/{name}: your complete answer",
        named="outputs/{name}",
        files="at least {count} × .{type}",
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
        files="至少 {count} 个 .{type} 文件",
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
        files=".{type} ファイル {count} 件以上",
    ),
}
