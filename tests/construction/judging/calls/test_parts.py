"""The parts of the client that need no endpoint."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from construction.judging.calls.contracts import (
    Answered,
    Budget,
    CallReason,
    Image,
    LlmConfig,
    LlmRuntime,
    Mode,
    Price,
    Prices,
    Question,
    Tariff,
    Unanswered,
    Usage,
)
from construction.judging.calls.endpoint import _retry_after, _wait_after
from construction.judging.calls.replies import Reply, Unfit, declined, judge, read_reply, settle
from construction.judging.calls.requests import (
    Dialect,
    Manner,
    Shape,
    Turn,
    _is_unsupported,
    body,
    key,
    worst_case,
)
from construction.judging.llm import _chunks, _Order, _read_lines
from tests.construction.judging.calls.conftest import Verdict, ask

CONFIG = LlmConfig(mode=Mode.LIVE, model="m")
LIVE = Tariff("m")
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
        replace(question, repair=("{}", "wrong")),
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
            ("max_tokens", 5000),
            ("max_tokens", "none"),
            ("reasoning_effort", "low"),
            ("extra_body", {"top_k": 1}),
            ("models", {"test": "n2"}),
            ("sees_images", False),
        )
    ]
    assert len(set(keys)) == 17
    unmoved = CONFIG.model_copy(update={"mode": Mode.REPLAY, "budget_tokens": 1})
    assert key(question, unmoved) == key(question, CONFIG)


def test_the_key_is_the_same_forever() -> None:
    """A change here makes every recorded answer unfindable: raise the version on purpose."""
    assert key(ask("a"), CONFIG) == (
        "f03db7d5b4726d08e83fbeb0c47c860b6e823e54e2a27b46c32816e790da7e80"
    )


@pytest.mark.parametrize("shape", list(Shape))
def test_every_shape_carries_the_schema_and_a_limit(shape: Shape) -> None:
    sent = body(Turn(ask("a")), CONFIG, Manner(shape=shape))
    assert (sent["max_tokens"], sent["temperature"], sent["seed"]) == (1024, 0.0, 0)
    assert ('"score"' in json.dumps({**sent, "messages": []})) is (shape is not Shape.WORDS)
    assert ("JSON Schema" in sent["messages"][0]["content"]) is (shape is not Shape.SCHEMA)


class Long(BaseModel):
    """An answer with a bound that is too large for a grammar, and one that is not."""

    text: str = Field(max_length=1_500)
    title: str = Field(max_length=120)


@pytest.mark.parametrize(("shape", "carried"), [("json_schema", 2), ("json_object", 1)])
def test_servers_that_make_a_grammar_get_no_large_bounds(shape: Shape, carried: int) -> None:
    question = replace(ask("a"), answer=Long)
    sent = body(Turn(question), CONFIG, Manner(shape=Shape(shape)))
    assert json.dumps({**sent, "messages": []}).count("maxLength") == carried


def test_pictures_go_along_as_data() -> None:
    question = replace(ask("a"), images=(Image("image/png", b"\x89PNG"),))
    content = body(Turn(question), CONFIG, Manner())["messages"][1]["content"]
    assert content[0]["text"] == question.user
    assert content[1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert worst_case(Turn(question), CONFIG).prompt_tokens == (
        worst_case(Turn(ask("a")), CONFIG).prompt_tokens + CONFIG.image_tokens
    )


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_can_be_asked_about(text: str) -> None:
    question = replace(ask("a"), user=text)
    sent = body(Turn(question), CONFIG, Manner())
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
        (f"Sure! {GOOD} Does {{this}} help?", "stop", None),
        (f"Here:\n```json\n{GOOD}\n```\nGood luck!", "stop", None),
        (f"<think>{GOOD}</think>{GOOD}", "stop", None),
        (f"{GOOD}\n{GOOD}", "stop", CallReason.INVALID),
        ('{"wrapped": ' + GOOD, "stop", CallReason.INVALID),
        (f"no {{}} but {GOOD}", "stop", None),
        ('{"a":' * 50_000, "stop", CallReason.INVALID),
        ("{" * 50_000, "stop", CallReason.INVALID),
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


def test_tokens_that_only_the_total_counts_are_billed() -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 1400}
    document = {"choices": [{"message": {"content": "a"}}], "usage": usage}
    actual = read_reply(document, Usage(7, 7))
    assert actual is not None
    assert actual.usage == Usage(900, 500)


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

    budget = Budget(config)

    def call(prompt: int, completion: int, paid: bool) -> None:
        worst = Usage(prompt, completion)
        if budget.reserve(worst, LIVE):
            budget.settle(worst, LIVE, Usage(prompt // 2, completion) if paid else None)
            assert budget.spent.usage.tokens <= limit

    threads = [threading.Thread(target=call, args=item) for item in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_call_waits_for_those_under_way_before_it_gives_up() -> None:
    budget, admitted = Budget(CONFIG.model_copy(update={"budget_tokens": 100})), []
    assert budget.reserve(Usage(60, 0), LIVE)
    second = threading.Thread(target=lambda: admitted.append(budget.reserve(Usage(60, 0), LIVE)))
    second.start()
    second.join(timeout=0.05)
    assert second.is_alive()
    budget.settle(Usage(60, 0), LIVE, Usage(10, 0))
    second.join(timeout=60)
    budget.settle(Usage(60, 0), LIVE, Usage(60, 0))
    assert (admitted, budget.reserve(Usage(60, 0), LIVE)) == ([True], False)


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
    assert _retry_after(headers) == seconds


def test_waits_double_are_spread_and_bounded() -> None:
    waits = [_wait_after({}, "k", attempt, 1.0, 60.0) for attempt in range(12)]
    for attempt, wait in enumerate(waits):
        full = min(2.0**attempt, 60.0)
        assert full / 2 <= wait <= full
    assert _wait_after({}, "k", 3, 1.0, 60.0) != _wait_after({}, "l", 3, 1.0, 60.0)
    assert _wait_after({"retry-after": "86400"}, "k", 1, 1.0, 60.0) == 60.0


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
    runtime = LlmRuntime(base_url="http://localhost/v1")
    dialect = Dialect(tmp_path / "shapes.json", runtime, "m")
    dialect.learn(Manner(), Verdict(label="a", score=1, why=""))
    refusal = "Invalid schema for response_format 'answer'"
    again = dialect.adapt(400, refusal, Manner(), "one", {})
    assert again == Manner(shape=Shape.OBJECT)
    assert (dialect.manner("one"), dialect.manner("two")) == (again, Manner())
    assert dialect.adapt(400, "the prompt is too long", Manner(), "two", {}) is None
    assert Dialect(tmp_path / "shapes.json", runtime, "m").known
    assert not Dialect(tmp_path / "shapes.json", runtime, "n").known
    responses = runtime.model_copy(update={"api": "responses"})
    assert not Dialect(tmp_path / "shapes.json", responses, "m").known
    (tmp_path / "shapes.json").write_text("[broken")
    assert not Dialect(tmp_path / "shapes.json", runtime, "m").known


@pytest.mark.parametrize(
    ("status", "message", "setting"),
    [
        (400, "'temperature' does not support 0", "temperature"),
        (422, "body.seed: extra inputs are not permitted", "seed"),
        (400, "Unknown parameter: 'reasoning.effort'.", "reasoning_effort"),
        (400, "max_tokens is too large: 9000", "max_tokens"),
        (400, "the seeds of temperatures", ""),
        (500, "'temperature' does not support 0", ""),
        (400, "top_p is not supported", ""),
    ],
)
def test_a_setting_is_left_out_if_the_refusal_names_it(
    status: int, message: str, setting: str
) -> None:
    dialect = Dialect(None, LlmRuntime(), "m")
    sent = body(Turn(ask("a")), CONFIG.model_copy(update={"reasoning_effort": "low"}), Manner())
    again = dialect.adapt(status, message, Manner(), "s", {**sent, "reasoning": {}})
    assert (set(again.left_out) if again else set()) == ({setting} if setting else set())
    assert dialect.manner("s") == Manner(), "it counts once a request without it was answered"


@pytest.mark.parametrize(
    ("status", "message", "is_blind"),
    [
        (400, "Invalid content type. image_url is only supported by certain models.", True),
        (400, "At most 0 image(s) may be provided in one request.", True),
        (422, "unknown variant `image_url`, expected `text`", True),
        (404, "No endpoints found that support image input", True),
        (500, "image input is not supported - hint: you may need to provide the mmproj", True),
        (400, "this model is not a multimodal model", True),
        (400, "the prompt is too long", False),
        (429, "too many images a minute", False),
    ],
)
def test_an_endpoint_that_takes_no_images_is_asked_without_and_says_so(
    status: int, message: str, is_blind: bool
) -> None:
    dialect = Dialect(None, LlmRuntime(), "m")
    seeing = replace(ask("a"), images=(Image("image/png", b"x"),))
    sent = body(Turn(seeing), CONFIG, Manner())
    again = dialect.adapt(status, message, Manner(), "s", sent)
    assert (again is not None and "images" in again.left_out) is is_blind
    if again is None or not is_blind:
        return
    assert again.without(CONFIG, seeing) == ("images",)
    assert again.without(CONFIG, ask("a")) == (), "a question without pictures lost none"
    (_, user) = body(Turn(seeing), CONFIG, again)["messages"]
    assert "pictures that are named above could not be sent" in user["content"]
    assert dialect.adapt(status, message, again, "s", body(Turn(seeing), CONFIG, again)) is None


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=12)
    worth: int = Field(ge=1, le=5)


class Points(BaseModel):
    model_config = ConfigDict(extra="forbid")

    points: list[Point] = Field(min_length=1, max_length=3)
    title: str = Field(default="none", max_length=8)


@pytest.mark.parametrize(
    ("said", "kept", "mended"),
    [
        (
            {"points": [{"text": "much too long a text", "worth": 1}]},
            [("much too lo…", 1)],
            ("points.0.text: string_too_long",),
        ),
        (
            {"points": [{"text": "a", "worth": 9}, {"text": "b", "worth": 2, "more": 0}]},
            [("b", 2)],
            ("points.0.worth: less_than_equal", "points.0.more: extra_forbidden"),
        ),
        ({"points": [{"text": "a", "worth": 1}] * 5}, [("a", 1)] * 3, ("points: too_long",)),
        ({"points": [{"text": "a", "worth": 1}], "title": 7}, [("a", 1)], ("title: string_type",)),
        ({"points": [{"text": "a", "worth": 0}]}, None, ()),
        ({"title": "a"}, None, ()),
        ([], None, ()),
    ],
)
def test_what_is_still_wrong_after_the_repair_is_cut_or_left_out(
    said: Any, kept: list[tuple[str, int]] | None, mended: tuple[str, ...]
) -> None:
    wrong, question = reply(json.dumps(said)), replace(ask("a"), answer=Points)
    assert settle(question, [wrong]) is None
    outcome = settle(question, [wrong, wrong])
    if kept is None:
        assert isinstance(outcome, Unanswered)
        return
    assert isinstance(outcome, Answered)
    assert isinstance(outcome.value, Points)
    assert [(point.text, point.worth) for point in outcome.value.points] == kept
    assert outcome.mended == mended


def test_reasoning_that_is_billed_beside_the_reply_is_counted() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1600}
    document = {"choices": [{"message": {"content": GOOD}}], "usage": usage}
    actual = read_reply(document, Usage())
    assert actual is not None
    assert actual.usage == Usage(1000, 600)


def test_each_model_has_its_price() -> None:
    prices = Prices(prompt=1.0, completion=1.0, models={"big": Price(prompt=10, completion=20)})
    usage = Usage(1_000_000, 100_000)
    assert prices.cost(usage, model="small") == pytest.approx(1.1)
    assert prices.cost(usage, model="big", batch=True) == pytest.approx(6.0)


def test_only_a_refusal_of_the_shape_is_one() -> None:
    assert _is_unsupported(500, "Input should be 'text' or 'json_object'")
    assert not _is_unsupported(500, "Internal error")
    assert not _is_unsupported(429, "json_schema requests are limited")


def order(question: Question) -> _Order:
    turn, name = Turn(question), key(question, CONFIG)
    return _Order(name, turn, Manner(), worst_case(turn, CONFIG), body(turn, CONFIG, Manner()))


def test_batches_keep_within_the_limits_of_the_endpoint() -> None:
    orders = [order(ask(item)) for item in "abcde"]
    size = len(orders[0].line)
    by_bytes = LlmRuntime(batch_bytes=2 * size + 1)
    assert [len(chunk) for chunk in _chunks(orders, by_bytes)] == [2, 2, 1]
    by_count = LlmRuntime(batch_requests=3)
    assert [len(chunk) for chunk in _chunks(orders, by_count)] == [3, 2]
    assert len(json.loads(orders[0].line)["custom_id"]) == 64
    other = replace(orders[1], sent={**orders[1].sent, "model": "n"})
    mixed = list(_chunks([orders[0], other, orders[2]], LlmRuntime()))
    assert [[one.sent["model"] for one in chunk] for chunk in mixed] == [["m", "m"], ["n"]]


@given(st.binary(max_size=200))
def test_any_batch_file_is_read(content: bytes) -> None:
    assert list(_read_lines(content, 1000)) == []


def test_lines_of_others_are_passed_over() -> None:
    custom = key(ask("a"), CONFIG)
    response = {"status_code": 200, "body": {"choices": [{"message": {"content": GOOD}}]}}
    lines = [
        {"custom_id": other, "response": response}
        for other in (custom, custom[:-1] + "g", custom + "0", "é" * 64, 7, None)
    ]
    content = "\n".join(json.dumps(line) for line in lines).encode()
    actual = list(_read_lines(content, 10_000))
    assert [line.key for line in actual] == [custom]
    assert actual[0].reply is not None
    assert actual[0].reply.text == GOOD
