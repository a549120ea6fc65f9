"""Names that an endpoint gives: plain ones stay, keys and other text do not."""

from __future__ import annotations

import pytest

from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import read_reply
from data.endpoints import keys_in, plain_name, without_keys

KEY = "sk-invented-0123456789"


@pytest.mark.parametrize(
    "name", ["gpt-5.2", "Qwen/Qwen3-8B@q4", "models/gemma:270m", "chatcmpl-123_a", ""]
)
def test_plain_names_stay(name: str) -> None:
    assert plain_name(name, [KEY]) == name


@pytest.mark.parametrize(
    "name", [KEY, f"model-{KEY}", "a b", "<b>x</b>", "x\n", "\x1b[2J", "\ud800", "模型", "x" * 129]
)
def test_what_is_no_plain_name_is_replaced_and_stays_apart(name: str) -> None:
    replaced = plain_name(name, [KEY])
    assert replaced.startswith("replaced-") and KEY not in replaced
    assert replaced == plain_name(name, [KEY]) != plain_name(name + "?", [KEY])


def test_keys_are_the_values_of_variables_that_are_named_so() -> None:
    variables = {"OPENAI_API_KEY": f" {KEY} ", "HF_TOKEN": "hf_12345678", "KEYBOARD": "qwertyuiop"}
    assert keys_in(variables | {"SHORT_KEY": "none"}) == {KEY, "hf_12345678"}


def test_a_reply_that_quotes_the_key_is_kept_without_it() -> None:
    call = {"id": f"call {KEY}", "function": "add", "arguments": {"text": f"is it {KEY}?"}}
    reply = {"model": KEY, "choices": [{"message": {"tool_calls": [call], "content": f"{KEY}!"}}]}
    cleaned = without_keys(reply, [KEY, "none"])
    assert KEY not in str(cleaned)
    message = cleaned["choices"][0]["message"]
    assert message["content"] == "[key]!"
    assert message["tool_calls"][0]["function"] == "add"
    assert message["tool_calls"][0]["id"].startswith("replaced-")


def test_a_reply_nested_without_end_ends() -> None:
    nested: object = KEY
    for _ in range(1000):
        nested = [nested]
    assert KEY not in str(without_keys(nested, [KEY]))


def test_the_judge_records_a_plain_name_of_its_model() -> None:
    document = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}], "model": KEY}
    reply = read_reply(document, Usage(1, 1), (KEY,))
    assert reply is not None and reply.model.startswith("replaced-")
