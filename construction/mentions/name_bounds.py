"""Where a file name begins, and the pasted parts of a text in which names do not count.

Names contain spaces and brackets, and Chinese words precede them without a space. Where the
start is uncertain, this takes the best guess; `fixtures.resolve` may correct it by the files
that exist.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from data.text.scripts import has_han, is_han

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
# What a shell writes before a command: a date, user and host, a folder, a branch, a sign.
_PROMPT = (
    r"(?:\([\w./-]{1,40}\) |[╰└][─━-]{1,3} ?)?(?:"
    r"\[\d{1,2}/\d{1,2}/\d{2,4} [^\]\n]{1,120}\] |[╭┌][─━]"
    r"|[\w.-]{1,60}@[\w.-]+[:~ ] ?[\w.~/+-]{0,80}(?: \([^)\n]{1,60}\))? ?[$#%](?: (?!\d)|$)"
    r"|[\w.-]{1,60}@[\w.-]+ (?:MINGW|MSYS|UCRT|CLANG)\w* "  # Git Bash
    r"|[$➜%❯] {1,3}\S|[❯➜][ \t]*$"
    r"|(?:[\w.~/+-]{1,80} )?git:\([^)\n]{1,80}\)"  # oh-my-zsh
    r"|\S{1,80} on (?:[\uE000-\uF8FF🌱] ?\S| ?\S{1,80} via [^\x00-\x7F])"  # starship
    r"|[\uE000-\uF8FF]|[~/][\w./~+-]{0,80} .{0,80}❯"  # powerlevel10k
    r"|[~/][\w./~+-]{0,80}(?: \([\w./-]{1,60}\)| [a-z][\w./-]{0,60}[*!?+]{1,3})? ?[$❯➜λ](?: |$)"
    r"|~/\S{0,80} % "
    r"|[\w.-]{1,60}:[\w.~/-]{1,80} [\w.-]{1,40}\$ "  # bash of macOS
    r"|(?:ba|z|k)?sh-\d[\d.]{0,5}[$#%] |(?:PS )?[A-Za-z]:\\(?:[^>\n]{0,120}[^>\s])?>(?: ?[\w.]|$))"
)
_MACHINE_LINE = re.compile(
    r"[ \t]*(?:at (?:[\w$.<>\[\] ]{1,200}\(|\S{1,255}:\d)|File \"|"
    rf"{_PROMPT}|[$➜#%] {{1,3}}\S|"
    r"(?:diff --git|index [0-9a-f]{7}|@@ |\+\+\+ |--- [ab]/)|"
    r"[\w.]{1,80}(?:Error|Exception|Warning)\b[:(]|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d)"
)
_MACHINE_WORD = re.compile(
    r"\b(?:ENOENT|PASSED|FAILED)\b|:\d+:\d+\b|\bexit status \d|\bread the full transcript at\b"
)
# A shell's prompt; a line with a sign of state in a text with one is output.
SHELL_PROMPT = re.compile(rf"(?m)^[ \t]*{_PROMPT}")
_STATE = re.compile(r"[ \t]*[✅❌⚠ℹ📊✔✖✗✓⏭♻✨👀🔍🚀]")
_DIFF = re.compile(r"(?m)diff --git a/|^--- a/.*\n\+\+\+ b/")
_DIFF_LINE = re.compile(
    r"[ +\-@\\\t]|diff --git |index [0-9a-f]{7}|(?:new|deleted) file|(?:old|new) mode"
    r"|similarity index|rename |Binary files "
)
_LONGEST_LINE = 1000
_ONLY_A_PATH = re.compile(r"[ \t]*(?=\S*[./\\])[\w./\\:~@+%-]{1,255}[ \t]*$")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


class Zones:
    """Stretches of a text, merged where they overlap; a lookup takes logarithmic time."""

    def __init__(self, zones: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(zones):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def touch(self, start: int, end: int) -> bool:
        """True if a zone overlaps `start:end`."""
        position = bisect_left(self._starts, end) - 1
        return position >= 0 and self._ends[position] > start


NOWHERE = Zones(())


def pasted(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of fenced blocks, of shell and stack-trace lines, and of paragraphs of these.

    A paragraph counts if more than a third of its lines are such lines, and so does a diff. A
    fenced block that lists only paths is left out: some people name their files that way.
    """
    start, is_session = 0, SHELL_PROMPT.search(text) is not None
    for end in [*(match.end() for match in _PARAGRAPH.finditer(text)), len(text)]:
        yield from _machine_lines(text, start, end, is_session=is_session)
        start = end
    yield from _diffs(text)
    if "```" not in text and "~~~" not in text:
        return
    fences = [match.start() for match in _FENCE.finditer(text)]
    for opening, closing in zip(fences[::2], [*fences[1::2], len(text)], strict=False):
        body = text.find("\n", opening, closing) + 1
        lines = text[body:closing].splitlines() if body else []
        if not lines or not all(_ONLY_A_PATH.match(line) for line in lines if line.strip()):
            yield opening, closing


def _diffs(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of every diff, up to the first line that cannot belong to one."""
    end = 0
    for match in _DIFF.finditer(text):
        if match.start() < end:
            continue
        end = position = text.find("\n", match.start()) + 1 or len(text)
        while position < len(text):
            line_end = text.find("\n", position) + 1 or len(text)
            if _DIFF_LINE.match(text, position):
                end = line_end
            elif text[position:line_end].strip():
                break
            position = line_end
        yield match.start(), end


def _machine_lines(
    text: str, start: int, end: int, *, is_session: bool
) -> Iterator[tuple[int, int]]:
    lines = text[start:end].splitlines(keepends=True)
    marked = [_is_machine_line(line, is_session=is_session) for line in lines]
    if sum(marked) * 3 > len(lines):
        yield start, end
        return
    for line, is_marked in zip(lines, marked, strict=True):
        if is_marked:
            yield start, start + len(line)
        start += len(line)


def _is_machine_line(line: str, *, is_session: bool) -> bool:
    if _MACHINE_LINE.match(line) or (
        is_session and (SHELL_PROMPT.match(line) or _STATE.match(line))
    ):
        return True
    return len(line) < _LONGEST_LINE and _MACHINE_WORD.search(line) is not None


LONGEST_NAME = 255
_LONGEST_REACH = 100

_STOPS = frozenset(" \t\r\n\f\v\u3000\xa0\u2005\"'`“”‘’「」『』《》〈〉<>|*?,;，；。：、！？…=!\0")
_CLOSERS = {")": "(", "）": "（", "]": "[", "】": "【"}
_OPENERS = frozenset(_CLOSERS.values())
# Where a name begins after Chinese words written without a space.
_AFTER_CLEAR = re.compile(
    r"(?:保存(?:到|为|成|在)|另存为|存(?:为|成|到)|导出(?:为|到|成)?|输出(?:到|为|成)?|"
    r"写(?:入|到|进|成)|命名为|改名为|"
    r"生成|新建|创建|制作|转换?(?:为|成)|放(?:到|在|进)|(?:[都均]|一起|一并)[放存]|汇总到|整理(?:到|成)|合并(?:到|成|为)|翻译成|做成|根据|基于|依据|"
    r"按照|参考|参照|读取|打开|查看|看一下|看下|看看|使用|利用|上传了|上传的|发了|发给你|发你的?|附件里的|附件中的|"
    r"附件(?!\d)是?|文件夹里的|目录下的|里面的|里的|中的|下的|名为|叫做|请你?|帮我|帮忙|麻烦|这个|那个|这份|那份|一个|一份|"
    r"以及|还有|比较|对比)(?:了|(?:文件|文档|表格)(?=.))?"
)
_POLITE = re.compile(r"(?:请你?|帮我|帮忙|麻烦)$")
_AT_START = re.compile(
    r"(?:先|再|然后|接着)?(?:和(?!约)|与|跟(?![进踪])|及(?!格)|或者?|把|将(?!来)|从(?!业)|用(?![户量途电水工友])|给|在(?![职线途库建])|"
    r"对(?![账照比象接公标外内应])|看(?!板)|读(?![书者])|写(?!作)|做|改(?!革)|按(?![揭钮])|见(?![面习证])|是|为|叫|我的|分析|汇总|总结|"
    r"整理|合并|修改|更新|清空|清除|删除|删掉|"
    r"编辑|检查|审核|校对|翻译|处理|统计|润色|完善)(?:一下|下|了)?"
)
_ROOTED = re.compile(r"~[/\\]|(?<![A-Za-z])[A-Za-z]:[/\\]|(?<!:)//?(?=[A-Za-z0-9])|\\\\")
_SEPARATOR = re.compile(r"[/\\]")
_MASKED_FOLDER = re.compile(r"[\[<(][A-Z][A-Z_]{2,30}(?:[_ ]?\d{1,4})?[\])>](?=[/\\])")


def token_start(text: str, floor: int, dot: int) -> int:
    """The start of the name whose extension begins at `dot`, as far back as names can reach.

    Brackets must be in pairs; returns `dot` if they are not.
    """
    position, lowest = dot, max(floor, dot - LONGEST_NAME)
    closers: list[str] = []
    while position > lowest:
        char = text[position - 1]
        if char in _CLOSERS:
            closers.append(_CLOSERS[char])
        elif char in _OPENERS:
            if not closers or closers.pop() != char:
                break
            # "report (1).docx": browsers number downloads after a space; "take [REDACTED]/a.docx"
            after_space = (
                position > 2 and text[position - 2] == " " and text[position - 3].isalnum()
            )
            if after_space and not _MASKED_FOLDER.match(text, position - 1):
                position -= 1
        elif char == ":":
            drive = position > 1 and text[position - 2].isalpha()
            if not drive or text[position : position + 1] not in ("/", "\\"):
                break
        elif char in _STOPS and not (char == " " and closers):
            break
        position -= 1
    return dot if closers else position


def rooted_start(text: str, floor: int, start: int) -> int:
    """The start of a path with spaces after its root: `C:\\My Files\\a.docx`, `~/My Files/a.docx`.

    Returns `start` if no such root precedes it on the line.
    """
    line = max(floor, text.rfind("\n", 0, start) + 1, start - LONGEST_NAME)
    if start == line or text[start - 1] != " ":
        return start
    token = max(text.rfind(" ", line, start - 1) + 1, line)
    while token >= line:
        word = text[token : start - 1]
        if _STOPS.intersection(word) - {" "} or "." in word or word.endswith(("/", "\\")):
            return start
        if re.match(r"(?:[A-Za-z]:[/\\]|\\\\|~/|/[A-Za-z])", word):
            return token
        if token == line:
            return start
        token = max(text.rfind(" ", line, token - 1) + 1, line)
    return start


def words_before(stem: str) -> int:
    """The number of characters of `stem` that are Chinese words before the actual name."""
    if not has_han(stem):
        return 0
    root = _ROOTED.search(stem)
    if root and root.start() and is_han(stem[root.start() - 1]) and root.group() != "/":
        return root.start()
    # A folder's name may contain such words, so only the text before the first separator counts.
    limit = min(separator.start() if (separator := _SEPARATOR.search(stem)) else len(stem) - 1, 80)
    cut, polite = 0, True
    for match in _AFTER_CLEAR.finditer(stem, 0, limit + 1):
        if match.end() <= limit:
            cut, polite = match.end(), _POLITE.match(match.group()) is not None
    if polite:
        at_start = _AT_START.match(stem, cut)
        if at_start and at_start.end() <= limit:
            cut = at_start.end()
    return cut


def reach(text: str, floor: int, start: int) -> int:
    """The earliest offset at which a name with spaces could begin without crossing a stop."""
    position, lowest = start, max(floor, start - _LONGEST_REACH)
    while position > lowest and (text[position - 1] == " " or text[position - 1] not in _STOPS):
        position -= 1
    return position + (len(text[position:start]) - len(text[position:start].lstrip()))
