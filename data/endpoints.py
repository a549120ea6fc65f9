"""Endpoints of models: the names that they give themselves, what they cost, what they answered."""

from __future__ import annotations

import datetime as dt
import os
import re
import tomllib
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.atomic import PRIVATE_DIR, PRIVATE_FILE
from data.canonical import digest
from data.errors import InputError
from data.neutralise import one_line, storable_tree

# What a model's endpoint says of itself: names and ids that are stored and shown.
#
# An endpoint can echo the key that it was sent, or hold text that no name has, in a field that ends
# on a page. Such names are replaced by a digest, so that two of them stay apart.

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]{0,127}")
_NAMES = frozenset({"id", "model", "function", "tool_call_id", "completion_id"})
_SHORTEST_KEY = 8  # characters: shorter ones are words such as "none"
_DEEPEST = 60  # levels of a reply
_KEY_VARIABLES = ("apikey", "key", "token", "secret", "password")


def keys_in(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of variables that are named as keys are (`OPENAI_API_KEY`, `HF_TOKEN`)."""
    values = (
        value.strip()
        for name, value in environment.items()
        if name.lower().rpartition("_")[2] in _KEY_VARIABLES
    )
    return frozenset(value for value in values if len(value) >= _SHORTEST_KEY)


def plain_name(text: str, keys: Collection[str]) -> str:
    """`text` if it is a plain name without a key in it, otherwise `replaced-` and a digest."""
    holds_key = any(key in text for key in keys if len(key) >= _SHORTEST_KEY)
    if not text or (_PLAIN.fullmatch(text) and not holds_key):
        return text
    return f"replaced-{digest(text.encode('utf-8', 'replace'))[:12]}"


def without_keys(reply: Any, keys: Collection[str], depth: int = 0) -> Any:
    """A reply, as JSON, with plain names and ids, and with `[key]` wherever it quotes a key."""
    if depth > _DEEPEST:
        return None
    if isinstance(reply, str):
        for key in keys:
            reply = reply.replace(key, "[key]") if len(key) >= _SHORTEST_KEY else reply
        return reply
    if isinstance(reply, list):
        return [without_keys(item, keys, depth + 1) for item in reply]
    if isinstance(reply, dict):
        return {
            without_keys(name, keys): plain_name(value, keys)
            if name in _NAMES and isinstance(value, str)
            else without_keys(value, keys, depth + 1)
            for name, value in reply.items()
        }
    return reply


# What a model costs: a file of prices with the day that they are of, which the user gives.
#
# date = 2026-11-01
# [models."openai/some-model"]     # as `--model` names it; US dollars for a million tokens
# input = 1.25
# output = 10.0
# cache_read = 0.125               # as input, where it is not given
# cache_write = 1.25               # likewise

_PER = 1_000_000
_EXPECTED = "a date, and each model's input and output prices in US dollars per million tokens"
_MOST_BYTES = 1 << 20
_HIGHEST = 1_000_000  # US dollars for a million tokens: a dollar each; more is a mistake
_Rate = Annotated[Decimal, Field(ge=0, le=_HIGHEST, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens by kind; `input` are those that were neither read from nor written to a cache."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.cache_read + self.cache_write + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )


class ModelPrice(BaseModel):
    """US dollars for a million tokens of each kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: _Rate
    output: _Rate
    cache_read: _Rate | None = None
    cache_write: _Rate | None = None

    def cost(self, tokens: Tokens) -> Decimal:
        """US dollars for tokens that were used."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        parts = (
            self.input * tokens.input,
            read * tokens.cache_read,
            write * tokens.cache_write,
            self.output * tokens.output,
        )
        return sum(parts, Decimal(0)) / _PER

    def most(self, tokens: Tokens) -> Decimal:
        """The same if all that is read had the highest of its prices."""
        rates = (self.input, self.cache_read or Decimal(0), self.cache_write or Decimal(0))
        return (max(rates) * (tokens.total - tokens.output) + self.output * tokens.output) / _PER


class PriceList(BaseModel):
    """The prices of models on one day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: dt.date
    models: dict[str, ModelPrice]


def read_prices(path: Path) -> PriceList:
    """The price list in a TOML file. Raises InputError."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise _refused(path, f"more than {_MOST_BYTES:,} bytes")
        content = tomllib.loads(text.decode("utf-8"), parse_float=Decimal)
        return PriceList.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (OSError, ValueError, RecursionError) as error:
        problem = type(error).__name__
    raise _refused(path, one_line(problem))


def _refused(path: Path, problem: str) -> InputError:
    return InputError(str(path), problem, _EXPECTED, "See docs/run.md for an example.")


SUFFIX = ".jsonl"
_ROOM_BYTES = 256 << 10  # for one reply


class Journal:
    """One attempt's file. Every method that writes raises OSError, and then nothing was added."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIR)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        content = path.read_bytes()
        self._replies: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self._results: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self._calls = 0
        self._unknown: set[int] = set()
        self.replayed_seconds = 0.0
        with _readable(path):
            self._load(content)
        self._end = _whole(content)
        os.ftruncate(self._file, self._end)

    def _load(self, content: bytes) -> None:
        requests: dict[int, str] = {}
        for line in _lines(content):
            if "tool" in line:
                self._results[line["tool"]].append(line)
            elif "request" in line:
                requests[line["call"]] = line["request"]
                self._calls = line["call"]
                self._unknown.add(line["call"])
                continue
            elif "call" in line:
                self._ended(line["call"], line.get("reply"))
            if "reply" in line:
                self._replies[requests[line["call"]]].append(line)

    @property
    def is_paid(self) -> bool:
        """Was any call made?"""
        return self._calls > 0

    @property
    def unknown(self) -> int:
        """The calls of which nobody knows what they took: without an end, or without usage."""
        return len(self._unknown)

    def reply(self, request: str) -> Mapping[str, Any] | None:
        """The next reply that is kept for a request, None if it has to be made."""
        if not self._replies[request]:
            return None
        line = self._replies[request].popleft()
        self.replayed_seconds += line["seconds"]
        reply: Mapping[str, Any] = line["reply"]
        return reply

    def begin(self, request: str, worst: Tokens) -> int:
        """Note a call that is about to be made, with room for its reply; its number."""
        number = self._calls + 1
        os.posix_fallocate(self._file, self._end, _ROOM_BYTES)
        self._add({"call": number, "request": request, "worst": asdict(worst)})
        self._calls = number
        self._unknown.add(number)
        return number

    def keep(self, number: int, reply: Mapping[str, Any], used: Tokens, seconds: float) -> None:
        """Keep the reply of a call."""
        self._add({"call": number, "reply": reply, "used": asdict(used), "seconds": seconds})
        self._ended(number, reply)

    def free(self, number: int) -> None:
        """Note that a call failed and nothing was billed for it."""
        self._add({"call": number, "free": True})
        self._ended(number, None)

    def _ended(self, number: int, reply: Mapping[str, Any] | None) -> None:
        if reply is None or reply.get("usage") is not None:
            self._unknown.discard(number)

    def result(self, key: str) -> Mapping[str, Any] | None:
        """What a tool showed for a call, None if that is not known yet."""
        return self._results[key].popleft() if self._results[key] else None

    def keep_result(self, key: str, shown: Mapping[str, Any]) -> None:
        """Keep what a tool showed."""
        self._add({"tool": key, **shown})

    def close(self) -> None:
        """Give back the space that was set aside."""
        os.ftruncate(self._file, self._end)
        os.close(self._file)

    def _add(self, line: Mapping[str, Any]) -> None:
        content = orjson.dumps(storable_tree(line)) + b"\n"
        try:
            written = 0
            while written < len(content):
                written += os.pwrite(self._file, content[written:], self._end + written)
            os.fdatasync(self._file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise
        self._end += len(content)


def spent(path: Path) -> Iterator[tuple[Tokens, bool]]:
    """The tokens of each call in a journal; true where they are only the most it can have been."""
    worst: dict[int, Tokens] = {}
    used: list[Tokens] = []
    with _readable(path):
        for line in _lines(path.read_bytes()):
            if "request" in line:
                worst[line["call"]] = Tokens(**line["worst"])
            elif "call" in line:
                worst.pop(line["call"], None)
                used += [Tokens(**line["used"])] if "used" in line else []
    yield from ((tokens, False) for tokens in used)
    yield from ((tokens, True) for tokens in worst.values())


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise InputError where the block meets a line that no run wrote."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            str(path), type(error).__name__, "the replies kept by `benchmint evaluate`",
            "Restore the file, or delete it: the attempt then starts over and is paid for again.",
        ) from error  # fmt: skip


def _whole(content: bytes) -> int:
    """Where the last whole line ends: a killed run leaves a part of one, or empty space."""
    return content.rstrip(b"\0").rfind(b"\n") + 1


def _lines(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content[: _whole(content)].splitlines():
        kept = orjson.loads(line)
        if not isinstance(kept, dict):
            raise TypeError
        yield kept
