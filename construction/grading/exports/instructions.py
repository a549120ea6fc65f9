"""The instruction of an exported task: its prompt, and where results go, in the same language."""

from __future__ import annotations

from dataclasses import dataclass

from construction.grading.bundle_command import answer_path
from construction.statements.tools.client import URL
from data.releases.tasks import ReleasedTask


@dataclass(frozen=True, slots=True)
class Directions:
    """Where an agent works and what it leaves there; only what applies to a task is written."""

    heading: str
    inputs: str
    answer: str
    files: str
    tools: str
    services: str


DIRECTIONS = {
    "en": Directions(
        heading="## Where results go\n\nYou work in /work.",
        inputs="The input files are in inputs/.",
        answer="Write your answer, in the form that the task asks for, to {path}.",
        files=(
            "Put the files that the task asks for into outputs/. If it also asks for an answer "
            "outside of these files, write that to {path}."
        ),
        tools=(
            "The data tools are an MCP server at {url}. In a shell, `data_tool` lists them and "
            '`data_tool NAME \'{{"argument": "value"}}\'` calls one.'
        ),
        services=(
            "The services of the task are tools of an MCP server at {url}. In a shell, `data_tool` "
            'lists them and `data_tool NAME \'{{"argument": "value"}}\'` calls one.'
        ),
    ),
    "zh": Directions(
        heading="## 成果放在哪里\n\n工作目录是 /work。",
        inputs="输入文件在 inputs/ 中。",
        answer="请按任务要求的形式，把答案写入 {path}。",
        files="任务要求的文件放入 outputs/。如果任务还要求文件之外的回答，请写入 {path}。",
        tools=(
            "数据工具是一个 MCP 服务器：{url} 。在命令行中，`data_tool` 列出这些工具，"
            '`data_tool NAME \'{{"argument": "value"}}\'` 调用其中一个。'
        ),
        services=(
            "任务所用的各项服务是 MCP 服务器 {url} 上的工具。在命令行中，`data_tool` 列出这些工具，"
            '`data_tool NAME \'{{"argument": "value"}}\'` 调用其中一个。'
        ),
    ),
    "ja": Directions(
        heading="## 成果物の置き場所\n\n作業フォルダーは /work です。",
        inputs="入力ファイルは inputs/ にあります。",
        answer="答えは、求められた形式で {path} に書いてください。",
        files=(
            "求められたファイルは outputs/ に置いてください。"
            "ファイル以外の回答も求められている場合は、{path} に書いてください。"
        ),
        tools=(
            "データツールは MCP サーバー {url} です。シェルでは `data_tool` で一覧を表示し、"
            '`data_tool NAME \'{{"argument": "value"}}\'` で呼び出します。'
        ),
        services=(
            "タスクの各サービスは MCP サーバー {url} のツールです。"
            "シェルでは `data_tool` で一覧を表示し、"
            '`data_tool NAME \'{{"argument": "value"}}\'` で呼び出します。'
        ),
    ),
}


def instruction(
    task: ReleasedTask, *, asks_files: bool, has_tools: bool, has_services: bool = False
) -> str:
    """The prompt and the directions, for agents that submit by files alone."""
    words = DIRECTIONS.get(task.candidate.language.partition("-")[0], DIRECTIONS["en"])
    results = words.files if asks_files else words.answer
    lines = [words.heading]
    if task.inputs:
        lines.append(words.inputs)
    lines.append(results.format(path=answer_path(asks_files)))
    if has_tools:
        lines += ["", words.tools.format(url=URL)]
    if has_services:
        lines += ["", words.services.format(url=URL)]
    return "\n\n".join((task.instruction.rstrip(), "\n".join(lines))) + "\n"
