"""Parts of judged attempts that people judge too, and how far they agree with the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from construction.judging.judged_attempts import JudgedRun
from construction.judging.model.attempt_case import AttemptCase, JudgedAttempt
from construction.judging.review import LONGEST_ITEM, Decisions, ReviewItem, Topic
from data.neutralise import visible
from data.randomness import keyed_order

_TASK_CHARS = 2_000  # of the task, in a packet


def packets(
    judged: JudgedRun, judge: str, most: int, seed: int, earlier: Sequence[ReviewItem]
) -> list[ReviewItem]:
    """The parts of at most so many attempts, drawn by the seed, and all that were drawn `earlier`.

    Earlier ones are made anew where their attempt was judged now, and stay as they are elsewhere:
    a sheet that is out can still come back.
    """
    ids = [case.attempt_id for case in judged.cases]
    drawn = {ids[at] for at in keyed_order(seed, "packets", ids)[:most]}
    drawn |= {item.item_id.rpartition(":")[0] for item in earlier}
    items = {item.key: item for item in earlier}
    for case, result in zip(judged.cases, judged.results, strict=True):
        if case.attempt_id in drawn:
            items |= {item.key: item for item in _items(case, result, judge)}
    return list(items.values())


def _items(case: AttemptCase, result: JudgedAttempt, judge: str) -> Iterator[ReviewItem]:
    for part, criterion in case.criteria.items():
        yield ReviewItem(
            item_id=_item_id(result, part),
            topic=Topic.CRITERION,
            text=_shown(case, criterion),
            answers={judge: str(result.verdicts[part].verdict or "")},
        )


def _item_id(result: JudgedAttempt, part: str) -> str:
    return f"{result.attempt_id}:{part}"


def _shown(case: AttemptCase, criterion: str) -> str:
    """Criterion, task and what was delivered; what is cut is named, and where the whole stands."""
    where = f"Delivered files: {case.folder}"
    if case.left_out:
        where += f" ({case.left_out} more than are shown here)"
    files = (f"[{file.name}]\n{file.text or f'(no text: {file.trouble})'}" for file in case.files)
    task = _cut(visible(case.task), _TASK_CHARS, "the task of the release")
    whole = visible("\n\n".join([criterion, task, where, case.answer or "", *files]))
    return _cut(whole, LONGEST_ITEM, case.folder)


def _cut(text: str, most: int, where: str) -> str:
    """At most so many characters, with how many are missing and where the whole stands."""
    if len(text) <= most:
        return text
    mark = "\n⟨{} more characters are not shown; the whole stands in {}⟩"
    kept = most - len(mark) - len(where) - len(str(len(text)))
    return text[:kept] + mark.format(len(text) - kept, where)


def rated_pairs(judged: JudgedRun, decisions: Decisions) -> tuple[list[str], list[str]]:
    """What counts of the judge's verdicts, and those of people, on the parts that both judged."""
    pairs = [
        (str(seen.counted), decisions[key].decision.decision)
        for result in judged.results
        for part, seen in result.verdicts.items()
        if (key := (_item_id(result, part), Topic.CRITERION)) in decisions
    ]
    return [own for own, _ in pairs], [persons for _, persons in pairs]
