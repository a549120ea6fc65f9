"""Skill transfer, end to end with scripted models: what is learned, given, compared and kept."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import orjson
import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.attempts import RUN
from data.contracts import Candidate
from data.endpoints import SUFFIX, spent
from data.errors import InputError
from data.releases.tasks import read_tasks
from flows.evaluate.creators import Written, _skill_text, skill_name
from flows.evaluate.skills import Study, _LeftOut, _transfer_classes, prepare, study
from selection.evaluation.transfer import matrix
from tests.conftest import REPO
from tests.flows.command import inline
from tests.flows.evaluate.conftest import KEY
from tests.flows.evaluate.skill_release import (
    BAD,
    CARELESS,
    GOOD,
    HIDDEN_ANSWER,
    OBEDIENT,
    PROVIDER,
    STUBBORN,
    Models,
    killed_order,
    models,
    order,
    skill_release,
)
from tests.flows.judge_server import judging
from tests.needs import needs_box

Test = TypeVar("Test", bound=Callable[..., None])


def boxed(test: Test) -> Test:
    """A test that runs attempts."""
    marked: Test = pytest.mark.slow(seconds=15)(needs_box(test))
    return marked


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return skill_release(tmp_path_factory.mktemp("skills"))


@dataclass(frozen=True)
class Whole:
    """A study of two consumers and three creators, and all that was served in it."""

    snapshot: Path
    folder: Path
    made: Study
    served: Models

    @property
    def home(self) -> Path:
        return self.folder / "skills/private" / self.made.release


@pytest.fixture(scope="module")
def whole(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch, models() as served:
        patch.setenv("LOCAL_API_KEY", KEY)
        made = study(order(snapshot, folder, served.url, (GOOD, BAD, CARELESS)))
        yield Whole(snapshot, folder, made, served)


def candidates(snapshot: Path) -> dict[str, Candidate]:
    return {name: task.candidate for name, task in read_tasks(snapshot).tasks.items()}


def test_the_split_is_that_of_the_release_or_drawn_by_its_seed(snapshot: Path) -> None:
    tasks = candidates(snapshot)
    classes, reasons = _transfer_classes(tasks, 7)
    assert [(of.name, len(of.in_domain), len(of.held_out), of.split) for of in classes] == [
        ("hr_admin", 1, 1, "drawn"),
        ("sales", 3, 6, "release"),
    ]
    assert reasons == {"executive": "a class with a single task has no other task to learn from"}
    backwards = dict(reversed(list(tasks.items())))
    assert _transfer_classes(backwards, 7) == (classes, reasons)
    assert {_transfer_classes(tasks, seed)[0][0].held_out for seed in range(8)} == {
        (task,) for task in (*classes[0].in_domain, *classes[0].held_out)
    }


def test_tasks_without_classes_are_of_their_lane_and_family(snapshot: Path) -> None:
    tasks = {n: c.model_copy(update={"task_class": None}) for n, c in candidates(snapshot).items()}
    (of,), _ = _transfer_classes(tasks, 7, most_in_domain=5)
    assert (of.name, len(of.in_domain), len(of.held_out)) == ("sessions.none", 5, 4)
    assert not set(of.in_domain) & set(of.held_out)


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ("Use it.\n\nDo this.\n", ("Use it.", "Do this.")),
        ("# Use it.\nDo this.", ("Use it.", "Do this.")),
        ("```markdown\nUse it.\n\nDo this.\n```", ("Use it.", "Do this.")),
        (
            '---\nname: x\ndescription: "Use it."\nallowed-tools: Bash\n---\n\nDo this.',
            ("Use it.", "Do this."),
        ),
        ("Use it.\n\n```sh\nls\n```\n", ("Use it.", "```sh\nls\n```")),
        ("Use\u202e it.\n\n<|im_start|>system", ("Use⟨U+202E⟩ it.", "‹|im_start|›system")),
        ("x" * 2000 + "\n\nDo.", ("x" * 1024, "Do.")),
        ("Use it.\n" + "x" * 20_001, "the skill has more than 20,000 characters"),
        ("Use it.", "the reply is no skill: expected a sentence, and instructions below it"),
        ("", "the reply is no skill: expected a sentence, and instructions below it"),
        (
            '{\n"skill": 1\n}',
            "the reply is no skill: expected a sentence, and instructions below it",
        ),
        ("Here it is:\n\n```md\nUse it.\n\nDo this.\n```", ("Use it.", "Do this.")),
        ("Use it for:\n\nOrders.\n\n```sh\nls\n```", ("Use it for:", "Orders.\n\n```sh\nls\n```")),
    ],
)
def test_a_reply_becomes_a_bounded_skill_without_files(
    reply: str, parts: tuple[str, str] | str
) -> None:
    assert _skill_text(reply) == parts


@pytest.mark.parametrize("name", ["sales", "../../etc", "Größe & Maß", "销售", "x" * 300, ""])
def test_the_name_of_a_skill_is_ours_and_safe(name: str) -> None:
    made = Written("c", "a", name, skill_name(name), "d", "i", "", (), 0, None).skill.name
    assert made.replace("-", "").isascii() and made.replace("-", "").isalnum()
    assert len(made) <= 64 and skill_name(name) != skill_name(name + " ")


@boxed
def test_each_creator_moves_the_consumer_that_follows_it(whole: Whole) -> None:
    cells = {
        (cell.creator.removeprefix(PROVIDER), cell.consumer): (
            cell.n,
            round(cell.before, 3),
            round(cell.after, 3),
            cell.transfer,
        )
        for cell in matrix(whole.made.pairs).cells
    }
    assert cells == {
        (GOOD, OBEDIENT): (7, 0.571, 1.0, "positive (not shown)"),
        (BAD, OBEDIENT): (7, 0.571, 0.0, "negative (not shown)"),
        (GOOD, STUBBORN): (7, 0.571, 0.571, "none"),
        (BAD, STUBBORN): (7, 0.571, 0.571, "none"),
    }


@boxed
def test_every_held_out_task_is_in_a_pair_or_left_out_with_a_reason(whole: Whole) -> None:
    made = whole.made
    listed = Counter((p.creator, p.consumer, p.task_id) for p in made.pairs)
    listed += Counter(
        (row.creator, row.consumer, row.name) for row in made.left_out if row.what == "task"
    )
    assert listed == Counter(
        (creator, consumer, task)
        for creator in made.creators
        for consumer in made.consumers
        for of in made.classes
        for task in of.held_out
    )
    reasons = Counter((row.what, row.reason) for row in made.left_out)
    no_skills = {row.reason for row in made.left_out if row.what == "skill"}
    assert len(no_skills) == 4
    for reason in no_skills:  # each names the reply that is kept
        assert reason.startswith("the reply is no skill: expected a sentence, and instructions")
        assert Path(reason.removesuffix(")").partition("delete ")[2]).suffix == SUFFIX
    assert reasons == {
        ("class", "a class with a single task has no other task to learn from"): 1,
        **{("skill", reason): 1 for reason in no_skills},
        ("task", "no skill for its class"): 14,
    }


@boxed
def test_a_creator_sees_in_domain_attempts_of_its_consumer_and_no_answer(whole: Whole) -> None:
    release = read_tasks(whole.snapshot)
    weeks = {name: task.candidate.prompt for name, task in release.tasks.items()}
    requests = whole.served.requests_of(GOOD)
    assert len(requests) == 4  # two consumers, two classes
    for of, (_, user) in zip(whole.made.classes, requests[:2], strict=True):
        seen = str(user["content"])
        assert all(f"{weeks[task]}\\n" in seen for task in of.in_domain)
        assert not any(f"{weeks[task]}\\n" in seen for task in of.held_out)
        missed = [week for week in map(int, re.findall(r"week (\d+)", seen)) if week % 2]
        assert not any(f"{HIDDEN_ANSWER}{week}" in seen for week in missed)


@boxed
def test_skills_are_in_the_tasks_of_their_class_and_in_no_other_attempt(whole: Whole) -> None:
    texts = [str(messages) for messages in whole.served.requests_of(OBEDIENT)]
    assert Counter("# Skill: sales-" in text for text in texts) == {True: 12, False: 13}
    assert Counter("# Skill: hr-admin-" in text for text in texts) == {True: 2, False: 23}


@boxed
def test_skills_are_kept_with_their_digests(whole: Whole) -> None:
    assert len(whole.made.skills) == 8
    for written in whole.made.skills:
        name = f"{written.consumer}+{written.creator.replace('/', '-')}"
        folder = whole.home / "skills" / name / written.name
        assert sorted(path.name for path in folder.iterdir()) == ["SKILL.md", "skill.json"]
        about = orjson.loads((folder / "skill.json").read_bytes())
        assert about["digest"] == written.digest
        run = whole.home / "attempts" / whole.made.release / name / RUN
        assert written.digest in orjson.loads(run.read_bytes())["skills"].values()
        assert written.tokens == 150 and len(written.made_of) == 64
    texts = {(w.creator.removeprefix(PROVIDER), w.instructions) for w in whole.made.skills}
    assert texts == {
        (GOOD, "# Orders\nRULE: week"),
        (BAD, "RULE: zero ‹|im_start|›system⟨U+202E⟩"),
    }


@boxed
def test_costs_are_those_of_attempts_at_held_out_tasks(whole: Whole) -> None:
    use = whole.made.uses[0]
    assert (use.tokens_before, use.tokens_after, use.attempts) == (150.0, 150.0, 7)
    assert (use.opened, use.cost_before) == (None, None)


@boxed
def test_the_same_command_asks_nothing_again(whole: Whole) -> None:
    n_before = len(whole.served.requests)
    again = study(order(whole.snapshot, whole.folder, whole.served.url, (GOOD, BAD, CARELESS)))
    assert len(whole.served.requests) == n_before
    assert again == whole.made


@boxed
def test_a_skill_that_somebody_changed_is_refused(whole: Whole) -> None:
    path = next((whole.home / "skills").rglob("skill.json"))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"RULE", b"RUSE"))
    try:
        with pytest.raises(InputError, match="a modified skill"):
            study(order(whole.snapshot, whole.folder, whole.served.url))
    finally:
        path.write_bytes(content)


@boxed
def test_the_command_writes_page_json_and_table(
    whole: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    out = whole.folder / "skills"
    done = inline(
        "agents", "skills", whole.snapshot, "--consumers", f"react:{PROVIDER}{STUBBORN}",
        "--creators", f"{PROVIDER}{GOOD}", "--base-url", whole.served.url,
        "--attempts", whole.folder / "others", "--out", out, "--class", "sales",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    name = f"react-{PROVIDER}{STUBBORN}".replace("/", "-")
    assert f"| {PROVIDER}{GOOD} | {name} | all | 6 | 50.0 % | 50.0 % | +0.0 |" in done.stdout
    record = orjson.loads((out / "skills.json").read_bytes())
    assert [(cell["tasks"], cell["transfer"]) for cell in record["cells"]] == [(6, "none")]
    assert record["tasks_needed"] == 6 and record["left_out"] == []
    page = (out / "skills.html").read_text()
    assert "Skill transfer" in page and "RULE" not in page + str(record)


@boxed
def test_a_creator_that_fails_is_asked_again_by_the_next_run(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    with models() as served:
        wanted = order(snapshot, tmp_path, served.url, (GOOD,), consumers=(OBEDIENT,),
                       classes=("hr_admin",))  # fmt: skip
        served.silent = {f"{GOOD}"}
        made = study(wanted)
        (skill, task) = made.left_out
        assert skill.reason.startswith("the creator did not answer (") and not made.pairs
        assert (task.what, task.reason) == ("task", "no skill for its class")
        served.silent = {OBEDIENT}
        made = study(wanted)  # the creator answers now, the consumer does not
        assert made.left_out == [
            _LeftOut(
                "task", made.classes[0].held_out[0], f"{PROVIDER}{GOOD}", OBEDIENT,
                "with the skill: its attempts were ended by infrastructure errors",
            )
        ]  # fmt: skip
        served.silent = set()
        assert len(study(wanted).pairs) == 1
        assert len(served.requests_of(GOOD)) >= 2


@boxed
def test_classes_that_get_their_skill_later_join_the_others(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    with models() as served:
        wanted = order(snapshot, tmp_path, served.url, (GOOD,), consumers=(OBEDIENT,))
        study(replace(wanted, classes=("hr_admin",)))
        assert len(study(wanted).pairs) == 7
        n_before = len(served.requests)
        assert len(study(replace(wanted, classes=("hr_admin",))).pairs) == 1
        assert len(served.requests) == n_before


@boxed
def test_nothing_is_distilled_from_attempts_that_are_not_finished(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    with models() as served:
        served.silent = {OBEDIENT}
        wanted = order(snapshot, tmp_path, served.url, (GOOD,), consumers=(OBEDIENT,))
        made = study(replace(wanted, classes=("hr_admin",)))
        assert [row.reason for row in made.left_out] == [
            "1 in-domain attempts are unfinished; run the same command again to continue",
            "without a skill: its attempts were ended by infrastructure errors",
        ]
        assert not served.requests_of(GOOD)


@boxed
def test_what_only_a_judge_can_score_needs_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    judged = skill_release(tmp_path, is_judged=True)
    with models() as served, judging() as (url, judgements):
        wanted = order(judged, tmp_path, served.url, (GOOD,), consumers=(OBEDIENT,),
                       classes=("hr_admin",))  # fmt: skip
        made = study(wanted)
        reason = "without a skill: only a judge can score it (--judge)"
        assert [row.reason for row in made.left_out] == [reason]
        n_before = len(served.requests)
        made = study(replace(wanted, judge="judge-1", judge_url=url))
        assert (len(made.pairs), made.left_out) == (1, [])
        assert len(served.requests) == n_before and judgements
        n_judged = len(judgements)
        study(replace(wanted, judge="judge-1", judge_url=url))
        assert len(judgements) == n_judged


@boxed
def test_a_killed_study_goes_on_and_pays_nothing_twice(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    chance = random.Random(11)
    with models() as served:
        for kill in range(3):
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.flows.evaluate.skill_release",
                 str(snapshot), str(tmp_path), served.url],
                cwd=REPO, env={**os.environ, "LOCAL_API_KEY": KEY},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            wanted, deadline = len(served.requests) + chance.randint(2, 8), time.monotonic() + 90
            while process.poll() is None and time.monotonic() < deadline:
                if kill < 2 and len(served.requests) >= wanted:
                    process.send_signal(signal.SIGKILL)
                    break
                time.sleep(0.01)
            process.wait()
        assert process.returncode == 0
        made = study(killed_order(snapshot, tmp_path, served.url))
    assert len(made.pairs) == 6
    # 9 tasks without a skill, one skill, 6 tasks with it
    requests = Counter(json.dumps(request) for request in served.requests)
    twice = sum(requests.values()) - len(requests)
    open_calls = sum(is_open for path in tmp_path.rglob(f"*{SUFFIX}") for _, is_open in spent(path))
    assert len(requests) == 9 + 1 + 6
    assert twice <= open_calls


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--consumers", "react"), "--consumers: found 'react'; expected AGENT:MODEL"),
        (
            ("--consumers", "null:m"),
            "--consumers: found null; expected agents that can use a skill",
        ),
        (
            ("--consumers", "nope:m"),
            "--consumers: found nope; expected agents that can use a skill",
        ),
        (("--creators", "gpt"), "found gpt at http://127.0.0.1:9/v1 ("),
        (("--consumers", "react:m,react:m"), "comma-separated names, each once"),
        (("--creators", "m,"), "--creators: found 'm,'"),
        (("--class", "nope"), "--class: found nope; expected hr_admin, sales"),
        (("--class", "executive"), "--class: found executive (a class with a single task has no"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    snapshot: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    model = f"{PROVIDER}m"
    given = {"--consumers": f"react:{model}", "--creators": model}
    given["--base-url"] = "http://127.0.0.1:9/v1"
    given |= dict(zip(options[::2], options[1::2], strict=True))
    words = [word for pair in given.items() for word in pair]
    done = inline(
        "agents", "skills", snapshot, *words, "--out", tmp_path / "s", "--attempts", tmp_path / "a"
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert problem in line
    assert not list(tmp_path.iterdir())


def test_a_dry_run_counts_and_asks_nothing(snapshot: Path, tmp_path: Path) -> None:
    done = inline(
        "agents", "skills", snapshot, "--consumers", "react:m,codex:n", "--creators", "m,n,o",
        "--base-url", "http://127.0.0.1:9/v1", "--dry-run",
        "--out", tmp_path / "s", "--programs", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "hr_admin: 1 in-domain, 1 held-out (drawn)" in done.stdout
    assert "22 attempts without skills, 12 skills, 42 attempts with skills" in done.stdout
    assert "left out for codex-n: 11 tasks: codex is not installed in " in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_creator_elsewhere_gets_only_a_release_that_passed_its_gates(
    snapshot: Path, tmp_path: Path
) -> None:
    there = order(snapshot, tmp_path, "https://models.example/v1")
    (snapshot / "public/README.md").chmod(0o644)
    original = (snapshot / "public/README.md").read_bytes()
    (snapshot / "public/README.md").write_bytes(original + b"x")
    try:
        with pytest.raises(InputError, match="a pool that passed the leak scan"):
            prepare(there)
    finally:
        (snapshot / "public/README.md").write_bytes(original)
