"""One budget for several clients, each of which has an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading

from construction.judging.calls.budget import Budget
from construction.judging.calls.contracts import LlmConfig, Mode, Usage

WORST, PAID = Usage(60, 40), Usage(6, 4)
LIMIT = 1_000


def test_clients_side_by_side_keep_within_one_budget_and_none_waits_for_ever() -> None:
    budget = Budget(LlmConfig(mode=Mode.LIVE, model="m", budget_tokens=LIMIT))
    most: list[int] = []
    admitted: list[bool] = []

    async def call() -> None:
        if not await budget.reserve(WORST):
            admitted.append(False)
            return
        admitted.append(True)
        await asyncio.sleep(0)
        budget.settle(WORST, PAID)
        usage = budget.spent.usage
        most.append(usage.prompt_tokens + usage.completion_tokens)

    async def client() -> None:
        await asyncio.gather(*(call() for _ in range(60)))

    threads = [threading.Thread(target=asyncio.run, args=(client(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    # 91 replies of 10 tokens leave less than the worst case of one more.
    assert (len(admitted), sum(admitted), max(most)) == (180, 91, 910)
    assert budget.exhausted
