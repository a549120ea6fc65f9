"""Recovery on the project's own dialogues: what belongs together, and what does not."""

from __future__ import annotations

import pytest

from construction.sessions.recovery import RecoveryConfig, recover
from construction.sessions.recovery.exchanges import read_exchanges
from construction.sessions.recovery.segment import decide
from data.contracts import CutReason
from tests.construction.sessions.recovery.talk import Dialog, Talk, dialogs


@pytest.mark.parametrize("dialog", dialogs(), ids=lambda dialog: str(dialog.name))
def test_tasks_of_a_dialogue(dialog: Dialog) -> None:
    recovered = recover(dialog.talk.session(), RecoveryConfig())
    tasks = [[turn.index for turn in instance.user_turns] for instance in recovered.instances]
    assert tasks == dialog.tasks


def test_a_reset_is_named_as_the_reason() -> None:
    talk = Talk().user("Write a haiku about rain.").agent("Soft rain.").user("/new")
    talk.agent("New session.").user("Which suppliers delivered late in March?").agent("Two.")
    recovered = recover(talk.session(), RecoveryConfig())
    assert [instance.started_by for instance in recovered.instances] == [
        CutReason.SESSION_START,
        CutReason.EXPLICIT_RESET,
    ]


def test_a_delivery_is_named_as_the_reason() -> None:
    talk = Talk().user("Proofread this leaflet on beekeeping.", "bees.docx")
    talk.agent("Done, saved as bees_checked.docx.").user("thank you!").agent("You're welcome!")
    talk.user("Please draft a rental agreement for our storage unit in Graz.").agent("Saved.")
    recovered = recover(talk.session(), RecoveryConfig())
    assert [cut.reason for cut in recovered.cuts] == [CutReason.AFTER_DELIVERY]
    assert [len(instance.user_turns) for instance in recovered.instances] == [2, 1]


def test_a_long_pause_is_named_as_the_reason() -> None:
    talk = Talk().user("Create an invoice for the client Brandt.").agent("Here it is.")
    talk.pause(4 * 86_400).user("Find three hotels near the trade fair.").agent("Here are three.")
    (cut,) = recover(talk.session(), RecoveryConfig()).cuts
    assert cut.reason is CutReason.LONG_PAUSE
    assert cut.evidence["pause_seconds"] == 4 * 86_400 + 60


def test_a_change_of_topic_is_named_as_the_reason() -> None:
    heat = (
        "boiler radiator thermostat insulation subsidy installer compressor refrigerant meter "
        "chimney basement window facade solar battery inverter tariff plumber valve pipework"
    )
    law = (
        "copyright licence trademark patent infringement attorney royalty clause court judge "
        "verdict appeal plaintiff damages author publisher translation archive library fee"
    )
    talk = Talk()
    for number in range(4):
        talk.user(f"{heat} {number}").agent(f"{heat} for the house")
    for number in range(4):
        talk.user(f"{law} {number}").agent(f"{law} of the court")
    (cut,) = recover(talk.session(), RecoveryConfig()).cuts
    assert (cut.reason, cut.turn_index) == (CutReason.TOPIC_SHIFT, 8)
    assert cut.evidence["cohesion"] == 0.0


def test_a_marker_is_named_as_the_reason() -> None:
    talk = Talk().user("Which plants survive in a dark stairwell?").agent("Ivy and ferns.")
    talk.user("On another note, please write a toast for Helga's retirement.").agent("Dear Helga")
    assert [cut.reason for cut in recover(talk.session(), RecoveryConfig()).cuts] == [
        CutReason.MARKED_AS_NEW
    ]


def test_a_higher_threshold_cuts_less() -> None:
    talk = Talk().user("Create an invoice for the client Brandt.").agent("Here it is.")
    talk.pause(4 * 86_400).user("Find three hotels near the trade fair.").agent("Here are three.")
    assert len(recover(talk.session(), RecoveryConfig(threshold=10)).instances) == 1
    assert len(recover(talk.session(), RecoveryConfig(threshold=0)).instances) == 2


def test_a_pause_counts_by_the_habit_of_the_session() -> None:
    scores = []
    for habit in (0.0, 12 * 3600.0):
        talk = Talk()
        for word in ("oak", "elm", "ash", "yew", "fir"):
            talk.user(f"and the {word}?").agent("Yes.").pause(habit)
        talk.pause(12 * 3600 - habit).user("Find three hotels near the fair.").agent("Here.")
        exchanges, _ = read_exchanges(talk.session())
        scores.append(decide(exchanges, [False] * 6, RecoveryConfig())[-1].evidence)
    brisk, slow = scores
    assert brisk["pause_seconds"] == slow["pause_seconds"] == 12 * 3600 + 60
    assert "pause" in str(brisk["cues"]).split()
    assert "pause" not in str(slow["cues"]).split()
