"""Task folders of Harbor: what their files say, and what the tests accept in a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.lint.findings import Report
from construction.lint.harbor_task import _parse
from construction.lint.registry import lint_path
from construction.sandbox.sandbox import bubblewrap
from data.errors import InputError

needs_box = pytest.mark.skipif(bubblewrap() is None, reason="bubblewrap is not installed")
FROM = "FROM python:3.12-slim\nWORKDIR /app\nCOPY herds.csv /app/\n"
INSTRUCTION = (
    "Write to /app/largest.txt the farm with the most cows in /app/herds.csv and how many."
)
HERDS = "farm,cows\nHollow,41\nMeadow,67\nRidge,52\n"
REWARD = "/logs/verifier/reward.txt"
STRICT = f"""grep -qx 'Meadow 67' /app/largest.txt && echo 1 > {REWARD} || echo 0 > {REWARD}"""
ONE_WORD = f"""grep -q Meadow /app/largest.txt && echo 1 > {REWARD} || echo 0 > {REWARD}"""
THERE = f"""test -f /app/largest.txt && echo 1 > {REWARD} || echo 0 > {REWARD}"""
ALWAYS = f"echo 1 > {REWARD}"
PYTEST = f"""pytest --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py -rA
if [ $? -eq 0 ]; then echo 1 > {REWARD}; else echo 0 > {REWARD}; fi"""
CHECKED = """def test_the_answer():
    assert open("/app/largest.txt").read().split() == ["Meadow", "67"]
"""
SOLVE = "echo 'Meadow 67' > /app/largest.txt"


def task(root: Path, test: str = STRICT, **files: str) -> Path:
    """A task folder; a file is given by its path with `__` for a slash, and left out if empty."""
    made = root / "herds"
    given = {
        "task.toml": 'version = "1.0"\n',
        "instruction.md": INSTRUCTION,
        "environment/Dockerfile": FROM,
        "environment/herds.csv": HERDS,
        "tests/test.sh": f"#!/bin/bash\n{test}\n",
        "solution/solve.sh": f"#!/bin/bash\n{SOLVE}\n",
    } | {path.replace("__", "/"): text for path, text in files.items()}
    for path, text in given.items():
        if text:
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text)
    return made


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.defects}


@needs_box
@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (STRICT, set()),
        (PYTEST, set()),
        (
            ONE_WORD,
            {
                "grader.passed_by_pasted_input",
                "grader.passed_by_other_figures",
                "grader.passed_by_listing",
            },
        ),
        (ALWAYS, {"grader.passed_by_null"}),
    ],
)
def test_what_is_no_work_must_not_pass(tmp_path: Path, test: str, expected: set[str]) -> None:
    made = task(tmp_path, test, **{"tests__test_outputs.py": CHECKED})
    report = lint_path(made)
    assert (codes(report), report.unchecked) == (expected, [])


@needs_box
def test_files_that_are_only_there_pass_a_test_that_asks_no_more(tmp_path: Path) -> None:
    assert "grader.passed_by_empty_files" in codes(lint_path(task(tmp_path, THERE)))


@needs_box
def test_a_solution_that_fails_here_is_not_called_a_fault(tmp_path: Path) -> None:
    report = lint_path(task(tmp_path, **{"solution__solve.sh": "cowcount /app/herds.csv"}))
    assert (report.defects, [f.code for f in report.unchecked]) == ([], ["oracle"])
    assert report.unchecked[0].detail == (
        "the solution got reward 0 here, without the task's own image"
    )


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (
            {"environment__Dockerfile": FROM + "RUN cargo build\n"},
            "needs its image: RUN cargo build",
        ),
        ({"solution__solve.sh": ""}, "no solution to try"),
        ({"solution__solve.sh": "curl http://127.0.0.1/x"}, "fetch from the network"),
        ({"environment__Dockerfile": FROM.replace("/app", "/usr/share")}, "system folders"),
    ],
)
@needs_box
def test_what_needs_more_than_a_plain_system_is_not_checked(
    tmp_path: Path, files: dict[str, str], why: str
) -> None:
    report = lint_path(task(tmp_path, **files))
    assert report.defects == []
    assert why in report.unchecked[0].detail


TOLD = "\n".join(
    f"python3 -c 'print({n} * {n}, \"of the herds there are\")' >> out" for n in range(4)
)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"environment__herds.csv": ""}, {"fixture.missing"}),
        ({"environment__Dockerfile": "FROM debian\n" + FROM[22:]}, {"image.unpinned"}),
        ({"environment__Dockerfile": "FROM a.example:5000/x/debian:latest\n"}, {"image.unpinned"}),
        ({"environment__Dockerfile": "FROM debian@sha256:1234\n"}, set()),
        ({"environment__Dockerfile": ""}, {"environment.missing"}),
        ({"instruction.md": " "}, {"instruction.empty"}),
        ({"tests__test.sh": ""}, {"tests.missing"}),
        (
            {"solution__solve.sh": TOLD, "environment__solve.sh": TOLD,
             "environment__Dockerfile": FROM + "COPY solve.sh /app/\n"},
            {"solution.in_inputs"},
        ),
        ({"solution__solve.sh": TOLD, "environment__solve.sh": TOLD}, set()),  # not in the image
        ({"environment__Dockerfile": FROM + "COPY solution /app\n"}, {"solution.in_inputs"}),
        ({"instruction.md": f"Run:\n{TOLD}\n", "solution__solve.sh": TOLD},
         {"solution.in_instruction"}),
        ({"task.toml": "= no"}, {"task.unreadable"}),
        # Built on the author's machine, and of no registry: nothing is pulled without a version.
        ({"environment__Dockerfile": FROM.replace("python:3.12-slim", "herds:latest")}, set()),
        # A file that the solution leaves as it was is not the answer.
        ({"solution__herds.csv": HERDS * 9, "environment__herds.csv": HERDS * 9,
          "solution__fixed.py": TOLD}, set()),
        ({"solution__fixed.py": TOLD, "environment__fixed.py": TOLD,
          "environment__Dockerfile": FROM + "COPY fixed.py /app/\n"}, {"solution.in_inputs"}),
        # The tests' own data is no test; the file that their script runs is.
        ({"tests__data__0": TOLD, "environment__0": TOLD,
          "environment__Dockerfile": FROM + "COPY 0 /app/\n"}, set()),
        ({"tests__test.sh": "pytest /tests/test_herds.py", "tests__test_herds.py": TOLD,
          "environment__test_herds.py": TOLD,
          "environment__Dockerfile": FROM + "COPY test_herds.py /app/\n"}, {"tests.in_inputs"}),
        # An image that is fetched may be built in the folder of the task, not in environment/.
        ({"environment__Dockerfile": FROM + "COPY tests/. /tests\n", "tests__test.sh": TOLD,
          "task.toml": '[environment]\ndocker_image = "a.example/x/herds:1"\n'}, set()),
        ({"environment__Dockerfile": FROM + "COPY notes.md /app/\n", "notes.md": "x"},
         {"fixture.missing"}),
        ({"task.toml": "\ufeff[metadata]\n"}, set()),
        ({"instruction.md": "", "environment__Dockerfile": "", "environment__herds.csv": "",
          "tests__test.sh": ""}, set()),  # a draft
    ],
)  # fmt: skip
def test_what_the_files_show(
    tmp_path: Path, files: dict[str, str], expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("construction.lint.harbor.bubblewrap", lambda: None)
    assert codes(lint_path(task(tmp_path, **files))) == expected


STEPS = '[[steps]]\nname = "count"\n[[steps]]\nname = "tell"\n'


def test_a_task_of_steps_has_an_instruction_and_tests_in_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("construction.lint.harbor.bubblewrap", lambda: None)
    parts = {
        f"steps__{step}__{name}": text
        for step in ("count", "tell")
        for name, text in (("instruction.md", step), ("tests__test.sh", STRICT))
    }
    whole = {"task.toml": STEPS, "instruction.md": "", "tests__test.sh": "", **parts}
    made = task(tmp_path, **whole)
    assert codes(lint_path(made)) == set()
    (made / "steps/tell/instruction.md").unlink()
    (made / "steps/count/tests/test.sh").unlink()
    assert {(f.code, f.detail) for f in lint_path(made).defects} == {
        ("instruction.empty", "no text in steps/tell/instruction.md"),
        ("tests.missing", "no steps/count/tests/test.sh"),
    }


def test_what_no_task_of_a_set_has_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("construction.lint.harbor.bubblewrap", lambda: None)
    wants = FROM + "COPY repo/ /app/\n"
    for number in range(10):
        files = {"environment__Dockerfile": wants, "instruction.md": f"Count herd {number}."}
        task(tmp_path / str(number), **files)
    report = lint_path(tmp_path)
    assert codes(report) == set()
    (apart,) = [finding for finding in report.unchecked if finding.code == "fixture.missing"]
    assert apart.detail == "repo/: 10 tasks refer to it and none has it; it is kept elsewhere"
    (tmp_path / "0/herds/environment/repo").mkdir()
    assert [f.code for f in lint_path(tmp_path).defects] == ["fixture.missing"] * 9


@needs_box
def test_no_more_tasks_are_tried_than_wanted(tmp_path: Path) -> None:
    for number in range(2):
        task(tmp_path / str(number), ALWAYS, **{"instruction.md": f"Count herd {number}."})
    report = lint_path(tmp_path, trials=1)
    assert [finding.code for finding in report.defects] == ["grader.passed_by_null"]
    assert [f.detail for f in report.unchecked] == ["1 task tried, 1 left out (see --trials)"]


def test_tasks_that_ask_the_same_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("construction.lint.harbor.bubblewrap", lambda: None)
    task(tmp_path / "set" / "a")
    task(tmp_path / "set" / "b", **{"instruction.md": INSTRUCTION.upper()})
    (finding,) = lint_path(tmp_path).defects
    assert (finding.code, finding.detail) == (
        "task.duplicate",
        "instruction, environment and tests of set/a/herds",
    )


def test_a_dockerfile_is_read_as_far_as_it_is_plain() -> None:
    made = _parse(
        "ARG X=1\nFROM debian:12 AS base\nFROM base\n# COPY no /no\nWORKDIR /srv\n"
        "COPY --chown=a a.txt b.txt data/\nENV A=1 B='two words'\n"
        "RUN apt-get update && apt-get install -y python3 \\\n && rm -rf /var/lib/apt/lists/*\n"
    )
    assert (made.images, made.workdir) == (["debian:12"], "/srv")
    assert made.copies == [(("a.txt", "b.txt"), "/srv/data/")]
    assert made.variables == {"A": "1", "B": "two words"}
    assert made.unplain == "ARG X=1"
    assert _parse("FROM x:1\nRUN make\n").unplain == "RUN make"
    assert _parse("FROM x:1\nCOPY --from=y /a /b\n").unplain == "COPY --from=y /a /b"


def test_an_empty_folder_has_no_form(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no tasks in a known format"):
        lint_path(tmp_path)
