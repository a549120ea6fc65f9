"""Requests: the person's one message without a model; with one, a message that says enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from construction.judging.calls.contracts import CallReason
from construction.judging.contracts import Judged
from construction.judging.model.asking import UnansweredError, ask, require_answers
from construction.repositories.candidates import _prompt_of
from construction.repositories.contracts import (
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
    Said,
    Speaker,
)
from construction.repositories.requests import (
    Request,
    Unwritten,
    Written,
    _given_share,
    _request_stage,
    _spoken,
)
from construction.repositories.suites import Change, is_of
from tests.construction.judging.model.fakes import Scripted, always
from tests.construction.repositories.invented import BASE, MEAN, MEAN_TEST, REQUEST
from tests.construction.repositories.test_proof import World
from tests.flows.judge_server import material

CONFIG = RepositoriesConfig()
GIVEN = "return total(numbers) / len(numbers) if numbers else 0"
OWN = Request(REQUEST, unsaid=("total",))
SAID = "Please give `tally/sums.py` a function `mean(numbers)`; nothing has a mean of 0."


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def case_of(world: World, *messages: str, before: str = "", **more: Any) -> Unwritten:
    """The invented task with other words, and what was said in the session before it."""
    talk = [Said(Speaker.PERSON, text) for text in messages]
    earlier = [Said(Speaker.PERSON, before, before=True)] if before else []
    task = replace(world.task, talk=(*earlier, *talk), **more)
    return Unwritten(Change(task, world.store), ProofOfTests(task.task, "abc", world.suite.plan))


def changed(world: World, files: Mapping[str, str]) -> RepositoryTask:
    """The invented task with another reference."""
    changes = {path: ("100644", content.encode()) for path, content in files.items()}
    reference = world.store.tree_with(world.task.base_tree, changes)
    return replace(world.task, reference_tree=reference)


def replies(*texts: str) -> Scripted:
    """A model that gives these requests, one after the other."""
    rest: Iterator[str] = iter(texts)
    return Scripted(lambda question: {"request": next(rest), "why_none": ""})


def written(case: Unwritten, client: Scripted) -> Judged[Written]:
    (judged,) = ask(_request_stage(CONFIG, "model:m"), [case], client)
    return judged


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((REQUEST,), OWN),
        ((REQUEST, "commit this"), OWN),
        (("commit", "push it"), RepositoryReason.NEEDS_MODEL),
        ((REQUEST, "3 and 4 are the same, so drop 3"), RepositoryReason.NEEDS_MODEL),
        ((f"{REQUEST}\n```\n{MEAN}```",), RepositoryReason.GIVES_PATCH),
        ((), RepositoryReason.NEEDS_MODEL),
    ],
)
def test_without_a_model_one_message_without_the_patch_is_the_request(
    world: World, messages: tuple[str, ...], expected: Written
) -> None:
    assert _spoken(case_of(world, *messages), CONFIG) == expected


def test_words_that_may_lean_on_earlier_talk_need_a_model(world: World) -> None:
    case = case_of(world, "also add this option to the other command", before=REQUEST)
    assert _spoken(case, CONFIG) is RepositoryReason.NEEDS_MODEL


def test_a_commit_with_much_of_other_work_is_no_answer_to_the_request(world: World) -> None:
    assert world.task.edited == 1.0
    for edited, expected in {
        None: OWN, 0.6: OWN, 0.5: RepositoryReason.OTHER_WORK
    }.items():  # fmt: skip
        assert _spoken(case_of(world, REQUEST, edited=edited), CONFIG) == expected


def test_a_request_of_a_model_is_taken_and_marked_as_its_own(world: World) -> None:
    client = always({"request": SAID, "why_none": ""})
    judged = written(case_of(world, "do it", before="Could sums have a mean?"), client)
    assert (judged.value, judged.detail) == (Request(SAID, "model:m"), "")
    assert len(client.asked) == 1


def test_a_model_is_shown_what_was_said_and_the_tests_but_not_the_change(world: World) -> None:
    case = case_of(world, "fix these", before=REQUEST)
    answer = Said(Speaker.AGENT, f"Shall I write this?\n+    {GIVEN}\nIt is short.")
    task = replace(case.task, talk=(answer, *case.task.talk))
    case = replace(case, change=Change(task, world.store))
    client = always({"request": SAID, "why_none": ""})
    written(case, client)
    shown = material(client.asked[0].user)
    assert [(said["who"], said["when"]) for said in shown["talk"]] == [
        ("agent", "now"), ("person", "before"), ("person", "now"),
    ]  # fmt: skip
    assert shown["talk"][0]["text"].split("\n")[1:] == ["⟨a line of the change⟩", "It is short."]
    assert "+def test_mean():" in shown["tests"]
    assert (shown["changed"], shown["to_say"]) == (["changed: tally/sums.py"], ["mean"])
    assert GIVEN not in client.asked[0].user


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (f"{SAID} Write `{GIVEN}`.", "holds lines of the change"),
        ("Give the module of sums an average; that of nothing is 0.", "does not say mean: each"),
        ("给求和模块添加一个函数 `mean`，空列表的平均值是 0，不要报错。", "in the language en"),
        ("mean", "has 4 characters"),
    ],
)
def test_a_wrong_request_goes_back_once_and_is_mended(world: World, wrong: str, fault: str) -> None:
    client = replies(wrong, SAID)
    judged = written(case_of(world, "do it", before=REQUEST), client)
    assert judged.value == Request(SAID, "model:m")
    repair = client.asked[1].repair
    assert repair is not None
    assert fault in repair[1]


def test_what_stays_wrong_falls_back_to_the_persons_words_or_to_the_reason(world: World) -> None:
    leaked, vague = f"{SAID} Write `{GIVEN}`.", "Give the module of sums an average, please."
    for wrong, reason in {
        leaked: RepositoryReason.GIVES_PATCH, vague: RepositoryReason.UNSAID
    }.items():  # fmt: skip
        opening = case_of(world, REQUEST)
        assert written(opening, replies(wrong, wrong)).value == OWN
        leaning = case_of(world, "do it", before=REQUEST)
        assert written(leaning, replies(wrong, wrong)).value is reason


def test_a_model_that_finds_no_request_says_why(world: World) -> None:
    client = always({"request": "", "why_none": "The commit holds other work."})
    judged = written(case_of(world, REQUEST), client)
    assert judged.value is RepositoryReason.NO_REQUEST
    assert judged.notes == ("The commit holds other work.",)


def test_a_question_without_a_reply_stops_the_stage(world: World) -> None:
    with pytest.raises(UnansweredError, match="run it again"):
        require_answers([written(case_of(world, REQUEST), always(CallReason.FAILED))])


def test_a_refused_question_leaves_the_persons_words(world: World) -> None:
    judged = written(case_of(world, REQUEST), always(CallReason.REFUSED))
    assert judged.value == OWN


def test_what_only_the_reference_could_know_is_to_be_said(world: World) -> None:
    """Members, arguments and texts of the tests that the reference brought; what the base lacks."""
    text = MEAN.replace("numbers)", "numbers, places=2)", 1)
    text += "\n\nclass Empty(ValueError):\n    reason = 'there are no numbers'\n"
    text += "\n\ndef said(n):\n    return f'the mean of {n} numbers'\n"
    hidden = (
        "from tally import sums\n\n\ndef test_it():\n    assert sums.mean([2], places=1) == 2\n"
    )
    hidden += "    assert sums.Empty().reason == 'there are no numbers'\n"
    hidden += "    assert 'other text'.upper() == 'OTHER TEXT'\n"
    hidden += "    for n in (1, 2):\n        assert sums.said(n) == f'the mean of {n} numbers'\n"
    files = {"tally/sums.py": BASE["tally/sums.py"] + text, "tests/test_sums.py": hidden}
    case = case_of(world, REQUEST, reference_tree=changed(world, files).reference_tree)
    texts = ["“the mean of”", "“there are no numbers”"]
    named: dict[str, list[str]] = {
        "Add `mean` with `places`, `said` and an error Empty.": ["reason", *texts],
        "Add it.": ["Empty", "mean", "places", "reason", "said", *texts],
        f"Add mean (places), said, Empty with a reason: {texts}": [],
    }
    for request, expected in named.items():
        assert case.lacking(request) == expected
    assert case.unsaid("Add it.")["“numbers”"] is False


def test_an_option_is_to_be_said_though_the_word_is_known_elsewhere(world: World) -> None:
    """A changed file that had no such argument: nobody knows that its call takes it."""
    base = {"tally/report.py": "def shown(places):\n    return places\n"}
    files = {path: ("100644", text.encode()) for path, text in base.items()}
    tree = world.store.tree_with(world.task.base_tree, files)
    code = BASE["tally/sums.py"] + MEAN.replace("numbers)", "numbers, places=2)", 1)
    test = MEAN_TEST.replace("[1, 3]", "[1, 3], places=1")
    assert test != MEAN_TEST
    changes = {"tally/sums.py": code, "tests/test_sums.py": test}
    reference = world.store.tree_with(
        tree, {path: ("100644", text.encode()) for path, text in changes.items()}
    )
    case = case_of(world, REQUEST, base_tree=tree, reference_tree=reference)
    assert case.lacking("Add `mean(numbers)`.") == ["places"]
    assert case.lacking("Add `mean(numbers, places=2)`.") == []


def test_what_runs_beside_hidden_tests_and_what_has_to_stay(world: World) -> None:
    conftest = "from tally.kinds import Weighted\n"
    files = {
        "tally/sums.py": BASE["tally/sums.py"] + MEAN,
        "tally/kinds.py": "class Weighted:\n    pass\n",
        "tests/test_sums.py": MEAN_TEST,
        "tests/conftest.py": conftest,
    }
    case = case_of(world, REQUEST, reference_tree=changed(world, files).reference_tree)
    assert "Weighted (tally.kinds)" in case.lacking(REQUEST)
    assert b"Weighted" in case.tests
    plan = replace(world.suite.plan, pass_to_pass=("tests.test_sums::test_total",))
    case = replace(case, proof=replace(case.proof, plan=plan))
    assert case.kept() == ["total"]


def test_what_a_persons_words_leave_unsaid_is_told_or_too_much(world: World) -> None:
    prompt = _prompt_of(Request(REQUEST, unsaid=("skipped", "“already merged”")))
    assert f"{REQUEST}\n\nWhat the tests rely on: `skipped`, “already merged”\n\n" in prompt
    for count in (CONFIG.max_unsaid, CONFIG.max_unsaid + 1):
        names = [f"name_{n}" for n in range(count)]
        body = "".join(f"\n\ndef {name}():\n    return 1\n" for name in names)
        tests = "from tally import sums\n\n\ndef test_all():\n"
        tests += "".join(f"    assert sums.{name}()\n" for name in names)
        task = changed(world, {"tally/sums.py": body, "tests/test_sums.py": tests})
        case = case_of(world, REQUEST, reference_tree=task.reference_tree)
        is_told = count == CONFIG.max_unsaid
        expected = Request(REQUEST, unsaid=tuple(sorted(names))) if is_told else None
        assert _spoken(case, CONFIG) == (expected or RepositoryReason.UNSAID)


def test_the_share_of_a_patch_that_a_request_contains() -> None:
    patch = b"+++ b/a\n+    return total(numbers) / 2\n+    return len(numbers) * 100\n+short\n"
    assert _given_share(patch, "Write\n  return total(numbers) / 2\n") == 0.5
    assert _given_share(patch, "- a\n+   return len(numbers) * 100  # a diff\n") == 0.5


@pytest.mark.parametrize(
    ("path", "test", "is_its"),
    [
        ("specs/sums_spec.py", "specs/sums_spec.py::specs.sums_spec::it_adds", True),
        ("tests/test_sums.py", "tests.test_sums.TestSums::test_total", True),
        ("tests/test_sums.py", "tests.test_sums::test_total", True),
        ("src/sums.test.ts", "src/sums.test.ts::sums > adds", True),
        ("tests/test_sums.py", "tests.test_sums_more::test_total", False),
        ("src/sums.test.ts", "src/more/sums.test.ts::sums > adds", False),
    ],
)
def test_a_report_names_the_file_of_a_test(path: str, test: str, is_its: bool) -> None:
    assert is_of(path, {test}) is is_its


def test_test_files_without_a_test_that_decides_are_no_evidence(world: World) -> None:
    files = {
        "tally/sums.py": BASE["tally/sums.py"] + MEAN + "\n\ndef rest():\n    return 1\n",
        "tests/test_sums.py": MEAN_TEST,
        "tests/test_rest.py": "from tally import sums\n\n\ndef test_rest():\n    sums.rest()\n",
    }
    case = case_of(world, REQUEST, reference_tree=changed(world, files).reference_tree)
    plan = replace(world.suite.plan, fail_to_pass=("tests.test_sums::test_mean",))
    decided = replace(case, proof=replace(case.proof, plan=plan))
    assert (case.lacking(""), decided.lacking("")) == (["mean", "rest"], ["mean"])
    assert b"test_rest" not in decided.tests
