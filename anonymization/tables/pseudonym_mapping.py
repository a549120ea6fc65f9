"""The mapping of a release: made from all its tables at once, applied to each of them.

Names and codes inside text are found in one pass, the longest first, and replaced. Pseudonyms of
codes are a permutation of their code space, drawn from the release key. Whoever gets the key can
invert it by trying a million codes, as for a keyed hash; `privacy seal` destroys the key, after
which this is impossible. All pseudonyms of a code space have one shape (digits, letters,
punctuation): a shape that few codes have would tell whose they are, and of codes such as
hexadecimal ones hardly two have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.config import ColumnRole, IdentifierKind, TableConfig
from anonymization.tables.keystream import Words, blocks, stage_key
from anonymization.tables.pseudonym_names import (
    Company,
    Language,
    dissect,
    name_language,
    rebuilt_names,
)
from data.errors import InputError
from data.randomness import keyed_hash

_TABLE = 2**20  # code spaces up to this size are shuffled as a whole
_ROUNDS = 12
_LARGEST = 2**62
_DIGITS, _UPPER, _LOWER = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_TRIES = 500


@dataclass(frozen=True, slots=True)
class _CodeMap:
    """`clashes`: pseudonyms that equal some other real code, because the space is too full."""

    new: dict[str, str]
    clashes: int


def permuted_codes(codes: Iterable[str], key: bytes, space: str, prefix: str = "") -> _CodeMap:
    """One-to-one pseudonyms of one shape; if there is room, no pseudonym is a real code.

    The shape is the most common one that has room for all codes. If none has, each code keeps its
    shape, which narrows down whose it is. A code whose image is a real code tries other images, in
    keyed order, until one is free: only these pseudonyms, and those of codes of another shape,
    depend on the other codes.
    Errors: `InputError` for codes without the prefix, or of a shape with 2⁶² codes or more.
    """
    shapes: dict[str, list[str]] = {}
    for code in sorted(set(codes)):
        shapes.setdefault(_shape(code, prefix), []).append(code)
    guests: list[str] = []
    if common := _common(shapes, len(prefix)):
        guests = [code for shape in shapes if shape != common for code in shapes[shape]]
        shapes = {common: shapes[common]}
    new: dict[str, str] = {}
    clashes = 0
    for shape, members in sorted(shapes.items()):
        images, clashed = _images(members, guests, shape, len(prefix), key, space)
        new |= dict(zip([*members, *guests], images, strict=True))
        clashes += clashed
    return _CodeMap(new, clashes)


def _common(shapes: Mapping[str, Sequence[str]], fixed: int) -> str:
    """The most common shape with room for all codes beside as many that are free, or none."""
    needed = 2 * sum(map(len, shapes.values()))
    roomy = [shape for shape in shapes if needed <= _size(shape[fixed:]) < _LARGEST]
    return min(roomy, key=lambda shape: (-len(shapes[shape]), shape), default="")


def _size(shape: str) -> int:
    """How many codes a shape has."""
    return prod(len(_ALPHABETS.get(char, char)) for char in shape)


def _shape(code: str, prefix: str) -> str:
    """9 for a digit, A or a for a letter; all other characters and the prefix unchanged."""
    if not code.startswith(prefix):
        expected, todo = "codes that begin with the prefix", "Correct the prefix of the column."
        raise InputError("codes", f"a code of {len(code)} characters without it", expected, todo)
    rest = code[len(prefix) :]
    return prefix + "".join(_KINDS.get(char, char) for char in rest)


_KINDS = {**dict.fromkeys(_DIGITS, "9"), **dict.fromkeys(_UPPER, "A"), **dict.fromkeys(_LOWER, "a")}
_ALPHABETS = {"9": _DIGITS, "A": _UPPER, "a": _LOWER}


def _images(
    codes: list[str], guests: list[str], shape: str, fixed: int, key: bytes, space: str
) -> tuple[list[str], int]:
    """Pseudonyms of the codes of a shape, then of the guests, whose own shape is another."""
    alphabets = [_ALPHABETS.get(char, char) for char in shape[fixed:]]
    size = _size(shape[fixed:])
    if size >= _LARGEST:
        expected, todo = "codes of at most 18 digits", "Declare the column as a name or drop it."
        raise InputError("codes", f"a shape of {len(shape)} characters", expected, todo)
    permute = _Permutation(size, key, f"codes/{space}/{shape}")
    numbers = [_number(code[fixed:], alphabets) for code in codes]
    starts = [_drawn(code, size, key, space) for code in guests]
    images, clashes = _avoiding(numbers, starts, permute, key, space, [*codes, *guests])
    return [shape[:fixed] + _code(number, alphabets) for number in images], clashes


def _drawn(code: str, size: int, key: bytes, space: str) -> int:
    """Where a guest begins to look for a free image."""
    return int.from_bytes(keyed_hash(key, f"codes/{space}/guest", code)[:16], "big") % size


def _avoiding(
    numbers: list[int],
    starts: list[int],
    permute: _Permutation,
    key: bytes,
    space: str,
    codes: list[str],
) -> tuple[list[int], int]:
    """The images of `numbers`, then those of guests, which move away from every other image."""
    images = permute(np.array([*numbers, *starts], dtype=np.uint64)).tolist()
    real, taken = set(numbers), set(images[: len(numbers)])
    guests = range(len(numbers), len(images))
    again = [*(at for at in range(len(numbers)) if images[at] in real), *guests]
    again.sort(key=lambda at: (at >= len(numbers), keyed_hash(key, f"codes/{space}", codes[at])))
    # wide steps: real codes occur in dense runs, and so do the images that need another one
    steps = np.arange(1, _TRIES, dtype=np.uint64) * np.uint64(permute.size // _TRIES + 1)
    for at in again:
        tries = (images[at] + steps) % np.uint64(permute.size)
        for other in [images[at], *permute(tries).tolist()]:
            if other not in real and other not in taken:
                taken.add(other)
                images[at] = other
                break
    return images, sum(image in real for image in images)


def _number(text: str, alphabets: list[str]) -> int:
    number = 0
    for char, alphabet in zip(text, alphabets, strict=True):
        number = number * len(alphabet) + alphabet.index(char)
    return number


def _code(number: int, alphabets: list[str]) -> str:
    chars = []
    for alphabet in reversed(alphabets):
        number, digit = divmod(number, len(alphabet))
        chars.append(alphabet[digit])
    return "".join(reversed(chars))


class _Permutation:
    """A keyed permutation of 0 … size - 1: a shuffle, or a Feistel network with cycle walk."""

    def __init__(self, size: int, key: bytes, stage: str) -> None:
        self.size = size
        self._key = stage_key(key, stage)
        self._half = np.uint64(int(np.ceil(np.sqrt(float(size)))) + 1)
        self._table = self._shuffle() if size <= _TABLE else None

    def __call__(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        if self._table is not None:
            return self._table[numbers]
        out = self._network(numbers)
        while (outside := out >= self.size).any():
            out[outside] = self._network(out[outside])
        return out

    def _shuffle(self) -> NDArray[np.uint64]:
        words = self._words(np.arange(self.size, dtype=np.uint64), 0)
        return np.argsort(words, kind="stable").astype(np.uint64)

    def _network(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        first_half, second_half = numbers // self._half, numbers % self._half
        for turn in range(1, _ROUNDS + 1):
            first_half, second_half = (
                second_half,
                (first_half + self._words(second_half, turn)) % self._half,
            )
        return first_half * self._half + second_half

    def _words(self, numbers: NDArray[np.uint64], turn: int) -> NDArray[np.uint64]:
        """One word per number and turn."""
        keys: Words = np.repeat(self._key[:, None], len(numbers), axis=1)
        words: NDArray[np.uint64] = blocks(keys, turn, numbers)[0]
        return words


Tables = Sequence[tuple[pl.DataFrame, TableConfig]]


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Private until it is sealed. `codes`: per code space; `names`: per (entity, name);
    `in_text`: everything that is replaced in text; `clashes`: codes whose pseudonym is another
    real code because the code space is too full."""

    codes: Mapping[str, Mapping[str, str]]
    names: Mapping[tuple[str, str], str]
    in_text: Mapping[str, str]
    clashes: int


@dataclass(frozen=True, slots=True)
class _Pseudonymized:
    """A table under its pseudonyms; how many names and codes were replaced inside text."""

    frame: pl.DataFrame
    in_text: int


def make_pseudonyms(tables: Tables, key: bytes) -> Pseudonyms:
    """Pseudonyms for all identifiers of all tables."""
    codes, clashes = _codes(tables, key)
    names = rebuilt_names(_companies(tables), key)
    has_texts = any(config.of_role(ColumnRole.FREE_TEXT) for _, config in tables)
    return Pseudonyms(codes, names, _in_text(codes, names) if has_texts else {}, clashes)


def pseudonymize(
    frame: pl.DataFrame, config: TableConfig, pseudonyms: Pseudonyms
) -> _Pseudonymized:
    """Replace identifiers, and names and codes inside free text.

    Errors: `KeyError` for identifiers that the mapping was not made from: a bug.
    """
    entity = frame[config.entity].cast(pl.String).fill_null("")
    new = frame
    for name in config.of_role(ColumnRole.IDENTIFIER):
        column = config.columns[name]
        values = frame[name].cast(pl.String)
        if column.kind is IdentifierKind.NAME:
            rows = zip(entity, values, strict=True)
            made = [None if v is None or not v.strip() else pseudonyms.names[e, v] for e, v in rows]
        else:
            known = pseudonyms.codes[column.space or name]
            made = [None if v is None else known.get(v, v) for v in values]
        kept = pl.Series(name, made, dtype=pl.String)
        kept = kept.zip_with(kept.is_not_null(), values)
        dtype = frame.schema[name]
        new = new.with_columns(kept if dtype == pl.String else kept.cast(dtype))
    count = 0
    for name in config.of_role(ColumnRole.FREE_TEXT):
        texts, moved = _replaced(new[name], pseudonyms.in_text)
        new, count = new.with_columns(texts), count + moved
    return _Pseudonymized(new, count)


def _codes(tables: Tables, key: bytes) -> tuple[dict[str, dict[str, str]], int]:
    values_by_space: dict[str, set[str]] = {}
    prefixes: dict[str, str] = {}
    for frame, config in tables:
        for name in config.of_role(ColumnRole.IDENTIFIER):
            column = config.columns[name]
            if column.kind is IdentifierKind.CODE:
                space = column.space or name
                values = frame[name].cast(pl.String).drop_nulls().unique()
                values_by_space.setdefault(space, set()).update(v for v in values if v.strip())
                prefixes.setdefault(space, column.prefix)
    made = {
        s: permuted_codes(codes, key, s, prefixes[s])
        for s, codes in sorted(values_by_space.items())
    }
    return {space: codes.new for space, codes in made.items()}, sum(
        c.clashes for c in made.values()
    )


def _companies(tables: Tables) -> list[Company]:
    """All names per entity over all tables, and the first label of its industry."""
    names: dict[str, set[str]] = {}
    industries: dict[str, str] = {}
    for frame, config in tables:
        columns = [
            name
            for name in config.of_role(ColumnRole.IDENTIFIER)
            if config.columns[name].kind is IdentifierKind.NAME
        ]
        if not columns:
            continue
        picked = frame.select(
            pl.col(config.entity).cast(pl.String).fill_null("").alias("entity"),
            (pl.lit("") if config.group is None else pl.col(config.group).cast(pl.String))
            .fill_null("")
            .alias("group"),
            pl.concat_list([pl.col(c).cast(pl.String) for c in columns]).alias("names"),
        )
        grouped = picked.group_by("entity").agg(
            pl.col("group").sort().last(), pl.col("names").explode().drop_nulls().unique()
        )
        for entity, group, own in grouped.sort("entity").iter_rows():
            names.setdefault(entity, set()).update(name for name in own if name.strip())
            industries[entity] = max(industries.get(entity, ""), group)
    return [Company(e, industries[e], tuple(sorted(own))) for e, own in sorted(names.items())]


def _in_text(
    codes: Mapping[str, Mapping[str, str]], names: Mapping[tuple[str, str], str]
) -> dict[str, str]:
    """Full names, names without their legal forms, and codes. A form that two companies share
    is left out, since nobody could say whose pseudonym to put."""
    replacements: dict[str, set[str]] = {}
    for (_, name), new in names.items():
        default = Language.JA if name_language(new, Language.JA) is Language.JA else Language.ZH
        old_core, new_core = dissect(name, default).core, dissect(new, default).core
        replacements.setdefault(name, set()).add(new)
        if _findable(old_core):
            replacements.setdefault(old_core, set()).add(new_core)
    for known in codes.values():
        for code, image in known.items():
            if _findable_code(code):
                replacements.setdefault(code, set()).add(image)
    return {
        form: min(options) for form, options in sorted(replacements.items()) if len(options) == 1
    }


_LEAST_LATIN = 4  # letters of a name without its legal form; shorter ones are words too often
_LEAST_HAN = 2


def _findable(core: str) -> bool:
    """Is a name without its legal form long enough to be looked for in text?"""
    return len(core) >= (_LEAST_LATIN if core.isascii() else _LEAST_HAN)


def _findable_code(code: str) -> bool:
    """Bare numbers of a few digits are years and amounts; codes with letters, or long, are not."""
    return len(code) >= 4 and (not code.isdigit() or len(code) >= 8)


def _replaced(texts: pl.Series, new: Mapping[str, str]) -> tuple[pl.Series, int]:
    """`texts` with every key of `new` replaced, and the number of replacements.

    Leftmost, then longest, in a single pass: replacements are not searched again. Latin letters
    match in any case; a Latin name must not continue on either side.
    """
    if not new or texts.dtype != pl.String:
        return texts, 0
    patterns = sorted(new, key=lambda name: (-len(name), name))
    matches = texts.str.extract_many(patterns, ascii_case_insensitive=True, overlapping=True)
    hit = matches.list.len().fill_null(0).to_numpy() > 0
    if not hit.any():
        return texts, 0
    starts = texts.str.find_many(patterns, ascii_case_insensitive=True, overlapping=True)
    folded = {_folded(name): text for name, text in new.items()}
    out, count = texts.to_list(), 0
    for at in hit.nonzero()[0].tolist():
        out[at], moved = _substituted(
            out[at].encode(), list(zip(starts[at], matches[at], strict=True)), folded
        )
        count += moved
    return pl.Series(texts.name, out, dtype=pl.String), count


def _folded(name: str) -> str:
    """ASCII letters in lower case, as the search folds them."""
    return "".join(char.lower() if char.isascii() else char for char in name)


def _substituted(
    raw: bytes, hits: list[tuple[int, str]], new: Mapping[str, str]
) -> tuple[str, int]:
    spans = sorted((start, -len(word.encode()), word) for start, word in hits)
    parts: list[bytes] = []
    done = moved = 0
    for start, negative, word in spans:
        stop = start - negative
        if start < done or not _whole(raw, start, stop):
            continue
        parts += [raw[done:start], new[_folded(word)].encode()]
        done, moved = stop, moved + 1
    return b"".join([*parts, raw[done:]]).decode(), moved


def _whole(raw: bytes, start: int, stop: int) -> bool:
    """Is it a whole word? `Sun` is not in `Sunday`."""
    joins_left = raw[start - 1 : start].isalnum() and raw[start : start + 1].isalnum()
    joins_right = raw[stop - 1 : stop].isalnum() and raw[stop : stop + 1].isalnum()
    return not joins_left and not joins_right
