"""Proofs of check programs: what is proven, and what each fault of a program leads to."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from openpyxl import Workbook, load_workbook

from construction.grading.findings import FINDINGS, grade_findings, read_findings
from construction.grading.grade import grade
from construction.grading.programs import STDOUT, Program, Ran
from construction.grading.spec import spec_of
from construction.judging.checks.mutants import STRUCTURE
from construction.judging.checks.prove import (
    Proof,
    ProofReason,
    Provable,
    copies_of,
    names_of,
    proof_record,
    prove,
    proven_check,
    read_proof,
)
from construction.judging.checks.stage import Unproven, mend_stage
from construction.judging.model.asking import ask
from data.contracts import Candidate, Disclosure, Lane, Provenance
from data.contracts.attempt import Submission
from tests.construction.judging.checks.warm import completed
from tests.construction.judging.model.fakes import CONFIG, always, case

ORDERS = b"depot,boxes\nGoole,12\nSelby,8\nGoole,9\nThorne,9\nSelby,9\n"
REFERENCE = """
import csv, collections, pathlib
total = collections.Counter()
for row in csv.DictReader(open("inputs/orders.csv")):
    total[row["depot"]] += int(row["boxes"])
with open("outputs/depots.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["depot", "boxes"])
    writer.writerows(total.most_common())
"""
SECOND = """
rows = [line.strip().split(",") for line in open("inputs/orders.csv")][1:]
names = sorted({name for name, _ in rows})
sums = [(sum(int(n) for name, n in rows if name == one), one) for one in names]
text = "Depot,Total boxes\\n" + "".join(f"{one},{n}\\n" for n, one in sorted(sums, reverse=True))
open("outputs/depots.csv", "w").write(text)
"""
CHECKS = """
import csv, json
want = {}
for row in csv.DictReader(open("inputs/orders.csv")):
    want[row["depot"]] = want.get(row["depot"], 0) + int(row["boxes"])
got = {}
try:
    for row in list(csv.reader(open("outputs/depots.csv")))[1:]:
        got[row[0]] = int(row[1])
except Exception:
    pass
found = [{"finding": f"boxes of {name}", "passed": got.get(name) == n, "expected": n,
          "found": got.get(name, "nothing")} for name, n in want.items()]
order = sorted(want.values(), reverse=True)
found.append({"finding": "order", "passed": list(got.values()) == order, "expected": order,
              "found": list(got.values())})
found.append({"finding": "depots", "passed": set(got) == set(want), "expected": sorted(want),
              "found": sorted(got)})
print(json.dumps(found))
"""
ALL = ("boxes of Goole", "boxes of Selby", "boxes of Thorne", "order", "depots")
TASK = Provable(
    "t1",
    "Add up the boxes per depot in orders.csv, largest first, into depots.csv.",
    ("depots.csv",),
    {"orders.csv": ORDERS},
    REFERENCE,
    CHECKS,
    SECOND,
)


def run(program: Program) -> Ran:
    """Programs of these tests alone: in a folder of their own, without a sandbox."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in program.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        code, printed = completed(program.command, folder)
        kept = sorted((folder / program.keeps).rglob("*")) if program.keeps else []
        kept += [folder / name for name in program.wanted if (folder / name).is_file()]
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}
        return Ran(code, {**files, STDOUT: printed})


@cache
def proven() -> Proof:
    return prove(TASK, run)


def test_a_sound_pair_of_programs_is_proven() -> None:
    proof = proven()
    assert (proof.reason, proof.detail) == (None, "")
    assert proof.findings == ALL
    assert proof.counts["killed"] >= 6
    assert proof.counts["changed_inputs"] >= 1
    assert read_proof(proof_record(proof)) == proof


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reference": "raise SystemExit(3)"}, ProofReason.REFERENCE_FAILED),
        ({"reference": "open('outputs/other.csv', 'w').write('a')"}, ProofReason.REFERENCE_FAILED),
        ({"checks": "print('fine')"}, ProofReason.NO_FINDINGS),
        ({"checks": "print('[]')"}, ProofReason.NO_FINDINGS),
        ({"second": ""}, ProofReason.NO_SECOND),
        ({"second": "raise ValueError"}, ProofReason.SECOND_FAILED),
        (
            {"second": "open('outputs/depots.csv', 'w').write('depot,boxes\\nYork,1\\n')"},
            ProofReason.SECOND_DISAGREES,
        ),
        (
            {"checks": 'print(\'[{"finding": "ok", "passed": true}]\')'},
            ProofReason.PASSED_WITHOUT_WORK,
        ),
        (
            {
                "checks": "import json, os\n"
                "there = os.path.exists('outputs/depots.csv')\n"
                "text = open('outputs/depots.csv').read() if there else ''\n"
                "is_short = 'Goole' in text and len(text) < 50\n"
                "print(json.dumps([{'finding': 'names', 'passed': is_short}]))"
            },
            ProofReason.MUTANTS_PASSED,
        ),
        ({"inputs": {"orders.csv": ORDERS * 80_000}}, ProofReason.TOO_LARGE),
    ],
)
def test_what_does_not_prove_itself_is_dropped_with_its_reason(
    change: dict[str, object], reason: ProofReason
) -> None:
    proof = prove(replace(TASK, **change), run)  # type: ignore[arg-type]
    assert (proof.findings, proof.reason) == ((), reason)


SORTING = """
rows = open("inputs/depots.csv").read().split()
rows[1:] = sorted(rows[1:], key=lambda row: -int(row.split(",")[1]))
open("outputs/depots.csv", "w").write("\\n".join(rows) + "\\n")
"""
SORTED = """
import json, pathlib
rows = pathlib.Path("inputs/depots.csv").read_text().split()[1:]
want = sorted(rows, key=lambda row: -int(row.split(",")[1]))
file = pathlib.Path("outputs/depots.csv")
got = file.read_text().split()[1:] if file.is_file() else []
print(json.dumps([{"finding": "order", "passed": got == want, "expected": want, "found": got}]))
"""


@pytest.mark.parametrize("ending", ["\n", "\n\n"])
def test_an_input_that_is_the_result_already_is_no_task(ending: str) -> None:
    done = f"depot,boxes\nGoole,21\nSelby,17\nThorne,9{ending}".encode()
    task = replace(
        TASK, inputs={"depots.csv": done}, reference=SORTING, checks=SORTED, second=SORTING
    )
    assert prove(task, run).reason is ProofReason.NOTHING_TO_DO
    mixed = b"depot,boxes\nSelby,17\nGoole,21\nThorne,9\nHull,3\nYork,2\nRipon,1\n"
    assert prove(replace(task, inputs={"depots.csv": mixed}), run).reason is None


def test_expected_values_that_are_written_into_the_program_are_noticed() -> None:
    fixed = CHECKS.replace(
        'for row in csv.DictReader(open("inputs/orders.csv")):\n'
        '    want[row["depot"]] = want.get(row["depot"], 0) + int(row["boxes"])',
        'want = {"Goole": 21, "Selby": 17, "Thorne": 9}',
    )
    assert fixed != CHECKS
    proof = prove(replace(TASK, checks=fixed), run)
    assert proof.reason is ProofReason.NOT_COMPUTED
    assert "the new result fails" in " ".join(proof.faults)
    assert "inputs/orders.csv with " in " ".join(proof.faults)  # which change it was


FEES = b"""RATE = 0.02


def fee(amount, days):
    return amount * RATE if days >= 3 else 0


def both(one, two):
    return one + two
"""
MENDED = """
code = open("inputs/fees.py").read()
open("outputs/fees.py", "w").write(code.replace("days >= 3", "days > 3 and amount > 0"))
"""
ANEW = """
code = open("inputs/fees.py").read().split("def fee")[0] + "\\n\\ndef fee(sum_, late):\\n"
code += "    if late <= 3 or sum_ <= 0:\\n        return 0\\n    return sum_ * RATE\\n"
code += "def both(a, b):\\n    return sum([a, b])\\n"
open("outputs/fees.py", "w").write(code)
"""
BEHAVES = """
import json
names = {}
try:
    exec(open("outputs/fees.py").read(), names)
except Exception:
    pass
found = []
def says(name, test, function="fee"):
    try:
        passed = bool(test(names[function]))
    except Exception:
        passed = False
    found.append({"finding": name, "passed": passed, "expected": True, "found": passed})
says("no fee on the third day", lambda fee: fee(100, 3) == 0 and fee(100, 4) > 0)
says("no fee without a sum", lambda fee: fee(0, 9) == 0 and fee(-5, 9) == 0 and fee(7, 9) > 0)
says("a share of the sum", lambda fee: 0 < fee(100, 9) * 2 == fee(200, 9) < 200)
says("both add up", lambda both: both(2, 3) == 5, "both")
print(json.dumps(found))
"""


def test_what_a_program_does_needs_no_changed_value_of_an_input() -> None:
    task = Provable("t2", "Mend fees.py.", ("fees.py",), {"fees.py": FEES}, MENDED, BEHAVES, ANEW)
    proof = prove(task, run)
    assert (proof.reason, proof.counts["changed_inputs"] > 3) == (None, True)
    assert set(proof.findings) == {
        "no fee on the third day", "no fee without a sum", "a share of the sum", "both add up"
    }  # fmt: skip
    by_heart = BEHAVES.replace("* 2 == fee(200, 9) < 200", "== 2")
    assert "a share of the sum" not in prove(replace(task, checks=by_heart), run).findings


def test_a_formula_in_an_answer_is_proven_without_other_values() -> None:
    write = "open('outputs/answer.md', 'w').write('In D2: =SUM(B2:C2)*B1-10\\n')"
    checks = """
import json, pathlib, re
file = pathlib.Path("outputs/answer.md")
got = "".join(re.findall("=.*", file.read_text())) if file.is_file() else ""
want = "=SUM(B2:C2)*B1-10"
print(json.dumps([{"finding": "formula", "passed": got == want, "expected": want, "found": got}]))
"""
    task = replace(TASK, deliverables=("answer.md",), reference=write, checks=checks, second=write)
    proof = prove(task, run)
    assert (proof.reason, proof.findings) == (None, ("formula",))
    other = checks.replace('"=.*"', '"D."').replace("=SUM(B2:C2)*B1-10", "D2")
    assert prove(replace(task, checks=other), run).reason is not None


def test_formulas_of_a_workbook_are_made_to_compute_otherwise() -> None:
    book, target = Workbook(), io.BytesIO()
    book["Sheet"].append([3, 4, "=SUM(A1:B1)"])
    book.save(target)
    made = [
        load_workbook(io.BytesIO(one.content))["Sheet"]["C1"].value
        for one in copies_of("wrong", "sums.xlsx", target.getvalue(), run)
        if one.kind == STRUCTURE
    ]
    assert {"SUM(A1:B1)", "=MAX(A1:B1)", "=SUM(A2:B1)", "=SUM(A1:B2)"} <= set(made)
    assert len(set(made)) == len(made) >= 6


def test_findings_on_which_the_solutions_differ_do_not_count() -> None:
    unsorted = SECOND.replace("sorted(sums, reverse=True)", "sorted(sums)")
    assert prove(replace(TASK, second=unsorted), run).findings == tuple(
        name for name in ALL if name != "order"
    )


def test_a_finding_that_never_fails_is_left_out() -> None:
    more = CHECKS.replace(
        "print(json.dumps(found))",
        "found.append({'finding': 'written', 'passed': bool(got)})\nprint(json.dumps(found))",
    )
    assert prove(replace(TASK, checks=more), run).findings == ALL


def test_without_a_sandbox_nothing_is_proven() -> None:
    assert prove(TASK, None) == Proof(reason=ProofReason.NOT_RUN)


@pytest.mark.parametrize(
    "printed",
    [b"", b"{}", b"[1]", b'[{"finding": "a"}]', b'[{"finding": "a", "passed": "yes"}]',
     b'[{"finding": "a", "passed": true}, {"finding": "a", "passed": true}]', b"[" * 10_000],
)  # fmt: skip
def test_what_is_no_list_of_findings(printed: bytes) -> None:
    assert read_findings(Ran(0, {STDOUT: printed})) is None


def candidate() -> Candidate:
    check = proven_check(TASK, proven())
    provenance = Provenance(
        source="s", source_format="chat", item_id="i", disclosure=Disclosure.PUBLIC
    )
    return Candidate(
        task_id="t1",
        lane=Lane.SESSIONS,
        prompt=TASK.prompt,
        language="en",
        checks=(check,),
        provenance=provenance,
    )


def test_attempts_are_graded_by_the_proven_findings(tmp_path: Path) -> None:
    spec = spec_of(candidate().model_dump(mode="json"))
    assert [check.kind for check in spec.checks] == [FINDINGS]
    cases: list[tuple[str, bool, list[str]]] = [
        ("Depot;x,Boxes\nGoole,21\nSelby,17\nThorne,9\n", True, []),
        ("depot,boxes\nGoole,21\nSelby,71\nThorne,9\n", False, ["boxes of Selby", "order"]),
        ("depot,boxes\nSelby,17\nGoole,21\nThorne,9\n", False, ["order"]),
    ]
    for text, passed, failed in cases:
        (tmp_path / "depots.csv").write_text(text)
        score = grade(spec, Submission(outputs=str(tmp_path)), run=run)
        assert score.passed is passed
        assert [
            p.name.removeprefix("check.computed.") for p in score.parts if not p.value
        ] == failed
    (part,) = (p for p in score.parts if not p.value)
    assert (part.reason, part.detail) == (
        "finding.wrong",
        {"expected": "[21, 17, 9]", "found": "[17, 21, 9]"},
    )


def test_nothing_fails_and_without_a_box_nothing_is_judged(tmp_path: Path) -> None:
    spec = spec_of(candidate().model_dump(mode="json"))
    assert grade(spec, Submission(outputs=str(tmp_path)), run=run).passed is False
    (tmp_path / "depots.csv").write_text("depot,boxes\nGoole,21\n")
    parts = grade_findings(spec, tmp_path, None)
    assert {(part.value, part.reason) for part in parts} == {(None, "finding.no_box")}


def test_an_agent_cannot_print_findings_or_link_to_files(tmp_path: Path) -> None:
    spec = spec_of(candidate().model_dump(mode="json"))
    (tmp_path / "check.py").write_text("print('[]')")
    (tmp_path / "depots.csv").symlink_to("/etc/hostname")
    parts = grade_findings(spec, tmp_path, run)
    assert {part.value for part in parts} == {0.0}


def test_kinds_of_changed_copies() -> None:
    table = b"name,paid,due\nQuill,100,40\nHobb,35.50,2\nYarrow,7,12\n"
    kinds = {mutant.kind for mutant in copies_of("wrong", "a/paid.csv", table, run)}
    assert kinds == {"number", "row", "order", "column", "entity"}
    text = b"Quill paid 1,200.50 EUR.\nHobb paid nothing.\n"
    changes = {
        (m.kind, m.before, m.after)
        for m in copies_of("wrong", "answer.md", text, run, ["Hobb", "Quill"])
    }
    assert ("number", "1,200.50", "1,320.92") in changes
    assert ("unit", "EUR", "USD") in changes
    assert ("entity", "Quill", "Hobb") in changes
    assert copies_of("wrong", "a.xlsx", b"no workbook", run) == []
    assert [m.content for m in copies_of("inputs", "b.txt", b"seats: 12", run)] == [
        b"seats: 16",
        b"seats: 13",
        b"seats: 16",
        b"seats: 13",
        b"seats: 25",
        b"seats: 121",
        b"seats: 11",
        b"seats: 1",
    ]
    days = [m.after for m in copies_of("inputs", "c.csv", b"tool,due\nAdze,03.06.2025\n", run)]
    assert days == ["04.06.2025", "03.07.2025", "03.06.2026"]
    parties = '[{"name": "Quill", "n": 3}, {"name": "南商"}]'.encode()
    assert names_of("d.json", parties, run) == ["Quill", "name", "南商"]


def test_values_are_changed_beside_chinese_as_beside_blanks() -> None:
    reported = ["['李四', '张三']", "2026-03-05", "12"]
    for text in ("第1名是李四，2026-03-05交付12台。", "First is 李四, on 2026-03-05: 12 units."):
        made = copies_of("told", "answer.md", text.encode(), run, reported)
        changes = {(one.kind, one.before, one.after) for one in made}
        assert ("entity", "李四", "张三") in changes, text
        assert ("date", "2026-03-05", "2026-03-06") in changes, text
        assert {kind for kind, *_ in changes} == {"entity", "date", "number"}


EVENT = "BEGIN:VEVENT\r\nUID:a{0}\r\nDTEND:2025030{0}T{1}0000\r\nEND:VEVENT\r\n"


def changed(path: str, content: bytes, kind: str) -> list[str]:
    made = copies_of("inputs", path, content, run)
    return [mutant.content.decode() for mutant in made if mutant.kind == kind]


def test_other_inputs_have_a_record_less_or_end_an_hour_later() -> None:
    events = [EVENT.format(day, hour) for day, hour in ((1, "08"), (2, "23"), (3, "10"))]
    calendar = f"BEGIN:VCALENDAR\r\n{''.join(events)}END:VCALENDAR\r\n"
    shorter = changed("bob.ics", calendar.encode(), "row")
    assert shorter[:3] == [calendar.replace(event, "") for event in events]
    hours = changed("bob.ics", calendar.encode(), "number")
    assert calendar.replace("T08", "T09") in hours and calendar.replace("T23", "T22") in hours
    entries = b'{"at": "x", "deals": [{"id": 1}, {"id": 2}]}'
    assert changed("deals.json", entries, "row") == [
        '{"at": "x", "deals": [{"id": 2}]}',
        '{"at": "x", "deals": [{"id": 1}]}',
    ]
    assert changed("a.csv", b"who,n\nRye,1\nLydd,2\n", "row")[:2] == [
        "who,n\nLydd,2\n",
        "who,n\nRye,1\n",
    ]


def test_changed_workbooks_keep_the_values_of_their_formulas() -> None:
    """What a spreadsheet program had computed; the library that changes a cell drops it."""
    book, target = Workbook(), io.BytesIO()
    sheet = book.worksheets[0]
    for row in (
        ["item", "sum"],
        ["rope", 12],
        ["tar", 30],
        ["all", "=SUM(B2:B3)"],
        ["who", '="A"'],
    ):
        sheet.append(row)
    book.save(target)
    saved = io.BytesIO()
    with zipfile.ZipFile(target) as old, zipfile.ZipFile(saved, "w") as new:
        for name in old.namelist():
            text = old.read(name).replace(b"B3)</f><v></v>", b"B3)</f><v>42</v>")
            text = text.replace(
                b'<c r="B5"><f>"A"</f><v></v>', b'<c r="B5" t="str"><f>"A"</f><v>A</v>'
            )
            new.writestr(name, text)
    made = copies_of("inputs", "sums.xlsx", saved.getvalue(), run)
    numbers = [
        load_workbook(io.BytesIO(mutant.content), data_only=True).worksheets[0]
        for mutant in made
        if mutant.kind == "number"
    ]
    assert {(sheet["B4"].value, sheet["B5"].value) for sheet in numbers} == {(42, "A")}
    assert {sheet["B2"].value for sheet in numbers} > {12}


def test_a_finding_is_tried_on_what_it_tells_of_alone() -> None:
    """Ids in a list, and figures that stand against Chinese words, are changed as others are."""
    text = "先处理 D0028，再处理 D0027；峰值在11月。".encode()
    made = copies_of("told", "a.md", text, run, ["['D0028', 'D0027']", "11"])
    assert {(m.kind, m.before) for m in made} == {
        ("entity", "D0028"),
        ("entity", "D0027"),
        ("number", "11"),
    }


def test_what_findings_tell_of_is_changed_wherever_it_stands() -> None:
    text = (
        b"In all 1,204.5 crowns.\n" + b"Wind: 4 knots.\n" * 40 + b"So: 1204.50 (Lydd, 2025-03-04)."
    )
    made = copies_of("told", "answer.md", text, run, ["1204.5", "['Lydd']", "2025-03-04", "True"])
    first = {mutant.kind: mutant for mutant in reversed(made)}
    assert first.keys() == {"number", "entity", "date"}
    words = first["number"].content.decode()
    assert words.startswith("In all 1,325.3") and words.endswith("1325.32 (Lydd, 2025-03-04).")
    assert b"not given 1" in first["entity"].content
    assert b"2025-03-05" in first["date"].content
    assert len(made) == 18
    calendar = b"DTSTART:20250304T090000Z"
    (day, *_) = copies_of("told", "a.ics", calendar, run, ["2025-03-04"])
    assert day.content == b"DTSTART:20250305T090000Z"
    assert copies_of("told", "a.pdf", b"%PDF 1204.5", run, ["1204.5"]) == []


LONG = (
    "The harbour book was read from its first to its last page.\n"
    + "Ropes, tar and lamps are in order; nothing of it was asked for.\n" * 60
)
WORDY = f"""
import csv
total = sum(int(row["boxes"]) for row in csv.DictReader(open("inputs/orders.csv")))
open("outputs/answer.md", "w").write({LONG!r} + f"Altogether there are {{total}} boxes.\\n")
"""
WORDY_CHECKS = """
import csv
from checking import *
total = sum(int(row["boxes"]) for row in csv.DictReader(open("inputs/orders.csv")))
with Findings() as found:
    found.add("boxes in all", says_number(text(deliverable("answer.md")), total), total, total)
"""


def test_one_value_in_a_long_answer_is_proven() -> None:
    task = replace(TASK, deliverables=("answer.md",), reference=WORDY, checks=WORDY_CHECKS,
                   second=WORDY.replace("Altogether there are", "Total:"))  # fmt: skip
    proof = prove(task, run)
    assert (proof.reason, proof.detail) == (None, "")
    assert proof.findings == ("boxes in all",)


def test_results_of_other_inputs_count_as_wrong_where_the_type_cannot_be_changed() -> None:
    made = 'open("outputs/total.zip", "wb").write(b"PK" + str(total).encode())'
    rows = 'csv.DictReader(open("inputs/orders.csv"))'
    head = f'import csv\ntotal = sum(int(row["boxes"]) for row in {rows})'
    checks = f"""{head}
from checking import *
path = deliverable("total.zip")
with Findings() as found:
    found.equal("total", total, open(path, "rb").read()[2:].decode() if path else "")
"""
    task = replace(TASK, deliverables=("total.zip",), reference=f"{head}\n{made}",
                   second=f"{head}\n{made}", checks=checks)  # fmt: skip
    proof = prove(task, run)
    assert proof.findings == ("total",)
    assert proof.counts["killed"] >= 6


def test_workbooks_and_documents_are_changed_in_their_cells_and_paragraphs() -> None:
    import io

    from docx import Document

    book = Workbook()
    sheet = book.create_sheet("seats", 0)
    sheet.append(["name", "seats"])
    for name, seats in (("Quill", 4), ("Hobb", 9), ("Yarrow", 2)):
        sheet.append([name, seats])
    target = io.BytesIO()
    book.save(target)
    made = copies_of("wrong", "seats.xlsx", target.getvalue(), run)
    assert {mutant.kind for mutant in made} == {"number", "row", "order", "entity"}
    number = next(mutant for mutant in made if mutant.kind == "number")
    changed = load_workbook(io.BytesIO(number.content))["seats"]
    assert [cell.value for cell in changed["B"]] == ["seats", 7, 9, 2]
    document = Document()
    document.add_paragraph("Seats: 15 in all.")
    target = io.BytesIO()
    document.save(target)
    kinds = [mutant.kind for mutant in copies_of("wrong", "report.docx", target.getvalue(), run)]
    assert kinds == ["number"] * 6 + ["row"]


def test_what_happened_is_told_to_the_writer_of_the_programs() -> None:
    broken = prove(replace(TASK, reference="boxes = {}['Goole']"), run)
    assert broken.faults[0] == "The reference failed, or the checks fail on its result."
    assert broken.faults[1] == "ended with code 1"
    assert broken.faults[2].endswith("KeyError: 'Goole'")
    assert read_proof(proof_record(broken)) == broken
    silent = prove(replace(TASK, checks="import json\nprint(json.dumps(1 / 0))"), run)
    assert silent.faults[-1].endswith("ZeroDivisionError: division by zero")
    assert prove(replace(TASK, second=""), run).faults == ()


def test_a_pair_goes_back_once_with_its_faults_and_without_the_second_solution() -> None:
    given = case(TASK.prompt, {"orders.csv": ORDERS.decode()}, outputs=TASK.deliverables)
    faults = prove(replace(TASK, reference="boxes = {}['Goole']"), run).faults
    own = {"reference": "boxes = {}['Goole']", "checks": CHECKS}
    fixed = {"fault": "No such key.", "reference": f"```python\n{REFERENCE}```", "checks": CHECKS}
    client = always(fixed)
    (mended,) = ask(mend_stage(CONFIG), [Unproven(given, own, faults)], client)
    assert mended.value is not None
    again = prove(replace(TASK, **mended.value), run)  # type: ignore[arg-type]
    assert again.findings == ALL
    (question,) = client.asked
    assert "KeyError: 'Goole'" in question.user
    assert "one for name, _ in rows" not in question.user
    nothing = always(fixed | {"checks": ""})
    (given_up,) = ask(mend_stage(CONFIG), [Unproven(given, own, faults)], nothing)
    assert given_up.value == {}
