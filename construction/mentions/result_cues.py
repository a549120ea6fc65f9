"""Words that let a named file be a result although its sentence has no verb of making.

"The differences go into diff.md", "call it diff.md", "plan.xlsx should have a tab for each month".
Such a file is an input where one of that name exists, and a result otherwise.
"""

from __future__ import annotations

import re

_NOUN = (
    r"(?:files?|copy|results?|outputs?|answers?|reports?|documents?|workbooks?|spreadsheets?|"
    r"sheets?|presentations?|decks?|slides|tables?|lists?|notes?|memos?|letters?|briefs?|"
    r"summary|summaries|findings|charts?|pages?|posters?|scripts?|versions?|e-?mails?|json|csv|"
    r"markdown|pdf|differences|conclusions|write-?ups?)"
)
_END = r"[\s\"'`“‘(*_:：,，–—-]{0,4}$"
_INSIDE = r"(?:in|into|to|at|under|as)"
_BEFORE = re.compile(
    r"(?i)(?:"
    rf"\b(?:go|goes|going|belongs?|ends? up|lands?) {_INSIDE}"
    rf"|\b{_NOUN} (?:lives?|sits?|stands?) (?:in|at|under)"
    rf"|\b(?:leave|drop|place|park|collect|gather|consolidate[ds]?|compile[ds]?) [^.;\n]{{0,60}}\b{_INSIDE}"
    rf"|\b(?:name|call|title|label) (?:it|them|this|that|(?:the|your|this) (?:\w+ ){{0,2}}{_NOUN})"
    r"(?: as)?"
    r"|\bready\b(?: \w+)? as"
    r"|\b(?:expect|end up with|want back|need back|should (?:find|get|receive|see))\b[^.;\n]{0,50}"
    r"|\b(?:hand in|turn in|submit|deliver)\b[^.;\n]{0,30}"
    r"|\b(?:required|expected|result|answer|final|output) (?:\w+ )?files?\b[^.;\n]{0,20}"
    r"|\bfiles? to (?:create|produce|deliver|submit|write|make|save)\b[^.;\n]{0,20}"
    rf"|\b(?:an?|one|single|second|third|another|separate|new|final) (?:\w+ ){{0,3}}{_NOUN}\s?[,(–—-]"
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
