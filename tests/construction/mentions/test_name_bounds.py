"""Prompts of shells in pasted output: what stands in such a line is neither a file nor a folder."""

from __future__ import annotations

import pytest

from construction.mentions.name_bounds import SHELL_PROMPT
from construction.mentions.spans import find_file_spans

PROMPTS = (
    "boats git:(main) $ {}",
    "➜  boats git:(main) ✗ {}",
    "hulls/boats git:(quay-2) {}",
    "boats on 🌱 main [!?] via 🐹 v1.22 ❯ {}",
    "boats on main via 🐍 v3.11 {}",
    "\ue0b0 ~/src/boats \ue0a0 main {}",
    "~/src/boats main !2 ?1 ❯ {}",
    "~/src/boats (main) $ {}",
    "~/src/boats main* ❯ {}",
    "/srv/boats $ {}",
    "ann@mole:~/src/boats$ {}",
    "(venv) ann@mole ~ % {}",
    "╭─ann@mole ~/src/boats {}",
    "╰─❯ {}",
    "PS C:\\Users\\ann> {}",
    "C:\\Users\\ann>{}",
    "sh-5.1$ {}",
    "Mole-mini:boats ann$ {}",
    "ann@MOLE MINGW64 ~/boats (main) {}",
    "[02/24/26 9:38  ~/src/boats] {}",
)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_and_its_command_name_no_file(prompt: str) -> None:
    line = prompt.format("./boats list fleet.csv src/hulls/")
    text = f"This is what I get:\n\n{line}\nno such quay\n\nPlease sum fees.csv."
    assert SHELL_PROMPT.search(text) is not None
    assert [span.path for span in find_file_spans(text)] == ["fees.csv"]


@pytest.mark.parametrize(
    "line",
    [
        "Budget on track for May",
        "/data 50 % of the rows",
        "Read ~/docs/berths.md and sum it.",
        "The price is 5 $ per metre",
        "ann@mole.example: please answer",
        "ann@mole.example wrote: pay 5 $ now",
        "ann@mole.example: $ 500",
        "C:\\Users\\ann\\berths.docx > summarise",
        "~/docs/plan costs $ 5",
        "- $ 500 for lunch",
    ],
)
def test_prose_is_no_prompt(line: str) -> None:
    assert SHELL_PROMPT.search(line) is None
