"""Errors cross process boundaries whole."""

from __future__ import annotations

import pickle

from data.errors import InputError


def test_an_input_error_survives_the_way_from_a_worker() -> None:
    error = InputError("a.csv", "nothing", "a table", "Check it.", 3)
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error) == "a.csv:3: found nothing; expected a table. Check it."
    assert (back.path, back.line) == ("a.csv", 3)
