"""Material that gives orders to its judge: no verdict turns, no prompt leaks, nothing is called.

The cases of `injection.jsonl` are this project's own, made up with the code at hand: a list of
tricks that are known to be met, not a measure of those that are not.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from construction.judging.calls.contracts import Question
from construction.judging.contracts import Case, Containment, ContainmentReason, JudgeReason
from construction.judging.model.asking import question
from construction.judging.model.containment import (
    containment_stage,
    judge_containment,
    rules_opinion,
)
from construction.judging.model.injection import addresses_judge, case_addresses_judge
from construction.judging.model.prompt import load_prompt
from construction.judging.self_containment import ContainmentConfig
from construction.judging.self_containment import judge_containment as judge_by_rules
from data.contracts import Deliverable, Fixture
from tests.challenge.harness import load
from tests.construction.judging.model.fakes import CONFIG, Scripted, case

Trick = dict[str, Any]
TRICKS = load("injection")
IDS = [trick["id"] for trick in TRICKS]
GOOD = {
    "en": case(
        "Sum the amounts in ledger.csv per month and write the totals to totals.xlsx, one sheet, "
        "months as rows.",
        "ledger.csv",
        outputs=[("xlsx", "totals.xlsx")],
    ),
    "zh": case(
        "把 ledger.csv 里的金额按月汇总，写进 totals.xlsx，一张表，每月一行。",
        "ledger.csv",
        outputs=[("xlsx", "totals.xlsx")],
    ),
}
BAD = {
    "en": case("Change my booking to the cheapest flight on 5 May, my account number is 77."),
    "zh": case("帮我把我的订单改成明天发货，我的账号是77。"),
}
BASES = {"good": GOOD, "bad": BAD}


def planted(base: Case, trick: Trick) -> Case:
    """The base case with the trick where it belongs."""
    text, where = trick["text"], trick["where"]
    if where == "request":
        return base.model_copy(update={"request": f"{base.request}\n\n{text}"})
    if where == "background":
        return base.model_copy(update={"background": (text,)})
    if where == "reply":
        return base.model_copy(update={"reply": text})
    if where == "excerpt":
        return base.model_copy(update={"excerpts": {"ledger.csv": f"month,amount\n{text}\n"}})
    candidate = base.candidate
    update: dict[str, Any]
    if where == "file_name":
        sheet = Fixture(path=text, sha256="1" * 64, bytes=9, media_type="text/csv")
        update = {"fixtures": (*candidate.fixtures, sheet)}
    else:
        named = Deliverable(file_type=text.rpartition(".")[2], name_hints=(text,))
        update = {"deliverables": (*candidate.deliverables, named)}
    return base.model_copy(update={"candidate": candidate.model_copy(update=update)})


def base_of(trick: Trick, kind: str) -> Case:
    return BASES[kind]["zh" if trick["lang"] == "zh" else "en"]


by_rules = rules_opinion(ContainmentConfig())


def verdict(accept: bool, **more: Any) -> dict[str, Any]:
    reason = ContainmentReason.SELF_CONTAINED if accept else ContainmentReason.NOT_VERIFIABLE
    return {
        "self_contained": accept,
        "reason_code": str(reason),
        "brief_reason": "as told",
        "confidence": 1.0,
        "rewritten_prompt": None,
    } | more


def test_the_suite_is_large_and_in_both_languages() -> None:
    assert len(TRICKS) >= 80 and len(set(IDS)) == len(TRICKS)
    assert sum(trick["lang"] == "zh" for trick in TRICKS) >= 25
    assert len({trick["text"] for trick in TRICKS}) == len(TRICKS)


@pytest.mark.parametrize("trick", TRICKS, ids=IDS)
def test_the_trick_stays_inside_the_block(trick: Trick) -> None:
    stage = containment_stage(CONFIG)
    base = base_of(trick, "good")
    plain, result = question(stage, base), question(stage, planted(base, trick))
    assert result.system == plain.system
    assert (result.answer, result.max_tokens, result.images) == (Containment, plain.max_tokens, ())
    lines = result.user.split("\n")
    edges = [place for place, line in enumerate(lines) if "⟦" in line or "⟧" in line]
    assert len(edges) == 2
    data = json.loads("\n".join(lines[edges[0] + 1 : edges[1]]))
    assert data["language"] == base.candidate.language
    outside = [*lines[: edges[0]], *lines[edges[1] + 1 :]]
    ordinary = plain.user.split("\n")
    first = next(place for place, line in enumerate(ordinary) if "⟦" in line)
    last = max(place for place, line in enumerate(ordinary) if "⟦" in line)
    assert outside == [*ordinary[:first], *ordinary[last + 1 :]]


@pytest.mark.parametrize("trick", TRICKS, ids=IDS)
def test_the_trick_is_noticed(trick: Trick) -> None:
    assert case_addresses_judge(planted(base_of(trick, "good"), trick))


def gullible(trick: Trick) -> Callable[[Question], Mapping[str, Any]]:
    """A model that does what the material says, if it says anything."""
    prompt = load_prompt("containment")
    leaks = (
        prompt.secret[:300],
        f"the mark is {prompt.canary}",
        " ".join(prompt.canary),
        base64.b64encode(prompt.secret.encode()).decode()[:360],
    )
    leak = leaks[IDS.index(trick["id"]) % len(leaks)]

    def reply(result: Question) -> Mapping[str, Any]:
        if trick["wants"] == "leak":
            return verdict(True, brief_reason=leak)
        if trick["wants"] == "call":
            return verdict(True, tool_calls=[{"name": "fetch", "arguments": "{}"}])
        return verdict(trick["wants"] != "reject")

    return reply


def unfounded(trick: Trick) -> str:
    """The base case whose right verdict is the opposite of what the trick wants."""
    return "good" if trick["wants"] == "reject" else "bad"


@pytest.mark.parametrize("trick", TRICKS, ids=IDS)
def test_a_gullible_model_turns_no_verdict(trick: Trick) -> None:
    item = planted(base_of(trick, unfounded(trick)), trick)
    client = Scripted(gullible(trick))
    expected = {"leak": JudgeReason.PROMPT_LEAK, "call": "call.invalid"}.get(trick["wants"])
    for second in (None, by_rules):
        (judged,) = judge_containment([item], client, CONFIG, second)
        assert judged.value is None or judged.value.self_contained is (trick["wants"] == "reject")
        if expected is not None:
            assert judged.reason == expected
        elif judged.value is None:
            assert judged.reason in {JudgeReason.ADDRESSED, JudgeReason.DISPUTED}
    assert all("tool" not in result.stage for result in client.asked)


@pytest.mark.parametrize("kind", ["good", "bad"])
@pytest.mark.parametrize("trick", TRICKS, ids=IDS)
def test_the_rules_come_to_the_same_verdict(trick: Trick, kind: str) -> None:
    base = base_of(trick, kind)
    plain = by_rules(base)
    assert plain.self_contained is (kind == "good")
    item = planted(base, trick)
    assert by_rules(item).self_contained is plain.self_contained
    if kind == "bad":  # not even where they hear what is said to them
        assert not judge_by_rules(item, ContainmentConfig()).self_contained


@pytest.mark.parametrize(
    "leak",
    [
        load_prompt("containment").canary,
        load_prompt("containment").secret[200:420],
        load_prompt("containment").secret[:160].upper(),
        "-".join(load_prompt("containment").canary),
        base64.b64encode(load_prompt("containment").canary.encode()).decode(),
        load_prompt("containment").canary[::-1],
    ],
)
def test_no_rewrite_carries_the_prompt_out(leak: str) -> None:
    item = GOOD["en"]
    answer = verdict(True, rewritten_prompt=f"{item.request} {leak}")
    (judged,) = judge_containment([item], Scripted(lambda result: answer), CONFIG)
    assert (judged.value, judged.reason) == (None, JudgeReason.PROMPT_LEAK)


def test_the_fence_of_a_request_may_not_come_back() -> None:
    item = GOOD["en"]

    def reply(result: Question) -> Mapping[str, Any]:
        fence = result.user.partition("⟦material ")[2][:32]
        return verdict(True, brief_reason=f"the code is {fence}")

    (judged,) = judge_containment([item], Scripted(reply), CONFIG)
    assert judged.reason == JudgeReason.PROMPT_LEAK


@pytest.mark.parametrize(
    "text",
    [
        "Write a grading rubric for the essays in essays.docx, five criteria, one page.",
        "Our classifier marks too many mails as spam; explain precision and recall to the board.",
        "Please ignore the totals row and accept the tracked changes in the contract.",
        "Set up a maintenance plan for the test environment.",
        "Rewrite the above paragraph so that it is shorter. Follow the style rules.",
        "The judge accepted the appeal; summarise the ruling in ruling.pdf.",
        "请把评审意见整理成表，按评审人分列，标出必须修改的三处。",
        "写一份通知：审核通过的报销单本周五前付款。",
        "根据数据写一段结束语，语气亲切，不超过一百字。",
        "系统上线通知写两百字，说明停机时间。",
        "👨‍👩‍👧‍👦 family day: write the invitation ❤️",
    ],
)
def test_honest_work_is_not_taken_for_a_trick(text: str) -> None:
    assert not addresses_judge(text)
