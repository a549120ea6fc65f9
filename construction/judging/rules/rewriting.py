"""One single-turn prompt out of what a person typed over several turns, without a model.

The packaged prompt already joins the turns, names the files and says what to deliver. `rewrite`
removes the noise (greetings, channel headers, announcements of files) and turns short later
requirements into a list. Nothing is reworded, so nothing can be invented; a step that would lose a
fact is not taken.

`check_faithfulness` compares a rewrite, by rules or by a model, with its sources: files, URLs,
dates, numbers and names, each in one form. What the rewrite holds and no source does is an
invention; what the request holds and the rewrite does not is a loss. It guards against wrong
figures and forgotten files; it does not understand either text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from construction.judging.contracts import Case
from construction.judging.lexicon import table
from construction.judging.reading import Ask, read
from construction.judging.rules.facts import Fact, FactKind, find_facts, plain_text
from construction.judging.rules.sentences import is_exchange, is_noise
from construction.mentions.brought import brings_code
from construction.mentions.extensions import tail
from construction.prompt_frame import WORDS
from data.text.scripts import leading_language

_SPEAKER = re.compile(r"(?m)^([^:\n]{1,40}): ")
_ODD = re.compile(r"[^\w./\\ -]")
_SIGNS = re.compile(r"[\W_]+")  # neither letters nor digits
_HEADER = re.compile(r"\[[^\]\n]{0,80}#[^\]\n]{0,80}\]\s*")  # "[Slack #launch Mon 09:12]"
_END = re.compile(r"[,，.。!！:：~～;；?？、\s—-]+")
_ENDED = re.compile(r"[.!?;。！？；…～~)）]\Z")
_FURTHER_WORDS = 40  # a longer later part stays a paragraph, not an item of a list
_BLANK = re.compile(r"\n(?:[ \t]*\n){2,}")
_MAX_LEAD_INS = 6


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """What a rewrite adds to its sources and what it loses; both empty if it is faithful."""

    inventions: tuple[Fact, ...]
    losses: tuple[Fact, ...]

    @property
    def faithful(self) -> bool:
        return not self.inventions and not self.losses


def check_faithfulness(rewrite: str, case: Case) -> Faithfulness:
    """Compare a rewrite with request, background, file names and deliverables of its case.

    Greetings, thanks and similar need not be kept; every input file must be named.
    """
    return compare(rewrite, sources_of(case))


@dataclass(frozen=True, slots=True)
class Sources:
    """What a rewrite of one case may contain and must contain."""

    known: _TextFacts
    allowed: frozenset[tuple[FactKind, str]]
    required: tuple[Fact, ...]


def sources_of(case: Case) -> Sources:
    """The sources of a case, for callers that compare several rewrites with them."""
    known = _TextFacts.of("\n\n".join([case.request, *case.background, *_given(case)]))
    return Sources(known, _allowed(case), _required(case))


def compare(rewrite: str, sources: Sources) -> Faithfulness:
    """As `check_faithfulness`."""
    rewritten = _TextFacts.of(rewrite)
    inventions = tuple(
        fact
        for fact in rewritten.facts
        if not sources.known.tells(fact) and (fact.kind, fact.value) not in sources.allowed
    )
    losses = tuple(fact for fact in sources.required if not rewritten.tells(fact))
    return Faithfulness(inventions, losses)


@dataclass(frozen=True, slots=True)
class _TextFacts:
    """The facts of a text, indexed for lookup."""

    facts: tuple[Fact, ...]
    values: frozenset[tuple[FactKind, str]]
    words: str

    @classmethod
    def of(cls, text: str) -> _TextFacts:
        facts = find_facts(text)
        return cls(facts, frozenset((one.kind, one.value) for one in facts), _words(text))

    def tells(self, fact: Fact) -> bool:
        if (fact.kind, fact.value) in self.values:
            return True
        if fact.moment is not None:
            moments = (one.moment for one in self.facts if one.moment is not None)
            return any(moment.covers(fact.moment) for moment in moments)
        if fact.kind is FactKind.FILE:
            return any(
                _same_odd(fact.value, value) for kind, value in self.values if kind == "file"
            )
        return fact.kind is FactKind.ENTITY and _holds(self.words, fact.value)


def _same_odd(name: str, other: str) -> bool:
    """Whether two file names with unusual characters may be one name, read from other starts."""
    longer, shorter = sorted((name, other), key=len, reverse=True)
    return _ODD.search(longer) is not None and longer.endswith(shorter)


def _words(text: str) -> str:
    """The text in lower case with a space for every other sign, so that whole words match."""
    return f" {_SIGNS.sub(' ', plain_text(text).lower()).strip(' ')} "


def _holds(words: str, name: str) -> bool:
    wanted = _words(name)
    return wanted in words if wanted.isascii() else wanted.strip() in words


def _given(case: Case) -> Iterator[str]:
    for fixture in case.candidate.fixtures:
        yield f"\n`{fixture.path}`\n"
        yield f"`{tail(fixture.path)}`"
    for item in case.candidate.deliverables:
        yield from (f"`{name}`" for name in item.name_hints)
    yield from case.candidate.network.urls
    if is_exchange(case):
        yield from _SPEAKER.findall(case.candidate.prompt)


def _allowed(case: Case) -> frozenset[tuple[FactKind, str]]:
    """What the frame of a prompt may add: counts and formats of deliverables, file names."""
    deliverables = case.candidate.deliverables
    counts = {str(item.count) for item in deliverables}
    words = {word for path in _given(case) for word in _words(path).split()}
    names = {tail(fixture.path) for fixture in case.candidate.fixtures}
    names |= {tail(name) for item in deliverables for name in item.name_hints}
    return frozenset(
        [(FactKind.NUMBER, count) for count in counts]
        + [(FactKind.ENTITY, word) for word in words | set(table("faithfulness")["formats"])]
        + [(FactKind.FILE, name) for name in names]
    )


def _required(case: Case) -> tuple[Fact, ...]:
    """The facts of the request without its noise, and the names of its files."""
    content = "\n".join(_content(case.request))
    files = [
        Fact(FactKind.FILE, fixture.path, tail(fixture.path)) for fixture in case.candidate.fixtures
    ]
    facts = _unlike(find_facts(content), {fact.value for fact in files})
    return tuple(sorted([*facts, *files], key=lambda fact: (fact.kind, fact.value)))


def _unlike(facts: Iterable[Fact], known: set[str]) -> Iterator[Fact]:
    return (fact for fact in facts if fact.value not in known)


def _content(text: str) -> Iterator[str]:
    """The text without the sentences that are only noise.

    Only what its writer ended, by a mark or by a line of its own, is a sentence that can go.
    """
    position = 0
    for sentence in read(text):
        start, end = sentence.start, sentence.start + len(sentence.text)
        if start >= position and is_noise(sentence) and _is_ended(text, start, end):
            yield text[position:start]
            position = end
    yield text[position:]


def _is_ended(text: str, start: int, end: int) -> bool:
    begins_line = not text[:start].rpartition("\n")[2].strip()
    ends_line = not text[end:].partition("\n")[0].strip()
    return (begins_line and ends_line) or _ENDED.search(text, start, end) is not None


def rewrite(case: Case) -> str:
    """The prompt of a case as one request; the packaged prompt where that is not safe."""
    prompt, request = case.candidate.prompt, case.request
    if is_exchange(case) or not request or prompt.count(request) != 1:
        return prompt
    before, _, after = prompt.partition(request)
    pieces, are_turns = _pieces(case)
    parts = [part for part in map(_clean, pieces) if part]
    if not parts:
        return prompt
    text, as_one = _joined(parts) if are_turns else ("\n\n".join(parts), False)
    if as_one and not before:
        after = _without_frame(after)
    return _safest(case, before + text + after)


def _safest(case: Case, rewritten: str) -> str:
    """The rewrite, unless it is less faithful than the packaged prompt."""
    sources = sources_of(case)
    new, old = (compare(text, sources) for text in (rewritten, case.candidate.prompt))
    worse = set(new.losses) - set(old.losses) or set(new.inventions) - set(old.inventions)
    return case.candidate.prompt if worse else rewritten


def _pieces(case: Case) -> tuple[list[str], bool]:
    """The request as parts that may have lead-ins of their own, and whether each is a turn.

    The paragraphs of one turn belong together; so does a text with code.
    """
    turns = case.candidate.provenance.detail.get("turns_in_prompt")
    paragraphs = case.request.split("\n\n")
    if turns == 1 or brings_code(case.request):
        return [case.request], True
    return paragraphs, len(paragraphs) == turns


def _clean(part: str) -> str:
    """A part without channel header, lead-ins, chatter and announcements."""
    text = without_lead_ins(_HEADER.sub("", part, count=1) if part[:1] == "[" else part)
    if brings_code(text):
        return text
    return _BLANK.sub("\n\n", "".join(_content(text))).strip()


def without_lead_ins(text: str) -> str:
    """The text without openings such as "Hi! New task: ", beginning with a capital letter."""
    rest = text.lstrip()
    for _ in range(_MAX_LEAD_INS):
        match = _lead_in().match(rest)
        end = _END.match(rest, match.end()) if match else None
        if end is None or not end[0].strip() or end.end() == len(rest):
            break
        rest = rest[end.end() :]
    changed = len(rest) < len(text.lstrip())
    return rest[:1].upper() + rest[1:] if changed and rest[:1].isascii() else rest


@cache
def _lead_in() -> re.Pattern[str]:
    phrases = sorted(table("rewriting")["lead_ins"], key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f"(?i)(?:{'|'.join(map(re.escape, phrases))})")


def _joined(parts: list[str]) -> tuple[str, bool]:
    """The parts as one text; whether that is one request (a single part, or one with a list)."""
    later = parts[1:]
    if not later:
        return parts[0], True
    asks = any(one.ask is Ask.DIRECTIVE for one in read(parts[0]))
    if not asks or not all(map(_is_requirement, later)):
        return "\n\n".join(parts), False
    head = table("rewriting")["further"][leading_language("\n".join(parts))]
    return "\n".join([parts[0], "", head, *(f"- {part}" for part in later)]), True


def _is_requirement(part: str) -> bool:
    sentences = read(part)
    if "\n" in part or part[:1] in "-*#|>" or not sentences:
        return False
    words = sum(one.words for one in sentences)
    asks = any(one.ask in (Ask.QUESTION, Ask.STATUS) for one in sentences)
    wants = any(one.ask is Ask.DIRECTIVE or one.requires for one in sentences)
    return words <= _FURTHER_WORDS and not asks and (wants or len(sentences) == 1)


def _without_frame(after: str) -> str:
    """The text after the request, without the sentence that joins several turns."""
    lines = frozenset(_joining())
    return "\n\n".join(block for block in after.split("\n\n") if block not in lines)


def _joining() -> Iterator[str]:
    return (words.as_one for words in WORDS.values())
