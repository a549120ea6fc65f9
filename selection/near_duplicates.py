"""Candidates that ask for the same thing over the same inputs in other words.

Only candidates with the same inputs and deliverables are compared. Those whose words differ little,
and in nothing that decides the result, are copies: one of them is released. Those that only mean
about the same by the sentence encoder are named and kept, because an encoder cannot tell the two
apart: on requests over one file that differ in a word (granted or refused, landlord or tenant) it
finds as much likeness as between rewordings (benchmarks/results/near_duplicates.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import Any

from data.contracts import Candidate, Lane
from data.text.folding import fold_case
from data.text.lexicon import pattern_of
from data.text.numbers import scan_numbers
from data.text.scripts import CJK

# Measured on the development half of benchmarks/near_duplicates.toml.
_MOST_CHANGED = 0.15  # of the words
_MIN_WORDS, _MIN_CHARACTERS = 30, 50  # of a request in which a word may stand for another
SIMILAR = 0.7  # cosine of the sentence encoder

Words = Callable[[Candidate], frozenset[str] | None]
_Encode = Callable[[Sequence[str]], Any]
_Change = tuple[list[str], list[str]]
_TOKEN = pattern_of(rf"[{CJK}]|[^\W_{CJK}]+(?:[._-][^\W{CJK}]+)*")
_RUN = pattern_of(f"[{CJK}]{{2,}}")
_LONGEST_CELL = 10  # characters; a longer run is a sentence
_READ = 1_000_000  # bytes of an input
_CJK_CHARACTER = pattern_of(f"[{CJK}]")
_NOT = frozenset(
    [
        "not",
        "no",
        "never",
        "without",
        "except",
        "non",
        "only",
        "不",
        "非",
        "没",
        "无",
        "除",
        "只",
        "仅",
    ]
)
_STEM = 5  # letters that "refused" and "refusals" share


def copies(candidates: Sequence[Candidate], words_of: Words) -> dict[str, str]:
    """The candidates that copy another one, each with the first by id of those that are alike.

    `words_of` gives the words of a candidate's inputs, None where they are not known. A copy of a
    copy is one too, so that the order of the candidates makes no difference.
    """
    first: dict[str, str] = {}
    for group in _comparable(candidates):
        words = {one.task_id: words_of(one) for one in group}
        for earlier, later in combinations(group, 2):
            leader, copied = (first.get(each.task_id, each.task_id) for each in (earlier, later))
            if leader == copied or not is_copy(
                earlier.prompt, later.prompt, words[earlier.task_id]
            ):
                continue
            leader, copied = sorted((leader, copied))
            moved = [name for name, known in first.items() if known == copied]
            first |= dict.fromkeys([*moved, copied], leader)
    return first


def input_words(paths: Iterable[Path | None]) -> frozenset[str] | None:
    """The words of input files; None where one of them is no text, or not at hand."""
    words: set[str] = set()
    for path in paths:
        try:
            content = path.read_bytes()[:_READ].decode() if path else "\0"
        except (OSError, UnicodeDecodeError):
            return None
        if "\0" in content:
            return None
        words.update(word for word in _TOKEN.findall(fold_case(content)) if len(word) > 1)
        words.update(run for run in _RUN.findall(content) if len(run) < _LONGEST_CELL)
    return frozenset(words)


def similar(candidates: Sequence[Candidate], encode: _Encode) -> list[tuple[str, str, float]]:
    """Pairs of candidates that mean about the same: their ids, and how much they are alike."""
    pairs: list[tuple[str, str, float]] = []
    for group in _comparable(candidates):
        vectors = encode([candidate.prompt for candidate in group])
        likeness = (vectors @ vectors.T).round(6)
        pairs += [
            (group[i].task_id, group[j].task_id, float(likeness[i, j]))
            for i, j in combinations(range(len(group)), 2)
            if likeness[i, j] >= SIMILAR
        ]
    return pairs


def _comparable(candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """Groups of candidates with the same inputs and the same deliverables, sorted by id.

    What was generated differs by its rule, and questions to tables by what they ask for.
    """
    groups: dict[tuple[object, ...], list[Candidate]] = {}
    written = (one for one in candidates if "generator" not in one.provenance.detail)
    for candidate in sorted(written, key=lambda candidate: candidate.task_id):
        if candidate.lane in (Lane.QUESTIONS, Lane.ANALYTICS):
            continue
        inputs = tuple(sorted(fixture.sha256 for fixture in candidate.fixtures))
        made = tuple(sorted((item.file_type, item.count) for item in candidate.deliverables))
        groups.setdefault((inputs, made), []).append(candidate)
    return (group for group in groups.values() if len(group) > 1)


def is_copy(first: str, second: str, inputs: frozenset[str] | None) -> bool:
    """Whether two requests over the same inputs differ in no word that decides the result.

    `inputs` are the words of the inputs, None where they are not known.
    """
    mine, other = _different_lines(first, second)
    if _facts(mine) != _facts(other):
        return False
    words, others = (_TOKEN.findall(fold_case(text)) for text in (mine, other))
    changes = list(_changes(words, others))
    gone = [word for removed, _ in changes for word in removed]
    come = [word for _, added in changes for word in added]
    if max(len(gone), len(come)) > _MOST_CHANGED * min(len(words), len(others)):
        return False
    if _NOT.intersection([*gone, *come]) or set(gone) & set(come):
        return False  # a word that has moved may have turned the request around
    if inputs is not None and _names(inputs, changes):
        return False
    is_long = len(words) >= (_MIN_CHARACTERS if _CJK_CHARACTER.search(mine) else _MIN_WORDS)
    replaced = any(removed and added for removed, added in changes)
    return not replaced or (inputs is not None and is_long)


def _names(inputs: frozenset[str], changes: list[_Change]) -> bool:
    """Whether a change names something that the inputs name, such as a column."""
    stems = {word[:_STEM] for word in inputs if len(word) > 2}
    for part in (part for change in changes for part in change if part):
        run = "".join(part)
        if stems.intersection(word[:_STEM] for word in part):
            return True
        if any(len(word) > 1 and word in run for word in inputs if _CJK_CHARACTER.match(word)):
            return True
    return False


def _different_lines(first: str, second: str) -> tuple[str, str]:
    """The lines that only one of two prompts has: what is asked for, without its frame."""
    lines, others = first.splitlines(), second.splitlines()
    mine = [line for line in lines if line not in others]
    return "\n".join(mine), "\n".join(line for line in others if line not in lines)


def _facts(text: str) -> tuple[list[str], list[str]]:
    """What no rewording changes: numbers, in digits or words, and names with signs in them."""
    numbers = sorted(str(number.value) for number in scan_numbers(text))
    tokens = _TOKEN.findall(fold_case(text))
    return numbers, sorted(w for w in tokens if any(c.isdecimal() or c in "._" for c in w))


def _changes(words: list[str], others: list[str]) -> Iterator[_Change]:
    """Runs of words that only one of two texts has, and what the other has in their place."""
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    for kind, i, j, k, n in matcher.get_opcodes():
        if kind != "equal" and "".join(words[i:j]) != "".join(others[k:n]):
            yield words[i:j], others[k:n]
