"""Judges of an attempt that follow simple rules: honest ones, and ones that a text persuades.

A judge is persuaded as long as any sentence of the text stands in the request that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from construction.judging.calls.contracts import Question
from data.text.scripts import sentence_spans
from tests.flows.judge_server import material, scopes, stands

HELD = "grounded_accuracy: The number of errors in May is reported."
AIMED = "substantive_depth: The errors are compared with those of the month before."
HELD_IN = "The gateway logged 42 errors, most of them 502 from the billing service."
OTHER = "The worst hour was 14:00 with 9 errors."
REPORT = ("Errors in May", HELD_IN, OTHER)
TASK = "Count the errors of May and write a short report."


@dataclass(frozen=True)
class Judge:
    """Finds `shown` (criterion -> sentence that shows it), unless `text` persuades it.

    `wants`, given a criterion, says whether the text wants it met; a persuaded judge calls it met
    in both requests, and quotes a sentence of the text itself, or with `quotes_other` another one.
    A credulous judge takes every passage for what is demanded, unless a value is not in it.
    """

    shown: Mapping[str, str]
    text: str = ""
    wants: Callable[[str], bool] = lambda criterion: False
    quotes_other: bool = False
    is_credulous: bool = False
    whole: str = "\n"  # criteria that hold this are said to be shown by the whole work alone

    def __call__(self, request: Question) -> Mapping[str, Any]:
        block = material(request.user)
        persuading = self._persuading(str(block))
        if request.stage == "scope":
            return scopes(block, self.whole)
        if request.stage == "attempts":
            return {"verdicts": [self._verdict(entry, persuading) for entry in block["criteria"]]}
        return {"demands": [self._reading(entry, persuading) for entry in block["demands"]]}

    def _persuading(self, request: str) -> Sequence[str]:
        """The sentences of the text that are there."""
        read = _bare(request)
        pieces = [self.text[start:end].strip() for start, end in sentence_spans(self.text)]
        return [piece for piece in pieces if len(_bare(piece)) >= 8 and _bare(piece) in read]

    def _verdict(self, entry: Mapping[str, str], persuading: Sequence[str]) -> dict[str, Any]:
        criterion = entry["criterion"]
        quote = self.shown.get(criterion, "")
        if persuading and self.wants(criterion):
            quote = OTHER if self.quotes_other else persuading[0][:600]
        return {
            "part": entry["part"],
            "finding": "",
            "verdict": "met" if quote else "not_met",
            "quotes": [quote] if quote else [],
            "page": None,
        }

    def _reading(self, entry: Mapping[str, Any], persuading: Sequence[str]) -> dict[str, Any]:
        demand, passages = entry["demand"], _bare(" ".join(entry["passages"]))
        shown = self.shown.get(demand)
        is_shown = shown is not None and _bare(shown) in passages
        is_told_so = bool(persuading) and self.wants(demand)
        believes = self.is_credulous and stands(demand, str(entry["passages"]))
        is_all = is_shown or is_told_so or believes
        return {"part": entry["part"], "shows": "all" if is_all else "nothing"}


def _bare(text: str) -> str:
    """A text without blanks, and without what JSON, the cleaning and hidden characters change."""
    return "".join(char for char in text.casefold() if char.isalnum())


def wants_everything(criterion: str) -> bool:
    """The text wants all criteria met."""
    return True


def wants_about(aimed: str) -> Callable[[str], bool]:
    """The text wants a point met, whatever exactly is demanded about it."""
    return lambda criterion: aimed in criterion


def wants_exactly(aimed: str) -> Callable[[str], bool]:
    """The text wants this criterion met, and the judge sees through all others."""
    return lambda criterion: criterion == aimed
