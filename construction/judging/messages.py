"""Mail and calendar events that a request wants made: as files, for a newcomer has no account."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from construction.judging.deliverables import ANSWER
from construction.judging.reading import Ask, read
from construction.mentions.extensions import tail
from construction.mentions.resources import ResourceKind, resources
from data.contracts import Deliverable
from data.text.lexicon import alternatives
from data.text.numerals import NUMBER_WORDS, ONE_TO_TEN, read_integer

_SENT_OR_READ = re.compile(
    r"\b(?:(?P<made>send(?:ing)?|e-?mail|mail|write|draft|compose|reply|forward|notify|invite|add|creat(?:e|ing)"
    r"|schedul(?:e|ing)|put|set|book|make|mark|insert|record|plan|arrange|block|enter|save|generate"
    r"|issue|register|share|move|reschedule|export)"
    r"|(?P<read>find|check|look|list|count|read|extract|summari[sz]e|search|compare|review|analy[sz]e"
    r"|get|convert|identify|open|see|view|show|based|according|from))\b"
    r"|(?P<made_zh>发|写|起草|添加|加到|创建|新建|建(?=一?个)|预约|安排|写入|放进|生成|把)|(?P<read_zh>查|看|读|找|根据|从)"
)
_BEFORE_NOUN = re.compile(
    r"\b(?:the|an?|this|that|these|his|her|my|our|your|their|each|every|all|first|last|latest|names?|phones?"
    r"|address(?:es)?|titles?|numbers?|of|from|most|more|many|much|few(?:er|est)?)(?: and)?,? $"
)

# "The rower who sends an email": it is said of somebody, and not ordered.
_REPORTED = re.compile(
    r"\b(?:who|whom|whose|which|how (?:many|often))\b"
    r"(?: (?!(?:and|then|to|please)\b)[\w'’-]+){0,3} $"
)
_EVENT = re.compile(
    r"\b(?:schedule|create|add|set up|make|book) (?:an? |the )?(?:[\w-]+ ){0,2}events?"
    r"(?= (?:on|at|for|in|from|with|named|called|titled|about)\b|[.,;]|$)"
)
_SCHEDULED = re.compile(
    r"\b(?:schedule|arrange|set up) (?:an? |the )?(?:[\w-]+ ){0,3}"
    r"(?:meetings?|sessions?|sections?|appointments?|interviews?)\b|安排[^。；，]{0,10}会议"
)
_DRAFTED = re.compile(
    r"\b(?:draft|write|compose|prepare) (?:an?|the|one) (?:[\w-]+ ){0,3}e?-?mail\b"
    r"(?! (?:address|skill))"
    r"|(?:起草|写)一?封?[^。；，]{0,10}邮件"
)
_LISTED = re.compile(r"(?m)^\s*(?:\d{1,2}[.)、]|[-*•])\s*\S")
_DRAFT = re.compile(r"[^。；，]{0,4}(?:草稿|草案)")  # a part of the answer
_FEW_DEMANDS = 3  # with more of them a message alone does not meet the request
# What is to be done beside the mail, and not to be told in it alone.
_WORK = re.compile(
    r"\b(?:compare|analy[sz]e|(?<!the )(?<!a )review|investigate|assess|evaluate|diagnose|fix|audit"
    r"|reconcile)\b"
    r"|分析|对比|核对|排查|评估|修复|审查"
)
_SENDS_IT = re.compile(
    r"\b(?:send|e-?mail|mail|forward) (?:it|this|them|these|the (?:result|answer))"
)


_SEVERAL = 2  # demands
_TELLS_TOO = re.compile(
    r"\b(?:draft|write|report|summari[sz]e|list|tell|explain|recommend|propose|notices?|reply|replies)\b"
    r"|起草|撰写|报告|总结|列出|说明|建议|通知|回复"
)
_SEPARATE = re.compile(
    r"\b(?:separate(?:ly)?|individual(?:ly)?|respectively|(?:to|for) (?:each|every))\b"
    r"|分别|各自|每(?:个|位|人|名|封)"
)
_SENT = re.compile(
    r"\bsend (?:out )?(?:an? |the )?(?!(?:all|his|her|their|my|these|those)\b)[a-z-]+ e-?mails? to"
    r"\b|\b(?:notify|inform|remind|invite|tell|update)\b[^.;?]{0,60}\b(?:by|via|through|with an?)"
    r" e-?mail\b|\bsend (?:him|her|them) an? e-?mail\b"
    r"|(?:^|\b(?:and|then|please) )e-?mail (?:all|each|every(?:one|body)?|both|him|her|them)\b"
)
_CALENDAR = r"(?:[\w-]+(?:'s?|’s?)? ){0,3}calendars?\b(?!\.\w)"
_ON_CALENDAR = re.compile(
    r"\b(?:add|put|insert|enter|block|record|mark|schedule)\b[^.;?]{0,80}?\b(?:to|in|into|on|onto) "
    rf"{_CALENDAR}|\b(?:delete|remove|cancel|reschedule|update|change)\b[^.;?]{{0,60}}?"
    rf"\b(?:from|in|on) {_CALENDAR}"
)
_NAMES = re.compile(r"\b(?:to|for) ((?:[A-Z][a-z]+(?:, and |, | and )){1,9}[A-Z][a-z]+)\b")
_COUNTED = re.compile(
    rf"\b(?:the|these|those|all|our|my) (?P<number>\d{{1,2}}|{alternatives(NUMBER_WORDS)}) [a-z]"
    rf"|(?P<number_zh>\d{{1,2}}|[两{ONE_TO_TEN}])[位名]"
)
_MOST_PEOPLE = 20
_INVITES = re.compile(r"(?i)\b(?:calendar )?(?:invites?|invitations?)\b|邀请")
_FILE_EACH = re.compile(
    r"(?i)\bfiles? (?:for|of|to) (?:each|every)\b|\bseparate (?:calendar |event )*files?\b"
    r"|\bevents? for each (?:of (?:them|us)|person|member|student|participant|attendee|employee)\b"
)
_SENDS_ONE = re.compile(
    r"\b(?:send|write|draft|compose) (?:(?:an?|one|another) )?(?:(?:separate|individual) )?"
    r"e-?mails?\b"
    r"|\be-?mail (?=the |each |every |all )|(?<= and )an? e-?mail (?=to )|发一?封?邮件"
)


def with_messages(deliverables: Sequence[Deliverable], request: str) -> tuple[Deliverable, ...]:
    """The deliverables, with mail that is to be sent, and events for a calendar, as files.

    A newcomer has no account to send from. Beside such a file an answer is written only where the
    request demands several things. Mail and calendars that are only read are none, and a mail that
    is to be written into a file that is named is that file.
    """
    known = {item.file_type for item in deliverables}
    sentences = [item.text for item in read(request) if item.ask is not Ask.QUESTION]
    kinds = {kind for text in sentences for kind in _kinds(text, deliverables)}
    has_mail = "eml" in kinds | known
    if has_mail and any(_EVENT.search(text.lower()) for text in sentences):
        kinds.add("ics")
    least = max((_mails(text) for text in sentences), default=1)
    events = max((_events(text) for text in sentences), default=1)
    counts = {"eml": least, "ics": events}
    messages = [Deliverable(file_type=kind, count=counts[kind]) for kind in sorted(kinds - known)]
    demands = max(sum(item.demands for item in read(request)), len(_LISTED.findall(request)))
    works_first = _WORK.search(request.lower()) and not _SENDS_IT.search(request.lower())
    is_all = bool(messages) and demands <= _FEW_DEMANDS and not works_first
    rest = [item for item in deliverables if not is_all or item.name_hints != (ANSWER,)]
    rest = [
        item.model_copy(update={"count": max(item.count, least)})
        if item.file_type == "eml"
        else item
        for item in rest
    ]
    return tuple(sorted((*rest, *messages), key=lambda item: item.file_type))


def with_answer(
    deliverables: Sequence[Deliverable], request: str, served: Sequence[str]
) -> tuple[Deliverable, ...]:
    """The deliverables, and an answer where files of services (`served`) would hold only a part.

    What a request has drafted or reported beside a new to-do does not belong into its file.
    """
    names = {tail(path) for path in served}
    is_part = bool(names) and all(names.issuperset(item.name_hints) for item in deliverables)
    is_nameless = any(not item.name_hints for item in deliverables)
    demands = sum(item.demands for item in read(request))
    is_more = max(demands, len(_LISTED.findall(request))) >= _SEVERAL
    tells_too = is_more or _TELLS_TOO.search(request.lower()) is not None
    if not is_part or is_nameless or not tells_too:
        return tuple(deliverables)
    return (*deliverables, Deliverable(file_type="md", name_hints=(ANSWER,)))


def _mails(sentence: str) -> int:
    """How many mails a sentence wants at least: one for each person if it says so, else one each
    time that it orders one."""
    orders = len(_SENDS_ONE.findall(sentence.lower()))
    if not orders or not _SEPARATE.search(sentence.lower()):
        return max(1, orders)
    return max(2, orders, _people(sentence))


def _events(sentence: str) -> int:
    """How many calendar files a sentence wants at least: one for each person if it says so."""
    if _FILE_EACH.search(sentence):
        return max(2, _people(sentence))
    is_each = _INVITES.search(sentence) is not None and _SEPARATE.search(sentence.lower())
    return max(2, _people(sentence)) if is_each else 1


def _people(sentence: str) -> int:
    """How many people a sentence names or counts; 0 if it does neither."""
    people, counted = _NAMES.search(sentence), _COUNTED.search(sentence.lower())
    number = (counted["number"] or counted["number_zh"]) if counted else ""
    count = NUMBER_WORDS.get(number) or read_integer(number) or 0
    named = len(re.findall("[A-Z][a-z]+", people[1])) if people else 0
    return max(named, count if count <= _MOST_PEOPLE else 0)


def _kinds(sentence: str, deliverables: Sequence[Deliverable]) -> Iterator[str]:
    """The types of the messages and events that a sentence wants made."""
    lowered = sentence.lower()
    names = [name for item in deliverables for name in item.name_hints]
    is_drafted = _orders(_DRAFTED, lowered)
    is_named = is_drafted and any(name in sentence for name in names)
    is_sent = _made(sentence, ResourceKind.MAIL) or _orders(_SENT, lowered)
    if not is_named and (is_sent or (is_drafted and names != [ANSWER])):
        yield "eml"
    on_calendar = _SCHEDULED.search(lowered) or _ON_CALENDAR.search(lowered)
    if _made(sentence, ResourceKind.CALENDAR) or on_calendar:
        yield "ics"


def _orders(pattern: re.Pattern[str], text: str) -> bool:
    """Does the pattern match where something is ordered, not said of somebody?"""
    return any(not _REPORTED.search(text, 0, at.start()) for at in pattern.finditer(text))


def _made(sentence: str, wish: ResourceKind) -> bool:
    """Is a message or an event to be made, and not only read? The verb before it decides."""
    text = " ".join(sentence.lower().split())
    for resource in resources(text):
        if resource.kind is not wish:
            continue
        start = text.find(resource.name)
        if _DRAFT.match(text, start + len(resource.name)):
            continue
        is_noun = "email" in resource.name[:9] and _BEFORE_NOUN.search(text, 0, start)
        end = start if is_noun or wish is ResourceKind.CALENDAR else start + len(resource.name)
        verbs = list(_SENT_OR_READ.finditer(text, 0, end))
        if not verbs or any(_REPORTED.search(text, 0, at) for at in (start, verbs[-1].start())):
            continue
        if (verbs[-1].lastgroup or "").startswith("made"):
            return True
    return False
