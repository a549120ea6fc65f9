"""What is wrong with the value of a setting, in words for people who have not read the code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic_core import ErrorDetails

# Kinds of pydantic's errors: what was expected. Fields in braces come from the error.
_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text, in quotes",
    "path_type": "a path, in quotes",
    "list_type": "a list, in brackets",
    "tuple_type": "a list, in brackets",
    "dict_type": "a section",
    "mapping_type": "a section",
    "model_type": "a section",
    "model_attributes_type": "a section",
    "date_type": "a day, such as 2026-12-01",
    "date_parsing": "a day, such as 2026-12-01",
    "date_from_datetime_parsing": "a day, such as 2026-12-01",
    "date_from_datetime_inexact": "a day, such as 2026-12-01",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
}
# Patterns of settings in words.
FORMS: Mapping[str, str] = MappingProxyType(
    {
        r"^[a-z0-9]+(-[a-z0-9]+)*$": "small letters, digits and hyphens, such as my-benchmark",
        r"^\d+\.\d+\.\d+$": "three numbers with dots, such as 1.0.0",
        r"^https?://[^\s]+$": "an address that begins with http:// or https://",
        r"^SHA256:[A-Za-z0-9+/]{43}$": "the fingerprint of a key, as `ssh-keygen -l` prints it",
        r"^[a-z][a-z0-9_]{0,30}$": "a letter, then small letters, digits and underscores",
        r"^[EG][0-9]{5}$": "the number of a filer, such as E01234",
        r"^[A-Za-z_][A-Za-z0-9_]*$": "the name of a variable: letters, digits and underscores",
    }
)


def expected(item: ErrorDetails) -> str:
    """`expected a whole number`, `is missing`, or the message of a check of our own."""
    kind, context = item["type"], item.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"])
        return f"expected {FORMS.get(pattern, f'a text of the form {pattern}')}"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind].format(**context)}"
    return item["msg"].removeprefix("Value error, ")
