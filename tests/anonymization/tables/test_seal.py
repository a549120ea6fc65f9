"""Sealing that was cut off: the record stands first, and a second sealing finishes the work."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from anonymization.tables import seal as sealing
from anonymization.tables.seal import seal


def test_a_killed_sealing_is_on_record_and_can_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "release.key").write_text("aa" * 32)
    (private / "pseudonyms.json").write_text("{}")

    def killed(path: Path) -> None:
        assert (tmp_path / "sealed.json").is_file(), "the key goes and no record stands"
        path.unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(sealing, "_destroy", killed)
        seal(tmp_path)
    record = orjson.loads((tmp_path / "sealed.json").read_bytes())
    assert "destroyed" not in record
    assert record["being destroyed"] == ["pseudonyms.json", "release.key"]
    assert seal(tmp_path).destroyed == ("pseudonyms.json",)
    record = orjson.loads((tmp_path / "sealed.json").read_bytes())
    assert "being destroyed" not in record
    assert record["destroyed"] == ["pseudonyms.json", "release.key"]
