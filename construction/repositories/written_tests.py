"""Tests that a model writes where a session brought none, taken only if they prove themselves.

The model reads what was said and the change; it writes one test file. The file has to fail on the
base and pass on the reference in every run, stop every attack, notice most mutants of the change,
and must not look for what only the change brought and nobody said. What is wrong goes back once, as
a list; what stays wrong is no proof.
"""

from __future__ import annotations

import ast
import base64
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from pygments.lexers import TypeScriptLexer
from pygments.token import Keyword, Number, Operator, Punctuation, String

from construction.judging.contracts import Answer
from construction.judging.model.asking import (
    Checked,
    Faults,
    Stage,
    ask,
    require_answers,
    write_model_use,
)
from construction.judging.model.prompt import Cleaner, cleaned, load_prompt
from construction.judging.settings import Judges, ModelStage
from construction.repositories.contracts import (
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    Speaker,
    TestPlan,
    dump,
)
from construction.repositories.git import is_safe
from construction.repositories.proof import Prover
from construction.repositories.requests import outline, shown_talk
from construction.repositories.run_tests import PASSED, is_test
from construction.repositories.suites import (
    Change,
    Suite,
    is_source,
    kind_of,
    neighbours,
    suite_of,
    unsaid,
)
from data.canonical import digest

# Copies of what a change brought, wrong in one place each, which its tests have to notice.
#
# Python is changed by its syntax, scripts by their tokens. Texts stay: most are messages, which
# tests must not demand. So do imports, declarations, and what only prints.

_LONGEST = 200_000  # characters of a file
_SYNTAX: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
_SIGNS = {
    "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=",
    "<=": ">", "&&": "||", "||": "&&", "??": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "!": "",
    "true": "false", "false": "true",
}  # fmt: skip
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Expr, ast.Continue, ast.Break)
_PRINTS = re.compile(r"[\w.]*(?:print|log\w*|console|warn\w*|echo)\b", re.IGNORECASE)
_STAYS = re.compile(r"(?:import|export|const|let|var|function|class|type|interface)\b|[*/}.]")


@dataclass(frozen=True, slots=True)
class _Mutant:
    """One change of a text: what stands from `start` to `end` becomes `new`."""

    path: str
    line: int
    start: int
    end: int
    new: str

    def of(self, text: str) -> str:
        """The text with the change."""
        return text[: self.start] + self.new + text[self.end :]

    def words(self, text: str) -> str:
        """The change in words."""
        old = " ".join(text[self.start : self.end].split())
        return f"{self.path}:{self.line}: `{old}` → `{self.new or 'left out'}`"


def _mutants_of(path: str, before: str, after: str) -> list[_Mutant]:
    """The mutants of the lines that a change brought."""
    if max(len(before), len(after)) > _LONGEST:
        return []
    matcher = SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    opcodes = matcher.get_opcodes()
    lines = {n + 1 for kind, _, _, a, b in opcodes if kind != "equal" for n in range(a, b)}
    by = _by_syntax if path.endswith(".py") else _by_tokens
    try:
        made = dict.fromkeys(by(after, lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # no program, or one that nests deeper and counts further than Python reads
    return [_Mutant(path, *parts) for parts in made]


_Parts = tuple[int, int, int, str]


def _by_syntax(text: str, lines: set[int]) -> Iterator[_Parts]:
    if "\r" in text.replace("\r\n", ""):
        return  # lines that only Python counts
    tree = ast.parse(text)
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    rows = [line.encode() for line in text.split("\n")]

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(rows[line - 1][:column].decode())

    stays = {id(n) for node in ast.walk(tree) if _stays(node) for n in ast.walk(node)}
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) not in lines or id(node) in stays:
            continue
        for at, new in _changed(node):
            start = offset(at.lineno, at.col_offset)
            end = offset(at.end_lineno or at.lineno, at.end_col_offset or 0)
            yield at.lineno, start, end, new


def _stays(node: ast.AST) -> bool:
    """Is it a text, or what prints one? Parts of texts have no places before Python 3.12."""
    prints = isinstance(node, ast.Expr) and _PRINTS.match(ast.unparse(node)) is not None
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return prints or is_text or isinstance(node, ast.JoinedStr)


def _changed(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """What a node may become: another operator, number or truth, a negation, nothing."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SYNTAX:
        yield node, _with(node, ops=[_SYNTAX[type(node.ops[0])]()])
    elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in _SYNTAX:
        yield node, _with(node, op=_SYNTAX[type(node.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, str(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, _STATEMENTS):
        yield node, "pass"


def _with(node: ast.expr, **other: Any) -> str:
    return f"({ast.unparse(type(node)(**dict(ast.iter_fields(node)) | other))})"


def _by_tokens(text: str, lines: set[int]) -> Iterator[_Parts]:
    at, above, printed = 0, "{", set[int]()
    for line, row in enumerate(text.split("\n"), 1):
        bare = row.strip()
        if _PRINTS.match(bare):
            printed.add(line)
        is_whole = bare.endswith(";") and above.endswith((";", "{", "}", "*/"))
        is_whole = is_whole and all(bare.count(a) == bare.count(b) for a, b in ("()", "[]", "{}"))
        if line in lines - printed and is_whole and not _STAYS.match(bare):
            yield line, text.index(bare, at), text.index(bare, at) + len(bare), ""
        at, above = at + len(row) + 1, bare or above
    tokens = [t for t in TypeScriptLexer().get_tokens_unprocessed(text) if t[2].strip()]
    depth = 0  # in texts, where values stand
    for position, (at, kind, word) in enumerate(tokens):
        depth += (word == "${") - (word == "}") if kind in String.Interpol else 0
        line, end = text.count("\n", 0, at) + 1, at + len(word)
        if depth or line not in lines - printed:
            continue
        is_apart = text[at - 1 : at].isspace() and text[end : end + 1].isspace()
        is_sign = kind in Keyword or (kind in Operator and (word == "!" or is_apart))
        if kind in Number and word.isdigit():
            yield line, at, end, str(int(word) + 1)
        elif word in _SIGNS and is_sign:
            yield line, at, end, _SIGNS[word]
        elif word in ("if", "while") and kind in Keyword:
            yield from ((line, *parts) for parts in _negated(tokens[position + 1 :], text))


def _negated(tokens: list[tuple[int, object, str]], text: str) -> Iterator[tuple[int, int, str]]:
    """The condition in parentheses at the beginning of tokens, and its contrary."""
    depth = 0
    for at, kind, word in tokens:
        if kind in Punctuation:
            depth += word.count("(") - word.count(")")
        if depth <= 0:
            start = tokens[0][0]
            if word.startswith(")"):
                yield start, at + 1, f"(!{text[start : at + 1]})"
            return


PROMPT = "repository_tests"
VERSION = "written-tests/1"  # raised when a proof asks for something else
MODEL_STAGE = ModelStage.REPOSITORY_TESTS
_SHOWN, _EXAMPLE = 60_000, 8_000  # characters that a model is shown of the files, of an example
_MOST_FILES, _MOST_NAMED = 20, 8
_HURRY = 4  # a mutant may never end: it has a part of the time alone
_STEM = re.compile(r"(test_)?.*?((?:[._](?:test|spec))?\.\w+)$")
# Of the mutants of a change some do what it does (a bound that no input reaches, an order that does
# not matter), so that no tests notice all; below three of five, whole parts of the change could be
# left out. Six at least, so that four different places of it have to be right.
_LEAST_MUTANTS, _MOST_MUTANTS, _LEAST_NOTICED = 6, 12, 0.6
_UNPROVEN = RepositoryReason.UNPROVEN
_WRONG = {
    RepositoryReason.TIMED_OUT: "The tests take too long.",
    RepositoryReason.NOT_RUN: "The tests do not run with the change",
    RepositoryReason.NO_FAIL_TO_PASS: "No test fails on the repository as it was.",
    RepositoryReason.FLAKY: "These tests differ from run to run:",
    RepositoryReason.ATTACKED: "They pass for a submission without a solution",
}


class TestsAnswer(Answer):
    path: Annotated[str, Field(max_length=200)]
    content: Annotated[str, Field(max_length=60_000)]
    why_none: Annotated[str, Field(max_length=400)]


@dataclass(frozen=True)
class Untested:
    """A task without a test: where its tests could lie, how they would run, one that is there."""

    change: Change
    path: str
    suite: Suite
    example: str | None


def with_hidden(change: Change, proof: ProofOfTests) -> Change:
    """A task with the tests of its proof that its reference lacks."""
    for path, content in proof.plan.hidden:
        if path not in change.entries and content is not None:
            change = change.with_file(path, base64.b64decode(content))
    return change


def untested_of(change: Change, config: RepositoriesConfig) -> Untested | RepositoryReason:
    """A task with a path for its tests, or why there is none. Raises GitFailed."""
    sources = [path for path in change.parts[0] if is_source(path)]
    if not sources:
        return RepositoryReason.NO_TESTS
    nearest = config.model_copy(update={"neighbours": 1})
    near = neighbours(sources[:1], [p for p in change.entries if is_test(p)], nearest)
    usual = "tests/test_.py" if kind_of(sources[0]) == "python" else f"{sources[0]}.test.ts"
    folder, name = posixpath.split(near[0] if near else usual)
    path = posixpath.join(folder, _STEM.sub(r"\1written\2", name, count=1))
    suite = suite_of(change.with_file(path, b""), config)
    if isinstance(suite, RepositoryReason):
        return suite
    return Untested(change, path, suite, near[0] if near else None)


def _is_taken(path: str, entries: Collection[str]) -> bool:
    """Is a file there, above or below this path?"""
    above = {path[:at] for at, sign in enumerate(path) if sign == "/"}
    return any(e == path or e in above or e.startswith(f"{path}/") for e in entries)


_Prove = Callable[[Change, Suite, str], ProofOfTests]  # of tests in a file


def write_tests(
    cases: Sequence[Untested], judges: Judges, config: RepositoriesConfig, prove: _Prove, out: Path
) -> list[ProofOfTests]:
    """The proof of each task with tests of a model, in order. Raises UnansweredError."""
    stage = _writing_stage(config, judges.config.model.judge_of(MODEL_STAGE), prove)
    with judges.client(masked=True) as client:
        judged = require_answers(ask(stage, cases, client))
        replies = {f"model-replies-{MODEL_STAGE}": client.replies_digest()}
    proofs = [one.value for one in judged if one.value is not None]
    captured = {"written-tests": digest(b"".join(map(dump, proofs)))}
    write_model_use(out, judges.costs({PROMPT: judged}), replies | captured)
    return proofs


def _writing_stage(
    config: RepositoriesConfig, judge: str, prove: _Prove
) -> Stage[Untested, TestsAnswer, ProofOfTests]:
    """The stage, for callers that want its tests or checks alone."""

    def unproven(case: Untested, note: str) -> ProofOfTests:
        return ProofOfTests(case.change.task.task, "", TestPlan((), ()), _UNPROVEN, note)

    def check(case: Untested, answer: TestsAnswer) -> Checked[ProofOfTests] | Faults:
        path, content = answer.path, answer.content
        if not content.strip():
            return Checked(unproven(case, answer.why_none))
        is_new = is_safe(path) and is_test(path) and not _is_taken(path, case.change.entries)
        if not is_new or kind_of(path) != kind_of(case.path):
            return Faults((f"`path` has to be a new file with tests, such as {case.path}",))
        change = case.change.with_file(path, content.encode())
        suite = suite_of(change, config)
        if isinstance(suite, RepositoryReason) or suite.spec != case.suite.spec:
            return Faults(("The tests need packages, or a runner, that are not there.",))
        words = (s.text for s in change.task.talk if s.speaker is Speaker.PERSON)
        sought = unsaid(change, [path], "\n".join(words))
        if names := ", ".join([name for name, is_new in sought.items() if is_new][:_MOST_NAMED]):
            return Faults((f"Only the change has what they look for, nobody said it: {names}",))
        proof = prove(change, suite, path)
        if proof.reason is _UNPROVEN:
            return Faults((cleaned(proof.note),))  # it may quote what a program printed
        return Checked(replace(proof, judge=judge))

    return Stage(
        prompt=load_prompt(PROMPT),
        answer=TestsAnswer,
        item_id=lambda case: case.change.task.task,
        content=_content,
        check=check,
        programs=frozenset({"content"}),
        settle=lambda case, _, faults: unproven(case, "\n".join(faults)),
    )


def prove_written(prover: Prover, path: str) -> ProofOfTests:
    """The proof of tests that a model wrote in a file, or what is wrong with them."""
    config, reference = prover.config, prover.change.patch
    alone = suite_of(prover.change, config.model_copy(update={"neighbours": 0}))
    assert isinstance(alone, Suite)
    first = prover.run(reference, alone.plan)
    failing = sorted(name for name, outcome in first.tests.items() if outcome != PASSED)
    proof = ProofOfTests(prover.change.task.task, prover.folder.name, alone.plan, _UNPROVEN)
    if failing or not first.tests:
        names = ", ".join(failing[:_MOST_NAMED]) or "none was run"
        return replace(proof, note=f"Not all tests pass with the change: {names}\n{first.tail}")
    proven = prover.prove()
    if proven.reason is not None:
        return replace(proof, note=f"{_WRONG[proven.reason]} {proven.note}".strip())
    fail_to_pass, kept = {*proven.plan.fail_to_pass}, {*proven.plan.pass_to_pass}
    if not fail_to_pass & first.tests.keys():
        return replace(proof, note=_WRONG[RepositoryReason.NO_FAIL_TO_PASS])
    if flaky := sorted(first.tests.keys() - fail_to_pass - kept):
        return replace(proof, note=f"{_WRONG[RepositoryReason.FLAKY]} {', '.join(flaky)}")
    plan = replace(alone.plan, seconds=max(1, config.test_seconds // _HURRY))
    mutants, missed = _mutants(prover.change, path), list[str]()
    for words, patch in mutants:
        tests = prover.run(patch, plan).tests
        if all(tests.get(name) == PASSED for name in first.tests):
            missed.append(words)
    noticed = len(mutants) - len(missed)
    if len(mutants) < _LEAST_MUTANTS or noticed < _LEAST_NOTICED * len(mutants):
        note = f"They notice {noticed} of {len(mutants)} wrong changes, and miss these:"
        return replace(proof, note="\n  ".join([note, *missed]))
    return replace(proven, mutants=(noticed, len(mutants)))


def _mutants(change: Change, path: str) -> list[tuple[str, bytes]]:
    """Some mutants of the reference, each in words and as a submission."""
    task = change.task
    sources = [p for p in change.parts[0] if is_source(p) and kind_of(p) == kind_of(path)]
    before, after = (change.texts(tree, sources) for tree in (task.base_tree, task.reference_tree))
    every = [m for p, text in after.items() for m in _mutants_of(p, before.get(p, ""), text)]
    made = []
    for mutant in sorted(every, key=lambda m: digest(f"{m}".encode()))[:_MOST_MUTANTS]:
        text = after[mutant.path]
        changed = change.entries[mutant.path].mode, mutant.of(text).encode()
        tree = change.store.tree_with(task.reference_tree, {mutant.path: changed})
        made.append((mutant.words(text), change.patch_to(tree, change.parts[0])))
    return made


def _content(case: Untested, cleaner: Cleaner) -> dict[str, Any]:
    """What a model is shown: what was said, what changed and how, and how tests are run."""
    change, task = case.change, case.change.task
    paths = change.parts[0][:_MOST_FILES]
    base, reference = (change.texts(t, paths) for t in (task.base_tree, task.reference_tree))
    known = [entry.path for entry in change.store.entries(task.base_tree)]

    def shown(texts: Mapping[str, str], path: str, most: int) -> str | None:
        text = texts.get(path, "\0")
        return None if "\0" in text else cleaner.text(text, most, path)

    room = _SHOWN // (2 * len(paths))
    example = change.texts(task.reference_tree, [case.example or ""])
    return {
        "talk": [
            {"who": str(said.speaker), "when": "before" if said.before else "now", "text": text}
            for said, text in shown_talk(task.talk, set(), cleaner)
        ],
        "changed": [
            {"path": p, "before": shown(base, p, room), "after": shown(reference, p, room)}
            for p in paths
        ],
        "files": outline(known, [*paths, case.path]),
        "runner": " ".join(case.suite.plan.commands[0]["words"]),
        "place": case.path,
        "example": [{"path": p, "content": shown(example, p, _EXAMPLE)} for p in example],
    }
