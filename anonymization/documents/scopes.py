"""Scopes of files that share a vault: masked, scanned and restored."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePath

from anonymization.documents.contracts import DocumentConfig, DocumentReport, Refusal
from anonymization.documents.document import learn, mask_bytes, masked_path, pieces_in
from anonymization.documents.released_files import (
    without_open_words,
    without_survivors,
    words_of_files,
)
from anonymization.documents.remaining_words import merged
from anonymization.language_gate import (
    LanguageConfig,
    languages_in,
    measure,
    short_language,
    supported_languages,
)
from anonymization.levels import MaskingLevel, Undecided, at_level
from anonymization.text.contracts import DetectionConfig, Detector, Mode
from anonymization.text.detect.declared import declared_kind
from anonymization.text.masking.known_search import Listed
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.text.vault import keep_original
from anonymization.words_review import WORDS, Review, WordLeft, write_words
from data.atomic import write_bytes
from data.canonical import digest, keyed_digest, pretty_json
from data.contracts import StageConfig
from data.errors import InputError
from data.remembered import remembered
from data.sharding import map_shards

Paths = Sequence[Path]
VAULTS, ORIGINALS, FILES = "vaults", "originals", "files"
_WHOLE_RUN = "run"  # the scope of all files of a run


class Scope(StrEnum):
    """Which files share surrogates: each file by itself, all files of a given path, or all."""

    FILE = "file"
    PATH = "path"
    RUN = "run"


class MaskingConfig(StageConfig):
    """Settings of `privacy mask` and `privacy scan`; a scan looks for what `full` masks."""

    level: MaskingLevel = MaskingLevel.STRICT
    undecided: Undecided | None = None  # listed, unless it says otherwise
    mode: Mode = Mode.SURROGATE
    scope: Scope = Scope.RUN
    detection: DetectionConfig = DetectionConfig(public_places=True)
    documents: DocumentConfig = DocumentConfig()
    language: LanguageConfig = LanguageConfig()


@dataclass(frozen=True, slots=True)
class Job:
    """One scope: its name, its files with their paths below the root, and the output folder."""

    scope: str
    files: tuple[tuple[Path, PurePath], ...]
    out: Path
    key: bytes
    config: MaskingConfig
    listed: Listed = ()
    review: Review | None = None


@dataclass(frozen=True, slots=True)
class MaskedScope:
    """What became of the files of a scope, and the words that stayed in each."""

    reports: list[DocumentReport]
    words: dict[str, dict[str, WordLeft]]


def jobs_of(
    paths: Paths,
    out: Path,
    key: bytes,
    config: MaskingConfig,
    listed: Listed = (),
    review: Review | None = None,
) -> list[Job]:
    """The scopes below `paths`, in order of their names, with the kinds of the level in their
    settings. Links are not followed.

    Raises InputError for a missing path, and for two inputs of the same name.
    """
    config = config.model_copy(update={"detection": at_level(config.detection, config.level)})
    groups: dict[str, list[tuple[Path, PurePath]]] = {}
    names: set[PurePath] = set()
    for path in paths:
        for file, name in _files(path, out):
            if name in names:
                todo = "Mask them into separate folders."
                raise InputError(
                    name.as_posix(), "two inputs with the same name", "distinct names", todo
                )
            names.add(name)
            scope = {
                Scope.FILE: name.as_posix(), Scope.PATH: path.name, Scope.RUN: _WHOLE_RUN
            }[config.scope]  # fmt: skip
            groups.setdefault(scope, []).append((file, name))
    return [
        Job(scope, tuple(groups[scope]), out, key, config, listed, review)
        for scope in sorted(groups)
    ]


def _files(path: Path, out: Path) -> Iterable[tuple[Path, PurePath]]:
    if path.is_file():
        yield path, PurePath(path.name)
        return
    if not path.is_dir():
        raise InputError(str(path), "nothing", "a file or folder", "Check the path.")
    root, kept_out = path.resolve(), out.resolve()
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.is_symlink() and not file.is_relative_to(kept_out):
            yield file, PurePath(root.name) / file.relative_to(root)


def mask_paths(
    paths: Paths,
    out: Path,
    key: bytes,
    config: MaskingConfig,
    workers: int,
    listed: Listed = (),
    review: Review | None = None,
) -> list[DocumentReport]:
    """Mask all files below `paths` into `out`, and write `reports/masking.json` and
    `private/words.csv` there.

    With a `review`, a file in which a word worth a look has no decision is refused.
    """
    scopes = list(map_shards(mask_scope, jobs_of(paths, out, key, config, listed, review), workers))
    reports = [report for scope in scopes for report in scope.reports]
    words = merged(file for scope in scopes for file in sorted(scope.words.items()))
    write_words(out / "private" / WORDS, words, review)
    rows = [asdict(report) for report in reports]
    for row in rows:
        del row["original_sha256"], row["original_path"]  # private: the vault has them
    report = {"recipe_sha256": digest(config), "files": rows}
    write_bytes(out / "reports" / "masking.json", pretty_json(report))
    return reports


def mask_scope(job: Job) -> MaskedScope:
    """Mask the files of a scope, and write them, their vault and whole originals.

    Everything is learned before the first file is written, so the order of files does not matter.
    """
    config, documents = job.config, job.config.documents
    masker = Masker(
        detector(config.detection),
        job.key,
        config.mode,
        job.scope,
        job.listed,
        masks_undecided=config.undecided is Undecided.MASKED,
    )
    pieces = {name: pieces_in(path.read_bytes(), str(name), documents) for path, name in job.files}
    learn(list(pieces.values()), masker, are_apart=True)
    languages = _languages(pieces, config)
    reports: list[DocumentReport] = []
    taken: set[PurePath] = set()
    for path, name in job.files:
        target = _free(masked_path(name, masker), taken)
        language = languages[name]
        report = _mask_file(job, masker, path, target, language)
        reports.append(replace(report, original_path=name.as_posix()))
    files = job.out / FILES
    reports = without_survivors(files, masker, reports, job.key)
    words = words_of_files(files, masker, reports, pieces, config.detection, job.review)
    reports = without_open_words(files, masker, reports, words, job.review)
    vault = keyed_digest(job.key, job.scope)[:_NAME_CHARS]
    masker.vault.save(job.out / "private" / VAULTS / f"{vault}.json", job.key)
    return MaskedScope(reports, words)


_NAME_CHARS = 32


def _languages(
    pieces: Mapping[PurePath, Sequence[Piece]], config: MaskingConfig
) -> dict[PurePath, str | None]:
    """The unsupported language of each file; the files of one given path are judged together."""
    supported = supported_languages(config.detection)
    counts = {name: languages_of(read, config.detection) for name, read in pieces.items()}
    if config.scope is Scope.PATH:
        whole = measure(counts.values(), supported).language
        return dict.fromkeys(counts, whole)
    return {name: measure([of_file], supported).language for name, of_file in counts.items()}


_NAMES = re.compile(r"\W*(?>[A-Za-z\u00c0-\u024f]+\W*){1,3}")


def languages_of(pieces: Sequence[Piece], config: DetectionConfig) -> dict[str, int]:
    """How many blocks of a file are in which language, by its prose, else by the words and labels
    in it.

    Values under a label that declares them need no model, whatever the language: the addresses of
    foreign customers do not make a list French. Lines of a name or two, such as the cells of a list
    of people, are in no language. Nor are the names of type faces and styles.
    """
    pieces = [piece for piece in pieces if piece.accepts is not FindingFilter.PROVEN]
    prose = (piece for piece in pieces if not piece.lead or declared_kind(piece.label) is None)
    lines = (line for piece in prose for line in piece.value.splitlines())
    counts = languages_in(line for line in lines if not _NAMES.fullmatch(line))
    short = _short_language(pieces)
    supported = supported_languages(config)
    if supported is None or short is None or counts.keys() - supported:
        return counts
    return counts | {short: 1}


def _short_language(pieces: Sequence[Piece]) -> str | None:
    labels = {piece.label for piece in pieces if piece.lead}
    undeclared = {label for label in labels if declared_kind(label) is None}
    if labels and not any(_is_open(piece, undeclared) for piece in pieces):
        return None
    return short_language((piece.value for piece in pieces), labels)


def _is_open(piece: Piece, undeclared: Collection[str]) -> bool:
    """Is a text of letters neither a label nor under one that declares its value?"""
    value = piece.value.strip()
    is_label = not piece.lead and declared_kind(value) is not None
    is_declared = bool(piece.lead) and piece.label not in undeclared
    return not is_label and not is_declared and any(map(str.isalpha, value))


def _mask_file(
    job: Job, masker: Masker, path: Path, target: PurePath, language: str | None
) -> DocumentReport:
    """Mask a file; one in an unsupported `language` is refused, unless the settings keep it."""
    data = path.read_bytes()
    if language is not None and job.config.language.unsupported == "reject":
        sha256, reason = digest(data), Refusal.LANGUAGE
        return DocumentReport(target.as_posix(), sha256, refusal=reason, part=language)
    name = next(str(name) for known, name in job.files if known == path)
    masked = mask_bytes(data, name, masker, job.config.documents, target.as_posix())
    if masked.report.refusal is not None:
        return replace(masked.report, path=target.as_posix())
    if not masker.vault.documents[target.as_posix()].encoding:
        keep_original(job.out / "private" / ORIGINALS, data)
    write_bytes(job.out / FILES / target, masked.data)
    return masked.report


def _free(path: PurePath, taken: set[PurePath]) -> PurePath:
    """`path`, with a number if another file of the scope already has it."""
    new, number = path, 2
    while new in taken:
        new, number = path.with_stem(f"{path.stem}-{number}"), number + 1
    taken.add(new)
    return new


@remembered()
def detector(config: DetectionConfig) -> Detector:
    """The detector of this process: its models load once, and it remembers texts seen before."""
    # The models' libraries take seconds to import: commands without detection do not wait for them.
    from anonymization.text.detect.engine import TextDetector

    return TextDetector(config)
