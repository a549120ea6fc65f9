"""What a task lacks is counted, and the day of a public log is carried into its request."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest

from construction.judging.preflight import GATE, PreflightConfig
from construction.judging.signals import measure
from construction.sessions.packaging.package import Identity, Packaged, package
from data.contracts import AgentAct, Disclosure, Fixture, TaskInstance
from tests.construction.sessions.instances import said

NOON = 1930564800.0  # 2031-03-06 UTC


def packaged(instance: TaskInstance, path: str, disclosure: Disclosure) -> Packaged:
    fixture = Fixture(path=path, sha256="0" * 64, bytes=900, media_type="x/y")
    return package(instance, [fixture], Identity("t", "s", disclosure))


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("Rename the pdf file after its number.", "mail/a.eml", "preflight.missing_object"),
        ("Flag every overdue loan in the list.", "loans.csv", "preflight.unknown_day"),
        ("Which cabin did I book on the ferry?", "cabins.xlsx", "preflight.unknown_asker"),
    ],
)
def test_what_nothing_says_is_a_reason_of_its_own(text: str, path: str, reason: str) -> None:
    actual = packaged(said(text), path, Disclosure.PUBLIC)
    verdict = GATE.judge(measure(actual.case, actual.conversation), PreflightConfig())
    assert verdict.reason == reason


@pytest.mark.parametrize(("size", "missing"), [(3, ("calendar service",)), (900, ())])
def test_the_state_of_a_service_without_a_record_stands_for_none(
    size: int, missing: tuple[str, ...]
) -> None:
    state = Fixture(path="calendar/events.json", sha256="0" * 64, bytes=size, media_type="x/y")
    booking = said("Use the calendar service to book a meeting on 3 May 2031 at 10:00 with Kim.")
    seen = package(booking, [state], Identity("t", "s", Disclosure.PUBLIC)).conversation
    assert seen.systems_missing == missing


def test_the_day_of_a_public_log_is_said_in_the_request() -> None:
    typed = said("Flag every overdue loan in the list.")
    dated = replace(typed, user_turns=tuple(replace(t, at=NOON) for t in typed.user_turns))
    public = packaged(dated, "loans.csv", Disclosure.PUBLIC)
    assert "Today is 2031-03-06." in public.case.request
    assert "Today is 2031-03-06." in public.candidate.prompt
    assert public.conversation.day_unknown == ()
    other = next(kind for kind in Disclosure if kind is not Disclosure.PUBLIC)
    assert packaged(dated, "loans.csv", other).conversation.day_unknown == ("overdue",)


@pytest.mark.parametrize(("path", "is_said"), [("mail/visit.eml", False), ("crew.csv", True)])
def test_the_day_is_not_said_where_a_mail_tells_it(path: str, is_said: bool) -> None:
    what = "email" if path.endswith("eml") else "list"
    typed = said(f"Read the {what} about tomorrow's visit and put the visit into visit.ics.")
    dated = replace(typed, user_turns=tuple(replace(t, at=NOON) for t in typed.user_turns))
    public = packaged(dated, path, Disclosure.PUBLIC)
    assert ("Today is" in public.case.request) == is_said
    assert public.conversation.day_unknown == ()


def test_a_host_that_is_to_be_dialled_needs_the_web() -> None:
    text = "Find the flag of the puzzle that runs at nc tides.harbour.example 4100."
    seen = package(
        said(text), [], Identity("t", "s", Disclosure.PUBLIC), network="offline"
    ).conversation
    assert seen.offline == ("nc tides.harbour.example",)


@pytest.mark.parametrize(
    ("path", "is_missing"),
    [
        ("/mnt/skills/tables/fill.py", False),
        ("~/.harbour/skills/fees/sum.py", False),
        ("/w/pkg/skills/agents.py", True),
        ("fees/sum.py", True),
    ],
)
def test_the_agents_own_tools_are_no_inputs(path: str, is_missing: bool) -> None:
    typed = replace(said("Sum the fees in fees.csv."), acts=(AgentAct("read", path, 1),))
    missing = packaged(typed, "fees.csv", Disclosure.PUBLIC).conversation.files_missing
    assert bool(missing) == is_missing


@pytest.mark.parametrize(
    ("order", "missing"),
    [
        ("Review this change line by line.", ()),
        ("检查下面的改动有没有问题。", ()),
        ("Apply this and run it.", ("sum.py",)),
    ],
)
def test_what_was_read_around_a_pasted_change_is_no_input(
    order: str, missing: tuple[str, ...]
) -> None:
    diff = "diff --git a/fees.py b/fees.py\n@@ -1 +1 @@\n-rate = 2\n+rate = 3"
    act = AgentAct("read", "fees/sum.py", 1)
    typed = replace(said(f"{order}\n\n{diff}"), acts=(act,))
    seen = packaged(typed, "notes.md", Disclosure.PUBLIC).conversation
    assert seen.files_missing == missing


def test_many_words_of_review_are_read_in_linear_time() -> None:
    def seconds(size: int) -> float:
        instance = said("```\n" + "review the code of it. " * size)
        began = process_time()
        packaged(instance, "harbour/fees.csv", Disclosure.PUBLIC)
        return process_time() - began + 1e-3

    assert seconds(4_000) / seconds(500) < 24  # linear 8, quadratic 64


def test_a_session_over_code_that_is_not_there_lacks_it() -> None:
    typed = replace(said("Now put the fees first."), over_code=True)
    seen = packaged(typed, "docs/notes.md", Disclosure.PUBLIC).conversation
    assert seen.objects_missing == ("the source code",)
