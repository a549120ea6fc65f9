"""Plain texts, phrases, topic terms, cohesion, and what a turn says."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.recovery import RecoveryConfig, lexicon
from construction.sessions.recovery.cues import CUES, cohesions
from construction.sessions.recovery.exchanges import Exchange
from construction.sessions.recovery.features import Speech, asks_back, is_courtesy, read_speech
from construction.sessions.recovery.lexicon import terms
from data.text.lexicon import any_of, has_any
from data.text.sentences import phrase_form
from tests.construction.sessions.recovery.talk import Talk


def speech(said: str, *files: str) -> Speech:
    return read_speech(
        Exchange(Talk().user(said, *files).turns[0], after_reset=False), RecoveryConfig()
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OK, let's go. Now!", " | ok , lets go | now | "),
        ("see report.docx, v3.5", " | see report.docx , v3.5 | "),
        ("换个话题，帮我写一份通知。", " | 换个话题 , 帮我写一份通知 | "),
        ("the “next task” column", " | the ^ next task ^ column | "),
        ("", " |  | "),
    ],
)
def test_plain_form(text: str, expected: str) -> None:
    assert phrase_form(text) == expected


@pytest.mark.parametrize(
    ("text", "resets"),
    [
        ("New task: count the chairs", True),
        ("OK. A different topic: chairs", True),
        ("Great, and now a new one: chairs", True),
        ("再说另一件事：数椅子", True),
        ("今天换一件事。数椅子", True),
        ("Good morning! Today I have something new. Count the chairs", True),
        ("今天做件别的事：数椅子", True),
        ("New task entries go to the top", False),
        ("The page needs something new. Add a picture", False),
        ("Add a new task to the list", False),
        ("“下一个任务”这一栏也加上", False),
        ("新任务的截止日期改成周五", False),
        ("the next topic in the minutes is wrong", False),
    ],
)
def test_resets_are_announcements(text: str, resets: bool) -> None:
    assert has_any(phrase_form(text), lexicon.RESETS) is resets


@given(
    st.lists(st.text(alphabet="ab |", min_size=1, max_size=4), min_size=1, max_size=6),
    st.text(alphabet="ab |", max_size=30),
)
def test_a_pattern_of_phrases_finds_what_in_finds(phrases: list[str], text: str) -> None:
    assert has_any(text, any_of(phrases)) is any(phrase in text for phrase in phrases)


def test_terms_of_words_and_of_han() -> None:
    assert terms("Summaries of the summary, v2_final 2024", 100) == {"summar", "v2_final"}
    assert terms("把季度销售报告改短", 100) == {
        "季度",
        "度销",
        "销售",
        "售报",
        "报告",
        "告改",
        "改短",
    }
    assert terms("alpha beta", 5) == {"alpha"}


@given(st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=6), min_size=2, max_size=9))
def test_cohesion_is_the_mean_cosine_of_term_counts(bags: list[frozenset[str]]) -> None:
    measured = cohesions(bags)
    assert len(measured) == len(bags) - 1
    for gap, cohesion in enumerate(measured, start=1):
        expected = 0.0
        for window in (1, 2, 3):
            before = Counter(t for bag in bags[max(0, gap - window) : gap] for t in bag)
            after = Counter(t for bag in bags[gap : gap + window] for t in bag)
            norm = sum(v * v for v in before.values()) * sum(v * v for v in after.values())
            expected += sum(before[t] * after[t] for t in before) / norm**0.5 / 3 if norm else 0.0
        assert cohesion.value == pytest.approx(expected)
        assert 0 <= cohesion.mass <= 1 and cohesion.depth >= 0


@pytest.mark.parametrize(
    ("said", "thanks"),
    [
        ("Thank you so much for your help!", True),
        ("Great, thank you for taking care of that. That's all for now.", True),
        ("thanks Anna", True),
        ("谢谢，辛苦了！", True),
        ("太好了，谢谢你", True),
        ("👍", True),
        ("Thanks, now translate it", False),
        ("Thank you. How much did I save?", False),
        ("谢谢，再加一张图表说明各地区的变化", False),
        ("no", False),
        ("thanks " + "really " * 40, False),
    ],
)
def test_courtesy(said: str, thanks: bool) -> None:
    assert is_courtesy(said, phrase_form(said)) is thanks


@pytest.mark.parametrize(
    ("said", "goes_on"),
    [
        ("continue", True),
        ("继续", True),
        ("ok go ahead!", True),
        ("？", True),
        ("好的，就这样", True),
        ("continue with the invoices", False),
        ("继续写第三章的结论", False),
    ],
)
def test_go_on(said: str, goes_on: bool) -> None:
    assert speech(said).go_on is goes_on


@pytest.mark.parametrize(
    ("reply", "asks"),
    [
        ("For how many people, and at what time?", True),
        ("I need the receipts first. Please upload them here.", True),
        ("请问什么时间，多少人？", True),
        ("The table is done. Is there anything else I can do?", False),
        ("Saved as report.docx. Let me know if you need changes.", False),
        ("已完成，还有什么需要帮忙的吗？", False),
        ("The table is done.", False),
        ("", False),
    ],
)
def test_asking_back(reply: str, asks: bool) -> None:
    assert asks_back(reply) is asks


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Please draft a rental agreement", (True, True, False)),
        ("Can you check the totals again?", (True, False, True)),
        ("I'd like to see it", (True, True, False)),
        ("Now a letter to the landlord", (True, True, False)),
        ("make Tuesday a rest day", (False, False, False)),
        ("帮我写一份通知", (True, True, False)),
        ("把预算做成对比图", (True, False, False)),
        ("标题太长了", (False, False, False)),
    ],
)
def test_requests_and_their_objects(said: str, expected: tuple[bool, bool, bool]) -> None:
    heard = speech(said)
    assert (heard.asks, heard.indefinite, heard.definite) == expected


def test_opening_thanks_are_set_apart() -> None:
    heard = speech("Perfect, thanks. Can you also design a door sign?")
    assert (heard.thanked, heard.plain) == (True, " | can you also design a door sign | ")
    assert speech("Perfect. Can you also design a door sign?").thanked is False


def test_bare_turns() -> None:
    assert speech("", "a.xlsx").bare
    assert speech("first quarter", "a.xlsx").bare
    assert speech("Hi there!").bare
    assert not speech("translate this", "a.docx").bare
    assert not speech("做一张三月的排班表，十个人两班倒", "人员.xlsx").bare


def test_names_are_files_and_identifiers() -> None:
    heard = speech(
        "In Client List.csv fix order AB17X99, e.g. not v2 or 3.5. Crop map.tiff.", "in/Map.PNG"
    )
    assert heard.names == {"list.csv", "ab17x99", "map.tiff", "map.png"}


def test_every_cue_has_a_name_of_its_own_and_a_weight() -> None:
    assert len({cue.name for cue in CUES}) == len(CUES)
    assert all(cue.weight != 0 for cue in CUES)
    assert all(cue.reason is None for cue in CUES if cue.weight < 0)
