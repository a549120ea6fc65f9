"""One budget for several clients, each in a thread of its own."""

from __future__ import annotations

import threading

from construction.judging.calls.contracts import Budget, LlmConfig, Mode, Tariff, Usage

WORST, PAID, LIVE = Usage(60, 40), Usage(6, 4), Tariff("m")
LIMIT = 1_000


def test_clients_side_by_side_keep_within_one_budget_and_none_waits_for_ever() -> None:
    budget = Budget(LlmConfig(mode=Mode.LIVE, model="m", budget_tokens=LIMIT))
    most: list[int] = []
    admitted: list[bool] = []

    def client() -> None:
        for _ in range(60):
            if not budget.reserve(WORST, LIVE):
                admitted.append(False)
                continue
            admitted.append(True)
            budget.settle(WORST, LIVE, PAID)
            most.append(budget.spent.usage.tokens)

    threads = [threading.Thread(target=client) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    # 91 replies of 10 tokens leave less than the worst case of one more.
    assert (len(admitted), sum(admitted), max(most)) == (180, 91, 910)
    assert budget.exhausted
