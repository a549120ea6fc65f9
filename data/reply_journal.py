"""What an attempt has paid for and was shown, kept as it comes: one file of JSON lines.

    {"call": 1, "request": …, "worst": …}       a call of the model is about to be made
    {"call": 1, "reply": …, "used": …}          its reply; or "free", where nothing was billed
    {"tool": …, "result": …} or "error"         what a tool answered

An attempt that was cut off plays this back: the same request gets the same reply, and a tool that
runs again for what it does shows what it showed before. A call without an end may have been billed,
so it counts with its worst case. Space for the reply is set aside on the disk before the call.
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from data.atomic import PRIVATE_DIR, PRIVATE_FILE
from data.endpoints import Tokens
from data.errors import InputError
from data.neutralise import storable_tree

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
