"""Hard rules on an answer that is one of the words which a request gives: "write yes or no"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.grading.file_types import TYPES
from construction.judging.reading import read
from construction.judging.rule_task import Task, has_text, rule
from data.contracts import Deliverable, Rule

_QUOTED = re.compile(
    r"[`'\"“‘]([\w ]{1,20})[`'\"”’](?:,? or |[、 ]?或者?[、 ]?|/)[`'\"“‘]([\w ]{1,20})[`'\"”’]"
)
_SAYS = re.compile(
    r"(?i)\b(?:write|answer|reply|say|state|respond|put|output|mark|either|whether|choose)\b"
    r"|写|回答|答|填|选|标"
)
_PLAIN = re.compile(
    r"(?i)\b(?:write|answer|reply|say|state|respond|put|output|with)\b[^.;]{0,30}?"
    r"\b(yes|true|pass|larger|higher|more|equal) or (no|false|fail|smaller|lower|less|unequal)\b"
)
_ALONE = re.compile(r"(?i)^\W*(yes|larger|higher|more) or (no|smaller|lower|less)\W*$")
_PLAIN_ZH = re.compile("(是)(?:还是|或)(否|不是)")


def of_choices(task: Task) -> Iterator[Rule]:
    """One of the words given as a choice stands in the file that is named next, or in the only."""
    for sentence in read(task.request):
        match = next(
            (m for p in (_QUOTED, _PLAIN, _ALONE, _PLAIN_ZH) if (m := p.search(sentence.text))),
            None,
        )
        if match is None or not (match.re is _ALONE or _SAYS.search(sentence.text)):
            continue
        texts = [item for item in task.deliverables if _has_words(item.file_type)]
        after = sentence.text[match.end() :]
        named = [(after.find(name), item, name) for item in texts for name in item.name_hints]
        following = min((entry for entry in named if entry[0] >= 0), default=None, key=_first)
        if following is None and len(texts) != 1:
            continue
        item = following[1] if following else texts[0]
        where = {"names_of_files": [following[2]]} if following else {}
        words = [match[1].strip(), match[2].strip()]
        kind = TYPES[item.file_type]
        yield rule(
            f"mentions.choice.{kind.name}",
            kind.extensions,
            f"The .{kind.name} output says one of: {', '.join(words)}.",
            terms=[word.lower() for word in words],
            min=1,
            **where,
        )
        return


def _first(entry: tuple[int, Deliverable, str]) -> int:
    return entry[0]


def _has_words(file_type: str) -> bool:
    kind = TYPES.get(file_type)
    return kind is not None and has_text(kind)
