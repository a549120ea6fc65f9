"""Long tool results and thinking, for corpora that measure speed."""

from __future__ import annotations

from functools import lru_cache

from data.demo.plan import BLOCK, PLAN
from data.demo.script import Call, Flavor, Tool
from data.demo.words import LANGUAGES, load_words
from data.randomness import keyed_generator, keyed_order

# Sizes of the sixty sessions of a block, in shares of the mean: at a mean of 170 KB most have
# 40 to 200 KB and one has 5 MB. They add up to sixty.
_SHARES = (29.4,) + (1.2,) * 6 + (0.6,) * 26 + (7.8 / 27,) * 27
_LONGEST = 620_000  # bytes of one result; with its envelope a line has at most 640 KB
_THINKING_SHARE = 0.06
_WRITTEN_TWICE = 1.05  # three sessions of a block stand in two files
_PLAIN_BYTES = 5_000  # of a session without filler
_BYTES_PER_CHAR = 1.06  # of the pool, once it is UTF-8 in JSON
_POOL = 2_000_000  # characters
_MANY_LINES = frozenset({Flavor.OPENCLAW, Flavor.PI, Flavor.CLAUDE_CODE, Flavor.CODEX})


class Bulk:
    """Filler that brings a corpus of `n_sessions` to about `n_bytes`, the same for each session."""

    def __init__(self, n_bytes: int, n_sessions: int) -> None:
        self._mean = max(0.0, n_bytes / (n_sessions * _WRITTEN_TWICE) - _PLAIN_BYTES)

    def _size(self, seed: int, number: int) -> int:
        block = number // BLOCK
        order = _share_order(seed, block)
        return int(_SHARES[order[number % BLOCK]] * self._mean)

    def thinking(self, seed: int, number: int) -> str:
        length = int(self._size(seed, number) * _THINKING_SHARE)
        return _slice(seed, number, 0, min(length, _LONGEST))

    def calls(self, seed: int, number: int) -> tuple[Call, ...]:
        """Calls with long results; a result is up to an eighth of the session's size."""
        size = int(self._size(seed, number) * (1 - _THINKING_SHARE))
        draws = keyed_generator(seed, "demo.bulk", str(number))
        calls: list[Call] = []
        while size > 0:
            top = max(2_000, min(_LONGEST, size // 4 + 2_000))
            length = min(size, int(draws.integers(1_000, top)))
            command = f"journalctl -u desk -n {length // 80}"
            calls.append(Call(Tool.RUN, command, _slice(seed, number, len(calls) + 1, length)))
            size -= length
        return tuple(calls)


@lru_cache(maxsize=8)
def _share_order(seed: int, block: int) -> tuple[int, ...]:
    """Which share each place of a block gets. The largest session is a log of many lines: in a
    format that keeps a session on one line, that line would be longer than any seen."""
    order = keyed_order(seed, "demo.sizes", [f"{block}/{place}" for place in range(BLOCK)])
    largest = order.index(0)
    fitting = next(p for p in range(BLOCK) if PLAN[(largest + p) % BLOCK].flavor in _MANY_LINES)
    place = (largest + fitting) % BLOCK
    order[largest], order[place] = order[place], order[largest]
    return tuple(order)


def _slice(seed: int, number: int, part: int, n_bytes: int) -> str:
    """A piece of the pool that takes about `n_bytes` in a log."""
    pool = _pool(seed)
    length = min(int(n_bytes / _BYTES_PER_CHAR), len(pool) // 2)
    start = (number * 7919 + part * 104_729) % (len(pool) - length)
    return pool[start : start + length]


@lru_cache(maxsize=2)
def _pool(seed: int) -> str:
    """Lines as tools print them: logs, tables, notes in both languages."""
    draws = keyed_generator(seed, "demo.pool", "")
    words = [load_words(language) for language in LANGUAGES]
    lines: list[str] = []
    length = 0
    numbers = draws.integers(0, 1_000_000, 4096)
    while length < _POOL:
        n = int(numbers[len(lines) % 4096]) + len(lines)
        word = words[n % 8 == 0]
        line = (
            f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d} {n % 24:02d}:{n % 60:02d}:{n % 53:02d} "
            f"{('INFO', 'WARN', 'INFO', 'DEBUG')[n % 4]} {word.product[n % 8]} "
            f"{word.city[n % 10]} order={n} amount={n % 9973 / 100:.2f} "
            f"{word.customer[n % 20]}, {word.department[n % 7]}"
        )
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)
