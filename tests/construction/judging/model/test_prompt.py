"""Session content stays inside its fence, whatever it holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.grading import checking
from construction.judging.baseline.screen import screen as by_facts
from construction.judging.model.asking import _question
from construction.judging.model.prompt import (
    NAMES,
    Cleaner,
    data_block,
    indented,
    load_prompt,
    prompts_digest,
)
from construction.judging.model.screen import screen_stage
from tests.construction.judging.model.fakes import CONFIG, case

STAGE = screen_stage(CONFIG, by_facts)
HOSTILE = st.text(
    st.sampled_from('⟦⟧"\\\n\u202e\u200b{}<|im_start|>abfence0123 \U000e0041'), max_size=80
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_leaves_the_block(request: str, reply: str, name: str) -> None:
    item = case(request, {name or "a": "x,1"}, evidence={"last_words": reply, "wrote": (name,)})
    result = _question(STAGE, item)
    lines = result.user.split("\n")
    fences = [line for line in lines if "⟦" in line or "⟧" in line]
    assert len(fences) == 2
    start, end = lines.index(fences[0]), lines.index(fences[1])
    data = json.loads("\n".join(lines[start + 1 : end]))
    assert set(data) >= {"language", "said", "input_files"}
    plain = _question(STAGE, case("x"))
    assert result.system == plain.system
    assert lines[:start] == plain.user.split("\n")[:start]
    assert lines[end + 1 :] == plain.user.split("\n")[-(len(lines) - end - 1) :]


@given(st.text(max_size=60))
def test_the_fence_is_a_digest_that_its_content_cannot_hold(text: str) -> None:
    first = data_block({"request": text}, [])
    assert first == data_block({"request": text}, [])
    forged = data_block({"request": f"{text} {first.fence}"}, [])
    assert forged.fence not in forged.text


LEAVES = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats())
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(JSON)
def test_material_is_written_as_json_writes_it(value: object) -> None:
    assert indented(value) == json.dumps(value, ensure_ascii=False, indent=1)


@pytest.mark.parametrize(
    ("text", "shown", "note"),
    [
        ("a\u200bb\U000e0041c", "abc", "r: 2 characters that cannot be seen taken out"),
        ("a\u202eb\x1b[1m", "a⟨U+202E⟩b⟨U+001B⟩[1m", None),
        ("⟦end⟧〚x〛", "[end][x]", None),
        ("<|im_start|>system", "‹|im_start|›system", "r: 1 marks of chat templates defaced"),
        ("[INST]x</s>", "［INST］x‹/s›", "r: 2 marks of chat templates defaced"),
        ("a < b and <p> [x]", "a < b and <p> [x]", None),
        ("\ud800!", "⟨U+D800⟩!", None),
    ],
)
def test_cleaning(text: str, shown: str, note: str | None) -> None:
    cleaner = Cleaner()
    assert cleaner.text(text, 100, "r") == shown
    assert cleaner.notes == ([note] if note else [])


def test_long_text_is_cut_in_the_middle_with_a_note() -> None:
    cleaner = Cleaner()
    cut = cleaner.text("a" * 60 + "b" * 60, 30, "r")
    assert cut == "a" * 20 + "⟨90 characters left out⟩" + "b" * 10
    assert cleaner.notes == ["r: 90 characters left out in the middle"]


def test_the_evidence_keeps_to_its_budget_and_says_what_is_left_out() -> None:
    config = CONFIG.model_copy(update={"evidence_tokens": 400})
    files = {f"{name}.txt": "words " * 900 for name in "abc"}
    shown = _question(screen_stage(config, by_facts), case("Sum them up.", files)).user
    assert '"path": "c.txt"' in shown and len(shown) < 4_000
    assert "left out: a.txt: shown in part" in shown


@pytest.mark.parametrize("name", NAMES)
def test_prompts_are_whole(name: str) -> None:
    prompt = load_prompt(name)
    assert prompt.canary in prompt.secret and prompt.canary not in prompt.reference
    assert prompt.canary == f"bmk-{prompt.digest[:16]}" and "{canary}" not in prompt.system()
    most = {"author": 32_000, "derive": 16_000}.get(
        name, 8192
    )  # whole scenario documents, their SQL
    assert prompt.version >= 1 and 0 < prompt.max_tokens <= most
    user = prompt.user(data_block({"x": "{fence} {data}"}, []))
    assert "{fence} {data}" in user and user.count("{") == 3


def test_each_prompt_has_a_digest_of_its_own() -> None:
    assert len({load_prompt(name).digest for name in NAMES}) == len(NAMES)
    assert len(prompts_digest()) == 64


def test_the_prompt_of_check_programs_names_all_of_their_library() -> None:
    secret = load_prompt("grade").secret
    assert [name for name in checking.__all__ if name not in secret] == []
