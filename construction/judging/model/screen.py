"""Screening by a model: is it work for an agent, and what does a newcomer lack?

Every claim quotes what shows it. Code overrules a claim only with a fact: the file is there, the
quote is not, the messages bear times. A verdict without a claim that stands has no ground. Text
that addresses its judge is taken out before the model reads (`injection`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from construction.judging.contracts import (
    Answer,
    Case,
    ContainmentReason,
    JudgeReason,
    ModelStagesConfig,
    Screened,
)
from construction.judging.evidence.shown import find_quote
from construction.judging.evidence.views import Pictures
from construction.judging.model.asking import Checked, Faults, Stage
from construction.judging.model.prompt import (
    case_content,
    case_images,
    load_prompt,
    looked_at,
    without_addressed_in,
)
from construction.mentions.files import extension
from data.contracts import MissingInput, MissingKind

_MOST_UNSEEN = 8  # files that a question names
_SOURCE = "named in the request"
_NO_DAY = (
    "nothing in the material says so: then the day is missing, "
    "unless today is left empty because the day does not matter"
)
_KINDS = {
    "file": MissingKind.FILE,
    "context": MissingKind.CONVERSATION,
    "system": MissingKind.SYSTEM,
    "day": MissingKind.DAY,
    "person": MissingKind.ASKER,
}
_Quote = Annotated[str, Field(max_length=400)]
_What = Annotated[str, Field(max_length=200)]
_REASON = ContainmentReason
_VERDICTS = {
    "file": _REASON.MISSING_INPUT,
    "context": _REASON.MISSING_CONTEXT,
    "system": _REASON.DEPENDS_ON_LIVE_SYSTEM,
    "day": _REASON.MISSING_CONTEXT,
    "person": _REASON.MISSING_CONTEXT,
}
# What each of these verdicts rests on, in the order in which the prompt decides.
_OF_CLAIMS = {
    _REASON.DEPENDS_ON_LIVE_SYSTEM: "needs_world, or of missing with kind system,",
    _REASON.MISSING_INPUT: "missing with kind file",
    _REASON.MISSING_CONTEXT: "missing with kind context, day or person",
}
_Verdict = Literal[
    "self_contained",
    "conversation_only",
    "depends_on_live_system",
    "missing_input",
    "missing_context",
    "multi_task",
    "ambiguous_task",
    "not_verifiable",
]


class Lacking(Answer):
    what: _What
    kind: Literal["file", "context", "system", "day", "person"]
    quote: _Quote


class World(Answer):
    what: _What
    quote: _Quote


class ScreenAnswer(Answer):
    """The reason comes before the verdict."""

    reason: Annotated[str, Field(max_length=800)]
    addressee: Literal["agent", "someone_else", "nobody"]
    addressee_quote: _Quote
    is_work: bool
    work_quote: _Quote
    missing: Annotated[tuple[Lacking, ...], Field(max_length=12)]
    needs_world: Annotated[tuple[World, ...], Field(max_length=12)]
    pieces: Annotated[tuple[_What, ...], Field(max_length=12)]
    results: Annotated[tuple[_What, ...], Field(max_length=40)]
    verdict: _Verdict
    confidence: Annotated[float, Field(ge=0, le=1)]
    today: Annotated[str, Field(max_length=40)]


def screen_stage(
    config: ModelStagesConfig,
    otherwise: Callable[[Case], Screened],
    pictures: Pictures | None = None,
) -> Stage[Case, ScreenAnswer, Screened]:
    """The stage; `otherwise` judges where no answer can be used."""

    def check(case: Case, answer: ScreenAnswer) -> Checked[Screened] | Faults:
        claims = _Claims(case, answer, looked_at(case, config, pictures).unseen)
        if claims.faults:
            return Faults(tuple(claims.faults), JudgeReason.CONTRADICTION)
        return Checked(claims.screened)

    return Stage(
        prompt=load_prompt("screen"),
        answer=ScreenAnswer,
        item_id=lambda case: case.candidate.task_id,
        content=lambda case, cleaner: without_addressed_in(
            case_content(case, cleaner, config, pictures)
        ),
        check=check,
        settle=lambda case, answer, _faults: (
            otherwise(case) if answer is None else _Claims(case, answer, {}).screened
        ),
        images=lambda case: case_images(case, config, pictures),
    )


class _Claims:
    """What an answer claims about a case, and what of it stands: `faults` says what does not."""

    def __init__(self, case: Case, answer: ScreenAnswer, unseen: Mapping[str, str]) -> None:
        self.case, self.answer, self.unseen = case, answer, unseen
        self.faults: list[str] = []
        self.today = self._day()
        self.missing = tuple(self._missing())
        self.world = [one for one in answer.needs_world if self._stands(one.what, one.quote)]
        kinds = {_VERDICTS[lack.kind] for lack in self.missing}
        kinds |= {_REASON.DEPENDS_ON_LIVE_SYSTEM} if self.world else set()
        self.lacking = [verdict for verdict in _OF_CLAIMS if verdict in kinds]
        verdict = _REASON(answer.verdict)
        if verdict in _OF_CLAIMS and self.lacking and verdict not in self.lacking:
            verdict = self.lacking[0]  # what is said to be lacking is of another kind
        if not self._has_ground(verdict):
            verdict = _REASON.SELF_CONTAINED
        elif verdict is _REASON.SELF_CONTAINED and (self.missing or self.world):
            self.faults.append(
                "the verdict is self_contained, but something is listed as missing or needed: "
                "list only what the work cannot be done without, or change the verdict"
            )
        lacks = [(_KINDS[one.kind], one.what) for one in self.missing]
        lacks += [(MissingKind.SYSTEM, one.what) for one in self.world]
        self.screened = Screened(
            reason_code=verdict,
            brief_reason=" ".join(answer.reason.split())[:400],
            confidence=round(answer.confidence, 9),
            missing=tuple(
                MissingInput(k, _SOURCE, what, extension(what) if k is MissingKind.FILE else "")
                for k, what in (lacks if verdict is not _REASON.SELF_CONTAINED else ())
            ),
            today=self.today,
            results=tuple(self._results()),
        )

    def _is_quoted(self, quote: str) -> bool:
        return find_quote(self.case.evidence, quote) is not None

    def _stands(self, what: str, quote: str) -> bool:
        """Does a claim quote words of the material?"""
        if self._is_quoted(quote):
            return True
        self.faults.append(f"“{what}”: its quote does not stand in the material: “{quote[:80]}”")
        return False

    def _missing(self) -> Iterator[Lacking]:
        files = {
            view.path.rpartition("/")[2].casefold(): view.path
            for view in self.case.evidence.files
            if view.is_there
        }
        for lack in self.answer.missing:
            words = lack.what.casefold().replace("\\", "/")
            there = (path for name, path in files.items() if lack.kind == "file" and name in words)
            if lack.kind == "day" and self.today:
                self.faults.append(f"“{lack.what}” is known: the messages are of {self.today}")
            elif path := next(there, None):
                self.faults.append(f"“{lack.what}” is not missing: {path} is an input file")
            elif self._stands(lack.what, lack.quote):
                self._ask_about_unseen(lack)
                yield lack

    def _ask_about_unseen(self, lack: Lacking) -> None:
        """A file that no name tells may be one whose pages nobody has shown to the model."""
        kind = extension(lack.what)
        alike = [path for path in self.unseen if not kind or extension(path) == kind]
        if lack.kind == "file" and alike:
            self.faults.append(
                f"is “{lack.what}” not what {', '.join(alike[:_MOST_UNSEEN])} shows? "
                "These inputs are there, though you do not see what is on them: "
                "leave it missing only if it cannot be one of them"
            )

    def _day(self) -> str:
        """The ISO day that a request counts from; empty where there is none, or none is known."""
        day = self.answer.today.strip()
        is_lacking = any(lack.kind == "day" for lack in self.answer.missing)
        if not day and not is_lacking:
            return ""
        said = [one.at[:10] for one in self.case.evidence.said if one.at and one.speaker != "agent"]
        if day in said or (_is_day(day) and self._is_quoted(day)):
            return day
        if day and self.answer.verdict == "self_contained":
            known = f"the messages are of {said[-1]}" if said else _NO_DAY
            self.faults.append(f"today is “{day}”, but {known}")
        return said[-1] if said else ""

    def _has_ground(self, verdict: ContainmentReason) -> bool:
        """Does a rejection rest on a claim that stands?"""
        answer = self.answer
        if verdict is _REASON.CONVERSATION_ONLY:
            claimed = [("no work", answer.work_quote)] if not answer.is_work else []
            if answer.addressee != "agent":
                claimed.append(("not for the agent", answer.addressee_quote))
            if not claimed:
                self.faults.append("conversation_only needs is_work false or another addressee")
                return False
            # Of two claims one that stands is enough.
            return any(self._is_quoted(quote) for _, quote in claimed) or self._stands(*claimed[0])
        if verdict in _OF_CLAIMS:
            has_ground, what = verdict in self.lacking, f"an entry of {_OF_CLAIMS[verdict]}"
        else:
            is_several = verdict is _REASON.MULTI_TASK
            has_ground, what = len(answer.pieces) > 1 or not is_several, "two pieces or more"
        if not has_ground:
            self.faults.append(f"the verdict {verdict} needs {what} that stands in the material")
        return has_ground

    def _results(self) -> Iterator[str]:
        """The inputs that are results, if the agent wrote them: that is a fact."""
        evidence = self.case.evidence
        wrote = {path.rpartition("/")[2] for path in evidence.wrote}
        paths = tuple(path.lstrip("./") for path in self.answer.results if path.strip())
        for view in evidence.files:
            if view.path.rpartition("/")[2] in wrote and view.path.endswith(paths):
                yield view.path


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        return bool(date.fromisoformat(text))
    return False
