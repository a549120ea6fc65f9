"""What a request needs to be known of its asker and of the day."""

from __future__ import annotations

import pytest

from construction.mentions.bearings import unknown_asker, unknown_day

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
    ],
)
def test_the_day_is_needed(text: str, for_event: bool, words: tuple[str, ...]) -> None:
    assert unknown_day(text, for_event=for_event) == words


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
