"""Reads OpenAI Responses: response objects, requests with responses, and lists of items."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from hashlib import blake2b

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import (
    Record,
    Talk,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import ReadIssue, Session, SourceFormat

_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call"}
    | {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    | {"mcp_call", "apply_patch_call", "tool_search_call"}
)
_SILENT = frozenset(
    {"item_reference", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"}
    | {"compaction", "tool_search_output"}
)
_OUTPUT = "_output"
_OWN_ITEMS = frozenset({"function_call", "function_call_output", "reasoning"})


def fits(sample: Sample) -> bool:
    """`object: response` with its output, the same inside `response`, or a list of items."""
    for record in sample.records:
        if _response(record) is not None:
            return True
    kinds = {kind_of(record) for record in sample.records}
    has_items = {"function_call", "function_call_output"} <= kinds
    return has_items and all(
        kind_of(record) in _OWN_ITEMS | _CALLS or isinstance(record.get("role"), str)
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The sessions of a file: responses that continue one another are one session."""
    chains = _Chains()
    loose = Talk(source, SourceFormat.OPENAI_RESPONSES)
    issues: list[ReadIssue] = []
    for line, record in objects(source, issues):
        response = _response(record)
        if response is not None:
            _add_response(source, chains, response, record, line)
        else:
            add_item(loose, record, line, None)
    yield from issues
    if loose.drafts or not chains.all:
        yield from loose.session()
    for number, chain in enumerate(chains.all, start=1):
        name = chain.first if len(chains.all) == 1 else f"{chain.first}-{number}"
        yield from chain.talk.session(name)


class _Chain:
    """Responses that continue one another; `known` are the items so far, in canonical form."""

    def __init__(self, source: SourceFile, first: str) -> None:
        self.talk = Talk(source, SourceFormat.OPENAI_RESPONSES)
        self.first = first
        self.ids: set[str] = set()
        self.known: list[str] = []
        self.state = b""  # a digest of the items so far


class _Chains:
    """The chains of a file, in order, found by the ids of their responses or by their items."""

    def __init__(self) -> None:
        self.all: list[_Chain] = []
        self._by_id: dict[str, int] = {}
        self._by_state: dict[bytes, list[int]] = {}  # heaps; a chain that went on is in an old one

    def continued(self, keys: list[str], previous: str | None) -> int | None:
        """The number of the first chain that the items, or an id, continue; None if none is."""
        chains = [self._by_id[previous]] if previous in self._by_id else []
        for state in _states(b"", keys):
            heap = self._by_state.get(state, [])
            while heap and self.all[heap[0]].state != state:
                heapq.heappop(heap)
            chains += heap[:1]
        return min(chains, default=None)

    def go_on(self, number: int, added: list[str], own: str) -> None:
        """Add the items of a response with this id to a chain."""
        chain = self.all[number]
        chain.known += added
        chain.ids.add(own)
        self._by_id[own] = min(number, self._by_id.get(own, number))
        *_, chain.state = (chain.state, *_states(chain.state, added))
        if added:
            heapq.heappush(self._by_state.setdefault(chain.state, []), number)


def _states(state: bytes, keys: list[str]) -> Iterator[bytes]:
    """The digest of all items up to each one."""
    for key in keys:
        state = blake2b(state + key.encode("utf-8", "surrogatepass")).digest()
        yield state


def _key(item: Record) -> str:
    """What makes two records the same item in a request and in the response before it."""
    text = plain(item.get("content", item.get("output", item.get("arguments"))))
    content = item.get("content")
    if isinstance(content, list):
        text = "\n".join(plain(part.get("text")) for part in dicts(content))
    return f"{item.get('role') or item.get('type')}|{item.get('call_id')}|{text}"


def _response(record: object) -> Record | None:
    if not isinstance(record, dict):
        return None
    for held in (record, inner(record, "response"), inner(record, "body")):
        if held.get("object") == "response" and isinstance(held.get("output"), list):
            return held
    return None


def _add_response(
    source: SourceFile, chains: _Chains, response: Record, record: Record, line: int
) -> None:
    given = response.get("input", inner(record, "request").get("input", record.get("input")))
    items = [{"role": "user", "content": given}] if isinstance(given, str) else dicts(given)
    previous = first_text(response, "previous_response_id")
    keys = list(map(_key, items))
    number = chains.continued(keys, previous)
    own = first_text(response, "id") or f"response-{len(chains.all) + 1}"
    if number is None:
        number, chain = len(chains.all), _Chain(source, own)
        chains.all.append(chain)
        instructions = response.get("instructions")
        if isinstance(instructions, str) and instructions:
            chain.talk.system(instructions, line)
    else:
        chain = chains.all[number]
        if previous not in chain.ids or keys[: len(chain.known)] == chain.known:
            items = items[len(chain.known) :]
    at = epoch_seconds(response.get("created_at"))
    output = dicts(response.get("output"))
    for item in (*items, *output):
        add_item(chain.talk, item, line, at, model=response.get("model"))
    # Reasoning need not be sent again.
    added = [_key(item) for item in (*items, *output) if kind_of(item) != "reasoning"]
    chains.go_on(number, added, own)


def add_item(talk: Talk, item: Record, line: int, at: float | None, model: object = None) -> None:
    """Add one item of a request or a response to a conversation."""
    kind, role = kind_of(item), item.get("role")
    if kind in ("", "message") and role is not None:
        _add_message(talk, item, line, at, model)
    elif kind == "reasoning":
        answer = talk.answer(line, at=at, key="output", model=model)
        for key in ("summary", "content"):
            answer.think("\n".join(plain(part.get("text")) for part in dicts(item.get(key))))
    elif kind in _CALLS:
        answer = talk.answer(line, at=at, key="output", model=model)
        name = first_text(item, "name") or kind.removesuffix("_call")
        arguments = item.get("arguments", item.get("input", item.get("action")))
        if arguments is None:
            arguments = {k: item[k] for k in ("queries", "code", "operation") if k in item}
        own = answer.call(item.get("call_id") or item.get("id"), name, arguments, line)
        if kind in ("mcp_call", "code_interpreter_call", "file_search_call"):
            shown = item.get("output", item.get("outputs", item.get("results")))
            failed = bool(item.get("error"))
            if shown is not None or failed:
                talk.results.add(own, plain(shown) or plain(item.get("error")), failed)
    elif kind.endswith(_OUTPUT) and "call_id" in item:
        output = item.get("output")
        text = plain(output) if not isinstance(output, list) else _text(output)
        failed = item.get("status") in ("failed", "incomplete")
        talk.results.add(plain(item["call_id"]), text, failed)
    elif kind in _SILENT:
        talk.skip()
    else:
        talk.unexpected(line, f"an item of type {type_name(kind)}")


def _text(parts: list[object]) -> str:
    return "\n".join(plain(part.get("text")) for part in dicts(parts) if "text" in part)


def _add_message(talk: Talk, item: Record, line: int, at: float | None, model: object) -> None:
    given = pieces.of(talk, item.get("content"), line)
    pieces.add(talk, item.get("role"), given, line, at=at, key="output", model=model)
