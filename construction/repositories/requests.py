"""The request of a task as one message: a model writes it, or the person's one message stands.

The model reads what was said and what the hidden tests fix. Its request has to say each name and
text that the tests rely on and the base lacks, and holds no line of the change or of its tests. An
answer that breaks this goes back once; what stays wrong falls back to the person's words, or to the
reason why they are no request.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field

from construction.judging.contracts import Answer, Judged, JudgeReason
from construction.judging.model.asking import (
    Checked,
    Faults,
    Stage,
    ask,
    require_answers,
    write_model_use,
)
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.judging.settings import Judges, ModelStage
from construction.repositories.contracts import (
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
    Said,
    Speaker,
)
from construction.repositories.git import added_lines
from construction.repositories.run_tests import is_test
from construction.repositories.suites import (
    Change,
    deciding,
    is_of,
    is_source,
    kept,
    kind_of,
    unsaid,
)
from data.contracts import share
from data.neutralise import HIDDEN, visible
from data.text.scripts import leading_language

PROMPT = "repository_request"
_RULES = "rules"
_MODEL_STAGE = ModelStage.REPOSITORY_REQUESTS
_TALK, _TESTS = 40_000, 24_000  # characters that a model is shown
_LONGEST = 8_000  # characters of one thing that was said
_MOST_FILES, _MOST_TESTS, _MOST_NAMED = 150, 100, 60
# What a person says to go on, and what asks for nothing but git: never a request by itself.
_GOING_ON = re.compile(
    r"(?i)(?:(?:please|now|ok(?:ay)?|yes|and|then)[,.]? )*"
    r"(?:go(?: ahead| on)?|continue|proceed|yes|ok(?:ay)?|thanks?(?: you)?|y|do it|lgtm|looks good|"
    r"(?:git )?(?:commit|push|merge)"
    r"(?: (?:this|it|that|and|the|changes?|all|push|now|to|main))*)[.! ]*"
)
_MARKS = "\"'`,; "
_LEFT_OUT = "⟨a line of the change⟩"


@dataclass(frozen=True, slots=True)
class Request:
    """A request, who wrote it, and what the tests rely on that it leaves unsaid."""

    text: str
    judge: str = _RULES
    unsaid: tuple[str, ...] = ()


Written = Request | RepositoryReason
T = TypeVar("T")


class RequestAnswer(Answer):
    request: Annotated[str, Field(max_length=20_000)]
    why_none: Annotated[str, Field(max_length=400)]


@dataclass(frozen=True)
class Unwritten:
    """A task without a request: a proven one, or one that is graded by a rubric."""

    change: Change
    proof: ProofOfTests

    @property
    def task(self) -> RepositoryTask:
        return self.change.task

    @cached_property
    def files(self) -> list[str]:
        """The hidden test files with tests that decide; all if no report names its files."""
        if self.proof.reason is not None:
            return []  # a rubric decides
        files, plan = deciding(self.change.parts[1], self.change.entries), self.proof.plan
        decide = {*plan.fail_to_pass, *plan.pass_to_pass}
        return [path for path in files if is_of(path, decide)] or files

    @cached_property
    def hidden(self) -> list[str]:
        """These files, and code beside them that runs with them, as `conftest.py` does."""
        others = (p for p in self.change.parts[1] if p in self.change.entries and not is_test(p))
        kinds = {kind_of(path) for path in self.files}
        return [*self.files, *(p for p in others if is_source(p) and kind_of(p) in kinds)]

    @cached_property
    def tests(self) -> bytes:
        """What the change did to these files."""
        return self.change.patch_to(self.task.reference_tree, self.hidden)

    def unsaid(self, request: str) -> dict[str, bool]:
        """What the tests rely on and a request does not say; whether the base lacks it, too."""
        return unsaid(self.change, self.hidden, request)

    def kept(self) -> list[str]:
        """What the tests that have to go on passing import from the files that changed."""
        passing = {*self.proof.plan.pass_to_pass}
        tests = {path for path in self.change.entries if is_test(path) and is_of(path, passing)}
        return kept(self.change, tests)

    def lacking(self, request: str) -> list[str]:
        """What nobody could guess: neither the base nor the request has it."""
        return [name for name, is_new in self.unsaid(request).items() if is_new]


def write_requests(
    cases: Sequence[Unwritten], judges: Judges, config: RepositoriesConfig, out: Path
) -> list[Judged[Written]]:
    """The request of each task, in order, or why there is none. Raises UnansweredError."""
    if not judges.config.model.does(_MODEL_STAGE):
        return [_unasked(case.task.task, _spoken(case, config)) for case in cases]
    stage = _request_stage(config, judges.config.model.judge_of(_MODEL_STAGE))
    with judges.client(masked=True) as client:
        judged = require_answers(ask(stage, cases, client))
        replies = {f"model-replies-{_MODEL_STAGE}": client.replies_digest()}
    write_model_use(out, judges.costs({PROMPT: judged}), replies)
    return judged


def _unasked(task: str, said: T) -> Judged[T]:
    """The result of a task about which no model was asked."""
    return Judged(task, said)


def _request_stage(
    config: RepositoriesConfig, judge: str
) -> Stage[Unwritten, RequestAnswer, Written]:
    """The stage, for callers that want its requests or checks alone."""

    def check(case: Unwritten, answer: RequestAnswer) -> Checked[Written] | Faults:
        request = _text(answer)
        if not request:
            return Checked(RepositoryReason.NO_REQUEST, (answer.why_none,))
        faults = _faults(case, request, config)
        if faults:
            return Faults(tuple(faults.values()), JudgeReason.CHANGED_WORDS)
        return Checked(Request(request, judge))

    def settled(case: Unwritten, answer: RequestAnswer | None) -> Written:
        said = _spoken(case, config)
        if isinstance(said, Request) or answer is None:
            return said
        return next(iter(_faults(case, _text(answer), config)), said)

    return Stage(
        prompt=load_prompt(PROMPT),
        answer=RequestAnswer,
        item_id=lambda case: case.task.task,
        content=_content,
        check=check,
        settle=lambda case, answer, _faults: settled(case, answer),
    )


def _spoken(case: Unwritten, config: RepositoriesConfig) -> Written:
    """The person's one message as it stands, or why it is no request without a model.

    What follows other talk leans on it ("this option", "yes, the second").
    """
    task = case.task
    messages = [text for text in task.messages if not _GOING_ON.fullmatch(text)]
    text = "".join(messages[:1])
    if not task.opens or len(messages) != 1 or len(text) < config.min_request_chars:
        return RepositoryReason.NEEDS_MODEL
    if _given_share(case.change.patch, text) > config.max_given_share:
        return RepositoryReason.GIVES_PATCH
    if task.edited is not None and task.edited < config.min_edited:
        return RepositoryReason.OTHER_WORK  # a commit may hold what other sessions did
    missing = tuple(case.unsaid(text))
    return (
        RepositoryReason.UNSAID
        if len(missing) > config.max_unsaid
        else Request(text, unsaid=missing)
    )


def _given_share(patch: bytes, request: str) -> float:
    """The share of the lines that a patch adds which the request contains, as a diff or not."""
    added = set(added_lines(patch))
    return share(sum(line in request for line in added), len(added))


def _text(answer: RequestAnswer) -> str:
    return visible(HIDDEN.sub("", answer.request)).strip()


def _faults(
    case: Unwritten, request: str, config: RepositoriesConfig
) -> dict[RepositoryReason, str]:
    """What is wrong with a model's request, a sentence for each reason."""
    faults, said = {}, "\n".join(case.task.messages)
    named = "\n".join(case.unsaid(""))
    given = [
        line
        for line in dict.fromkeys((*added_lines(case.change.patch), *added_lines(case.tests)))
        if line in request and line not in said and line.strip(_MARKS) not in named
    ]
    if given or _given_share(case.change.patch, request) > config.max_given_share:
        lines = ", ".join(f"“{line}”" for line in given[:8])
        faults[RepositoryReason.GIVES_PATCH] = (
            f"`request` holds lines of the change or of its tests as they are: {lines or 'many'}; "
            "say in words what is wanted"
        )
    if missing := case.lacking(request):
        faults[RepositoryReason.UNSAID] = (
            f"`request` does not say {', '.join(missing[:_MOST_NAMED])}: each has to stand in it, "
            "letter by letter (texts without the marks “”)"
        )
    is_long = len(request) > config.max_request_chars
    if is_long or len(request) < config.min_request_chars:
        faults[RepositoryReason.NEEDS_MODEL] = f"`request` has {len(request)} characters"
    elif (language := leading_language(said or request)) != leading_language(request):
        faults[RepositoryReason.NEEDS_MODEL] = f"`request` has to be in the language {language}"
    return faults


def _content(case: Unwritten, cleaner: Cleaner) -> dict[str, Any]:
    """What a model is shown: what was said, what changed where, and what the tests fix."""
    task, added = case.task, set(added_lines(case.change.patch))
    paths = {entry.path for entry in case.change.store.entries(task.base_tree)}
    after = case.change.entries
    kinds = {(True, True): "changed", (False, True): "new", (True, False): "removed"}
    visible_paths, _ = case.change.parts
    return {
        "talk": [
            {"who": str(said.speaker), "when": "before" if said.before else "now", "text": text}
            for said, text in shown_talk(task.talk, added, cleaner)
        ],
        "changed": [f"{kinds[p in paths, p in after]}: {p}" for p in visible_paths[:_MOST_FILES]],
        "files": outline(sorted(paths), visible_paths),
        "tests": cleaner.text(case.tests.decode("utf-8", "replace"), _TESTS, "tests"),
        "must_pass": list(case.proof.plan.fail_to_pass[:_MOST_TESTS]),
        "to_say": case.lacking(""),
        "kept": case.kept()[:_MOST_NAMED],
    }


def shown_talk(talk: Sequence[Said], added: set[str], cleaner: Cleaner) -> list[tuple[Said, str]]:
    """What was said, the newest as far as there is room; lines of the change are left out."""
    shown: list[tuple[Said, str]] = []
    room = _TALK
    for said in reversed(talk):
        lines = said.text.split("\n")
        if said.speaker is not Speaker.PERSON:
            lines = [_LEFT_OUT if line.lstrip("+ ").strip() in added else line for line in lines]
        text = cleaner.text("\n".join(lines), _LONGEST, str(said.speaker))
        room -= len(text)
        if room < 0 and shown:
            break
        shown.append((said, text))
    return shown[::-1]


def outline(paths: Sequence[str], changed: Sequence[str]) -> list[str]:
    """The files beside those that changed and at the top; of other folders how many they hold."""
    near = {posixpath.dirname(path) for path in changed} | {""}
    files = [path for path in paths if posixpath.dirname(path) in near]
    others = Counter("/".join(p.split("/")[:-1][:3]) for p in paths if p not in set(files))
    folders = [f"{folder}/ ({count} files)" for folder, count in sorted(others.items())]
    return [*files[:_MOST_FILES], *folders[:_MOST_FILES]]
