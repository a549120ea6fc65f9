"""Secrets in generated texts of our own: tokens of many forms, and values that are none.

The tokens are drawn from the character sets and lengths that providers use, and stand in sentences
without a word for a secret. The harmless values are hashes, identifiers, names of builds and files,
placeholders and long words, where logs, lock files, code and people put them. Nothing here is taken
from the labelled set; the sentences were written before the figures were seen.
"""

from __future__ import annotations

import string
import uuid
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from anonymization.text.secrets.find_secrets import find_secrets

_SEED, _DRAWN = 11, 30
_HEX, _LOWER = string.digits + "abcdef", string.ascii_lowercase + string.digits
_MIXED = string.ascii_letters + string.digits
_NEUTRAL = (
    "Could you try {} on the staging box?",
    "Ming gave me {} yesterday and it still works.",
    "{} should do, paste it into the form.",
    "I keep {} for the nightly job.",
    "It only accepts {} since Monday, no idea why.",
    "What they mailed me on Friday reads {} and nothing else.",
    "老板给的是{}，先用着",
    "把{}填进去再试一次",
    "他昨天让我用{}，现在还能用吗",
)
_LENGTHS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "hexadecimal": (_HEX, (24, 32, 40, 64)),
    "small letters and digits": (_LOWER, (14, 16, 20, 24, 32, 40, 64)),
    "letters of both cases and digits": (_MIXED, (15, 16, 20, 24, 32, 40, 50, 64)),
    "with _ and -": (_MIXED + "_-", (20, 32, 43, 64)),
    "small with _ and -": (_LOWER + "_-", (20, 32, 40)),
    "with = inside": (_LOWER + "=_-", (32, 40)),
    "capitals and digits": (string.ascii_uppercase + string.digits, (16, 20, 26)),
    "digits": (string.digits, (16, 18, 32)),
}
# Frames of harmless values: {h40} hexadecimal, {u} a UUID, {b} base64, {p} the end of a pod's name.
_HARMLESS = (
    "commit {h40}", "Merge {h40} into main and rebuild", "git checkout {h12} -- src/app.py",
    "HEAD is now at {h12} Fix the parser", "sha256:{h64}", "image digest sha256:{h64} pulled",
    '"integrity": "sha512-{b64}"', "etag: W/\"{h32}\"", "md5 of the file is {h32}",
    "The checksum {h64} does not match the file", "request {u} failed after 3 retries",
    '"id": "{u}",', "Resuming session {u} from yesterday", "GET /api/runs/{u}/logs 200",
    "/var/lib/docker/overlay2/{h64}/merged", "pod web-{p} restarted twice today",
    "trace_id={h32} span_id={h16}", "Row {u} was updated by the job", "build {h12} is green again",
    "data:image/png;base64,{b64}", "parentUuid: {u}", "The message id is <{u}@mail.example>",
    "resolved \"https://registry.example/x/-/x-1.2.3.tgz#{h40}\"", "index {h7}..{h7b} 100644",
    "api_key = \"YOUR_API_KEY\"", "export TOKEN=<paste your token here>", "password: changeme",
    "client_secret: ${{CLIENT_SECRET}}", "--token $GITHUB_TOKEN", "password = input('Password: ')",
    "token = tokenizer.encode(text)[0]", "secret_key_base: xxxxxxxxxxxxxxxxxxxx",
    "Please read the Weihnachtsmarktplanung2025 before our meeting tomorrow",
    "Die Grundstücksverkehrsgenehmigungszuständigkeit2024 steht im Anhang dazu",
    "We moved Kraftfahrzeughaftpflichtversicherung2 to the other tab",
    "Use numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.whl on the server please",
    "We compared meta-llama-3-70b-instruct with qwen2-72b-instruct last week",
    "See test_password_reset_token_2024 in the suite, it fails",
    "The key idea of chapter 3 is trust", "ticket PROJ-20417 and order 4500012345",
    "getUserTokenById2 calls refreshAccessTokenV3 twice in a row",
    "model claude-sonnet-4-5-20250929 answered in 3 seconds", "he typed password twice and gave up",
    "密码不能为空，请重新输入", "令牌已过期，请重新登录", "提交 {h40} 已合并", "会话 {u} 已恢复",
)  # fmt: skip


def own_figures() -> dict[str, Any]:
    """Macro recall of drawn tokens over their forms, and the share of harmless texts flagged."""
    rng = np.random.default_rng(_SEED)
    forms = _forms(rng)
    hits = {
        name: [
            _covers(frame.format(value), value)
            for value in (draw() for _ in range(_DRAWN))
            for frame in _NEUTRAL
        ]
        for name, draw in forms.items()
    }
    texts = [text for _ in range(_DRAWN) for text in _harmless(rng)]
    flagged = sum(bool(find_secrets(text)) for text in texts)
    return {
        "forms of tokens": len(forms),
        "neutral sentences, macro recall": round(
            sum(sum(each) / len(each) for each in hits.values()) / len(hits), 4
        ),
        "harmless texts": len(texts),
        "harmless texts flagged": round(flagged / len(texts), 4),
    }


def _forms(rng: np.random.Generator) -> dict[str, Callable[[], str]]:
    forms: dict[str, Callable[[], str]] = {
        f"{name} {size}": partial(_drawn, rng, chars, size)
        for name, (chars, sizes) in _LENGTHS.items()
        for size in sizes
    }
    forms["UUID"] = lambda: _uuid(rng)
    forms["password"] = lambda: (
        _drawn(rng, _MIXED, 5) + "k7R" + _drawn(rng, "!@#$%&*?", 1) + _drawn(rng, _MIXED, 4)
    )
    forms["two parts"] = lambda: _drawn(rng, _MIXED, 20) + "." + _drawn(rng, _MIXED, 24)
    for size in (20, 32, 48, 64):
        forms[f"base64 of {size}"] = partial(_base64, rng, size)
    return forms


def _base64(rng: np.random.Generator, size: int) -> str:
    return b64encode(rng.bytes(size)).decode()


def _harmless(rng: np.random.Generator) -> list[str]:
    values = {f"h{size}": _drawn(rng, _HEX, size) for size in (7, 12, 16, 32, 40, 64)}
    values |= {
        "h7b": _drawn(rng, _HEX, 7),
        "u": _uuid(rng),
        "b64": b64encode(rng.bytes(64)).decode(),
    }
    values["p"] = _drawn(rng, "bcdf2456789", 10) + "-" + _drawn(rng, "bcdf2456789", 5)
    return [frame.format(**values) for frame in _HARMLESS]


def _drawn(rng: np.random.Generator, chars: str, size: int) -> str:
    return "".join(rng.choice(list(chars), size))


def _uuid(rng: np.random.Generator) -> str:
    return str(uuid.UUID(bytes=rng.bytes(16), version=4))


def _covers(text: str, secret: str) -> bool:
    start = text.index(secret)
    return any(one.start <= start and start + len(secret) <= one.end for one in find_secrets(text))
