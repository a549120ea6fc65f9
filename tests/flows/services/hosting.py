"""A server of instances in the running event loop, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from construction.workflows.contracts import World
from data.loopback import listen
from flows.services.instance import Instance
from flows.services.mcp_app import Instances
from flows.services.serve import serving_instances


@asynccontextmanager
async def served(
    folder: Path, *worlds: World
) -> AsyncIterator[tuple[list[httpx.AsyncClient], list[Instance]]]:
    """A client with its token and an instance for each world, in this order."""
    instances = Instances()
    held = [
        Instance.start(folder / f"{number}.sqlite", world) for number, world in enumerate(worlds)
    ]
    tokens = [instances.add(instance) for instance in held]
    listening = listen(0)
    port = listening.getsockname()[1]
    clients = [
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            headers={"authorization": f"Bearer {token}"},
            trust_env=False,
        )
        for token in tokens
    ]
    try:
        async with serving_instances(instances, listening, port):
            yield clients, held
    finally:
        for client in clients:
            await client.aclose()
        for instance in held:
            instance.close()
