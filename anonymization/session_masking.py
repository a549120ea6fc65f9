"""Masking of sessions: their instances and input files, with one vault per session.

The masked texts of an instance still name its files, by the names under which these are released.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any

from anonymization.documents.contracts import GATE, DocumentReport, Refusal, measure
from anonymization.documents.document import learn, mask_bytes, masked_path, pieces_in
from anonymization.documents.remaining_words import (
    EditsOf,
    join,
    merged,
    propose,
    rows_for_model,
    words_left,
)
from anonymization.documents.scopes import detector, languages_of, unmasked
from anonymization.masking_gates import (
    LANGUAGE,
    ChangedPart,
    language_use,
    spoken_languages,
    supported_languages,
    write_changes,
)
from anonymization.masking_recipe import MaskingLevel, MaskingRecipe
from anonymization.recogniser.answers import ask_about
from anonymization.recogniser.contracts import AskModel, Call, Recognised
from anonymization.recogniser.informed import informed
from anonymization.recogniser.passages import calls_of
from anonymization.recogniser.second_look import SecondCall, look_again, second_calls
from anonymization.session_texts import (
    FindFileNames,
    masked_text,
    request_changes,
    said_names,
    text_edits,
)
from anonymization.text.contracts import NOTHING_SEEN, Mode
from anonymization.text.masking.known_search import Listed
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.words_review import Review, Why, WordLeft, open_words, write_words
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest, keyed_digest
from data.contracts import (
    Fixture,
    LedgerRow,
    Outcome,
    StageKind,
    TaskInstance,
    Verdict,
    dump_instance,
)
from data.ledger import deciding, gated_row
from data.pool import (
    FIXTURES,
    ContentStore,
    Survivor,
    texts_of,
    unpack_fixtures,
    with_texts,
    write_survivors,
)
from data.schemas import MASKED_SPANS
from data.stage_tables import write_stage_tables
from data.tables import write_rows

_FILE = "words_left.json"


@dataclass(slots=True)
class _SessionWords:
    """Collects the words of some sessions: at level `strict`, and wherever there is a review."""

    config: MaskingRecipe
    review: Review | None
    recognised: Mapping[str, Recognised] = field(default_factory=dict)  # by session
    words: list[tuple[str, dict[str, WordLeft]]] = field(default_factory=list)

    def leave_open(
        self,
        name: str,
        pieces: Sequence[Piece],
        edits_of: EditsOf,
        masker: Masker,
        whole: str = "",
    ) -> bool:
        """Note the words of a file, or of what was said; has one of them no decision yet?"""
        if self.review is None and self.config.level is not MaskingLevel.STRICT:
            return False
        private = self.review.private_words if self.review is not None else frozenset()
        detection, undecided = self.config.detection, masker.undecided
        words = words_left(pieces, edits_of, detection, private, whole, undecided)
        read = self.recognised.get(masker.vault.scope)
        propose(words, read.proposals if read is not None else ())
        self.words.append((name, words))
        accepts = self.config.recogniser.accepts_proposals
        waiting = open_words(words, accepts_proposals=accepts)
        return self.review is not None and self.review.leaves_open(waiting)

    def write(self, out: Path) -> None:
        """Write the words for `write_list`; they are as private as the vaults beside them."""
        words = merged(self.words)
        rows = {word: asdict(seen) | {"files": sorted(seen.files)} for word, seen in words.items()}
        write_bytes(out / _FILE, canonical_json(rows), mode=PRIVATE_FILE)


def write_list(
    folders: Sequence[Path], path: Path, review: Review | None, *, accepts_proposals: bool = False
) -> int:
    """Write the list of words of all sessions for their owner, if masking noted any.

    Returns how many findings that only the owner can decide wait for a review: with one, tasks
    with open words are rejected. The owner may have accepted the proposals of a model.
    """
    words: dict[str, WordLeft] = {}
    for folder in folders:
        rows: dict[str, Any] = json.loads((folder / _FILE).read_bytes())
        shard = {
            word: WordLeft(**row | {"why": Why(row["why"]), "files": set(row["files"])})
            for word, row in rows.items()
        }
        join(words, shard)
    if words or review is not None:
        write_words(path, words, review)
    still_open = open_words(words, accepts_proposals=accepts_proposals)
    waiting = [word for word in still_open.values() if word.why is Why.UNDECIDED]
    return len(waiting) if review is None else 0


STAGE = GATE.stage
VAULTS = "vaults"
RECOGNISE, CALL = "recognise", "call"  # the stage that asks a model, and its unit
_RECOGNISED = "recognised.json"
_SESSIONS_PER_SHARD = 8  # few enough that every worker gets some and progress is visible
_ORIGINALS = "originals"
_NAME_CHARS = 32

_Row = tuple[str, str, int, str, str, float]
_Named = tuple[str, str]  # a file by its path and the digest of its content


@dataclass(frozen=True, slots=True)
class MaskJob:
    """Sessions to mask: the survivors of each, and the frozen pages among their fixtures.

    `find_names` finds the names of files in a text; it must be picklable. `listed` are the private
    values that the owner of the sessions named, `elsewhere` those that were found in any session of
    the source, `review` is what the owner decided on the words that stayed; `masks_undecided` is
    for models that may be remote. `recognised` is what a model has read in each session, by uid.
    """

    sessions: tuple[tuple[Survivor, ...], ...]
    pages: Mapping[str, Path]
    config: MaskingRecipe
    key: bytes
    find_names: FindFileNames
    listed: Listed = ()
    review: Review | None = None
    masks_undecided: bool = False
    elsewhere: Listed = ()
    recognised: Mapping[str, Recognised] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _MaskedFile:
    """The outcome for a file: the released fixture, or the reason why it is refused."""

    fixture: Fixture
    report: DocumentReport


def mask_messages(texts: Sequence[str], job: MaskJob, scope: str) -> list[str]:
    """Texts of one session, masked together, for a reader that needs their sense alone.

    They are in no vault that is kept; what is undecided is masked (law 9).
    `job` brings settings, key and the owner's values; `scope` is the session's uid.
    """
    masker = Masker(
        detector(job.config.detection),
        job.key,
        job.config.mode,
        scope,
        job.listed,
        masks_undecided=True,
    )
    learn([[Piece(text) for text in texts]], masker)
    return [masked_text(text, masker, job.find_names) for text in texts]


def _vault_name(key: bytes, scope: str) -> str:
    """The name of a session's vault, which reveals nothing of the session."""
    return keyed_digest(key, scope)[:_NAME_CHARS]


def write_recognised(
    jobs: Sequence[MaskJob], ask: AskModel, config: MaskingRecipe, out: Path
) -> None:
    """Ask a model about all sessions, show it what is replaced, and write what it recognised, with
    the stage tables."""
    calls = {uid: of for job in jobs for uid, of in _first_calls(job, out).items()}
    entities = config.detection.entities
    known = ask_about(list(calls.values()), ask, entities)
    if config.recogniser.second_look:
        read = dict(zip(calls, known, strict=True))
        shown = {
            uid: of
            for job in jobs
            for uid, of in _second_calls(replace(job, recognised=read), out).items()
        }
        known = look_again(list(shown.values()), known, ask, entities)
    records = {uid: of.as_json() for uid, of in zip(calls, known, strict=True)}
    write_bytes(out / _RECOGNISED, canonical_json(records), mode=PRIVATE_FILE)
    rows = [
        LedgerRow(
            RECOGNISE, CALL, item_id, Outcome.ERRORED if why else Outcome.KEPT, reason=why or None
        )
        for of in known
        for item_id, why in (*of.outcomes.items(), *of.looked.items())
    ]
    ids = [row.item_id for row in rows]
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=RECOGNISE, unit=CALL)


def read_recognised(folder: Path) -> dict[str, Recognised]:
    """What `write_recognised` wrote, by the uid of the session."""
    records = json.loads((folder / _RECOGNISED).read_bytes())
    return {uid: Recognised.from_json(record) for uid, record in records.items()}


def find_shard(job: MaskJob, out: Path) -> None:
    """Write vaults into `out` with what is private in each session of a job by itself."""
    for session in job.sessions:
        masker = _masker(session, job, Mode.PLACEHOLDER)
        with _originals(session, job, out) as content:
            learn([*_pieces_by_file(session, job, content).values(), _spoken(session)], masker)
        _save(masker, job, out)


def _first_calls(job: MaskJob, out: Path) -> dict[str, list[Call]]:
    """What a model is asked about each session, by uid, after masking by evidence alone."""
    calls: dict[str, list[Call]] = {}
    for session in job.sessions:
        masker = _masker(session, job, Mode.PLACEHOLDER)
        documents = _learnt(session, job, masker, out)
        rows = rows_for_model(documents, masker, job.config.detection)
        uid = masker.vault.scope
        calls[uid] = calls_of(uid, documents, rows, job.config.recogniser)
    return calls


def _second_calls(job: MaskJob, out: Path) -> dict[str, list[SecondCall]]:
    """What a model is shown of the replacements in each session, by uid."""
    calls: dict[str, list[SecondCall]] = {}
    for session in job.sessions:
        masker = _masker(session, job, Mode.SURROGATE)
        uid = masker.vault.scope
        is_read = bool(job.recognised[uid].texts)
        documents = _learnt(session, job, masker, out) if is_read else {}
        calls[uid] = second_calls(uid, documents, masker, job.config.recogniser)
    return calls


def _learnt(
    session: Sequence[Survivor], job: MaskJob, masker: Masker, out: Path
) -> dict[str, list[Piece]]:
    """What was said and the files of a session, by their names, which the masker has learnt."""
    with _originals(session, job, out) as content:
        files = _pieces_by_file(session, job, content)
    documents: dict[str, list[Piece]] = {"conversation": _spoken(session)}
    for (path, _), pieces in files.items():
        documents.setdefault(path, []).extend(pieces)
    learn([*files.values(), documents["conversation"]], masker)
    return documents


def mask_shard(job: MaskJob, out: Path) -> None:
    """Write masked survivors, fixtures, vaults and the audit of a job into `out`."""
    shard = _Shard(job, out)
    for session in job.sessions:
        shard.mask(session)
    shard.write()


def _masker(session: Sequence[Survivor], job: MaskJob, mode: Mode) -> Masker:
    uid = session[0].instance.session_uid
    read = job.recognised.get(uid)
    return Masker(
        informed(detector(job.config.detection), read),
        job.key,
        mode,
        uid,
        job.listed,
        _said_openly(session, job.config),
        elsewhere=job.elsewhere,
        masks_undecided=job.masks_undecided,
        second=read.second if read is not None else NOTHING_SEEN,
    )


def _save(masker: Masker, job: MaskJob, out: Path) -> None:
    vault = masker.vault
    vault.save(out / VAULTS / f"{_vault_name(job.key, vault.scope)}.json", job.key)


@contextmanager
def _originals(
    session: Sequence[Survivor], job: MaskJob, out: Path
) -> Iterator[Callable[[Fixture], bytes]]:
    """What reads the files of a session; they lie unpacked in `out` meanwhile."""
    folder = out / _ORIGINALS
    folder.mkdir()
    wanted = {item.sha256 for survivor in session for item in survivor.fixtures}
    try:
        unpack_fixtures(session, wanted - job.pages.keys(), folder)
        yield lambda fixture: job.pages.get(fixture.sha256, folder / fixture.sha256).read_bytes()
    finally:
        shutil.rmtree(folder)


def _files(session: Sequence[Survivor]) -> dict[_Named, Fixture]:
    return {(item.path, item.sha256): item for survivor in session for item in survivor.fixtures}


def _pieces_by_file(
    session: Sequence[Survivor], job: MaskJob, content: Callable[[Fixture], bytes]
) -> dict[_Named, list[Piece]]:
    documents = job.config.documents
    return {
        name: pieces_in(content(fixture), fixture.path, documents)
        for name, fixture in _files(session).items()
    }


def _spoken(session: Sequence[Survivor]) -> list[Piece]:
    return [Piece(text) for of in session for text in texts_of(of.instance)]


class _Shard:
    def __init__(self, job: MaskJob, out: Path) -> None:
        self._job, self._out = job, out
        self._store = ContentStore(out / FIXTURES)
        self._kept: list[Survivor] = []
        self._verdicts: list[tuple[str, Verdict]] = []
        self._rows: list[LedgerRow] = []
        self._spans: list[_Row] = []
        self._changes: dict[str, list[ChangedPart]] = {}
        self._words = _SessionWords(job.config, job.review, job.recognised)

    def mask(self, session: Sequence[Survivor]) -> None:
        """Mask a session; everything is learned before anything is changed, so order is free."""
        job = self._job
        masker = _masker(session, job, job.config.mode)
        with _originals(session, job, self._out) as content:
            pieces = _pieces_by_file(session, job, content)
            languages = {
                name: languages_of(texts, job.config.detection) for name, texts in pieces.items()
            }
            learn([*pieces.values(), _spoken(session)], masker)
            masked = {
                name: self._mask_file(fixture, content(fixture), masker, pieces[name])
                for name, fixture in _files(session).items()
            }
        for survivor in session:
            spoken = [spoken_languages(list(texts_of(survivor.instance)))]
            spoken += [languages[fixture.path, fixture.sha256] for fixture in survivor.fixtures]
            held = [(item.path, pieces[item.path, item.sha256]) for item in survivor.fixtures]
            self._mask_instance(survivor, masked, spoken, held, masker)
        _save(masker, job, self._out)

    def write(self) -> None:
        """Write the stage's tables, the survivors and the audit of masked spans."""
        self._store.close()
        ids = [survivor.instance.instance_id for of in self._job.sessions for survivor in of]
        write_stage_tables(
            self._out,
            StageKind.FILTER,
            ids,
            self._rows,
            verdicts=self._verdicts,
            stage=STAGE,
            unit="instance",
        )
        write_survivors(self._out, self._kept)
        write_changes(self._out, self._changes)
        self._words.write(self._out)
        write_rows(self._out / f"{MASKED_SPANS.name}.parquet", self._spans, MASKED_SPANS.schema)

    def _mask_file(
        self, fixture: Fixture, content: bytes, masker: Masker, pieces: Sequence[Piece]
    ) -> _MaskedFile:
        target = masked_path(PurePath(fixture.path), masker).as_posix()
        config = self._job.config.documents
        masked = mask_bytes(content, fixture.path, masker, config, target)
        if masked.report.refusal is not None:
            return _MaskedFile(fixture, masked.report)
        whole = unmasked(masked.data, masker.vault.documents[target])
        if self._words.leave_open(fixture.path, pieces, masker.edits, masker, whole):
            masker.vault.drop_document(target)
            report = replace(masked.report, rows=(), refusal=Refusal.NOT_REVIEWED)
            return _MaskedFile(fixture, report)
        sha256 = digest(masked.data)
        if sha256 not in self._store:
            self._store.add(sha256, [masked.data])
        released = {"path": target, "sha256": sha256, "bytes": len(masked.data)}
        return _MaskedFile(fixture.model_copy(update=released), masked.report)

    def _supported(self, masker: Masker) -> frozenset[str] | None:
        """The languages in which names are found; a model that read the session reads all."""
        read = self._job.recognised.get(masker.vault.scope)
        return None if read and read.is_whole else supported_languages(self._job.config.detection)

    def _mask_instance(
        self,
        survivor: Survivor,
        files: Mapping[tuple[str, str], _MaskedFile],
        spoken: Sequence[dict[str, int]],
        held: Sequence[tuple[str, Sequence[Piece]]],
        masker: Masker,
    ) -> None:
        used = [files[fixture.path, fixture.sha256] for fixture in survivor.fixtures]
        instance = survivor.instance
        supported = self._supported(masker)
        verdicts = [
            GATE.judge(
                measure([file.report for file in used], self._unread(instance, masker)),
                self._job.config.documents,
            ),
            LANGUAGE.judge(language_use(spoken, supported), self._job.config.language),
        ]
        decided = deciding(verdicts)
        self._verdicts += [(instance.instance_id, verdict) for verdict in verdicts]
        self._rows.append(
            gated_row(STAGE, "instance", instance.instance_id, decided, survivor.evidence)
        )
        if decided is not None:
            return
        find = self._job.find_names
        self._changes[instance.instance_id] = request_changes(instance, held, masker, find)
        masked = with_texts(instance, lambda text: masked_text(text, masker, self._job.find_names))
        fixtures = _distinct(file.fixture for file in used)
        self._kept.append(Survivor(masked, fixtures, self._out / FIXTURES))
        self._spans += _spans(instance, masker, self._job.find_names)
        self._spans += [
            (instance.instance_id, path, row.offset, row.type, row.recognizer, row.score)
            for path, rows in ((file.report.path, file.report.rows) for file in used)
            for row in rows
        ]

    def _unread(self, instance: TaskInstance, masker: Masker) -> Refusal | None:
        """The refusal of what was said in an instance, if the owner has not decided all of it."""
        find = self._job.find_names
        pieces = [Piece(text) for text in texts_of(instance)]
        is_open = self._words.leave_open(
            instance.instance_id,
            pieces,
            lambda piece: text_edits(piece.value, masker, find),
            masker,
        )
        return Refusal.NOT_REVIEWED if is_open else None


def _said_openly(session: Sequence[Survivor], config: MaskingRecipe) -> frozenset[str]:
    """The names that the requests of a session go on saying: none where names are masked."""
    if config.level is not MaskingLevel.CONTACTS_AND_SECRETS:
        return frozenset()
    return said_names(survivor.instance for survivor in session)


def _distinct(fixtures: Iterable[Fixture]) -> tuple[Fixture, ...]:
    """Each path once: names that were masked to the same name get a number."""
    taken: dict[str, Fixture] = {}
    for fixture in fixtures:
        path, number = PurePath(fixture.path), 2
        while path.as_posix().casefold() in taken:
            path, number = PurePath(fixture.path).with_stem(f"{path.stem}-{number}"), number + 1
        named = fixture.model_copy(update={"path": path.as_posix()})
        taken[path.as_posix().casefold()] = named
    return tuple(taken.values())


def _spans(instance: TaskInstance, masker: Masker, find_names: FindFileNames) -> Iterator[_Row]:
    """The audit of what people said: position, kind and recognizer, never the value (law 8)."""
    for turn in instance.user_turns:
        for edit in text_edits(turn.said, masker, find_names):
            turn_name, kind = f"turn {turn.index}", (edit.type, edit.recognizer, edit.score)
            yield (instance.instance_id, turn_name, edit.start, *kind)


def session_groups(survivors: Sequence[Survivor]) -> list[tuple[tuple[Survivor, ...], ...]]:
    """Whole sessions in the order of their ids, some to a shard."""
    by_session = sorted(survivors, key=lambda s: (s.instance.session_uid, s.instance.instance_id))
    sessions = [tuple(of) for _, of in groupby(by_session, lambda s: s.instance.session_uid)]
    step = _SESSIONS_PER_SHARD
    return [tuple(sessions[start : start + step]) for start in range(0, len(sessions), step)]


def payloads(session: Sequence[Survivor]) -> list[tuple[str, str]]:
    """The parts of a session that masking reads: instances and fixtures as JSON."""
    return [(dump_instance(s.instance), canonical_json(s.fixtures).decode()) for s in session]


def mask_tree(
    texts: Sequence[str], files: Mapping[_Named, bytes], job: MaskJob, scope: str, out: Path
) -> tuple[list[str], dict[_Named, tuple[str, bytes]]]:
    """Masked texts, and the path and content of each file that can be masked.

    Everything is learned before anything is changed; what is undecided is masked, since nobody is
    asked about the words of a tree. The vault is kept below `out`.
    """
    config = job.config
    finder, key, mode = detector(config.detection), job.key, config.mode
    masker = Masker(finder, key, mode, scope, job.listed, masks_undecided=True)
    learn(
        [
            *(pieces_in(content, path, config.documents) for (path, _), content in files.items()),
            [Piece(text) for text in texts],
        ],
        masker,
    )
    masked = {}
    for (path, name), content in files.items():
        target = masked_path(PurePath(path), masker).as_posix()
        made = mask_bytes(content, path, masker, config.documents, target)
        masker.vault.drop_document(target)
        if made.report.refusal is None:
            masked[path, name] = target, made.data
    masker.vault.save(out / VAULTS / f"{_vault_name(key, scope)}.json", key)
    return [masked_text(text, masker, job.find_names) for text in texts], masked
