"""What a rejected request lacks: the files, systems and sentences behind the counts of a gate.

Both gates count (`signals`); this names what they counted, for rejected requests only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from construction.judging.contracts import Case, SelfContainmentReason
from construction.judging.preflight_limits import PreflightReason
from construction.judging.reading import Reading, read
from construction.judging.rules.sentences import missing_files, sought_nowhere
from construction.judging.signals import Signals
from construction.mentions.extensions import extension
from construction.mentions.missing_paths import BY_AGENT, missing_path
from data.contracts import MissingInput, MissingKind, named_in_turn

_REQUEST = "named in the request"
_MOST_CHARS = 200  # of a sentence that names something
_SYSTEMS = (MissingKind.ACCOUNT, MissingKind.SYSTEM)
_CONTEXT = (MissingKind.CONVERSATION,)
_MATERIAL = (MissingKind.CONVERSATION, MissingKind.MATERIAL)
_PREFLIGHT: Mapping[str, Sequence[MissingKind]] = {
    PreflightReason.NEEDS_LIVE_SYSTEM: _SYSTEMS,
    PreflightReason.LEANS_ON_CONTEXT: _MATERIAL,
}
_CONTAINMENT: Mapping[str, Sequence[MissingKind]] = {
    SelfContainmentReason.DEPENDS_ON_LIVE_SYSTEM: _SYSTEMS,
    SelfContainmentReason.MISSING_INPUT: _MATERIAL,
    SelfContainmentReason.MISSING_CONTEXT: _CONTEXT,
}


def missing_in_preflight(signals: Signals, reason: str) -> tuple[MissingInput, ...]:
    """What a request lacks that the preflight gate rejects for this reason."""
    conversation = signals.conversation
    if reason == PreflightReason.MISSING_INPUTS:
        return tuple(missing_path(name, BY_AGENT) for name in conversation.files_missing)
    if reason == PreflightReason.NEEDS_NETWORK:
        return _named(MissingKind.WEB, conversation.offline)
    if reason == PreflightReason.MISSING_RECORDS:
        return _named(MissingKind.MATERIAL, conversation.records_missing)
    if reason == PreflightReason.MISSING_OBJECT:
        return tuple(map(_object, conversation.objects_missing))
    if reason == PreflightReason.UNKNOWN_DAY:
        return _named(MissingKind.DAY, conversation.day_unknown)
    if reason == PreflightReason.UNKNOWN_ASKER:
        return _named(MissingKind.ASKER, conversation.asker_unknown)
    systems = conversation.systems_missing if reason == PreflightReason.NEEDS_LIVE_SYSTEM else ()
    kinds = () if systems else _PREFLIGHT.get(reason, ())
    return _named(MissingKind.SYSTEM, systems) + tuple(
        item
        for position, said in enumerate(conversation.said)
        for item in _sentences(said, kinds, named_in_turn(position))
    )


def missing_in_case(case: Case, reason: str | None) -> tuple[MissingInput, ...]:
    """What a case lacks that is not self-contained for this reason, whoever judged it."""
    if reason is None:
        return ()
    paths = missing_files(case) if reason == SelfContainmentReason.MISSING_INPUT else ()
    if sought := sought_nowhere(case) if reason == SelfContainmentReason.MISSING_INPUT else ():
        return _named(MissingKind.MATERIAL, sought)
    if paths:  # they are what was counted; sentences that point somewhere are not
        return tuple(missing_path(path, _REQUEST) for path in paths)
    return tuple(_sentences(case.request, _CONTAINMENT.get(reason, ()), _REQUEST))


def _named(kind: MissingKind, names: Sequence[str]) -> tuple[MissingInput, ...]:
    return tuple(MissingInput(kind, _REQUEST, name) for name in names)


def _object(name: str) -> MissingInput:
    """A file that is named, or material such as "the unstaged changes"."""
    ending = extension(name)
    return MissingInput(
        MissingKind.FILE if ending else MissingKind.MATERIAL, _REQUEST, name, ending
    )


def _sentences(text: str, kinds: Sequence[MissingKind], source: str) -> Iterator[MissingInput]:
    """The sentences that speak of something of these kinds."""
    if not kinds:
        return
    for sentence in read(text):
        for kind in kinds:
            if _speaks_of(sentence, kind):
                yield MissingInput(kind, source, sentence.text[:_MOST_CHARS])


def _speaks_of(sentence: Reading, kind: MissingKind) -> bool:
    if kind is MissingKind.ACCOUNT:
        return sentence.account
    if kind is MissingKind.SYSTEM:
        return sentence.live
    if kind is MissingKind.CONVERSATION:
        return sentence.leans or sentence.leans_unless_files or sentence.past_sessions
    return sentence.elsewhere or sentence.points
