"""Level `strict`: whose a text is, by the keys above it in JSON and by its element in XML."""

from __future__ import annotations

import pytest

from anonymization.text.masking.forms import edits_of
from anonymization.text.masking.pieces import Collector


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('{"tenants": {"juniper-dental": {"plan": "pro"}}}', "a.json", "tenant: juniper-dental"),
        ('{"columns": {"juniper-dental": {"plan": "pro"}}}', "a.json", None),
        ('{"tenants": {"plan": {"a": 1}}}', "a.json", None),
        ("<order><buyer>Gravel Garden</buyer></order>", "a.xml", "buyer: Gravel Garden"),
        ("<order><item>Gravel Garden</item></order>", "a.xml", None),
        ('{"pin": 4471}', "a.json", "pin: 4471"),
        ('{"count": 4471}', "a.json", None),
    ],
)
def test_a_value_is_read_with_the_label_of_its_owner(
    text: str, name: str, expected: str | None
) -> None:
    seen = Collector()
    edits_of(text, name, seen)
    labels = [piece.text for piece in seen.pieces if piece.lead]
    assert labels == ([expected] if expected else [])
