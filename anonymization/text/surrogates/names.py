"""Names of people and organisations, replaced so that their parts agree.

A person has one surrogate per given and per family name. Organisations get invented stems;
legal forms, trades, regions and separators stay. Japanese names are in `japanese_names.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice, product

from numpy.random import Generator

from anonymization.text.surrogates.assignment import (
    LETTERS,
    LONGER_FROM,
    STEM,
    Draw,
    SurrogateTable,
    cased_like,
    given_name,
    lexicon,
    pick,
    plain_spellings,
    stem,
)
from anonymization.text.surrogates.japanese_names import (
    JA_FAMILY,
    is_japanese_name,
    japanese_organization,
    japanese_person,
    knows_japanese_firm,
    knows_japanese_part,
)
from anonymization.text.surrogates.places import chinese_place, short_code, stands_in_japanese
from data.text.lexicon import load_table
from data.text.scripts import HAN, has_han, has_kana

_DETECTION = "anonymization.text.detect"  # whose lists say what a word is
GIVEN, FAMILY = "given", "family"
_ZH_GIVEN, _ZH_FAMILY, _ZH_FOREIGN, _INITIAL = "zh.given", "zh.family", "zh.foreign", "initial"
_ALPHABET = "ABCDEFGHJKLMNPRSTVW"
_HAN_RUN = re.compile(rf"[{HAN}]+")
_TURNED = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)?(?=, [^\W\d_])")
_COMPOSED_FROM = 12
_AMONG_FRIENDS = frozenset("哥姐叔姨")  # said behind a given name
_LONG_NAME, _LONGEST_PERSON, _LONGEST_INITIALS = 4, 6, 3


def person(table: SurrogateTable, value: str, salt: str) -> str:
    """A name of the same form: initials, titles, order, letter case and separators stay."""
    is_japanese = is_japanese_name(value) or knows_japanese_part(table, value)
    if stands_in_japanese(table, value) or (is_japanese and value not in table.chinese):
        return japanese_person(table, value, salt)
    if has_han(value):
        return _HAN_RUN.sub(lambda run: chinese_name(table, run.group(), "·" in value, salt), value)
    if is_initials(value) or (value.islower() and value.isalpha() and len(value) < _LONG_NAME):
        return _initials(table, value, salt)
    words = [match for match in LETTERS.finditer(value) if _is_name(match.group())]
    if len(words) > 1 and words[0].group().casefold() in lexicon().epithets:  # Big Stu, Aunt May
        words = words[1:]
    names = [match.group() for match in words]
    turned = _TURNED.match(value)  # Smith, John: the family name comes first
    is_turned = turned is not None or _is_turned(table, names)
    parts, done, last = [], 0, len(words) - 1
    while last > 1 and value[words[last].start() - 1] == "-":  # Blackwood-Nash, and not Mei-Lin
        last -= 1
    is_double = len(words) > 1 and all(value[word.start() - 1] == "-" for word in words[1:])
    if is_double and last == 1 and table.knows(GIVEN, names[0].casefold()):  # Mei-Lin alone
        last = len(words)
    for number, match in enumerate(words):
        is_family = number == 0 if is_turned else 0 < number >= last
        is_family = match.end() <= turned.end() if turned else is_family
        word = match.group()
        new = initial(table, word.casefold(), names) if len(word) == 1 else ""
        if len(names) == 1 and not salt:
            _learn_nickname(table, word)
        new = cased_like(new, word) if new else _word(table, word, is_family, salt)
        parts += [value[done : match.start()], new]
        done = match.end()
    if len(names) > 1 and not salt:
        _learn_person(table, value, names, "".join(parts), parts[1::2], is_turned)
    return "".join(parts) + value[done:]


def _learn_person(
    table: SurrogateTable,
    value: str,
    names: list[str],
    new: str,
    made: list[str],
    is_turned: bool,
) -> None:
    """Let initials, logins and short forms of a person become those of the surrogate."""
    if len(names) == 2 and len(names[0]) == 1:  # S. Venkat, svenkat@
        table.given_of[names[1].casefold()].setdefault(names[0].casefold(), made[0])
    full = _full_family(table, names[-1].casefold()) if len(names) == 2 else ""
    if full:  # Noah Pf.: N. Pfaffenzeller
        table.given_of[full].setdefault(names[0].casefold(), made[0])
    if min(len(names[0]), len(names[-1])) > 1:
        first = 1 if is_turned else 0
        _introduce(table, names[first:] + names[:first], made[first:] + made[:first])
        table.initials.setdefault(_first_letters(value), _first_letters(new))
        table.initials.setdefault("".join(n[0] for n in names), "".join(n[0] for n in made))


_INITIALS = re.compile(r"[A-Z](?:[A-Z]|[a-z](?=[A-Z])){1,3}")
_SHORTEST_NICKNAME = 3  # letters
_FEWEST_WORDS = 2


def _letters_of(names: Sequence[str]) -> str:
    return "".join(name[0] for name in names).casefold()


def _first_letters(name: str) -> str:
    return "".join(word[0] for word in LETTERS.findall(name))


def initials_of(name: str) -> list[str]:
    """The first letters of a person's name, of all its words and of the first and the last."""
    words = [word for word in LETTERS.findall(name) if _is_name(word) and not has_han(word)]
    if len(words) < _FEWEST_WORDS:
        return []
    return [_letters_of(words).upper(), _letters_of([words[0], words[-1]]).upper()]


def is_initials(value: str) -> bool:
    """Is it how minutes and tables say somebody: two to four letters, `DO`, `SdV`?"""
    return _INITIALS.fullmatch(value) is not None


def _initials(table: SurrogateTable, value: str, salt: str) -> str:
    """Those of the surrogate of somebody with such initials; else as many other letters."""
    known = table.initials.get(value) or table.initials.get(value.upper(), "")
    if known and not salt:
        return cased_like(known, value)
    if value.islower() and part_of_person(table, value):
        return _word(table, value, False, salt)
    draw: Draw = lambda rng, _: "".join(pick(rng, _ALPHABET) for _ in value)  # noqa: E731
    return cased_like(table.token("initials", value, draw, salt), value)


def _learn_nickname(table: SurrogateTable, value: str) -> None:
    """Let the first letters of a given name that is known, as a name of their own (Stu of Stuart),
    become the first letters of its surrogate."""
    folded = value.casefold()
    if len(value) < _SHORTEST_NICKNAME or not value.istitle() or part_of_person(table, value):
        return
    longer = {
        new
        for given, new in table.tokens(GIVEN).items()
        if given.startswith(folded) and len(new) > _SHORTEST_NICKNAME
    }
    if len(longer) == 1:
        new = longer.pop()
        short = (new[:size] for size in range(min(len(value), len(new) - 1), len(new)))
        table.agree(GIVEN, folded, next((each for each in short if not table.says(each)), new))


def _introduce(table: SurrogateTable, names: Sequence[str], made: Sequence[str]) -> None:
    """Let logins of a person become those of the surrogate: of the whole name, of each part of a
    double name, and as addresses spell them."""
    pairs: list[tuple[Sequence[str], Sequence[str]]] = [(names, made)]
    pairs += [((names[0], family), (made[0], new)) for family, new in zip(names[1:], made[1:])]  # noqa: B905
    if len(names) > 2 and len(names) == len(made):  # Mbeki-Lowe, in an address mbekilowe
        pairs.append(((names[0], "".join(names[1:])), (made[0], "".join(made[1:]))))
        firsts = (_letters_of(names[1:]), _letters_of(made[1:]))
        table.parts.setdefault((names[0].casefold(), firsts[0]), (made[0], firsts[1]))
    for old, new in pairs:
        table.introduce(old, new)
        plain = [plain_spellings(word) or (word,) for word in old]
        for spelled in product(*plain) if any(not word.isascii() for word in old) else ():
            table.introduce(spelled, new)


def _is_turned(table: SurrogateTable, names: Sequence[str]) -> bool:
    """Does a family name that is known come before a given name that is known?"""
    if len(names) != 2:
        return False
    given, family = ({*map(str.casefold, table.tokens(space))} for space in (GIVEN, FAMILY))
    first, last = map(str.casefold, names)
    return first in family - given and last in given - family


@cache
def own_names() -> frozenset[str]:
    """What people are called, in small letters."""
    known = load_table(_DETECTION, "data", "known_words.toml")["names_too"]
    given = load_table(_DETECTION, "data", "names.toml")["given"]
    pools = (lexicon().de_women, lexicon().de_men)
    return frozenset(f"{given} {known} {' '.join(map(' '.join, pools))}".casefold().split())


def part_of_person(table: SurrogateTable, value: str) -> bool:
    """Is the value a word that is part of a name known already?"""
    folded = value.casefold()
    known = (FAMILY, GIVEN, JA_FAMILY, _ZH_GIVEN)
    return any(table.knows(space, folded) for space in known)


@cache
def called() -> frozenset[str]:
    """What people are called beside their names: titles and offices."""
    words = lexicon()
    return words.person_words.union(words.person_titles_zh, words.ja_titles, _roles())


def _is_name(word: str) -> bool:
    if word == "v":  # v. Rabenhorst
        return False
    return word.casefold() not in lexicon().person_words or (len(word) == 1 and word.isupper())


def _word(table: SurrogateTable, word: str, is_last: bool, salt: str) -> str:
    folded = word.casefold()
    if len(word) == 1:
        return cased_like(initial(table, folded), word)
    if word.islower() and len(word) > _LONGEST_INITIALS and not salt and folded in table.logins:
        return table.logins[folded]
    base = folded[:-1]
    if folded.endswith("s") and len(base) > 1 and base in table.people:  # Huys Vater
        new = _word(table, word[:-1], is_last, salt)
        return new if new.casefold().endswith("s") else new + word[-1]
    if not salt and (short := _short_of_known(table, folded, is_last)):
        return cased_like(short, word)
    family = table.knows(FAMILY, folded) and not table.knows(GIVEN, folded)
    is_called = folded in table.called and not table.knows(GIVEN, folded)  # Frau Abdelrahman
    is_family = is_last or family or is_called
    space, draw = (FAMILY, stem) if is_family else (GIVEN, given_name)
    new = table.token(space, folded, draw, salt)
    for spelled in plain_spellings(word):
        table.agree(space, spelled, new)
    return cased_like(new, word)


def _short_of_known(table: SurrogateTable, word: str, is_last: bool) -> str:
    """What the beginning of a known family name (Noah Pf.) becomes; nothing for other words."""
    if any(table.knows(space, word) for space in (GIVEN, FAMILY)):
        return ""
    full = _full_family(table, word) if is_last else ""
    return table.tokens(FAMILY)[full][: len(word)] if full else ""


def _full_family(table: SurrogateTable, word: str) -> str:
    """The one known family name that two or three letters begin."""
    longer = [name for name in table.tokens(FAMILY) if name.startswith(word) and name != word]
    is_short = 1 < len(word) <= _SHORTEST_NICKNAME
    return longer[0] if is_short and len(longer) == 1 else ""


def initial(table: SurrogateTable, letter: str, beside: Iterable[str] = ()) -> str:
    """The initial of the surrogate of a known given name with this initial, else a random one; of
    one with a family name beside it, if there is any."""
    words = [word.casefold() for word in beside]
    for family in words:
        for given, new in sorted(table.given_of.get(family, {}).items()):
            if given.startswith(letter):
                return new[0]
    families = table.tokens(FAMILY)
    for family, known in sorted(table.given_of.items()):  # Will S., Consolata W. Price
        if family.startswith(letter) and family in families and not known.keys().isdisjoint(words):
            return families[family][0]
    for token, new in sorted(table.tokens(GIVEN).items()):
        if token.startswith(letter):
            return new[0]
    return table.token(_INITIAL, letter, lambda rng, _: pick(rng, _ALPHABET), fresh=False)


def chinese_name(table: SurrogateTable, name: str, foreign: bool, salt: str) -> str:
    """A Chinese name of the same length; a foreign one is not split."""
    words = lexicon()
    is_house = name[1:] == "家" and table.knows(_ZH_FAMILY, name[0])
    if name[1:] in _roles() or is_house:
        return _zh_family(table, name[0], salt) + name[1:]
    end = next((t for t in words.person_titles_zh if name.endswith(t) and name != t), "")
    core = name[: len(name) - len(end)]
    is_given = table.knows(_ZH_GIVEN, core) and not table.knows(_ZH_FAMILY, core)
    is_lead = core[0] in words.person_lead_zh and len(core) == 2
    if is_lead and (new := _end_of_given(table, core[1])):  # 小雪, of 欧阳雪
        return core[0] + new + end
    if is_given and (len(core) == 2 or end in _AMONG_FRIENDS):  # 昊哥, of a known person
        return table.token(_ZH_GIVEN, core, _zh_given(len(core))) + end
    if is_lead:
        return core[0] + _zh_family(table, core[1], salt) + end
    if foreign or len(core) > _LONG_NAME:
        return table.token(_ZH_FOREIGN, core, _zh_given(len(core)), salt) + end
    family, given = chinese_parts(core)
    if not given:
        return _zh_family(table, family, salt) + end
    new = table.token(_ZH_GIVEN, given, _zh_given(len(given)), salt, fresh=len(given) > 1)
    return _zh_family(table, family, "") + new + end


def _end_of_given(table: SurrogateTable, char: str) -> str:
    """What the last character of a known given name becomes, if it is no family's name."""
    if table.knows(_ZH_FAMILY, char):
        return ""
    ends = {new[-1] for given, new in table.tokens(_ZH_GIVEN).items() if given[-1:] == char}
    return ends.pop() if len(ends) == 1 else ""


def is_called_by_family(table: SurrogateTable, value: str) -> bool:
    """Is it a known Chinese family name with what people are called behind or before it: 姬总?"""
    words = lexicon()
    end = next((t for t in words.person_titles_zh if value.endswith(t) and value != t), "")
    is_lead = value[:1] in words.person_lead_zh
    core = value[1:] if is_lead else value[: len(value) - len(end)]
    return bool(end or is_lead) and table.knows(_ZH_FAMILY, core)


def chinese_parts(name: str) -> tuple[str, str]:
    """The family and the given name of a Chinese name."""
    size = 2 if name[:2] in lexicon().zh_double and len(name) > 1 else 1
    return name[:size], name[size:]


@cache
def _roles() -> frozenset[str]:
    """What somebody is called behind the family name: 王员工."""
    return frozenset(load_table(_DETECTION, "data", "names.toml")["chinese_roles"].split())


def _zh_family(table: SurrogateTable, family: str, salt: str) -> str:
    choices = lexicon().zh_double if len(family) > 1 else lexicon().zh_families
    return table.token(
        _ZH_FAMILY, family, lambda rng, _: pick(rng, choices), salt, fresh=len(family) > 1
    )


def _zh_given(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        more = attempt // (3 * _COMPOSED_FROM)
        return "".join(pick(rng, lexicon().zh_given) for _ in range(size + more))

    return draw


_ZH_STEM = "zh.company"
_JAPANESE_FORM = re.compile(r"会社|法人|㈱|㈲|[(（][株有][)）]")

_APOSTROPHES = ("'", "’")
# In brackets: where a firm of a group is.
_IN_BRACKETS = re.compile(r"\( ?([^\W\d_]{2,20}) ?\)")
_LEGAL_FORMS = frozenset(
    {"Inc", "LLC", "Ltd", "Limited", "Corp", "Corporation", "GmbH", "AG", "PLC", "plc", "LLP"}
)


_NOT_OWN = frozenset(map(str.casefold, _LEGAL_FORMS)) | {"the", "of", "and", "for", "de", "la"}


def organization(table: SurrogateTable, value: str, salt: str) -> str:
    """A name of the same form; each word of a stem has one surrogate, so that short names agree."""
    is_japanese = stands_in_japanese(table, value) or knows_japanese_firm(table, value)
    if has_kana(value) or _JAPANESE_FORM.search(value) or (is_japanese and "公司" not in value):
        return japanese_organization(table, value, salt)
    if has_han(value):
        value = _HAN_RUN.sub(lambda run: _chinese_organization(table, run.group(), salt), value)
    keep = lexicon().company_words | lexicon().trade_words
    places = {place.casefold() for place in _IN_BRACKETS.findall(value)} & lexicon().firm_countries
    words = [word.casefold() for word in LETTERS.findall(value) if not has_han(word)]
    keep |= places
    trades = {word for word in words[1:] if _is_trade(word)} | (
        lexicon().person_words & {"dr", "prof"}
    )
    if keep.issuperset(words):  # `Comprehensive Testing Inc.`: its first word is its own
        keep -= frozenset(islice((w for w in words if w not in _NOT_OWN and w not in places), 1))

    form = _DOTTED_FORM.search(value)
    value, form_of = (value[: form.start()], form.group()) if form else (value, "")

    def change(match: re.Match[str]) -> str:
        word, folded = match.group(), match.group().casefold()
        is_genitive = folded == "s" and value[match.start() - 1 : match.start()] in _APOSTROPHES
        if folded in keep or has_han(word) or is_genitive or folded in trades:
            return word
        if word.isupper() and len(word) < _LONG_NAME:  # initials
            return short_code(table, word, salt)
        known = (table.tokens(space).get(folded) for space in (FAMILY, GIVEN))
        new = next(filter(None, known), "") or _own_word(table, folded, salt)
        return cased_like(new, word)

    return LETTERS.sub(change, value) + form_of


def _own_word(table: SurrogateTable, word: str, salt: str) -> str:
    """The surrogate of a word of a firm's name; of joined words, as tags and logins have them
    (quarriehill), those of the words."""
    known = table.tokens(STEM)
    for size in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        if word not in known and word[:size] in known and word[size:] in known:
            table.agree(STEM, word, known[word[:size]] + known[word[size:]].casefold())
    return table.token(STEM, word, stem, salt)


_SHORTEST_PART = 4  # letters
# S.r.l., s.r.o., B.V., e. K.: initials stand before a name, legal forms behind it.
_DOTTED_FORM = re.compile(r"(?<=[^\W_]) (?:[A-Za-z]{1,2}\. ?){2,4}\Z")
_OF_TRADE = (
    "technik",
    "bau",
    "handel",
    "werke",
    "dienst",
    "dienste",
    "verband",
    "service",
    "systeme",
)
_SHORTEST_TRADE = 4  # letters before such an end: Steuerungstechnik, no family's name


def _is_trade(word: str) -> bool:
    """Is it a German compound that says a trade?"""
    return any(word.endswith(end) and len(word) >= len(end) + _SHORTEST_TRADE for end in _OF_TRADE)


def is_chinese_organization(value: str) -> bool:
    """Does a name in Han characters end as those of firms do, or is it too long for a person?"""
    words = lexicon()
    if not _HAN_RUN.fullmatch(value) or len(value) < _LONG_NAME or _JAPANESE_FORM.search(value):
        return False
    is_ended = bool(_end(value, words.company_ends_zh) or _end(value, words.company_lines_zh))
    return is_ended or len(value) > _LONGEST_PERSON


def is_chinese_house(value: str) -> bool:
    """Is it a name in Han characters that ends in a kind of house or office (派出所, 店)?"""
    return _HAN_RUN.fullmatch(value) is not None and bool(_end(value, lexicon().company_ends_zh))


def has_legal_form(value: str) -> bool:
    """Does a Latin name of several words end in a legal form or a kind of firm (`Ltd`, `Foods`)?"""
    first, _, last = value.strip(" .").rpartition(" ")
    is_kind = last.casefold() in lexicon().company_words and last[:1].isupper()
    return bool(first) and (last in _LEGAL_FORMS or is_kind)


def _chinese_organization(table: SurrogateTable, name: str, salt: str) -> str:
    words = lexicon()
    lead = next((r for r in words.regions_zh if name.startswith(r) and name != r), "")
    town = "" if lead else _town(name)
    rest = name[len(lead or town) :]
    if name in words.company_ends_zh or name in words.own_countries:  # around and in brackets
        return name
    end = _end("x" + rest if town else rest, words.company_ends_zh)
    core = rest[: len(rest) - len(end)]
    line = ""
    while more := _end(core, words.company_lines_zh):
        core, line = core[: len(core) - len(more)], more + line
    if not core and not town:
        core, line, end = (rest[: len(rest) - len(end)], "", end) if end != rest else (rest, "", "")
    new = _around_known(table, core, salt) if core else ""
    at = lead or (chinese_place(table, town, False, salt) if town else "")
    return at + new + line + end


_TOWN = re.compile(rf"[{HAN}]{{1,3}}?[市县](?=[{HAN}]{{2}})")


def _town(name: str) -> str:
    """The town that the name of an institution begins with, if the rest says its kind."""
    match = _TOWN.match(name)
    is_kind = match and _end("x" + name[match.end() :], lexicon().company_ends_zh)
    return match.group() if match and is_kind else ""


def _around_known(table: SurrogateTable, core: str, salt: str) -> str:
    """The new stem; where the stem of another firm's name stands in it, that one's new stem."""
    known = [name for name in table.tokens(_ZH_STEM) if 1 < len(name) < len(core) and name in core]
    if not known:
        return table.token(_ZH_STEM, core, _zh_stem(len(core)), salt)
    short = max(known, key=lambda name: (len(name), name))
    before, _, after = core.partition(short)
    kept = next((end for end in lexicon().company_ends_zh if after.startswith(end)), "")
    parts = [table.tokens(_ZH_STEM)[short], kept]
    if before:
        parts.insert(0, table.token(_ZH_STEM, before, _zh_stem(len(before)), salt))
    if after != kept:
        rest = after.removeprefix(kept)
        parts.append(table.token(_ZH_STEM, rest, _zh_stem(len(rest)), salt))
    return "".join(parts)


def _end(name: str, ends: tuple[str, ...]) -> str:
    matching = [end for end in ends if name.endswith(end) and name != end]
    return max(matching, key=len, default="")


def _zh_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        words = lexicon()
        pairs = (max(2, min(size, 4)) + 1) // 2 + attempt // LONGER_FROM
        return "".join(pick(rng, words.zh_first) + pick(rng, words.zh_second) for _ in range(pairs))

    return draw
