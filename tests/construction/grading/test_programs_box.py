"""Programs in boxes: what they see, what comes back, and that each has a box of its own."""

from __future__ import annotations

from construction.grading.programs import STDOUT, Program
from construction.grading.programs_box import run_in_box
from tests.needs import needs_box

pytestmark = needs_box


def test_a_program_works_on_its_files_and_what_it_leaves_comes_back() -> None:
    program = Program(
        {"in/a.txt": b"7\n", "double.py": b"print(2 * int(open('in/a.txt').read()))"},
        "python3 double.py | tee out.txt; date +%Z; exit 4",
        wanted=("out.txt", "never.txt"),
    )
    ran = run_in_box(program)
    assert (ran.code, ran.timed_out) == (4, False)
    assert ran.files == {STDOUT: b"14\nUTC\n", "out.txt": b"14\n"}


def test_nothing_of_one_program_is_there_for_the_next() -> None:
    first = Program({"a": b""}, "echo mine > ../kept; echo mine > /tmp/kept; ls ..")
    assert b"kept" in run_in_box(first).files[STDOUT]
    second = run_in_box(Program({"a": b""}, "ls .. /tmp"))
    assert b"kept" not in second.files[STDOUT]


def test_there_is_no_network_and_no_host_behind_it() -> None:
    connect = "import socket; socket.create_connection(('127.0.0.1', 22), 1)"
    program = Program({"a.py": connect.encode()}, "python3 a.py 2>/dev/null; cat /etc/passwd")
    ran = run_in_box(program)
    assert ran.code != 0
    assert ran.files[STDOUT] == b""


def test_a_program_that_does_not_end_is_ended() -> None:
    assert run_in_box(Program({"a": b""}, "sleep 30", seconds=0.3)).timed_out
