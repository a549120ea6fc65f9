"""How much is masked: the levels, and the kinds of private text that each looks for."""

from __future__ import annotations

from enum import StrEnum

from anonymization.text.contracts import DetectionConfig, EntityType


class MaskingLevel(StrEnum):
    """How much is masked."""

    STRICT = "strict"  # as `full`, and what a label or position shows; the rest is listed
    FULL = "full"  # every kind of `detection.entities`
    CONTACTS_AND_SECRETS = "contacts_and_secrets"  # people and places of published text stay
    SECRETS = "secrets"


class Undecided(StrEnum):
    """What becomes of findings that only the owner can decide, until the owner has done so."""

    LISTED = "listed"  # they stay in the text and go to the owner's list; nothing is published
    MASKED = "masked"  # they are replaced


_SECRETS = frozenset({EntityType.SECRET})
_CONTACTS = frozenset(
    {
        EntityType.EMAIL,
        EntityType.PHONE,
        EntityType.BANK_CARD,
        EntityType.BANK_ACCOUNT,
        EntityType.NATIONAL_ID,
        EntityType.PASSPORT,
        EntityType.ACCOUNT,
        EntityType.USER_PATH,
    }
)
_EVERY = frozenset(EntityType)
_KINDS = {
    MaskingLevel.STRICT: _EVERY,
    MaskingLevel.FULL: _EVERY - {EntityType.UNEXPLAINED},
    MaskingLevel.CONTACTS_AND_SECRETS: _CONTACTS | _SECRETS,
    MaskingLevel.SECRETS: _SECRETS,
}
WITH_NAMES = frozenset({MaskingLevel.STRICT, MaskingLevel.FULL})  # levels that look for names


def at_level(detection: DetectionConfig, level: MaskingLevel) -> DetectionConfig:
    """The settings with the kinds that the level looks for. Doing it again changes nothing."""
    kinds = [kind for kind in detection.entities if kind in _KINDS[level]]
    if level is MaskingLevel.STRICT and EntityType.UNEXPLAINED not in kinds:
        kinds.append(EntityType.UNEXPLAINED)
    return detection.model_copy(update={"entities": tuple(kinds)})
