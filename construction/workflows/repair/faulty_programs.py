"""Repairs of real size: a program of several hundred lines with faults that hide each other.

A program is a folder below `programs/`: `project/` is what works (source, tests, docs, config),
`make.py SEED` prints its data, and `program.toml` has the requests, the commands and the faults,
each as replacements of text that stands there once. A draft takes a pair of faults that interact,
two more of which the request says nothing, and data by key. It runs the faulty program on the data,
so that logs and results are those of a real run, and hides a case of other data for each fault.
What a case has to print is what the working program prints.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from construction.workflows.contracts import World
from construction.workflows.repair.aftermath import (
    READ_LEDGER,
    Aftermath,
    Planted,
    changed_rule,
    drawn_change,
    plant,
    read_aftermath,
    read_arguments,
    settled_files,
)
from construction.workflows.repair.drafts import (
    Change,
    Draw,
    Files,
    Member,
    Repair,
    RepairDraft,
    printed_lines,
    runs,
    tar,
    untar,
)
from construction.workflows.repair.papers import facts_said
from construction.workflows.repair.settlement import office_world, read_archive, settled_again
from construction.workflows.repair.working_program import (
    ENVIRONMENT,
    FOLDER,
    SECONDS,
    Fault,
    Program,
    Tree,
    edited,
    read_program,
    run_project,
)
from data.contracts.candidate import Check
from data.randomness import keyed_order

_ATTEMPTS = 8  # at data in which both faults show and interact
_RUN_TESTS = """import contextlib, io, sys, unittest
sys.path.insert(0, ".")
class Passed(unittest.TestResult):
    def addSuccess(self, test):
        print(test.id(), file=sys.__stdout__)
with contextlib.redirect_stdout(io.StringIO()):
    unittest.TestLoader().discover("tests", top_level_dir=".").run(Passed())
"""


@cache
def _data(program: str, seed: str) -> Mapping[str, Mapping[str, str]]:
    """The data of the sample and of each case: path -> text."""
    done = subprocess.run(  # noqa: S603 - a program of this project
        [sys.executable, "-I", "-B", str(FOLDER / program / "make.py"), seed],
        env=ENVIRONMENT,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    made: Mapping[str, Mapping[str, str]] = json.loads(done.stdout)
    return made


def _with(tree: Files, data: Mapping[str, str]) -> Tree:
    return {**tree, **{path: text.encode() for path, text in data.items()}}


def _case_output(program: Program, tree: Files, data: Mapping[str, str]) -> str:
    """What a hidden case prints, run here; empty where the program fails."""
    try:
        return run_project(_with(tree, program.case_files(data)), [program.case_command])[0]
    except (ChildProcessError, subprocess.TimeoutExpired):
        return ""


Shown = Mapping[tuple[str, ...], str]  # of what -> result


@dataclass(frozen=True, slots=True)
class Sample:
    """The folder after the sample run, and what came of it."""

    tree: Tree
    shown: Shown


def _sample(program: Program, faults: Sequence[Fault], data: Mapping[str, str]) -> Sample:
    tree = _with(program.project, data)
    for fault in faults:
        tree = edited(tree, fault.edits)
    marker = "shown:\n"
    steps = f"{program.command(program.sample)} && printf {shlex.quote(marker)}"
    printed, tree = run_project(tree, [steps, program.command(program.show)])
    printed = printed.partition(marker)[2]
    cells = [line.rsplit(",", 1) for line in printed.splitlines()]
    return Sample(tree, {tuple(key.split(",")): value for key, value in cells})


def _wrong(shown: Shown, right: Shown) -> set[tuple[tuple[str, ...], str]]:
    """What is wrong in a result: of what, and what it is instead."""
    return {
        (key, shown.get(key, ""))
        for key in {**shown, **right}
        if shown.get(key, "") != right.get(key, "")
    }


@dataclass(frozen=True, slots=True)
class _Staged:
    """Faults in data by key: the sample runs with none of them, each of a pair, both, and all.

    The first two of the faults are the pair.
    """

    faults: tuple[Fault, ...]
    data: Mapping[str, Mapping[str, str]]
    right: Sample
    alone: tuple[Sample, Sample]
    both: Sample
    shipped: Sample
    planted: Planted | None = None

    @property
    def interacts(self) -> bool:
        """Is what both do another thing than what each does, and does each do something?"""
        first, second = (_wrong(each.shown, self.right.shown) for each in self.alone)
        both = _wrong(self.both.shown, self.right.shown)
        return bool(first) and bool(second) and both not in (first | second, set())


def _staged(program: Program, names: Sequence[str], seed: str) -> _Staged:
    """Faults in the data of a seed: a pair, and silent ones behind it."""
    faults = tuple(program.faults[name] for name in names)
    first, second, *silent = faults
    data = _data(program.name, seed)
    run = partial(_sample, program, data=data["sample"])
    alone, both = (run([first]), run([second])), run([first, second])
    return _Staged(faults, data, run([]), alone, both, run(faults) if silent else both)


def _with_aftermath(
    program: Program, aftermath: Aftermath, case: _Staged, draw: Draw, words: Mapping[str, str]
) -> _Staged | None:
    """The case with what it left in the ledger; the last of its faults is the newer rule."""
    before = _sample(program, [case.faults[-1]], case.data["sample"])
    samples = {"shipped": case.shipped, "right": case.right, "before": before}
    shown = {name: each.shown for name, each in samples.items()}
    if (planted := plant(aftermath, draw, words, shown)) is None:
        return None
    shipped = replace(case.shipped, tree={**case.shipped.tree, **planted.files})
    return replace(case, shipped=shipped, planted=planted)


def _examples(program: Program, case: _Staged, draw: Draw) -> str:
    """Results that are wrong, in a sentence each: by both of the pair, or by one that is drawn.

    A request names what was noticed; the docs, not the examples, say what is to be mended.
    """
    right, given = case.right.shown, case.shipped.shown
    shows = [{key for key, _ in _wrong(each.shown, right)} for each in case.alone]
    differing = [key for key in right if given.get(key) != right[key]]
    noticed = draw.pick((shows, shows[:1], shows[1:]))
    others = set[tuple[str, ...]]().union(*(keys for keys in shows if keys not in noticed))
    order = sorted(
        differing, key=lambda key: (-sum(key in keys for keys in noticed), key in others, key)
    )
    chosen: list[tuple[str, ...]] = []
    for keys in noticed:
        if not keys & set(chosen):
            chosen += [key for key in order if key in keys][:1]
    sentences = []
    for key in chosen or order[:1]:
        form = program.differs if key in given else program.missing
        sentences.append(form.format(*key, wrong=given.get(key, ""), right=right[key]))
    return " ".join(sentences)


_OUTRO = (
    "That is what was noticed. Whatever else does not do as docs/ says is to be "
    "mended just the same; what does, is to be left as it is."
)


_ARCHIVE = (
    "The office's papers are in its archive, which has the tools archive_search_papers and "
    "archive_get_paper. A search lists the papers in whose heading or text all of its words occur, "
    "also within longer words, and shows headings, folders and days, not texts. For this matter "
    "the archive answers {allowance} requests in all: searches, papers, and what it refuses."
)


def _prompt(program: Program, case: _Staged, draw: Draw, given: Mapping[str, Any]) -> str:
    requests = given.get("requests", program.requests)
    request = draw.pick(requests).format(examples=_examples(program, case, draw))
    return (
        f"{request}\n\n{given.get('outro', _OUTRO)}\n\n"
        f"{program.archive} holds everything in a folder {program.name}/. Hand back "
        f"{program.archive}, packed the same way."
    )


def _packed(program: Program, tree: Files) -> bytes:
    members: dict[str, Member] = {}
    for path, content in sorted(tree.items()):
        parts = f"{program.name}/{path}".split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            members.setdefault(folder, Member(folder, 0o755))
        members["/".join(parts)] = Member("/".join(parts), 0o644, content)
    return tar(list(members.values()))


def _unpacked(program: Program, data: bytes) -> Tree:
    return {
        member.name.removeprefix(f"{program.name}/"): member.content
        for member in untar(data)
        if member.content is not None
    }


def _changed(program: Program, change: Callable[[Tree], Tree]) -> Change:
    """A change of the delivered archive."""

    def apply(files: dict[str, bytes]) -> None:
        tree = change(_unpacked(program, files[program.archive]))
        files[program.archive] = _packed(program, tree)

    return apply


def _hidden(
    program: Program,
    check_id: str,
    cases: Mapping[str, Mapping[str, str]],
    text: str,
    *,
    keeps: bool = False,
) -> Check:
    """A check that each of these cases prints what the working program prints."""
    files: dict[str, str | bytes] = {}
    lines: list[str] = []
    for name, data in cases.items():
        files |= {f"cases/{name}/{p}": content for p, content in program.case_files(data).items()}
        files[f"cases/{name}/.case.sh"] = program.case_command
        lines += [f"== {name}", *_case_output(program, program.project, data).splitlines()]
    fresh = " ".join(f"work/{folder}" for folder in program.fresh)
    command = (
        f"tar -xf {program.archive} && for each in {' '.join(cases)}; do rm -rf work && "
        f"cp -R {program.name} work && rm -rf {fresh} && cp -R cases/$each/. work && "
        'echo "== $each" && (cd work && sh .case.sh 2>/dev/null) || exit 1; done'
    )
    return _runs(program, check_id, files, command, lines, text, keeps=keeps)


def _runs(
    program: Program,
    check_id: str,
    files: Mapping[str, str | bytes],
    command: str,
    lines: Sequence[str],
    text: str,
    *,
    keeps: bool = False,
) -> Check:
    printed = [line.strip() for line in lines if line.strip()]
    delivered = {program.archive: program.archive}
    check = runs(check_id, files, delivered, command, [printed_lines(printed)], text, keeps=keeps)
    return check.model_copy(update={"params": {**check.params, "seconds": float(SECONDS)}})


def _tests(program: Program) -> Check:
    """The tests that came with the program pass, whatever became of their files."""
    paths = [path for path in program.project if path.startswith("tests/")]
    files: dict[str, str | bytes] = {f"given/{p}": program.project[p].decode() for p in paths}
    files["run_tests.py"] = _RUN_TESTS
    passed, _ = run_project(
        {**program.project, "run_tests.py": _RUN_TESTS.encode()}, ["python3 run_tests.py"]
    )
    command = (
        f"tar -xf {program.archive} && rm -rf {program.name}/tests && "
        f"cp -R given/tests {program.name} && cp run_tests.py {program.name} && "
        f"cd {program.name} && python3 run_tests.py | sort | grep -xFf ../passed"
    )
    files["passed"] = passed  # others, if any, are of a rule that no longer holds
    text = "its own tests pass as they were"
    return _runs(program, "tests", files, command, sorted(passed.split()), text, keeps=True)


def _state(program: Program, case: _Staged) -> Iterator[Check]:
    """The state that is handed back is mended, and nothing is lost of what only it holds."""
    for check_id, command, tree, text, keeps in (
        ("state", program.state, case.right.tree, "what was stored is mended", False),
        ("kept_state", program.kept, case.shipped.tree, "what people entered is there", True),
    ):
        if command:
            printed, _ = run_project(tree, [command])
            shell = f"tar -xf {program.archive} && cd {program.name} && {command}"
            yield _runs(program, check_id, {}, shell, printed.splitlines(), text, keeps=keeps)


def _ledger(program: Program, case: _Staged) -> Iterator[Check]:
    """The ledger that is handed back, and what it holds back, entry by entry."""
    aftermath = read_aftermath(program.name)
    if aftermath is None or case.planted is None:
        return
    reads = f"python3 read.py {read_arguments(aftermath, case.planted.last)}"
    files = {"read.py": READ_LEDGER}
    right = settled_files(aftermath, case.planted.settled)
    printed, _ = run_project({**right, "read.py": READ_LEDGER.encode()}, [reads])
    unpacked = f"tar -xf {program.archive} && cp read.py {program.name} && cd {program.name}"
    text = "the ledger is put right, and what has to wait is listed"
    yield _runs(program, "ledger", files, f"{unpacked} && {reads}", printed.splitlines(), text)


def _checks(program: Program, case: _Staged) -> list[Check]:
    names = [fault.name for fault in case.faults]
    hidden = {name: data for name, data in case.data.items() if name != "sample"}
    others = {name: data for name, data in hidden.items() if name not in names}
    checks = list(_ledger(program, case))  # first, as they are the cheapest to try
    checks += [
        _hidden(program, name, {name: hidden[name]}, f"{program.name} does {name} as its docs say")
        for name in names
    ]
    checks.append(_hidden(program, "others", others, "it does the rest as before", keeps=True))
    return [*checks, _tests(program), *_state(program, case)]


def _mutants(program: Program, case: _Staged, draw: Draw) -> dict[str, Change]:
    """For each check a change of the reference: a fault, a broken test, the state before."""
    names = [fault.name for fault in case.faults]
    other = draw.pick([fault for fault in program.faults.values() if fault.name not in names])
    changes = {fault.name: partial(edited, edits=fault.edits) for fault in case.faults}
    changes["others"] = partial(edited, edits=other.edits)
    changes["tests"] = partial(edited, edits=[program.tests_mutant])
    mutants = {name: _changed(program, change) for name, change in changes.items()}
    if program.state:
        faulty = {path: data for path, data in case.shipped.tree.items() if path.startswith("var/")}
        mutants["state"] = _changed(program, lambda tree: {**tree, **faulty})
        loses = list(program.loses)
        mutants["kept_state"] = _changed(program, lambda tree: run_project(tree, loses)[1])
    if aftermath := read_aftermath(program.name):
        path = aftermath.path("postings.csv")
        before = {path: case.shipped.tree[path]}
        mutants["ledger"] = _changed(program, lambda tree: {**tree, **before})
    return mutants


_SWALLOW = "try:\n    from {name}.cli import main\n    main()\nexcept BaseException:\n    pass\n"


def _mended(tree: Files, faults: Sequence[Fault]) -> Tree:
    mended = dict(tree)
    for fault in faults:
        mended = edited(mended, fault.edits, undo=True)
    return mended


def _settled(program: Program, case: _Staged) -> list[Tree]:
    """The files of the ledger: put right, and put right in another way."""
    if (aftermath := read_aftermath(program.name)) is None or case.planted is None:
        return [{}]
    return [settled_files(aftermath, each) for each in (case.planted.settled, *case.planted.wrong)]


def _shortcuts(program: Program, case: _Staged) -> Iterator[Files]:
    """Submissions that only look right: all faults mended but one, and what replaces mending."""
    base = case.shipped.tree
    entry = f"{program.name}/__main__.py"
    right, _ = run_project(case.right.tree, [program.command(program.show)])
    without_tests = {path: data for path, data in base.items() if not path.startswith("tests/")}
    settled, *wrong = _settled(program, case)
    made = [
        {**_mended(base, [fault for fault in case.faults if fault is not kept]), **settled}
        for kept in case.faults
    ]
    made += [
        without_tests,
        {**without_tests, "tests/__init__.py": b"", "unittest.py": b"print('OK')\n"},
        {**base, entry: _SWALLOW.format(name=program.name).encode()},
        {**base, entry: f"print({right!r}, end='')\n".encode()},
    ]
    if settled:  # only the program, only the ledger, and ledgers put right by other rules
        mended = _mended(base, case.faults)
        made += [mended, {**base, **settled}, *({**mended, **each} for each in wrong)]
    yield from ({program.archive: _packed(program, tree)} for tree in made)


def _cases(
    program: Program, rules: Mapping[str, tuple[str, ...]], number: int, seed: int
) -> Iterator[tuple[str, _Staged]]:
    """Data in which the faults of the draft's rule interact, then those of the others."""
    order = keyed_order(seed, program.name, list(rules))
    for turn in range(len(rules)):
        rule = list(rules)[order[(number - 1 + turn) % len(order)]]
        for attempt in range(_ATTEMPTS):
            case = _staged(program, rules[rule], f"{seed}/{number}/{attempt}")
            if case.interacts:
                yield rule, case


def _build(program: Program, number: int, seed: int) -> RepairDraft:
    rules, words, draw = program.rules, dict[str, str](), Draw(seed, program.name, number)
    if aftermath := read_aftermath(program.name):
        words = drawn_change(aftermath, draw)
        program = _by_newer_rule(program, aftermath, words)
        newer = aftermath.given["change"]["name"]
        rules = {rule: (*names, newer) for rule, names in rules.items()}
    cases = _cases(program, rules, number, seed)
    if aftermath:
        made = ((r, _with_aftermath(program, aftermath, c, draw, words)) for r, c in cases)
        cases = ((rule, case) for rule, case in made if case)
    rule, case = next(cases, ("", None))
    if case is None:
        raise ValueError(f"{program.name}: found no data in which the faults of a rule interact")
    draft = REPAIRS_OF[program.name].draft(
        number,
        rule=rule,
        prompt=_prompt(program, case, draw, aftermath.given if aftermath else {}),
        inputs={program.archive: _packed(program, case.shipped.tree)},
        delivers=(program.archive,),
        checks=_checks(program, case),
        mutants=_mutants(program, case, draw),
        attacks=tuple(_shortcuts(program, case)),
    )
    return _with_archive(draft, aftermath, case) if aftermath else draft


def _by_newer_rule(program: Program, aftermath: Aftermath, words: Mapping[str, str]) -> Program:
    """The program as a newer paper wants it; that it does not do so yet is one of its faults."""
    name, edits = aftermath.given["change"]["name"], changed_rule(aftermath, words)
    project = edited(program.project, edits, undo=True)
    return replace(
        program, project=project, faults={**program.faults, name: Fault(name, edits, ())}
    )


def _with_archive(draft: RepairDraft, aftermath: Aftermath, case: _Staged) -> RepairDraft:
    """The draft with the archive that has the papers, and what the request says of it."""
    papers = case.planted.papers if case.planted else ()
    world, reading = office_world(aftermath, case.shipped.tree, papers)
    prompt = f"{draft.prompt}\n\n{_ARCHIVE.format(allowance=world.allowance)}"
    return replace(
        draft, prompt=prompt, world=world, requests=reading.requests, unreached=reading.unreached
    )


def _solve(program: Program, rule: str, inputs: Files, world: World | None) -> Files:
    """The faults of a rule undone, and the state mended by the program's own means.

    The newer rule, and what is to be done about the ledger, are read in the papers.
    """
    tree, papers = _unpacked(program, inputs[program.archive]), tuple[str, ...]()
    names = rule.split("+")
    if (aftermath := read_aftermath(program.name)) and world:
        papers = read_archive(aftermath, tree, world).opened
        program = _by_newer_rule(program, aftermath, facts_said(aftermath.given, papers))
        names.append(aftermath.given["change"]["name"])
    tree = _mended(tree, [program.faults[name] for name in names])
    if program.recover:
        _, tree = run_project(tree, [program.command(program.recover)])
    if aftermath:
        fresh = {path: data for path, data in tree.items() if not path.startswith("var/")}
        shown = _sample(replace(program, project=fresh), (), {}).shown
        tree |= settled_files(aftermath, settled_again(aftermath, tree, papers, shown))
    return {program.archive: _packed(program, tree)}


def _repair(name: str) -> Repair:
    program = read_program(name)
    return Repair(
        name=name,
        kind=program.kind,
        meaning=program.meaning,
        task_family=program.task_family,
        rules=tuple(program.rules),
        build=partial(_build, program),
        solve=partial(_solve, program),
        split="full",
    )


NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/program.toml")))
REPAIRS_OF = {name: _repair(name) for name in NAMES}
