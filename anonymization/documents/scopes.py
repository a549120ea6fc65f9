"""Scopes of files that share a vault: masked, scanned and restored.

Before masked files of a scope are released they are searched for what stayed in them, and some are
refused. The folder of a `privacy mask` run is claimed at its start and marked until it is whole.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path, PurePath

from anonymization.documents.contracts import DocumentConfig, DocumentReport, Refusal
from anonymization.documents.document import learn, mask_bytes, masked_path, pieces_in
from anonymization.documents.remaining_words import merged, propose, rows_for_model, words_left
from anonymization.documents.survivors import survivors
from anonymization.documents.worth_a_look import GONE
from anonymization.masking_gates import (
    LanguageConfig,
    language_use,
    languages_in,
    short_language,
    supported_languages,
)
from anonymization.masking_recipe import MaskingLevel, Undecided, at_level
from anonymization.recogniser.answers import ask_about
from anonymization.recogniser.contracts import (
    AskModel,
    Call,
    Recognised,
    RecogniserConfig,
    summed,
)
from anonymization.recogniser.informed import informed
from anonymization.recogniser.passages import calls_of
from anonymization.recogniser.second_look import SecondCall, look_again, second_calls
from anonymization.text.contracts import (
    NOTHING_SEEN,
    DetectionConfig,
    Detector,
    Document,
    Mode,
)
from anonymization.text.detect.declared import declared_kind
from anonymization.text.masking.known_search import Listed
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.text.vault import (
    Vault,
    decoded,
    keep_original,
    restore,
)
from anonymization.words_review import WORDS, Review, WordLeft, open_words, write_words
from data.atomic import PRIVATE_DIR, PRIVATE_FILE, write_bytes
from data.canonical import digest, keyed_digest, pretty_json
from data.contracts import StageConfig
from data.errors import InputError
from data.neutralise import one_line
from data.remembered import remembered
from data.sharding import map_shards

_Reports = Sequence[DocumentReport]


def _without_survivors(
    files: Path, masker: Masker, reports: _Reports, key: bytes
) -> list[DocumentReport]:
    """The reports, with a refusal for each file in which a value of the vault still stands.

    The reports are in the order in which the masker learnt the files.
    """
    released = {r.path: files / r.path for r in reports if r.refusal is None}
    dated = {r.path for n, r in enumerate(reports) if masker.spreading.keeps_dates(n)}
    parts = dict(survivors(masker.vault, released, key, dated))
    return _refusing(files, masker, reports, parts, Refusal.VALUE_REMAINS)


def _words_of_files(
    files: Path,
    masker: Masker,
    reports: _Reports,
    pieces: Mapping[PurePath, Sequence[Piece]],
    job: Job,
) -> dict[str, dict[str, WordLeft]]:
    """The words worth a look in each file that can be released, by the path of the file."""
    private = job.review.private_words if job.review is not None else frozenset()
    vault = masker.vault
    words_in = partial(
        words_left, detection=job.config.detection, private=private, undecided_of=masker.undecided
    )
    words = {
        report.path: words_in(
            pieces[PurePath(report.original_path)],
            masker.edits,
            whole=unmasked((files / report.path).read_bytes(), vault.documents[report.path]),
        )
        for report in reports
        if report.refusal is None
    }
    for of_file in words.values():
        propose(of_file, job.recognised.proposals if job.recognised else ())
    return words


def _without_open_words(
    files: Path,
    masker: Masker,
    reports: _Reports,
    words: Mapping[str, Mapping[str, WordLeft]],
    job: Job,
) -> list[DocumentReport]:
    """The reports, with a refusal for each file in which a word has no decision of the review."""
    review, accepts = job.review, job.config.recogniser.accepts_proposals
    unread = {
        path: ""
        for path, of_file in words.items()
        if review and review.leaves_open(open_words(of_file, accepts_proposals=accepts))
    }
    return _refusing(files, masker, reports, unread, Refusal.NOT_REVIEWED)


def unmasked(masked: bytes, document: Document) -> str:
    """A masked text with a gap for each surrogate; nothing of a file that is no plain text."""
    if not document.encoding:
        return ""
    text, parts, end = decoded(masked, document.encoding), [], 0
    for span in document.spans:
        parts += [text[end : span.start], GONE * len(span.surrogate)]
        end = span.start + len(span.surrogate)
    return "".join([*parts, text[end:]])


def _refusing(
    files: Path, masker: Masker, reports: _Reports, parts: Mapping[str, str], reason: Refusal
) -> list[DocumentReport]:
    """The reports, with a refusal for each file of `parts`; it is removed from output and vault."""
    for name in parts:
        (files / name).unlink()
        masker.vault.drop_document(name)
    return [
        replace(report, masked_sha256="", rows=(), refusal=reason, part=parts[report.path])
        if report.refusal is None and report.path in parts
        else report
        for report in reports
    ]


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
    recogniser: RecogniserConfig = RecogniserConfig()


@dataclass(frozen=True, slots=True)
class Job:
    """One scope: its name, its files with their paths below the root, and the output folder.

    `recognised` is what a model has read in it; None without a model.
    """

    scope: str
    files: tuple[tuple[Path, PurePath], ...]
    out: Path
    key: bytes
    config: MaskingConfig
    listed: Listed = ()
    review: Review | None = None
    recognised: Recognised | None = None


@dataclass(frozen=True, slots=True)
class _MaskedScope:
    """What became of the files of a scope, and the words that stayed in each."""

    reports: list[DocumentReport]
    words: dict[str, dict[str, WordLeft]]


def _jobs_of(
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
    ask: AskModel | None = None,
) -> list[DocumentReport]:
    """Mask all files below `paths` into `out`, and write `reports/masking.json` and
    `private/words.csv` there.

    With a `review`, a file in which a word worth a look has no decision is refused. `ask` asks the
    recogniser, if there is one.
    """
    jobs = _jobs_of(paths, out, key, config, listed, review)
    if ask is not None:
        jobs = _with_model(jobs, ask, workers)
    scopes = list(map_shards(_mask_scope, jobs, workers))
    reports = [report for scope in scopes for report in scope.reports]
    words = merged(file for scope in scopes for file in sorted(scope.words.items()))
    write_words(out / "private" / WORDS, words, review)
    rows = [asdict(report) for report in reports]
    for row in rows:
        del row["original_sha256"], row["original_path"]  # private: the vault has them
    report: dict[str, object] = {"recipe_sha256": digest(config), "files": rows}
    if ask is not None:
        read = summed(job.recognised.counts for job in jobs if job.recognised)
        report["recogniser"] = {"model": config.recogniser.model, "counts": read}
    write_bytes(out / "reports" / "masking.json", pretty_json(report))
    return reports


def _with_model(jobs: Sequence[Job], ask: AskModel, workers: int) -> list[Job]:
    """The jobs with what a model recognises in each, and then says of what is replaced."""
    entities = jobs[0].config.detection.entities if jobs else ()
    known = ask_about(list(map_shards(_scope_calls, jobs, workers)), ask, entities)
    jobs = [replace(job, recognised=of) for job, of in zip(jobs, known, strict=True)]
    if not jobs or not jobs[0].config.recogniser.second_look:
        return jobs
    shown = list(map_shards(_second_calls, jobs, workers))
    seen = look_again(shown, known, ask, entities)
    return [replace(job, recognised=of) for job, of in zip(jobs, seen, strict=True)]


def _scope_calls(job: Job) -> list[Call]:
    """What a model is asked about a scope, after it was masked by evidence alone."""
    config = job.config
    masker = Masker(detector(config.detection), job.key, Mode.PLACEHOLDER, job.scope, job.listed)
    documents = {
        str(name): pieces_in(path.read_bytes(), str(name), config.documents)
        for path, name in job.files
    }
    learn(list(documents.values()), masker, are_apart=True)
    rows = rows_for_model(documents, masker, config.detection)
    return calls_of(job.scope, documents, rows, config.recogniser)


def _second_calls(job: Job) -> list[SecondCall]:
    """What a model is shown of the replacements in a scope, of which it has read something."""
    if job.recognised is None or not job.recognised.texts:
        return []
    masker, pieces = _learnt(job, Mode.SURROGATE)
    documents = {str(name): of for name, of in pieces.items()}
    return second_calls(job.scope, documents, masker, job.config.recogniser)


def _learnt(job: Job, mode: Mode) -> tuple[Masker, dict[PurePath, list[Piece]]]:
    """The masker of a scope, which has learnt all of its files, and the pieces of these."""
    config = job.config
    masker = Masker(
        informed(detector(config.detection), job.recognised),
        job.key,
        mode,
        job.scope,
        job.listed,
        masks_undecided=config.undecided is Undecided.MASKED,
        second=job.recognised.second if job.recognised else NOTHING_SEEN,
    )
    pieces = {
        name: pieces_in(path.read_bytes(), str(name), config.documents) for path, name in job.files
    }
    learn(list(pieces.values()), masker, are_apart=True)
    return masker, pieces


def _mask_scope(job: Job) -> _MaskedScope:
    """Mask the files of a scope, and write them, their vault and whole originals.

    Everything is learned before the first file is written, so the order of files does not matter.
    """
    masker, pieces = _learnt(job, job.config.mode)
    languages = _languages(pieces, job.config)
    reports: list[DocumentReport] = []
    taken: set[PurePath] = set()
    for path, name in job.files:
        target = _free(masked_path(name, masker), taken)
        language = languages[name]
        report = _mask_file(job, masker, path, target, language)
        reports.append(replace(report, original_path=name.as_posix()))
    files = job.out / FILES
    reports = _without_survivors(files, masker, reports, job.key)
    words = _words_of_files(files, masker, reports, pieces, job)
    reports = _without_open_words(files, masker, reports, words, job)
    vault = keyed_digest(job.key, job.scope)[:_NAME_CHARS]
    masker.vault.save(job.out / "private" / VAULTS / f"{vault}.json", job.key)
    return _MaskedScope(reports, words)


_NAME_CHARS = 32


def _languages(
    pieces: Mapping[PurePath, Sequence[Piece]], config: MaskingConfig
) -> dict[PurePath, str | None]:
    """The unsupported language of each file; the files of one given path are judged together."""
    supported = supported_languages(config.detection)
    counts = {name: languages_of(read, config.detection) for name, read in pieces.items()}
    if config.scope is Scope.PATH:
        whole = language_use(counts.values(), supported).language
        return dict.fromkeys(counts, whole)
    return {name: language_use([of_file], supported).language for name, of_file in counts.items()}


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
    """Mask a file; one in an unsupported `language` that no model has read may be refused."""
    data = path.read_bytes()
    is_read = job.recognised is not None and job.recognised.is_whole
    if language is not None and job.config.language.unsupported == "reject" and not is_read:
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


_SCAN_KEY = bytes(32)  # a scan replaces nothing: its surrogates are discarded


def scan_paths(
    paths: Paths, config: MaskingConfig, workers: int, listed: Listed = ()
) -> list[DocumentReport]:
    """The findings in all files below `paths`; nothing is written."""
    settings = config.model_copy(update={"scope": Scope.FILE, "level": MaskingLevel.FULL})
    jobs = _jobs_of(paths, Path("/nonexistent"), _SCAN_KEY, settings, listed)
    return [report for of in map_shards(_scan_file, jobs, workers) for report in of]


def _scan_file(job: Job) -> list[DocumentReport]:
    """The findings in the files of a job; nothing is written."""
    reports: list[DocumentReport] = []
    finder = detector(job.config.detection)
    for path, name in job.files:
        masker = Masker(finder, _SCAN_KEY, Mode.PLACEHOLDER, str(name), job.listed)
        masked = mask_bytes(path.read_bytes(), str(name), masker, job.config.documents)
        reports.append(replace(masked.report, path=name.as_posix()))
    return reports


def rejection(report: DocumentReport) -> str:
    """One line for the owner of a file that is not released."""
    part = f" (in {report.part})" if report.part else ""
    return one_line(f"{report.original_path or report.path}: rejected, {report.refusal}{part}")


def finding_lines(report: DocumentReport) -> Iterator[str]:
    """A line for each value that looks private, without it, and one if nothing can be released."""
    for row in report.rows:
        location = f"{report.path}!{row.part}" if row.part else report.path
        line = f"{location}:{row.offset}: {row.type} by {row.recognizer}, score {row.score:.2f}"
        yield one_line(line)
    if report.refusal is not None:
        location = f" (in {report.part})" if report.part else ""
        yield one_line(f"{report.path}: cannot be released, {report.refusal}{location}")


PRIVATE, REPORTS = "private", "reports"
_UNFINISHED = "unfinished"
_NEW_FOLDER = "Choose a new folder with --out, or move this one away."


@contextmanager
def claimed(out: Path) -> Iterator[Path]:
    """Yield the new private folder of a run into `out`, which only its owner can enter.

    A run that fails leaves nothing of its own; one that is killed leaves a mark for
    `require_finished`. Raises InputError if `out` has the files of another run, or if one has
    claimed it at the same moment: its vault is all that can restore them.
    """
    private = out / PRIVATE
    out.mkdir(parents=True, exist_ok=True)
    for name in (FILES, REPORTS):
        if (out / name).exists():
            raise _occupied(out, name)
    try:
        private.mkdir(mode=PRIVATE_DIR)  # of two runs at once only one can create it
    except FileExistsError:
        raise _occupied(out, PRIVATE) from None
    try:
        write_bytes(private / _UNFINISHED, b"", mode=PRIVATE_FILE)
        yield private
        (private / _UNFINISHED).unlink()
    except BaseException:
        for name in (FILES, REPORTS, PRIVATE):  # last the claim, so that no other run comes between
            shutil.rmtree(out / name, ignore_errors=True)
        raise


def require_finished(directory: Path) -> None:
    """Raises InputError if the run that wrote `directory` was interrupted or is still going on."""
    if (directory / PRIVATE / _UNFINISHED).exists():
        actual = "a masking run that was interrupted or is still in progress"
        raise InputError(str(directory), actual, "a finished run", "Mask again into a new folder.")


def _occupied(out: Path, name: str) -> InputError:
    return InputError(
        str(out), f"{name}/ from another run", "a folder with no run in it", _NEW_FOLDER
    )


def restore_folder(folder: Path, vaults: Path, key: bytes, out: Path) -> list[str]:
    """Restore every file recorded in the vaults below `vaults`; returns the original paths.

    Raises VaultRefused before anything is written if a vault or a masked file was altered.
    """
    files = sorted(vaults.glob("*.json")) if vaults.is_dir() else [vaults]
    if not files or not all(path.is_file() for path in files):
        raise InputError(str(vaults), "no vault", "a vault or folder of vaults", "See --vault.")
    originals = files[0].parent.parent / ORIGINALS
    restored: dict[str, bytes] = {}
    for path in files:
        for document in Vault.load(path, key).documents.values():
            masked = folder / document.path
            if not masked.is_file():
                todo = "Restore from a complete copy."
                raise InputError(str(masked), "nothing", "the masked file", todo)
            restored[document.original_path] = restore(masked.read_bytes(), document, originals)
    for name, data in sorted(restored.items()):
        write_bytes(out / _inside(name), data)
    return sorted(restored)


def _inside(name: str) -> PurePath:
    """The path, if it stays inside its folder; even a sealed path is checked."""
    path = PurePath(name)
    if path.is_absolute() or ".." in path.parts:
        raise InputError("the vault", "a path that leads outside", "one below", "Do not use it.")
    return path
