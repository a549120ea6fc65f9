"""`benchmint privacy mask`, `scan` and `restore` as a user runs them, rules only (no models)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from PIL import Image

from anonymization.documents.scopes import claimed
from data.canonical import file_digest
from data.errors import BenchmintError, InputError
from tests.flows.masking_app import run

MAIL, SESSION = "m.thornquist@corpmail.com", '{"role":"user","text":"write to %s"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    (root / "deep").mkdir(parents=True)
    (root / "deep" / "a.jsonl").write_text(SESSION % MAIL)
    (root / f"{MAIL}.txt").write_bytes(b"\xff" + f" to {MAIL}\r\n".encode())
    (root / "clean.md").write_text("Nothing to see.\n")
    (tmp_path / "config.toml").write_text(
        '[masking.detection]\nenglish_model = ""\nchinese_model = ""\n'
    )
    return root


@pytest.mark.parametrize("scope", ["file", "path", "run"])
def test_mask_and_restore(folder: Path, tmp_path: Path, scope: str) -> None:
    out, back = tmp_path / "out", tmp_path / "back"
    config = tmp_path / "config.toml"
    code, said = run("mask", folder, "--out", out, "--config", config, "--scope", scope)
    assert code == 0 and "3 files masked" in said
    result = [p.read_bytes() + str(p).encode() for p in (out / "files").rglob("*") if p.is_file()]
    result.append((out / "reports" / "masking.json").read_bytes())
    assert len(result) == 4 and not any(b"thornquist" in one for one in result)
    assert (out / "private").stat().st_mode & 0o777 == 0o700
    assert run("restore", out, "--out", back)[0] == 0
    for path in folder.rglob("*"):
        if path.is_file():
            assert (back / "in" / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_masking_twice_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("5a" * 32)
    (tmp_path / "key").chmod(0o600)
    seen = []
    for name in ("one", "two"):
        options = ("--config", tmp_path / "config.toml", "--key", tmp_path / "key")
        run("mask", folder, "--out", tmp_path / name, *options)
        files = sorted(path for path in (tmp_path / name / "files").rglob("*") if path.is_file())
        seen.append([path.read_bytes() for path in files])
    assert seen[0] == seen[1]


def test_a_changed_file_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("mask", folder, "--out", out, "--config", tmp_path / "config.toml")
    (out / "files" / "in" / "clean.md").write_text("Something.\n")
    with pytest.raises(BenchmintError, match="differs from what was masked"):
        run("restore", out, "--out", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def contents(out: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kept", ["files", "private", "reports"])
def test_a_folder_of_another_run_is_refused_untouched(
    folder: Path, tmp_path: Path, kept: str
) -> None:
    out, config = tmp_path / "out", ("--config", tmp_path / "config.toml")
    run("mask", folder, "--out", out, *config)
    for name in {"files", "private", "reports"} - {kept}:
        shutil.rmtree(out / name)
    before = contents(out)
    with pytest.raises(InputError, match=f"found {kept}/ from another run; expected") as raised:
        run("mask", tmp_path / "missing", "--out", out, *config)
    assert str(raised.value).startswith(f"{out}: ") and contents(out) == before


def test_of_two_runs_at_once_one_has_the_folder(tmp_path: Path) -> None:
    start = Barrier(8)

    def claim(number: int) -> bool:
        start.wait()
        try:
            with claimed(tmp_path / "out") as private:
                (private / "run").write_text(str(number))
                return True
        except InputError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(claim, range(8))) == 1
    assert [path.name for path in (tmp_path / "out" / "private").iterdir()] == ["run"]


def test_a_run_that_fails_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    out, config = tmp_path / "out", ("--config", tmp_path / "config.toml")
    out.mkdir()
    (out / "mine.txt").write_text("not of a run")
    with pytest.raises(InputError, match="found nothing; expected a file or folder"):
        run("mask", folder, tmp_path / "missing", "--out", out, *config)
    assert list(contents(out)) == [out / "mine.txt"]
    assert run("mask", folder, "--out", out, *config)[0] == 0


def test_a_killed_run_is_not_restored(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import os, pathlib\n"
        "from anonymization.documents.scopes import claimed\n"
        f"with claimed(pathlib.Path({str(out)!r})): os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with pytest.raises(InputError, match="a masking run that was interrupted"):
        run("restore", out, "--out", tmp_path / "back")
    with pytest.raises(InputError, match="found private/ from another run"):
        run("mask", folder, "--out", out, "--config", tmp_path / "config.toml")


def test_scan_tells_places_and_no_values(folder: Path, tmp_path: Path) -> None:
    config = ("--config", tmp_path / "config.toml")
    code, said = run("scan", folder / "deep", *config)
    assert code == 1 and "thornquist" not in said
    assert "deep/a.jsonl:32: EMAIL by email, score" in said
    code, said = run("scan", folder / "deep", "--json", *config)
    row = json.loads(said)[0]["rows"][0]
    assert row["type"] == "EMAIL" and row["offset"] == 32 and "new" not in row
    assert run("scan", folder / "clean.md", *config)[0] == 0


def test_a_picture_needs_an_approval(folder: Path, tmp_path: Path) -> None:
    picture = folder / "p.png"
    Image.new("RGB", (2, 2)).save(picture)
    config = ("--config", tmp_path / "config.toml")
    code, said = run("mask", picture, "--out", tmp_path / "a", *config)
    assert code == 1 and "p.png: rejected, document.no_approval" in said
    approvals = tmp_path / "approvals.txt"
    approvals.write_text(f"# sha256, who\n{file_digest(picture)} Ada\n")
    code, said = run("mask", picture, "--out", tmp_path / "b", "--approvals", approvals, *config)
    assert code == 0 and (tmp_path / "b" / "files" / "p.png").is_file()


def test_a_refused_file_has_its_own_name_for_its_owner_only(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[masking.detection]\nchinese_model = ""\n')
    picture = tmp_path / "scan_of_marguerite.thornquist@quellstrom.example.png"
    Image.new("RGB", (2, 2)).save(picture)
    out = tmp_path / "out"
    code, said = run("mask", picture, "--out", out, "--config", tmp_path / "config.toml")
    assert code == 1 and f"{picture.name}: rejected, document.no_approval" in said
    refused = json.loads((out / "private" / "refused.json").read_text())
    (row,) = json.loads((out / "reports" / "masking.json").read_text())["files"]
    assert refused == {picture.name: [row["path"], "document.no_approval", ""]}
    assert "thornquist" not in row["path"] and "original_path" not in row


FRENCH = (
    "Merci de lire le rapport ci-joint et de rédiger un court résumé des trois principaux risques "
    "qu'il cite, avec une phrase sur chacun et la page où il se trouve.\n"
)


def test_a_file_in_an_unsupported_language_is_refused_or_kept_by_choice(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text(FRENCH)
    settings = '[masking.detection]\nchinese_model = ""\n'
    (tmp_path / "config.toml").write_text(settings)
    arguments = ("mask", tmp_path / "note.txt", "--config", tmp_path / "config.toml", "--out")
    code, said = run(*arguments, tmp_path / "out")
    assert code == 1
    assert "note.txt: rejected, document.language_unsupported (in fr)" in said
    assert not (tmp_path / "out" / "files").exists()
    (tmp_path / "config.toml").write_text(settings + '[masking.language]\nunsupported = "keep"\n')
    code, said = run(*arguments, tmp_path / "kept")
    assert code == 0
    assert (tmp_path / "kept" / "files" / "note.txt").is_file()
