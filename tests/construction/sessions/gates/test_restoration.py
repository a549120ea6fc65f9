from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.gates.restoration import (
    GATE,
    RestorationConfig,
    RestorationReason,
    RestoredSpan,
    _find_redactions,
    _host_of,
    _is_restorable,
    _MatchStrategy,
    _RestorationStatus,
    _without_scheme,
    apply,
    audit_row,
    holds_mark,
    measure,
)
from data.canonical import keyed_digest
from data.contracts import Attachment, Status
from tests.construction.sessions.instances import said

REPORT = "https://docs.example.com/reports/2024/q3"
WIKI = "https://docs.example.com/wiki/start"
OTHER = "https://blog.example.org/post"


def only(text: str, *urls: str) -> RestoredSpan:
    (span,) = measure(said(text, urls=urls))
    return span


@pytest.mark.parametrize(
    ("redacted", "urls", "strategy", "value"),
    [
        ("https://docs.example.com/[REDACTED]", [REPORT, OTHER], "only_url_of_host", REPORT),
        ("http://DOCS.example.com/[REDACTED]", [REPORT], "only_url_of_host", REPORT),
        ("docs.example.com/[REDACTED]", [REPORT], "only_url_of_host", REPORT),
        ("https://docs.example.com/reports/[REDACTED]", [REPORT, WIKI], "url_prefix", REPORT),
        ("https://docs.example.com/[REDACTED]/q3", [REPORT, WIKI], "url_suffix", REPORT),
        (
            "https://docs.example.com/reports/[REDACTED]/q3",
            [REPORT, WIKI],
            "url_prefix_and_suffix",
            REPORT,
        ),
        ("https://docs.example.com/***/2024/***", [REPORT, WIKI], "url_suffix", REPORT),
        ("https://docs.example.com/r[REDACTED]", [REPORT, WIKI], "url_prefix", REPORT),
        ("https://docs.example.com[REDACTED]", [REPORT], "only_url_of_host", REPORT),
        ("https://docs.example.com[REDACTED]/q3", [REPORT, WIKI], "url_suffix", REPORT),
        # the same page in other notations is one URL
        (
            "https://docs.example.com/[REDACTED]",
            [REPORT, REPORT + "/", REPORT + "#top", REPORT.replace("https", "http")],
            "only_url_of_host",
            REPORT,
        ),
    ],
)
def test_restored(redacted: str, urls: list[str], strategy: str, value: str) -> None:
    span = only(f"Summarise {redacted} please", *urls)
    assert (span.match_strategy, span.value) == (strategy, value)
    by_host = strategy == "only_url_of_host"
    assert span.status == ("restored_by_host" if by_host else "restored_by_context")
    assert 0.5 < span.confidence < 1


@pytest.mark.parametrize(
    ("redacted", "urls", "strategy"),
    [
        ("[REDACTED]", [REPORT], "not_a_url"),
        ("http://[REDACTED]:8080/r", [REPORT], "host_redacted"),
        ("https://docs.[REDACTED].com/reports", [REPORT], "host_redacted"),
        ("https://docs.example.com[REDACTED]x/q3", [REPORT], "host_redacted"),
        ("https://me:[REDACTED]@docs.example.com/x", [REPORT], "host_redacted"),
        ("https://docs.example.com/[REDACTED]", [OTHER], "no_candidate"),
        ("https://docs.example.com/[REDACTED]", [], "no_candidate"),
        ("https://docs.example.com/[REDACTED]", [REPORT, WIKI], "ambiguous"),
        ("https://docs.example.com/blog/[REDACTED]", [REPORT], "context_contradicts"),
        ("https://docs.example.com:8443/[REDACTED]", [REPORT], "no_candidate"),
        ("http://wiki/[REDACTED]", ["http://wiki/start"], "no_candidate"),
        ("http://10.0.0.7/[REDACTED]", ["http://10.0.0.7/start"], "no_candidate"),
        ("https://a.example.com/[REDACTED]", ["https://a.example.com/x?token=1"], "no_candidate"),
        # a URL that is redacted itself restores nothing
        (
            "https://docs.example.com/[REDACTED]",
            ["https://docs.example.com/[REDACTED]"],
            "no_candidate",
        ),
    ],
)
def test_unrecoverable(redacted: str, urls: list[str], strategy: str) -> None:
    span = only(f"Summarise {redacted} please", *urls)
    assert (span.status, span.match_strategy) == ("unrecoverable", strategy)
    assert (span.value, span.confidence) == (None, 0.0)


@pytest.mark.parametrize(
    ("redacted", "path", "fits"),
    [
        ("a[REDACTED]b", "axb", True),
        ("a[REDACTED]b", "ab", False),
        ("a[REDACTED]", "ax", True),
        ("a[REDACTED]", "a", False),
        ("a[REDACTED]", "bx", False),
        ("[REDACTED]b", "xa", False),
        ("a***b***c", "axbyc", True),
        ("a***b***c", "abyc", False),
        ("a***b***c", "axbc", False),
        ("a***b***c", "axyc", False),
        ("a***bb***c", "axbbyc", True),
        ("a***bb***c", "axbbc", False),
        ("a***b***d***c", "axbydzc", True),
        ("a***b***d***c", "axbdzc", False),
        ("a***b***d***c", "axdybzc", False),
    ],
)
def test_each_mark_stands_for_a_character_or_more(redacted: str, path: str, fits: bool) -> None:
    url = f"https://docs.example.com/{path}"
    span = only(f"https://docs.example.com/{redacted} please", url)
    assert span.value == (url if fits else None)
    assert fits or span.match_strategy is _MatchStrategy.CONTRADICTED


@pytest.mark.parametrize(
    ("redacted", "confidence"),
    [("[REDACTED]", 0.75), ("reports/[REDACTED]", 0.9), ("reports/[REDACTED]/q3", 0.95)],
)
def test_the_more_is_left_of_a_url_the_surer_is_what_it_was(
    redacted: str, confidence: float
) -> None:
    assert only(f"https://docs.example.com/{redacted}", REPORT).confidence == confidence


def test_of_several_notations_the_plainest_is_restored() -> None:
    redacted = "https://docs.example.com/[REDACTED]"
    assert only(redacted, REPORT + "/", REPORT + "#top").value == REPORT + "/"
    assert only(redacted, REPORT.replace("https", "http"), REPORT).value == REPORT


def test_adjacent_redactions_are_one_span_each_mark_of_it_something() -> None:
    (span,) = measure(said("https://docs.example.com/[REDACTED][REDACTED]", urls=[WIKI]))
    assert (span.start, span.end, span.value) == (0, 45, WIKI)
    first, second = measure(said("[REDACTED] [REDACTED]", urls=[WIKI]))
    assert ((first.start, first.end), (second.start, second.end)) == ((0, 10), (11, 21))


def test_of_two_attachments_the_redacted_one_is_named_by_its_position() -> None:
    attachments = [Attachment("plan.docx"), Attachment(None), Attachment("[REDACTED]/x.docx")]
    (span,) = measure(said("read it", attachments=attachments))
    assert (span.turn, span.field_path) == (0, "user_turns[0].attachments[2].path[0:10]")


def test_field_path_and_offsets_point_at_the_span() -> None:
    instance = said("first", "see https://docs.example.com/[REDACTED]", urls=[REPORT])
    (span,) = measure(instance)
    assert span.field_path == "user_turns[1].said[4:39]"
    assert instance.user_turns[span.turn].said[span.start : span.end].endswith("[REDACTED]")


def test_a_redacted_attachment_path_counts_unless_its_content_is_at_hand() -> None:
    gone = Attachment("/root/[REDACTED]/x.docx")
    inline = Attachment("[REDACTED].png", "image/png", "aGk=")
    (span,) = measure(said("read it", attachments=[gone, inline]))
    assert span.field_path == "user_turns[0].attachments[0].path[6:16]"
    assert span.status is _RestorationStatus.UNRECOVERABLE


def test_one_lost_span_rejects() -> None:
    instance = said(
        "compare https://docs.example.com/[REDACTED] with what [REDACTED] said", urls=[REPORT]
    )
    verdict = GATE.judge(measure(instance), RestorationConfig())
    assert (verdict.status, verdict.reason) == (Status.FAILED, RestorationReason.UNRECOVERABLE)
    assert (verdict.observed, verdict.limit) == (1, 0)
    assert verdict.measures == {
        "redacted": 2,
        "restored_by_context": 0,
        "restored_by_host": 1,
        "unrecoverable": 1,
    }
    assert (
        GATE.judge(measure(instance), RestorationConfig(max_unrecoverable=1)).status
        is Status.PASSED
    )


def test_nothing_redacted_passes() -> None:
    verdict = GATE.judge(measure(said("plain")), RestorationConfig())
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0)


def test_apply_puts_restored_urls_in_place_and_leaves_the_rest() -> None:
    instance = said(
        "first https://docs.example.com/[REDACTED], then [REDACTED] and "
        "https://docs.example.com/[REDACTED] again",
        urls=[REPORT],
    )
    restored = apply(instance, measure(instance))
    expected = f"first {REPORT}, then [REDACTED] and {REPORT} again"
    assert restored.user_turns[0].said == expected
    assert restored.user_turns[0].text == expected
    assert apply(said("plain"), ()) == said("plain")


def test_a_span_inside_a_longer_one_is_no_span_of_its_own() -> None:
    report, start = f"{REPORT}/report.pdf", f"{REPORT}/index.html"
    other = "https://blog.example.org/[REDACTED]"
    words = "open https://docs.example.com/[REDACTED] and https://docs.example.com/[REDACTED]/{}"
    instance = said(words.format("report.pdf") + f" but not {other}", urls=[report])
    instance = replace(
        instance,
        user_turns=(replace(instance.user_turns[0], text=f"> {instance.user_turns[0].said}"),),
    )
    restored = apply(instance, measure(instance)).user_turns[0]
    expected = f"open {report} and {report} but not {other}"
    assert (restored.said, restored.text) == (expected, f"> {expected}")
    ambiguous = said(words.format("nowhere"), urls=[REPORT, start])
    assert apply(ambiguous, measure(ambiguous)) == ambiguous
    half = said(words.format("nowhere"), urls=[REPORT])
    kept = "https://docs.example.com/[REDACTED]/nowhere"
    assert apply(half, measure(half)).user_turns[0].text == f"open {REPORT} and {kept}"


def test_the_audit_row_and_the_repr_hold_no_value() -> None:
    span = only("see https://docs.example.com/[REDACTED]", REPORT)
    row = audit_row(span, b"k" * 32)
    assert row["value_hmac"] == keyed_digest(b"k" * 32, REPORT)
    assert "reports" not in repr(row) + repr(span)
    assert audit_row(only("[REDACTED]"), b"k" * 32)["value_hmac"] is None


def test_order_of_session_urls_does_not_matter() -> None:
    text = "https://docs.example.com/[REDACTED]"
    urls = [REPORT, REPORT + "#a", REPORT.replace("https", "http")]
    assert only(text, *urls) == only(text, *reversed(urls))


PATHS = st.lists(st.sampled_from(["a", "b", "x-1", "报告"]), min_size=1, max_size=4).map("/".join)


@given(PATHS, st.integers(0, 3), st.integers(0, 3))
def test_a_single_url_is_restored_whatever_was_cut_out(path: str, before: int, right: int) -> None:
    url = f"https://docs.example.com/{path}"
    tail = path[len(path) - min(right, len(path) - 1) :] if right else ""
    head = path[: min(before, len(path) - len(tail) - 1)]
    redacted = f"https://docs.example.com/{head}[REDACTED]{tail}"
    if not redacted.isascii():
        return  # letters of Chinese end a URL in running text
    span = only(redacted, url)
    assert span.value == url
    assert span.match_strategy in (
        _MatchStrategy.ONLY_URL_OF_HOST,
        _MatchStrategy.PREFIX,
        _MatchStrategy.SUFFIX,
        _MatchStrategy.PREFIX_AND_SUFFIX,
    )


def marks_in(text: str) -> list[str]:
    return [text[span.start : span.end] for span in _find_redactions(text)]


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
    (span,) = _find_redactions(text)
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
    assert [(span.start, span.end, span.parts) for span in _find_redactions(text)] == spans


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
    _find_redactions(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "url",
    ["https://docs.example.com/a", "http://8.8.8.8/x", "https://例子.中国/x", "https://a.io:8443/"],
)
def test_public(url: str) -> None:
    assert _is_restorable(url)


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
    assert not _is_restorable(url)


def test_host_in_lower_case_with_port() -> None:
    assert _host_of("https://Docs.Example.com:8080/a") == "docs.example.com:8080"
    assert _host_of("docs.example.com") == "docs.example.com"
    assert _host_of("https://me@a.example.com/") is None
    assert _without_scheme("HTTP://a.example/x") == "a.example/x"
