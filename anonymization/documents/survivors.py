"""The last search of a run: does a value of its vault still stand in one of its masked files?

Masking replaces what its forms of text can reach. The search for leaks reads more: base64, escapes,
other spellings, parts of archives. A file in which it still finds a value is not released, nor is
one that holds a day of the originals beside days that have moved.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns, Matcher
from anonymization.leaks.scan import scan_bytes
from anonymization.text.contracts import EntityType
from anonymization.text.known_values import known_value
from anonymization.text.masking.known_search import is_distinctive, is_sought
from anonymization.text.normal_form import Origins, skeleton
from anonymization.text.vault import Vault, days_that_moved, holds_day


def survivors(
    vault: Vault, files: Mapping[str, Path], key: bytes, dated: Container[str] = ()
) -> Iterator[tuple[str, str]]:
    """The names of files that hold a value of the vault, each with the part where it stands.

    The files of the names in `dated` keep their dates on purpose: no day in them tells the shift.

    Values that a surrogate contains do not count: masking itself put them there.
    """
    distinctive = [
        PrivateValue(entry.value, entry.type)
        for entry in vault.entries
        if not entry.is_ordinary
        and (
            is_distinctive(entry.type, entry.value) or (entry.is_listed and is_sought(entry.value))
        )
    ]
    made = _occurring(distinctive, "\0".join(entry.surrogate for entry in vault.entries))
    sought = [private for private in distinctive if private not in made]
    config = LeakConfig()
    patterns = LeakPatterns(sought, key, config)
    unmoved = days_that_moved(vault.entries)
    if not patterns.values and not unmoved:
        return
    for name, path in sorted(files.items()):
        data = path.read_bytes()
        leaks = scan_bytes(name, data, patterns, config) if patterns.values else []
        if leaks:
            yield name, leaks[0].file.partition("!")[2] or leaks[0].kind
        elif name not in dated and holds_day(data, unmoved):
            yield name, EntityType.DATE


def _occurring(values: Iterable[PrivateValue], text: str) -> set[PrivateValue]:
    """The values that stand anywhere in a text, in some spelling. All are looked for at once."""
    spellings = [
        (key, private, known)
        for private in values
        for known in (known_value(private.kind, private.value, True),)
        for key in known.keys
    ]
    hits = sorted(Matcher([key for key, _, _ in spellings]).find(skeleton(text)))
    origins, seen = Origins(text), set[PrivateValue]()
    for at, number in hits:
        key, private, known = spellings[number]
        if private in seen:
            continue
        start, end = origins.at(at), origins.at(at + len(key) - 1) + 1
        if known.locate(text, start, end) is not None:
            seen.add(private)
    return seen
