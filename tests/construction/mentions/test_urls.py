"""Finding, parsing and comparing URLs."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.mentions.urls import find_urls, normalise, parse_url


def urls(text: str) -> list[str]:
    return [mention.url for mention in find_urls(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://a.example/x.", ["https://a.example/x"]),
        (
            "https://a.example/x; https://a.example/y!",
            ["https://a.example/x", "https://a.example/y"],
        ),
        (
            "[text](https://a.example/p),[more](https://b.example/q)",
            ["https://a.example/p", "https://b.example/q"],
        ),
        ("(see https://a.example/x_(y)).", ["https://a.example/x_(y)"]),
        ("https://a.example/x_(y", ["https://a.example/x"]),
        ("<https://a.example/x|label>", ["https://a.example/x"]),
        ("&lt;https://a.example/x&gt; and", ["https://a.example/x"]),
        ("https://a.example/?a=1&amp;b=2", ["https://a.example/?a=1&b=2"]),
        (
            "['https://a.example/x','https://b.example/y']",
            ["https://a.example/x", "https://b.example/y"],
        ),
        (
            "**https://a.example/x** `https://b.example`",
            ["https://a.example/x", "https://b.example"],
        ),
        ("https://a.example/q?x[0]=1", ["https://a.example/q?x[0]=1"]),
        ("https://a.example/web/https://b.example/", ["https://a.example/web/https://b.example/"]),
        ("https://a.example/xhttps://b.example/y", ["https://a.example/x", "https://b.example/y"]),
        ("http://http://a.example", ["http://a.example"]),
        (r"https://a.example\nnext", ["https://a.example"]),
        ("HTTPS://A.example:8080/x", ["HTTPS://A.example:8080/x"]),
        ("http://a.example:80:90/", ["http://a.example:80"]),
    ],
)
def test_punctuation_and_markup_end_a_url(text: str, expected: list[str]) -> None:
    assert urls(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("请看https://a.example/p/3这篇文章", ["https://a.example/p/3"]),
        ("见https://a.example。谢谢", ["https://a.example"]),
        (
            "https://a.example/x，https://b.example/y、https://c.example/z",
            ["https://a.example/x", "https://b.example/y", "https://c.example/z"],
        ),
        (
            "（https://a.example/x）《https://b.example》",
            ["https://a.example/x", "https://b.example"],
        ),
        ("https://a.example.谢谢", ["https://a.example"]),
        ("https://a.example/下载/a.pdf", ["https://a.example/下载/a.pdf"]),
        ("https://a.example/报告.pdf。", ["https://a.example/报告.pdf"]),
        ("https://a.example/看一下", ["https://a.example/"]),
        ("https://例子.测试/a", ["https://例子.测试/a"]),
        ("https://example.中国/a", ["https://example.中国/a"]),
        ("https://这里填写链接", []),
        ("访问www.a.example吧", ["http://www.a.example"]),
    ],
)
def test_cjk_text_ends_a_url(text: str, expected: list[str]) -> None:
    assert urls(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "mail me@www.a.example or a.example/x",
        "ftp://a.example/x mailto:me@a.example file:///etc/passwd",
        "http:// https://... http://[REDACTED]:8080/r https://****/x",
        "www. www.example www.2024",
        "",
    ],
)
def test_what_is_no_url(text: str) -> None:
    assert urls(text) == []


def test_www_names_become_http_urls() -> None:
    assert urls("www.a.example/x Www.b.example, WWW.C.EXAMPLE.") == [
        "http://www.a.example/x",
        "http://Www.b.example",
        "http://WWW.C.EXAMPLE",
    ]


def test_positions_point_at_the_text() -> None:
    text = "Read (https://a.example/x), then www.b.example."
    assert [text[m.start : m.end] for m in find_urls(text)] == [
        "https://a.example/x",
        "www.b.example",
    ]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://A.Example:443/X#frag", "https://a.example/X"),
        ("http://a.example.:80", "http://a.example/"),
        ("https://me:secret@a.example/x", "https://a.example/x"),
        ("https://10.0.0.1@a.example/", "https://a.example/"),
        ("http://a@b@c.example/", "http://c.example/"),
        ("https://bücher.example/ä b?q=ü", "https://xn--bcher-kva.example/%C3%A4%20b?q=%C3%BC"),
        ("https://例子.测试/", "https://xn--fsqu00a.xn--0zwm56d/"),
        ("https://a.example/%e4%b8%ad", "https://a.example/%E4%B8%AD"),
        ("http://a.example\\@b.example/", "http://a.example/@b.example/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.1/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://１２７。０。０。１/", "http://127.0.0.1/"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
        ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
        ("http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]:8080/"),
    ],
)
def test_normalise(url: str, expected: str) -> None:
    assert normalise(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "http:///x",
        "http://a b.example/",
        "http://a.example:70000/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://4294967296/",
        "http://08.0.0.1/",
        "http://a.1/",
        "http://[fe80::1%25eth0]/",
        "http://[::1/",
        "http://a..example/",
        "http://%2f.example/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/",
        "http://a.example/" + "x" * 9000,
    ],
)
def test_what_no_client_could_request_is_not_parsed(url: str) -> None:
    assert parse_url(url) is None


HOSTILE = st.text(alphabet=st.sampled_from(list("htps:/w.@[]()'&;%#?\\a1中。１①é\u200b \n\ud800")))


@given(st.one_of(HOSTILE, HOSTILE.map(lambda text: f"http://{text}"), st.text()))
def test_any_text_is_taken_and_the_normal_form_is_stable(text: str) -> None:
    previous = 0
    for mention in find_urls(text):
        assert previous <= mention.start < mention.end <= len(text)
        previous = mention.end
        assert mention.url.lower().startswith(("http://", "https://"))
    once = normalise(text)
    assert normalise(once) == once


@given(st.one_of(HOSTILE, st.text()))
def test_parsed_urls_hold_nothing_that_could_break_a_request(text: str) -> None:
    parsed = parse_url(f"http://a.example/{text}")
    host_only = parse_url(f"http://{text}")
    for url in (parsed, host_only):
        if url is not None:
            assert re.fullmatch(r"[a-z0-9_.:-]+", url.host)
            assert re.fullmatch(r"/[!-~]*", url.target)


@pytest.mark.parametrize(
    "unit",
    [
        "http://",
        "http://a.b/(",
        "http://a/(b(x)",
        "www.中",
        "www.",
        "http://a.b/x",
        "http://a.b/)",
        "a@",
        "http://a.b/中-",
        "-中",
        "http://中",
        "http://a.b/&lt",
        "http://a:1",
        "((",
        "([",
        "http://a.b/'",
    ],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    """320 KB take well under a second each; quadratic work would take a minute."""
    text = "http://a.b/" + unit * (320_000 // len(unit))
    started = time.process_time()
    find_urls(text)
    assert time.process_time() - started < 5
