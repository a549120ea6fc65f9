"""The files that a task asks for, read from its request and from what the agent produced.

The request takes precedence: a type named in a directive ("export it as a PDF", "做成 Excel"), or a
file named as output. Where it only says "a report", the type is that of the agent's file. Where it
names no file at all, the files that the agent wrote are expected. A task that asks only for an
answer delivers it as `answer.md`, so that hard rules run on every task.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from construction.grading.file_types import TYPES, type_of
from construction.judging.reading import Ask, read
from construction.judging.result_folders import folders_with, is_repeated
from construction.mentions.spans import find_file_spans
from data.contracts import AgentAct, Deliverable
from data.text.numerals import NUMBER_WORDS, ONE_TO_TEN, read_integer

ANSWER = "answer.md"

# Words for a type of file; "document" and "picture" stand for any type of the kind.
_EN = {
    "xlsx": r"excel(?: (?:file|sheet|table|workbook|spreadsheet))?s?|spreadsheets?|xlsx",
    "csv": r"csv(?: files?)?",
    "docx": r"word (?:doc(?:ument)?|file|format|report)s?|docx(?: files?)?|microsoft word",
    "pptx": r"power ?points?(?: (?:deck|presentation|file))?s?|pptx?s?(?: (?:deck|file))?s?"
    r"|slides? ?decks?|presentation decks?|pitch decks?|key slides",
    "pdf": r"pdfs?(?: (?:file|report|version|document|format))?s?",
    "md": r"markdown(?: (?:file|document|report|table))?s?",
    "html": r"html(?: (?:page|file|report))?s?|web ?pages?|landing pages?",
    "json": r"json(?: files?)?",
    "yaml": r"ya?ml(?: files?)?",
    "py": r"python (?:script|program|function|module|class|file|code|decorator)s?",
    "sh": r"(?:bash|shell) scripts?",
    "ipynb": r"jupyter notebooks?|ipython notebooks?",
    "svg": r"svgs?(?: (?:file|image))?s?",
    "png": r"pngs?(?: (?:file|image))?s?",
    "document": r"reports?|memos?|proposals?|briefing documents?|white ?papers?|minutes"
    r"|(?<!first )(?<!capital )(?<!case )(?<!block )letters?"
    r"|implementation plans?|press releases?|executive summar(?:y|ies)",
    "picture": r"(?:(?:bar|line|pie) )?charts?|posters?|infographics?|(?<=to )images?",
}
_ZH = {
    "xlsx": "excel(?:表格?|文件)?|电子表格|xlsx",
    "csv": "csv(?:文件|格式)?",
    "docx": "word(?:文档|文件|版|格式)?|docx",
    "pptx": "pptx?|幻灯片|演示文稿",
    "pdf": "pdf(?:文件|版|格式|报告)?",
    "md": "markdown(?:文件|文档|格式)?",
    "html": "网页|html(?:页面|文件)?|落地页",
    "json": "json(?:文件|格式)?",
    "py": "python ?(?:脚本|程序|代码|函数)",
    "sh": "(?:shell|bash) ?脚本",
    "document": "报告(?![它其给出]|一下|是否)|方案|纪要|备忘录|意见书|公告|计划书|说明书|提案"
    "|简报|周报|月报",
    "picture": "图表|柱状图|折线图|饼图|海报|信息图",
}
_MADE_EN = re.compile(
    r"\b(?:make|create|build|write|draft|generate|produce|prepare|compile|put|design|compose"
    r"|develop|give|send|export|save|convert|turn|output|format|render|need|want|like|return"
    r"|provide|summari[sz]e|deliver|publish|add|polish|split|divide|plot|draw|visuali[sz]e)\b"
)
_MADE_ZH = re.compile(
    "做|写|生成|制作|导出|输出|整理|转|保存|汇总|画|绘|起草|拟|出|给我|准备|创建|设计|返回|提供|存|要|用"
)
# Directly before the word these say that the file exists already.
_GIVEN_EN = re.compile(
    r"\b(?:this|that|these|those|the|my|our|your|his|her|their|attached|existing|of|from|using|read"
    r"|open|draft)\s(?:[\w-]+\s)?$"
    r"|\b(?:from|using|against|based on|according to|in the|in this|in our|in my)"
    r"\s(?:(?!(?:an?|to|as|into|and|then)\b)[\w-]+\s){0,4}$"
    r"|\b(?:convert|transform|analy[sz]e|scan|parse|load|process|import)"
    r"\s(?:(?!to |into |as |in |an? )[\w-]+\s){0,3}$"
)
_GIVEN_ZH = re.compile(
    r"(?:这|那|附件里?的?|根据|基于|在|将|把|对|由|加载|导入|处理|分析|解析|读取?|打开|查看|看|里的?|中的?|参考|从|上传的|发的)[个份张篇些]?\s?$"
)
_NOT_THE_AGENT = re.compile(
    r"\b(?:ill|i will|im|i am|ive|i have|well|we will|let me)\b|我来|我会|我先"
)
_NUMBERS_EN = [word for word, number in NUMBER_WORDS.items() if 2 <= number <= 10]
_COUNT_EN = re.compile(rf"\b(\d{{1,2}}|{'|'.join(_NUMBERS_EN)})\s(?:[a-z-]+\s)?$")
_COUNT_ZH = re.compile(
    rf"(\d{{1,2}}|[两{ONE_TO_TEN}])\s?[份个张篇套][^\s，、。和与及份个张篇套]{{0,6}}$"
)
# "student_name.eml": what the file is to be called is still to be found out.
_STANDS_FOR_NAME = re.compile(r"(?i)[a-z]{2,12}[_-]name\.\w{1,5}|name\.(?:eml|ics|docx|pdf)")
# "The PDF extraction skill" is a means, not what is to be made.
_OF_A_MEANS = re.compile(
    r"^[- ](?:[a-z]+[- ]){0,2}?(?:skills?|tools?|toolkit|librar(?:y|ies)|plug-?ins?|pipeline"
    r"|parsers?|readers?|api)\b"
    r"|^ ?[^\s，。；、和与]{0,6}(?:技能|工具|插件|管道|库)"
)
_AS_RESULT = re.compile(
    r"(?:\b(?:as|to|into|in)\s(?:an?\s)?(?:new\s|single\s|one\s)?|\bnew\s(?:[a-z]+\s)?"
    r"|[成为]\s?(?:一[个份张])?\s?|(?:导出|输出|生成|新建|创建)\s?(?:一[个份张])?\s?)$"
)
_LOOK_BACK = 80  # characters
_NAME = "§/§"  # stands for a file's name: no word, and the end of no sentence
_MOST = 20  # names kept as hints


def _finder(words: dict[str, str], boundary: str) -> re.Pattern[str]:
    groups = "|".join(f"(?P<{name}>{pattern})" for name, pattern in words.items())
    return re.compile(rf"{boundary}(?:{groups}){boundary}")


_FIND_EN = _finder(_EN, r"\b")
_FIND_ZH = _finder(_ZH, "")


def expected_deliverables(
    request: str, named: Sequence[str], acts: Iterable[AgentAct], given: Sequence[str] = ()
) -> tuple[Deliverable, ...]:
    """The files to expect, sorted by type; at least one.

    `named` are the files that the request names as output; `acts` are the agent's, of which
    those that wrote files count; `given` are the input files. Beside named outputs, the type of an
    input is asked for only by "as", "to" or "a new".
    """
    produced = _produced(acts)
    names, nameless, repeated = _named_outputs(request, named)
    kinds_given = {kind.name for path in given if names and (kind := type_of(path)) is not None}
    requested = {**_types_asked_for(request, names, produced, kinds_given), **nameless, **repeated}
    if requested or names:
        return tuple(
            _requested(kind, requested.get(kind, 1), names.get(kind, []), kind in produced)
            for kind in sorted({*requested, *names})
        )
    if produced:
        return tuple(
            Deliverable(
                file_type=kind,
                count=len(produced[kind]),
                name_hints=tuple(produced[kind][:_MOST]),
                source="produced",
            )
            for kind in sorted(produced)
        )
    return (Deliverable(file_type="md", name_hints=(ANSWER,)),)


def _named_outputs(
    request: str, named: Sequence[str]
) -> tuple[dict[str, list[str]], Counter[str], Counter[str]]:
    """By type: the names of outputs, how many have a name that is still to be found out, and how
    many have one name in several folders."""
    names: dict[str, list[str]] = {}
    nameless: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    for path in named:
        kind, base = type_of(path), _base(path)
        if kind is None:
            continue
        places = max(len(folders_with(base, named)), 2 * is_repeated(request, base))
        if _STANDS_FOR_NAME.fullmatch(base):
            nameless[kind.name] += 1
        elif places > 1:
            repeated[kind.name] = max(repeated[kind.name], places)
        elif base not in names.setdefault(kind.name, []):
            names[kind.name].append(base)
    return names, nameless, repeated


def with_moved(
    deliverables: Sequence[Deliverable], moved: Sequence[str]
) -> tuple[Deliverable, ...]:
    """The deliverables, with the files that are to be renamed or moved instead of a mere answer."""
    kinds = Counter(kind.name for path in moved if (kind := type_of(path)) is not None)
    if not kinds or any(item.name_hints != (ANSWER,) for item in deliverables):
        return tuple(deliverables)
    return tuple(Deliverable(file_type=name, count=kinds[name]) for name in sorted(kinds))


def _requested(kind: str, count: int, names: list[str], is_produced: bool) -> Deliverable:
    return Deliverable(
        file_type=kind,
        count=max(count, len(names)),
        name_hints=tuple(names[:_MOST]),
        source="both" if is_produced else "request",
    )


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _produced(acts: Iterable[AgentAct]) -> dict[str, list[str]]:
    """Names of the files that the agent wrote, by type; code only where nothing else was made."""
    names_by_type: dict[str, list[str]] = {}
    for act in acts:
        kind, base = type_of(act.path), _base(act.path)
        if act.kind == "wrote" and kind is not None and not base.startswith("."):
            names = names_by_type.setdefault(kind.name, [])
            if base not in names:
                names.append(base)
    results = {kind: names for kind, names in names_by_type.items() if TYPES[kind].kind != "code"}
    return results or names_by_type


def _types_asked_for(
    request: str,
    names: dict[str, list[str]],
    produced: dict[str, list[str]],
    kinds_given: Collection[str],
) -> dict[str, int]:
    """The types that the request's directives name, with the number of files of each.

    "A report" that has a file's name is that file.
    """
    counts: Counter[str] = Counter()
    for sentence in read(_without_names(request)):
        if sentence.ask is not Ask.DIRECTIVE:
            continue
        types = list(_types_in(sentence.text.lower()))
        documents = {word for word, *_ in types} & _NAMED_AS["document"]
        for word, noun, count, is_result in types:
            if word == "document" and documents:
                continue  # "a Word report": its type is said
            if not _is_named(word, noun, names) and (is_result or word not in kinds_given):
                kind = _stands_for(word, produced)
                counts[kind] = max(counts[kind], count)
    return dict(counts)


def _without_names(text: str) -> str:
    """The text without file names: "summarise a.docx" does not ask for a Word file."""
    pieces, position = [], 0
    for span in find_file_spans(text):
        pieces.append(text[position : span.start])
        position = span.end
    return _NAME.join([*pieces, text[position:]])


def _types_in(sentence: str) -> Iterator[tuple[str, str, int, bool]]:
    """Type, noun and number of every file that is to be made, and: is it said "as" or "to" it?"""
    plain = sentence.replace("'", "").replace("’", "")
    for finder, made, given, counter in (
        (_FIND_EN, _MADE_EN, _GIVEN_EN, _COUNT_EN),
        (_FIND_ZH, _MADE_ZH, _GIVEN_ZH, _COUNT_ZH),
    ):
        for match in finder.finditer(plain):
            before = plain[max(0, match.start() - _LOOK_BACK) : match.start()]
            if not made.search(before) or given.search(before) or _NOT_THE_AGENT.search(before):
                continue
            if _OF_A_MEANS.match(plain[match.end() :]):
                continue
            number = counter.search(before)
            count = _number(number[1]) if number else 1
            is_result = number is not None or _AS_RESULT.search(before) is not None
            yield str(match.lastgroup), match[0], count, is_result


def _number(word: str) -> int:
    return max(1, read_integer(word) or 1)


_FALLBACK = {"document": "md", "picture": "png"}


PICTURES = frozenset({"png", "jpg", "svg", "gif", "webp"})
_NAMED_AS = {
    "document": frozenset({"docx", "pdf", "md", "txt", "html", "pptx"}),
    "picture": PICTURES,
}


def _is_named(word: str, noun: str, names: dict[str, list[str]]) -> bool:
    """Is "a report" or "a chart" one of the files that the request names?"""
    if word not in _NAMED_AS:
        return False
    bases = [name.lower() for listed in names.values() for name in listed]
    return not _NAMED_AS[word].isdisjoint(names) or any(noun.rstrip("s") in base for base in bases)


def _stands_for(word: str, produced: dict[str, list[str]]) -> str:
    """The type of "a report" or "a chart": the type that the agent produced, else the plainest."""
    if word not in _FALLBACK:
        return word
    kind = "image" if word == "picture" else "document"
    made = sorted(name for name in produced if TYPES[name].kind == kind)
    return made[0] if made else _FALLBACK[word]
