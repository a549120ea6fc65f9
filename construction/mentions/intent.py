"""Whether a named file is an input or a result, by the words of the sentence before the name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from construction.mentions.extensions import COMMON_NAMES, MESSAGES, extension
from construction.mentions.lead import words_before_name
from construction.mentions.lexicon import Cue
from construction.mentions.result_cues import (
    is_given,
    is_listed_in,
    is_said_to_exist,
    is_shown_below,
    may_be_result,
)
from construction.mentions.words import FILE, cues


class Intent(StrEnum):
    INPUT = "input"  # the sentence says that the file exists
    ASSUMED = "assumed"  # the sentence is silent: an input unless the agent made the file
    EITHER = "either"  # "write it in notes.md": the agent's acts decide, or else what exists
    OUTPUT = "output"
    PRODUCED = "produced"  # "the report.docx you made"
    NONE = "none"  # an example, a negation, talk about a kind of file


_LOOK_AHEAD = 60
_QUOTES = "\"'`“”‘’「」『』《》〈〉*_"
_CLOSE = rf"[{_QUOTES}]{{0,2}}\s?"
_THEN_OF = re.compile(r"\s?(?:的|里|中(?!文)|内的|上的|当中)")
_THEN_TARGET = re.compile(r"\s?(?:(?:as|to|into)\b|为|成|到|转)")
_THEN_DONE = re.compile(r"\s?[了啦](?![解不])")
_THEN_OUTPUT = re.compile(
    r"(?i)\s?(?:as (?:the |an? )?(?:output|result)|作为(?:输出|结果|交付)|"
    r"[(（](?:output|to be created|new file|新建|输出)[)）]|"
    r"(?:that |which )?(?:will|should|shall|must) "
    r"(?:be (?:created|generated|produced|written|saved)|contain|hold|list)|"
    r"does(?:n['’]t| not) exist|还?不存在|还没有)"
)
_THEN_CREATE = re.compile(
    rf"(?i){_CLOSE}(?:(?:,|,? and|&|和|、)\s?[{_QUOTES}]?{FILE}+{_CLOSE}){{0,5}}"
    r"[(（](?:which |that )?(?:you )?(?:should |must |will |can |need to |have to )?(?:first )?"
    r"(?:creat|generat|produc|build|made|deriv|extracted|先?(?:创建|生成|新建))"
)
_THEN_MADE = re.compile(
    r"\s{0,3}(?:[中里内下]面?)?\s{0,3}(?:也|再|另外|同时|一并)?(?:给我|给出|放|写|生成|输出|保存|创建|新建|"
    r"记录|整理|说明|解释|列出|产出|提供|回答|作答|总结|汇总|归纳|展示|呈现)"
)
_NAMES_IT = re.compile(
    r"(?i)(?:\bname of (?:the |an? )?(?:\w+ ){0,2}file(?: \w+)? (?:is|(?:should|must|will) be)"
    r"|\bfile (?:should|must|will) (?:have|use) the name)\s*$"
)
_VIA = re.compile(rf"(?i)\b(?:via|through|by)(?: an?)?(?: (?:e-?)?mail)?\s?[{_QUOTES}]{{0,2}}$")
_THEN_YOU_MADE = re.compile(
    r"(?i)[,\s]{0,2}(?:that |which )?you(?:['’]ve| have)? (?:just |already |previously |earlier )?"
    r"(?:made|created|generated|wrote|written|produced|saved|exported|built|drafted|gave)\b"
)
_YOU_MADE = re.compile(
    r"你(?:们)?(?:刚才|刚刚|刚|之前|上次|前面|已经|上面)?(?:帮我|给我|为我)?"
    r"(?:生成|写|做|创建|导出|输出|整理|保存|改)(?:好|完|出来)?[的了](?:那?[个份张篇]|那)?\s?$"
)
_THEN_EXAMPLE = re.compile(
    r"(?i)\s?(?:(?:这|那|此)[类种]|这样|那样|之类|一类)的?(?:文件|名)|"
    r"[- ](?:like|style) (?:file|name)"
)
_THEN_HOLDS = re.compile(
    rf"\s?(?:这个|该)?(?:目录|文件夹)?(?:下面?的|里面?的|中的)\s?[{_QUOTES}]?{FILE}"
)
_KNOWLEDGE = re.compile(
    r"\s?(?:是什么|是干|是做|有什么用|有什么区别|的作用|的区别|怎么写|文件是什么)"
)


def intent_of(masked: str, start: int, end: int, name: str, is_folder: bool = False) -> Intent:
    """The intent of the file named at `masked[start:end]`.

    `masked` is the text with all file names overwritten by `FILE`, character by character, so
    that words inside names do not count. `name` is the file's last path component.
    """
    after = masked[end : end + _LOOK_AHEAD].lstrip(_QUOTES)
    before = words_before_name(masked, start)
    if is_shown_below(before, after, masked, start):
        return Intent.NONE
    if extension(name) in MESSAGES and _VIA.search(before):
        return Intent.OUTPUT
    if _THEN_YOU_MADE.match(after) or _YOU_MADE.search(before.rstrip(_QUOTES)):
        return Intent.PRODUCED
    if _THEN_OUTPUT.match(after) or _THEN_CREATE.match(after):
        return Intent.OUTPUT
    words, state = before.rstrip(_QUOTES), _read(before)
    if _NAMES_IT.search(words):
        return Intent.EITHER
    if is_given(words, after):
        return Intent.INPUT
    if words.endswith(("(", "（")):
        state.article = state.article and state.verb is Cue.WISH  # "a report (report.docx)"
    if is_folder and (state.holds_file() or _THEN_HOLDS.match(after)):
        return Intent.NONE  # the folder only locates a file that is itself named
    is_new = state.article and not state.by_self
    open_result = may_be_result(before, after, name, is_new=is_new)
    state.article &= not open_result
    intent = state.intent(after)
    intent = Intent.ASSUMED if intent is Intent.INPUT and is_listed_in(before) else intent
    if _THEN_EXAMPLE.match(after) or state.is_none(after, name):
        return Intent.NONE
    if open_result and intent in (Intent.ASSUMED, Intent.INPUT):
        return Intent.EITHER
    return Intent.INPUT if intent is Intent.ASSUMED and is_said_to_exist(before, after) else intent


@dataclass(slots=True)
class _State:
    """What the words read so far say about the file."""

    verb: Cue | None = None
    link: Cue | None = None  # the preposition after the verb
    via_source: bool = False  # another noun is between verb and name: "a summary of … in"
    loosely: bool = False  # "with" or "for" is between them: "a plan with the costs in"
    had_file: bool = False  # the verb already has a file as its object
    after_file: bool = False  # this clause has already named a file
    stores: bool = False
    negated: bool = False
    example: bool = False
    kind: bool = False  # "files like a.pdf" is a kind of file, and so is what they become
    anchored: bool = False  # a definite noun came after the last comma: "the rows in …"
    article: bool = False  # the name has an indefinite article
    by_self: bool = False
    by_you: bool = False
    yours: bool = False  # "the file you saved was named …"
    done: bool = False
    in_list: bool = False
    bare: bool = False  # the verb has no object yet: "create and run a script"
    last: Cue = Cue.CLAUSE

    def take(self, cue: Cue, is_sure: bool) -> None:
        """Read one more word; `is_sure`: a verb is no noun here."""
        is_loose = cue is Cue.ABOUT
        if cue in (Cue.ABOUT, Cue.BESIDE):
            is_next = self.last is Cue.FILE and self.verb in (Cue.MAKE, Cue.STORE)
            cue = Cue.JOIN if is_next and cue is Cue.BESIDE else Cue.SOURCE
        # "a short plan.md": an adjective may come between article and name.
        self.article = cue is Cue.INDEFINITE or (self.article and cue is Cue.OTHER)
        self.anchored |= cue is Cue.THE or (cue is Cue.SOURCE and not is_loose)
        self._end_list(cue)
        shared = self.bare and self.verb is Cue.MAKE and cue is Cue.GIVE
        self.bare = self.bare and cue in (Cue.JOIN, Cue.GIVE, Cue.INSIDE)
        if shared:
            self.last = cue
        elif cue in _VERBS:
            if is_sure or cue is Cue.FINAL or self._may_be_verb():
                self._take_verb(Cue.STORE if cue is Cue.RESULT else cue)
            elif cue is Cue.RESULT and self.verb is None:
                self.verb = cue
        elif cue in _LINKS:
            self.loosely |= is_loose
            self.via_source |= cue is Cue.SOURCE and (not is_loose or self.verb is Cue.GIVE)
            self.after_file &= cue is not Cue.SOURCE
            if cue is Cue.PLACE and self.verb is not Cue.CONVERT:
                self.had_file = False
            self.link = cue
        elif cue is Cue.FILE:
            self.had_file, self.after_file, self.via_source = True, True, False
        elif cue is Cue.INDEFINITE and self.last is Cue.JOIN:
            self.link = None  # "add a map to a.md and a b.md"
        elif cue is Cue.NOT:
            self.negated = True
        elif cue is Cue.EXAMPLE:
            self.example, self.kind = True, self.last is Cue.FILE
        elif cue is Cue.DONE:
            self.done = True
        elif cue in _JOINING:
            self._join(cue)
        if cue is not Cue.OTHER or self.last not in _JOINING:  # "and quickly save"
            self.last = cue

    def _end_list(self, cue: Cue) -> None:
        """A comma after a name continues a list only if another name follows."""
        if cue is Cue.OTHER and self.last is Cue.FILE:
            self.link = None  # "the totals in a.csv match b.csv"
        if self.in_list and cue not in (Cue.JOIN, Cue.FILE, Cue.LIST):
            self.negated = self.kind = False
        self.in_list = cue is Cue.LIST or (self.in_list and cue is Cue.JOIN)

    def _may_be_verb(self) -> bool:
        """False where the word is a noun: "the export in …", "save the chart to …"."""
        if self.verb is None:
            return self.last not in (Cue.THE, Cue.INDEFINITE)
        return self.last in _JOINING or self.last is Cue.PLACE

    def _take_verb(self, cue: Cue) -> None:
        self.verb, self.link, self.via_source, self.had_file = cue, None, False, False
        self.example, self.bare = False, True
        self.yours = cue is Cue.PAST and self.by_you
        self.stores |= cue in (Cue.STORE, Cue.FINAL)
        if cue is Cue.FINAL:
            self.link = Cue.TARGET

    def _join(self, cue: Cue) -> None:
        if cue is Cue.SELF or cue is Cue.YOU:
            self.by_self, self.by_you = cue is Cue.SELF, cue is Cue.YOU
            return
        self.stores = self.done = False
        if cue is not Cue.JOIN:
            self.anchored = False
        if cue is Cue.CLAUSE:
            self.kind = False
            self.negated = self.had_file = self.after_file = False

    def holds_file(self) -> bool:
        """True after "the rows of a.csv are in": a folder that follows locates that file."""
        return self.after_file and self.link in (Cue.INSIDE, Cue.PLACE)

    def is_none(self, after: str, name: str) -> bool:
        """True for a negated name, an example, or a kind of file instead of a file."""
        if self.negated or self.example or self.kind:
            return True
        common = name.lower() in COMMON_NAMES
        if common and self.link is None and (self.verb is Cue.ASK or _KNOWLEDGE.match(after)):
            return True
        if not self.article or self.verb in (Cue.MAKE, Cue.STORE, Cue.WISH):
            return False
        return self.verb in (None, Cue.ASK) or self.link in (Cue.SOURCE, Cue.PLACE, Cue.INSIDE)

    def intent(self, after: str) -> Intent:
        """The intent that verb and preposition express together."""
        if self.yours and self.link is not Cue.SOURCE:
            return Intent.PRODUCED
        if self.done or _THEN_DONE.match(after):
            return Intent.ASSUMED
        if self.link is None:
            return self._direct(after)
        if self.stores and self.link is not Cue.SOURCE:
            return Intent.OUTPUT
        if self.link is Cue.SOURCE:
            return Intent.INPUT
        if self.link is Cue.INSIDE and _THEN_MADE.match(after):
            return Intent.EITHER
        if self.link in (Cue.PLACE, Cue.INSIDE):
            return self._placed()
        if self.verb in (Cue.MAKE, Cue.CONVERT, Cue.STORE, Cue.RESULT):
            return Intent.OUTPUT
        if self.verb is Cue.PAST and not self.by_self:
            return Intent.OUTPUT
        return Intent.OUTPUT if self.verb is Cue.WISH else Intent.ASSUMED

    def _placed(self) -> Intent:
        """The intent after "to" or "in"."""
        if self.verb is Cue.STORE:
            return Intent.OUTPUT
        if self.verb is Cue.CONVERT:
            if self.link is Cue.PLACE or self.had_file:
                return Intent.OUTPUT
            return Intent.INPUT if self.anchored else Intent.EITHER  # "split them in a.csv, b.csv"
        if self.verb is Cue.ASK and self.bare:
            return Intent.EITHER  # "explain in notes.md"
        if self.verb is Cue.PAST:
            return Intent.ASSUMED if self.by_self else Intent.OUTPUT
        summarised = self.verb is Cue.GIVE and self.had_file and self.link is Cue.INSIDE
        if self.verb is Cue.MAKE or summarised:
            is_told = self.via_source or (self.loosely and self.anchored)
            is_read = is_told and self.link is Cue.INSIDE  # "a summary of the rows in"
            return Intent.INPUT if is_read else Intent.EITHER
        if self.verb is Cue.WISH:
            is_open = self.link is Cue.INSIDE and not self.anchored
            return Intent.EITHER if is_open or self.article else Intent.INPUT
        # "Everything in …" may mean a result.
        return Intent.INPUT if self.verb is not None or self.anchored else Intent.ASSUMED

    def _direct(self, after: str) -> Intent:
        if self.verb in (Cue.MAKE, Cue.STORE):
            if _THEN_OF.match(after) or (self.verb is Cue.STORE and _THEN_TARGET.match(after)):
                return Intent.INPUT
            return Intent.OUTPUT
        if self.verb is Cue.WISH:
            return Intent.OUTPUT if self.article else Intent.ASSUMED
        if self.verb is Cue.RESULT:
            return Intent.OUTPUT
        if self.verb in (Cue.GIVE, Cue.CONVERT, Cue.ASK):
            return Intent.INPUT
        return Intent.ASSUMED


_VERBS = frozenset(
    {Cue.GIVE, Cue.MAKE, Cue.STORE, Cue.RESULT, Cue.CONVERT, Cue.PAST, Cue.WISH, Cue.ASK, Cue.FINAL}
)
_LINKS = frozenset({Cue.SOURCE, Cue.TARGET, Cue.NAMED, Cue.PLACE, Cue.INSIDE})
_JOINING = frozenset({Cue.JOIN, Cue.LIST, Cue.CLAUSE, Cue.YOU, Cue.SELF})


def _read(before: str) -> _State:
    state = _State()
    for cue, is_sure in cues(before):
        state.take(cue, is_sure)
    return state
