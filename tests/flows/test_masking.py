"""The masking stage: one vault per session, files and words alike, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from anonymization.documents.document import masked_path
from anonymization.documents.scopes import detector
from anonymization.leaks.candidate_leaks import LeakTargets, read_vaults, shared_values
from anonymization.leaks.contracts import LeakConfig
from anonymization.leaks.scan import scan_bytes
from anonymization.masking_gates import read_changes
from anonymization.masking_recipe import MaskingRecipe, for_source
from anonymization.session_masking import MaskJob, _vault_name, find_shard, mask_shard
from anonymization.session_texts import masked_text, text_edits
from anonymization.text.contracts import Mode
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.text.vault import Vault, restore
from construction.mentions.files import file_name_spans
from data.canonical import digest
from data.contracts import Disclosure, Fixture, TaskInstance
from data.pool import ContentStore, Survivor, _unpack, read_survivors
from tests.construction.sessions.instances import said

KEY = bytes(range(32))
OTHER_KEY = bytes(32)
PRIVATE = ("Margaret Holloway", "m.holloway@quarrymail.example", "+44 20 7946 0321")
REQUEST = (
    "Margaret Holloway (m.holloway@quarrymail.example, +44 20 7946 0321) asked for it: "
    "sum up hours_Margaret_Holloway.csv by week."
)
TABLE = b"name,hours\nMargaret Holloway,12\nMargaret Holloway,9\n"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)


def masker(key: bytes = KEY) -> Masker:
    return Masker(detector(MaskingRecipe().detection), key, Mode.SURROGATE, "s")


def instance(number: int, *words: str) -> TaskInstance:
    return replace(said(*words), instance_id=f"s_i{number}", session_uid="s")


def survivors(folder: Path) -> tuple[Survivor, ...]:
    folder.mkdir()
    store = ContentStore(folder / "fixtures")
    for content in (TABLE, PICTURE):
        store.add(digest(content), [content])
    store.close()
    table = _fixture("hours_Margaret_Holloway.csv", TABLE, "text/csv")
    picture = _fixture("plan.png", PICTURE, "image/png")
    requests = instance(1, REQUEST), instance(2, "Describe plan.png for Margaret Holloway, please.")
    files = (table,), (picture,)
    both = zip(requests, files, strict=True)
    return tuple(Survivor(item, given, folder / "fixtures") for item, given in both)


def _fixture(path: str, content: bytes, media_type: str) -> Fixture:
    return Fixture(path=path, sha256=digest(content), bytes=len(content), media_type=media_type)


def masked(tmp_path: Path, name: str, key: bytes = KEY) -> Path:
    out = tmp_path / name
    out.mkdir()
    given = survivors(tmp_path / f"{name}-in")
    mask_shard(MaskJob((given,), {}, MaskingRecipe(), key, file_name_spans), out)
    return out


def contents(shard: Path, survivor: Survivor, target: Path) -> bytes:
    target.mkdir()
    _unpack(shard / "fixtures", [survivor.fixtures[0].sha256], target)
    return (target / survivor.fixtures[0].sha256).read_bytes()


def test_words_files_and_names_of_files_are_masked_alike(tmp_path: Path) -> None:
    shard = masked(tmp_path, "one")
    (kept,) = read_survivors([shard])
    text = kept.instance.user_turns[0].said
    table = contents(shard, kept, tmp_path / "files").decode()
    assert not [value for value in PRIVATE if value in text + table]
    name = table.splitlines()[1].split(",")[0]
    assert name in text
    assert kept.fixtures[0].path in text  # the prompt still names its file
    assert kept.fixtures[0].path == f"hours_{name.replace(' ', '_')}.csv"
    assert [line.split(",")[1] for line in table.splitlines()] == ["hours", "12", "9"]
    assert (kept.instance.instance_id, kept.instance.session_uid) == ("s_i1", "s")


# A column of customers declares a firm; a request that names it alone does not.
SALES = b"Customer,Amount\nFoxglove Pharmacies,120\nBrindle Wharf Ltd,80\n"
LETTER = "Write a letter to Foxglove Pharmacies, please."


def of_two_sessions(folder: Path) -> tuple[tuple[Survivor, ...], ...]:
    store = ContentStore(folder / "fixtures")
    store.add(digest(SALES), [SALES])
    store.close()
    table = (_fixture("sales.csv", SALES, "text/csv"),)
    question = replace(instance(1, "Who bought most, by sales.csv?"), session_uid="table")
    wrote = replace(instance(2, LETTER), session_uid="letter")
    return (
        (Survivor(question, table, folder / "fixtures"),),
        (Survivor(wrote, (), folder / "fixtures"),),
    )


def test_a_value_of_one_session_is_private_in_all_of_the_source(tmp_path: Path) -> None:
    job = MaskJob(of_two_sessions(tmp_path), {}, for_source(MaskingRecipe(), Disclosure.PRIVATE),
                  KEY, file_name_spans)  # fmt: skip
    alone, apart, out = (tmp_path / name for name in ("alone", "apart", "out"))
    for folder, compute in ((alone, mask_shard), (apart, find_shard)):
        folder.mkdir()
        compute(job, folder)
    assert LETTER in said_in(alone)  # what the leak check rejects
    shared = shared_values(read_vaults([apart], KEY), is_public=False)
    assert "Foxglove Pharmacies" in {value for _, value in shared}
    out.mkdir()
    mask_shard(replace(job, elsewhere=shared), out)
    assert not [text for text in said_in(out) if "Foxglove" in text]
    vaults = read_vaults([out], KEY)
    assert [entry.value for entry in vaults["letter"]] == ["Foxglove Pharmacies"]
    assert vaults["table"] == read_vaults([alone], KEY)["table"]


def said_in(shard: Path) -> list[str]:
    return [kept.instance.user_turns[0].said for kept in read_survivors([shard])]


def test_a_public_site_is_as_open_as_the_name_of_its_firm(tmp_path: Path) -> None:
    words = "Ask rory@quill.example why cloud.quill.example is down."
    for number, disclosure in enumerate((Disclosure.PUBLIC, Disclosure.PRIVATE)):
        folder = tmp_path / str(number)
        folder.mkdir()
        masked_mail(folder, disclosure, words, mode=Mode.SURROGATE)
        (text,) = said_in(folder / "out")
        assert ("cloud.quill.example" in text) == (disclosure is Disclosure.PUBLIC)
        assert "rory@" not in text or disclosure is Disclosure.PUBLIC


MAIL = (
    b"From: dana.holt@quill.example\nCc: dana@tarn.example, rory@quill.example\n"
    b"To: info@quill.example\n\nThe pens are late.\n"
)


def masked_mail(folder: Path, disclosure: Disclosure, *wants: str, mode: Mode) -> Path:
    """One session over a mail, masked: a task for each request."""
    store = ContentStore(folder / "fixtures")
    store.add(digest(MAIL), [MAIL])
    store.close()
    given = (_fixture("late.txt", MAIL, "text/plain"),)
    items = [instance(number, words) for number, words in enumerate(wants, start=1)]
    session = tuple(Survivor(item, given, folder / "fixtures") for item in items)
    out = folder / "out"
    out.mkdir()
    recipe = for_source(MaskingRecipe(mode=mode), disclosure)
    mask_shard(MaskJob((session,), {}, recipe, KEY, file_name_spans), out)
    return out


WANTS = ("Who answers the mail of Dana in late.txt?", "What does Quill want in late.txt?")


def test_an_address_keeps_a_name_that_the_request_says_and_nothing_else(tmp_path: Path) -> None:
    out = masked_mail(tmp_path, Disclosure.PUBLIC, *WANTS, mode=Mode.SURROGATE)
    of_dana, of_quill = read_survivors([out])
    text = contents(out, of_dana, tmp_path / "files").decode()
    addresses = re.findall(r"[\w.]+@[\w.]+", text)
    assert addresses[0].startswith("dana.")
    assert addresses[1].startswith("dana@")
    assert addresses[3].startswith("info@")
    hosts = [address.partition("@")[2] for address in addresses]
    assert hosts[0] == hosts[2] == hosts[3] != hosts[1]
    assert not re.search("holt|rory|quill|tarn", text)
    assert of_dana.fixtures == of_quill.fixtures
    assert of_dana.instance.user_turns[0].said == WANTS[0]
    vault = Vault.load(out / "vaults" / f"{_vault_name(KEY, 's')}.json", KEY)
    assert restore(text.encode(), vault.documents["late.txt"], tmp_path) == MAIL
    targets = LeakTargets({"s": tuple(vault.entries)}, (), (), LeakConfig(), KEY)
    assert not scan_bytes("late.txt", text.encode(), targets.of_session("s"), LeakConfig())
    leaks = scan_bytes("late.txt", MAIL, targets.of_session("s"), LeakConfig())
    assert len({leak.offset for leak in leaks}) == len(addresses)


def test_what_an_address_shows_no_more_is_a_changed_part_with_its_places(tmp_path: Path) -> None:
    out = masked_mail(tmp_path, Disclosure.PUBLIC, *WANTS, mode=Mode.SURROGATE)
    changes = read_changes([out])
    (part,) = changes["s_i2"]
    assert changes["s_i1"] == []
    assert (part.kind, part.source) == ("subjects", "turn 1, late.txt")
    assert part.before == "Quill … dana.holt@quill.example"
    assert part.after.startswith("Quill … dana.")
    assert not part.after.endswith("quill.example")


def test_placeholders_keep_no_name(tmp_path: Path) -> None:
    out = masked_mail(tmp_path, Disclosure.PUBLIC, *WANTS, mode=Mode.PLACEHOLDER)
    assert {name: len(parts) for name, parts in read_changes([out]).items()} == {
        "s_i1": 1,
        "s_i2": 1,
    }


def test_where_names_are_masked_the_address_shows_the_masked_name(tmp_path: Path) -> None:
    out = masked_mail(tmp_path, Disclosure.PRIVATE, WANTS[0], mode=Mode.SURROGATE)
    (kept,) = read_survivors([out])
    text = contents(out, kept, tmp_path / "files").decode()
    words = re.search(r"of (\w+) in late", kept.instance.user_turns[0].said)
    assert words
    assert words[1] != "Dana"
    assert text.startswith(f"From: {words[1].lower()}.")
    assert read_changes([out]) == {"s_i1": []}


def test_a_picture_that_nobody_approved_keeps_its_task_out(tmp_path: Path) -> None:
    shard = masked(tmp_path, "one")
    rows = pl.read_parquet(shard / "ledger.parquet").sort("item_id")
    assert rows["outcome"].to_list() == ["kept", "rejected"]
    assert rows["reason"].to_list()[0] is None
    assert rows["reason"].to_list()[1] in ("document.no_approval", "document.broken")
    assert rows["gate"].to_list() == [None, "masking"]


def test_the_audit_tells_places_and_kinds_but_no_value(tmp_path: Path) -> None:
    shard = masked(tmp_path, "one")
    spans = pl.read_parquet(shard / "masked_spans.parquet")
    assert {"PERSON", "EMAIL", "PHONE"} <= set(spans["type"])
    assert set(spans["instance_id"]) == {"s_i1"}
    first = spans.filter(pl.col("place").str.starts_with("turn")).sort("offset").row(0, named=True)
    assert (first["offset"], first["type"]) == (0, "PERSON")
    raw = b"".join(path.read_bytes() for path in sorted(shard.glob("*.parquet")))
    assert not [value for value in PRIVATE if value.encode() in raw]


def test_the_vault_holds_the_values_and_opens_with_its_key(tmp_path: Path) -> None:
    shard = masked(tmp_path, "one")
    vault = Vault.load(shard / "vaults" / f"{_vault_name(KEY, 's')}.json", KEY)
    assert set(PRIVATE) <= {entry.value for entry in vault.entries}
    assert not (shard / "originals").exists()


def test_the_key_decides_and_nothing_else(tmp_path: Path) -> None:
    item, same, other = (
        masked(tmp_path, name, key)
        for name, key in (("one", KEY), ("same", KEY), ("other", OTHER_KEY))
    )
    result = [(shard / "survivors.parquet").read_bytes() for shard in (item, same, other)]
    assert result[0] == result[1]
    assert result[0] != result[2]


@pytest.mark.parametrize(
    "text",
    [
        "See `Anna Petrova notes.docx` and mail Anna Petrova.",
        "请看“资料/孟惠风_合同.docx”，然后发给孟惠风。",
        "C:\\work\\Anna Petrova\\plan.xlsx is for Anna Petrova.",
    ],
)
def test_files_keep_the_name_that_masking_gives_them(text: str) -> None:
    item = masker()
    item.learn([Piece(text), Piece("Anna Petrova"), Piece("孟惠风")])
    new = masked_text(text, item, file_name_spans)
    assert "Petrova" not in new
    assert "孟惠风" not in new
    for name in ("Anna Petrova notes.docx", "孟惠风_合同.docx"):
        if name in text:
            assert str(masked_path(Path(name), item)) in new


def test_edits_are_sorted_and_apart() -> None:
    item = masker()
    edits = text_edits(REQUEST, item, file_name_spans)
    assert edits
    assert all(a.end <= b.start for a, b in pairwise(edits))
