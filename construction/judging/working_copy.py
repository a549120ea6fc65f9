"""What only the person's own working copy or screen holds: code, its state, a pasted picture.

A recorded session was typed beside a repository. Where none of its code is among the inputs, a
request to change the program cannot be met, whatever documents lie there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from construction.grading.file_types import extension_of
from construction.judging.edits import files_in
from construction.judging.reading import read
from construction.mentions.brought import brings_along, brings_code
from construction.mentions.extensions import CODE_EXTENSIONS
from construction.mentions.name_bounds import SHELL_PROMPT
from construction.mentions.spans import find_file_spans

# What offices write about software has a process, a template, a policy: no working copy is meant.
_NO_OFFICE = (
    r"(?!(?: [#!]?\d+)? (?:process|template|policy|guidelines?|procedure|workflow|rules)\b)"
)
_PULL = rf"(?<![a-z])(?:(?:pull|merge) request|(?-i:PR|MR)) ?[#!]?\d+\b{_NO_OFFICE}"
# The state of a working copy, which a task has only with its program code.
_OF_CODE = re.compile(
    r"(?i)\b(?:unstaged|uncommitted) (?:\w+ )?(?:code|changes?|files?|diffs?|work)\b"
    r"|\b(?:staged|pending) (?:\w+ )?(?:code|diffs?)\b|\bstaged (?:changes?|files?)\b"
    r"|\bgit (?:diff|log|status|blame|stash|rebase|bisect)\b"
    r"|\b(?:this|the|my|current|that|latest|last) "
    rf"(?:pr|pull request|commit|diff|working tree)\b{_NO_OFFICE}"
    r"|\b(?:resolve|fix)(?: \w+)? merge conflicts\b"
    r"|\b(?:what|which) (?:git )?branch (?:am i on|are we on|is checked out)\b"
    rf"|{_PULL}|https?://github\.com/\S+/pull/\d+|\b(?:git|commit) history\b"
    r"|未(?:暂存|提交)的(?:改动|代码)|当前分支|提交历史"
)
# Words that are also of shops, meetings and offices: of code only in a text that speaks of code.
_OF_CODE_OR_OFFICE = re.compile(
    r"(?i)\b(?:this|the|my|current|that|latest|last) branch\b"
    r"|\bpending (?:\w+ )?(?:changes?|work)\b"
    r"|\b(?:resolve|fix)(?: \w+)? conflicts\b"
)
# A text that speaks of code: its words, its notation, what goes wrong with it.
_OF_PROGRAMMING = re.compile(
    r"(?i)\b(?:(?:source|the|this|our) code|codebase|bugs?|git|commits?|commit(?:ted|ting)|rebase"
    r"|compil\w+|refactor\w*|api|cli|repo(?:sitory)?|pull request|null|exceptions?|stack ?trace"
    r"|unit tests?|merge conflicts?|subcommand|environment variable|env var\w*"
    r"|endpoint (?:\w+ )?returns?)\b|`\w|\b[a-z]+_[a-z]\w*|(?<![\w-])--[a-z]|\w\(\)"
    r"|代码|接口|函数|编译|仓库|命令行|子命令|字段|分支"
)
# Who explains git to others needs no working copy.
_TEACHES = re.compile(
    r"(?i)\b(?:differ|differs|tutorial|cheat ?sheet|beginners?|newcomers?|guide to|how to use)\b"
)
_PULLED = re.compile(rf"(?i){_PULL}")
# A folder that is spoken of as the one that the agent is in.
_HERE = re.compile(
    r"(?i)\b(?:this|the current|the working|current|working) (?:directory|folder|repo|repository|"
    r"codebase|workspace)\b|\b(?:the|our|my) (?:repo|repository|codebase|failing tests?)\b"
    r"|\bthe build (?:fails?|breaks?|is)\b|\brun (?:the|all) (?:unit )?tests\b"
    r"|\blist (?:all |the |my )*files\b|(?:当前|这个|本)(?:目录|文件夹|仓库)"
)
# Parts of a program as its authors speak of them: a flag, a name in camel case, a key, a provider.
_PART = re.compile(
    r"(?<![\w/.-])--[a-z][a-z0-9]+(?:-[a-z0-9]+)*"
    r"|(?<![\w/.#@])(?!(?:mac|mc|de|di|la|le|du|van|von|i|e)[A-Z])[a-z]{2,20}(?:[A-Z][a-z]+){1,5}\b"
    r"|\b(?:the|this|that|our) (?:[a-z-]+ )?(?i:struct)\b"
    r"|\b(?i:in) the (?:[A-Z]\w+ ){1,3}(?:provider|handler|parser)\b"
)
# Parts of programs, and of studies and courses.
_PART_OR_NOT = re.compile(
    r"\b(?:the|this|that|our) (?:[a-z-]+ )?(?i:function|method|endpoint)\b"
    r"|\b(?i:in) the (?:[A-Z]\w+ ){1,3}(?:module|package|component)\b"
)
# Who makes errors that are no program's: "the error handling of the accounts department".
_STAFF = (
    r"(?:of|in|at|by|for|within) (?:the |our |my |their )?(?:[\w-]+ ){0,3}?"
    r"(?:departments?|desks?|teams?|office|staff|clerks?|accounts|accounting|payroll|reception|warehouse|shops?|store|counter"
    r"|branch(?:es)?|process|procedure|bookings?|orders|deliveries|invoices|complaints|hr)\b"
)
# The program as a whole, which a file that is to be made beside it does not replace.
_WHOLE = re.compile(
    r"\bmerge conflicts?\b|合并冲突|\bhot ?keys?\b"
    r"|\b(?:the|this|that|our) (?:[a-z-]+ )?(?i:tui|cli|codebase|source code"
    rf"|unit tests?|test suite|error handling(?! {_STAFF})|refactoring)\b"
)
# A part of what programs write and read; over a table it is a column of that table.
_FIELD = re.compile(
    r"(?i)\b(?:rename|remove|drop|deprecate|introduce|add) (?:[\w-]+ ){0,3}?"
    r"(?:field|flag|option|parameter|argument|subcommand|endpoint|struct"
    r"|env(?:ironment)? variable)s?\b"
    r"|(?:重命名|新增|增加|添加|删除|去掉|删掉)[^，。；\n]{0,12}(?:字段|参数|命令行选项|子命令|接口|方法)"
)
_TABLES = frozenset(("csv", "tsv", "xlsx", "xls", "json", "jsonl", "sqlite", "db", "parquet"))
_PROGRAM = (
    r"(?:sub-?command|(?<!chain of )command"
    r"|parser|compiler|linter|renderer|plug-?in|formatter|daemon)"
)
_WHICH = r"(?:the|this|that|our|my) (?:[a-z-]+ ){0,2}?"
# "This command crashes", "make the parser faster": the program is to be changed.
_CHANGED_PART = re.compile(
    rf"(?i)\b(?:fix|change|make|let|refactor|extend|rework|debug|patch|teach|improve)\b"
    rf"[^.;\n]{{0,40}}?\b{_WHICH}{_PROGRAM}\b(?! lines?\b)"
    rf"|\b{_WHICH}(?:{_PROGRAM}|flag)(?: for [\w-]+(?: [\w-]+)?)? (?:should|must|crashes|drops"
    r"|fails|ignores|hangs|breaks|panics|doesn['’]?t|does not|is (?:broken|slow))\b"
)
# What a person says under pasted output who wants the program to be another.
_REPAIRS = re.compile(
    r"(?i)\b(?:fix|debug|patch|solve|resolve|handle|improve|implement|refactor|investigate)\b"
    r"|\b(?:should|shouldn['’]t|must|let['’]s|instead|why(?:['’]d| did| does| is)|change|rename"
    r"|no longer|make (?:it|this|that|the)|get rid of|add|remove|drop|hide|show|print|confusing)\b"
    r"|修复|解决|应该|改成|不应|去掉|加上|为什么"
)
_SOURCE = "the source code"
_PICTURE = r"(?:photo|photograph|picture|screenshot|snapshot|scan|image)s?"
_PHOTO = re.compile(
    r"(?i)\b(?!(?:on|of|to) our image\b)"
    r"(?:in|on|from|at|of|with|to|using|see|describe|transcribe|does|read|what|translate|extract"
    r"|digiti[sz]e|analy[sz]e|check|identify|crop|rotate|resize) "
    r"(?:the|this|that|these|my|our|the attached) "
    r"(?:(?!big|docker|container|base|disk|brand|overall|whole|full|complete|entire|general|larger"
    r"|wider|broader|clear|financial|public)[a-z]+ )?"
    rf"{_PICTURE}\b(?! (?:folder|files?|album|book|frame|editor|below|above|generator|format))"
    rf"|\b(?:here(?:['’]s| is| are)|this is|attached (?:is|are)|i(?:['’]ve| have)? "
    rf"(?:attached|took|uploaded|sent)) (?:an?|the|my|some|two|three) (?:[a-z]+ )?{_PICTURE}\b"
    rf"|\b(?:the|an?|my) attached (?:[a-z]+ )?{_PICTURE}\b"
    rf"|\bfrom (?:an?|the) {_PICTURE} of (?:the|my|our)\b"
    rf"|\b(?:an?|the|my) {_PICTURE} of (?:an?|the|my|our) (?:[a-z]+ )?[a-z]+ (?:is |was )?"
    r"(?:attached|enclosed|given|provided|uploaded)\b"
    rf"|(?:\A|[.\n] ?){_PICTURE} of (?:an?|the|my|our) (?:[a-z]+ )?[a-z]+ attached\b"
    rf"|\((?:see )?(?:the )?(?:attached )?{_PICTURE}\)"
    r"|这(?:是|张|幅|些)[^，。；\n]{0,10}(?:照片|图片|截图|扫描件)"
    r"|(?:照片|图片|截图|扫描件)(?:[里内](?!要|应|必须|需)|中(?!心|要|应|必须|需)|上(?!传|要|应|必须|需))"
    r"|(?:识别|看看?|读取?|描述|翻译|提取)(?:一下)?(?:这张|这个|附件|上面)?的?"
    r"[^，。；\n生配插]{0,4}(?:照片|图片|截图)"
    r"|\b(?:auf|in|aus|von) (?:dem|diesem|den|diesen|meinem) (?:[a-zäöüß]+ )?"
    r"(?:foto|bild|screenshot)s?\b(?! eine[rs]\b)"
    r"|\b(?:das|dieses|beigefügte[ns]?|angehängte[ns]?) (?:[a-zäöüß]+ )?(?:foto|screenshot)\b"
)
_MAY_SHOW = frozenset(("docx", "pptx", "html", "xlsx", "eml"))  # where the request speaks of them
_FILMS = frozenset(("zip", "mp4", "mov"))
_NEW_PROGRAM = re.compile(
    r"(?i)\b(?:write|create|build|make|develop|implement|need|want)\b[^.\n]{0,40}?\b(?:script|program"
    r"|function|class|app|application|library|tool|website|page|package|module|game|plugin)\b"
    r"|(?:写|编写|实现|开发|创建)[^。\n]{0,12}(?:脚本|程序|函数|类|应用|工具|网页|页面|库|插件)"
)
# What a terminal shows in place of something that was pasted into it.
_PASTED = re.compile(
    r"\[(?P<kind>Image|Screenshot|Pasted (?:text|image)|Attachment|图片|截图|附件)"
    r"(?: ?#\d+[^\]\n]{0,40}|: [^\]\n]{0,200})?\]"
)
# A command of the person's own, whose text the agent's program holds: "/release-notes 12".
_COMMAND = re.compile(
    r"\s*(/[a-z][\w:-]{2,40}(?: [^\n/\s]{1,40}){0,3})[ \t]*(?:\n|$)(?s:(.{0,200}))\Z"
)
_OF_PULL = re.compile(r"/[\w:-]*(?:pr|pull|mr|merge|review)\b.* #?\d")
_OF_REVIEW = re.compile(r"/(?:[\w-]+[:-])?(?:pr|mr|pull|merge|review)\b")
_PICTURES = frozenset(("png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff", "svg", "pdf"))
_CODE = CODE_EXTENSIONS | {"diff", "patch"}
_MOST_SIGNS = 4  # of a program that are shown
_MOST = 20_000  # characters that are read


def missing_from_copy(
    request: str, given: Sequence[str], *, over_code: bool = False
) -> tuple[str, ...]:
    """What a request works on as it says it, that no file of the `given` paths can hold.

    `over_code`: the agent worked on program code in the session, so that a request which neither
    names a file at hand nor wants a new program is about that code.
    """
    text = request[:_MOST]
    missing = [*_commands(text, given), *_not_pasted(text, given), *_pictures(text, given)]
    if not brings_along(text):
        missing += _states(text, given, over_code=over_code)
    if not any(extension_of(path) in _CODE for path in given):
        is_free = _is_free(text, given)
        missing += () if is_free else (pulled.group() for pulled in _PULLED.finditer(text))
        signs = tuple(dict.fromkeys(_signs(text, given, is_free=is_free, over_code=over_code)))[
            :_MOST_SIGNS
        ]
        if signs:
            missing.append(f"{_SOURCE} ({', '.join(signs)})")
        elif _is_of_terminal(text) or (over_code and not is_free):
            missing.append(_SOURCE)
    return tuple(dict.fromkeys(missing))


def _is_free(text: str, given: Sequence[str]) -> bool:
    """Does it bring its code along, want a new program, or name a file at hand?"""
    return _is_new(text) or any(True for _ in files_in(text.lower(), given))


def _is_new(text: str) -> bool:
    """Does it bring its code along, or want a new program?"""
    return brings_code(text) or _NEW_PROGRAM.search(text) is not None


def _names_file(text: str) -> bool:
    return any(extension_of(text[span.start : span.end]) for span in find_file_spans(text))


def _signs(text: str, given: Sequence[str], *, is_free: bool, over_code: bool) -> Iterator[str]:
    """Words that speak of a program as its authors do, over files none of which is its code."""
    names_file = _names_file(text)
    has_tables = any(extension_of(path) in _TABLES for path in given)
    if not (_is_new(text) or names_file):
        yield from (part.group() for part in _CHANGED_PART.finditer(text))
    if not is_free:
        yield from (part.group() for part in _WHOLE.finditer(text))
    speaks_of_code = over_code or _OF_PROGRAMMING.search(text) is not None
    if speaks_of_code and not (is_free or has_tables or brings_along(text)):
        yield from (part.group() for part in _FIELD.finditer(text))
    if not (is_free or names_file):
        yield from (part.group() for part in _PART.finditer(text))
    if speaks_of_code and not (is_free or names_file):
        yield from (part.group() for part in _PART_OR_NOT.finditer(text))


def _is_of_terminal(text: str) -> bool:
    """Does it bring output of a program in a terminal, and wants that to be another?"""
    is_own = _is_new(text) or _names_file(text)
    return not is_own and bool(SHELL_PROMPT.search(text) and _REPAIRS.search(text))


def _commands(text: str, given: Sequence[str]) -> Iterator[str]:
    """The command that is all of the request; what it orders is in a file of the working copy.

    Where that file is among the inputs, a review still lacks the change that it is to look at.
    """
    command = _COMMAND.match(text)
    if command is None or any(item.demands for item in read(command[2])):
        return
    said = command[1].strip()
    name = said.split()[0].strip("/")
    is_given = any(name in (PurePosixPath(path).stem, *path.split("/")[:-1]) for path in given)
    if _OF_PULL.match(said) or (is_given and _OF_REVIEW.match(said)):
        yield f"the pull request of {said}"
    elif not is_given:
        yield f"the text of {said}"


def _pictures(text: str, given: Sequence[str]) -> Iterator[str]:
    """Pictures of which it speaks as of ones at hand, where no input can show or describe them."""
    spoken = [path for _, path in files_in(text.lower(), given) if extension_of(path) in _MAY_SHOW]
    shows = bool(spoken) or any(extension_of(path) in _PICTURES | _FILMS for path in given)
    is_described = any(re.search(r"(?i)ocr|transcri|caption|text|识别", path) for path in given)
    if not (shows or is_described or "://" in text):
        yield from (f"the picture ({photo.group()})" for photo in _PHOTO.finditer(text))


def _states(text: str, given: Sequence[str], *, over_code: bool) -> Iterator[str]:
    demands = [item.text for item in read(text) if item.demands]
    if not any(extension_of(path) in _CODE for path in given):
        patterns = [_OF_CODE]
        if over_code or _OF_PROGRAMMING.search(text):
            patterns.append(_OF_CODE_OR_OFFICE)
        states = [
            (said, state.group())
            for said in demands
            for pattern in patterns
            for state in pattern.finditer(said)
        ]
        for said, state in states:
            if not (state.lower().startswith("git ") and _TEACHES.search(said)):
                yield state
    if not given:
        yield from (here.group() for said in demands for here in _HERE.finditer(said))


def _not_pasted(text: str, given: Sequence[str]) -> Iterator[str]:
    has_picture = any(extension_of(path) in _PICTURES for path in given)
    for pasted in _PASTED.finditer(text):
        if not has_picture or pasted["kind"] in ("Pasted text", "Attachment", "附件"):
            yield pasted.group()
