"""A page for each attempt: why it failed, what checks expected and found, what was said and done.

Answers, texts, calls and files of agents are hostile: the template escapes them, nothing is a link
or markup, and what is hidden is made visible. The pages hold answers: they are private.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.attempts import AttemptRecord
from data.contracts.attempt import Score, ScorePart
from data.figures import amount, number, percent
from data.neutralise import one_line, visible
from data.reasons import delivered_nothing, own_labels, stage_sentences, words_of
from data.snapshot.pages import asset, page
from data.snapshot.task_pages import (
    DELIVERABLES,
    Preview,
    brief,
    graded_parts,
    missed_step,
    part_words,
    plain,
    quantity,
    reading_text,
)

_LONGEST = 20_000  # characters of one text; the file of the trajectory has all of it
_MOST_STEPS = 400
_SHORT = 200
_GIVEN = 60  # characters of an answer that stands beside what it was read as
_FOLDED = 4_000  # characters of a message from which on it is folded
_FIRST_CHECKS = 10  # that are shown unfolded
_REMARK = "Judge's remark: "
_NOT_FOUND = "finding.missing"
_NO_VALUE = ("answer.missing", "answer.no_value")
_NO_MODEL = "mockllm/"  # what Inspect calls the model of an agent that asks none
_UNSAID = {  # what stands for what was found and for the reason, where the grader tells none
    "passed": ("as expected", "The check was met."),
    "not made": ("no file to check", "The file to check is missing."),
    "no verdict": ("no verdict", "Only a judge can decide this, and none did."),
    "failed": ("see the reason", "The grader gives no reason."),
    "partly met": ("see the reason", "The grader gives no reason."),
}
_NO_FILE = ("rules.missing_file", "state.missing_file", "judge.nothing_delivered")
_MARK = re.compile(r"\s*<!-- Benchmark text of [^>]{1,200} -->\n?")  # of instruction.md
_STATUS = {
    "completed": "it finished on its own",
    "timeout": "it ran out of time",
    "budget": "it used up its turns or tokens",
    "agent_error": "the agent's program crashed",
    "infra_error": "the infrastructure failed, so the attempt is not graded",
}


@dataclass(frozen=True, slots=True)
class _Check:
    """One graded part as it is shown: what it is about, what was expected, what was found.

    `reason` is a sentence, `code` its name in tables.
    """

    name: str
    words: str
    state: str
    weight: str
    required: bool
    expected: str
    observed: str
    reason: str
    code: str

    @property
    def finding(self) -> str:
        """What was found, or why nothing is told of it."""
        return self.observed or _UNSAID[self.state][0]

    @property
    def because(self) -> str:
        """The reason, or what stands for it."""
        return self.reason or _UNSAID[self.state][1]


@dataclass(frozen=True, slots=True)
class Links:
    """Where the page leads: addresses relative to it; None for what is not there."""

    board: str
    task: str
    viewer: str | None = None
    others: Sequence[tuple[str, str, str]] = ()  # title, result and address


@dataclass(frozen=True, slots=True)
class AttemptView:
    """All that the page of an attempt is made of.

    `title` is the beginning of the request, `grading` the task with its private fields, `ended`
    the label of how it failed.
    """

    record: AttemptRecord
    score: Score | None
    result: str
    title: str
    prompt: str
    grading: Mapping[str, Any]
    outputs: Sequence[Preview]
    links: Links
    ended: str | None = None
    trajectory: Mapping[str, Any] | None = None
    has_skill: bool = False  # it was given a skill for this task

    @property
    def lacking(self) -> list[str]:
        """The files that were asked for, if a failed attempt delivered none at all."""
        if self.result != "failed" or self.outputs:
            return []
        rows = self.grading.get("deliverables") or ()
        return [name for row in rows for name in row["name_hints"] or (f".{row['file_type']}",)]


def checks_of(
    score: Score | None,
    grading: Mapping[str, Any],
    answer: str | None = None,
    *,
    lacks_files: bool = False,
) -> list[_Check]:
    """The parts of a score: failed ones first, then undecided ones.

    `answer` is the attempt's, to be shown beside what it was read as. `lacks_files`: it delivered
    none of those that were asked for.
    """
    known = {part.name: part for part in graded_parts(grading)}
    order = {"failed": 0, "partly met": 1, "no verdict": 2, "not made": 3, "passed": 4}
    parts = score.parts if score is not None else ()
    has_none = lacks_files or delivered_nothing((p.name, p.reason, p.value) for p in parts)
    answers = {f"answer.{row['part']}": row for row in grading.get("answers") or ()}
    checks = []
    for part in parts:
        words = part_words(part.name, known)
        expected = part.detail.get("expected") or words.expected or part.detail.get("limit", "")
        checks.append(
            _Check(
                part.name,
                words.about,
                _state(part, has_none=has_none),
                percent(part.weight) if part.weight else "",
                part.required,
                _text(expected),
                _observed(part, answers.get(part.name), answer),
                _reason(part.reason),
                part.reason or "",
            )
        )
    return sorted(checks, key=lambda check: order[check.state])


def _reason(code: str | None) -> str:
    """The sentence of a reason; one of another grader by its name."""
    name = (code or "").rpartition(".")[2].replace("_", " ")
    return stage_sentences().get(code or "", name and f"{name.capitalize()}.")


def _state(part: ScorePart, *, has_none: bool) -> str:
    """How a part came out; one that looks at a file which is not there was not made."""
    if part.value is None:
        return "not made" if has_none else "no verdict"
    if part.value > 0:
        return "passed" if part.value >= 1 else "partly met"
    is_for_want = part.reason in _NO_FILE or (has_none and part.reason == _NOT_FOUND)
    return "not made" if is_for_want and part.name != DELIVERABLES else "failed"


def _answered(part: ScorePart, row: Mapping[str, Any], answer: str | None) -> str:
    """What was read in an answer, told as it was asked for; a short answer also as it was given."""
    reading = part.detail.get("reading")
    text = one_line(answer or "").strip()
    if reading is None:
        shown = f"“{brief(text, _GIVEN)}”" if text else "no answer"
        return shown if part.reason in _NO_VALUE else ""
    shown = reading_text(str(reading), row.get("unit") or "", row.get("scale") or 1)
    alike = (shown,) if (row.get("scale") or 1) > 1 else (shown, shown.partition(" ")[0])
    return (
        shown if not text or text in alike or len(text) > _GIVEN else f"“{text}”, read as {shown}"
    )


def _observed(part: ScorePart, row: Mapping[str, Any] | None, answer: str | None) -> str:
    """What was seen, and how much of the part it is worth if it is neither all nor nothing."""
    if row is not None:
        return _answered(part, row, answer)
    detail = dict(part.detail)
    texts = []
    if "judge" in detail:  # of a judge: what it found, and where
        remark = str(detail.pop("finding", "")).rstrip(".")
        texts = [
            f"{_REMARK}{remark}" if remark else "",
            *(f"“{quote}”" for quote in detail.pop("quotes", ())),
        ]
        page = detail.pop("page", None)
        texts.append(f"page {page}" if page else "")
        for name in ("not_read", "files_not_shown"):
            if name in detail:
                texts.append(f"{name.replace('_', ' ')}: {_text(detail.pop(name))}")
    known = ("expected", "limit", "judge", "addressed", "supported")
    seen = {name: value for name, value in detail.items() if name not in known and value}
    texts += [_text(quantity(v) if isinstance(v, str) else v) for v in seen.values()]
    texts = [text for text in texts if text]
    if part.value is not None and 0 < part.value < 1:
        texts.append(f"worth {percent(part.value)}")
    return "; ".join(texts)


def _text(value: object) -> str:
    text = plain(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _why(view: AttemptView, checks: Sequence[_Check]) -> list[str]:
    """Why it did not pass, in sentences; the first thing to know comes first."""
    attempt = view.record.attempt
    lacking = view.lacking
    lines = []
    if attempt.status != "completed":
        lines.append(f"The attempt was cut off: {_STATUS[attempt.status]}.")
    elif view.ended is not None and view.result == "failed":
        lines.append(words_of(own_labels(), "termination", view.ended).meaning)
    if attempt.error:
        lines.append(f"It ended with this error: {one_line(attempt.error)}")
    if lacking:
        lines.append(f"Requested files: {', '.join(lacking)}. None was delivered.")
    failed = [
        check
        for check in checks
        if check.state in ("failed", "partly met") and not (lacking and check.name == DELIVERABLES)
    ]
    lines += [
        _sentence(check) for check in sorted(failed, key=lambda check: not check.required)[:3]
    ]
    if len(failed) > 3:
        lines.append(
            f"{amount(len(failed), 'check')} in all were not met; they are listed first below."
        )
    if unmade := sum(check.state == "not made" for check in checks):
        were = "was" if unmade == 1 else "were"
        lines.append(f"{amount(unmade, 'check')} {were} not made: the file to check is missing.")
    if open_ones := sum(check.state == "no verdict" for check in checks):
        have = "has" if open_ones == 1 else "have"
        lines.append(f"{amount(open_ones, 'check')} {have} no verdict: only a judge can decide.")
    if view.result == "unjudged":
        lines.append("Nothing definitely failed: the outcome depends on parts without a verdict.")
    missed = view.score.progress if view.score is not None else None
    if missed is not None and missed.first_unreached:
        name = missed.first_unreached
        step = missed_step(name, view.grading) or f"{name.replace('_', ' ')}."
        lines.append(f"The first reference step that was not reached: {step}")
    return [visible(line) for line in lines]


def _sentence(check: _Check) -> str:
    """How a check failed: why, what was expected and what was found."""
    expected = f" Expected {brief(check.expected)}." if check.expected else ""
    is_remark = check.observed.startswith(_REMARK)
    reading = brief(check.observed).rstrip(".")
    observed = f" {'' if is_remark else 'Found '}{reading}." if reading else ""
    state = "partly met" if check.state == "partly met" else "not met"
    return f"{check.words.rstrip('.')}: {state}. {check.reason}{expected}{observed}".strip()


def _unmet(checks: Sequence[_Check]) -> str:
    """What a passed attempt did not meet, as a sentence; empty without any."""
    lacking = sum(check.state in ("failed", "partly met", "not made") for check in checks)
    if not lacking:
        return ""
    rest = "1 other" if lacking == 1 else f"{number(lacking)} others"
    return f" {rest} did not pass, or only partly; that only lowers the score."


def attempt_page(view: AttemptView, snapshot: str) -> str:
    """The page of one attempt."""
    submission = view.record.submission
    is_empty = bool(view.lacking)
    checks = checks_of(view.score, view.grading, submission.answer, lacks_files=is_empty)
    return page(
        "attempt.html.j2",
        asset("report.css") + asset("reading.css"),
        view=view,
        attempt=view.record.attempt,
        snapshot=snapshot,
        prompt=_unmarked(view.prompt),
        unmet=_unmet(checks),
        agent=words_of(own_labels(), "agent", view.record.attempt.configuration.harness).meaning,
        first_checks=_FIRST_CHECKS,
        folded=_FOLDED,
        facts=_facts(view),
        why=_why(view, checks) if view.result != "passed" else [],
        checks=checks,
        answer=None if submission.answer is None else _cut(submission.answer),
        steps=list(_steps(view))[:_MOST_STEPS],
        requests=[
            (row.step, f"{row.service}.{row.operation}", _text(dict(row.arguments)), row.status)
            for row in submission.audit
        ],
        changes=[
            (f"{row.service}: {row.record}", _text(row.before), _text(row.after))
            for row in submission.changes
        ],
    )


def _unmarked(text: str) -> str:
    """A prompt without the mark that keeps it out of training data."""
    return _MARK.sub("", visible(text)).rstrip("\n")


def _facts(view: AttemptView) -> list[tuple[str, str]]:
    attempt, score = view.record.attempt, view.score
    usage, configuration = attempt.usage, attempt.configuration
    tokens = usage.input_tokens + usage.cached_tokens + usage.output_tokens
    judge = score.judge if score is not None else None
    return [
        ("Agent", configuration.harness),
        ("Model", "none" if configuration.model.startswith(_NO_MODEL) else configuration.model),
        ("Runner", configuration.runner),
        ("Ended", _STATUS[attempt.status]),
        (
            "Score",
            percent(score.overall) if score is not None and score.overall is not None else "–",
        ),
        ("Model steps", number(attempt.steps)),
        ("Tool calls", number(len(view.record.submission.calls))),
        ("Seconds", f"{attempt.seconds:.1f}"),
        ("Tokens", number(tokens)),
        ("US dollars", "–" if usage.cost is None else f"{usage.cost:.4f}"),
        ("Judge", judge or "not judged by a model"),
    ]


def _steps(view: AttemptView) -> Iterator[dict[str, Any]]:
    """The conversation: from the trajectory, or else from what was submitted."""
    if view.trajectory is None:
        yield from _submitted(view)
        return
    for step in _dicts(view.trajectory.get("steps")):
        results: dict[str, list[Mapping[str, Any]]] = {}
        observation = step.get("observation")
        shown = observation.get("results") if isinstance(observation, dict) else None
        for result_of in _dicts(shown):
            results.setdefault(str(result_of.get("source_call_id")), []).append(result_of)
        calls = []
        for call in _dicts(step.get("tool_calls")):
            own = results.get(str(call.get("tool_call_id")), [])
            result: Mapping[str, Any] = own.pop(0) if own else {}
            calls.append(
                _call(str(call.get("function_name")), call.get("arguments"),
                      _message(result.get("content")), is_error=_failed(result))
            )  # fmt: skip
        yield {
            "source": str(step.get("source")),
            "text": _cut(_unmarked(_message(step.get("message")))),
            "thinking": _cut(str(step.get("reasoning_content") or "")),
            "calls": calls,
        }


def _submitted(view: AttemptView) -> Iterator[dict[str, Any]]:
    submission = view.record.submission
    yield {"source": "user", "text": _cut(_unmarked(view.prompt)), "thinking": "", "calls": []}
    texts = dict(submission.statements)
    for step in sorted({*texts, *(call.step for call in submission.calls)}):
        calls = [
            _call(call.name, call.arguments, call.output, is_error=call.is_error)
            for call in submission.calls
            if call.step == step
        ]
        text = _cut(texts.get(step, ""))
        yield {"source": "agent", "text": text, "thinking": "", "calls": calls}


def _call(name: str, arguments: object, output: str, *, is_error: bool) -> dict[str, Any]:
    if isinstance(arguments, Mapping):
        given = "\n".join(f"{key}: {_text(value)}" for key, value in arguments.items())
    else:
        given = str(arguments or "")
    beginning = one_line(" ".join(given.split()))[: _SHORT // 2]
    if beginning.startswith(f"{name.lower()}: "):  # "Skill skill: hiring" says it twice
        beginning = beginning[len(name) + 2 :]
    return {
        "name": visible(name), "brief": beginning, "arguments": _cut(given), "output": _cut(output),
        "is_error": is_error,
    }  # fmt: skip


def _failed(result: Mapping[str, Any]) -> bool:
    extra = result.get("extra")
    own = extra.get("benchmint") if isinstance(extra, dict) else None
    return isinstance(own, dict) and own.get("is_error") is True


def _message(content: object) -> str:
    """The text of a message; parts that are no text are named by their type."""
    if isinstance(content, list):
        parts = (part.get("text") or f"[{part.get('type')}]" for part in _dicts(content))
        return "\n".join(map(str, parts))
    return "" if content is None else str(content)


def _dicts(value: object) -> Iterable[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return visible(text)
    return visible(text[:_LONGEST]) + f"\n… ({number(len(text) - _LONGEST)} characters more)"
