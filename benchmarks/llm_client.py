"""The client for language models: live calls beside the ideal rate, memory, and replays.

The endpoint is the tests' fault server, in a process of its own, and takes 200 ms for each reply.
The ideal rate is what that many calls at once could reach if nothing but those 200 ms took time.
Each live call is validated, and stored with its sync, before it counts. The peer is the bare openai
client with the same calls, which does neither.

    python -m benchmarks.llm_client      writes benchmarks/results/llm_client.md and llm_client.json
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from benchmarks.report import table, write_result

DELAY = 0.2
LIVE = ((48, 4800, 1), (300, 12_000, 8))  # calls at once, calls, portions they are asked in
REPLAYS = 5000
STORED = 100_000
SERVER = "tests.construction.judging.calls.fault_server"
PROMPT = "Some text that stands for a prompt of common length. " * 40


class Answer(BaseModel):
    label: str
    score: int
    why: str


def questions(count: int) -> list[Any]:
    from construction.judging.calls.contracts import Question

    return [
        Question(str(i), "bench", "You judge.", f"item=i{i} plan=slow:{DELAY} {PROMPT}", Answer)
        for i in range(count)
    ]


def resident() -> int:
    """Bytes of memory this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def live(url: str, store: str, concurrency: int, count: int, portions: int) -> dict[str, Any]:
    """Ask `count` questions, the first fifth as a warm-up; rate, memory and what came back.

    The rest is asked in portions whose answers are dropped, so that what grows would be ours.
    """
    from construction.judging.calls.contracts import LlmConfig, LlmRuntime, Mode
    from construction.judging.llm import Client

    config = LlmConfig(mode=Mode.RECORD, model="fake-1")
    runtime = LlmRuntime(base_url=f"{url}/v1", concurrency=concurrency)
    queries = questions(count)
    warm = count // 5
    with Client(config, runtime, Path(store)) as client:
        errors = _errors(client.ask(queries[:warm]))
        before, began, used = resident(), time.perf_counter(), time.process_time()
        size = (count - warm) // portions
        for start in range(warm, count, size):
            errors += _errors(client.ask(queries[start : start + size]))
        seconds, cpu = time.perf_counter() - began, time.process_time() - used
        after = resident()
    rate = (count - warm) / seconds
    return {
        "concurrency": concurrency,
        "calls": count,
        "errors": errors,
        "rate": round(rate, 1),
        "share_of_ideal": round(rate / (concurrency / DELAY), 3),
        "cpu_ms_per_call": round(cpu / (count - warm) * 1000, 2),
        "memory_after_warm_up_mb": round(before / 1e6, 1),
        "memory_at_the_end_mb": round(after / 1e6, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1),
    }


def _errors(outcomes: Sequence[object]) -> int:
    from construction.judging.calls.contracts import Answered

    return sum(not isinstance(outcome, Answered) for outcome in outcomes)


def peer(url: str, concurrency: int, count: int) -> dict[str, Any]:
    """The bare openai client, its pool wide enough, with the same calls."""
    import asyncio

    import httpx2
    from openai import AsyncOpenAI

    async def run() -> tuple[float, float]:
        limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        waiting = iter(questions(count))
        async with (
            httpx2.AsyncClient(limits=limits, timeout=60) as http,
            AsyncOpenAI(
                base_url=f"{url}/v1", api_key="none", http_client=http, max_retries=0
            ) as client,
        ):

            async def work() -> None:
                for question in waiting:
                    await client.chat.completions.create(
                        model="fake-1",
                        max_tokens=1024,
                        messages=[
                            {"role": "system", "content": question.system},
                            {"role": "user", "content": question.user},
                        ],
                    )

            began, used = time.perf_counter(), time.process_time()
            await asyncio.gather(*(work() for _ in range(concurrency)))
            return time.perf_counter() - began, time.process_time() - used

    seconds, cpu = asyncio.run(run())
    rate = count / seconds
    return {
        "concurrency": concurrency,
        "calls": count,
        "rate": round(rate, 1),
        "share_of_ideal": round(rate / (concurrency / DELAY), 3),
        "cpu_ms_per_call": round(cpu / count * 1000, 2),
    }


def replay(store: str) -> dict[str, Any]:
    """Replay from a store of 100,000 replies; seconds with and without opening."""
    from construction.judging.calls.contracts import Answered, LlmConfig, LlmRuntime, Mode, Usage
    from construction.judging.calls.replies import Reply
    from construction.judging.calls.requests import key
    from construction.judging.calls.store import Store, Stored
    from construction.judging.llm import Client

    config = LlmConfig(mode=Mode.REPLAY, model="fake-1")
    queries = questions(REPLAYS)
    text = Answer(label="yes", score=3, why="because " * 60).model_dump_json()
    reply = Reply(text, "stop", False, "fake-1", Usage(600, 150))
    filled = Store(Path(store))
    others = [f"{i:064x}" for i in range(STORED - REPLAYS)]
    began = time.perf_counter()
    filled.keep([Stored(name, 0, reply) for name in others])
    filled.keep([Stored(key(question, config), 0, reply) for question in queries])
    filling = time.perf_counter() - began
    filled.close()
    began = time.perf_counter()
    with Client(config, LlmRuntime(), Path(store)) as client:
        outcomes = client.ask(queries)
    seconds = time.perf_counter() - began
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    return {"stored": STORED, "replays": REPLAYS, "seconds": round(seconds, 3), "fill_s": filling}


def in_child(kind: str, *arguments: object) -> dict[str, Any]:
    """One measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.llm_client", kind, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(done.stdout))


def with_server(folder: Path, kind: str, *arguments: object) -> tuple[dict[str, Any], Any]:
    """A server of its own, a client of its own; the client's figures and what was served."""
    port = Path(tempfile.mkdtemp(dir=folder)) / "port"
    server = subprocess.Popen([sys.executable, "-m", SERVER, str(port)])
    try:
        while not port.exists() and server.poll() is None:
            time.sleep(0.02)
        url = f"http://127.0.0.1:{port.read_text()}"
        actual = in_child(kind, url, *arguments)
        with urllib.request.urlopen(f"{url}/counts", timeout=60) as answer:
            return actual, json.load(answer)["served"]
    finally:
        server.kill()
        server.wait()


def measure_live(folder: Path, concurrency: int, count: int, portions: int) -> dict[str, Any]:
    """Our client; the server's counts tell whether a call was lost or doubled."""
    store = tempfile.mkdtemp(dir=folder)
    actual, served = with_server(folder, "live", store, concurrency, count, portions)
    actual["lost"] = count - len(served)
    actual["doubled"] = sum(times - 1 for times in served.values())
    return actual


def measure_peer(folder: Path, concurrency: int, count: int) -> dict[str, Any]:
    return with_server(folder, "peer", concurrency, count)[0]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lived = [measure_live(folder, *entry) for entry in LIVE]
        bare = [measure_peer(folder, concurrency, count // 4) for concurrency, count, _ in LIVE]
        replayed = in_child("replay", folder / "replays")
    load = os.getloadavg()[0]
    rows = [_row("ours", entry) for entry in lived] + [
        _row("openai alone", entry) for entry in bare
    ]
    head = (
        "client",
        "at once",
        "calls",
        "calls/s",
        "of the ideal",
        "CPU ms a call",
        "errors / lost / doubled",
        "MB after a fifth → at the end",
    )
    text = (
        f"{table(head, rows)}\n"
        f"Replay: {replayed['replays']:,} questions from a store of {replayed['stored']:,} replies"
        f" in {replayed['seconds']:.2f} s, opening included.\n\n"
        f"Load average of the machine at the end: {load:.1f}.\n"
    )
    write_result(
        "llm_client",
        __doc__ or "",
        text,
        {"live": lived, "peer": bare, "replay": replayed, "load": load},
    )
    print(text)


def _row(name: str, entry: dict[str, Any]) -> list[str]:
    ours = "memory_at_the_end_mb" in entry
    return [
        name,
        str(entry["concurrency"]),
        f"{entry['calls']:,}",
        f"{entry['rate']:,.0f}",
        f"{entry['share_of_ideal']:.0%}",
        str(entry["cpu_ms_per_call"]),
        f"{entry['errors']} / {entry['lost']} / {entry['doubled']}" if ours else "",
        f"{entry['memory_after_warm_up_mb']:.0f} → {entry['memory_at_the_end_mb']:.0f}"
        if ours
        else "",
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["live"]:
        print(json.dumps(live(sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))))
    elif sys.argv[1:2] == ["peer"]:
        print(json.dumps(peer(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
    elif sys.argv[1:2] == ["replay"]:
        print(json.dumps(replay(sys.argv[2])))
    else:
        main()
