"""Forged releases and errata, each given to `benchmint verify --key`: it must exit with 1.

Run: python -m benchmarks.forgeries. Writes benchmarks/results/forgeries.md.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from data.snapshot.errata import corrections_path
from data.snapshot.signature import public_line, sign
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from tests.conftest import REPO
from tests.data.snapshot import test_errata as errata
from tests.data.snapshot import test_signature as signature
from tests.data.snapshot.damage import edit_json, reseal
from tests.data.snapshot.sample import release
from tests.flows.command import benchmint

RESULTS = REPO / "benchmarks" / "results" / "forgeries.md"
HEAD = """# Forgeries

`python -m benchmarks.forgeries`: a signed release with errata is forged, and
`benchmint verify SNAPSHOT --key signer.pub` is run as a command. "Seen" means exit code 1 and a
finding. A forger who seals everything anew and signs with a key of his own is seen only by whoever
has the signer's public key: the last column is the exit code without `--key`.

| forgery | seen | finding | without `--key` |
|---|---|---|---|
"""


def _own_key(snapshot: Path) -> None:
    """Content, sums, manifest and signature are all the forger's."""
    shutil.rmtree(snapshot)
    given = release(snapshot.parent)
    tasks = [task.model_copy(update={"difficulty": "hard"}) for task in given.candidates]
    write_snapshot(replace(given, candidates=tasks), snapshot.parent)
    sign(snapshot, signature.OTHER, verify(snapshot))


def _run_of_another_day(snapshot: Path) -> None:
    edit_json(snapshot / "run.json", lambda run: run.update(started="2020-01-01T00:00:00Z"))
    reseal(snapshot)


def _stolen_errata(snapshot: Path) -> None:
    """Errata under the forger's key."""
    (snapshot / signature.ATTESTATION).rename(snapshot.parent / "aside")
    errata.published(snapshot, errata.OTHER)
    (snapshot.parent / "aside").rename(snapshot / signature.ATTESTATION)


def _no_corrections(snapshot: Path) -> None:
    corrections_path(errata.published(snapshot)).unlink()


def _open_corrections(snapshot: Path) -> None:
    corrections_path(errata.published(snapshot)).chmod(0o644)


def _errata(name: str) -> Callable[[Path], object]:
    change, key, _ = errata.FORGERIES[name]
    return lambda snapshot: errata.edited(errata.published(snapshot), change, key)


FORGERIES: dict[str, Callable[[Path], object]] = {
    **{name: forge for name, (forge, _) in signature.FORGERIES.items()},
    "a task changed, all sealed anew and signed with the forger's key": _own_key,
    "run.json of another day, sealed anew": _run_of_another_day,
    **{f"errata: {name}": _errata(name) for name in errata.FORGERIES},
    "errata: signed with the forger's key": _stolen_errata,
    "errata: the corrected answers are missing": _no_corrections,
    "errata: the corrected answers are open to all": _open_corrections,
}


def measure(names: list[str], say: Callable[[str], None] = print) -> list[tuple[str, bool]]:
    """The row of each forgery, and whether it was seen."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        pristine = write_snapshot(release(root), root / "out").path
        sign(pristine, signature.KEY, verify(pristine))
        public = root / "signer.pub"
        public.write_text(public_line(signature.KEY.public_key()))
        sound = benchmint("verify", pristine, "--key", public)
        assert sound.returncode == 0, sound.stdout
        for number, name in enumerate(names):
            snapshot = root / str(number) / pristine.name
            shutil.copytree(pristine, snapshot, symlinks=True)
            FORGERIES[name](snapshot)
            done = benchmint("verify", snapshot, "--key", public)
            finding = done.stdout.splitlines()[0] if done.stdout else done.stderr.strip()
            seen = done.returncode == 1 and not done.stderr and ": " in finding
            without = benchmint("verify", snapshot).returncode
            shown = finding.replace("|", "\\|")[:110]
            row = f"| {name} | {'yes' if seen else 'NO'} | {shown} | {without} |"
            say(row)
            rows.append((row, seen))
    return rows


def main() -> None:
    """Try all forgeries and write the table."""
    rows = measure(list(FORGERIES))
    seen = sum(is_seen for _, is_seen in rows)
    text = HEAD + "\n".join(row for row, _ in rows)
    RESULTS.write_text(f"{text}\n\n{seen} of {len(rows)} are seen.\n", encoding="utf-8")
    sys.exit(seen != len(rows))


if __name__ == "__main__":
    main()
