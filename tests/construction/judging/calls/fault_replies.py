"""What the fault server says to a chat completion."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_ITEM = re.compile(r"item=(\S+)")
_PLAN = re.compile(r"plan=(\S+)")
_STATUS = frozenset({"400", "401", "402", "403", "404", "429", "500", "503"})


@dataclass(frozen=True)
class Said:
    """One HTTP answer; `content` None: the connection is dropped, `sent`: after so many bytes."""

    status: int
    content: bytes | None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    sent: int | None = None

    @staticmethod
    def of(status: int, document: Any, **more: Any) -> Said:
        headers = {"Content-Type": "application/json", **more.pop("headers", {})}
        return Said(status, json.dumps(document).encode(), headers=headers, **more)


class Counts:
    """What was asked and what was billed."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()  # requests, by item
        self.served: Counter[str] = Counter()  # replies that were billed, by item
        self.delivered: Counter[str] = Counter()  # good replies that were sent in full, by item
        self.shapes: Counter[str] = Counter()
        self.tokens = 0
        self.most_at_once = 0
        self.authorizations: set[str] = set()
        self.bodies: list[Any] = []

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "served": self.served,
            "delivered": self.delivered,
            "shapes": self.shapes,
            "tokens": self.tokens,
            "authorizations": sorted(self.authorizations),
            "bodies": self.bodies[-20:],
        }


def shape_of(body: Mapping[str, Any]) -> str:
    wanted: Mapping[str, Any] = (
        body.get("response_format") or body.get("text", {}).get("format") or {}
    )
    return str(wanted.get("type", "text"))


def text_of(body: Mapping[str, Any]) -> str:
    """The first user message: what the question says."""
    messages = body.get("messages") or body["input"]
    content = next(said["content"] for said in messages if said["role"] == "user")
    return content if isinstance(content, str) else str(content[0]["text"])


def say(path: str, body: Mapping[str, Any], counts: Counts) -> Said:
    """The answer to one call."""
    text, shape = text_of(body), shape_of(body)
    actual = _ITEM.search(text)
    item = actual.group(1) if actual else "?"
    counts.calls[item] += 1
    counts.shapes[shape] += 1
    counts.bodies = [*counts.bodies[-19:], body]
    refused = _refusal(path, shape, body)
    if refused is not None:
        return refused
    plan = _PLAN.search(text)
    steps = plan.group(1).split(",") if plan else ["ok"]
    step = steps[min(counts.calls[item], len(steps)) - 1]
    return _step(step, item, shape, body, counts, heed="/ignores/" not in path or shape == "text")


def _refusal(path: str, shape: str, body: Mapping[str, Any]) -> Said | None:
    """Endpoints that do not take every request."""
    if "/noschema/" in path and shape == "json_schema":
        return _error(500, "Input should be 'text' or 'json_object'", None)
    if "/wordsonly/" in path and shape != "text":
        return _error(400, "response_format is not supported", "unsupported_parameter")
    if "/newstyle/" in path and "max_tokens" in body:
        message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return _error(400, message, "unsupported_parameter")
    for setting in ("temperature", "seed", "reasoning_effort") if "/strict/" in path else ():
        if setting in body:
            return _error(400, f"'{setting}' takes its default only.", "unsupported_value")
    return None


def _step(
    step: str, item: str, shape: str, body: Mapping[str, Any], counts: Counts, *, heed: bool
) -> Said:
    """One step of a plan. A dropped or broken reply was billed all the same."""
    name, _, seconds = step.partition(":")
    if name == "toolong":
        return _error(400, "This model's maximum context length is 9 tokens.", None)
    if name == "blocked":
        return _error(400, "a secret message", "content_filter")
    if name == "quota":
        return _error(429, "a secret message", "insufficient_quota")
    if name in _STATUS:
        headers = {"Retry-After": seconds} if seconds else {}
        return _error(int(name), "a secret message", "some_code", headers)
    counts.served[item] += 1
    usage = {"prompt_tokens": len(text_of(body)) // 4 + 50, "completion_tokens": 20}
    counts.tokens += sum(usage.values())
    if name == "drop":
        return Said(0, None)
    if name == "gzip":
        return Said(200, gzip.compress(bytes(5_000_000)), {"Content-Encoding": "gzip"})
    if name == "huge":
        return Said(200, bytes(8_000_000))
    if name == "garbage":
        return Said(200, b'{"choices": [{"mess', {"Content-Type": "application/json"})
    answer = json.dumps({"label": item, "score": len(text_of(body)), "why": "because"})
    document = _completion(name, answer, heed)
    if name != "nousage":
        document["usage"] = usage
    if "input" in body:
        document = _response(document)
    content = json.dumps(document).encode()
    if name == "cut":
        return Said(200, content, sent=len(content) // 2)
    counts.delivered[item] += 1
    return Said.of(200, document, wait=float(seconds) if name == "slow" else 0.0)


def _completion(name: str, answer: str, heed: bool) -> dict[str, Any]:
    """A chat completion whose content is what the step calls for."""
    content = {
        "wrong": '{"label": 7}',
        "values": '{"label": "x", "score": "many", "why": "y"}',
        "cutjson": answer[:12],
        "length": answer[:12],
        "empty": "",
        "fenced": f"<think>hm</think>\n```json\n{answer}\n```",
        "prose": f"Gladly: {answer} Anything else?",
        "two": f'{answer} or {{"label": 1}}',
        "extra": json.dumps({**json.loads(answer), "more": 1}),
    }.get(name, answer if heed else "Gladly.")
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if name == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I would rather not."}
    finish = {"length": "length", "filter": "content_filter"}.get(name, "stop")
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {"id": "x", "object": "chat.completion", "model": "fake-1", "choices": [choice]}


def _response(document: dict[str, Any]) -> dict[str, Any]:
    """The same as an answer of the responses API."""
    choice, usage = document["choices"][0], document["usage"]
    kept = {"type": "output_text", "text": choice["message"]["content"]}
    if choice["message"]["refusal"]:
        kept = {"type": "refusal", "refusal": choice["message"]["refusal"]}
    cut = {"reason": "max_output_tokens"} if choice["finish_reason"] == "length" else None
    tokens = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
    output = [{"type": "reasoning"}, {"type": "message", "content": [kept]}]
    return {"model": "fake-1", "output": output, "incomplete_details": cut, "usage": tokens}


def _error(
    status: int, message: str, code: str | None, headers: Mapping[str, str] | None = None
) -> Said:
    error = {"message": message, "type": "error_type", "code": code}
    return Said.of(status, {"error": error}, headers=headers or {})
