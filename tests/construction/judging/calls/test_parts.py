"""The parts of the client that need no endpoint."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from construction.judging.calls.batch_api import Order, chunks, make_order, read_lines
from construction.judging.calls.budget import Budget
from construction.judging.calls.contracts import (
    CallReason,
    Image,
    LlmConfig,
    LlmRuntime,
    Mode,
    Usage,
)
from construction.judging.calls.replies import Reply, Unfit, declined, judge, read_reply
from construction.judging.calls.requests import Turn, body, key, worst_case
from construction.judging.calls.shapes import Dialect, Shape, is_unsupported
from construction.judging.calls.store import Claims
from construction.judging.calls.transport import retry_after, wait_after
from tests.construction.judging.calls.conftest import Verdict, ask

CONFIG = LlmConfig(mode=Mode.LIVE, model="m")
GOOD = '{"label": "a", "score": 1, "why": "w"}'


def reply(text: str, finish: str = "stop") -> Reply:
    return Reply(text, finish, False, "m", Usage(1, 1))


def test_the_key_holds_what_decides_the_answer_and_nothing_else() -> None:
    question = ask("a")
    same = [replace(question, item_id="b"), replace(question, stage="other")]
    other = [
        replace(question, system="x"),
        replace(question, user="x"),
        replace(question, max_tokens=5),
        replace(question, answer=LlmConfig),
        replace(question, images=(Image("image/png", b"1"),)),
        replace(question, images=(Image("image/png", b"2"),)),
    ]
    assert {key(item, CONFIG) for item in same} == {key(question, CONFIG)}
    keys = [key(item, CONFIG) for item in (question, *other)]
    keys += [
        key(question, CONFIG.model_copy(update={name: value}))
        for name, value in (
            ("model", "n"),
            ("temperature", 0.5),
            ("temperature", None),
            ("seed", 1),
        )
    ]
    assert len(set(keys)) == 11
    unmoved = CONFIG.model_copy(update={"mode": Mode.REPLAY, "budget_tokens": 1})
    assert key(question, unmoved) == key(question, CONFIG)


def test_the_key_is_the_same_forever() -> None:
    """A change here makes every recorded answer unfindable: raise the version on purpose."""
    assert key(ask("a"), CONFIG) == (
        "f03db7d5b4726d08e83fbeb0c47c860b6e823e54e2a27b46c32816e790da7e80"
    )


@pytest.mark.parametrize("shape", list(Shape))
def test_every_shape_carries_the_schema_and_a_limit(shape: Shape) -> None:
    sent = body(Turn(ask("a")), CONFIG, shape, "max_tokens")
    assert (sent["max_tokens"], sent["temperature"], sent["seed"]) == (1024, 0.0, 0)
    assert '"score"' in json.dumps({**sent, "messages": []})
    assert ("JSON Schema" in sent["messages"][0]["content"]) is (shape is Shape.OBJECT)
    assert "a" not in sent.get("metadata", {})


class Long(BaseModel):
    """An answer with a bound that is too large for a grammar, and one that is not."""

    text: str = Field(max_length=1_500)
    title: str = Field(max_length=120)


@pytest.mark.parametrize(
    ("shape", "carried"), [("json_schema", 2), ("json_object", 1), ("tool", 1)]
)
def test_servers_that_make_a_grammar_get_no_large_bounds(shape: Shape, carried: int) -> None:
    question = replace(ask("a"), answer=Long)
    sent = body(Turn(question), CONFIG, Shape(shape), "max_tokens")
    assert json.dumps({**sent, "messages": []}).count("maxLength") == carried


def test_pictures_go_along_as_data() -> None:
    question = replace(ask("a"), images=(Image("image/png", b"\x89PNG"),))
    content = body(Turn(question), CONFIG, Shape.SCHEMA, "max_tokens")["messages"][1]["content"]
    assert content[0]["text"] == question.user
    assert content[1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert worst_case(Turn(question), CONFIG).prompt_tokens == (
        worst_case(Turn(ask("a")), CONFIG).prompt_tokens + CONFIG.image_tokens
    )


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_can_be_asked_about(text: str) -> None:
    question = replace(ask("a"), user=text)
    sent = body(Turn(question), CONFIG, Shape.SCHEMA, "max_tokens")
    raw = json.dumps(sent, ensure_ascii=False).encode()
    assert len(key(question, CONFIG)) == 64
    assert worst_case(Turn(question), CONFIG).prompt_tokens >= len(text)
    assert b"messages" in raw


@pytest.mark.parametrize(
    ("text", "finish", "actual"),
    [
        (GOOD, "stop", None),
        (f"```json\n{GOOD}\n```", "stop", None),
        (f"<think>{{}}</think>{GOOD}", "stop", None),
        (GOOD + " " * 99, "length", None),
        (GOOD[:-9], "length", CallReason.TRUNCATED),
        (GOOD[:-9], "stop", CallReason.INVALID),
        (f"Sure! {GOOD}", "stop", CallReason.INVALID),
        ("", "stop", CallReason.INVALID),
        ("[" * 100_000, "stop", CallReason.INVALID),
    ],
)
def test_replies_are_judged(text: str, finish: str, actual: CallReason | None) -> None:
    judged = judge(reply(text, finish), Verdict)
    assert (judged.reason if isinstance(judged, Unfit) else None) == actual


@pytest.mark.parametrize(
    ("status", "code", "message", "finish"),
    [
        (400, "context_length_exceeded", "too much", "context_length_exceeded"),
        (
            400,
            "",
            "request (9 tokens) exceeds the available context size",
            "context_length_exceeded",
        ),
        (500, "", "Context size has been exceeded.", "context_length_exceeded"),
        (400, "content_filter", "no", "content_filter"),
        (400, "", "response_format: json_schema is not supported", None),
        (429, "context_length_exceeded", "too much", None),
        (500, "content_filter", "no", None),
    ],
)
def test_an_endpoint_that_declines_a_text_is_told_from_one_in_trouble(
    status: int, code: str, message: str, finish: str | None
) -> None:
    reply = declined(status, code, message)
    assert (reply.finish if reply else None) == finish
    assert reply is None or not reply.usage


def test_the_detail_of_an_invalid_reply_quotes_nothing_of_it() -> None:
    judged = judge(reply('{"label": "secret", "score": "hidden", "why": "w"}'), Verdict)
    assert isinstance(judged, Unfit)
    assert judged.detail == "50 characters: int_parsing×1"
    assert "secret" not in repr(judged)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["choices", "message", "content", "usage", "prompt_tokens", "tool_calls"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_document_is_read_or_refused(document: Any) -> None:
    actual = read_reply(document, Usage(7, 7))
    assert actual is None or actual.usage.prompt_tokens >= 0


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50), st.booleans()), max_size=30),
    st.integers(0, 500),
)
def test_what_is_reserved_and_paid_never_exceeds_the_budget(
    calls: list[tuple[int, int, bool]], limit: int
) -> None:
    config = CONFIG.model_copy(update={"budget_tokens": limit})

    async def spend() -> None:
        budget = Budget(config)

        async def call(prompt: int, completion: int, paid: bool) -> None:
            worst = Usage(prompt, completion)
            if not await budget.reserve(worst):
                return
            await asyncio.sleep(0)
            budget.settle(worst, Usage(prompt // 2, completion) if paid else None)
            usage = budget.spent.usage
            assert usage.prompt_tokens + usage.completion_tokens <= limit

        await asyncio.gather(*(call(*item) for item in calls))

    asyncio.run(spend())


def test_a_call_waits_for_those_under_way_before_it_gives_up() -> None:
    async def spend() -> tuple[bool, bool]:
        budget = Budget(CONFIG.model_copy(update={"budget_tokens": 100}))
        assert await budget.reserve(Usage(60, 0))
        second = asyncio.create_task(budget.reserve(Usage(60, 0)))
        await asyncio.sleep(0)
        assert not second.done()
        budget.settle(Usage(60, 0), Usage(10, 0))
        first = await second
        budget.settle(Usage(60, 0), Usage(60, 0))
        return first, await budget.reserve(Usage(60, 0))

    assert asyncio.run(spend()) == (True, False)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "9" * 5000}, float("9" * 40)),  # bounded where it is waited for
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_waits_double_are_spread_and_bounded() -> None:
    waits = [wait_after({}, "k", attempt, 1.0, 60.0) for attempt in range(12)]
    for attempt, wait in enumerate(waits):
        full = min(2.0**attempt, 60.0)
        assert full / 2 <= wait <= full
    assert wait_after({}, "k", 3, 1.0, 60.0) != wait_after({}, "l", 3, 1.0, 60.0)
    assert wait_after({"retry-after": "86400"}, "k", 1, 1.0, 60.0) == 60.0


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:8000/v1", True),
        ("https://api.example.com/v1", False),
        ("http://0.0.0.0:8000/v1", False),
        ("http://2130706433/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_loopback_is_told_from_the_rest(url: str, loopback: bool) -> None:
    assert LlmRuntime(base_url=url).is_loopback is loopback


@pytest.mark.parametrize(
    "url", ["ftp://localhost", "http://me:pw@127.0.0.1/v1", "http://localhost/v1?key=1", "v1"]
)
def test_addresses_that_hide_something_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="base_url must"):
        LlmRuntime(base_url=url)


def test_a_refused_schema_leaves_the_endpoint_its_shape(tmp_path: Path) -> None:
    dialect = Dialect(tmp_path / "shapes.json", "u", "m")
    dialect.learn(Shape.SCHEMA, Verdict(label="a", score=1, why=""))
    result = "Invalid schema for response_format 'answer'"
    assert dialect.adapt(400, result, Shape.SCHEMA, "one", "max_tokens")
    assert (dialect.shape("one"), dialect.shape("two")) == (Shape.OBJECT, Shape.SCHEMA)
    assert not dialect.adapt(400, "the prompt is too long", Shape.SCHEMA, "two", "max_tokens")
    assert Dialect(tmp_path / "shapes.json", "u", "m").known
    assert not Dialect(tmp_path / "shapes.json", "u", "n").known
    (tmp_path / "shapes.json").write_text("[broken")
    assert not Dialect(tmp_path / "shapes.json", "u", "m").known


def test_only_a_refusal_of_the_shape_is_one() -> None:
    assert is_unsupported(500, "Input should be 'text' or 'json_object'")
    assert not is_unsupported(500, "Internal error")
    assert not is_unsupported(429, "json_schema requests are limited")


def test_claims_exclude_and_end_with_their_file(tmp_path: Path) -> None:
    item, other = Claims(tmp_path / "locks"), Claims(tmp_path / "locks")
    assert item.take("a" * 64)
    assert not item.take("a" * 64)
    assert not other.take("a" * 64)
    assert other.take("b" * 64)
    item.give("a" * 64)
    assert other.take("a" * 64)
    other.close()
    assert item.take("b" * 64)
    item.close()


def test_batches_keep_within_the_limits_of_the_endpoint() -> None:
    dialect = Dialect(None, "u", "m")
    made = [make_order(key(q, CONFIG), Turn(q), CONFIG, dialect) for q in map(ask, "abcde")]
    orders: list[Order] = [item for item in made if item is not None]
    size = len(orders[0].line)
    by_bytes = LlmRuntime(batch_bytes=2 * size + 1)
    assert [len(chunk) for chunk in chunks(orders, by_bytes)] == [2, 2, 1]
    by_count = LlmRuntime(batch_requests=3)
    assert [len(chunk) for chunk in chunks(orders, by_count)] == [3, 2]
    assert len(json.loads(orders[0].line)["custom_id"]) == 45


@given(st.binary(max_size=200))
def test_any_batch_file_is_read(content: bytes) -> None:
    assert list(read_lines(content, 1000)) == []


def test_lines_of_others_are_passed_over() -> None:
    ours = make_order(key(ask("a"), CONFIG), Turn(ask("a")), CONFIG, Dialect(None, "u", "m"))
    assert ours is not None
    custom = json.loads(ours.line)["custom_id"]
    response = {"status_code": 200, "body": {"choices": [{"message": {"content": GOOD}}]}}
    lines = [
        {"custom_id": other, "response": response}
        for other in (custom, custom[:-1] + "7", "x" * 45, "é" * 43 + "-0", 7, None)
    ]
    content = "\n".join(json.dumps(line) for line in lines).encode()
    actual = list(read_lines(content, 10_000))
    assert [(line.key, line.number) for line in actual] == [(ours.key, 0)]
    assert actual[0].reply is not None
    assert actual[0].reply.text == GOOD
