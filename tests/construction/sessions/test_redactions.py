from __future__ import annotations

import time

import pytest

from construction.sessions.redactions import (
    find_redactions,
    holds_mark,
    host_of,
    is_restorable,
    without_scheme,
)


def marks_in(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_redactions(text)]


@pytest.mark.parametrize(
    "mark",
    [
        "[REDACTED]",
        "[redacted]",
        "[Redacted]",
        "[REDACTED_USER_PROMPT]",
        "[redacted-session-key:e0b76af3]",
        "[REDACTED EMAIL]",
        "[EMAIL_REDACTED]",
        "<REDACTED>",
        "<redacted:token>",
        "<opaque>",
        "user_1a2b3c4d",
        "sk-********",
        "[已脱敏]",
        "【客户姓名已隐去】",
        "[链接已删除]",
        "REDACTED_TOKEN",
    ],
)
def test_marks(mark: str) -> None:
    assert marks_in(f"send it to {mark} today") == [mark]


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "*** Begin Patch",
        "this is **bold** and ***both***",
        "text ... (truncated)",
        "see the [redacted version](https://a.example/x)",
        "the redacted report is out",
        "a page stamped REDACTED is useless",
        "Replace every name with [REDACTED].",
        "mask phone numbers as [REDACTED] and keep the rest",
        "what does `[REDACTED]` mean here?",
        "请把姓名替换为[REDACTED]",
        "user_guide and user_12345678x",
        "glob **/*.py and ****",
    ],
)
def test_what_is_no_mark(text: str) -> None:
    assert marks_in(text) == []
    assert not holds_mark(text)


@pytest.mark.parametrize(
    ("text", "url", "parts"),
    [
        (
            "a https://d.example/x/[REDACTED] b",
            "https://d.example/x/[REDACTED]",
            ("d.example/x/", ""),
        ),
        (
            "(https://d.example/[REDACTED]/y).",
            "https://d.example/[REDACTED]/y",
            ("d.example/", "/y"),
        ),
        ("https://****/[redacted]", "https://****/[redacted]", ("", "/", "")),
        ("http://[REDACTED]:8080/r", "http://[REDACTED]:8080/r", ("", ":8080/r")),
        ("d.example/[REDACTED]，请看", "d.example/[REDACTED]", ("d.example/", "")),
        (
            "https://d.example/%5BREDACTED%5D",
            "https://d.example/%5BREDACTED%5D",
            ("d.example/", ""),
        ),
        ("https://d.example/***/x!", "https://d.example/***/x", ("d.example/", "/x")),
    ],
)
def test_a_url_with_marks_is_one_span(text: str, url: str, parts: tuple[str, ...]) -> None:
    (span,) = find_redactions(text)
    assert text[span.start : span.end] == url
    assert span.parts == parts


def test_spans_come_in_order() -> None:
    text = "[REDACTED] wrote https://a.example/[REDACTED] to user_0011aabb"
    assert marks_in(text) == ["[REDACTED]", "https://a.example/[REDACTED]", "user_0011aabb"]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("[REDACTED][REDACTED]", [(0, 10, ()), (10, 20, ())]),
        ("[REDACTED] [REDACTED]", [(0, 10, ()), (11, 21, ())]),
        ("[REDACTED]user_0011aabb", [(0, 10, ()), (10, 23, ())]),
        ("user_0011aabb[REDACTED]", [(0, 13, ()), (13, 23, ())]),
        ("https://a.example/[REDACTED][REDACTED]", [(0, 38, ("a.example/", "", ""))]),
        (
            "https://a.example/[REDACTED] [REDACTED]",
            [(0, 28, ("a.example/", "")), (29, 39, ())],
        ),
        ("[REDACTED]https://a.example/[REDACTED]", [(0, 10, ()), (10, 38, ("a.example/", ""))]),
    ],
)
def test_adjacent_redactions_are_parted_only_where_no_url_holds_both(
    text: str, spans: list[tuple[int, int, tuple[str, ...]]]
) -> None:
    assert [(span.start, span.end, span.parts) for span in find_redactions(text)] == spans


@pytest.mark.parametrize(
    "text",
    [
        "[REDACTED_" + "a_" * 150_000,
        "A_" * 150_000 + "REDACT***",
        "[A A A " * 60_000 + "REDACTED",
        "https://a.example/*** [REDACTED] " * 8_000,
        "a." * 200_000 + "***",
        "user_" * 80_000,
    ],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    start = time.process_time()
    find_redactions(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "url",
    ["https://docs.example.com/a", "http://8.8.8.8/x", "https://例子.中国/x", "https://a.io:8443/"],
)
def test_public(url: str) -> None:
    assert is_restorable(url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example.com/x",
        "http://wiki/page",
        "http://localhost:8080/",
        "http://build.corp/x",
        "http://nas.local/x",
        "http://10.1.2.3/x",
        "http://169.254.169.254/latest",
        "http://2130706433/x",
        "http://0x7f.1/x",
        "http://[::1]/x",
        "https://me:pw@a.example.com/x",
        "https://a.example.com/x?token=abc",
        "https://a.example.com/x?a=1&X-Amz-Signature=abc",
    ],
)
def test_private_or_secret(url: str) -> None:
    assert not is_restorable(url)


def test_host_in_lower_case_with_port() -> None:
    assert host_of("https://Docs.Example.com:8080/a") == "docs.example.com:8080"
    assert host_of("docs.example.com") == "docs.example.com"
    assert host_of("https://me@a.example.com/") is None
    assert without_scheme("HTTP://a.example/x") == "a.example/x"
