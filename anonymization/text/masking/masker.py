"""The masker of one scope: detects private values, remembers them, and replaces them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from anonymization.text.contracts import (
    DOUBTED,
    NAMED_HERE,
    NOTHING_SEEN,
    SECOND_LOOK,
    UNDECIDED,
    UNNAMED,
    Detector,
    Edit,
    EntityType,
    Entry,
    Finding,
    Lexical,
    Mode,
    Reading,
    SecondLook,
    Value,
)
from anonymization.text.detect.strict_fields import is_of_firm
from anonymization.text.detect.wording import (
    GIVEN_NAMES,
    in_dictionary,
    is_known,
    is_ordinary_login,
    is_program_word,
)
from anonymization.text.known_values import bare_firm, respelled, short_forms
from anonymization.text.masking.around_words import (
    contested,
    is_in_brand,
    is_in_compound,
    is_in_identifier,
    is_in_region,
    words_of_addresses,
    words_of_identifiers,
)
from anonymization.text.masking.code_text import Spans, beside_code, fenced_spans, overlapping
from anonymization.text.masking.common_words import (
    is_of_role,
    is_own_login,
    own_words,
    without_roles,
)
from anonymization.text.masking.initials import InitialsOfFiles, family_names
from anonymization.text.masking.kept_values import allowed, kept_parts, without_kept
from anonymization.text.masking.known_search import (
    LISTED,
    KnownValueSearch,
    Listed,
    ListedValues,
    Occurrence,
    around,
    containing,
    is_distinctive,
    outside,
    settled,
    spelled_as,
    times_in,
)
from anonymization.text.masking.one_value import whole_values
from anonymization.text.masking.own_hosts import (
    SITE,
    ends_of_addresses,
    hosts_of_mail,
    labels_that_are_keys,
    logins_of_mail,
    mails_of_domains,
    own_hosts,
)
from anonymization.text.masking.pieces import FIELD, Piece, clipped, whole_columns
from anonymization.text.masking.spreading import CHINESE, GERMAN, JAPANESE, Spreading
from anonymization.text.surrogates.assignment import ScopeVocabulary, logins_of
from anonymization.text.surrogates.japanese_names import is_written_in_japan
from anonymization.text.surrogates.names import is_initials
from anonymization.text.surrogates.scope_surrogates import COMMON, Surrogates
from anonymization.text.vault import Vault, applied
from data.text.folding import plain_form
from data.text.scripts import is_han

FROM_VAULT = "vault"  # the recognizer of values that were found elsewhere in the scope
_NAMED = frozenset(
    {EntityType.UNEXPLAINED, EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION}
)
_DECLARED = frozenset(
    {"declared", "position", "said", "keyed_name", "romanised", "recogniser", SECOND_LOOK, FIELD}
)
_FULL_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]+(?:[ -][^\W\d_a-z][^\W\d_]*\.?){1,3}")
_HOST = re.compile(r"(?>(?:[A-Za-z0-9-]{1,63}\.){2,8})[A-Za-z]{2,24}")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ]{2}|県|会社|倉庫|丁目|番地|[円歳]")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SHORTEST_REST = 3  # letters of a word in a login
_DATE = EntityType.DATE
_HELD = frozenset({EntityType.PERSON, EntityType.LOCATION, EntityType.UNEXPLAINED})
_LOGINS = frozenset({EntityType.ACCOUNT, EntityType.USER_PATH})
_UNSURE = _LOGINS | {EntityType.UNEXPLAINED}  # kinds that a place alone may show
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_PLACEHOLDER = re.compile(r"<[A-Z_]{3,20}_\d{1,9}>")


class Masker:
    """Masks the texts of one scope (a session with its files): one vault, one set of surrogates.

    Pass all texts to `learn` before the first is masked: then a value found in one of them is
    masked in all, and no surrogate already occurs in any of them. Values that are `listed` are
    masked wherever they stand, without detection; those that stand nowhere are in no vault. So are
    those that were found `elsewhere`, in other scopes of the same owner: one value is decided once.
    Surrogates of addresses go on showing `open_names`, in folded case. What only the owner can
    decide stays, and is `undecided`; with `masks_undecided` it is masked too, as is what a model
    keeps at its `second` look.
    """

    def __init__(
        self,
        detector: Detector,
        key: bytes,
        mode: Mode,
        scope: str,
        listed: Listed = (),
        open_names: frozenset[str] = frozenset(),
        *,
        elsewhere: Listed = (),
        masks_undecided: bool = False,
        second: SecondLook = NOTHING_SEEN,
    ) -> None:
        self.vault, self._detector = Vault(scope, mode), detector
        lexical = detector if isinstance(detector, Lexical) else None  # else firms are hidden too
        self.dictionary = lexical.dictionary if lexical else frozenset()
        self._usual = lexical.usual_words if lexical else frozenset()
        self._hides_firms = lexical is None or EntityType.ORGANIZATION in lexical.entities
        self._vocabulary = ScopeVocabulary()
        self._second = allowed(second, (*listed, *elsewhere), masks_undecided)
        self._surrogates = Surrogates(key, scope, self._vocabulary, open_names, self._second)
        self._findings: dict[Piece, tuple[Finding, ...]] = {}
        self._fixed: dict[Piece, Spans] = {}  # of pieces with code
        self.spreading, self._masks_undecided = Spreading(self.dictionary), masks_undecided
        self._undecided: dict[Piece, tuple[Finding, ...]] = {}
        self._values: dict[tuple[EntityType, str], None] = {}
        self._full_names, self._native = set[str](), set[str]()  # the first declared by a label
        self._cells: dict[tuple[str, str], None] = {}  # names of whole cells by their columns
        self._identifiers: set[str] = set()  # the words of identifiers in code
        self._in_places: set[tuple[EntityType, str]] = set()  # such words, and a model's
        self._placeholders, self._counts = dict[Value, str](), dict[EntityType, int]()
        self._listed, self._is_listed = ListedValues(listed), frozenset(listed)
        self._elsewhere, self._is_elsewhere = KnownValueSearch(elsewhere), frozenset(elsewhere)
        self._hits: dict[Piece, tuple[Occurrence, ...]] = {}
        self._firms: dict[str, set[str]] = {}  # names of firms without and with a legal form
        # Short forms of the people so far.
        self._forms = {form for pair in listed for form in self._forms_of(*pair)}
        self._search: KnownValueSearch | None = None
        self._edits: dict[Piece, tuple[Edit, ...]] = {}  # by the values known so far
        self._initials = InitialsOfFiles(self.spreading, self._findings, self._new, second.same)

    def learn(self, pieces: Iterable[Piece]) -> None:
        """Detect values in new pieces, and add them to the vault. Order does not matter."""
        fresh = [piece for piece in dict.fromkeys(pieces) if piece not in self._findings]
        clean = [_LONE_SURROGATES.sub("\ufffd", piece.text) for piece in fresh]
        values: set[tuple[EntityType, str]] = set()
        names_before = len(self._full_names)
        columns = whole_columns(fresh, self._detector.find(clean))
        findings_of = dict(zip(fresh, columns, strict=True))
        for piece, findings in findings_of.items():
            self._learn_context(piece, findings)
        for piece, findings in findings_of.items():
            listed = self._listed.find(piece.value)
            fixed = piece.fixed or fenced_spans(piece.text)
            if fixed:
                self._fixed[piece] = fixed
                self._identifiers.update(words_of_identifiers(piece.text, fixed))
                findings = list(beside_code(piece.text, findings, fixed))
            whole = whole_values(piece.value, clipped(piece, findings))
            findings = self.spreading.moving(piece, without_roles(piece.value, whole))
            self._full_names |= self._declared_names(piece.value, findings)
            own, undecided = self._divided(piece, findings)
            kept, hits = around(own, listed, piece.value)
            if undecided:
                self._undecided[piece] = undecided
            self._findings[piece], self._hits[piece] = tuple(kept), tuple(hits)
            values |= {(hit.type, hit.value) for hit in listed} | _values_of(piece, kept)
            self._in_places |= _values_of(piece, (f for f in kept if f.recognizer == NAMED_HERE))
            self._vocabulary.add(piece.value)
            if "<" in piece.text:
                self._native.update(_PLACEHOLDER.findall(piece.text))
        values -= self._half_found(values, fresh)
        self._add_derived(values, fresh)
        unknown = sorted(values - self._values.keys())
        if unknown:
            self._values.update(dict.fromkeys(unknown))
            self._replace(unknown, fresh)
        if unknown or len(self._full_names) > names_before:
            self._search = None
            for known in (self._edits, self._initials, self.spreading):
                known.clear()

    def _half_found(
        self, values: Iterable[tuple[EntityType, str]], fresh: Sequence[Piece]
    ) -> set[tuple[EntityType, str]]:
        """Words and identifiers that new pieces have found in some places and not in others that
        may mean the same.

        Those others would not change, and what refers to one by the other would part from it: they
        stay in all, and their owner decides. Names under labels, and the logins that the names of
        known people make, are certain.
        """
        people = [value.split() for kind, value in values if kind is EntityType.PERSON]
        own = {login for name in people if len(name) > 1 for login in logins_of(name)}
        ordinary = {
            (kind, value)
            for kind, value in values
            if (kind, value) not in self._values
            and (
                (kind in _UNSURE and value.casefold() not in own and self._is_ordinary(kind, value))
                or (kind is EntityType.PERSON and is_initials(value))
            )
        }
        half = contested(
            ordinary, {piece: self._findings[piece] for piece in fresh}, self.spreading.files_of
        )
        for piece in fresh if half else ():
            doubtful = [
                each
                for each in self._findings[piece]
                if (each.type, piece.value[each.start : each.end]) in half
            ]
            if doubtful:
                self._findings[piece] = tuple(f for f in self._findings[piece] if f not in doubtful)
                doubted = [replace(each, recognizer=DOUBTED) for each in doubtful]
                self._undecided[piece] = tuple(sorted([*self._undecided.get(piece, ()), *doubted]))
        return half

    def _add_derived(self, values: set[tuple[EntityType, str]], fresh: Sequence[Piece]) -> None:
        """Add what follows from the values of new pieces, and from other scopes."""
        values.update(self._of_columns(fresh))
        values |= self._of_others(fresh)
        values |= self._short_forms(values, fresh)
        values |= self._bare_firms(values, fresh)
        values |= ends_of_addresses(values, fresh) | mails_of_domains(values, fresh)
        values |= logins_of_mail(values, fresh)
        values -= {(kind, firm) for kind in _HELD for firm in self._firms}
        if self._hides_firms:
            values |= hosts_of_mail(values, fresh) | own_hosts(fresh)
        values -= {pair for pair in values if pair[1] in self._second.kept}

    def _learn_context(self, piece: Piece, findings: Sequence[Finding]) -> None:
        """The years of dates, and the words of addresses, in the file of a piece."""
        self.spreading.watch(piece, findings)
        for words, is_joined in words_of_addresses(piece.text, findings):
            if not (is_joined and any(map(self._is_word, words))):  # `platform-oncall@` is a role
                self.spreading.address(piece, words)

    def _of_columns(self, pieces: Sequence[Piece]) -> Iterator[tuple[EntityType, str]]:
        """Other spellings of firms in their column, of which detection has found some alone."""
        firms = [piece for piece in pieces if piece.lead and is_of_firm(piece.text)]
        for piece in firms:
            whole = (0, len(piece.value))
            if any((found.start, found.end) == whole for found in self._findings[piece]):
                self._cells[piece.label, own_words(piece.value)] = None
        for piece in firms:
            if not self._findings[piece] and (piece.label, own_words(piece.value)) in self._cells:
                whole_cell = Finding(0, len(piece.value), EntityType.ORGANIZATION, FIELD, 1.0)
                self._findings[piece] = (whole_cell,)
                yield whole_cell.type, piece.value

    def _of_others(self, pieces: Iterable[Piece]) -> set[tuple[EntityType, str]]:
        """The values that were found in other scopes and stand in new pieces."""
        if not self._is_elsewhere:
            return set()
        hits = (hit for piece in pieces for hit in self._elsewhere.find(piece.value))
        return {(hit.type, hit.value) for hit in hits}

    def _in_japanese(self, pieces: Iterable[Piece]) -> frozenset[str]:
        """The values in texts in Japanese, or in their columns, which may have no kana of their
        own."""
        pieces = list(pieces)
        columns = {piece.label for piece in pieces if piece.lead and _JAPANESE.search(piece.text)}
        chinese = Counter(p.label for p in pieces if p.lead and not is_written_in_japan(p.value))
        columns -= {label for label, times in chinese.items() if times > 1}  # of the same head
        return frozenset(
            piece.value[finding.start : finding.end]
            for piece in pieces
            if _JAPANESE.search(piece.text)
            or (piece.lead and piece.label in columns and is_written_in_japan(piece.value))
            for finding in self._findings[piece]
        )

    def _in_files_of(self, pieces: Iterable[Piece], language: str) -> frozenset[str]:
        """The values that stand in files of this language, and in none of another one."""
        by_language: dict[str, set[str]] = {CHINESE: set(), JAPANESE: set(), GERMAN: set()}
        for piece in pieces:
            for written_in in self.spreading.languages_of(piece):
                by_language[written_in].update(
                    piece.value[each.start : each.end] for each in self._findings[piece]
                )
        others = (by_language[other] for other in by_language if other != language)
        return frozenset(by_language[language].difference(*others))

    def _declared_names(self, value: str, findings: Iterable[Finding]) -> set[str]:
        """Names of several words that a label declares: they are names wherever they stand."""
        declared = {
            (finding.type, value[finding.start : finding.end])
            for finding in findings
            if finding.recognizer in _DECLARED and finding.type in _NAMED
        }
        return {
            name
            for kind, name in declared
            if _FULL_NAME.fullmatch(name)
            and (
                kind is EntityType.PERSON
                or not all(part.lower() in self._usual for part in _NAME_PART.findall(name))
            )
        }

    def _short_forms(
        self, values: Iterable[tuple[EntityType, str]], fresh: Sequence[Piece]
    ) -> set[tuple[EntityType, str]]:
        """Short forms of known people that occur: of new people in all texts, else in new ones."""
        new = {
            form
            for kind, value in values
            if (kind, value) not in self._values
            for form in self._forms_of(kind, value)
        } - self._forms
        everywhere = [piece.text for piece in self._findings] if new else []
        seen = _occurring(new, everywhere, self._vocabulary)
        seen |= _occurring(self._forms, [piece.text for piece in fresh], self._vocabulary)
        self._forms |= new
        return seen

    def _bare_firms(
        self, values: set[tuple[EntityType, str]], fresh: Sequence[Piece]
    ) -> set[tuple[EntityType, str]]:
        """Names of known firms without their legal form, where texts have them so."""
        is_new = False
        for kind, value in values - self._values.keys():
            bare = bare_firm(value, self.dictionary) if kind is EntityType.ORGANIZATION else ""
            if bare:
                known = self._firms.setdefault(bare, set())
                if not any(name in value for name in known):  # `Hollin Ltd` is in `Hollin Ltd.`
                    known -= {name for name in known if value in name}
                    known.add(value)
                is_new = True
        pieces = self._findings if is_new else fresh
        whole = "\0".join(piece.text for piece in pieces) if self._firms else ""
        times = times_in(whole, {*self._firms, *chain.from_iterable(self._firms.values())})
        return {
            (EntityType.ORGANIZATION, bare)
            for bare, names in self._firms.items()
            if times[bare] > sum(times[name] for name in names)
        }

    def _forms_of(self, kind: EntityType, value: str) -> Iterable[tuple[EntityType, str]]:
        return short_forms(value, self.dictionary) if kind is EntityType.PERSON else ()

    def mask_texts(self, texts: Sequence[str]) -> list[str]:
        """The texts masked, in their order."""
        pieces = [Piece(text) for text in texts]
        self.learn(pieces)
        known = {
            piece: applied(piece.text, self.edits(piece))[0] for piece in dict.fromkeys(pieces)
        }
        return [known[piece] for piece in pieces]

    def _divided(
        self, piece: Piece, findings: Iterable[Finding]
    ) -> tuple[list[Finding], tuple[Finding, ...]]:
        """What is masked, and what its owner has to decide; a word of an e-mail address of the
        scope is somebody's name."""
        kept: list[Finding] = []
        undecided: list[Finding] = []
        value = piece.value
        for finding in findings:
            if value[finding.start : finding.end] in self._second.kept:
                finding = replace(finding, recognizer=UNNAMED)
            is_doubted = finding.recognizer in UNDECIDED and not self._masks_undecided
            word = value[finding.start : finding.end].casefold()
            is_thing = is_in_identifier(value, finding) or is_in_brand(value, finding)
            is_thing = is_thing or is_of_role(word)
            is_thing = is_thing or finding.recognizer == UNNAMED
            if is_doubted and not is_thing and self.spreading.is_addressed(piece, word):
                kept.append(replace(finding, type=EntityType.PERSON))
            else:
                (undecided if is_doubted else kept).append(finding)
        return kept, (*undecided, *kept_parts(value, kept, self._second))

    def undecided(self, piece: Piece) -> Sequence[Finding]:
        """What in the value of a piece its owner has to decide; masking may cover some of it."""
        return self._undecided.get(piece, ())

    def edits(self, piece: Piece) -> list[Edit]:
        """What has to change in the value of a piece; sorted, without overlap."""
        if piece not in self._findings:
            self.learn([piece])
        if piece not in self._edits:
            self._edits[piece] = tuple(self._edits_of(piece))
        return list(self._edits[piece])

    def _edits_of(self, piece: Piece) -> list[Edit]:
        if self._search is None:
            carried = (
                pair
                for pair in self._values
                if pair not in self._is_listed and not self._is_ordinary(*pair)
            )
            self._search = KnownValueSearch(carried)
        text = piece.value
        hits = self._hits[piece]
        occurring = [
            hit
            for hit in self._search.find(text)
            if not (is_in_region(text, hit) or is_in_compound(text, hit))
            and (
                (hit.type, hit.value) in self._is_elsewhere
                or self.spreading.reaches(piece, hit, self._shown_in)
            )
        ]
        if piece in self._fixed:
            occurring = self._in_code_of(piece, occurring)
        known = containing(occurring, hits)
        findings, occurrences = settled(self._findings[piece], known)
        edits = [self._edit(piece, finding) for finding in findings]
        edits += [
            self._in_file(piece, text[hit.start : hit.end], self._occurrence_edit(text, hit))
            for hit in occurrences
        ]
        edits += [self._occurrence_edit(text, hit) for hit in outside(hits, occurrences)]
        edits = [*without_kept(text, edits, self._second)]
        return sorted(edit for edit in edits if edit.new != text[edit.start : edit.end])

    def _shown_in(self, piece: Piece) -> Iterator[Value]:
        for finding in self._findings.get(piece, ()):
            yield finding.type, piece.value[finding.start : finding.end]
        if self._search is not None:
            yield from self.spreading.unmistakable(self._search.find(piece.value))

    def _in_code_of(self, piece: Piece, occurring: Iterable[Occurrence]) -> list[Occurrence]:
        """Known values but for those in code that may be a word of the program."""
        return [
            hit
            for hit in occurring
            if is_distinctive(hit.type, hit.value)
            or (hit.type is EntityType.PERSON and is_han(hit.value) and _is_whole_key(piece, hit))
            or is_own_login(hit.type, hit.value, self.dictionary)
            or not overlapping(self._fixed[piece], hit.start + piece.lead, hit.end + piece.lead)
        ]

    def _edit(self, piece: Piece, finding: Finding) -> Edit:
        value = piece.value[finding.start : finding.end]
        new = self._new(finding.type, value)
        if finding.type is _DATE and self.vault.mode is Mode.SURROGATE:
            new = self._surrogates.in_year(value, self.spreading.year_of(piece, value)) or new
        edit = Edit(
            finding.start, finding.end, new, finding.type, finding.recognizer, finding.score
        )
        return self._in_file(piece, value, edit)

    def _in_file(self, piece: Piece, value: str, edit: Edit) -> Edit:
        if self.vault.mode is not Mode.SURROGATE:
            return edit
        return self._initials.agreeing(piece, value, edit, self._values.keys())

    def _occurrence_edit(self, text: str, occurrence: Occurrence) -> Edit:
        kind, value = occurrence.type, occurrence.value
        is_listed = (kind, value) in self._is_listed
        new = self._new(kind, value)
        if self.vault.mode is Mode.SURROGATE:
            spelling = spelled_as(kind) if is_listed else kind
            new = respelled(spelling, value, new, text[occurrence.start : occurrence.end])
        recognizer = LISTED if is_listed else FROM_VAULT
        return Edit(occurrence.start, occurrence.end, new, kind, recognizer, 1.0)

    def _replace(self, values: Sequence[tuple[EntityType, str]], pieces: Sequence[Piece]) -> None:
        if self.vault.mode is Mode.SURROGATE:
            dates = [
                [piece.value[f.start : f.end] for f in self._findings[piece] if f.type is _DATE]
                for piece in pieces
            ]
            people = [value for kind, value in values if kind is EntityType.PERSON]
            known = self._detector.readings(people) if isinstance(self._detector, Reading) else {}
            self._surrogates.name_keys(labels_that_are_keys(values, self._findings))
            self._surrogates.know_years(
                self.spreading.years(), self.spreading.still_values(pieces, self._findings)
            )
            japanese, chinese = self._in_japanese(pieces), self._in_files_of(pieces, CHINESE)
            japanese |= self._in_files_of(pieces, JAPANESE)
            german = self._in_files_of(pieces, GERMAN)
            called = chain.from_iterable(family_names(p, self._findings[p]) for p in pieces)
            self._surrogates.speak_german(german, german.intersection(called))
            self._surrogates.learn(
                values,
                japanese - chinese,
                dates,
                known,
                chinese,
                self.spreading.values_of_files(pieces, self._findings),
            )
        for kind, value in values:
            new = self._new(kind, value)
            if kind is EntityType.ACCOUNT and value.casefold() in self._identifiers:
                self._in_places.add((kind, value))
            if new != value:
                is_listed = (kind, value) in self._is_listed
                is_ordinary = not is_listed and self._is_ordinary(kind, value)
                self.vault.add(Entry(kind, value, new, is_ordinary, is_listed))

    def _is_ordinary(self, kind: EntityType, value: str) -> bool:
        """Is it a word or an identifier, which elsewhere means something else?"""
        if (kind, value) in self._is_elsewhere:
            return False
        if (kind, value) in self._in_places:
            return True
        if kind is EntityType.ACCOUNT and (_HOST.fullmatch(value) or SITE.fullmatch(value)):
            return False  # its parts may be words (`mail.harbour.com`), the whole is none
        if kind in _LOGINS and is_ordinary_login(value, self.dictionary):
            return True
        if kind in _LOGINS and value.isalpha() and (EntityType.SECRET, value) in self._values:
            return True  # login and password of one word: those that a program comes with
        if (kind, value) in self._forms or value in self._full_names:
            return False
        if not value.isascii() or any(map(str.isdigit, value)):
            return False
        parts = _NAME_PART.findall(value)
        if any(part.title() in GIVEN_NAMES for part in parts):
            return False
        if kind is EntityType.ACCOUNT:
            if len(parts) == 1 or value.isalpha():
                return False
            return all(len(part) < _SHORTEST_REST or self._is_word(part) for part in parts)
        is_named = kind in _NAMED and bool(self.dictionary)
        return is_named and all(in_dictionary(part, self.dictionary) for part in parts)

    def _is_word(self, part: str) -> bool:
        return is_program_word(part) or is_known(part, self.dictionary)

    def _new(self, kind: EntityType, value: str) -> str:
        if self.vault.mode is Mode.SURROGATE:
            new = self._surrogates.of(kind, value)
            return new if (kind, value) in self._is_listed else self._without_listed(new)
        same = (kind, value if kind in COMMON else plain_form(value))
        if same not in self._placeholders:
            self._placeholders[same] = self._placeholder(kind)
        return self._placeholders[same]

    def _without_listed(self, surrogate: str) -> str:
        """The surrogate without listed words that it has kept of its value (a title, a path)."""
        hits = [
            hit for hit in self._listed.find(surrogate) if (hit.type, hit.value) in self._values
        ]
        return applied(surrogate, [self._occurrence_edit(surrogate, hit) for hit in hits])[0]

    def _placeholder(self, kind: EntityType) -> str:
        while True:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            placeholder = f"<{kind.value}_{number}>"
            if placeholder not in self._native:
                return placeholder


def _values_of(piece: Piece, findings: Iterable[Finding]) -> set[tuple[EntityType, str]]:
    return {(finding.type, piece.value[finding.start : finding.end]) for finding in findings}


def _occurring(
    forms: Iterable[tuple[EntityType, str]], texts: Sequence[str], vocabulary: ScopeVocabulary
) -> set[tuple[EntityType, str]]:
    possible = [(kind, form) for kind, form in forms if vocabulary.may_contain(form)]
    whole = "\0".join(texts) if possible else ""  # no name holds this character
    return {(kind, form) for kind, form in possible if form in whole}


def _is_whole_key(piece: Piece, hit: Occurrence) -> bool:
    """Is the hit a key or a name as a whole? No word of a program is in Han characters alone."""
    before, after = piece.value[: hit.start][-1:], piece.value[hit.end : hit.end + 1]
    return not (before.isalnum() or after.isalnum() or "_" in (before, after))
