"""What the place of a name says: wrapped lines, lists of results, routes, result folders."""

from __future__ import annotations

import pytest

from construction.mentions.named_files import named_files
from tests.construction.sessions.instances import said


@pytest.mark.parametrize(
    ("text", "declared", "outputs", "open_names"),
    [
        ("Save the runnable script to\n   /w/results/a.py", [], ["/w/results/a.py"], []),
        (
            "Give me three deliverables under /w/results/.\n\nFirst, post.md in plain words.",
            [],
            ["post.md"],
            [],
        ),
        (
            "在 /w/results/ 下给我三个交付物。\n\n第一，post.md，约 800 词",
            [],
            ["post.md"],
            ["/w/results/"],
        ),
        ("Under /w/sources/ there are four bids", [], [], ["/w/sources/"]),
        ("Type yes/no/ and wait for /start", [], [], []),
        (
            "Save two files:\n- /w/results/a.csv with columns x,\n  y\n- /w/results/b.json of it",
            [],
            ["/w/results/a.csv", "/w/results/b.json"],
            [],
        ),
        ("Create and run a script called sum.py in the workspace", [], ["sum.py"], []),
        ("It reads a.json and b.json (create both first)", [], ["a.json", "b.json"], []),
        ("Fetch http://x.example/feed and parse /rss.xml too", [], [], []),
        ("Move all pdf files to a new subdirectory named old_bills", [], ["old_bills"], []),
        ("Read every note in the `boats` folder", ["boats"], [], []),
        ("Make a pdf of the letter and save it under folder boats", [], ["boats"], []),
        ("Look in the folder of Ann, in a folder with dates, in folder order", [], [], []),
        ("把图片保存到名为 图集 的文件夹", [], ["图集"], []),
        ("The endpoint `/api/v2/boats/{id}` is slow, see log.csv", ["log.csv"], [], []),
        ("Follow @parrot.ai and read notes.md", ["notes.md"], [], []),
        ("List what is missing in /w/results/gaps.md", ["/w/results/gaps.md"], [], []),
        ("The raw data lives\nat /w_space/sums.csv. Plot it", ["/w_space/sums.csv"], [], []),
        ("Check the notes in /w_space/data/vault/ please", ["/w_space/data/vault/"], [], []),
        ("Record it in scores.csv", [], [], ["scores.csv"]),
    ],
)
def test_inputs_results_and_open_names(
    text: str, declared: list[str], outputs: list[str], open_names: list[str]
) -> None:
    named = named_files(said(text))
    assert [mention.path for mention in named.declared] == declared
    assert [mention.path for mention in named.outputs] == outputs
    assert [mention.path for mention in named.open] == open_names


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("读取主题/皮肤文件夹以外的说明", []),
        ("按 tie-break/decision 里的规则选一个", []),
        ("把收入/支出里的合计分开", []),
        ("Sync w/ the folder of Ann, b/c it is newer", []),
        ("打开 data/raw 目录", ["data/raw"]),
        ("参照 src/utils 里的代码", ["src/utils"]),
        ("读取 数据/原始 文件夹", ["数据/原始"]),
        ("说明理由（晋级/\n淘汰都要写）", []),
        ("列出 初选/终选 的名单, 给出 优点/缺点/\n风险", []),
        ("请整理 资料/ 里的合同", ["资料/"]),
    ],
)
def test_a_slash_is_mostly_an_or(text: str, declared: list[str]) -> None:
    assert [mention.path for mention in named_files(said(text)).declared] == declared
