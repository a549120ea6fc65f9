"""Codes fall to whoever has the key, and to nobody else."""

from __future__ import annotations

from anonymization.tables.attacks.linked import Knowledge
from anonymization.tables.attacks.measures import seed_key
from anonymization.tables.attacks.report import (
    dictionary_attack,
    likeness_attack,
    order_attack,
    row_order_attack,
)
from anonymization.tables.pseudonym_mapping import permuted_codes
from tests.anonymization.tables.build import KEY

CODES = [f"{number:05d}" for number in range(0, 90_000, 113)]
MAPPING = permuted_codes(CODES, KEY, "codes").new


def test_with_the_key_the_list_of_companies_is_enough() -> None:
    actual = dictionary_attack(MAPPING, CODES, KEY, "codes", "", Knowledge.KEY)
    assert (actual.rate, actual.n) == (1.0, len(CODES))


def test_with_the_key_all_possible_codes_are_enough() -> None:
    real = [f"{number:05d}" for number in range(0, 600, 7)]
    mapping = permuted_codes(real, KEY, "five").new
    every = [f"{number:05d}" for number in range(600)]
    actual = dictionary_attack(mapping, every, KEY, "five", "", Knowledge.KEY)
    assert actual.rate > 0.95  # codes that clash inside the dictionary go elsewhere


def test_guessed_keys_and_structure_stay_at_chance() -> None:
    for actual in (
        dictionary_attack(MAPPING, CODES, seed_key(0), "codes", "", Knowledge.PUBLISHED),
        order_attack(MAPPING, "codes"),
        likeness_attack(MAPPING, "codes"),
    ):
        assert actual.ci_low <= actual.chance <= actual.ci_high


def test_codes_that_keep_their_order_fall() -> None:
    shifted = {code: f"{int(code) + 7:05d}" for code in CODES}
    assert order_attack(shifted, "codes").rate == 1.0


def test_codes_that_keep_their_digits_fall() -> None:
    last_moved = {code: code[:4] + str((int(code[4]) + 1) % 10) for code in CODES}
    assert likeness_attack(last_moved, "codes").rate > 0.5


def test_rows_in_the_order_of_the_source_give_everyone_away() -> None:
    published = [MAPPING[code] for code in CODES]
    assert row_order_attack(CODES, published, MAPPING).rate == 1.0
    assert row_order_attack(CODES, sorted(published), MAPPING).rate < 0.02
