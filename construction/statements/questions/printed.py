"""What filings call their rows, and where those stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from construction.statements.model import Statement
from construction.statements.presentation import sides
from construction.statements.questions.contracts import Company, Point, Series
from construction.statements.questions.rows import (
    Printed,
    Rows,
    bare_label,
    means,
    of_class,
    two_totals,
    without_parent,
)
from construction.statements.questions.terms import PAID, signed
from construction.statements.questions.wording import (
    COUNTRIES,
    EMPTY,
    LIST,
    SYNONYMS,
    WORDS,
    Phrase,
    comparable,
    has_foreign_letters,
    has_own_phrase,
    has_word,
    is_broken_off,
    is_forecast,
    phrase_of,
)
from data.text.scripts import WORD

_LEAST_WORDS, _MOST_WORDS = 2, 8  # one word says little alone, more are a sentence
_CODE = 3  # letters of a currency
_STEM = 5  # letters by which words are compared
# A country's code, what is no part but reconciles the parts with the whole, and three things whose
# comma a tag has lost ("Railroad Utilities and Energy").
_MEMBER = re.compile(
    r"^[A-Z]{2}$|\b(?:eliminat|reconcil|inter[- ]?(?:compan|group|sector|segment))\w*"
    r"|\b(?:all|consolidation|consolidating|adjustments?|combined|corporate|domain|domicile|foreign"
    r"|others?|total|unallocated)\b"
    r"|^(?:consolidated|(?:operating|reportable) segments?|operations|\w+ \w+ and \w+)$",
    re.I,
)
_UNLIKE = re.compile(
    r"[\"“”:;/*$()\d]|\s[-–—]\s|[-–—]$"
    r"|\b(?:see|notes? \d|page|less|deduct|add|beginning|includ\w+|reclassif\w+)\b",
    re.I,
)
_COST = re.compile(
    r"\b(?:expenses?|costs?|loss(?:es)?|charges?|provisions?|tax(?:es)?|depreciation|amortization|"
    r"impairments?|interest|write-?(?:downs?|offs?)|deductions?)\b(?! income)", re.I
)  # fmt: skip
_INCOME = re.compile(
    r"\b(?:income|gains?|earnings|profits?|revenues?|sales|tax benefits?)\b(?! tax)", re.I
)
_RELATION = re.compile(r"\b(?:after|before|by|for|from|in|net of|of|on|related|to)\b|,")
_PER = re.compile(r"\bper (?:[a-z-]+ ){0,3}(?:share|unit)\b", re.I)
# Qualifiers that no filing prints behind these.
_QUALIFIED = re.compile(
    r"^(net income \(loss\)|total equity|net intangible assets) (?:including|excluding) .*$"
)
_MOVEMENT = re.compile(r"\b(?:increases?|decreases?|changes?|effect)\b", re.I)
_INVERTED = re.compile(
    r", (?!(?:net|gross|excluding|including|before|after|less|at|by|per|and|or|under|held|due)\b)"
)
_MARKS = re.compile(r"[():;/*#]|\s[-–—]\s")
_MARKED = re.compile(r"[(),;:/]|\s[-–—]\s")
# The usual sides of a figure that a question gives one word for.
_BOTH_WAYS = re.compile(
    r"(?P<head>\b(?:income|profits?|earnings|gains?|margin)(?= ?/? ?\((?:net )?loss)"
    r"|\b(?:expenses?|provisions?|tax(?:es)?)(?= ?/? ?\((?:benefit|credit))"
    r"|\b(?:retained earnings|equity|capital)(?= ?\((?:accumulated )?defici)"
    r"|\bloss(?:es)?(?= ?/? ?\((?:net )?gain)|^(?:net )?decrease(?= ?/? ?\((?:net )?increase))"
    r" ?/? ?\([^()]{4,24}\)",
    re.I,
)
_CHANGED = re.compile(r"^(?:net )?(?:increase|change) ?/? ?\((?:net )?decrease\) in\b", re.I)
_CHANGE_IN = re.compile(
    r"(?:net )?(?:changes?|increases?|decreases?)(?: ?/? ?\([a-z ]+\))? in (?:the )?(?!cash\b)(.+)",
    re.I,
)
_JOINED = re.compile(r"\b(?:and|including|or)\b|[,/&]", re.I)
_SIDE = re.compile(
    r"(?P<head>\w+) ?/? ?\((?:net )?(?:loss|income|gain|earning|profit|defici|use|decrease|increase"
    r"|benefit|credit|expense|charge|cost|provision|proceed|payment|repayment|purchase|provided"
    r"|received|refund|reversal|reduction|recover)\w*[^()]{0,20}\)", re.I
)  # fmt: skip
# Of operations given up: what says it, but not for what holds them beside others.
_GIVEN_UP = re.compile(r"(?<!including )(?<!not )(?<!and )\bdiscontinued\b", re.I)
_GIVEN_UP_STEMS = frozenset(["disco", "opera"])
# What a label of a concept says too, if the printed one does.
_ALIKE = (
    _GIVEN_UP,
    re.compile(r"\b(?:exclud\w+|exclusive|without|before)\b", re.I),
    _MOVEMENT,
)
# What a line of an income statement is: costs or income. "Long-term debt" there is the interest.
_EARNED = re.compile(
    r"\b(?:adjustments?|benefits?|claims?|commissions?|compensation|contributions?|dividends|effect"
    r"|eliminations?|fees?|items?|margin|premiums?|rents?|rentals?|salaries|services?|wages)\b",
    re.I,
)  # fmt: skip
_WHOLE_INCOME = "comprehensive"
_OUTCOMES = (1, 2)  # the axes of income and loss, of benefit and expense
# With which cash flow statements begin: lines of the income statement.
_RESULT = re.compile(r"\b(?:profit|income) before income taxes$|^net (?:profit|income)\b")
# What says alone that cash came in, as "disposition" does not.
_INFLOW = re.compile(
    r"\b(?:proceeds|sales?|issu|borrow|matur|collect|receipt|received|contribut|exercise|redempt"
    r"|repay|withdraw|dr[ae]w|advances|deposits|settle|distributions|return)", re.I
)  # fmt: skip
_EMPTY_PRINT = frozenset(["other", "all"])
_APART = re.compile(r",? (?:after|before|excluding|net of) .*$", re.I)  # what a line is without
_INITIALS = re.compile(r"\b[A-Z]{2,}\b")
# A tag split into words: the labels of taxonomies write small words small.
_SPLIT_TAG = re.compile(r"(?<=\w )(?:And|By|For|From|In|Of|On|Or|To|With)\b")
_PRINT = WORDS["print"]
_SAME = {word: group[0] for group in _PRINT["same"] for word in group}
_AXES = frozenset(_PRINT["axes"])  # that readers know
_SCENARIO = "scenario"
_KEPT = frozenset(WORDS["keep"])
_SMALL = frozenset(_PRINT["small"])
_GOODS = frozenset(_PRINT["goods"])
_BALANCE_OF_GOODS = " inventory"
_MOST_SMALL = 3
# A period of its own beside that of the question, where it cannot be left out, the order of a tag,
# what taxonomies call an item of a reconciliation, and what is said by a heading ("proceeds from
# sales and maturities").
_ODD = re.compile(
    r"\b(?:during|for|in|of|within) (?:the )?(?:current |fiscal )?(?:period|quarter|year)s?\b"
    r"|\bunpaid$|\band others?(?:, net)?$|\bnet (?:non)?current\b"
    r"|^(?:adjustments for|valuation of)\b|\bincluding\b(?! (?:non-?controlling|minority)\b)"
    r"|\bbefore tax gains\b|\brecognised directly in equity$|^increase from\b"
    r"|^(?:total )?(?:additions|disposals) (?!(?:from|of|to)\b)"
    r"|^(?:additions|collections|maturities|redemptions|withdrawals"
    r"|(?:net )?(?:payments|proceeds|purchases|repayments))(?: (?:and|for|from|of|on|additions"
    r"|collections|disposals|issuances?|maturities|redemptions|repayments|sales?|withdrawals))*$",
    re.I
)  # fmt: skip
# By which rows mean all of them.
_ONE_PURCHASE = re.compile(r"^(?:re)?purchase(?= of\b)|^(?:acquisition|redemption)(?= of\b.*s$)")
_LEFT_TO_HEADINGS = frozenset(["curre", "noncu", *(word[:_STEM] for word in _PRINT["flow"])])
_TERMS = frozenset(["curre", "net", "noncu", "total"])  # stems of what a change leaves out


def wordings(
    series: Series,
    point: Point,
    company: Company,
    rows: Rows,
    *,
    negated: bool,
    twins: Collection[str] = (),
) -> tuple[str, ...]:
    """What a question may call a line, the most natural first; "" is the label of its concept.

    One word for both signs ("net income", not "net income (loss)") and the filer's own word for its
    owners read best, but may fit other lines too. Empty if nothing will do. `twins` are the series
    with the same value for the period.
    """
    signed_label = signed(phrase_of(series.label).text, negative=point.value.startswith("-"),
                          balance=not point.months)  # fmt: skip
    own = signed_label.phrase if signed_label else phrase_of(series.label).text
    row, others = _row_of(series, point, rows), _comparable(rows, series, twins)
    broken = partial(is_broken_off, is_flow=point.months > 0)
    choices: list[str] = []
    is_split = two_totals(row, others, series)  # then the concept says which it is
    spoken = () if is_split else _spoken_labels(series, point, company, rows, negated=negated)
    spoken = of_class(spoken, row, series)
    for worded in ("",) if is_split else spoken:
        used, beside = phrase_of(worded or own), () if is_split else _beside(point, rows)
        if row and _has_sibling(used, row, beside, series):
            continue
        plain = plain_words(worded or own)
        of_filer = _with_owners(plain, row)
        choices += (
            *_with_noun(plain, series),
            *without_parent(of_filer, row, others, series, company),
            *_without_net(of_filer, row, others, series),
            *_as_a_part(of_filer, row, series),
            *(() if _as_a_part(of_filer, row, series) else (of_filer, plain, worded)),
        )
    return tuple(
        dict.fromkeys("" if text == own else text for text in choices if not broken(text or own))
    )


def _with_owners(text: str, row: Printed | None) -> str:
    """The name of equity with the filer's own word for its owners."""
    owners = "stockholders'" if row is None else _owners_of(row.label)
    return text.replace("stockholders' equity", f"{owners} equity")


def _owners_of(label: str) -> str:
    """What the filer calls the owners: stockholders, unless its row says shareholders."""
    is_share = any(owner in label.lower() for owner in ("shareholder", "shareowner"))
    return "shareholders'" if is_share else "stockholders'"


def _comparable(rows: Rows, series: Series, twins: Collection[str]) -> Rows:
    """The rows in the unit of a series, without those of its twins."""
    own, unit = {*twins}, series.unit
    return {at: row for at, row in rows.items() if row.series_id not in own and row.unit == unit}


def _beside(point: Point, rows: Rows) -> list[Printed]:
    """The rows of the report that a point stands in."""
    return [row for (report, _), row in rows.items() if report == point.report]


def _row_of(series: Series, point: Point, rows: Rows) -> Printed | None:
    """The row that prints a point, also in the column of a part; None if nothing does."""
    row = rows.get((point.report or 0, point.line if point.line is not None else -1))
    if row is None or row.series_id == series.series_id:
        return row
    return row if series.dimensions and row.concept == series.concept else None


def _as_a_part(text: str, row: Printed | None, series: Series) -> tuple[str, ...]:
    """ "Operating expenses" without the "total" of its phrase, where the row of an income statement
    prints none: it may be one of several costs."""
    is_added = text.startswith("total ") and series.statement == Statement.INCOME
    is_part = row is not None and is_added and "total" not in row.label.lower()
    return (text.removeprefix("total "),) if is_part else ()


def _with_noun(text: str, series: Series) -> Iterator[str]:
    """ "Merchandise inventory" for "merchandise" in a balance sheet."""
    if series.statement == Statement.BALANCE and text in _GOODS:
        yield f"{text}{_BALANCE_OF_GOODS}"


def _without_net(text: str, row: Printed | None, rows: Rows, series: Series) -> Iterator[str]:
    """ "Inventories", where the row prints no more than that of "Inventory, Net"."""
    if row is None or not series.label.lower().endswith(", net") or has_word(row.label, {"net"}):
        return
    rest = text.removeprefix("net ")
    printed = phrase_of(bare_label(row.label))
    is_said = list(map(_stem, comparable(rest))) == list(map(_stem, printed.key))
    is_other = any(means(printed, other, series) for other in rows.values())
    if rest != text and is_said and not is_other and not _UNLIKE.search(printed.text):
        yield printed.text


def plain_words(text: str) -> str:
    """One word for both signs: "net income" for "net income (loss)", "change in" for "increase
    (decrease) in"; the sentence behind the question says which sign is which."""
    text = _CHANGED.sub("change in", text)
    return _BOTH_WAYS.sub(r"\g<head>", text)


def _spoken_labels(
    series: Series, point: Point, company: Company, rows: Rows, *, negated: bool
) -> tuple[str, ...]:
    """What a question may call a line: its printed label, or "" for the label of its concept.

    The printed label is what readers of a filing know, if it means something alone, has the sign of
    the value and is no other row's. The concept's label is for rows that print all that it says,
    for concepts with a phrase of their own, and for sources without rows. Empty if neither will do.
    """
    if _is_unspeakable(series):
        return ()
    own = phrase_of(series.label)
    row = _row_of(series, point, rows)
    if row is None:
        return () if rows or _is_raw(series.label) or _is_clumsy(series.label) else ("",)
    if row.named and not has_own_phrase(series.label):
        return ()
    label = bare_label(row.label)
    if _PER.search(label) and len(series.unit) == _CODE:
        return ()  # an amount per share, filed as one of the whole
    filed = phrase_of(label)
    implied = _implied(series)
    said, printed = _content(own, implied), _content(filed, implied)
    is_clear = _is_clear(own, filed, label, series, company)
    if _is_whole(own, label) or _is_turned(own, label, series, negated=negated):
        return ()
    by_concept = _with_one_side(own, label, point)
    if _is_given_up(series, own) and not _GIVEN_UP.search(label):
        is_said = is_clear and _GIVEN_UP.search(own.text) and said - _GIVEN_UP_STEMS <= printed
        return (by_concept,) if is_said else ()
    is_finished = has_own_phrase(series.label) or own.text in SYNONYMS
    if is_clear and said == printed and is_finished and own.bag == filed.bag:
        return (by_concept,)
    spoken = (by_concept,) if is_clear and _names_row(series, row, label, own, filed) else ()
    is_usable = not row.named and _is_usable(label, filed, series, company)
    is_usable = is_usable and _has_sign(series, point, filed, own, negated=negated)
    if is_usable and not any(means(filed, other, series) for other in rows.values()):
        return (_ONE_PURCHASE.sub(r"\g<0>s", filed.text), *(spoken if said == printed else ()))
    return spoken


def _names_row(series: Series, row: Printed, label: str, own: Phrase, filed: Phrase) -> bool:
    """May a clear label of a concept name a row: does that print all of it, and nothing beside?"""
    implied = _implied(series)
    said, printed = _content(own, implied), _content(filed, implied)
    if not _is_usual(series, own, filed):
        return False
    if said == printed:
        return True
    is_wider = printed - said and len(_JOINED.findall(label)) > len(_JOINED.findall(own.text))
    is_fuller = not has_own_phrase(series.label) and not printed <= said
    if is_wider or is_fuller or (printed and printed <= _EMPTY_PRINT):
        return False
    if any(test.search(row.label) and not test.search(own.text) for test in _ALIKE):
        return False
    return _content(phrase_of(_QUALIFIED.sub(r"\1", own.text)), implied) <= printed


def _has_sibling(used: Phrase, row: Printed, beside: Collection[Printed], series: Series) -> bool:
    """Do the words of a question fit another row as well as this one?

    "Marketable securities" fits both of two rows of that label, "proceeds from partners" both
    "contributions from partners of mills" and "… of silos". Rows that begin alike are of one kind;
    the plain one of them may go without a word that only the other has.
    """
    implied = _implied(series)
    others = (one for one in beside if one.unit == row.unit and one.concept != row.concept)
    ours, *phrases = (phrase_of(_APART.sub("", bare_label(one.label))) for one in (row, *others))
    said, printed = _content(used, implied), _content(ours, implied)
    for theirs in phrases:
        another = _content(theirs, implied)
        is_kind = ours.key[:1] == theirs.key[:1] and bool(said - _EMPTY_PRINT) and said <= another
        is_like = is_kind and not printed <= another
        if used.bag <= theirs.bag if ours.text == theirs.text else is_like:
            return True
    return False


def _is_usual(series: Series, own: Phrase, filed: Phrase) -> bool:
    """Is the label of a concept what people say where a row prints other words: a finished phrase,
    or the row's words with the noun, the change or the age that it leaves to its heading?"""
    is_finished = has_own_phrase(series.label) or own.text in SYNONYMS or len(series.unit) != _CODE
    added = _content(own, _LEFT_TO_HEADINGS) - _content(filed, frozenset())
    return is_finished or not added or filed.text.split()[-1] in _PRINT["adjectives"]


def _is_given_up(series: Series, own: Phrase) -> bool:
    """Is a line one of discontinued operations, by its concept or its section?"""
    beside, tag, _ = series.concept.partition("Discontinued")
    is_tagged = bool(tag) and not beside.endswith(("Including", "Not", "And"))
    return is_tagged or any(_GIVEN_UP.search(text) for text in (own.text, *series.path))


def _is_clumsy(label: str) -> bool:
    """Does a label name a period of its own, end without its noun, or hang together by small words
    alone? Finished phrases do not."""
    text = phrase_of(label).text
    words = text.split()
    is_loose = len([word for word in words if word in _SMALL]) > _MOST_SMALL
    is_odd = is_loose or _ODD.search(text) is not None
    return is_odd and not has_own_phrase(label)


def _is_whole(own: Phrase, label: str) -> bool:
    """Does a row print comprehensive income where its concept is a part of that?"""
    return _WHOLE_INCOME in label.lower() and _WHOLE_INCOME not in own.text.lower()


def _is_unspeakable(series: Series) -> bool:
    """Is it of an axis or a member that nobody would name, a number per share of a segment, or
    the result with which a cash flow statement begins?"""
    if series.statement == Statement.CASH_FLOW and _RESULT.search(
        _one_sided(phrase_of(series.label).text)
    ):
        return True
    members = zip(series.path[::2], series.path[1::2], strict=False)
    axes = {phrase_of(axis).text for axis in series.path[::2]}
    is_odd = any(
        (_MEMBER.search(member) and not _is_country(axis, member)) or _is_loose(axis, member)
        for axis, member in members
    )
    is_odd |= len(series.path) % 2 > 0 or "/" in series.unit
    return bool(series.dimensions) and (not axes <= _AXES or is_odd)


def _is_country(axis: str, member: str) -> bool:
    return phrase_of(axis).text.startswith("geograph") and member in COUNTRIES


def _is_loose(axis: str, member: str) -> bool:
    """Does a scenario ("Predecessor") say nothing as a name alone? A forecast has its verb."""
    return phrase_of(axis).text == _SCENARIO and not is_forecast(member)


def _is_clear(own: Phrase, filed: Phrase, label: str, series: Series, company: Company) -> bool:
    """Does the label of the concept say all that the row prints, in words of its own?"""
    return (
        not (_is_raw(series.label) or _is_clumsy(series.label))
        and not _lost_marks(series, label)
        and (has_own_phrase(series.label) or not _names(series.label, company))
        and not (filed.bare or _is_open(own, series))
    )


def is_own_wording(series: Series, worded: str) -> bool:
    """Are the words of a question those of the concept, if in the filer's or in plainer form?"""
    own = phrase_of(series.label)
    goods = worded.removesuffix(_BALANCE_OF_GOODS)
    worded = goods if goods in _GOODS else worded
    said = frozenset(map(_stem, comparable(_one_sided(worded))))
    return worded in ("", plain_words(own.text)) or said <= {*map(_stem, own.key)}


def _one_sided(text: str) -> str:
    """ "Operating income (loss)" without the side in brackets."""
    return _SIDE.sub(r"\g<head>", text)


def _with_one_side(own: Phrase, label: str, point: Point) -> str:
    """The concept's label without the side in brackets, if the row names and has the other alone;
    "" for the label as it is."""
    ours, theirs = sides(own.text), sides(label)
    is_plain = ours is not None and ours[0] in _OUTCOMES and ours[1:] == (True, True)
    is_alone = theirs is None or theirs[1:] == (True, False)
    is_below = point.value.startswith("-")
    return _one_sided(own.text) if is_plain and is_alone and not is_below else ""


def _is_turned(own: Phrase, label: str, series: Series, *, negated: bool) -> bool:
    """Does a concept's label name two sides where the row shows the other one as positive, or none
    of them ("Other, net")?"""
    if PAID.search(own.text) and "refund" in label.lower() and not PAID.search(label):
        return True
    if series.statement != Statement.CASH_FLOW or not _SIDE.search(own.text):
        return False
    ours, theirs = sides(own.text), sides(label)
    if negated and (theirs is None or ours is None or theirs[:2] != ours[:2] or not ours[0]):
        return True
    is_rest = "other" in own.bag and own.key != phrase_of(label).key
    return is_rest and not _SIDE.search(label) and (ours is None or ours[0] not in _OUTCOMES)


def _is_open(phrase: Phrase, series: Series) -> bool:
    """Does a name of an amount lack its noun: "unproved", or "long-term debt" for its interest?"""
    if len(series.unit) != _CODE or phrase.text.startswith("number "):
        return False
    if phrase.head in _PRINT["adjectives"]:
        return True
    tests = (_COST, _INCOME, _EARNED)
    is_flow = series.statement == Statement.INCOME
    return is_flow and not any(test.search(phrase.text) for test in tests)


def _is_raw(label: str) -> bool:
    """Does a label keep the word order or the brackets of a taxonomy: "Taxes, Other (Abroad)"?"""
    if has_own_phrase(label):
        return False
    text = _one_sided(LIST.sub("", phrase_of(label).text))
    return any(form.search(text) for form in (_INVERTED, _MARKS))


def _lost_marks(series: Series, label: str) -> bool:
    """Is a label a tag split into words, of a row that prints commas, brackets or dashes, or with
    sides that run into each other?"""
    label_letters, tag_letters = (
        "".join(filter(str.isalpha, text)).lower() for text in (series.label, series.concept)
    )
    if label_letters != tag_letters or _MARKED.search(series.label) or has_own_phrase(series.label):
        return False
    if "(" in phrase_of(series.label).text or series.label.endswith(" Net"):
        return True
    return (_SPLIT_TAG.search(series.label) or _MARKED.search(phrase_of(label).text)) is not None


def _implied(series: Series) -> frozenset[str]:
    """Words that the place or the unit of a line says without print."""
    nearby = [word for section in series.sections for word in section]
    words = [*_PRINT["implied"], *nearby, *series.statement.lower().split()]
    words += _PRINT["per_share"] if series.unit.endswith("/share") else []
    words += _PRINT["shares"] if series.unit == "shares" else []
    words += _PRINT["flow"] if series.statement == Statement.CASH_FLOW else []
    return frozenset(_stem(word) for word in words)


def _content(phrase: Phrase, implied: frozenset[str]) -> frozenset[str]:
    """What a phrase says beyond its place, by the stems of its words, without its other side."""
    words = comparable(_one_sided(phrase.text))
    return frozenset(map(_stem, words)) - implied - {_stem(word) for word in EMPTY}


def _stem(word: str) -> str:
    word = _SAME.get(word, word)
    return word[:_STEM]


def _is_usable(label: str, filed: Phrase, series: Series, company: Company) -> bool:
    """Can a question name the line by its printed label: short, plain English, clear alone?"""
    words = filed.text.removesuffix(", net").split()
    is_odd = (
        filed.bare
        or has_foreign_letters(label)
        or _UNLIKE.search(_one_sided(label))
        or words[-1] in _PRINT["adjectives"]
        or words[-1] in _SMALL
        or _is_open(filed, series)
    )
    is_amount = series.unit not in ("shares", "ratio", "count") and "/" not in series.unit
    is_long = not _LEAST_WORDS <= len(words) <= _MOST_WORDS or len(filed.bag) < _LEAST_WORDS
    is_own = _names(label, company)
    is_rough = _is_raw(label) or _is_clumsy(label)
    return is_amount and not is_odd and not is_own and not is_long and not is_rough


def _names(label: str, company: Company) -> bool:
    """Does a label have a word of the company's name, its initials, or "the Company" for it?"""
    initials = () if label.isupper() else _INITIALS.findall(label)
    own = [*company.core, "company"]
    if company.ticker and len(company.ticker) >= _CODE:
        own.append(company.ticker.lower())
    return not (set(initials) <= _KEPT and {*WORD.findall(label.lower())}.isdisjoint(own))


def _has_sign(series: Series, point: Point, filed: Phrase, own: Phrase, *, negated: bool) -> bool:
    """Does the value answer a question by the printed label as well as by the concept's?"""
    if own.text.startswith("proceeds ") and not _INFLOW.search(filed.text):
        return False
    if (side := _SIDE.search(filed.text)) and not negated:
        other = _SIDE.search(own.text)
        return other is not None and _stem(side["head"].lower()) == _stem(other["head"].lower())
    if side or point.value.startswith("-") or _MOVEMENT.search(f"{filed.text} {own.text}"):
        return False
    ours, theirs = sides(own.text), sides(filed.text)
    if ours and theirs and ours[0] == theirs[0] and ours[1] != theirs[1]:
        return False
    if PAID.search(filed.text):
        return PAID.search(own.text) is not None or series.balance == "credit"
    head = _RELATION.split(filed.text)[0]
    is_cost, is_income = _COST.search(head), _INCOME.search(head)
    if series.statement == Statement.INCOME:
        is_debit = series.balance == "debit"
        fits = not (is_income and not is_cost) if is_debit else not is_cost
        return fits and (not negated or (is_debit and is_cost is not None))
    return not negated


def is_change_in(text: str, labels: Iterable[str]) -> bool:
    """Is what a question calls a line the change in what has one of the labels, other than cash?"""
    change = _CHANGE_IN.fullmatch(text)
    if change is None:
        return False
    item = _content(phrase_of(change[1]), _TERMS)
    return any(item <= _content(phrase_of(label), _TERMS) for label in labels)
