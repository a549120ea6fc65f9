"""What is masked comes back byte for byte, whatever the session looks like."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymization.documents.document import _mask_text
from anonymization.text.contracts import Mode, VaultRefused
from anonymization.text.vault import Vault, restore
from tests.anonymization.text.masking.fakes import KEY, VALUES, masker, session

NOWHERE = Path("/nonexistent")
SPELLED = (
    "thornquist, margaret",
    "Ulrich\u00a0Vandermeer",
    "VANDERMEER_ULRICH",
    "陈\u3000思远",
    "陈\u200b思远",
    "+86 138-1234\u20115678",
    "１３８１２３４５６７８",
    "4155552671",
    "m.thorn\u00adquist@quillfeather.com",
)


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(Mode))
def test_a_thousand_sessions_come_back(mode: Mode, tmp_path: Path) -> None:
    assert _changed(range(1000), mode, tmp_path) > 800


@pytest.mark.parametrize("mode", list(Mode))
def test_sessions_come_back(mode: Mode, tmp_path: Path) -> None:
    assert _changed(range(5000, 5060), mode, tmp_path) > 40


def _changed(seeds: range, mode: Mode, tmp_path: Path) -> int:
    """Mask, save, load and restore generated sessions; how many of them masking changed."""
    changed = 0
    for number in seeds:
        data = session(random.Random(number))
        worker = masker(mode)
        masked = _mask_text(data, "session.jsonl", worker)
        worker.vault.save(tmp_path / "vault.json", KEY)
        document = Vault.load(tmp_path / "vault.json", KEY).documents["session.jsonl"]
        assert restore(masked.data, document, NOWHERE) == data
        changed += masked.data != data
    return changed


@given(
    text=st.text(max_size=300),
    parts=st.lists(st.sampled_from((*VALUES, *SPELLED)), max_size=6),
    name=st.sampled_from(("a.txt", "a.csv", "a.html", "a.jsonl", "a.json", "a.tsv")),
)
@settings(max_examples=200)
def test_any_text_in_any_form_comes_back(text: str, parts: list[str], name: str) -> None:
    data = text.join(["", *parts, ""]).encode("utf-8", "surrogatepass")
    try:
        masked = _mask_text(data, name, masker())
    except ValueError:
        assert b"\0" in data
        return
    assert restore(masked.data, masked.document, NOWHERE) == data


@pytest.mark.parametrize("mode", list(Mode))
def test_other_spellings_come_back_and_stand_nowhere(mode: Mode) -> None:
    lines = [{"text": value} for value in (*VALUES, *SPELLED)]
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    masked = _mask_text(data, "session.jsonl", masker(mode))
    assert restore(masked.data, masked.document, NOWHERE) == data
    for spelled in SPELLED:
        assert spelled.encode() not in masked.data


@given(data=st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_come_back(data: bytes) -> None:
    try:
        masked = _mask_text(data, "a.txt", masker())
    except ValueError:
        return
    assert restore(masked.data, masked.document, NOWHERE) == data


def test_masked_lines_are_still_json_and_hold_no_value() -> None:
    for number in range(80):
        masked = _mask_text(session(random.Random(number)), "session.jsonl", masker()).data
        for value in VALUES[:6]:
            assert value.encode() not in masked
        for line in masked.split(b"\n")[:-2]:
            if line.strip().startswith((b"{", b"[")):
                json.loads(line)


def test_untouched_bytes_stay() -> None:
    data = b'{ "n" : 1.50e+3, "n": -0 ,\t"e":"\\u4e2d\\/", "who":"Margaret Thornquist \\u00e9"}\r\n'
    masked = _mask_text(data, "session.jsonl", masker()).data
    before, after = data.split(b"Margaret Thornquist")
    assert masked.startswith(before) and masked.endswith(after) and masked != data


def test_a_tampered_vault_is_refused(tmp_path: Path) -> None:
    worker = masker()
    _mask_text(b'{"t":"Margaret Thornquist"}', "session.jsonl", worker)
    path = tmp_path / "vault.json"
    worker.vault.save(path, KEY)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(VaultRefused, match="does not fit its seal"):
        Vault.load(path, bytes(32))
    path.write_bytes(path.read_bytes().replace(b"Thornquist", b"Thornquast"))
    with pytest.raises(VaultRefused, match="does not fit its seal"):
        Vault.load(path, KEY)


def test_a_changed_masked_text_is_refused() -> None:
    worker = masker()
    masked = _mask_text(b'{"t":"Margaret Thornquist"}', "session.jsonl", worker)
    with pytest.raises(VaultRefused, match="differs from what was masked"):
        restore(masked.data + b" ", masked.document, NOWHERE)
    other = _mask_text(b'{"t":"Ulrich Vandermeer"}', "session.jsonl", masker())
    with pytest.raises(VaultRefused):
        restore(masked.data, other.document, NOWHERE)


@pytest.mark.parametrize("before", range(99_980, 100_001, 4))
def test_a_value_where_a_long_line_is_cut_is_found_and_comes_back(before: int) -> None:
    value = "m.thornquist@quillfeather.com"
    filled = "x " * (before // 2)
    data = f"{filled}{value}{' x' * 30_000}".encode()
    masked = _mask_text(data, "a.txt", masker())
    assert value.encode() not in masked.data
    assert masked.data.count(b"@") == 1 and len(masked.data.split()) == len(data.split())
    assert restore(masked.data, masked.document, NOWHERE) == data
