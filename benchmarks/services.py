"""Controlled services under load: 50 attempts side by side, hostile requests, a killed server.

    python -m benchmarks.services

writes results/services.md and services.json. One process serves 50 instances over HTTP, each with a
SQLite file and a token of its own; the clients are this process, on the same machine. Worlds and
requests are made from the declarations (`tests.construction.workflows.worlds`): all
services, 60 records in each collection, every operation equally often. Latencies are the client's;
the machine's load (mean of a minute) is that of other work, before each run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.report import table, write_result
from benchmarks.services_client import (
    ATTEMPTS,
    READ_BAR,
    WRITE_BAR,
    Connection,
    Tally,
    load_row,
    pace,
    percentile,
    processor_seconds,
    verdict,
)
from benchmarks.services_large import large_figures, large_line
from construction.workflows.contracts import Refused, Request, World
from construction.workflows.engine import OK
from construction.workflows.world_file import world_faults
from data.errors import BenchmintError
from data.loopback import listen
from flows.services.instance import Instance, logged
from flows.services.mcp_app import Instances
from flows.services.serve import STATUS, serve_instances
from tests.construction.workflows.worlds import filled_world, fitting_requests, hostile_requests

REQUESTS, RECORDS, HOSTILE = 120, 60, 5000
PAUSES = (0.0, 0.1, 0.5)  # seconds from one request of an attempt to its next
_KILL_AFTER = 1.5  # seconds


def serve(folder: Path) -> None:
    """Serve one instance per attempt; print the port and the tokens."""
    instances = Instances()
    held = [
        Instance.start(folder / f"{number}.sqlite", filled_world(number, RECORDS))
        for number in range(ATTEMPTS)
    ]
    tokens = [instances.add(instance) for instance in held]
    listening = listen(0)
    port = listening.getsockname()[1]
    print(json.dumps([port, tokens]), flush=True)
    with suppress(KeyboardInterrupt):
        serve_instances(instances, listening, port)
    for instance in held:
        instance.close()


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int, list[str]]]:
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.services", "--serve", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        port, tokens = json.loads(child.stdout.readline())
        yield child, port, tokens
    finally:
        child.send_signal(signal.SIGINT)
        child.wait()


async def attempt(
    number: int, connection: Connection, requests: Sequence[Request], pause: float, tally: Tally
) -> None:
    """One attempt: its requests one after another, `pause` seconds from start to start."""
    try:
        await connection.open()
        await asyncio.sleep(pause * number / ATTEMPTS)
        for request in requests:
            began = time.perf_counter()
            status = await connection.ask(request)
            spent = time.perf_counter() - began
            tally.add(number, request, spent, status)
            await asyncio.sleep(max(0.0, pause - spent) if pause else 0)
    except (OSError, EOFError):
        tally.cut_off += 1


def load(port: int, tokens: Sequence[str], pause: float, after: Any = None) -> Tally:
    """All attempts at once; `after` is awaited beside them."""
    tally = Tally()
    work = [
        list(fitting_requests(number, REQUESTS, filled_world(number, 4)))
        for number in range(ATTEMPTS)
    ]

    async def run() -> None:
        jobs = [
            attempt(number, Connection(port, token), work[number], pause, tally)
            for number, token in enumerate(tokens)
        ]
        await asyncio.gather(*jobs, *([after()] if after else []))

    began = time.perf_counter()
    asyncio.run(run())
    tally.seconds = time.perf_counter() - began
    return tally


def figures_of(tally: Tally, folder: Path) -> dict[str, Any]:
    """Latencies, and whether each log holds exactly what its attempt was answered."""
    complete = sum(
        len(logged(folder / f"{number}.sqlite")) == tally.answered[number]
        for number in range(ATTEMPTS)
    )
    return {
        "requests": sum(tally.answered.values()),
        "seconds": round(tally.seconds, 2),
        "requests_per_second": round(sum(tally.answered.values()) / tally.seconds),
        "read_p50": round(percentile(tally.reads, 0.5), 1),
        "read_p95": round(percentile(tally.reads, 0.95), 1),
        "write_p50": round(percentile(tally.writes, 0.5), 1),
        "write_p95": round(percentile(tally.writes, 0.95), 1),
        "statuses": {str(code): n for code, n in sorted(tally.statuses.items())},
        "complete_logs": complete,
    }


def loaded(pause: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = os.getloadavg()[0]
        with served(folder) as (child, port, tokens):
            before = processor_seconds(child.pid)
            tally = load(port, tokens, pause)
            used = processor_seconds(child.pid) - before
        figures = figures_of(tally, folder)
        figures["server_ms"] = round(1000 * used / figures["requests"], 2)
        return figures | {"load_before": round(machine, 1)}


def in_process() -> dict[str, Any]:
    """The same attempts as threads of one process, as `benchmint evaluate` asks its instances."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        held = [
            stack.enter_context(Instance.start(Path(name, f"{n}.sqlite"), filled_world(n, RECORDS)))
            for n in range(ATTEMPTS)
        ]

        def work(number: int) -> None:
            for request in fitting_requests(number, REQUESTS, held[number].world):
                began = time.perf_counter()
                refused = held[number].answer(request).refused
                spent = time.perf_counter() - began
                tally.add(number, request, spent, STATUS[refused] if refused else 200)

        began = time.perf_counter()
        with ThreadPoolExecutor(ATTEMPTS) as pool:
            list(pool.map(work, range(ATTEMPTS)))
        tally.seconds = time.perf_counter() - began
        return figures_of(tally, Path(name))


def killed() -> dict[str, Any]:
    """A server that is killed in mid-run, and what its files say afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served(folder) as (child, port, tokens):

            async def kill() -> None:
                await asyncio.sleep(_KILL_AFTER)
                os.kill(child.pid, signal.SIGKILL)

            tally = load(port, tokens, 0.02, kill)
        seen, lost, surplus, whole = 0, 0, 0, 0
        for number in range(ATTEMPTS):
            try:
                with Instance.reopen(folder / f"{number}.sqlite") as instance:
                    whole += 1
                    seen += instance.was_killed
                    difference = len(instance.audit) - tally.answered[number]
                    lost, surplus = lost + max(0, -difference), surplus + max(0, difference)
            except BenchmintError as error:
                print(error, file=sys.stderr)
        return {
            "attempts_cut_off": tally.cut_off,
            "answered": sum(tally.answered.values()),
            "chains_whole": whole,
            "kills_seen": seen,
            "answers_lost": lost,
            "logged_but_not_answered": surplus,
        }


def fuzzed() -> dict[str, Any]:
    """Hostile requests to one instance: each has to get a body or a declared refusal."""
    world: World = filled_world(0, 10)
    statuses: Counter[str] = Counter()
    crashes, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "fuzz.sqlite"
        with Instance.start(path, world) as instance:
            for request in hostile_requests(0, HOSTILE, world):
                began = time.perf_counter()
                try:
                    response = instance.answer(request)
                except Exception as error:
                    crashes += 1
                    print(f"{type(error).__name__}: {error}", file=sys.stderr)
                    continue
                slowest = max(slowest, (time.perf_counter() - began) * 1000)
                statuses[response.refused.value if response.refused else OK] += 1
            faults = world_faults(instance.world)
        entries = len(logged(path))
    known = {OK, *(refused.value for refused in Refused)}
    return {
        "requests": HOSTILE,
        "crashes": crashes,
        "undeclared": sum(n for status, n in statuses.items() if status not in known),
        "statuses": dict(sorted(statuses.items())),
        "slowest_ms": round(slowest, 1),
        "log_entries": entries,
        "faults_of_the_world_afterwards": len(faults),
    }


def page(result: dict[str, Any]) -> str:
    loads, kill, fuzz = (result[name] for name in ("loads", "killed", "fuzzed"))
    verdicts = "; ".join(f"{pace(pause)}: {verdict(loads[str(pause)])}" for pause in PAUSES)
    verdicts += f"; in the runner's process: {verdict(result['in_process'])}"
    head = ["50 attempts", "requests", "per second", "reads p50 / p95 ms", "writes p50 / p95 ms"]
    statuses = ", ".join(f"{n:,} {status}" for status, n in fuzz["statuses"].items())
    return (
        f"Bars: p95 below {READ_BAR:g} ms for reads and {WRITE_BAR:g} ms for writes, for each "
        f"attempt's requests over HTTP {verdicts}.\n\n"
        + table(
            [*head, "logs complete and chained", "server's processor ms", "machine's load before"],
            [
                *(load_row(f"HTTP, {pace(pause)}", loads[str(pause)]) for pause in PAUSES),
                load_row("in the runner's process, at once", result["in_process"]),
            ],
        )
        + f"\nA server killed after {_KILL_AFTER:g} s: {kill['attempts_cut_off']} of {ATTEMPTS} "
        f"attempts were cut off; {kill['kills_seen']} of {ATTEMPTS} files say so when they are "
        f"opened again, {kill['chains_whole']} chains are whole and lead to the state, "
        f"{kill['answers_lost']} of {kill['answered']:,} answers are lost, "
        f"{kill['logged_but_not_answered']} requests were logged but not answered any more.\n\n"
        f"Hostile requests: {fuzz['requests']:,}, {fuzz['crashes']} crashes, "
        f"{fuzz['undeclared']} undeclared answers, {fuzz['log_entries']:,} entries in the log, "
        f"{fuzz['faults_of_the_world_afterwards']} faults in the state afterwards; the slowest "
        f"took {fuzz['slowest_ms']:g} ms. By status: {statuses}.\n\n{large_line(result['large'])}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", type=Path, help="serve instances in this folder (for itself)")
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return 0
    result = {
        "fuzzed": fuzzed(),
        "loads": {str(pause): loaded(pause) for pause in PAUSES},
        "in_process": in_process(),
        "killed": killed(),
        "large": large_figures(),
    }
    write_result("services", __doc__ or "", page(result), result)
    print(page(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
