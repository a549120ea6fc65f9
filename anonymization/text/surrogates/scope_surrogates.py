"""Surrogates of one scope: equal values get equal surrogates, two values never share one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType

from anonymization.text.contracts import (
    NOTHING_SEEN,
    EntityType,
    NameReading,
    SecondLook,
    kinds,
    trimmed,
)
from anonymization.text.surrogates.assignment import (
    STAGE,
    ScopeVocabulary,
    SurrogateTable,
    cased_like,
    keeps_encodings,
    lexicon,
    pick,
    plain_spellings,
    same_shape,
)
from anonymization.text.surrogates.dates import Shift
from anonymization.text.surrogates.identifiers import (
    amount,
    bank_account,
    bank_card,
    coded,
    company_code,
    last_digits,
    learn_series,
    national_id,
    numbered,
    phone,
    secret,
    shared_leads,
)
from anonymization.text.surrogates.japanese_names import (
    is_firm,
    is_japanese_name,
    is_written_in_japan,
)
from anonymization.text.surrogates.links import follow, names_in_logins
from anonymization.text.surrogates.names import (
    has_legal_form,
    is_called_by_family,
    is_chinese_house,
    is_chinese_organization,
    organization,
    part_of_person,
    person,
)
from anonymization.text.surrogates.net import account, email, ip_address, unexplained
from anonymization.text.surrogates.places import (
    address,
    ends_as_place,
    is_known_code,
    is_well_known,
    location,
)
from anonymization.text.surrogates.readings import learn_pinyin, learn_reading
from anonymization.text.surrogates.urls import says_nothing, url
from data.randomness import keyed_generator, keyed_hash
from data.text.folding import alnum_form, plain_form
from data.text.scripts import WORD_OUTSIDE_CJK, has_han, is_han

Make = Callable[[SurrogateTable, str, str], str]

_MAKERS: Mapping[EntityType, Make] = {
    EntityType.PERSON: person,
    EntityType.ORGANIZATION: organization,
    EntityType.LOCATION: location,
    EntityType.ADDRESS: address,
    EntityType.EMAIL: email,
    EntityType.PHONE: phone,
    EntityType.URL: url,
    EntityType.IP_ADDRESS: ip_address,
    EntityType.BANK_CARD: bank_card,
    EntityType.BANK_ACCOUNT: bank_account,
    EntityType.NATIONAL_ID: national_id,
    EntityType.COMPANY_CODE: company_code,
    EntityType.PASSPORT: coded,
    EntityType.PLATE: coded,
    EntityType.ACCOUNT: account,
    EntityType.CASE_NUMBER: numbered,
    EntityType.PERSON_NUMBER: numbered,
    EntityType.USER_PATH: account,
    EntityType.SECRET: secret,
    EntityType.QUANTITY: amount,
    EntityType.UNEXPLAINED: unexplained,
}
_NUMBERED = kinds("PHONE BANK_CARD BANK_ACCOUNT NATIONAL_ID COMPANY_CODE")
# Small values recur by nature: that one occurs in a text reveals nothing.
COMMON = kinds("DATE AGE NATIONALITY TITLE QUANTITY")
_ORDER = (EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION)
_NAMES_FIRST = (*_ORDER, EntityType.UNEXPLAINED)
# A login, or a word that nothing explains, may be a part of somebody's name.
_NAMING = frozenset({*_ORDER, EntityType.ACCOUNT, EntityType.UNEXPLAINED})
_SERIAL = kinds("PERSON_NUMBER CASE_NUMBER")
_HELD = frozenset({EntityType.PERSON, EntityType.UNEXPLAINED})  # under a label of customers, say
_PLACES = kinds("LOCATION ADDRESS")
_ENDING = kinds("BANK_CARD BANK_ACCOUNT PHONE")
_NUMBER_BY_PLACE = _SERIAL | kinds("ACCOUNT BANK_ACCOUNT UNEXPLAINED")
# With a country or area code, or a mobile number in China: a label may take it for another.
_PHONE = re.compile(r"\+\d{1,3}[ \d()./-]{6,18}\d|\(\d{3}\) ?\d{3}-\d{4}|1[3-9]\d{9}")
_LOGIN = re.compile(r"[a-z]{2,20}(?:[._-][a-z]{1,20}){0,3}")  # that a label takes for a number
_FRESH_ATTEMPTS, _ATTEMPTS = 12, 24
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MAIL = re.compile(r"[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,24}")
_LONE_WORD = re.compile(r"[^\W\d_]{2,}")
_SHORTEST_FULL, _LONGEST_FULL = 2, 4  # characters of a Chinese name


class Surrogates:
    """Fake values for one scope. `vocabulary` holds the words of its texts.

    With another scope or key everything differs. Values passed to `learn` together get the same
    surrogates in any order. Addresses go on showing `open_names`, in folded case, but none
    that is part of another private value. Of some values a part stays, and some are one person,
    firm or host, as a model has said at its `second` look.
    """

    def __init__(
        self,
        key: bytes,
        scope: str,
        vocabulary: ScopeVocabulary,
        open_names: frozenset[str] = frozenset(),
        second: SecondLook = NOTHING_SEEN,
    ) -> None:
        self._key = keyed_hash(key, STAGE, scope)
        self._vocabulary = vocabulary
        self._table = SurrogateTable(self._key, vocabulary, open_names)
        self._shift = Shift(keyed_generator(self._key, f"{STAGE}.dates", ""))
        self._made: dict[tuple[EntityType, str], str] = {}
        self._by_value: dict[str, str] = {}  # one surrogate, whatever kinds a value was taken for
        self._owners: dict[str, tuple[EntityType, str]] = {}
        self._second = second
        # Of a group only one has a surrogate of its own.
        self._group_of = {
            plain_form(value): number
            for number, group in enumerate(second.same)
            for _, value in group
        }

    def name_keys(self, labels: frozenset[str]) -> None:
        """Labels of machines that texts go on saying as keys."""
        self._table.keys |= labels

    def know_years(self, years: frozenset[str], still: Iterable[str]) -> None:
        """The years of all dates, and the values in files whose dates stay."""
        self._table.years |= years
        self._table.still = self._table.still.union(still)

    def speak_german(self, values: Iterable[str], called: Iterable[str]) -> None:
        """The words of these values become German ones: they stand in German files alone. People
        are `called` by those that are family names."""
        self._table.called = self._table.called.union(map(str.casefold, called))
        words = (word.casefold() for value in values for word in WORD_OUTSIDE_CJK.findall(value))
        self._table.german = self._table.german.union(words)

    def learn(
        self,
        values: Iterable[tuple[EntityType, str]],
        japanese: frozenset[str] = frozenset(),
        dates: Iterable[Sequence[str]] = (),
        readings: Mapping[str, NameReading] = MappingProxyType({}),
        chinese: frozenset[str] = frozenset(),
        files: Iterable[Set[tuple[EntityType, str]]] = (),
    ) -> None:
        """Give surrogates to new values: names first, full names before parts of them.

        Those in `japanese` stand in Japanese texts, those in `chinese` in Chinese files; `dates`
        are those of each text, `files` the values of each file; `readings` are those of people with
        Japanese names.
        """
        self._table.chinese |= chinese - japanese
        readings = {n: read for n, read in readings.items() if n not in self._table.chinese}
        self._table.japanese |= japanese | {name for name, read in readings.items() if read.is_sure}
        values = set(values)
        self._read_years(values, dates)
        self._table.days = self._shift.days
        self._table.moved_years |= {
            year for kind, day in values if kind is EntityType.DATE for year in _YEAR.findall(day)
        }
        self._table.withdraw(
            word.casefold()
            for kind, value in values
            if kind is not EntityType.EMAIL
            for word in WORD_OUTSIDE_CJK.findall(value)
        )
        mails = (value for kind, value in values if kind is EntityType.EMAIL)
        self._table.domains.update(mail.rpartition("@")[2].casefold() for mail in mails)
        self._read_numbers(values)
        self._table.families |= {name: (read.family,) for name, read in readings.items()}
        self._join(values)
        self._read(readings)
        self._read_people(values, files)
        self._read_chinese(sorted(values, key=_rank))
        for kind, value in sorted(values, key=_rank):
            self.of(kind, value)

    def _join(self, values: set[tuple[EntityType, str]]) -> None:
        """Let what is one person, firm or host follow the first of its forms."""
        known = {value for _, value in values}
        for leader, *others in self._second.same:
            if known.isdisjoint(value for _, value in (leader, *others)):
                continue
            exact = follow(self._table, leader[1], self.of(*leader), others)
            for value, new in exact.items():
                self._by_value.setdefault(value, new)

    def _read_numbers(self, values: Iterable[tuple[EntityType, str]]) -> None:
        """Learn which networks and numbers belong together."""
        values = list(values)
        addresses = (value for kind, value in values if kind is EntityType.IP_ADDRESS)
        self._table.networks.plan(value.partition("/")[0].strip("[]") for value in addresses)
        numbers = {value for kind, value in values if kind in _NUMBER_BY_PLACE}
        self._table.leads = shared_leads(sorted(numbers)) | self._table.leads
        learn_series(self._table, sorted(numbers))

    def _read_people(
        self, values: set[tuple[EntityType, str]], files: Iterable[Set[tuple[EntityType, str]]]
    ) -> None:
        """Learn the words of people's names, and add the names that logins of each file say."""
        people = [value for kind, value in values if kind is EntityType.PERSON]
        words = (word.casefold() for name in people for word in WORD_OUTSIDE_CJK.findall(name))
        self._table.people = self._table.people.union(words)
        for shown in [each & values for each in files] or [set(values)]:
            values |= {(EntityType.PERSON, name) for name in names_in_logins(shown)}

    def _read(self, readings: Mapping[str, NameReading]) -> None:
        """Give surrogates to these people first, so that the readings of their names can agree."""
        for name in sorted(readings, key=lambda name: (-len(name), name)):
            self.of(EntityType.PERSON, name)
            learn_reading(self._table, readings[name])

    def _read_years(
        self, values: Iterable[tuple[EntityType, str]], dates: Iterable[Sequence[str]]
    ) -> None:
        """Learn the forms and the usual year of new dates."""
        for value in sorted(value for kind, value in values if kind is EntityType.DATE):
            self._shift.watch(value)
        self._shift.settle()
        years = _years_beside(dates) or Counter(
            year
            for kind, value in values
            if kind is EntityType.DATE
            for year in _YEAR.findall(value)
        )
        if years:
            self._shift.year = int(min(years, key=lambda year: (-years[year], year)))

    def _read_chinese(self, values: Iterable[tuple[EntityType, str]]) -> None:
        """Give surrogates to people with Chinese names, so that their addresses can agree."""
        for name in (value for kind, value in values if kind is EntityType.PERSON):
            if self._maker(EntityType.PERSON, name) is not person:
                continue
            new = self.of(EntityType.PERSON, name)  # whole names before the parts of them
            is_full = is_han(name) and _SHORTEST_FULL <= len(name) <= _LONGEST_FULL
            is_chinese = name in self._table.chinese or not is_japanese_name(name)
            if is_full and is_chinese and name not in self._table.japanese:
                learn_pinyin(self._table, name, new)

    def of(self, kind: EntityType, value: str) -> str:
        """The surrogate; equal to the value only if the value identifies nobody (a title)."""
        known = self._made.get((kind, value))
        if known is None:
            known = self._made[kind, value] = self._draw(kind, value)
            if kind not in COMMON:
                self._by_value.setdefault(value, known)
        return known

    def in_year(self, date: str, year: int | None) -> str:
        """The surrogate of a day without a year, in this one; nothing without one."""
        if year is None:
            return ""
        usual, self._shift.year = self._shift.year, year
        new = self._common(EntityType.DATE, date)
        self._shift.year = usual
        return new

    def _draw(self, kind: EntityType, value: str) -> str:
        if kind in COMMON and kind is not EntityType.QUANTITY:
            return self._common(kind, value)
        owner = (kind, alnum_form(value) if kind in _NUMBERED else plain_form(value))
        if kind in _PLACES and is_well_known(value):
            return value
        if kind is EntityType.URL and says_nothing(value):
            return value
        if value in self._by_value:
            return self._by_value[value]
        if value in self._second.parts:
            return self._owned(self._around_parts(kind, value), owner)
        if kind in _ENDING and (ended := last_digits(self._table, value)):
            return ended
        make = self._maker(kind, value)
        if make is person:
            owner = (EntityType.PERSON, plain_form(value))
        for attempt in range(_ATTEMPTS):
            new = make(self._table, value, f"#{attempt}" if attempt else "")
            fresh = attempt < _FRESH_ATTEMPTS and kind is not EntityType.IP_ADDRESS
            fresh = fresh and not (make is person and is_called_by_family(self._table, value))
            if self._fits(new, value, owner, fresh=fresh):
                return self._owned(new, owner)
        return self._owned(self._last_resort(kind, value, owner), owner)

    def _around_parts(self, kind: EntityType, value: str) -> str:
        """The surrogate of a value of which parts stay."""
        pattern = "|".join(map(re.escape, sorted(self._second.parts[value], key=len)[::-1]))
        made: list[str] = []
        done = 0
        for match in [*re.finditer(pattern, value), None]:
            end = match.start() if match else len(value)
            start, stop = trimmed(value, done, end)
            new = self.of(kind, value[start:stop]) if start < stop else ""
            made += [value[done:start], new, value[stop:end], match.group() if match else ""]
            done = match.end() if match else end
        return "".join(made)

    def _maker(self, kind: EntityType, value: str) -> Make:
        """What draws the surrogate: by the kind of a value, unless its form says another."""
        if kind in _NAMING and _LONE_WORD.fullmatch(value) and part_of_person(self._table, value):
            return person
        if kind in _HELD and _MAIL.fullmatch(value):
            return email
        if kind in _HELD and (
            is_chinese_organization(value) or has_legal_form(value) or is_firm(value)
        ):
            return organization
        first, _, rest = value.partition(" ")
        if kind in _HELD and rest and first.casefold() in lexicon().trade_words:  # Hotel Pembury
            return organization
        if kind is EntityType.LOCATION and (is_firm(value) or is_chinese_house(value)):
            return organization
        if kind is EntityType.UNEXPLAINED and ends_as_place(value):
            return location
        if kind is EntityType.UNEXPLAINED and is_known_code(self._table, value):
            return address
        if kind in _SERIAL and _LOGIN.fullmatch(value):
            return account
        if kind in _NUMBER_BY_PLACE and _PHONE.fullmatch(value):
            return phone
        return _MAKERS[kind]

    def _fits(self, new: str, value: str, owner: tuple[EntityType, str], *, fresh: bool) -> bool:
        if new == value or plain_form(new) == owner[1] or not keeps_encodings(value, new):
            return False
        known = self._owners.get(new.casefold(), owner)
        if known != owner and not self._is_one(known[1], owner[1]):
            return False
        return not (fresh and self._vocabulary.may_contain(new))

    def _is_one(self, first: str, second: str) -> bool:
        group = self._group_of.get(first)
        is_joined = group is not None and group == self._group_of.get(second)
        return is_joined or _is_one_name(first, second)

    def _owned(self, new: str, owner: tuple[EntityType, str]) -> str:
        self._owners[new.casefold()] = owner
        return new

    def _last_resort(self, kind: EntityType, value: str, owner: tuple[EntityType, str]) -> str:
        """Random characters in the value's shape, longer with each round, until one is free."""
        rng = self._table.generator(f"last.{kind}", value)
        for attempt in range(_ATTEMPTS * _ATTEMPTS):
            new = same_shape(value + "x" * (attempt // _ATTEMPTS), rng)
            if self._fits(new, value, owner, fresh=False):
                return new
        return f"{kind.value.lower()}-{rng.integers(1 << 60)}"

    def _common(self, kind: EntityType, value: str) -> str:
        rng = self._table.generator(kind.value, value)
        if kind is EntityType.DATE:
            return self._shift.date(value, rng)
        if kind is EntityType.AGE:
            return self._shift.number(value)
        if kind is EntityType.NATIONALITY:
            return _nationality(self._table, value)
        return value


def _is_one_name(first: str, second: str) -> bool:
    """Is it one value, as a name and as a login, or with and without its accents?"""
    return first == second or first in plain_spellings(second) or second in plain_spellings(first)


def _years_beside(dates: Iterable[Sequence[str]]) -> Counter[str]:
    """The years in texts that also have days without one."""
    years: Counter[str] = Counter()
    for written in dates:
        by_date = [_YEAR.findall(value) for value in written]
        if not all(by_date):
            years.update(year for each in by_date for year in each)
    return years


def _rank(item: tuple[EntityType, str]) -> tuple[int, int, str, str]:
    kind, value = item
    position = _NAMES_FIRST.index(kind) if kind in _NAMES_FIRST else len(_NAMES_FIRST)
    is_chinese = has_han(value) and not is_written_in_japan(value)
    is_eastern = kind is EntityType.ORGANIZATION and is_chinese
    if kind in _NAMES_FIRST and (is_eastern or is_chinese_organization(value)):
        # short names are parts of full ones
        return _ORDER.index(EntityType.ORGANIZATION), len(value), kind.value, value
    if kind is EntityType.UNEXPLAINED and value.isdecimal():  # it may be the code of a town
        position = len(_NAMES_FIRST) + 1
    if kind in _HELD and has_legal_form(value):  # a firm may be called after a person
        position = _ORDER.index(EntityType.ORGANIZATION)
    # A telephone number that a label also takes for somebody's number keeps the form of the former.
    return position, -len(value), "" if kind is EntityType.PHONE else kind.value, value


def _nationality(table: SurrogateTable, value: str) -> str:
    words = lexicon()
    han = has_han(value)
    choices = words.nationalities_zh if han else words.nationalities
    end = "人" if han and value.endswith("人") else ""
    word = table.token(
        "nationality", plain_form(value), lambda rng, _: pick(rng, choices), fresh=False
    )
    return cased_like(word, value) + end
