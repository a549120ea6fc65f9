"""The list for the owner's review: how long it is, and whether what rules leave stands in it.

    python -m benchmarks.words_review FOLDER [--draw 60] [--seed 1] [--level LEVEL]

The files of FOLDER, or as many as `--draw` says, are masked as `privacy mask` does it, and the
rows of `private/words.csv` are counted by reason and per 1,000 words (a Chinese or Japanese word
counts as two characters). If FOLDER holds planted values (`truth.csv` beside `files/`, see
`blind_plants`), those that survive are looked for in the list: as a whole (alone or in a longer
run), by all their words, by some, or not at all. At a lower level more survive: the list has to
hold them too.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from anonymization.documents.document import pieces_in
from anonymization.documents.scopes import FILES, MaskingConfig, mask_paths
from anonymization.masking_recipe import MaskingLevel
from anonymization.text.detect.wording import words
from anonymization.words_review import WORDS
from benchmarks.blind_plants import read_plants, searched
from benchmarks.report import table
from data.text.scripts import HAN_KANA

_KEY = bytes(32)  # nothing that this program writes is released
_LATIN, _EASTERN = re.compile(r"[A-Za-zÀ-ɏ]{2,}"), re.compile(f"[{HAN_KANA}]")
_PART = re.compile(rf"[{HAN_KANA}]+|\d+|(?:(?![{HAN_KANA}])[^\W\d_])+")
_SMALL = words("words.toml", "function_words")
_SHOWN = ("as a whole", "by all their words", "by some words", "not at all")


def main() -> None:
    """Mask, count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", type=MaskingLevel, default=MaskingLevel.STRICT)
    said = parser.parse_args()
    has_plants = (said.folder / "truth.csv").is_file()
    source = said.folder / "files" if has_plants else said.folder
    with tempfile.TemporaryDirectory() as scratch:
        files = drawn(source, Path(scratch) / "files", said.draw, said.seed)
        out = Path(scratch) / "out"
        began = time.process_time()
        reports = mask_paths([files], out, _KEY, MaskingConfig(level=said.level), workers=1)
        seconds = time.process_time() - began
        rows = rows_of(out / "private" / WORDS)
        size = sum(map(count_words, (path for path in files.rglob("*") if path.is_file())))
        print(length(rows, size, len(reports), seconds))
        if has_plants:
            plants = read_plants(said.folder / "truth.csv")
            survivors = {
                outcome.plant.value
                for outcome in searched(plants, out / FILES, {})
                if outcome.survivors
            }
            print(coverage(sorted(survivors), rows))


def drawn(source: Path, target: Path, count: int, seed: int) -> Path:
    """A copy of a folder, or of `count` files that the seed draws from it."""
    if not count:
        shutil.copytree(source, target)
        return target
    paths = sorted(path for path in source.rglob("*") if path.is_file())
    target.mkdir()
    for number, path in enumerate(random.Random(seed).sample(paths, min(count, len(paths)))):
        shutil.copyfile(path, target / f"{number:03d}-{path.name}")
    return target


def count_words(path: Path) -> int:
    """The words of a file's texts and its name."""
    texts = [piece.value for piece in pieces_in(path.read_bytes(), path.name)]
    latin = sum(len(_LATIN.findall(text)) for text in texts)
    return latin + sum(len(_EASTERN.findall(text)) for text in texts) // 2


def rows_of(path: Path) -> list[Mapping[str, str]]:
    """The rows of a list of words."""
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


def length(rows: Sequence[Mapping[str, str]], size: int, files: int, seconds: float) -> str:
    """How many rows there are, by reason and per 1,000 words."""
    by_reason = Counter(row["why"] for row in rows)
    per = 1_000 * len(rows) / max(1, size)
    head = f"{files} files, {size:,} words: {len(rows):,} rows, {per:.1f} per 1,000 words"
    counted = [[why, str(count)] for why, count in by_reason.most_common()]
    return f"{head}; {seconds:.1f} s of CPU with masking.\n\n{table(['why', 'rows'], counted)}"


def coverage(survivors: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """How the values that masking left stand in the list."""
    listed = {row["word"].casefold() for row in rows}
    parts = {part for word in listed for part in _PART.findall(word)}
    shown = {value: shown_as(value.strip().casefold(), listed, parts) for value in survivors}
    counts = Counter(shown.values())
    rest = ", ".join(value for value in survivors if shown[value] == _SHOWN[-1])
    lines = [[name, str(counts[name])] for name in _SHOWN]
    return f"{table(['values that stayed, in the list', str(len(survivors))], lines)}\nNot: {rest}"


def shown_as(value: str, listed: set[str], parts: set[str]) -> str:
    """How a value in small letters stands in the list: one of four answers."""
    if any(value in word for word in listed):
        return _SHOWN[0]
    own = [part for part in _PART.findall(value) if part not in _SMALL] or [value]
    hits = sum(_is_in(part, parts) for part in own)
    return _SHOWN[1] if hits == len(own) else _SHOWN[2] if hits else _SHOWN[3]


def _is_in(part: str, parts: set[str]) -> bool:
    """Is a word in the list; of a run of Han and kana characters, a word of it?"""
    return part in parts or (
        _EASTERN.match(part) is not None and any(len(p) > 1 and p in part for p in parts)
    )


if __name__ == "__main__":
    main()
