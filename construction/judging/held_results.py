"""Mails, charts, events and reports that a request has put into a file that it names.

"Everything into visits.md", "the mail in a section at the end", "放进 visits.xlsx": such a thing is
a part of the named file, and a file of its own would be asked for by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from construction.judging.deliverables import ANSWER, PICTURES
from construction.judging.reading import Ask, read
from construction.mentions.extensions import tail
from construction.mentions.spans import find_file_spans
from data.contracts import Deliverable
from data.text.scripts import is_han

_RESULT, _OTHER = "§r§", "§o§"  # stand for the names of results and of other files
_MAIL, _PICTURE, _EVENT, _DOCUMENT = "mail", "picture", "event", "document"
_THING_OF = {
    "eml": _MAIL,
    "ics": _EVENT,
    "md": _DOCUMENT,
    **dict.fromkeys(PICTURES, _PICTURE),
}
_NOUNS = {
    _MAIL: r"\b(?:e-?mails?|mails?|messages?|cover notes?)\b|邮件",
    _PICTURE: r"\b(?:charts?|graphs?|plots?|diagrams?|posters?|infographics?)\b"
    r"|图表|柱状图|折线图|饼图|[张和与及、]图|海报|信息图",
    _EVENT: r"\b(?:events?|meetings?|sessions?|appointments?|interviews?|invit(?:e|ation)s?)\b"
    r"|会议|日程|活动|面试",
    _DOCUMENT: r"\b(?:reports?|memos?|proposals?|letters?|minutes|summar(?:y|ies)|releases?)\b"
    r"|报告|方案|纪要|备忘录|公告|[简周月]报",
}
# Files that can hold the thing at all, and those that hold it if nothing else is said of it.
_NO_PICTURES = frozenset(("csv", "json", "txt", "yaml", "py", "sh", "eml", "ics"))
_HOLDERS = {
    _MAIL: frozenset(("txt", "md", "docx", "pdf", "html")),
    _PICTURE: frozenset(("xlsx", "docx", "pptx", "pdf", "html")),
}
_OWN_FILE = re.compile(
    r"\b(?:separate|own|second|another|extra|additional|individual) (?:[\w-]+ )?files?\b"
    r"|\battach (?:it|them|this|that|the|both|your)\b|\bas (?:an )?attachments?\b"
    r"|(?:单独|另外?)[^。；，]{0,4}(?:文件|保存)|另存|作为附件"
)
_OWN_TYPE = {
    _MAIL: re.compile(r"\beml\b"),
    _PICTURE: re.compile(r"\b(?:png|svg|jpe?g|images?|pictures?)\b|图片"),
    _EVENT: re.compile(r"\b(?:ics|calendars?)\b|日历"),
    _DOCUMENT: re.compile(r"\bmarkdown\b"),
}
_BESIDE = re.compile(
    r"\b(?:also|too|as well|additionally|in addition|besides|plus|separately)\b"
    r"|另外|此外|还要|同时|再"
)
_SENDS = re.compile(
    r"(?:^|[,.;:] |\b(?:and|then|please|also|finally) )(?:send|e-?mail|mail|forward|notify|inform"
    r"|invite|remind)\b|发(?:送|给|一?封?邮件)|寄"
)
_INTO = r"(?:in|into|to|as|under)(?: an? | the | one | single | file | called | named )*"
_ALL = (
    r"(?:everything|all of (?:it|this|that|them)|it all|all (?:this|that|results|parts)"
    r"|the whole(?: thing)?|(?:all )?(?:two|three|both)(?: of them| parts| things)?"
    r"|the (?:full )?results?)"
)
_ALL_INTO = re.compile(
    rf"\b{_ALL}\b[^.;§]{{0,40}}\b{_INTO}[^.;§]{{0,12}}{_RESULT}"
    rf"|{_RESULT}[^.;§]{{0,20}}\b(?:holds?|with|contains?|containing) {_ALL}"
    r"|(?:全部|所有内容|都|一起|一并|统一|均)[^。；§]{0,12}"
    rf"(?:写|放|存|整理|汇总|输出)[^。；§]{{0,8}}{_RESULT}"
)
_PART = (
    r"[^.;§]{0,40}\b(?:in|into|as|to|on|under|at|below|above|after)\b[^.;§]{0,20}"
    r"\b(?:section|chapter|page|sheet|tab|slide|appendix|the (?:very )?(?:end|bottom|top)"
    r"|same (?:file|document|workbook|deck|report))\b"
    r"|[^。；，]{0,10}(?:一节|章节|部分|末尾|最后|工作表|同一[个份]?(?:文件|文档|表格))"
)
_SAVED = re.compile(
    r"\b(?:save|saved|store|stored|put|write|written|export|deliver)"
    rf"(?: (?:it|this|that|them|these|the text|the draft))? {_INTO} ?['\"`“]?{_RESULT}"
    rf"|(?:保存|存|写|放|输出|导出)(?:为|成|到|入|进|在)?(?:文件)?[\s“\"'`「]{{0,2}}{_RESULT}"
)
_IN_NAME = (
    rf"[^.;。；§]{{0,120}}?(?:\b{_INTO}|[入进为成到]) ?(?:文件)?[\s“\"'`「]{{0,2}}{_RESULT}"
    rf"|(?<=[到入进]){_RESULT}"
)


def without_held(
    deliverables: Sequence[Deliverable], request: str, given: Sequence[str]
) -> tuple[Deliverable, ...]:
    """The deliverables, less those without a name that are a part of a file that is named.

    `given` are the input files: an input that is only changed takes up nothing unless it is said.
    """
    named = [item for item in deliverables if item.source != "produced" and _names(item)]
    if not named:
        return tuple(deliverables)
    names = {name for item in named for name in _names(item)}
    text = _marked(request, names)
    is_new = names.isdisjoint(tail(path) for path in given)
    return tuple(
        item
        for item in deliverables
        if item.name_hints or not _is_held(item, text, named, is_single=is_new and len(names) == 1)
    )


def _names(item: Deliverable) -> tuple[str, ...]:
    return () if item.name_hints == (ANSWER,) else item.name_hints


def _marked(request: str, names: set[str]) -> str:
    """The request with a sign for each name of a result or of another file."""
    pieces, position = [], 0
    for span in find_file_spans(request):
        said = request[span.start : span.end]
        name = next((name for name in names if _ends_with_name(said, name)), "")
        before = said[: len(said) - len(name)] + _RESULT if name else _OTHER
        pieces += [request[position : span.start], before]
        position = span.end
    return "".join([*pieces, request[position:]])


def _ends_with_name(said: str, name: str) -> bool:
    """Is it the name, after a folder or after Chinese words written without a space?"""
    before = said.removesuffix(name)
    return before != said and (not before or before[-1] in "/\\" or is_han(before[-1]))


def _is_held(
    item: Deliverable, text: str, named: Sequence[Deliverable], *, is_single: bool
) -> bool:
    thing = _THING_OF.get(item.file_type)
    holders = {other.file_type for other in named}
    if thing is None or (thing == _PICTURE and holders <= _NO_PICTURES):
        return False
    sentences = list(_orders(text))
    plain = text.lower()
    if _OWN_FILE.search(plain) or _OWN_TYPE[thing].search(plain):
        return False
    if any(re.search(f"(?:{_NOUNS[thing]})(?:{_PART})", order) for order in sentences):
        return True
    if thing == _MAIL and any(map(_SENDS.search, sentences)):
        return False
    if any(map(_ALL_INTO.search, sentences)) or _is_put_in(thing, sentences):
        return True
    if not is_single:
        return False
    return _is_saved_later(thing, sentences) or (
        item.count == 1
        and not _BESIDE.search(plain)
        and not holders.isdisjoint(_HOLDERS.get(thing, ()))
    )


def _orders(text: str) -> Iterator[str]:
    """The sentences of a request that may order something, and fragments such as "All in a.md"."""
    return (item.text.lower() for item in read(text) if item.ask is not Ask.QUESTION)


def _is_put_in(thing: str, sentences: Sequence[str]) -> bool:
    """Does a sentence put the thing into a named file: "table and chart into visits.xlsx"?"""
    return any(re.search(f"(?:{_NOUNS[thing]})(?:{_IN_NAME})", order) for order in sentences)


def _is_saved_later(thing: str, sentences: Sequence[str]) -> bool:
    """Is what was made last, and is the thing, saved under the name: "… Save it as visits.txt"?"""
    made = [at for at, order in enumerate(sentences) if re.search(_NOUNS[thing], order)]
    saved = [at for at, order in enumerate(sentences) if _SAVED.search(order)]
    return bool(made and saved) and made[0] <= saved[-1]
