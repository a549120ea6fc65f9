"""Words that let a named file be a result although its sentence has no verb of making.

"The differences go into diff.md", "call it diff.md", "plan.xlsx should have a tab for each month".
Such a file is an input where one of that name exists, and a result otherwise.
"""

from __future__ import annotations

import re

from construction.mentions.extensions import extension
from construction.mentions.words import FILE
from data.text.lexicon import load_table

_NOUN = (
    r"(?:files?|copy|results?|outputs?|answers?|reports?|documents?|workbooks?|spreadsheets?|"
    r"sheets?|presentations?|decks?|slides|tables?|lists?|notes?|memos?|letters?|briefs?|"
    r"summary|summaries|findings|charts?|pages?|posters?|scripts?|versions?|e-?mails?|json|csv|"
    r"markdown|pdf|differences|conclusions|write-?ups?)"
)
_DETERMINER = r"(?:an?|one|each|single|second|third|another|separate|new|final|your)"
_SIGNS = r"\s\"'`“‘(*_:：,，、–—-"
# Between the words and the name: signs, and other names of the same list.
_END = (
    rf"[{_SIGNS}]{{0,4}}(?:{FILE}{{1,200}}[{_SIGNS}]{{1,4}}(?:(?:and|plus)\s|[&和及与])?){{0,9}}$"
)
_INSIDE = r"(?:in|into|to|at|under|as)"
_FINDINGS = (
    r"(?:it|them|this|these|that|(?:your|the|all) (?:\w+ )?(?:assumptions|findings|answers?|"
    r"reasoning|steps|results?|decisions|notes|conclusions|observations|choices|methods?|"
    r"approach|work|changes|log|totals|comparison|differences))"
)
_REPORT = (
    r"(?:document|describe|explain|plot|log|record|list|note|keep|answer|show|track|present|"
    r"report|summari[sz]e|visuali[sz]e|give|provide|state|conclude|sum up|write up)"
)
_WORK = (
    r"(?:analy[sz]e|check|review|compare|read|look|go|calculate|compute|count|extract|find|get|"
    r"collect|gather|sort|identify|examine|evaluate|inspect|determine|group|rank)"
)
# Names that only a result has: "answer the questions in answers.txt".
_OF_RESULT = re.compile(
    r"(?i)(?:.*[_-])?(?:answers?|descriptions?|summary|conclusions?|findings|solutions?|responses?|"
    r"results?|overview|statistics|stats?)"
)
_BEFORE = re.compile(
    r"(?i)(?:"
    rf"\b(?:go|goes|going|belongs?|ends? up|lands?) {_INSIDE}"
    rf"|\b{_NOUN} (?:lives?|sits?|stands?) (?:in|at|under)"
    r"|\b(?:must|should|will|shall|has to|needs to) (?:live|sit|stand|stay|be|reside|exist|end up|"
    r"wind up|go|be (?:placed|saved|stored|written|kept|available|found)) (?:in|at|under|into|to)"
    r"|\b(?:will|shall|may|would|should|can|must) (?:later |then |only |also |be able to )?"
    r"(?:open|read|view|see|check|grade|review|inspect|receive|get|find|import|load|run)"
    r"|\b(?:leave|drop|place|park|collect|gather|consolidate[ds]?|compile[ds]?|keep) "
    rf"[^.;\n]{{0,60}}\b{_INSIDE}"
    r"|\b(?:document|describe|explain|plot|log|record|list|note|keep|answer|show|track) "
    rf"{_FINDINGS} in(?:to)?|\b{_REPORT} (?:it|them|this|these) in(?:to)?"
    # "Check the offers and list the risks in": the second clause reports on the first.
    rf"|\b{_WORK}\b[^.;\n]{{3,160}}(?:,|\band|\bthen) (?:then |also |finally )?{_REPORT}\b"
    r"[^.;,\n]{0,60} in"
    rf"|\b(?:name|call|title|label) (?:it|them|this|that|(?:the|your|this) (?:\w+ ){{0,2}}{_NOUN})"
    r"(?: as)?"
    r"|\bready\b(?: \w+)? as"
    r"|\b(?:expect|end up with|want back|need back|should (?:find|get|receive|see))\b[^.;\n]{0,50}"
    r"|\b(?:deliverables?|outputs?|results?|hand-?ins?)\b[^.;\n]{0,40}[:：]"
    r"|\b(?:hand in|turn in|submit|deliver)\b[^.;\n]{0,30}"
    r"|\b(?:required|expected|result|answer|final|output) (?:\w+ )?files?\b[^.;\n]{0,20}"
    r"|\bfiles? to (?:create|produce|deliver|submit|write|make|save)\b[^.;\n]{0,20}"
    r"|\b(?:one|an?|each|separate) (?:\w+ )?file per \w+"
    rf"|\b{_DETERMINER} (?:[\w-]+ ){{0,3}}{_NOUN}(?: (?:of|on|for|with) \w+(?: \w+)?)?\s?[,(–—-]"
    r"|\b(?:an?|one|your) (?:new|fresh|separate|final) (?:\w+ ){0,2}(?:\w+)"
    rf"|\b(?:an?|one) (?:[\w-]+ ){{0,3}}{_NOUN}(?: named| called| titled)?"
    rf"|^\W{{0,8}}(?:[\w-]+ ){{0,2}}{_NOUN}(?: named| called| titled)?\s?[(“\"'`]"
    r"|\b(?:with|plus|and) an? (?:short|brief|small|simple|one-page)"
    r"|\b(?:look|check|wait) for [^.;\n]{0,40}\bat"
    r"|(?:另存|附上|附)一?[份个张]?[^。；，\n]{0,10}"
    r"|\binto an? (?:\w+ ){0,2}(?:section|page|chapter|sheet|tab|part|row|line|entry) (?:of|in)"
    r"|(?<!look )(?<!dig )(?<!read )\binto"
    r"|(?:文件名|命名|取名|名称)(?:为|是|叫|成)?"
    r"|(?:提交|交付|上交|产出)[^。；\n]{0,24}"
    r"|(?:总结|汇总|归纳|整理|记录|展示|呈现)在"
    rf"){_END}"
)
_AT_HAND = re.compile(
    r"(?i)\b(?:i|we|you|there)(?:['’]ve| have| has| had)?(?: got| been given| received| attached)\b"
    r"|\b(?:i|we) have\b|\bthere (?:is|are)\b|\battached\b|有一?[个份张]|附上|附件"
)
_AFTER = re.compile(
    r"(?i)[\s,]{0,2}(?:"
    r"(?:should|must|will|shall|needs? to|ha(?:s|ve) to) (?:also |only |then |at least )?"
    r"(?:have|hold|list|include|show|end|start|begin|cover|give|state|present|consist|explain|"
    r"describe|summari[sz]e|exist|be (?:an?|at|no|in|under|between|saved|written|created|generated|"
    r"produced|named|sorted|valid|structured|organi[sz]ed|formatted))\b"
    r"|(?:which|that) you (?:also |then |will )?(?:write|create|make|save|produce|build)\b"
    r"|(?:once|when|after) you(?:['’]re| are) (?:done|finished|ready)"
    r")"
)
# "Email the team with update.eml attached": it goes out with what is to be written.
_SENT = re.compile(r"(?i)\b(?:e-?mail|send|reply|forward|write)\b[^.;\n]{0,80}$")
_ATTACHED = re.compile(r"(?i)[\s\"'`”’)*_]{0,3}(?:as (?:an? |the )?attachment|attached)\b")


_TYPE_WORDS = {
    "pdf": "pdfs?",
    "docx": "word|docx?",
    "xlsx": "excel|spreadsheet|workbook|xlsx?",
    "pptx": "power ?point|pptx?|slides?|deck|presentation",
    "csv": "csv",
    "md": "markdown",
    "json": "json",
    "html": "html|web ?page",
    "txt": "text file|txt",
    "png": "chart|plot|graph|image|picture|png|diagram|screenshot",
    "ics": "events?|meetings?|appointments?|invit(?:e|ation)s?|ics",
    "eml": "mails?|e-?mails?|repl(?:y|ies)|drafts?",
}
_MAKES_TYPE = {
    kind: re.compile(
        r"(?i)\b(?:make|create|generate|produce|build|write|draft|save|export|convert|turn|transform|"
        r"change|add|schedule|send|get)\b"
        rf"(?:(?! (?:from|using|in|of|with) )[^.;\n{FILE}]){{0,60}}\b(?:{words})\b"
    )
    for kind, words in _TYPE_WORDS.items()
}

_IN = re.compile(rf"(?i)\b(?:{_REPORT}|{_WORK})\b.*\bin[{_SIGNS}]{{0,4}}$")

_MADE = (
    r"(?i)\b(?:write|draft|compose|prepare|make|create) (?:an?|one) (?:[\w-]+ ){{0,3}}{stem}\b"
    r"[^.;\n]* (?:in|as)\W*$"
)

_TABLE = load_table(__package__, "result_cues.toml")
_WORDS = {name: "|".join(words) for name, words in _TABLE["appended"].items()}
# "Write a letter about the lamps, letter.docx": what is made, and how it is to be called. Of what
# is there already it says "of the", "from" or "based on".
_APPENDED = re.compile(
    r"(?i)^\W*(?:(?:please|now|then|and|can you|could you) )?"
    rf"(?:{_WORDS['makes']}) (?:me |us )?(?:an?|one|two|three) "
    rf"(?![^.;\n]*\b(?:{_WORDS['made_of']}) ?)"
    rf"[^.;:\n{FILE}]{{3,200}}[,(–—-]\s?[\"'`“]?$"
    rf"|^(?:请|帮我)?(?:{_WORDS['makes_zh']})(?:一)?[首篇份封张个幅段]"
    rf"(?![^。；\n]*(?:{_WORDS['made_of_zh']}))[^。；：\n{FILE}]{{2,80}}[，,（(]\s?$"
)
_ENDS = re.compile(r"[\"'`”)）]{0,2}\s*(?:[.!。！]|$)")


def may_be_result(before: str, after: str, name: str, *, is_new: bool) -> bool:
    """True if the words before or after a name (60 characters or so) speak of a result.

    "A PDF of the letter" makes `letter.pdf`, and "write a note in" makes `note.md`; so does "write
    a note on oars, note.md". `is_new`: the name has an indefinite article.
    """
    kind, stem = extension(name), name.rpartition(".")[0]
    if _APPENDED.search(before) is not None and _ENDS.match(after) is not None:
        return True
    if stem.isalpha() and re.search(_MADE.format(stem=stem), before):
        return True
    if _AFTER.match(after) or (_ATTACHED.match(after) and _SENT.search(before)):
        return True
    if _OF_RESULT.fullmatch(stem) and _IN.search(before):
        return True
    pattern = _MAKES_TYPE.get(kind)
    if pattern is not None and pattern.search(before):
        return True
    return (is_new or _BEFORE.search(before) is not None) and _AT_HAND.search(before) is None


_LISTED_IN = re.compile(
    r"(?i)\b(?:list|show|collect|gather|record|enumerate|tabulate|present|compile|put|enter|note)\b"
    rf"[^.;\n]{{1,80}}\b(?:of|from|for)\b[^.;\n]{{1,60}}\bin[{_SIGNS}]{{0,4}}$"
    rf"|\b(?:chart|plot|graph|diagram|map) in[{_SIGNS}]{{0,4}}$|\w, in[{_SIGNS}]{{0,4}}$"
)


def is_listed_in(before: str) -> bool:
    """True for "list the meetings of Kim in": the file may hold them, or is to hold the list.

    So for "count the shifts, one line each, in" and "the shifts per week as a chart in".
    """
    return _LISTED_IN.search(before) is not None


_EXISTS_BEFORE = re.compile(
    r"(?i)(?:\b(?:described|listed|defined|stated|specified|explained|documented|recorded|kept|"
    r"stored) in|\b(?:attached|existing|enclosed|provided|given|current)(?: \w+)?|"
    r"\b(?:my|our|his|her|their) (?:\w+ ){0,2}\w+)[\s\"'`“‘(*_]{0,3}$"
)
_WANTED = r"(?! (?:enough|fine|ok|okay|sufficient|required|needed|expected|due|welcome|wanted))"
_EXISTS_AFTER = re.compile(
    r"(?i)[\s\"'`”’)*_]{0,3}(?:"  # what is to be made is described in the present tense too
    r"(?:still |currently |already )(?:has|have|is|are|contains?|lists?|holds?|describes?)\b"
    rf"|(?:is|are|was|were|says|defines?|comes)\b{_WANTED}"
    r"|在附件|里有|中有|已经|里面是|是(?!空))"
)


def is_said_to_exist(before: str, after: str) -> bool:
    """True if the words speak of a file as of one that is there: "policy.md says"."""
    return _EXISTS_AFTER.match(after) is not None or _EXISTS_BEFORE.search(before) is not None


_KEPT_THERE = re.compile(
    r"(?:(?:有|已|我们?(?![要想需]))[^。；\n]{0,40}(?:[存放保]+[存放]?[在于]|(?:整理|放|存|上传|复制|拷)到了)"
    r"|(?<!果)(?<!出)(?<!件)[都全均]在|位于)\s{0,3}$"
)
_THEN_GIVEN = re.compile(
    r"(?i)\s?(?:is|are|was|were) (?:included|attached|provided|given|available|supplied|enclosed)\b"
)


def is_given(before: str, after: str) -> bool:
    """True if a file is said to be handed over or kept somewhere: "guide.pdf is attached"."""
    return _THEN_GIVEN.match(after) is not None or _KEPT_THERE.search(before) is not None


_THEN_CONTENT = re.compile(
    r"\s{0,3}(?:is |looks like |contains |如下|的内容|内容)?[:：]?[ \t]*\n+```"
)
_THIS_PART_OF = re.compile(
    r"(?i)\b(?:this|these|the following) (?:\w+ )?(?:function|class|method|code|snippet|query"
    r"|excerpt|part|lines?|config(?:uration)?|output|diff|change) (?:of|from|in)\W*$"
)


def is_shown_below(before: str, after: str, text: str, start: int) -> bool:
    """True if what matters of a file stands below its name in a fence.

    "Here is fees.yaml:", or "turn this function of util.py into a generator:".
    """
    if text.count("```", 0, start) % 2:
        return False
    is_part = _THIS_PART_OF.search(before) is not None and "```" in text[start:]
    return is_part or _THEN_CONTENT.match(after) is not None


_HEADING = re.compile(
    r"(?m)^[ \t]*(?:#{1,6}[ \t]*(.{1,80})|\*\*(.{1,80})\*\*:?|(.{1,80})[:：])[ \t]*$"
)
_OF_RESULTS = re.compile(
    r"(?i)\b(?:outputs?|deliverables?|results?|hand in|submit|what (?:i|we) expect|"
    r"(?:i|we)(?:['’]d| would) like|(?:i|we) (?:need|want)|files to write|"
    r"produce|create|deliver)\b|输出|交付|产出|提交|生成"
)
_OF_INPUTS = re.compile(
    r"(?i)\b(?:inputs?|given|sources?|materials?|attached|provided|have)\b|输入|素材"
)
_ITEM_START = re.compile(r"[ \t]*(?:[-*•·]|\d{1,2}[.)、])?[ \t]*[\"'`“‘(*_]{0,3}$")
_SECTION = 1500  # characters that a heading governs


def result_sections(text: str) -> list[tuple[int, int]]:
    """(start, end) of the stretches below a heading or an introduction that speaks of results."""
    heads = list(_HEADING.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [
        (head.end(), min(end, head.end() + _SECTION))
        for head, end in zip(heads, ends, strict=False)
        if _OF_RESULTS.search(head[0]) and not _OF_INPUTS.search(head[0])
    ]


def begins_item(text: str, start: int) -> bool:
    """True if only a list mark and quotes stand before `start` in its line."""
    return _ITEM_START.match(text, text.rfind("\n", 0, start) + 1, start) is not None
