"""Self-containment by a model, within rules it cannot overrule (EnterpriseClawBench, app. B.1).

Facts override an acceptance: no words at all, nothing but thanks, a file that the request mentions
and that is missing. Where the material addresses its judge, the rules judge too, and a verdict
counts only if both agree. A rewritten prompt must say what the person's messages said, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from construction.judging import self_containment as rules
from construction.judging.contracts import (
    Asker,
    Case,
    Containment,
    ContainmentReason,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.injection import case_addresses_judge, unaddressed
from construction.judging.model.prompt import HIDDEN, case_content, load_prompt
from construction.judging.reading import read
from construction.judging.rules.facts import Fact, FactKind, find_facts
from construction.judging.rules.rewriting import check_faithfulness
from construction.judging.rules.sentences import missing_files
from data.neutralise import visible
from data.text.scripts import leading_language

STAGE = "self_containment"
SecondOpinion = Callable[[Case], Containment]
_CORRECTED = frozenset({FactKind.NUMBER, FactKind.DATE})


def judge_containment(
    cases: Sequence[Case],
    client: Asker,
    config: ModelStagesConfig,
    second: SecondOpinion | None = None,
) -> list[Judged[Containment]]:
    """The verdict on each case, in order.

    `second` (`rules_opinion`) judges too where the material addresses its judge; without it such
    cases are errored and go to review.
    """
    return ask(containment_stage(config, second), cases, client)


def rules_opinion(config: rules.ContainmentConfig) -> SecondOpinion:
    """The rules' judgement, without text that is addressed to the judge."""
    return lambda case: rules.judge_containment(unaddressed(case), config)


def rules_verdict(config: rules.ContainmentConfig) -> SecondOpinion:
    """As `rules_opinion`, without rewritten prompts, to compare verdicts."""
    return lambda case: rules.verdict(unaddressed(case), config)


def containment_stage(
    config: ModelStagesConfig, second: SecondOpinion | None = None
) -> Stage[Case, Containment, Containment]:
    """The stage, for callers that want its requests or checks alone."""
    return Stage(
        prompt=load_prompt("containment"),
        answer=Containment,
        item_id=lambda case: case.candidate.task_id,
        content=lambda case, cleaner: case_content(case, cleaner, config),
        check=lambda case, answer: _check(case, answer, config, second),
    )


def fact_against(case: Case) -> ContainmentReason | None:
    """The fact that rules out self-containment, whatever a judge says; None if there is none."""
    sentences = read(case.request)
    has_files = bool(case.candidate.fixtures)
    if not sentences or (all(one.chatter for one in sentences) and not has_files):
        return ContainmentReason.CONVERSATION_ONLY
    return ContainmentReason.MISSING_INPUT if missing_files(case) else None


def _check(
    case: Case, answer: Containment, config: ModelStagesConfig, second: SecondOpinion | None
) -> Checked[Containment] | Fault:
    if answer.self_contained != (answer.reason_code is ContainmentReason.SELF_CONTAINED):
        return Fault(JudgeReason.CONTRADICTION, answer.reason_code)
    fact = fact_against(case) if answer.self_contained else None
    if fact is not None:
        return Checked(_overruled(fact), ("overruled by a fact",))
    if case_addresses_judge(case):
        if second is None:
            return Fault(JudgeReason.ADDRESSED)
        other = second(case)
        if other.self_contained != answer.self_contained:
            return Fault(JudgeReason.DISPUTED, f"model {answer.reason_code}, {other.reason_code}")
    return _with_rewrite(case, answer, config)


def _overruled(fact: ContainmentReason) -> Containment:
    return Containment(
        self_contained=False,
        reason_code=fact,
        brief_reason="a fact of the case overrules the model's acceptance",
    )


def _with_rewrite(
    case: Case, answer: Containment, config: ModelStagesConfig
) -> Checked[Containment]:
    """The verdict, without a rewritten prompt that fails its checks."""
    if answer.rewritten_prompt is None:
        return Checked(answer)
    rewritten = shown(answer.rewritten_prompt)
    fault = check_rewrite(rewritten, case, config) if answer.self_contained else None
    if answer.self_contained and fault is None:
        return Checked(answer.model_copy(update={"rewritten_prompt": rewritten}))
    note = f"rewritten prompt dropped: {fault.reason}" if fault else "rewritten prompt dropped"
    return Checked(answer.model_copy(update={"rewritten_prompt": None}), (note,))


def shown(rewritten: str) -> str:
    """A rewritten prompt without hidden characters, which must not be in a task."""
    return visible(HIDDEN.sub("", rewritten)).strip()


def check_rewrite(rewritten: str, case: Case, config: ModelStagesConfig) -> Fault | None:
    """What is wrong with a rewritten prompt: length, language, inventions, losses by name."""
    if not rewritten.strip():
        return Fault(JudgeReason.EMPTY)
    if len(rewritten) > config.rewrite_chars:
        return Fault(JudgeReason.TOO_LONG, f"{len(rewritten)} characters")
    language = leading_language(rewritten)
    if language != leading_language(case.request):
        return Fault(JudgeReason.OTHER_LANGUAGE, language)
    faithfulness = check_faithfulness(rewritten, case)
    if faithfulness.inventions:
        return Fault(JudgeReason.INVENTION, _named(faithfulness.inventions))
    lost = _without_corrected(faithfulness.losses, rewritten, case) if faithfulness.losses else ()
    return Fault(JudgeReason.LOSS, _named(lost)) if lost else None


def _without_corrected(losses: Sequence[Fact], rewritten: str, case: Case) -> tuple[Fact, ...]:
    """The losses except numbers and dates that a later paragraph corrected.

    "Make it 6 copies" corrects an earlier 5, provided that the rewrite holds the 6.
    """
    kept = {(fact.kind, fact.value) for fact in find_facts(rewritten)}
    excused: set[tuple[FactKind, str]] = set()
    corrected: set[FactKind] = set()
    for paragraph in reversed(case.request.split("\n\n")):
        facts = [fact for fact in find_facts(paragraph) if fact.kind in _CORRECTED]
        excused |= {(fact.kind, fact.value) for fact in facts if fact.kind in corrected}
        corrected |= {fact.kind for fact in facts if (fact.kind, fact.value) in kept}
    return tuple(fact for fact in losses if (fact.kind, fact.value) not in excused)


def _named(facts: Sequence[Fact]) -> str:
    return ", ".join(sorted(fact.text for fact in facts))
