"""The files of an instance: declared as input, requested as output, or only read by the agent.

*Declared* files are a person's attachments and the files that a person names as input. *Output*
files are named as results. *Open* ones are inputs where such a file exists, and results otherwise:
"record it in scores.xlsx". *Observed* files were read by the agent and named by nobody. Of a
*silent* one the words do not say which it is: where other inputs are at hand and it is not, it is a
result, and else it is an input.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from construction.mentions.extensions import (
    BARE_NAMES,
    MEDIA_TYPES,
    extension,
    tail,
)
from construction.mentions.intent import Intent, intent_of
from construction.mentions.places import in_result_sections, is_route, with_result_folders
from construction.mentions.spans import FileSpan, find_file_spans
from construction.mentions.stand_ins import text_for
from construction.mentions.words import FILE
from data.contracts import AgentAct, Attachment, TaskInstance, UserTurn

MAX_MENTIONS = 200  # per instance; a pasted listing of thousands declares no further inputs

_SEPARATORS = re.compile(r"[/\\]+")
_URL = re.compile(r"(?i)(?:https?|ftp|data):")
# What an export put where a path was: the record says of no file what it is.
_CUT_OUT = re.compile(r"\[(?:trimmed|truncated|omitted|elided|placeholder)\b[^\]]{0,80}\]")
_DRIVE = re.compile(r"[A-Za-z]:$")
# `/work/boats/`, `~/boats/`: the slash at the end says what it is.
_FOLDER_PATH = re.compile(r"(?:~|/[\w.+-]+)(?:/[\w.+-]+)+/|[A-Za-z]:\\(?:[\w.+-]+\\)+")
_NO_NAMES = frozenset({"", ".", "~"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A file as named by an attachment, in a person's words, or in an act of the agent.

    `turn` is the position in `user_turns` (-1 for an act). For words, `path` is
    `said[start:end]`, and `wide` also includes any text before it that may belong to the name:
    where the start of a name is uncertain, the existing files decide. `silent`: declared only
    because the words do not say what the file is.
    """

    path: str
    turn: int
    start: int = -1
    end: int = -1
    wide: str = ""
    attachment: Attachment | None = field(default=None, repr=False)
    silent: bool = False


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """All files of an instance by role, each listed once, in order."""

    declared: tuple[Mention, ...]
    outputs: tuple[Mention, ...]
    open: tuple[Mention, ...]
    observed: tuple[Mention, ...]


def named_files(instance: TaskInstance) -> NamedFiles:
    """Read an instance's words, attachments and acts once and assign each file one role."""
    judged = _judged(instance)
    return NamedFiles(
        declared=tuple(mention for mention, intent in judged if intent is Intent.INPUT),
        outputs=tuple(mention for mention, intent in judged if intent is Intent.OUTPUT),
        open=tuple(mention for mention, intent in judged if intent is Intent.EITHER),
        observed=tuple(_observed(instance, [_parts(mention.path) for mention, _ in judged])),
    )


def declared_files(instance: TaskInstance) -> tuple[Mention, ...]:
    """Attachments and input files that a person names."""
    return named_files(instance).declared


def output_files(instance: TaskInstance, given: Collection[str] = ()) -> tuple[Mention, ...]:
    """Files that a person names as results, and open ones that are not among the `given` files.

    `given` are paths; their last component is compared. Silent ones count if any file is given.
    A picture for which a given text stands is no result, and beside new files a given one is none.
    """
    named, known = named_files(instance), {tail(path) for path in given}
    silent = [mention for mention in named.declared if mention.silent and known]
    made = [
        mention
        for mention in (*named.open, *silent)
        if tail(mention.path) not in known
        and text_for(mention.path, given) is None
        and not mention.path.endswith(("/", "\\"))  # an open folder is only where a result lies
    ]
    new = [mention for mention in named.outputs if tail(mention.path) not in known]
    return (*(new if new or made else named.outputs), *made)


def _observed(instance: TaskInstance, known: Sequence[tuple[str, ...]]) -> Iterator[Mention]:
    """Files that the agent read, nobody named, and the agent had not written before."""
    seen: set[tuple[str, ...]] = set()
    count = 0
    for act in instance.acts:
        parts = _parts(act.path)
        if act.kind not in ("read", "wrote") or not parts or parts in seen:
            continue
        seen.add(parts)
        if act.kind == "wrote" or _URL.match(act.path) or any(_same(parts, k) for k in known):
            continue
        yield Mention(act.path, -1)
        count += 1
        if count == MAX_MENTIONS:
            return


def _judged(instance: TaskInstance) -> list[tuple[Mention, Intent]]:
    """Each file that a person named, once, with its intent."""
    acts = _acts_by_name(instance)
    judged: list[tuple[Mention, Intent]] = []
    for position, turn in enumerate(instance.user_turns):
        for mention, intent in _named(turn, position):
            touched = acts.get(_parts(mention.path)[-1:], ())
            decided = _decide(mention, intent, turn.index if position else -1, touched)
            silent = intent is Intent.ASSUMED and decided is Intent.INPUT and not touched
            _add(judged, replace(mention, silent=silent), decided)
            if len(judged) >= MAX_MENTIONS:
                return judged
    return judged


def _named(turn: UserTurn, position: int) -> Iterator[tuple[Mention, Intent]]:
    for attachment in _without_stand_ins(turn.attachments):
        path = attachment.path or ""
        if not (_URL.match(path) or _CUT_OUT.fullmatch(path)):
            mention = Mention(path, position, attachment=attachment)
            yield mention, Intent.INPUT
    spans = [span for span in find_file_spans(turn.said) if not is_route(turn.said, span)]
    masked = _mask(turn.said, spans)
    intents = in_result_sections(turn.said, spans, [_intent(masked, span) for span in spans])
    for span, intent in zip(spans, with_result_folders(spans, intents), strict=True):
        if span.doubtful and intent not in (Intent.INPUT, Intent.OUTPUT):
            if intent is Intent.NONE or not _FOLDER_PATH.fullmatch(span.path):
                continue
            intent = Intent.EITHER  # a folder by its form: an input where there is such a one
        wide = turn.said[span.reach : span.end]
        path = span.path.removeprefix("@")
        yield Mention(path, position, span.start, span.end, wide), intent


def _intent(masked: str, span: FileSpan) -> Intent:
    name = _SEPARATORS.split(span.path)[-1]
    is_folder = "." not in name and name not in BARE_NAMES
    return intent_of(masked, span.start, span.end, name, is_folder)


def _without_stand_ins(attachments: Sequence[Attachment]) -> Iterator[Attachment]:
    """Attachments without the placeholders that duplicate another attachment.

    Gateways write `[图片]` or `<media:image>` beside the picture itself.
    """
    is_stand_in = [sent.path is None and sent.data is None for sent in attachments]
    if not any(is_stand_in):
        yield from attachments
        return
    unmatched = Counter(
        _kind(sent) for sent, empty in zip(attachments, is_stand_in, strict=True) if not empty
    )
    for attachment, empty in zip(attachments, is_stand_in, strict=True):
        kind = _kind(attachment)
        candidates = (kind, "") if kind else tuple(unmatched)
        same = next((known for known in candidates if unmatched[known]), None) if empty else None
        if same is None:
            yield attachment
        else:
            unmatched[same] -= 1


def _kind(attachment: Attachment) -> str:
    """`image`, `audio`, …; empty if the log does not say."""
    ext = extension(attachment.path or "")
    return (attachment.mime or MEDIA_TYPES.get(ext, "")).partition("/")[0]


def _mask(text: str, spans: Sequence[FileSpan]) -> str:
    pieces, position = [], 0
    for span in spans:
        pieces += [text[position : span.start], FILE * (span.end - span.start)]
        position = span.end
    return "".join(pieces) + text[position:]


def _acts_by_name(instance: TaskInstance) -> dict[tuple[str, ...], list[AgentAct]]:
    """What the agent read and wrote, in order, by the last component of the path."""
    acts: dict[tuple[str, ...], list[AgentAct]] = {}
    for act in instance.acts:
        if act.kind in ("read", "wrote"):
            acts.setdefault(_parts(act.path)[-1:], []).append(act)
    return acts


def _decide(
    mention: Mention, intent: Intent, turn_index: int, same_name: Sequence[AgentAct]
) -> Intent:
    """Resolve an ambiguous intent by what the agent did with the file.

    `turn_index` is the mention's turn in the session, or -1 for the first turn of the instance,
    before which the agent has produced nothing.
    """
    if intent in (Intent.NONE, Intent.OUTPUT) or mention.attachment is not None:
        return intent
    parts = _parts(mention.path)
    touched = [act for act in same_name if _same(parts, _parts(act.path))]
    if any(act.kind == "wrote" and act.turn_index < turn_index for act in touched):
        return Intent.NONE
    if intent is Intent.PRODUCED:
        return Intent.INPUT if turn_index < 0 else Intent.NONE
    if intent is not Intent.INPUT and touched:
        return Intent.INPUT if touched[0].kind == "read" else Intent.OUTPUT
    return Intent.EITHER if intent is Intent.EITHER else Intent.INPUT


def _add(judged: list[tuple[Mention, Intent]], mention: Mention, intent: Intent) -> None:
    """Add a mention; of a file that is already listed the first clear role stays."""
    parts = _parts(mention.path)
    for position, (other, role) in enumerate(judged):
        # Inline media has no name, or one that other media may share.
        if mention.attachment is not None or not _is_same_file(mention, other):
            continue
        longer = other.attachment is None and len(parts) > len(_parts(other.path))
        longer |= other.silent and not mention.silent
        if role is Intent.NONE or (role is intent and longer):
            judged[position] = (mention, intent)
        elif role is Intent.INPUT and intent in (Intent.OUTPUT, Intent.EITHER) and longer:
            judged[position] = (mention, Intent.EITHER)  # "cite iocs.json … Save results/iocs.json"
        return
    judged.append((mention, intent))


def _is_same_file(mention: Mention, other: Mention) -> bool:
    """True if both paths end alike; a name with spaces may have been cut short when read."""
    parts, known = _parts(mention.path), _parts(other.path)
    if not parts or not known:
        return False
    wide = mention.wide.casefold()
    return _same(parts, known) or (parts[-1] in known[-1] and wide.endswith(known[-1]))


def _parts(path: str) -> tuple[str, ...]:
    """Case-folded path components without root, drive and dots."""
    parts = [
        part for part in path.casefold().replace("\\", "/").split("/") if part not in _NO_NAMES
    ]
    return tuple(part for part in parts if not _DRIVE.match(part)) if ":" in path else tuple(parts)


def _same(parts: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """True if one path is the tail of the other."""
    length = min(len(parts), len(other))
    return length > 0 and parts[-length:] == other[-length:]
