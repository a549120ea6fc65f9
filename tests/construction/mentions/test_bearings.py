"""What a request needs to be known of its asker and of the day."""

from __future__ import annotations

import pytest

from construction.mentions.bearings import tells_day, unknown_asker, unknown_day

ROSTER = ["data/ferry_bookings.xlsx"]


@pytest.mark.parametrize(
    ("text", "for_event", "words"),
    [
        ("The inspection may be overdue; is it?", False, ("overdue",)),
        ("Flag every overdue loan in loans.csv.", False, ("overdue",)),
        ("Is this bill due?", False, ("is this bill due",)),
        (
            "Write down whether the lease is still valid.",
            False,
            ("whether the lease is still valid",),
        ),
        ("Have I missed the deadline?", False, ("missed the deadline",)),
        ("Tell me when the rent is due.", False, ()),
        ("What is the due date of the bill?", False, ()),
        ("把逾期的书标出来。", False, ("逾期",)),
        ("How many days until the fair?", False, ("days until",)),
        ("Flag every loan that is overdue as of 2031-04-02.", False, ()),
        ("Today is 2 May 2031. Which loans are overdue?", False, ()),
        ("Sum the column of overdue.csv.", False, ()),
        ("Do not flag overdue loans; count them all.", False, ()),
        ("Do not drop any loan, and flag overdue loans.", False, ("overdue",)),
        ("Flag overdue loans. " + "Then list each shelf. " * 20, False, ()),
        ("Put the tasting into the calendar for tomorrow.", True, ("tomorrow",)),
        ("Write a notice that the pool is shut tomorrow.", False, ()),
        ("All pupils attend today, enter Y for each.", False, ()),
        ("Put the tasting into the calendar for 4 May 2031.", True, ()),
        ("Kick-off next week (9/14), 14:00. Make kickoff.ics.", True, ()),
        ("The dentist is on Monday the 9th, i.e. next week. Make dentist.ics.", True, ()),
        ("Meet in room 3/4 tomorrow, make meet.ics.", True, ("tomorrow",)),
        ("The tour of next Friday takes the 2nd floor; make tour.ics.", True, ("next friday",)),
        ("下周二，18号，上午十点复诊，建 visit.ics。", True, ()),
        ("明天在3号会议室开会，建 meet.ics。", True, ("明天",)),
    ],
)
def test_the_day_is_needed(text: str, for_event: bool, words: tuple[str, ...]) -> None:
    assert unknown_day(text, for_event=for_event) == words


@pytest.mark.parametrize(
    ("text", "inputs", "days", "is_told"),
    [
        ("Read Petra's mail; the dinner is tomorrow, add it.", ["mail/petra.eml"], 0, True),
        ("Put tomorrow's concert on the poster into concert.ics.", ["poster.png"], 0, True),
        ("Put tomorrow's lessons into lessons.ics.", ["data/timetable.xlsx"], 0, True),
        ("Create a training for tomorrow for all of staff.", ["data/staff.xlsx"], 0, False),
        ("Add a call to Jo's calendar for tomorrow at 10.", ["calendar/Jo.ics"], 1, True),
        ("Add a call to Jo's calendar for tomorrow at 10.", ["calendar/Jo.ics"], 6, False),
        ("Add a call to Jo's calendar for tomorrow at 10.", [], 0, False),
        ("Move today's call in Jo's calendar to tomorrow.", ["calendar/Jo.ics"], 6, True),
        ("Book a slot next week when Lena is available.", ["Lena.ics"], 9, True),
        ("Book a slot next week when Lena is available.", ["Lena.ics"], 0, False),
        ("把周报会改到明天，请更新日历。", ["calendar/组会.ics"], 4, True),
        ("给大家建一个明天的培训日程。", ["名单.xlsx"], 0, False),
    ],
)
def test_an_input_tells_the_day_of_an_event(
    text: str, inputs: list[str], days: int, is_told: bool
) -> None:
    calendar_days = [f"203105{number:02}" for number in range(days)]
    assert tells_day(text, inputs, calendar_days) == is_told
    assert bool(unknown_day(text, for_event=True, is_told=is_told)) != is_told


def test_that_the_day_of_an_event_is_told_says_nothing_of_what_is_overdue() -> None:
    text = "Flag every overdue loan and put a reminder into loans.ics for tomorrow."
    assert unknown_day(text, for_event=True, is_told=True) == ("overdue",)


@pytest.mark.parametrize(
    ("text", "paths", "words"),
    [
        ("Which cabin did I book?", ROSTER, ("did i book",)),
        ("What is my seat on the ferry?", ROSTER, ("my seat",)),
        ("我的座位是哪个？", ROSTER, ("我的座位",)),
        ("I am Runa. Which cabin did I book?", ROSTER, ()),
        ("My name is Runa; what is my seat?", ROSTER, ()),
        ("What is my seat on the ferry?", ["mail/inbox.json"], ()),
        ("What is my seat on the ferry?", [], ()),
        ("Which cabin did Runa book?", ROSTER, ()),
        ("Find the cabin that I booked.", ROSTER, ("find the cabin that i booked",)),
        ("Enter what these receipts say; I paid all of them.", ["a.jpg"], ()),
    ],
)
def test_the_asker_is_needed(text: str, paths: list[str], words: tuple[str, ...]) -> None:
    assert unknown_asker(text, paths) == words
