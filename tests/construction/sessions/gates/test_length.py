from __future__ import annotations

import time
from dataclasses import replace

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.gates.length import (
    GATE,
    Length,
    LengthConfig,
    LengthReason,
    effective_chars,
    measure,
)
from data.contracts import Status
from tests.construction.sessions.instances import said

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("？", 1),
        ("ok", 2),
        ("请汇总表格", 5),
        (FAMILY, 1),
        ("👍🏽", 1),
        ("🇨🇳🇫🇷", 2),
        ("1️⃣ go", 4),
        ("cafe\u0301", 4),
        ("한국어", 3),
        ("नमस्ते", 3),
        ("a \t\n  b", 3),
        ("  a\u3000\u3000b  ", 3),
        ("a \u200b b", 3),
        ("\u200b\u2060\ufeff\x00\x07", 0),
        ("\u3164\u2800\u115f", 0),
        ("\u0301", 0),
        ("a\u00adb", 2),
        ("\ud83d", 0),
        ("ｱﾞ", 1),
    ],
)
def test_characters_as_a_reader_counts_them(text: str, count: int) -> None:
    assert effective_chars(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("@alex ok", 2),
        ("@data-team @all ok", 2),
        ("<@U02AB34> ok", 2),
        ('<at id="ou_1">张三</at> 好的', 2),
        ("@张三 好的", 2),
        ("@产品组小王\u2005好的", 2),
        ("＠张三 好的", 2),
        ("@张三帮我看看这张表", 6),
        ("ask bob@acme.com", 16),
        ("@docs/plan.md", 13),
        ("@plan.md ok", 11),
        ("om_5f3a9c1d2e4b6a7c8d9e0f1a2b3c4d5e ok", 2),
        ("[message_id: om_x9] ok", 2),
        ("[message_id: 4711] ok", 2),
    ],
)
def test_what_a_client_adds_is_not_counted(text: str, count: int) -> None:
    assert effective_chars(text) == count


def test_all_user_turns_count_together() -> None:
    assert measure(said("please", " fix ", "@bob")) == Length(typed=9, chars=15)


def test_what_came_before_and_the_reply_count_towards_the_longest() -> None:
    instance = replace(said(" ok "), said_before=("before",), reply="done.")
    assert measure(instance) == Length(typed=2, chars=15)


@pytest.mark.parametrize(("observed", "status"), [(9, Status.FAILED), (10, Status.PASSED)])
def test_the_limit_itself_passes(observed: int, status: Status) -> None:
    verdict = GATE.judge(Length(observed, observed), LengthConfig())
    assert verdict.status is status
    assert (verdict.observed, verdict.limit) == (observed, 10)
    assert verdict.reason == (LengthReason.TOO_SHORT if status is Status.FAILED else None)


def test_one_character_more_than_allowed_is_too_long() -> None:
    config = LengthConfig(max_chars=20)
    assert GATE.judge(Length(10, 20), config).reason is None
    verdict = GATE.judge(Length(10, 21), config)
    assert (verdict.reason, verdict.observed, verdict.limit) == (LengthReason.TOO_LONG, 21, 20)


ALPHABET = list("ab é中각\u200b\u0301\u200d\ufe0f\u20e3\n\t\u11a8न\u094d\u3000\xa0\u2060\x00👩🇨🏽")


@given(st.lists(st.sampled_from(ALPHABET), max_size=14).map("".join))
def test_the_fast_path_agrees_with_counting_every_cluster(text: str) -> None:
    count, after_space = 0, True
    for cluster in regex.findall(r"\X", " ".join(text.split())):
        blank = all(regex.match(r"[\p{Cc}\p{Cf}\p{Mn}\p{Me}]", char) for char in cluster)
        if blank or (cluster[0].isspace() and after_space):
            continue
        count, after_space = count + 1, cluster[0].isspace()
    assert effective_chars(text) == count - (after_space and count > 0)


@given(st.text(max_size=40), st.text(max_size=40))
def test_never_more_than_characters_and_never_fails(text: str, other: str) -> None:
    assert 0 <= effective_chars(text + other) <= len(text + other)


@pytest.mark.parametrize("text", ["@" * 300_000, "@张" * 150_000, "<at " * 100_000, FAMILY * 9000])
def test_hostile_texts_take_linear_time(text: str) -> None:
    start = time.process_time()
    effective_chars(text)
    assert time.process_time() - start < 2
