"""What stands around a word: whether it is somebody's name there, or a part of something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from anonymization.text.contracts import EntityType, Finding, kinds
from anonymization.text.detect.public_values import region_end
from anonymization.text.detect.wording import NO_MAILBOX
from anonymization.text.masking.code_text import Spans
from anonymization.text.masking.known_search import Occurrence
from anonymization.text.masking.pieces import Piece
from data.text.lexicon import trie_pattern

_NAME_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_IN_ADDRESS = 2
_JOINING = frozenset("-_")
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)+")
_NAMED = kinds("UNEXPLAINED PERSON ORGANIZATION LOCATION")
_SHORTEST_WORD = 4  # letters of a word of an identifier


def is_in_region(text: str, hit: Occurrence) -> bool:
    """Is it the name of somebody or of a village inside that of a region: 石川 in 石川県, or of a
    town: Clara in Santa Clara?"""
    if hit.type not in _NAMED:
        return False
    is_saint = _SAINT.search(text, max(0, hit.start - 8), hit.start) is not None
    return is_saint or region_end(text, hit.start, hit.end + 1) > hit.end


_SAINT = re.compile(r"(?<!\w)(?:Santa|San|Sainte?|St\.|São) \Z")
_COMPOUND_BEFORE = re.compile(r"[^\W\d_a-z][^\W\d_]+-\Z")


def is_in_compound(text: str, hit: Occurrence) -> bool:
    """Is it somebody's name in the middle of what is called after several: Charcot-Marie-Tooth?"""
    is_middle = text[hit.end : hit.end + 1] == "-" and text[hit.end + 1 : hit.end + 2].isupper()
    before = text[max(0, hit.start - 24) : hit.start]
    return hit.type in _NAMED and is_middle and _COMPOUND_BEFORE.search(before) is not None


def words_of_addresses(text: str, findings: Iterable[Finding]) -> Iterator[tuple[list[str], bool]]:
    """The words of each address before its @, and whether hyphens or underlines join them."""
    for finding in findings:
        if finding.type is EntityType.EMAIL:
            local = text[finding.start : finding.end].partition("@")[0]
            words, is_joined = _NAME_WORD.findall(local), not _JOINING.isdisjoint(local)
            own = [word for word in words if not NO_MAILBOX.fullmatch(word)]
            is_machine = is_joined and len(own) < len(words)  # `itsm-noreply@`
            if len(words) <= _MOST_IN_ADDRESS and not is_machine:  # more of them name a list
                yield own, is_joined


def words_of_identifiers(text: str, fixed: Spans) -> Iterator[str]:
    """The words of keys and names in code that consist of several: `relay_port`."""
    for start, end in fixed:
        for name in _IDENTIFIER.findall(text, start, end):
            yield from (part for part in name.casefold().split("_") if len(part) >= _SHORTEST_WORD)


def is_in_identifier(text: str, finding: Finding) -> bool:
    """Is a word a part of an identifier, or a program with its number (`relayd[812]`)?"""
    before, after = text[max(0, finding.start - 1) : finding.start], text[finding.end :][:2]
    is_joined = before in _JOINING or (after[:1] in _JOINING and after[1:].isalnum())
    return is_joined or (after[:1] in ("[", " ", "/") and after[1:].isdigit())


_BRANDED = re.compile(r" & |[ ・][ァ-ヺ]{2}")


def is_in_brand(text: str, finding: Finding) -> bool:
    """Is a word a part of a firm's name, or of goods: `Hale & Smith`, `Rogers ファイル`?"""
    is_second = text[max(0, finding.start - 3) : finding.start] == " & "
    return is_second or _BRANDED.match(text, finding.end) is not None


_LOGINS = kinds("ACCOUNT USER_PATH")
_OPTION = re.compile(r"(?:^|\s)--?[A-Za-z][\w-]{0,20}[ =]?[\"']?\Z")
_USED = re.compile(r"[\"'`=:/@.(\[{<>]")  # what joins a word to a program or an address


def contested(
    values: Iterable[tuple[EntityType, str]],
    findings: Mapping[Piece, Sequence[Finding]],
    files_of: Callable[[Piece], Iterable[int]],
) -> set[tuple[EntityType, str]]:
    """Those of the values, which are words or identifiers, that also stand where they were not
    found, in a file that shows them: in code, behind an option, in an address or a path.

    These places may mean the value, and would no longer. A word of a sentence means the word; an
    identifier is the same wherever it stands.
    """
    named = {value.casefold(): value for _, value in values}
    if not named:
        return set()
    showing: dict[str, set[int]] = {}
    for piece, known in findings.items():
        for each in known:
            value = piece.value[each.start : each.end].casefold()
            if value in named:
                showing.setdefault(value, set()).update(files_of(piece))
    word = re.compile(rf"(?i)(?<![\w-])(?:{trie_pattern(sorted(named))})(?![\w-])")
    half: set[str] = set()
    for piece, known in findings.items():
        files = set(files_of(piece))
        for match in word.finditer(piece.value):
            value = match.group().casefold()
            if _is_short_form(named[value]) and match.group() != named[value]:
                continue  # `do`, of a loop
            is_shown = not files.isdisjoint(showing.get(value, ()))
            is_found = any(f.start < match.end() and match.start() < f.end for f in known)
            if is_shown and not is_found and _is_used(piece, match):
                half.add(value)
    return {pair for pair in values if pair[1].casefold() in half}


def _is_short_form(value: str) -> bool:
    """Is it in capitals, and as short as somebody's initials?"""
    return value.isupper() and len(value) <= _SHORTEST_WORD


def _is_used(piece: Piece, match: re.Match[str]) -> bool:
    """Is a word used by a program, or is it no word of a sentence?"""
    text, start, end = piece.value, match.start(), match.end()
    if any(first <= start + piece.lead and end + piece.lead <= last for first, last in piece.fixed):
        return True
    if _IDENTIFIER.fullmatch(match.group()) or _OPTION.search(text[max(0, start - 30) : start]):
        return True
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    ends_sentence = after in ".:" and not text[end + 1 : end + 2].isalnum()
    return bool(_USED.match(before) or (_USED.match(after) and not ends_sentence))
