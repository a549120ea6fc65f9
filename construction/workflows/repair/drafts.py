"""What a repair task is made of, before screening: a folder, a request, checks and mutants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from data.contracts.candidate import Check

Files = Mapping[str, bytes]  # by path below `inputs/` or `outputs/`
Change = Callable[[dict[str, bytes]], None]  # of delivered files, in place


@dataclass(frozen=True, slots=True)
class RepairDraft:
    """One task of a generator.

    `rule` names the fault: siblings of a generator differ in it. `delivers` are the files that the
    prompt asks for, below `outputs/`. `mutants` has a change for each check, which turns the
    reference solution into one that violates that check and no other.
    """

    generator: str
    rule: str
    number: int  # among the drafts of the generator, from 1
    prompt: str
    inputs: Files
    delivers: tuple[str, ...]
    checks: tuple[Check, ...]
    mutants: Mapping[str, Change]
    language: str = "en"
    guidelines: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """A generator of repair tasks of one kind of fault.

    `build(number, seed)` makes the draft of that number; the rules take turns. `solve(rule,
    inputs)` is the reference solution: it sees the files that an agent is given, knows what the
    fault is, and returns the delivered files.
    """

    name: str
    kind: str  # one of the ten kinds of faults
    meaning: str
    task_family: str
    rules: tuple[str, ...]
    build: Callable[[int, int], RepairDraft]
    solve: Callable[[str, Files], Files]

    def rule_of(self, number: int) -> str:
        return self.rules[(number - 1) % len(self.rules)]
