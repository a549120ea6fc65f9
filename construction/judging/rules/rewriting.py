"""One single-turn prompt out of what a person typed over several turns, without a model.

The packaged prompt already joins the turns, names the files and says what to deliver. Here the
noise goes (greetings, channel headers, announcements of files), and short later requirements
become a list. Nothing is reworded, so nothing can be invented; a step that would lose a fact is
not taken (`faithfulness`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from construction.judging.contracts import Case
from construction.judging.language import leading_language
from construction.judging.reading import Ask, read
from construction.judging.rules.faithfulness import compare, sources_of
from construction.judging.rules.named import is_exchange
from construction.judging.rules.noise import is_noise
from construction.judging.rules.words import table
from construction.sessions.prompts.prompt import WORDS

_HEADER = re.compile(r"\[[^\]\n]{0,80}#[^\]\n]{0,80}\]\s*")  # "[Slack #launch Mon 09:12]"
_END = re.compile(r"[,，.。!！:：~～;；?？、\s—-]+")
_FURTHER_WORDS = 40  # a longer later part is told in full, not as an item of a list
_MAX_LEAD_INS = 6


def rewrite(case: Case) -> str:
    """The prompt of a case as one request; the packaged prompt where that is not safe."""
    prompt, request = case.candidate.prompt, case.request
    if is_exchange(case) or not request or prompt.count(request) != 1:
        return prompt
    before, _, after = prompt.partition(request)
    parts = [part for part in map(_clean, _paragraphs(request)) if part]
    if not parts:
        return prompt
    text, as_one = _joined(parts)
    if as_one and not before:
        after = _without_frame(after)
    return _safest(case, before + text + after)


def _safest(case: Case, rewritten: str) -> str:
    """The rewrite, unless it is less faithful than the packaged prompt."""
    sources = sources_of(case)
    new, old = (compare(text, sources) for text in (rewritten, case.candidate.prompt))
    worse = set(new.losses) - set(old.losses) or set(new.inventions) - set(old.inventions)
    return case.candidate.prompt if worse else rewritten


def _paragraphs(request: str) -> list[str]:
    """The parts of a request; one with fenced code stays in one piece."""
    return [request] if "```" in request else request.split("\n\n")


def _clean(part: str) -> str:
    """A part without channel header, lead-ins, chatter and announcements."""
    text = without_lead_ins(_HEADER.sub("", part, count=1) if part[:1] == "[" else part)
    if "```" in text:
        return text
    kept, position = [], 0
    for sentence in read(text):
        end = sentence.start + len(sentence.text)
        if is_noise(sentence) and sentence.start >= position:
            kept.append(text[position : sentence.start])
            position = end
    return "".join([*kept, text[position:]]).strip()


def without_lead_ins(text: str) -> str:
    """The text after "Hi! New task: ", with a capital where it began with one."""
    rest = text.lstrip()
    for _ in range(_MAX_LEAD_INS):
        found = _lead_in().match(rest)
        end = _END.match(rest, found.end()) if found else None
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
    """The parts as one text, and whether that is one piece: a single part, or one with a list."""
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
    """What follows a request, without the sentence that joins several turns."""
    lines = frozenset(_joining())
    return "\n\n".join(block for block in after.split("\n\n") if block not in lines)


def _joining() -> Iterator[str]:
    return (words.as_one for words in WORDS.values())
