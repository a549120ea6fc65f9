"""Turns of hosts are kept while they matter, however many hosts come by."""

from __future__ import annotations

import asyncio

import pytest

from construction.sessions.network.exchange import HostTurns


async def pass_by(turns: HostTurns, count: int) -> None:
    for number in range(count):
        async with turns.turn(f"h{number}.example"):
            pass


def test_a_host_that_is_being_asked_is_not_forgotten() -> None:
    async def scene() -> None:
        turns = HostTurns(delay=0)
        async with turns.turn("busy.example"):
            await pass_by(turns, 3000)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05), turns.turn("busy.example"):
                    pass

    asyncio.run(scene())


def test_a_host_that_was_just_asked_is_not_forgotten() -> None:
    async def scene() -> None:
        turns = HostTurns(delay=30)
        async with turns.turn("busy.example"):
            pass
        await pass_by(turns, 3000)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), turns.turn("busy.example"):
                pass

    asyncio.run(scene())
