"""Settings for masking sessions (the recipe's section `masking`): the levels and what each looks
for, and the file of approvals."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import field_validator

from anonymization.documents.contracts import DocumentConfig, Pictures
from anonymization.leaks.contracts import LeakConfig
from anonymization.masking_gates import InstructionConfig, LanguageConfig
from anonymization.recogniser.contracts import RecogniserConfig
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from data.contracts import Disclosure, StageConfig
from data.errors import InputError


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
_WITH_NAMES = frozenset({MaskingLevel.STRICT, MaskingLevel.FULL})  # levels that look for names


def at_level(detection: DetectionConfig, level: MaskingLevel) -> DetectionConfig:
    """The settings with the kinds that the level looks for. Doing it again changes nothing."""
    kinds = [kind for kind in detection.entities if kind in _KINDS[level]]
    if level is MaskingLevel.STRICT and EntityType.UNEXPLAINED not in kinds:
        kinds.append(EntityType.UNEXPLAINED)
    return detection.model_copy(update={"entities": tuple(kinds)})


class Dates(StrEnum):
    """What becomes of the dates of a session; dates of birth move in any case."""

    MOVED = "moved"  # all by the same whole number of weeks, drawn for each session
    KEPT = "kept"


class MaskingRecipe(StageConfig):
    """Kind of replacement, how much to mask, detection, and limits for documents and leaks.

    By default, dates are shifted if the source is declared private, and kept otherwise.

    The default `level` is `contacts_and_secrets` for sources declared public, and `strict` for all
    others. `undecided` says what to do with values that nothing explains: by default they are
    masked if a model is used, since it may be remote, and listed otherwise. `recogniser` names a
    model that reads the originals, on this machine.
    """

    level: MaskingLevel | None = None
    undecided: Undecided | None = None
    dates: Dates | None = None
    mode: Mode = Mode.SURROGATE
    detection: DetectionConfig = DetectionConfig.for_tasks()
    documents: DocumentConfig = DocumentConfig()
    instruction: InstructionConfig = InstructionConfig()
    language: LanguageConfig = LanguageConfig()
    leaks: LeakConfig = LeakConfig()
    recogniser: RecogniserConfig = RecogniserConfig()

    @field_validator("detection", mode="before")
    @classmethod
    def _for_tasks(cls, given: object) -> object:
        """What a recipe leaves out of `detection` is as for tasks, and not as for records."""
        if not isinstance(given, dict):
            return given
        return DetectionConfig.for_tasks().model_dump() | given


def for_source(recipe: MaskingRecipe, disclosure: Disclosure) -> MaskingRecipe:
    """The recipe with its level decided, and with the kinds of detection that the level looks for.

    The second application changes nothing. Raises InputError where the pictures of a source that
    is not public are to be taken as published.
    """
    is_public = disclosure is Disclosure.PUBLIC
    if recipe.documents.pictures is Pictures.PUBLISHED and not is_public:
        raise InputError(
            "[masking.documents] pictures", "published", "a source declared public",
            "Approve pictures from other sources one by one (--approvals), or declare the "
            "source public.",
        )  # fmt: skip
    usual = MaskingLevel.CONTACTS_AND_SECRETS if is_public else MaskingLevel.STRICT
    level = recipe.level or usual
    detection = at_level(recipe.detection, level)
    usual_dates = Dates.MOVED if disclosure is Disclosure.PRIVATE else Dates.KEPT
    dates = recipe.dates or usual_dates
    if is_public and dates is Dates.MOVED:
        raise InputError(
            "[masking] dates", "moved", "a source that is not public",
            "Shifted dates would only contradict what is already published: remove the setting.",
        )  # fmt: skip
    if dates is Dates.MOVED and level in _WITH_NAMES:
        detection = detection.model_copy(update={"births_only": False})
    unseen = Pictures.PUBLISHED if is_public and level not in _WITH_NAMES else None
    pictures = recipe.documents.pictures or unseen or Pictures.APPROVED
    documents = recipe.documents.model_copy(update={"pictures": pictures})
    if level not in _WITH_NAMES:  # such kinds are known by their form: no model is needed
        no_models = {"english_model": "", "chinese_model": "", "japanese_model": ""}
        detection = detection.model_copy(update=no_models)
        documents = documents.model_copy(update={"caption_model": ""})
    return recipe.model_copy(
        update={"level": level, "dates": dates, "detection": detection, "documents": documents}
    )


def with_approvals(recipe: MaskingRecipe, file: Path | None) -> MaskingRecipe:
    """The recipe with the digests that a file of approvals names. Raises InputError."""
    return recipe.model_copy(update={"documents": approving(recipe.documents, file)})


def approving(config: DocumentConfig, file: Path | None) -> DocumentConfig:
    """The limits with the digests that a file of approvals names. Raises InputError."""
    if file is None:
        return config
    return config.model_copy(update={"approvals": config.approvals | _read_approvals(file)})


_DIGITS = set("0123456789abcdef")


def _read_approvals(path: Path) -> frozenset[str]:
    """The digests of a file with lines `sha256  who, when, why`; `#` begins a comment.

    Raises InputError naming the first line that has another form.
    """
    digests: set[str] = set()
    for number, line in enumerate(text_lines(path, "an approvals file"), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        sha256 = words[0].lower()
        if len(sha256) != 64 or set(sha256) - _DIGITS or len(words) < 2:
            expected = "a SHA-256, then who approved it"
            raise InputError(
                str(path), "a line in another format", expected, "Fix the line.", number
            )
        digests.add(sha256)
    return frozenset(digests)


def text_lines(path: Path, expected: str) -> list[str]:
    """The lines of a UTF-8 text. Raises InputError, which names what the file should be."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InputError(str(path), problem, expected, "Check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(
            str(path), "text that is not UTF-8", "a text file", "Save it as UTF-8."
        ) from error
