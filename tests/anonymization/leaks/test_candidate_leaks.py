"""The leak scan around a release: what is found, what masking itself put there."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from anonymization.leaks.candidate_leaks import (
    STAGE,
    LeakTargets,
    MaskedRequests,
    guard_release,
    leaks_of,
    read_tripwires,
    shared_values,
    write_leak_check,
)
from anonymization.leaks.contracts import GATE, LeakConfig, measure
from anonymization.masking_gates import (
    ChangedPart,
    ChangeKind,
    InstructionConfig,
    read_changes,
    write_changes,
)
from anonymization.text.contracts import EntityType, Entry, Mode
from anonymization.text.vault import Vault
from data.canonical import digest
from data.contracts import Candidate, Disclosure, Fixture, Lane, Outcome, Provenance, Status
from data.errors import InputError, ReleaseError
from data.pool import read_pool
from data.snapshot.writer import write_snapshot
from data.stage_tables import CHANGED, read_private, read_records
from tests.data.snapshot.sample import release

CONFIG = LeakConfig()
KEY = bytes(range(32))
ANNA = Entry(EntityType.PERSON, "Anna Petrova", "Robin Fensby")
ROBIN = Entry(EntityType.PERSON, "Robin Fensby", "Alden Culley")
MAIL = Entry(EntityType.EMAIL, "anna@quarrymail.example", "robin@tarnhatch.example")


def targets(tripwires: tuple[str, ...] = (), identifiers: tuple[str, ...] = ()) -> LeakTargets:
    sessions = {"one": (ANNA, MAIL), "two": (ROBIN,), "bare": ()}
    return LeakTargets(sessions, tripwires, identifiers, LeakConfig(), KEY)


def candidate(prompt: str, session: str = "one", *fixtures: Fixture) -> Candidate:
    result = Provenance(
        source="logs",
        source_format="chat",
        item_id=f"{session}_i1",
        disclosure=Disclosure.ANONYMIZED,
    )
    return Candidate(
        task_id="s-1",
        lane=Lane.SESSIONS,
        prompt=prompt,
        language="en",
        fixtures=fixtures,
        provenance=result,
    )


@pytest.mark.parametrize(
    ("prompt", "session", "reason"),
    [
        ("Write to Anna Petrova.", "one", "leaks.private_value"),
        ("Write to Anna Petrova.", "two", "leaks.private_value"),
        ("Write to ANNA@quarrymail.example.", "two", "leaks.private_value"),
        # One session's surrogate is another's real name: masking put it there.
        ("Write to Robin Fensby.", "one", None),
        ("Write to Robin Fensby.", "two", "leaks.private_value"),
        ("Write to Robin Fensby.", "bare", "leaks.private_value"),  # masking put nothing there
        ("Write to petrova, anna.", "one", "leaks.private_value"),
        ("Write to Petrova, Anna.", "two", "leaks.private_value"),
        ("Write to fensby, robin.", "one", None),
        ("Write to robin.fensby.", "two", "leaks.private_value"),
        ("Write to somebody.", "one", None),
    ],
)
def test_a_candidate_holds_no_private_value(prompt: str, session: str, reason: str | None) -> None:
    leaks = measure(leaks_of(candidate(prompt, session), {}, targets()))
    assert GATE.judge(leaks, LeakConfig()).reason == reason


@pytest.mark.parametrize(
    ("login", "session", "reason"),
    [
        ("quillon", "one", "leaks.private_value"),
        ("quillon", "two", None),  # a word: it may stand elsewhere by chance
        ("quillon_7", "two", "leaks.private_value"),
        ("quillonbrackwater", "two", "leaks.private_value"),
    ],
)
def test_an_account_that_reads_like_a_word_is_sought_where_it_was_masked(
    login: str, session: str, reason: str | None
) -> None:
    entry = Entry(EntityType.ACCOUNT, login, "fen_hollow3")
    of_one = LeakTargets({"one": (entry,), "two": ()}, (), (), CONFIG, KEY)
    leaks = measure(leaks_of(candidate(f"Look at {login}, please.", session), {}, of_one))
    assert GATE.judge(leaks, CONFIG).reason == reason


@pytest.mark.parametrize("login", ["errors", "infrastructure"])
def test_a_login_that_is_an_ordinary_word_is_not_sought(login: str, tmp_path: Path) -> None:
    vault = Vault("one", Mode.SURROGATE)
    vault.add(Entry(EntityType.ACCOUNT, login, "fenhollow", is_ordinary=True))
    vault.save(tmp_path / "vault.json", KEY)
    entries = Vault.load(tmp_path / "vault.json", KEY).entries
    assert entries == vault.entries
    of_one = LeakTargets({"one": entries, "two": ()}, (), (), CONFIG, KEY)
    for session in ("one", "two"):
        assert not leaks_of(candidate(f"No {login} were seen.", session), {}, of_one)


@pytest.mark.parametrize(
    ("kind", "value", "is_public", "is_sought"),
    [
        (EntityType.PHONE, "+4418207", False, True),
        (EntityType.PHONE, "+4418207", True, False),  # a figure of a table may be equal to it
        (EntityType.BANK_ACCOUNT, "4418207", True, False),
        (EntityType.PHONE, "555-0182", True, True),
        (EntityType.PHONE, "+44 20 7946 0182", True, True),
        (EntityType.BANK_ACCOUNT, "441820799", True, True),
        (EntityType.SECRET, "4418207", True, True),
        (EntityType.EMAIL, "anna@quarrymail.example", True, True),
    ],
)
def test_a_short_plain_number_of_a_public_session_is_sought_there_alone(
    kind: EntityType, value: str, is_public: bool, is_sought: bool
) -> None:
    sessions = {"one": (Entry(kind, value, "0000"),), "two": ()}
    sought = LeakTargets(sessions, (), (), CONFIG, KEY, is_public)
    row = f"1931 {value} 16.2"
    assert bool(leaks_of(candidate(row, "two"), {}, sought)) == is_sought
    assert leaks_of(candidate(row, "one"), {}, sought)


def test_what_is_sought_in_other_sessions_is_what_masking_hides_in_all_of_them() -> None:
    firm, person = EntityType.ORGANIZATION, EntityType.PERSON
    sessions = {
        "one": [Entry(person, "Tern Pharmacies", "a"), Entry(firm, "Tern", "b")],
        "two": [Entry(firm, "Tern Pharmacies", "c"), Entry(person, "Red Rows", "d", True)],
        "three": [Entry(firm, "Tern Pharmacies", "e"), Entry(EntityType.PHONE, "4418207", "f")],
        "four": [Entry(person, "Ann Lisle", "g", is_listed=True)],
    }
    shared = ((firm, "Tern Pharmacies"),)
    assert shared_values(sessions, is_public=True) == shared
    phone = (EntityType.PHONE, "4418207")
    assert shared_values(sessions, is_public=False) == (phone, *shared)


def test_what_masking_changed_decides_before_a_leak_and_both_are_kept(tmp_path: Path) -> None:
    masked, out = tmp_path / "masking", tmp_path / "leak-check"
    masked.mkdir()
    column = ChangedPart(ChangeKind.COLUMNS, "turn 1", "Health", "Swinby")
    quote = ChangedPart(ChangeKind.QUOTES, "turn 2", "Quill", "Inglow")
    write_changes(masked, {"one_i1": [column], "two_i1": [], "bare_i1": [quote, quote]})
    requests = MaskedRequests(read_changes([masked]), InstructionConfig(max_changed=1))
    texts = {"one": "Sum it up.", "two": "Write to Anna Petrova.", "bare": "Ask Anna Petrova."}
    tasks = [
        candidate(text, session).model_copy(update={"task_id": session})
        for session, text in texts.items()
    ]
    out.mkdir()
    write_leak_check(tasks, {}, targets(), requests, out)
    records = read_records([out])
    assert {row.item_id: row.reason for row in records.ledger} == {
        "one": None, "two": "leaks.private_value", "bare": "masking.instruction_changed",
    }  # fmt: skip
    evidence = {row.item_id: row.evidence["found"] for row in records.ledger}
    assert evidence["one"] == "a column name"
    assert str(evidence["bare"]).startswith("quoted text (2 times); PERSON in prompt")
    first, *others = read_private([out], CHANGED)
    assert tuple(first.values()) == (
        STAGE, "one", "a column name", "turn 1", "Health", "Swinby",
    )  # fmt: skip
    assert [row["item_id"] for row in others] == ["bare", "bare"]
    of_bare = [verdict.reason for name, verdict in records.verdicts if name == "bare"]
    assert of_bare == ["masking.instruction_changed", "leaks.private_value"]
    assert [row.item_id for row in records.ledger if row.outcome is Outcome.KEPT] == ["one"]
    assert [task.task_id for task in read_pool([out]).candidates] == ["one"]


def test_files_are_searched_inside(tmp_path: Path) -> None:
    content = b"see " + base64.b64encode(b"send it to anna@quarrymail.example today")
    file = tmp_path / "a.txt"
    file.write_bytes(content)
    fixture = Fixture(path="a.txt", sha256=digest(content), bytes=1, media_type="text/plain")
    leaks = leaks_of(candidate("Read it.", "two", fixture), {fixture.sha256: file}, targets())
    assert {(leak.file, leak.kind, leak.encoding) for leak in leaks} == {
        ("a.txt", "EMAIL", "base64")
    }


@pytest.mark.parametrize(
    ("leak_targets", "kind"),
    [
        (targets(tripwires=("EMP-995555",)), "tripwire"),
        (targets(identifiers=("Kelder Holding 7741",)), "identifier"),
    ],
)
def test_a_release_with_a_leak_is_not_published(
    tmp_path: Path, leak_targets: LeakTargets, kind: str
) -> None:
    given = release(tmp_path)
    value = (leak_targets.tripwires + leak_targets.identifiers)[0]
    card = given.card.model_copy(update={"summary": f"Tasks, {value} among them."})
    given = replace(given, card=card)
    out = tmp_path / "out"
    with pytest.raises(ReleaseError, match=f"{kind} in ") as raised:
        write_snapshot(
            given, out, guard=lambda root: guard_release(root, given.candidates, leak_targets)
        )
    assert value not in str(raised.value)
    assert [path for path in out.iterdir() if path.name != ".lock"] == []


def test_a_name_may_stand_in_a_file_that_is_declared_public_and_nowhere_else(
    tmp_path: Path,
) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (tmp_path / "private").mkdir()
    for name in ("listing.csv", "accounts.csv"):
        (public / name).write_text("Kelder Holding 7741,1\n")
    sought = targets(identifiers=("Kelder Holding 7741",))
    guard_release(tmp_path, [], sought, {"listing.csv", "accounts.csv"})
    with pytest.raises(ReleaseError, match=r"identifier in accounts\.csv"):
        guard_release(tmp_path, [], sought, {"listing.csv"})
    planted = targets(tripwires=("Kelder Holding 7741",))
    with pytest.raises(ReleaseError, match=r"tripwire in accounts\.csv"):
        guard_release(tmp_path, [], planted, {"listing.csv", "accounts.csv"})


def test_marks_of_missing_values_are_no_identifiers(tmp_path: Path) -> None:
    for half in ("public", "private"):
        (tmp_path / half).mkdir()
    (tmp_path / "public" / "site.key").write_text("-----BEGIN KEY-----\n40\n", "utf-8")
    guard_release(tmp_path, [], targets(identifiers=("-", "----")))


def test_a_clean_release_is_published(tmp_path: Path) -> None:
    given = release(tmp_path)
    ref = write_snapshot(
        given,
        tmp_path / "out",
        guard=lambda root: guard_release(root, given.candidates, targets(("EMP-995555",))),
    )
    assert ref.written


def test_tripwires_are_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "wires.txt"
    file.write_text("\ufeffEMP-2\n\n  EMP-1 \nEMP-2\n")
    assert read_tripwires(file, CONFIG) == ("EMP-1", "EMP-2")
    assert read_tripwires(None, CONFIG) == ()


@pytest.mark.parametrize(
    ("content", "result"),
    [(b"\xff\xfe\x00", "one value per line"), (b"EMP-1\nab\n", r":2: found 2 characters")],
)
def test_tripwires_that_could_not_be_found_are_refused(
    content: bytes, result: str, tmp_path: Path
) -> None:
    file = tmp_path / "wires.txt"
    file.write_bytes(content)
    with pytest.raises(InputError, match=result):
        read_tripwires(file, CONFIG)


def test_tripwires_without_an_end_are_not_read() -> None:
    with pytest.raises(InputError, match="under 64 MiB"):
        read_tripwires(Path("/dev/zero"), CONFIG)


DAY = Entry(EntityType.DATE, "2024-03-05", "2026-02-10")
LATER = Entry(EntityType.DATE, "2026-02-10", "2028-01-18")


@pytest.mark.parametrize(
    ("prompt", "leaks"),
    [
        ("Due on 2026-02-10.", 0),  # a moved day, though it is one of the originals as well
        ("Due on 2026-02-10, said on 5 March 2024.", 1),
        ("Due on 2024/03/05.", 1),
        ("Due on 2023-01-01.", 0),
    ],
)
def test_a_day_that_moved_may_not_stand_beside_moved_ones(prompt: str, leaks: int) -> None:
    sought = LeakTargets({"one": (DAY, LATER)}, (), (), LeakConfig(), KEY)
    hits = leaks_of(candidate(prompt), {}, sought)
    assert [(leak.file, leak.kind) for leak in hits] == [("prompt", "DATE")] * leaks
    status = Status.FAILED if leaks else Status.PASSED
    assert GATE.judge(measure(hits), CONFIG).status is status
