"""Tests of words rather than of digits: could this be a person's name?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anonymization.text.detect.lexicon import characters, words

_DOUBLE = words("names.toml", "chinese_double")
_SINGLE = characters("names.toml", "chinese") - {"\n"}
_NOT_NAMES = words("names.toml", "chinese_not_names")
_JOBS = words("words.toml", "job_heads")
_PUBLIC = words("words.toml", "public_hosts")
COMMON = (
    words("words.toml", "common") | words("words.toml", "products") | words("words.toml", "trade")
)


def chinese_name(value: str) -> bool:
    """A family name and one or two characters more; two and two with a double family name."""
    if value[:2] in _NOT_NAMES or value in _NOT_NAMES:
        return False
    if value[:2] in _DOUBLE:
        return 3 <= len(value) <= 4
    return 2 <= len(value) <= 3 and value[0] in _SINGLE


def not_common(value: str) -> bool:
    """No word of it is an everyday word, a product or a month."""
    return not any(
        word.strip(".,").title() in COMMON or word in COMMON
        for word in value.split()
        if len(word.strip(".,")) > 1  # an initial is no article
    )


def not_shouted(value: str) -> bool:
    """Not in capitals throughout."""
    return not value.isupper() and not_common(value)


def job(value: str) -> bool:
    """Ends in a kind of work."""
    return value.rsplit(" ", 1)[-1].lower() in _JOBS


def private_site(value: str) -> bool:
    """An address on none of the sites that everyone knows."""
    host = value.split("://")[-1].split("/")[0].split(":")[0].lower().removeprefix("www.")
    labels = host.split(".")
    return not any(".".join(labels[start:]) in _PUBLIC for start in range(len(labels) - 1))


CHECKS: Mapping[str, Callable[[str], bool]] = {
    "chinese_name": chinese_name,
    "not_common": not_common,
    "not_shouted": not_shouted,
    "job": job,
    "private_site": private_site,
}
