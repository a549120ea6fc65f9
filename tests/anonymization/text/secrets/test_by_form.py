"""Secrets that their form alone reveals."""

from __future__ import annotations

import random
import string

import pytest

from anonymization.text.secrets.by_form import find_prefixed
from anonymization.text.secrets.find_secrets import find_secrets


def _drawn(count: int, letters: str) -> str:
    return "".join(random.Random(1).choices(letters, k=count))


@pytest.mark.parametrize(
    "token",
    ["GOOG1E" + _drawn(20, string.ascii_uppercase), "sbp_v0_" + _drawn(40, "0123456789abcdef")],
)
def test_of_forms_that_both_fit_only_the_one_with_the_longer_prefix_counts(token: str) -> None:
    finding, *others = find_prefixed(token, token.lower())
    assert (finding.start, finding.end) == (0, len(token))
    assert not others


def test_a_prefix_inside_of_a_token_begins_no_other() -> None:
    token = "00-BSA" + _drawn(36, string.ascii_letters)
    inner = token[3:]
    assert [finding.start for finding in find_prefixed(inner, inner.lower())] == [0]
    assert [finding.start for finding in find_prefixed(token, token.lower())] == [0]


_BASE32 = string.ascii_uppercase + "234567"
_URL_SAFE = string.ascii_letters + string.digits + "-_"
_CRYPT = string.ascii_letters + string.digits + "./"


@pytest.mark.parametrize(
    "token",
    [
        "xoxa-2-" + "-".join([_drawn(12, string.digits)] * 2 + [_drawn(32, "0a1b2c3d4e5f")]),
        "llx-" + _drawn(48, string.ascii_letters + string.digits),
        "SU" + _drawn(56, _BASE32),
        "SA" + _drawn(56, _BASE32),
        "$2b$12$" + _drawn(53, _CRYPT),
        f"$6${_drawn(16, _CRYPT)}${_drawn(86, _CRYPT)}",
        f"$argon2id$v=19$m=65536,t=3,p=4${_drawn(22, _CRYPT[:-2])}${_drawn(43, _CRYPT[:-2])}",
    ],
)
def test_tokens_and_hashes_of_passwords_are_found_without_a_word_for_them(token: str) -> None:
    text = f"line one\n{token}\nline three"
    (finding,) = find_secrets(text)
    assert text[finding.start : finding.end] == token
    assert not find_secrets(text.replace(token, token[:9]))


def test_of_an_account_dump_the_hashes_are_found() -> None:
    hashes = f"{_drawn(32, '0123456789abcdef')}:{_drawn(32, '0123456789abcdef')}"
    text = f"Guest:501:{hashes}:::"
    (finding,) = find_secrets(text)
    assert text[finding.start : finding.end] == hashes
    assert not find_secrets(f"sizes {hashes[:20]}:{hashes[:20]}:::")


@pytest.mark.parametrize("quote", ['"', '\\"'])
def test_of_a_json_web_key_the_private_members_are_found(quote: str) -> None:
    members = {"kty": "EC", "x": _drawn(43, _URL_SAFE), "d": _drawn(44, _URL_SAFE)[1:]}
    text = ",".join(f"{quote}{name}{quote}:{quote}{v}{quote}" for name, v in members.items())
    keys = [f for f in find_secrets(text) if f.recognizer == "secret.json-web-key"]
    assert [text[f.start : f.end] for f in keys] == [members["d"]]
    others = find_secrets(text.replace("kty", "shape"))
    assert "secret.json-web-key" not in {f.recognizer for f in others}


@pytest.mark.parametrize("escape", ["\x1b", "\\x1b", "\\u001b"])
def test_colours_of_a_terminal_do_not_hide_a_token(escape: str) -> None:
    token = "glpat-" + _drawn(20, string.ascii_letters + string.digits)
    shown = f"{token[:12]}{escape}[1;32m{token[12:]}"
    text = f"{escape}[31mtoken{escape}[0m {shown}{escape}[0m end"
    (finding,) = find_secrets(text)
    assert text[finding.start : finding.end] == shown


@pytest.mark.parametrize(
    ("lead", "token"),
    [
        ("https://api.telegram.org/bot", "5182326485:AAHrshec7_4VQjU2pjeDni1kR7j9lfnxfz4"),
        ("https://hooks.slack.com/services/", "T02KQ71MD/B09QWX3RT/kT7rQ2mZ9xW4vB8nC5dF3gH6"),
        ("https://discord.com/api/webhooks/", "918273645546372819/" + "kT7rQ2mZ9xW4vB8nC5dF" * 3),
    ],
)
def test_the_address_of_a_service_is_no_part_of_the_token_in_it(lead: str, token: str) -> None:
    text = f"curl -X POST {lead}{token}"
    (secret,) = find_secrets(text)
    assert text[secret.start : secret.end] == token
