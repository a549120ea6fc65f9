"""Words that let a named file be a result although its sentence has no verb of making.

"The differences go into diff.md", "call it diff.md", "plan.xlsx should have a tab for each month".
Such a file is an input where one of that name exists, and a result otherwise.
"""

from __future__ import annotations

import re

from construction.mentions.words import FILE

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
    r"approach|work|changes|log|totals))"
)
_BEFORE = re.compile(
    r"(?i)(?:"
    rf"\b(?:go|goes|going|belongs?|ends? up|lands?) {_INSIDE}"
    rf"|\b{_NOUN} (?:lives?|sits?|stands?) (?:in|at|under)"
    r"|\b(?:leave|drop|place|park|collect|gather|consolidate[ds]?|compile[ds]?|keep) "
    rf"[^.;\n]{{0,60}}\b{_INSIDE}"
    r"|\b(?:document|describe|explain|plot|log|record|list|note|keep|answer|show|track) "
    rf"{_FINDINGS} in(?:to)?"
    rf"|\b(?:name|call|title|label) (?:it|them|this|that|(?:the|your|this) (?:\w+ ){{0,2}}{_NOUN})"
    r"(?: as)?"
    r"|\bready\b(?: \w+)? as"
    r"|\b(?:expect|end up with|want back|need back|should (?:find|get|receive|see))\b[^.;\n]{0,50}"
    r"|\b(?:hand in|turn in|submit|deliver)\b[^.;\n]{0,30}"
    r"|\b(?:required|expected|result|answer|final|output) (?:\w+ )?files?\b[^.;\n]{0,20}"
    r"|\bfiles? to (?:create|produce|deliver|submit|write|make|save)\b[^.;\n]{0,20}"
    r"|\b(?:one|an?|each|separate) (?:\w+ )?file per \w+"
    rf"|\b{_DETERMINER} (?:[\w-]+ ){{0,3}}{_NOUN}(?: (?:of|on|for|with) \w+(?: \w+)?)?\s?[,(–—-]"
    r"|\b(?:an?|one|your) (?:new|fresh|separate|final) (?:\w+ ){0,2}(?:\w+)"
    r"|\binto an? (?:\w+ ){0,2}(?:section|page|chapter|sheet|tab|part|row|line|entry) (?:of|in)"
    r"|(?<!look )(?<!dig )(?<!read )\binto"
    r"|(?:文件名|命名|取名|名称)(?:为|是|叫|成)?"
    r"|(?:提交|交付|上交|产出)[^。；\n]{0,24}"
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
    r"describe|summari[sz]e|be (?:an?|at|no|in|under|between|saved|written|created|generated|"
    r"produced|named|sorted|valid|structured|organi[sz]ed|formatted))\b"
    r"|(?:which|that) you (?:also |then |will )?(?:write|create|make|save|produce|build)\b"
    r"|(?:once|when|after) you(?:['’]re| are) (?:done|finished|ready)"
    r")"
)


def may_be_result(before: str, after: str) -> bool:
    """True if the words before or after a name (60 characters or so) speak of a result."""
    if _AFTER.match(after):
        return True
    return _BEFORE.search(before) is not None and _AT_HAND.search(before) is None
